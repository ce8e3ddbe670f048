//! Pacing of background reads: a number of reads per interval, evenly spread.

use firstread_core::Ns;
use firstread_core::params::{Param, ParamKind, Values};

use crate::log::{Record, What};

/// Nanoseconds of an hour.
const HOUR: i64 = 3_600_000_000_000;

/// Parameter: time over which the reads of [`READS_PARAM`] are spread.
pub const INTERVAL_PARAM: Param = Param {
    key: "interval",
    doc: "time in which the background reads are spent, evenly spread",
    kind: ParamKind::Number {
        unit: "ns",
        default: 5 * HOUR,
        min: HOUR / 60,
        max: 8760 * HOUR,
    },
};
/// Parameter: reads per interval. `docs/firmware/comparators.md` gives the reason for the default.
pub const READS_PARAM: Param = Param {
    key: "background_reads",
    doc: "background reads in an interval; by default about as many as ct-qlc makes",
    kind: ParamKind::Number {
        unit: "reads",
        default: 2_000,
        min: 0,
        max: 10_000_000,
    },
};

/// When the next background read may be made. Reads missed without power are not made up for.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    interval: Ns,
    /// Time between two reads; [`Ns::MAX`] if there are none.
    gap: Ns,
    next: Ns,
    /// End of the interval, its number, and the reads made in it.
    ends: Ns,
    passes: u32,
    reads: u32,
}

impl RateLimit {
    /// Pacing by the two parameters above; stopped until `start`.
    pub fn new(values: &Values) -> RateLimit {
        let interval = values.get(INTERVAL_PARAM.key).max(1) as u64;
        let reads = values.get(READS_PARAM.key) as u64;
        RateLimit {
            interval: Ns(interval),
            gap: interval
                .checked_div(reads)
                .map_or(Ns::MAX, |gap| Ns(gap.max(1))),
            next: Ns::MAX,
            ends: Ns::MAX,
            passes: 0,
            reads: 0,
        }
    }

    /// Starts the first interval.
    pub fn start(&mut self, now: Ns) {
        self.next = now.saturating_add(self.gap);
        self.ends = now.saturating_add(self.interval);
        (self.passes, self.reads) = (0, 0);
    }

    /// When the next read may be made.
    pub fn due(&self) -> Ns {
        self.next
    }

    /// Uses the turn of a read, if it has come, whether or not there is something to read. Logs an interval
    /// that has ended with reads in it.
    pub fn turn(&mut self, now: Ns, log: &mut impl FnMut(Record)) -> bool {
        if now < self.next {
            return false;
        }
        // A turn in which there is nothing to read is gone. Saved up, such reads would come in a row and make host
        // reads wait.
        self.next = now.saturating_add(self.gap);
        if now >= self.ends {
            let began = Ns(self.ends.0 - self.interval.0);
            if self.reads > 0 {
                self.passes += 1;
                log(Record {
                    at: now,
                    what: What::Passed {
                        pass: self.passes,
                        began,
                        groups: 0,
                        reads: self.reads,
                    },
                });
            }
            self.reads = 0;
            let missed = now.since(self.ends).0 / self.interval.0;
            let ahead = self.interval.0.saturating_mul(missed + 1);
            self.ends = self.ends.saturating_add(Ns(ahead));
        }
        true
    }

    /// Counts a read that was made in its turn.
    pub fn spend(&mut self) {
        self.reads = self.reads.saturating_add(1);
    }
}
