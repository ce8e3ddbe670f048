//! A histogram that is updated in groups of latencies.

use hdrhistogram::Histogram;

/// Significant digits of a latency.
const DIGITS: u8 = 3;
/// Longest latency resolved: one hour.
const MAX_NS: u64 = 3_600_000_000_000;
/// Number of latencies counted together. A histogram has more cache lines than stay cached through a request,
/// so that counting one by one waits for memory each time.
const TOGETHER: usize = 32;

/// A histogram with the latencies that are not counted in it yet.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    histogram: Histogram<u64>,
    waiting: [u64; TOGETHER],
    len: usize,
}

impl Default for Counted {
    fn default() -> Counted {
        let histogram = Histogram::new_with_bounds(1, MAX_NS, DIGITS);
        Counted {
            histogram: histogram.expect("the bounds are valid"),
            waiting: [0; TOGETHER],
            len: 0,
        }
    }
}

impl Counted {
    /// Records `latency_ns`; more than an hour counts as an hour.
    #[inline]
    pub(super) fn record(&mut self, latency_ns: u64) {
        self.waiting[self.len] = latency_ns;
        self.len += 1;
        if self.len == TOGETHER {
            self.settle();
        }
    }

    /// Counts the pending latencies. Must be called before the histogram is read.
    #[inline(never)]
    pub(super) fn settle(&mut self) {
        for &latency_ns in &self.waiting[..self.len] {
            self.histogram.saturating_record(latency_ns);
        }
        self.len = 0;
    }

    /// Adds the latencies of `other`, which has none pending.
    pub(super) fn merge(&mut self, other: &Counted) {
        let added = self.histogram.add(other.histogram());
        added.expect("all histograms have the same bounds");
    }

    /// The histogram of all latencies.
    #[inline]
    pub(super) fn histogram(&self) -> &Histogram<u64> {
        assert!(self.len == 0, "{} latencies are not counted yet", self.len);
        &self.histogram
    }
}

/// A histogram that grows with the longest latency.
pub(super) fn growing() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("the digits are valid")
}

/// Counts `latency_ns` in `histogram`, which grows if necessary; more than an hour counts as an hour.
pub(super) fn record_growing(histogram: &mut Histogram<u64>, latency_ns: u64) {
    let recorded = histogram.record(latency_ns.min(MAX_NS));
    recorded.expect("the histogram grows to the longest latency");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All latencies are counted once, whenever they are flushed.
    #[test]
    fn model_latencies_counted_together_are_those_counted_one_by_one() {
        for requests in [0, 1, 31, 32, 33, 64, 1_000] {
            let (mut together, mut all) = (Counted::default(), Counted::default());
            let mut one_by_one = Counted::default().histogram;
            for i in 0..requests {
                let latency_ns = 1 + i * 61_843 % 100_000;
                together.record(latency_ns);
                one_by_one.saturating_record(latency_ns);
            }
            together.settle();
            assert_eq!(together.histogram(), &one_by_one, "{requests} requests");
            all.merge(&together);
            assert_eq!(all.histogram(), &one_by_one, "{requests} requests");
        }
    }
}
