//! Setting up a drive that was not filled through host commands: used by a factory, or by a simulator that
//! fills a drive without simulating the writes. Also the audit of the whole drive, for tests.

use core::ops::Range;

use firstread_core::{Arena, DieId, Lpn, Ns, Ports, Ppa, SuperblockId};

use crate::Firmware;
use crate::ftl::{Inconsistency, RESERVE};
use crate::log::Record;
use crate::observe::{Future, RegionId, StreamBuffer, StreamId, SuperblockUse};
use crate::policy::area::{AfterOverwrites, Areas};
use crate::policy::cell_mode::CellModes;
use crate::read::Learned;

/// The superblocks of a drive in the steady state of overwrites alone, at a moment at which none is open and the host may
/// write on at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SteadySpace {
    /// Superblocks that are free outside the low wearing area: the reserve of cleaning, and those that streams of copies have
    /// open there or keep free in another cell mode.
    pub free: u32,
    /// The low wearing area, if the drive has one.
    pub low: Option<SteadyLow>,
}

/// The low wearing area in such a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SteadyLow {
    /// Number of its first superblock.
    pub first: u32,
    /// What it holds.
    pub holds: AfterOverwrites,
    /// Superblocks by which the data of the high wearing area have to fall short of it, so that they find room there alone.
    pub kept_in_high: u32,
}

impl<M: Arena> Firmware<M> {
    /// The initial contents of the drive, with the memory of the overlay. A simulator describes there what it
    /// has filled.
    pub fn initial_contents_mut(&mut self) -> &mut M {
        self.lower.store.table.map.initial_contents_mut()
    }

    /// The slot where the last version of logical page `lpn` lies. For tests.
    pub fn place_of(&self, lpn: Lpn) -> Option<Ppa> {
        self.lower.store.table.map.at(lpn)
    }

    /// Adopts `block`, a free superblock with `pe_cycles`, as written all at once at time `now`. It holds the
    /// last versions of `pages` pages; the caller makes their places known elsewhere. This is what a recovery
    /// learns of a superblock from its table of contents.
    pub fn mark_filled<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        pe_cycles: u32,
        pages: u32,
        ports: &mut P,
    ) {
        self.lower.store.mark_filled(now, block, pe_cycles, pages);
        self.start_probe(now, ports);
    }

    /// Adopts `block` as a superblock of map pages. Its first slots hold `pages` map pages, numbered from
    /// `first` on.
    #[allow(clippy::too_many_arguments)] // what a table of contents says, spelled out once
    pub fn mark_filled_with_map<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        pe_cycles: u32,
        first: u32,
        pages: u32,
        ports: &mut P,
    ) {
        let store = &mut self.lower.store;
        store.mark_filled(now, block, pe_cycles, pages);
        store.shared.blocks.info_mut(block).holds_map = true;
        let directory = &mut store.table.directory;
        for slot in 0..pages {
            directory.set(directory.lpn(first + slot), Some(Ppa::new(block, slot)));
        }
        self.start_probe(now, ports);
    }

    /// The superblocks that a fill of `filled` superblocks in address order leaves out between others, so that a region
    /// that a scheme declares is filled too: the free ones of a drive that is full lie at the end of the drive's own
    /// region. Their places among the superblocks that are not retired; empty if there are none.
    pub fn left_out_by_fill(&self, filled: u32) -> Range<u32> {
        let store = &self.lower.store;
        let blocks = &store.shared.blocks;
        let declared = store.place.area.region();
        let free_after = declared.and_then(|region| region.free_after_fill);
        let is_usable =
            |number: &u32| blocks.info(SuperblockId(*number)).usage != SuperblockUse::Bad;
        let usable = |numbers: Range<u32>| numbers.filter(is_usable).count() as u32;
        let own = usable(blocks.numbers_in(RegionId::MAIN));
        let usable = usable(0..blocks.len());
        let free = usable.saturating_sub(filled);
        match free_after.and_then(|stay| free.checked_sub(stay)) {
            Some(out) if out <= own && usable > own => own - out..own,
            _ => 0..0,
        }
    }

    /// What is free in the steady state of overwrites alone, where the superblocks are worn as `pe_cycles` says.
    pub fn steady_space(&self, pe_cycles: &[u32]) -> SteadySpace {
        let store = &self.lower.store;
        let (place, blocks) = (&store.place, &store.shared.blocks);
        let space = &place.space;
        let superblocks = |slots: u64| slots.div_ceil(space.largest_slots) as u32;
        let kept = superblocks(space.needed_slots - space.capacity_slots);
        let high = blocks.numbers_in(RegionId::MAIN);
        let is_usable =
            |number: &u32| blocks.info(SuperblockId(*number)).usage != SuperblockUse::Bad;
        let usable = high.clone().filter(is_usable);
        let worn = usable.map(|number| u64::from(pe_cycles[number as usize]));
        let (sum, usable) = worn.fold((0, 0), |(sum, n), worn| (sum + worn, n + 1));
        let mean_milli = 1000 * sum / u64::max(usable, 1);
        SteadySpace {
            free: RESERVE as u32 + superblocks(place.stream_plan().kept_by_copies()),
            low: blocks.has_regions().then(|| SteadyLow {
                first: high.end,
                holds: place.area.after_overwrites(mean_milli),
                kept_in_high: kept + superblocks(space.least_spare()),
            }),
        }
    }

    /// What `block` was filled with has moved since the host wrote it.
    pub fn mark_moved(&mut self, block: SuperblockId) {
        let blocks = &mut self.lower.store.shared.blocks;
        blocks.info_mut(block).stream = Some(StreamId::MOVE);
    }

    /// Ends this firmware, and returns what it has learned that outlives the data of its drive.
    pub fn learned(self) -> Learned {
        self.lower.store.read.learned()
    }

    /// Power is on and the drive is filled, and has been filled before: starts background work, as
    /// [`Firmware::start`], with what was `learned` in the life of the data before. Both firmwares have the same
    /// configuration and schemes.
    pub fn start_again<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        learned: Learned,
        ports: &mut P,
    ) {
        let store = &mut self.lower.store;
        store.place.space.write_image();
        store.place.look_at_regions(&store.shared);
        store.place.pool_begins(&store.shared);
        store.read.power_up_again(now, learned, &store.shared);
        self.start_probe(now, ports);
    }

    /// Tells oracles what the host will read and write from now on. Schemes that are no oracles never ask.
    pub fn foretell(&mut self, mut future: Future) {
        let store = &mut self.lower.store;
        let cell_mode = &mut store.place.cell_mode;
        cell_mode.foresee(&mut future, &store.shared.blocks);
        future.forget_windows();
        store.place.look_at_regions(&store.shared);
        store.place.area.foresee(&future);
        store.shared.future = future;
    }

    /// What the host will read and write, if that was foretold.
    pub fn future(&self) -> &Future {
        &self.lower.store.shared.future
    }

    /// From now on the least capacity of superblocks counts anew: [`SuperblockTable::worst_capacity`].
    ///
    /// [`SuperblockTable::worst_capacity`]: crate::observe::SuperblockTable::worst_capacity
    pub fn watch_capacity(&mut self) {
        let shared = &mut self.lower.store.shared;
        let geometry = shared.config.geometry;
        shared
            .blocks
            .watch_capacity(|mode| geometry.slots_per_superblock(mode));
    }

    /// Sets the wear of a free superblock.
    pub fn set_pe_cycles(&mut self, block: SuperblockId, pe_cycles: u32) {
        self.lower
            .store
            .shared
            .blocks
            .info_mut(block)
            .set_pe_cycles(pe_cycles);
    }

    /// A new drive has the bad blocks `bad`, which name superblock and die. The superblocks `retired` are retired, and the
    /// last ones of the others, until as many are as the worst die has bad blocks. Their good blocks replace the bad
    /// blocks of other superblocks. False if the rest does not hold the capacity.
    pub fn set_bad_blocks(
        &mut self,
        bad: &[(SuperblockId, DieId)],
        retired: &[SuperblockId],
    ) -> bool {
        let store = &mut self.lower.store;
        store.place.set_bad_blocks(bad, retired, &mut store.shared)
    }

    /// Numbers of the superblocks that are retired, in rising order.
    pub fn retired(&self) -> impl Iterator<Item = u32> {
        let all = self.blocks().iter();
        all.filter_map(|(block, info)| (info.usage == SuperblockUse::Bad).then_some(block.0))
    }

    /// Slot buffers of the write buffers: of all streams, and of these those that streams of schemes share. There are as
    /// many again for data whose program failed.
    pub fn write_buffer_slots(&self) -> (u32, u32) {
        let plan = self.lower.store.place.stream_plan();
        (plan.slot_buffers(), plan.shared_slot_buffers())
    }

    /// The write buffer of each stream: the superwordlines that no other stream takes.
    pub fn stream_buffers(&self) -> impl Iterator<Item = StreamBuffer> {
        self.lower.store.place.stream_plan().buffers()
    }

    /// The superwordlines that streams of schemes share beyond these; of a drive without such streams, none.
    pub fn shared_buffer(&self) -> StreamBuffer {
        self.lower.store.place.stream_plan().shared_buffer()
    }

    /// Checks the consistency of the whole drive, in time and memory proportional to its pages. For tests.
    pub fn audit(&self) -> Result<(), Inconsistency> {
        self.lower.store.audit()
    }
}
