//! Claims against what was measured.

use std::collections::BTreeMap;

use super::dimension::Dimension;
use super::metric::Source;
use super::plan::Coordinates;
use super::points::{Estimate, Points};
use super::spec::{Claim, FromPoints, Kind, Over, Study};

/// The verdict on a claim.
#[derive(Debug)]
pub struct Verdict<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Its number, where there is one.
    pub measured: Option<Estimate>,
    /// Share of reads that ended in an error in its points, mean over drives: of the point with the
    /// most. None where it is not from runs.
    pub lost_share: Option<f64>,
    /// `reproduced`, `missed`, `not-comparable`.
    pub verdict: &'static str,
    /// Why, where it is not reproduced.
    pub note: String,
}

/// Inputs to verdicts other than the points.
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

#[cfg(test)]
mod tests {
    use super::*;

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
