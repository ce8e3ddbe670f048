//! Routes of requests between events: power, memory, moves.

use firstread_core::{Arena, CellMode, Lpn, Ns, Ports, SuperblockId};

use crate::Firmware;
use crate::ftl::{Busy, Owner};
use crate::log::Record;

impl<M: Arena> Firmware<M> {
    /// Power is on and the drive is filled: starts background work.
    pub fn start<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        let store = &mut self.lower.store;
        store.place.space.write_image();
        store.place.look_at_regions(&store.shared);
        store.place.pool_begins(&store.shared);
        store.read.power_up(now, &store.shared);
        self.start_probe(now, ports);
    }

    /// Power is back after a shutdown that lost nothing. The firmware's clock stood still meanwhile, but the
    /// cells have aged.
    pub fn power_on<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        let store = &mut self.lower.store;
        store.place.pool.host_asks(now);
        store.read.power_on(now, &store.shared);
        self.start_probe(now, ports);
    }

    /// Lets `grow` append bytes to the memory of the overlay, between events. Whatever waited for memory
    /// continues.
    pub fn grow_overlay<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        grow: impl FnOnce(&mut M),
        ports: &mut P,
    ) {
        self.lower.store.table.map.grow_overlay(grow);
        self.resume_writes(now, ports);
        self.advance_all(now, ports);
    }

    /// Asks for a move of logical page `lpn`. The first request owns the move: a page that is already being
    /// moved is refused.
    pub fn ask_move<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        ports: &mut P,
    ) -> Result<(), Busy> {
        self.relocate.ask_move(owner, lpn, &mut self.lower)?;
        self.advance_all(now, ports);
        Ok(())
    }

    /// Asks for an erase of `block` into `mode`, after its data are moved away. Refused if the superblock is
    /// in use by another move or erase, or if the drive would no longer hold its capacity. The request is
    /// dropped if garbage collection erases the superblock first.
    pub fn ask_mode<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        mode: CellMode,
        ports: &mut P,
    ) -> Result<(), Busy> {
        let lower = &mut self.lower;
        if self.relocate.ask_mode(now, block, mode, lower, ports)? {
            self.advance_all(now, ports);
        }
        Ok(())
    }
}
