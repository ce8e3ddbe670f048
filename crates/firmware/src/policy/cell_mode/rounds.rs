//! Rounds in which superblocks are looked at, one after another.

use firstread_core::SuperblockId;
use firstread_core::params::{Param, Values};

use crate::observe::SuperblockTable;

/// How often superblocks are looked at.
pub(super) const PERIOD: Param = Param::number(
    "reclaim_period",
    "page reads of the host between two looks for superblocks in other modes to be given back; 0 for never",
    "reads",
    (1 << 18, 0, 1 << 40),
);

/// A round over all superblocks at the end of each period.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Host reads of flash pages in a period; zero if there are no rounds.
    period: u64,
    left: u64,
    /// The superblock to be looked at next, during a round.
    next: Option<u32>,
}

impl Rounds {
    /// As the parameters `values` say.
    pub(super) fn new(values: &Values) -> Rounds {
        let period = values.get(PERIOD.key) as u64;
        Rounds {
            period,
            left: period,
            next: None,
        }
    }

    /// The host has read a page.
    #[inline]
    pub(super) fn after_read(&mut self) {
        if self.left > 1 {
            self.left -= 1;
        } else {
            self.left = self.period;
            self.begin();
        }
    }

    /// A round begins, if there are any.
    pub(super) fn begin(&mut self) {
        if self.period > 0 {
            self.next = Some(0);
        }
    }

    /// The next superblock of a round.
    #[inline]
    pub(super) fn next(&mut self, blocks: &SuperblockTable) -> Option<SuperblockId> {
        let next = self.next?;
        self.next = (next < blocks.len()).then_some(next + 1);
        self.next.map(|_| SuperblockId(next))
    }
}
