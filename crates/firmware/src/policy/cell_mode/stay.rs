//! How often pages have to be read to stay in a mode. It takes less than to come there, or pages on the edge would come
//! and go in turn.

use firstread_core::CellMode;
use firstread_core::params::{Order, Param, Values};

use crate::observe::PageHeat;

/// Read heat with which data stay in SLC mode.
pub(super) const STAY_SLC: Param = Param::number(
    "stay_slc",
    "read heat from which a page stays in SLC mode when its superblock is emptied, and below which on average a superblock is cold",
    "reads",
    (3, 0, 255),
);

/// Read heat with which data stay in TLC mode.
pub(super) const STAY_TLC: Param =
    Param::number("stay_tlc", "the same in TLC mode", "reads", (1, 0, 255));

/// What a scheme with these parameters asks of them.
pub(super) const STAY_BELOW: [Order; 2] = [
    Order::Below("stay_slc", "hot"),
    Order::Below("stay_tlc", "warm"),
];

/// Read heat with which data stay in SLC and in TLC mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    slc: u8,
    tlc: u8,
}

impl Stay {
    /// As the parameters `values` say.
    pub(super) fn new(values: &Values) -> Stay {
        Stay {
            slc: values.get(STAY_SLC.key) as u8,
            tlc: values.get(STAY_TLC.key) as u8,
        }
    }

    /// The least read heat in `mode`.
    pub(super) fn least(self, mode: CellMode) -> u8 {
        match mode {
            CellMode::Slc => self.slc,
            _ => self.tlc,
        }
    }

    /// Whether a page of heat `heat` stays in its mode when reads have disturbed its superblock: if it was read of late. A
    /// superblock that is read so often is as hot as it was. What of it has become cold leaves by reclaim.
    pub(super) fn has_refreshed(heat: PageHeat) -> bool {
        heat.reads > 0
    }

    /// Whether a page of heat `heat` stays in `mode`.
    pub(super) fn has(self, mode: CellMode, heat: PageHeat) -> bool {
        heat.reads >= self.least(mode)
    }
}
