//! The map from logical pages to physical slots.
//!
//! A drive that was filled in address order needs no table: superblock `i` of the fill holds the
//! `i`-th stretch of logical pages in order. Nor does one preconditioned by random overwrites, whose
//! places are computed (`preconditioned`). What was written or trimmed since lies in an overlay,
//! a region of 4,096 logical pages at a time. A region the overlay knows nothing of costs one bit.
//! Few pages of a region lie in leaves of twenty behind an extendible directory (Fagin et al., ACM
//! TODS 1979), about nine bytes each; a region half overwritten is a flat table of 4,096 words.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Arena, BlockId, Divisor, Lpn, Ppa};

use super::Preconditioned;
use super::leaf::{KEY_BITS, LEAF_ENTRIES, LEAF_WORDS, Leaf, LeafMut, PLACE_BITS};

/// Logical pages of a region.
pub const REGION_PAGES: u64 = 1 << REGION_BITS;
const REGION_BITS: u32 = KEY_BITS;
/// Words of a unit, in which the arena is handed out; also of a leaf.
const UNIT: usize = LEAF_WORDS;
/// Depths of a directory: `1 << depth` half-word pointers to leaves.
const MIN_DEPTH: u32 = 5;
const MAX_DEPTH: u32 = 8;
/// Entries from which on a region is flat: leaves would then take more than half its memory.
const FLAT_AT: u64 = 1 << (REGION_BITS - 1);
/// Units of a flat region.
const FLAT_UNITS: u32 = (REGION_PAGES as usize / UNIT) as u32;
/// Units that changes within one region take at most: every depth of directory, all leaves of the
/// deepest, and the flat region in the end.
const MAX_UNITS_PER_CHANGE: usize = 15 + (1 << MAX_DEPTH) + FLAT_UNITS as usize;
/// Sizes in units that are kept for reuse once given back.
const SIZES: [u32; 5] = [1, 2, 4, 8, FLAT_UNITS];

/// No superblock.
const NONE: u32 = u32::MAX;

/// The page is trimmed. Places count slots over all superblocks from one on; zero stands for a page
/// that the overlay does not know.
const TRIMMED: u64 = (1 << PLACE_BITS) - 1;
/// The page's data could not be read when they were to be moved, and are gone.
const LOST: u64 = TRIMMED - 1;

/// What the overlay knows of a region, in a word: pointer to its table, kind, whether its pages
/// are trimmed where the table does not say otherwise, entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region(u64);

impl Region {
    const UNTOUCHED: Region = Region(0);
    const TRIMMED: u64 = 1 << 40;
    const LEAF: u32 = 1;
    const FLAT: u32 = 15;

    const fn pointer(self) -> u32 {
        self.0 as u32
    }
    /// 0: no table. 1: one leaf. 5 to 8: a directory of that depth. 15: flat.
    const fn kind(self) -> u32 {
        (self.0 >> 32) as u32 & 15
    }
    const fn is_trimmed(self) -> bool {
        self.0 & Region::TRIMMED != 0
    }
    const fn entries(self) -> u64 {
        self.0 >> 48
    }
    const fn with_table(self, kind: u32, pointer: u32) -> Region {
        Region(self.0 & !0xf_ffff_ffff | (kind as u64) << 32 | pointer as u64)
    }
    const fn with_entries(self, entries: u64) -> Region {
        Region(self.0 & (u64::MAX >> 16) | entries << 48)
    }
    const fn with_one_more(self) -> Region {
        Region(self.0 + (1 << 48))
    }
}

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
    regions: Box<[Region]>,
    /// Sequence number at which each region was trimmed as a whole last.
    trimmed_at: Box<[u64]>,
    overlay: M,
    /// Units of the overlay handed out since the start.
    used: u32,
    /// Units given back, by size: heads of lists linked through their first words, zero for none.
    free: [u32; SIZES.len()],
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
    /// An empty map of `capacity` logical pages; a superblock of the fill holds `slots_per_block`.
    pub fn new(capacity: u64, slots_per_block: u32, overlay: M) -> Map<M> {
        let stretches = capacity.div_ceil(slots_per_block as u64) as usize;
        let regions = capacity.div_ceil(REGION_PAGES) as usize;
        Map {
            capacity,
            slots_per_block: Divisor::new(slots_per_block as u64),
            fill: vec![NONE; stretches].into_boxed_slice(),
            filled: 0,
            preconditioned: None,
            untouched_blocks: Box::default(),
            touched: vec![0; regions.div_ceil(64)].into_boxed_slice(),
            regions: vec![Region::UNTOUCHED; regions].into_boxed_slice(),
            trimmed_at: vec![0; regions].into_boxed_slice(),
            overlay,
            // Unit zero stands for "none".
            used: 1,
            free: [0; SIZES.len()],
        }
    }

    /// Logical pages of the drive.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    /// Whether `changes` of the map, each within a region, fit for certain before it wants more memory.
    #[inline]
    pub fn has_room(&self, changes: usize) -> bool {
        let units = self.overlay.words().len() / UNIT;
        self.used as usize + changes * MAX_UNITS_PER_CHANGE <= units
    }
    /// Words of the memory the overlay is in.
    pub fn overlay_words(&self) -> usize {
        self.overlay.words().len()
    }
    /// Lets `grow` add zeroed words at the end of the overlay's memory; those there stay.
    pub fn grow_overlay(&mut self, grow: impl FnOnce(&mut M)) {
        let before = self.overlay.words().len();
        grow(&mut self.overlay);
        assert!(
            self.overlay.words().len() >= before,
            "the overlay's memory only grows"
        );
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
            !self.is_touched(lpn) || !self.region(lpn).is_trimmed() && self.find(lpn) == 0
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
            let (ppa, lost) = match self.find(lpn.0) {
                0 if self.region(lpn.0).is_trimmed() => (None, false),
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
        self.touched[(region / 64) as usize] |= 1 << (region % 64);
        match self.insert(lpn.0, value) {
            0 if self.region(lpn.0).is_trimmed() => None,
            0 => self.filled_at(lpn.0),
            TRIMMED | LOST => None,
            old => Some(self.ppa(old)),
        }
    }

    #[inline]
    fn place(&self, ppa: Ppa) -> u64 {
        let place = u64::from(ppa.block().0) * self.slots_per_block.get() + u64::from(ppa.slot());
        debug_assert!(place + 1 < LOST, "a place has {PLACE_BITS} bits");
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
            self.release(self.regions[region]);
            self.regions[region] = Region(Region::TRIMMED);
            self.trimmed_at[region] = sequence;
            self.touched[region / 64] |= 1 << (region % 64);
        } else {
            (first..end).for_each(|lpn| {
                self.set(Lpn(lpn), Place::Trimmed);
            });
        }
        (end - first) as u32
    }

    /// Power was cut: forgets where pages lie. What the journal holds stays: trims, losses, and the
    /// stretches of the fill whose superblock `is_filled` still, as are those of the preconditioned
    /// state that were not erased.
    pub fn forget_places(&mut self, is_filled: impl Fn(BlockId) -> bool) {
        for block in &mut self.fill {
            if *block != NONE && !is_filled(BlockId(*block)) {
                *block = NONE;
            }
        }
        for r in 0..self.regions.len() {
            let region = self.regions[r];
            let words = self.overlay.words_mut();
            if region.kind() == Region::FLAT {
                let start = region.pointer() as usize * UNIT;
                let gone = |place| place == TRIMMED || place == LOST;
                let flat = &mut words[start..start + REGION_PAGES as usize];
                flat.iter_mut().filter(|w| !gone(**w)).for_each(|w| *w = 0);
                continue;
            }
            let mut entries = 0;
            for_each_leaf(words, region, |words, leaf| {
                leaf_mut(words, leaf).retain(|place| matches!(place, TRIMMED | LOST));
                entries += leaf_of(words, leaf).len() as u64;
            });
            self.regions[r] = region.with_entries(entries);
        }
    }

    /// Whether data of `lpn` with this sequence number may be its last version, as far as the
    /// journal tells: not trimmed and not lost since.
    pub fn recovers(&self, lpn: Lpn, sequence: u64) -> bool {
        match self.find(lpn.0) {
            TRIMMED | LOST => false,
            0 if self.region(lpn.0).is_trimmed() => {
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
        self.touched[(region / 64) as usize] >> (region % 64) & 1 != 0
    }

    fn region(&self, lpn: u64) -> Region {
        self.regions[(lpn / REGION_PAGES) as usize]
    }

    /// What the overlay holds for `lpn`; zero for nothing.
    #[inline]
    fn find(&self, lpn: u64) -> u64 {
        let region = self.region(lpn);
        let words = self.overlay.words();
        let leaf = match region.kind() {
            0 => return 0,
            Region::FLAT => return words[flat_word(region.pointer(), lpn)],
            Region::LEAF => region.pointer(),
            depth => pointer_at(words, region.pointer(), prefix(lpn, depth)),
        };
        let leaf = leaf_of(words, leaf);
        leaf.find(key(lpn)).map_or(0, |i| leaf.place(i))
    }

    /// Puts `value` in for `lpn` and returns what was there; zero for nothing.
    fn insert(&mut self, lpn: u64, value: u64) -> u64 {
        let r = (lpn / REGION_PAGES) as usize;
        loop {
            let region = self.regions[r];
            let leaf = match region.kind() {
                0 => {
                    let leaf = self.take(0);
                    leaf_mut(self.overlay.words_mut(), leaf).clear(0);
                    self.regions[r] = region.with_table(Region::LEAF, leaf);
                    leaf
                }
                Region::FLAT => {
                    let word = &mut self.overlay.words_mut()[flat_word(region.pointer(), lpn)];
                    return core::mem::replace(word, value);
                }
                Region::LEAF => region.pointer(),
                depth => pointer_at(self.overlay.words(), region.pointer(), prefix(lpn, depth)),
            };
            let mut leaf = leaf_mut(self.overlay.words_mut(), leaf);
            let there = Leaf(leaf.0);
            if let Some(i) = there.find(key(lpn)) {
                let old = there.place(i);
                leaf.set(i, key(lpn), value);
                return old;
            }
            if region.entries() + 1 >= FLAT_AT {
                self.flatten(r);
            } else if there.len() < LEAF_ENTRIES {
                leaf.push(key(lpn), value);
                self.regions[r] = self.regions[r].with_one_more();
                return 0;
            } else {
                self.make_way(r, lpn);
            }
        }
    }

    /// Makes room in the full leaf of `lpn`: splits it, after deepening the directory if need be.
    fn make_way(&mut self, r: usize, lpn: u64) {
        let region = self.regions[r];
        if region.kind() == Region::LEAF {
            let directory = self.take(0);
            let leaf = region.pointer();
            (0..1 << MIN_DEPTH)
                .for_each(|i| set_pointer(self.overlay.words_mut(), directory, i, leaf));
            self.regions[r] = region.with_table(MIN_DEPTH, directory);
            return;
        }
        let (depth, directory) = (region.kind(), region.pointer());
        let leaf = pointer_at(self.overlay.words(), directory, prefix(lpn, depth));
        let leaf_depth = leaf_of(self.overlay.words(), leaf).depth();
        if leaf_depth < depth {
            return self.split(directory, depth, leaf, leaf_depth, lpn);
        }
        if depth == MAX_DEPTH {
            return self.flatten(r);
        }
        let size = (depth - MIN_DEPTH) as usize;
        let deeper = self.take(size + 1);
        let words = self.overlay.words_mut();
        for i in 0..1 << depth {
            let leaf = pointer_at(words, directory, i);
            set_pointer(words, deeper, 2 * i, leaf);
            set_pointer(words, deeper, 2 * i + 1, leaf);
        }
        self.give(size, directory);
        self.regions[r] = region.with_table(depth + 1, deeper);
    }

    /// Splits `leaf` by the next bit of its entries' hashes.
    fn split(&mut self, directory: u32, depth: u32, leaf: u32, leaf_depth: u32, lpn: u64) {
        let other = self.take(0);
        let words = self.overlay.words_mut();
        let old = *leaf_of(words, leaf).0;
        let mut halves = [[0; UNIT]; 2];
        for half in &mut halves {
            LeafMut(half).clear(leaf_depth + 1);
        }
        for i in 0..LEAF_ENTRIES {
            let (key, place) = Leaf(&old).entry(i);
            let half = prefix(key, leaf_depth + 1) & 1;
            LeafMut(&mut halves[half as usize]).push(key, place);
        }
        *leaf_mut(words, leaf).0 = halves[0];
        *leaf_mut(words, other).0 = halves[1];
        // The leaf's entries of the directory follow each other; the upper half is the new one's.
        let span = 1u32 << (depth - leaf_depth);
        let first = prefix(lpn, leaf_depth) * span;
        (first + span / 2..first + span).for_each(|i| set_pointer(words, directory, i, other));
    }

    /// Makes region `r` a flat table.
    fn flatten(&mut self, r: usize) {
        let region = self.regions[r];
        let flat = self.take(SIZES.len() - 1);
        let start = flat as usize * UNIT;
        let words = self.overlay.words_mut();
        words[start..start + REGION_PAGES as usize].fill(0);
        for_each_leaf(words, region, |words, leaf| {
            let leaf = *leaf_of(words, leaf).0;
            for i in 0..Leaf(&leaf).len() {
                let (key, place) = Leaf(&leaf).entry(i);
                words[start + key as usize] = place;
            }
        });
        self.release(region);
        self.regions[r] = region.with_table(Region::FLAT, flat);
    }

    /// Gives back the tables of `region`.
    fn release(&mut self, region: Region) {
        match region.kind() {
            0 => {}
            Region::LEAF => self.give(0, region.pointer()),
            Region::FLAT => self.give(SIZES.len() - 1, region.pointer()),
            depth => {
                let mut head = self.free[0];
                for_each_leaf(self.overlay.words_mut(), region, |words, leaf| {
                    words[leaf as usize * UNIT] = head as u64;
                    head = leaf;
                });
                self.free[0] = head;
                self.give((depth - MIN_DEPTH) as usize, region.pointer());
            }
        }
    }

    fn take(&mut self, size: usize) -> u32 {
        let head = self.free[size];
        if head != 0 {
            self.free[size] = self.overlay.words()[head as usize * UNIT] as u32;
            return head;
        }
        let unit = self.used;
        self.used += SIZES[size];
        unit
    }

    fn give(&mut self, size: usize, unit: u32) {
        self.overlay.words_mut()[unit as usize * UNIT] = self.free[size] as u64;
        self.free[size] = unit;
    }
}

/// Calls `visit` once for each leaf of `region`. A leaf may be overwritten while visited.
fn for_each_leaf(words: &mut [u64], region: Region, mut visit: impl FnMut(&mut [u64], u32)) {
    match region.kind() {
        0 | Region::FLAT => {}
        Region::LEAF => visit(words, region.pointer()),
        depth => {
            let mut i = 0;
            while i < 1 << depth {
                let leaf = pointer_at(words, region.pointer(), i);
                i += 1 << (depth - leaf_of(words, leaf).depth());
                visit(words, leaf);
            }
        }
    }
}

/// The page within its region.
const fn key(lpn: u64) -> u64 {
    lpn % REGION_PAGES
}

/// The first `depth` bits of the hash of a page: an odd multiple, so that neighbours and strides
/// are dealt to different leaves.
const fn prefix(lpn: u64, depth: u32) -> u32 {
    ((lpn.wrapping_mul(0x9e5) % REGION_PAGES) as u32) >> (REGION_BITS - depth)
}

#[inline]
fn leaf_of(words: &[u64], leaf: u32) -> Leaf<'_> {
    let words = &words[leaf as usize * UNIT..][..UNIT];
    Leaf(words.try_into().expect("a leaf is one unit"))
}
#[inline]
fn leaf_mut(words: &mut [u64], leaf: u32) -> LeafMut<'_> {
    let words = &mut words[leaf as usize * UNIT..][..UNIT];
    LeafMut(words.try_into().expect("a leaf is one unit"))
}
const fn flat_word(flat: u32, lpn: u64) -> usize {
    flat as usize * UNIT + key(lpn) as usize
}
fn pointer_at(words: &[u64], directory: u32, i: u32) -> u32 {
    (words[directory as usize * UNIT + i as usize / 2] >> (i % 2 * 32)) as u32
}
fn set_pointer(words: &mut [u64], directory: u32, i: u32, leaf: u32) {
    let word = &mut words[directory as usize * UNIT + i as usize / 2];
    let shift = i % 2 * 32;
    *word = *word & !(0xffff_ffff << shift) | (leaf as u64) << shift;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    struct Memory(Vec<u64>);
    impl Arena for Memory {
        fn words(&self) -> &[u64] {
            &self.0
        }
        fn words_mut(&mut self) -> &mut [u64] {
            &mut self.0
        }
    }

    /// A drive of ten regions and a bit, filled up to a page within the eighth.
    fn map() -> Map<Memory> {
        let mut map = Map::new(41_000, 10_000, Memory(Vec::new()));
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
                                map.grow_overlay(|m| m.0.resize(m.0.len() + 2 * UNIT * MAX_UNITS_PER_CHANGE, 0));
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
                                map.grow_overlay(|m| m.0.resize(m.0.len() + 2 * UNIT * MAX_UNITS_PER_CHANGE, 0));
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
                            map.grow_overlay(|m| m.0.resize(m.0.len() + 2 * UNIT * MAX_UNITS_PER_CHANGE, 0));
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

    #[test]
    fn formula_random_overwrites_take_few_bytes_each() {
        // 1.7, 11, 109 and 340 pages a region: as 1.5, 10, 100 and 300 million of 15.36 TB.
        for (writes, per_region, most) in [
            (25_000u64, 1.7, 65.0),
            (156_250, 10.9, 13.0),
            (500_000, 109.0, 11.0),
            (500_000, 340.0, 10.0),
        ] {
            let pages = (writes as f64 / per_region * REGION_PAGES as f64) as u64;
            let mut map = Map::new(pages, 11_534_336, Memory(Vec::new()));
            let stream = firstread_core::Stream::new(5).named("overwrites");
            for i in 0..writes {
                if !map.has_room(1) {
                    map.grow_overlay(|m| {
                        m.0.resize(m.0.len() + 64 * UNIT * MAX_UNITS_PER_CHANGE, 0)
                    });
                }
                map.set(Lpn(stream.at(i).below(pages)), Place::At(Ppa(i)));
            }
            let bytes = map.used as f64 * UNIT as f64 * 8.0 / writes as f64;
            std::println!("{per_region} pages a region: {bytes:.1} bytes an overwrite");
            assert!(bytes <= most, "{bytes} bytes an overwrite");
        }
    }
}
