//! Flash translation layer: the slot of each logical page, and how data get there.
//!
//! - `map`: the slot of each logical page.
//! - `map_cache`: which map pages are in memory, and what the others cost.
//! - `place`: the only way by which data get a slot.
//! - `relocate`: the only way by which data move, whoever asks; garbage collection and its pace.
//! - `recovery`: rebuilds the map after a power cut. `audit`: checks that every slot has one owner.

mod audit;
pub(crate) mod map;
pub(crate) mod map_cache;
pub(crate) mod place;
mod recovery;
pub(crate) mod relocate;

pub use crate::observe::{OWNERS, Owner};
pub use audit::Inconsistency;
pub use map::OnFlash;
pub use map::{
    JOURNAL_ENTRY_BYTES, MAP_ENTRY_BYTES, MOST_SLOTS, Map, Mapping, REGION_PAGES, SMALL_PAGES,
    SparseTable, VALUE_BITS, is_large,
};
pub use place::{Ahead, MOST_STREAMS, RESERVE};
pub use recovery::{Recovering, Recovery};
pub use relocate::Busy;

#[cfg(test)]
pub(crate) mod tests;
