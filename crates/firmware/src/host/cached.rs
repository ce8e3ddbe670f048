//! Slots served by the read cache, and slots that it keeps.

use firstread_core::{Arena, Buf, CommandId, Lpn, Ns};

use super::Host;
use super::commands::bytes_between;
use crate::flash_store::FlashStore;
use crate::shared::Out;

/// Result of a lookup in the read cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// The slot is not in the cache.
    Not,
    /// The slot is answered, or will be when the read that fetches it ends.
    Served,
    /// The slot is being read, but no job is left to wait for it.
    NoJob,
}

impl Host {
    /// The buffer of page `lpn`, if it is in the read cache.
    pub(crate) fn cached(&self, lpn: u64) -> Option<Buf> {
        match self.read_cache.is_on() {
            true => self.read_cache.here(lpn),
            false => None,
        }
    }

    /// Serves the next slot of read `id` from the read cache, or lets it wait for a read that fetches the
    /// slot.
    pub(crate) fn read_cached<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> Found {
        let command = *self.commands.get(id);
        let lpn = command.first + command.done as u64;
        let Some(e) = self.read_cache.cache.find(lpn) else {
            return Found::Not;
        };
        if let Some(job) = self.read_cache.cache.coming(e) {
            return self.join_ahead(now, id, job, store, ports);
        }
        let bytes = bytes_between(&command.command, &store.shared.layout, lpn, 1);
        ports.data_out(id, command.done, 1, self.read_cache.buffer(e), bytes);
        self.read_cache.used(e, &mut store.shared.counters.front);
        self.commands.get(id).done += 1;
        Found::Served
    }

    /// Job `job` has read slots `first` to `first + slots` of read `id`, which lie from index `mp_page_slot` on.
    /// Keeps those that were read whole.
    #[allow(clippy::too_many_arguments)] // the part of a command that a job has read
    pub(crate) fn keep_read<M: Arena>(
        &mut self,
        id: CommandId,
        first: u32,
        slots: u32,
        mp_page_slot: u32,
        job: u32,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) {
        let command = *self.commands.get(id);
        let slot_bytes = store.shared.config.geometry.slot_bytes;
        let at = store.shared.jobs[job].at;
        for i in 0..slots {
            let lpn = command.first + (first + i) as u64;
            let whole = bytes_between(&command.command, &store.shared.layout, lpn, 1) == slot_bytes;
            let ppa = store.shared.ppa_in(at, mp_page_slot + i);
            if !whole || self.read_cache.has(lpn) || store.table.map.at(Lpn(lpn)) != Some(ppa) {
                continue;
            }
            let counters = &mut store.shared.counters.front;
            if self.read_cache.reserve(lpn, job, counters)
                && let Some(buf) = self.read_cache.arrive(lpn, job, false)
            {
                ports.copy(store.shared.jobs.buffer(job).slot(mp_page_slot + i), buf);
            }
        }
    }
}
