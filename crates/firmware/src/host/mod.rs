//! Commands of the host: split into page rows, held back when jobs or buffers run out.

mod durable;
mod join;
mod merge;
mod read_ahead;
mod read_cache;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use firstread_core::{
    Arena, CommandId, HostCommand, HostOp, Layout, Lpn, Ns, Ports, Ppa, Priority, Status, Tag, Wait,
};

use crate::Firmware;
use crate::ftl::{Refused, StreamId};
use crate::job::Purpose;
use crate::log::Record;
use crate::observe::{BlockRow, BlockUse};

pub(crate) use durable::Durable;
pub use durable::WriteCache;
pub(crate) use join::Rows;
use merge::{Kept, Merges};
pub(crate) use read_ahead::Ahead;
use read_cache::Found;
pub(crate) use read_cache::ReadCache;

/// Bytes of a host sector.
const SECTOR_BYTES: u64 = 512;

/// How far a write or trim got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// It is complete.
    Ended,
    /// It waits for the read of a slot that it changes in part.
    Waiting,
    /// It waits in the queue of writes, for this.
    Stalled(Wait),
}

/// One command in flight.
#[derive(Clone, Copy, Debug)]
struct Command {
    command: HostCommand,
    /// First logical page.
    first: u64,
    /// Logical pages it touches.
    slots: u32,
    /// Slots handled so far.
    done: u32,
    /// Jobs under way.
    pending: u32,
    status: Status,
    /// What a write in part keeps of its first and of its last slot, where that is read from flash.
    merges: [u32; 2],
    /// It waits in the queue of writes.
    is_stalled: bool,
}

/// All commands in flight.
#[derive(Debug)]
pub(crate) struct Commands {
    table: Box<[Option<Command>]>,
    /// Reads that wait for a job.
    stalled_reads: VecDeque<CommandId>,
    /// Writes in part for which something was read. They go first, because a job holds what was read.
    stalled_merged: VecDeque<CommandId>,
    /// Writes and trims that wait for buffers or for each other.
    stalled_writes: VecDeque<CommandId>,
    /// A write waits for the job of a read.
    pub(crate) want_job: bool,
    merges: Merges,
    /// What the first of the writes and trims that wait is waiting for.
    wait: Option<Wait>,
}

impl Commands {
    pub(crate) fn new(max_commands: u32, max_reads: u32) -> Commands {
        let capacity = max_commands as usize;
        Commands {
            table: alloc::vec![None; capacity].into_boxed_slice(),
            stalled_reads: VecDeque::with_capacity(capacity),
            stalled_merged: VecDeque::with_capacity(capacity),
            stalled_writes: VecDeque::with_capacity(capacity),
            want_job: false,
            merges: Merges::new(max_reads, max_commands),
            wait: None,
        }
    }
    fn get(&mut self, id: CommandId) -> &mut Command {
        self.table[id.0 as usize]
            .as_mut()
            .expect("an event names a command in flight")
    }
    pub(crate) fn has_stalled_writes(&self) -> bool {
        !self.stalled_writes.is_empty() || !self.stalled_merged.is_empty()
    }
    /// The write or trim to go on with.
    fn next_stalled(&mut self) -> Option<CommandId> {
        let merged = self.stalled_merged.pop_front();
        merged.or_else(|| self.stalled_writes.pop_front())
    }
    /// Whether what write `id` keeps of a slot was read, and a job holds it.
    fn holds_read(&mut self, id: CommandId) -> bool {
        let merges = self.get(id).merges;
        self.merges.is_any_read(merges)
    }
    /// Write or trim `id`, which was under way, waits before all others of its kind, for `wait`.
    fn stall<P: Ports>(&mut self, id: CommandId, wait: Wait, ports: &mut P) {
        if self.holds_read(id) {
            self.stalled_merged.push_front(id);
        } else {
            self.stalled_writes.push_front(id);
        }
        self.wait_for(Some(wait), ports);
        self.note_stall(id, ports);
    }
    /// Write or trim `id` waits behind all others, if any, of its kind.
    fn stall_last<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        self.stalled_writes.push_back(id);
        self.note_stall(id, ports);
    }
    fn note_stall<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        if !core::mem::replace(&mut self.get(id).is_stalled, true) {
            ports.write_waits(id);
        }
    }
    /// Write or trim `id` waits in the queue no more.
    fn leave_queue<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        if core::mem::take(&mut self.get(id).is_stalled) {
            ports.write_goes_on(id);
        }
    }
    /// The first of the writes and trims that wait is waiting for `wait`.
    fn wait_for<P: Ports>(&mut self, wait: Option<Wait>, ports: &mut P) {
        if self.wait != wait {
            self.wait = wait;
            ports.writes_wait_for(wait);
        }
    }
}

impl<M: Arena> Firmware<M> {
    /// A command of the host. Its id is below `max_commands` and not in flight.
    pub fn submit<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        command: HostCommand,
        ports: &mut P,
    ) {
        let end = command
            .offset_bytes
            .saturating_add(command.len_bytes as u64);
        let aligned = command.offset_bytes.is_multiple_of(SECTOR_BYTES)
            && (command.len_bytes as u64).is_multiple_of(SECTOR_BYTES);
        if command.op == HostOp::Flush {
            if !self.durable.flushes() {
                // What was acknowledged is safe already.
                return ports.complete(command, Status::Ok, None);
            }
            self.commands.table[command.id.0 as usize] = Some(Command {
                command,
                first: 0,
                slots: 0,
                done: 0,
                pending: 0,
                status: Status::Ok,
                merges: [merge::NONE; 2],
                is_stalled: false,
            });
            return self.wait_until_safe(now, command.id, ports);
        }
        if !aligned || command.len_bytes == 0 || end > self.capacity_bytes {
            return ports.complete(command, Status::OutOfRange, None);
        }
        let first = self.layout.slots_in(command.offset_bytes).0;
        let last = self.layout.slots_in(end - 1).0;
        let slots = (last - first + 1) as u32;
        self.commands.table[command.id.0 as usize] = Some(Command {
            command,
            first,
            slots,
            done: 0,
            pending: 0,
            status: Status::Ok,
            merges: [merge::NONE; 2],
            is_stalled: false,
        });
        if self.map_cache.is_on() {
            self.forget_map_wait(command.id);
        }
        if command.op == HostOp::Read {
            if self.commands.stalled_reads.is_empty() {
                self.advance_read(now, command.id, ports);
            } else {
                self.commands.stalled_reads.push_back(command.id);
            }
            if self.ahead.is_on() {
                self.read_ahead(now, &command, ports);
            }
        } else {
            if self.commands.has_stalled_writes() {
                self.commands.stall_last(command.id, ports);
            } else if let Progress::Stalled(wait) = self.advance_write(now, command.id, ports) {
                self.commands.stall(command.id, wait, ports);
            }
            self.pump(now, ports);
        }
    }

    /// Goes on with reads that waited for a job.
    pub(crate) fn resume_reads<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        while let Some(id) = self.commands.stalled_reads.pop_front() {
            if !self.advance_read(now, id, ports) {
                break;
            }
        }
    }

    /// Splits a read into page rows. False when it ran out of jobs and waits at the queue's head.
    fn advance_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        ports: &mut P,
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
                match self.read_cached(now, id, ports) {
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
            if !self.map_ready(now, id, lpn, ports) {
                return true;
            }
            // Slots before this one have places that are known now.
            let known = (self.map_cache.reach(lpn) - first).min(all as u64) as u32;
            let layout = &self.layout;
            let run = self.map.lookup(Lpn(lpn), known - done);
            let Some(ppa) = run.ppa else {
                if run.lost {
                    self.counters.uncorrectable += 1;
                    self.commands.get(id).status = Status::Uncorrectable;
                } else {
                    let bytes = bytes_between(&command, layout, first + done as u64, run.pages);
                    ports.zeros_out(id, done, run.pages, bytes);
                }
                done += run.pages;
                self.commands.get(id).done = done;
                continue;
            };
            let BlockRow { usage, mode, .. } = *self.blocks.row(ppa.block());
            if usage == BlockUse::Open
                && let Some(buf) = self.buffered(ppa)
            {
                self.counters.buffer_hits += 1;
                let bytes = bytes_between(&command, layout, first + done as u64, 1);
                ports.data_out(id, done, 1, buf, bytes);
                done += 1;
                self.commands.get(id).done = done;
                continue;
            }
            let Some(job) = self.jobs.take_read() else {
                self.commands.stalled_reads.push_front(id);
                return false;
            };
            // Gather the slots of this page row, as long as logical and physical order agree.
            let (at, row_slot) = layout.row_of(ppa, mode);
            let mut wanted = 0u64;
            let mut slots = 0u32;
            let (mut run_left, mut next) = (run.pages, ppa);
            loop {
                let index = done + slots;
                let codewords = wanted_codewords(&command, layout, first + index as u64);
                wanted |= codewords << ((row_slot + slots) * layout.codewords_per_slot());
                slots += 1;
                let index = done + slots;
                if index == known || row_slot + slots == layout.slots_per_row() {
                    break;
                }
                if self.read_cache.is_on() && self.read_cache.has(first + index as u64) {
                    break;
                }
                run_left -= 1;
                next = Ppa(next.0 + 1);
                if run_left == 0 {
                    let more = self.map.lookup(Lpn(first + index as u64), known - index);
                    if more.ppa != Some(next) {
                        break;
                    }
                    run_left = more.pages;
                }
                let crosses_page = (row_slot + slots).is_multiple_of(layout.slots_per_page());
                if crosses_page && layout.row_of(next, mode) != (at, row_slot + slots) {
                    break;
                }
            }
            if self.read_cache.is_on() {
                self.counters.front.cache_misses += slots as u64;
            }
            let purpose = Purpose::HostRead {
                id,
                first: done,
                slots: slots as u8,
                row_slot: row_slot as u8,
                bytes: bytes_between(&command, layout, first + done as u64, slots),
            };
            done += slots;
            let state = self.commands.get(id);
            state.done = done;
            state.pending += 1;
            if let Some(read) = self.reader_of(at)
                && self.join_read(job, purpose, wanted, read, ports)
            {
                continue;
            }
            self.rows.started(at, job);
            self.start_read(now, job, purpose, Priority::Host, at, wanted, ports);
        }
        self.finish_if_done(id, None, ports);
        true
    }

    /// A page row of read `id` has ended.
    pub(crate) fn host_read_done<P: Ports<Record = Record>>(
        &mut self,
        id: CommandId,
        job: u32,
        ok: bool,
        ports: &mut P,
    ) {
        let command = self.commands.get(id);
        command.pending -= 1;
        if !ok {
            command.status = Status::Uncorrectable;
        }
        if command.pending == 0 && command.done < command.slots {
            // It waits for a job, and what comes next may need none.
            ports.waited(id, Tag(job));
        }
        self.finish_if_done(id, Some(Tag(job)), ports);
    }

    fn finish_if_done<P: Ports<Record = Record>>(
        &mut self,
        id: CommandId,
        last: Option<Tag>,
        ports: &mut P,
    ) {
        let command = self.commands.get(id);
        if command.done == command.slots && command.pending == 0 {
            let Command {
                command, status, ..
            } = *command;
            self.commands.table[id.0 as usize] = None;
            ports.complete(command, status, last);
        }
    }

    /// Goes on with the writes and trims that wait, in order, as far as they get.
    pub(crate) fn resume_writes<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.map_cache.is_on() {
            self.merge_map(now, ports);
        }
        while let Some(id) = self.commands.next_stalled() {
            if let Progress::Stalled(wait) = self.advance_write(now, id, ports) {
                self.commands.stall(id, wait, ports);
                // It may wait for a job that another one holds; that one goes on.
                if self.commands.holds_read(id) || self.commands.stalled_merged.is_empty() {
                    return;
                }
            }
        }
        self.commands.wait_for(None, ports);
    }

    /// Moves a write or trim on.
    fn advance_write<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        ports: &mut P,
    ) -> Progress {
        loop {
            let command = *self.commands.get(id);
            if command.done == command.slots || command.status != Status::Ok {
                self.commands.leave_queue(id, ports);
                let c = &command.command;
                if command.status == Status::Ok
                    && c.op == HostOp::Write
                    && self.durable.waits_for_program(c.fua)
                {
                    self.wait_until_safe(now, id, ports);
                    return Progress::Waiting;
                }
                self.end_command(id, command.status, ports);
                return Progress::Ended;
            }
            let lpn = command.first + command.done as u64;
            if !self.map.has_room(1) {
                return Progress::Stalled(Wait::Overlay);
            }
            if !self.space.read_only && self.map_is_crowded(now, ports) {
                if !self.map_cache.waits_for_space || !self.is_full() {
                    return Progress::Stalled(Wait::Map);
                }
                self.fail_write(now, id, Status::NoSpace, ports);
                continue;
            }
            if self.map_cache.is_on() {
                let c = &command.command;
                let slot_bytes = self.config.geometry.slot_bytes as u64;
                let end = (c.offset_bytes + c.len_bytes as u64) / slot_bytes;
                let empties = c.op == HostOp::Trim && self.empties_region(lpn, end);
                if !empties && !self.map_ready(now, id, lpn, ports) {
                    self.commands.leave_queue(id, ports);
                    return Progress::Waiting;
                }
            }
            let slot_bytes = self.config.geometry.slot_bytes;
            let bytes = bytes_between(&command.command, &self.layout, lpn, 1);
            let partial = bytes < slot_bytes;
            if command.command.op == HostOp::Trim {
                // Only whole slots can be forgotten.
                if partial {
                    self.commands.get(id).done += 1;
                    continue;
                }
                let pages = self.trim_some(&command, ports.sequence());
                ports.trimmed(Lpn(lpn), pages);
                self.commands.get(id).done += pages;
                self.resume_reads(now, ports);
                continue;
            }
            if self.space.read_only {
                self.fail_write(now, id, Status::ReadOnly, ports);
                continue;
            }
            if command.done == 0 && command.slots > 1 && !self.map_cache.is_on() {
                self.read_last_slot(now, id, ports);
            }
            // Only a write in part asks where the old version lies.
            let run = partial.then(|| self.map.lookup(Lpn(lpn), 1));
            if run.is_some_and(|run| run.lost) {
                self.fail_write(now, id, Status::Uncorrectable, ports);
                continue;
            }
            let old = run.and_then(|run| run.ppa);
            if let Some(buf) =
                old.and_then(|ppa| self.write_buffers[StreamId::Host as usize].open_slot(ppa))
            {
                ports.data_in(id, command.done, 1, buf);
                self.slot_written(now, id, lpn, ports);
                self.counters.merged_in_place += 1;
                self.counters.host_bytes_written += u64::from(bytes);
                continue;
            }
            let kept = old.map(|ppa| self.kept(now, id, lpn, ppa, true, ports));
            match kept {
                None | Some(Kept::Here(_) | Kept::Read(_)) => {}
                Some(Kept::Coming) => {
                    self.commands.leave_queue(id, ports);
                    return Progress::Waiting;
                }
                Some(Kept::Lost) => {
                    self.fail_write(now, id, Status::Uncorrectable, ports);
                    continue;
                }
                Some(Kept::NoJob) => {
                    // What it holds of its last slot may be all that others wait for.
                    self.let_go(now, id, 1, ports);
                    self.commands.want_job = true;
                    return Progress::Stalled(Wait::ReadBuffer);
                }
            }
            // A write in part that has read what it keeps goes on: a job holds that.
            if let Some(wait) = self.waits_for_cleaning(matches!(kept, Some(Kept::Read(_)))) {
                return Progress::Stalled(wait);
            }
            let slot = match self.write_buffers[StreamId::Host as usize].allocate() {
                Ok(slot) => slot,
                Err(Refused::Full) => return Progress::Stalled(Wait::Buffer),
                Err(Refused::NeedsBlock) => {
                    self.space.host_waits = !self.open_superblock(now, StreamId::Host);
                    if self.space.host_waits {
                        if !self.is_full() {
                            return Progress::Stalled(Wait::Superblock);
                        }
                        self.space.host_waits = false;
                        self.fail_write(now, id, Status::NoSpace, ports);
                    }
                    continue;
                }
            };
            if let Some(Kept::Here(buf) | Kept::Read(buf)) = kept {
                ports.copy(buf, slot.buf);
            }
            ports.data_in(id, command.done, 1, slot.buf);
            self.place_slot(Lpn(lpn), slot.ppa);
            self.slot_written(now, id, lpn, ports);
            self.counters.host_slots_written += 1;
            self.counters.host_bytes_written += u64::from(bytes);
            self.pace();
            self.start_programs(now, StreamId::Host, &slot, ports);
        }
    }

    /// Command `id`, which is no read, completes.
    fn end_command<P: Ports<Record = Record>>(
        &mut self,
        id: CommandId,
        status: Status,
        ports: &mut P,
    ) {
        let command = self.commands.get(id).command;
        self.commands.table[id.0 as usize] = None;
        ports.complete(command, status, None);
    }

    /// The next slot of write `id`, which is `lpn`, is in the write buffer.
    #[inline]
    fn slot_written<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        ports: &mut P,
    ) {
        if let Some(job) = self.commands.merges.written(lpn) {
            self.release_read(now, job, ports);
        }
        let command = self.commands.get(id);
        let end = (command.done != 0) as usize;
        command.done += 1;
        if command.merges[end] != merge::NONE {
            // Of a slot between the ends nothing is kept.
            let last = command.done == command.slots;
            if end == 0 || last {
                self.let_go(now, id, end, ports);
            }
        }
        if self.read_cache.is_on() {
            self.read_cache.forget(lpn, &mut self.counters.front);
        }
    }

    /// Command `id`, which has waited for the map, goes on.
    pub(crate) fn go_on<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        ports: &mut P,
    ) {
        if self.commands.get(id).command.op == HostOp::Read {
            self.advance_read(now, id, ports);
        } else if let Progress::Stalled(wait) = self.advance_write(now, id, ports) {
            self.commands.stall(id, wait, ports);
        }
    }

    /// Trims pages of `command` from the next on, within one region of the map; returns how many, or
    /// zero when none can be.
    fn trim_some(&mut self, command: &Command, sequence: u64) -> u32 {
        let c = &command.command;
        let slot_bytes = self.config.geometry.slot_bytes as u64;
        let first = command.first + command.done as u64;
        let mut end = (c.offset_bytes + c.len_bytes as u64) / slot_bytes;
        if self.map_cache.is_on() && !self.empties_region(first, end) {
            end = end.min(self.map_cache.reach(first));
        }
        let blocks = &mut self.blocks;
        let pages = self.map.trim(first, end, sequence, |block, pages| {
            blocks.row_mut(block).valid_slots -= pages;
        });
        let jobs = &mut self.jobs;
        let end = first + pages as u64;
        self.commands
            .merges
            .trimmed(first, end, |job| jobs.release(job));
        if self.map_cache.is_on() {
            self.clear_map(first, first + pages as u64);
        }
        if self.read_cache.is_on() {
            let end = first + pages as u64;
            self.read_cache
                .forget_all(first, end, &mut self.counters.front);
        }
        pages
    }

    /// Write `id` cannot go on.
    fn fail_write<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        id: CommandId,
        status: Status,
        ports: &mut P,
    ) {
        self.commands.get(id).status = status;
        self.let_go(now, id, 0, ports);
        self.let_go(now, id, 1, ports);
    }
}

/// Bytes that `command` asks for in `slots` logical pages from `lpn` on.
#[inline]
fn bytes_between(command: &HostCommand, layout: &Layout, lpn: u64, slots: u32) -> u32 {
    let slot_bytes = layout.geometry.slot_bytes as u64;
    let start = lpn * slot_bytes;
    let end = start + slots as u64 * slot_bytes;
    let command_end = command.offset_bytes + command.len_bytes as u64;
    (end.min(command_end) - start.max(command.offset_bytes)) as u32
}

/// The codewords of logical page `lpn` that `command` touches, lowest bit first.
#[inline]
fn wanted_codewords(command: &HostCommand, layout: &Layout, lpn: u64) -> u64 {
    let slot_bytes = layout.geometry.slot_bytes as u64;
    let start = lpn * slot_bytes;
    let end = command.offset_bytes + command.len_bytes as u64;
    if command.offset_bytes <= start && end >= start + slot_bytes {
        return u64::MAX >> (64 - layout.codewords_per_slot());
    }
    let from = layout.codewords_in(command.offset_bytes.saturating_sub(start));
    let last = layout.codewords_in((end - start).min(slot_bytes) - 1);
    (u64::MAX >> (63 - (last - from))) << from
}
