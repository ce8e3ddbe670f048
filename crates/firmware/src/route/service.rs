//! Routes of what is asked of the firmware between events: power, memory, moves.

use firstread_core::{Arena, BlockId, CellMode, Lpn, Ns, Ports};

use crate::Firmware;
use crate::ftl::{Busy, Owner};
use crate::log::Record;

impl<M: Arena> Firmware<M> {
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
}
