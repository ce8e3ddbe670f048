//! Flash translation layer: where a logical page lies, and how data get there.
//!
//! - `map`: logical pages to slots. `sparse`: those that were written.
//! - `map_cache`: which pages of the map are in memory, and what the others cost.
//! - `write`: the write buffer of each stream.
//! - `space`: superblocks opened and erased.
//! - `bad`: blocks that fail, spares, retirement.
//! - `mover`: the one way in which data move, whoever asks.
//! - `gc`: garbage collection and its pace; wear leveling.
//! - `recovery`: what a power cut leaves, and how the map is made anew from it.
//! - `rescue`: data whose program failed.
//! - `reserve`: that cleaning can always finish.
//! - `audit`: every slot has one owner, and counts add up.

mod audit;
mod bad;
mod gc;
mod map;
mod map_cache;
mod mover;
mod page_set;
mod recovery;
mod rescue;
mod reserve;
mod space;
mod write;

pub use audit::Unsound;
pub(crate) use bad::BadBlocks;
pub(crate) use gc::Gc;
pub use map::{
    MOST_SLOTS, Map, Place, REGION_PAGES, SMALL_PAGES, SparseTable, VALUE_BITS, is_large,
};
pub use map_cache::ENTRY_BYTES as MAP_ENTRY_BYTES;
pub(crate) use map_cache::MapCache;
pub(crate) use mover::Mover;
pub use mover::{Busy, OWNERS, Owner};
pub(crate) use recovery::Waiting;
pub use recovery::{Dump, Recovering, Recovery};
pub(crate) use rescue::Rescue;
pub use space::RESERVE;
pub(crate) use space::Space;
pub(crate) use write::{Allocated, Program, Refused, STREAMS, StreamId, WriteBuffer};
