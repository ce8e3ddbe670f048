//! Flash translation layer: where a logical page lies, and how data get there.
//!
//! - `map`: where every logical page lies.
//! - `pager`: which pages of the map are in memory, and what the others cost.
//! - `place`: the one door by which data get a place.
//! - `relocate`: the one way in which data move, whoever asks; garbage collection and its pace.
//! - `recovery`: how the map is made anew after a power cut. `audit`: that every slot has one owner.

mod audit;
pub(crate) mod map;
pub(crate) mod pager;
pub(crate) mod place;
mod recovery;
pub(crate) mod relocate;

pub use crate::observe::{OWNERS, Owner};
pub use audit::Unsound;
pub use map::{
    MAP_ENTRY_BYTES, MOST_SLOTS, Map, Place, REGION_PAGES, SMALL_PAGES, SparseTable, VALUE_BITS,
    is_large,
};
pub use place::RESERVE;
pub use recovery::{Recovering, Recovery};
pub use relocate::Busy;
