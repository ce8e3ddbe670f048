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
//!
//! [`Firmware::dump`] ends a firmware and leaves the dump alone. A new firmware takes it on and reads
//! flash, a superblock at a time ([`Firmware::begin_recovery`], [`Firmware::recover_superblock`]):
//! nothing that is not in the dump or on flash can come through. A recovery writes nothing, so a
//! power cut in the middle of one leaves the dump as it was.

use alloc::collections::VecDeque;

use firstread_core::{Arena, BlockId, CellMode, Lpn, Ns, PageAddr, Ports, Ppa, SenseMode, Spare};

use super::mover::Evacuation;
use super::{BadBlocks, Gc, Map, MapCache, Owner, Place, Rescue, STREAMS, WriteBuffer};
use crate::Firmware;
use crate::job::{Job, Purpose};
use crate::log::Record;
use crate::observe::{BlockMonitor, BlockRow, BlockUse, Counters};
use crate::policy::read_levels::{AnyReadLevels, Probe, ReadLevels};
use crate::policy::retry::AnyRetry;

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
    /// Whether a superblock was being emptied or erased into another cell mode.
    pub converting: bool,
    /// Whether a background read of the axis `read_levels` was under way, which is read again.
    pub probing: bool,
    /// Reads that were lost with soft senses under way.
    pub soft_reads: u32,
    /// Reads for parity that were lost.
    pub rebuild_reads: u32,
}

/// Programs that had not begun when power was cut, in the order in which they are issued again.
pub(crate) type Waiting = VecDeque<(Purpose, PageAddr)>;

/// What a power cut leaves beside flash: the emergency dump and the journal. Also counters, which a
/// drive keeps over its life.
#[derive(Debug)]
pub struct Dump<M> {
    /// The journal's trims and losses, over what lay there before. No other places, unless the map
    /// lies on flash: then this is what is there and in the dump.
    map: Map<M>,
    /// Changes of the map, where it lies on flash; which of its pages lie nowhere. No other places.
    map_cache: MapCache,
    /// The table of superblocks, without valid slots and reads under way.
    blocks: BlockMonitor,
    write_buffers: [WriteBuffer; STREAMS],
    rescue: Rescue,
    bad: BadBlocks,
    /// Superblocks opened so far, and whether the drive has reached its end of life.
    opened: u64,
    read_only: bool,
    /// The superblock being erased, with dies that have not ended and whether one has failed.
    erasing: Option<(BlockId, u16, bool)>,
    /// The superblock being emptied.
    emptying: Option<Evacuation>,
    /// The pace of garbage collection.
    gc: Gc,
    /// The tables of read levels, with the background read that they wait for.
    levels: AnyReadLevels,
    probe: Option<Probe>,
    /// What is known of short senses.
    retry: AnyRetry,
    waiting: Waiting,
    counters: Counters,
    recovery: Recovery,
}

/// A recovery under way.
#[derive(Debug)]
pub struct Recovering {
    recovery: Recovery,
    /// The superblock whose table of contents is read next.
    next: u32,
}

impl<M: Arena> Firmware<M> {
    /// Power is cut: what is left of the firmware, where flash is as the cut has left it. The recovery
    /// needs room for a change of the map: where [`Firmware::overlay_is_short`], hand over more memory
    /// before.
    pub fn dump<P: Ports<Record = Record>>(mut self, ports: &mut P) -> Dump<M> {
        let mut recovery = Recovery {
            erasing: self.space.erasing.is_some(),
            converting: self.is_converting(),
            probing: self.probe.is_some(),
            ..Recovery::default()
        };
        let codewords = self.config.geometry.codewords_per_slot();
        let ahead_slots = self.ahead.under_way(&self.jobs) / codewords;
        self.counters.front.ahead_wasted += u64::from(ahead_slots) + self.read_cache.unused();
        let waiting = &mut self.waiting;
        self.dies.each_waiting(&mut self.jobs, |job| {
            if let Purpose::Program { .. } = job.purpose {
                waiting.push_back((job.purpose, job.at));
                // What still is a program after this was on a die.
                job.purpose = Purpose::Free;
            }
        });
        for job in 0..self.jobs.len() {
            let Job {
                purpose, at, sense, ..
            } = self.jobs[job];
            match purpose {
                Purpose::Program { stream, line } => {
                    self.rescue_part(stream, at.die, line, ports);
                    recovery.torn_programs += 1;
                }
                Purpose::Rebuild => recovery.rebuild_reads += 1,
                Purpose::Free | Purpose::Erase { .. } | Purpose::Probe => {}
                _ => recovery.soft_reads += u32::from(sense != SenseMode::Hard),
            }
        }
        recovery.waiting_programs = self.waiting.len() as u32;
        if self.map_cache.is_on() {
            recovery.dumped_map_pages = self.map_cache.forget(|_| false);
        } else {
            debug_assert!(self.map.has_room(1), "the overlay is short");
            self.map.forget_places();
        }
        for block in (0..self.blocks.len()).map(BlockId) {
            let row = self.blocks.row_mut(block);
            (row.valid_slots, row.pins) = (0, 0);
        }
        self.gc.holds_host = false;
        Dump {
            map: self.map,
            map_cache: self.map_cache,
            blocks: self.blocks,
            write_buffers: self.write_buffers,
            rescue: self.rescue,
            bad: self.bad,
            opened: self.space.opened(),
            read_only: self.space.read_only,
            erasing: self.space.erasing,
            emptying: self.mover.current.map(Evacuation::restarted),
            gc: self.gc,
            levels: self.levels,
            probe: self.probe,
            retry: self.retry,
            waiting: self.waiting,
            counters: self.counters,
            recovery,
        }
    }

    /// Whether a superblock is being emptied or erased into another mode.
    fn is_converting(&self) -> bool {
        let current = self
            .mover
            .current
            .is_some_and(|e| e.owner == Owner::Convert);
        let erased_into = |(block, ..): (BlockId, u16, bool)| self.blocks.row(block).mode;
        current
            || self
                .space
                .erasing
                .map(erased_into)
                .is_some_and(|mode| mode != self.config.mode)
    }

    /// Power is back: this firmware, which is a new one of the same configuration, takes on `dump`.
    /// Nothing else is asked of it before the recovery has come to its end and [`Firmware::restart`].
    pub fn begin_recovery(&mut self, dump: Dump<M>) -> Recovering {
        let Dump {
            map,
            map_cache,
            blocks,
            write_buffers,
            rescue,
            bad,
            opened,
            read_only,
            erasing,
            emptying,
            gc,
            levels,
            probe,
            retry,
            waiting,
            counters,
            recovery,
        } = dump;
        let slots_of = |mode: CellMode| self.config.geometry.slots_per_superblock(mode);
        self.space
            .recover(opened, read_only, erasing, &blocks, slots_of);
        self.mover.current = emptying;
        self.levels_due = levels.due();
        (self.map, self.map_cache, self.blocks, self.bad) = (map, map_cache, blocks, bad);
        (self.write_buffers, self.rescue, self.waiting) = (write_buffers, rescue, waiting);
        (self.levels, self.probe, self.retry) = (levels, probe, retry);
        (self.gc, self.counters) = (gc, counters);
        Recovering { recovery, next: 0 }
    }

    /// Reads the table of contents of the next superblock; after the last one, takes on what was
    /// dumped. True while there is more to do; then [`Recovering::done`] tells what that took.
    pub fn recover_superblock<P: Ports<Record = Record>>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        let block = BlockId(recovering.next);
        if block.0 < self.blocks.len() {
            recovering.next += 1;
            self.read_contents(block, &mut recovering.recovery, ports);
            return true;
        }
        self.take_dumped(&mut recovering.recovery, ports);
        self.count_valid();
        false
    }

    /// A whole recovery, from the dump on.
    pub fn recover<P: Ports<Record = Record>>(&mut self, dump: Dump<M>, ports: &P) -> Recovery {
        let recovering = self.begin_recovery(dump);
        self.go_through(recovering, ports)
    }

    /// The rest of a recovery.
    pub fn go_through<P: Ports<Record = Record>>(
        &mut self,
        mut recovering: Recovering,
        ports: &P,
    ) -> Recovery {
        while self.recover_superblock(&mut recovering, ports) {}
        recovering.done()
    }

    /// Goes on after a recovery. Events of before are void; those that follow are of operations
    /// issued from here on.
    pub fn restart<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.space.is_short = true;
        if let Some((block, _, has_failed)) = self.space.erasing.take() {
            // The one that was cut short has worn the cells too.
            self.blocks.row_mut(block).pe_cycles += 1;
            self.erase_dies(now, block, has_failed, ports);
        }
        while let Some((purpose, at)) = self.waiting.pop_front() {
            self.space.programs += 1;
            self.start_change(now, purpose, at, ports);
        }
        if let Some(probe) = self.probe.take() {
            self.read_probe(now, probe, ports);
        }
        self.mover.again = true;
    }

    /// Reads the table of contents of `block`, if it holds what has to be found.
    fn read_contents<P: Ports<Record = Record>>(
        &mut self,
        block: BlockId,
        recovery: &mut Recovery,
        ports: &P,
    ) {
        let BlockRow {
            usage,
            mode,
            holds_map,
            ..
        } = *self.blocks.row(block);
        if !matches!(usage, BlockUse::Open | BlockUse::Full) {
            return;
        }
        if self.map_cache.is_on() && !holds_map && usage == BlockUse::Full {
            return;
        }
        let g = self.config.geometry;
        let slots = self.slots_of(mode);
        recovery.superblocks += 1;
        let filling = self.write_buffers.iter().find_map(|b| b.begun(block));
        recovery.rows_read += match filling {
            Some(wordlines) => u64::from(wordlines) * u64::from(mode.bits()) * u64::from(g.dies()),
            None => (u64::from(slots) * ENTRY_BYTES).div_ceil(self.row_bytes()),
        };
        if self.map.is_computed(block) {
            return;
        }
        for ppa in (0..slots).map(|slot| Ppa::new(block, slot)) {
            if let Some(spare) = ports.stored(ppa) {
                self.found(spare, ppa, ports);
            }
        }
    }

    /// Bytes of a page row.
    fn row_bytes(&self) -> u64 {
        let g = &self.config.geometry;
        u64::from(g.slots_per_row()) * u64::from(g.slot_bytes)
    }

    /// Maps the slots that were dumped, and counts the bytes of the dump.
    fn take_dumped<P: Ports<Record = Record>>(&mut self, recovery: &mut Recovery, ports: &P) {
        let mut take = |firmware: &mut Self, (ppa, buf)| {
            recovery.dumped_slots += 1;
            if let Some(spare) = ports.buffered(buf) {
                firmware.found(spare, ppa, ports);
            }
        };
        for stream in 0..STREAMS {
            for i in 0..self.write_buffers[stream].len() {
                if let Some(held) = self.write_buffers[stream].held_at(i) {
                    take(self, held);
                }
            }
        }
        for i in 0..self.rescue.len() {
            take(self, self.rescue.at(i));
        }
        let g = self.config.geometry;
        let dumped = recovery.dumped_slots + u64::from(recovery.dumped_map_pages);
        // The sums that are to become parity, as far as they have got.
        let lines: usize = self.write_buffers.iter().map(|b| b.lines()).sum();
        let bits = u64::from(self.config.mode.bits());
        let rows = lines as u64 * bits * u64::from(g.stripe_parity);
        recovery.dumped_bytes = dumped * (u64::from(g.slot_bytes) + ENTRY_BYTES)
            + rows * self.row_bytes()
            + u64::from(self.blocks.len()) * ROW_BYTES
            + LEVELS_BYTES;
        recovery.rows_read += recovery.dumped_bytes.div_ceil(self.row_bytes());
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
        for (_, run) in self.map.runs() {
            if let Some(ppa) = run.ppa {
                self.blocks.row_mut(ppa.block()).valid_slots += run.pages;
            }
        }
    }
}

impl Recovery {
    /// What `recovery` had to do, which followed this one that a power cut has ended: the cut found
    /// nothing under way but what was to be issued again.
    pub fn again(self, recovery: Recovery) -> Recovery {
        Recovery {
            torn_programs: self.torn_programs,
            soft_reads: self.soft_reads,
            rebuild_reads: self.rebuild_reads,
            ..recovery
        }
    }
}

impl Recovering {
    /// What the recovery had to do.
    pub fn done(self) -> Recovery {
        self.recovery
    }
}
