//! Margins of the code in the last step of a read, and the shortest safe sense. Computed from the
//! cells of a population of chips, without a run.

use firstread_drive::tables;
use firstread_ecc::Code;
use firstread_nand::SenseError;
use firstread_nand::sensing::{Bench, EndsWith, SensingRule};
use serde_json::{Map, Value};

use super::dimension::Dimension;
use super::error::StudyError;
use super::metric::{self, Margin};
use super::plan::{self, Coordinates};
use super::points::Points;
use super::sample::Sample;
use super::sample::pages::LIMIT;
use super::spec::{Cells, Experiment, Study};
use crate::conditions::{parse_age, parse_celsius, parse_pe_cycles, single};
use crate::drive_profile::profile;
use crate::error::Error;
use crate::parallel;

/// A population: of a variant's chips, at a temperature.
#[derive(Debug)]
pub struct Population<'a> {
    experiment: &'a Experiment,
    cells: Cells,
    at: Vec<Coordinates>,
    seed: u64,
    quick: bool,
}

/// The populations whose cells `study` measures; `only` of these experiments, or of all where it is empty.
pub fn populations<'a>(study: &'a Study, only: &[String], quick: bool) -> Vec<Population<'a>> {
    let mut jobs: Vec<Population<'_>> = Vec::new();
    for experiment in &study.experiments {
        let Some(cells) = experiment
            .cells
            .filter(|_| plan::chosen(only, &experiment.id))
        else {
            continue;
        };
        let first = jobs.len();
        for seed in 1..=experiment.repetitions.of(quick) {
            for at in Coordinates::all(experiment, quick) {
                let alike = |job: &&mut Population<'_>| {
                    // A sample has nothing that its conditions could share.
                    if cells.sample.is_some() {
                        return false;
                    }
                    let same = |d| job.at.iter().all(|other| other.get(d) == at.get(d));
                    job.seed == seed && same(Dimension::Variant) && same(Dimension::Temperature)
                };
                match jobs[first..].iter_mut().find(alike) {
                    Some(job) => job.at.push(at),
                    None => jobs.push(Population {
                        experiment,
                        cells,
                        at: vec![at],
                        seed,
                        quick,
                    }),
                }
            }
        }
    }
    jobs
}

/// Measures `populations` of `study`, and adds a point of each in each of its conditions to `points`. `done` is
/// called after each.
///
/// # Errors
/// [`Error`] of the first whose chips are not there or cannot be in its condition, with its experiment.
pub fn measure(
    study: &Study,
    populations: &[Population<'_>],
    threads: Option<u16>,
    points: &mut Points,
    done: &(dyn Fn() + Sync),
) -> Result<(), Error> {
    let measured = parallel::each(populations, threads, |job| {
        let metrics = one(study, job);
        done();
        metrics.map_err(|error| error.of(format!("experiment `{}`", job.experiment.id)))
    })?;
    for (job, all) in populations.iter().zip(measured) {
        for (at, metrics) in job.at.iter().zip(all) {
            points.add(&job.experiment.id, at.clone(), metrics);
        }
    }
    Ok(())
}

/// The metrics of `job` in each of its conditions.
fn one(study: &Study, job: &Population<'_>) -> Result<Vec<Map<String, Value>>, Error> {
    let Some(any) = job.at.first() else {
        return Ok(Vec::new());
    };
    let name = any.get(Dimension::Variant);
    let variant = &study.variants[name];
    let profile = plan::overrides(variant)
        .and_then(|overrides| profile(&variant.drive, &overrides))
        .map_err(|error| error.of(format!("variant `{name}`")))?;
    let cells = profile.cells;
    if !cells.have_voltages() {
        return Err(StudyError::NoVoltages(name.to_owned(), cells.name()).into());
    }
    let celsius = parse_celsius(any.get(Dimension::Temperature))?;
    let state = |at: &Coordinates| {
        let age = single(parse_age, at.get(Dimension::Age))?;
        let wear = single(parse_pe_cycles, at.get(Dimension::PeCycles))?;
        Ok::<_, Error>((wear, age))
    };
    if let Some(n) = job.cells.sample {
        let wanted = study.metrics_of(job.experiment);
        let n = u32::try_from(n.of(job.quick)).unwrap_or(u32::MAX);
        let limit = job.cells.limit.unwrap_or(LIMIT);
        let sampled = |at: &Coordinates| {
            let (wear, age) = state(at)?;
            let condition = (wear, age, celsius);
            Sample::new(profile.clone(), condition, job.seed, n, limit).metrics(&wanted)
        };
        return job.at.iter().map(sampled).collect();
    }
    let code = Code::named(&profile.ecc.code)?;
    let code = tables::strength(&code);
    let rule = SensingRule {
        chips: job.cells.chips,
        wordlines: job.cells.wordlines,
        ..SensingRule::DEFAULT
    };
    let bench = Bench::new(&profile.chip, profile.mode, celsius, code, &rule, job.seed)?
        .ok_or_else(|| StudyError::NoMode(profile.mode.name()))?;
    let condition = |at: &Coordinates| {
        let (wear, age) = state(at)?;
        let margin = || -> Result<Margin, SenseError> {
            let population = bench.aged(wear, age)?;
            let safe = population.safe(EndsWith::Best)?;
            let walk_safe = population.safe(EndsWith::First)?;
            Ok(Margin {
                capability_bits: code.capability_bits,
                best: population.last_step(EndsWith::Best),
                walk: population.last_step(EndsWith::First),
                safe,
                cut_percent: bench.cut_percent(safe)?,
                walk_cut_percent: bench.cut_percent(walk_safe)?,
                walk_retries: population.mean_retries(),
                goes_on: population.goes_on(safe)?,
            })
        };
        Ok(metric::of_margin(&margin()?))
    };
    job.at.iter().map(condition).collect()
}

#[cfg(test)]
mod tests {
    use firstread_core::sensing::{AGES_H, SensingTable, TEMPERATURES_C, WEARS_PE};

    use super::super::STUDIES;
    use super::*;

    /// Measures `study`, `only` some of it.
    fn measured(
        study: &Study,
        only: &[String],
        quick: bool,
        threads: Option<u16>,
        points: &mut Points,
    ) -> Result<(), Error> {
        let populations = populations(study, only, quick);
        measure(study, &populations, threads, points, &|| {})
    }

    /// What a shipped study shows of safe senses is what the shipped tables say, where both have the
    /// condition: the first population is the one that the tables are made from.
    #[test]
    fn golden_what_is_shown_is_what_drives_go_by() {
        let (name, text) = STUDIES.iter().find(|(n, _)| *n == "pr2-ar2").unwrap();
        let mut study = Study::parse(name, text).unwrap();
        for experiment in &mut study.experiments {
            experiment.repetitions.full = 1;
        }
        let only = ["safe-senses".to_owned()];
        let mut points = Points::default();
        measured(&study, &only, false, None, &mut points).unwrap();
        let table = |name: &str| -> SensingTable {
            let variant = &study.variants[name];
            let overrides = plan::overrides(variant).unwrap();
            let profile = profile(&variant.drive, &overrides).unwrap();
            let code = Code::named(&profile.ecc.code).unwrap();
            tables::sensing(&profile, profile.mode, &code).unwrap()
        };
        let mut compared = 0;
        for at in points.of_experiment("safe-senses") {
            let of = |metric| points.values("safe-senses", at, metric).unwrap()[0];
            let celsius: i16 = at.get(Dimension::Temperature).parse().unwrap();
            let pe: u32 = at.get(Dimension::PeCycles).parse().unwrap();
            let age = parse_age(at.get(Dimension::Age)).unwrap().high;
            assert!(TEMPERATURES_C.contains(&celsius) && WEARS_PE.contains(&pe));
            assert!(
                AGES_H
                    .iter()
                    .any(|&h| firstread_core::Ns::from_h(h.into()) == age)
            );
            let table = table(at.get(Dimension::Variant));
            let safe = table.safe(celsius, pe, age);
            assert_eq!(
                of("safe_pre_permille"),
                f64::from(safe.pre_permille),
                "{at:?}"
            );
            assert_eq!(of("safe_extra_bits"), f64::from(safe.extra_bits), "{at:?}");
            assert_eq!(of("capability_bits"), f64::from(table.capability_bits));
            compared += 1;
        }
        let all = TEMPERATURES_C.len() * WEARS_PE.len() * AGES_H.len();
        assert_eq!(
            compared,
            2 * all,
            "two chips in every condition of their tables"
        );
    }

    /// Cells are measured in the conditions asked for, a point a population, and only what is chosen.
    #[test]
    fn model_margins_of_a_small_study() {
        let study = Study::parse("t", SMALL).unwrap();
        let mut points = Points::default();
        measured(&study, &["other".to_owned()], false, None, &mut points).unwrap();
        assert_eq!(points.of_experiment("margins").count(), 0);
        measured(&study, &[], false, Some(2), &mut points).unwrap();
        let all: Vec<&Coordinates> = points.of_experiment("margins").collect();
        assert_eq!(all.len(), 4);
        let of = |at: &Coordinates, metric| points.values("margins", at, metric).unwrap();
        for at in &all {
            let worst = of(at, "rare_codeword_bits");
            assert_eq!(worst.len(), 2, "two populations");
            assert_ne!(worst[0], worst[1], "each of its own chips");
            // A walk ends with the first entry that reads the page, and so with no better one than the best.
            for (walk, best) in [
                ("walk_mean_codeword_bits", "mean_codeword_bits"),
                ("walk_rare_codeword_bits", "rare_codeword_bits"),
                ("safe_cut_percent", "walk_safe_cut_percent"),
            ] {
                let pairs = of(at, walk).into_iter().zip(of(at, best));
                assert!(
                    pairs.into_iter().all(|(more, less)| more >= less),
                    "{at:?}: {walk}"
                );
            }
            let goes_on = of(at, "goes_on_percent");
            assert!(
                goes_on.iter().all(|share| (0.0..=100.0).contains(share)),
                "{at:?}"
            );
            let retries = of(at, "walk_retries");
            assert!(retries.iter().all(|n| (0.0..64.0).contains(n)), "{at:?}");
            let other = [(Dimension::Age, "93d".to_owned())];
            let older = of(&at.with(&other.into()), "rare_codeword_bits");
            let young = at.get(Dimension::Age) == "1d";
            assert!(
                !young || older[0] > worst[0] && older[1] > worst[1],
                "{at:?}"
            );
        }
        let quick = {
            let mut points = Points::default();
            measured(&study, &[], true, None, &mut points).unwrap();
            points
        };
        let at = quick.of_experiment("margins").next().unwrap();
        assert_eq!(quick.of_experiment("margins").count(), 2);
        let first: Value = of(at, "mean_codeword_bits")[0].into();
        assert_eq!(
            quick.values("margins", at, "mean_codeword_bits").unwrap(),
            [first.as_f64().unwrap()]
        );
    }

    /// A study of cells alone.
    const SMALL: &str = include_str!("cells.toml");

    #[test]
    fn what_is_refused_of_cells() {
        for (from, to, message) in [
            ("cells =", "sells =", "sells"),
            ("chips = 4", "chip = 4", "chip"),
            ("chips = 4", "chips = 0", "nothing to measure"),
            (
                "cells = {",
                "unpowered = [\"1h\"]\ncells = {",
                "have no `unpowered`",
            ),
            ("cells = {", "workloads = [\"w\"]\ncells = {", "or `cells`"),
            (
                "cells = {",
                "requests = { full = 1, quick = 1 }\ncells = {",
                "or `cells`",
            ),
            (
                "[\"rare_codeword_bits\"]",
                "[\"mean_us\"]",
                "`mean_us` is a metric of runs, and the points here are cells",
            ),
            (
                "\"capability_bits\"",
                "\"capability_bit\"",
                "nearest is `capability_bits`",
            ),
            ("log_x = true", "rows = \"age\"", "not all different"),
            (
                "log_x = true",
                "log_x = true, across = true",
                "has no `rows`",
            ),
            (
                "log_x = true",
                "log_x = true, along = \"mean_codeword_bits\"",
                "`along` a metric has no",
            ),
            (
                "log_x = true",
                "along = \"time\"",
                "`along` the time has `y",
            ),
            (
                "log_x = true",
                "along = \"mean_codeword_bit\"",
                "nearest is `mean_codeword_bits`",
            ),
            ("log_x = true", "log = true, same_y = true", "no zero"),
            ("log_x = true", "logx = true", "logx"),
            (
                "age = [\"1d\",",
                "age = [\"soon\",",
                "age `soon` has no place",
            ),
            ("age = [\"1d\",", "age = [\"0\",", "age `0` has no place"),
            (
                "age = [\"1d\",",
                "age = [\"1d..7d\",",
                "`1d..7d` has no place",
            ),
            (
                "x = \"age\"",
                "x = \"variant\"",
                "variant `tlc` has no place",
            ),
            ("[\"1d\", \"93d\"]", "[]", "no age"),
            (
                "quick = {",
                "quick = { workload = [\"w\"],",
                "no `workload`",
            ),
        ] {
            assert!(SMALL.contains(from), "{from}");
            let error = Study::parse("t", &SMALL.replacen(from, to, 1)).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains(message) && text.starts_with("t: "), "{text}");
        }
        for (from, to, message) in [
            ("age = [\"1d\",", "age = [\"soon\",", "soon"),
            ("\"55\"]", "\"warm\"]", "warm"),
            ("pe_cycles = [\"500\"]", "pe_cycles = [\"some\"]", "some"),
            (
                "age = [\"1d\",",
                "age = [\"1d..7d\",",
                "`1d..7d` is a range",
            ),
            (
                "pe_cycles = [\"500\"]",
                "pe_cycles = [\"0..3000\"]",
                "`0..3000` is a range",
            ),
            ("drive = \"tlc-48l\"", "drive = \"tlc-48\"", "tlc-48"),
        ] {
            // An axis of another kind takes any text.
            let text = SMALL.replacen(", log_x = true", "", 1);
            assert!(text.contains(from), "{from}");
            let study = Study::parse("t", &text.replacen(from, to, 1)).unwrap();
            let mut points = Points::default();
            let error = measured(&study, &[], false, None, &mut points).unwrap_err();
            let text = format!("{error:#}");
            assert!(
                text.contains(message) && text.contains("`margins`"),
                "{text}"
            );
        }
    }
}
