//! Superblock table and counters: kept once and read by all schemes.

mod counters;
mod superblocks;
mod who;

pub use counters::{Counter, Counters, FrontEndCounters, RETRY_BINS, Unit};
pub use superblocks::{SuperblockRow, SuperblockTable, SuperblockUse};
pub(crate) use who::StreamId;
pub use who::{ModeSet, OWNERS, Owner, StreamRow};
