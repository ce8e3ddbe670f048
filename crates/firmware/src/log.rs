//! Records of background work.

use firstread_core::{BlockId, LevelOffsets, Ns};

/// One record. Groups are numbered as in [`firstread_core::voltage::BlockGroups`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// When.
    pub at: Ns,
    /// What.
    pub what: What,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// A group's active entries were chosen among the factory's at start-up.
    Populated {
        /// The group.
        group: u8,
        /// Factory entries chosen, best first.
        entries: [u8; 3],
        /// Background reads it took.
        reads: u32,
    },
    /// A group was entered for the first time and took its entries from another.
    Inherited {
        /// The group.
        group: u8,
        /// Where its entries come from.
        from: u8,
    },
    /// A group's entries were tested on sample pages.
    Verified {
        /// The group.
        group: u8,
        /// Superblocks sampled; the second may equal the first.
        blocks: [BlockId; 2],
        /// Pages that failed, of the pages read, per entry in thousandths.
        fail_permille: [u16; 3],
        /// Background reads it took.
        reads: u32,
    },
    /// A group's entries were put in another order.
    Sorted {
        /// The group.
        group: u8,
        /// Old positions, in the new order.
        order: [u8; 3],
    },
    /// A group's valleys were searched and its entries replaced.
    Tracked {
        /// The group.
        group: u8,
        /// Window moves over all sentinels.
        iterations: u16,
        /// New first entry.
        levels: LevelOffsets,
        /// Background reads it took.
        reads: u32,
    },
    /// Entries moved to where corrected bits are fewest.
    Centered {
        /// The group.
        group: u8,
        /// How far, by page type (DAC units).
        by: [i8; 4],
    },
    /// A search found entries that did worse than those in use, which stay.
    Discarded {
        /// The group.
        group: u8,
        /// Fail ratio in thousandths of the best entry in use, and of the best found.
        fail_permille: [u16; 2],
        /// Background reads it took.
        reads: u32,
    },
    /// A pass over all groups has ended.
    Passed {
        /// Its number, from 1 since power-on.
        pass: u32,
        /// When it began.
        began: Ns,
        /// Verifications begun in it, of groups entered meanwhile too.
        groups: u8,
        /// Background reads it took.
        reads: u32,
    },
}
