//! The table of superblocks.

use alloc::boxed::Box;
use alloc::vec;
use core::cmp::Reverse;
use core::ops::Range;

use firstread_core::{BlockId, CellMode, DieId, Geometry, Ns, PageAddr, SuperblockId};

use crate::format::{Cursor, Record as _, record};

use super::assembly::Assembly;
use super::at_rest::AtRest;
use super::index::Index;
use super::page_reads::ReadCtx;
use super::regions::{MOST_REGIONS, RegionId, Regions};
use super::superblock::{PoolId, SuperblockInfo, SuperblockUse};
use super::who::ModeSet;

/// The slots of all superblocks, each in its cell mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PhysicalCapacity {
    /// Slots of all superblocks that are not retired.
    pub slots: u64,
    /// Slots fewer than if all these superblocks were in the mode in which they started.
    pub lost_slots: u64,
}

/// Superblocks that a scheme sees and chooses from: all of a drive, or those of a part of it.
#[derive(Clone, Copy, Debug)]
pub struct SuperblockView<'a> {
    infos: &'a [SuperblockInfo],
    /// Number of the first one.
    first: u32,
    /// The index, where these are all superblocks of a region.
    index: Option<&'a Index>,
}

impl<'a> SuperblockView<'a> {
    /// Superblocks of the view, in every state.
    pub fn len(&self) -> u32 {
        self.infos.len() as u32
    }
    /// Whether there are no superblocks.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
    /// Superblock `i` of the view, counted from zero.
    pub fn nth(&self, i: u32) -> SuperblockId {
        SuperblockId(self.first + i)
    }
    /// The record of `block`, which is one of them.
    pub fn info(&self, block: SuperblockId) -> &'a SuperblockInfo {
        &self.infos[(block.0 - self.first) as usize]
    }
    /// The superblocks with their records.
    pub fn iter(&self) -> impl Iterator<Item = (SuperblockId, &'a SuperblockInfo)> + use<'a> {
        let ids = (self.first..).map(SuperblockId);
        ids.zip(self.infos)
    }
    /// Whether `block` is one of them.
    pub fn has(&self, block: SuperblockId) -> bool {
        block
            .0
            .checked_sub(self.first)
            .is_some_and(|i| i < self.len())
    }
    /// The index. These are to be all superblocks of a region.
    fn index(&self) -> &'a Index {
        self.index.expect("a scheme chooses in a region")
    }
    /// The index of the superblocks at rest, as of its last update.
    pub(crate) fn at_rest(&self) -> &'a AtRest {
        self.index().at_rest()
    }
    /// The free one of the lowest number, in one of `modes`.
    pub fn first_free(&self, modes: ModeSet) -> Option<SuperblockId> {
        let is_in = |i: usize| modes.has(self.infos[i].mode);
        self.numbered(self.index().by_wear().first_free(is_in))
    }
    /// The free one in one of `modes` with the fewest P/E cycles, `but` for one.
    pub fn least_worn_free(
        &self,
        modes: ModeSet,
        but: Option<SuperblockId>,
    ) -> Option<SuperblockId> {
        let is_in = |i: usize| modes.has(self.infos[i].mode) && Some(self.nth(i as u32)) != but;
        self.numbered(self.index().by_wear().least_worn_free(is_in))
    }
    /// The free one in one of `modes` with the most P/E cycles.
    pub fn most_worn_free(&self, modes: ModeSet) -> Option<SuperblockId> {
        let is_in = |i: usize| modes.has(self.infos[i].mode);
        self.numbered(self.index().by_wear().most_worn_free(is_in))
    }
    /// The one at rest with the fewest P/E cycles.
    pub fn least_worn_at_rest(&self) -> Option<SuperblockId> {
        self.numbered(self.index().by_wear().least_worn_at_rest())
    }
    /// The one with the most P/E cycles, of all that are not retired.
    pub fn most_worn(&self) -> Option<SuperblockId> {
        self.numbered(self.index().by_wear().most_worn())
    }
    fn numbered(&self, found: Option<usize>) -> Option<SuperblockId> {
        found.map(|i| self.nth(i as u32))
    }
}

/// The table of superblocks.
#[derive(Clone, Debug)]
pub struct SuperblockTable {
    infos: Box<[SuperblockInfo]>,
    /// The mode that they started in.
    mode: CellMode,
    regions: Regions,
    /// Modes whose superblocks are cleaned apart from others: garbage collection finds none of them.
    apart: ModeSet,
    /// The least capacity and the most that was lost, since [`SuperblockTable::watch_capacity`].
    worst: PhysicalCapacity,
    /// An index for each region.
    indexes: [Index; MOST_REGIONS],
    /// The block of each die that a superblock has.
    assembly: Assembly,
}

/// An index for each region; an empty one where there is no region.
fn indexes(regions: Regions, apart: ModeSet) -> [Index; MOST_REGIONS] {
    core::array::from_fn(|region| Index::new(regions.numbers(RegionId(region as u8)), apart))
}

impl SuperblockTable {
    /// A table of `blocks` free superblocks in `mode`.
    pub fn new(blocks: u32, mode: CellMode) -> SuperblockTable {
        let info = SuperblockInfo {
            usage: SuperblockUse::Free,
            mode,
            mode_before: mode,
            pe_cycles: 0,
            pe_milli: 0,
            programmed_at: Ns::ZERO,
            valid_slots: 0,
            reads: 0,
            opened: 0,
            closed: None,
            pins: 0,
            evacuating: false,
            failed: false,
            stripe_broken: false,
            holds_map: false,
            stream: None,
            pool: PoolId(0),
        };
        SuperblockTable {
            infos: vec![info; blocks as usize].into_boxed_slice(),
            mode,
            regions: Regions::new(blocks, None),
            worst: PhysicalCapacity::default(),
            apart: ModeSet::default(),
            indexes: indexes(Regions::new(blocks, None), ModeSet::default()),
            assembly: Assembly::new(0, 0),
        }
    }

    /// The superblocks have a block on each of `dies` dies.
    pub(crate) fn assemble(&mut self, dies: u16) {
        self.assembly = Assembly::new(dies, self.len());
    }

    /// The block of `superblock` on `die`.
    #[inline]
    pub fn block_of(&self, superblock: SuperblockId, die: DieId) -> BlockId {
        self.assembly.block_of(superblock, die)
    }

    /// Retired superblocks whose block on `die` is a spare.
    fn with_spares(&self, die: DieId) -> impl Iterator<Item = (SuperblockId, &SuperblockInfo)> {
        let retired = self
            .iter()
            .filter(|(_, info)| info.usage == SuperblockUse::Bad);
        retired.filter(move |(id, _)| self.assembly.spare_of(*id, die).is_some())
    }

    /// The retired superblock that has the least worn spare on `die`; of equally worn ones the last.
    pub(crate) fn with_spare(&self, die: DieId) -> Option<SuperblockId> {
        let wear = |(id, info): &(SuperblockId, &SuperblockInfo)| (info.pe_cycles, Reverse(id.0));
        let least = self.with_spares(die).min_by_key(wear);
        least.map(|(id, _)| id)
    }

    /// Spares on `die`.
    pub(crate) fn spares_on(&self, die: DieId) -> u32 {
        self.with_spares(die).count() as u32
    }

    /// `superblock` gets the spare of retired superblock `from` on `die`.
    pub(crate) fn replace(&mut self, superblock: SuperblockId, die: DieId, from: SuperblockId) {
        self.assembly.replace(superblock, die, from);
    }

    /// The block of retired `superblock` on `die` is bad, and no spare.
    pub(crate) fn drop_block(&mut self, superblock: SuperblockId, die: DieId) {
        self.assembly.drop(superblock, die);
    }

    /// Whether superblocks have blocks of the drive alone.
    pub(crate) fn is_assembled(&self) -> bool {
        self.assembly
            .is_sound(|block| self.info(block).usage == SuperblockUse::Bad)
    }

    /// Whether superblocks have other blocks than when this was last asked.
    pub(crate) fn assembly_has_changed(&mut self) -> bool {
        self.assembly.takes_change()
    }

    /// Saves the blocks that superblocks have, or loads them.
    pub(crate) fn transfer_assembly(&mut self, cursor: &mut Cursor<'_>) {
        self.assembly.transfer(cursor);
    }

    /// Divides the superblocks into `regions`.
    pub fn divide(&mut self, regions: Regions) {
        self.regions = regions;
        self.indexes = indexes(regions, self.apart);
    }

    /// Superblocks in the modes `apart` are cleaned apart from others.
    pub(crate) fn clean_apart(&mut self, apart: ModeSet) {
        self.apart = apart;
        self.indexes = indexes(self.regions, apart);
    }

    /// Modes whose superblocks are cleaned apart.
    #[inline]
    pub(crate) fn apart(&self) -> ModeSet {
        self.apart
    }

    /// After the records were loaded: all of them have changed.
    pub(crate) fn mark_all(&mut self) {
        (0..self.len()).for_each(|block| self.mark(block));
    }

    /// From now on somebody keeps the records that change.
    pub(crate) fn start_keeping(&mut self) {
        self.indexes.iter_mut().for_each(Index::start_keeping);
    }

    /// Calls `keep` with each record that may have changed since the last call. Counts of reads do not count as a change.
    pub(crate) fn each_to_keep(&mut self, mut keep: impl FnMut(SuperblockId, &mut SuperblockInfo)) {
        let (indexes, infos) = (&mut self.indexes, &mut self.infos);
        for index in indexes {
            index.each_to_keep(|block| keep(SuperblockId(block), &mut infos[block as usize]));
        }
    }

    /// What the table has beside its records, for which see [`SuperblockTable::record_mut`].
    pub(crate) fn worst_capacity_mut(&mut self) -> &mut PhysicalCapacity {
        &mut self.worst
    }

    /// The record of `block`, which is kept or loaded: it does not count as changed.
    pub(crate) fn record_mut(&mut self, block: SuperblockId) -> &mut SuperblockInfo {
        &mut self.infos[block.0 as usize]
    }

    #[inline]
    fn mark(&mut self, block: u32) {
        let region = self.regions.of(SuperblockId(block));
        self.indexes[region.index()].mark(block);
    }

    /// Whether the drive has another region beside its own.
    #[inline]
    pub fn has_regions(&self) -> bool {
        self.regions.are_many()
    }

    /// The regions, the drive's own first.
    pub fn regions(&self) -> impl Iterator<Item = RegionId> + use<> {
        self.regions.ids()
    }

    /// The region of `block`.
    #[inline]
    pub fn region_of(&self, block: SuperblockId) -> RegionId {
        self.regions.of(block)
    }

    /// Numbers of the superblocks of `region`.
    pub fn numbers_in(&self, region: RegionId) -> Range<u32> {
        self.regions.numbers(region)
    }

    /// The superblocks of `region`, as a scheme sees them.
    pub fn in_region(&self, region: RegionId) -> SuperblockView<'_> {
        SuperblockView {
            index: Some(&self.indexes[region.index()]),
            ..self.view(self.numbers_in(region))
        }
    }

    /// The capacity of superblocks that hold `slots_of` slots in each mode.
    pub fn capacity(&self, slots_of: impl Fn(CellMode) -> u32) -> PhysicalCapacity {
        let own = u64::from(slots_of(self.mode));
        let mut capacity = PhysicalCapacity::default();
        for (_, info) in self.iter() {
            if info.usage != SuperblockUse::Bad {
                let slots = u64::from(slots_of(info.mode));
                capacity.slots += slots;
                capacity.lost_slots += own.saturating_sub(slots);
            }
        }
        capacity
    }

    /// From now on [`SuperblockTable::worst_capacity`] begins anew.
    pub fn watch_capacity(&mut self, slots_of: impl Fn(CellMode) -> u32) {
        self.worst = self.capacity(slots_of);
    }

    /// Superblocks have changed their modes or were retired.
    pub(crate) fn note_capacity(&mut self, slots_of: impl Fn(CellMode) -> u32) {
        let capacity = self.capacity(slots_of);
        self.worst.slots = self.worst.slots.min(capacity.slots);
        self.worst.lost_slots = self.worst.lost_slots.max(capacity.lost_slots);
    }

    /// The least capacity that there was at any time, and the most that was lost at any time.
    pub fn worst_capacity(&self) -> PhysicalCapacity {
        self.worst
    }

    /// All superblocks, as a scheme sees them.
    pub fn all(&self) -> SuperblockView<'_> {
        match self.has_regions() {
            true => self.view(0..self.len()),
            false => self.in_region(RegionId::MAIN),
        }
    }

    /// Superblocks with the numbers `range`, without an index.
    fn view(&self, range: Range<u32>) -> SuperblockView<'_> {
        SuperblockView {
            infos: &self.infos[range.start as usize..range.end as usize],
            first: range.start,
            index: None,
        }
    }

    /// Superblocks of the drive, retired ones included.
    pub fn len(&self) -> u32 {
        self.infos.len() as u32
    }
    /// Whether there are no superblocks.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
    /// The record of `block`.
    pub fn info(&self, block: SuperblockId) -> &SuperblockInfo {
        &self.infos[block.0 as usize]
    }
    /// What is known at `now` of multi-plane page `at`, which is about to be read.
    #[inline]
    pub(crate) fn read_ctx(&self, now: Ns, at: PageAddr) -> ReadCtx {
        let info = self.info(at.block);
        ReadCtx {
            now,
            at,
            mode: info.mode,
            pe_cycles: info.pe_cycles,
            age: now.since(info.programmed_at),
        }
    }
    /// Whether `block` is full and still holds the data that were programmed at `programmed_at`.
    pub fn still_holds(&self, block: SuperblockId, programmed_at: Ns) -> bool {
        let info = self.info(block);
        info.usage == SuperblockUse::Full && info.programmed_at == programmed_at
    }
    /// The record of `block`, mutable.
    #[inline]
    pub fn info_mut(&mut self, block: SuperblockId) -> &mut SuperblockInfo {
        self.mark(block.0);
        &mut self.infos[block.0 as usize]
    }
    /// The record of `block`, mutable, without a mark for the index: how a forgotten mark is tested.
    #[cfg(test)]
    pub(crate) fn unmarked_mut(&mut self, block: SuperblockId) -> &mut SuperblockInfo {
        &mut self.infos[block.0 as usize]
    }
    /// A multi-plane page of `block` is sensed.
    #[inline]
    pub(crate) fn count_read(&mut self, block: SuperblockId) {
        self.infos[block.0 as usize].reads += 1;
    }
    /// A read of `block` is queued.
    #[inline]
    pub(crate) fn pin(&mut self, block: SuperblockId) {
        self.infos[block.0 as usize].pins += 1;
    }
    /// A read of `block` has ended. Returns the record.
    #[inline]
    pub(crate) fn unpin(&mut self, block: SuperblockId) -> &SuperblockInfo {
        let info = &mut self.infos[block.0 as usize];
        info.pins -= 1;
        info
    }
    /// Makes searches for superblocks see all changes, on a drive of `geometry`.
    pub fn update_index(&mut self, geometry: &Geometry) {
        for region in self.regions.ids() {
            let numbers = self.regions.numbers(region);
            let infos = &self.infos[numbers.start as usize..numbers.end as usize];
            self.indexes[region.index()].update(infos, geometry);
        }
    }
    /// Whether the index, once it is updated, has what the records say. For tests: in time and memory proportional to
    /// the number of superblocks.
    pub(crate) fn index_agrees(&self, geometry: &Geometry) -> bool {
        let (mut updated, mut anew) = (self.clone(), self.clone());
        anew.divide(self.regions);
        updated.update_index(geometry);
        anew.update_index(geometry);
        let pairs = updated.indexes.iter().zip(&anew.indexes);
        pairs
            .into_iter()
            .all(|(one, other)| one.has_the_same(other))
    }
    /// All superblocks with their records.
    pub fn iter(&self) -> impl Iterator<Item = (SuperblockId, &SuperblockInfo)> {
        self.infos
            .iter()
            .enumerate()
            .map(|(i, info)| (SuperblockId(i as u32), info))
    }
    /// Superblocks that hold data, with their records.
    pub fn with_data(&self) -> impl Iterator<Item = (SuperblockId, &SuperblockInfo)> {
        self.iter()
            .filter(|(_, info)| matches!(info.usage, SuperblockUse::Open | SuperblockUse::Full))
    }
}

record! {
    PhysicalCapacity as "capacity" {
        slots ["slots"]: "slots of all superblocks that are not retired",
        lost_slots ["slots"]: "slots fewer than if these were in the mode in which they started",
    }
}

record! {
    SuperblockTable as "superblocks" {
        infos: "a record for each superblock",
        assembly: "whether each superblock has the blocks with its number (1 byte); if not, its block on each die (4 bytes), superblock after superblock, the maximum for none: of a retired superblock, its spares",
        worst: "the least capacity and the most that was lost, since it was last asked to watch",
    } not {
        mode: "of the configuration",
        regions: "of the schemes",
        apart: "of the schemes",
        indexes: "made again from the records",
    }
}
