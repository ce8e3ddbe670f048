//! Pages of the map on their way: read when a command wants them, written when they go.

use firstread_core::{Arena, BlockId, Buf, CommandId, Lpn, Ns, Ports, Ppa, Priority};

use crate::Firmware;
use crate::cache::NONE;
use crate::ftl::{REGION_PAGES, Refused, StreamId};
use crate::job::Purpose;
use crate::log::Record;
use crate::observe::BlockUse;

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
        if !self.has_room_for_map(now) {
            return false;
        }
        let Ok(slot) = self.write_buffers[StreamId::Map as usize].allocate() else {
            return false;
        };
        let lpn = self.map_cache.lpn(page);
        ports.map_in(lpn, slot.buf);
        self.place_slot(lpn, slot.ppa);
        self.counters.front.map_writes += 1;
        self.start_programs(now, StreamId::Map, &slot, ports);
        true
    }

    /// Whether cleaning can spare what the cache writes next. Opens a superblock for it, if it takes
    /// one.
    fn has_space_for_map(&mut self, now: Ns) -> bool {
        let slots = self.space.largest_slots;
        let needs_block = matches!(
            self.write_buffers[StreamId::Map as usize].refuses(),
            Some(Refused::NeedsBlock)
        );
        self.can_spare(1)
            && (!needs_block
                || self.has_beyond_reserve(slots) && self.open_superblock(now, StreamId::Map))
    }

    /// Writes changes back while there are too many of them in memory.
    pub(crate) fn merge_map<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.map_cache.waits_for_space {
            self.map_cache.waits_for_space = !self.has_space_for_map(now);
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
        if let Some(Refused::Full) = self.write_buffers[StreamId::Map as usize].refuses() {
            return false;
        }
        self.map_cache.waits_for_space = !self.has_space_for_map(now);
        !self.map_cache.waits_for_space
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
