//! What the pager stands on: map, placement and reads, with the state they share.
//!
//! Calls that concern two of them are here, so that their order is always the same. Reads learn of a
//! superblock as soon as placement has opened it. A die is started as soon as a program or an erase is queued
//! for it.

use firstread_core::{Arena, BlockId, Buf, CellMode, DieId, Ns, PageAddr, Ppa, Priority};

use crate::base::{Base, Out};
use crate::ftl::map::Table;
use crate::ftl::place::{Item, Place, Placed, Program, Programs, Refusal};
use crate::observe::{Owner, StreamId};
use crate::read::Read;
use crate::schedule::Purpose;

/// What the pager stands on: map, placement and reads.
#[derive(Clone, Debug)]
pub(crate) struct Store<M> {
    pub(crate) table: Table<M>,
    pub(crate) place: Place,
    pub(crate) read: Read,
    pub(crate) base: Base,
}

impl<M: Arena> Store<M> {
    /// Takes a place for `item`: [`Place::take`].
    // Inlined because each caller has a constant reason and needs one branch of `take` alone.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Ns, item: &Item) -> Result<Placed, Refusal> {
        let placed = self.place.take(now, item, &self.table, &mut self.base);
        self.tell_opened(now);
        placed
    }

    /// Tells the read machine which superblock placement has opened, if it opened one.
    #[inline]
    fn tell_opened(&mut self, now: Ns) {
        if let Some(block) = self.place.opened() {
            self.read.block_changed(now, block, &self.base.blocks);
        }
    }

    /// The data of `placed` are in their buffer: [`Place::commit`].
    #[inline]
    pub(crate) fn commit(&mut self, placed: Placed) -> Programs {
        self.place.commit(placed, &mut self.table, &mut self.base)
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
        self.place.push_program(now, program, &mut self.base);
        let die = program.1.die;
        self.read.start_die(now, die, &mut self.base, ports);
    }

    /// Pads the host's open wordline: [`Place::pad`]. Returns whether there was one to pad.
    pub(crate) fn pad(&mut self, now: Ns, ports: &mut impl Out) -> bool {
        let programs = self.place.pad(&mut self.base, ports);
        let padded = programs.is_some();
        if let Some(programs) = programs {
            self.start(now, programs, ports);
        }
        padded
    }

    /// Begins to erase `block` into `mode` on all dies: [`Place::begin_erase`].
    pub(crate) fn start_erase(
        &mut self,
        now: Ns,
        block: BlockId,
        mode: CellMode,
        ports: &mut impl Out,
    ) {
        let (place, base) = (&mut self.place, &mut self.base);
        place.begin_erase(block, mode, &mut self.table, base);
        self.erase_dies(now, block, ports);
    }

    /// Queues the erase of `block` on every die.
    fn erase_dies(&mut self, now: Ns, block: BlockId, ports: &mut impl Out) {
        let base = &mut self.base;
        for die in (0..base.config.geometry.dies()).map(DieId) {
            self.place.push_erase(now, block, die, base);
            self.read.start_die(now, die, base, ports);
        }
    }

    /// Continues after a recovery: repeats the erase that was under way, and issues programs that waited.
    pub(crate) fn restart(&mut self, now: Ns, ports: &mut impl Out) {
        if let Some(block) = self.place.restart(&mut self.base) {
            self.erase_dies(now, block, ports);
        }
        while let Some(die) = self.place.push_waiting(now, &mut self.base) {
            self.read.start_die(now, die, &mut self.base, ports);
        }
        self.read.restart(now, &mut self.base, ports);
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
        let base = &mut self.base;
        self.read
            .start(now, job, purpose, priority, at, wanted, base, ports);
    }

    /// The buffer that holds `ppa`, if it is not programmed yet.
    pub(crate) fn buffered(&self, ppa: Ppa) -> Option<Buf> {
        self.place.buffered(ppa, &self.base)
    }

    /// Whether the map cache may write a page: [`Place::map_may_write`].
    pub(crate) fn map_may_write(&mut self, now: Ns) -> bool {
        let may = self.place.map_may_write(now, &mut self.base).is_ok();
        self.tell_opened(now);
        may
    }

    /// Adopts free superblock `block` as filled with `pages` pages: [`Place::adopt`].
    pub(crate) fn adopt(&mut self, now: Ns, block: BlockId, pe_cycles: u32, pages: u32) {
        let base = &mut self.base;
        self.place.adopt(now, block, pe_cycles, pages, base);
        self.read.block_changed(now, block, &base.blocks);
    }

    /// Whether a superblock is being emptied or erased in order to change its cell mode.
    pub(crate) fn is_converting(&self) -> bool {
        let (place, base) = (&self.place, &self.base);
        let mode_of = |block| base.blocks.row(block).mode;
        let erasing = place.space.erasing.map(|(block, ..)| mode_of(block));
        let emptying = place.ledger.emptying.map(|e| e.owner);
        emptying == Some(Owner::Convert) || erasing.is_some_and(|mode| mode != base.config.mode)
    }

    /// One die has finished its part of a superblock erase, under `job`: [`Place::die_erased`].
    pub(crate) fn die_erased(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        ports: &mut impl Out,
    ) -> Option<BlockId> {
        let base = &mut self.base;
        let block = self.place.die_erased(job, ok, base, ports)?;
        self.read.block_changed(now, block, &base.blocks);
        Some(block)
    }

    /// Whether the map cache has got the space that it waited for: [`Place::give_map_space`].
    pub(crate) fn give_map_space(&mut self, now: Ns) -> bool {
        let gives = self.place.give_map_space(now, &mut self.base);
        self.tell_opened(now);
        gives
    }
}
