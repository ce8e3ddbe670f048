//! The map cache of a drive whose memory does not hold the whole map (after DFTL, Gupta, Kim and
//! Urgaonkar, ASPLOS 2009; it caches whole pages, as TPFTL and the FTL of SPDK do, not single entries).
//!
//! [`super::Map`] knows the slot of each logical page at all times. The map cache decides what a lookup costs.
//! The map is cut into map pages. All of them lie on flash, where the directory says. Some are also in
//! memory, replaced by segmented LRU.
//!
//! - A host read, write or trim needs the map page of its entry in memory. A missing map page is read by the
//!   real read path, and commands that need the same page share the read. A map page that was never written,
//!   or that is in the write buffer, needs no read.
//! - A changed map page is written when it is replaced: to the write buffer of the map stream, which programs
//!   whole wordlines. If that buffer has no room, the changes stay in memory without their page.
//! - Moves never wait for the map. They change entries whose map pages are not in memory, and these changes
//!   stay in memory without their pages too. At a limit, the map pages are read, updated and written.
//!   Meanwhile neither moves nor host writes make more changes. One exception: if space for map pages is
//!   missing, cleaning continues, and the changes exceed the limit.
//! - Superblocks of the map are moved and worn like all others. A map superblock that is half garbage is
//!   cleaned before the scheme of `gc_victim` is asked. So the map takes at most twice its size plus its open
//!   superblocks.
//!
//! The memory is protected from power loss, like the write buffer: a power cut dumps the changed map pages.
//! The map pages on flash and those in the dump together are the map, so a recovery reads only the tables of
//! contents of the map's superblocks, to rebuild the directory. A map page that cannot be corrected is
//! rebuilt from the tables of contents of the data superblocks. Such rebuilds are counted, but take no
//! simulated time.

mod page_set;
mod paging;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use firstread_core::{Arena, CommandId, Lpn, Ns};

use crate::cache::{Cache, NONE};
use crate::flash_store::FlashStore;
use crate::format::Cursor;
use crate::schedule::NO_JOB;
use page_set::PageSet;

use crate::ftl::map::Directory;

/// Maximum number of map reads in flight for commands.
const FETCHES: u32 = 64;
/// Maximum number of map reads in flight to write changes back.
const MERGES: u32 = 8;
/// Minimum number of map pages in the cache.
const FEWEST: u32 = 8;

/// Which map pages are in memory, which have changes, and which commands wait for one.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    cache: Cache,
    /// Map pages that have changes in memory but are not in memory themselves.
    changed: PageSet,
    /// Size of `changed` from which on no more such changes are made.
    changed_most: u32,
    /// Map reads that may still be started: for commands, and to write changes back.
    fetches_left: u32,
    merges_left: u32,
    /// Per command: the next command that waits for the same map page, and since when each waits.
    next_waiter: Box<[u32]>,
    waits_since: Box<[Option<Ns>]>,
    /// Commands whose map read could not be started yet.
    stalled: VecDeque<CommandId>,
}

impl MapCache {
    /// A cache of `cached` map pages of the map described by `directory`; none if the whole map is in memory.
    pub(crate) fn new(cached: u32, directory: &Directory, max_commands: u32) -> MapCache {
        let on = directory.is_on();
        let cached = if on { cached.max(FEWEST) } else { 0 };
        let commands = if on { max_commands as usize } else { 0 };
        MapCache {
            cache: Cache::new(cached),
            changed: PageSet::new(directory.len()),
            changed_most: cached / 4,
            fetches_left: MapCache::fetches(cached),
            merges_left: MapCache::merges(cached),
            next_waiter: alloc::vec![NONE; commands].into_boxed_slice(),
            waits_since: alloc::vec![None; commands].into_boxed_slice(),
            stalled: VecDeque::with_capacity(commands),
        }
    }

    fn fetches(cached: u32) -> u32 {
        FETCHES.min(cached / 2)
    }
    fn merges(cached: u32) -> u32 {
        MERGES.min(cached / 4)
    }
    /// Whether part of the map lies on flash.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.cache.len() > 0
    }
    /// Number of jobs the map cache needs.
    pub(crate) fn jobs(&self) -> u32 {
        self.fetches_left + self.merges_left
    }
    /// Map pages that have changes in memory but are not in memory themselves.
    pub(crate) fn pages_changed(&self) -> u32 {
        self.changed.len()
    }
    /// Whether the limit of changes without their map page is reached.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.changed.len() > self.changed_most
    }

    /// The map entry of `lpn` has changed. Map pages themselves have no entry.
    #[inline]
    pub(crate) fn change(&mut self, lpn: Lpn, directory: &Directory) {
        if self.is_on() && !directory.is_map(lpn) {
            self.change_page(directory.page_of(lpn.0));
        }
    }

    fn change_page(&mut self, page: u32) {
        match self.cache.find(u64::from(page)) {
            Some(e) => self.cache.set_mark(e, true),
            None => self.changed.insert(page),
        }
    }

    /// All entries from `first` to `end` are empty now. Drops the map pages that lie within the range and are
    /// not being read.
    pub(crate) fn clear<M: Arena>(&mut self, first: u64, end: u64, store: &mut FlashStore<M>) {
        let mut lpn = first;
        while lpn < end {
            let directory = &store.table.directory;
            let page = directory.page_of(lpn);
            let reach = directory.reach(lpn).min(directory.capacity());
            let whole = lpn == u64::from(page) * directory.entries() && reach <= end;
            let here = self.cache.find(u64::from(page));
            if !whole || here.is_some_and(|e| self.cache.coming(e).is_some()) {
                self.change_page(page);
            } else {
                if let Some(e) = here {
                    self.cache.remove(e);
                }
                self.changed.remove(page);
                let lpn = directory.lpn(page);
                let (table, shared) = (&mut store.table, &mut store.shared);
                store.place.forget_map_page(lpn, table, shared);
            }
            lpn = reach;
        }
    }

    /// Map page `lpn` could not be read when it was to be moved: rebuilds it.
    pub(crate) fn lose<M: Arena>(&mut self, lpn: Lpn, store: &mut FlashStore<M>) {
        let (table, shared) = (&mut store.table, &mut store.shared);
        store.place.forget_map_page(lpn, table, shared);
        shared.counters.front.map_lost += 1;
        let directory = &table.directory;
        self.change(Lpn(directory.first_of(lpn)), directory);
    }

    /// Power was cut. What was dumped stays: changed map pages, and changes without their page. Returns the
    /// number of map pages dumped; the changes of one page count as one.
    pub(crate) fn cut(&mut self) -> u32 {
        let MapCache {
            cache,
            changed,
            changed_most: _,
            fetches_left,
            merges_left,
            next_waiter: _,
            waits_since,
            stalled,
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
        dumped
    }
}

impl MapCache {
    /// Saves which of `map_pages` map pages have changes that are not on flash, or loads that. The contents of those in memory are the
    /// platform's.
    pub(crate) fn transfer(&mut self, map_pages: u32, cursor: &mut Cursor<'_>) {
        let MapCache {
            cache,
            changed,
            changed_most: _,
            // Reads in flight are lost.
            fetches_left: _,
            merges_left: _,
            // Commands are lost.
            next_waiter: _,
            waits_since: _,
            stalled: _,
        } = self;
        if cache.len() > 0 {
            cache.transfer_marked(map_pages.into(), cursor);
            changed.transfer(map_pages, cursor);
        }
    }
}

impl MapCache {
    /// Saves the same as after [`MapCache::cut`], and goes on.
    pub(crate) fn save_as_cut(&mut self, map_pages: u32, cursor: &mut Cursor<'_>) {
        let MapCache { cache, changed, .. } = self;
        let mut added = [NONE; (FETCHES + MERGES) as usize];
        let mut len = 0;
        // Changes of a page that is being read are left without their page.
        cache.each_marked_reserved(|page| {
            let page = page as u32;
            if !changed.remove(page) {
                added[len] = page;
                len += 1;
            }
            changed.insert(page);
        });
        self.transfer(map_pages, cursor);
        for page in &added[..len] {
            self.changed.remove(*page);
        }
    }

    /// Map pages that are dumped after [`MapCache::cut`] or were loaded; the changes of one page count as one.
    pub(crate) fn dumped_pages(&self) -> u32 {
        self.changed.len() + self.cache.marked()
    }
}

/// Both kinds of list use the same end mark.
const _: () = assert!(NONE == NO_JOB);

#[cfg(test)]
mod tests;
