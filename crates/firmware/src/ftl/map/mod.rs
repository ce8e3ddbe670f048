//! The map from logical pages to physical slots. `directory`: where the map's own pages lie. `table`: both.
//!
//! The initial contents of the drive need no table: their slots are computed ([`firstread_core::InitialContents`]).
//! Pages written or trimmed since are in an overlay, a `sparse` table, which takes precedence. A region of
//! 4,096 pages without overlay entries costs 16 bytes and a bit: its word in the sparse table, the time at
//! which it was trimmed as a whole, and a bit that says whether it was touched.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Arena, Divisor, Lpn, Ppa, SuperblockId};

use crate::format::{Blank as _, Cursor, Record as _, record, tags};

mod directory;
mod sparse;
mod table;

pub(crate) use directory::Directory;
pub use directory::ENTRY_BYTES as MAP_ENTRY_BYTES;
pub use sparse::{REGION_PAGES, SMALL_PAGES, SparseTable, VALUE_BITS, is_large};
pub use table::OnFlash;
pub(crate) use table::Table;

/// Value of a trimmed page. Other values number the slots of all superblocks from one on; zero means that the
/// overlay has no entry.
const TRIMMED: u64 = (1 << VALUE_BITS) - 1;
/// Value of a page whose data could not be read when they were to be moved, and are lost.
const LOST: u64 = TRIMMED - 1;
/// Maximum number of slots that values can number.
pub const MOST_SLOTS: u64 = LOST - 1;

/// The map of a drive.
#[derive(Clone, Debug)]
pub struct Map<M> {
    capacity: u64,
    slots_per_block: Divisor,
    /// One bit per region: whether the overlay has an entry in it.
    touched: Box<[u64]>,
    /// Whether any bit is set. A drive that is only read skips the overlay.
    any_touched: bool,
    /// Sequence number at which each region was last trimmed as a whole.
    trimmed_at: Box<[u64]>,
    /// Pages that were trimmed alone or are lost.
    alone: u64,
    /// One bit per region: whether its journal may have changed since it was last kept; empty if nobody keeps it.
    to_keep: Box<[u64]>,
    /// Slots of pages written or trimmed since the drive was filled; the overlay's memory also tells the
    /// initial contents. In a marked region, pages without an entry are trimmed.
    overlay: SparseTable<M>,
}

/// A run of logical pages in consecutive slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// First slot; none if the pages were never written or are trimmed.
    pub ppa: Option<Ppa>,
    /// Whether the data are lost because they could not be corrected when they were to be moved.
    pub lost: bool,
    /// Number of logical pages in the run.
    pub pages: u32,
}

/// What an entry of the journal tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum JournalKind {
    End,
    Region,
    Trimmed,
    Lost,
}

tags!(JournalKind {
    End = 0,
    Region = 1,
    Trimmed = 2,
    Lost = 3,
});

/// An entry of the journal.
#[derive(Clone, Copy, Debug)]
struct JournalEntry {
    kind: JournalKind,
    first: u64,
    sequence: u64,
}

/// Bytes of a journal entry.
pub const JOURNAL_ENTRY_BYTES: u64 = 1 + 8 + 8;

record! {
    of values JournalEntry as "journal entry" {
        kind: "0 end of the journal, 1 a region of 4,096 pages trimmed as a whole, 2 a page trimmed alone, 3 a page that is lost",
        first: "logical page, or the first one of the region",
        sequence: "number of the last write before the trim of a region; else 0",
    }
}

/// What a trim may trim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TrimScope {
    /// What the host asks for.
    Asked,
    /// The whole region from this page on: the rest of it holds no data.
    Region(u64),
    /// Nothing: the journal has no room for so many pages. The pages that are passed over.
    Nothing(u64),
}

/// New state of a logical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// The page lies at this slot.
    At(Ppa),
    /// The page holds no data.
    Trimmed,
    /// The data of the page are lost.
    Lost,
}

impl<M: Arena> Map<M> {
    /// A map of `capacity` logical pages, with an empty overlay, for `blocks` superblocks of
    /// `slots_per_block` slots. There may be at most [`MOST_SLOTS`] slots.
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
            alone: 0,
            to_keep: Box::default(),
            overlay: SparseTable::new(capacity, overlay),
        }
    }

    /// Number of logical pages.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    /// Whether there is certainly room for `changes`, each within one region.
    #[inline]
    pub fn has_room(&self, changes: u32) -> bool {
        self.overlay.has_room(changes)
    }
    /// Lets `grow` append bytes to the overlay's memory. Existing bytes stay.
    pub fn grow_overlay(&mut self, grow: impl FnOnce(&mut M)) {
        self.overlay.grow(grow);
    }

    /// The initial contents of the drive, with the overlay's memory.
    #[inline]
    pub fn initial_contents(&self) -> &M {
        self.overlay.memory()
    }
    /// The initial contents, mutable. They may be changed only before the first write.
    #[inline]
    pub fn initial_contents_mut(&mut self) -> &mut M {
        self.overlay.memory_mut()
    }

    /// `block` is about to be erased.
    pub(crate) fn erase(&mut self, block: SuperblockId) {
        self.initial_contents_mut().erase(block);
    }

    /// Whether the slots of `block` are still as they were before the first write. Then [`Map::holds`] knows
    /// their contents without reading spare areas.
    #[inline]
    pub(crate) fn is_computed(&self, block: SuperblockId) -> bool {
        self.initial_contents().holds(block)
    }

    /// Whether `ppa`, in a superblock for which [`Map::is_computed`] is true, holds the last version of a
    /// page.
    #[inline]
    pub(crate) fn holds(&self, ppa: Ppa) -> bool {
        self.initial_contents()
            .page_at(ppa)
            .is_some_and(|Lpn(lpn)| {
                !self.is_touched(lpn)
                    || match self.overlay.get(lpn) {
                        0 => !self.overlay.is_marked(lpn),
                        // A version written since may have been lost in a power cut.
                        place => place == self.place(ppa),
                    }
            })
    }

    /// Where `lpn` and the pages after it lie: a run of at most `max` pages. `lpn` is within the capacity.
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
        let (ppa, pages) = self
            .initial_contents()
            .run(lpn, region_left.min(u64::from(max)));
        Run {
            ppa,
            lost: false,
            pages: pages as u32,
        }
    }

    /// All runs of the drive, each with its first page.
    pub fn runs(&self) -> impl Iterator<Item = (Lpn, Run)> {
        let mut lpn = 0;
        core::iter::from_fn(move || {
            let left = self.capacity - lpn;
            let first = Lpn(lpn);
            // A run may reach past the capacity.
            let run = (left > 0).then(|| self.lookup(first, left.min(u32::MAX.into()) as u32))?;
            lpn += u64::from(run.pages);
            Some((first, run))
        })
    }

    /// The slot of `lpn`, if it holds data.
    #[inline]
    pub fn at(&self, lpn: Lpn) -> Option<Ppa> {
        self.lookup(lpn, 1).ppa
    }

    /// The state of `lpn`. A page that was never written is as one that is trimmed.
    pub fn mapping_of(&self, lpn: Lpn) -> Mapping {
        match self.lookup(lpn, 1) {
            Run { lost: true, .. } => Mapping::Lost,
            Run { ppa, .. } => ppa.map_or(Mapping::Trimmed, Mapping::At),
        }
    }

    /// Sets the state of `lpn` and returns its previous slot. Needs [`Map::has_room`].
    pub fn set(&mut self, lpn: Lpn, mapping: Mapping) -> Option<Ppa> {
        let value = match mapping {
            Mapping::At(ppa) => self.place(ppa),
            Mapping::Trimmed => self.enters_journal(lpn.0, TRIMMED),
            Mapping::Lost => self.enters_journal(lpn.0, LOST),
        };
        let region = lpn.0 / REGION_PAGES;
        let (word, bit) = ((region / 64) as usize, 1 << (region % 64));
        self.any_touched = true;
        if self.touched[word] & bit == 0 {
            self.touched[word] |= bit;
            self.changes_journal(lpn.0);
        }
        match self.overlay.set(lpn.0, value) {
            0 if self.overlay.is_marked(lpn.0) => None,
            0 => self.still_at(lpn),
            TRIMMED | LOST => {
                self.alone -= 1;
                self.changes_journal(lpn.0);
                None
            }
            old => Some(self.ppa(old)),
        }
    }

    /// `lpn` is in the journal as `value` from now on. Returns `value`.
    fn enters_journal(&mut self, lpn: u64, value: u64) -> u64 {
        self.alone += 1;
        self.changes_journal(lpn);
        value
    }

    /// What a trim from `first` to `end`, within one region, may trim where the journal is nearly full.
    #[cold]
    pub(crate) fn scope_of_trim(&self, first: u64, end: u64, most: u64) -> TrimScope {
        let region = first / REGION_PAGES * REGION_PAGES;
        let region_end = (region + REGION_PAGES).min(self.capacity);
        let holds_nothing = |from: u64, to: u64| {
            let mut pages = (from..to).map(Lpn);
            pages.all(|lpn| self.mapping_of(lpn) == Mapping::Trimmed)
        };
        if holds_nothing(region, first) && holds_nothing(end, region_end) {
            return TrimScope::Region(region);
        }
        let is_new = |lpn: &u64| !matches!(self.overlay.get(*lpn), TRIMMED | LOST);
        let new = (first..end).filter(is_new).count() as u64;
        match self.alone + new > most {
            true => TrimScope::Nothing(end - first),
            false => TrimScope::Asked,
        }
    }

    /// The journal of the region of `lpn` changes.
    fn changes_journal(&mut self, lpn: u64) {
        let region = lpn / REGION_PAGES;
        if let Some(word) = self.to_keep.get_mut((region / 64) as usize) {
            *word |= 1 << (region % 64);
        }
    }

    /// Pages of the journal that were trimmed alone or are lost.
    pub fn journal_pages(&self) -> u64 {
        self.alone
    }

    /// Pages that a trim of `first` and the pages after it adds to the journal, up to `end` or the end of the region: none
    /// if that is a whole region.
    pub(crate) fn journal_pages_of_trim(&self, first: u64, end: u64) -> u64 {
        let region_end = (first / REGION_PAGES + 1) * REGION_PAGES;
        let end = end.min(region_end).min(self.capacity);
        match first.is_multiple_of(REGION_PAGES) && end == region_end.min(self.capacity) {
            true => 0,
            false => end - first,
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
        Ppa::new(SuperblockId(block as u32), slot as u32)
    }

    /// Trims pages from `first` on, up to `end` or the end of their region, whichever comes first. Returns
    /// the number of pages trimmed. Calls `forgotten` with each superblock that held some of them, and how
    /// many. `sequence` is the number of the last slot received before the trim. Needs [`Map::has_room`].
    pub fn trim(
        &mut self,
        first: u64,
        end: u64,
        sequence: u64,
        mut forgotten: impl FnMut(SuperblockId, u32),
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
            let mut alone = 0;
            let is_alone = |value| u64::from(matches!(value, TRIMMED | LOST));
            self.overlay
                .each_in_region(first, |_, value| alone += is_alone(value));
            self.alone -= alone;
            self.overlay.clear_region(first);
            self.trimmed_at[region] = sequence;
            self.any_touched = true;
            self.touched[region / 64] |= 1 << (region % 64);
            self.changes_journal(first);
        } else {
            (first..end).for_each(|lpn| {
                self.set(Lpn(lpn), Mapping::Trimmed);
            });
        }
        (end - first) as u32
    }

    /// Power was cut: forgets where pages lie. With [`Map::has_room`] for one change, all of them can be set
    /// again in any order. The journal's trims and losses stay, and so do the initial contents of superblocks
    /// that were not erased.
    pub fn forget_places(&mut self) {
        self.overlay.retain(|place| matches!(place, TRIMMED | LOST));
    }

    /// Whether data of `lpn` with this sequence number may be its last version: according to the journal, the
    /// page was neither trimmed nor lost since.
    pub fn recovers(&self, lpn: Lpn, sequence: u64) -> bool {
        match self.overlay.get(lpn.0) {
            TRIMMED | LOST => false,
            0 if self.overlay.is_marked(lpn.0) => {
                sequence > self.trimmed_at[(lpn.0 / REGION_PAGES) as usize]
            }
            _ => true,
        }
    }

    /// An empty map lies in `memory` from now on, over the initial contents that come with it.
    pub(super) fn put_into(&mut self, memory: M) {
        self.alone = 0;
        self.overlay.put_into(memory);
    }

    /// The initial contents, with the overlay's memory.
    pub(super) fn into_memory(self) -> M {
        self.overlay.into_memory()
    }

    /// Saves the journal, or loads it into an empty map: regions that were trimmed as a whole, and pages that were
    /// trimmed alone or are lost.
    pub(super) fn transfer_journal(&mut self, cursor: &mut Cursor<'_>) {
        let Map {
            capacity: _,
            slots_per_block: _,
            touched,
            any_touched,
            // In the entries of regions that were trimmed whole.
            trimmed_at: _,
            // Counted again with each entry.
            alone: _,
            // Who keeps the journal begins with all of it.
            to_keep: _,
            overlay: _,
        } = self;
        // A region in which pages have moved has an entry for none of them here, and is not as it was filled either.
        any_touched.transfer(cursor);
        touched.transfer(cursor);
        match cursor.is_loading() {
            true => self.load_journal(cursor),
            false => self.save_journal(cursor),
        }
    }

    fn save_journal(&self, cursor: &mut Cursor<'_>) {
        let touched =
            (0..self.trimmed_at.len() as u64).filter(|r| self.is_touched(r * REGION_PAGES));
        for region in touched {
            let first = region * REGION_PAGES;
            if self.overlay.is_marked(first) {
                let sequence = self.trimmed_at[region as usize];
                JournalEntry {
                    kind: JournalKind::Region,
                    first,
                    sequence,
                }
                .transfer(cursor);
            }
            self.overlay.each_in_region(first, |lpn, value| {
                let kind = match value {
                    TRIMMED => JournalKind::Trimmed,
                    LOST => JournalKind::Lost,
                    _ => return,
                };
                JournalEntry {
                    kind,
                    first: lpn,
                    sequence: 0,
                }
                .transfer(cursor);
            });
        }
        let mut end = JournalEntry::BLANK;
        end.transfer(cursor);
    }

    fn load_journal(&mut self, cursor: &mut Cursor<'_>) {
        loop {
            let mut entry = JournalEntry::BLANK;
            entry.transfer(cursor);
            let JournalEntry {
                kind,
                first,
                sequence,
            } = entry;
            if cursor.has_fault() || kind == JournalKind::End {
                return;
            }
            if first >= self.capacity || !self.has_room(1) {
                return cursor.fault();
            }
            match kind {
                JournalKind::Region => {
                    let end = first.saturating_add(REGION_PAGES);
                    self.trim(first, end, sequence, |_, _| {});
                }
                JournalKind::Trimmed => _ = self.set(Lpn(first), Mapping::Trimmed),
                JournalKind::Lost => _ = self.set(Lpn(first), Mapping::Lost),
                JournalKind::End => {}
            }
        }
    }

    /// From now on somebody keeps the journal of each region that changes.
    pub(super) fn start_keeping(&mut self) {
        self.to_keep = vec![0; self.touched.len()].into();
    }

    /// Regions of the map.
    pub(super) fn regions(&self) -> u32 {
        self.trimmed_at.len() as u32
    }

    /// The next region from `region` on whose journal may have changed since it was last asked for.
    pub(super) fn next_to_keep(&mut self, region: u32) -> Option<u32> {
        let first = region as usize / 64;
        let words = self.to_keep.iter_mut().enumerate().skip(first);
        let (i, word) = words.into_iter().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        Some(i as u32 * 64 + bit)
    }

    /// Saves the journal of `region` with the same number of bytes always, or loads it into an empty map.
    pub(super) fn transfer_region(&mut self, region: u32, cursor: &mut Cursor<'_>) {
        let first = u64::from(region) * REGION_PAGES;
        let (mut is_touched, mut is_marked) =
            (self.is_touched(first), self.overlay.is_marked(first));
        let mut trimmed_at = self.trimmed_at[region as usize];
        // A bit a page: whether it was trimmed alone, and whether it is lost.
        let mut pages = [[0u64; 2]; REGION_PAGES as usize / 64];
        if is_touched {
            self.overlay.each_in_region(first, |lpn, value| {
                let (at, bit) = ((lpn - first) as usize / 64, 1 << (lpn % 64));
                pages[at][0] |= bit * u64::from(value == TRIMMED);
                pages[at][1] |= bit * u64::from(value == LOST);
            });
        }
        is_touched.transfer(cursor);
        is_marked.transfer(cursor);
        trimmed_at.transfer(cursor);
        pages.transfer(cursor);
        if !cursor.is_loading() || !is_touched {
            return;
        }
        self.any_touched = true;
        self.touched[region as usize / 64] |= 1 << (region % 64);
        if is_marked {
            let end = first.saturating_add(REGION_PAGES);
            self.trim(first, end, trimmed_at, |_, _| {});
        }
        for (at, [trimmed, lost]) in (first..).step_by(64).zip(pages) {
            for (bits, mapping) in [(trimmed, Mapping::Trimmed), (lost, Mapping::Lost)] {
                for bit in (0..64).filter(|bit| bits >> bit & 1 != 0) {
                    if at + bit >= self.capacity || !self.has_room(1) {
                        return cursor.fault();
                    }
                    self.set(Lpn(at + bit), mapping);
                }
            }
        }
    }

    /// The initial slot of `lpn`, which has no overlay entry. None if that superblock was erased since: after
    /// a power cut the moved data are found again elsewhere.
    fn still_at(&self, lpn: Lpn) -> Option<Ppa> {
        let (ppa, _) = self.initial_contents().run(lpn, 1);
        ppa.filter(|ppa| self.initial_contents().holds(ppa.block()))
    }

    #[inline]
    fn is_touched(&self, lpn: u64) -> bool {
        let region = lpn / REGION_PAGES;
        self.any_touched && self.touched[(region / 64) as usize] >> (region % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests;
