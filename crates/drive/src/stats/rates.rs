//! How the request rate and the bandwidth of a job vary over a run: samples of equal intervals, as fio takes them.

use firstread_core::HostOp;

/// Length of an interval (ns): fio's default of `iopsavgtime` and `bwavgtime`.
pub const INTERVAL_NS: u64 = 500_000_000;

/// Samples of one figure, without keeping them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// Intervals in which something completed.
    pub count: u64,
    /// Lowest of the intervals.
    pub min: f64,
    /// Highest of the intervals.
    pub max: f64,
    /// Mean over the intervals.
    pub mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Samples {
    fn add(&mut self, value: f64) {
        if self.count == 0 {
            (self.min, self.max) = (value, value);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += 1;
        // Welford's recurrence.
        let from_mean = value - self.mean;
        self.mean += from_mean / self.count as f64;
        self.squares += from_mean * (value - self.mean);
    }

    /// Adds the samples of `more` (Chan, Golub and LeVeque, 1979).
    fn merge(&mut self, more: &Samples) {
        if self.count == 0 || more.count == 0 {
            if self.count == 0 {
                *self = *more;
            }
            return;
        }
        let (a, b) = (self.count as f64, more.count as f64);
        let apart = more.mean - self.mean;
        self.min = self.min.min(more.min);
        self.max = self.max.max(more.max);
        self.squares += more.squares + apart * apart * a * b / (a + b);
        self.mean += apart * b / (a + b);
        self.count += more.count;
    }

    /// Standard deviation of the population that the samples are from; 0 for fewer than two.
    pub fn stdev(&self) -> f64 {
        match self.count {
            0 | 1 => 0.0,
            n => libm::sqrt(self.squares / (n - 1) as f64),
        }
    }
}

/// Rates of one direction. An interval in which nothing completed is no sample, and neither is the unfinished
/// interval at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Requests completed per second.
    pub iops: Samples,
    /// Bytes moved per second.
    pub bandwidth: Samples,
    /// End of the current interval (ns since the job's first request).
    end_ns: u64,
    requests: u64,
    bytes: u64,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            iops: Samples::default(),
            bandwidth: Samples::default(),
            end_ns: INTERVAL_NS,
            requests: 0,
            bytes: 0,
        }
    }
}

impl Rates {
    /// A request that moved `bytes` completed `runtime_ns` after the start of the job's first request.
    #[inline]
    pub(crate) fn count(&mut self, runtime_ns: u64, bytes: u32) {
        if runtime_ns >= self.end_ns {
            self.pass(runtime_ns);
        }
        self.requests += 1;
        self.bytes += bytes as u64;
    }

    /// Ends the intervals before `runtime_ns`.
    #[cold]
    pub(super) fn pass(&mut self, runtime_ns: u64) {
        if runtime_ns < self.end_ns {
            return;
        }
        if self.requests > 0 {
            let seconds = INTERVAL_NS as f64 / 1e9;
            self.iops.add(self.requests as f64 / seconds);
            self.bandwidth.add(self.bytes as f64 / seconds);
        }
        (self.requests, self.bytes) = (0, 0);
        self.end_ns = (runtime_ns / INTERVAL_NS + 1).saturating_mul(INTERVAL_NS);
    }
}

/// Rates of the directions that move data.
#[derive(Clone, Copy, Debug, Default)]
pub struct RatesByDirection {
    /// Rates of completed reads.
    pub read: Rates,
    /// Rates of completed writes.
    pub write: Rates,
    /// Rates of completed trims.
    pub trim: Rates,
}

impl RatesByDirection {
    /// An `op` that moved `bytes` completed `runtime_ns` after the start of the job's first request.
    #[inline]
    pub(crate) fn count(&mut self, op: HostOp, runtime_ns: u64, bytes: u32) {
        match op {
            HostOp::Read => self.read.count(runtime_ns, bytes),
            HostOp::Write => self.write.count(runtime_ns, bytes),
            HostOp::Trim => self.trim.count(runtime_ns, bytes),
            HostOp::Flush => {}
        }
    }

    /// Adds the intervals of `more`, those of another run that has ended.
    pub(super) fn add(&mut self, more: &RatesByDirection) {
        let of = |rates: &mut Rates, more: &Rates| {
            rates.iops.merge(&more.iops);
            rates.bandwidth.merge(&more.bandwidth);
        };
        of(&mut self.read, &more.read);
        of(&mut self.write, &more.write);
        of(&mut self.trim, &more.trim);
    }

    /// The job has ended after `runtime_ns`.
    pub(super) fn settle(&mut self, runtime_ns: u64) {
        for rates in [&mut self.read, &mut self.write, &mut self.trim] {
            rates.pass(runtime_ns);
        }
    }
}

/// Ranges of a queue depth: requests in flight when one is submitted, itself included.
pub const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Requests by the queue depth they were submitted at: 1, 2 and 3, 4 to 7, and so on by powers of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths(pub [u64; DEPTHS.len()]);

impl Depths {
    /// A request was submitted and makes `in_flight` of its job.
    #[inline]
    pub(crate) fn count(&mut self, in_flight: u32) {
        self.0[(in_flight.max(1).ilog2() as usize).min(DEPTHS.len() - 1)] += 1;
    }

    /// Adds the requests of `other`.
    pub(crate) fn merge(&mut self, other: &Depths) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples as a list has them: intervals without a request are none, and neither is the last one.
    #[test]
    fn formula_samples_are_those_of_full_intervals_with_requests() {
        let mut rates = Rates::default();
        // Requests by interval of half a second: two, none, one, three, and one in an interval that does not end.
        let at_ms = [0, 499, 1_000, 1_500, 1_600, 1_999, 2_001];
        for ms in at_ms {
            rates.count(ms * 1_000_000, 4096);
        }
        assert_eq!(rates.iops.count, 3);
        rates.pass(2_400_000_000);
        assert_eq!((rates.iops.count, rates.bandwidth.count), (3, 3));
        assert_eq!(
            (rates.iops.min, rates.iops.max, rates.iops.mean),
            (2.0, 6.0, 4.0)
        );
        assert!((rates.iops.stdev() - 2.0).abs() < 1e-12);
        assert!((rates.bandwidth.mean - 4.0 * 4096.0).abs() < 1e-9);
        // The end of a run at the end of an interval ends the interval.
        rates.pass(2_500_000_000);
        assert_eq!((rates.iops.count, rates.iops.min), (4, 2.0));
    }

    #[test]
    fn formula_a_run_shorter_than_an_interval_has_no_sample() {
        let mut rates = RatesByDirection::default();
        rates.count(HostOp::Read, 1, 4096);
        rates.count(HostOp::Flush, 1, 0);
        rates.settle(INTERVAL_NS - 1);
        assert_eq!(rates.read.iops, Samples::default());
        assert_eq!(rates.read.iops.stdev(), 0.0);
        rates.settle(INTERVAL_NS);
        assert_eq!((rates.read.iops.count, rates.read.iops.stdev()), (1, 0.0));
        assert_eq!(rates.write.iops.count, 0);
    }

    #[test]
    fn formula_depths_are_ranges_by_powers_of_two() {
        let mut depths = Depths::default();
        for n in [1, 2, 3, 4, 7, 8, 16, 31, 32, 63, 64, 65, u32::MAX] {
            depths.count(n);
        }
        assert_eq!(depths.0, [1, 2, 2, 1, 2, 2, 3]);
        depths.merge(&depths.clone());
        assert_eq!(depths.0, [2, 4, 4, 2, 4, 4, 6]);
    }
}
