//! Read-ahead: logical pages named by the scheme are read into the read cache, one multi-plane page at a
//! time. The reads take the same path as all reads, at a lower priority than those that the host waits for.
//!
//! A command that wants a slot being read ahead joins the read (`join`), so the page is not sensed twice.
//! From then on the read has the priority of a host read, and its time is charged to the command.

use firstread_core::{Arena, CommandId, HostCommand, Lpn, Ns, Priority};

use super::Host;
use super::cached::Found;
use super::commands::{bytes_between, wanted_codewords};
use super::read_aheads::MpPage;
use crate::flash_store::FlashStore;
use crate::lower_layers::LowerLayers;
use crate::observe::SuperblockUse;
use crate::policy::read_ahead::{HostRead, ReadAhead};
use crate::schedule::{Job, Purpose};
use crate::shared::Out;

impl Host {
    /// The host reads `command`: starts the read-ahead that the scheme wants.
    pub(crate) fn read_ahead<M: Arena>(
        &mut self,
        now: Ns,
        command: &HostCommand,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let read = HostRead {
            client: command.client,
            offset_bytes: command.offset_bytes,
            len_bytes: command.len_bytes,
        };
        if let Some(ahead) = self.ahead.scheme.on_read(read) {
            let end = self.start_ahead(now, ahead.first, ahead.end, lower, ports);
            self.ahead.scheme.started(ahead.stream, end);
        }
    }

    /// Starts to read ahead pages `first` to `end`, as far as jobs and memory allow. Returns how far.
    fn start_ahead<M: Arena>(
        &mut self,
        now: Ns,
        first: u64,
        end: u64,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> u64 {
        let mut lpn = first;
        while lpn < end {
            if self.read_cache.has(lpn) {
                lpn += 1;
                continue;
            }
            if !lower.map_cache.map_ahead(now, lpn, &mut lower.store, ports) {
                return lpn;
            }
            let end = end.min(lower.store.table.directory.reach(lpn));
            let run = lower.store.table.map.lookup(Lpn(lpn), (end - lpn) as u32);
            let Some(ppa) = run.ppa else {
                // Pages without data need no read.
                lpn += run.pages as u64;
                continue;
            };
            // A page in the write buffer is read from there without a sense: there is nothing to gain.
            if lower.store.shared.blocks.info(ppa.block()).usage == SuperblockUse::Open
                && lower.store.buffered(ppa).is_some()
            {
                lpn += 1;
                continue;
            }
            match self.start_ahead_mp_page(now, lpn, end, &mut lower.store, ports) {
                0 => return lpn,
                slots => lpn += slots as u64,
            }
        }
        lpn
    }

    /// Starts to read ahead page `first`, which lies on flash, and the pages after it up to `end` in the same
    /// multi-plane page. Returns how many. Zero if there is no job or no memory.
    fn start_ahead_mp_page<M: Arena>(
        &mut self,
        now: Ns,
        first: u64,
        end: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> u32 {
        if self.ahead.left == 0 {
            return 0;
        }
        let Some(job) = store.shared.jobs.take() else {
            return 0;
        };
        let layout = store.shared.layout;
        let codewords = layout.codewords_per_slot();
        let Some(ppa) = store.table.map.at(Lpn(first)) else {
            unreachable!("the page lies on flash")
        };
        let mode = store.shared.blocks.info(ppa.block()).mode;
        let (at, mp_page_slot) = layout.mp_page_of(ppa, mode);
        let (mut slots, mut wanted) = (0u32, 0u64);
        while first + (slots as u64) < end && mp_page_slot + slots < layout.slots_per_mp_page() {
            let lpn = first + slots as u64;
            if slots > 0 {
                let Some(next) = store.table.map.at(Lpn(lpn)) else {
                    break;
                };
                if layout.mp_page_of(next, mode) != (at, mp_page_slot + slots) {
                    break;
                }
            }
            if !self.read_cache.has(lpn) {
                if !self
                    .read_cache
                    .reserve(lpn, job, &mut store.shared.counters.front)
                {
                    break;
                }
                wanted |= (u64::MAX >> (64 - codewords)) << ((mp_page_slot + slots) * codewords);
            }
            slots += 1;
        }
        store.shared.jobs[job].purpose = Purpose::ReadAhead;
        if wanted == 0 {
            store.shared.jobs.release(job);
            return slots;
        }
        self.ahead.left -= 1;
        self.ahead.mp_pages[job as usize] = MpPage {
            first,
            mp_page_slot: mp_page_slot as u8,
            slots: slots as u8,
            wanted,
            used: 0,
        };
        store.shared.counters.front.ahead_rows += 1;
        store.shared.counters.front.ahead_slots += (wanted.count_ones() / codewords) as u64;
        let priority = Priority::ReadAhead;
        store.start_read(now, job, Purpose::ReadAhead, priority, at, wanted, ports);
        slots
    }

    /// The next slots of read `id` are being read ahead under `job`: the command joins.
    pub(crate) fn join_ahead<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        job: u32,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> Found {
        let Some(waiter) = store.shared.jobs.take_read() else {
            return Found::NoJob;
        };
        let command = *self.commands.get(id);
        let lpn = command.first + command.done as u64;
        let mp_page = self.ahead.mp_pages[job as usize];
        let index = (lpn - mp_page.first) as u32;
        let most = (mp_page.slots as u32 - index).min(command.slots - command.done);
        let coming = |i: &u32| self.read_cache.coming(lpn + *i as u64) == Some(job);
        let slots = (0..most).take_while(coming).count() as u32;
        let codewords = store.shared.layout.codewords_per_slot();
        let wanted = (0..slots).fold(0u64, |all, i| {
            let of_slot = wanted_codewords(&command.command, &store.shared.layout, lpn + i as u64);
            all | of_slot << ((mp_page.mp_page_slot as u32 + index + i) * codewords)
        });
        let purpose = Purpose::HostRead {
            id,
            first: command.done,
            slots: slots as u8,
            mp_page_slot: mp_page.mp_page_slot + index as u8,
            bytes: bytes_between(&command.command, &store.shared.layout, lpn, slots),
        };
        let command = self.commands.get(id);
        command.done += slots;
        command.pending += 1;
        if store.shared.jobs[job].priority != Priority::Host {
            store
                .read
                .make_host_read(now, job, &mut store.shared, ports);
        }
        let shared = &mut store.shared;
        self.wait_for(waiter, purpose, wanted, job, false, shared, ports);
        Found::Served
    }

    /// The read-ahead under `job` has ended; codewords `failed` could not be corrected. Commands that joined
    /// have received codewords `served`. The job is free.
    pub(crate) fn ahead_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        served: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        let Job {
            at, step, priority, ..
        } = store.shared.jobs[job];
        let MpPage {
            first,
            mp_page_slot,
            slots,
            wanted,
            used,
        } = self.ahead.mp_pages[job as usize];
        let codewords = store.shared.config.geometry.codewords_per_slot();
        let mask =
            |from: u32, slots: u32| (u64::MAX >> (64 - slots * codewords)) << (from * codewords);
        if priority == Priority::Host {
            if failed == 0 {
                store.shared.count_retries(now, job);
            }
        } else {
            store.shared.counters.front.ahead_retries += step as u64;
        }
        let used = used | served;
        for i in 0..slots as u32 {
            let (lpn, mp_page_slot) = (first + i as u64, mp_page_slot as u32 + i);
            if wanted & mask(mp_page_slot, 1) == 0 {
                continue;
            }
            let was_used = used & mask(mp_page_slot, 1) != 0;
            store.shared.counters.front.ahead_used += was_used as u64;
            store.shared.counters.front.ahead_joined += was_used as u64;
            // A write or trim has dropped the entry meanwhile, or the entry was given to another page.
            let mut kept = false;
            if self.read_cache.coming(lpn) == Some(job) {
                let last =
                    store.table.map.at(Lpn(lpn)) == Some(store.shared.ppa_in(at, mp_page_slot));
                if failed & mask(mp_page_slot, 1) != 0 || !last {
                    self.read_cache
                        .forget(lpn, &mut store.shared.counters.front);
                } else if let Some(buf) = self.read_cache.arrive(lpn, job, !was_used) {
                    ports.copy(store.shared.jobs.buffer(job).slot(mp_page_slot), buf);
                    kept = true;
                }
            }
            store.shared.counters.front.ahead_wasted += (!kept && !was_used) as u64;
        }
        self.ahead.left += 1;
        store.shared.jobs.release(job);
    }
}
