//! Read disturb: how many reads a block may have.
//!
//! Every sense of a page raises the threshold voltages of the other cells of its block a little. Firmware counts the
//! senses of a block since its erase, and rewrites its data when they reach a limit. Here they are counted by
//! superblock, of which every die has one block a plane: the reads of a block are the senses of multi-plane pages of
//! the superblock, divided by its dies. Retries, reads for moves and background reads disturb as well and count.

use firstread_core::params::{Param, Values};

use crate::policy::Setup;

/// The parameter `reads`. 400,000 reads are the usual limit of TLC (DEAR, MICRO 2025, second-hand), and QLC bears 3.15
/// times fewer (the same): 127,000. The default is half of that, because aged data bear fewer reads:
/// `docs/firmware/refresh.md` has the measurement.
pub(super) const READS: Param = Param::number(
    "reads",
    "reads of a block, its superblock's mean, from which the superblock is emptied and rewritten",
    "reads",
    (60_000, 1, 1 << 40),
);

/// Senses of a superblock's multi-plane pages at which its blocks have had `reads` reads on average.
pub(super) fn most_senses(setup: &Setup, values: &Values) -> u64 {
    values.get(READS.key) as u64 * u64::from(setup.geometry.dies())
}
