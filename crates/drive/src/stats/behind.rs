//! How long requests have waited for dies that were busy with background reads of calibration.

use crate::hardware::charge::{Cause, NsByCause};

/// Waits for dies that were busy with background reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BehindBackground {
    /// Requests that have waited so.
    pub requests: u64,
    /// Their waits together (ns).
    pub sum_ns: u64,
    /// The longest of them (ns).
    pub longest_ns: u64,
}

impl BehindBackground {
    /// A request with the breakdown `parts`.
    #[inline(always)] // Once in `Latencies::record`.
    pub(super) fn record(&mut self, parts: &NsByCause) {
        let ns = parts[Cause::DieCalibration as usize];
        if ns != 0 {
            self.add(&BehindBackground {
                requests: 1,
                sum_ns: ns,
                longest_ns: ns,
            });
        }
    }

    /// Adds the requests of `other`.
    pub(super) fn add(&mut self, other: &BehindBackground) {
        self.requests += other.requests;
        self.sum_ns += other.sum_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}
