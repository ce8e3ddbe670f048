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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::charge::CAUSES;

    /// Requests that did not wait so count for nothing; the longest wait stays, whoever comes after it.
    #[test]
    fn formula_waits_add_up_and_the_longest_stays() {
        let mut all = BehindBackground::default();
        let mut others = BehindBackground::default();
        for (of, ns) in [(0, 5), (0, 0), (0, 9), (0, 3), (1, 7), (1, 0)] {
            let mut parts = [1_000; CAUSES];
            parts[Cause::DieCalibration as usize] = ns;
            let to = if of == 0 { &mut all } else { &mut others };
            to.record(&parts);
        }
        let waits = |requests, sum_ns, longest_ns| BehindBackground {
            requests,
            sum_ns,
            longest_ns,
        };
        assert_eq!(all, waits(3, 17, 9));
        all.add(&others);
        assert_eq!(all, waits(4, 24, 9));
    }
}
