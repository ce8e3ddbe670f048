//! `firstread study`: an evaluation, of a paper or of one's own, claim by claim.
//!
//! The study itself is in `firstread_session::study`.
//!
//! - [`correlation`], [`figures`]: pictures. [`claims`]: verdicts in words. [`report`]: pages. [`tension`]: which rows hold together.

mod claims;
mod correlation;
mod figures;
mod prose;
mod report;
mod switches;
mod tension;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use firstread_drive::Ended;
use firstread_session::life::{LifeProgress, Until};
use firstread_session::study::correlation::Measured;
use firstread_session::study::plan::{self, Inputs, Point};
use firstread_session::study::points::Points;
use firstread_session::study::spec::Study;
use firstread_session::study::{
    NEW, Named, STUDIES, facts, find, margin, metric, sources, verdict,
};
use firstread_session::{Matrix, Progress, Results, Store, Unknown, Watch, files, results, study};
use indicatif::ProgressBar;

use crate::args::{Interrupted, Usage};
use crate::interrupt;
use crate::matrix::kept;
use crate::progress::Bars;
use crate::streams::{data, notice, tell};

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread study ct-qlc --quick --out ct-qlc
      every claim of the CT-QLC paper at lower precision, in minutes; open ct-qlc/report.html
  firstread study dwr --quick --drives 5 --out dwr
      the requests of the quick form, over five drives: its figures with intervals
  firstread study ct-qlc --out ct-qlc --traces traces
      the full form; run the command again after an interruption and it goes on
  firstread study ct-qlc --only fig12,fig14 --out ct-qlc
  firstread study ct-qlc --tension --quick --out tension
      which rows hold together on one chip: its open numbers are drawn again and again from the
      ranges of their evidence, by the plan in studies/ct-qlc/tension.toml (docs/tension.md)
  firstread study --new mine.toml
      a study of your own to begin with: commented, and runs as it is (docs/studies.md)
  firstread study mine.toml --quick --out mine

The folder gets report.html (no network needed), README.md (the table of claims), results.json,
claims.csv, points.csv, cells.csv (what is measured without a run), figures/ (SVG and PNG) and
points/ (each simulation's whole result). With --tension it gets tension.json, tension.csv (draw by
row), tension.svg and tension.png, cells/ (what the cells say of each draw) and points/.

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong, 130 when it was
interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: the folder keeps every simulation that
had ended, and the same command goes on. A simulation is found by all that made it,
this program included.";

/// Run an evaluation: simulations, figures, and a verdict on every claim
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct StudyArgs {
    /// A shipped study (`firstread list studies`), the path of a study, or `all`
    #[arg(value_name = "NAME|FILE|all", required_unless_present = "new")]
    study: Option<String>,
    /// Write a study of your own to begin with, commented, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["study", "quick", "drives", "out", "only", "traces", "threads", "tension", "draws"])]
    new: Option<PathBuf>,
    /// Use fewer requests, drives and points: every claim, at lower precision
    #[arg(long)]
    quick: bool,
    /// Drives of each experiment, with seeds from 1 up, instead of the study's own number; those that say why they have
    /// few (`few_drives`) keep it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    drives: Option<u16>,
    /// Folder of the results; points of the same study that it already holds are not run again
    #[arg(long, value_name = "DIR", required_unless_present = "new")]
    out: Option<PathBuf>,
    /// Run only these experiments and correlations
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    only: Vec<String>,
    /// Ask which rows hold together on one chip, by the plan of the study (`tension.toml` beside it): what the cells leave
    /// possible is simulated, and the rest of the study is not run
    #[arg(long)]
    tension: bool,
    /// Draws of --tension, instead of the plan's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    draws: Option<u16>,
    /// Folder of the traces that the study names
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
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

pub fn study(args: &StudyArgs) -> Result<()> {
    if let Some(file) = &args.new {
        return new(file);
    }
    let (Some(given), Some(out)) = (&args.study, &args.out) else {
        return Err(Usage("name a study, and a folder with --out".into()).into());
    };
    tension::check(args)?;
    let mut studies = find(given)?;
    for named in &mut studies {
        if let Some(drives) = args.drives {
            named.study.over_drives(drives);
        }
    }
    let one = studies.len() == 1;
    for named in &studies {
        check_only(args, named)?;
    }
    for named in &studies {
        let folder = match one {
            true => out.clone(),
            false => out.join(&named.name),
        };
        match args.tension {
            true => tension::run(args, named, &folder)?,
            false => run(args, named, &folder)?,
        }
    }
    Ok(())
}

/// Writes a study to begin with.
fn new(file: &Path) -> Result<()> {
    if file.exists() {
        anyhow::bail!(
            "{} is there already, and is not written over",
            file.display()
        );
    }
    let (folder, name) = (file.parent().unwrap_or(Path::new("")), file.file_name());
    let Some(name) = name.and_then(|name| name.to_str()) else {
        return Err(Usage(format!("{} is no file name", file.display())).into());
    };
    let name = name.to_owned();
    let stem = name.strip_suffix(".toml").unwrap_or(&name);
    let path = file.display().to_string();
    let text = NEW.replace(
        "study FILE --quick --out results",
        &format!("study {path} --quick --out {stem}"),
    );
    let text = text.replace(
        "open results/report.html",
        &format!("open {stem}/report.html"),
    );
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    files::write(folder, &[(name.clone().into(), text.into_bytes())])?;
    data(&format!(
        "{path} is written; it runs as it is:\n  firstread study {path} --quick --out {stem}\n"
    ))
}

fn check_only(args: &StudyArgs, named: &Named) -> Result<()> {
    let ids = named.study.ids();
    match args.only.iter().find(|id| !ids.contains(&id.as_str())) {
        Some(id) => Err(Unknown::new("experiment", id, ids.into_iter()).into()),
        None => Ok(()),
    }
}

fn run(args: &StudyArgs, named: &Named, folder: &Path) -> Result<()> {
    let Named { given, name, study } = named;
    let inputs = Inputs::open(study, args.traces.as_deref())?;
    for (workload, why) in &inputs.absent {
        notice(&format!("{name}: left out `{workload}`: {why}"));
    }
    let (points, absent) = plan::points(study, &inputs, &args.only, args.quick)?;
    let facts = facts(study)?;
    let said = sources::said(study)?;
    let mut of_cells = study.of_cells();
    if points.is_empty() && !of_cells.any(|id| plan::chosen(&args.only, id)) {
        return Err(Usage("nothing of the study can run".into()).into());
    }
    // Before anything is measured: the folder may not be writable, or another study's.
    let store = kept::store(Some(folder), "study", name)?;
    let mut measured = Points::default();
    let correlations = correlations(args, study, &mut measured)?;
    margins(args, study, &mut measured)?;
    let results = simulate_all(args, &store, &points)?;
    let (finished, all) = (results.finished(), results.simulations());
    if finished < all {
        let folder = folder.display();
        let text = format!(
            ": {finished} of {all} simulations are in {folder}; the same command goes on from there"
        );
        return Err(Interrupted(text).into());
    }
    for (i, point) in points.iter().enumerate() {
        // Those that are interrupted ended the study above.
        if let Some(kept) = results.of(i) {
            let metrics = kept.values.clone();
            measured.add(&point.under, point.at.clone(), metrics);
        }
    }
    let known = verdict::Known {
        absent: &absent,
        facts: &facts,
        said: &said,
        quick: args.quick,
    };
    let verdicts = verdict::judge(study, &measured, &known);
    let done = report::Done {
        name,
        given,
        study,
        quick: args.quick,
        drives: args.drives,
        points: &points,
        simulations: results.simulations(),
        correlations: &correlations,
        measured: &measured,
        verdicts: &verdicts,
    };
    store.write(&report::pages(&done)?)?;
    for (id, why) in report::without_numbers(&done) {
        notice(&format!("{name}: experiment `{id}`: {why}"));
    }
    match verdicts.is_empty() {
        true => data(&report::tables(&done))?,
        false => data(&claims::summary(&study.title, &verdicts))?,
    }
    tell(&format!(
        "{} simulations, {:.0} s of them on one core; {}",
        results.simulations(),
        results.wall_s(),
        folder.join("report.html").display()
    ));
    Ok(())
}

/// How the best levels of valleys go with those of the sentinels.
fn correlations<'a>(
    args: &StudyArgs,
    study: &'a Study,
    points: &mut Points,
) -> Result<Vec<Measured<'a>>> {
    let chosen = study::correlation::chosen(study, &args.only);
    let bars = Bars::default();
    let bar = bars.whole(chosen.iter().map(|spec| spec.drives).sum());
    let bar = bar.with_prefix("correlations");
    let measured = study::correlation::measure(study, &chosen, points, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(measured?)
}

/// What the last step of a read leaves of the code's strength.
fn margins(args: &StudyArgs, study: &Study, points: &mut Points) -> Result<()> {
    let populations = margin::populations(study, &args.only, args.quick);
    let bars = Bars::default();
    let bar = bars.whole(populations.len() as u64).with_prefix("cells");
    let done = || bar.inc(1);
    let measured = margin::measure(study, &populations, args.threads, points, &done);
    bar.finish_and_clear();
    Ok(measured?)
}

/// The results of `points`: those that `store` has not are simulated.
fn simulate_all(args: &StudyArgs, store: &Store, points: &[Point<'_>]) -> Result<Results> {
    let interrupt = interrupt::handled();
    let stopped = |point: &Point<'_>| {
        let mut run = point.run.clone();
        run.setup.interrupt = interrupt.clone();
        run
    };
    let points: Vec<_> = points.iter().map(stopped).collect();
    let matrix = |watch| Matrix {
        points: &points,
        threads: args.threads,
        watch,
    };
    let bars = Bars::default();
    let all = bars.whole(matrix(&()).simulations()? as u64);
    let watch = Simulations { bars, all };
    let results = matrix(&watch).kept(store, metric::of_finished);
    watch.all.finish_and_clear();
    let results = results?;
    kept::tell_found(&points, &results, "simulations");
    Ok(results)
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

    fn begin_life<'a>(
        &'a self,
        point: &firstread_session::Point,
    ) -> Box<dyn FnMut(LifeProgress) + 'a> {
        self.bars.begin_life(point)
    }

    fn done(&self, point: &firstread_session::Point, ended: &str) {
        let label = &point.label;
        match point.life.as_ref().map(|terms| terms.until) {
            _ if ended == results::ended(Ended::Completed) => {}
            None => notice(&format!("{label}: left out: its drive ended with {ended}")),
            // Every life of these ends so.
            Some(Until::Full) => {}
            Some(until) => notice(&format!("{label}: ended with {ended}, before {until}")),
        }
        self.all.inc(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each shipped study is listed with its own title.
    #[test]
    fn formula_shipped_studies_have_names_and_titles() {
        let rows = shipped().expect("shipped studies are sound");
        assert_eq!(rows.len(), STUDIES.len());
        for ((name, _), row) in STUDIES.iter().zip(&rows) {
            let title = title(name)
                .expect("a shipped study")
                .expect("it has a title");
            assert_eq!(row[..], [(*name).to_owned(), title]);
        }
    }
}
