//! A histogram that is updated in groups of latencies.

use super::histogram::{Histogram, RareHistogram};

/// What a latency counts as that is longer than the histogram resolves: one hour (ns).
const HOUR_NS: u64 = 3_600_000_000_000;
/// Number of latencies counted together. A histogram has more cache lines than stay cached through a request,
/// so that counting one by one waits for memory each time.
const TOGETHER: usize = 32;

/// A histogram with the latencies that are not counted in it yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    histogram: Histogram,
    waiting: [u64; TOGETHER],
    len: usize,
}

impl Counted {
    /// Reserves memory for all latencies.
    pub(super) fn reserve(&mut self) {
        self.histogram.reserve();
    }

    /// Forgets all latencies; its memory stays.
    pub(super) fn forget(&mut self) {
        self.histogram.forget();
        self.len = 0;
    }

    /// Records `latency_ns`; what is too long to be resolved counts as an hour.
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
            self.histogram.record(latency_ns, HOUR_NS);
        }
        self.len = 0;
    }

    /// Adds the latencies of `other`, which has none pending.
    pub(super) fn merge(&mut self, other: &Counted) {
        self.histogram.merge(other.histogram());
    }

    /// The histogram of all latencies.
    #[inline]
    pub(super) fn histogram(&self) -> &Histogram {
        assert!(self.len == 0, "{} latencies are not counted yet", self.len);
        &self.histogram
    }
}

/// Counts the latency of a request that ended in an error; what is too long to be resolved counts as an hour.
pub(super) fn record_lost(histogram: &mut RareHistogram, latency_ns: u64) {
    histogram.record(latency_ns, HOUR_NS);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All latencies are counted once, whenever they are flushed.
    #[test]
    fn model_latencies_counted_together_are_those_counted_one_by_one() {
        for requests in [0, 1, 31, 32, 33, 64, 1_000] {
            let (mut together, mut all) = (Counted::default(), Counted::default());
            let mut one_by_one = Histogram::default();
            for i in 0..requests {
                let latency_ns = 1 + i * 61_843 % 100_000;
                together.record(latency_ns);
                one_by_one.record(latency_ns, HOUR_NS);
            }
            together.settle();
            all.merge(&together);
            for histogram in [together.histogram(), all.histogram()] {
                assert!(
                    histogram.recorded().eq(one_by_one.recorded()),
                    "{requests} requests"
                );
                assert_eq!(histogram.len(), requests);
            }
        }
    }
}
