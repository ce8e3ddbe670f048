//! Commands in flight and commands that wait.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use firstread_core::{CommandId, HostCommand, Layout, Ports, Status, Wait};

use super::merges::{self, Merges};
use crate::ftl::place::HostStreamSet;
use crate::policy::page_type::Wish;

/// One command in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) command: HostCommand,
    /// First logical page that the command touches, in whole or in part.
    pub(super) first: u64,
    /// Number of logical pages it touches.
    pub(super) slots: u32,
    /// Number of slots handled so far.
    pub(super) done: u32,
    /// Jobs in flight that the command waits for.
    pub(super) pending: u32,
    pub(super) status: Status,
    /// The merges of its first and last slot, if it writes them in part and their old version is read from
    /// flash.
    pub(super) merges: [u32; 2],
    /// How hot the slots of the part are that it writes, as slots are `done` up to the end of this part.
    pub(super) wish: Option<Wish>,
    pub(super) part_end: u32,
    /// Streams of the host that its slots have gone to, where there are several.
    pub(super) streams: HostStreamSet,
    /// Whether it waits in the queue of blocked writes.
    pub(super) is_stalled: bool,
}

/// All commands in flight.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    pub(super) table: Box<[Option<Command>]>,
    /// Reads that wait for a job.
    pub(super) stalled_reads: VecDeque<CommandId>,
    /// Partial writes whose old version has been read. They go first, because a job holds the data.
    pub(super) stalled_merged: VecDeque<CommandId>,
    /// Writes and trims that wait for buffers or for each other.
    stalled_writes: VecDeque<CommandId>,
    pub(super) merges: Merges,
    /// Slots whose old version was held or being read when a partial write, or padding, began to wait.
    pub(super) merges_at_wait: u32,
    /// What the first blocked write or trim waits for.
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
            merges: Merges::new(max_reads, max_commands),
            merges_at_wait: 0,
            wait: None,
        }
    }
    /// `command` is in flight. It touches `slots` logical pages from `first` on.
    #[inline]
    pub(super) fn begin(&mut self, command: HostCommand, first: u64, slots: u32) {
        self.table[command.id.0 as usize] = Some(Command {
            command,
            first,
            slots,
            done: 0,
            pending: 0,
            status: Status::Ok,
            merges: [merges::NONE; 2],
            wish: None,
            streams: HostStreamSet::default(),
            part_end: 0,
            is_stalled: false,
        });
    }
    pub(super) fn get(&mut self, id: CommandId) -> &mut Command {
        self.table[id.0 as usize]
            .as_mut()
            .expect("an event names a command in flight")
    }
    /// Whether any is in flight. Looks at all of them.
    pub(super) fn are_any(&self) -> bool {
        self.table.iter().any(Option::is_some)
    }
    pub(crate) fn has_stalled_writes(&self) -> bool {
        !self.stalled_writes.is_empty() || !self.stalled_merged.is_empty()
    }
    pub(super) fn a_merge_has_ended(&self) -> bool {
        self.merges.used() < self.merges_at_wait
    }
    /// The blocked write or trim to continue next.
    pub(super) fn next_stalled(&mut self) -> Option<CommandId> {
        let merged = self.stalled_merged.pop_front();
        merged.or_else(|| self.stalled_writes.pop_front())
    }
    /// Whether the old version of a slot that write `id` changes in part has been read, and a job holds it.
    pub(super) fn holds_read(&mut self, id: CommandId) -> bool {
        let merges = self.get(id).merges;
        self.merges.is_any_read(merges)
    }
    /// Slots whose old version is being read, or was read for a write that has not taken effect, other than those that
    /// write `id` needs.
    pub(super) fn others_merge(&mut self, id: CommandId) -> u32 {
        let merges = self.get(id).merges;
        let own = merges.iter().filter(|&&merge| merge != merges::NONE);
        self.merges.used() - own.count() as u32
    }
    /// Write or trim `id`, which was being handled, waits for `wait` ahead of all others of its kind.
    pub(super) fn stall<P: Ports>(&mut self, id: CommandId, wait: Wait, ports: &mut P) {
        if self.holds_read(id) {
            self.stalled_merged.push_front(id);
        } else {
            self.stalled_writes.push_front(id);
        }
        self.wait_for(Some(wait), ports);
        self.note_stall(id, ports);
    }
    /// Write or trim `id` waits behind all others of its kind.
    pub(super) fn stall_last<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        self.stalled_writes.push_back(id);
        self.note_stall(id, ports);
    }
    pub(super) fn note_stall<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        if !core::mem::replace(&mut self.get(id).is_stalled, true) {
            ports.write_waits(id);
        }
    }
    /// Write or trim `id` leaves the queue of blocked writes.
    pub(super) fn leave_queue<P: Ports>(&mut self, id: CommandId, ports: &mut P) {
        if core::mem::take(&mut self.get(id).is_stalled) {
            ports.write_goes_on(id);
        }
    }
    /// The first blocked write or trim waits for `wait`.
    pub(super) fn wait_for<P: Ports>(&mut self, wait: Option<Wait>, ports: &mut P) {
        if self.wait != wait {
            self.wait = wait;
            ports.writes_wait_for(wait);
        }
    }
}

/// Bytes of `command` in `slots` logical pages from `lpn` on.
#[inline]
pub(super) fn bytes_between(command: &HostCommand, layout: &Layout, lpn: u64, slots: u32) -> u32 {
    let slot_bytes = layout.geometry.slot_bytes as u64;
    let start = lpn * slot_bytes;
    let end = start + slots as u64 * slot_bytes;
    let command_end = command.offset_bytes + command.len_bytes as u64;
    (end.min(command_end) - start.max(command.offset_bytes)) as u32
}

/// Codewords of logical page `lpn` that `command` touches, lowest bit first.
#[inline]
pub(super) fn wanted_codewords(command: &HostCommand, layout: &Layout, lpn: u64) -> u64 {
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
