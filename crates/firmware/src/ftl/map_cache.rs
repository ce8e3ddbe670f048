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

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use firstread_core::{Arena, BlockId, Buf, CommandId, Lpn, Ns, Ports, Ppa, Priority};

use super::page_set::PageSet;
use super::{REGION_PAGES, Refused, StreamId};
use crate::Firmware;
use crate::cache::{Cache, NONE};
use crate::job::{NO_JOB, Purpose};
use crate::log::Record;
use crate::observe::BlockUse;

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
        let MapCache { cache, changed, .. } = self;
        let mut dumped = 0;
        cache.keep(|page, mark, here| {
            if mark && !here {
                changed.insert(page as u32);
            }
            dumped += (mark && here) as u32;
            mark
        });
        dumped += changed.len();
        self.fetches_left = MapCache::fetches(self.cache.len());
        self.merges_left = MapCache::merges(self.cache.len());
        self.waits_since.fill(None);
        self.stalled.clear();
        self.waits_for_space = false;
        let filled = |page: usize| {
            let block = self
                .filled_into
                .get(page / self.filled_slots.max(1) as usize);
            page < self.filled as usize && block.is_some_and(|&block| is_filled(block))
        };
        for (page, place) in self.directory.iter_mut().enumerate() {
            if *place != NOWHERE {
                *place = if filled(page) { AS_FILLED } else { UNKNOWN };
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

impl<M: Arena> Firmware<M> {
    /// Notes that the next pages of the map were written into `block`, a free superblock of
    /// `pe_cycles`, all at once at time `now`: how a simulator fills a drive.
    pub fn adopt_map<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        pe_cycles: u32,
        pages: u32,
        ports: &mut P,
    ) {
        self.adopt_block(now, block, pe_cycles, pages);
        self.blocks.row_mut(block).holds_map = true;
        self.map_cache.fill(block, pages);
        self.start_probe(now, ports);
    }

    /// Pages of the map that lie on flash; none when all of it is in memory.
    pub fn map_pages(&self) -> u32 {
        self.map_cache.len()
    }

    /// Pages of the map whose changes are in memory though they are not.
    pub fn map_pages_changed(&self) -> u32 {
        self.map_cache.changed.len()
    }

    /// Whether the entry of page `lpn` is in memory. If not, command `id` waits for it, and is gone on
    /// with when it is.
    #[inline]
    pub(crate) fn map_ready<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        ports: &mut P,
    ) -> bool {
        !self.map_cache.is_on() || self.want_map(now, id, lpn, ports)
    }

    fn want_map<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        ports: &mut P,
    ) -> bool {
        let page = self.map_cache.page_of(lpn);
        let i = id.0 as usize;
        if let Some(e) = self.map_cache.cache.find(page as u64) {
            let Some(job) = self.map_cache.cache.coming(e) else {
                // One that has waited for it has missed it.
                if self.map_cache.waits_since[i].take().is_none() {
                    self.map_cache.cache.touch(e);
                    self.counters.front.map_hits += 1;
                }
                return true;
            };
            self.wait_for_map(now, id, job, ports);
            return false;
        }
        let Some(ppa) = self.flash_place_of(page) else {
            self.counters.front.map_hits += 1;
            self.map_cache.waits_since[i] = None;
            self.make_page(now, page, ports);
            return true;
        };
        if self.map_cache.fetches_left > 0 {
            self.map_cache.fetches_left -= 1;
            let job = self.start_map_read(now, page, ppa, Priority::Host, ports);
            self.wait_for_map(now, id, job, ports);
        } else {
            self.note_map_miss(now, id);
            self.map_cache.stalled.push_back(id);
        }
        false
    }

    /// Where page `page` of the map must be read from: none if it lies nowhere, or in the write
    /// buffer.
    fn flash_place_of(&self, page: u32) -> Option<Ppa> {
        let ppa = self.map_cache.place_of(page)?;
        let open = self.blocks.row(ppa.block()).usage == BlockUse::Open;
        (!open || self.buffered(ppa).is_none()).then_some(ppa)
    }

    /// Whether the entry of page `lpn` is in memory, for a read ahead of the host: if not, it is read
    /// ahead as well.
    pub(crate) fn map_ahead<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        lpn: u64,
        ports: &mut P,
    ) -> bool {
        if !self.map_cache.is_on() {
            return true;
        }
        let page = self.map_cache.page_of(lpn);
        if let Some(e) = self.map_cache.cache.find(page as u64) {
            return self.map_cache.cache.coming(e).is_none();
        }
        match self.flash_place_of(page) {
            None => {
                self.make_page(now, page, ports);
                true
            }
            Some(ppa) => {
                if self.map_cache.fetches_left > 1 {
                    self.map_cache.fetches_left -= 1;
                    self.start_map_read(now, page, ppa, Priority::ReadAhead, ports);
                }
                false
            }
        }
    }

    /// Puts page `page` of the map, which needs no read, into the cache.
    fn make_page<P: Ports<Record = Record>>(&mut self, now: Ns, page: u32, ports: &mut P) {
        self.replace_page(now, ports);
        let map = &mut self.map_cache;
        // Without room for it what is changed stays in memory by itself.
        if let Some((e, _)) = map.cache.reserve(page as u64, NONE) {
            map.cache.arrive(e);
            let changed = map.changed.remove(page);
            map.cache.set_mark(e, changed);
        }
    }

    /// Makes sure that what is to be replaced next in the cache is not lost.
    fn replace_page<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        let Some(e) = self.map_cache.cache.next_to_go() else {
            return;
        };
        let page = self.map_cache.cache.key(e) as u32;
        if self.map_cache.cache.mark(e) && !self.write_map(now, page, ports) {
            self.map_cache.changed.insert(page);
        }
        self.map_cache.cache.set_mark(e, false);
    }

    /// Starts to read page `page` of the map, which lies at `ppa`, under the job that is returned.
    fn start_map_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        page: u32,
        ppa: Ppa,
        priority: Priority,
        ports: &mut P,
    ) -> u32 {
        self.replace_page(now, ports);
        let job = self
            .jobs
            .take()
            .expect("a job is reserved for every read of the map");
        let map = &mut self.map_cache;
        let reserved = map.cache.reserve(page as u64, job);
        let (e, _) = reserved.expect("fewer pages are on their way than there are entries");
        let changed = map.changed.remove(page);
        map.cache.set_mark(e, changed);
        let codewords = self.config.geometry.codewords_per_slot();
        let (at, row_slot) = self.row_of(ppa);
        let wanted = (u64::MAX >> (64 - codewords)) << (row_slot * codewords);
        let purpose = Purpose::MapRead {
            page,
            first_waiter: NONE,
            last_waiter: NONE,
            merges: priority == Priority::Move,
        };
        self.counters.front.map_reads += 1;
        self.start_read(now, job, purpose, priority, at, wanted, ports);
        job
    }

    /// Command `id` waits for the map, from now on if it has not waited before.
    fn note_map_miss(&mut self, now: Ns, id: CommandId) {
        let since = &mut self.map_cache.waits_since[id.0 as usize];
        if since.is_none() {
            *since = Some(now);
            self.counters.front.map_misses += 1;
        }
    }

    /// Command `id` is a new one.
    pub(crate) fn forget_map_wait(&mut self, id: CommandId) {
        self.map_cache.waits_since[id.0 as usize] = None;
    }

    /// Command `id` waits for the page that `job` brings.
    fn wait_for_map<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        job: u32,
        ports: &mut P,
    ) {
        self.note_map_miss(now, id);
        let map = &mut self.map_cache;
        map.next_waiter[id.0 as usize] = NONE;
        let Purpose::MapRead {
            first_waiter,
            last_waiter,
            ..
        } = &mut self.jobs[job].purpose
        else {
            unreachable!("a page of the map is brought by a read of the map")
        };
        match *last_waiter {
            NONE => *first_waiter = id.0,
            last => map.next_waiter[last as usize] = id.0,
        }
        *last_waiter = id.0;
        self.make_host_read(now, job, ports);
    }

    /// The page of the map that `job` was to bring has been decoded.
    pub(crate) fn map_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        ports: &mut P,
    ) {
        let step = self.jobs[job].step;
        let Purpose::MapRead {
            page,
            first_waiter,
            merges,
            ..
        } = self.jobs[job].purpose
        else {
            unreachable!("only reads of the map bring its pages")
        };
        self.counters.front.map_retries += step as u64;
        let codewords = self.config.geometry.codewords_per_slot();
        let row_slot = self.jobs[job].asked_slot(codewords);
        if ok {
            let buf: Buf = self.job_buffer(job).slot(row_slot);
            ports.map_out(self.map_cache.lpn(page), buf);
        } else {
            self.counters.front.map_lost += 1;
        }
        let map = &mut self.map_cache;
        match merges {
            true => map.merges_left += 1,
            false => map.fetches_left += 1,
        }
        if let Some(e) = map.cache.find(page as u64)
            && map.cache.coming(e) == Some(job)
        {
            let changed = map.cache.mark(e) || !ok;
            map.cache.arrive(e);
            map.cache.set_mark(e, changed);
            if merges && changed && self.write_map(now, page, ports) {
                self.map_cache.cache.set_mark(e, false);
            }
            if first_waiter == NONE && merges {
                self.map_cache.cache.retire(e);
            }
        }
        self.jobs.release(job);
        let mut waiter = first_waiter;
        while waiter != NONE {
            let next = self.map_cache.next_waiter[waiter as usize];
            self.map_came(now, CommandId(waiter), ports);
            waiter = next;
        }
        for _ in 0..self.map_cache.stalled.len() {
            if self.map_cache.fetches_left == 0 {
                break;
            }
            if let Some(id) = self.map_cache.stalled.pop_front() {
                self.map_came(now, id, ports);
            }
        }
        self.resume_writes(now, ports);
        self.pump(now, ports);
    }

    /// Command `id` goes on.
    fn map_came<P: Ports<Record = Record>>(&mut self, now: Ns, id: CommandId, ports: &mut P) {
        if let Some(since) = &mut self.map_cache.waits_since[id.0 as usize] {
            ports.map_waited(id, *since);
            *since = now;
        }
        self.go_on(now, id, ports);
    }

    /// Writes page `page` of the map, which is in memory. False when there is no room now.
    fn write_map<P: Ports<Record = Record>>(&mut self, now: Ns, page: u32, ports: &mut P) -> bool {
        if !self.rescue.is_empty() {
            return false;
        }
        let slot = loop {
            match self.write_buffers[StreamId::Map as usize].allocate() {
                Ok(slot) => break slot,
                Err(Refused::Full) => return false,
                Err(Refused::NeedsBlock) => {
                    self.map_cache.waits_for_space = !self.open_for_map(now);
                    if self.map_cache.waits_for_space {
                        return false;
                    }
                }
            }
        };
        let lpn = self.map_cache.lpn(page);
        ports.map_in(lpn, slot.buf);
        self.place_slot(lpn, slot.ppa);
        self.counters.front.map_writes += 1;
        if let Some(program) = slot.complete {
            self.start_program(now, StreamId::Map, program, ports);
        }
        true
    }

    /// Opens a superblock for what the cache writes, if cleaning can spare one.
    fn open_for_map(&mut self, now: Ns) -> bool {
        let slots = self.space.largest_slots;
        self.space.has_beyond_reserve(slots) && self.open_superblock(now, StreamId::Map)
    }

    /// Writes changes back while there are too many of them in memory.
    pub(crate) fn merge_map<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.map_cache.waits_for_space {
            self.map_cache.waits_for_space = !self.open_for_map(now);
        }
        while self.map_cache.changed.len() > self.map_cache.changed_most / 2
            && self.map_cache.merges_left > 0
            && self.has_room_for_map(now)
        {
            let Some(page) = self.map_cache.changed.next() else {
                return;
            };
            debug_assert!(
                self.map_cache.cache.find(page as u64).is_none(),
                "a page in memory has its changes with it"
            );
            match self.flash_place_of(page) {
                None => {
                    self.map_cache.changed.remove(page);
                    if !self.write_map(now, page, ports) {
                        self.map_cache.changed.insert(page);
                        return;
                    }
                }
                Some(ppa) => {
                    self.map_cache.merges_left -= 1;
                    self.start_map_read(now, page, ppa, Priority::Move, ports);
                }
            }
        }
    }

    /// Whether the write buffer of the map takes another page.
    fn has_room_for_map(&mut self, now: Ns) -> bool {
        if !self.rescue.is_empty() {
            return false;
        }
        match self.write_buffers[StreamId::Map as usize].refuses() {
            None => true,
            Some(Refused::Full) => false,
            Some(Refused::NeedsBlock) => {
                self.map_cache.waits_for_space = !self.open_for_map(now);
                !self.map_cache.waits_for_space
            }
        }
    }

    /// Whether the mover, or a write, should make no more changes until some are written back, which
    /// has begun.
    #[inline]
    pub(crate) fn map_is_crowded<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        ports: &mut P,
    ) -> bool {
        self.map_cache.is_crowded() && {
            self.merge_map(now, ports);
            self.map_cache.is_crowded()
        }
    }

    /// Logical pages `first` to `end` hold nothing any more.
    pub(crate) fn clear_map(&mut self, first: u64, end: u64) {
        let blocks = &mut self.blocks;
        self.map_cache.clear(first, end, |ppa| {
            blocks.row_mut(ppa.block()).valid_slots -= 1;
        });
    }

    /// Whether a trim that goes on at `first` and ends at `end` empties a whole region of the map, so
    /// that it needs not know what is there.
    pub(crate) fn empties_region(&self, first: u64, end: u64) -> bool {
        let region_end = (first / REGION_PAGES + 1) * REGION_PAGES;
        first.is_multiple_of(REGION_PAGES)
            && end >= region_end.min(self.map.capacity())
            && REGION_PAGES.is_multiple_of(self.map_cache.entries)
    }

    /// The superblock of the map to be cleaned before others: the emptiest, if it is half garbage.
    pub(crate) fn map_victim(&self) -> Option<BlockId> {
        if !self.map_cache.is_on() {
            return None;
        }
        let half_garbage = self.blocks.iter().filter(|(_, row)| {
            let slots = self.slots_of(row.mode);
            row.holds_map
                && row.usage == BlockUse::Full
                && !row.leaving
                && row.valid_slots <= slots / 2
        });
        let emptiest = half_garbage.min_by_key(|(_, row)| row.valid_slots);
        emptiest.map(|(block, _)| block)
    }

    /// The data of page `lpn` of the map at `ppa` could not be read when they were to be moved: it
    /// is made anew.
    pub(crate) fn lose_map(&mut self, lpn: Lpn, ppa: Ppa) {
        self.map_cache.set(lpn, None);
        self.blocks.row_mut(ppa.block()).valid_slots -= 1;
        self.counters.front.map_lost += 1;
        let page = lpn.0 - self.map_cache.capacity;
        self.map_cache.change(Lpn(page * self.map_cache.entries));
    }
}

/// The end of a list of jobs and of commands is written alike.
const _: () = assert!(NONE == NO_JOB);
