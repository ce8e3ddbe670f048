//! Records of background work.

use firstread_core::{CellMode, LevelOffsets, Ns, SuperblockId};

/// A record. Groups are numbered as in [`firstread_core::voltage::BlockGroups`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Time of the event.
    pub at: Ns,
    /// The event.
    pub what: What,
}

/// An event of background work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The active entries of a group were chosen from the factory table at start-up.
    Populated {
        /// The group.
        group: u8,
        /// Chosen factory entries, best first.
        entries: [u8; 3],
        /// Background reads it took.
        reads: u32,
    },
    /// A group was entered for the first time and inherited the entries of another group.
    Inherited {
        /// The group.
        group: u8,
        /// The group that the entries come from.
        from: u8,
    },
    /// The entries of a group were tested on sample pages.
    Verified {
        /// The group.
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
        /// The group.
        group: u8,
        /// Old positions, in the new order.
        order: [u8; 3],
    },
    /// The valleys of a group were searched, and its entries replaced.
    Tracked {
        /// The group.
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
        /// The group.
        group: u8,
        /// The shift by page type (DAC units).
        by: [i8; 4],
    },
    /// A search found entries that did worse than the active ones. The active entries stay.
    Discarded {
        /// The group.
        group: u8,
        /// Fail ratio in thousandths: of the best active entry, and of the best entry found.
        fail_permille: [u16; 2],
        /// Background reads it took.
        reads: u32,
    },
    /// A superblock begins to be erased into another cell mode.
    Converted {
        /// The superblock.
        block: SuperblockId,
        /// The mode that it leaves.
        from: CellMode,
        /// Its new mode.
        to: CellMode,
    },
    /// The groups that were due together are calibrated.
    Passed {
        /// Its number, from 1 since power-on.
        pass: u32,
        /// When it began.
        began: Ns,
        /// Verifications begun in the pass, including those of groups entered during the pass.
        groups: u8,
        /// Background reads it took.
        reads: u32,
    },
}
