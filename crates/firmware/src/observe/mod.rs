//! What the firmware knows of its blocks and reads: kept once, read by all schemes.

mod blocks;
mod counters;
mod front;
mod who;

pub use blocks::{BlockMonitor, BlockRow, BlockUse};
pub use counters::{Counters, RETRY_BINS};
pub use front::FrontCounters;
pub use who::{OWNERS, Owner};
pub(crate) use who::{STREAMS, StreamId};
