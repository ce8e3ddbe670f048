//! Read disturb: how many reads a block may have in each cell mode.
//!
//! Every sense of a page raises the threshold voltages of the other cells of its block a little. Firmware counts the
//! senses of a block since its erase, and rewrites its data when they reach a limit. Here they are counted by
//! superblock, of which every die has one block a plane: the reads of a block are the senses of multi-plane pages of
//! the superblock, divided by its dies. Retries, reads for moves and background reads disturb as well and count.
//!
//! No source has the limits of all modes of one 3D chip. A default is within what sources have of other flash, and so early
//! that disturb uses less than a quarter of the margin that wear and retention leave the code on the modelled cells of the
//! shipped QLC chips. `docs/firmware/refresh.md` has both for each mode.

use firstread_core::CellMode;
use firstread_core::params::{Param, Values};

use crate::observe::ModeSet;
use crate::policy::Setup;

/// Range of a limit. A limit of zero would have every superblock rewritten at each read.
const fn limit(key: &'static str, doc: &'static str, default: i64) -> Param {
    Param::number(key, doc, "reads", (default, 1, 1 << 40))
}

/// The limit in SLC mode: assumed, of a range from 60,000, where disturb has used a quarter of the margin at the factory's
/// levels and 3,000 P/E on modelled cells, to 1,000,000, the limit of planar SLC (second-hand).
pub(super) const READS_SLC: Param = limit(
    "reads_slc",
    "reads of a block in SLC mode, its superblock's mean, from which the superblock is emptied and rewritten",
    60_000,
);

/// The limit in MLC mode: the lower end of planar MLC, 20,000 to 100,000 (second-hand). On modelled cells disturb has used
/// a quarter of the margin from 23,000 reads on.
pub(super) const READS_MLC: Param = limit("reads_mlc", "the same in MLC mode", 20_000);

/// The limit in TLC mode. Three TLC products rewrite a block after 67,000, 93,000 and 225,000 reads (computed from public
/// SMART logs). A QLC chip in TLC mode has no source: on modelled cells disturb has used a quarter of the margin from 64,000
/// reads on. Drives of TLC chips set a limit of their own.
pub(super) const READS_TLC: Param = limit("reads_tlc", "the same in TLC mode", 60_000);

/// The limit in QLC mode. 400,000 reads are the usual limit of TLC (DEAR, MICRO 2025, second-hand), and QLC bears 3.15
/// times fewer (the same): 127,000. The default is half of that, because aged data bear fewer reads.
pub(super) const READS_QLC: Param = limit("reads_qlc", "the same in QLC mode", 60_000);

/// Senses of multi-plane pages that superblocks in each mode may have, the fewest bits a cell first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MostSenses([u64; CellMode::ALL.len()]);

impl MostSenses {
    /// No superblock is emptied because of its reads.
    pub const NEVER: MostSenses = MostSenses([u64::MAX; CellMode::ALL.len()]);

    /// With the limits `values`. The blocks of a superblock have had so many reads on average when the superblock has
    /// had so many for each of its dies.
    pub(super) fn new(setup: &Setup, values: &Values) -> MostSenses {
        let limits = [READS_SLC, READS_MLC, READS_TLC, READS_QLC];
        let dies = u64::from(setup.geometry.dies());
        MostSenses(limits.map(|limit| values.get(limit.key) as u64 * dies))
    }

    /// The same limits, an eighth sooner in `modes`.
    pub(crate) fn an_eighth_sooner(self, modes: ModeSet) -> MostSenses {
        let MostSenses(mut limits) = self;
        for mode in CellMode::ALL.iter().filter(|mode| modes.has(**mode)) {
            limits[mode.index()] -= limits[mode.index()] / 8;
        }
        MostSenses(limits)
    }

    /// Senses from which a superblock in `mode` is emptied and its data are rewritten.
    #[inline]
    pub fn of(&self, mode: CellMode) -> u64 {
        self.0[mode.index()]
    }
}
