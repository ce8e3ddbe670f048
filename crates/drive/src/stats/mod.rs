//! Statistics of a run: latencies by direction, with intervals, and what the tail was made of.

mod tail;

pub use tail::{Tail, TailShare};

use firstread_core::{HostOp, Ns};
use hdrhistogram::Histogram;

use crate::hardware::charge::Parts;

/// Significant digits of a latency.
const DIGITS: u8 = 3;
/// Longest latency told apart: an hour.
const MAX_NS: u64 = 3_600_000_000_000;

/// Requests of one direction.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ns: u128,
    /// Bytes moved.
    pub bytes: u64,
    /// What they waited for.
    pub tail: Tail,
}

/// A percentile with the interval that its sample size leaves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Percentile {
    /// In percent: 99.99.
    pub percent: f64,
    /// Latency (ns).
    pub ns: u64,
    /// 95 % interval from the order statistics of independent samples (ns). The upper end is the
    /// maximum where the sample does not reach further.
    pub interval_ns: (u64, u64),
    /// Samples at or beyond it. Below 100 the value says little without its interval.
    pub beyond: u64,
}

impl Default for Latencies {
    fn default() -> Latencies {
        let histogram =
            Histogram::new_with_bounds(1, MAX_NS, DIGITS).expect("the bounds are valid");
        Latencies {
            histogram,
            sum_ns: 0,
            bytes: 0,
            tail: Tail::default(),
        }
    }
}

impl Latencies {
    /// A request of `bytes` took `latency`, charged to `parts`.
    pub(crate) fn record(&mut self, latency: Ns, bytes: u32, parts: &Parts) {
        self.histogram.saturating_record(latency.0);
        self.sum_ns += latency.0 as u128;
        self.bytes += bytes as u64;
        self.tail.record(latency.0, parts);
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }
    /// Mean latency (ns), exact.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count().max(1) as f64
    }
    /// Standard deviation (ns), to the precision of the histogram.
    pub fn stdev_ns(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.histogram.stdev()
        }
    }
    /// Shortest latency (ns); 0 where there is none.
    pub fn min_ns(&self) -> u64 {
        if self.count() == 0 {
            0
        } else {
            self.histogram.min()
        }
    }
    /// Longest latency (ns).
    pub fn max_ns(&self) -> u64 {
        self.histogram.max()
    }

    /// The latency that `percent` of the requests do not exceed.
    pub fn percentile(&self, percent: f64) -> Percentile {
        let n = self.count() as f64;
        let p = percent / 100.0;
        // Normal approximation of the binomial count of samples below the quantile.
        let half = 1.959_964 * (n * p * (1.0 - p)).sqrt();
        let at = |rank: f64| {
            self.histogram
                .value_at_quantile((rank / n.max(1.0)).clamp(0.0, 1.0))
        };
        Percentile {
            percent,
            ns: self.histogram.value_at_quantile(p),
            interval_ns: (at((n * p - half).floor()), at((n * p + half).ceil())),
            beyond: (n * (1.0 - p)).round() as u64,
        }
    }

    /// The distribution: the highest latency (ns) and the requests of each bucket that has any, in
    /// rising order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram
            .iter_recorded()
            .map(|b| (b.value_iterated_to(), b.count_at_value()))
    }

    /// Adds the requests of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.histogram
            .add(&other.histogram)
            .expect("all histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.bytes += other.bytes;
        self.tail.merge(&other.tail);
    }
}

/// Requests of one report: a job, or the jobs of a `group_reporting` group.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// Reads.
    pub read: Latencies,
    /// Writes.
    pub write: Latencies,
    /// Trims.
    pub trim: Latencies,
    /// Flushes.
    pub flush: Latencies,
    /// Reads that ended in an error because data could not be corrected.
    pub uncorrectable: u64,
    /// From the first measured request's submission to the last completion (ns).
    pub runtime_ns: u64,
    /// Percentiles asked for.
    pub percentiles: Vec<f64>,
    /// What its search for a queue depth has come to (`latency_target`).
    pub depth: Option<DepthFound>,
}

/// What a search for a queue depth has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthFound {
    /// The highest depth found to keep the target, or the one being tried.
    pub depth: u32,
    /// Whether the search has ended, so that the report is of that depth alone.
    pub settled: bool,
}

impl Report {
    /// Requests of all directions that were served, flushes not counted.
    pub fn all_requests(&self) -> u64 {
        self.read.count() + self.write.count() + self.trim.count()
    }

    /// Counts anew.
    pub(crate) fn forget(&mut self) {
        *self = Report {
            name: std::mem::take(&mut self.name),
            percentiles: std::mem::take(&mut self.percentiles),
            ..Report::default()
        };
    }

    pub(crate) fn direction(&mut self, op: HostOp) -> &mut Latencies {
        match op {
            HostOp::Read => &mut self.read,
            HostOp::Write => &mut self.write,
            HostOp::Trim => &mut self.trim,
            HostOp::Flush => &mut self.flush,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::charge::CAUSES;

    #[test]
    fn formula_percentiles_of_a_ramp() {
        let mut l = Latencies::default();
        for ns in 1..=100_000u64 {
            l.record(Ns(ns), 4096, &[0; CAUSES]);
        }
        let p = l.percentile(99.0);
        assert!(p.ns.abs_diff(99_000) <= 99, "{p:?}");
        assert_eq!(p.beyond, 1000);
        // sqrt(n p q) = 31.5 ranks, which are nanoseconds here.
        assert!(
            p.interval_ns.0.abs_diff(98_938) <= 120 && p.interval_ns.1.abs_diff(99_062) <= 120,
            "{p:?}"
        );
        assert!((l.mean_ns() - 50_000.5).abs() < 1e-9);
    }
}
