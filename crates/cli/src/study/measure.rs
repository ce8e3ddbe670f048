//! From outcomes to numbers: metrics of a point, means over drives, claims.

use std::collections::BTreeMap;

use anyhow::Result;
use firstread_core::sensing::SensingTable;
use firstread_drive::profile::DriveProfile;
use firstread_drive::profile::reader::nearest;
use firstread_drive::stats::student::{P95, student};
use firstread_drive::{Cause, tables};
use firstread_firmware::policy;
use firstread_firmware::policy::read_levels::{AnyReadLevels, Footprint, ReadLevels};
use firstread_nand::place::layers;
use firstread_nand::characterize::Correlation;
use serde_json::{Map, Value};

use super::dimension::Dimension;
use super::margin::Margin;
use super::plan::Coordinates;
use super::spec::{Claim, FromPoints, Kind, Over, Study};
use crate::output::human::{Retries, tail_of};
use crate::simulate::Outcome;

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
    pub name: &'static str,
    /// On an axis, unit included.
    pub label: &'static str,
}

/// A metric of what `T` tells of.
#[derive(Debug)]
pub struct Measure<T: ?Sized + 'static> {
    pub metric: Metric,
    of: fn(&T) -> Option<f64>,
}

fn percentile(outcome: &Outcome, percent: f64) -> Option<f64> {
    let p = tail_of(&outcome.stats.all).1.percentile(percent);
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
    "mean_us", "Mean latency (us)", |o| Some(tail_of(&o.stats.all).1.mean_ns() / 1e3);
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
    "first_try_percent", "Pages read at the first try (%)", |o| Some(100.0 * Retries::of(&o.stats.counters).first_try);
    "retries_mean", "Retries a page", |o| Some(Retries::of(&o.stats.counters).mean);
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

/// What host reads are charged for retries, over the retries of their pages: exact where a read is
/// one page row, since a request of several is charged its last one. None without retries.
fn retry_step(o: &Outcome) -> Option<f64> {
    let reads = &o.stats.all.read;
    let retries = o.stats.counters.retries.iter().zip(0u64..);
    let steps = retries.map(|(n, step)| n * step).sum::<u64>() + o.stats.counters.lost_retries;
    let share = reads.tail.slowest(1.0)?.share[Cause::Retry as usize];
    (steps > 0).then(|| share * reads.mean_ns() * reads.count() as f64 / steps as f64 / 1e3)
}

/// Background reads of the time before the run, against the page reads that the run's load would
/// have made in that time: the share of reads that calibration takes in the long run.
fn background_share(o: &Outcome) -> Option<f64> {
    let pages = Retries::of(&o.stats.counters).pages as f64;
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
    pub fn find(name: &str, source: Source) -> Result<&'static Metric, String> {
        let all = Metric::of(source);
        all.iter().find(|m| m.name == name).copied().ok_or_else(|| {
            let near = nearest(name, all.iter().map(|m| m.name)).unwrap_or_default();
            format!("there is no metric `{name}`; the nearest is `{near}`")
        })
    }
}

/// All metrics of `table` that `of` has.
pub fn all<T: ?Sized>(table: &[Measure<T>], of: &T) -> Map<String, Value> {
    let one = |m: &Measure<T>| Some((m.metric.name.to_owned(), (m.of)(of)?.into()));
    table.iter().filter_map(one).collect()
}

/// A mean over drives, with its 95 % interval.
///
/// The unit of repetition is the drive: each has chips, blocks and pages of its own, so the interval
/// holds what differs between them. A single drive has none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    pub mean: f64,
    pub half: Option<f64>,
    pub drives: usize,
}

impl Estimate {
    /// Of one number a drive; none of no number.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let half = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
            let degrees = (n - 1) as f64;
            student(P95, degrees) * (squares / degrees / n as f64).sqrt()
        });
        (n > 0).then_some(Estimate {
            mean,
            half,
            drives: n,
        })
    }
}

/// The numbers of all points that have run: by experiment and coordinates, metrics by repetition.
#[derive(Default, Debug)]
pub struct Points(BTreeMap<(String, Coordinates), Vec<Map<String, Value>>>);

impl Points {
    /// Adds a repetition's metrics. Repetitions of a point come in the order of their seeds.
    pub fn add(&mut self, experiment: &str, at: Coordinates, metrics: Map<String, Value>) {
        let key = (experiment.to_owned(), at);
        self.0.entry(key).or_default().push(metrics);
    }

    /// A metric of a point, a value a repetition; none where one lacks it.
    pub fn values(&self, experiment: &str, at: &Coordinates, metric: &str) -> Option<Vec<f64>> {
        let of = self.0.get(&(experiment.to_owned(), at.clone()))?;
        of.iter().map(|m| m.get(metric)?.as_f64()).collect()
    }

    /// The same over all drives.
    pub fn estimate(&self, experiment: &str, at: &Coordinates, metric: &str) -> Option<Estimate> {
        Estimate::of(&self.values(experiment, at, metric)?)
    }

    /// Coordinates of an experiment's points, sorted.
    pub fn of_experiment<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Coordinates> {
        self.0
            .keys()
            .filter(move |(e, _)| e == id)
            .map(|(_, at)| at)
    }
}

/// What became of a claim.
#[derive(Debug)]
pub struct Verdict<'a> {
    pub claim: &'a Claim,
    pub measured: Option<Estimate>,
    /// Share of reads that ended in an error in its points, mean over drives: of the point with the
    /// most. None where it is not from runs.
    pub lost_share: Option<f64>,
    /// `reproduced`, `missed`, `not-comparable`.
    pub verdict: &'static str,
    /// Why, where it is not reproduced.
    pub note: String,
}

/// What is known beside the points.
#[derive(Debug)]
pub struct Known<'a> {
    /// Experiments and correlations that could not run, and why.
    pub absent: &'a BTreeMap<String, String>,
    /// The value of each claim about a drive as it is.
    pub facts: &'a BTreeMap<String, f64>,
}

/// Every claim of `study` against `points`.
pub fn judge<'a>(study: &'a Study, points: &Points, known: &Known<'_>) -> Vec<Verdict<'a>> {
    let one = |claim: &'a Claim| {
        let not = |note: &str| Verdict {
            claim,
            measured: None,
            lost_share: None,
            verdict: "not-comparable",
            note: note.to_owned(),
        };
        let mut estimate = None;
        if let Some(why) = &claim.not_comparable {
            return not(why);
        }
        if let Some(value) = known.facts.get(&claim.id) {
            estimate = Estimate::of(&[*value]);
        }
        if let Some(from) = &claim.points {
            if let Some(why) = known.absent.get(&from.experiment) {
                return not(why);
            }
            estimate = from_points(points, from);
        }
        let Some(measured) = estimate else {
            let from = claim.points.as_ref();
            // Of the metrics of runs, percentiles begin with p.
            return not(match from.map(|from| (study.source(from), &from.metric)) {
                Some((Source::Runs, metric)) if metric.starts_with('p') => {
                    "too few requests for this percentile in this form of the study"
                }
                Some((Source::Margins | Source::Pairs, _)) => {
                    "the cells measured in this form of the study do not give this number"
                }
                _ => "the runs of this form of the study do not give this number",
            });
        };
        let [low, high] = claim.band;
        let reproduced = (low..=high).contains(&measured.mean);
        let reason = claim.reason.clone().filter(|_| !reproduced);
        Verdict {
            claim,
            measured: Some(measured),
            lost_share: claim
                .points
                .as_ref()
                .and_then(|from| lost_share(points, from)),
            verdict: if reproduced { "reproduced" } else { "missed" },
            note: reason.unwrap_or_default(),
        }
    };
    study.claims.iter().map(one).collect()
}

/// The points of a claim, those with the coordinates it names.
fn points_of<'a>(
    points: &'a Points,
    from: &'a FromPoints,
) -> impl Iterator<Item = &'a Coordinates> {
    let among = |(d, values): (&Dimension, &String), at: &Coordinates| {
        values.split('|').any(|v| at.get(*d) == v)
    };
    points
        .of_experiment(&from.experiment)
        .filter(move |at| from.of.iter().all(|of| among(of, at)))
}

/// Share of reads lost in the points of a claim and their partners, of the one with the most.
fn lost_share(points: &Points, from: &FromPoints) -> Option<f64> {
    let all = points_of(points, from).flat_map(|at| [at.clone(), at.with(&from.against)]);
    let lost = all.filter_map(|at| points.estimate(&from.experiment, &at, "lost_share"));
    lost.map(|e| e.mean).reduce(f64::max)
}

/// The claim's number on each drive, then over drives: numbers of one drive share its seed.
fn from_points(points: &Points, from: &FromPoints) -> Option<Estimate> {
    let mut drives: Vec<Vec<f64>> = Vec::new();
    for at in points_of(points, from) {
        let values = points.values(&from.experiment, at, &from.metric)?;
        let partner = if from.against.is_empty() {
            values.clone()
        } else {
            let partner = at.with(&from.against);
            points.values(&from.experiment, &partner, &from.metric)?
        };
        drives.resize(values.len().max(drives.len()), Vec::new());
        for ((drive, value), partner) in drives.iter_mut().zip(values).zip(partner) {
            drive.push(match from.kind {
                Kind::Value => value,
                Kind::Ratio => value / partner,
                Kind::Reduction => 100.0 * (1.0 - value / partner),
                Kind::Increase => 100.0 * (value / partner - 1.0),
            });
        }
    }
    let one = |values: &Vec<f64>| {
        let n = values.len();
        Some(match from.over {
            Over::One if n == 1 => values[0],
            Over::One => return None,
            Over::Mean => values.iter().sum::<f64>() / n as f64,
            Over::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Over::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Over::Deviation => return deviation(values),
        })
    };
    let values = drives.iter().map(one).collect::<Option<Vec<f64>>>()?;
    Estimate::of(&values).filter(|e| e.mean.is_finite())
}

/// Standard deviation of `values`, of their mean (%).
fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (n > 1).then(|| 100.0 * (squares / (n - 1) as f64).sqrt() / mean)
}

/// A property of a variant's calibration that needs no run.
#[derive(Debug)]
pub struct Fact {
    pub name: &'static str,
    /// Of what the scheme keeps for so many superblocks.
    of: fn(&Footprint, usize) -> f64,
}

/// All facts.
pub const FACTS: &[Fact] = &[
    Fact {
        name: "active_table_bytes",
        of: |f, _| f.tables.active as f64,
    },
    Fact {
        name: "metadata_kb",
        of: |f, _| f.total() as f64 / 1e3,
    },
    Fact {
        name: "working_kb",
        of: |f, _| f.working as f64 / 1e3,
    },
    Fact {
        name: "bytes_a_superblock",
        of: |f, superblocks| f.superblocks as f64 / superblocks as f64,
    },
];

impl Fact {
    /// The fact called `name`.
    pub fn find(name: &str) -> Result<&'static Fact, String> {
        FACTS.iter().find(|m| m.name == name).ok_or_else(|| {
            let near = nearest(name, FACTS.iter().map(|m| m.name)).unwrap_or_default();
            format!("there is no fact `{name}`; the nearest is `{near}`")
        })
    }

    /// Its value for the drive of `profile`; none where the drive's scheme keeps no tables.
    pub fn value(&self, profile: &DriveProfile) -> Result<Option<f64>> {
        let geometry = profile.geometry;
        let setup = policy::Setup {
            geometry,
            capacity_slots: profile.capacity_bytes / u64::from(geometry.slot_bytes),
            tables: tables::for_drive(profile)?,
            layer_of: layers::of_wordlines(&profile.chip.array, geometry.wordlines_per_block),
            sensing: SensingTable::NOTHING,
            temperature_c: 25,
            seed: 0,
        };
        let levels = profile
            .scheme("read_levels")
            .and_then(|c| AnyReadLevels::new(c.scheme.name, &setup, &c.values));
        let footprint = levels.and_then(|levels| levels.footprint());
        Ok(footprint.map(|f| (self.of)(&f, geometry.blocks_per_plane as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_intervals_are_students() {
        // Mean 3, standard deviation sqrt(2.5) of five: 2.776 * sqrt(2.5 / 5) = 1.963.
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((e.mean, e.drives), (3.0, 5));
        assert!((e.half.unwrap() - 1.963).abs() < 1e-3, "{e:?}");
        assert_eq!(Estimate::of(&[7.0]).unwrap().half, None);
        assert_eq!(Estimate::of(&[]), None);
    }

    /// A claim without a number says why by what it is about.
    #[test]
    fn what_a_claim_without_a_number_says() {
        let claim = "[[claim]]\nid = \"c\"\nsays = \"all is well\"\nunit = \"bits\"\nband = [0, 1]\n\
                     points = { experiment = \"margins\", metric = \"capability_bits\", kind = \"value\", over = \"deviation\" }\n";
        let of_cells = format!("{}{claim}", include_str!("cells.toml"));
        let of_percentile =
            super::super::tests::SMALL.replacen("metric = \"iops\"", "metric = \"p99_us\"", 1);
        for (text, note) in [
            (of_cells.as_str(), "cells"),
            (super::super::tests::SMALL, "runs"),
            (&of_percentile, "percentile"),
        ] {
            let study = Study::parse("t", text).unwrap();
            let nothing = Known {
                absent: &BTreeMap::new(),
                facts: &BTreeMap::new(),
            };
            let verdicts = judge(&study, &Points::default(), &nothing);
            assert_eq!(verdicts[0].verdict, "not-comparable");
            assert!(verdicts[0].note.contains(note), "{}", verdicts[0].note);
        }
    }
}
