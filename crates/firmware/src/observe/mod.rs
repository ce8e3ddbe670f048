//! Superblock table, counters, heat, what a page read told, and what an oracle is told of the future: the same for all
//! schemes.

mod assembly;
mod at_rest;
mod by_wear;
mod copy_refused;
mod counters;
mod fdp;
mod future;
mod groups;
mod heat;
mod index;
mod page_reads;
mod regions;
mod step_times;
mod superblock;
mod superblocks;
mod who;
mod windows;

pub(crate) use at_rest::Among;
pub use at_rest::Filled;
pub use copy_refused::CopyRefused;
pub use counters::{
    Counter, Counters, FrontEndCounters, PAGE_TYPES, RETRY_BINS, STREAM_BINS, Unit, page_type_bin,
    stream_bin,
};
pub use fdp::{FdpEvent, FdpEventKind, FdpLog, KEPT_FDP_EVENTS};
pub use future::{Future, FutureBuilder, PageFuture};
pub use heat::{Epoch, Heat, HeatConfig, PageHeat};
pub use page_reads::{Outcome, Probe, ProbeResult, ReadCtx};
pub use regions::{ENTRY_WAYS, MOST_REGIONS, RegionId, RegionRow, Regions};
pub use step_times::{StepRest, StepTimes};
pub(crate) use superblock::PoolId;
pub use superblock::{SuperblockInfo, SuperblockUse};
pub use superblocks::{PhysicalCapacity, SuperblockTable, SuperblockView};
pub use who::{
    MOST_HOST_STREAMS, MOST_MOVE_STREAMS, ModeSet, OWNERS, OpenedFor, Owner, StreamBuffer,
    StreamRow, StreamUse,
};
pub(crate) use who::{StreamId, Writer};
pub use windows::{InPhase, WindowReads, Windows};
