//! Axis `cell_mode`: which data lie in superblocks of another cell mode than the drive's own.
//!
//! A scheme declares a stream for each mode that it uses. After a host read from flash it may have the page
//! copied into one of these streams: a *promotion*. When a superblock of such a mode is emptied, the scheme says
//! which of its pages stay in the mode. It also says which superblocks of these modes are to be given back.
//!
//! `after_read` is on the path of a request. Reads that the write buffer or the read cache answers never reach a
//! scheme. Nothing here allocates after `new`.

mod cold_superblocks;
mod contract;
mod fixed;
mod hotness;
mod params;
mod raro;

use firstread_core::{CellMode, SuperblockId};

use crate::observe::{PageHeat, StreamRow, SuperblockTable};
use crate::policy::axis::axis;
pub use crate::policy::hot_pages::PageRead;
pub use contract::CellModes;

axis! {
    "cell_mode": "which data lie in SLC or TLC mode";
    AnyCellMode: CellModes {
        fixed::Fixed,
        hotness::Hotness,
        raro::Raro,
    }
    fn streams(&self) -> &'static [StreamRow];
    fn keep_permille(&self) -> u32;
    #[inline]
    fn after_read(&mut self, read: &PageRead) -> Option<CellMode>;
    fn stays(&self, mode: CellMode, heat: PageHeat) -> bool;
    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<SuperblockId>;
}
