//! What a factory, or a simulator that fills a drive without writing it, tells a new firmware of its drive;
//! and the check of the whole drive that tests make.

use firstread_core::{Arena, BlockId, Ns, Ports, Ppa};

use crate::Firmware;
use crate::ftl::Unsound;
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

    /// Checks the whole drive: time and memory in proportion to its pages. For tests.
    pub fn audit(&self) -> Result<(), Unsound> {
        self.below.store.audit()
    }
}
