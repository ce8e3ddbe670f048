//! What a scheme of axis `retry` is asked, and what it is told.

use super::haste::Haste;
use firstread_core::{Levels, SenseTiming};

use crate::policy::read_levels::{Outcome, ReadCtx};

/// The axis.
pub trait Retry {
    /// Whether the step after `step` is sensed while `step` is transferred and decoded.
    fn looks_ahead(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether a read of the host keeps its die after `step` though other reads of the host wait for it.
    fn keeps_die(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether any step is sensed ahead.
    fn pipelines(&self) -> bool {
        false
    }
    /// Steps of its own, which come in place of those of `read_levels` from the second on; zero for none.
    fn own_steps(&self) -> u8 {
        0
    }
    /// Levels of these.
    fn own_levels(&self) -> Levels {
        Levels::DEFAULT
    }
    /// How long the step with entry `entry` of the levels senses.
    fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
        let _ = (ctx, entry);
        Haste::NONE
    }
    /// A read ended with entry `entry` of the levels, sensed at `timing`.
    fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome) {
        let _ = (ctx, entry, timing, outcome);
    }
}
