//! A drive: profiles to a simulated SSD, and a workload to statistics.
//!
//! - [`profile`]: strict TOML text to a resolved drive.
//! - [`state`]: filled, worn and aged before the run begins.
//! - [`precondition`]: the steady state of random overwrites. `before`: what lay where, then.
//! - `hardware`: dies, channels, decoders; where the time went.
//! - `cells`: medium and code joined at the end of a sense.
//! - `world`: the firmware's ports on the virtual clock, the host link.
//! - [`queues`]: submission queues, and which is fetched from next.
//! - [`completions`]: a digest of every completion, for tests.
//! - [`port_log`]: what passed the firmware's ports, for tests and tools.
//! - [`drive`]: the machine: takes commands, lets time pass, gives completions.
//! - [`runner`]: a run above it: jobs and traces, who issues next, what is counted.
//! - [`stats`]: what came of it.
//! - [`tables`]: what the firmware is told of its chip's voltages.
//!
//! No clock, file, thread or global: it also runs as wasm.

mod before;
mod cells;
mod commands;
pub mod completions;
pub mod drive;
#[cfg(test)]
mod equivalence;
mod growing_memory;
mod hardware;
mod payload;
pub mod port_log;
pub mod precondition;
pub mod profile;
pub mod queues;
mod record_log;
pub mod runner;
pub mod state;
pub mod stats;
pub mod tables;
mod world;
mod write_waits;

pub use commands::{Completed, Submission};
pub use drive::{ActivateError, CutRefused, Drive, DriveError, PowerCut, Step, SubmitError};
pub use hardware::charge::{CAUSES, Cause, Parts};
pub use payload::{Payload, StaleRead, Stamp};
pub use precondition::Precondition;
pub use runner::{BurnIn, BurnInEnd, CutAt, EndOfLife, Ended, Host, RunError, RunStats};
pub use state::DriveState;
