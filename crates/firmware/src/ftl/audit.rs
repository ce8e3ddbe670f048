//! Audit: every slot has one owner, and the counts add up.
//!
//! The audit verifies that
//!
//! - no two logical pages lie at one slot, and no page lies in a superblock without data;
//! - each superblock has as many valid slots as the map points at;
//! - counts of free superblocks, of their slots, of pins and of physical slots agree with the superblock table;
//! - each superblock names its pool, and the stream that fills it;
//! - the index of superblocks agrees with their records;
//! - there are as many moves and programs as jobs for them.
//!
//! The audit does not verify the data: the drive's payload does that on every read.

use alloc::vec;

use firstread_core::{Arena, Lpn, Ppa, SuperblockId};

use super::map::Run;
use crate::flash_store::FlashStore;
use crate::observe::SuperblockUse;
use crate::schedule::Purpose;

/// What the audit has found wrong, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inconsistency {
    /// Two logical pages lie at one slot.
    TwoOwners(Ppa, Lpn),
    /// A page lies in a superblock without data, or past the end of a superblock.
    Nowhere(Lpn, Ppa),
    /// A superblock's count of valid slots, and how many the map points at.
    Valid(SuperblockId, u32, u32),
    /// A superblock's count of pins, and how many reads there are.
    Pins(SuperblockId, u32, u32),
    /// The count of free superblocks or of their slots is wrong, or a superblock names a pool that is not its own.
    Free,
    /// A superblock does not name the stream that opened it.
    Stream(SuperblockId),
    /// The index of superblocks does not have what their records say.
    Index,
    /// The count of a die's spares is wrong.
    Spares,
    /// The count of slots in superblocks that are not retired is wrong.
    Physical,
    /// The count of moves, of single-page moves or of programs in flight is wrong.
    UnderWay,
}

/// Largest drive, in logical pages, that a debug build audits by itself.
#[cfg(debug_assertions)]
const SMALL_PAGES: u64 = 1 << 14;

impl<M: Arena> FlashStore<M> {
    /// Checks the consistency of the whole drive, in time and memory proportional to its pages. For tests.
    pub(crate) fn audit(&self) -> Result<(), Inconsistency> {
        let (table, shared, space) = (&self.table, &self.shared, &self.place.space);
        let blocks = shared.blocks.len() as usize;
        let mut valid = vec![0u32; blocks];
        let widest = space.largest_slots as usize;
        let mut owned = vec![0u64; (blocks * widest).div_ceil(64)];
        let first_map_page = table.map.capacity();
        let map_pages = (0..u64::from(table.directory.len())).map(|page| {
            let page = Lpn(first_map_page + page);
            let ppa = table.directory.at(page);
            let (lost, pages) = (false, 1);
            (page, Run { ppa, lost, pages })
        });
        for (Lpn(lpn), run) in table.map.runs().chain(map_pages) {
            for i in 0..run.ppa.map_or(0, |_| run.pages as u64) {
                let ppa = Ppa(run.ppa.map_or(0, |p| p.0) + i);
                let block = ppa.block().0 as usize;
                let holds = shared.blocks.iter().nth(block).is_some_and(|(_, info)| {
                    matches!(info.usage, SuperblockUse::Open | SuperblockUse::Full)
                        && ppa.slot() < shared.slots_of(info.mode)
                        && (info.holds_map || !table.directory.is_map(Lpn(lpn)))
                });
                if !holds {
                    return Err(Inconsistency::Nowhere(Lpn(lpn + i), ppa));
                }
                valid[block] += 1;
                let bit = block * widest + ppa.slot() as usize;
                if owned[bit / 64] >> (bit % 64) & 1 != 0 {
                    return Err(Inconsistency::TwoOwners(ppa, Lpn(lpn + i)));
                }
                owned[bit / 64] |= 1 << (bit % 64);
            }
        }
        let mut pins = vec![0u32; blocks];
        for job in shared.jobs.iter().filter(|job| job.pinned) {
            debug_assert_ne!(job.purpose, Purpose::Free, "a free job pins nothing");
            pins[job.at.block.0 as usize] += 1;
        }
        let mut physical = 0;
        for (block, info) in shared.blocks.iter() {
            let b = block.0 as usize;
            if info.valid_slots != valid[b] {
                return Err(Inconsistency::Valid(block, info.valid_slots, valid[b]));
            }
            if info.pins != pins[b] {
                return Err(Inconsistency::Pins(block, info.pins, pins[b]));
            }
            if !self.place.names_its_stream(block, info) {
                return Err(Inconsistency::Stream(block));
            }
            if info.usage != SuperblockUse::Bad {
                physical += shared.slots_of(info.mode) as u64;
            }
        }
        if !space.agrees(&shared.blocks, |mode| shared.slots_of(mode)) {
            return Err(Inconsistency::Free);
        }
        if !self.place.bad_blocks_agree(&shared.blocks) {
            return Err(Inconsistency::Spares);
        }
        if !shared.blocks.index_agrees(&shared.config.geometry) {
            return Err(Inconsistency::Index);
        }
        let apart = shared.blocks.apart();
        let usable = shared
            .blocks
            .iter()
            .filter(|(_, info)| info.usage != SuperblockUse::Bad);
        let in_pool = usable.filter(|(_, info)| apart.has(info.mode)).count();
        if physical != space.physical_slots || in_pool != space.in_write_pool() as usize {
            return Err(Inconsistency::Physical);
        }
        let count =
            |is: fn(&Purpose) -> bool| shared.jobs.iter().filter(|j| is(&j.purpose)).count();
        let moves = count(|p| matches!(p, Purpose::Move { .. }));
        let alone = count(|p| matches!(p, Purpose::Move { alone: true, .. }));
        let programs = count(|p| matches!(p, Purpose::Program { .. }));
        let relocation = &self.place.relocation;
        if (moves, alone as u64) != (relocation.moves as usize, space.reserved)
            || programs != space.programs as usize
            || relocation.moves_reading > relocation.moves
        {
            return Err(Inconsistency::UnderWay);
        }
        Ok(())
    }

    /// Audits a small drive at every 64th erase.
    #[cfg(debug_assertions)]
    pub(crate) fn audit_periodically(&self) {
        if self.shared.counters.erases.is_multiple_of(64) {
            self.audit_if_small();
        }
    }

    /// Audits a small drive.
    #[cfg(debug_assertions)]
    pub(crate) fn audit_if_small(&self) {
        if self.table.map.capacity() <= SMALL_PAGES {
            debug_assert_eq!(self.audit(), Ok(()), "audit");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Ns;

    use crate::ftl::map::Mapping;
    use crate::ftl::place::{Item, Why};
    use crate::ftl::tests::{Drive, SLOTS, drive};
    use crate::observe::{PoolId, StreamId};

    /// A drive whose first superblock holds a page in each of some slots.
    fn sound() -> Drive {
        let mut drive = drive(12, 256, 0);
        let store = &mut drive.lower.store;
        store.mark_filled(Ns::ZERO, SuperblockId(0), 0, 5);
        for (lpn, slot) in [0, 1, 30, SLOTS - 2, SLOTS - 1].into_iter().enumerate() {
            let at = Mapping::At(Ppa::new(SuperblockId(0), slot));
            store.table.map.set(Lpn(lpn as u64), at);
        }
        assert_eq!(store.audit(), Ok(()));
        drive
    }

    #[test]
    fn model_an_audit_finds_a_slot_of_two_pages_and_a_page_that_lies_nowhere() {
        let at = |block, slot| Ppa::new(SuperblockId(block), slot);
        for (ppa, found) in [
            (at(0, 0), Inconsistency::TwoOwners(at(0, 0), Lpn(9))),
            (at(0, 30), Inconsistency::TwoOwners(at(0, 30), Lpn(9))),
            (
                at(0, SLOTS - 1),
                Inconsistency::TwoOwners(at(0, SLOTS - 1), Lpn(9)),
            ),
            // Free, and past the last superblock.
            (at(1, 0), Inconsistency::Nowhere(Lpn(9), at(1, 0))),
            (at(12, 0), Inconsistency::Nowhere(Lpn(9), at(12, 0))),
            // A slot of its own, which the superblock does not count.
            (at(0, 2), Inconsistency::Valid(SuperblockId(0), 5, 6)),
        ] {
            let mut drive = sound();
            let store = &mut drive.lower.store;
            store.table.map.set(Lpn(9), Mapping::At(ppa));
            assert_eq!(store.audit(), Err(found));
        }
    }

    #[test]
    fn model_an_audit_finds_counts_that_are_wrong() {
        let wrong = |change: fn(&mut Drive)| {
            let mut drive = sound();
            change(&mut drive);
            drive.lower.store.audit()
        };
        let pins = wrong(|d| d.lower.store.shared.blocks.info_mut(SuperblockId(3)).pins = 1);
        assert_eq!(pins, Err(Inconsistency::Pins(SuperblockId(3), 1, 0)));
        for free in [
            wrong(|d| d.lower.store.place.space.drop_free(PoolId(0), SLOTS)),
            wrong(|d| d.lower.store.shared.blocks.info_mut(SuperblockId(3)).pool = PoolId(1)),
        ] {
            assert_eq!(free, Err(Inconsistency::Free));
        }
        let named = wrong(|d| {
            d.lower.store.shared.blocks.info_mut(SuperblockId(3)).stream = Some(StreamId::HOST);
        });
        let found = Err(Inconsistency::Stream(SuperblockId(3)));
        assert_eq!(named, found, "a free one names a stream");
        for stream in [None, Some(StreamId::MOVE)] {
            let mut drive = sound();
            let store = &mut drive.lower.store;
            let item = Item {
                lpn: Lpn(9),
                expect: None,
                why: Why::Host {
                    has_merged: false,
                    placement: 0,
                },
                wish: None,
            };
            let placed = store.take(Ns::ZERO, &item).expect("superblocks are free");
            let block = placed.ppa().block();
            let _ = store.commit(placed);
            assert_eq!(store.audit(), Ok(()));
            store.shared.blocks.info_mut(block).stream = stream;
            let found = Err(Inconsistency::Stream(block));
            assert_eq!(store.audit(), found, "the host fills it");
        }
        let index = wrong(|d| {
            // The index is not told.
            let blocks = &mut d.lower.store.shared.blocks;
            blocks.update_index(&crate::ftl::tests::geometry(blocks.len()));
            blocks.unmarked_mut(SuperblockId(3)).pe_cycles = 7;
        });
        assert_eq!(index, Err(Inconsistency::Index));
        let physical = wrong(|d| d.lower.store.place.space.physical_slots += 1);
        assert_eq!(physical, Err(Inconsistency::Physical));
        for under_way in [
            wrong(|d| d.lower.store.place.relocation.moves = 1),
            wrong(|d| d.lower.store.place.space.reserved = 1),
            wrong(|d| d.lower.store.place.space.programs = 1),
            wrong(|d| d.lower.store.place.relocation.moves_reading = 1),
        ] {
            assert_eq!(under_way, Err(Inconsistency::UnderWay));
        }
    }

    /// A small drive is audited while its tests run, so a count that is wrong ends them.
    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "audit")]
    fn model_a_small_drive_with_a_wrong_count_does_not_pass() {
        let mut drive = crate::ftl::tests::drive(12, 256, 0);
        drive.lower.store.audit_if_small();
        // No page lies there.
        crate::ftl::tests::fill(&mut drive, 3, 40);
        drive.lower.store.audit_if_small();
    }
}
