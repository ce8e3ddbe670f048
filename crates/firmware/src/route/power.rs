//! Routes of power: what a cut leaves of each machine, and how each goes on. `ftl/recovery.rs` tells how the
//! map is made anew.

use firstread_core::{Arena, Ns, Ports, SenseMode};

use crate::Firmware;
use crate::ftl::map::Table;
use crate::ftl::{Recovering, Recovery, pager, place, relocate};
use crate::log::Record;
use crate::observe::{BlockMonitor, Counters};
use crate::read;
use crate::schedule::Purpose;

/// What a power cut leaves beside flash: the emergency dump and the journal. Also counters, which a
/// drive keeps over its life.
#[derive(Debug)]
pub struct Dump<M> {
    /// The journal's trims and losses, over what lay there before. No other places, unless the map
    /// lies on flash: then this is what is there and in the dump, and the directory has no other places.
    table: Table<M>,
    /// Changes of the map, where it lies on flash.
    pager: pager::Pager,
    /// The table of superblocks, without valid slots and reads under way.
    blocks: BlockMonitor,
    place: place::Dumped,
    relocate: relocate::Dumped,
    read: read::Dumped,
    counters: Counters,
    recovery: Recovery,
}

impl<M> Dump<M> {
    /// The next firmware has another scheme of axis `read_levels`: it begins with tables of its own.
    pub fn forget_levels(&mut self) {
        self.read.forget_levels();
    }

    /// The next firmware has another scheme of axis `retry`: it knows nothing yet of how short a sense may be.
    pub fn forget_retry(&mut self) {
        self.read.forget_retry();
    }
}

impl<M: Arena> Firmware<M> {
    /// Power is cut: what is left of the firmware, where flash is as the cut has left it. The recovery
    /// needs room for a change of the map: where [`Firmware::overlay_is_short`], hand over more memory
    /// before.
    pub fn dump<P: Ports<Record = Record>>(mut self, ports: &mut P) -> Dump<M> {
        let mut recovery = Recovery {
            erasing: self.below.store.place.space.erasing.is_some(),
            converting: self.below.store.is_converting(),
            probing: self.below.store.read.is_probing(),
            ..Recovery::default()
        };
        let (mut pager, store) = (self.below.pager, self.below.store);
        let (mut table, mut place, mut base) = (store.table, store.place, store.base);
        let codewords = base.config.geometry.codewords_per_slot();
        base.counters.front.ahead_wasted += self.host.cut(&base.jobs, codewords);
        recovery.torn_programs = place.cut(&mut base, ports);
        for job in base.jobs.iter() {
            match job.purpose {
                Purpose::Rebuild => recovery.rebuild_reads += 1,
                Purpose::Free
                | Purpose::Program { .. }
                | Purpose::Erase { .. }
                | Purpose::Probe => {}
                _ => recovery.soft_reads += u32::from(job.sense != SenseMode::Hard),
            }
        }
        recovery.waiting_programs = place.waiting_programs();
        if pager.is_on() {
            table.directory.forget_places();
            recovery.dumped_map_pages = pager.cut();
        } else {
            debug_assert!(table.map.has_room(1), "the overlay is short");
            table.map.forget_places();
        }
        place.forget_counts(&mut base);
        Dump {
            table,
            pager,
            blocks: base.blocks,
            place: place.dump(),
            relocate: self.relocate.dump(),
            read: store.read.dump(),
            counters: base.counters,
            recovery,
        }
    }

    /// Power is back: this firmware, which is a new one of the same configuration, takes on `dump`. Its schemes are
    /// the same, but for those that were activated meanwhile: [`Dump::forget_levels`], [`Dump::forget_retry`].
    /// Nothing else is asked of it before the recovery has come to its end and [`Firmware::restart`].
    pub fn begin_recovery(&mut self, dump: Dump<M>) -> Recovering {
        let store = &mut self.below.store;
        (store.base.blocks, store.base.counters) = (dump.blocks, dump.counters);
        store.place.take_dumped(dump.place, &store.base);
        store.read.take_dumped(dump.read);
        (store.table, self.below.pager) = (dump.table, dump.pager);
        self.relocate.take_dumped(dump.relocate);
        Recovering::new(dump.recovery)
    }

    /// Reads the table of contents of the next superblock; after the last one, takes on what was
    /// dumped. True while there is more to do; then [`Recovering::done`] tells what that took.
    pub fn recover_superblock<P: Ports<Record = Record>>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        self.below.store.recover_superblock(recovering, ports)
    }

    /// A whole recovery, from the dump on.
    pub fn recover<P: Ports<Record = Record>>(&mut self, dump: Dump<M>, ports: &P) -> Recovery {
        let recovering = self.begin_recovery(dump);
        self.go_through(recovering, ports)
    }

    /// The rest of a recovery.
    pub fn go_through<P: Ports<Record = Record>>(
        &mut self,
        mut recovering: Recovering,
        ports: &P,
    ) -> Recovery {
        while self.recover_superblock(&mut recovering, ports) {}
        recovering.done()
    }

    /// Goes on after a recovery. Events of before are void; those that follow are of operations
    /// issued from here on.
    pub fn restart<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.below.store.restart(now, ports);
        self.relocate.wake();
    }
}
