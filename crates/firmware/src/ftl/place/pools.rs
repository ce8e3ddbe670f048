//! Pools: the superblocks of one region in one set of cell modes, a row each.
//!
//! A superblock belongs to the pool of its region and its mode. The free superblocks of a *common* pool are headroom.
//! Any stream may open them, unless they are kept for the stream of the region. The free superblocks of a *pool of one
//! mode* are opened for the stream of this mode alone. They lie in the drive's own region, and are no headroom.

use firstread_core::{CellMode, SuperblockId};

use crate::observe::{
    MOST_REGIONS, ModeSet, PoolId, RegionId, Regions, SuperblockInfo, SuperblockTable,
    SuperblockUse,
};

/// Maximum number of pools: one of each region, and one of each mode.
const MOST_POOLS: usize = MOST_REGIONS + CellMode::ALL.len();

/// A pool: superblocks of one region in one set of modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pool {
    region: RegionId,
    modes: ModeSet,
    /// Whether its free superblocks are headroom.
    is_common: bool,
    /// Whether its free superblocks are kept from the streams of other pools.
    pub(super) is_kept: bool,
    pub(crate) free: u32,
    /// Slots of the free superblocks.
    pub(crate) free_slots: u64,
}

impl Pool {
    fn has(&self, region: RegionId, mode: CellMode) -> bool {
        self.modes.has(mode) && (self.region == region || !self.is_common)
    }
}

/// The pools of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pools {
    /// The rows, and then none.
    rows: [Option<Pool>; MOST_POOLS],
    /// Modes with a pool of their own.
    own: ModeSet,
    /// Free superblocks of all common pools, and their slots.
    free: u32,
    free_slots: u64,
}

impl Pools {
    /// The superblocks of `regions`, which are all free and have `slots` slots each, on a drive on which the modes
    /// `own` have a pool of their own.
    pub(super) fn new(regions: &Regions, slots: u32, own: ModeSet) -> Pools {
        let row = |region, modes, is_common, free: u32| Pool {
            region,
            modes,
            is_common,
            is_kept: false,
            free,
            free_slots: u64::from(free) * u64::from(slots),
        };
        let common = own.complement();
        let free = |region| regions.numbers(region).len() as u32;
        let of_regions = regions.ids();
        let of_regions = of_regions.map(|region| row(region, common, true, free(region)));
        let modes = CellMode::ALL.into_iter().filter(|mode| own.has(*mode));
        let of_modes = modes.map(|mode| row(RegionId::MAIN, ModeSet::of(mode), false, 0));
        let mut rows = [None; MOST_POOLS];
        let all = of_regions.chain(of_modes);
        rows.iter_mut()
            .zip(all)
            .for_each(|(into, row)| *into = Some(row));
        let mut pools = Pools {
            rows,
            own,
            free: 0,
            free_slots: 0,
        };
        pools.add_up();
        pools
    }

    /// Adds up what is free in the common pools.
    // The sums are stored, because writes ask for them far more often than superblocks are taken or freed: adding up
    // the pools at each question was two thirds of a percent of the instructions of overwrites.
    fn add_up(&mut self) {
        self.free = self.common().map(|row| row.free).sum();
        self.free_slots = self.common().map(|row| row.free_slots).sum();
    }

    /// Whether `mode` has a pool of its own.
    #[inline]
    pub(crate) fn has(&self, mode: CellMode) -> bool {
        self.own.has(mode)
    }

    /// Whether no mode has a pool of its own.
    #[inline]
    pub(crate) fn are_common(&self) -> bool {
        self.own.is_empty()
    }

    /// The pool to which superblocks of `region` in `mode` belong.
    pub(super) fn that_has(&self, region: RegionId, mode: CellMode) -> PoolId {
        let mut rows = self.rows.iter().flatten();
        let index = rows.position(|row| row.has(region, mode));
        PoolId(index.expect("each superblock belongs to a pool") as u8)
    }

    /// Has each superblock of the table `blocks` name its pool.
    pub(crate) fn assign(&self, blocks: &mut SuperblockTable) {
        for block in (0..blocks.len()).map(SuperblockId) {
            let pool = self.that_has(blocks.region_of(block), blocks.info(block).mode);
            blocks.info_mut(block).pool = pool;
        }
    }

    /// Whether each superblock of the table `blocks` names its pool.
    pub(super) fn are_named_in(&self, blocks: &SuperblockTable) -> bool {
        let is_named = |(block, info): (_, &SuperblockInfo)| {
            info.pool == self.that_has(blocks.region_of(block), info.mode)
        };
        blocks.iter().all(is_named)
    }

    pub(super) fn of(&mut self, pool: PoolId) -> &mut Pool {
        let row = self.rows[usize::from(pool.0)].as_mut();
        row.expect("a pool of the drive")
    }

    /// The pool of `mode`, if this mode has one of its own.
    pub(super) fn of_mode(&self, mode: CellMode) -> Option<&Pool> {
        let mut rows = self.rows.iter().flatten();
        rows.find(|row| !row.is_common && row.modes.has(mode))
    }

    /// The common pool of `region`, if the drive has this region.
    pub(super) fn in_region(&self, region: RegionId) -> Option<&Pool> {
        self.common().find(|row| row.region == region)
    }

    /// The common pools of the regions that schemes declare, mutable.
    pub(super) fn declared_mut(&mut self) -> impl Iterator<Item = &mut Pool> {
        let rows = self.rows.iter_mut().flatten();
        rows.filter(|row| row.is_common && row.region != RegionId::MAIN)
    }

    fn common(&self) -> impl Iterator<Item = &Pool> {
        self.rows.iter().flatten().filter(|row| row.is_common)
    }

    /// Free superblocks that are headroom.
    #[inline]
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Slots of the free superblocks that are headroom.
    #[inline]
    pub(crate) fn free_slots(&self) -> u64 {
        self.free_slots
    }

    /// The pools whose free superblocks are kept from the streams of other pools.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Pool> {
        self.rows.iter().flatten().filter(|row| row.is_kept)
    }

    /// Slots of the free superblocks of kept pools.
    pub(super) fn kept_slots(&self) -> u64 {
        self.kept().map(|row| row.free_slots).sum()
    }

    /// A superblock of `pool`, of `slots` slots, is no longer free.
    pub(super) fn take(&mut self, pool: PoolId, slots: u32) {
        let pool = self.of(pool);
        pool.free -= 1;
        pool.free_slots -= u64::from(slots);
        self.add_up();
    }

    /// A superblock of `pool`, of `slots` slots, is free.
    pub(super) fn put_back(&mut self, pool: PoolId, slots: u32) {
        let pool = self.of(pool);
        pool.free += 1;
        pool.free_slots += u64::from(slots);
        self.add_up();
    }

    /// These pools with what is free in the table `blocks`.
    pub(super) fn counted(
        &self,
        blocks: &SuperblockTable,
        slots: impl Fn(CellMode) -> u32,
    ) -> Pools {
        let mut pools = *self;
        for row in pools.rows.iter_mut().flatten() {
            (row.free, row.free_slots) = (0, 0);
        }
        pools.add_up();
        let is_free = |(_, info): &(_, &SuperblockInfo)| info.usage == SuperblockUse::Free;
        for (_, info) in blocks.iter().filter(is_free) {
            pools.put_back(info.pool, slots(info.mode));
        }
        pools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is free after a power cut is what the table says, and nothing of what a new drive has.
    #[test]
    fn formula_pools_count_what_is_free_in_the_table() {
        const SLOTS: u32 = 64;
        let own = ModeSet::of(CellMode::Slc);
        let regions = Regions::new(6, [4]);
        let pools = Pools::new(&regions, SLOTS, own);
        assert_eq!(
            (pools.free(), pools.free_slots()),
            (6, 6 * u64::from(SLOTS))
        );
        let mut blocks = SuperblockTable::new(6, CellMode::Qlc);
        blocks.divide(regions);
        assert!(!pools.are_named_in(&blocks), "two are of another region");
        pools.assign(&mut blocks);
        assert!(pools.are_named_in(&blocks));
        assert_eq!(pools.counted(&blocks, |_| SLOTS), pools);
        let all = (0..6).map(SuperblockId);
        all.for_each(|block| blocks.info_mut(block).usage = SuperblockUse::Full);
        let none = pools.counted(&blocks, |_| SLOTS);
        assert_eq!((none.free(), none.free_slots()), (0, 0));
        // One in each region, and one in the pool of a mode, which is no headroom.
        for (block, mode) in [(0, CellMode::Qlc), (1, CellMode::Slc), (5, CellMode::Qlc)] {
            let info = blocks.info_mut(SuperblockId(block));
            (info.usage, info.mode) = (SuperblockUse::Free, mode);
        }
        assert!(!pools.are_named_in(&blocks), "one has changed its mode");
        pools.assign(&mut blocks);
        let named = [0, 1, 5].map(|block| blocks.info(SuperblockId(block)).pool.0);
        assert_eq!(named, [0, 2, 1], "the two regions, then the mode");
        let slots = |mode: CellMode| SLOTS * u32::from(mode.bits());
        let some = none.counted(&blocks, slots);
        assert_eq!((some.free(), some.free_slots()), (2, 8 * u64::from(SLOTS)));
        assert_eq!(
            some.in_region(RegionId::DECLARED).map(|pool| pool.free),
            Some(1)
        );
        let of_mode = some
            .of_mode(CellMode::Slc)
            .map(|pool| (pool.free, pool.free_slots));
        assert_eq!(of_mode, Some((1, u64::from(SLOTS))));
    }
}
