//! Host writes and trims: slot by slot, as far as each of them gets.

use core::ops::ControlFlow;

use firstread_core::{Arena, CommandId, HostCommand, HostOp, Lpn, Ns, Ppa, Status, Wait};

use super::Host;
use super::commands::{Command, bytes_between};
use super::merge::Kept;
use super::merges;
use crate::ftl::REGION_PAGES;
use crate::ftl::map::{Table, TrimScope};
use crate::ftl::place::{HostStreamSet, Item, TakeError, Why};
use crate::lower_layers::LowerLayers;
use crate::policy::page_type::Wish;
use crate::shared::{Out, Shared};

/// How far a write or trim got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The command has ended, well or with an error.
    Ended,
    /// It waits for a read: of the old version of a slot, or of a map page.
    Waiting,
    /// It waits in the queue of blocked writes, for this reason.
    Stalled(Wait),
    /// It continues once the cleaning pace has been updated.
    Paces,
    /// All its data are in the write buffer. It completes when they are programmed.
    Buffered,
}

impl Host {
    /// The blocked write or trim to continue next.
    pub(crate) fn next_stalled(&mut self) -> Option<CommandId> {
        self.commands.next_stalled()
    }

    /// Write or trim `id`, which was being handled, waits for `wait` ahead of all others of its kind. Returns
    /// whether the others have to wait too: if it waits for a job that one of them holds, that one continues.
    pub(crate) fn stall(&mut self, id: CommandId, wait: Wait, ports: &mut impl Out) -> bool {
        self.commands.stall(id, wait, ports);
        self.commands.holds_read(id) || self.commands.stalled_merged.is_empty()
    }

    /// No write or trim is blocked.
    pub(crate) fn none_stalls(&mut self, ports: &mut impl Out) {
        self.commands.wait_for(None, ports);
    }

    /// Whether the old version of a slot is no longer held or read since a partial write began to wait for others.
    pub(crate) fn a_merge_has_ended(&self) -> bool {
        self.commands.a_merge_has_ended()
    }

    /// Whether writes or trims are blocked.
    pub(crate) fn has_stalled_writes(&self) -> bool {
        self.commands.has_stalled_writes()
    }

    /// Advances a write or trim.
    pub(crate) fn advance_write<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Progress {
        loop {
            let command = self.commands.get(id);
            let status = command.status;
            if command.done == command.slots || status != Status::Ok {
                let (op, fua) = (command.command.op, command.command.fua);
                let written_to = command.streams;
                self.commands.leave_queue(id, ports);
                let ended_well = status == Status::Ok && op == HostOp::Write;
                if ended_well && self.durable.waits_for_program(fua) {
                    let streams = match lower.store.place.has_several_of_host() {
                        true => written_to,
                        false => HostStreamSet::ALL,
                    };
                    self.wait_until_safe(now, id, streams, &lower.store);
                    return Progress::Buffered;
                }
                self.end_command(id, status, ports);
                return Progress::Ended;
            }
            let command = *command;
            let may = self.may_change(now, id, &command, lower, ports);
            let outcome = match (may, command.command.op) {
                (ControlFlow::Continue(false), _) => continue,
                (ControlFlow::Continue(true), HostOp::Trim) => {
                    self.trim_some(now, id, &command, lower, ports)
                }
                // `Host::submit` has answered reads and flushes.
                (ControlFlow::Continue(true), HostOp::Write | HostOp::Read | HostOp::Flush) => {
                    self.write_slot(now, id, &command, lower, ports)
                }
                (ControlFlow::Break(stays), _) => ControlFlow::Break(stays),
            };
            if let ControlFlow::Break(progress) = outcome {
                return progress;
            }
        }
    }

    /// Whether the map may be changed for the next slot of write or trim `id`: the overlay has room, the
    /// number of map pages with unwritten changes is below its limit, and the slot's entry is in memory.
    /// False also if the command has failed.
    #[inline(always)] // Its only caller is on the path of every request.
    fn may_change<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        command: &Command,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> ControlFlow<Progress, bool> {
        let store = &mut lower.store;
        if !store.table.map.has_room(1) {
            return ControlFlow::Break(Progress::Stalled(Wait::Overlay));
        }
        if !lower.map_cache.is_on() {
            return ControlFlow::Continue(true);
        }
        if !store.place.space.read_only && lower.map_cache.map_is_crowded(now, store, ports) {
            let place = &store.place;
            if !place.relocation.map_waits.has(Wait::Superblock) || !place.is_full(&store.shared) {
                return ControlFlow::Break(Progress::Stalled(Wait::Map));
            }
            self.fail_write(now, id, Status::NoSpace, lower, ports);
            return ControlFlow::Continue(false);
        }
        let lpn = command.first + command.done as u64;
        let end = end_of(&command.command, &store.shared);
        // A trim that empties a whole map region needs no old entry, so it does not wait for the map page.
        let empties = command.command.op == HostOp::Trim && empties_region(lpn, end, &store.table);
        if !empties && !lower.map_cache.map_ready(now, id, lpn, store, ports) {
            self.commands.leave_queue(id, ports);
            return ControlFlow::Break(Progress::Waiting);
        }
        ControlFlow::Continue(true)
    }

    /// Writes the next slot of write `id`.
    #[inline(always)] // Its only caller is on the path of every request.
    fn write_slot<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        command: &Command,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> ControlFlow<Progress> {
        let lpn = command.first + command.done as u64;
        if lower.store.place.space.read_only {
            self.fail_write(now, id, Status::ReadOnly, lower, ports);
            return ControlFlow::Continue(());
        }
        if lower.store.place.refuses_writes() {
            self.refuse_write(now, id, lower, ports);
            return ControlFlow::Continue(());
        }
        if command.done == 0 && command.slots > 1 && !lower.map_cache.is_on() {
            self.read_last_slot(now, id, lower, ports);
        }
        let shared = &lower.store.shared;
        let bytes = bytes_between(&command.command, &shared.layout, lpn, 1);
        // Only a partial write needs the place of the old version.
        let partial = bytes < shared.config.geometry.slot_bytes;
        let run = partial.then(|| lower.store.table.map.lookup(Lpn(lpn), 1));
        if run.is_some_and(|run| run.lost) {
            self.fail_write(now, id, Status::Uncorrectable, lower, ports);
            return ControlFlow::Continue(());
        }
        let old = run.and_then(|run| run.ppa);
        let place = &lower.store.place;
        if let Some(buf) = old.and_then(|ppa| place.open_slot_of_host(ppa)) {
            ports.data_in(id, command.done, 1, buf);
            if let Some(ppa) = old {
                self.goes_to_stream(id, ppa, lower);
            }
            self.slot_written(now, id, lpn, lower, ports);
            lower.store.shared.counters.merged_in_place += 1;
            lower.store.shared.counters.host_bytes_written += u64::from(bytes);
            return ControlFlow::Continue(());
        }
        let kept = old.map(|ppa| self.kept(now, id, lpn, ppa, lower, ports));
        match kept {
            None | Some(Kept::Here(_) | Kept::Read(_)) => {}
            Some(Kept::Coming(merge)) => {
                self.commands.merges.wait(merge, id);
                self.commands.leave_queue(id, ports);
                return ControlFlow::Break(Progress::Waiting);
            }
            Some(Kept::Lost) => {
                self.fail_write(now, id, Status::Uncorrectable, lower, ports);
                return ControlFlow::Continue(());
            }
            Some(Kept::Waits(wait)) => return stalled(wait),
            Some(Kept::NoJob) => {
                // The old version of its last slot may occupy the job that others wait for.
                self.release_old_data(now, id, 1, lower, ports);
                let relocation = &mut lower.store.place.relocation;
                relocation.host_waits.set(Wait::ReadBuffer, true);
                return stalled(Wait::ReadBuffer);
            }
        }
        let item = Item {
            lpn: Lpn(lpn),
            expect: None,
            // A partial write whose old version has been read was paced before the read.
            why: Why::Host {
                has_merged: matches!(kept, Some(Kept::Read(_))),
                placement: command.command.placement,
            },
            wish: self.wish(id, command, lower),
        };
        let placed = match lower.store.take(now, &item) {
            Ok(placed) => placed,
            Err(TakeError::Wait(wait)) => return stalled(wait),
            Err(TakeError::Never(status)) => {
                self.fail_write(now, id, status, lower, ports);
                return ControlFlow::Continue(());
            }
            Err(TakeError::Overtaken) => unreachable!("a write of the host is the last version"),
        };
        if let Some(Kept::Here(buf) | Kept::Read(buf)) = kept {
            ports.copy(buf, placed.buf());
        }
        ports.data_in(id, command.done, 1, placed.buf());
        self.goes_to_stream(id, placed.ppa(), lower);
        let programs = lower.commit(placed);
        self.slot_written(now, id, lpn, lower, ports);
        let counters = &mut lower.store.shared.counters;
        counters.host_slots_written += 1;
        counters.host_bytes_written += u64::from(bytes);
        lower.store.start(now, programs, ports);
        match lower.store.place.relocation.pace.earn() {
            true => ControlFlow::Break(Progress::Paces),
            false => ControlFlow::Continue(()),
        }
    }

    /// A slot of write `id` lies at `ppa`.
    #[inline]
    fn goes_to_stream<M>(&mut self, id: CommandId, ppa: Ppa, lower: &LowerLayers<M>) {
        let store = &lower.store;
        if store.place.has_several_of_host() {
            let stream = store.place.host_stream_of(ppa, &store.shared);
            self.commands.get(id).streams.join(stream);
        }
    }

    /// How hot the next slot of write `id` is. A command is taken apart into parts as large as a multi-plane page, from the first slot
    /// on that is not merged in place. All slots of a part are as hot as their mean: the host reads together what it wrote
    /// together, and one sense has them as long as they lie on one page type.
    #[inline(always)]
    fn wish<M>(
        &mut self,
        id: CommandId,
        command: &Command,
        lower: &LowerLayers<M>,
    ) -> Option<Wish> {
        match lower.store.place.places_by_heat() {
            true => self.wish_of_part(id, command, lower),
            false => None,
        }
    }

    #[inline(never)] // Most drives place in order.
    fn wish_of_part<M>(
        &mut self,
        id: CommandId,
        command: &Command,
        lower: &LowerLayers<M>,
    ) -> Option<Wish> {
        if command.done < command.part_end {
            return command.wish;
        }
        let (place, shared) = (&lower.store.place, &lower.store.shared);
        let first = Lpn(command.first + u64::from(command.done));
        let mp_page = shared.layout.slots_per_mp_page();
        let slots = mp_page.min(command.slots - command.done);
        let wish = place.wish(first, slots, false, shared);
        let command = self.commands.get(id);
        (command.wish, command.part_end) = (wish, command.done + slots);
        wish
    }

    /// Command `id`, which is not a read, completes.
    pub(super) fn end_command(&mut self, id: CommandId, status: Status, ports: &mut impl Out) {
        let command = self.commands.get(id).command;
        self.commands.table[id.0 as usize] = None;
        ports.complete(command, status, None);
    }

    /// The next slot of write `id`, `lpn`, is in the write buffer.
    #[inline]
    fn slot_written<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        if let Some(job) = self.commands.merges.written(lpn) {
            self.release_read(now, job, lower, ports);
        }
        let command = self.commands.get(id);
        let heat = &mut lower.store.shared.heat;
        heat.on_write(Lpn(lpn), command.done == 0);
        let end = (command.done != 0) as usize;
        command.done += 1;
        if command.merges[end] != merges::NONE {
            // Only the first and the last slot can be partial.
            let last = command.done == command.slots;
            if end == 0 || last {
                self.release_old_data(now, id, end, lower, ports);
            }
        }
        if self.read_cache.is_on() {
            self.read_cache
                .forget(lpn, &mut lower.store.shared.counters.front);
        }
    }

    /// Trims pages of trim `id` from the next one on, within one map region. Only whole slots are trimmed.
    fn trim_some<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        command: &Command,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> ControlFlow<Progress> {
        // NVMe: a deallocation changes the medium, and fails with Namespace is Write Protected like a write.
        if lower.store.place.refuses_writes() {
            self.refuse_write(now, id, lower, ports);
            return ControlFlow::Continue(());
        }
        let store = &mut lower.store;
        let first = command.first + command.done as u64;
        let bytes = bytes_between(&command.command, &store.shared.layout, first, 1);
        if bytes < store.shared.config.geometry.slot_bytes {
            self.commands.get(id).done += 1;
            return ControlFlow::Continue(());
        }
        let mut end = end_of(&command.command, &store.shared);
        if lower.map_cache.is_on() && !empties_region(first, end, &store.table) {
            end = end.min(store.table.directory.reach(first));
        }
        let (table, shared) = (&mut store.table, &mut store.shared);
        let most = shared.config.most_journal_pages;
        let (from, to) = match table.scope_of_trim(first, end, most) {
            TrimScope::Asked => (first, end),
            TrimScope::Region(region) => (region, u64::MAX),
            TrimScope::Nothing(pages) => {
                shared.counters.trims_passed_over += pages;
                self.commands.get(id).done += pages as u32;
                return ControlFlow::Continue(());
            }
        };
        let to = store.place.trim(from, to, ports.sequence(), table, shared);
        // What the host has asked for of a region that was trimmed as a whole.
        let pages = (u64::from(to) - (first - from)).min(end - first) as u32;
        let jobs = &mut shared.jobs;
        let end = first + pages as u64;
        self.commands
            .merges
            .trimmed(first, end, |job| jobs.release(job));
        if lower.map_cache.is_on() {
            lower.map_cache.clear(first, end, store);
        }
        if self.read_cache.is_on() {
            let counters = &mut store.shared.counters.front;
            self.read_cache.forget_all(first, end, counters);
        }
        ports.trimmed(Lpn(first), pages);
        self.commands.get(id).done += pages;
        self.resume_reads(now, lower, ports);
        ControlFlow::Continue(())
    }

    /// Write or trim `id` comes to a drive whose scheme of axis `area` takes neither now.
    #[cold]
    fn refuse_write<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        lower.store.shared.counters.writes_refused += 1;
        self.fail_write(now, id, Status::WriteProtected, lower, ports);
    }

    /// Write or trim `id` cannot continue: it ends with `status`.
    fn fail_write<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        status: Status,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        self.commands.get(id).status = status;
        self.release_old_data(now, id, 0, lower, ports);
        self.release_old_data(now, id, 1, lower, ports);
    }
}

/// A write or trim waits in the queue of blocked writes, for `wait`.
const fn stalled(wait: Wait) -> ControlFlow<Progress> {
    ControlFlow::Break(Progress::Stalled(wait))
}

/// End of the whole logical pages of `command`.
fn end_of(command: &HostCommand, shared: &Shared) -> u64 {
    let slot_bytes = u64::from(shared.config.geometry.slot_bytes);
    (command.offset_bytes + u64::from(command.len_bytes)) / slot_bytes
}

/// Whether a trim from `first` to `end` empties a whole map region, so that the old entries need not be
/// known.
fn empties_region<M: Arena>(first: u64, end: u64, table: &Table<M>) -> bool {
    let region_end = (first / REGION_PAGES + 1) * REGION_PAGES;
    first.is_multiple_of(REGION_PAGES)
        && end >= region_end.min(table.map.capacity())
        && REGION_PAGES.is_multiple_of(table.directory.entries())
}
