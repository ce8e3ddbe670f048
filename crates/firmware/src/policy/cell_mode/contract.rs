//! The contract of schemes of axis `cell_mode`.

use firstread_core::{CellMode, SuperblockId};

use crate::observe::{Future, PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::hot_pages::PageRead;

/// A superblock to be given back to the drive's own mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GiveBack {
    /// This superblock, whatever lies in it.
    Now(SuperblockId),
    /// This one, unless [`CellModes::stays`] says of a page of it that it stays.
    UnlessOneStays(SuperblockId),
}

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
    /// Whether a superblock more may change to `mode`, for a page that was to be copied there.
    fn may_convert(&mut self, mode: CellMode, blocks: &SuperblockTable) -> bool {
        let _ = (mode, blocks);
        true
    }
    /// Whether a page of which so much is known stays in `mode` when its superblock, in that mode, is emptied.
    fn stays(&self, mode: CellMode, heat: PageHeat, future: PageFuture) -> bool {
        let _ = (mode, heat, future);
        false
    }
    /// A load begins of which `future` tells. Only oracles are told. They may divide it into phases. Not on the path of a request.
    fn foresee(&mut self, future: &mut Future) {
        let _ = future;
    }
    /// A superblock of one of the scheme's modes to be emptied and given back to the drive's own mode, if any: if it is still
    /// open it is closed. Or one in the drive's own mode, to be cleaned for room. Asked after host reads.
    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<GiveBack> {
        let _ = blocks;
        None
    }
}
