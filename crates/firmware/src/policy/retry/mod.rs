//! Axis `retry`: how the steps of one read execute.
//!
//! Which levels a step uses is for axis `read_levels` to say; how long it senses, and whether it waits
//! for the outcome of the step before, is decided here. `looks_ahead` is asked when step `step` begins
//! to be sensed, and again when its output is asked for; a step that was sensed ahead costs its die
//! until it is output or cancelled. `keeps_die` is asked with it where reads of the host wait for that
//! die. `own_levels` come in place of those of `read_levels` from the first retry on. `haste` is asked for
//! each step before it is issued; `on_read` is told how a read ended.

use crate::policy::read_levels::{Outcome, ReadCtx};
use firstread_core::{Levels, SenseTiming};

mod adaptive;
mod contract;
mod haste;
mod pipelined;
mod pipelined_adaptive;
mod sequential;
mod single_step;

use crate::policy::axis::axis;
pub use contract::Retry;
pub use haste::Haste;

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
    fn looks_ahead(&self, step: u8) -> bool;
    fn keeps_die(&self, step: u8) -> bool;
    fn pipelines(&self) -> bool;
    fn own_steps(&self) -> u8;
    fn own_levels(&self) -> Levels;
    fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste;
    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome);
}
