//! Power routes: what a power cut leaves of each machine, and how each machine continues. `ftl/recovery.rs`
//! explains how the map is rebuilt.

use firstread_core::{Arena, Lpn, Ns, Ports, Spare};

use crate::Firmware;
use crate::ftl::map::Table;
use crate::ftl::{Recovering, Recovery, map_cache, place, relocate};
use crate::log::Record;
use crate::observe::{Counters, SuperblockTable};
use crate::read;

/// What survives a power cut beside flash: the emergency dump and the journal. Also the counters, which a
/// drive keeps over its life.
#[derive(Debug)]
pub struct Dump<M> {
    /// The journal's trims and losses, over the initial contents. The slots of pages are not in the dump,
    /// unless the map lies on flash: then the map pages on flash and the changes in the dump together are the
    /// map, and the directory has no other places.
    table: Table<M>,
    /// Changed map entries, if the map lies on flash.
    map_cache: map_cache::MapCache,
    /// The superblock table, without valid-slot counts and without pins.
    blocks: SuperblockTable,
    place: place::Dumped,
    relocate: relocate::Dumped,
    read: read::Dumped,
    counters: Counters,
    recovery: Recovery,
}

impl<M> Dump<M> {
    /// The next firmware has another scheme of axis `read_levels`, which begins with tables of its own.
    pub fn forget_levels(&mut self) {
        self.read.forget_levels();
    }

    /// The next firmware has another scheme of axis `retry`, which has not yet learned when a sense may be
    /// short.
    pub fn forget_retry(&mut self) {
        self.read.forget_retry();
    }
}

impl<M: Arena> Firmware<M> {
    /// Power is cut. Returns what is left of the firmware; flash is as the cut has left it. Of a volatile write cache,
    /// what was not programmed is lost, and [`firstread_core::Accounting::lost`] tells of which pages. The recovery
    /// needs room for one map change: if [`Firmware::overlay_is_short`], hand over more memory before.
    pub fn dump<P: Ports<Record = Record>>(mut self, ports: &mut P) -> Dump<M> {
        let mut recovery = Recovery {
            erasing: self.lower.store.place.space.erases.blocks().count() as u32,
            converting: self.lower.store.is_converting(),
            probing: self.lower.store.read.is_probing(),
            ..Recovery::default()
        };
        let (mut map_cache, store) = (self.lower.map_cache, self.lower.store);
        let (mut table, mut place, mut shared) = (store.table, store.place, store.shared);
        let codewords = shared.config.geometry.codewords_per_slot();
        shared.counters.front.ahead_wasted += self.host.cut(&shared.jobs, codewords);
        recovery.lost_slots =
            place.lose_unsafe(&mut table, ports, |lpn, of| map_cache.change(lpn, of));
        recovery.torn_programs = place.cut(&mut shared, ports);
        recovery.count_reads(&shared.jobs);
        recovery.waiting_programs = place.waiting_programs();
        if map_cache.is_on() {
            table.directory.forget_places();
            recovery.dumped_map_pages = map_cache.cut();
        } else {
            debug_assert!(table.map.has_room(1), "the overlay is short");
            table.map.forget_places();
        }
        place.forget_counts(&mut shared);
        Dump {
            table,
            map_cache,
            blocks: shared.blocks,
            place: place.dump(),
            relocate: self.relocate.dump(),
            read: store.read.dump(),
            counters: shared.counters,
            recovery,
        }
    }

    /// Power is back. This firmware, newly made with the same configuration, takes over `dump`. Its schemes
    /// are the same, except for those activated meanwhile: [`Dump::forget_levels`], [`Dump::forget_retry`].
    /// No other call is allowed before the recovery is complete and [`Firmware::restart`] was called.
    pub fn begin_recovery(&mut self, dump: Dump<M>) -> Recovering {
        let store = &mut self.lower.store;
        store.shared.blocks.take_over(dump.blocks);
        store.shared.counters = dump.counters;
        store.place.take_dumped(dump.place, &mut store.shared);
        store.read.take_dumped(dump.read);
        (store.table, self.lower.map_cache) = (dump.table, dump.map_cache);
        self.relocate.take_dumped(dump.relocate);
        Recovering::new(dump.recovery)
    }

    /// Reads the table of contents of the next superblock. After the last superblock, takes over what was
    /// dumped. Returns true while there is more to do; afterwards [`Recovering::done`] says what the recovery
    /// took.
    pub fn recover_superblock<P: Ports<Record = Record>>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        self.lower.store.recover_superblock(recovering, ports)
    }

    /// Runs a whole recovery from the dump on.
    pub fn recover<P: Ports<Record = Record>>(&mut self, dump: Dump<M>, ports: &P) -> Recovery {
        let recovering = self.begin_recovery(dump);
        self.go_through(recovering, ports)
    }

    /// Runs the rest of a recovery.
    pub fn go_through<P: Ports<Record = Record>>(
        &mut self,
        mut recovering: Recovering,
        ports: &P,
    ) -> Recovery {
        while self.recover_superblock(&mut recovering, ports) {}
        recovering.done()
    }

    /// The version of page `lpn` that the recovery has found, if it holds data.
    pub fn recovered<P: Ports<Record = Record>>(&self, lpn: Lpn, ports: &P) -> Option<Spare> {
        self.lower.store.recovered(lpn, ports)
    }

    /// Continues after a recovery. Events of operations issued before the cut are void.
    pub fn restart<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.lower.store.restart(now, ports);
        self.relocate.wake();
    }
}
