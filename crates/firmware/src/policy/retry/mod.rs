//! Axis `retry`: how the steps of one read are executed.
//!
//! Axis `read_levels` decides the levels of a step. This axis decides how long the step senses, and whether
//! it waits for the outcome of the step before. `pipelines_after` is called when step `step` begins to be sensed,
//! and again when its output is asked for. A speculative step occupies its die until it is output or
//! cancelled. `keeps_die` is called together with `pipelines_after` if host reads wait for the die. `own_levels`
//! replace those of `read_levels` from the first retry on, sensed for `own_sense`. `short_sense` is called for each step before it is
//! issued. `on_read` reports how a read ended, whether it had short steps, and how long steps take.
//! `sense_ns` is called for each step that has been decoded, since its end tells how long it took.

use crate::format;
use crate::observe::{Outcome, ReadCtx, StepTimes};
use firstread_core::{Levels, Ns, PageType, SenseTiming};

mod adaptive;
mod contract;
mod learned;
mod pipelined;
mod pipelined_adaptive;
mod read_end;
mod sequential;
mod short_sense;
mod single_step;

use crate::policy::axis::axis;
pub use contract::Retry;
pub use read_end::ReadEnd;
pub use short_sense::ShortSense;

axis! {
    "retry": "how the steps of one read execute";
    AnyRetry: Retry {
        sequential::Sequential,
        pipelined::Pipelined,
        adaptive::Adaptive,
        pipelined_adaptive::PipelinedAdaptive,
        single_step::SingleStep,
    }
    #[inline]
    fn pipelines_after(&self, step: u8) -> bool;
    fn keeps_die(&self, step: u8) -> bool;
    fn pipelines(&self) -> bool;
    fn own_steps(&self) -> u8;
    fn own_levels(&self) -> Levels;
    fn own_sense(&self) -> ShortSense;
    fn short_sense(&mut self, ctx: &ReadCtx, entry: u8) -> ShortSense;
    fn prices_steps(&self) -> bool;
    #[inline]
    fn sense_ns(&self, page: PageType, timing: SenseTiming) -> Option<Ns>;
    #[inline]
    fn on_read(
        &mut self,
        ctx: &ReadCtx,
        end: ReadEnd,
        outcome: &Outcome,
        times: &StepTimes
    );
}

/// The scheme that there is: which one it is follows from the configuration.
impl format::Record for AnyRetry {
    fn transfer(&mut self, cursor: &mut format::Cursor<'_>) {
        match self {
            AnyRetry::Adaptive(s) => s.transfer(cursor),
            AnyRetry::PipelinedAdaptive(s) => s.transfer(cursor),
            // They learn nothing.
            AnyRetry::Sequential(_) | AnyRetry::Pipelined(_) | AnyRetry::SingleStep(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
