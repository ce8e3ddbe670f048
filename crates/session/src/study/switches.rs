//! Choices that a study leaves to others: each alternative is run alone, and the claims that it touches are judged with it.
//!
//! A claim that is missed is missed *for a choice* where an alternative alone brings it into its band, and *as a finding*
//! where none does. What an alternative brings into a band was found by looking: it is consistent, and reproduces nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{Claim, FromPoints, combinations};
use super::dimension::Dimension;
use super::error::StudyError;
use super::plan::Coordinates;
use super::spec::{Experiment, Study, Variant, known_name, names};
use super::switch::{Alternative, Switch};
use crate::error::Error;

impl Alternative {
    fn changes(&self, variant: &str) -> bool {
        self.variants.is_empty() || self.variants.iter().any(|name| name == variant)
    }

    /// `variant` as it is with the alternative.
    pub fn apply(&self, variant: &Variant) -> Variant {
        let axis = |scheme: &String| scheme.split('=').next().map(str::to_owned);
        let own: Vec<_> = self.schemes.iter().map(axis).collect();
        let kept = variant.schemes.iter().filter(|s| !own.contains(&axis(s)));
        Variant {
            drive: variant.drive.clone(),
            schemes: kept.chain(&self.schemes).cloned().collect(),
            set: variant.set.iter().chain(&self.set).cloned().collect(),
        }
    }
}

/// An alternative of a switch, by their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tried<'a> {
    pub switch: &'a str,
    pub alternative: &'a str,
}

impl Tried<'_> {
    /// Where the points of `experiment` with this alternative are kept.
    pub fn of(&self, experiment: &str) -> String {
        format!("{experiment}~{}={}", self.switch, self.alternative)
    }
}

/// A point with an alternative: where it lies is as without it.
#[derive(Debug)]
pub struct TriedPoint<'a> {
    pub tried: Tried<'a>,
    pub experiment: &'a Experiment,
    pub at: Coordinates,
    /// Its drive: with the alternative, if that changes it.
    pub variant: Variant,
    /// Its own coordinates, with those of the alternative.
    pub of_run: Coordinates,
}

impl Study {
    /// All alternatives, in the order of their names.
    pub fn alternatives(&self) -> impl Iterator<Item = (Tried<'_>, &Switch, &Alternative)> {
        self.switches.iter().flat_map(|(switch, of)| {
            of.alternatives.iter().map(move |(name, alternative)| {
                let tried = Tried {
                    switch,
                    alternative: name,
                };
                (tried, of, alternative)
            })
        })
    }

    /// The claim with `tried`, where that touches it: the same of other points.
    pub fn with_alternative(&self, claim: &Claim, tried: Tried<'_>, quick: bool) -> Option<Claim> {
        let switch = self.switches.get(tried.switch)?;
        let alternative = switch.alternatives.get(tried.alternative)?;
        if claim.input.is_some() || claim.not_comparable.is_some() {
            return None;
        }
        let of_switch = |from: &&FromPoints| switch.experiments.contains(&from.experiment);
        let touches = |from: &FromPoints| {
            let mut points = self.needed(from, quick).into_iter();
            points.any(|at| alternative.changes(at.get(Dimension::Variant)))
        };
        claim.all_points().filter(of_switch).any(touches).then(|| {
            let mut with = claim.clone();
            let also = with.also.iter_mut().map(|also| &mut also.points);
            for from in with.points.iter_mut().chain(also) {
                if switch.experiments.contains(&from.experiment) {
                    from.experiment = tried.of(&from.experiment);
                }
            }
            with
        })
    }

    /// The points that `from` takes its number from in all its phases, with their partners.
    fn needed(&self, from: &FromPoints, quick: bool) -> BTreeSet<Coordinates> {
        let experiment = self.experiments.iter().find(|e| e.id == from.experiment);
        let Some(experiment) = experiment.filter(|e| e.cells.is_none() && e.life.is_none()) else {
            return BTreeSet::new();
        };
        let all = Coordinates::all(experiment, quick);
        let default = BTreeMap::new();
        let phases = combinations(&from.phases).chain([default]);
        let of_phase = |phase: BTreeMap<Dimension, String>| {
            let from = from.at(&phase, None);
            let of = all.iter().filter(|at| at.is_among(&from.of));
            let with_partner = |at: &Coordinates| [at.clone(), at.with(&from.against)];
            of.flat_map(with_partner).collect::<Vec<_>>()
        };
        let needed = phases.flat_map(of_phase);
        needed.filter(|at| all.contains(at)).collect()
    }

    /// The points that claims are judged by with each alternative, of the experiments that `is_run` says are.
    pub fn tried_points(
        &self,
        quick: bool,
        is_run: impl Fn(&Experiment) -> bool,
    ) -> Vec<TriedPoint<'_>> {
        let mut points = Vec::new();
        for (tried, switch, alternative) in self.alternatives() {
            for experiment in &self.experiments {
                if !switch.experiments.contains(&experiment.id) || !is_run(experiment) {
                    continue;
                }
                let touched = self.claims.iter();
                let touched =
                    touched.filter(|claim| self.with_alternative(claim, tried, quick).is_some());
                let from = touched.flat_map(Claim::all_points);
                let from = from.filter(|from| from.experiment == experiment.id);
                let needed: BTreeSet<Coordinates> =
                    from.flat_map(|from| self.needed(from, quick)).collect();
                for at in needed {
                    let name = at.get(Dimension::Variant);
                    let changed = alternative.changes(name);
                    let variant = &self.variants[name];
                    points.push(TriedPoint {
                        tried,
                        experiment,
                        variant: match changed {
                            true => alternative.apply(variant),
                            false => variant.clone(),
                        },
                        of_run: match changed {
                            true => at.with(&alternative.at),
                            false => at.clone(),
                        },
                        at,
                    });
                }
            }
        }
        points
    }

    /// That every switch means something. `text` is the study's, for the line of what is wrong.
    pub(super) fn check_switches(&self, text: &str) -> Result<(), Error> {
        for (name, switch) in &self.switches {
            let found = self.check_switch(name, switch);
            if let Err((error, alternative)) = found {
                let header = match &alternative {
                    Some(alternative) => format!("[switches.{name}.alternatives.{alternative}]"),
                    None => format!("[switches.{name}]"),
                };
                let at = text.lines().position(|line| line.trim() == header);
                let place = match (at, alternative) {
                    (Some(line), _) => format!("{}: {header}", line + 1),
                    (None, Some(alternative)) => format!("switch `{name}`: `{alternative}`"),
                    (None, None) => format!("switch `{name}`"),
                };
                return Err(Error::from(error).of(place));
            }
        }
        Ok(())
    }

    /// What is wrong with a switch, and of which alternative.
    fn check_switch<'s>(
        &self,
        name: &str,
        switch: &'s Switch,
    ) -> Result<(), (StudyError, Option<&'s str>)> {
        let of_switch = |error| (error, None);
        for (key, words) in [("what", &switch.what), ("default", &switch.default)] {
            if words.trim().is_empty() {
                return Err(of_switch(StudyError::NoWords(key)));
            }
        }
        if switch.alternatives.is_empty() {
            return Err(of_switch(StudyError::NoAlternative));
        }
        let ids: Vec<&str> = self.experiments.iter().map(|e| e.id.as_str()).collect();
        for id in &switch.experiments {
            known_name("experiment", id, &ids).map_err(of_switch)?;
        }
        let experiments = || self.experiments.iter();
        let touched = || experiments().filter(|e| switch.experiments.contains(&e.id));
        for (alternative, of) in &switch.alternatives {
            let wrong = |error| (error, Some(alternative.as_str()));
            if of.source.trim().is_empty() {
                return Err(wrong(StudyError::NoWords("source")));
            }
            for variant in &of.variants {
                known_name("variant", variant, &names(&self.variants)).map_err(wrong)?;
                if !touched().any(|e| e.variants.contains(variant)) {
                    return Err(wrong(StudyError::NotInExperiments(variant.clone())));
                }
            }
            let by_name = [Dimension::Variant, Dimension::Workload];
            let nothing = of.schemes.is_empty() && of.set.is_empty() && of.at.is_empty();
            if nothing || by_name.iter().any(|d| of.at.contains_key(d)) {
                return Err(wrong(StudyError::ChangesNothing));
            }
            let tried = Tried {
                switch: name,
                alternative,
            };
            let mut claims = self.claims.iter();
            if !claims.any(|claim| self.with_alternative(claim, tried, false).is_some()) {
                return Err(wrong(StudyError::TouchesNothing));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::points::Points;
    use super::super::tests::SMALL;
    use super::super::verdict::{Known, Ruling, judge};
    use super::*;

    /// The small study, whose claim says that `b` over `a` is 0.9 to 1.1, with `switch`.
    fn study(switch: &str) -> Result<Study, Error> {
        Study::parse("t", &format!("{SMALL}\n{switch}\n"))
    }

    const SWITCH: &str = "[switches.victims]\nwhat = \"victims\"\ndefault = \"greedy\"\nexperiments = [\"one\"]\n\
                          [switches.victims.alternatives.fifo]\nvariants = [\"b\"]\nschemes = [\"gc_victim=fifo\"]\nsource = \"s\"\n\
                          [switches.victims.alternatives.old]\nvariants = [\"b\"]\nat = { age = \"90d\" }\n\
                          set = [\"wear.spread=7P/E\"]\nsource = \"s\"";

    /// Only what an alternative names is changed, and its points lie where those of the study do.
    #[test]
    fn sequence_points_with_an_alternative() {
        let study = study(SWITCH).unwrap();
        let points = study.tried_points(false, |_| true);
        let of = |name: &str| {
            let all = points.iter().filter(|p| p.tried.alternative == name);
            all.map(|p| {
                let (at, run) = (&p.at, &p.of_run);
                let text = [at.get(Dimension::Variant), at.get(Dimension::Age)].join(" ");
                let schemes = p.variant.schemes.join(" ");
                format!(
                    "{text}: {} {schemes} {}",
                    run.get(Dimension::Age),
                    p.variant.set.len()
                )
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(
            of("fifo"),
            [
                "a 28h: 28h  0",
                "a 2h: 2h  0",
                "b 28h: 28h gc_victim=fifo 0",
                "b 2h: 2h gc_victim=fifo 0"
            ]
        );
        assert_eq!(
            of("old"),
            [
                "a 28h: 28h  0",
                "a 2h: 2h  0",
                "b 28h: 90d gc_victim=greedy 1",
                "b 2h: 90d gc_victim=greedy 1"
            ]
        );
        assert_eq!(points[0].tried.of("one"), "one~victims=fifo");
        assert!(study.tried_points(false, |_| false).is_empty());
    }

    /// A claim that is missed is missed for a choice where one alternative brings it into its band, as a finding where
    /// none does, and plainly where none was measured. One that holds stays reproduced.
    #[test]
    fn formula_missed_for_a_choice_or_as_a_finding() {
        let study = study(SWITCH).unwrap();
        let with = |ratio: f64, alternatives: &[(&str, f64)]| {
            let mut points = Points::default();
            let mut add = |experiment: &str, ratio: f64| {
                for at in Coordinates::all(&study.experiments[0], false) {
                    let value = match at.get(Dimension::Variant) {
                        "a" => 100.0,
                        _ => 100.0 * ratio,
                    };
                    let metric = [("iops".to_owned(), value.into())];
                    points.add(experiment, at, metric.into_iter().collect());
                }
            };
            add("one", ratio);
            for (name, ratio) in alternatives {
                add(&format!("one~victims={name}"), *ratio);
            }
            let known = Known {
                absent: &BTreeMap::new(),
                facts: &BTreeMap::new(),
                said: &BTreeMap::new(),
                quick: false,
            };
            let verdicts = judge(&study, &points, &known);
            let trials = verdicts[0]
                .trials
                .iter()
                .map(|t| t.holds)
                .collect::<Vec<_>>();
            (verdicts[0].ruling, trials)
        };
        let (no, yes) = (Some(false), Some(true));
        for (ratio, alternatives, expected) in [
            (2.0, &[][..], (Ruling::Missed, vec![None, None])),
            (
                2.0,
                &[("fifo", 2.0), ("old", 3.0)],
                (Ruling::MissedAsFinding, vec![no, no]),
            ),
            (
                2.0,
                &[("fifo", 2.0), ("old", 1.0)],
                (Ruling::MissedForChoice, vec![no, yes]),
            ),
            (
                2.0,
                &[("old", 1.0)],
                (Ruling::MissedForChoice, vec![None, yes]),
            ),
            (1.0, &[("fifo", 2.0)], (Ruling::Reproduced, vec![no, None])),
        ] {
            assert_eq!(
                with(ratio, alternatives),
                expected,
                "{ratio} {alternatives:?}"
            );
        }
    }

    #[test]
    fn what_switches_are_refused() {
        for (from, to, message) in [
            (
                "[\"one\"]",
                "[\"on\"]",
                "t: 44: [switches.victims]: there is no experiment `on`; the nearest is `one`",
            ),
            (
                "variants = [\"b\"]\nschemes",
                "variants = [\"bb\"]\nschemes",
                "alternatives.fifo]: there is no variant `bb`; the nearest is `b`",
            ),
            (
                "schemes = [\"gc_victim=fifo\"]\n",
                "",
                "an alternative has `schemes`, `set` or `at`",
            ),
            (
                "{ age = \"90d\" }",
                "{ variant = \"a\" }",
                "no variant or workload in `at`",
            ),
            (
                "experiments = [\"one\"]",
                "experiments = []",
                "none of the switch's `experiments` has the variant `b`",
            ),
            ("source = \"s\"", "source = \" \"", "`source` has no words"),
            (
                "what = \"victims\"\n",
                "",
                "missing: switches.victims: what",
            ),
            ("what = \"victims\"", "what = \"\"", "`what` has no words"),
            ("default =", "defualt =", "unknown field `defualt`"),
        ] {
            assert!(SWITCH.contains(from), "{from}");
            let error = study(&SWITCH.replacen(from, to, 1)).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains(message), "{text}");
        }
        // No claim of the experiment is measured on the variant.
        let text = SMALL.replacen(
            "of = { variant = \"b\" }, against = { variant = \"a\" }",
            "of = { variant = \"a\" }",
            1,
        );
        let text =
            text.replacen("kind = \"ratio\", ", "", 1)
                .replacen("claims = \"no-effect\"\n", "", 1);
        let error = Study::parse("t", &format!("{text}\n{SWITCH}\n")).unwrap_err();
        assert!(
            format!("{error:#}").contains("no claim of its `experiments`"),
            "{error:#}"
        );
        let none = "[switches.victims]\nwhat = \"w\"\ndefault = \"d\"\nexperiments = [\"one\"]\nalternatives = {}";
        let error = study(none).unwrap_err();
        assert!(
            format!("{error:#}").contains("a switch has `alternatives`"),
            "{error:#}"
        );
    }
}
