//! `progressive`: wear is left to chance while the drive is young, and is leveled ever more strictly as it ages.
//!
//! A superblock that was cleaned is about to be worn again. If its P/E cycles are above the **bar**, the data of the
//! coldest superblock move into it, and that one is worn in its place. With `E` the rated P/E cycles of the chip, `A`
//! the mean of all superblocks and `T0 = start * E`, the bar is
//!
//! `T0 + A * (E - T0) / E`
//!
//! A new drive has it at `T0`, so nothing is moved before some superblock has had `start` of its life. It meets the
//! mean at the rated life. Beyond that it is the mean: a bar below the mean would have superblocks take turns for ever.
//!
//! Only the superblock that is to be worn next counts, and it is worn least often by being opened last of those that
//! are free. The erase of a superblock whose data moved away has cleaned nothing, so at least every second erase is one
//! of garbage collection: `every` may ask for more.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Wear;
use super::by_wear::{alive, coldest};
use super::contract::COLD;
use crate::observe::{ModeSet, StreamRow, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "progressive",
    summary: "a cleaned superblock far ahead in wear takes the coldest data; how far shrinks over life",
    source: "PWL (Chen et al., DATE 2015; Yang et al., IEEE TVLSI 2016), with the bar of DWR's comparison",
    role: Role::Scheme,
    needs: &[Need::OwnStream, Need::TrueWear],
    ordered: &[],
    params: &[START, EVERY],
};

/// Bar of a new drive, in parts of a thousand of the rated P/E cycles.
pub(super) const START: Param = Param::number(
    "start",
    "share of the rated P/E cycles that a superblock of a new drive may reach before it rests",
    "permille",
    (750, 1, 1000),
);

/// Bound on the moves of cold data, in erases for each superblock emptied.
pub(super) const EVERY: Param = Param::number(
    "every",
    "superblocks erased for each whose cold data move, at least; itself is one of them",
    "erases",
    (2, 2, 1_000_000),
);

/// The bar, and the erases since cold data last moved.
#[derive(Clone, Debug)]
pub struct ProgressiveWearLeveling {
    /// The mode of cold data that move.
    own: ModeSet,
    /// Rated P/E cycles of the chip.
    rated: u32,
    /// P/E cycles of the bar of a new drive.
    start: u32,
    every: u32,
    /// Erases since cold data were last moved.
    erases: u32,
}

impl ProgressiveWearLeveling {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> ProgressiveWearLeveling {
        let rated = setup.rated_pe_cycles.max(1);
        let start = u64::from(rated) * values.get(START.key) as u64 / 1000;
        ProgressiveWearLeveling {
            own: core::iter::once(setup.tables.mode).collect(),
            rated,
            start: start as u32,
            every: values.get(EVERY.key) as u32,
            erases: 0,
        }
    }

    /// Whether a superblock with `pe_cycles` is above the bar.
    fn is_ahead(&self, pe_cycles: u32, blocks: SuperblockView<'_>) -> bool {
        let (all, count) = alive(blocks).fold((0u128, 0u128), |(all, count), info| {
            (all + u128::from(info.pe_cycles), count + 1)
        });
        let (rated, start) = (u128::from(self.rated), u128::from(self.start));
        let pe_cycles = u128::from(pe_cycles) * count;
        pe_cycles > all && pe_cycles * rated > start * rated * count + all * (rated - start)
    }
}

impl Wear for ProgressiveWearLeveling {
    fn streams(&self) -> &'static [StreamRow] {
        COLD
    }

    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId> {
        match cold {
            true => blocks.most_worn_free(modes),
            false => blocks.least_worn_free(modes, None),
        }
    }

    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId> {
        self.erases = self.erases.saturating_add(1);
        if self.erases < self.every {
            return None;
        }
        let cleaned = blocks.info(blocks.most_worn_free(self.own)?).pe_cycles;
        let (block, info) = coldest(blocks)?;
        if info.pe_cycles >= cleaned || !self.is_ahead(cleaned, blocks) {
            return None;
        }
        self.erases = 0;
        Some(block)
    }
}
