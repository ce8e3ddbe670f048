//! `static`: as `dynamic`; in addition, cold data in little-worn superblocks are moved to worn ones.
//!
//! At most one superblock in `every` erases is emptied for wear leveling. So leveling costs a bounded part of
//! the writes, even on a drive whose superblocks differ in wear by more than leveling can remove, such as a
//! drive with replaced or used blocks. Without the bound, each erase for leveling would trigger the next.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Wear;
use super::contract::{COLD, free};
use crate::observe::{ModeSet, StreamRow, SuperblockUse, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "static",
    summary: "dynamic, and cold data move from the youngest superblock once wear spreads too far",
    source: "Chang, Hsieh and Kuo (DAC 2007), by P/E cycles instead of their erase bits",
    role: Role::Scheme,
    needs: &[Need::OwnStream],
    ordered: &[],
    params: &[
        Param::number(
            "spread",
            "P/E cycles that the most worn superblock may be ahead of the least worn with data",
            "P/E",
            (100, 1, 1_000_000),
        ),
        Param::number(
            "every",
            "superblocks erased for each whose cold data move, at least",
            "erases",
            (16, 1, 1_000_000),
        ),
    ],
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct StaticWearLeveling {
    spread: u32,
    every: u32,
    /// Erases since cold data were last moved.
    erases: u32,
}

impl StaticWearLeveling {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> StaticWearLeveling {
        StaticWearLeveling {
            spread: values.get("spread") as u32,
            every: values.get("every") as u32,
            erases: 0,
        }
    }
}

impl Wear for StaticWearLeveling {
    fn streams(&self) -> &'static [StreamRow] {
        COLD
    }

    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId> {
        // Cold data go to the most worn superblock, which then rests.
        let chosen = match cold {
            true => {
                free(blocks, modes).max_by_key(|(block, row)| (row.pe_cycles, u32::MAX - block.0))
            }
            false => free(blocks, modes).min_by_key(|(block, row)| (row.pe_cycles, block.0)),
        };
        chosen.map(|(block, _)| block)
    }

    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId> {
        self.erases = self.erases.saturating_add(1);
        if self.erases < self.every {
            return None;
        }
        let alive = blocks
            .iter()
            .filter(|(_, row)| row.usage != SuperblockUse::Bad);
        let most = alive.map(|(_, row)| row.pe_cycles).max()?;
        let (block, row) = blocks
            .iter()
            .filter(|(_, row)| row.usage == SuperblockUse::Full && !row.leaving)
            .min_by_key(|(block, row)| (row.pe_cycles, block.0))?;
        if most - row.pe_cycles <= self.spread {
            return None;
        }
        self.erases = 0;
        Some(block)
    }
}
