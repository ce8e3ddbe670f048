//! The contract of schemes of axis `cell_mode`.

use firstread_core::{CellMode, Lpn, Ns, SuperblockId};

use crate::observe::{Future, PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::hot_pages::PageRead;

/// A superblock to be given back to the drive's own mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GiveBack {
    /// This superblock, whatever lies in it.
    Now(SuperblockId),
    /// This one, because pages could not be promoted for want of over-provisioning.
    ForRoom(SuperblockId),
    /// This one, unless [`CellModes::stays`] says of a page of it that it stays.
    UnlessOneStays(SuperblockId),
}

/// What a scheme is told of the drive when it may give a superblock back.
#[derive(Clone, Copy, Debug)]
pub struct ReclaimState<'a> {
    /// The superblocks.
    pub blocks: &'a SuperblockTable,
    /// Number of the epoch of the observer of heat.
    pub heat_epoch: u32,
    /// The most reads that it counts of a page.
    pub most_heat: u8,
    /// Slots beyond the capacity: the over-provisioning that is left.
    pub spare_slots: u64,
    /// Of these, slots that superblocks in other modes may still cost.
    pub left_slots: u64,
    /// Slots that garbage collection has moved so far.
    pub slots_cleaned: u64,
    /// Promotions refused so far because superblocks in other modes cost as much as they may.
    pub refused_for_room: u64,
}

/// Limits of promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PromotionLimits {
    /// Pages that may be promoted for each 1,000 pages that the host reads from flash.
    pub rate_permille: u16,
    /// Pages that have to wait for a superblock before one is converted for them, in thousandths of what it holds.
    pub demand_permille: u16,
}

impl PromotionLimits {
    /// A superblock is converted for one page, and nothing is limited.
    pub const NONE: PromotionLimits = PromotionLimits {
        rate_permille: 1000,
        demand_permille: 0,
    };
}

/// What the wear of a superblock of a pool is held against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelBy {
    /// The mean of the drive.
    Mean,
    /// Its own wear when it last changed its mode (US 11,023,150).
    Switch,
}

/// A pool of another cell mode that the host writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WritePool {
    /// Its mode.
    pub mode: CellMode,
    /// The range of its ready queue: when fewer superblocks than the first are free, some are made free until there are as many as the
    /// second.
    pub ready: (u32, u32),
    /// Over-provisioning that it leaves to the drive's own mode, in thousandths of the data in use.
    pub keep_permille: u32,
    /// P/E cycles by which a superblock of it may be worn beyond `level_by`.
    pub level: u32,
    /// What its superblocks are levelled by.
    pub level_by: LevelBy,
    /// It is emptied, its oldest superblock first, while the host has sent no command for so long.
    pub idle: Option<Ns>,
}

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct PoolWrite {
    /// The page.
    pub lpn: Lpn,
    /// Slots that the host has written since it wrote the version that is overwritten, as far as the superblock of that tells. None of a
    /// first write, and of versions that were written before the power was last on.
    pub life: Option<u64>,
    /// Slots that the host has written so far.
    pub written: u64,
}

/// What a pool may be made of, as things are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolState {
    /// Superblocks that the pool may have, so that the data in use fit.
    pub most: u32,
    /// Slots of a superblock in its mode.
    pub slots: u64,
    /// The same in the drive's own mode.
    pub own_slots: u64,
    /// Slots in use.
    pub valid: u64,
    /// Slots if no superblock were in the pool, without the reserve of cleaning.
    pub all: u64,
    /// Slots of the capacity that are not in use.
    pub unwritten: u64,
    /// Superblocks in the drive's own mode that streams fill.
    pub open: u32,
    /// Superblocks of the drive.
    pub superblocks: u32,
}

/// The superblocks that a pool is to have.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PoolSize {
    /// For pages that the host writes.
    pub written: u32,
    /// For pages that were promoted, at most.
    pub promoted: u32,
    /// Whether what is still valid in a superblock that is emptied for room stays in the pool.
    pub keeps: bool,
}

/// The trait of the axis.
pub trait CellModes {
    /// The pool that the host writes to, if there is one. Its superblocks are cleaned apart: they stay in it.
    fn write_pool(&self) -> Option<WritePool> {
        None
    }
    /// Whether a page that the host writes is to go to that pool. Asked again if the write has to wait.
    fn of_write(&self, page: &PoolWrite) -> bool {
        let _ = page;
        false
    }
    /// The host has written a page.
    fn has_written(&mut self, page: &PoolWrite) {
        let _ = page;
    }
    /// How large the pool is to be.
    fn resize(&mut self, state: &PoolState) -> PoolSize {
        let _ = state;
        PoolSize::default()
    }
    /// The streams that the scheme declares, one a mode; none if data stay where they are.
    fn streams(&self) -> &'static [StreamRow] {
        &[]
    }
    /// Over-provisioning that superblocks in another mode leave, in thousandths of the capacity.
    fn keep_permille(&self) -> u32 {
        0
    }
    /// Limits of promotion.
    fn limits(&self) -> PromotionLimits {
        PromotionLimits::NONE
    }
    /// A host read of a page from a full superblock has ended well. Returns the mode that the page is to be
    /// copied to.
    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        let _ = read;
        None
    }
    /// Whether a superblock more may change to `mode`, for a page that was to be copied there.
    fn may_convert(&mut self, mode: CellMode, blocks: &SuperblockTable) -> bool {
        let _ = (mode, blocks);
        true
    }
    /// Whether a page of which so much is known stays in `mode` when its superblock, in that mode, is emptied.
    fn stays(&self, mode: CellMode, heat: PageHeat, future: PageFuture) -> bool {
        let _ = (mode, heat, future);
        false
    }
    /// The same for a superblock that is emptied because its reads have disturbed it. It is read often as a whole.
    fn stays_refreshed(&self, mode: CellMode, heat: PageHeat, future: PageFuture) -> bool {
        self.stays(mode, heat, future)
    }
    /// A load begins of which `future` tells, on a drive with superblocks `blocks`. Only oracles are told. They may divide it into
    /// phases. Not on the path of a request.
    fn foresee(&mut self, future: &mut Future, blocks: &SuperblockTable) {
        let _ = (future, blocks);
    }
    /// A superblock of one of the scheme's modes to be emptied and given back to the drive's own mode, if any: if it is still
    /// open it is closed. Or one in the drive's own mode, to be cleaned for room. Asked after host reads.
    fn gives_back(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        let _ = state;
        None
    }
}
