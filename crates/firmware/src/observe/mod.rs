//! Superblock table, counters, heat and what an oracle is told of the future: kept once and read by all schemes.

mod areas;
mod counters;
mod future;
mod heat;
mod refused;
mod superblocks;
mod who;

pub use areas::{Area, LowEntry};
pub use counters::{Counter, Counters, FrontEndCounters, RETRY_BINS, Unit};
pub use future::{Future, FutureBuilder, PageFuture};
pub use heat::{Epoch, Heat, HeatConfig, MOST_HEAT_BYTES, PageHeat};
pub use refused::Refused;
pub use superblocks::{Room, SuperblockRow, SuperblockTable, SuperblockUse, SuperblockView};
pub use who::{ModeSet, OWNERS, Owner, StreamRow, StreamUse};
pub(crate) use who::{StreamId, Writer};
