//! Streams and parameters that schemes of this axis share.

use firstread_core::CellMode;
use firstread_core::params::Param;

use crate::observe::StreamRow;

/// A stream for SLC mode and one for TLC mode.
pub(super) const SLC_AND_TLC: &[StreamRow] = &[
    StreamRow {
        name: "promoted_slc",
        mode: Some(CellMode::Slc),
    },
    StreamRow {
        name: "promoted_tlc",
        mode: Some(CellMode::Tlc),
    },
];

/// Over-provisioning that superblocks in another mode leave.
pub(super) const KEEP: Param = Param::number(
    "keep",
    "over-provisioning that superblocks in other modes leave, as a share of the capacity",
    "permille",
    (70, 0, 10_000),
);

/// How often superblocks are looked at.
pub(super) const PERIOD: Param = Param::number(
    "reclaim_period",
    "page reads of the host after which cold superblocks in other modes are looked for; 0 for never",
    "reads",
    (1 << 18, 0, 1 << 40),
);
