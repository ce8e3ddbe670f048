//! Superblock table and counters: kept once and read by all schemes.

mod counters;
mod superblocks;
mod who;

pub use counters::{Counter, Counters, FrontEndCounters, RETRY_BINS, Unit};
pub use superblocks::{Room, SuperblockRow, SuperblockTable, SuperblockUse};
pub use who::{OWNERS, Owner};
pub(crate) use who::{STREAMS, StreamId};
