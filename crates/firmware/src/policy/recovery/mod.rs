//! Axis `recovery`: what is tried for a read whose levels do not come near enough.
//!
//! `soft_after` is asked when soft senses are due and again after each of them has failed: what to sense
//! next, or none. They are due after the last hard step, and before it once `hard_steps` in a row came no
//! nearer than the nearest one. Neither is asked for a read that succeeds.

use firstread_core::SenseMode;

mod contract;
mod none;
mod parity;
mod soft;
mod soft_parity;

use crate::policy::axis::axis;
pub use contract::Recovery;

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
