//! The numbers of all points that have run, and their means over drives.

use std::collections::BTreeMap;

use firstread_drive::stats::student::{P95, student};
use serde_json::{Map, Value};

use super::plan::Coordinates;

/// Drives from which on an interval is at least as wide as the range of drives. With ten drives Student's t holds the mean of a skewed tail in 80 to
/// 88 % of cases, and the range in 91 % or more. With five the range is hardly wider than Student's t, and holds no more.
const SKEWED: usize = 10;

/// A mean over drives, with its 95 % interval.
///
/// The unit of repetition is the drive: each has chips, blocks and pages of its own, so the interval
/// holds what differs between them. A single drive has none. It is Student's t; from ten drives on it also holds every drive,
/// because tails of drives are skewed: a few drives are much slower than the others, and a sample without one does not know it
/// (docs/intervals.md).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Mean over drives.
    pub mean: f64,
    /// Half of the interval.
    pub half: Option<f64>,
    pub drives: usize,
}

impl Estimate {
    /// Of one number a drive; none of no number.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let half = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            let degrees = (n - 1) as f64;
            let half = student(P95, degrees) * (squares / degrees / n as f64).sqrt();
            let furthest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
            match n >= SKEWED {
                true => half.max(furthest),
                false => half,
            }
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

    /// What stands under `key` beside the metrics of a point, on its first drive.
    pub fn first(&self, experiment: &str, at: &Coordinates, key: &str) -> Option<&Value> {
        self.0
            .get(&(experiment.to_owned(), at.clone()))?
            .first()?
            .get(key)
    }

    /// A metric of a point over all drives.
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

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    /// Ten drives whose tails are e to the power of a normal number: a few are much slower than the others. By Student's t alone 85 % of
    /// intervals hold the mean of all such drives.
    #[test]
    fn model_intervals_of_ten_drives_hold_the_mean_of_skewed_tails() {
        const CASES: u64 = 2_000;
        let draws = Stream::new(7).named("drives");
        let tail = |i: u64| {
            let uniform = |k| (draws.at(i).at(k).below(1 << 40) as f64 + 0.5) / (1u64 << 40) as f64;
            let angle = std::f64::consts::TAU * uniform(1);
            libm::exp(libm::sqrt(-2.0 * libm::log(uniform(0))) * libm::cos(angle))
        };
        let truth = libm::exp(0.5);
        let holds = |case: &u64| {
            let drives: Vec<f64> = (0..10).map(|i| tail(10 * case + i)).collect();
            let found = Estimate::of(&drives).unwrap();
            (found.mean - truth).abs() <= found.half.unwrap()
        };
        let held = (0..CASES).filter(holds).count() as f64 / CASES as f64;
        assert!((0.9..0.99).contains(&held), "{held}");
    }

    #[test]
    fn formula_intervals_are_students() {
        // Mean 3, standard deviation sqrt(2.5) of five: 2.776 * sqrt(2.5 / 5) = 1.963.
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((e.mean, e.drives), (3.0, 5));
        assert!((e.half.unwrap() - 1.963).abs() < 1e-3, "{e:?}");
        let nine = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 10.0];
        assert!(Estimate::of(&nine).unwrap().half.unwrap() < 3.0);
        let ten = [&nine[..], &[1.0]].concat();
        assert!((Estimate::of(&ten).unwrap().half.unwrap() - 8.1).abs() < 1e-9);
        assert_eq!(Estimate::of(&[7.0]).unwrap().half, None);
        assert_eq!(Estimate::of(&[]), None);
    }
}
