//! The contract of schemes of axis `wear`.

use firstread_core::BlockId;

use crate::observe::{BlockMonitor, BlockRow, BlockUse};

/// The trait of the axis.
pub trait Wear {
    /// The free superblock to open next: for the cold data that `cold` has chosen to move if `cold` is set,
    /// else for other data.
    fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId>;
    /// A superblock of cold data to be moved for wear leveling, if any.
    fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId> {
        let _ = blocks;
        None
    }
}

/// Superblocks that can be opened.
pub(super) fn free(blocks: &BlockMonitor) -> impl Iterator<Item = (BlockId, &BlockRow)> {
    blocks.iter().filter(|(_, row)| row.usage == BlockUse::Free)
}
