//! Superblock table and counters: kept once and read by all schemes.

mod blocks;
mod counters;
mod front;
mod who;

pub use blocks::{BlockMonitor, BlockRow, BlockUse};
pub use counters::{Counters, RETRY_BINS};
pub use front::FrontCounters;
pub use who::{OWNERS, Owner};
pub(crate) use who::{STREAMS, StreamId};
