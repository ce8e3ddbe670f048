//! When the requests of a paced direction are due: exact in integers for equal gaps.

use firstread_core::Stream;

use super::distribution::exponential;
use crate::job::{Arrivals, Rate};

/// The clock of one direction.
#[derive(Clone, Debug)]
pub(super) struct RateClock {
    /// Requests or bytes a second; 0 means unlimited.
    per_second: u64,
    by_bytes: bool,
    poisson: bool,
    key: Stream,
    count: u64,
    /// When the next request is due, in ns from the start of the job.
    due_ns: u64,
    /// Remainder of the division for `due_ns`, in units of 1/`per_second` ns.
    rest: u64,
}

const NS_PER_S: u64 = 1_000_000_000;

impl RateClock {
    pub(super) fn new(
        rate: Rate,
        arrivals: Arrivals,
        key: Stream,
        typical_bytes: u32,
    ) -> RateClock {
        let (per_second, by_bytes) = match rate {
            Rate::Unlimited => (0, false),
            Rate::BytesPerSecond(bytes) => (bytes, true),
            Rate::Iops(requests) => (requests, false),
        };
        let mut pace = RateClock {
            per_second,
            by_bytes,
            poisson: arrivals == Arrivals::Poisson,
            key,
            count: 0,
            due_ns: 0,
            rest: 0,
        };
        // The first arrival of a Poisson process is as random as the others; with equal gaps the
        // first request is due at once.
        if pace.poisson {
            pace.advance(typical_bytes);
        }
        pace
    }

    pub(super) fn is_limited(&self) -> bool {
        self.per_second != 0
    }

    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Accounts for a request of `bytes`; the next request is due one gap later.
    pub(super) fn advance(&mut self, bytes: u32) {
        if self.per_second == 0 {
            return;
        }
        let share = if self.by_bytes { u64::from(bytes) } else { 1 } * NS_PER_S;
        if self.poisson {
            let mean_ns = share as f64 / self.per_second as f64;
            let gap = mean_ns * exponential(self.key.at(self.count));
            self.count += 1;
            self.due_ns = self.due_ns.saturating_add((gap + 0.5) as u64);
        } else {
            // `rest` is below `per_second`, and the parser keeps that below 2^62.
            let total = share + self.rest;
            self.due_ns = self.due_ns.saturating_add(total / self.per_second);
            self.rest = total % self.per_second;
        }
    }
}
