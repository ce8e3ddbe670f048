//! Superblock table and counters: kept once and read by all schemes.

mod blocks;
mod counters;
mod who;

pub use blocks::{BlockMonitor, BlockRow, BlockUse};
pub use counters::{Counter, Counters, FrontCounters, RETRY_BINS, Unit};
pub use who::{OWNERS, Owner};
pub(crate) use who::{STREAMS, StreamId};
