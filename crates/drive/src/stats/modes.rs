//! Cell modes in a run: what superblocks hold in each, and what room that leaves.

use firstread_core::{CellMode, Geometry};
use firstread_firmware::observe::{Room, SuperblockTable, SuperblockUse};

/// Superblocks by cell mode, in the order of [`CellMode::ALL`], without those that are retired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByMode {
    /// How many there are.
    pub superblocks: [u32; CellMode::ALL.len()],
    /// Their slots that hold the last version of a page.
    pub valid_slots: [u64; CellMode::ALL.len()],
    /// What they hold in all, and what that is less than in the mode that they started in.
    pub room: Room,
}

impl ByMode {
    /// The superblocks of `table`, on a drive of `geometry`.
    pub(crate) fn of(table: &SuperblockTable, geometry: &Geometry) -> ByMode {
        let mut by_mode = ByMode {
            room: table.room(|mode| geometry.slots_per_superblock(mode)),
            ..ByMode::default()
        };
        let in_use = table
            .iter()
            .filter(|(_, row)| row.usage != SuperblockUse::Bad);
        for (_, row) in in_use {
            by_mode.superblocks[row.mode.index()] += 1;
            by_mode.valid_slots[row.mode.index()] += u64::from(row.valid_slots);
        }
        by_mode
    }
}

/// Cell modes over a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// When it began.
    pub start: ByMode,
    /// When it had ended.
    pub end: ByMode,
    /// The least room that there was at any time of it, and the most that was lost at any time.
    pub worst: Room,
}
