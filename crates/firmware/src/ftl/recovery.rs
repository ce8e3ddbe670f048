//! Power-loss recovery: what a power cut leaves, and how the drive comes back.
//!
//! Flash keeps its contents. Each slot has its logical page and a sequence number in the spare area. A full
//! superblock repeats them in its last multi-plane pages, its table of contents. Capacitors power the
//! controller for one **emergency dump**, into blocks that are kept erased for it. The dump holds the slots
//! of the write buffers that no program has finished, with the buffers' descriptors; the table of
//! superblocks; what read levels and retries have learned; counters; and the journal. The **journal** holds
//! what flash cannot tell: trims and losses. Its merged contents are the trim and loss entries of the map's
//! overlay. This model keeps them there.
//!
//! Lost are commands, queues, reads and moves in flight, other requests to relocation, and the map. A program
//! that was running on a die has torn its wordline: nothing of it can be read. Its data are still in the
//! buffer, and are rewritten as after a failed program. Programs that waited are issued again, and open
//! superblocks continue to be filled. An interrupted erase is repeated on every die.
//!
//! The map is rebuilt from the tables of contents. For each page the slot with the highest sequence number
//! counts, unless the journal says that the page was trimmed or lost since. A copy has the number of its
//! original. Data are only copied out of full superblocks, so the newest copy lies in the superblock that became
//! full last, or in one that is still open; the dumped table of superblocks has the order. If the map fell back
//! to an older copy, power cuts would undo the work of cleaning and of promotion. The dump names the superblock
//! being emptied, and emptying continues. If memory does not hold the whole map, the map itself lies on flash, except for
//! the changes in the dump. Then only its directory is rebuilt, from the tables of contents of the map
//! superblocks.
//!
//! An **image** of the map is written when a host shuts the drive down, and a drive that was filled without being
//! simulated begins with one. A mount reads it, and only tables of contents of superblocks that became full later. Each
//! page whose place has changed since lies in one of these, in a superblock that is still open, or in the dump, so the map
//! is the same as from all tables of contents. After a power cut this model reads all of them and counts those alone.
//!
//! Cached data are lost: the read cache, read-ahead, and unchanged map pages.
//!
//! `Firmware::save` writes the dump as bytes (`format/`), and the firmware ends. A new firmware mounts the drive from
//! these bytes and reads flash, one superblock at a time (`Firmware::mount`, `Firmware::recover_superblock`). Nothing
//! survives that is not in the bytes or on flash. A recovery writes nothing, so a power cut during a recovery
//! leaves the dump as it was.

use firstread_core::{Arena, Lpn, Ports, Ppa, SenseMode, Spare, SuperblockId};

use crate::flash_store::FlashStore;
use crate::format::record;
use crate::ftl::map::MAP_ENTRY_BYTES;
use crate::observe::{SuperblockInfo, SuperblockUse};
use crate::schedule::{Jobs, Purpose};

/// Bytes per slot in a table of contents: logical page and sequence number.
const ENTRY_BYTES: u64 = 16;

/// Work done by a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recovery {
    /// Dumped slots of the write buffers.
    pub dumped_slots: u64,
    /// Dumped map pages. The changes of a page that was not in memory count as one.
    pub dumped_map_pages: u32,
    /// Bytes of the dump: what [`crate::Firmware::save`] writes.
    pub dump_bytes: u64,
    /// Bytes written when the drive ended: the dump, the slots of the write buffers, and map pages.
    pub dumped_bytes: u64,
    /// Whether an image of the map was written: the host had asked for the shutdown, and memory holds the whole map.
    pub wrote_image: bool,
    /// Bytes of the image of the map that was read. Tables of contents of superblocks that it has are not read.
    pub image_bytes: u64,
    /// Superblocks whose contents were read.
    pub superblocks: u32,
    /// Multi-plane pages read: tables of contents, and all programmed pages of superblocks that have none
    /// yet.
    pub mp_pages_read: u64,
    /// Programs that were running on a die.
    pub torn_programs: u32,
    /// Programs that waited for their die and were issued again.
    pub waiting_programs: u32,
    /// Superblocks that were being erased. Each is erased again.
    pub erasing: u32,
    /// Whether a superblock was being emptied or erased in order to change its cell mode.
    pub converting: bool,
    /// Whether a background read of axis `read_levels` was in flight. It is repeated.
    pub probing: bool,
    /// Reads with soft senses in flight that were lost.
    pub soft_reads: u32,
    /// Reads for a rebuild that were lost.
    pub rebuild_reads: u32,
    /// Slots of the host that a volatile write cache has lost.
    pub lost_slots: u32,
    /// Sections of the dump that were damaged or missing, and are learned or counted anew.
    pub lost_sections: u32,
}

record! {
    Recovery as "cut" {
        dumped_map_pages: "map pages with changes; the changes of a page that was not in memory count as one",
        torn_programs: "programs that were running on a die",
        waiting_programs: "programs that waited for their die",
        erasing: "superblocks that were being erased",
        converting: "whether a superblock was being emptied or erased in order to change its cell mode",
        probing: "whether a background read was in flight",
        soft_reads: "reads with soft senses in flight",
        rebuild_reads: "reads for a rebuild in flight",
        lost_slots ["slots"]: "slots of the host that a volatile write cache has lost",
    } not {
        dumped_slots: "counted by the mount",
        dump_bytes: "counted by the mount",
        dumped_bytes: "counted by the mount",
        wrote_image: "the header says so",
        image_bytes: "counted by the mount",
        superblocks: "counted by the mount",
        mp_pages_read: "counted by the mount",
        lost_sections: "counted by the mount",
    }
}

impl Recovery {
    /// Counts the reads in flight that are lost.
    pub(crate) fn count_reads(&mut self, jobs: &Jobs) {
        for job in jobs.iter() {
            match job.purpose {
                Purpose::Rebuild => self.rebuild_reads += 1,
                Purpose::Free
                | Purpose::Program { .. }
                | Purpose::Erase { .. }
                | Purpose::Probe => {}
                _ => self.soft_reads += u32::from(job.sense != SenseMode::Hard),
            }
        }
    }
}

/// A recovery in progress.
#[derive(Debug)]
pub struct Recovering {
    recovery: Recovery,
    /// The superblock whose table of contents is read next.
    next: u32,
}

impl Recovering {
    /// A recovery that begins with the counts of `recovery`, taken at the dump.
    /// The table of contents of `next` is read first.
    pub(crate) fn new(recovery: Recovery, next: SuperblockId) -> Recovering {
        let next = next.0;
        Recovering { recovery, next }
    }

    /// The work done by the recovery.
    pub fn done(self) -> Recovery {
        self.recovery
    }
}

impl<M: Arena> FlashStore<M> {
    /// Reads the table of contents of the next superblock. After the last superblock, takes over what was
    /// dumped. Returns true while there is more to do.
    pub(crate) fn recover_superblock<P: Ports>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        let block = SuperblockId(recovering.next);
        if block.0 < self.shared.blocks.len() {
            recovering.next += 1;
            self.read_contents(block, &mut recovering.recovery, ports);
            return true;
        }
        self.take_dumped(&mut recovering.recovery, ports);
        false
    }

    /// The version of page `lpn` that a recovery has found, if it holds data.
    pub(crate) fn recovered<P: Ports>(&self, lpn: Lpn, ports: &P) -> Option<Spare> {
        let ppa = self.table.at(lpn)?;
        match self.buffered(ppa) {
            Some(buf) => ports.buffered(buf),
            None => ports.stored(ppa),
        }
    }

    /// Reads the table of contents of `block`, unless the map does not need it.
    fn read_contents<P: Ports>(&mut self, block: SuperblockId, recovery: &mut Recovery, ports: &P) {
        let shared = &self.shared;
        let SuperblockInfo {
            usage,
            mode,
            holds_map,
            closed,
            ..
        } = *shared.blocks.info(block);
        if !matches!(usage, SuperblockUse::Open | SuperblockUse::Full) {
            return;
        }
        if self.table.directory.is_on() && !holds_map && usage == SuperblockUse::Full {
            return;
        }
        let g = shared.config.geometry;
        let slots = shared.slots_of(mode);
        if self.table.directory.is_on() || !self.place.space.is_in_image(closed) {
            recovery.superblocks += 1;
            recovery.mp_pages_read += match self.place.begun(block) {
                Some(wordlines) => {
                    u64::from(wordlines) * u64::from(mode.bits()) * u64::from(g.dies())
                }
                None => (u64::from(slots) * ENTRY_BYTES).div_ceil(self.mp_page_bytes()),
            };
        }
        if self.table.map.is_computed(block) {
            return;
        }
        for ppa in (0..slots).map(|slot| Ppa::new(block, slot)) {
            if let Some(spare) = ports.stored(ppa) {
                self.found(spare, ppa, ports);
            }
        }
    }

    /// Bytes of a multi-plane page.
    fn mp_page_bytes(&self) -> u64 {
        let g = &self.shared.config.geometry;
        u64::from(g.slots_per_mp_page()) * u64::from(g.slot_bytes)
    }

    /// A mount reads the dump first, and the image of the map if there is one.
    pub(crate) fn count_dump_and_image(&self, recovery: &mut Recovery) {
        let has_image = recovery.wrote_image || self.place.space.has_image();
        if has_image && !self.table.directory.is_on() {
            recovery.image_bytes = self.table.map.capacity() * u64::from(MAP_ENTRY_BYTES);
        }
        for bytes in [recovery.dump_bytes, recovery.image_bytes] {
            recovery.mp_pages_read += bytes.div_ceil(self.mp_page_bytes());
        }
    }

    /// Maps the dumped slots, and counts their bytes.
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
        let shared = &self.shared;
        let g = shared.config.geometry;
        let slots = recovery.dumped_slots + u64::from(recovery.dumped_map_pages);
        // Partial sums of the wordlines being filled, which will become parity.
        let superwordlines = self.place.superwordlines();
        let bits = u64::from(shared.config.mode.bits());
        let mp_pages = superwordlines as u64 * bits * u64::from(g.stripe_parity);
        recovery.dumped_bytes =
            recovery.dump_bytes + slots * u64::from(g.slot_bytes) + mp_pages * self.mp_page_bytes();
        let beyond = recovery.dumped_bytes - recovery.dump_bytes;
        recovery.mp_pages_read += beyond.div_ceil(self.mp_page_bytes());
    }

    /// The slot at `ppa` has spare area `spare`: maps the page there, if this is its newest version so far.
    fn found<P: Ports>(&mut self, spare: Spare, ppa: Ppa, ports: &P) {
        let Spare { lpn, sequence } = spare;
        // The spare area of a failed program may name any page.
        let Some(recovers) = self.table.recovers(lpn, sequence) else {
            return;
        };
        let at = self.table.at(lpn);
        let other = at.and_then(|at| match self.buffered(at) {
            Some(buf) => ports.buffered(buf),
            None => ports.stored(at),
        });
        // A superblock that is still open comes after all others.
        let order = |ppa: Ppa| match self.shared.blocks.info(ppa.block()).closed {
            Some(closed) => closed.get(),
            None => u64::MAX,
        };
        let is_later = |other: Spare| match other.sequence == sequence {
            true => at.is_some_and(|at| order(at) < order(ppa)),
            false => other.sequence < sequence,
        };
        if recovers && other.is_none_or(is_later) {
            // Every page found now was mapped before the cut, so there is room (`Map::forget_places`).
            self.table.set(lpn, ppa);
        }
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{Lpn, Ns};

    use super::*;
    use crate::ftl::place::{Item, Why};
    use crate::ftl::tests::{Drive, SLOTS, Silent, drive, fill};

    /// Superblocks and multi-plane pages that a recovery reads.
    fn reads(drive: &mut Drive) -> (u32, u64) {
        let mut recovery = Recovery::default();
        let store = &mut drive.lower.store;
        for block in (0..store.shared.blocks.len()).map(SuperblockId) {
            store.read_contents(block, &mut recovery, &Silent::default());
        }
        (recovery.superblocks, recovery.mp_pages_read)
    }

    /// Of a full superblock the table of contents is read, which is a page here, and of an open one every wordline
    /// that is begun, on both dies.
    #[test]
    fn formula_a_recovery_reads_contents_and_what_is_begun() {
        let mut drive = drive(12, 6 * u64::from(SLOTS), 0);
        assert_eq!(reads(&mut drive), (0, 0));
        fill(&mut drive, 4, 40);
        assert_eq!(reads(&mut drive), (8, 8));
        for (slots, begun) in [(1, 1), (4, 2)] {
            for lpn in 0..slots {
                let item = Item {
                    lpn: Lpn(lpn),
                    expect: None,
                    why: Why::Host {
                        has_merged: false,
                        placement: 0,
                    },
                    wish: None,
                };
                let placed = drive.lower.store.take(Ns::ZERO, &item);
                let _ = drive
                    .lower
                    .commit(placed.expect("four superblocks are free"));
            }
            assert_eq!(reads(&mut drive), (9, 8 + 2 * begun), "{slots} more slots");
        }
    }
}
