//! `pipelined-adaptive`: speculative steps, with shorter senses where that is safe (PR² and AR²).

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{Ns, PageType, SenseTiming};

use super::pipelined::{FROM, HOLD, Pipelined};
use super::short_sense::{MarginTracker, RULE, ShortSense};
use super::{ReadEnd, Retry};
use crate::format::record;
use crate::observe::{Outcome, ReadCtx, StepTimes};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "pipelined-adaptive",
    summary: "steps sensed ahead, for a shorter time where that is safe",
    source: "PR2 and AR2 (Park et al., ASPLOS 2021)",
    role: Role::Scheme,
    needs: &[Need::WholeDie, Need::SafeSenses],
    ordered: &[],
    params: &[FROM, HOLD, RULE],
};

#[derive(Clone, Debug)]
pub struct PipelinedAdaptive {
    pipelined: Pipelined,
    margin_tracker: MarginTracker,
}

impl PipelinedAdaptive {
    /// The scheme with the chip's table and its parameters.
    pub fn new(setup: &Setup, values: &Values) -> PipelinedAdaptive {
        PipelinedAdaptive {
            pipelined: Pipelined::new(setup, values),
            margin_tracker: MarginTracker::new(setup, values, true),
        }
    }
}

impl Retry for PipelinedAdaptive {
    #[inline]
    fn pipelines_after(&self, step: u8) -> bool {
        self.pipelined.pipelines_after(step)
    }
    fn keeps_die(&self, step: u8) -> bool {
        self.pipelined.keeps_die(step)
    }
    fn pipelines(&self) -> bool {
        true
    }
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
    PipelinedAdaptive as "pipelined-adaptive" {
        margin_tracker: "margins of reads",
    } not {
        pipelined: "of the configuration",
    }
}
