//! The initial contents of the drive, computed arithmetically, and the memory of later changes.

use firstread_core::{Arena, Divisor, InitialContents, Lpn, Ppa, SuperblockId};

use crate::growing_memory::GrowingMemory;

mod preconditioned;

pub(crate) use preconditioned::{Preconditioned, Slot, heat_classes};

/// The memory of the map's overlay, with the initial contents below it.
#[derive(Clone, Debug)]
pub(crate) struct FilledMemory {
    memory: GrowingMemory,
    /// Slots of a filled superblock.
    slots_per_block: Divisor,
    /// Number of filled logical pages. In address order, superblock `i` holds the `i`-th stretch of them.
    pages: u64,
    /// Their places, if random overwrites have scattered them.
    scattered: Option<Preconditioned>,
    /// Superblocks that were filled and not erased since, one bit each.
    untouched: Box<[u64]>,
}

impl FilledMemory {
    /// The memory of an empty drive.
    pub(crate) fn new(slots_per_block: u32) -> FilledMemory {
        FilledMemory {
            memory: GrowingMemory::new(),
            slots_per_block: Divisor::new(u64::from(slots_per_block)),
            pages: 0,
            scattered: None,
            untouched: Box::default(),
        }
    }

    /// Fills the first `pages` logical pages in address order.
    pub(crate) fn fill(&mut self, pages: u64) {
        self.pages = pages;
        self.touch_none_of(pages.div_ceil(self.slots_per_block.get()));
    }

    /// Fills pages as `state` says.
    pub(crate) fn precondition(&mut self, state: Preconditioned) {
        self.pages = state.pages();
        self.touch_none_of(u64::from(state.blocks()));
        self.scattered = Some(state);
    }

    fn touch_none_of(&mut self, blocks: u64) {
        let left = |word: u64| (blocks - 64 * word).min(64);
        let words = (0..blocks.div_ceil(64)).map(|word| u64::MAX >> (64 - left(word)));
        self.untouched = words.collect();
    }

    #[cold]
    pub(crate) fn grow(&mut self) {
        self.memory.grow();
    }
}

impl Arena for FilledMemory {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }
}

impl InitialContents for FilledMemory {
    #[inline(always)] // Once in each look-up of the map.
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        if let Some(state) = &self.scattered
            && lpn.0 < self.pages
        {
            return (Some(state.locate(lpn)), 1);
        }
        let (block, slot) = self.slots_per_block.div_rem(lpn.0);
        let left = (self.slots_per_block.get() - slot).min(max);
        if lpn.0 >= self.pages {
            return (None, left);
        }
        let ppa = Ppa::new(SuperblockId(block as u32), slot as u32);
        (Some(ppa), left.min(self.pages - lpn.0))
    }

    #[inline]
    fn holds(&self, block: SuperblockId) -> bool {
        let word = self.untouched.get(block.0 as usize / 64);
        word.is_some_and(|word| word >> (block.0 % 64) & 1 != 0)
    }

    #[inline]
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        if let Some(state) = &self.scattered {
            return state.valid_at(ppa);
        }
        let first = u64::from(ppa.block().0) * self.slots_per_block.get();
        let page = first + u64::from(ppa.slot());
        (page < self.pages).then_some(Lpn(page))
    }

    #[inline]
    fn erase(&mut self, block: SuperblockId) {
        if let Some(word) = self.untouched.get_mut(block.0 as usize / 64) {
            *word &= !(1 << (block.0 % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    const SLOTS: u32 = 1_000;

    fn in_order(pages: u64) -> FilledMemory {
        let mut filled = FilledMemory::new(SLOTS);
        filled.fill(pages);
        filled
    }

    fn scattered(blocks: u32) -> FilledMemory {
        let key = Stream::new(1);
        let valid: Vec<u32> = (0..blocks).map(|b| 600 + 3 * b).collect();
        let state = Preconditioned::new(SLOTS, 1, &valid, key.at(1), key).unwrap();
        let mut filled = FilledMemory::new(SLOTS);
        filled.precondition(state);
        filled
    }

    /// Every page lies where its run says, the slot there holds it, and no other slot holds a page.
    #[test]
    fn model_pages_and_slots_are_told_alike() {
        for (filled, blocks) in [
            (in_order(64_000), 64),
            (in_order(65_234), 66),
            (in_order(127_999), 128),
            (scattered(70), 70),
        ] {
            let mut lpn = 0;
            while lpn < filled.pages {
                let (ppa, n) = filled.run(Lpn(lpn), 7);
                for i in 0..n {
                    let ppa = Ppa(ppa.unwrap().0 + i);
                    assert_eq!(filled.page_at(ppa), Some(Lpn(lpn + i)));
                    assert!(filled.holds(ppa.block()));
                }
                lpn += n;
            }
            assert_eq!(lpn, filled.pages, "a run ends with what was filled");
            assert_eq!(filled.run(Lpn(lpn), 1), (None, 1));
            let slots =
                (0..blocks).flat_map(|b| (0..SLOTS).map(move |s| Ppa::new(SuperblockId(b), s)));
            let held = slots.filter(|&ppa| filled.page_at(ppa).is_some()).count();
            assert_eq!(held as u64, filled.pages);
            let holding = (0..2 * blocks)
                .filter(|&b| filled.holds(SuperblockId(b)))
                .count();
            assert_eq!(holding as u32, blocks);
        }
    }

    /// An erase removes the contents of its superblock and nothing else.
    #[test]
    fn sequence_an_erased_superblock_holds_nothing() {
        let mut filled = in_order(70_000);
        for erased in [63, 64, 69, 70, 1_000] {
            filled.erase(SuperblockId(erased));
        }
        let held = (0..70).filter(|&b| filled.holds(SuperblockId(b)));
        assert!(held.eq((0..70).filter(|b| ![63, 64, 69].contains(b))));
        assert!(!FilledMemory::new(SLOTS).holds(SuperblockId(0)));
    }
}
