//! What a power cut leaves of placement, and how placement continues.
//!
//! The slots of the write buffers that no program has finished are dumped, with the buffers' descriptors. A
//! program that was running on a die has torn its wordline: its data are rewritten. Programs that waited are
//! reissued. An erase is repeated on every die.

use firstread_core::{Arena, Buf, CellMode, DieId, Lpn, Ns, Ppa, SuperblockId};

use super::bad::BadBlocks;
use super::erases::Erases;
use super::relocation_state::RelocationState;
use super::rewrite::RewriteQueue;
use super::streams::Streams;
use super::{Placed, Placement, Waiting};
use crate::ftl::map::{self, Directory, Table};
use crate::observe::{RegionId, StreamUse};
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};

/// What a power cut leaves of placement.
#[derive(Debug)]
pub(crate) struct Dumped {
    streams: Streams,
    rewrites: RewriteQueue,
    bad: BadBlocks,
    /// Superblocks opened and filled so far, and whether the drive has reached its end of life.
    opened: u64,
    closed: u64,
    read_only: bool,
    erases: Erases,
    /// The superblock being emptied, and the pace of cleaning.
    relocation: RelocationState,
    waiting: Waiting,
}

impl Placement {
    /// Power is cut: records the programs that waited, and queues the data torn by running programs for rewriting.
    /// Returns the number of running programs.
    pub(crate) fn cut(&mut self, shared: &mut Shared, ports: &mut impl Out) -> u32 {
        let waiting = &mut self.waiting;
        shared.schedule.each_waiting(&mut shared.jobs, |job| {
            if let Purpose::Program { .. } = job.purpose {
                waiting.push_back((job.purpose, job.at));
                // Jobs that are still programs after this loop were running on a die.
                job.purpose = Purpose::Free;
            }
        });
        let mut torn = 0;
        for job in 0..shared.jobs.len() {
            let at = shared.jobs[job].at;
            if let Purpose::Program {
                stream,
                superwordline,
                ..
            } = shared.jobs[job].purpose
            {
                self.queue_rewrite(stream, at.die, superwordline, shared, ports);
                torn += 1;
            }
        }
        torn
    }

    /// Counts of valid slots and pins are lost with the power. The recovery counts them again.
    pub(crate) fn forget_counts(&self, shared: &mut Shared) {
        for block in (0..shared.blocks.len()).map(SuperblockId) {
            let info = shared.blocks.info_mut(block);
            (info.valid_slots, info.pins) = (0, 0);
        }
    }

    /// Programs that had not begun when power was cut.
    pub(crate) fn waiting_programs(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// The state to be dumped.
    pub(crate) fn dump(self) -> Dumped {
        Dumped {
            streams: self.streams,
            rewrites: self.rewrites,
            bad: self.bad,
            opened: self.space.opened(),
            closed: self.space.closed,
            read_only: self.space.read_only,
            erases: self.space.erases,
            relocation: self.relocation.after_power_cut(),
            waiting: self.waiting,
        }
    }

    /// Power is back: takes over what was dumped.
    pub(crate) fn take_dumped(&mut self, dumped: Dumped, shared: &mut Shared) {
        let Dumped {
            streams,
            rewrites,
            bad,
            opened,
            closed,
            read_only,
            erases,
            relocation,
            waiting,
        } = dumped;
        let geometry = shared.config.geometry;
        let slots_of = |mode: CellMode| geometry.slots_per_superblock(mode);
        self.space.closed = closed;
        let blocks = &mut shared.blocks;
        self.space
            .recover(opened, read_only, erases, blocks, slots_of);
        (self.streams, self.rewrites, self.bad) = (streams, rewrites, bad);
        (self.relocation, self.waiting) = (relocation, waiting);
    }

    /// Number of wordlines of `block` that were begun, if `block` is being filled.
    pub(crate) fn begun(&self, block: SuperblockId) -> Option<u16> {
        self.streams.iter().find_map(|b| b.begun(block))
    }

    /// Number of wordlines in the write buffers.
    pub(crate) fn superwordlines(&self) -> usize {
        self.streams.iter().map(|b| b.superwordlines()).sum()
    }

    /// Entry `i` of the dump: the slot where the data were to lie, and their buffer. The inner option is none
    /// for an entry without data; the outer option is none past the last entry.
    pub(crate) fn dumped_at(&self, i: u32) -> Option<Option<(Ppa, Buf)>> {
        match self.streams.held_at(i) {
            Ok(held) => Some(held),
            Err(i) => (i < self.rewrites.len()).then(|| Some(self.rewrites.at(i))),
        }
    }

    /// Slots of host data that are in a buffer and not yet on flash.
    pub(crate) fn host_slots_buffered(&self) -> u32 {
        let declared = StreamUse::Region(RegionId::DECLARED);
        let declared = self.streams.that_takes(declared).into_iter();
        let declared = declared.map(|stream| self.streams.of(stream));
        let held = declared.flat_map(|buffer| (0..buffer.len()).filter_map(|i| buffer.held_at(i)));
        let of_host = held.filter(|(_, buf)| self.region.is_of_host(*buf));
        (self.held_by_host().count() + of_host.count()) as u32
    }

    /// Counts the valid slots of every superblock again.
    pub(crate) fn count_valid<M: Arena>(&self, table: &Table<M>, shared: &mut Shared) {
        let blocks = &mut shared.blocks;
        for block in (0..blocks.len()).map(SuperblockId) {
            blocks.info_mut(block).valid_slots = 0;
        }
        let directory = &table.directory;
        for page in 0..directory.len() {
            if let Some(ppa) = directory.place_of(page) {
                blocks.info_mut(ppa.block()).valid_slots += 1;
            }
        }
        for (_, run) in table.map.runs() {
            if let Some(ppa) = run.ppa {
                blocks.info_mut(ppa.block()).valid_slots += run.pages;
            }
        }
    }

    /// Continues after a recovery. Returns the superblocks whose erase was interrupted; they are erased again on
    /// every die.
    pub(crate) fn restart(
        &mut self,
        shared: &mut Shared,
    ) -> impl Iterator<Item = SuperblockId> + use<> {
        self.space.is_short = true;
        self.space.erases.begin_again(shared.config.geometry.dies());
        let interrupted = self.space.erases.blocks();
        for block in self.space.erases.blocks() {
            // The interrupted erase has worn the cells too, and left them in their new mode.
            let info = shared.blocks.info_mut(block);
            info.wear(shared.config.cycle_damage);
            info.mode_before = info.mode;
        }
        interrupted
    }

    /// Queues the next program that waited for the recovery, if any. Returns its die.
    pub(crate) fn push_waiting(&mut self, now: Ns, shared: &mut Shared) -> Option<DieId> {
        let (purpose, at) = self.waiting.pop_front()?;
        self.space.programs += 1;
        shared.push_change(now, purpose, at);
        Some(at.die)
    }
}

impl Placement {
    /// What `placed` replaces is noted, before the map changes.
    #[inline(never)] // On drives with a volatile cache alone.
    pub(super) fn note_older<M: Arena>(&mut self, placed: &Placed, table: &Table<M>) {
        let older = placed.of_host.then(|| table.map.mapping_of(placed.lpn));
        self.older.note(placed.slot.buf, older);
    }

    /// Whether a slot that the host has in a write buffer has replaced a version in `block`.
    pub(crate) fn keeps_older_in(&self, block: SuperblockId) -> bool {
        let mut held = self.held_by_host();
        self.older.are_kept() && held.any(|(_, buf)| self.older.lies_in(buf, block))
    }

    /// `block` is about to be erased: data that replaced a version in it and wait to be written again are safe from
    /// now on.
    pub(super) fn keep_rewrites_of(&mut self, block: SuperblockId) {
        for i in 0..self.rewrites.len() {
            let (_, buf) = self.rewrites.at(i);
            if self.older.lies_in(buf, block) {
                self.older.note(buf, None);
            }
        }
    }

    /// The slot that is rewritten next is done with. If it is not the last version, nothing keeps it any more: what the
    /// host has replaced it by is safe from now on.
    pub(super) fn keep_newer_of_rewrite(&mut self) {
        if !self.older.are_kept() {
            return;
        }
        let Some((ppa, _)) = self.rewrites.next() else {
            return;
        };
        let mut i = 0;
        while let Some(held) = self.dumped_at(i) {
            i += 1;
            if let Some((_, buf)) = held
                && self.older.of(buf) == Some(map::Mapping::At(ppa))
            {
                self.older.note(buf, None);
            }
        }
    }

    /// Power is cut: what the host has written and no program has finished is lost, and its pages are what they were
    /// before. Calls `changed` for each of them. Returns the number of slots.
    pub(crate) fn lose_unsafe<M: Arena>(
        &mut self,
        table: &mut Table<M>,
        ports: &mut impl Out,
        mut changed: impl FnMut(Lpn, &Directory),
    ) -> u32 {
        if !self.older.are_kept() {
            return 0;
        }
        // A page that was written several times goes back one version a turn.
        let mut goes_back = true;
        while core::mem::take(&mut goes_back) {
            for (ppa, buf) in (0..).map_while(|i| self.dumped_at(i)).flatten() {
                let lpn = ports.buffered(buf).map(|spare| spare.lpn);
                if let (Some(lpn), Some(older)) = (lpn, self.older.of(buf))
                    && table.lies_at(lpn, ppa)
                {
                    table.map.set(lpn, older);
                    changed(lpn, &table.directory);
                    ports.lost(lpn);
                    goes_back = true;
                }
            }
        }
        let (mut i, mut lost) = (0, 0);
        while let Some(held) = self.dumped_at(i) {
            i += 1;
            if let Some((_, buf)) = held
                && self.older.of(buf).is_some()
            {
                self.older.note(buf, None);
                ports.pad(buf);
                lost += 1;
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::ftl::place::Erased;
    use crate::ftl::tests::{SLOTS, Silent, drive, drive_with, fill};
    use crate::observe::{PoolId, RegionId, StreamId};

    /// Over a power cut a superblock keeps the name of its stream, and names its pool as the schemes that go on have pools:
    /// those of a drive with areas, by its number.
    #[test]
    fn powerloss_a_superblock_names_its_stream_and_its_pool() {
        let capacity = 8 * u64::from(SLOTS);
        let mut drive = drive(20, capacity, 0);
        fill(&mut drive, 12, 40);
        let store = &mut drive.lower.store;
        let opened = [StreamId::HOST, StreamId::MOVE].map(|stream| {
            assert!(store.place.open(Ns::ZERO, stream, &mut store.shared));
            (stream, store.place.opened().expect("one was opened"))
        });
        let dump = drive.dump(&mut Silent::default());
        let mut next = drive_with(20, capacity, 0, ("area", "differential"));
        next.begin_recovery(dump);
        let (place, blocks) = (&next.lower.store.place, &next.lower.store.shared.blocks);
        for (stream, block) in opened {
            assert_eq!(blocks.info(block).stream, Some(stream));
            let has_moved = place.streams.have_moved(blocks.info(block));
            assert_eq!(has_moved, stream == StreamId::MOVE);
        }
        let filled = blocks.info(SuperblockId(0));
        assert_eq!(filled.stream, None, "it was filled without being written");
        let declared = blocks.iter().filter(|(_, info)| info.pool == PoolId(1));
        let declared: Vec<u32> = declared.map(|(block, _)| block.0).collect();
        let in_region: Vec<u32> = blocks.numbers_in(RegionId::DECLARED).collect();
        assert_eq!((declared.len(), declared), (4, in_region));
        let free = |region| place.space.pools.in_region(region).map(|pool| pool.free);
        assert_eq!(
            (free(RegionId::MAIN), free(RegionId::DECLARED)),
            (Some(6), Some(4))
        );
    }

    /// An erase that a power cut has interrupted has worn its superblock, and is done again; that wears it once more.
    #[test]
    fn powerloss_an_interrupted_erase_wears_too() {
        let mut drive = drive(12, 256, 0);
        fill(&mut drive, 4, 0);
        let (erased, other) = (SuperblockId(3), SuperblockId(4));
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(erased).set_pe_cycles(7);
        store.place.begin_erase(
            erased,
            CellMode::Slc,
            Erased::Emptied,
            &mut store.table,
            &mut store.shared,
        );
        let again: Vec<_> = store.place.restart(&mut store.shared).collect();
        assert_eq!(again, [erased]);
        let cycles = |block| store.shared.blocks.info(block).pe_cycles;
        assert_eq!((cycles(erased), cycles(other)), (8, 0));
    }
}
