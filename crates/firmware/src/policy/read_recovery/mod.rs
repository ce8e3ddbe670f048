//! Axis `read_recovery`: what is tried for a read whose hard steps fail.
//!
//! `soft_after` is called when soft senses are due, and again after each failed soft sense. It returns the
//! next sense mode, or none. Soft senses are due after the last hard step, or earlier, after `hard_steps`
//! consecutive hard steps that came no closer than the best one. Neither method is called for a read that
//! succeeds.

use firstread_core::SenseMode;

mod contract;
mod none;
mod parity;
mod soft;
mod soft_parity;

use crate::policy::axis::axis;
pub use contract::ReadRecovery;

axis! {
    "read_recovery": "what is tried when every step of a read has failed";
    AnyReadRecovery: ReadRecovery {
        none::NoReadRecovery,
        soft::Soft,
        parity::Parity,
        soft_parity::SoftParity,
    }
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode>;
    fn hard_steps(&self) -> Option<u8>;
}
