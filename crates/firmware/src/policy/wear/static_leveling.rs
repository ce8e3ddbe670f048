//! `static`: as `dynamic`; in addition, cold data in little-worn superblocks are moved to worn ones.
//!
//! Wear may spread so far: the most worn superblock may be `spread` P/E cycles ahead of the least worn one with data.
//! With `threshold = fixed` that is all. With `threshold = adaptive` the spread follows from the wear of the drive, as
//! Rejuvenator has it: it is `share` of the P/E cycles that the most worn superblock has left of the chip's rated
//! ones, one cycle at least. So a young drive moves little, and an old one is held together. What else Rejuvenator
//! adapts, how many of its lists of blocks take hot data, has no counterpart here: `docs/firmware/wear.md`.
//!
//! The data that move have a stream of their own (`stream = own`), so that they no longer lie among data that are
//! overwritten soon, or fill the superblocks of all other moves (`stream = moves`).
//!
//! At most one superblock in `every` erases is emptied for wear leveling. So leveling costs a bounded part of
//! the writes, even on a drive whose superblocks differ in wear by more than leveling can remove, such as a
//! drive with replaced or used blocks. Without the bound, each erase for leveling would trigger the next.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Wear;
use super::by_wear::coldest;
use super::contract::COLD;
use crate::observe::{ModeSet, StreamRow, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "static",
    summary: "dynamic, and cold data move from the youngest superblock once wear spreads too far",
    source: "Chang, Hsieh and Kuo (DAC 2007), by P/E cycles instead of their erase bits; adaptive: after \
             Rejuvenator (Murugan and Du, MSST 2011)",
    role: Role::Scheme,
    needs: &[Need::OwnStreamIf("stream")],
    ordered: &[],
    params: &[
        Param::choice(
            "threshold",
            "how far wear may spread: by `spread`, or by `share` of the life that is left",
            &["fixed", "adaptive"],
        ),
        Param::number(
            "spread",
            "P/E cycles that the most worn superblock may be ahead of the least worn with data, if fixed",
            "P/E",
            (100, 1, 1_000_000),
        ),
        Param::number(
            "share",
            "the same if adaptive: share of the rated P/E cycles that the most worn superblock has left",
            "permille",
            (100, 1, 1000),
        ),
        Param::number(
            "every",
            "superblocks erased for each whose cold data move, at least",
            "erases",
            (16, 1, 1_000_000),
        ),
        Param::choice(
            "stream",
            "where cold data go: into superblocks of their own, or among all other data that move",
            &["own", "moves"],
        ),
    ],
};

/// How far wear may spread.
#[derive(Clone, Copy, Debug)]
enum Threshold {
    /// So many P/E cycles.
    Fixed(u32),
    /// A share of the rated P/E cycles that are left (‰).
    Adaptive { rated: u32, share: u32 },
}

impl Threshold {
    /// The P/E cycles that the most worn superblock, which has `most`, may be ahead.
    fn spread(self, most: u32) -> u32 {
        match self {
            Threshold::Fixed(spread) => spread,
            Threshold::Adaptive { rated, share } => {
                let left = u64::from(rated.saturating_sub(most));
                (left * u64::from(share) / 1000).max(1) as u32
            }
        }
    }
}

/// The threshold of spread, and the erases since cold data last moved.
#[derive(Clone, Debug)]
pub struct StaticWearLeveling {
    threshold: Threshold,
    every: u32,
    streams: &'static [StreamRow],
    /// Erases since cold data were last moved.
    erases: u32,
}

impl StaticWearLeveling {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> StaticWearLeveling {
        let threshold = match values.get("threshold") {
            0 => Threshold::Fixed(values.get("spread") as u32),
            _ => Threshold::Adaptive {
                rated: setup.rated_pe_cycles,
                share: values.get("share") as u32,
            },
        };
        StaticWearLeveling {
            threshold,
            every: values.get("every") as u32,
            streams: match values.get("stream") {
                0 => COLD,
                _ => &[],
            },
            erases: 0,
        }
    }
}

impl Wear for StaticWearLeveling {
    fn streams(&self) -> &'static [StreamRow] {
        self.streams
    }

    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId> {
        // Cold data go to the most worn superblock, which then rests.
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
        let most = blocks.info(blocks.most_worn()?).pe_cycles;
        let (block, info) = coldest(blocks)?;
        if most - info.pe_cycles <= self.threshold.spread(most) {
            return None;
        }
        self.erases = 0;
        Some(block)
    }
}
