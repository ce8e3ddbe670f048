//! Statistics of a run: latencies by direction with intervals, and the causes of the tail.

pub mod amplification;
mod batches;
mod behind;
mod by_bucket;
mod chance;
mod counted;
mod histogram;
mod memory;
mod modes;
mod parts;
pub mod rates;
mod regions;
pub(crate) mod segments;
pub mod slow_reads;
pub mod student;
mod tail;
pub mod timeline;
pub mod turnover;
mod variance;

pub use amplification::{Amplification, Written};
pub use behind::BehindBackground;
pub use memory::{Lines, WriteBuffers};
pub use modes::{ByMode, Modes};
pub use parts::Drift;
pub use rates::{Depths, RatesByDirection};
pub(crate) use regions::regions;
pub use regions::{OfRegion, Wear};
pub use tail::{Tail, TailShare};

use firstread_core::{HostOp, Ns};

use self::batches::{Batches, TooShort};
use self::by_bucket::bucket;
use self::counted::Counted;
use self::histogram::{RareHistogram, lowest_equivalent};
use self::parts::{OfPart, Parts};
use crate::hardware::charge::NsByCause;

/// Requests of one direction. A direction without a request takes no memory beside this.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    counted: Counted,
    /// Requests that ended in an error.
    lost: RareHistogram,
    batches: Batches,
    sum_ns: u128,
    /// Bytes moved by requests that ended without an error.
    pub bytes: u64,
    /// Causes of their latencies.
    pub tail: Tail,
    /// Waits for dies that were busy with background reads.
    pub behind_background: BehindBackground,
    /// The parts of a run that was split, over which intervals are then; none of any other run.
    parts: Option<Box<Parts>>,
}

/// A percentile with its interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Percentile {
    /// In percent: 99.99.
    pub percent: f64,
    /// The latency that `percent` of the requests do not exceed (ns).
    pub ns: u64,
    /// 95 % interval (ns) over runs of the same length on the same drive with other requests of the same
    /// load, estimated from batches of this run, or from its parts where it was split. None if the run is too short.
    pub interval_ns: Option<(u64, u64)>,
    /// Approximate number of requests needed for an interval, if there is none and it can be estimated.
    pub requests_needed: Option<u64>,
    /// Requests at or beyond it. Below 100 the value means little without its interval.
    pub beyond: u64,
    /// Share of requests with errors among those that took `ns` or longer.
    pub lost_share: f64,
    /// Whether fewer than `percent` of the requests ended without an error: then no waiting time yields data
    /// for `percent` of them.
    pub among_errors: bool,
}

impl Latencies {
    /// A request of `bytes` ended without an error after `latency`, with the breakdown `parts`.
    #[inline(always)] // Once for a request that ended without an error.
    pub(crate) fn record(&mut self, now: Ns, latency: Ns, bytes: u32, parts: &NsByCause) {
        self.counted.record(latency.0);
        self.sum_ns += latency.0 as u128;
        self.bytes += bytes as u64;
        let bucket = bucket(latency.0);
        self.tail.record(bucket, parts);
        self.behind_background.record(parts);
        self.batches.record(now.0, latency.0, bucket);
    }

    /// A request ended in an error after `latency`, with the breakdown `parts`.
    #[cold]
    pub(crate) fn record_lost(&mut self, now: Ns, latency: Ns, parts: &NsByCause) {
        self.record(now, latency, 0, parts);
        counted::record_lost(&mut self.lost, latency.0);
    }

    /// Reserves memory for all latencies, so that recording one allocates none.
    fn reserve(&mut self) {
        self.counted.reserve();
        self.lost.reserve();
        self.batches.reserve();
        self.tail.reserve();
    }

    /// Forgets all requests; the memory stays.
    fn forget(&mut self) {
        let Latencies {
            counted,
            lost,
            batches,
            sum_ns,
            bytes,
            tail,
            behind_background,
            parts,
        } = self;
        counted.forget();
        lost.forget();
        batches.forget();
        tail.forget();
        (*sum_ns, *bytes) = (0, 0);
        *behind_background = BehindBackground::default();
        *parts = None;
    }

    /// Completes the statistics at the end of the run: must be called before figures are read.
    fn settle(&mut self) {
        self.counted.settle();
    }

    /// Number of requests that ended in an error.
    pub fn lost(&self) -> u64 {
        self.lost.len()
    }
    /// Share of requests that ended in an error; 0 if there are no requests.
    pub fn lost_share(&self) -> f64 {
        self.lost() as f64 / self.count().max(1) as f64
    }

    /// Number of requests, including those that ended in an error.
    pub fn count(&self) -> u64 {
        self.counted.histogram().len()
    }
    /// Mean latency (ns), exact. A request that ended in an error counts with its time until then.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count().max(1) as f64
    }
    /// Standard deviation (ns), to the precision of the histogram.
    pub fn stdev_ns(&self) -> f64 {
        self.counted.histogram().stdev()
    }
    /// Shortest latency (ns); 0 if there is none.
    pub fn min_ns(&self) -> u64 {
        self.counted.histogram().min()
    }
    /// Longest latency (ns); 0 if there is none.
    pub fn max_ns(&self) -> u64 {
        self.counted.histogram().max()
    }

    /// The time after which `percent` of the requests have ended, with data or in an error.
    pub fn percentile(&self, percent: f64) -> Percentile {
        let n = self.count() as f64;
        let p = percent / 100.0;
        let at = |rank: f64| {
            self.counted
                .histogram()
                .value_at_quantile((rank / n.max(1.0)).clamp(0.0, 1.0))
        };
        let ns = self.counted.histogram().value_at_quantile(p);
        let ranks = match &self.parts {
            None => self.batches.ranks(1.0 - p),
            Some(parts) => parts.ranks(self.counted.histogram(), 1.0 - p),
        };
        let (interval_ns, requests_needed) = match ranks {
            Ok(half) => {
                let low = lowest_equivalent(at((n * p - half).floor()));
                let ends = (low, at((n * p + half).ceil()));
                (Some(ends), None)
            }
            Err(short) => (None, self.needed(short)),
        };
        Percentile {
            percent,
            ns,
            interval_ns,
            requests_needed,
            beyond: (n * (1.0 - p)).round() as u64,
            lost_share: self.lost.count_from(ns) as f64
                / (self.counted.histogram().count_from(ns) as f64).max(1.0),
            among_errors: ((self.count() - self.lost()) as f64) < (n * p).floor(),
        }
    }

    /// Half the 95 % interval of the mean (ns), defined like that of a percentile.
    pub fn mean_half_ns(&self) -> Option<f64> {
        match &self.parts {
            None => self.batches.mean().ok(),
            Some(parts) => Some(parts.mean_half_ns()),
        }
    }

    /// Half the 95 % interval of the request rate, relative to the rate; defined like that of a percentile.
    pub fn rate_half(&self) -> Option<f64> {
        match &self.parts {
            None => self.batches.rate().ok(),
            Some(parts) => Some(parts.rate_half()),
        }
    }

    /// By how much latencies change in the course of the parts of a run that was split; none of any other run.
    pub fn drift(&self) -> Option<Drift> {
        self.parts.as_ref()?.drift()
    }

    /// Number of requests needed instead of a `short` run, rounded up to two digits.
    fn needed(&self, short: TooShort) -> Option<u64> {
        let needed = self.count() as f64 * short.times;
        (needed > 0.0 && needed < 1e15).then(|| {
            let unit = libm::pow(10.0, libm::floor(libm::log10(needed)) - 1.0).max(1.0);
            (libm::ceil(needed / unit) * unit) as u64
        })
    }

    /// The distribution: highest latency (ns) and number of requests of each non-empty bucket, in ascending
    /// order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counted.histogram().recorded()
    }

    /// The requests of the parts of a run, which took so long each (ns). Intervals are over the parts.
    fn of_parts(parts: &[(&Latencies, u64)]) -> Latencies {
        let mut all = Latencies::default();
        parts.iter().for_each(|(part, _)| all.merge(part));
        let of_part = |(part, runtime_ns): &(&Latencies, u64)| OfPart {
            latencies: part.counted.histogram().clone(),
            sum_ns: part.sum_ns,
            runtime_ns: *runtime_ns,
            halves_ns: part.batches.halves_ns(),
        };
        if all.count() > 0 && parts.len() > 1 {
            all.parts = Some(Box::new(Parts(parts.iter().map(of_part).collect())));
        }
        all
    }

    /// Adds the requests of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.counted.merge(&other.counted);
        self.lost.merge(&other.lost);
        self.batches.merge(&other.batches);
        self.sum_ns += other.sum_ns;
        self.bytes += other.bytes;
        self.tail.merge(&other.tail);
        self.behind_background.add(&other.behind_background);
    }
}

/// Requests of one report: a job, or the jobs of a `group_reporting` group.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Name of the job, or of the group's first job.
    pub name: String,
    /// Latencies of reads, those that ended in an error among them.
    pub read: Latencies,
    /// Latencies of writes, until they were acknowledged.
    pub write: Latencies,
    /// Latencies of trims, as fio's `trim`.
    pub trim: Latencies,
    /// Latencies of flushes, as fio's `sync`.
    pub flush: Latencies,
    /// From the first measured request's submission to the last completion (ns).
    pub runtime_ns: u64,
    /// Rates over the run. Empty in a report of several reports together.
    pub rates: RatesByDirection,
    /// Requests by queue depth. Empty in a report of several reports together.
    pub depths: Depths,
    /// Percentiles that the jobs ask for (`percentile_list`), in percent.
    pub percentiles: Vec<f64>,
    /// Result of the search for a queue depth (`latency_target`).
    pub depth: Option<DepthFound>,
}

/// Result of a search for a queue depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthFound {
    /// The highest depth found to meet the target, or the depth being tried.
    pub depth: u32,
    /// Whether the search has ended, so that the report covers that depth alone.
    pub settled: bool,
}

impl Report {
    /// Completed requests of all directions, without flushes.
    pub fn all_requests(&self) -> u64 {
        self.read.count() + self.write.count() + self.trim.count()
    }

    /// Requests that ended in an error because data could not be corrected: reads, and partial writes that
    /// needed the rest of a mapping unit.
    pub fn uncorrectable(&self) -> u64 {
        self.read.lost() + self.write.lost()
    }

    /// The requests of the same report in each part of a run, one part after another.
    pub(crate) fn of_parts(parts: &[&Report]) -> Report {
        let latencies = |of: fn(&Report) -> &Latencies| {
            let each = parts.iter().map(|part| (of(part), part.runtime_ns));
            Latencies::of_parts(&each.collect::<Vec<_>>())
        };
        let first = parts.first();
        let mut all = Report {
            name: first.map_or_else(String::new, |first| first.name.clone()),
            read: latencies(|part| &part.read),
            write: latencies(|part| &part.write),
            trim: latencies(|part| &part.trim),
            flush: latencies(|part| &part.flush),
            percentiles: first.map_or_else(Vec::new, |first| first.percentiles.clone()),
            ..Report::default()
        };
        for part in parts {
            all.runtime_ns += part.runtime_ns;
            all.rates.add(&part.rates);
            all.depths.merge(&part.depths);
        }
        all
    }

    /// Reserves memory for the latencies of all `ops`, so that recording one allocates none.
    pub(crate) fn reserve(&mut self, ops: impl IntoIterator<Item = HostOp>) {
        ops.into_iter().for_each(|op| self.direction(op).reserve());
    }

    /// Restarts all counts. The memory of latencies stays.
    pub(crate) fn forget(&mut self) {
        let forgotten = |latencies: &mut Latencies| {
            latencies.forget();
            std::mem::take(latencies)
        };
        *self = Report {
            name: std::mem::take(&mut self.name),
            percentiles: std::mem::take(&mut self.percentiles),
            read: forgotten(&mut self.read),
            write: forgotten(&mut self.write),
            trim: forgotten(&mut self.trim),
            flush: forgotten(&mut self.flush),
            ..Report::default()
        };
    }

    /// Completes the statistics at the end of the run: must be called before figures are read.
    pub(crate) fn settle(&mut self) {
        for latencies in [
            &mut self.read,
            &mut self.write,
            &mut self.trim,
            &mut self.flush,
        ] {
            latencies.settle();
        }
        self.rates.settle(self.runtime_ns);
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

    /// Ten of a thousand requests are lost: the slowest but one.
    #[test]
    fn formula_percentiles_say_what_of_them_is_lost() {
        let mut l = Latencies::default();
        let parts = [0; CAUSES];
        let at = Ns(1_000_000);
        (0..989).for_each(|i| l.record(at, Ns(1_000 + i), 4096, &parts));
        (0..10).for_each(|i| l.record_lost(at, Ns(50_000 + 1_000 * i), &parts));
        l.record(at, Ns(100_000), 4096, &parts);
        l.settle();
        assert_eq!((l.count(), l.lost(), l.bytes), (1000, 10, 990 * 4096));
        assert!((l.mean_ns() - (989.0 * 1_494.0 + 545_000.0 + 100_000.0) / 1000.0).abs() < 1e-9);
        for (percent, ns, lost_share, among_errors) in [
            (50.0, 1_499, 10.0 / 501.0, false),
            (98.85, 1_988, 10.0 / 12.0, false),
            // 990 of 1000 requests have returned data.
            (99.0, 50_000, 10.0 / 11.0, false),
            (99.1, 51_000, 9.0 / 10.0, true),
            (100.0, 100_000, 0.0, true),
        ] {
            let p = l.percentile(percent);
            assert!(p.ns.abs_diff(ns) <= ns / 500, "{p:?}");
            assert!((p.lost_share - lost_share).abs() < 0.01, "{p:?}");
            assert_eq!(p.among_errors, among_errors, "{p:?}");
        }
        let mut both = Latencies::default();
        both.merge(&l);
        both.merge(&l);
        assert_eq!((both.count(), both.lost()), (2000, 20));
        assert_eq!(both.lost_share(), l.lost_share());
    }

    /// Percentiles, and the share of errors at and beyond each, are those of the requests in order. Latencies are exact up to two
    /// thousand.
    #[test]
    fn model_percentiles_are_those_of_the_requests_in_order() {
        // A number that no share but the whole divides.
        const REQUESTS: usize = 997;
        for seed in 0..40 {
            let s = firstread_core::Stream::new(seed).named("in order");
            let most = 1 + s.at(0).below(1_990);
            let lost_most = 1 + s.at(1).below(most);
            let mut l = Latencies::default();
            let mut all = Vec::new();
            for i in 0..REQUESTS as u64 {
                let draw = s.named("request").at(i);
                let is_lost = draw.at(0).below(5) == 0;
                let ns = 1 + draw.at(1).below(if is_lost { lost_most } else { most });
                match is_lost {
                    true => l.record_lost(Ns(i), Ns(ns), &[0; CAUSES]),
                    false => l.record(Ns(i), Ns(ns), 512, &[0; CAUSES]),
                }
                all.push((ns, is_lost));
            }
            l.settle();
            all.sort_unstable();
            let lost = all.iter().filter(|(_, is_lost)| *is_lost).count();
            assert_eq!(l.bytes, 512 * (REQUESTS - lost) as u64);
            assert_eq!((l.min_ns(), l.max_ns()), (all[0].0, all[REQUESTS - 1].0));
            for thousandths in [1, 250, 500, 777, 900, 990, 999, 1000] {
                let rank = (REQUESTS * thousandths).div_ceil(1000);
                let (ns, _) = all[rank - 1];
                let from = all.iter().filter(|request| request.0 >= ns);
                let lost_from = from.clone().filter(|(_, is_lost)| *is_lost).count();
                let p = l.percentile(thousandths as f64 / 10.0);
                let case = format!("seed {seed}, {thousandths} thousandths: {p:?}");
                assert_eq!(p.ns, ns, "{case}");
                let share = lost_from as f64 / from.count() as f64;
                assert!((p.lost_share - share).abs() < 1e-9, "{share}, {case}");
                let whole = REQUESTS * thousandths / 1000;
                assert_eq!(p.among_errors, REQUESTS - lost < whole, "{case}");
            }
        }
    }

    /// Errors shorter than a percentile are none beyond it, where the histogram of errors ends before it too.
    #[test]
    fn formula_no_error_lies_beyond_the_longest() {
        for bits in 8..40 {
            let mut l = Latencies::default();
            let longest = (1 << bits) - 1;
            l.record_lost(Ns(1), Ns(longest), &[0; CAUSES]);
            l.record(Ns(1), Ns(2 * longest + 100), 512, &[0; CAUSES]);
            l.settle();
            assert_eq!(l.percentile(100.0).lost_share, 0.0, "{longest} ns");
            assert_eq!(l.percentile(1.0).lost_share, 0.5, "{longest} ns");
        }
    }

    /// A report counts all directions but flushes as requests, and errors of reads and of writes as uncorrectable.
    #[test]
    fn model_a_report_counts_by_direction() {
        let ops = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];
        for seed in 0..8 {
            let s = firstread_core::Stream::new(seed).named("report");
            let mut report = Report::default();
            let (mut requests, mut lost) = (0, 0);
            for i in 0..100 {
                let op = ops[s.at(i).at(0).below(4) as usize];
                let may_be_lost = matches!(op, HostOp::Read | HostOp::Write);
                let is_lost = may_be_lost && s.at(i).at(1).below(3) == 0;
                let latencies = report.direction(op);
                match is_lost {
                    true => latencies.record_lost(Ns(i), Ns(9), &[0; CAUSES]),
                    false => latencies.record(Ns(i), Ns(9), 512, &[0; CAUSES]),
                }
                requests += u64::from(op != HostOp::Flush);
                lost += u64::from(is_lost);
            }
            report.settle();
            assert_eq!(report.all_requests(), requests, "seed {seed}");
            assert_eq!(report.uncorrectable(), lost, "seed {seed}");
        }
    }

    /// A report whose counts are restarted tells what a new one tells.
    #[test]
    fn model_a_restarted_report_is_a_new_one() {
        let parts = [1; CAUSES];
        let fill = |report: &mut Report, from: u64| {
            for i in 0..500 {
                let at = Ns(from + i * 300_000);
                let latencies = report.direction(HostOp::Write);
                match i % 7 {
                    0 => latencies.record_lost(at, Ns(from % 977 + i * 31), &parts),
                    _ => latencies.record(at, Ns(from % 977 + i * 17), 512, &parts),
                }
            }
        };
        let (mut again, mut new) = (Report::default(), Report::default());
        again.reserve([HostOp::Write]);
        fill(&mut again, 1_000_000);
        again.forget();
        assert_eq!((again.all_requests(), again.uncorrectable()), (0, 0));
        for report in [&mut again, &mut new] {
            fill(report, 900_000_123);
            report.settle();
        }
        assert_eq!(again.write.lost(), 72);
        assert_eq!(
            format!("{:?}", again.write.percentile(99.0)),
            format!("{:?}", new.write.percentile(99.0))
        );
        assert!(again.write.buckets().eq(new.write.buckets()));
        assert_eq!(again.write.tail.slowest(0.1), new.write.tail.slowest(0.1));
        assert_eq!(
            (again.write.bytes, again.write.mean_ns()),
            (new.write.bytes, new.write.mean_ns())
        );
    }

    #[test]
    fn formula_percentiles_of_a_ramp() {
        let mut l = Latencies::default();
        // Shuffled, so that latencies are independent.
        for i in 0..100_000u64 {
            let ns = 1 + i * 61_843 % 100_000;
            l.record(Ns(i * 10_000), Ns(ns), 4096, &[0; CAUSES]);
        }
        l.settle();
        let p = l.percentile(99.0);
        assert!(p.ns.abs_diff(99_000) <= 99, "{p:?}");
        assert_eq!(p.beyond, 1000);
        let (low, high) = p.interval_ns.unwrap();
        assert!(low <= 99_000 && 99_000 <= high && high - low < 300, "{p:?}");
        assert!((l.mean_ns() - 50_000.5).abs() < 1e-9);
    }

    /// Two jobs with different means: the merged statistics have the mean, the bytes and the causes of all
    /// requests.
    #[test]
    fn formula_jobs_together_have_the_mean_of_all_their_requests() {
        let of = |range: std::ops::RangeInclusive<u64>, cause: usize| {
            let mut l = Latencies::default();
            for ns in range {
                let mut parts = [0; CAUSES];
                parts[cause] = ns;
                l.record(Ns(1_000_000), Ns(ns), 4096, &parts);
            }
            l.settle();
            l
        };
        let mut all = of(1..=1_000, 0);
        all.merge(&of(5_001..=5_300, 1));
        let sum = 500_500 + 1_545_150;
        assert_eq!((all.count(), all.bytes), (1_300, 1_300 * 4096));
        assert!((all.mean_ns() - sum as f64 / 1_300.0).abs() < 1e-9);
        assert_eq!(all.min_ns(), 1);
        let share = all.tail.slowest(1.0).unwrap().share;
        assert!((share[0] - 500_500.0 / sum as f64).abs() < 1e-12);
        assert!((share[1] - 1_545_150.0 / sum as f64).abs() < 1e-12);
    }

    /// Independent requests: deviation and half intervals have closed forms.
    #[test]
    fn formula_deviation_and_halves_of_requests_that_know_nothing_of_each_other() {
        const REQUESTS: u64 = 100_000;
        let mut l = Latencies::default();
        assert_eq!((l.stdev_ns(), l.min_ns(), l.max_ns()), (0.0, 0, 0));
        assert_eq!((l.mean_half_ns(), l.rate_half()), (None, None));
        // With one or two batches none is complete.
        let mut short = l.clone();
        short.record(Ns(1), Ns(1), 4096, &[0; CAUSES]);
        short.settle();
        assert_eq!((short.mean_half_ns(), short.rate_half()), (None, None));
        let draws = firstread_core::Stream::new(3);
        let (gaps, latencies) = (draws.named("gaps"), draws.named("latencies"));
        let mut now = 0.0;
        for i in 0..REQUESTS {
            let u = (gaps.at(i).below(1 << 40) as f64 + 0.5) / (1u64 << 40) as f64;
            now -= libm::log(u) * 10_000.0;
            let ns = 1 + latencies.at(i).below(100_000);
            l.record(Ns(now as u64), Ns(ns), 4096, &[0; CAUSES]);
        }
        l.settle();
        let near = |value: f64, of: f64, within: f64| {
            assert!((value / of - 1.0).abs() < within, "{value} for {of}");
        };
        let deviation = 100_000.0 / libm::sqrt(12.0);
        near(l.stdev_ns(), deviation, 1e-2);
        assert!(l.min_ns() < 10, "{}", l.min_ns());
        assert!(l.max_ns().abs_diff(100_000) < 100, "{}", l.max_ns());
        let events = libm::sqrt(REQUESTS as f64);
        // The variance of some 60 batches is known to about a fifth.
        near(l.rate_half().unwrap(), 1.96 / events, 0.4);
        near(l.mean_half_ns().unwrap(), 1.96 * deviation / events, 0.4);
    }

    /// The required number of requests is given in two digits, and is never too small.
    #[test]
    fn formula_requests_needed_are_rounded_up() {
        let of = |count: u64, times: f64| {
            let mut l = Latencies::default();
            (0..count).for_each(|i| l.record(Ns(i), Ns(1), 4096, &[0; CAUSES]));
            l.settle();
            l.needed(TooShort { times })
        };
        assert_eq!(of(100, 12.34), Some(1_300));
        assert_eq!(of(100, 13.0), Some(1_300));
        assert_eq!(of(100, 0.991), Some(100));
        assert_eq!(of(3, 1.0), Some(3));
        assert_eq!((of(0, 2.0), of(3, f64::INFINITY)), (None, None));
    }
}
