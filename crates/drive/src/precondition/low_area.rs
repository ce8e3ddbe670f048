//! The low wearing area of a drive under overwrites alone, within the mean field of `zipf`.
//!
//! The rules are those of axis `area` for a drive that is never read (`policy/area/dwr.rs` of the firmware). The host and
//! relocation write to the high wearing area. What a victim there holds that has moved before spills into the low wearing
//! area, while a superblock of it holds less, on average, than one of the high wearing area. Where it has no free
//! superblock for that, its own victim is emptied within it, if half of that is garbage, or as much as of the next victim of
//! the high wearing area. Otherwise the page stays where it would go on a drive without areas.

use super::block::{Block, Open};
use super::counts::LowShape;

/// The area.
#[derive(Clone, Debug)]
pub(super) struct Low {
    /// Superblocks of the area and of the other one, and those of the area that have no settled data.
    superblocks: (f64, f64),
    /// Slots that may be programmed: those of all its superblocks but the free ones.
    slots: f64,
    /// Slots that settled data may take.
    most_settled: f64,
    pub(super) blocks: Vec<Block>,
    pub(super) open: Open,
}

impl Low {
    /// The area of `shape` of a drive whose superblocks have `slots` slots, filled.
    pub(super) fn new(shape: &LowShape, slots: u32, classes: usize) -> Low {
        let of = |superblocks: u32| f64::from(superblocks) * f64::from(slots);
        Low {
            superblocks: (f64::from(shape.usable.0), f64::from(shape.usable.1)),
            slots: of(shape.filled()),
            most_settled: of(shape.usable.0.saturating_sub(shape.spare)),
            blocks: Vec::new(),
            open: Open::empty(classes),
        }
    }

    /// Slots that a fill of `pages` pages puts into the area.
    pub(super) fn filled_of(&self, pages: f64) -> f64 {
        self.slots.min(pages)
    }

    /// Valid slots.
    pub(super) fn valid(&self) -> f64 {
        self.blocks.iter().map(|block| block.sum).sum::<f64>() + self.open.block.sum
    }

    /// Whether data spill into the area while the other one has `high_valid` valid slots.
    pub(super) fn takes(&self, high_valid: f64) -> bool {
        let valid = self.valid();
        let (low, high) = self.superblocks;
        valid * high < high_valid * low && valid < self.most_settled
    }

    /// Slots that settled data may still take.
    pub(super) fn left_to_settle(&self) -> f64 {
        (self.most_settled - self.valid()).max(0.0)
    }

    /// Slots that are left before a superblock of the area has to be emptied, of superblocks of `slots` slots.
    pub(super) fn room(&self, slots: f64) -> f64 {
        self.slots - self.blocks.len() as f64 * slots - self.open.filled
    }

    /// Slots become stale.
    pub(super) fn decay(&mut self, decay: &[f64]) {
        let open = core::iter::once(&mut self.open.block);
        let blocks = self.blocks.iter_mut().chain(open);
        blocks.for_each(|block| block.decay(decay));
    }
}
