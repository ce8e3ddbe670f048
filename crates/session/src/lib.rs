//! Sets up and runs simulations, for command lines, scripts and other front
//! ends.
//!
//! - [`Input`]: the workload, by name. [`conditions`], [`Choice`]: the words of a drive's state and schemes.
//! - [`Simulation`]: what is asked for. [`Setup`]: the same, resolved. [`simulate`](mod@simulate): run to an [`Outcome`].
//! - [`Sweep`]: the simulations of all combinations of drives, states and options.
//! - [`Matrix`]: many simulations on several threads. [`Store`]: results on disk, reused by later runs.
//! - [`life`]: how long a drive lives under a load.
//! - [`study`]: a paper's evaluation as data: its simulations and the verdicts on its claims.
//! - [`Interrupt`]: ends runs early.
//! - [`results`]: the outcome as data, with the keys of fio's JSON.
//! - [`files`]: the one place that opens files.
//!
//! Results are the same for the same setup and version, on every host and any number of threads; run time and
//! memory on this machine are kept separately ([`Outcome::wall`]).
//!
//! # Example
//!
//! Percentiles of a job on a drive: `cargo run -p firstread-session --example percentiles`.
//!
//! ```
#![doc = include_str!("../examples/percentiles.rs")]
//! ```
//!
//! One drive, burnt in once and measured under two schemes: `cargo run -p firstread-session --example burn_in`.
//!
//! ```
#![doc = include_str!("../examples/burn_in.rs")]
//! ```

// Most types here are records with many fields. A comment is asked for where a name leaves the unit, the range or the
// source open, and not of each field.
#![allow(missing_docs)]

mod choice;
mod claim;
pub mod conditions;
mod content;
mod cost;
mod drive_profile;
mod error;
pub mod files;
mod finished;
mod input;
mod interrupt;
pub mod life;
mod matrix;
mod merge;
pub mod mqsim;
mod names;
mod outcome;
pub mod page_speed;

mod parallel;
pub mod planned;
mod program;
pub mod results;
mod retries;
pub mod retry_table;
mod setup;
pub mod simulate;
pub mod split;
mod store;
pub mod study;
mod sweep;
pub mod watched;
mod worn;

pub use choice::{Choice, ChoiceError, Choices};
pub use claim::Holder;
pub use conditions::{Condition, ConditionError, Range};
pub use drive_profile::{Profile, Profiles, is_path, library, profile, profile_text};
pub use error::{Error, Given, MergeError, NotATrace, StoreError, TraceArg};
pub use files::FileError;
pub use finished::{Finished, FinishedLife};
pub use input::{EXAMPLES, Example, Input, Trace, TraceArgs};
pub use interrupt::Interrupt;
pub use matrix::{Alone, Matrix, Point, Results, Watch, crossed};
pub use merge::{Merged, merge};
pub use names::Unknown;
pub use outcome::{Outcome, Part, Progress, SplitRun, Wall};
pub use retries::Retries;
pub use setup::{BeyondRating, BurnInSetup, DEFAULT_DRIVE, OtherCells, Setup, Simulation};
pub use simulate::{Prepared, simulate_on};
pub use store::{How, Kept, Store, inputs};
pub use sweep::{Sweep, Varied};
pub use watched::Watched;
pub use watched::request_log::{LogFormat, LogSpec, MOST_SLOWEST, Which};
pub use watched::trace_events::{MOST_TRACED, TraceSpec};
pub use worn::WornError;
