//! Streams and parameters that schemes of this axis share.

use firstread_core::CellMode;
use firstread_core::params::{Param, Values};

use super::{LevelBy, PromotionLimits};
use crate::observe::{StreamRow, StreamUse};

/// The modes that pages are copied to.
pub(super) const MODES: [CellMode; 2] = [CellMode::Slc, CellMode::Tlc];

/// A stream for each of [`MODES`].
pub(super) const SLC_AND_TLC: &[StreamRow] = &[
    StreamRow {
        name: "promoted_slc",
        takes: StreamUse::Promoted(MODES[0]),
    },
    StreamRow {
        name: "promoted_tlc",
        takes: StreamUse::Promoted(MODES[1]),
    },
];

/// Over-provisioning that superblocks of promoted pages leave, in permille.
pub(super) const KEPT_BY_PROMOTION: i64 = 70;

/// Over-provisioning that superblocks in another mode leave.
pub(super) const KEEP: Param = Param::number(
    "keep",
    "over-provisioning that superblocks in other modes leave, as a share of the capacity",
    "permille",
    (KEPT_BY_PROMOTION, 0, 10_000),
);

/// A stream for pages that the host writes to a pool in SLC mode.
pub(super) const WRITTEN_SLC: StreamRow = StreamRow {
    name: "written_slc",
    takes: StreamUse::Written(MODES[0]),
};

/// Pages that stay in a write pool when their superblock is emptied for room.
pub(super) const KEPT_SLC: StreamRow = StreamRow {
    name: "kept_slc",
    takes: StreamUse::Promoted(MODES[0]),
};

/// Over-provisioning that a write pool leaves.
pub(super) const KEEP_OF_DATA: Param = Param::number(
    "keep",
    "over-provisioning that the pool leaves to the drive's own mode, as a share of the data in use",
    "permille",
    (30, 0, 10_000),
);

/// The range of a write pool's ready queue.
pub(super) const READY_LOW: Param = Param::number(
    "ready_low",
    "free superblocks of the pool below which some are made free",
    "superblocks",
    (1, 1, 1024),
);
/// The end of that range.
pub(super) const READY_HIGH: Param = Param::number(
    "ready_high",
    "free superblocks of the pool that are made free then",
    "superblocks",
    (2, 1, 1024),
);

/// How far the wear of a write pool may be from that of the drive.
pub(super) const LEVEL: Param = Param::number(
    "level",
    "P/E cycles by which a superblock of the pool may be worn beyond what `level_by` says before it goes back to the drive's own mode and \
     another takes its place",
    "cycles",
    (20, 1, 100_000),
);

/// What that wear is held against.
pub(super) const LEVEL_BY: Param = Param::choice(
    "level_by",
    "what the wear of a superblock of the pool is held against: the mean of the drive, or its own wear when it last changed its mode",
    &["mean", "switch"],
);

/// What `values` levels a pool by.
pub(super) fn level_by(values: &Values) -> LevelBy {
    match values.get(LEVEL_BY.key) {
        0 => LevelBy::Mean,
        _ => LevelBy::Switch,
    }
}

/// Pages promoted for those that are read.
pub(super) const RATE: Param = Param::number(
    "rate",
    "pages that may be promoted for each 1,000 pages that the host reads from flash",
    "permille",
    (1000, 1, 1000),
);

/// Pages that wait for a superblock.
pub(super) const DEMAND: Param = Param::number(
    "demand",
    "pages that have to wait, in one epoch of the observer of heat, before a superblock is converted for them: a share of what it holds; 0 for one page",
    "permille",
    (125, 0, 1000),
);

/// The limits of `values`.
pub(super) fn limits(values: &Values) -> PromotionLimits {
    PromotionLimits {
        rate_permille: values.get(RATE.key) as u16,
        demand_permille: values.get(DEMAND.key) as u16,
    }
}
