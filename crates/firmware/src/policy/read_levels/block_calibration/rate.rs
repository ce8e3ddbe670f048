//! The budget of background reads, and the assumed drift of a superblock's cells, by which it is decided whose calibration
//! comes next.

use firstread_core::Ns;
use firstread_core::params::Param;

use crate::observe::SuperblockInfo;
use crate::voltage::rate_limit::READS_PARAM;

/// Five times the budget of other schemes: `docs/firmware/comparators.md`.
pub(super) const READS: Param = Param::number(
    READS_PARAM.key,
    "background reads in an interval, evenly spread",
    "reads",
    (10_000, 0, 10_000_000),
);

/// Assumed speed of drift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) onset: u64,
    pub(super) pe_permille: u64,
    pub(super) read_onset: u64,
}

impl Rate {
    /// Estimated drift of a superblock's cells since they were programmed, in 1/65536 of a doubling of time.
    pub(super) fn drift(&self, now: Ns, info: &SuperblockInfo) -> u32 {
        let age = now.since(info.programmed_at).0;
        let wear = 1000 + self.pe_permille * info.pe_cycles as u64 / 1000;
        let time = log2_of_one_and(age, self.onset) as u64 * wear / 1000;
        (time + log2_of_one_and(info.reads, self.read_onset) as u64).min(u32::MAX as u64) as u32
    }
}

/// `65536 log2(1 + n / of)`, interpolated linearly between powers of two.
fn log2_of_one_and(n: u64, of: u64) -> u32 {
    let ratio = ((n as u128) << 16) / of as u128;
    let x = (1 << 16) + ratio.min(1 << 46) as u64;
    let power = x.ilog2();
    let between = (x << 16 >> power) as u32 & 0xffff;
    ((power - 16) << 16) + between
}
