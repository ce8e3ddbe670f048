//! Verdicts on claims, and their totals.

use std::collections::BTreeMap;

use super::claim::{Claim, FromPoints};
use super::measure::{self, Choices, Phases, is_in};
use super::metric::Source;
use super::points::{Estimate, Points};
use super::sources::Said;
use super::spec::Study;
use super::switches::Tried;

/// What became of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ruling {
    /// All its numbers are in their bands.
    Reproduced,
    /// One is not, and no other choice was tried.
    Missed,
    /// One is not, and another choice alone brings all of them there: found by looking, so no reproduction.
    MissedForChoice,
    /// One is not, with any of the choices that were tried.
    MissedAsFinding,
    /// It comes out either way by a choice that the paper leaves open, or its interval in the quick form is wider than its band.
    Undetermined,
    /// A parameter was chosen from the published number: a check of consistency.
    Fitted,
    /// There is no number, or none to compare with the published one.
    NotComparable,
    /// It is an input of the model.
    Input,
}

impl Ruling {
    /// As in results and tables.
    pub fn name(self) -> &'static str {
        match self {
            Ruling::Reproduced => "reproduced",
            Ruling::Missed => "missed",
            Ruling::MissedForChoice => "missed for a choice",
            Ruling::MissedAsFinding => "missed as a finding",
            Ruling::Undetermined => "undetermined",
            Ruling::Fitted => "fitted",
            Ruling::NotComparable => "not-comparable",
            Ruling::Input => "input",
        }
    }

    /// Of a claim that holds or does not, and of what other choices make of it.
    fn of(holds: bool, trials: &[Trial<'_>]) -> Ruling {
        let mut tried = trials.iter().filter_map(|trial| trial.holds).peekable();
        match (holds, tried.peek().is_some(), tried.any(|holds| holds)) {
            (true, ..) => Ruling::Reproduced,
            (false, false, _) => Ruling::Missed,
            (false, true, true) => Ruling::MissedForChoice,
            (false, true, false) => Ruling::MissedAsFinding,
        }
    }
}

/// A number of a claim.
#[derive(Debug)]
pub struct Part<'a> {
    /// What it says; empty for what the claim itself says.
    pub says: &'a str,
    /// The metric, or the fact.
    pub metric: &'a str,
    pub unit: &'a str,
    /// Lowest and highest value with which it holds.
    pub band: [f64; 2],
    /// The number at the default point.
    pub measured: Option<Estimate>,
    /// In its phases, if it has any.
    pub phases: Option<Phases>,
    /// An end of the band that lies within one sense of the number, and how long a sense takes (us).
    pub edge: Option<(f64, f64)>,
}

/// A claim with another choice.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial<'a> {
    pub tried: Tried<'a>,
    /// Its numbers that decide, part by part.
    pub numbers: Vec<Option<f64>>,
    /// Whether all of them are in their bands; none where one was not measured.
    pub holds: Option<bool>,
}

impl Part<'_> {
    /// Whether the number at the default point is in the band.
    fn holds_at_default(&self) -> Option<bool> {
        Some(is_in(self.band, self.measured?.mean))
    }

    /// The number that decides: of the median phase, or of the default point without phases.
    fn number(&self) -> Option<f64> {
        match &self.phases {
            Some(phases) => Some(phases.median),
            None => Some(self.measured?.mean),
        }
    }

    /// Whether the number that decides is in the band.
    fn holds(&self) -> Option<bool> {
        Some(is_in(self.band, self.number()?))
    }

    /// The interval over drives, of a number that decides by itself: of phases the median decides, which has none.
    fn interval(&self) -> Option<[f64; 2]> {
        let Estimate { mean, half, .. } = self.measured.filter(|_| self.phases.is_none())?;
        half.map(|half| [mean - half, mean + half])
    }

    /// Whether all of the interval is out of the band.
    fn is_apart(&self) -> bool {
        let [low, high] = self.band;
        self.interval()
            .is_some_and(|[from, to]| from > high || to < low)
    }

    /// Says that the interval is wider than the band, if it is.
    fn is_wider_than_band(&self) -> Option<String> {
        let [from, to] = self.interval()?;
        let [low, high] = self.band;
        (to - from > high - low).then(|| {
            let (metric, half, unit) = (self.metric, (to - from) / 2.0, self.unit);
            format!(
                "{metric}: the interval over drives, ± {half:.3} {unit}, is wider than the band"
            )
        })
    }

    /// The end of the band that is nearest to the number, of a percentile, if less than `sense_us` is between them.
    fn edge(&self, sense_us: f64) -> Option<(f64, f64)> {
        let number = self.number().filter(|_| is_percentile(self.metric))?;
        let [low, high] = self.band.map(|end| (end - number).abs());
        let (end, apart) = match low <= high {
            true => (self.band[0], low),
            false => (self.band[1], high),
        };
        (apart < sense_us).then_some((end, sense_us))
    }
}

impl<'a> Verdict<'a> {
    /// The number that decides: the first that is out of its band, or the first.
    pub fn deciding(&self) -> Option<&Part<'a>> {
        let out = self.parts.iter().find(|part| part.holds() == Some(false));
        out.or_else(|| self.parts.first())
    }
}

/// The verdict on a claim.
#[derive(Debug)]
pub struct Verdict<'a> {
    pub claim: &'a Claim,
    /// Its numbers; none for what is not measured.
    pub parts: Vec<Part<'a>>,
    /// Share of reads that ended in an error in its points, mean over drives: of the point with the
    /// most. None where it is not from runs.
    pub lost_share: Option<f64>,
    /// What became of it.
    pub ruling: Ruling,
    /// Whether all its numbers are in their bands, each in its median phase; none where one was not measured.
    pub holds: Option<bool>,
    /// The same at the default point.
    pub holds_at_default: Option<bool>,
    /// By the choices that the paper leaves open.
    pub choices: Option<Choices>,
    /// By the choices of the study that could be others, each alone.
    pub trials: Vec<Trial<'a>>,
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
    /// What profiles say of each claim.
    pub said: &'a BTreeMap<String, Said>,
    /// Whether it is the quick form.
    pub quick: bool,
}

/// Every claim of `study` against `points`.
pub fn judge<'a>(study: &'a Study, points: &Points, known: &Known<'_>) -> Vec<Verdict<'a>> {
    let claims = study.claims.iter();
    claims
        .map(|claim| one(study, claim, points, known))
        .collect()
}

fn one<'a>(study: &'a Study, claim: &'a Claim, points: &Points, known: &Known<'_>) -> Verdict<'a> {
    let mut parts = parts(claim, points, known);
    let said = known.said.get(&claim.id);
    if let Some(sense_us) = said.and_then(|said| said.sense_us) {
        parts
            .iter_mut()
            .for_each(|part| part.edge = part.edge(sense_us));
    }
    let of_profiles = said.map(|said| said.fitted.clone());
    let of_profiles = of_profiles.filter(|words| !words.is_empty());
    let fitted = claim.fitted.clone().or(of_profiles);
    let trials = trials(study, claim, points, known);
    let (holds, holds_at_default) = (
        all(&parts, |p| p.holds()),
        all(&parts, |p| p.holds_at_default()),
    );
    let choices = claim.open.as_ref().and_then(|open| {
        let from = |from| of_metrics(from).map(move |metric| (from, metric));
        let from = claim.all_points().flat_map(from).zip(&parts);
        let parts: Vec<_> = from
            .map(|((from, metric), part)| (from, metric, part.band))
            .collect();
        measure::choices(points, open, &parts)
    });
    let reason = || claim.reason.clone().unwrap_or_default();
    let in_quick = |words: Option<String>| words.filter(|_| known.quick);
    let is_short = in_quick(claim.needs_length.clone());
    // A number that is surely out of its band decides, whatever the others say.
    let is_open = !parts.iter().any(Part::is_apart);
    let wide = parts.iter().find_map(Part::is_wider_than_band);
    let says_nothing = in_quick(wide.filter(|_| is_open));
    let missing = || without_number(study, claim, &parts, known);
    let (ruling, note) = match (&claim.input, &claim.not_comparable, &fitted, holds) {
        (Some(words), ..) => (Ruling::Input, words.clone()),
        (_, Some(words), ..) => (Ruling::NotComparable, words.clone()),
        (_, _, Some(words), Some(_)) => match &claim.reason {
            Some(reason) => (Ruling::Fitted, format!("{words}. {reason}")),
            None => (Ruling::Fitted, words.clone()),
        },
        (_, _, Some(words), None) => (Ruling::Fitted, format!("{words}; {}", missing())),
        (.., None) => (Ruling::NotComparable, missing()),
        (.., Some(holds)) => match (&choices, is_short, says_nothing) {
            (_, Some(why), _) => (
                Ruling::NotComparable,
                format!("not in the quick form: {why}"),
            ),
            (_, None, Some(words)) => (Ruling::Undetermined, words),
            (Some(choices), ..) if choices.leave_it_open() => (Ruling::Undetermined, reason()),
            _ if holds && holds_at_default == Some(true) => (Ruling::Reproduced, String::new()),
            _ => (Ruling::of(holds, &trials), reason()),
        },
    };
    let lost = claim
        .all_points()
        .filter_map(|from| measure::lost_share(points, from));
    Verdict {
        claim,
        lost_share: lost.reduce(f64::max),
        ruling,
        holds,
        holds_at_default,
        choices,
        trials,
        note,
        parts,
    }
}

/// `claim` with each alternative that touches it.
fn trials<'a>(
    study: &'a Study,
    claim: &Claim,
    points: &Points,
    known: &Known<'_>,
) -> Vec<Trial<'a>> {
    let one = |tried: Tried<'a>| {
        let with = study.with_alternative(claim, tried, known.quick)?;
        let parts = parts(&with, points, known);
        Some(Trial {
            tried,
            holds: all(&parts, |part| part.holds()),
            numbers: parts.iter().map(Part::number).collect(),
        })
    };
    let alternatives = study.alternatives();
    alternatives.filter_map(|(tried, ..)| one(tried)).collect()
}

/// Whether all `parts` hold; none where one has no number, or there is none.
fn all(parts: &[Part<'_>], holds: impl Fn(&Part<'_>) -> Option<bool>) -> Option<bool> {
    let all: Option<Vec<bool>> = parts.iter().map(holds).collect();
    all.filter(|all| !all.is_empty())
        .map(|all| all.into_iter().all(|holds| holds))
}

fn of_metrics(from: &FromPoints) -> impl Iterator<Item = &str> {
    from.metrics().iter().map(String::as_str)
}

/// The numbers of `claim`: of its own points or fact, then of what it says beside.
fn parts<'a>(claim: &'a Claim, points: &Points, known: &Known<'_>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut add = |says: &'a str, unit: &'a str, band, from: &'a FromPoints| {
        let is_absent = known.absent.contains_key(&from.experiment);
        for metric in of_metrics(from) {
            let measured = measure::number(points, from, metric);
            parts.push(Part {
                says,
                metric,
                unit,
                band,
                measured: measured.filter(|_| !is_absent),
                phases: measure::phases(points, from, metric, band).filter(|_| !is_absent),
                edge: None,
            });
        }
    };
    if let (Some(from), Some(band)) = (&claim.points, claim.band) {
        add("", &claim.unit, band, from);
        for also in &claim.also {
            add(&also.says, &also.unit, also.band, &also.points);
        }
    }
    if let (Some(from), Some(band)) = (&claim.fact, claim.band) {
        let value = known.facts.get(&claim.id);
        parts.push(Part {
            says: "",
            metric: &from.name,
            unit: &claim.unit,
            band,
            measured: value.and_then(|value| Estimate::of(&[*value])),
            phases: None,
            edge: None,
        });
    }
    parts
}

fn is_percentile(metric: &str) -> bool {
    let end = metric.strip_prefix("write_").unwrap_or(metric);
    let digit = end.strip_prefix('p').and_then(|rest| rest.chars().next());
    digit.is_some_and(|c| c.is_ascii_digit())
}

/// Why `claim` has no number.
fn without_number(study: &Study, claim: &Claim, parts: &[Part<'_>], known: &Known<'_>) -> String {
    let mut from = claim.all_points();
    if let Some(why) = from.find_map(|from| known.absent.get(&from.experiment)) {
        return why.clone();
    }
    let missing = parts.iter().find(|part| part.holds().is_none());
    let metric = missing.map_or("", |part| part.metric);
    let mut from = claim.all_points();
    let from = from.find(|from| of_metrics(from).any(|name| name == metric));
    let why = match from.map(|from| study.source(from)) {
        Some(Source::Runs) if is_percentile(metric) => {
            "too few requests for this percentile in this form of the study"
        }
        Some(Source::Margins | Source::Samples | Source::Pairs) => {
            "the cells measured in this form of the study do not give this number"
        }
        _ => "the runs of this form of the study do not give this number",
    };
    format!("{metric}: {why}")
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    pub reproduced: usize,
    /// With no other choice tried.
    pub missed: usize,
    pub missed_for_choice: usize,
    pub missed_as_finding: usize,
    pub undetermined: usize,
    pub not_comparable: usize,
}

/// Checks of consistency counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Checks {
    pub in_band: usize,
    pub out_of_band: usize,
    /// Not measured in this form of the study.
    pub not_measured: usize,
}

/// Verdicts counted by what they tell.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    pub published: Tally,
    /// On what no paper claims.
    pub ours: Tally,
    /// On numbers that a parameter was chosen from.
    pub fitted: Checks,
    /// Inputs of the model.
    pub input: usize,
}

impl Totals {
    pub fn of(verdicts: &[Verdict<'_>]) -> Totals {
        let mut totals = Totals::default();
        for verdict in verdicts {
            let tally = match verdict.claim.is_ours() {
                true => &mut totals.ours,
                false => &mut totals.published,
            };
            *match (verdict.ruling, verdict.holds) {
                (Ruling::Reproduced, _) => &mut tally.reproduced,
                (Ruling::Missed, _) => &mut tally.missed,
                (Ruling::MissedForChoice, _) => &mut tally.missed_for_choice,
                (Ruling::MissedAsFinding, _) => &mut tally.missed_as_finding,
                (Ruling::Undetermined, _) => &mut tally.undetermined,
                (Ruling::NotComparable, _) => &mut tally.not_comparable,
                (Ruling::Fitted, Some(true)) => &mut totals.fitted.in_band,
                (Ruling::Fitted, Some(false)) => &mut totals.fitted.out_of_band,
                (Ruling::Fitted, None) => &mut totals.fitted.not_measured,
                (Ruling::Input, _) => &mut totals.input,
            } += 1;
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::super::dimension::Dimension;
    use super::super::plan::Coordinates;
    use super::*;

    /// Experiment, claims by hand: `b` over `a` in IOPS, at three ages and two temperatures.
    fn study(claims: &str) -> Study {
        let small = super::super::tests::SMALL;
        let experiments = &small[..small.find("[[claim]]").unwrap()];
        let experiments = experiments
            .replacen(
                "age = [\"2h\", \"28h\"]",
                "age = [\"2h\", \"10h\", \"28h\"]",
                1,
            )
            .replacen(
                "temperature = [\"40\"]",
                "temperature = [\"25\", \"40\"]",
                1,
            );
        Study::parse("t", &format!("{experiments}{claims}")).unwrap()
    }

    /// A claim `id` with `more`, of the numbers that `points` have.
    fn claim(id: &str, metric: &str, phases: &str, more: &str) -> String {
        format!(
            "[[claim]]\nid = \"{id}\"\nsays = \"more\"\npublished = \"2\"\nunit = \"x\"\nband = [1.5, 2.5]\n{more}\n\
             points = {{ experiment = \"one\", {metric}, kind = \"ratio\", \
             of = {{ variant = \"b\", age = \"2h\", temperature = \"40\" }}, against = {{ variant = \"a\" }}, {phases} }}\n"
        )
    }

    /// Points by hand: what `b` has over `a`, by age and temperature, on two drives that differ by a tenth either way.
    fn points(metric: &str, ratios: &[(&str, &str, f64)]) -> Points {
        let mut points = Points::default();
        for (age, temperature, ratio) in ratios {
            for (variant, value) in [("a", 100.0), ("b", 100.0 * ratio)] {
                let at = Dimension::ALL.map(|d| match d {
                    Dimension::Variant => variant.to_owned(),
                    Dimension::Age => (*age).to_owned(),
                    Dimension::Temperature => (*temperature).to_owned(),
                    _ => "0".to_owned(),
                });
                for drive in [0.9, 1.1] {
                    let share = if variant == "b" { drive } else { 1.0 };
                    let value = [(metric.to_owned(), (value * share).into())];
                    points.add(
                        "one",
                        Coordinates::new(at.clone()),
                        value.into_iter().collect(),
                    );
                }
            }
        }
        points
    }

    fn judged<'a>(study: &'a Study, points: &Points) -> Vec<Verdict<'a>> {
        let nothing = Known {
            absent: &BTreeMap::new(),
            facts: &BTreeMap::new(),
            said: &BTreeMap::new(),
            quick: false,
        };
        judge(study, points, &nothing)
    }

    const PHASES: &str = "phases = { age = [\"2h\", \"10h\", \"28h\"] }";

    /// The median phase decides, whichever way the default point falls.
    #[test]
    fn formula_phases_are_judged_by_their_median() {
        let study = study(&claim("p.one", "metric = \"iops\"", PHASES, ""));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for (ratios, ruling, at_default, in_band, median, worst) in [
            // 2 h is the default point.
            (
                [1.0, 2.0, 2.2],
                Ruling::Reproduced,
                false,
                2.0 / 3.0,
                2.0,
                ("2h", 1.0),
            ),
            (
                [2.0, 1.0, 1.2],
                Ruling::Missed,
                true,
                1.0 / 3.0,
                1.2,
                ("10h", 1.0),
            ),
            // The one nearest to an edge where all are in the band.
            (
                [2.0, 1.6, 2.1],
                Ruling::Reproduced,
                true,
                1.0,
                2.0,
                ("10h", 1.6),
            ),
            (
                [2.0, 2.4, 9.0],
                Ruling::Reproduced,
                true,
                2.0 / 3.0,
                2.4,
                ("28h", 9.0),
            ),
        ] {
            let at = ["2h", "10h", "28h"];
            let ratios: Vec<_> = at
                .iter()
                .zip(ratios)
                .map(|(at, r)| (*at, "40", r))
                .collect();
            let verdicts = judged(&study, &points("iops", &ratios));
            let verdict = &verdicts[0];
            let phases = verdict.parts[0].phases.as_ref().unwrap();
            assert_eq!(
                (verdict.ruling, verdict.holds_at_default),
                (ruling, Some(at_default))
            );
            assert!(near(verdict.parts[0].measured.unwrap().mean, ratios[0].2));
            assert!(
                near(phases.in_band, in_band) && near(phases.median, median),
                "{phases:?}"
            );
            assert!(
                phases.worst.0 == worst.0 && near(phases.worst.1, worst.1),
                "{phases:?}"
            );
            assert_eq!(phases.all.len(), 3);
        }
        // The quick form has fewer: phases are those that there are, and of two the median is between them.
        let two = points("iops", &[("2h", "40", 1.4), ("28h", "40", 1.8)]);
        let verdicts = judged(&study, &two);
        let phases = verdicts[0].parts[0].phases.as_ref().unwrap();
        assert!(
            near(phases.median, 1.6) && phases.all.len() == 2,
            "{phases:?}"
        );
        assert_eq!(verdicts[0].ruling, Ruling::Reproduced);
    }

    /// A claim that names several numbers takes all of them.
    #[test]
    fn formula_all_metrics_and_parts_have_to_hold() {
        let metrics = study(&claim("p.one", "metrics = [\"iops\", \"p99_us\"]", "", ""));
        let also = "also = [{ says = \"and\", unit = \"x\", band = [1.5, 2.5], points = { experiment = \"one\", \
                    metric = \"p99_us\", kind = \"ratio\", of = { variant = \"b\", age = \"2h\", temperature = \"40\" }, \
                    against = { variant = \"a\" } } }]";
        let also = study(&claim("p.one", "metric = \"iops\"", "", also));
        for study in [&metrics, &also] {
            for (iops, p99, ruling) in [
                (2.0, Some(2.0), Ruling::Reproduced),
                (2.0, Some(3.0), Ruling::Missed),
                (3.0, Some(2.0), Ruling::Missed),
                (2.0, None, Ruling::NotComparable),
            ] {
                let mut both = Points::default();
                let of = |points: &Points, metric: &str, variant: usize| {
                    let at = points.of_experiment("one").nth(variant).unwrap().clone();
                    (at.clone(), points.values("one", &at, metric).unwrap()[0])
                };
                let iops = points("iops", &[("2h", "40", iops)]);
                let p99 = p99.map(|p99| points("p99_us", &[("2h", "40", p99)]));
                for variant in [0, 1] {
                    let (at, value) = of(&iops, "iops", variant);
                    let mut metrics = vec![("iops".to_owned(), value.into())];
                    metrics.extend(
                        p99.as_ref()
                            .map(|p| ("p99_us".to_owned(), of(p, "p99_us", variant).1.into())),
                    );
                    both.add("one", at, metrics.into_iter().collect());
                }
                let verdicts = judged(study, &both);
                assert_eq!(verdicts[0].ruling, ruling, "{:?}", verdicts[0]);
                assert_eq!(verdicts[0].parts.len(), 2);
                let missing = verdicts[0].note.contains("p99_us: too few requests");
                assert_eq!(missing, ruling == Ruling::NotComparable);
            }
        }
    }

    const OPEN: &str = "open = { sentence = \"for long\", grid = { age = [\"2h\", \"10h\", \"28h\"], temperature = [\"25\", \"40\"] } }";

    /// What comes out either way by a choice that is left open is undetermined; what all or no choices give is not.
    #[test]
    fn formula_what_a_grid_leaves_undetermined() {
        let study = study(&claim("p.one", "metric = \"iops\"", "", OPEN));
        let grid = [
            ("2h", "40"),
            ("2h", "25"),
            ("10h", "25"),
            ("10h", "40"),
            ("28h", "25"),
            ("28h", "40"),
        ];
        for (ratios, ruling, at_default, in_band) in [
            ([2.0; 6], Ruling::Reproduced, true, 6),
            ([3.0; 6], Ruling::Missed, false, 0),
            (
                [2.0, 3.0, 3.0, 3.0, 3.0, 3.0],
                Ruling::Undetermined,
                true,
                1,
            ),
            (
                [3.0, 2.0, 2.0, 2.0, 2.0, 2.0],
                Ruling::Undetermined,
                false,
                5,
            ),
        ] {
            let ratios: Vec<_> = grid
                .iter()
                .zip(ratios)
                .map(|((a, t), r)| (*a, *t, r))
                .collect();
            let verdicts = judged(&study, &points("iops", &ratios));
            let choices = verdicts[0].choices.as_ref().unwrap();
            let count = choices.all.iter().filter(|choice| choice.in_band).count();
            assert_eq!(
                (verdicts[0].ruling, count, choices.all.len()),
                (ruling, in_band, 6)
            );
            assert_eq!(verdicts[0].holds_at_default, Some(at_default));
        }
        // Twenty-one choices of which one is apart are less than 5 %.
        for (in_band, of, open) in [
            (1, 21, false),
            (1, 20, true),
            (19, 20, true),
            (20, 21, false),
        ] {
            let choices = Choices {
                all: Vec::new(),
                in_band: f64::from(in_band) / f64::from(of),
            };
            assert_eq!(choices.leave_it_open(), open, "{in_band} of {of}");
        }
    }

    /// In the quick form an interval that is wider than its band leaves the claim open, unless it is apart from the band; and a claim that needs
    /// longer runs is not judged. In the full form both are.
    #[test]
    fn formula_what_the_quick_form_does_not_judge() {
        let study = study(
            &(claim("p.one", "metric = \"iops\"", "", "reason = \"why\"")
                + &claim("p.two", "metric = \"iops\"", "", "needs_length = \"l\"")
                + &claim("p.both", "metrics = [\"iops\", \"mean_us\"]", "", "")),
        );
        let judged = |drives: &[f64], quick: bool| {
            let mut points = Points::default();
            for ratio in drives {
                for (variant, value) in [("a", 100.0), ("b", 100.0 * ratio)] {
                    let at = Dimension::ALL.map(|d| match d {
                        Dimension::Variant => variant.to_owned(),
                        Dimension::Age => "2h".to_owned(),
                        Dimension::Temperature => "40".to_owned(),
                        _ => "0".to_owned(),
                    });
                    // The mean of `b` is nine times that of `a` on each drive, and so apart from the band.
                    let mean_us = if variant == "a" { 1.0 } else { 9.0 };
                    let values = [("iops", value), ("mean_us", mean_us)];
                    let values = values.map(|(name, value)| (name.to_owned(), value.into()));
                    points.add("one", Coordinates::new(at), values.into_iter().collect());
                }
            }
            let known = Known {
                absent: &BTreeMap::new(),
                facts: &BTreeMap::new(),
                said: &BTreeMap::new(),
                quick,
            };
            let verdicts = judge(&study, &points, &known);
            [0, 1, 2].map(|i| verdicts[i].ruling)
        };
        let (yes, no, open) = (Ruling::Reproduced, Ruling::Missed, Ruling::Undetermined);
        for (drives, quick, full) in [
            (&[1.9, 2.0, 2.1][..], yes, yes),
            (&[1.0, 2.0, 3.0], open, yes),
            (&[1.0, 3.0, 5.0], open, no),
            (&[8.0, 9.0, 10.0], no, no),
            (&[2.0], yes, yes),
        ] {
            assert_eq!(judged(drives, true)[..2], [quick, Ruling::NotComparable]);
            assert_eq!(judged(drives, false)[..2], [full, full], "{drives:?}");
            assert_eq!(
                judged(drives, true)[2],
                no,
                "{drives:?}: one number is apart"
            );
        }
    }

    /// An end of the band within a sense of a percentile is told, the nearer one; of other metrics and further away none is.
    #[test]
    fn formula_an_edge_that_splits_a_sense() {
        let part = |metric, mean| Part {
            says: "",
            metric,
            unit: "us",
            band: [161.0, 323.0],
            measured: Estimate::of(&[mean]),
            phases: None,
            edge: None,
        };
        for (metric, mean, edge) in [
            ("p99.99_us", 159.0, Some((161.0, 37.5))),
            ("p99.99_us", 191.0, Some((161.0, 37.5))),
            ("p99.99_us", 300.0, Some((323.0, 37.5))),
            ("p99.99_us", 242.0, None),
            ("p99.99_us", 361.0, None),
            ("mean_us", 159.0, None),
        ] {
            assert_eq!(part(metric, mean).edge(37.5), edge, "{metric} {mean}");
        }
    }

    /// What a profile says makes a claim fitted, beside what the claim says of a miss; not one that has no number to compare.
    #[test]
    fn formula_a_profile_makes_a_claim_fitted() {
        let study = study(
            &(claim("p.one", "metric = \"iops\"", "", "reason = \"why\"")
                + &claim("p.two", "metric = \"iops\"", "", "not_comparable = \"n\"")),
        );
        let said = Said {
            fitted: "a value".into(),
            sense_us: None,
        };
        let said = ["p.one", "p.two"].map(|id| (id.to_owned(), said.clone()));
        let known = Known {
            absent: &BTreeMap::new(),
            facts: &BTreeMap::new(),
            said: &said.into(),
            quick: false,
        };
        let points = points("iops", &[("2h", "40", 9.0)]);
        let verdicts = judge(&study, &points, &known);
        let of = |i: usize| {
            (
                verdicts[i].ruling,
                verdicts[i].holds,
                verdicts[i].note.as_str(),
            )
        };
        assert_eq!(of(0), (Ruling::Fitted, Some(false), "a value. why"));
        assert_eq!(of(1), (Ruling::NotComparable, Some(false), "n"));
    }

    /// Published rows, ours, what is fitted and what is an input are counted apart.
    #[test]
    fn formula_totals_are_counted_apart() {
        let missed = |id: &str, more: &str| claim(id, "metric = \"mean_us\"", "", more);
        let plain = |id: &str, more: &str| claim(id, "metric = \"iops\"", "", more);
        let text = [
            plain("p.reproduced", ""),
            plain("p.reproduced.too", ""),
            claim("p.missed", "metric = \"iops\"", "", "").replacen("[1.5, 2.5]", "[2.5, 3]", 1),
            plain("p.open", OPEN),
            plain("p.words", "not_comparable = \"apart\""),
            missed("p.none", ""),
            "[[claim]]\nid = \"p.input\"\nsays = \"in\"\nunit = \"\"\ninput = \"a code\"\n"
                .to_owned(),
            plain("p.fitted", "fitted = \"a step\""),
            claim(
                "p.fitted.out",
                "metric = \"iops\"",
                "",
                "fitted = \"a step\"",
            )
            .replacen("[1.5, 2.5]", "[2.5, 3]", 1),
            missed("ours.fitted", "fitted = \"a step\""),
            plain("ours.reproduced", ""),
        ];
        let study = study(&text.concat());
        let points = points("iops", &[("2h", "40", 2.0), ("28h", "25", 3.0)]);
        let verdicts = judged(&study, &points);
        let expected = Totals {
            published: Tally {
                reproduced: 2,
                missed: 1,
                undetermined: 1,
                not_comparable: 2,
                ..Tally::default()
            },
            ours: Tally {
                reproduced: 1,
                ..Tally::default()
            },
            fitted: Checks {
                in_band: 1,
                out_of_band: 1,
                not_measured: 1,
            },
            input: 1,
        };
        assert_eq!(Totals::of(&verdicts), expected);
        // A number that is not to be compared is shown for all that.
        let words = verdicts.iter().find(|v| v.claim.id == "p.words").unwrap();
        assert!(words.parts[0].measured.is_some() && words.note == "apart");
    }

    /// A claim without a number says why by what it is about.
    #[test]
    fn what_a_claim_without_a_number_says() {
        let claim = "[[claim]]\nid = \"c\"\nsays = \"all is well\"\nunit = \"bits\"\nband = [1, 2]\nfalsified_by = \"more\"\n\
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
                said: &BTreeMap::new(),
                quick: false,
            };
            let verdicts = judge(&study, &Points::default(), &nothing);
            assert_eq!(verdicts[0].ruling, Ruling::NotComparable);
            assert!(verdicts[0].note.contains(note), "{}", verdicts[0].note);
        }
    }
}
