//! Streams and parameters that schemes of this axis share.

use firstread_core::CellMode;
use firstread_core::params::Param;

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

/// Over-provisioning that superblocks in another mode leave.
pub(super) const KEEP: Param = Param::number(
    "keep",
    "over-provisioning that superblocks in other modes leave, as a share of the capacity",
    "permille",
    (70, 0, 10_000),
);
