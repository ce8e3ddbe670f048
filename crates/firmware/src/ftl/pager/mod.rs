//! The pager: the map cache of drives whose memory does not hold the whole map (after DFTL, Gupta, Kim and
//! Urgaonkar, ASPLOS 2009; whole pages as in TPFTL and in the FTL of SPDK, not single entries).
//!
//! Where a logical page lies is known to [`super::Map`] at all times; the pager decides what knowing
//! it costs. The map is cut into pages; a few are in memory, replaced by segmented LRU. All lie on flash:
//! the directory says where.
//!
//! - A read, write or trim of the host needs the page of its entry in memory. If it is not, it is
//!   read by the real path, and commands that want the same page share the read. A page that was
//!   never written, or that lies in the write buffer, needs none.
//! - A changed page is written when it is replaced: to the write buffer of its stream, which
//!   programs whole wordlines. When that has no room, the page's changes stay in memory without it.
//! - Relocation never waits for the map: it changes entries of pages that are not in memory, and
//!   these changes stay in memory as well. When there are many, the pages are read, changed and
//!   written, and meanwhile neither moves nor writes of the host make more, unless it is space
//!   for these pages that is missing: then cleaning goes on, and the changes pass the limit.
//! - Superblocks of the map are moved and worn as any. One that is half garbage is
//!   cleaned before the scheme of `gc_victim` is asked, so that the map takes no more than twice its
//!   size, plus what is open.
//!
//! Memory has power-loss protection, as the write buffer's: a power cut dumps the pages that were
//! changed. What is on flash and in the dump together is the map, so that a recovery reads the tables
//! of contents of the map's superblocks alone, for the directory. A page of the map that cannot be
//! corrected is made anew from the superblocks' tables of contents, which is counted but not charged.

mod page_set;
mod paging;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use firstread_core::{Arena, CommandId, Lpn, Ns};

use crate::cache::{Cache, NONE};
use crate::schedule::NO_JOB;
use crate::store::Store;
use page_set::PageSet;

use crate::ftl::map::Directory;

/// Pages read for commands at a time, at most.
const FETCHES: u32 = 64;
/// Pages read to write changes back at a time, at most.
const MERGES: u32 = 8;
/// Fewest pages of a cache.
const FEWEST: u32 = 8;

/// The map cache.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    cache: Cache,
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
}

impl Pager {
    /// `cached` pages in memory of the map that `directory` is of; none where all of it is.
    pub(crate) fn new(cached: u32, directory: &Directory, max_commands: u32) -> Pager {
        let on = directory.is_on();
        let cached = if on { cached.max(FEWEST) } else { 0 };
        let commands = if on { max_commands as usize } else { 0 };
        Pager {
            cache: Cache::new(cached),
            changed: PageSet::new(directory.len()),
            changed_most: cached / 4,
            fetches_left: Pager::fetches(cached),
            merges_left: Pager::merges(cached),
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
    /// Whether pages of the map come and go: not where all of it is in memory.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.cache.len() > 0
    }
    /// Jobs it needs.
    pub(crate) fn jobs(&self) -> u32 {
        self.fetches_left + self.merges_left
    }
    /// Pages of the map whose changes are in memory though they are not.
    pub(crate) fn pages_changed(&self) -> u32 {
        self.changed.len()
    }
    /// Whether so many changes wait to be written that no more should be made.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.changed.len() > self.changed_most
    }

    /// The entry of page `lpn` has changed, if it is one of the host's: pages of the map have none.
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

    /// Every entry from `first` to `end` is empty now. Pages of the map that lie within and are not
    /// on their way are forgotten.
    pub(crate) fn clear<M: Arena>(&mut self, first: u64, end: u64, store: &mut Store<M>) {
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
                let (table, base) = (&mut store.table, &mut store.base);
                store.place.forget_map_page(lpn, table, base);
            }
            lpn = reach;
        }
    }

    /// Page `lpn` of the map could not be read when it was to be moved: it is made anew.
    pub(crate) fn lose<M: Arena>(&mut self, lpn: Lpn, store: &mut Store<M>) {
        let (table, base) = (&mut store.table, &mut store.base);
        store.place.forget_map_page(lpn, table, base);
        base.counters.front.map_lost += 1;
        let directory = &table.directory;
        self.change(Lpn(directory.first_of(lpn)), directory);
    }

    /// Power was cut: what was dumped stays, pages that were changed and changes of pages that were
    /// not there. Pages dumped, the changes of a page counted as one.
    pub(crate) fn cut(&mut self) -> u32 {
        let Pager {
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
        *fetches_left = Pager::fetches(cache.len());
        *merges_left = Pager::merges(cache.len());
        waits_since.fill(None);
        stalled.clear();
        dumped
    }
}

/// The end of a list of jobs and of commands is written alike.
const _: () = assert!(NONE == NO_JOB);
