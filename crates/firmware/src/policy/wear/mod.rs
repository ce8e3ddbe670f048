//! Axis `wear`: which superblock is worn next.
//!
//! `open` is called when a superblock is to be opened. `cold` is called at most once after each erase, when
//! garbage collection is not urgent; what it names is moved into a stream of its own. Both are called once per
//! superblock, never on the path of a request. `takes_along` is called for each page that moves. A scheme sees the
//! superblocks that it levels, which need not be all of the drive. Nothing here allocates after `new`.

use crate::observe::{ModeSet, PageHeat, StreamRow, SuperblockView};
use firstread_core::SuperblockId;

mod by_wear;
mod contract;
mod dynamic;
mod none;
mod progressive;
mod progressive_hot;
mod static_leveling;

use crate::policy::axis::axis;
pub use contract::Wear;

axis! {
    "wear": "which block wears next";
    AnyWear: Wear {
        none::NoWearLeveling,
        dynamic::DynamicWearLeveling,
        static_leveling::StaticWearLeveling,
        progressive::ProgressiveWearLeveling,
        progressive_hot::ProgressiveHot,
    }
    fn streams(&self) -> &'static [StreamRow];
    fn open(&mut self, blocks: SuperblockView<'_>, modes: ModeSet, cold: bool) -> Option<SuperblockId>;
    fn open_for_read_often(&mut self, blocks: SuperblockView<'_>, modes: ModeSet) -> Option<SuperblockId>;
    #[inline]
    fn takes_along(&self, heat: PageHeat) -> bool;
    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId>;
}
