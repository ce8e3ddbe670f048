//! Axis `cell_mode`: which data lie in superblocks of another cell mode than the drive's own.
//!
//! A scheme declares a stream for each mode that it uses. After a host read from flash it may have the page
//! copied into one of these streams: a *promotion*. When a superblock of such a mode is emptied, the scheme says
//! which of its pages stay in the mode. It also says which superblocks of these modes are to be given back.
//!
//! A scheme may also let the host write to a mode: then the mode has a *write pool*, whose superblocks stay in it and are emptied for its
//! own sake (`ftl/place/write_pool.rs`).
//!
//! `after_read` and `of_write` are on the path of a request. Reads that the write buffer or the read cache answers never reach a
//! scheme. Nothing here allocates after `new`.

mod clairvoyant;
mod cold_superblocks;
mod contract;
mod fixed;
mod hotness;
mod hybrid_pools;
mod lifetimes;
mod params;
mod phases;
mod plan;
mod raro;
mod rounds;
mod sizing;
mod slc_cache;
mod stay;

use firstread_core::CellMode;

pub use crate::observe::CopyRefused;
use crate::observe::{Future, PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::axis::axis;
pub use crate::policy::hot_pages::PageRead;
pub use contract::{
    CellModes, GiveBack, LevelBy, PoolSize, PoolState, PoolWrite, PromotionLimits, ReclaimState,
    WritePool,
};

axis! {
    "cell_mode": "which data lie in SLC or TLC mode";
    AnyCellMode: CellModes {
        fixed::Fixed,
        hotness::Hotness,
        raro::Raro,
        hybrid_pools::HybridPools,
        slc_cache::SlcCache,
        clairvoyant::Clairvoyant,
    }
    fn write_pool(&self) -> Option<WritePool>;
    #[inline]
    fn of_write(&self, page: &PoolWrite) -> bool;
    #[inline]
    fn has_written(&mut self, page: &PoolWrite);
    fn resize(&mut self, state: &PoolState) -> PoolSize;
    fn streams(&self) -> &'static [StreamRow];
    fn keep_permille(&self) -> u32;
    fn limits(&self) -> PromotionLimits;
    #[inline]
    fn after_read(&mut self, read: &PageRead) -> Option<CellMode>;
    fn may_convert(&mut self, mode: CellMode, blocks: &SuperblockTable) -> bool;
    fn stays(&self, mode: CellMode, heat: PageHeat, future: PageFuture) -> bool;
    fn stays_refreshed(&self, mode: CellMode, heat: PageHeat, future: PageFuture) -> bool;
    fn foresee(&mut self, future: &mut Future, blocks: &SuperblockTable);
    #[inline]
    fn gives_back(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack>;
}
