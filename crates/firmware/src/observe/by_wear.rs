//! An index of superblocks by wear: the least and the most worn that are free, the least worn at rest, and the most
//! worn of all that are not retired. Of superblocks that are worn alike, the one of the lowest number is found.

use core::ops::Range;

use super::groups::{Groups, Held};
use super::superblock::{SuperblockInfo, SuperblockUse};

/// The index of the superblocks of a region: P/E cycles by superblock, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ByWear {
    /// Free superblocks, the least worn first.
    free: Groups<u32>,
    /// Free superblocks, the most worn first.
    free_worn: Groups<u32>,
    /// Superblocks that are full and whose data are not being moved, the least worn first.
    at_rest: Groups<u32>,
    /// Superblocks that are not retired, the most worn first.
    in_use_worn: Groups<u32>,
}

/// P/E cycles, so that the most come first.
fn from_the_most(pe_cycles: u32) -> u32 {
    u32::MAX - 1 - pe_cycles
}

impl ByWear {
    /// Of so many superblocks.
    pub(super) fn new(numbers: &Range<u32>) -> ByWear {
        let groups = || Groups::new(numbers.len());
        ByWear {
            free: groups(),
            free_worn: groups(),
            at_rest: groups(),
            in_use_worn: groups(),
        }
    }

    /// Superblock number `block` of these is as `info` says.
    pub(super) fn look_at(&mut self, block: usize, info: &SuperblockInfo) {
        let if_some = |is_some: bool, held: u32| if is_some { held } else { Held::NONE };
        // The largest number is that of none.
        let least = info.pe_cycles.min(u32::MAX - 1);
        let most = from_the_most(least);
        let is_free = info.usage == SuperblockUse::Free;
        let is_at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
        self.free.set(block, if_some(is_free, least));
        self.free_worn.set(block, if_some(is_free, most));
        self.at_rest.set(block, if_some(is_at_rest, least));
        let is_in_use = info.usage != SuperblockUse::Bad;
        self.in_use_worn.set(block, if_some(is_in_use, most));
    }

    /// The free one of the lowest number, among those that `are_in`.
    pub(super) fn first_free(&self, are_in: impl Fn(usize) -> bool) -> Option<usize> {
        let first = |_: u32, block: usize| Some(block);
        self.free
            .first(first, |_, block| are_in(block).then_some(block))
    }

    /// The free one with the fewest P/E cycles, among those that `are_in`.
    pub(super) fn least_worn_free(&self, are_in: impl Fn(usize) -> bool) -> Option<usize> {
        first_in(&self.free, are_in)
    }

    /// The free one with the most P/E cycles, among those that `are_in`.
    pub(super) fn most_worn_free(&self, are_in: impl Fn(usize) -> bool) -> Option<usize> {
        first_in(&self.free_worn, are_in)
    }

    /// The one at rest with the fewest P/E cycles.
    pub(super) fn least_worn_at_rest(&self) -> Option<usize> {
        first_in(&self.at_rest, |_| true)
    }

    /// The one with the most P/E cycles that is not retired.
    pub(super) fn most_worn(&self) -> Option<usize> {
        first_in(&self.in_use_worn, |_| true)
    }
}

/// The first of `groups` that `are_in`.
fn first_in(groups: &Groups<u32>, are_in: impl Fn(usize) -> bool) -> Option<usize> {
    let key = |held: u32, block: usize| Some((held, block));
    let of_one = |held: u32, block: usize| key(held, block).filter(|_| are_in(block));
    groups.first(key, of_one).map(|(_, block)| block)
}
