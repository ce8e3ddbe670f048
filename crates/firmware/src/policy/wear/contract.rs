//! What a scheme of axis `wear` is asked, and what it is told.

use firstread_core::BlockId;

use crate::observe::{BlockMonitor, BlockRow, BlockUse};

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
pub(super) fn free(blocks: &BlockMonitor) -> impl Iterator<Item = (BlockId, &BlockRow)> {
    blocks.iter().filter(|(_, row)| row.usage == BlockUse::Free)
}
