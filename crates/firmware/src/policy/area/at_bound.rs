//! The bound of HWA's wear, and what happens there.
//!
//! `share`: LWA takes updates too, as many as the limit of its wear allows. `read-only`: the paper's data centre, which
//! writes elsewhere and reads this drive.

use firstread_core::params::{Param, Values};

use crate::policy::Setup;

/// The bound: 80 % of the paper.
pub(super) const BOUND: Param = Param::number(
    "bound",
    "mean wear of the high wearing area that is its bound, as a share of the rated P/E cycles",
    "permille",
    (800, 1, 1_000_000),
);

/// What happens at the bound.
pub(super) const AT_BOUND: Param = Param::choice(
    "at_bound",
    "what happens at the bound: the low wearing area shares the writes, or the host's writes are refused",
    &["share", "read-only"],
);

/// Share of the bound by which wear has to fall below it before the bound no longer holds: wear falls only when worn
/// superblocks retire.
const HYSTERESIS: u64 = 100;

/// Whether HWA has reached its bound of wear, and what follows.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// In thousandths of a cycle.
    at_milli: u64,
    is_read_only: bool,
    is_reached: bool,
}

impl Bound {
    /// The bound of `values`.
    pub(super) fn new(setup: &Setup, values: &Values) -> Bound {
        Bound {
            at_milli: u64::from(setup.rated_pe_cycles) * values.get(BOUND.key) as u64,
            is_read_only: values.get(AT_BOUND.key) == 1,
            is_reached: false,
        }
    }

    /// The mean wear of HWA, in thousandths of a cycle. After a power cut this is all that the phase comes from.
    pub(super) fn look(&mut self, high_milli: u64) {
        let ends = self.at_milli - self.at_milli / HYSTERESIS;
        self.is_reached = match self.is_reached {
            true => high_milli >= ends,
            false => high_milli >= self.at_milli,
        };
    }

    /// Whether LWA shares the writes.
    #[inline]
    pub(super) fn shares(&self) -> bool {
        self.is_reached && !self.is_read_only
    }

    /// Whether the host's writes are refused.
    pub(super) fn refuses_writes(&self) -> bool {
        self.is_reached && self.is_read_only
    }
}
