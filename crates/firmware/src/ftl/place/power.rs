//! What a power cut leaves of placement, and how placement continues.
//!
//! The slots of the write buffers that no program has finished are dumped, with the buffers' descriptors. A
//! program that was running on a die has torn its wordline: its data are rewritten. Programs that waited are
//! reissued. An erase is repeated on every die.

use firstread_core::{Arena, Buf, CellMode, DieId, Lpn, Ns, Ports, Ppa, Spare, SuperblockId};

use super::waiting::{ProgramState, WaitingProgram};
use super::{Placed, Placement};
use crate::format::{Blank as _, Cursor, Record as _, record};
use crate::ftl::map::{self, Directory, Table};
use crate::observe::{RegionId, StreamUse, SuperblockTable};
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};

impl Placement {
    /// Power is cut: records the programs that waited, and queues the data torn by running programs for rewriting.
    /// Returns the number of running programs.
    pub(crate) fn cut(&mut self, shared: &mut Shared, ports: &mut impl Out) -> u32 {
        self.relocation.cut();
        let waiting = &mut self.waiting;
        shared.schedule.each_waiting(&mut shared.jobs, |_, job| {
            if let Some(program) = WaitingProgram::of(job) {
                waiting.push_back(program);
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

    /// Saves the programs that wait and those that run. `waits` has a place for each job.
    pub(crate) fn save_programs(
        &self,
        shared: &mut Shared,
        waits: &mut [bool],
        cursor: &mut Cursor<'_>,
    ) {
        waits.fill(false);
        shared
            .schedule
            .each_waiting(&mut shared.jobs, |number, job| {
                if let Some(mut program) = WaitingProgram::of(job) {
                    waits[number as usize] = true;
                    ProgramState::Waits.transfer(cursor);
                    program.transfer(cursor);
                }
            });
        for (job, waits) in shared.jobs.iter().zip(waits) {
            if let (Some(mut program), false) = (WaitingProgram::of(job), *waits) {
                ProgramState::Runs.transfer(cursor);
                program.transfer(cursor);
            }
        }
        ProgramState::None.transfer(cursor);
    }

    /// Bytes of as many programs as there are jobs, as [`Placement::save_programs`] writes them.
    pub(crate) fn count_programs(shared: &Shared, cursor: &mut Cursor<'_>) {
        let mut program = (ProgramState::BLANK, WaitingProgram::BLANK);
        (0..=shared.jobs.len()).for_each(|_| program.transfer(cursor));
    }

    /// Placement was loaded as it was when the firmware was stopped: does with it what [`Placement::cut`] does, with the
    /// programs at `cursor`. Returns the number of those that ran.
    pub(crate) fn load_stopped(
        &mut self,
        slot_buffers: u32,
        shared: &mut Shared,
        ports: &mut impl Out,
        cursor: &mut Cursor<'_>,
    ) -> u32 {
        self.relocation.cut();
        let (streams, blocks) = (self.streams.iter().count(), shared.blocks.len());
        let mut torn = 0;
        loop {
            let (mut state, mut program) = (ProgramState::None, WaitingProgram::BLANK);
            state.transfer(cursor);
            if cursor.has_fault() || state == ProgramState::None {
                return torn;
            }
            program.transfer(cursor);
            if cursor.has_fault()
                || !program.is_sound(streams, blocks, slot_buffers, &shared.config)
                || !self.fills_with(&program)
            {
                cursor.fault();
                return torn;
            }
            match state {
                ProgramState::Waits => self.waiting.push_back(program),
                _ => {
                    let (stream, superwordline) = program.part();
                    self.queue_rewrite(stream, program.at.die, superwordline, shared, ports);
                    torn += 1;
                }
            }
        }
    }

    /// Whether a write buffer has the superwordline that `program` is of.
    fn fills_with(&self, program: &WaitingProgram) -> bool {
        let (stream, superwordline) = program.part();
        self.streams
            .of(stream)
            .has_superwordline(superwordline, program.at.block)
    }

    /// Programs that had not begun when power was cut.
    pub(crate) fn waiting_programs(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// After placement and the table of superblocks were loaded: counts what follows from them.
    pub(crate) fn recount(&mut self, shared: &mut Shared) {
        let geometry = shared.config.geometry;
        let slots_of = |mode: CellMode| geometry.slots_per_superblock(mode);
        self.space.recount(&mut shared.blocks, slots_of);
        self.bad.recount(&shared.blocks);
        if !self.pool.is_on()
            && let Some(current) = self.relocation.destaging.take()
        {
            // It was emptied for a pool that the drive no longer has.
            shared.blocks.info_mut(current.block).evacuating = false;
        }
        self.pool_begins(shared);
    }

    /// Whether what was loaded names only superblocks, dies, streams and slots that the drive has.
    pub(crate) fn is_sound(&self, slot_buffers: u32, shared: &Shared) -> bool {
        let (blocks, dies) = (shared.blocks.len(), shared.config.geometry.dies());
        let streams = self.streams.iter().count();
        let is_there =
            |ppa: Ppa| ppa.block().0 < blocks && ppa.slot() < shared.slots_of(shared.config.mode);
        let has_slot = |(ppa, _): (Ppa, _)| is_there(ppa);
        let is_failed = |(block, die): &(SuperblockId, DieId)| block.0 < blocks && die.0 < dies;
        self.streams
            .iter()
            .all(|buffer| buffer.is_sound(blocks, slot_buffers))
            && self.rewrites.is_sound()
            && (0..self.rewrites.len()).all(|i| has_slot(self.rewrites.at(i)))
            && self.bad.failed().all(is_failed)
            && shared.blocks.is_assembled()
            && self.space.erases.is_sound(blocks, dies)
            && self.relocation.is_sound(blocks)
            && self.space.is_sound()
            && self
                .waiting
                .iter()
                .all(|program| program.is_sound(streams, blocks, slot_buffers, &shared.config))
            && shared.blocks.iter().all(|(_, info)| {
                info.mode <= shared.config.mode
                    && info.valid_slots <= shared.slots_of(info.mode)
                    && info
                        .stream
                        .is_none_or(|stream| usize::from(stream.0) < streams)
            })
    }

    /// Saves which slots the write buffers hold: the buffer of each, and its spare area.
    pub(crate) fn save_buffers(&self, cursor: &mut Cursor<'_>, ports: &impl Ports) {
        let held = || (0..).map_while(|i| self.dumped_at(i)).flatten();
        let mut len = match cursor.counts_most() {
            true => self.streams.plan().all_slot_buffers(),
            false => held().count() as u32,
        };
        len.transfer(cursor);
        if cursor.counts_most() {
            let mut slot = (Buf(0), Option::<Spare>::None);
            return (0..len).for_each(|_| slot.transfer(cursor));
        }
        for (_, mut buf) in held() {
            buf.transfer(cursor);
            ports.buffered(buf).transfer(cursor);
        }
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

    /// [`Placement::most_slots_held`] counts from now on.
    pub(crate) fn watch_buffers(&mut self) {
        self.streams.most_held = Some(0);
    }

    /// The most slots that the write buffers have held since they are watched, of the host and of moves, and not on flash yet: what a
    /// power cut would have had to save.
    pub(crate) fn most_slots_held(&self) -> Option<u32> {
        self.streams.most_held
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
        let program = self.waiting.pop_front()?;
        self.space.programs += 1;
        shared.push_change(now, program.purpose(), program.at);
        Some(program.at.die)
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
        blocks: &mut SuperblockTable,
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
                    blocks.info_mut(ppa.block()).valid_slots -= 1;
                    if let map::Mapping::At(older) = older {
                        blocks.info_mut(older.block()).valid_slots += 1;
                    }
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

record! {
    Placement as "placement" {
        space: "superblocks opened and filled, and erases",
        relocation: "what relocation has in progress",
        streams: "write buffers",
        rewrites: "slots to be written again",
        bad: "bad blocks and spares",
        events: "events of placement handles, where the drive has them",
        waiting: "programs that had not begun",
    } not {
        pool: "how large it is to be is decided anew when a superblock is opened",
        cell_mode: "the scheme learns anew which pages are hot; data stay where they are",
        area: "a region's scheme learns anew which pages are hot; data stay where they are",
        region: "waits are lost, and every slot counts as one that moves have written",
        older: "what a power cut loses is lost already, and nothing is lost after a shutdown",
        wear: "the schemes of wear leveling look at the superblocks anew",
        opened: "of one call",
        host_streams: "the scheme of axis `stream` learns anew how long data live",
        chooses_streams: "of the scheme",
        shares: "learned anew from the next writes and moves",
        ages: "of the memory of a scheme, which is lost",
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::ftl::place::Erased;
    use crate::ftl::tests::{SLOTS, drive, drive_with, fill, restarted};
    use crate::observe::{PoolId, RegionId, StreamId};

    /// Over a power cut a superblock keeps the name of its stream, and names its pool as the schemes that go on have pools:
    /// those of a drive with areas, by its number.
    #[test]
    fn powerloss_a_superblock_names_its_stream_and_its_pool() {
        let capacity = 8 * u64::from(SLOTS);
        let mut drive = drive_with(20, capacity, 0, ("area", "differential"));
        fill(&mut drive, 12, 40);
        let store = &mut drive.lower.store;
        let opened = [StreamId::HOST, StreamId::MOVE].map(|stream| {
            assert!(store.place.open(Ns::ZERO, stream, &mut store.shared));
            (stream, store.place.opened().expect("one was opened"))
        });
        let next = drive_with(20, capacity, 0, ("area", "differential"));
        let next = restarted(drive, next);
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
