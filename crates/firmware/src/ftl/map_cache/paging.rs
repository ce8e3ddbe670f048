//! Transfers of map pages: reads for commands, and writes of changed pages.

use firstread_core::{Arena, Buf, CommandId, Ns, Ppa, Priority, Wait};

use super::MapCache;
use crate::cache::NONE;
use crate::flash_store::FlashStore;
use crate::ftl::place::{Item, Why};
use crate::observe::{Counters, SuperblockUse};
use crate::schedule::Purpose;
use crate::shared::Out;

impl MapCache {
    /// Whether the map entry of page `lpn` is in memory. If not, command `id` waits and is resumed once it
    /// is.
    #[inline(always)] // If the whole map is in memory, this costs one test.
    pub(crate) fn map_ready<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        !self.is_on() || self.request_map(now, id, lpn, store, ports)
    }

    #[inline(never)]
    fn request_map<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        let page = store.table.directory.page_of(lpn);
        let i = id.0 as usize;
        if let Some(e) = self.cache.find(page as u64) {
            let Some(job) = self.cache.coming(e) else {
                // A command that has waited for this page was already counted as a miss.
                if self.waits_since[i].take().is_none() {
                    self.cache.touch(e);
                    store.shared.counters.front.map_hits += 1;
                }
                return true;
            };
            self.wait_for_map(now, id, job, store, ports);
            return false;
        }
        let Some(ppa) = flash_place_of(page, store) else {
            store.shared.counters.front.map_hits += 1;
            self.waits_since[i] = None;
            self.make_page(now, page, store, ports);
            return true;
        };
        if self.fetches_left > 0 {
            self.fetches_left -= 1;
            let job = self.start_map_read(now, page, ppa, Priority::Host, store, ports);
            self.wait_for_map(now, id, job, store, ports);
        } else {
            self.note_map_miss(now, id, &mut store.shared.counters);
            self.stalled.push_back(id);
        }
        false
    }

    /// Whether the map entry of page `lpn` is in memory, for read-ahead. If not, the map page is read ahead
    /// as well.
    pub(crate) fn map_ahead<M: Arena>(
        &mut self,
        now: Ns,
        lpn: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        if !self.is_on() {
            return true;
        }
        let page = store.table.directory.page_of(lpn);
        if let Some(e) = self.cache.find(page as u64) {
            return self.cache.coming(e).is_none();
        }
        match flash_place_of(page, store) {
            None => {
                self.make_page(now, page, store, ports);
                true
            }
            Some(ppa) => {
                // The last map read is left to commands: no command waits for this one.
                if self.fetches_left > 1 {
                    self.fetches_left -= 1;
                    self.start_map_read(now, page, ppa, Priority::ReadAhead, store, ports);
                }
                false
            }
        }
    }

    /// Puts map page `page`, which needs no read, into the cache.
    fn make_page<M: Arena>(
        &mut self,
        now: Ns,
        page: u32,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        self.replace_page(now, store, ports);
        // If the cache has no room, the changes stay in memory without the page.
        if let Some((e, _)) = self.cache.reserve(page as u64, NONE) {
            self.cache.arrive(e);
            let changed = self.changed.remove(page);
            self.cache.set_mark(e, changed);
        }
    }

    /// Saves the entry that the cache will replace next.
    fn replace_page<M: Arena>(&mut self, now: Ns, store: &mut FlashStore<M>, ports: &mut impl Out) {
        let Some(e) = self.cache.next_to_go() else {
            return;
        };
        let page = self.cache.key(e) as u32;
        if self.cache.mark(e) && !self.write_map(now, page, store, ports) {
            self.changed.insert(page);
        }
        self.cache.set_mark(e, false);
    }

    /// Starts to read map page `page` from `ppa`. Returns the job.
    fn start_map_read<M: Arena>(
        &mut self,
        now: Ns,
        page: u32,
        ppa: Ppa,
        priority: Priority,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> u32 {
        self.replace_page(now, store, ports);
        let job = store
            .shared
            .jobs
            .take()
            .expect("a job is reserved for every read of the map");
        let reserved = self.cache.reserve(page as u64, job);
        let (e, _) = reserved.expect("fewer pages are on their way than there are entries");
        let changed = self.changed.remove(page);
        self.cache.set_mark(e, changed);
        let codewords = store.shared.config.geometry.codewords_per_slot();
        let (at, mp_page_slot) = store.shared.mp_page_of(ppa);
        let wanted = (u64::MAX >> (64 - codewords)) << (mp_page_slot * codewords);
        let purpose = Purpose::MapRead {
            page,
            first_waiter: NONE,
            last_waiter: NONE,
            merges: priority == Priority::Move,
        };
        store.shared.counters.front.map_reads += 1;
        let shared = &mut store.shared;
        let read = &mut store.read;
        read.start(now, job, purpose, priority, at, wanted, shared, ports);
        job
    }

    /// Command `id` waits for the map. The wait counts from now, unless it has begun before.
    fn note_map_miss(&mut self, now: Ns, id: CommandId, counters: &mut Counters) {
        let since = &mut self.waits_since[id.0 as usize];
        if since.is_none() {
            *since = Some(now);
            counters.front.map_misses += 1;
        }
    }

    /// Command `id` is new: it has not waited for the map.
    pub(crate) fn forget_map_wait(&mut self, id: CommandId) {
        self.waits_since[id.0 as usize] = None;
    }

    /// Command `id` waits for the map page that `job` reads.
    fn wait_for_map<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        job: u32,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        self.note_map_miss(now, id, &mut store.shared.counters);
        self.next_waiter[id.0 as usize] = NONE;
        let Purpose::MapRead {
            first_waiter,
            last_waiter,
            ..
        } = &mut store.shared.jobs[job].purpose
        else {
            unreachable!("a page of the map is brought by a read of the map")
        };
        match *last_waiter {
            NONE => *first_waiter = id.0,
            last => self.next_waiter[last as usize] = id.0,
        }
        *last_waiter = id.0;
        let shared = &mut store.shared;
        store.read.make_host_read(now, job, shared, ports);
    }

    /// The map page that `job` reads has been decoded. Returns the first command that waits for it, if any;
    /// [`MapCache::goes_on`] returns the others one by one.
    pub(crate) fn map_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> Option<CommandId> {
        let step = store.shared.jobs[job].step;
        let Purpose::MapRead {
            page,
            first_waiter,
            merges,
            ..
        } = store.shared.jobs[job].purpose
        else {
            unreachable!("only reads of the map bring its pages")
        };
        store.shared.counters.front.map_retries += step as u64;
        let codewords = store.shared.config.geometry.codewords_per_slot();
        let mp_page_slot = store.shared.jobs[job].asked_slot(codewords);
        if ok {
            let buf: Buf = store.shared.jobs.buffer(job).slot(mp_page_slot);
            ports.map_out(store.table.directory.lpn(page), buf);
        } else {
            store.shared.counters.front.map_lost += 1;
        }
        match merges {
            true => self.merges_left += 1,
            false => self.fetches_left += 1,
        }
        if let Some(e) = self.cache.find(page as u64)
            && self.cache.coming(e) == Some(job)
        {
            let changed = self.cache.mark(e) || !ok;
            self.cache.arrive(e);
            self.cache.set_mark(e, changed);
            if merges && changed && self.write_map(now, page, store, ports) {
                self.cache.set_mark(e, false);
            }
            if first_waiter == NONE && merges {
                self.cache.retire(e);
            }
        }
        store.shared.jobs.release(job);
        (first_waiter != NONE).then_some(CommandId(first_waiter))
    }

    /// Command `id`, whose map page has arrived, continues. Returns the next command that waited for the same
    /// page.
    pub(crate) fn goes_on(
        &mut self,
        now: Ns,
        id: CommandId,
        ports: &mut impl Out,
    ) -> Option<CommandId> {
        if let Some(since) = &mut self.waits_since[id.0 as usize] {
            ports.map_waited(id, *since);
            *since = now;
        }
        let next = self.next_waiter[id.0 as usize];
        (next != NONE).then_some(CommandId(next))
    }

    /// Number of commands whose map read could not be started yet.
    pub(crate) fn stalled(&self) -> usize {
        self.stalled.len()
    }

    /// The first command whose map read could not be started, if a read can be started now.
    pub(crate) fn next_stalled(&mut self) -> Option<CommandId> {
        (self.fetches_left > 0).then(|| self.stalled.pop_front())?
    }

    /// Writes map page `page`, which is in memory. False if there is no space now.
    fn write_map<M: Arena>(
        &mut self,
        now: Ns,
        page: u32,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        let lpn = store.table.directory.lpn(page);
        let item = Item {
            lpn,
            expect: None,
            why: Why::Map,
            wish: None,
        };
        let Ok(placed) = store.take(now, &item) else {
            return false;
        };
        ports.map_in(lpn, placed.buf());
        store.shared.counters.front.map_writes += 1;
        let programs = store.commit(placed);
        store.start(now, programs, ports);
        true
    }

    /// Writes changes back while too many of them are in memory.
    pub(crate) fn merge_map<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        if store.place.relocation.map_waits.has(Wait::Superblock) {
            store.give_map_space(now);
        }
        while self.changed.len() > self.changed_most / 2
            && self.merges_left > 0
            && store.map_may_write(now)
        {
            let Some(page) = self.changed.next() else {
                return;
            };
            debug_assert!(
                self.cache.find(page as u64).is_none(),
                "a page in memory has its changes with it"
            );
            match flash_place_of(page, store) {
                None => {
                    self.changed.remove(page);
                    if !self.write_map(now, page, store, ports) {
                        self.changed.insert(page);
                        return;
                    }
                }
                Some(ppa) => {
                    self.merges_left -= 1;
                    self.start_map_read(now, page, ppa, Priority::Move, store, ports);
                }
            }
        }
    }

    /// Whether a move or a write must not make more map changes before some are written back. If so, writing
    /// back has begun.
    #[inline]
    pub(crate) fn map_is_crowded<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        self.is_crowded() && {
            self.merge_map(now, store, ports);
            self.is_crowded()
        }
    }
}

/// The slot from which map page `page` must be read. None if it was never written or is in the write buffer.
fn flash_place_of<M>(page: u32, store: &FlashStore<M>) -> Option<Ppa> {
    let ppa = store.table.directory.place_of(page)?;
    let open = store.shared.blocks.info(ppa.block()).usage == SuperblockUse::Open;
    (!open || store.place.buffered(ppa, &store.shared).is_none()).then_some(ppa)
}
