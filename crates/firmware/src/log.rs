//! Records of background work.
#![allow(
    missing_docs,
    reason = "a record names the group or superblock that it is about"
)]

use firstread_core::{CellMode, LevelOffsets, Ns, SuperblockId};

/// A record. Groups are numbered as in [`firstread_core::voltage::BlockGroups`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Time of the event.
    pub at: Ns,
    pub what: What,
}

/// An event of background work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The active entries of a group were chosen from the factory table at start-up.
    Populated {
        group: u8,
        /// Chosen factory entries, best first.
        entries: [u8; 3],
        /// Background reads it took.
        reads: u32,
    },
    /// A group was entered for the first time and inherited the entries of another group.
    Inherited {
        group: u8,
        /// The group that the entries come from.
        from: u8,
    },
    /// The entries of a group were tested on sample pages.
    Verified {
        group: u8,
        /// Superblocks sampled; the second may equal the first.
        blocks: [SuperblockId; 2],
        /// Share of the pages read that failed, per entry, in thousandths.
        fail_permille: [u16; 3],
        /// Background reads it took.
        reads: u32,
    },
    /// The entries of a group were reordered.
    Sorted {
        group: u8,
        /// Old positions, in the new order.
        order: [u8; 3],
    },
    /// The valleys of a group were searched, and its entries replaced.
    Tracked {
        group: u8,
        /// Window moves, summed over all sentinels.
        iterations: u16,
        /// The new first entry.
        levels: LevelOffsets,
        /// Background reads it took.
        reads: u32,
    },
    /// Entries were shifted to where corrected bits are fewest.
    Centered {
        group: u8,
        /// The shift by page type (DAC units).
        by: [i8; 4],
    },
    /// A search found entries that did worse than the active ones. The active entries stay.
    Discarded {
        group: u8,
        /// Fail ratio in thousandths: of the best active entry, and of the best entry found.
        fail_permille: [u16; 2],
        /// Background reads it took.
        reads: u32,
    },
    /// A superblock begins to be erased into another cell mode.
    Converted {
        block: SuperblockId,
        /// The mode that it leaves.
        from: CellMode,
        to: CellMode,
    },
    /// The groups that were due together are calibrated.
    Passed {
        /// Its number, from 1 since power-on.
        pass: u32,
        began: Ns,
        /// Verifications begun in the pass, including those of groups entered during the pass.
        groups: u8,
        /// Background reads it took.
        reads: u32,
    },
}
