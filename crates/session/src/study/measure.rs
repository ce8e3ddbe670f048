//! Numbers of claims: what the points of a study come to, at the default point, in every phase, and by every choice
//! that the paper leaves open.

use std::collections::BTreeMap;

use super::claim::{FromPoints, Kind, Open, Over, combinations};
use super::dimension::Dimension;
use super::plan::Coordinates;
use super::points::{Estimate, Points};

/// A claim's number in its phases.
#[derive(Clone, PartialEq, Debug)]
pub struct Phases {
    /// The phases that were measured, with the number of each: mean over drives.
    pub all: Vec<(String, Estimate)>,
    /// Share of them in the band.
    pub in_band: f64,
    /// The median of their numbers, which decides.
    pub median: f64,
    /// The one furthest from the band, or nearest to its edge where all are in it.
    pub worst: (String, f64),
}

/// What a claim comes to by the choices that the paper leaves open.
#[derive(Clone, PartialEq, Debug)]
pub struct Choices {
    /// The choices that were measured.
    pub all: Vec<Choice>,
    /// Share of them by which all numbers of the claim are in their bands.
    pub in_band: f64,
}

/// One of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// Its coordinates.
    pub at: String,
    /// The claim's numbers, part by part.
    pub numbers: Vec<f64>,
    /// Whether all of them are in their bands.
    pub in_band: bool,
}

impl Choices {
    /// Whether a claim comes out both ways: 5 to 95 % of the choices reproduce it.
    pub fn leave_it_open(&self) -> bool {
        (0.05..=0.95).contains(&self.in_band)
    }
}

/// Whether `value` is in `band`.
pub fn is_in(band: [f64; 2], value: f64) -> bool {
    (band[0]..=band[1]).contains(&value)
}

/// How far `value` is from `band`; below zero inside of it.
fn distance([low, high]: [f64; 2], value: f64) -> f64 {
    (low - value).max(value - high)
}

fn share(n: usize, all: usize) -> f64 {
    n as f64 / all as f64
}

fn named(at: &BTreeMap<Dimension, String>) -> String {
    let values: Vec<&str> = at.values().map(String::as_str).collect();
    values.join(", ")
}

/// The number of `from` in each of its phases; none where it has no phases, or none of them was measured.
pub fn phases(points: &Points, from: &FromPoints, metric: &str, band: [f64; 2]) -> Option<Phases> {
    if from.phases.is_empty() {
        return None;
    }
    let number = |at: BTreeMap<_, _>| {
        let e = number(points, &from.at(&at, None), metric)?;
        Some((named(&at), e))
    };
    let all: Vec<(String, Estimate)> = combinations(&from.phases).filter_map(number).collect();
    let mut sorted: Vec<f64> = all.iter().map(|(_, e)| e.mean).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    let of = |(_, e): &&(String, Estimate)| distance(band, e.mean);
    let worst = all
        .iter()
        .reduce(|a, b| if of(&b) > of(&a) { b } else { a })?;
    Some(Phases {
        in_band: share(
            sorted.iter().filter(|v| is_in(band, **v)).count(),
            sorted.len(),
        ),
        median: (sorted[low] + sorted[high]) / 2.0,
        worst: (worst.0.clone(), worst.1.mean),
        all,
    })
}

/// What a claim comes to by each choice of `open`; `parts` are where its numbers come from, with metric and band.
/// None where no choice was measured.
pub fn choices(
    points: &Points,
    open: &Open,
    parts: &[(&FromPoints, &str, [f64; 2])],
) -> Option<Choices> {
    let choice = |at: BTreeMap<_, _>| {
        let number = |(from, metric, band): &(&FromPoints, &str, [f64; 2])| {
            let from = from.at(&at, open.experiment.as_ref());
            match from.phases.is_empty() {
                true => Some(number(points, &from, metric)?.mean),
                false => Some(phases(points, &from, metric, *band)?.median),
            }
        };
        let numbers: Option<Vec<f64>> = parts.iter().map(number).collect();
        let numbers = numbers?;
        let mut judged = numbers.iter().zip(parts);
        Some(Choice {
            at: named(&at),
            in_band: judged.all(|(value, (_, _, band))| is_in(*band, *value)),
            numbers,
        })
    };
    let all: Vec<Choice> = combinations(&open.grid).filter_map(choice).collect();
    let reproduce = all.iter().filter(|choice| choice.in_band).count();
    (!all.is_empty()).then(|| Choices {
        in_band: share(reproduce, all.len()),
        all,
    })
}

/// The points of a claim, those with the coordinates it names.
fn points_of<'a>(
    points: &'a Points,
    from: &'a FromPoints,
) -> impl Iterator<Item = &'a Coordinates> {
    points
        .of_experiment(&from.experiment)
        .filter(move |at| at.is_among(&from.of))
}

/// Share of reads lost in the points of a claim, its phases and their partners, of the one with the most.
pub fn lost_share(points: &Points, from: &FromPoints) -> Option<f64> {
    let of_phase = |phase: &BTreeMap<_, _>| {
        let from = from.at(phase, None);
        let all = points_of(points, &from).flat_map(|at| [at.clone(), at.with(&from.against)]);
        let lost = all.filter_map(|at| points.estimate(&from.experiment, &at, "lost_share"));
        lost.map(|e| e.mean).reduce(f64::max)
    };
    let default = BTreeMap::new();
    let phases = combinations(&from.phases).chain([default]);
    phases.filter_map(|phase| of_phase(&phase)).reduce(f64::max)
}

/// The number of `metric` on each drive, then over drives: numbers of one drive share its seed.
pub fn number(points: &Points, from: &FromPoints, metric: &str) -> Option<Estimate> {
    let mut drives: Vec<Vec<f64>> = Vec::new();
    for at in points_of(points, from) {
        let values = points.values(&from.experiment, at, metric)?;
        let partner = if from.against.is_empty() {
            values.clone()
        } else {
            let partner = at.with(&from.against);
            points.values(&from.experiment, &partner, metric)?
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
