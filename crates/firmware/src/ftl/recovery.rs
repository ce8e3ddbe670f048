//! Recovery: what a power cut leaves, and how the drive comes back from it.
//!
//! Flash keeps its contents. Each slot has its logical page and a sequence number in the spare area,
//! and a full superblock repeats them in its last rows, its table of contents. Capacitors hold the
//! controller up for one **emergency dump**, into blocks that are kept erased for it: the slots of the
//! write buffers that no program has finished, with the buffers' descriptors; the table of
//! superblocks; the tables of read levels, a few KiB; and the tail of the journal. The **journal**
//! holds what flash cannot tell: trims and losses. Its merged contents are the entries of that kind
//! in the map's overlay, which is where they stay here.
//!
//! Lost are commands, queues, reads and moves under way, what else was asked of the mover, and the map.
//! A program that was on a die has torn its wordline: nothing of it can be read, and its data, still
//! in the buffer, are written elsewhere as after a program that failed. Programs that waited are
//! issued again, and the open superblocks filled further. An erase is done again, on every die.
//!
//! The map is made anew from the tables of contents: of each page the slot with the highest sequence
//! number counts, unless the journal says that the page was trimmed or lost since. A copy has the
//! number of its original, and either will do; but what has left the superblock that is being emptied
//! must not be found there, or cuts would undo what cleaning does. So the dump names that superblock,
//! and it is emptied further. Where memory does not
//! hold the whole map, the map lies on flash itself, but for the changes in the dump: then its
//! directory alone is made anew, from the tables of contents of its superblocks.
//!
//! What was kept to read it sooner is lost: the read cache, what is read ahead, and pages of the map
//! that were not changed.

use alloc::vec;
use alloc::vec::Vec;

use firstread_core::{Arena, BlockId, Lpn, Ns, Ports, Ppa, Spare};

use super::Place;
use crate::Firmware;
use crate::job::{Job, Purpose};
use crate::log::Record;
use crate::observe::BlockUse;
use crate::rebuild::Rebuilds;

/// Bytes of a slot in a table of contents: logical page and sequence number.
const ENTRY_BYTES: u64 = 16;
/// Bytes of a superblock in the dumped table of superblocks.
const ROW_BYTES: u64 = 32;
/// Bytes of the tables of read levels, an upper bound of what any scheme keeps over a loss of power.
const LEVELS_BYTES: u64 = 16 << 10;

/// What a recovery had to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recovery {
    /// Slots of the write buffers that were dumped.
    pub dumped_slots: u64,
    /// Pages of the map that were dumped, the changes of a page that was not in memory counted as
    /// one.
    pub dumped_map_pages: u32,
    /// Bytes dumped in all.
    pub dumped_bytes: u64,
    /// Superblocks whose contents were read.
    pub superblocks: u32,
    /// Page rows read: tables of contents, and all rows of superblocks that have none yet.
    pub rows_read: u64,
    /// Programs that were on a die.
    pub torn_programs: u32,
    /// Programs that waited for theirs and were issued again.
    pub waiting_programs: u32,
    /// Whether a superblock was being erased.
    pub erasing: bool,
}

impl<M: Arena> Firmware<M> {
    /// Power was cut and is back: everything under way is gone. Makes the map anew; nothing is issued
    /// before [`Firmware::restart`]. Needs room for a change of the map: where
    /// [`Firmware::overlay_is_short`], hand over more before.
    pub fn recover<P: Ports<Record = Record>>(&mut self, ports: &mut P) -> Recovery {
        let mut recovery = Recovery {
            erasing: self.space.erasing.is_some(),
            ..Recovery::default()
        };
        self.forget_work(&mut recovery, ports);
        self.remap(&mut recovery, ports);
        self.count_valid();
        #[cfg(debug_assertions)]
        self.audit_if_small();
        recovery
    }

    /// Goes on after [`Firmware::recover`]. Events of before are void; those that follow are of
    /// operations issued from here on.
    pub fn restart<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.gc.watch(self.space.free);
        self.space.is_short = true;
        if let Some((block, _, has_failed)) = self.space.erasing.take() {
            // The one that was cut short has worn the cells too.
            self.blocks.row_mut(block).pe_cycles += 1;
            self.erase_dies(now, block, has_failed, ports);
        }
        for Job { purpose, at, .. } in core::mem::take(&mut self.waiting) {
            self.space.programs += 1;
            self.start_change(now, purpose, at, ports);
        }
        if let Some(probe) = self.probe.take() {
            self.read_probe(now, probe, ports);
        }
        self.mover.again = true;
    }

    /// Forgets what was under way, but for the programs that had not begun.
    fn forget_work<P: Ports<Record = Record>>(&mut self, recovery: &mut Recovery, ports: &mut P) {
        let mut waits = vec![false; self.jobs.len() as usize];
        let jobs = &self.jobs;
        let waiting = &mut self.waiting;
        self.dies.clear(jobs, |job| {
            waits[job as usize] = true;
            if let Purpose::Program { .. } = jobs[job].purpose {
                waiting.push(jobs[job]);
            }
        });
        self.mover.forget();
        self.rebuilds = Rebuilds::default();
        for job in (0..self.jobs.len()).filter(|&job| !waits[job as usize]) {
            let Job { purpose, at, .. } = self.jobs[job];
            if let Purpose::Program { stream, line } = purpose {
                self.rescue_part(stream, at.die, line, ports);
                recovery.torn_programs += 1;
            }
        }
        recovery.waiting_programs = self.waiting.len() as u32;
        let codewords = self.config.geometry.codewords_per_slot();
        let lost = self.ahead.forget(&self.jobs) / codewords;
        self.counters.front.ahead_wasted += lost as u64;
        self.read_cache.clear(&mut self.counters.front);
        self.jobs.clear(self.config.max_reads);
        self.commands.clear();
        self.space.programs = 0;
        self.space.reserved = 0;
        self.space.host_waits = false;
        self.gc.holds_host = false;
        for block in (0..self.blocks.len()).map(BlockId) {
            let row = self.blocks.row_mut(block);
            row.pins = 0;
        }
    }

    /// Makes the map anew from flash, the dump and the journal.
    fn remap<P: Ports<Record = Record>>(&mut self, recovery: &mut Recovery, ports: &P) {
        let blocks = &self.blocks;
        let is_filled = |block| blocks.row(block).usage == BlockUse::Full && ports.is_filled(block);
        let map_on_flash = self.map_cache.is_on();
        if map_on_flash {
            recovery.dumped_map_pages = self.map_cache.forget(is_filled);
        } else {
            debug_assert!(self.map.has_room(1), "the overlay is short");
            self.map.forget_places(is_filled);
        }
        let g = self.config.geometry;
        let row_bytes = g.slots_per_row() as u64 * g.slot_bytes as u64;
        for block in (0..self.blocks.len()).map(BlockId) {
            let row = *self.blocks.row(block);
            if !matches!(row.usage, BlockUse::Open | BlockUse::Full) {
                continue;
            }
            if map_on_flash && !row.holds_map && row.usage == BlockUse::Full {
                continue;
            }
            let slots = self.slots_of(row.mode);
            recovery.superblocks += 1;
            let filling = self.write_buffers.iter().find_map(|b| b.begun(block));
            recovery.rows_read += match filling {
                Some(wordlines) => wordlines as u64 * row.mode.bits() as u64 * g.dies() as u64,
                None => (slots as u64 * ENTRY_BYTES).div_ceil(row_bytes),
            };
            if ports.is_filled(block) {
                continue;
            }
            for ppa in (0..slots).map(|slot| Ppa::new(block, slot)) {
                if let Some(spare) = ports.stored(ppa) {
                    self.found(spare, ppa, ports);
                }
            }
        }
        let buffers = self.write_buffers.iter().flat_map(|b| b.held());
        let held: Vec<_> = buffers.chain(self.rescue.held()).collect();
        recovery.dumped_slots = held.len() as u64;
        for (ppa, buf) in held {
            if let Some(spare) = ports.buffered(buf) {
                self.found(spare, ppa, ports);
            }
        }
        let dumped = recovery.dumped_slots + recovery.dumped_map_pages as u64;
        // The sums that are to become parity, as far as they have got.
        let lines: usize = self.write_buffers.iter().map(|b| b.lines()).sum();
        let rows = (lines as u64 * self.config.mode.bits() as u64) * g.stripe_parity as u64;
        recovery.dumped_bytes = dumped * (g.slot_bytes as u64 + ENTRY_BYTES)
            + rows * row_bytes
            + self.blocks.len() as u64 * ROW_BYTES
            + LEVELS_BYTES;
        recovery.rows_read += recovery.dumped_bytes.div_ceil(row_bytes);
    }

    /// The slot at `ppa` holds what `spare` says: maps it, if that is the last version so far.
    fn found<P: Ports<Record = Record>>(&mut self, spare: Spare, ppa: Ppa, ports: &P) {
        let Spare { lpn, sequence } = spare;
        // A spare area whose program failed may name any page.
        let (at, recovers) = match (self.map_cache.is_on(), self.map_cache.is_map(lpn)) {
            (true, true) => (self.map_cache.at(lpn), self.map_cache.recovers(lpn)),
            (false, false) => (self.map.at(lpn), self.map.recovers(lpn, sequence)),
            _ => return,
        };
        let other = at.and_then(|at| match self.buffered(at) {
            Some(buf) => ports.buffered(buf),
            None => ports.stored(at),
        });
        let is_leaving = |ppa: Ppa| self.blocks.row(ppa.block()).leaving;
        let is_later = |other: Spare| match other.sequence == sequence {
            true => at.is_some_and(is_leaving) && !is_leaving(ppa),
            false => other.sequence < sequence,
        };
        if recovers && other.is_none_or(is_later) {
            if self.map_cache.is_on() {
                self.map_cache.set(lpn, Some(ppa));
            } else {
                // What is found was set before the cut: there is room (`Map::forget_places`).
                self.map.set(lpn, Place::At(ppa));
            }
        }
    }

    /// Counts the valid slots of every superblock anew.
    fn count_valid(&mut self) {
        for block in (0..self.blocks.len()).map(BlockId) {
            self.blocks.row_mut(block).valid_slots = 0;
        }
        for page in 0..self.map_cache.len() as u64 {
            if let Some(ppa) = self.map_cache.at(Lpn(self.map.capacity() + page)) {
                self.blocks.row_mut(ppa.block()).valid_slots += 1;
            }
        }
        let mut lpn = 0;
        while lpn < self.map.capacity() {
            let run = self.map.lookup(Lpn(lpn), u32::MAX);
            if let Some(ppa) = run.ppa {
                self.blocks.row_mut(ppa.block()).valid_slots += run.pages;
            }
            lpn += run.pages as u64;
        }
    }
}
