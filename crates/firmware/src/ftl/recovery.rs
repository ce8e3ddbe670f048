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
//! Lost are commands, queues, reads and moves under way, what else was asked of relocation, and the map.
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
//! `Firmware::dump` ends a firmware and leaves the dump alone. A new firmware takes it on and reads
//! flash, a superblock at a time (`Firmware::begin_recovery`, `Firmware::recover_superblock`):
//! nothing that is not in the dump or on flash can come through. A recovery writes nothing, so a
//! power cut in the middle of one leaves the dump as it was.

use firstread_core::{Arena, BlockId, Ports, Ppa, Spare};

use crate::observe::{BlockRow, BlockUse};
use crate::store::Store;

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

/// A recovery under way.
#[derive(Debug)]
pub struct Recovering {
    recovery: Recovery,
    /// The superblock whose table of contents is read next.
    next: u32,
}

impl Recovering {
    /// Of what was dumped, as far as `recovery` knows.
    pub(crate) fn new(recovery: Recovery) -> Recovering {
        Recovering { recovery, next: 0 }
    }

    /// What the recovery had to do.
    pub fn done(self) -> Recovery {
        self.recovery
    }
}

impl<M: Arena> Store<M> {
    /// Reads the table of contents of the next superblock; after the last one, takes on what was dumped. True
    /// while there is more to do.
    pub(crate) fn recover_superblock<P: Ports>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        let block = BlockId(recovering.next);
        if block.0 < self.base.blocks.len() {
            recovering.next += 1;
            self.read_contents(block, &mut recovering.recovery, ports);
            return true;
        }
        self.take_dumped(&mut recovering.recovery, ports);
        self.place.count_valid(&self.table, &mut self.base);
        false
    }

    /// Reads the table of contents of `block`, if it holds what has to be found.
    fn read_contents<P: Ports>(&mut self, block: BlockId, recovery: &mut Recovery, ports: &P) {
        let base = &self.base;
        let BlockRow {
            usage,
            mode,
            holds_map,
            ..
        } = *base.blocks.row(block);
        if !matches!(usage, BlockUse::Open | BlockUse::Full) {
            return;
        }
        if self.table.directory.is_on() && !holds_map && usage == BlockUse::Full {
            return;
        }
        let g = base.config.geometry;
        let slots = base.slots_of(mode);
        recovery.superblocks += 1;
        recovery.rows_read += match self.place.begun(block) {
            Some(wordlines) => u64::from(wordlines) * u64::from(mode.bits()) * u64::from(g.dies()),
            None => (u64::from(slots) * ENTRY_BYTES).div_ceil(self.row_bytes()),
        };
        if self.table.map.is_computed(block) {
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
        let g = &self.base.config.geometry;
        u64::from(g.slots_per_row()) * u64::from(g.slot_bytes)
    }

    /// Maps the slots that were dumped, and counts the bytes of the dump.
    fn take_dumped<P: Ports>(&mut self, recovery: &mut Recovery, ports: &P) {
        for i in 0.. {
            let Some(held) = self.place.dumped_at(i) else {
                break;
            };
            if let Some((ppa, buf)) = held {
                recovery.dumped_slots += 1;
                if let Some(spare) = ports.buffered(buf) {
                    self.found(spare, ppa, ports);
                }
            }
        }
        let base = &self.base;
        let g = base.config.geometry;
        let dumped = recovery.dumped_slots + u64::from(recovery.dumped_map_pages);
        // The sums that are to become parity, as far as they have got.
        let lines = self.place.lines();
        let bits = u64::from(base.config.mode.bits());
        let rows = lines as u64 * bits * u64::from(g.stripe_parity);
        recovery.dumped_bytes = dumped * (u64::from(g.slot_bytes) + ENTRY_BYTES)
            + rows * self.row_bytes()
            + u64::from(base.blocks.len()) * ROW_BYTES
            + LEVELS_BYTES;
        recovery.rows_read += recovery.dumped_bytes.div_ceil(self.row_bytes());
    }

    /// The slot at `ppa` holds what `spare` says: maps it, if that is the last version so far.
    fn found<P: Ports>(&mut self, spare: Spare, ppa: Ppa, ports: &P) {
        let Spare { lpn, sequence } = spare;
        // A spare area whose program failed may name any page.
        let Some(recovers) = self.table.recovers(lpn, sequence) else {
            return;
        };
        let at = self.table.at(lpn);
        let other = at.and_then(|at| match self.buffered(at) {
            Some(buf) => ports.buffered(buf),
            None => ports.stored(at),
        });
        let is_leaving = |ppa: Ppa| self.base.blocks.row(ppa.block()).leaving;
        let is_later = |other: Spare| match other.sequence == sequence {
            true => at.is_some_and(is_leaving) && !is_leaving(ppa),
            false => other.sequence < sequence,
        };
        if recovers && other.is_none_or(is_later) {
            // What is found was set before the cut: there is room (`Map::forget_places`).
            self.table.set(lpn, ppa);
        }
    }
}
