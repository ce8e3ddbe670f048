//! Metrics: the numbers that a point has, and what they are taken from.

use firstread_core::sensing::SafeSense;
use firstread_drive::{Cause, Ended};
use firstread_firmware::observe::Counters;
use firstread_nand::characterize::Correlation;
use firstread_nand::sensing::LastStep;
use serde_json::{Map, Value};

use super::error::StudyError;
use crate::simulate::Outcome;

/// A population of chips in one condition.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    /// Errors that the code corrects (bits a codeword).
    pub capability_bits: u16,
    /// What the last step of a read meets.
    pub last: LastStep,
    /// The shortest sense that is safe.
    pub safe: SafeSense,
    /// The reduction of `tR` by that sense (%).
    pub cut_percent: f64,
}

/// Fewest requests beyond a percentile for it to be a metric of a point. Its interval over drives
/// says how far it can be trusted.
const FEWEST_BEYOND: u64 = 10;

/// What the numbers of a point are taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Simulated requests.
    Runs,
    /// The cells of a population of chips.
    Margins,
    /// The best levels of a drive's valleys.
    Pairs,
}

/// A number that a point has.
#[derive(Debug)]
pub struct Metric {
    /// Its name in a study: `p99.9_us`.
    pub name: &'static str,
    /// Label on an axis, with the unit.
    pub label: &'static str,
}

/// A metric of what `T` tells of.
#[derive(Debug)]
pub struct Measure<T: ?Sized + 'static> {
    /// Its names.
    pub metric: Metric,
    of: fn(&T) -> Option<f64>,
}

fn percentile(outcome: &Outcome, percent: f64) -> Option<f64> {
    let p = outcome.percentile(percent);
    (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64 / 1e3)
}

fn per_second(outcome: &Outcome, n: f64) -> f64 {
    n * 1e9 / outcome.stats.all.runtime_ns.max(1) as f64
}

macro_rules! metrics {
    ($(#[$doc:meta])* $table:ident of $source:ty: $($name:literal, $label:literal, $of:expr;)*) => {
        $(#[$doc])*
        pub static $table: &[Measure<$source>] = &[
            $(Measure { metric: Metric { name: $name, label: $label }, of: $of }),*
        ];
    };
}

metrics! {
    /// Metrics of runs. Latencies are those of reads where there are any.
    RUNS of Outcome:
    "mean_us", "Mean latency (us)", |o| Some(o.latencies().1.mean_ns() / 1e3);
    "p50_us", "P50 (us)", |o| percentile(o, 50.0);
    "p99_us", "P99 (us)", |o| percentile(o, 99.0);
    "p99.9_us", "P99.9 (us)", |o| percentile(o, 99.9);
    "p99.99_us", "P99.99 (us)", |o| percentile(o, 99.99);
    "p99.999_us", "P99.999 (us)", |o| percentile(o, 99.999);
    "p99.9999_us", "P99.9999 (us)", |o| percentile(o, 99.9999);
    "iops", "IOPS", |o| Some(per_second(o, o.stats.all.all_requests() as f64));
    "bandwidth_mib_s", "Bandwidth (MiB/s)", |o| {
        let all = &o.stats.all;
        Some(per_second(o, (all.read.bytes + all.write.bytes) as f64) / f64::from(1 << 20))
    };
    "response_us", "Mean response, all requests (us)", |o| {
        let all = &o.stats.all;
        let sum = all.read.mean_ns() * all.read.count() as f64 + all.write.mean_ns() * all.write.count() as f64;
        Some(sum / (all.read.count() + all.write.count()).max(1) as f64 / 1e3)
    };
    "write_mean_us", "Mean write latency (us)", |o| (o.stats.all.write.count() > 0).then(|| o.stats.all.write.mean_ns() / 1e3);
    "first_try_percent", "Pages read at the first try (%)", |o| Some(100.0 * o.retries().first_try);
    "retries_mean", "Retries a page", |o| Some(o.retries().mean);
    "retries_min", "Fewest retries of a page", |o| fewest_retries(&o.stats.counters);
    "retried_2_percent", "Pages retried twice or more (%)", |o| retried_percent(&o.stats.counters, 2);
    "retried_3_percent", "Pages retried 3 times or more (%)", |o| retried_percent(&o.stats.counters, 3);
    "retried_4_percent", "Pages retried 4 times or more (%)", |o| retried_percent(&o.stats.counters, 4);
    "retried_7_percent", "Pages retried 7 times or more (%)", |o| retried_percent(&o.stats.counters, 7);
    "retried_8_percent", "Pages retried 8 times or more (%)", |o| retried_percent(&o.stats.counters, 8);
    "retry_step_us", "Retry step (us)", retry_step;
    "cancelled_senses", "Senses ahead that were not needed", |o| Some(o.stats.counters.cancelled_senses as f64);
    "lost_share", "Share of reads lost", |o| (o.stats.all.read.count() > 0).then(|| o.stats.all.read.lost_share());
    "background_reads", "Background reads in the run", |o| Some(o.stats.counters.background_reads as f64);
    "background_reads_before", "Background reads while ageing", |o| Some(o.background_reads_before as f64);
    "background_share_percent", "Background reads, of all page reads while ageing at full load (%)", background_share;
    "write_amplification", "Write amplification", |o| o.stats.amplification.steady().map(|s| s.mean);
}

metrics! {
    /// Metrics of a population of chips, as `firstread_nand::sensing` has them.
    MARGINS of Margin:
    "rare_codeword_bits", "Errors, worst page, 1 in 1,000 (bits)", |m| Some(m.last.best_worst_bits);
    "mean_codeword_bits", "Errors, mean codeword (bits)", |m| Some(m.last.best_mean_bits);
    "first_step_bits", "Errors, first step that reads (bits)", |m| Some(m.last.first_mean_bits);
    "capability_bits", "Correctable (bits)", |m| Some(m.capability_bits.into());
    "safe_cut_percent", "Safe cut of tR (%)", |m| Some(m.cut_percent);
    "safe_pre_permille", "Safe precharge (permille)", |m| Some(m.safe.pre_permille.into());
    "safe_extra_bits", "Errors added by it (bits)", |m| Some(m.safe.extra_bits.into());
}

metrics! {
    /// Metrics of the best levels of a drive.
    PAIRS of [Correlation]:
    "least_r_squared", "Least R^{2} of all pairs", |pairs| {
        pairs.iter().map(|c| c.fit.r_squared).reduce(f64::min)
    };
}

/// Mean time of a retry: the time that host reads are charged for retries, divided by their number
/// of retries. Exact if each request reads one multi-plane page; a request of several pages is charged only for its
/// last one. None without retries.
fn retry_step(o: &Outcome) -> Option<f64> {
    let reads = &o.stats.all.read;
    let retries = o.stats.counters.retries.iter().zip(0u64..);
    let steps = retries.map(|(n, step)| n * step).sum::<u64>() + o.stats.counters.lost_retries;
    let share = reads.tail.slowest(1.0)?.share[Cause::Retry as usize];
    (steps > 0).then(|| share * reads.mean_ns() * reads.count() as f64 / steps as f64 / 1e3)
}

/// Share of the host's page reads that took `least` retries or more (%). A page that was not read is one of them:
/// all its steps failed. None without reads.
fn retried_percent(counters: &Counters, least: usize) -> Option<f64> {
    let pages = counters.retries.iter().sum::<u64>() + counters.uncorrectable;
    let fewer = counters.retries.iter().take(least).sum::<u64>();
    (pages > 0).then(|| 100.0 * (pages - fewer) as f64 / pages as f64)
}

/// Retries of the page read of the host that took the fewest. None where no page was read.
fn fewest_retries(counters: &Counters) -> Option<f64> {
    let fewest = counters.retries.iter().position(|&pages| pages > 0)?;
    Some(fewest as f64)
}

/// Background reads of the time before the run, against the page reads that the run's load would
/// have made in that time: the share of reads that calibration takes in the long run.
fn background_share(o: &Outcome) -> Option<f64> {
    let pages = o.retries().pages as f64;
    let a_second = per_second(o, pages);
    let seconds = o.began.0 as f64 / 1e9;
    (seconds > 0.0 && a_second > 0.0)
        .then(|| 100.0 * o.background_reads_before as f64 / (a_second * seconds))
}

impl Metric {
    /// The metrics that `source` has.
    pub fn of(source: Source) -> Vec<&'static Metric> {
        match source {
            Source::Runs => RUNS.iter().map(|m| &m.metric).collect(),
            Source::Margins => MARGINS.iter().map(|m| &m.metric).collect(),
            Source::Pairs => PAIRS.iter().map(|m| &m.metric).collect(),
        }
    }

    /// The metric of `source` called `name`.
    ///
    /// # Errors
    /// [`StudyError::NoSuch`] where there is none.
    pub fn find(name: &str, source: Source) -> Result<&'static Metric, StudyError> {
        let all = Metric::of(source);
        all.iter()
            .find(|m| m.name == name)
            .copied()
            .ok_or_else(|| StudyError::no_such("metric", name, all.iter().map(|m| m.name)))
    }
}

/// All metrics of `table` that `of` has.
pub fn all<T: ?Sized>(table: &[Measure<T>], of: &T) -> Map<String, Value> {
    let one = |m: &Measure<T>| Some((m.metric.name.to_owned(), (m.of)(of)?.into()));
    table.iter().filter_map(one).collect()
}

/// All metrics of a run. A run in which the drive failed has no metrics, because it is not comparable with complete
/// runs.
pub fn of_run(outcome: &Outcome) -> Map<String, Value> {
    match outcome.stats.ended {
        Ended::Completed => all(RUNS, outcome),
        Ended::EndOfLife(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_the_distribution_of_retries_is_that_of_pages() {
        let mut counters = Counters::default();
        assert_eq!(retried_percent(&counters, 3), None);
        assert_eq!(fewest_retries(&counters), None);
        counters.retries[2] = 10;
        counters.retries[3] = 20;
        counters.retries[7] = 60;
        let share = |least| retried_percent(&counters, least).unwrap();
        assert!((share(2) - 100.0).abs() < 1e-9);
        assert!((share(3) - 100.0 * 80.0 / 90.0).abs() < 1e-9);
        assert!((share(4) - 100.0 * 60.0 / 90.0).abs() < 1e-9);
        assert_eq!(share(8), 0.0);
        assert_eq!(fewest_retries(&counters), Some(2.0));
        // Lost pages took all their steps.
        counters.uncorrectable = 10;
        assert!((retried_percent(&counters, 8).unwrap() - 10.0).abs() < 1e-9);
        assert!((retried_percent(&counters, 3).unwrap() - 90.0).abs() < 1e-9);
    }
}
