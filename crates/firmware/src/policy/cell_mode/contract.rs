//! The contract of schemes of axis `cell_mode`.

use firstread_core::{CellMode, SuperblockId};

use crate::observe::{PageHeat, StreamRow, SuperblockTable};
use crate::policy::hot_pages::PageRead;

/// The trait of the axis.
pub trait CellModes {
    /// The streams that the scheme declares, one a mode; none if data stay where they are.
    fn streams(&self) -> &'static [StreamRow] {
        &[]
    }
    /// Over-provisioning that superblocks in another mode leave, in thousandths of the capacity.
    fn keep_permille(&self) -> u32 {
        0
    }
    /// A host read of a page from a full superblock has ended well. Returns the mode that the page is to be
    /// copied to.
    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        let _ = read;
        None
    }
    /// Whether a page of heat `heat` stays in `mode` when its superblock, in that mode, is emptied.
    fn stays(&self, mode: CellMode, heat: PageHeat) -> bool {
        let _ = (mode, heat);
        false
    }
    /// A superblock of one of the scheme's modes to be emptied and given back to the drive's own mode, if any.
    /// Asked after host reads.
    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<SuperblockId> {
        let _ = blocks;
        None
    }
}
