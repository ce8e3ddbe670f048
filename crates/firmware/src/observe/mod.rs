//! Superblock table, counters, heat, what a page read told, and what an oracle is told of the future: the same for all
//! schemes.

mod areas;
mod counters;
mod future;
mod heat;
mod page_reads;
mod refused;
mod superblocks;
mod who;

pub use areas::{Area, LowEntry};
pub use counters::{Counter, Counters, FrontEndCounters, RETRY_BINS, Unit};
pub use future::{Future, FutureBuilder, PageFuture};
pub use heat::{Epoch, Heat, HeatConfig, MOST_HEAT_BYTES, PageHeat};
pub use page_reads::{Outcome, Probe, ProbeResult, ReadCtx};
pub use refused::Refused;
pub(crate) use superblocks::PoolId;
pub use superblocks::{Room, SuperblockRow, SuperblockTable, SuperblockUse, SuperblockView};
pub use who::{ModeSet, OWNERS, Owner, StreamBuffer, StreamRow, StreamUse};
pub(crate) use who::{StreamId, Writer};
