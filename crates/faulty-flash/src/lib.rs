//! A firmware on a faulty flash: programs and erases that fail, pages that are lost, dies that get stuck, power cuts at
//! any event, and a reference model that knows what the host may read.
//!
//! It is for whoever writes a scheme of `gc_victim` or `wear`, or changes how the firmware places and moves data. A
//! [`Trial`] runs a load on a drive with the scheme and checks
//!
//! - that no read returns stale or wrong data, and that nothing acknowledged is lost ([`Model`]),
//! - that every command ends, as what it says it did ([`Violation::CommandsNeverEnd`], [`Violation::NotDone`]),
//! - that the firmware's tables agree: one page a slot, counts of valid slots, pins, free superblocks
//!   ([`Violation::Inconsistency`]),
//! - that nothing is programmed twice or out of order, and no operation is issued that a chip would not do
//!   ([`Violation::Illegal`]),
//! - that no superblock is erased which holds the only copy of a page ([`Violation::ErasedValidData`]),
//! - that spare is used for failures only ([`Violation::SpareLeaked`]).
//!
//! ```
#![doc = include_str!("../examples/trial.rs")]
//! ```
//!
//! `cargo run --release -p firstread-faulty-flash --example trial -- gc_victim=greedy wear=dynamic` takes other
//! schemes.
//!
//! Operations end in an order that chance draws, each an event of 100 ns, so that a trial meets orders that no timing of
//! one chip would show. What it does not have: read voltages and a cache register, so axes `read_levels` and `retry` have
//! their baselines; and bytes, for which the spare area of each slot stands, its page and sequence number.

mod bug;
mod config;
mod drive;
mod faults;
mod flash;
mod load;
mod memory;
mod model;
mod platform;
mod schemes;
mod stop;
mod trial;
mod violation;

pub use bug::{Bug, NoBug};
pub use config::{ConfigError, DriveConfig, geometry, setup};
pub use drive::{FaultyDrive, PowerCutCounts};
pub use faults::{Address, Cut, Faults, PowerCuts, When};
pub use flash::{Flash, Injected};
pub use load::Load;
pub use memory::Memory;
pub use model::Model;
pub use platform::Platform;
pub use schemes::{SchemeChoices, SchemeError};
pub use trial::{Summary, Trial, TrialEnd, TrialError};
pub use violation::{Illegal, Violation};
