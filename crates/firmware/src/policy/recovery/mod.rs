//! Axis `recovery`: what is tried for a read whose levels do not come near enough.
//!
//! `soft_after` is asked when soft senses are due and again after each of them has failed: what to sense
//! next, or none. They are due after the last hard step, and before it once `hard_steps` in a row came no
//! nearer than the nearest one. Neither is asked for a read that succeeds.

use crate::policy::axes::axis;
use firstread_core::SenseMode;

mod none;
mod parity;
mod soft;
mod soft_parity;

/// The axis.
pub trait Recovery {
    /// What is sensed after a step that sensed `failed` has failed.
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        let _ = failed;
        None
    }
    /// Hard steps in a row that came no nearer, after which soft senses come first; none: only when there
    /// are no hard steps left.
    fn hard_steps(&self) -> Option<u8> {
        None
    }
}

axis! {
    "recovery": "what is tried when every step of a read has failed";
    AnyRecovery: Recovery {
        none::Nothing,
        soft::Soft,
        parity::Parity,
        soft_parity::SoftParity,
    }
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode>;
    fn hard_steps(&self) -> Option<u8>;
}
