//! `adaptive`: retries use a shorter sense where that is safe (AR²).
//!
//! A table made by characterization (`cargo xtask characterize`) says how short a sense may be; `short_sense`
//! decides when. The sense time of a die is a feature. A SET FEATURE (`tSET`) comes before the first short
//! sense, and again before the next sense of any read at the default time.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{Ns, PageType, SenseTiming};

use super::short_sense::{MarginTracker, RULE, ShortSense};
use super::{ReadEnd, Retry};
use crate::format::record;
use crate::observe::{Outcome, ReadCtx, StepTimes};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "adaptive",
    summary: "retries sense for a shorter time where that is safe",
    source: "AR2 (Park et al., ASPLOS 2021); the table is made from this chip's cells",
    role: Role::Scheme,
    needs: &[Need::WholeDie, Need::SafeSenses],
    ordered: &[],
    params: &[RULE],
};

#[derive(Clone, Debug)]
pub struct Adaptive {
    margin_tracker: MarginTracker,
}

impl Adaptive {
    /// The scheme with the chip's table.
    pub fn new(setup: &Setup, values: &Values) -> Adaptive {
        Adaptive {
            margin_tracker: MarginTracker::new(setup, values, false),
        }
    }
}

impl Retry for Adaptive {
    fn short_sense(&mut self, ctx: &ReadCtx, entry: u8) -> ShortSense {
        self.margin_tracker.short_sense(ctx, entry)
    }
    fn prices_steps(&self) -> bool {
        self.margin_tracker.prices_steps()
    }
    fn sense_ns(&self, page: PageType, timing: SenseTiming) -> Option<Ns> {
        self.margin_tracker.sense_ns(page, timing)
    }
    fn on_read(&mut self, ctx: &ReadCtx, end: ReadEnd, outcome: &Outcome, times: &StepTimes) {
        self.margin_tracker.on_read(ctx, end, outcome, times);
    }
}

record! {
    Adaptive as "adaptive" {
        margin_tracker: "margins of reads",
    }
}
