//! The firmware of firstread: portable, integer only, without a clock.
//!
//! The firmware consists of machines. Each machine has a folder and state of its own. A machine calls the
//! machines below it. A machine returns a value for what concerns the machines above it, and `route` hands
//! the value on. From top to bottom:
//!
//! - `host`: commands, split into multi-plane pages. [`ftl`]`/relocate`: moves of data inside the drive.
//! - [`ftl`]`/map_cache`: the map cache.
//! - `read`: one page read with its retries. [`ftl`]`/place`: the only way by which data get a physical slot.
//! - [`ftl`]`/map`: the slot of each logical page. `schedule`: the queues of each die. [`voltage`]:
//!   read-voltage tables, groups and calibration.
//! - [`observe`]: superblock table, counters and heat.
//! - [`policy`]: the schemes; one folder per axis, one file per scheme.
//!
//! Time, flash and randomness are arguments. All memory is allocated in [`Firmware::new`], except for the
//! overlay of the map, which grows in an arena of its own.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cache;
mod config;
mod flash_store;
pub mod format;
pub mod ftl;
mod host;
pub mod log;
mod lower_layers;
pub mod observe;
pub mod policy;
mod read;
mod route;
mod schedule;
mod setup;
mod shared;
pub mod voltage;

use firstread_core::{Arena, Buf, CellMode, FlashEvent, HostCommand, Lpn, Ns, Ports, Ppa};

pub use config::{ChangeTimes, Config, Turns, WriteCache};
use flash_store::FlashStore;
use format::Header;
use ftl::map::{Directory, Table};
use ftl::map_cache::MapCache;
use ftl::place::{Placement, StreamPlan};
use ftl::relocate::Relocate;
use host::Host;
use log::Record;
use lower_layers::LowerLayers;
use observe::{Counters, FdpLog, Heat, Regions, SuperblockTable};
use policy::area::Areas;
use policy::gc_victim::AnyGcVictim;
use policy::page_type::PageTypes;
use policy::read_ahead::ReadAhead;
use policy::read_levels::{AnyReadLevels, ReadLevels};
pub use policy::{Schemes, Setup};
pub use read::Learned;
use read::Read;
pub use route::{Keeper, KeptPlaces};
use schedule::Jobs;
pub use setup::{SteadyLow, SteadySpace};
use shared::Shared;

/// The firmware of one drive. `M` is the memory of the map overlay.
#[derive(Clone, Debug)]
pub struct Firmware<M> {
    host: Host,
    relocate: Relocate,
    lower: LowerLayers<M>,
    /// What the header of the next dump says.
    header: Header,
}

impl<M: Arena> Firmware<M> {
    /// Firmware for an empty drive. All memory but that of the overlay is allocated here.
    pub fn new(config: Config, schemes: Schemes, overlay: M) -> Firmware<M> {
        let geometry = config.geometry;
        let slots = geometry.slots_per_superblock(config.mode);
        let paged = config.map_cache_pages > 0;
        let (capacity, slot_bytes) = (config.capacity_slots, geometry.slot_bytes);
        let directory = Directory::new(paged, capacity, slot_bytes);
        let map_cache = MapCache::new(config.map_cache_pages, &directory, config.max_commands);
        let map_pages = directory.len();
        let dies = u32::from(geometry.dies());
        let rebuilds = if geometry.stripe_parity { dies - 1 } else { 0 };
        let declared = schemes.streams();
        let plan = StreamPlan::new(geometry, config.mode, map_pages, declared);
        let reserve = rebuilds
            + plan.programs()
            + Relocate::window(&geometry)
            + dies * (1 + plan.erases_beside())
            + u32::from(
                schemes
                    .read_levels
                    .most_probes()
                    .clamp(1, read::MOST_PROBES),
            )
            + schemes.read_ahead.rows()
            + map_cache.jobs();
        let jobs = Jobs::new(config.max_reads, reserve, geometry.slots_per_mp_page());
        let buffers = Buf(jobs.len() * geometry.slots_per_mp_page());
        let cache = buffers.slot(plan.all_slot_buffers());
        let blocks = geometry.blocks_per_plane;
        let declared = schemes.area.region().map(|region| region.first);
        let regions = Regions::new(blocks, declared);
        let promotes = schemes.page_type.sees_reads();
        let gives_way = schemes.read_levels.probes_give_way();
        let by_place = (
            schemes.cell_mode,
            schemes.area,
            schemes.wear,
            schemes.page_type,
            schemes.stream,
        );
        let identity = config.identity;
        let mut firmware = Firmware {
            header: Header {
                identity,
                ..Header::default()
            },
            host: Host::new(&config, schemes.read_ahead, &jobs, cache),
            relocate: Relocate::new(
                &config,
                schemes.gc_victim,
                &by_place.0,
                schemes.refresh,
                declared.is_some(),
                promotes,
            ),
            lower: LowerLayers {
                map_cache,
                store: FlashStore {
                    table: Table {
                        map: ftl::Map::new(capacity, blocks, slots, overlay),
                        directory,
                    },
                    place: Placement::new(&config, map_pages, plan, by_place, &regions, buffers),
                    read: Read::new(
                        config.mode,
                        schemes.read_levels,
                        schemes.retry,
                        schemes.read_recovery,
                        schemes.other_modes,
                        schemes.read_identities,
                        geometry.channels,
                    ),
                    shared: Shared::new(config, regions, schemes.suspend, gives_way, jobs),
                },
            },
        };
        let FlashStore { place, shared, .. } = &mut firmware.lower.store;
        shared
            .blocks
            .clean_apart(place.pool_mode().into_iter().collect());
        place.space.pools.assign(&mut shared.blocks);
        firmware
    }

    /// A host command. Its id is below `max_commands` and not in flight.
    #[inline]
    pub fn submit<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        command: HostCommand,
        ports: &mut P,
    ) {
        self.lower.store.place.pool.host_asks(now);
        self.submitted(now, command, ports);
    }

    /// A die or its decoder has an outcome: the second of the four entry points.
    #[inline]
    pub fn complete<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        event: FlashEvent,
        ports: &mut P,
    ) {
        match event {
            // Handled inline because it is the cheapest event of every read and needs no stack frame.
            FlashEvent::ArrayFree { die, planes, .. } => self.array_free(now, die, planes, ports),
            _ => self.flash_event(now, event, ports),
        }
    }

    /// Handles timers that have expired.
    pub fn poll<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.lower.store.place.pool.due() <= now {
            self.relocate.wake();
            let store = &mut self.lower.store;
            match self.host.has_commands() {
                true => store.place.pool.host_asks(now),
                false => {
                    store.place.pool.look_at_host(now);
                    // Trims since the last superblock was opened leave more to the pool.
                    store.place.look_at_pool(&store.shared);
                }
            }
        }
        if self.relocate.wakes() {
            self.advance_all(now, ports);
        }
        self.start_probe(now, ports);
    }

    /// When [`Firmware::poll`] is needed next. [`Ns::MAX`] if only an event can bring more work.
    #[inline]
    pub fn next_wakeup(&self) -> Ns {
        if self.relocate.wakes() {
            Ns::ZERO
        } else {
            let probe = self.lower.store.read.next_probe();
            probe.min(self.lower.store.place.pool.due())
        }
    }

    /// Number of slot buffers. Buffer handles are below it.
    pub fn buffer_slots(&self) -> u32 {
        let store = &self.lower.store;
        store.shared.jobs.len() * store.shared.layout.slots_per_mp_page()
            + store.place.slot_buffers()
            + self.host.cache_slots()
    }

    /// Number of tags. Tags are below it.
    pub fn tags(&self) -> u32 {
        self.jobs() * self.lower.store.read.tags_per_job()
    }

    /// Maximum number of reads, programs and erases in flight. The tags above it are those of speculative
    /// retry steps, one per job.
    pub fn jobs(&self) -> u32 {
        self.lower.store.shared.jobs.len()
    }

    /// Whether the drive has reached its end of life and takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.lower.store.place.space.read_only
    }

    /// The slot of logical page `lpn`, on flash or in the write buffer, if it holds data.
    pub fn slot_of(&self, lpn: Lpn) -> Option<Ppa> {
        self.lower.store.table.map.at(lpn)
    }

    /// Whether the memory of the overlay may be too small for `changes` map changes. If it cannot take a
    /// single change, writes wait: hand over more memory in time with [`Firmware::grow_overlay`].
    #[inline]
    pub fn overlay_is_short(&self, changes: u32) -> bool {
        !self.lower.store.table.map.has_room(changes)
    }

    /// Slots of host data that are in the write buffer and not yet on flash.
    pub fn host_slots_buffered(&self) -> u32 {
        self.lower.store.place.host_slots_buffered()
    }

    /// [`Firmware::most_slots_held`] counts from now on.
    pub fn watch_buffers(&mut self) {
        self.lower.store.place.watch_buffers();
    }

    /// The most slots that the write buffers have held that were not yet on flash, of the host and of moves; none if they are not
    /// watched.
    pub fn most_slots_held(&self) -> Option<u32> {
        self.lower.store.place.most_slots_held()
    }

    /// Map pages that lie on flash; none if the whole map is in memory.
    pub fn map_pages(&self) -> u32 {
        self.lower.store.table.directory.len()
    }

    /// Map pages with changes in memory that are not on flash.
    pub fn map_pages_changed(&self) -> u32 {
        self.lower.map_cache.pages_changed()
    }

    /// Counters of the drive.
    pub fn counters(&self) -> &Counters {
        &self.lower.store.shared.counters
    }
    /// Events of placement handles since the drive was new; none of a drive without placement handles.
    pub fn fdp_log(&self) -> Option<FdpLog<'_>> {
        self.lower.store.place.fdp_log()
    }
    /// Heat of the pages of the host.
    pub fn heat(&self) -> &Heat {
        &self.lower.store.shared.heat
    }
    /// What each superblock is used for and holds, and how worn it is.
    pub fn blocks(&self) -> &SuperblockTable {
        &self.lower.store.shared.blocks
    }
    /// How far cleaning is ahead of the host.
    pub fn cleaned_ahead(&self) -> ftl::Ahead {
        self.lower.store.place.ahead(&self.lower.store.shared)
    }
    /// The scheme of axis `read_levels`, for superblocks in the mode in which they start.
    pub fn levels(&self) -> &AnyReadLevels {
        self.lower.store.read.levels()
    }
    /// The scheme of axis `read_levels` for superblocks in each cell mode that the drive has levels for, the mode in
    /// which superblocks start first.
    pub fn levels_by_mode(&self) -> impl Iterator<Item = (CellMode, &AnyReadLevels)> {
        self.lower.store.read.levels_by_mode()
    }
    /// The scheme of axis `gc_victim`.
    pub fn gc_victim(&self) -> &AnyGcVictim {
        self.relocate.gc_victim()
    }
}
