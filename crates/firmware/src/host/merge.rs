//! Partial writes: a command writes some sectors of a slot and the other sectors keep their old data.
//!
//! If the last version of the slot is in a write buffer, the write is merged into it in place, as long as its
//! wordline is being filled. So small writes to neighbouring addresses share a slot. If the last version lies
//! on flash, it is read first. Such reads overlap: those of the first and the last slot of a command begin
//! together, commands do not wait for one another's reads, and one read serves all commands that change its
//! slot.
//!
//! A write that has to read old data is paced before the read begins, not after it: a write that holds a job keeps it from
//! the reads of the host, so it waits for no moves (`docs/firmware/cleaning.md`).
//!
//! A write takes effect when its slot is placed, based on the slot's contents at that moment. Data that were
//! read are dropped if the slot was written or trimmed after the read began. Writes in flight at the same
//! time that touch one slot may take effect in any order, as NVMe allows.

use firstread_core::{Arena, Buf, CommandId, Lpn, Ns, Ppa, Priority, Tag, Wait};

use super::Host;
use super::commands::bytes_between;
use super::merges::{Merge, NONE, State};
use crate::flash_store::FlashStore;
use crate::lower_layers::LowerLayers;
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};

/// Where the old data of a partially written slot are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    /// In this buffer, without a read.
    Here(Buf),
    /// In this buffer, fetched by a read.
    Read(Buf),
    /// Being read from flash, under this merge.
    Coming(u32),
    /// Uncorrectable on flash: the write fails.
    Lost,
    /// Still on flash: the write has to wait before it may read them.
    Waits(Wait),
    /// Still on flash: no job is left to read them.
    NoJob,
}

impl Host {
    /// Where the old data of `lpn` are that write `id` keeps. The last version lies at `ppa`. Starts to read
    /// it if necessary.
    pub(super) fn kept<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        ppa: Ppa,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Kept {
        let end = (lpn != self.commands.get(id).first) as usize;
        if let Some(buf) = lower.store.buffered(ppa).or_else(|| self.cached(lpn)) {
            self.release_old_data(now, id, end, lower, ports);
            return Kept::Here(buf);
        }
        let mut merge = self.commands.get(id).merges[end];
        if merge != NONE && self.commands.merges.pool[merge as usize].is_stale {
            self.release_old_data(now, id, end, lower, ports);
            merge = NONE;
        }
        if merge == NONE {
            // Two writes of one slot take two slots of the buffer, so each of them is paced.
            let others = self.commands.others_merge(id);
            let reading = self.commands.merges.reading > 0;
            let FlashStore { place, shared, .. } = &mut lower.store;
            if let Some(wait) = place.waits_before_merge(others, reading, shared) {
                self.commands.merges_at_wait = self.commands.merges.used();
                return Kept::Waits(wait);
            }
            merge = match self.commands.merges.find(lpn) {
                Some(merge) => merge,
                None => match self.read_for_merge(now, lpn, ppa, &mut lower.store, ports) {
                    Some(merge) => merge,
                    None => return Kept::NoJob,
                },
            };
            self.commands.merges.pool[merge as usize].holders += 1;
            self.commands.get(id).merges[end] = merge;
        }
        let Merge { state, job, .. } = self.commands.merges.pool[merge as usize];
        match state {
            State::Read => Kept::Read(merge_buffer(job, &lower.store.shared)),
            State::Failed => Kept::Lost,
            State::Reading => Kept::Coming(merge),
        }
    }

    /// Starts to read the old data of the last slot of write `id`, if it writes that slot in part.
    pub(super) fn read_last_slot<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let command = *self.commands.get(id);
        let lpn = command.first + command.slots as u64 - 1;
        let slot_bytes = lower.store.shared.config.geometry.slot_bytes;
        if bytes_between(&command.command, &lower.store.shared.layout, lpn, 1) < slot_bytes
            && let Some(ppa) = lower.store.table.map.at(Lpn(lpn))
        {
            self.kept(now, id, lpn, ppa, lower, ports);
        }
    }

    /// Starts to read `lpn` from `ppa`. None if no job is left.
    fn read_for_merge<M: Arena>(
        &mut self,
        now: Ns,
        lpn: u64,
        ppa: Ppa,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> Option<u32> {
        let job = store.shared.jobs.take_read()?;
        let Some(merge) = self.commands.merges.add(lpn, job) else {
            store.shared.jobs.give_back(job);
            return None;
        };
        let codewords = store.shared.layout.codewords_per_slot();
        let (at, mp_page_slot) = store.shared.mp_page_of(ppa);
        let wanted = (u64::MAX >> (64 - codewords)) << (mp_page_slot * codewords);
        let mp_page_slot = mp_page_slot as u8;
        let purpose = Purpose::Merge {
            merge,
            mp_page_slot,
        };
        let joins = match self.reader_of(at, &store.shared) {
            Some(read) => self.join_read(job, purpose, wanted, read, &mut store.shared, ports),
            None => false,
        };
        if !joins {
            self.mp_pages.started(at, job);
            store.shared.counters.merge_reads += 1;
            store.start_read(now, job, purpose, Priority::Host, at, wanted, ports);
        }
        Some(merge)
    }

    /// The read of `job` for `merge`, which no host read has joined, has ended: [`Host::merge_read`].
    pub(crate) fn merge_mp_page_read(
        &mut self,
        merge: u32,
        job: u32,
        ok: bool,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        shared.counters.merge_retries += u64::from(shared.jobs[job].step);
        self.merge_read(merge, job, ok, shared, ports);
    }

    /// The read of `merge` has ended under `job`, whose buffer holds the slot if the read succeeded. The
    /// commands that wait for it are to be resumed.
    pub(crate) fn merge_read(
        &mut self,
        merge: u32,
        job: u32,
        ok: bool,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        let merges = &mut self.commands.merges;
        merges.reading -= 1;
        let state = &mut merges.pool[merge as usize];
        state.job = job;
        state.state = if ok { State::Read } else { State::Failed };
        let mut waiter = core::mem::replace(&mut state.first_waiter, NONE);
        state.last_waiter = NONE;
        while waiter != NONE {
            let id = CommandId(waiter);
            waiter = self.commands.merges.next_waiter[waiter as usize];
            ports.waited(id, Tag(job));
            self.commands.stalled_merged.push_back(id);
            self.commands.note_stall(id, ports);
        }
        let state = &mut self.commands.merges.pool[merge as usize];
        if state.is_stale || state.holders == 0 {
            state.job = NONE;
            shared.jobs.release(job);
        }
        if state.holders == 0 {
            self.commands.merges.remove(merge);
        }
    }

    /// Write `id` no longer needs the old data of its first (0) or last (1) slot.
    pub(super) fn release_old_data<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        end: usize,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let merge = core::mem::replace(&mut self.commands.get(id).merges[end], NONE);
        let Some(state) = self.commands.merges.pool.get_mut(merge as usize) else {
            return;
        };
        state.holders -= 1;
        let Merge {
            holders,
            state,
            job,
            ..
        } = *state;
        if holders == 0 && state != State::Reading {
            self.commands.merges.remove(merge);
            if job != NONE {
                self.release_read(now, job, lower, ports);
            }
        }
    }
}

/// Buffer of the one slot that `job` has read for a merge.
fn merge_buffer(job: u32, shared: &Shared) -> Buf {
    let Purpose::Merge { mp_page_slot, .. } = shared.jobs[job].purpose else {
        unreachable!("a merge waits for a read of its own")
    };
    shared.jobs.buffer(job).slot(mp_page_slot as u32)
}
