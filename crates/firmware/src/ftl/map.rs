//! The map from logical pages to physical slots.
//!
//! A drive that was filled in address order needs no table: superblock `i` of the fill holds the
//! `i`-th stretch of logical pages in order. What was written or trimmed since lies in an overlay,
//! an open-addressing table in the arena. A bit a region tells whether the overlay knows any page
//! of it, so an untouched region costs a bit and no probe.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Arena, BlockId, Lpn, Ppa};

/// Logical pages of a region: one bit tells whether the overlay holds any of them.
const REGION_PAGES: u64 = 4096;
/// Words the overlay takes for an entry: the logical page plus one, and the slot.
pub const OVERLAY_WORDS_PER_ENTRY: usize = 2;
/// No superblock.
const NONE: u32 = u32::MAX;
/// Slot value of a trimmed page.
const TRIMMED: u64 = u64::MAX;

/// The map of a drive.
#[derive(Debug)]
pub struct Map<M> {
    capacity: u64,
    slots_per_block: u64,
    /// Superblock of each stretch of the fill.
    fill: Box<[u32]>,
    /// Logical pages below this one were filled.
    filled: u64,
    /// One bit a region.
    touched: Box<[u64]>,
    overlay: M,
    entries: usize,
    mask: usize,
}

/// Where a run of logical pages lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// First slot, or none where the pages were never written or are trimmed.
    pub ppa: Option<Ppa>,
    /// Logical pages in the run, whose slots follow each other.
    pub pages: u32,
}

impl<M: Arena> Map<M> {
    /// An empty map of `capacity` logical pages; a superblock holds `slots_per_block`.
    pub fn new(capacity: u64, slots_per_block: u32, overlay: M) -> Map<M> {
        let stretches = capacity.div_ceil(slots_per_block as u64) as usize;
        let regions = capacity.div_ceil(REGION_PAGES).div_ceil(64) as usize;
        let mask = table_mask(&overlay);
        Map {
            capacity,
            slots_per_block: slots_per_block as u64,
            fill: vec![NONE; stretches].into_boxed_slice(),
            filled: 0,
            touched: vec![0; regions].into_boxed_slice(),
            overlay,
            entries: 0,
            mask,
        }
    }

    /// Logical pages of the drive.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    /// Pages the overlay can take before it wants more memory.
    pub fn room(&self) -> usize {
        // Three quarters full is where linear probing begins to cost.
        ((self.mask + 1) / 4 * 3).saturating_sub(self.entries + 1)
    }
    /// Words of the memory the overlay is in.
    pub fn overlay_words(&self) -> usize {
        self.overlay.words().len()
    }
    /// Moves the overlay into `larger` and returns the memory it was in.
    pub fn move_overlay(&mut self, larger: M) -> M {
        let mask = table_mask(&larger);
        let old = core::mem::replace(&mut self.overlay, larger);
        let old_mask = core::mem::replace(&mut self.mask, mask);
        self.entries = 0;
        for i in 0..=old_mask {
            let (key, value) = (old.words()[2 * i], old.words()[2 * i + 1]);
            if key != 0 {
                self.insert(key - 1, value);
            }
        }
        old
    }

    /// Notes that the next stretch of logical pages was filled into `block`, up to `pages` of them.
    pub fn fill(&mut self, block: BlockId, pages: u64) {
        let stretch = (self.filled / self.slots_per_block) as usize;
        self.fill[stretch] = block.0;
        self.filled += pages.min(self.slots_per_block);
    }

    /// Where `lpn` and the pages after it lie, at most `max` of them. `lpn` is on the drive.
    #[inline]
    pub fn lookup(&self, lpn: Lpn, max: u32) -> Run {
        if self.is_touched(lpn.0) {
            if let Some(value) = self.find(lpn.0) {
                let ppa = if value == TRIMMED {
                    None
                } else {
                    Some(Ppa(value))
                };
                return Run { ppa, pages: 1 };
            }
            return Run {
                ppa: self.filled_at(lpn.0),
                pages: 1,
            };
        }
        let region_end = (lpn.0 / REGION_PAGES + 1) * REGION_PAGES;
        let stretch_end = (lpn.0 / self.slots_per_block + 1) * self.slots_per_block;
        let end = region_end.min(stretch_end);
        let end = if lpn.0 < self.filled {
            end.min(self.filled)
        } else {
            end
        };
        Run {
            ppa: self.filled_at(lpn.0),
            pages: (end - lpn.0).min(max as u64) as u32,
        }
    }

    /// Sets where `lpn` lies and returns where it lay. Needs [`Map::room`].
    pub fn set(&mut self, lpn: Lpn, ppa: Option<Ppa>) -> Option<Ppa> {
        let old = self.lookup(lpn, 1).ppa;
        let region = lpn.0 / REGION_PAGES;
        self.touched[(region / 64) as usize] |= 1 << (region % 64);
        self.insert(lpn.0, ppa.map_or(TRIMMED, |p| p.0));
        old
    }

    fn filled_at(&self, lpn: u64) -> Option<Ppa> {
        if lpn >= self.filled {
            return None;
        }
        let (stretch, slot) = (lpn / self.slots_per_block, lpn % self.slots_per_block);
        Some(Ppa::new(BlockId(self.fill[stretch as usize]), slot as u32))
    }

    fn is_touched(&self, lpn: u64) -> bool {
        let region = lpn / REGION_PAGES;
        self.touched[(region / 64) as usize] >> (region % 64) & 1 != 0
    }

    fn find(&self, lpn: u64) -> Option<u64> {
        let words = self.overlay.words();
        let mut i = home(lpn) & self.mask;
        loop {
            match words[2 * i] {
                0 => return None,
                key if key == lpn + 1 => return Some(words[2 * i + 1]),
                _ => i = (i + 1) & self.mask,
            }
        }
    }

    fn insert(&mut self, lpn: u64, value: u64) {
        let words = self.overlay.words_mut();
        let mut i = home(lpn) & self.mask;
        while words[2 * i] != 0 && words[2 * i] != lpn + 1 {
            i = (i + 1) & self.mask;
        }
        self.entries += (words[2 * i] == 0) as usize;
        words[2 * i] = lpn + 1;
        words[2 * i + 1] = value;
    }
}

/// First place to look: multiplicative hashing (Knuth, TAOCP 6.4), the high bits folded down.
fn home(lpn: u64) -> usize {
    let h = lpn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (h >> 20) as usize
}

/// Entries of the largest power-of-two table that fits, less one.
fn table_mask(memory: &impl Arena) -> usize {
    let entries = memory.words().len() / OVERLAY_WORDS_PER_ENTRY;
    assert!(entries >= 2, "the overlay needs room for two entries");
    (1 << entries.ilog2()) - 1
}
