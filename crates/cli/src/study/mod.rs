//! `firstread study`: a paper's evaluation repeated, claim by claim.
//!
//! - [`spec`]: a study as it is written. [`plan`]: the simulations it comes to.
//! - [`correlation`], [`margin`]: what the cells alone tell.
//! - [`metric`]: the numbers of a point. [`points`]: those of all, and their means over drives. [`fact`]: what
//!   needs no run. [`measure`]: verdicts.
//! - [`figures`], [`report`]: what is shown.

mod correlation;
mod dimension;
mod fact;
mod figures;
mod margin;
mod measure;
mod metric;
mod plan;
mod points;
mod report;
mod spec;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use firstread_drive::Ended;
use firstread_session::{
    Matrix, Outcome, Progress, Results, Store, Unknown, Watch, files, is_path, profile, results,
};
use indicatif::ProgressBar;
use serde_json::{Map, Value};

use crate::args::Usage;
use crate::output::format::{Side, table};
use crate::progress::Bars;
use crate::streams::{data, notice};
use fact::Fact;
use plan::{Inputs, Point};
use points::Points;
use spec::Study;

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread study ct-qlc --quick --out ct-qlc
      every claim of the CT-QLC paper at lower precision, in minutes; open ct-qlc/report.html
  firstread study ct-qlc --out ct-qlc --traces traces
      the full form; run the command again after an interruption and it goes on
  firstread study ct-qlc --only fig12,fig14 --out ct-qlc
  firstread study mine.toml --out mine
      a study of your own: drives, states, workloads, schemes and claims

The folder gets report.html (no network needed), README.md (the table of claims), results.json,
claims.csv, points.csv, cells.csv (what is measured without a run), figures/ (SVG and PNG) and
points/ (each simulation's whole result).

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong.";

macro_rules! studies {
    ($($name:literal),*) => {
        /// Shipped studies: name and text.
        const STUDIES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../../studies/", $name, "/study.toml")))),*
        ];
    };
}

studies!["ct-qlc", "pr2-ar2"];

/// Repeat a paper's evaluation: simulations, figures, and a verdict on every claim
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct StudyArgs {
    /// A shipped study (`firstread list studies`), the path of a study, or `all`
    #[arg(value_name = "NAME|FILE|all")]
    study: String,
    /// Fewer requests, drives and points: every claim at lower precision
    #[arg(long)]
    quick: bool,
    /// Folder of the results; what it holds of the same study is not run again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// These experiments and correlations alone
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    only: Vec<String>,
    /// Folder of the traces that the study names
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// A study with its name.
struct Named {
    name: String,
    study: Study,
}

/// Names and titles of the shipped studies.
pub fn shipped() -> Result<Vec<Vec<String>>> {
    let row =
        |(name, text): &(&str, &str)| Ok(vec![(*name).to_owned(), Study::parse(name, text)?.title]);
    STUDIES.iter().map(row).collect()
}

/// Title of the shipped study called `name`.
pub fn title(name: &str) -> Result<Option<String>> {
    let shipped = STUDIES.iter().find(|(n, _)| *n == name);
    let title = |(name, text): &(&str, &str)| Ok(Study::parse(name, text)?.title);
    shipped.map(title).transpose()
}

/// Runs the command.
pub fn study(args: &StudyArgs) -> Result<()> {
    let studies = find(&args.study)?;
    let one = studies.len() == 1;
    for named in &studies {
        check_only(args, named)?;
    }
    for named in &studies {
        let folder = match one {
            true => args.out.clone(),
            false => args.out.join(&named.name),
        };
        run(args, named, &folder)?;
    }
    Ok(())
}

fn find(name: &str) -> Result<Vec<Named>> {
    let named = |name: &str, text: &str| {
        Ok(Named {
            name: name.to_owned(),
            study: Study::parse(name, text)?,
        })
    };
    if name == "all" {
        return STUDIES
            .iter()
            .map(|(name, text)| named(name, text))
            .collect();
    }
    if let Some((_, text)) = STUDIES.iter().find(|(n, _)| *n == name) {
        return Ok(vec![named(name, text)?]);
    }
    if is_path(name) {
        let path = Path::new(name);
        let study = Study::parse(name, &files::read_text(path)?)?;
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name);
        return Ok(vec![Named {
            name: stem.to_owned(),
            study,
        }]);
    }
    Err(Unknown::new("study", name, STUDIES.iter().map(|(n, _)| *n)).into())
}

fn check_only(args: &StudyArgs, named: &Named) -> Result<()> {
    let ids = named.study.ids();
    match args.only.iter().find(|id| !ids.contains(&id.as_str())) {
        Some(id) => Err(Unknown::new("experiment", id, ids.into_iter()).into()),
        None => Ok(()),
    }
}

fn run(args: &StudyArgs, named: &Named, folder: &Path) -> Result<()> {
    let Named { name, study } = named;
    let inputs = Inputs::open(study, args.traces.as_deref())?;
    for (workload, why) in &inputs.absent {
        notice(&format!("{name}: left out `{workload}`: {why}"));
    }
    let (points, absent) = plan::points(study, &inputs, &args.only, args.quick)?;
    let facts = facts(study)?;
    let mut of_cells = study.of_cells();
    if points.is_empty() && !of_cells.any(|id| plan::chosen(&args.only, id)) {
        return Err(Usage("nothing of the study can run".into()).into());
    }
    // Before anything is measured: the folder may not be writable, or another study's.
    let store = Store::open(folder, "study", name)?;
    let mut measured = Points::default();
    let correlations = correlation::measure(study, &args.only, &mut measured)?;
    margin::measure(study, &args.only, args.quick, args.threads, &mut measured)?;
    let results = simulate_all(args, &store, &points)?;
    for (i, point) in points.iter().enumerate() {
        let metrics = results.of(i).values.clone();
        measured.add(&point.experiment.id, point.at.clone(), metrics);
    }
    let known = measure::Known {
        absent: &absent,
        facts: &facts,
    };
    let verdicts = measure::judge(study, &measured, &known);
    let done = report::Done {
        name,
        study,
        quick: args.quick,
        points: &points,
        simulations: results.simulations(),
        correlations: &correlations,
        measured: &measured,
        verdicts: &verdicts,
    };
    files::write(folder, &report::pages(&done)?)?;
    data(&summary(&done))?;
    eprintln!(
        "{} simulations, {:.0} s of them on one core; {}",
        results.simulations(),
        results.wall_s(),
        folder.join("report.html").display()
    );
    Ok(())
}

/// The claims about drives as they are.
fn facts(study: &Study) -> Result<BTreeMap<String, f64>> {
    let mut facts = BTreeMap::new();
    for claim in &study.claims {
        let Some(from) = &claim.fact else {
            continue;
        };
        let fact = Fact::find(&from.name).map_err(anyhow::Error::msg)?;
        let of = |name: &str| {
            let variant = &study.variants[name];
            let place = || format!("variant `{name}`");
            let overrides = plan::overrides(variant).with_context(place)?;
            let profile = profile(&variant.drive, &overrides).with_context(place)?;
            fact.value(&profile)?
                .with_context(|| format!("claim `{}`: variant `{name}` keeps no tables", claim.id))
        };
        let mut value = of(&from.variant)?;
        if let Some(over) = &from.over {
            value = of(over)? / value;
        }
        facts.insert(claim.id.clone(), value);
    }
    Ok(facts)
}

/// The results of `points`: those that `store` has not are simulated.
fn simulate_all(args: &StudyArgs, store: &Store, points: &[Point<'_>]) -> Result<Results> {
    let points: Vec<_> = points.iter().map(|point| point.run.clone()).collect();
    let matrix = |watch| Matrix {
        points: &points,
        threads: args.threads,
        watch,
    };
    let bars = Bars::default();
    let all = bars.whole(matrix(&()).simulations() as u64);
    let watch = Simulations { bars, all };
    let results = matrix(&watch).kept(store, metrics);
    watch.all.finish_and_clear();
    let results = results?;
    if results.were_there > 0 {
        notice(&format!(
            "{} of {} simulations were there already",
            results.were_there,
            results.simulations()
        ));
    }
    Ok(results)
}

/// The metrics of a run. What a drive did until it failed is not comparable with what others did to the end.
fn metrics(outcome: &Outcome) -> Map<String, Value> {
    match outcome.stats.ended {
        Ended::Completed => metric::all(metric::RUNS, outcome),
        Ended::EndOfLife(_) => Map::new(),
    }
}

/// Bars of the simulations of a study.
struct Simulations {
    bars: Bars,
    all: ProgressBar,
}

impl Watch for Simulations {
    fn begin<'a>(&'a self, point: &firstread_session::Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.bars.begin(point)
    }

    fn done(&self, point: &firstread_session::Point, ended: &str) {
        if ended != results::ended(Ended::Completed) {
            let label = &point.label;
            notice(&format!("{label}: left out: its drive ended with {ended}"));
        }
        self.all.inc(1);
    }
}

/// The claims at a glance.
fn summary(done: &report::Done<'_>) -> String {
    let mut rows = vec![
        ["claim", "published", "measured", "band", "verdict"]
            .map(String::from)
            .to_vec(),
    ];
    for verdict in done.verdicts {
        let row = report::row(verdict);
        rows.push(vec![
            row.id,
            row.published,
            row.measured,
            row.band,
            row.verdict,
        ]);
    }
    let sides = [
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Left,
    ];
    let count = |what| done.verdicts.iter().filter(|v| v.verdict == what).count();
    format!(
        "{}\n\n{}\n{} reproduced, {} missed, {} not comparable\n",
        done.study.title,
        table("  ", &sides, &rows),
        count("reproduced"),
        count("missed"),
        count("not-comparable"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A study that is whole and small.
    pub const SMALL: &str = include_str!("small.toml");

    #[test]
    fn smoke_shipped_studies_are_whole() {
        for (name, text) in STUDIES {
            let study = Study::parse(name, text).unwrap();
            let inputs = Inputs::open(&study, None).unwrap();
            for quick in [false, true] {
                let (points, _) = plan::points(&study, &inputs, &[], quick).unwrap();
                let mut files: Vec<String> = points.iter().map(|p| p.run.name.clone()).collect();
                files.sort();
                files.dedup();
                assert_eq!(files.len(), points.len(), "{name}: a file a point");
            }
            assert_eq!(
                facts(&study).unwrap().len(),
                study.claims.iter().filter(|c| c.fact.is_some()).count()
            );
        }
    }

    /// A shipped study says itself which schemes its drives have where a drive's default may change.
    #[test]
    fn smoke_shipped_studies_name_the_schemes_of_their_drives() {
        for (name, text) in STUDIES {
            for (variant, v) in &Study::parse(name, text).unwrap().variants {
                for axis in ["suspend", "wear", "recovery", "gc_victim"] {
                    let of_axis = |s: &&String| s.split_once('=').is_some_and(|(a, _)| a == axis);
                    let named = v.schemes.iter().filter(of_axis).count();
                    assert_eq!(named, 1, "{name}: variant {variant}: {axis}");
                }
            }
        }
    }

    /// What a study has for all its variants gives way to what a variant has itself.
    #[test]
    fn formula_variants_have_what_the_study_has_for_all() {
        let common = "schemes = [\"gc_victim=d-choices\", \"wear=static\"]\n\
                      set = [\"wear.spread=7P/E\", \"capacity=1GiB\"]\n";
        let own = SMALL.replacen(
            "schemes = [\"gc_victim=greedy\"]",
            "schemes = [\"gc_victim=greedy\"]\nset = [\"capacity=2GiB\"]",
            1,
        );
        let study = Study::parse("t", &format!("{common}{own}")).unwrap();
        let drive = |name: &str| {
            let variant = &study.variants[name];
            profile(&variant.drive, &plan::overrides(variant).unwrap()).unwrap()
        };
        let scheme = |name: &str, axis| drive(name).scheme(axis).unwrap().scheme.name;
        assert_eq!(scheme("a", "gc_victim"), "d-choices");
        assert_eq!(scheme("b", "gc_victim"), "greedy");
        for (name, gib) in [("a", 1), ("b", 2)] {
            assert_eq!(scheme(name, "wear"), "static");
            assert_eq!(
                drive(name).scheme("wear").unwrap().values().get("spread"),
                7
            );
            assert_eq!(drive(name).capacity_bytes, gib << 30);
        }
        // A name that is wrong is said wherever it stands.
        let wrong = format!("schemes = [\"waer=static\"]\n{SMALL}");
        let study = Study::parse("t", &wrong).unwrap();
        let error = plan::overrides(&study.variants["a"])
            .and_then(|set| Ok(profile("bench-4g", &set)?))
            .unwrap_err();
        assert!(
            format!("{error:#}").contains("nearest is `wear`"),
            "{error:#}"
        );
    }

    #[test]
    fn what_is_refused() {
        for (from, to, message) in [
            (
                "variants = [\"a\", \"b\"]",
                "variants = [\"a\", \"c\"]",
                "no variant `c`",
            ),
            (
                "metric = \"iops\"",
                "metric = \"ipos\"",
                "nearest is `iops`",
            ),
            (
                "experiment = \"one\"",
                "experiment = \"on\"",
                "nearest is `one`",
            ),
            ("title =", "titel =", "titel"),
            ("band = [0, 1]", "band = [2, 1]", "ends before"),
            (
                "of = { variant = \"b\" }",
                "of = { variant = \"b\", age = \"3h\" }",
                "no age `3h`",
            ),
            ("kind = \"ratio\"", "kind = \"value\"", "others have none"),
            ("full = 1000,", "full = 0,", "nothing to run"),
        ] {
            assert!(SMALL.contains(from), "{from}");
            let error = Study::parse("t", &SMALL.replacen(from, to, 1)).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains(message) && text.starts_with("t: "), "{text}");
        }
    }
}
