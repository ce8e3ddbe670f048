//! A drive: from profiles to a simulated SSD, and from a workload to statistics.
//!
//! - [`profile`]: strict TOML text to a resolved drive.
//! - [`state`]: how a drive was filled, worn and aged before the run.
//! - [`precondition`]: the steady state of random overwrites. `initial_contents`: the contents of the drive in that
//!   state.
//! - `hardware`: dies, channels, decoders; latency breakdown.
//! - `cells`: the medium joined with the code, at the end of a sense; or a formula of retries in their place.
//! - `platform`: the firmware's ports on the virtual clock, and the host link.
//! - [`queues`]: submission queues and their arbitration.
//! - [`completions`]: a digest of every completion, for tests.
//! - [`port_log`]: traffic through the firmware's ports, for tests and tools.
//! - [`drive`]: the machine: takes commands, advances time, returns completions.
//! - [`runner`]: a run on top of it: jobs and traces, who issues next, what is counted.
//! - [`stats`]: the results.
//! - [`untimed`]: the same firmware over flash without time, for lives.
//! - [`tables`]: the voltage tables that the firmware gets.
//!
//! No clock, file, thread or global: it also runs as wasm.

mod cells;
mod commands;
pub mod completions;
pub mod drive;
#[cfg(test)]
mod equivalence;
mod growing_memory;
mod hardware;
mod initial_contents;
mod payload;
mod platform;
pub mod port_log;
pub mod precondition;
pub mod profile;
pub mod queues;
mod record_log;
pub mod runner;
pub mod state;
pub mod stats;
pub mod tables;
pub mod untimed;
mod worn;
mod write_waits;

pub use cells::ShortTable;
pub use commands::{Completed, PageRead, Submission};
pub use drive::{
    ActivateError, CutRefused, Drive, DriveError, PowerCut, StateError, Step, SubmitError,
    TemperatureRefused,
};
pub use hardware::charge::{CAUSES, Cause, NsByCause};
pub use hardware::spans;
pub use payload::{Payload, StaleRead, Stamp};
pub use precondition::Precondition;
pub use runner::{
    BurnIn, BurnInEnd, CutAt, EndOfLife, Ended, FdpEvents, Group, Host, LogStats, Observed,
    Observer, Phase, RunError, RunStats, under_log,
};
pub use state::{DriveState, EarlierFill, LastSuperblocks};
pub use untimed::UntimedDrive;
pub use worn::WornBlocks;
