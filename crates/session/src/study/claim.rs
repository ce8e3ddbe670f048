//! A claim as it is written, and which bands a claim may have.
//!
//! What a claim rests on elsewhere in its study, the reader of studies (`read.rs`) checks.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dimension::Dimension;
use super::error::StudyError;

/// How often the low end of a band may go into its high end. A half of a number either way is three.
pub const WIDEST: f64 = 3.0;

/// A claim of the paper, and when it counts as reproduced.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields, expecting = "a table [[claim]]")]
pub struct Claim {
    /// As in the table of published numbers; `ours.` begins what no paper claims.
    pub id: String,
    /// What is claimed, in words.
    pub says: String,
    /// The number in the paper; empty for a claim without one.
    #[serde(default)]
    pub published: String,
    /// What would falsify a claim without a published number.
    pub falsified_by: Option<String>,
    pub unit: String,
    /// Lowest and highest value that reproduces it.
    pub band: Option<[f64; 2]>,
    /// Why the band is wider than [`WIDEST`] allows.
    pub wide: Option<String>,
    /// Whether an effect is claimed.
    #[serde(default)]
    pub claims: Effect,
    /// Measured from points,
    pub points: Option<FromPoints>,
    /// or from a variant, without a run.
    pub fact: Option<FromFact>,
    /// What the same sentence says beside: all of it has to hold.
    #[serde(default)]
    pub also: Vec<Also>,
    /// Nothing is measured: the row is an input of the model, and which one.
    pub input: Option<String>,
    /// Why the number is not to be compared with the published one. It is shown where it is measured.
    pub not_comparable: Option<String>,
    /// Why runs of the quick form are too short for it: there it is shown and not judged.
    pub needs_length: Option<String>,
    /// Which parameter was chosen from this number: a check of consistency then, no reproduction.
    pub fitted: Option<String>,
    /// The sentence that leaves a choice open, and the choices.
    pub open: Option<Open>,
    /// What a miss was traced to, with the experiment that shows it.
    pub reason: Option<String>,
    /// What an earlier version had, and why it is no longer so.
    pub before: Option<Before>,
}

/// A claim as an earlier version had it.
#[derive(Deserialize, Clone, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with version, measured, verdict and why"
)]
pub struct Before {
    pub version: String,
    /// Its number with unit, as it was printed; empty if there was none.
    pub measured: String,
    pub verdict: String,
    /// What made the difference.
    pub why: String,
}

/// A further part of a claim.
#[derive(Deserialize, Clone, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with says, unit, band and points"
)]
pub struct Also {
    /// What it says, in words.
    pub says: String,
    pub unit: String,
    /// Lowest and highest value with which it holds.
    pub band: [f64; 2],
    /// Why the band is wider than [`WIDEST`] allows.
    pub wide: Option<String>,
    /// Whether an effect is claimed.
    #[serde(default)]
    pub claims: Effect,
    /// How it is measured.
    pub points: FromPoints,
}

/// Whether an effect is claimed.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// There is one: a band that takes none for one is refused.
    #[default]
    Effect,
    /// There is none, or a negligible one.
    NoEffect,
}

/// A choice that the paper leaves open, and by which its claim may turn out either way.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields, expecting = "a table with sentence and grid")]
pub struct Open {
    /// The sentence of the paper that leaves it open.
    pub sentence: String,
    /// The experiment that has the choices; none for that of the claim.
    pub experiment: Option<String>,
    /// Values by coordinate: their combinations are the choices.
    pub grid: BTreeMap<Dimension, Vec<String>>,
}

/// A property of a variant that needs no run.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields, expecting = "a table with name and variant")]
pub struct FromFact {
    /// Name of the fact.
    pub name: String,
    pub variant: String,
    /// The number is that of this variant over it.
    pub over: Option<String>,
}

/// A number from the points of an experiment or correlation, one each metric.
#[derive(Deserialize, Clone, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with experiment, metric and of"
)]
pub struct FromPoints {
    /// The experiment or correlation.
    pub experiment: String,
    /// Name of the metric,
    pub metric: Option<String>,
    /// or names of several: each number has to lie in the band.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// What is made of it.
    #[serde(default)]
    pub kind: Kind,
    /// Which points: those with these coordinates; `a|b` for either.
    #[serde(default)]
    pub of: BTreeMap<Dimension, String>,
    /// Coordinates in which each point's partner differs from it.
    #[serde(default)]
    pub against: BTreeMap<Dimension, String>,
    /// How the numbers of several points become one.
    #[serde(default)]
    pub over: Over,
    /// Where it is read besides: values by coordinate, whose combinations are the phases. The median of their
    /// numbers decides.
    #[serde(default)]
    pub phases: BTreeMap<Dimension, Vec<String>>,
}

/// What is made of a point and its partner.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Value,
    /// Point / partner.
    Ratio,
    /// How much less than its partner the point has (%).
    Reduction,
    /// How much more than its partner the point has (%).
    Increase,
}

/// Kinds of numbers and ways to make one of several, for lists: key, name, what it is.
pub const KINDS: [(&str, &str, &str); 9] = [
    ("kind", "value", "the metric itself (the default)"),
    ("kind", "ratio", "point / partner, which `against` names"),
    (
        "kind",
        "reduction",
        "how much less than its partner the point has (%)",
    ),
    (
        "kind",
        "increase",
        "how much more than its partner the point has (%)",
    ),
    ("over", "one", "there is one point (the default)"),
    ("over", "mean", "mean of several points"),
    ("over", "max", "the highest"),
    ("over", "min", "the lowest"),
    (
        "over",
        "deviation",
        "standard deviation (% of the mean): over workload seeds, of repetitions on one drive",
    ),
];

impl Kind {
    /// The number where there is no effect; of a value itself, zero where none is claimed.
    fn none(self, claims: Effect) -> Option<f64> {
        match (self, claims) {
            (Kind::Ratio, _) => Some(1.0),
            (Kind::Reduction | Kind::Increase, _) | (Kind::Value, Effect::NoEffect) => Some(0.0),
            (Kind::Value, Effect::Effect) => None,
        }
    }
}

/// How the numbers of several points become one.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    #[default]
    One,
    Mean,
    Max,
    Min,
    /// Their standard deviation (% of their mean): over workload seeds, of repetitions on one drive.
    Deviation,
}

impl FromPoints {
    /// Its metrics, as `metric` or `metrics` has them.
    pub fn metrics(&self) -> &[String] {
        match &self.metric {
            Some(metric) => std::slice::from_ref(metric),
            None => &self.metrics,
        }
    }

    /// The same of other coordinates, at one phase, and of `experiment` if there is one.
    pub fn at(
        &self,
        others: &BTreeMap<Dimension, String>,
        experiment: Option<&String>,
    ) -> FromPoints {
        let mut from = self.clone();
        if let Some(id) = experiment {
            from.experiment.clone_from(id);
            from.phases.clear();
        }
        for (dimension, value) in others {
            from.of.insert(*dimension, value.clone());
            from.phases.remove(dimension);
        }
        from
    }
}

/// Combinations of the values of `grid`, the last coordinate running fastest.
pub fn combinations(
    grid: &BTreeMap<Dimension, Vec<String>>,
) -> impl Iterator<Item = BTreeMap<Dimension, String>> + use<> {
    let none = vec![BTreeMap::new()];
    let all = grid.iter().fold(none, |all, (dimension, values)| {
        let with = |at: &BTreeMap<Dimension, String>| {
            let at = at.clone();
            values.iter().map(move |value| {
                let mut at = at.clone();
                at.insert(*dimension, value.clone());
                at
            })
        };
        all.iter().flat_map(with).collect()
    });
    all.into_iter()
}

impl Claim {
    /// Of no paper.
    pub fn is_ours(&self) -> bool {
        self.id.starts_with("ours.")
    }

    /// All that is read from points, with the further parts.
    pub fn all_points(&self) -> impl Iterator<Item = &FromPoints> {
        let also = self.also.iter().map(|also| &also.points);
        self.points.iter().chain(also)
    }

    /// That it is measured in one way, says what its verdict needs, and that its bands mean something.
    ///
    /// # Errors
    /// [`StudyError`] of the first that is wrong.
    pub fn check(&self) -> Result<(), StudyError> {
        let measured = self.points.is_some() || self.fact.is_some();
        let is_compared = self.not_comparable.is_none();
        match (self.points.is_some(), self.fact.is_some(), &self.input) {
            (true, true, _) | (true, _, Some(_)) | (_, true, Some(_)) => {
                return Err(StudyError::HowMeasured);
            }
            (false, false, None) if is_compared => return Err(StudyError::HowMeasured),
            _ => {}
        }
        for (key, words) in [
            ("falsified_by", &self.falsified_by),
            ("wide", &self.wide),
            ("input", &self.input),
            ("not_comparable", &self.not_comparable),
            ("needs_length", &self.needs_length),
            ("fitted", &self.fitted),
        ] {
            if words.as_ref().is_some_and(|words| words.trim().is_empty()) {
                return Err(StudyError::NoWords(key));
            }
        }
        let before = self.before.as_ref();
        if before.is_some_and(|before| before.why.trim().is_empty()) {
            return Err(StudyError::NoWords("before.why"));
        }
        let verdicts = [&self.input, &self.not_comparable, &self.fitted];
        if verdicts.into_iter().flatten().count() > 1 {
            return Err(StudyError::TwoVerdicts);
        }
        let band = match (self.band, measured) {
            (Some(band), true) => band,
            (None, true) => return Err(StudyError::NoBand),
            (None, false) if self.also.is_empty() && self.open.is_none() => return Ok(()),
            _ => return Err(StudyError::NothingToJudge),
        };
        if self.published.is_empty() && self.falsified_by.is_none() {
            return Err(StudyError::Unfalsifiable);
        }
        let kind = self.points.as_ref().map_or(Kind::Value, |from| from.kind);
        check_band(band, kind, self.claims, self.wide.is_some())?;
        if !self.also.is_empty() && self.points.is_none() {
            return Err(StudyError::AlsoPoints);
        }
        for also in &self.also {
            let wide = also.wide.as_ref();
            if wide.is_some_and(|words| words.trim().is_empty()) {
                return Err(StudyError::NoWords("also.wide"));
            }
            check_band(also.band, also.points.kind, also.claims, wide.is_some())?;
        }
        if let Some(open) = &self.open {
            if self.points.is_none() {
                return Err(StudyError::OpenPoints);
            }
            if !is_compared || self.fitted.is_some() {
                return Err(StudyError::TwoVerdicts);
            }
            if open.sentence.trim().is_empty() {
                return Err(StudyError::NoWords("open.sentence"));
            }
            if combinations(&open.grid).count() < 2 {
                return Err(StudyError::NoChoice);
            }
        }
        Ok(())
    }
}

/// That a band is one, that no effect does not pass for a claimed one, and that not nearly everything passes.
fn check_band(
    [low, high]: [f64; 2],
    kind: Kind,
    claims: Effect,
    wide: bool,
) -> Result<(), StudyError> {
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err(StudyError::Band);
    }
    let text = |value: f64| value.to_string();
    let band = || [text(low), text(high)];
    if let Some(none) = kind.none(claims) {
        let passes = (low..=high).contains(&none);
        if passes && claims == Effect::Effect {
            return Err(StudyError::NoEffectPasses {
                band: band(),
                none: text(none),
            });
        }
        if !passes && claims == Effect::NoEffect {
            return Err(StudyError::NoEffectMisses {
                band: band(),
                none: text(none),
            });
        }
    }
    let is_wide = match low > 0.0 {
        true => high / low > WIDEST * (1.0 + 1e-9),
        false => claims == Effect::Effect,
    };
    match is_wide && !wide {
        true => Err(StudyError::Wide(band())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bands that mean something, and those that do not: an effect that may be none, no effect that has to be one, ends in
    /// the wrong order, and a high end of more than three times the low one without a reason.
    #[test]
    fn formula_bands_that_a_claim_may_have() {
        use super::Effect::{Effect, NoEffect};
        let band = |low: f64, high: f64| [low.to_string(), high.to_string()];
        let passes = |low, high, none: &str| {
            Err(StudyError::NoEffectPasses {
                band: band(low, high),
                none: none.into(),
            })
        };
        let misses = |low, high, none: &str| {
            Err(StudyError::NoEffectMisses {
                band: band(low, high),
                none: none.into(),
            })
        };
        for (kind, claims, [low, high], wide, expected) in [
            (Kind::Value, Effect, [2.0, 6.0], false, Ok(())),
            (Kind::Value, Effect, [2.0, 2.0], false, Ok(())),
            (
                Kind::Value,
                Effect,
                [2.0, 6.1],
                false,
                Err(StudyError::Wide(band(2.0, 6.1))),
            ),
            (Kind::Value, Effect, [2.0, 6.1], true, Ok(())),
            (
                Kind::Value,
                Effect,
                [6.0, 2.0],
                false,
                Err(StudyError::Band),
            ),
            (
                Kind::Value,
                Effect,
                [f64::NAN, 2.0],
                false,
                Err(StudyError::Band),
            ),
            (
                Kind::Value,
                Effect,
                [1.0, f64::INFINITY],
                true,
                Err(StudyError::Band),
            ),
            // From below zero up, all sizes of an effect pass.
            (
                Kind::Value,
                Effect,
                [0.0, 1.0],
                false,
                Err(StudyError::Wide(band(0.0, 1.0))),
            ),
            (
                Kind::Value,
                Effect,
                [-2.0, -1.0],
                false,
                Err(StudyError::Wide(band(-2.0, -1.0))),
            ),
            (Kind::Value, NoEffect, [0.0, 1.0], false, Ok(())),
            (
                Kind::Value,
                NoEffect,
                [0.5, 1.0],
                false,
                misses(0.5, 1.0, "0"),
            ),
            (Kind::Ratio, Effect, [1.1, 2.0], false, Ok(())),
            (
                Kind::Ratio,
                Effect,
                [0.9, 2.0],
                false,
                passes(0.9, 2.0, "1"),
            ),
            (Kind::Ratio, NoEffect, [0.9, 1.1], false, Ok(())),
            (
                Kind::Ratio,
                NoEffect,
                [1.1, 1.2],
                false,
                misses(1.1, 1.2, "1"),
            ),
            (
                Kind::Reduction,
                Effect,
                [-5.0, 5.0],
                false,
                passes(-5.0, 5.0, "0"),
            ),
            (Kind::Reduction, Effect, [20.0, 40.0], false, Ok(())),
            (Kind::Increase, NoEffect, [-5.0, 5.0], false, Ok(())),
            (
                Kind::Increase,
                Effect,
                [0.0, 5.0],
                true,
                passes(0.0, 5.0, "0"),
            ),
        ] {
            let got = check_band([low, high], kind, claims, wide);
            assert_eq!(got, expected, "{kind:?} {claims:?} {low} {high} {wide}");
        }
    }

    fn claim(more: &str) -> Claim {
        toml::from_str(&format!("id = \"c\"\nsays = \"s\"\nunit = \"x\"\n{more}")).unwrap()
    }

    const POINTS: &str = "published = \"2\"\nband = [1.5, 2.5]\npoints = { experiment = \"e\", metric = \"iops\" }\n";
    const FACT: &str = "fact = { name = \"f\", variant = \"v\" }\n";
    const OPEN: &str = "open = { sentence = \"s\", grid = { variant = [\"a\", \"b\"] } }\n";
    const ALSO: &str = "also = [{ says = \"s\", unit = \"x\", band = [1.0, 2.0], points = { experiment = \"e\" } }]\n";

    /// A claim is measured in one way and judged in one way; what needs words has some.
    #[test]
    fn sequence_claims_that_are_refused() {
        let no_words = |key| Err(StudyError::NoWords(key));
        let of_points = |more: &str| format!("{POINTS}{more}");
        for (text, expected) in [
            (of_points(""), Ok(())),
            (of_points(OPEN), Ok(())),
            (of_points(ALSO), Ok(())),
            (of_points("fitted = \"p\""), Ok(())),
            (of_points("not_comparable = \"p\""), Ok(())),
            ("published = \"2\"\ninput = \"p\"".to_owned(), Ok(())),
            ("not_comparable = \"p\"".to_owned(), Ok(())),
            (
                format!("published = \"2\"\nband = [1.5, 2.5]\n{FACT}"),
                Ok(()),
            ),
            (String::new(), Err(StudyError::HowMeasured)),
            (of_points(FACT), Err(StudyError::HowMeasured)),
            (of_points("input = \"p\""), Err(StudyError::HowMeasured)),
            (format!("{FACT}input = \"p\""), Err(StudyError::HowMeasured)),
            (of_points("wide = \" \""), no_words("wide")),
            (of_points("fitted = \"\""), no_words("fitted")),
            (of_points("falsified_by = \"\""), no_words("falsified_by")),
            ("input = \" \"".to_owned(), no_words("input")),
            (
                of_points(
                    "before = { version = \"1\", measured = \"\", verdict = \"v\", why = \" \" }",
                ),
                no_words("before.why"),
            ),
            (
                of_points("fitted = \"p\"\nnot_comparable = \"p\""),
                Err(StudyError::TwoVerdicts),
            ),
            (
                of_points(&format!("fitted = \"p\"\n{OPEN}")),
                Err(StudyError::TwoVerdicts),
            ),
            (
                of_points(&format!("not_comparable = \"p\"\n{OPEN}")),
                Err(StudyError::TwoVerdicts),
            ),
            (
                POINTS.replace("band = [1.5, 2.5]\n", ""),
                Err(StudyError::NoBand),
            ),
            (
                "input = \"p\"\nband = [1.0, 2.0]".to_owned(),
                Err(StudyError::NothingToJudge),
            ),
            (
                format!("input = \"p\"\n{OPEN}"),
                Err(StudyError::NothingToJudge),
            ),
            (
                format!("input = \"p\"\n{ALSO}"),
                Err(StudyError::NothingToJudge),
            ),
            (
                POINTS.replace("published = \"2\"\n", ""),
                Err(StudyError::Unfalsifiable),
            ),
            (
                POINTS.replace("published = \"2\"\n", "falsified_by = \"f\"\n"),
                Ok(()),
            ),
            (
                format!("published = \"2\"\nband = [1.5, 2.5]\n{FACT}{ALSO}"),
                Err(StudyError::AlsoPoints),
            ),
            (
                format!("published = \"2\"\nband = [1.5, 2.5]\n{FACT}{OPEN}"),
                Err(StudyError::OpenPoints),
            ),
            (
                of_points(&ALSO.replace("unit", "wide = \" \", unit")),
                no_words("also.wide"),
            ),
            (
                of_points(&ALSO.replace("[1.0, 2.0]", "[1.0, 3.1]")),
                Err(StudyError::Wide(["1".into(), "3.1".into()])),
            ),
            (
                of_points(&OPEN.replace("\"s\"", "\" \"")),
                no_words("open.sentence"),
            ),
            (
                of_points(&OPEN.replace(", \"b\"", "")),
                Err(StudyError::NoChoice),
            ),
        ] {
            assert_eq!(claim(&text).check(), expected, "{text}");
        }
    }

    /// The last coordinate runs fastest; a coordinate that is given is no phase any more.
    #[test]
    fn sequence_combinations_and_what_they_make_of_a_source() {
        let grid: BTreeMap<Dimension, Vec<String>> =
            toml::from_str("variant = [\"a\", \"b\"]\nage = [\"1h\", \"2h\", \"3h\"]").unwrap();
        let all: Vec<String> = combinations(&grid)
            .map(|at| at.values().cloned().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(all, ["a 1h", "a 2h", "a 3h", "b 1h", "b 2h", "b 3h"]);
        assert_eq!(combinations(&BTreeMap::new()).count(), 1);

        let from: FromPoints = toml::from_str(
            "experiment = \"e\"\nmetrics = [\"m\", \"n\"]\nof = { variant = \"a\" }\n\
             phases = { age = [\"1h\"], fill = [\"50%\"] }",
        )
        .unwrap();
        assert_eq!(from.metrics(), ["m", "n"]);
        let at = BTreeMap::from([(Dimension::Age, "2h".to_owned())]);
        let here = from.at(&at, None);
        assert_eq!((here.experiment.as_str(), here.of.len()), ("e", 2));
        assert_eq!(here.of[&Dimension::Age], "2h");
        assert_eq!(here.phases.keys().collect::<Vec<_>>(), [&Dimension::Fill]);
        let elsewhere = from.at(&at, Some(&"f".to_owned()));
        assert_eq!(elsewhere.experiment, "f");
        assert!(elsewhere.phases.is_empty());
    }
}
