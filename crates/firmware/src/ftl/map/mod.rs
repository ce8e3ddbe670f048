//! The map from logical pages to physical slots. `directory`: where the pages of the map itself lie.
//! `table`: both.
//!
//! What lay on the drive before the first write needs no table: its places are computed ([`firstread_core::Before`]).
//! What was written or trimmed since lies over that in an overlay, a `sparse` table. A region of 4,096 pages
//! that the overlay knows nothing of costs 16 bytes and a bit: its word in that table, when it was trimmed as a
//! whole, and whether it is touched.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Arena, BlockId, Divisor, Lpn, Ppa};

mod directory;
mod sparse;
mod table;

pub(crate) use directory::Directory;
pub use directory::ENTRY_BYTES as MAP_ENTRY_BYTES;
pub use sparse::{REGION_PAGES, SMALL_PAGES, SparseTable, VALUE_BITS, is_large};
pub(crate) use table::Table;

/// The page is trimmed. Places count slots over all superblocks from one on; zero stands for a page
/// that the overlay does not know.
const TRIMMED: u64 = (1 << VALUE_BITS) - 1;
/// The page's data could not be read when they were to be moved, and are gone.
const LOST: u64 = TRIMMED - 1;
/// Slots of all superblocks that places can count.
pub const MOST_SLOTS: u64 = LOST - 1;

/// The map of a drive.
#[derive(Clone, Debug)]
pub struct Map<M> {
    capacity: u64,
    slots_per_block: Divisor,
    /// One bit a region: whether the overlay knows anything of it.
    touched: Box<[u64]>,
    /// Whether any is: a drive that is only read need not look.
    any_touched: bool,
    /// Sequence number at which each region was trimmed as a whole last.
    trimmed_at: Box<[u64]>,
    /// Places of pages written or trimmed since; its memory tells what lay there before. A region is marked
    /// whose pages are trimmed where the overlay does not say otherwise.
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
    /// A map without changes of `capacity` logical pages over `blocks` superblocks of `slots_per_block`, at
    /// most [`MOST_SLOTS`] in all.
    pub fn new(capacity: u64, blocks: u32, slots_per_block: u32, overlay: M) -> Map<M> {
        let slots = u64::from(blocks) * u64::from(slots_per_block);
        assert!(slots <= MOST_SLOTS, "{slots} slots: more than places count");
        let regions = capacity.div_ceil(REGION_PAGES) as usize;
        Map {
            capacity,
            slots_per_block: Divisor::new(slots_per_block as u64),
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

    /// What lay on the drive before, with the overlay's memory.
    #[inline]
    pub fn before(&self) -> &M {
        self.overlay.memory()
    }
    /// The same, to change what lay there, which is in nobody's way before the first write.
    #[inline]
    pub fn before_mut(&mut self) -> &mut M {
        self.overlay.memory_mut()
    }

    /// `block` is to be erased.
    pub(crate) fn erase(&mut self, block: BlockId) {
        self.before_mut().erase(block);
    }

    /// Whether slots of `block` are still as they were before the first write, so that [`Map::holds`] tells
    /// what they hold without their spare areas.
    #[inline]
    pub(crate) fn is_computed(&self, block: BlockId) -> bool {
        self.before().holds(block)
    }

    /// Whether `ppa`, of a superblock for which [`Map::is_computed`] holds, has the last version of
    /// a page.
    #[inline]
    pub(crate) fn holds(&self, ppa: Ppa) -> bool {
        self.before().page_at(ppa).is_some_and(|Lpn(lpn)| {
            !self.is_touched(lpn) || !self.overlay.is_marked(lpn) && self.overlay.get(lpn) == 0
        })
    }

    /// Where `lpn` and the pages after it lie, at most `max` of them. `lpn` is on the drive.
    #[inline]
    pub fn lookup(&self, lpn: Lpn, max: u32) -> Run {
        if self.is_touched(lpn.0) {
            let (ppa, lost) = match self.overlay.get(lpn.0) {
                0 if self.overlay.is_marked(lpn.0) => (None, false),
                0 => (self.still_at(lpn), false),
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
        let region_left = REGION_PAGES - lpn.0 % REGION_PAGES;
        let (ppa, pages) = self.before().run(lpn, region_left.min(u64::from(max)));
        Run {
            ppa,
            lost: false,
            pages: pages as u32,
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
            0 => self.still_at(lpn),
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
    /// set again in any order. What the journal holds stays, trims and losses; and what lay there before, in
    /// superblocks that were not erased.
    pub fn forget_places(&mut self) {
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

    /// Where `lpn`, of which the overlay knows nothing, lies. What was moved out of a superblock before its
    /// erase is found anew after a power cut.
    fn still_at(&self, lpn: Lpn) -> Option<Ppa> {
        let (ppa, _) = self.before().run(lpn, 1);
        ppa.filter(|ppa| self.before().holds(ppa.block()))
    }

    #[inline]
    fn is_touched(&self, lpn: u64) -> bool {
        let region = lpn / REGION_PAGES;
        self.any_touched && self.touched[(region / 64) as usize] >> (region % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests;
