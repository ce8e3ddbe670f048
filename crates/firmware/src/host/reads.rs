//! Host reads: split into multi-plane pages, each read under a job of its own.

use firstread_core::{
    Arena, CellMode, CommandId, HostCommand, Lpn, Ns, PageAddr, Ppa, Priority, Status, Tag,
};

use super::Host;
use super::cached::Found;
use super::commands::{Command, bytes_between, wanted_codewords};
use crate::flash_store::FlashStore;
use crate::lower_layers::LowerLayers;
use crate::observe::{SuperblockInfo, SuperblockUse};
use crate::schedule::{Job, Purpose};
use crate::shared::Out;

impl Host {
    /// Continues reads that waited for a job.
    pub(crate) fn resume_reads<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        while let Some(id) = self.commands.stalled_reads.pop_front() {
            if !self.advance_read(now, id, lower, ports) {
                break;
            }
        }
    }

    /// Splits a read into multi-plane pages. False if jobs ran out and the read waits at the head of the
    /// queue.
    pub(super) fn advance_read<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let Command {
            command,
            first,
            slots: all,
            mut done,
            ..
        } = *self.commands.get(id);
        while done < all {
            if self.read_cache.is_on() {
                match self.read_cached(now, id, &mut lower.store, ports) {
                    Found::Not => {}
                    Found::Served => {
                        done = self.commands.get(id).done;
                        continue;
                    }
                    Found::NoJob => {
                        self.commands.stalled_reads.push_front(id);
                        return false;
                    }
                }
            }
            let lpn = first + done as u64;
            if !lower
                .map_cache
                .map_ready(now, id, lpn, &mut lower.store, ports)
            {
                return true;
            }
            // The places of the slots up to this one are known now.
            let known = (lower.store.table.directory.reach(lpn) - first).min(all as u64) as u32;
            let store = &mut lower.store;
            let layout = &store.shared.layout;
            let run = store.table.map.lookup(Lpn(lpn), known - done);
            let Some(ppa) = run.ppa else {
                if run.lost {
                    store.shared.counters.uncorrectable += 1;
                    self.commands.get(id).status = Status::Uncorrectable;
                } else {
                    let bytes = bytes_between(&command, layout, first + done as u64, run.pages);
                    ports.zeros_out(id, done, run.pages, bytes);
                }
                done += run.pages;
                self.commands.get(id).done = done;
                continue;
            };
            let SuperblockInfo { usage, mode, .. } = *store.shared.blocks.info(ppa.block());
            if usage == SuperblockUse::Open
                && let Some(buf) = store.buffered(ppa)
            {
                store.shared.counters.buffer_hits += 1;
                let bytes = bytes_between(&command, layout, first + done as u64, 1);
                ports.data_out(id, done, 1, buf, bytes);
                done += 1;
                self.commands.get(id).done = done;
                continue;
            }
            let Some(job) = store.shared.jobs.take_read() else {
                self.commands.stalled_reads.push_front(id);
                return false;
            };
            let (at, mp_page_slot) = layout.mp_page_of(ppa, mode);
            let mp_page = (at, mp_page_slot, mode);
            let from = (ppa, run.pages);
            let (wanted, slots) = self.gather(&command, lpn, from, mp_page, known - done, store);
            if self.read_cache.is_on() {
                store.shared.counters.front.cache_misses += slots as u64;
            }
            let purpose = Purpose::HostRead {
                id,
                first: done,
                slots: slots as u8,
                mp_page_slot: mp_page_slot as u8,
                bytes: bytes_between(&command, &store.shared.layout, lpn, slots),
            };
            done += slots;
            let state = self.commands.get(id);
            state.done = done;
            state.pending += 1;
            if let Some(read) = self.reader_of(at, &store.shared)
                && self.join_read(job, purpose, wanted, read, &mut store.shared, ports)
            {
                continue;
            }
            self.mp_pages.started(at, job);
            store.start_read(now, job, purpose, Priority::Host, at, wanted, ports);
        }
        self.finish_if_done(id, None, ports);
        true
    }

    /// Gathers slots of a multi-plane page from logical page `lpn` on, at most `most`, as long as logical and
    /// physical order agree. `from` is the place of `lpn`, and the number of pages that follow each other
    /// there. `mp_page` is the page, the first slot of it that is read, and the cell mode. Returns the codewords
    /// wanted, and the number of slots.
    #[inline(always)] // Its only caller is on the path of every request.
    fn gather<M: Arena>(
        &self,
        command: &HostCommand,
        lpn: u64,
        from: (Ppa, u32),
        mp_page: (PageAddr, u32, CellMode),
        most: u32,
        store: &FlashStore<M>,
    ) -> (u64, u32) {
        let (layout, map) = (&store.shared.layout, &store.table.map);
        let (at, mp_page_slot, mode) = mp_page;
        let (mut next, mut run_left) = from;
        let (mut wanted, mut slots) = (0u64, 0u32);
        loop {
            let codewords = wanted_codewords(command, layout, lpn + slots as u64);
            wanted |= codewords << ((mp_page_slot + slots) * layout.codewords_per_slot());
            slots += 1;
            if slots == most || mp_page_slot + slots == layout.slots_per_mp_page() {
                break;
            }
            let following = lpn + slots as u64;
            if self.read_cache.is_on() && self.read_cache.has(following) {
                break;
            }
            run_left -= 1;
            next = Ppa(next.0 + 1);
            if run_left == 0 {
                let more = map.lookup(Lpn(following), most - slots);
                if more.ppa != Some(next) {
                    break;
                }
                run_left = more.pages;
            }
            let crosses_page = (mp_page_slot + slots).is_multiple_of(layout.slots_per_page());
            if crosses_page && layout.mp_page_of(next, mode) != (at, mp_page_slot + slots) {
                break;
            }
        }
        (wanted, slots)
    }

    /// A multi-plane page that only the host waited for has been read under `job`, except for failed
    /// codewords `failed`. The job is free.
    #[inline(always)] // Its only caller is on the path of every request.
    pub(crate) fn mp_page_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        let ok = failed == 0;
        let shared = &mut store.shared;
        let Job { purpose, .. } = shared.jobs[job];
        let Purpose::HostRead {
            id,
            first,
            slots,
            mp_page_slot,
            bytes,
        } = purpose
        else {
            unreachable!("{purpose:?} is no read of the host")
        };
        let (slots, mp_page_slot) = (slots as u32, mp_page_slot as u32);
        if ok {
            shared.count_retries(now, job);
            let buf = shared.jobs.buffer(job).slot(mp_page_slot);
            ports.data_out(id, first, slots, buf, bytes);
        } else {
            shared.count_lost(now, job);
        }
        if ok && self.read_cache.keeps() {
            self.keep_read(id, first, slots, mp_page_slot, job, store, ports);
        }
        self.host_read_done(id, job, ok, ports);
        store.shared.jobs.release(job);
    }

    /// The read of one multi-plane page of read `id` has ended.
    #[inline]
    pub(super) fn host_read_done(
        &mut self,
        id: CommandId,
        job: u32,
        ok: bool,
        ports: &mut impl Out,
    ) {
        let command = self.commands.get(id);
        command.pending -= 1;
        if !ok {
            command.status = Status::Uncorrectable;
        }
        if command.pending == 0 && command.done < command.slots {
            // The command waits for a job. Its remaining slots may need no job, so its time is charged now.
            ports.waited(id, Tag(job));
        }
        self.finish_if_done(id, Some(Tag(job)), ports);
    }

    fn finish_if_done(&mut self, id: CommandId, last: Option<Tag>, ports: &mut impl Out) {
        let command = self.commands.get(id);
        if command.done == command.slots && command.pending == 0 {
            let Command {
                command, status, ..
            } = *command;
            self.commands.table[id.0 as usize] = None;
            ports.complete(command, status, last);
        }
    }
}
