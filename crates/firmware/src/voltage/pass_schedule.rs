//! When the passes of calibration begin: at a fixed interval, or sooner or later depending on how far levels
//! move, with the same number of passes in the long run.

use firstread_core::Ns;

/// Move of a level (DAC units) between two passes that counts as large, and one that counts as small. These
/// values and the bounds below are assumed: no source paces calibration by drift.
const FAR: u8 = 3;
const HARDLY: u8 = 1;
/// Number of passes that may be made ahead of time.
const AHEAD: u64 = 4;
/// Shortest and longest time between two passes, relative to the interval.
const SHORTEST: u64 = 8;
const LONGEST: u64 = 4;

/// How the time between two passes is determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassInterval {
    /// Always the interval, as published.
    Fixed,
    /// Half of the last time if levels have moved far, twice the last time if they have hardly moved. A pass
    /// costs one interval of credit, and time restores credit. Drift slows down with time, so passes are made
    /// early and saved later.
    Drift,
}

/// Schedule of the next pass.
#[derive(Clone, Copy, Debug)]
pub struct PassSchedule {
    pacing: PassInterval,
    interval: u64,
    /// Time between passes that drift currently asks for.
    span: u64,
    /// Credit at the last pass, in nanoseconds.
    credit: u64,
    last: Ns,
    next: Ns,
}

impl PassSchedule {
    /// A schedule that is stopped until `start`.
    pub fn new(interval: Ns, pacing: PassInterval) -> PassSchedule {
        let interval = interval.0.max(1);
        PassSchedule {
            pacing,
            interval,
            span: interval,
            credit: 0,
            last: Ns::ZERO,
            next: Ns::MAX,
        }
    }

    /// Power is on: plans the first pass.
    pub fn start(&mut self, now: Ns) {
        self.credit = self.interval.saturating_mul(AHEAD);
        self.span = match self.pacing {
            PassInterval::Fixed => self.interval,
            PassInterval::Drift => (self.interval / AHEAD).max(1),
        };
        self.last = now;
        self.next = now.saturating_add(Ns(self.span));
    }

    /// When the next pass begins.
    pub fn due(&self) -> Ns {
        self.next
    }

    /// Whether a pass begins now. Passes missed without power are not made up for.
    pub fn turn(&mut self, now: Ns) -> bool {
        if now < self.next {
            return false;
        }
        match self.pacing {
            PassInterval::Fixed => {
                let missed = now.since(self.next).0 / self.interval;
                let ahead = self.interval.saturating_mul(missed + 1);
                self.next = self.next.saturating_add(Ns(ahead));
            }
            PassInterval::Drift => {
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

    /// A pass has ended, in which the levels in use moved by up to `units`. The next pass begins after `now`.
    pub fn moved(&mut self, now: Ns, units: u8) {
        if self.pacing == PassInterval::Fixed {
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
