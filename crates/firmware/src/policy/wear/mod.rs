//! Axis `wear`: which block wears next.
//!
//! `open` is called when a superblock is to be opened, `cold` at most once after each erase, when garbage
//! collection has no hurry; both once a superblock, never on the path of a request. Nothing here allocates after `new`.

use firstread_core::BlockId;

use crate::observe::{BlockMonitor, BlockRow, BlockUse};
use crate::policy::axes::axis;

mod dynamic;
mod none;
mod static_leveling;

/// The axis.
pub trait Wear {
    /// The free superblock to open next, for cold data, those that `cold` has
    /// moved, or others.
    fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId>;
    /// A superblock whose data should move so that it wears like the others.
    fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId> {
        let _ = blocks;
        None
    }
}

/// Superblocks ready to be opened.
fn free(blocks: &BlockMonitor) -> impl Iterator<Item = (BlockId, &BlockRow)> {
    blocks.iter().filter(|(_, row)| row.usage == BlockUse::Free)
}

axis! {
    "wear": "which block wears next";
    AnyWear: Wear {
        none::Unleveled,
        dynamic::Dynamic,
        static_leveling::Static,
    }
    fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId>;
    fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId>;
}
