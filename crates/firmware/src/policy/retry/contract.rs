//! The contract of schemes of axis `retry`.

use super::read_end::ReadEnd;
use super::short_sense::ShortSense;
use firstread_core::{Levels, Ns, PageType, SenseTiming};

use crate::observe::{Outcome, ReadCtx, StepTimes};

/// The trait of the axis.
pub trait Retry {
    /// Whether the step after `step` is sensed while `step` is transferred and decoded.
    fn pipelines_after(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether a host read keeps its die after `step` although other host reads wait for it.
    fn keeps_die(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether any step is sensed speculatively.
    fn pipelines(&self) -> bool {
        false
    }
    /// Number of steps of its own, which replace the retry steps of `read_levels`; zero for none.
    fn own_steps(&self) -> u8 {
        0
    }
    /// Read levels of its own steps.
    fn own_levels(&self) -> Levels {
        Levels::DEFAULT
    }
    /// Sense time of its own steps.
    fn own_sense(&self) -> ShortSense {
        ShortSense::NONE
    }
    /// Sense time of the step that tries entry `entry`.
    fn short_sense(&mut self, ctx: &ReadCtx, entry: u8) -> ShortSense {
        let _ = (ctx, entry);
        ShortSense::NONE
    }
    /// Whether the scheme goes by how long steps take.
    fn prices_steps(&self) -> bool {
        false
    }
    /// Time of a sense of a page of type `page`, of a scheme that goes by how long steps take.
    fn sense_ns(&self, page: PageType, timing: SenseTiming) -> Option<Ns> {
        let _ = (page, timing);
        None
    }
    /// A read ended as `end` and `outcome` have it. Steps take as long as `times` has it.
    fn on_read(&mut self, ctx: &ReadCtx, end: ReadEnd, outcome: &Outcome, times: &StepTimes) {
        let _ = (ctx, end, outcome, times);
    }
}
