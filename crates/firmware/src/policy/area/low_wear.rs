//! The limit of LWA's wear, which every way of entry asks.
//!
//! DWR bounds the wear of HWA in cycles. Of LWA the paper says only that it wears less: "a little number of P/E cycles"
//! while HWA has several hundreds, and hundreds while HWA approaches its bound (section IV-A). The paper has no limit for
//! what enters, so `as-printed` has none. With `balanced`, pages that are read or written enter while LWA is worn no more
//! than HWA.

use super::contract::Entry;

/// Whether LWA is worn little enough for pages to enter.
#[derive(Clone, Debug)]
pub(super) struct LowWear {
    has_limit: bool,
    is_below: bool,
}

/// P/E cycles, in thousandths, that LWA may be worn more than HWA. Areas that are worn alike would otherwise take turns for every
/// superblock.
const AHEAD_MILLI: u64 = 1000;

impl LowWear {
    pub(super) fn new(has_limit: bool) -> LowWear {
        LowWear {
            has_limit,
            is_below: true,
        }
    }

    /// The mean wear of HWA and LWA, in thousandths of a cycle.
    pub(super) fn look(&mut self, high_milli: u64, low_milli: u64) {
        self.is_below = match self.is_below {
            true => low_milli < high_milli + AHEAD_MILLI,
            false => low_milli < high_milli,
        };
    }

    /// Whether a page may enter by `entry`. What lies in LWA and stays there does not enter. What spills is limited by the room
    /// in LWA, and is cold: it wears LWA by a cycle in a life, and without it HWA would have to hold more and wear faster.
    #[inline]
    pub(super) fn allows(&self, entry: Entry) -> bool {
        let is_limited = !matches!(entry, Entry::Spill | Entry::Stay);
        !(self.has_limit && is_limited) || self.is_below
    }
}
