//! The medium: what cells hold, how they age, and what a sense of them returns.
//!
//! [`Medium`] computes all cells of a drive arithmetically: threshold voltages by state, the ageing laws
//! ([`ageing`]), variation by address ([`place`]), and persistent randomness ([`persistent`]), so that
//! reading twice at the same levels fails twice.
//! [`characterize`] makes the firmware's voltage tables. [`formula`] has drives whose cells have no voltages. [`monte_carlo`] draws every cell of a wordline;
//! [`Medium`] is tested against it. [`chip`] is the input: one chip in plain numbers. [`profile`] gives each number its
//! key, unit and range.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod ageing;
pub mod cell;
pub mod characterize;
pub mod chip;
mod failure;
pub mod formula;
pub mod gaussian;
mod group;
pub mod medium;
pub mod monte_carlo;
pub mod persistent;
pub mod phenomenological;
pub mod place;
pub mod poisson;
pub mod profile;
pub mod reference;
mod sense_error;
pub mod sensing;
mod single;
pub mod spare;
pub mod timing;

pub use ageing::history::{History, Stress};
pub use cell::levels::{LevelsMv, ReadLevels, SoftLevels};
pub use cell::model::{BlockState, Condition, ModeModel, StateDistribution};
pub use cell::sense::{PageSense, SoftSense, SoftWeight};
pub use chip::ChipProfile;
pub use failure::CellScores;
pub use medium::{CachedCondition, Medium};
pub use place::variation::PlaceBits;
pub use profile::ProfileError;
pub use sense_error::SenseError;
