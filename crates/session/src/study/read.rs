//! Reads a study, and checks its claims against what the study measures.

use std::collections::BTreeMap;

use super::claim::{Claim, FromPoints, Kind, Over};
use super::dimension::Dimension;
use super::error::StudyError;
use super::fact::Fact;
use super::metric::{Metric, Source};
use super::spec::{Correlation, Experiment, Study, known_name, names, once};
use crate::error::Error;

/// Drives that a claim over runs or lives takes in the full form, unless its experiment says why it has fewer.
pub const FEWEST_DRIVES: u64 = 5;

impl Study {
    /// Reads `text`, called `name` in messages, and checks that all names in it mean something.
    ///
    /// # Errors
    /// [`StudyError`], with `name` and its place in the study.
    pub fn parse(name: &str, text: &str) -> Result<Study, Error> {
        // A key that is written wrong is also missing: the wrong one is told first.
        let study = match toml::from_str::<Study>(text).map_err(StudyError::Text) {
            Err(StudyError::Text(wrong)) if wrong.message().starts_with("unknown field") => {
                Err(StudyError::Text(wrong))
            }
            study => complete(text).and(study),
        };
        let mut study: Study = study.map_err(|error| Error::from(error).of(name))?;
        study.complete(name);
        let checks = [Study::check_measured, Study::check_claims];
        for check in checks {
            check(&study).map_err(|error| error.of(name))?;
        }
        let switches = study.check_switches(text);
        switches.map_err(|error| error.of(name))?;
        Ok(study)
    }

    fn check_claims(&self) -> Result<(), Error> {
        let mut claims: Vec<&str> = Vec::new();
        for claim in &self.claims {
            once(&mut claims, &claim.id, "claim")?;
            let place = format!("claim `{}`", claim.id);
            self.check_claim(claim)
                .map_err(|error| Error::from(error).of(place))?;
        }
        Ok(())
    }

    fn check_claim(&self, claim: &Claim) -> Result<(), StudyError> {
        claim.check()?;
        if let Some(from) = &claim.fact {
            Fact::find(&from.name)?;
            let variants = [Some(&from.variant), from.over.as_ref()];
            for variant in variants.into_iter().flatten() {
                known_name("variant", variant, &names(&self.variants))?;
            }
        }
        for from in claim.all_points() {
            let grounds = self.grounds(&from.experiment)?;
            check_points(from, &grounds, true)?;
            check_phases(from, &grounds)?;
            if let Some(open) = &claim.open {
                let grounds = match &open.experiment {
                    Some(id) => self.grounds(id)?,
                    None => grounds,
                };
                check_values(&grounds, &open.grid, &from.of, "open.grid")?;
                // The points of any of the choices stand for those of all.
                let first =
                    |(d, values): (&Dimension, &Vec<String>)| Some((*d, values.first()?.clone()));
                let first: BTreeMap<_, _> = open.grid.iter().filter_map(first).collect();
                check_points(&from.at(&first, open.experiment.as_ref()), &grounds, false)?;
            }
        }
        Ok(())
    }

    /// What the numbers of the experiment or correlation called `id` are from.
    fn grounds(&self, id: &str) -> Result<Grounds<'_>, StudyError> {
        let correlation = || self.correlations.iter().find(|c| c.id == id);
        match (self.experiments.iter().find(|e| e.id == id), correlation()) {
            (Some(experiment), _) => Ok(Grounds::Experiment(experiment)),
            (None, Some(correlation)) => Ok(Grounds::Correlation(correlation)),
            (None, None) => {
                let ids = self.ids();
                Err(StudyError::no_such("experiment", id, ids.into_iter()))
            }
        }
    }
}

/// That `text` has every key that is needed, in each of its tables.
fn complete(text: &str) -> Result<(), StudyError> {
    const OF_EXPERIMENT: &[&str] = &["id", "variants"];
    const OF_CORRELATION: &[&str] = &[
        "id",
        "variant",
        "temperature",
        "pe_cycles",
        "age",
        "blocks",
        "wordlines",
        "drives",
        "title",
    ];
    const OF_CLAIM: &[&str] = &["id", "says", "unit"];
    let study: toml::Table = toml::from_str(text).map_err(StudyError::Text)?;
    let mut missing = Vec::new();
    let mut look = |place: &str, table: &toml::Table, keys: &[&str]| {
        let absent: Vec<&str> = keys
            .iter()
            .copied()
            .filter(|key| !table.contains_key(*key))
            .collect();
        if !absent.is_empty() {
            missing.push(format!("{place}: {}", absent.join(", ")));
        }
    };
    for (kind, keys) in [
        ("experiment", OF_EXPERIMENT),
        ("correlation", OF_CORRELATION),
        ("claim", OF_CLAIM),
    ] {
        let all = study.get(kind).and_then(toml::Value::as_array);
        for (i, table) in all.into_iter().flatten().enumerate() {
            let Some(table) = table.as_table() else {
                continue;
            };
            let id = table.get("id").and_then(toml::Value::as_str);
            let id = id.map_or(format!("{}", i + 1), |id| format!("`{id}`"));
            let place = format!("{kind} {id}");
            look(&place, table, keys);
            let of_runs = kind == "experiment" && !table.contains_key("cells");
            if of_runs {
                let keys = ["workloads", "requests"];
                let of_lives = usize::from(table.contains_key("life"));
                look(&place, table, &keys[..keys.len() - of_lives]);
            }
            if let Some(points) = table.get("points").and_then(toml::Value::as_table) {
                look(&format!("points of {place}"), points, &["experiment"]);
            }
        }
    }
    let of_switch = &["what", "default", "experiments", "alternatives"][..];
    for (kind, keys) in [
        ("variants", &["drive"][..]),
        ("workloads", &[]),
        ("switches", of_switch),
    ] {
        let all = study.get(kind).and_then(toml::Value::as_table);
        for (name, table) in all.into_iter().flatten() {
            if let Some(table) = table.as_table() {
                look(&format!("{kind}.{name}"), table, keys);
            }
        }
    }
    if !study.contains_key("experiment") && !study.contains_key("correlation") {
        missing.push("the study: [[experiment]]".to_owned());
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(StudyError::Missing(missing)),
    }
}

/// What the numbers of a claim are from.
enum Grounds<'a> {
    Experiment(&'a Experiment),
    Correlation(&'a Correlation),
}

impl Grounds<'_> {
    fn source(&self) -> Source {
        match self {
            Grounds::Experiment(experiment) => experiment.source(),
            Grounds::Correlation(_) => Source::Pairs,
        }
    }

    fn values(&self, dimension: Dimension, quick: bool) -> &[String] {
        match self {
            Grounds::Experiment(experiment) => experiment.values(dimension, quick),
            Grounds::Correlation(correlation) => correlation.values(dimension),
        }
    }

    /// That it has `value`, in the quick form or the full one.
    fn check_value(
        &self,
        dimension: Dimension,
        value: &str,
        quick: bool,
    ) -> Result<(), StudyError> {
        let values = self.values(dimension, quick);
        match values.iter().any(|v| v == value) {
            true => Ok(()),
            false => Err(StudyError::NoValue {
                experiment: match self {
                    Grounds::Experiment(experiment) => experiment.id.clone(),
                    Grounds::Correlation(correlation) => correlation.id.clone(),
                },
                dimension: dimension.name(),
                value: value.to_owned(),
                form: if quick { "quick" } else { "full" },
                values: values.to_vec(),
            }),
        }
    }

    /// That enough drives tell, where drives do.
    fn check_drives(&self) -> Result<(), StudyError> {
        let Grounds::Experiment(experiment) = self else {
            return Ok(());
        };
        let drives = experiment.repetitions.full;
        let reason = experiment.few_drives.as_deref();
        if reason.is_some_and(|words| words.trim().is_empty()) {
            return Err(StudyError::NoWords("few_drives"));
        }
        let drives_tell = matches!(self.source(), Source::Runs | Source::Lives);
        match drives_tell && drives < FEWEST_DRIVES && reason.is_none() {
            true => Err(StudyError::FewDrives {
                experiment: experiment.id.clone(),
                drives,
                fewest: FEWEST_DRIVES,
            }),
            false => Ok(()),
        }
    }
}

/// That a number can be made of the points of `from`; `quick` if the quick form has to cover it, as it covers the
/// default point of every claim.
fn check_points(from: &FromPoints, grounds: &Grounds<'_>, quick: bool) -> Result<(), StudyError> {
    grounds.check_drives()?;
    let metrics = from.metrics();
    let mut distinct = metrics.to_vec();
    distinct.sort();
    distinct.dedup();
    let both = from.metric.is_some() && !from.metrics.is_empty();
    if both || metrics.is_empty() || distinct.len() < metrics.len() {
        return Err(StudyError::WhichMetrics);
    }
    for metric in metrics {
        Metric::find(metric, grounds.source())?;
    }
    for (dimension, values) in &from.of {
        for value in values.split('|') {
            grounds.check_value(*dimension, value, quick)?;
        }
    }
    for (dimension, value) in &from.against {
        grounds.check_value(*dimension, value, quick)?;
    }
    if (from.kind == Kind::Value) != from.against.is_empty() {
        return Err(StudyError::Against);
    }
    let several = |dimension: &Dimension| match from.of.get(dimension) {
        Some(values) => values.contains('|'),
        None => grounds.values(*dimension, false).len() > 1,
    };
    match Dimension::ALL.into_iter().find(several) {
        Some(dimension) if from.over == Over::One => Err(StudyError::Several(dimension.name())),
        _ => Ok(()),
    }
}

/// That a claim's phases are there in the full form, the default point among them.
fn check_phases(from: &FromPoints, grounds: &Grounds<'_>) -> Result<(), StudyError> {
    for dimension in from.phases.keys() {
        let one = from.of.get(dimension).filter(|value| !value.contains('|'));
        one.ok_or(StudyError::NoDefault(dimension.name()))?;
    }
    check_values(grounds, &from.phases, &from.of, "phases")
}

/// That the values of `grid` are there in the full form, and the default point's among them.
fn check_values(
    grounds: &Grounds<'_>,
    grid: &BTreeMap<Dimension, Vec<String>>,
    default: &BTreeMap<Dimension, String>,
    of: &'static str,
) -> Result<(), StudyError> {
    for (&dimension, values) in grid {
        if values.is_empty() {
            return Err(StudyError::No(dimension.name()));
        }
        let mut seen = Vec::new();
        for value in values {
            grounds.check_value(dimension, value, false)?;
            once(&mut seen, value, dimension.name())?;
        }
        let apart = |value: &&str| !values.iter().any(|v| v == value);
        let mut chosen = default
            .get(&dimension)
            .into_iter()
            .flat_map(|v| v.split('|'));
        if let Some(value) = chosen.find(apart) {
            return Err(StudyError::DefaultApart {
                of,
                dimension: dimension.name(),
                value: value.to_owned(),
                values: values.clone(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::SMALL;
    use super::*;

    /// A study whose one claim is `claim`, which goes on from its points.
    fn study(claim: &str) -> String {
        let experiments = &SMALL[..SMALL.find("[[claim]]").unwrap()];
        format!("{experiments}[[claim]]\nid = \"p.one\"\nsays = \"one\"\nunit = \"x\"\n{claim}\n")
    }

    /// What the reader says of such a study.
    fn said(claim: &str) -> String {
        match Study::parse("t", &study(claim)) {
            Ok(_) => "ok".to_owned(),
            Err(error) => format!("{error:#}"),
        }
    }

    /// Points of the small study: `b` in `state` against `a`, of `kind`.
    fn points(kind: &str, more: &str) -> String {
        format!(
            "points = {{ experiment = \"one\", kind = \"{kind}\", of = {{ variant = \"b\", age = \"2h\" }}, \
             against = {{ variant = \"a\" }}, {more} }}"
        )
    }

    #[test]
    fn what_bands_are_refused() {
        for (kind, more, ok) in [
            // No effect would pass.
            ("reduction", "band = [0, 20]", "has 0 in it"),
            (
                "reduction",
                "band = [-5, 20]\nwide = \"why\"",
                "has 0 in it",
            ),
            ("increase", "band = [-1, 1]", "has 0 in it"),
            ("ratio", "band = [0.5, 1.2]", "has 1 in it"),
            ("ratio", "band = [0.5, 1]", "has 1 in it"),
            ("ratio", "band = [0.5, 0.99]", "ok"),
            ("reduction", "band = [-1, 1]\nclaims = \"no-effect\"", "ok"),
            ("ratio", "band = [0.9, 1.1]\nclaims = \"no-effect\"", "ok"),
            // It is claimed, and would not pass.
            (
                "reduction",
                "band = [1, 3]\nclaims = \"no-effect\"",
                "has no 0 in it",
            ),
            (
                "ratio",
                "band = [1.1, 1.3]\nclaims = \"no-effect\"",
                "has no 1 in it",
            ),
            (
                "ratio",
                "band = [0.9, 1.1]\nclaims = \"noeffect\"",
                "no-effect",
            ),
            // Nearly everything would pass.
            ("reduction", "band = [10, 30]", "ok"),
            ("reduction", "band = [17.6, 52.8]", "ok"),
            ("reduction", "band = [10, 31]", "wider than a factor of 3"),
            ("reduction", "band = [10, 31]\nwide = \"why\"", "ok"),
            (
                "reduction",
                "band = [10, 31]\nwide = \" \"",
                "`wide` has no words",
            ),
            ("reduction", "band = [-30, -10]", "wider than a factor of 3"),
            (
                "ratio",
                "band = [0.3, 1.1]\nclaims = \"no-effect\"",
                "wider than a factor of 3",
            ),
            ("reduction", "band = [3, 1]", "ends before"),
            (
                "reduction",
                "band = [1, inf]\nwide = \"why\"",
                "ends before",
            ),
        ] {
            let points = points(kind, "metric = \"iops\"");
            let text = said(&format!("published = \"1\"\n{more}\n{points}"));
            let as_said = text.contains(ok)
                && (ok == "ok" || text.contains("claim `p.one`") || ok == "no-effect");
            assert!(as_said, "{kind} {more}: {text}");
        }
        // What is beside has the same rules.
        let also = |band: &str| {
            let points = points("ratio", "metric = \"iops\"");
            let also =
                format!("also = [{{ says = \"and\", unit = \"x\", band = {band}, {points} }}]");
            said(&format!(
                "published = \"2\"\nband = [1.5, 2.5]\n{points}\n{also}"
            ))
        };
        assert_eq!(also("[1.5, 2.5]"), "ok");
        assert!(also("[0.9, 1.1]").contains("has 1 in it"));
        assert!(also("[1.1, 5]").contains("wider than a factor of 3"));
    }

    #[test]
    fn what_claims_are_refused() {
        let iops = points("ratio", "metric = \"iops\"");
        let rest = "band = [1.5, 2.5]\npublished = \"2\"";
        let good = format!("{rest}\n{iops}");
        let open = |open: &str| format!("{good}\nopen = {{ {open} }}");
        for (claim, message) in [
            (good.clone(), "ok"),
            // What would be wrong with it.
            (
                format!("band = [1.5, 2.5]\n{iops}"),
                "`falsified_by` has to say",
            ),
            (
                format!("band = [1.5, 2.5]\nfalsified_by = \"\"\n{iops}"),
                "`falsified_by` has no words",
            ),
            (
                format!("band = [1.5, 2.5]\nfalsified_by = \"less\"\n{iops}"),
                "ok",
            ),
            (format!("falsified_bye = \"less\"\n{good}"), "falsified_bye"),
            // One way of being measured, one verdict.
            (rest.to_owned(), "give one of `points`, `fact`, `input`"),
            (
                format!("input = \"a code\"\n{good}"),
                "give one of `points`, `fact`, `input`",
            ),
            ("input = \"a code\"".to_owned(), "ok"),
            ("input = \"\"".to_owned(), "`input` has no words"),
            (
                "input = \"a code\"\nband = [1, 2]".to_owned(),
                "is not measured has no `band`",
            ),
            ("not_comparable = \"not measured\"".to_owned(), "ok"),
            (format!("not_comparable = \"apart\"\n{good}"), "ok"),
            (format!("fitted = \"a step\"\n{good}"), "ok"),
            (format!("fitted = \"\"\n{good}"), "`fitted` has no words"),
            (
                format!(
                    "before = {{ version = \"0.1.0\", measured = \"1 %\", verdict = \"missed\", why = \" \" }}\n{good}"
                ),
                "`before.why` has no words",
            ),
            (
                format!("fitted = \"a step\"\nnot_comparable = \"apart\"\n{good}"),
                "give one of `fitted`",
            ),
            (format!("published = \"2\"\n{iops}"), "has a `band`"),
            // Metrics.
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metrics = [\"iops\", \"p99_us\"]")
                ),
                "ok",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metrics = [\"iops\", \"p99us\"]")
                ),
                "nearest is `p99_us`",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metrics = [\"iops\", \"iops\"]")
                ),
                "each metric once",
            ),
            (
                format!("{rest}\n{}", points("ratio", "metrics = []")),
                "each metric once",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metric = \"iops\", metrics = [\"p99_us\"]")
                ),
                "each metric once",
            ),
            // One number of several points.
            (
                good.replace(", age = \"2h\"", ""),
                "the points differ in age",
            ),
            (
                good.replace("variant = \"b\"", "variant = \"a|b\""),
                "the points differ in variant",
            ),
            (
                good.replace("age = \"2h\"", "temperature = \"40\""),
                "the points differ in age",
            ),
            // Phases: in the full form, with the default point, which the quick form has.
            (
                format!(
                    "{rest}\n{}",
                    points(
                        "ratio",
                        "metric = \"iops\", phases = { age = [\"2h\", \"28h\"] }"
                    )
                ),
                "ok",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points(
                        "ratio",
                        "metric = \"iops\", phases = { age = [\"2h\", \"30h\"] }"
                    )
                ),
                "no age `30h` in its full form, but 2h, 28h",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metric = \"iops\", phases = { age = [\"28h\"] }")
                ),
                "`phases` has no age `2h`, where the default point is",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points(
                        "ratio",
                        "metric = \"iops\", phases = { age = [\"2h\", \"2h\"] }"
                    )
                ),
                "age `2h` is there twice",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points(
                        "ratio",
                        "metric = \"iops\", phases = { temperature = [\"40\"] }"
                    )
                ),
                "`of` has to name one temperature",
            ),
            (
                format!(
                    "{rest}\n{}",
                    points("ratio", "metric = \"iops\", phases = { agee = [\"2h\"] }")
                ),
                "agee",
            ),
            // What is left open.
            (
                open("sentence = \"long\", grid = { age = [\"2h\", \"28h\"] }"),
                "ok",
            ),
            (open("grid = { age = [\"2h\", \"28h\"] }"), "sentence"),
            (
                open("sentence = \" \", grid = { age = [\"2h\", \"28h\"] }"),
                "`open.sentence` has no words",
            ),
            (
                open("sentence = \"long\", grid = { age = [\"2h\"] }"),
                "fewer than two choices",
            ),
            (
                open("sentence = \"long\", grid = { age = [\"28h\", \"3h\"] }"),
                "no age `3h` in its full form",
            ),
            (
                open(
                    "sentence = \"long\", experiment = \"on\", grid = { age = [\"2h\", \"28h\"] }",
                ),
                "no experiment `on`; the nearest is `one`",
            ),
            (
                format!(
                    "fitted = \"a step\"\n{}",
                    open("sentence = \"long\", grid = { age = [\"2h\", \"28h\"] }")
                ),
                "`open` with none of them",
            ),
        ] {
            let text = said(&claim);
            assert!(text.contains(message), "{claim}\n{text}");
        }
    }

    /// Few drives tell little: a claim takes five, or the reason why there are fewer.
    #[test]
    fn what_drives_a_claim_takes() {
        let few = SMALL.replacen("full = 5, quick = 1", "full = 4, quick = 1", 1);
        assert_ne!(few, SMALL);
        let error = format!("{:#}", Study::parse("t", &few).unwrap_err());
        assert!(
            error.contains("claim `t.same`: experiment `one` has 4 drives"),
            "{error}"
        );
        assert!(error.contains("a claim takes 5"), "{error}");
        let why = |words: &str| {
            few.replacen(
                "quick = { age",
                &format!("few_drives = \"{words}\"\nquick = {{ age"),
                1,
            )
        };
        assert!(Study::parse("t", &why("each takes a day")).is_ok());
        assert!(Study::parse("t", &why("")).is_err());
        // Without a claim there is nothing to refuse.
        assert!(Study::parse("t", &few[..few.find("[[claim]]").unwrap()]).is_ok());
    }
}
