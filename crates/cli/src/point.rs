//! `firstread point`: points of a plan are run, each result written where the command that planned it finds it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use firstread_drive::Ended;
use firstread_session::files::Page;
use firstread_session::planned::{self, Planned, Reader};
use firstread_session::split::Split;
use firstread_session::study::metric;
use firstread_session::{Finished, Point, Setup, Store, results};
use serde_json::{Map, Value};

use crate::args::{Interrupted, Usage};
use crate::interrupt;
use crate::life;
use crate::output::summary::end_of_life_of;
use crate::output::{self, summary};
use crate::runs::{Kind, kept, points_run};
use crate::streams::{data, tell};

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread study raro --quick --plan plan
      writes plan/points/00001.json and so on, and plan/plan.json, which lists them with their cost
  firstread point plan/points/00017.json --out results
      runs one of them: a task of a scheduler
  firstread point plan --out results --threads 1
      runs what is left of all: on as many machines as share the folder, each takes what no other has
  firstread study raro --quick --out results
      the command that planned finds all results, runs what is missing, and prints as if it had run all

A point that another process is making is claimed: it is left to that process, or waited for with
--wait. A claim of a process that was killed expires, at once on its own machine and after a minute
on another one. A result is there as a whole or not at all. The same plan is to be run by the same
binary on all machines.

Exit status: 0 when every point has its result, made now or found. Otherwise:
  1    an error: a disk that is full, a folder with other results. Worth another try
  2    bad input: no point, a plan of another version or program, a trace whose content changed,
       a wrong command line. Another try ends the same
  4    every point has its result, and the drive of one came to its end of life or turned read-only.
       The result is written and found later; there is nothing to repeat
  5    a point is being made by another process, which writes it
  130  interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: what was not whole is not written";

/// Run points of a plan (--plan of run, compare, life and study) and keep their results
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PointArgs {
    /// Points of a plan, or its folder for all of them
    #[arg(value_name = "FILE|PLAN", required = true)]
    points: Vec<PathBuf>,
    /// Folder of the results; points that it already holds are not run again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Wait for points that other processes are making, and make those whose process has ended
    #[arg(long)]
    wait: bool,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Points that other processes are making.
#[derive(Debug)]
pub struct Held(String);

/// Drives that came to their end, in runs whose results are written.
#[derive(Debug)]
pub struct EndsOfLife(Vec<String>);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for EndsOfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Held {}
impl std::error::Error for EndsOfLife {}

/// What the folder of a point has results of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Run,
    Life,
    Study,
    Many(Kind),
}

impl Of {
    const ALL: [Of; 7] = [
        Of::Run,
        Of::Life,
        Of::Study,
        Of::Many(Kind::Drives),
        Of::Many(Kind::Comparison),
        Of::Many(Kind::Matrix),
        Of::Many(Kind::Lives),
    ];

    fn name(self) -> &'static str {
        match self {
            Of::Run => "run",
            Of::Life => "life",
            Of::Study => "study",
            Of::Many(kind) => kind.name(),
        }
    }

    /// What the command that planned it keeps of a point for tables.
    fn values(self, setup: &Setup, finished: &Finished) -> Map<String, Value> {
        match self {
            Of::Study => metric::of_finished(setup, finished),
            Of::Life | Of::Many(Kind::Lives) => life::values(finished),
            Of::Run | Of::Many(_) => summary::values(setup, finished),
        }
    }

    /// The files that it keeps of it, where `front_end` is what it decides of them.
    fn pages(self, front_end: &Value, point: &Point, finished: &Finished) -> Vec<Page> {
        match (self, finished) {
            (Of::Run, Finished::Run(outcome)) => {
                output::pages(&point.setup, outcome, kept::has(front_end))
            }
            (Of::Life, Finished::Life(of)) => life::pages(&of.life, &of.outcome),
            (Of::Many(Kind::Lives), _) => life::pages_in(point, finished),
            (Of::Many(kind), _) if kind.has_each() => output::pages_in(point, finished),
            _ => Vec::new(),
        }
    }
}

pub fn point(args: &PointArgs) -> Result<()> {
    let mut reader = Reader::default();
    let mut all: Vec<Planned> = Vec::new();
    for path in files(&args.points)? {
        all.push(reader.read(&path)?);
    }
    let Some(first) = all.first() else {
        return data("nothing is left to be run in the plan\n");
    };
    let of = Of::ALL.into_iter().find(|of| of.name() == first.kind);
    let Some(of) = of else {
        let why = format!(
            "a point of the kind `{}`, which no command makes",
            first.kind
        );
        return Err(Usage(why).into());
    };
    let folder = |planned: &Planned| {
        (
            planned.kind.clone(),
            planned.name.clone(),
            planned.front_end.clone(),
        )
    };
    if let Some(other) = all.iter().find(|one| folder(one) != folder(first)) {
        return Err(Usage(format!(
            "the points are of {} {} and of {} {}: results of each have a folder of their own",
            first.kind, first.name, other.kind, other.name
        ))
        .into());
    }
    let front_end = first.front_end.clone();
    let store = Store::open(&args.out, of.name(), &first.name)?.by_front_end(front_end.clone());
    let store = match args.wait {
        true => store,
        false => store.leaving_held(),
    };
    let points = all.into_iter().map(|planned| {
        let mut point = planned.point;
        point.setup.interrupt = interrupt::handled();
        point.setup.split = point.setup.split.map(|split| Split {
            threads: args.threads,
            ..split
        });
        point
    });
    let points: Vec<Point> = points.collect();
    let results = points_run(
        &points,
        args.threads,
        &store,
        "points",
        |_, _| {},
        |setup, finished| of.values(setup, finished),
        |point, finished| of.pages(&front_end, point, finished),
    )?;
    let held: Vec<String> = results
        .held()
        .map(|(i, by)| {
            let label = &points[i].label;
            format!(
                "{label} is being made by process {} on {}",
                by.process, by.host
            )
        })
        .collect();
    let (finished, all) = (results.finished(), results.simulations());
    tell(&format!(
        "{finished} of {all} points have their results in {}, {:.1} s of them on one core",
        args.out.display(),
        results.wall_s()
    ));
    if finished + held.len() < all {
        return Err(Interrupted(": what was not whole is not written".into()).into());
    }
    if let Some(first) = held.first() {
        let more = match held.len() - 1 {
            0 => String::new(),
            more => format!("; and {more} more like it"),
        };
        return Err(Held(format!("{first}, which writes it{more}")).into());
    }
    let completed = results::ended(Ended::Completed);
    let ends = results.all().filter_map(|(i, kept)| {
        let is_run = points[i].life.is_none();
        let end = || end_of_life_of(&kept.values).unwrap_or(&kept.ended);
        let is_short = is_run && kept.ended != completed;
        is_short.then(|| format!("{}: {}", points[i].label, end()))
    });
    let ends: Vec<String> = ends.collect();
    match ends.is_empty() {
        true => Ok(()),
        false => Err(EndsOfLife(ends).into()),
    }
}

/// The files of points that `given` names, those of plans in the order of their lists.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in given {
        match path.is_dir() {
            true => all.extend(planned::files(path)?),
            false => all.push(path.clone()),
        }
    }
    Ok(all)
}

/// Joins the folders `given` of results in `out`: `firstread merge`.
pub fn merge(args: &MergeArgs) -> Result<()> {
    let merged = firstread_session::merge(&args.folders, Path::new(&args.out))?;
    data(&format!(
        "{} results in {}, {} of them new; the command that made them finds them there\n",
        merged.results,
        args.out.display(),
        merged.new
    ))
}

/// Examples at the end of the help of `merge`.
const MERGE_EXAMPLES: &str = "\
Example:
  firstread merge results-a results-b --out results
      what two machines have made of one plan; `firstread study raro --quick --out results` goes on

Results of another version or program are refused, and so is a point of which two folders have
different results: nothing is written then. Tables, pictures and pages of all results together are
not merged. The command that planned makes them anew.";

/// Join folders of results that several machines have filled
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Folders of --out
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder of all results; it may have some already
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}
