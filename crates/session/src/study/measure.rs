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

#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
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

/// The number of `metric` over drives.
pub fn number(points: &Points, from: &FromPoints, metric: &str) -> Option<Estimate> {
    let values = of_drives(points, from, metric)?;
    Estimate::of(&values).filter(|e| e.mean.is_finite())
}

/// The number of `metric` on each drive: numbers of one drive share its seed.
pub fn of_drives(points: &Points, from: &FromPoints, metric: &str) -> Option<Vec<f64>> {
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
    drives.iter().map(one).collect()
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

    fn at(variant: &str, age: &str) -> Coordinates {
        Coordinates::new(Dimension::ALL.map(|d| match d {
            Dimension::Variant => variant.to_owned(),
            Dimension::Age => age.to_owned(),
            _ => "0".to_owned(),
        }))
    }

    /// Points by hand, of two drives each: variant, age, a metric of each drive.
    fn points(rows: &[(&str, &str, [f64; 2])]) -> Points {
        let mut points = Points::default();
        for (variant, age, drives) in rows {
            for value in drives {
                let metrics = [
                    ("n".to_owned(), (*value).into()),
                    ("lost_share".to_owned(), (value / 100.0).into()),
                ];
                points.add("e", at(variant, age), metrics.into_iter().collect());
            }
        }
        points
    }

    fn from(text: &str) -> FromPoints {
        toml::from_str(&format!("experiment = \"e\"\nmetric = \"n\"\n{text}")).unwrap()
    }

    fn two() -> Points {
        points(&[
            ("a", "1h", [4.0, 5.0]),
            ("a", "2h", [8.0, 10.0]),
            ("b", "1h", [2.0, 4.0]),
            ("b", "2h", [6.0, 4.0]),
        ])
    }

    /// A drive is compared with itself, and the number is the mean over drives.
    #[test]
    fn formula_a_point_against_its_partner() {
        let of = |kind: &str| {
            let text = format!(
                "kind = \"{kind}\"\nof = {{ variant = \"b\", age = \"1h\" }}\nagainst = {{ variant = \"a\" }}"
            );
            let e = number(&two(), &from(&text), "n").unwrap();
            assert_eq!(e.drives, 2);
            e.mean
        };
        // 2 of 4 and 4 of 5.
        assert!((of("ratio") - 0.65).abs() < 1e-12);
        assert!((of("reduction") - 35.0).abs() < 1e-12);
        assert!((of("increase") + 35.0).abs() < 1e-12);
        assert_eq!(of("value"), 3.0);
    }

    /// Several points of a drive become one number before drives do.
    #[test]
    fn formula_several_points_become_one() {
        let of = |over: &str| {
            let from = from(&format!("over = \"{over}\"\nof = {{ variant = \"b\" }}"));
            number(&two(), &from, "n").map(|e| e.mean)
        };
        // 2 and 6 on the first drive, 4 and 4 on the second.
        assert_eq!(of("mean"), Some(4.0));
        assert_eq!(of("max"), Some(5.0));
        assert_eq!(of("min"), Some(3.0));
        assert_eq!(of("one"), None);
        // The deviation of 2 and 6 is the root of 8, which is 70.7 % of 4; that of 4 and 4 is none.
        assert!((of("deviation").unwrap() - 50.0 * 0.5_f64.sqrt()).abs() < 1e-9);
        let one = from("over = \"deviation\"\nof = { variant = \"b\", age = \"1h\" }");
        assert_eq!(number(&two(), &one, "n"), None);
        assert_eq!(number(&two(), &from("of = { variant = \"c\" }"), "n"), None);
    }

    /// Phases at 1, 2, 3 and 4 hours have the numbers 3, 5, 9 and 1; the one at 5 hours was not measured.
    #[test]
    fn formula_phases_have_a_median_and_a_worst() {
        let rows = [
            ("b", "1h", 3.0),
            ("b", "2h", 5.0),
            ("b", "3h", 9.0),
            ("b", "4h", 1.0),
        ];
        let points = points(&rows.map(|(variant, age, v)| (variant, age, [v, v])));
        let of = |ages: &str, band| {
            let from = from(&format!(
                "of = {{ variant = \"b\" }}\nphases = {{ age = [{ages}] }}"
            ));
            phases(&points, &from, "n", band)
        };
        let all = "\"1h\", \"2h\", \"3h\", \"4h\", \"5h\"";
        let p = of(all, [3.0, 5.0]).unwrap();
        assert_eq!((p.all.len(), p.in_band, p.median), (4, 0.5, 4.0));
        assert_eq!(p.worst, ("3h".into(), 9.0));
        let p = of("\"1h\", \"2h\", \"4h\"", [2.9, 10.0]).unwrap();
        assert_eq!((p.in_band, p.median), (2.0 / 3.0, 3.0));
        assert_eq!(p.worst, ("4h".into(), 1.0));
        // All are within: the one nearest to an edge.
        assert_eq!(of(all, [-10.0, 9.5]).unwrap().worst, ("3h".into(), 9.0));
        assert_eq!(of("\"5h\"", [0.0, 1.0]), None);
        assert_eq!(phases(&points, &from(""), "n", [0.0, 1.0]), None);
    }

    /// The largest share of lost reads is that of the point, of its partner or of a phase.
    #[test]
    fn formula_the_most_lost_reads_of_a_claim() {
        let of = |text: &str| lost_share(&two(), &from(text));
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
        assert!(near(of("of = { variant = \"b\", age = \"1h\" }"), 0.03));
        assert!(near(
            of("of = { variant = \"b\", age = \"1h\" }\nagainst = { variant = \"a\" }"),
            0.045
        ));
        assert!(near(
            of("of = { variant = \"b\", age = \"1h\" }\nphases = { age = [\"2h\"] }"),
            0.05
        ));
        assert_eq!(of("of = { variant = \"c\" }"), None);
    }

    /// A claim is open where 5 to 95 % of the choices reproduce it.
    #[test]
    fn formula_choices_that_leave_a_claim_open() {
        let open: Open = toml::from_str(
            "sentence = \"s\"\ngrid = { variant = [\"a\", \"b\", \"c\"], age = [\"1h\", \"2h\"] }",
        )
        .unwrap();
        let from = from("of = {}");
        let of = |band| choices(&two(), &open, &[(&from, "n", band)]).unwrap();
        // 4.5, 9, 3 and 5; `c` was not measured.
        let half = of([4.0, 6.0]);
        assert_eq!(
            (half.all.len(), half.in_band, half.leave_it_open()),
            (4, 0.5, true)
        );
        let numbers: Vec<f64> = half.all.iter().map(|c| c.numbers[0]).collect();
        assert_eq!(numbers, [4.5, 9.0, 3.0, 5.0]);
        assert_eq!(half.all[1].at, "a, 2h");
        assert!(!of([0.0, 10.0]).leave_it_open());
        assert!(!of([20.0, 30.0]).leave_it_open());
        let both = choices(
            &two(),
            &open,
            &[(&from, "n", [4.0, 6.0]), (&from, "n", [4.9, 9.0])],
        );
        assert_eq!(both.unwrap().in_band, 0.25);
        let edges = |in_band| {
            Choices {
                in_band,
                all: Vec::new(),
            }
            .leave_it_open()
        };
        assert_eq!(
            [0.04, 0.05, 0.95, 0.96].map(edges),
            [false, true, true, false]
        );
    }
}
