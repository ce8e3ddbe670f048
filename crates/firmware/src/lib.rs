//! The firmware of firstread: portable, integer only, without a clock.
//!
//! Machines, each with its own state and a folder. A machine calls those below it through their doors;
//! what concerns those above it is a value that it returns, and `route` hands it on. Downwards:
//!
//! - `host`: commands, split into page rows. [`ftl`]`/relocate`: data that move.
//! - [`ftl`]`/pager`: the map cache.
//! - `read`: the life of one page read. [`ftl`]`/place`: the one door by which data get a place.
//! - [`ftl`]`/map`: where a logical page lies. `schedule`: a queue for each die. [`voltage`]:
//!   read-voltage tables, groups and calibration.
//! - [`observe`]: what is known of blocks and reads.
//! - [`policy`]: the schemes, one folder an axis, one file a scheme.
//!
//! Time, flash and randomness are arguments. Memory is allocated when the firmware is made and never
//! after, but for the map's overlay, which grows in an arena of its own.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod base;
mod below;
mod cache;
mod config;
pub mod ftl;
mod host;
pub mod log;
pub mod observe;
pub mod policy;
mod read;
mod route;
mod schedule;
mod setup;
mod store;
pub mod voltage;

use firstread_core::{Arena, Buf, FlashEvent, HostCommand, Layout, Lpn, Ns, Ports};

use base::Base;
use below::Below;
pub use config::{Config, WriteCache};
use ftl::map::Directory;
use ftl::map::Table;
use ftl::pager::Pager;
use ftl::place::Place;
use ftl::relocate::Relocate;
use host::Host;
use log::Record;
use observe::{BlockMonitor, Counters};
use policy::gc_victim::AnyGcVictim;
use policy::read_ahead::ReadAhead;
use policy::read_levels::AnyReadLevels;
use policy::wear::AnyWear;
pub use policy::{Schemes, Setup};
use read::Read;
pub use route::Dump;
use schedule::{Jobs, Schedule};
use store::Store;

/// The firmware of one drive. `M` is the memory of the map's overlay.
#[derive(Clone, Debug)]
pub struct Firmware<M> {
    host: Host,
    relocate: Relocate,
    below: Below<M>,
}

impl<M: Arena> Firmware<M> {
    /// A drive with no data. All memory but the overlay's is allocated here.
    pub fn new(config: Config, schemes: Schemes, overlay: M) -> Firmware<M> {
        let geometry = config.geometry;
        let slots = geometry.slots_per_superblock(config.mode);
        let paged = config.map_cache_pages > 0;
        let (capacity, slot_bytes) = (config.capacity_slots, geometry.slot_bytes);
        let directory = Directory::new(paged, capacity, slot_bytes);
        let pager = Pager::new(config.map_cache_pages, &directory, config.max_commands);
        let map_pages = directory.len();
        let dies = u32::from(geometry.dies());
        let rebuilds = if geometry.stripe_parity { dies - 1 } else { 0 };
        // One superblock is erased at a time, and one background read is in flight.
        let reserve = rebuilds
            + Place::programs(&geometry, map_pages)
            + Relocate::window(&geometry)
            + dies
            + 1
            + schemes.read_ahead.rows()
            + pager.jobs();
        let jobs = Jobs::new(config.max_reads, reserve);
        let buffers = Buf(jobs.len() * geometry.slots_per_row());
        let cache = buffers.slot(Place::slot_buffers(&config, map_pages));
        let blocks = geometry.blocks_per_plane;
        Firmware {
            host: Host::new(&config, schemes.read_ahead, &jobs, cache),
            relocate: Relocate::new(&geometry, schemes.gc_victim),
            below: Below {
                pager,
                store: Store {
                    table: Table {
                        map: ftl::Map::new(capacity, blocks, slots, overlay),
                        directory,
                    },
                    place: Place::new(&config, map_pages, schemes.wear, buffers),
                    read: Read::new(schemes.read_levels, schemes.retry, schemes.recovery),
                    base: Base {
                        layout: Layout::new(geometry),
                        blocks: BlockMonitor::new(blocks, config.mode),
                        schedule: Schedule::new(&config, schemes.suspend),
                        counters: Counters::default(),
                        jobs,
                        config,
                    },
                },
            },
        }
    }

    /// A command of the host. Its id is below `max_commands` and not in flight.
    #[inline]
    pub fn submit<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        command: HostCommand,
        ports: &mut P,
    ) {
        self.submitted(now, command, ports);
    }

    /// An event of flash.
    #[inline]
    pub fn complete<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        event: FlashEvent,
        ports: &mut P,
    ) {
        match event {
            // The event of every read that does least: it needs no frame on the stack.
            FlashEvent::ArrayFree { die, planes, .. } => self.array_free(now, die, planes, ports),
            _ => self.happened(now, event, ports),
        }
    }

    /// Handles timers that have expired.
    pub fn poll<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.relocate.wakes() {
            self.pump(now, ports);
        }
        self.start_probe(now, ports);
    }

    /// When [`Firmware::poll`] is next needed, perhaps at once; [`Ns::MAX`] if an event will come
    /// first.
    #[inline]
    pub fn next_wakeup(&self) -> Ns {
        if self.relocate.wakes() {
            Ns::ZERO
        } else {
            self.below.store.read.next_probe()
        }
    }

    /// Slot buffers it refers to; handles are below it.
    pub fn buffer_slots(&self) -> u32 {
        let store = &self.below.store;
        store.base.jobs.len() * store.base.layout.slots_per_row()
            + Place::slot_buffers(&store.base.config, store.table.directory.len())
            + self.host.cache_slots()
    }

    /// Tags it refers to; all are below it.
    pub fn tags(&self) -> u32 {
        self.jobs() * self.below.store.read.tags_per_job()
    }

    /// Reads, programs and erases it has in flight at most: further tags are those of steps that are
    /// sensed ahead, a second one for each.
    pub fn jobs(&self) -> u32 {
        self.below.store.base.jobs.len()
    }

    /// Whether the drive has reached its end of life: it takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.below.store.place.space.read_only
    }

    /// Whether logical page `lpn` holds data.
    pub fn is_mapped(&self, lpn: Lpn) -> bool {
        self.below.store.table.map.at(lpn).is_some()
    }

    /// Whether fewer than `changes` of the map fit into the overlay's memory for certain. Writes wait
    /// when none does: hand over more in time with [`Firmware::grow_overlay`].
    #[inline]
    pub fn overlay_is_short(&self, changes: u32) -> bool {
        !self.below.store.table.map.has_room(changes)
    }

    /// Slots that the host wrote and that are in a buffer, not on flash yet.
    pub fn host_slots_buffered(&self) -> u32 {
        self.below.store.place.host_slots_buffered()
    }

    /// Pages of the map that lie on flash; none when all of it is in memory.
    pub fn map_pages(&self) -> u32 {
        self.below.store.table.directory.len()
    }

    /// Pages of the map whose changes are in memory though they are not.
    pub fn map_pages_changed(&self) -> u32 {
        self.below.pager.pages_changed()
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.below.store.base.counters
    }
    /// Its superblocks.
    pub fn blocks(&self) -> &BlockMonitor {
        &self.below.store.base.blocks
    }
    /// The scheme of axis `read_levels`.
    pub fn levels(&self) -> &AnyReadLevels {
        self.below.store.read.levels()
    }
    /// The scheme of axis `gc_victim`.
    pub fn gc_victim(&self) -> &AnyGcVictim {
        self.relocate.gc_victim()
    }
    /// The scheme of axis `wear`.
    pub fn wear(&self) -> &AnyWear {
        self.below.store.place.wear()
    }
}
