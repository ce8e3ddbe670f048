//! State that is kept as it changes, for a platform whose memory survives by itself.
//!
//! A process that may be killed at any instruction has no capacitors that power a last dump. Its memory survives, in a
//! file for example. After each call of the firmware the platform calls [`Keeper::keep`], which writes what has changed
//! into cells of that memory ([`crate::format::KeptMemory`]). All that the firmware has asked for through its ports since the last such call takes
//! effect then, and not before; so whoever is killed has either done a step or not begun it. The slots of the write
//! buffers are the platform's: they change at once, and are what they were before if the step was not kept. A program whose
//! end no kept step has seen counts as torn: the platform has nothing stored there.
//!
//! [`Firmware::mount_kept`] goes on from the last step. It has the machines as they were when the firmware was
//! stopped, and does with them what [`Firmware::cut`] does at a power cut; but a volatile write cache has lost nothing.
//! The map is rebuilt as after a power cut (`ftl/recovery.rs`).
//!
//! Records of superblocks and the journal of regions have places of their own, and those that have changed are written.
//! Of the rest, what schemes have learned is compared with what was kept in every so many steps, and what is left in each.

use alloc::vec::Vec;

use firstread_core::{Arena, Ns, Ports, SuperblockId};

use crate::Firmware;
use crate::format::{
    CELL_BYTES, Cells, Cursor, Damage, Header, KeptMemory, MountError, Record as _, SectionId,
    bytes_of,
};
use crate::ftl::place::Placement;
use crate::ftl::{OnFlash, Recovering, Recovery};
use crate::log::Record;

/// What is kept as a whole, with its length in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Header,
    Placement,
    Programs,
    Directory,
    MapCache,
    Relocation,
    /// The blocks that superblocks have.
    Assembly,
    /// The worst capacity that there was.
    Worst,
    Counters,
    ReadLevels,
    Retry,
}

impl Part {
    const ALL: [Part; 11] = [
        Part::Header,
        Part::Placement,
        Part::Programs,
        Part::Directory,
        Part::MapCache,
        Part::Relocation,
        Part::Assembly,
        Part::Worst,
        Part::Counters,
        Part::ReadLevels,
        Part::Retry,
    ];

    /// Whether the drive learns it anew if it is old.
    const fn is_learned(self) -> bool {
        matches!(self, Part::Worst | Part::ReadLevels | Part::Retry)
    }

    /// The section of a dump that has it.
    const fn section(self) -> SectionId {
        match self {
            Part::Header | Part::Placement | Part::Programs => SectionId::Placement,
            Part::Directory => SectionId::Journal,
            Part::MapCache => SectionId::MapCache,
            Part::Relocation => SectionId::Relocation,
            Part::Assembly | Part::Worst => SectionId::Superblocks,
            Part::Counters => SectionId::Counters,
            Part::ReadLevels => SectionId::ReadLevels,
            Part::Retry => SectionId::Retry,
        }
    }
}

/// Where the state of a firmware lies in memory that survives it, in cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPlaces {
    parts: [u32; Part::ALL.len()],
    /// Of the first record of a superblock, and cells of each.
    records: (u32, u32),
    /// Of the first region, and cells of each.
    regions: (u32, u32),
    cells: u32,
    /// Bytes of the longest part.
    longest: usize,
}

/// Cells of `bytes` bytes.
const fn cells_of(bytes: usize) -> u32 {
    bytes.div_ceil(CELL_BYTES) as u32
}

impl KeptPlaces {
    /// The places for `firmware`, which was newly made and has neither a state nor a dump loaded.
    pub fn of<M: Arena>(firmware: &mut Firmware<M>) -> KeptPlaces {
        let mut cells = 0;
        let mut longest = 0;
        let parts = Part::ALL.map(|part| {
            let at = cells;
            let mut cursor = Cursor::counting(true);
            0u32.transfer(&mut cursor);
            firmware.count_part(part, &mut cursor);
            let bytes = cursor.end().unwrap_or(0);
            cells += cells_of(bytes);
            longest = longest.max(bytes);
            at
        });
        let store = &mut firmware.lower.store;
        let mut several = |number: u32, transfer: &mut dyn FnMut(&mut Cursor<'_>)| {
            let mut cursor = Cursor::counting(true);
            if number > 0 {
                transfer(&mut cursor);
            }
            let bytes = cursor.end().unwrap_or(0);
            longest = longest.max(bytes);
            let at = cells;
            cells += number * cells_of(bytes);
            (at, cells_of(bytes))
        };
        let blocks = &mut store.shared.blocks;
        let records = several(blocks.len(), &mut |cursor| {
            blocks.record_mut(SuperblockId(0)).transfer(cursor);
        });
        let table = &mut store.table;
        let regions = several(table.regions(), &mut |cursor| {
            table.transfer_region(0, cursor);
        });
        KeptPlaces {
            parts,
            records,
            regions,
            cells,
            longest,
        }
    }

    /// Bytes of memory.
    pub const fn bytes(&self) -> usize {
        bytes_of(self.cells)
    }

    /// Cells of `part`, with its length.
    fn cells_of(&self, part: Part) -> u32 {
        let next = self.parts.get(part as usize + 1);
        next.copied().unwrap_or(self.records.0) - self.parts[part as usize]
    }
}

/// Keeps the state of a firmware in memory that survives it.
#[derive(Clone, Debug)]
pub struct Keeper<K> {
    cells: Cells<K>,
    places: KeptPlaces,
    /// Memory for the longest part.
    scratch: Vec<u8>,
    /// A place for each job.
    waits: Vec<bool>,
    /// What is learned is kept every so many steps.
    learned_every: u32,
    /// Steps until it is kept next.
    until_learned: u32,
    /// Whether the next step keeps everything.
    keeps_all: bool,
}

impl<K: KeptMemory> Keeper<K> {
    /// Begins to keep the state of `firmware` in `memory`, which is all zeros, at `places`. What schemes have learned and
    /// the counts of reads of superblocks are kept every `learned_every` steps; the rest in each.
    ///
    /// # Panics
    /// If `memory` is shorter than [`KeptPlaces::bytes`].
    pub fn new<M: Arena>(
        memory: K,
        places: KeptPlaces,
        firmware: &mut Firmware<M>,
        learned_every: u32,
    ) -> Keeper<K> {
        let cells = Cells::new(memory, places.cells);
        Keeper::over(cells, places, firmware, learned_every)
    }

    /// What the last step has left in `memory`, for [`Firmware::mount_kept`] of `firmware`, newly made with the same
    /// configuration and schemes.
    ///
    /// # Errors
    /// [`MountError::Kept`]
    pub fn open<M: Arena>(
        memory: K,
        firmware: &mut Firmware<M>,
        learned_every: u32,
    ) -> Result<Keeper<K>, MountError> {
        let places = KeptPlaces::of(firmware);
        let cells = Cells::open(memory, places.cells).map_err(MountError::Kept)?;
        Ok(Keeper::over(cells, places, firmware, learned_every))
    }

    fn over<M: Arena>(
        cells: Cells<K>,
        places: KeptPlaces,
        firmware: &mut Firmware<M>,
        learned_every: u32,
    ) -> Keeper<K> {
        let store = &mut firmware.lower.store;
        store.shared.blocks.start_keeping();
        store.table.start_keeping();
        Keeper {
            cells,
            places,
            scratch: alloc::vec![0; places.longest],
            waits: alloc::vec![false; store.shared.jobs.len() as usize],
            learned_every,
            until_learned: 0,
            keeps_all: true,
        }
    }

    /// A call of `firmware` has returned: keeps what it has changed. `sequence` is the last sequence number that the platform has
    /// given out. From now on what the firmware has asked for may take effect.
    pub fn keep<M: Arena>(&mut self, now: Ns, sequence: u64, firmware: &mut Firmware<M>) {
        let keeps_learned = self.until_learned == 0;
        self.until_learned = match keeps_learned {
            true => self.learned_every.saturating_sub(1),
            false => self.until_learned - 1,
        };
        let header = firmware.header;
        (firmware.header.clock, firmware.header.sequence) = (now, sequence);
        let all = keeps_learned || self.keeps_all;
        let assembly = firmware.lower.store.shared.blocks.assembly_has_changed();
        for part in Part::ALL {
            let is_kept = match part {
                Part::Assembly => assembly || self.keeps_all,
                _ => all || !part.is_learned(),
            };
            if is_kept {
                self.keep_part(part, firmware);
            }
        }
        firmware.header = header;
        self.keep_records(all, firmware);
        self.keep_regions(firmware);
        self.keeps_all = false;
        self.cells.commit();
    }

    fn keep_part<M: Arena>(&mut self, part: Part, firmware: &mut Firmware<M>) {
        let (length, body) = self.scratch.split_at_mut(4);
        let mut cursor = Cursor::saving(body);
        firmware.save_part(part, &mut self.waits, &mut cursor);
        let end = cursor.end().expect("room for the longest part");
        assert!(
            cells_of(4 + end) <= self.places.cells_of(part),
            "{part:?} has outgrown its place"
        );
        length.copy_from_slice(&(end as u32).to_le_bytes());
        put(
            &mut self.cells,
            self.places.parts[part as usize],
            &self.scratch[..4 + end],
        );
    }

    fn keep_records<M: Arena>(&mut self, all: bool, firmware: &mut Firmware<M>) {
        let (first, each) = self.places.records;
        let (cells, scratch) = (&mut self.cells, &mut self.scratch);
        let mut keep = |block: SuperblockId, info: &mut crate::observe::SuperblockInfo| {
            let mut cursor = Cursor::saving(scratch);
            info.transfer(&mut cursor);
            let end = cursor.end().expect("room for a record");
            put(cells, first + block.0 * each, &scratch[..end]);
        };
        let blocks = &mut firmware.lower.store.shared.blocks;
        blocks.each_to_keep(&mut keep);
        if all {
            for block in (0..blocks.len()).map(SuperblockId) {
                keep(block, blocks.record_mut(block));
            }
        }
    }

    fn keep_regions<M: Arena>(&mut self, firmware: &mut Firmware<M>) {
        let table = &mut firmware.lower.store.table;
        let (first, each) = self.places.regions;
        let mut keep = |region: u32, table: &mut crate::ftl::map::Table<M>| {
            let mut cursor = Cursor::saving(&mut self.scratch);
            table.transfer_region(region, &mut cursor);
            let end = cursor.end().expect("room for a region");
            put(&mut self.cells, first + region * each, &self.scratch[..end]);
        };
        let mut next = 0;
        while let Some(region) = table.next_to_keep(next) {
            keep(region, table);
            next = region;
        }
        if self.keeps_all {
            (0..table.regions()).for_each(|region| keep(region, table));
        }
    }

    /// Copies `bytes` bytes from cell `at` on into `to`.
    fn get(&self, at: u32, to: &mut [u8]) {
        for (cell, to) in (at..).zip(to.chunks_mut(CELL_BYTES)) {
            to.copy_from_slice(&self.cells.get(cell)[..to.len()]);
        }
    }

    /// The memory.
    pub fn memory_mut(&mut self) -> &mut K {
        self.cells.memory_mut()
    }

    /// The memory.
    pub fn into_memory(self) -> K {
        self.cells.into_memory()
    }
}

/// The cells from `at` on have `bytes`, and then zeros.
fn put<K: KeptMemory>(cells: &mut Cells<K>, at: u32, bytes: &[u8]) {
    for (cell, bytes) in (at..).zip(bytes.chunks(CELL_BYTES)) {
        let mut contents = [0; CELL_BYTES];
        contents[..bytes.len()].copy_from_slice(bytes);
        cells.put(cell, &contents);
    }
}

impl<M: Arena> Firmware<M> {
    fn count_part(&mut self, part: Part, cursor: &mut Cursor<'_>) {
        match part {
            Part::Programs => Placement::count_programs(&self.lower.store.shared, cursor),
            _ => self.transfer_part(part, cursor),
        }
    }

    fn save_part(&mut self, part: Part, waits: &mut [bool], cursor: &mut Cursor<'_>) {
        let (store, map_cache) = (&mut self.lower.store, &mut self.lower.map_cache);
        match part {
            Part::Programs => (store.place).save_programs(&mut store.shared, waits, cursor),
            Part::MapCache => map_cache.save_as_cut(store.table.directory.len(), cursor),
            _ => self.transfer_part(part, cursor),
        }
    }

    fn transfer_part(&mut self, part: Part, cursor: &mut Cursor<'_>) {
        let mut cut = Recovery::default();
        match part {
            Part::Header => self.header.transfer_alone(cursor),
            Part::Directory => self.lower.store.table.transfer_directory(cursor),
            Part::Assembly => self.lower.store.shared.blocks.transfer_assembly(cursor),
            Part::Worst => {
                let blocks = &mut self.lower.store.shared.blocks;
                blocks.worst_capacity_mut().transfer(cursor);
            }
            // With what a mount does next.
            Part::Programs => {}
            Part::Placement
            | Part::MapCache
            | Part::Relocation
            | Part::Counters
            | Part::ReadLevels
            | Part::Retry => self.transfer(part.section(), &mut cut, cursor),
        }
    }

    /// This firmware, newly made with the same configuration and schemes, goes on where another one was stopped: from what
    /// `keeper` has opened, and from what lies on `flash`. The platform has the slots of the write buffers as they were at the last
    /// step that was kept. This copies some of them, at once; the mount after another stop copies the same again. Two map
    /// changes need room: if [`Firmware::overlay_is_short`], hand over more memory before. No other call is allowed before the recovery is complete and [`Firmware::restart`] was called.
    ///
    /// # Errors
    /// [`MountError`], if the memory is of another drive or what it says does not fit together. Then this firmware is of no use.
    pub fn mount_kept<K: KeptMemory, P: Ports<Record = Record>>(
        &mut self,
        flash: OnFlash<M>,
        keeper: &mut Keeper<K>,
        ports: &mut P,
    ) -> Result<Recovering, MountError> {
        keeper.keeps_all = true;
        let own = self.lower.store.shared.config.identity;
        self.lower.store.table.put_on(flash, false);
        let mut scratch = core::mem::take(&mut keeper.scratch);
        let loaded = self.load_kept(keeper, &mut scratch, own);
        let torn = loaded.and_then(|()| self.load_stopped(keeper, &mut scratch, ports));
        keeper.scratch = scratch;
        let mut recovery = Recovery {
            torn_programs: torn?,
            waiting_programs: self.lower.store.place.waiting_programs(),
            dumped_map_pages: self.lower.map_cache.dumped_pages(),
            erasing: self.lower.store.place.space.erases.blocks().count() as u32,
            converting: self.lower.store.is_converting(),
            ..Recovery::default()
        };
        self.header = self.header.mounted();
        self.lower.store.count_dump_and_image(&mut recovery);
        Ok(Recovering::new(recovery, SuperblockId(0)))
    }

    /// Loads all machines as they were.
    fn load_kept<K: KeptMemory>(
        &mut self,
        keeper: &Keeper<K>,
        scratch: &mut [u8],
        own: u64,
    ) -> Result<(), MountError> {
        let is_whole = |cursor: &Cursor<'_>, id| match cursor.is_whole() {
            true => Ok(()),
            false => Err(MountError::Section(id, Damage::Contents)),
        };
        for part in Part::ALL.into_iter().filter(|part| *part != Part::Programs) {
            let bytes = load(keeper, part, scratch)?;
            let mut cursor = Cursor::loading(bytes);
            self.transfer_part(part, &mut cursor);
            is_whole(&cursor, part.section())?;
            let Header { identity, .. } = self.header;
            if part == Part::Header && identity != own {
                let found = identity;
                return Err(MountError::Identity { found, own });
            }
        }
        let store = &mut self.lower.store;
        let mut each = |places: (u32, u32), i: u32, transfer: &mut dyn FnMut(&mut Cursor<'_>)| {
            let (first, cells) = places;
            let bytes = &mut scratch[..keeper.places.longest.min(cells as usize * CELL_BYTES)];
            keeper.get(first + i * cells, bytes);
            let mut cursor = Cursor::loading(bytes);
            transfer(&mut cursor);
            !cursor.has_fault()
        };
        let blocks = &mut store.shared.blocks;
        for block in (0..blocks.len()).map(SuperblockId) {
            let is_sound = each(keeper.places.records, block.0, &mut |cursor| {
                blocks.record_mut(block).transfer(cursor);
            });
            if !is_sound {
                let id = SectionId::Superblocks;
                return Err(MountError::Section(id, Damage::Contents));
            }
        }
        for region in 0..store.table.regions() {
            let is_sound = each(keeper.places.regions, region, &mut |cursor| {
                store.table.transfer_region(region, cursor);
            });
            if !is_sound {
                let id = SectionId::Journal;
                return Err(MountError::Section(id, Damage::Contents));
            }
        }
        self.is_loaded().map(|_| ())
    }

    /// The machines are as they were when the firmware was stopped: ends what was in flight. Returns the number of programs that
    /// ran.
    fn load_stopped<K: KeptMemory, P: Ports<Record = Record>>(
        &mut self,
        keeper: &Keeper<K>,
        scratch: &mut [u8],
        ports: &mut P,
    ) -> Result<u32, MountError> {
        let bytes = load(keeper, Part::Programs, scratch)?;
        let mut cursor = Cursor::loading(bytes);
        let buffers = self.buffer_slots();
        let store = &mut self.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let torn = place.load_stopped(buffers, shared, ports, &mut cursor);
        match cursor.is_whole() {
            true => Ok(torn),
            false => {
                let id = Part::Programs.section();
                Err(MountError::Section(id, Damage::Contents))
            }
        }
    }
}

/// The bytes of `part`, in `scratch`.
fn load<'a, K: KeptMemory>(
    keeper: &Keeper<K>,
    part: Part,
    scratch: &'a mut [u8],
) -> Result<&'a [u8], MountError> {
    let at = keeper.places.parts[part as usize];
    let mut length = [0; 4];
    keeper.get(at, &mut length);
    let end = (u32::from_le_bytes(length) as usize).checked_add(4);
    let room = keeper.places.cells_of(part) as usize * CELL_BYTES;
    let end = end.filter(|end| *end <= room);
    let bytes = end.and_then(|end| scratch.get_mut(..end));
    let bytes = bytes.ok_or(MountError::Section(part.section(), Damage::Contents))?;
    keeper.get(at, bytes);
    Ok(&bytes[4..])
}
