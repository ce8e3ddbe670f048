//! The map cache, for drives whose memory does not hold the whole map (after DFTL, Gupta, Kim and
//! Urgaonkar, ASPLOS 2009; whole pages as in TPFTL and in the FTL of SPDK, not single entries).
//!
//! Where a logical page lies is known to [`super::Map`] at all times; the cache decides what knowing
//! it costs. The map is cut into pages of a slot, eight bytes an entry. A few are in memory, replaced
//! by segmented LRU; all lie on flash, as logical pages past the host's, in superblocks of a stream of
//! their own. A directory in memory says where each lies.
//!
//! - A read, write or trim of the host needs the page of its entry in memory. If it is not, it is
//!   read by the real path, and commands that want the same page share the read. A page that was
//!   never written, or that lies in the write buffer, needs none.
//! - A changed page is written when it is replaced: to the write buffer of its stream, which
//!   programs whole wordlines. When that has no room, the page's changes stay in memory without it.
//! - The data mover never waits for the map: it changes entries of pages that are not in memory, and
//!   these changes stay in memory as well. When there are many, the pages are read, changed and
//!   written, and meanwhile neither the mover nor writes of the host make more, unless it is space
//!   for these pages that is missing: then cleaning goes on, and the changes pass the limit.
//! - Superblocks of the map are moved and worn as any, by the mover. One that is half garbage is
//!   cleaned before the scheme of `gc_victim` is asked, so that the map takes no more than twice its
//!   size, plus what is open.
//!
//! Memory has power-loss protection, as the write buffer's: a power cut dumps the pages that were
//! changed. What is on flash and in the dump together is the map, so that a recovery reads the tables
//! of contents of the map's superblocks alone, for the directory. A page of the map that cannot be
//! corrected is made anew from the superblocks' tables of contents, which is counted but not charged.

mod paging;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use firstread_core::{BlockId, CommandId, Lpn, Ns, Ppa};

use super::page_set::PageSet;
use crate::cache::{Cache, NONE};
use crate::job::NO_JOB;

/// Bytes of an entry: a place of 52 bits, and room for what else a drive may keep of a page.
pub const ENTRY_BYTES: u32 = 8;
/// Pages read for commands at a time, at most.
const FETCHES: u32 = 64;
/// Pages read to write changes back at a time, at most.
const MERGES: u32 = 8;
/// Fewest pages of a cache.
const FEWEST: u32 = 8;

/// In the directory: as it was filled, if it was; else a place plus one.
const AS_FILLED: u64 = 0;
/// It lies nowhere: every entry is empty.
const NOWHERE: u64 = u64::MAX;
/// It lies where a recovery has yet to find it.
const UNKNOWN: u64 = u64::MAX - 1;

/// The cache and the directory.
#[derive(Debug)]
pub(crate) struct MapCache {
    cache: Cache,
    /// Logical pages of the host, and the number of the first page of the map.
    capacity: u64,
    /// Pages of the map.
    pages: u32,
    /// Entries of a page.
    entries: u64,
    /// Where each page lies.
    directory: Box<[u64]>,
    /// Superblocks that the map was filled into, in order, and pages in each but the last.
    filled_into: Vec<BlockId>,
    filled_slots: u32,
    filled: u32,
    /// Pages with changes in memory that are not there themselves.
    changed: PageSet,
    /// From so many of them on nobody makes more.
    changed_most: u32,
    /// Reads that may still be started, for commands and to write changes back.
    fetches_left: u32,
    merges_left: u32,
    /// The next command that waits for the same page, and since when each waits.
    next_waiter: Box<[u32]>,
    waits_since: Box<[Option<Ns>]>,
    /// Commands for whose page no read could be started.
    stalled: VecDeque<CommandId>,
    /// The write buffer of the map waits for a superblock.
    pub(crate) waits_for_space: bool,
}

impl MapCache {
    /// Pages of the map of `capacity` logical pages of `slot_bytes`.
    pub(crate) fn pages(capacity: u64, slot_bytes: u32) -> u64 {
        capacity.div_ceil((slot_bytes / ENTRY_BYTES) as u64)
    }

    /// `cached` pages in memory, of a map of `capacity` logical pages; 0 for a map that is there
    /// as a whole. A superblock of the fill holds `filled_slots`.
    pub(crate) fn new(
        cached: u32,
        capacity: u64,
        slot_bytes: u32,
        filled_slots: u32,
        max_commands: u32,
    ) -> MapCache {
        let on = cached > 0;
        let pages = if on {
            MapCache::pages(capacity, slot_bytes) as u32
        } else {
            0
        };
        let cached = if on { cached.max(FEWEST) } else { 0 };
        let commands = if on { max_commands as usize } else { 0 };
        let superblocks = pages.div_ceil(filled_slots.max(1)) as usize;
        MapCache {
            cache: Cache::new(cached),
            capacity,
            pages,
            entries: (slot_bytes / ENTRY_BYTES) as u64,
            directory: alloc::vec![AS_FILLED; pages as usize].into_boxed_slice(),
            filled_into: Vec::with_capacity(superblocks),
            filled_slots,
            filled: 0,
            changed: PageSet::new(pages),
            changed_most: cached / 4,
            fetches_left: MapCache::fetches(cached),
            merges_left: MapCache::merges(cached),
            next_waiter: alloc::vec![NONE; commands].into_boxed_slice(),
            waits_since: alloc::vec![None; commands].into_boxed_slice(),
            stalled: VecDeque::with_capacity(commands),
            waits_for_space: false,
        }
    }

    fn fetches(cached: u32) -> u32 {
        FETCHES.min(cached / 2)
    }
    fn merges(cached: u32) -> u32 {
        MERGES.min(cached / 4)
    }
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.pages > 0
    }
    /// Jobs it needs.
    pub(crate) fn jobs(&self) -> u32 {
        self.fetches_left + self.merges_left
    }
    /// Pages of the map on flash.
    pub(crate) fn len(&self) -> u32 {
        self.pages
    }
    /// Whether logical page `lpn` is one of the map's.
    #[inline]
    pub(crate) fn is_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.capacity
    }
    fn page_of(&self, lpn: u64) -> u32 {
        (lpn / self.entries) as u32
    }
    fn lpn(&self, page: u32) -> Lpn {
        Lpn(self.capacity + page as u64)
    }
    /// Whether so many changes wait to be written that no more should be made.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.changed.len() > self.changed_most
    }
    /// First logical page past those whose entries lie with that of `lpn`.
    #[inline]
    pub(crate) fn reach(&self, lpn: u64) -> u64 {
        if self.is_on() {
            (lpn / self.entries + 1) * self.entries
        } else {
            u64::MAX
        }
    }

    /// The next pages of the map were filled into `block`.
    fn fill(&mut self, block: BlockId, pages: u32) {
        self.filled_into.push(block);
        self.filled += pages;
    }

    /// Where page `page` lies.
    fn place_of(&self, page: u32) -> Option<Ppa> {
        match self.directory[page as usize] {
            AS_FILLED if page < self.filled => {
                let block = self.filled_into[(page / self.filled_slots) as usize];
                Some(Ppa::new(block, page % self.filled_slots))
            }
            AS_FILLED | NOWHERE | UNKNOWN => None,
            place => Some(Ppa(place - 1)),
        }
    }
    /// Where logical page `lpn`, one of the map's, lies.
    pub(crate) fn at(&self, lpn: Lpn) -> Option<Ppa> {
        let page = lpn.0 - self.capacity;
        (page < self.pages as u64).then(|| self.place_of(page as u32))?
    }
    /// Page `lpn` of the map lies at `ppa` now; returns where it lay.
    pub(crate) fn set(&mut self, lpn: Lpn, ppa: Option<Ppa>) -> Option<Ppa> {
        let old = self.at(lpn);
        let page = (lpn.0 - self.capacity) as usize;
        self.directory[page] = ppa.map_or(NOWHERE, |ppa| ppa.0 + 1);
        old
    }

    /// The entry of the host's page `lpn` has changed.
    pub(crate) fn change(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn.0);
        match self.cache.find(page as u64) {
            Some(e) => self.cache.set_mark(e, true),
            None => self.changed.insert(page),
        }
    }

    /// Every entry from `first` to `end` is empty now. Pages of the map that lie within and are not
    /// on their way are forgotten; `forgotten` is told where they lay.
    fn clear(&mut self, first: u64, end: u64, mut forgotten: impl FnMut(Ppa)) {
        let mut lpn = first;
        while lpn < end {
            let (page, reach) = (self.page_of(lpn), self.reach(lpn).min(self.capacity));
            let whole = lpn == page as u64 * self.entries && reach <= end;
            let here = self.cache.find(page as u64);
            if !whole || here.is_some_and(|e| self.cache.coming(e).is_some()) {
                self.change(Lpn(lpn));
            } else {
                if let Some(e) = here {
                    self.cache.remove(e);
                }
                self.changed.remove(page);
                if let Some(ppa) = self.set(self.lpn(page), None) {
                    forgotten(ppa);
                }
            }
            lpn = reach;
        }
    }
}

impl MapCache {
    /// Power was cut: what was dumped stays, pages that were changed and changes of pages that were
    /// not there; and the journal of pages that lie nowhere. `is_filled` tells which superblocks
    /// hold what they were filled with. Pages dumped, the changes of a page counted as one.
    pub(crate) fn forget(&mut self, is_filled: impl Fn(BlockId) -> bool) -> u32 {
        let MapCache {
            cache,
            capacity: _,
            pages: _,
            entries: _,
            directory,
            filled_into,
            filled_slots,
            filled,
            changed,
            changed_most: _,
            fetches_left,
            merges_left,
            next_waiter: _,
            waits_since,
            stalled,
            waits_for_space,
        } = self;
        let mut dumped = 0;
        cache.keep(|page, mark, here| {
            if mark && !here {
                changed.insert(page as u32);
            }
            dumped += (mark && here) as u32;
            mark
        });
        dumped += changed.len();
        *fetches_left = MapCache::fetches(cache.len());
        *merges_left = MapCache::merges(cache.len());
        waits_since.fill(None);
        stalled.clear();
        *waits_for_space = false;
        let is_as_filled = |page: usize| {
            let block = filled_into.get(page / (*filled_slots).max(1) as usize);
            page < *filled as usize && block.is_some_and(|&block| is_filled(block))
        };
        for (page, place) in directory.iter_mut().enumerate() {
            if *place != NOWHERE {
                *place = match is_as_filled(page) {
                    true => AS_FILLED,
                    false => UNKNOWN,
                };
            }
        }
        dumped
    }

    /// Whether page `lpn` of the map may lie on flash, as far as the journal tells.
    pub(crate) fn recovers(&self, lpn: Lpn) -> bool {
        let page = (lpn.0 - self.capacity) as usize;
        self.directory
            .get(page)
            .is_some_and(|&place| place != NOWHERE)
    }
}

/// The end of a list of jobs and of commands is written alike.
const _: () = assert!(NONE == NO_JOB);
