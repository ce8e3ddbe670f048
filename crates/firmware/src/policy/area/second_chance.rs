//! A second chance, as the clock algorithm gives it: pages of LWA that are still wanted there stay when their superblock
//! is returned. If half a superblock of pages stayed, the return gained little, and no page stays at the next return.

use super::contract::Entry;
use crate::observe::Owner;

/// Pages that stayed at the current return, and whether pages stay at all.
#[derive(Clone, Debug)]
pub(super) struct SecondChance {
    /// Slots of a superblock.
    slots: u64,
    /// Pages that stayed since the last return began.
    stayed: u64,
    is_given: bool,
}

impl SecondChance {
    /// Of a drive whose superblocks have `slots` slots. A power cut forgets what stayed: what is being returned then leaves.
    pub(super) fn new(slots: u64) -> SecondChance {
        SecondChance {
            slots,
            stayed: 0,
            is_given: false,
        }
    }

    /// A page that moved for `owner` has been given a slot by `entry`.
    pub(super) fn has_entered(&mut self, entry: Entry, owner: Option<Owner>) {
        let is_returned = owner == Some(Owner::MakeRoom);
        self.stayed += u64::from(is_returned && entry == Entry::Stay);
    }

    /// A superblock begins to be returned.
    pub(super) fn begin(&mut self) {
        self.is_given = 2 * self.stayed < self.slots;
        self.stayed = 0;
    }

    /// Whether pages of the superblock that is being returned may stay.
    #[inline]
    pub(super) fn is_given(&self) -> bool {
        self.is_given
    }
}
