//! What the map cache stands on: map, placement and reads, with the state they share.
//!
//! Calls that concern two of them are here, so that their order is always the same. Reads learn of a
//! superblock as soon as placement has opened it. A die is started as soon as a program or an erase is queued
//! for it.

use firstread_core::{Arena, Buf, CellMode, DieId, Lpn, Ns, PageAddr, Ppa, Priority, SuperblockId};

use crate::ftl::map::Table;
use crate::ftl::place::{
    DieErased, Erased, Item, Placed, Placement, Program, Programs, TakeError, Wish,
};
use crate::observe::{Owner, StreamId};
use crate::read::Read;
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};

/// What the map cache stands on: map, placement and reads.
#[derive(Clone, Debug)]
pub(crate) struct FlashStore<M> {
    pub(crate) table: Table<M>,
    pub(crate) place: Placement,
    pub(crate) read: Read,
    pub(crate) shared: Shared,
}

impl<M: Arena> FlashStore<M> {
    /// Takes a place for `item`: [`Placement::take`].
    // Inlined because each caller has a constant reason and needs one branch of `take` alone.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Ns, item: &Item) -> Result<Placed, TakeError> {
        let placed = self.place.take(now, item, &self.table, &mut self.shared);
        self.announce_opened(now);
        placed
    }

    /// How hot the `slots` pages from `lpn` on are, which move: [`Placement::wish`]. Pages of the map are placed in order.
    #[inline]
    pub(crate) fn wish_of_move(&self, lpn: Lpn, slots: u32) -> Option<Wish> {
        match self.place.places_by_heat() && !self.table.directory.is_map(lpn) {
            true => self.place.wish(lpn, slots, true, &self.shared),
            false => None,
        }
    }

    /// Tells the read machine which superblock placement has opened, if it opened one.
    #[inline]
    fn announce_opened(&mut self, now: Ns) {
        if let Some(block) = self.place.opened() {
            self.read.block_changed(now, block, &self.shared.blocks);
        }
    }

    /// The data of `placed` are in their buffer: [`Placement::commit`].
    #[inline]
    pub(crate) fn commit(&mut self, placed: Placed) -> Programs {
        self.place.commit(placed, &mut self.table, &mut self.shared)
    }

    /// Starts the programs that are due.
    #[inline]
    pub(crate) fn start(&mut self, now: Ns, programs: Programs, ports: &mut impl Out) {
        if !programs.are_none() {
            self.start_some(now, programs, ports);
        }
    }

    #[inline(never)] // Few slots complete the part of a die.
    fn start_some(&mut self, now: Ns, programs: Programs, ports: &mut impl Out) {
        if let Some(program) = programs.of_data() {
            self.start_program(now, program, ports);
        }
        if let Some(program) = programs.of_parity() {
            self.start_program(now, program, ports);
        }
    }

    fn start_program(&mut self, now: Ns, program: (StreamId, Program), ports: &mut impl Out) {
        self.place.push_program(now, program, &mut self.shared);
        let die = program.1.die;
        self.shared.start_die(now, die, &mut self.read, ports);
    }

    /// Pads the wordline that `stream` of the host fills: [`Placement::pad`]. Returns whether there was one to pad.
    pub(crate) fn pad(&mut self, now: Ns, stream: StreamId, ports: &mut impl Out) -> bool {
        let programs = self.place.pad(stream, &mut self.shared, ports);
        let padded = programs.is_some();
        if let Some(programs) = programs {
            self.start(now, programs, ports);
        }
        padded
    }

    /// Closes open superblock `block` before it is full: [`Placement::close_early`].
    pub(crate) fn close_early(&mut self, now: Ns, block: SuperblockId, ports: &mut impl Out) {
        let Some(stream) = self.place.close_early(now, block, &mut self.shared) else {
            return;
        };
        while let Some(programs) = self
            .place
            .pad_superwordline(stream, &mut self.shared, ports)
        {
            self.start(now, programs, ports);
        }
    }

    /// Begins to erase `block` into `mode` on all dies: [`Placement::begin_erase`].
    pub(crate) fn start_erase(
        &mut self,
        now: Ns,
        block: SuperblockId,
        mode: CellMode,
        what: Erased,
        ports: &mut impl Out,
    ) {
        let (place, shared) = (&mut self.place, &mut self.shared);
        place.note_erase(now, block, shared);
        let info = shared.blocks.info(block);
        if info.mode != mode {
            place.pool.switches(block, info.pe_cycles);
        }
        place.begin_erase(block, mode, what, &mut self.table, shared);
        shared.log_conversion(now, block, ports);
        self.erase_dies(now, block, ports);
    }

    /// Queues the erase of `block` on every die.
    fn erase_dies(&mut self, now: Ns, block: SuperblockId, ports: &mut impl Out) {
        let shared = &mut self.shared;
        for die in (0..shared.config.geometry.dies()).map(DieId) {
            self.place.push_erase(now, block, die, shared);
            shared.start_die(now, die, &mut self.read, ports);
        }
    }

    /// Continues after a recovery: repeats the erases that were under way, and issues programs that waited.
    pub(crate) fn restart(&mut self, now: Ns, ports: &mut impl Out) {
        self.place.look_at_regions(&self.shared);
        for block in self.place.restart(&mut self.shared) {
            self.erase_dies(now, block, ports);
        }
        while let Some(die) = self.place.push_waiting(now, &mut self.shared) {
            self.shared.start_die(now, die, &mut self.read, ports);
        }
        self.read.restart(now, &mut self.shared, ports);
    }

    /// Queues a read of multi-plane page `at` under `job`: [`Read::start`].
    #[inline]
    #[allow(clippy::too_many_arguments)] // the fields of a job, spelled out once
    pub(crate) fn start_read(
        &mut self,
        now: Ns,
        job: u32,
        purpose: Purpose,
        priority: Priority,
        at: PageAddr,
        wanted: u64,
        ports: &mut impl Out,
    ) {
        let shared = &mut self.shared;
        self.read
            .start(now, job, purpose, priority, at, wanted, shared, ports);
    }

    /// The buffer that holds `ppa`, if it is not programmed yet.
    pub(crate) fn buffered(&self, ppa: Ppa) -> Option<Buf> {
        self.place.buffered(ppa, &self.shared)
    }

    /// Whether the map cache may write a page: [`Placement::map_may_write`].
    pub(crate) fn map_may_write(&mut self, now: Ns) -> bool {
        let may = self.place.map_may_write(now, &mut self.shared).is_ok();
        self.announce_opened(now);
        may
    }

    /// Marks free superblock `block` as filled with `pages` pages: [`Placement::mark_filled`].
    pub(crate) fn mark_filled(&mut self, now: Ns, block: SuperblockId, pe_cycles: u32, pages: u32) {
        let shared = &mut self.shared;
        self.place.mark_filled(now, block, pe_cycles, pages, shared);
        self.read.block_changed(now, block, &shared.blocks);
    }

    /// Whether a superblock is being emptied or erased in order to change its cell mode.
    pub(crate) fn is_converting(&self) -> bool {
        let (place, shared) = (&self.place, &self.shared);
        let mode_of = |block| shared.blocks.info(block).mode;
        let mut erasing = place.space.erases.blocks().map(mode_of);
        let emptying = place.relocation.emptying.map(|e| e.owner);
        emptying == Some(Owner::Convert) || erasing.any(|mode| mode != shared.config.mode)
    }

    /// One die has finished its part of a superblock erase, under `job`: [`Placement::die_erased`]. Returns the superblock if
    /// it was the last die.
    pub(crate) fn die_erased(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        ports: &mut impl Out,
    ) -> Option<SuperblockId> {
        let shared = &mut self.shared;
        match self.place.die_erased(job, ok, shared) {
            DieErased::Others => None,
            DieErased::Again(block, die) => {
                self.place.push_erase(now, block, die, shared);
                shared.start_die(now, die, &mut self.read, ports);
                None
            }
            DieErased::All(block) => {
                self.read.block_changed(now, block, &shared.blocks);
                Some(block)
            }
        }
    }

    /// Whether the map cache has got the space that it waited for: [`Placement::give_map_space`].
    pub(crate) fn give_map_space(&mut self, now: Ns) -> bool {
        let gives = self.place.give_map_space(now, &mut self.shared);
        self.announce_opened(now);
        gives
    }
}
