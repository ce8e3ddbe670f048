//! What a host asks of a drive: fio job files, block traces and synthetic streams.
//!
//! Nothing here opens a file, reads a clock or starts a thread: callers hand over text or a reader
//! and a name for messages. All randomness comes from [`firstread_core::Stream`], so the same seed
//! gives the same requests on every host.
//!
//! - [`fio`]: job files. One table of options drives parsing, messages and documentation.
//! - [`handles`]: which placement handle a write names (NVMe's Flexible Data Placement).
//! - [`host_log`]: a log of the host, a layer between jobs and a drive.
//! - [`job`]: a parsed load, [`Workload`], one [`JobSpec`] per fio job and clone.
//! - [`stream`]: [`JobStream`] turns a job into requests, without allocating per request.
//! - [`trace`]: [`TraceReader`] turns a block trace into records; one table of formats.
//! - [`synthetic`]: stand-ins for traces that cannot be shipped, labelled synthetic.

mod checksum;
pub mod error;
pub mod fio;
pub mod handles;
pub mod host_log;
pub mod job;
mod nearest;
pub mod stream;
pub mod synthetic;
pub mod trace;

pub use checksum::{Checksum, checksum};
pub use error::{Location, Notice, Position, WorkloadError};
pub use job::{JobSpec, Workload};
pub use nearest::{likely, nearest};
pub use stream::{Draws, JobError, JobStream, Request};
pub use synthetic::{StandIn, StandInStream};
pub use trace::{Format, TraceOptions, TraceReader, TraceRecord};
