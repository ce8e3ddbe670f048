//! The contract of schemes of axis `wear`.

use firstread_core::SuperblockId;

use crate::observe::{ModeSet, SuperblockRow, SuperblockTable, SuperblockUse};

/// The trait of the axis.
pub trait Wear {
    /// The free superblock in one of `modes` to open next: for the cold data that `cold` has chosen to move if
    /// `cold` is set, else for other data.
    fn open(
        &mut self,
        blocks: &SuperblockTable,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId>;
    /// A superblock of cold data to be moved for wear leveling, if any.
    fn cold(&mut self, blocks: &SuperblockTable) -> Option<SuperblockId> {
        let _ = blocks;
        None
    }
}

/// Superblocks in one of `modes` that can be opened.
pub(super) fn free(
    blocks: &SuperblockTable,
    modes: ModeSet,
) -> impl Iterator<Item = (SuperblockId, &SuperblockRow)> {
    blocks
        .iter()
        .filter(move |(_, row)| row.usage == SuperblockUse::Free && modes.has(row.mode))
}
