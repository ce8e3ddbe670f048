//! When the passes of calibration begin: every so often, or sooner and later as levels are found to
//! move, with as many passes in the long run.

use firstread_core::Ns;

/// Units of a level (DAC) that have moved far, and hardly, from one pass to the next. These and the
/// bounds below are assumed; no source paces calibration by drift.
const FAR: u8 = 3;
const HARDLY: u8 = 1;
/// Passes that may be made ahead of time.
const AHEAD: u64 = 4;
/// The shortest and the longest time between two passes, of the interval.
const SHORTEST: u64 = 8;
const LONGEST: u64 = 4;

/// How the time between two passes is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// It is the interval.
    Fixed,
    /// Half of the last where levels have moved far, twice that where they hardly have. A pass costs
    /// an interval of credit, which time brings back: drift slows down with time, so passes are made
    /// early and saved later.
    Drift,
}

/// The next pass.
#[derive(Clone, Copy, Debug)]
pub struct Cadence {
    pacing: Pacing,
    interval: u64,
    /// Time to the next pass, as drift asks for it.
    span: u64,
    /// Credit at the last pass, in nanoseconds.
    credit: u64,
    last: Ns,
    next: Ns,
}

impl Cadence {
    /// Stands still until started.
    pub fn new(interval: Ns, pacing: Pacing) -> Cadence {
        let interval = interval.0.max(1);
        Cadence {
            pacing,
            interval,
            span: interval,
            credit: 0,
            last: Ns::ZERO,
            next: Ns::MAX,
        }
    }

    /// Power is on.
    pub fn start(&mut self, now: Ns) {
        self.credit = self.interval.saturating_mul(AHEAD);
        self.span = match self.pacing {
            Pacing::Fixed => self.interval,
            Pacing::Drift => (self.interval / AHEAD).max(1),
        };
        self.last = now;
        self.next = now.saturating_add(Ns(self.span));
    }

    /// When the next pass begins.
    pub fn due(&self) -> Ns {
        self.next
    }

    /// Whether a pass begins now. Passes that were slept through are not made up for.
    pub fn turn(&mut self, now: Ns) -> bool {
        if now < self.next {
            return false;
        }
        match self.pacing {
            Pacing::Fixed => {
                let missed = now.since(self.next).0 / self.interval;
                let ahead = self.interval.saturating_mul(missed + 1);
                self.next = self.next.saturating_add(Ns(ahead));
            }
            Pacing::Drift => {
                self.credit = self
                    .credit
                    .saturating_add(now.since(self.last).0)
                    .min(self.interval.saturating_mul(AHEAD))
                    .saturating_sub(self.interval);
                self.last = now;
                self.plan();
            }
        }
        true
    }

    /// A pass has ended in which the levels in use moved by up to `units`. The next begins later than
    /// now.
    pub fn moved(&mut self, now: Ns, units: u8) {
        if self.pacing == Pacing::Fixed {
            return;
        }
        self.span = match units {
            FAR.. => (self.span / 2).max(self.interval / SHORTEST).max(1),
            0..=HARDLY => self.span.saturating_mul(2),
            _ => self.span,
        };
        self.span = self.span.min(self.interval.saturating_mul(LONGEST));
        self.plan();
        self.next = self.next.max(now.saturating_add(Ns(1)));
    }

    fn plan(&mut self) {
        let earned = self.interval.saturating_sub(self.credit);
        self.next = self.last.saturating_add(Ns(self.span.max(earned)));
    }
}
