//! The initial contents of the drive, computed arithmetically, and the memory of later changes.

use firstread_core::{Arena, Divisor, InitialContents, Lpn, Ppa, SuperblockId};

use crate::growing_memory::GrowingMemory;

mod fill_order;
mod preconditioned;

pub(crate) use fill_order::FillOrder;
pub(crate) use preconditioned::{Preconditioned, Slot, heat_classes};

/// The memory of the map's overlay, with the initial contents below it.
#[derive(Clone, Debug)]
pub(crate) struct FilledMemory {
    memory: GrowingMemory,
    /// Slots of a filled superblock.
    slots_per_block: Divisor,
    /// Number of filled logical pages. In address order, the `i`-th filled superblock holds the `i`-th stretch of them.
    pages: u64,
    /// Which superblock the `i`-th one is.
    order: FillOrder,
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
            order: FillOrder::default(),
            scattered: None,
            untouched: Box::default(),
        }
    }

    /// Fills the first `pages` logical pages in address order, into superblocks in `order`.
    pub(crate) fn fill(&mut self, pages: u64, order: &FillOrder) {
        self.pages = pages;
        self.order = order.clone();
        let blocks = pages.div_ceil(self.slots_per_block.get()) as u32;
        self.touch_only((0..blocks).map(|i| order.number(i)));
    }

    /// Fills pages as `state` says.
    pub(crate) fn precondition(&mut self, state: Preconditioned) {
        self.pages = state.pages();
        self.touch_only((0..state.blocks()).map(|i| state.number(i).0));
        self.scattered = Some(state);
    }

    /// The superblocks `filled` were not erased since, and no others.
    fn touch_only(&mut self, filled: impl Iterator<Item = u32> + Clone) {
        let end = filled.clone().max().map_or(0, |last| last + 1);
        self.untouched = vec![0; end.div_ceil(64) as usize].into();
        for number in filled {
            self.untouched[number as usize / 64] |= 1 << (number % 64);
        }
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
        let ppa = Ppa::new(SuperblockId(self.order.number(block as u32)), slot as u32);
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
        let block = u64::from(self.order.place(ppa.block().0)?);
        let first = block * self.slots_per_block.get();
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
        filled.fill(pages, &FillOrder::default());
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

    /// Superblocks that a fill leaves out hold nothing, and those behind them hold what follows.
    #[test]
    fn formula_a_fill_leaves_superblocks_out() {
        let mut filled = FilledMemory::new(10);
        filled.fill(65, &FillOrder::new(&[3, 4], &(0..0)));
        for lpn in 0..65 {
            let (ppa, pages) = filled.run(Lpn(lpn), 100);
            let ppa = ppa.unwrap();
            let block = [0, 1, 2, 5, 6, 7, 8][lpn as usize / 10];
            assert_eq!((ppa.block().0, u64::from(ppa.slot())), (block, lpn % 10));
            assert_eq!(filled.page_at(ppa), Some(Lpn(lpn)));
            assert!(filled.holds(ppa.block()));
            assert_eq!(pages, (10 - lpn % 10).min(65 - lpn));
        }
        for block in [3, 4, 9].map(SuperblockId) {
            assert!(!filled.holds(block), "{block:?}");
            assert_eq!(filled.page_at(Ppa::new(block, 5)), None);
        }
    }
}
