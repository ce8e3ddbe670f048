//! Flash translation layer: where a logical page lies, and how data get there.
//!
//! - `map`: logical pages to slots.
//! - `write`: the write buffer of each stream.
//! - `space`: superblocks opened, erased, retired; when the drive ends its life.
//! - `mover`: the one way in which data move, whoever asks.
//! - `gc`: garbage collection and its pace; wear leveling.
//! - `audit`: every slot has one owner, and counts add up.

mod audit;
mod gc;
mod map;
mod mover;
mod space;
mod write;

use firstread_core::geometry::SlotPlace;
use firstread_core::{BlockId, DieId, Geometry, PageAddr, PageType};

pub use audit::Unsound;
pub(crate) use gc::Gc;
pub use gc::GcThresholds;
pub use map::{Map, Place, REGION_PAGES};
pub(crate) use mover::Mover;
pub use mover::{Busy, Owner};
pub(crate) use space::Space;
pub(crate) use write::{Program, Refused, STREAMS, StreamId, WriteBuffer};

/// Slot `row_slot` of a page row.
pub(crate) fn row_place(
    geometry: &Geometry,
    die: DieId,
    block: BlockId,
    wordline: u16,
    page: u8,
    row_slot: u32,
) -> SlotPlace {
    SlotPlace {
        at: PageAddr {
            die,
            block,
            wordline,
            page: PageType(page),
        },
        plane: (row_slot / geometry.slots_per_page()) as u8,
        slot: (row_slot % geometry.slots_per_page()) as u8,
    }
}
