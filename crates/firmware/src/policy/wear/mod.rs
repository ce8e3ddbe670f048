//! Axis `wear`: which superblock is worn next.
//!
//! `open` is called when a superblock is to be opened. `cold` is called at most once after each erase, when
//! garbage collection is not urgent; what it names is moved into a stream of its own. Both are called once per
//! superblock, never on the path of a request. A scheme sees the superblocks that it levels, which need not be all of
//! the drive. Nothing here allocates after `new`.

use crate::observe::{ModeSet, StreamRow, SuperblockView};
use firstread_core::SuperblockId;

mod contract;
mod dynamic;
mod none;
mod static_leveling;

use crate::policy::axis::axis;
pub use contract::Wear;

axis! {
    "wear": "which block wears next";
    AnyWear: Wear {
        none::NoWearLeveling,
        dynamic::DynamicWearLeveling,
        static_leveling::StaticWearLeveling,
    }
    fn streams(&self) -> &'static [StreamRow];
    fn open(&mut self, blocks: SuperblockView<'_>, modes: ModeSet, cold: bool) -> Option<SuperblockId>;
    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId>;
}
