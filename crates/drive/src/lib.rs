//! A drive: profiles to a simulated SSD, and a workload to statistics.
//!
//! - [`profile`]: strict TOML text to a resolved drive.
//! - [`state`]: filled, worn and aged before the run begins.
//! - [`precondition`]: the steady state of random overwrites. `before`: what lay where, then.
//! - `hardware`: dies, channels, decoders; where the time went.
//! - `cells`: medium and code joined at the end of a sense.
//! - `world`: the firmware's ports on the virtual clock, the host link.
//! - `host`: jobs and traces as the drive sees them; `flow` and `depth_search`: fio's `flow` and
//!   `latency_target`.
//! - [`queues`]: submission queues, and which is fetched from next.
//! - `makings`: what a firmware is made from, at first and when power is back.
//! - [`completions`]: a digest of every completion, for tests.
//! - [`port_log`]: what passed the firmware's ports, for tests and tools.
//! - [`power`]: power cuts, and what coming back takes.
//! - [`drive`]: the event loop.
//! - [`stats`]: what came of it.
//! - [`tables`]: what the firmware is told of its chip's voltages.
//!
//! No clock, file, thread or global: it also runs as wasm.

mod before;
mod cells;
pub mod completions;
mod depth_search;
pub mod drive;
#[cfg(test)]
mod equivalence;
mod flow;
mod group_oracle;
mod growing_memory;
mod hardware;
mod host;
mod makings;
mod payload;
pub mod port_log;
pub mod power;
pub mod precondition;
pub mod profile;
pub mod queues;
mod record_log;
mod run;
mod slots;
pub mod state;
pub mod stats;
pub mod tables;
mod tally;
mod world;
mod write_waits;

pub use drive::{Drive, DriveError, EndOfLife, Ended, RunStats};
pub use hardware::charge::{CAUSES, Cause, Parts};
pub use payload::StaleRead;
pub use power::{CutAt, PowerCut};
pub use precondition::Precondition;
pub use run::Host;
pub use state::DriveState;
