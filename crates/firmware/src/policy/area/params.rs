//! The two areas, parameters that schemes of the axis share, and the stream of the low wearing area.

use firstread_core::params::{Param, Values};

use crate::observe::{RegionId, StreamRow, StreamUse};
use crate::policy::Setup;

/// The high wearing area (HWA), which takes writes: the drive's own region.
pub const HIGH: RegionId = RegionId::MAIN;

/// The low wearing area (LWA), which keeps what is read often: the region that a scheme declares.
pub const LOW: RegionId = RegionId::DECLARED;

/// Both, with their keys in results.
pub const AREAS: [(RegionId, &str); 2] = [(HIGH, "high"), (LOW, "low")];

/// The stream of the low wearing area.
pub(super) const LOW_STREAM: &[StreamRow] = &[StreamRow {
    name: "low",
    takes: StreamUse::Region(LOW),
}];

/// Superblocks of the low wearing area that hold no settled data: the one that is being filled, a free one that follows
/// it, and one of garbage.
pub(super) const LOW_SPARE: u32 = 3;

/// Those that a fill leaves free: the one to be filled first, and the one that follows it.
pub(super) const LOW_FREE: u32 = 2;

/// The share of the low wearing area: 20 % of DWR's figure 6, which sweeps 5 to 30 %.
pub(super) const LOW_SHARE: Param = Param::number(
    "low_share",
    "share of the low wearing area in the superblocks of the drive",
    "permille",
    (200, 50, 300),
);

/// Number of the first superblock of the low wearing area on the drive of `setup`: the last ones, rounded up to whole ones.
pub(super) fn low_from(setup: &Setup, values: &Values) -> u32 {
    let share = values.get(LOW_SHARE.key) as u64;
    let superblocks = setup.geometry.blocks_per_plane;
    superblocks - (u64::from(superblocks) * share).div_ceil(1000) as u32
}

/// Slots of a superblock on the drive of `setup`.
pub(super) fn slots_of(setup: &Setup) -> u64 {
    u64::from(setup.geometry.slots_per_superblock(setup.tables.mode))
}
