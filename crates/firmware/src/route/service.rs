//! Routes of what is asked of the firmware between events: setting up a drive, power, memory, moves.

use firstread_core::{Arena, BlockId, CellMode, Lpn, Ns, Ports, Ppa};

use crate::Firmware;
use crate::ftl::{Busy, Owner, Unsound};
use crate::log::Record;

impl<M: Arena> Firmware<M> {
    /// What lay on the drive before its first write, with the overlay's memory: a simulator says there what
    /// it has filled.
    pub fn before_mut(&mut self) -> &mut M {
        self.below.store.table.map.before_mut()
    }

    /// Learns that `block`, a free superblock of `pe_cycles`, was written all at once at time `now` and holds
    /// the last versions of `pages` pages, whose places it is told elsewhere: what a recovery learns of a
    /// superblock from its table of contents. So a drive comes to its firmware filled.
    pub fn adopt<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        pe_cycles: u32,
        pages: u32,
        ports: &mut P,
    ) {
        self.below.store.adopt(now, block, pe_cycles, pages);
        self.start_probe(now, ports);
    }

    /// Learns the same of `block`, which holds pages of the map in its first slots, the `first` one and those
    /// behind it, `pages` in all.
    #[allow(clippy::too_many_arguments)] // what a table of contents says, spelled out once
    pub fn adopt_map<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        pe_cycles: u32,
        first: u32,
        pages: u32,
        ports: &mut P,
    ) {
        let store = &mut self.below.store;
        store.adopt(now, block, pe_cycles, pages);
        store.base.blocks.row_mut(block).holds_map = true;
        let directory = &mut store.table.directory;
        for slot in 0..pages {
            directory.set(directory.lpn(first + slot), Some(Ppa::new(block, slot)));
        }
        self.start_probe(now, ports);
    }

    /// Sets the wear of a free superblock.
    pub fn set_pe_cycles(&mut self, block: BlockId, pe_cycles: u32) {
        self.below.store.base.blocks.row_mut(block).pe_cycles = pe_cycles;
    }

    /// Tells a new drive how many bad blocks each die has: as many superblocks as the worst die has,
    /// the last ones, are retired, and their good blocks replace the others' bad ones. False when
    /// what is left does not hold the capacity.
    pub fn set_bad_blocks(&mut self, of_dies: &[u32]) -> bool {
        let store = &mut self.below.store;
        store.place.set_bad_blocks(of_dies, &mut store.base)
    }

    /// Power is on and the drive is filled: background work begins.
    pub fn start<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        let store = &mut self.below.store;
        store.read.power_up(now, &store.base);
        self.start_probe(now, ports);
    }

    /// Power is back after a shutdown in which nothing was lost; the firmware's clock stood still, and the
    /// cells have aged.
    pub fn power_on<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        let store = &mut self.below.store;
        store.read.power_on(now, &store.base);
        self.start_probe(now, ports);
    }

    /// Lets `grow` add bytes at the end of the overlay's memory, between events; what waited
    /// for them goes on.
    pub fn grow_overlay<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        grow: impl FnOnce(&mut M),
        ports: &mut P,
    ) {
        self.below.store.table.map.grow_overlay(grow);
        self.resume_writes(now, ports);
        self.pump(now, ports);
    }

    /// Asks that logical page `lpn` be written anew. Whoever asks first owns the move: a page that
    /// is on the move already is refused.
    pub fn ask_move<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        ports: &mut P,
    ) -> Result<(), Busy> {
        self.relocate.ask_move(owner, lpn, &mut self.below)?;
        self.pump(now, ports);
        Ok(())
    }

    /// Asks that `block` be erased into `mode`. What it holds is moved away first. Refused when the
    /// superblock is not at rest, and when the drive would no longer hold its capacity. Forgotten
    /// when garbage collection erases the superblock first.
    pub fn ask_mode<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        mode: CellMode,
        ports: &mut P,
    ) -> Result<(), Busy> {
        let below = &mut self.below;
        if self.relocate.ask_mode(now, block, mode, below, ports)? {
            self.pump(now, ports);
        }
        Ok(())
    }

    /// Checks the whole drive: time and memory in proportion to its pages. For tests.
    pub fn audit(&self) -> Result<(), Unsound> {
        self.below.store.audit()
    }
}
