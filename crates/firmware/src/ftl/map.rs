//! The map from logical pages to physical slots.
//!
//! A drive that was filled in address order needs no table: superblock `i` of the fill holds the
//! `i`-th stretch of logical pages in order. Nor does one preconditioned by random overwrites, whose
//! places are computed (`preconditioned`). What was written or trimmed since lies in an overlay,
//! a `sparse` table. A region of 4,096 pages that the overlay knows nothing of costs 16 bytes and a bit:
//! its word in that table, when it was trimmed as a whole, and whether it is touched.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Arena, BlockId, Divisor, Lpn, Ppa};

use super::Preconditioned;
use super::sparse::{REGION_PAGES, SparseTable, VALUE_BITS};

/// No superblock.
const NONE: u32 = u32::MAX;

/// The page is trimmed. Places count slots over all superblocks from one on; zero stands for a page
/// that the overlay does not know.
const TRIMMED: u64 = (1 << VALUE_BITS) - 1;
/// The page's data could not be read when they were to be moved, and are gone.
const LOST: u64 = TRIMMED - 1;
/// Slots of all superblocks that places can count.
pub const MOST_SLOTS: u64 = LOST - 1;

/// The map of a drive.
#[derive(Debug)]
pub struct Map<M> {
    capacity: u64,
    slots_per_block: Divisor,
    /// Superblock of each stretch of the fill.
    fill: Box<[u32]>,
    /// Logical pages below this one were filled.
    filled: u64,
    /// Where they lie, if random overwrites have scattered them.
    preconditioned: Option<Preconditioned>,
    /// Superblocks of the preconditioned state that were not erased since, a bit each.
    untouched_blocks: Box<[u64]>,
    /// One bit a region: whether the overlay knows anything of it.
    touched: Box<[u64]>,
    /// Whether any is: a drive that is only read need not look.
    any_touched: bool,
    /// Sequence number at which each region was trimmed as a whole last.
    trimmed_at: Box<[u64]>,
    /// Places of pages written or trimmed since. A region is marked whose pages are trimmed where it
    /// does not say otherwise.
    overlay: SparseTable<M>,
}

/// Where a run of logical pages lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// First slot, or none where the pages were never written or are trimmed.
    pub ppa: Option<Ppa>,
    /// Whether the data are gone: they could not be corrected when they were to be moved.
    pub lost: bool,
    /// Logical pages in the run, whose slots follow each other.
    pub pages: u32,
}

/// What a logical page is set to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It lies at this slot.
    At(Ppa),
    /// It holds nothing.
    Trimmed,
    /// Its data are gone.
    Lost,
}

impl<M: Arena> Map<M> {
    /// An empty map of `capacity` logical pages over `blocks` superblocks of `slots_per_block`, at
    /// most [`MOST_SLOTS`] in all.
    pub fn new(capacity: u64, blocks: u32, slots_per_block: u32, overlay: M) -> Map<M> {
        let slots = u64::from(blocks) * u64::from(slots_per_block);
        assert!(slots <= MOST_SLOTS, "{slots} slots: more than places count");
        let stretches = capacity.div_ceil(slots_per_block as u64) as usize;
        let regions = capacity.div_ceil(REGION_PAGES) as usize;
        Map {
            capacity,
            slots_per_block: Divisor::new(slots_per_block as u64),
            fill: vec![NONE; stretches].into_boxed_slice(),
            filled: 0,
            preconditioned: None,
            untouched_blocks: Box::default(),
            any_touched: false,
            touched: vec![0; regions.div_ceil(64)].into_boxed_slice(),
            trimmed_at: vec![0; regions].into_boxed_slice(),
            overlay: SparseTable::new(capacity, overlay),
        }
    }

    /// Logical pages of the drive.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    /// Whether `changes` of the map, each within a region, fit for certain before it wants more memory.
    #[inline]
    pub fn has_room(&self, changes: u32) -> bool {
        self.overlay.has_room(changes)
    }
    /// Lets `grow` add bytes at the end of the overlay's memory; those there stay.
    pub fn grow_overlay(&mut self, grow: impl FnOnce(&mut M)) {
        self.overlay.grow(grow);
    }

    /// Takes the pages of `state` as written. The map is empty.
    pub fn precondition(&mut self, state: Preconditioned) {
        debug_assert_eq!(self.filled, 0, "only an empty drive is preconditioned");
        self.filled = state.pages();
        let words = state.blocks().div_ceil(64) as usize;
        self.untouched_blocks = vec![u64::MAX; words].into_boxed_slice();
        self.preconditioned = Some(state);
    }

    /// The preconditioned state, if the drive was brought into one.
    pub fn preconditioned(&self) -> Option<&Preconditioned> {
        self.preconditioned.as_ref()
    }

    /// `block` is to be erased.
    pub(crate) fn erase(&mut self, block: BlockId) {
        if let Some(word) = self.untouched_blocks.get_mut(block.0 as usize / 64) {
            *word &= !(1 << (block.0 % 64));
        }
    }

    /// Whether slots of `block` are still as the preconditioned state has them, so that
    /// [`Map::holds`] tells what they hold without their spare areas.
    #[inline]
    pub(crate) fn is_computed(&self, block: BlockId) -> bool {
        let blocks = self.preconditioned.as_ref().map_or(0, |p| p.blocks());
        block.0 < blocks && self.untouched_blocks[block.0 as usize / 64] >> (block.0 % 64) & 1 != 0
    }

    /// Whether `ppa`, of a superblock for which [`Map::is_computed`] holds, has the last version of
    /// a page.
    #[inline]
    pub(crate) fn holds(&self, ppa: Ppa) -> bool {
        let page = self.preconditioned.as_ref().and_then(|p| p.valid_at(ppa));
        page.is_some_and(|Lpn(lpn)| {
            !self.is_touched(lpn) || !self.overlay.is_marked(lpn) && self.overlay.get(lpn) == 0
        })
    }

    /// Notes that the next stretch of logical pages was filled into `block`, up to `pages` of them.
    pub fn fill(&mut self, block: BlockId, pages: u64) {
        debug_assert!(
            self.preconditioned.is_none(),
            "a drive is filled in one way"
        );
        let stretch = self.slots_per_block.div(self.filled) as usize;
        self.fill[stretch] = block.0;
        self.filled += pages.min(self.slots_per_block.get());
    }

    /// Where `lpn` and the pages after it lie, at most `max` of them. `lpn` is on the drive.
    #[inline]
    pub fn lookup(&self, lpn: Lpn, max: u32) -> Run {
        if self.is_touched(lpn.0) {
            let (ppa, lost) = match self.overlay.get(lpn.0) {
                0 if self.overlay.is_marked(lpn.0) => (None, false),
                0 => (self.filled_at(lpn.0), false),
                TRIMMED => (None, false),
                LOST => (None, true),
                place => (Some(self.ppa(place)), false),
            };
            return Run {
                ppa,
                lost,
                pages: 1,
            };
        }
        if let Some(state) = &self.preconditioned
            && lpn.0 < self.filled
        {
            return Run {
                ppa: Some(state.locate(lpn)),
                lost: false,
                pages: 1,
            };
        }
        let region_left = REGION_PAGES - lpn.0 % REGION_PAGES;
        let (stretch, slot) = self.slots_per_block.div_rem(lpn.0);
        let stretch_left = self.slots_per_block.get() - slot;
        let mut left = region_left.min(stretch_left).min(max as u64);
        let mut ppa = None;
        if lpn.0 < self.filled {
            left = left.min(self.filled - lpn.0);
            let block = BlockId(self.fill[stretch as usize]);
            ppa = Some(Ppa::new(block, slot as u32));
        }
        Run {
            ppa,
            lost: false,
            pages: left as u32,
        }
    }

    /// Where every logical page of the drive lies, run by run, each with its first page.
    pub fn runs(&self) -> impl Iterator<Item = (Lpn, Run)> {
        let mut lpn = 0;
        core::iter::from_fn(move || {
            let left = self.capacity - lpn;
            let first = Lpn(lpn);
            // A run may reach past the end of the drive, where no page is.
            let run = (left > 0).then(|| self.lookup(first, left.min(u32::MAX.into()) as u32))?;
            lpn += u64::from(run.pages);
            Some((first, run))
        })
    }

    /// Where `lpn` lies, if it holds data.
    #[inline]
    pub fn at(&self, lpn: Lpn) -> Option<Ppa> {
        self.lookup(lpn, 1).ppa
    }

    /// Sets where `lpn` lies and returns where it lay. Needs [`Map::has_room`].
    pub fn set(&mut self, lpn: Lpn, place: Place) -> Option<Ppa> {
        let value = match place {
            Place::At(ppa) => self.place(ppa),
            Place::Trimmed => TRIMMED,
            Place::Lost => LOST,
        };
        let region = lpn.0 / REGION_PAGES;
        self.any_touched = true;
        self.touched[(region / 64) as usize] |= 1 << (region % 64);
        match self.overlay.set(lpn.0, value) {
            0 if self.overlay.is_marked(lpn.0) => None,
            0 => self.filled_at(lpn.0),
            TRIMMED | LOST => None,
            old => Some(self.ppa(old)),
        }
    }

    #[inline]
    fn place(&self, ppa: Ppa) -> u64 {
        let place = u64::from(ppa.block().0) * self.slots_per_block.get() + u64::from(ppa.slot());
        debug_assert!(
            place < MOST_SLOTS,
            "a superblock that the map was not made for"
        );
        place + 1
    }
    #[inline]
    fn ppa(&self, place: u64) -> Ppa {
        let (block, slot) = self.slots_per_block.div_rem(place - 1);
        Ppa::new(BlockId(block as u32), slot as u32)
    }

    /// Trims pages from `first` on, up to `end` and to the end of their region; returns how many.
    /// `forgotten` is told of each superblock that held some of them, and how many. `sequence` is
    /// the number of the last slot that came in before. Needs [`Map::has_room`].
    pub fn trim(
        &mut self,
        first: u64,
        end: u64,
        sequence: u64,
        mut forgotten: impl FnMut(BlockId, u32),
    ) -> u32 {
        let region_start = first / REGION_PAGES * REGION_PAGES;
        let region_end = (region_start + REGION_PAGES).min(self.capacity);
        let end = end.min(region_end);
        let mut lpn = first;
        while lpn < end {
            let run = self.lookup(Lpn(lpn), (end - lpn) as u32);
            if let Some(ppa) = run.ppa {
                forgotten(ppa.block(), run.pages);
            }
            lpn += run.pages as u64;
        }
        let region = (first / REGION_PAGES) as usize;
        if first == region_start && end == region_end {
            self.overlay.clear_region(first);
            self.trimmed_at[region] = sequence;
            self.any_touched = true;
            self.touched[region / 64] |= 1 << (region % 64);
        } else {
            (first..end).for_each(|lpn| {
                self.set(Lpn(lpn), Place::Trimmed);
            });
        }
        (end - first) as u32
    }

    /// Power was cut: forgets where pages lie. With [`Map::has_room`] for a change, all of them can be
    /// set again in any order. What the journal holds stays: trims, losses, and the
    /// stretches of the fill whose superblock `is_filled` still, as are those of the preconditioned
    /// state that were not erased.
    pub fn forget_places(&mut self, is_filled: impl Fn(BlockId) -> bool) {
        for block in &mut self.fill {
            if *block != NONE && !is_filled(BlockId(*block)) {
                *block = NONE;
            }
        }
        self.overlay.retain(|place| matches!(place, TRIMMED | LOST));
    }

    /// Whether data of `lpn` with this sequence number may be its last version, as far as the
    /// journal tells: not trimmed and not lost since.
    pub fn recovers(&self, lpn: Lpn, sequence: u64) -> bool {
        match self.overlay.get(lpn.0) {
            TRIMMED | LOST => false,
            0 if self.overlay.is_marked(lpn.0) => {
                sequence > self.trimmed_at[(lpn.0 / REGION_PAGES) as usize]
            }
            _ => true,
        }
    }

    fn filled_at(&self, lpn: u64) -> Option<Ppa> {
        if lpn >= self.filled {
            return None;
        }
        if let Some(state) = &self.preconditioned {
            // What was moved from a superblock before its erase is found anew after a power cut.
            let ppa = state.locate(Lpn(lpn));
            return self.is_computed(ppa.block()).then_some(ppa);
        }
        let (stretch, slot) = self.slots_per_block.div_rem(lpn);
        let block = self.fill[stretch as usize];
        (block != NONE).then(|| Ppa::new(BlockId(block), slot as u32))
    }

    #[inline]
    fn is_touched(&self, lpn: u64) -> bool {
        let region = lpn / REGION_PAGES;
        self.any_touched && self.touched[(region / 64) as usize] >> (region % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    struct Memory(Vec<u8>);
    impl Arena for Memory {
        fn bytes(&self) -> &[u8] {
            &self.0
        }
        fn bytes_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    /// A drive of ten regions and a bit, filled up to a page within the eighth.
    fn map() -> Map<Memory> {
        let mut map = Map::new(41_000, 1 << 20, 10_000, Memory(Vec::new()));
        [7, 3, 5].iter().for_each(|&b| map.fill(BlockId(b), 10_000));
        map.fill(BlockId(9), 1_234);
        map
    }
    fn filled(lpn: u64) -> Option<Ppa> {
        let block = BlockId([7, 3, 5, 9, 0][(lpn / 10_000) as usize]);
        (lpn < 31_234).then(|| Ppa::new(block, (lpn % 10_000) as u32))
    }

    #[derive(Clone, Debug)]
    enum Step {
        Write { first: u64, pages: u64, stride: u64 },
        Trim { first: u64, pages: u64 },
        Lose(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let first = 0u64..41_000;
        prop_oneof![
            4 => (first.clone(), 1u64..3_000, 1u64..40)
                .prop_map(|(first, pages, stride)| Step::Write { first, pages, stride }),
            1 => (first.clone(), 1u64..10_000).prop_map(|(first, pages)| Step::Trim { first, pages }),
            1 => first.prop_map(Step::Lose),
        ]
    }

    fn at(block: u32, slot: u32) -> Place {
        Place::At(Ppa::new(BlockId(block), slot))
    }

    /// After a power cut, what flash holds of a page of a region that was trimmed as a whole counts only
    /// if it came in after the trim.
    #[test]
    fn powerloss_a_trimmed_region_keeps_older_data_out() {
        let mut map = map();
        map.grow_overlay(|m| m.0.resize(1_000_000, 0));
        let region = |r: u64| r * REGION_PAGES;
        map.set(Lpn(region(1)), at(1, 0));
        for (r, sequence) in [(1, 100), (3, 300)] {
            let trimmed = map.trim(region(r), region(r + 1), sequence, |_, _| ());
            assert_eq!(u64::from(trimmed), REGION_PAGES);
        }
        // Written again, trimmed alone, lost; and pages of regions that were never trimmed as a whole.
        map.set(Lpn(region(1) + 1), at(1, 1));
        map.set(Lpn(region(1) + 2), Place::Trimmed);
        map.set(Lpn(region(1) + 3), Place::Lost);
        map.set(Lpn(region(2)), at(1, 2));
        map.set(Lpn(region(2) + 1), Place::Trimmed);
        map.forget_places(|_| true);
        let recovers = |page: u64| {
            [0, 99, 100, 101, 299, 300, 301].map(|sequence| map.recovers(Lpn(page), sequence))
        };
        let (after_100, after_300) = ([3, 4, 5, 6], [6]);
        let from = |later: &[usize]| core::array::from_fn(|i| later.contains(&i));
        assert_eq!(
            recovers(region(1)),
            from(&after_100),
            "trimmed with its region"
        );
        assert_eq!(
            recovers(region(2) - 1),
            from(&after_100),
            "the region's last page"
        );
        assert_eq!(recovers(region(1) + 1), from(&after_100), "written since");
        assert_eq!(recovers(region(1) + 2), [false; 7], "trimmed alone since");
        assert_eq!(recovers(region(1) + 3), [false; 7], "lost since");
        assert_eq!(
            recovers(region(3)),
            from(&after_300),
            "each region has its own trim"
        );
        assert_eq!(
            recovers(region(2)),
            [true; 7],
            "written, its region not trimmed"
        );
        assert_eq!(recovers(region(2) + 1), [false; 7], "trimmed alone");
        assert_eq!(recovers(0), [true; 7], "neither written nor trimmed");
    }

    /// On a preconditioned drive a slot is valid exactly if its page is found there, whatever was
    /// written, trimmed or lost since.
    #[test]
    fn model_a_computed_slot_is_valid_where_its_page_is_found() {
        let (slots, blocks) = (1_000u32, 13u32);
        let key = firstread_core::Stream::new(1);
        let valid: Vec<u32> = (0..blocks).map(|b| 600 + 30 * b).collect();
        let state = Preconditioned::new(slots, 1, &valid, key.at(1), key).unwrap();
        let pages = state.pages();
        let mut map = Map::new(pages, 20, slots, Memory(vec![0; 1_000_000]));
        map.precondition(state);
        // Regions: one that nothing happens to, one that is trimmed as a whole, one that is trimmed and
        // written in part, and the last one, which changes in part.
        assert!(pages > 2 * REGION_PAGES && pages < 3 * REGION_PAGES);
        let check = |map: &Map<Memory>| {
            let mut held = 0;
            for block in (0..blocks).map(BlockId) {
                for ppa in (0..slots).map(|slot| Ppa::new(block, slot)) {
                    let state = map.preconditioned().unwrap();
                    let found = state
                        .valid_at(ppa)
                        .is_some_and(|lpn| map.at(lpn) == Some(ppa));
                    assert_eq!(map.holds(ppa), found, "{ppa:?}");
                    held += u64::from(found);
                }
            }
            held
        };
        assert_eq!(check(&map), pages);
        let last = 2 * REGION_PAGES;
        map.set(Lpn(last), at(15, 0));
        map.set(Lpn(last + 1), Place::Trimmed);
        map.set(Lpn(last + 2), Place::Lost);
        assert_eq!(check(&map), pages - 3);
        map.trim(REGION_PAGES, last, 1, |_, _| ());
        assert_eq!(check(&map), pages - 3 - REGION_PAGES);
        map.set(Lpn(REGION_PAGES), at(15, 1));
        assert_eq!(check(&map), pages - 3 - REGION_PAGES);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn model_map_is_a_map(steps in prop::collection::vec(step(), 1..40)) {
            let mut map = map();
            let mut model: BTreeMap<u64, Place> = BTreeMap::new();
            let mut next = 0u64;
            let at = |model: &BTreeMap<u64, Place>, lpn| match model.get(&lpn) {
                None => filled(lpn),
                Some(Place::At(ppa)) => Some(*ppa),
                Some(_) => None,
            };
            for step in steps {
                match step {
                    Step::Write { first, pages, stride } => {
                        for lpn in (0..pages).map(|i| first + i * stride).take_while(|&l| l < 41_000) {
                            if !map.has_room(1) {
                                map.grow_overlay(|m| m.0.resize(m.0.len() + 1_000_000, 0));
                            }
                            next += 1;
                            let place = Place::At(Ppa::new(BlockId((next / 10_000) as u32), (next % 10_000) as u32));
                            prop_assert_eq!(map.set(Lpn(lpn), place), at(&model, lpn));
                            model.insert(lpn, place);
                        }
                    }
                    Step::Trim { first, pages } => {
                        let end = (first + pages).min(41_000);
                        let (mut lpn, mut told) = (first, 0u64);
                        while lpn < end {
                            if !map.has_room(1) {
                                map.grow_overlay(|m| m.0.resize(m.0.len() + 1_000_000, 0));
                            }
                            lpn += map.trim(lpn, end, 0, |_, n| told += n as u64) as u64;
                        }
                        prop_assert_eq!(lpn, end);
                        let held = (first..end).filter(|&l| at(&model, l).is_some()).count();
                        prop_assert_eq!(told, held as u64);
                        (first..end).for_each(|l| { model.insert(l, Place::Trimmed); });
                    }
                    Step::Lose(lpn) => {
                        if !map.has_room(1) {
                            map.grow_overlay(|m| m.0.resize(m.0.len() + 1_000_000, 0));
                        }
                        map.set(Lpn(lpn), Place::Lost);
                        model.insert(lpn, Place::Lost);
                        prop_assert!(map.lookup(Lpn(lpn), 9).lost);
                    }
                }
            }
            let mut lpn = 0;
            while lpn < 41_000 {
                let run = map.lookup(Lpn(lpn), u32::MAX);
                for i in 0..run.pages as u64 {
                    prop_assert_eq!(run.ppa.map(|p| Ppa(p.0 + i)), at(&model, lpn + i), "page {}", lpn + i);
                }
                lpn += run.pages as u64;
            }
        }
    }
}
