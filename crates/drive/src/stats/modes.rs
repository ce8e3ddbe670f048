//! Cell modes in a run: what superblocks hold in each, and what capacity that leaves.

use firstread_core::{CellMode, Geometry};
use firstread_firmware::observe::{PhysicalCapacity, SuperblockTable, SuperblockUse};

/// Superblocks by cell mode, in the order of [`CellMode::ALL`], without those that are retired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByMode {
    /// How many there are.
    pub superblocks: [u32; CellMode::ALL.len()],
    /// Their slots that hold the last version of a page.
    pub valid_slots: [u64; CellMode::ALL.len()],
    /// What they hold in all, and what that is less than in the mode that they started in.
    pub capacity: PhysicalCapacity,
}

impl ByMode {
    /// The superblocks of `table`, on a drive of `geometry`.
    pub(crate) fn of(table: &SuperblockTable, geometry: &Geometry) -> ByMode {
        let mut by_mode = ByMode {
            capacity: table.capacity(|mode| geometry.slots_per_superblock(mode)),
            ..ByMode::default()
        };
        let in_use = table
            .iter()
            .filter(|(_, info)| info.usage != SuperblockUse::Bad);
        for (_, info) in in_use {
            by_mode.superblocks[info.mode.index()] += 1;
            by_mode.valid_slots[info.mode.index()] += u64::from(info.valid_slots);
        }
        by_mode
    }
}

/// Cell modes over a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// When the run began.
    pub start: ByMode,
    /// When it had ended.
    pub end: ByMode,
    /// The least capacity that there was at any time of it, and the most that was lost at any time.
    pub worst: PhysicalCapacity,
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::{StripeOrder, SuperblockId};

    /// Superblocks and their valid slots are added up by mode, and those that are retired are left out.
    #[test]
    fn formula_superblocks_are_counted_by_mode() {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes: 1,
            blocks_per_plane: 6,
            wordlines_per_block: 16,
            page_bytes: 8192,
            slot_bytes: 4096,
            codeword_bytes: 4096,
            stripe: StripeOrder::DieFirst,
            stripe_parity: false,
        };
        let mut table = SuperblockTable::new(6, CellMode::Qlc);
        for (block, mode, valid) in [
            (0, CellMode::Qlc, 10),
            (1, CellMode::Qlc, 7),
            (2, CellMode::Slc, 5),
            (4, CellMode::Slc, 6),
        ] {
            let info = table.info_mut(SuperblockId(block));
            (info.mode, info.valid_slots) = (mode, valid);
        }
        table.info_mut(SuperblockId(3)).usage = SuperblockUse::Bad;
        let found = ByMode::of(&table, &geometry);
        let of = |counts: &[u64], mode: CellMode| counts[mode.index()];
        let superblocks = found.superblocks.map(u64::from);
        assert_eq!(of(&superblocks, CellMode::Qlc), 3);
        assert_eq!(of(&superblocks, CellMode::Slc), 2);
        assert_eq!(of(&found.valid_slots, CellMode::Qlc), 17);
        assert_eq!(of(&found.valid_slots, CellMode::Slc), 11);
        assert_eq!(superblocks.iter().sum::<u64>(), 5);
        assert_eq!(
            found.capacity,
            table.capacity(|mode| geometry.slots_per_superblock(mode))
        );
    }
}
