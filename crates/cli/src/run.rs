//! `firstread run`: a workload on a drive.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use firstread_drive::Ended;
use firstread_session::{
    Alone, Choices, Error, Finished, Kept, Matrix, Outcome, Point, Setup, Simulation, Store,
    Watched, files, results,
};
use serde_json::{Map, Value};

use crate::accept::{self, Targets};
use crate::args::{
    BurnInArgs, DriveArgs, DrivesArgs, Form, Interrupted, OutputArgs, Usage, WorkloadArgs,
};
use crate::interrupt;
use crate::log::LogArgs;
use crate::matrix::kept;
use crate::matrix::{self, Asked, Simulations};
use crate::output::format::count;
use crate::output::summary::{Run, Summary, end_of_life, runs};
use crate::output::{self, calibration, drives, human, understood};
use crate::progress::Bars;
use crate::streams::{data, notice, tell, warning, written};
use crate::timeline::{self, TimelineArgs};

/// Examples at the end of the help.
pub const EXAMPLES: &str = "\
Examples:
  firstread run randread-64k-qd128
      a shipped example on the default drive: filled, 28 h at 55 °C, 300 P/E cycles
  firstread run job.fio --age 0h..48h --pe-cycles 0..3000 --limit 1e6
      a fio job; superblocks spread evenly over ages and wear
  firstread run trace.csv.gz --speed 10 --scheme read_levels=frozen
      a trace, ten times faster than recorded, on a drive that never calibrates
  firstread run job.fio --set read_levels.interval=1h --calibration-log --out results
      a parameter of the scheme changed, and what its calibration did
  firstread run randread-4k-qd1 --drives 10
      on ten drives with chips of their own: each figure with its spread over them
  firstread run mixed-70-30 --drive bench-4g --burn-in --limit 5e5
      burnt in by the workload itself until its writes are in a steady state, then measured
  firstread run job.fio --drive dc-qlc-15t,fg-qlc --age 0,28h,30d --pe-cycles 300,1.5k --out results
      every drive at every age and wear: one table, one CSV, one picture; run again, it goes on
  firstread run job.fio --job iodepth=1,8,32 --temperature 25 --temperature 55 --drives 5
      options of fio; a temperature is repeated, since its comma is a history
  firstread run -- --name=a --rw=randrw --rwmixread=70 --bs=8k --iodepth=32 --runtime=1 --time_based
      a command line of fio, as it was pasted; or a file that has it
  firstread run --drive bench-4g --interval 50ms --out cliff -- --name=a --rw=randwrite --bs=4k --iodepth=32 --io_size=2g
      the run over time, as a table and a picture: where writes fall off the cliff
  firstread run job.fio --log requests.csv --log-slowest 1000
      the thousand slowest requests, with what each of them waited for
  firstread run job.fio --accept 'read: p99=1.5ms p99.99=5ms p99.9999=15ms max=20ms'
      pass, fail or undetermined, by interval; what broke a target is named
  firstread run job.fio --json | jq '.jobs[0].read.clat_ns.percentile'

Of a list each value is run, with every value of the other lists. A..B is one drive of mixed age or
wear.

Exit status: 0 when all of it ran, 1 on an error or at a drive's end of life, 2 when the command
line is wrong, 3 when a target of --accept failed, 130 when it was interrupted by Ctrl-C, 143 by
SIGTERM, 129 by SIGHUP: what it had until then is printed and kept.";

/// Run a workload on a drive and report its latencies, its retries and what its tail is made of
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A fio job file or a trace (plain, or compressed by gzip, Zstandard, xz or bzip2), told apart by content; `-` for the
    /// standard input; or a shipped example (`firstread list examples`)
    #[arg(required_unless_present = "fio")]
    workload: Option<String>,
    /// A command line of fio, as it is: firstread run -- --name=a --rw=randread --bs=4k --iodepth=32
    #[arg(last = true, value_name = "FIO_OPTION")]
    fio: Vec<String>,
    /// Choose a scheme (`firstread list schemes`); may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=NAME,...", value_parser = Choices::from_str)]
    schemes: Vec<Choices>,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    burn_in: BurnInArgs,
    #[command(flatten)]
    drives: DrivesArgs,
    #[command(flatten)]
    input: WorkloadArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Also report what calibration did, a row a block group
    #[arg(long, help_heading = "Output")]
    calibration_log: bool,
    #[command(flatten)]
    timeline: TimelineArgs,
    #[command(flatten)]
    log: LogArgs,
    /// Judge latencies and rates: `read: p99=1.5ms p99.99=5ms max=20ms; write: mean=50us`; exit status 3 where one fails
    ///
    /// Targets are p50, p90, p95, p99, p99.5, p99.9 ... p99.99999, mean and max, which a figure must not exceed, and iops,
    /// which it has to reach. A target passes where the whole 95 % interval of its figure is within it, fails where the
    /// whole interval is beyond, and is undetermined otherwise. Beside a failure stands what its requests waited for.
    #[arg(long, value_name = "TARGETS", value_parser = Targets::parse, help_heading = "Output")]
    accept: Vec<Targets>,
}

pub fn run(args: &RunArgs) -> Result<()> {
    check_one_scheme_per_axis(args.schemes.iter().map(|c| c.axis.name))?;
    let input = Arc::new(args.input.open(args.workload.as_deref(), &args.fio)?);
    understood::tell(&input, args.input.limit)?;
    let seeds = args.drives.seeds(&args.drive.seed)?;
    let sweep = args.drive.sweep(&args.schemes, &args.input.jobs)?;
    let base = Simulation {
        burn_in: args.burn_in.setup()?,
        watched: Watched {
            interval: args.timeline.interval(&args.output)?,
            fio_logs: args.output.out.is_some() && sweep.varied.is_empty(),
            log: args.log.spec(seeds.len() == 1 && sweep.varied.is_empty())?,
        },
        ..args.drive.simulation(&input, &args.schemes, &args.input)?
    };
    if args.calibration_log && (seeds.len() > 1 || !sweep.varied.is_empty()) {
        return Err(Usage("--calibration-log is of one drive in one run".into()).into());
    }
    if seeds.len() > 1 || !sweep.varied.is_empty() {
        args.output.form.no_bins()?;
    }
    if !sweep.varied.is_empty() {
        return matrix::run(&Asked {
            base,
            sweep,
            seeds,
            compares: false,
            accept: &accept::all(&args.accept),
            threads: args.drives.threads,
            output: &args.output,
        });
    }
    let setup = Setup {
        interrupt: interrupt::handled(),
        ..base.setup()?
    };
    if seeds.len() > 1 {
        return run_drives(args, &setup, &seeds);
    }
    run_one(args, setup)
}

/// Runs it on one drive.
fn run_one(args: &RunArgs, setup: Setup) -> Result<()> {
    let point = Point {
        name: "run".into(),
        ..Point::new(Arc::clone(&setup.input).title(), setup)
    };
    let has = kept::Has {
        calibration_log: args.calibration_log,
        bins: args.output.form.has_bins(),
    };
    let store = kept::store_of_one(args.output.out.as_deref(), "run", has)?;
    let made = |point: &Point, finished: &Finished| match finished {
        Finished::Run(outcome) => (
            summary(&point.setup, finished),
            output::pages(&point.setup, outcome, has),
        ),
        Finished::Life(_) => (Map::new(), Vec::new()),
    };
    let alone = match point.alone(&Bars::default(), &store, made) {
        Err(Error::Interrupted) => {
            let burn_in = match point.setup.burn_in {
                Some(_) => " in the burn-in,",
                None => "",
            };
            return Err(Interrupted(format!("{burn_in} before the first request")).into());
        }
        alone => alone?,
    };
    kept::tell_found_alone(&point.label, &alone, "run");
    match &alone {
        Alone::Found(kept) => show_found(args, &store, &point.setup, kept),
        Alone::Ran(Finished::Run(outcome), _) => show_run(args, &point.setup, outcome),
        Alone::Ran(Finished::Life(_), _) => bail!("a life was lived in place of a run"),
    }
}

/// Prints a run that was found, as it was printed when it was run.
fn show_found(args: &RunArgs, store: &Store, setup: &Setup, kept: &Kept) -> Result<()> {
    let run = Run {
        setup,
        label: setup.input.name(),
        kept,
        summary: Summary::read(kept)?,
    };
    warn_of(&run);
    print_notes([setup].into_iter());
    match args.output.form.form() {
        Form::Json => data(&store.page("result.json")?)?,
        Form::Human => {
            data(&store.page("report.txt")?)?;
            if args.calibration_log {
                data(&format!("\n{}", store.page("calibration.txt")?))?;
            }
        }
    }
    check_ends([(run.label, run.summary.end_of_life.as_deref())].into_iter())?;
    judge(args, [(String::new(), &run.summary)].into_iter())
}

/// Judges runs by what is asked of them, if something is. What is printed for people is beside the report, and beside data
/// it goes to the standard error.
fn judge<'a>(args: &RunArgs, runs: impl Iterator<Item = (String, &'a Summary)>) -> Result<()> {
    let targets = accept::all(&args.accept);
    accept::judge(&targets, args.output.form.form(), runs)
}

/// Prints a run, or what there was of it until it was interrupted.
fn show_run(args: &RunArgs, setup: &Setup, outcome: &Outcome) -> Result<()> {
    let completed = outcome.stats.ended == Ended::Completed;
    print_warnings(setup, &Summary::of(setup, outcome), completed);
    print_notes([setup].into_iter());
    timeline::tell_doubled(setup, outcome);
    let (_, wall) = results::result_and_wall(setup, outcome, false);
    match args.output.form.form() {
        Form::Json => {
            let whole = results::Whole::new(setup, outcome, args.calibration_log);
            let whole = whole.bins(args.output.form.has_bins());
            written(|out| whole.write(out))?;
        }
        Form::Human => {
            data(&human::report(setup, outcome))?;
            if args.calibration_log {
                data(&format!("\n{}", calibration::summary(outcome)))?;
            }
        }
    }
    tell(&human::wall(&wall.as_object().cloned().unwrap_or_default()));
    if outcome.stats.ended == Ended::Interrupted {
        let requests = count(outcome.stats.requests);
        return Err(Interrupted(format!(" after {requests} requests")).into());
    }
    let end = end_of_life(outcome.stats.ended);
    check_ends([(setup.input.name(), end.as_deref())].into_iter())?;
    judge(
        args,
        [(String::new(), &Summary::of(setup, outcome))].into_iter(),
    )
}

/// Runs it on several drives.
fn run_drives(args: &RunArgs, setup: &Setup, seeds: &[u64]) -> Result<()> {
    let point = |&seed: &u64| {
        let setup = Setup {
            seed,
            ..setup.clone()
        };
        Point {
            name: format!("seed-{seed}"),
            ..Point::new(&format!("seed {seed}"), setup)
        }
    };
    let points: Vec<Point> = seeds.iter().map(point).collect();
    let (out, form) = (args.output.out.as_deref(), args.output.form.form());
    let store = kept::listing_store(out, "drives", setup.input.title(), form)?;
    let matrix = Matrix {
        points: &points,
        threads: args.drives.threads,
        watch: &Simulations::new(points.len()),
    };
    let results = matrix.kept_with_pages(&store, summary, run_pages)?;
    kept::tell_found(&points, &results, "runs");
    let runs = runs(&points, &results)?;
    let Some(first) = runs.first() else {
        return Err(Interrupted(" before any run had ended".into()).into());
    };
    warn_of(first);
    print_notes([first.setup].into_iter());
    kept::tell_times(&runs);
    let row = |run: &Run<'_>, result| kept::row(None, run.setup, result);
    if out.is_some() {
        let listed = runs.iter().map(|run| row(run, run.kept.result()));
        let listed = kept::listed(None, listed).into_bytes();
        let report = drives::report(&runs).into_bytes();
        store.write(&[
            ("drives.json".into(), listed),
            ("drives.txt".into(), report),
        ])?;
    }
    match form {
        Form::Json => {
            let listed = runs.iter().map(|run| row(run, run.kept.result_and_wall()));
            data(&kept::listed(None, listed))?;
        }
        Form::Human => data(&drives::report(&runs))?,
    }
    kept::whole(&results, out, "runs")?;
    let ends = runs
        .iter()
        .map(|run| (run.label, run.summary.end_of_life.as_deref()));
    check_ends(ends)?;
    let each = runs.iter();
    judge(args, each.map(|run| (run.label.to_owned(), &run.summary)))
}

/// What tables need of a run, to be kept.
pub fn summary(setup: &Setup, finished: &Finished) -> Map<String, Value> {
    match finished {
        Finished::Run(outcome) => Summary::of(setup, outcome).values(),
        Finished::Life(_) => Map::new(),
    }
}

/// The files of a run among several, in the folder of its name.
pub fn run_pages(point: &Point, finished: &Finished) -> Vec<files::Page> {
    match finished {
        Finished::Run(outcome) => output::pages_in(&point.name, &point.setup, outcome),
        Finished::Life(_) => Vec::new(),
    }
}

/// The notices of a run that is kept.
pub fn warn_of(run: &Run<'_>) {
    let completed = run.kept.ended == results::ended(Ended::Completed);
    print_warnings(run.setup, &run.summary, completed);
}

/// Prints notices: options that were interpreted differently, and limits that were not reached.
fn print_warnings(setup: &Setup, summary: &Summary, completed: bool) {
    for n in &summary.notices {
        notice(n);
    }
    if let Some(cells) = setup.other_cells() {
        notice(&cells.to_string());
    }
    if let Some(beyond) = setup.beyond_rating() {
        warning(&beyond.to_string());
    }
    let short = summary.groups().iter().filter(|group| group.is_short);
    for group in short.filter(|_| completed) {
        let jobs = match group.jobs.as_str() {
            "" => String::new(),
            jobs => format!(" {jobs}"),
        };
        notice(&format!(
            "{}:{jobs} ended after {} requests, before the limit of {}",
            setup.input.name(),
            count(group.requests),
            count(setup.limit.unwrap_or(0))
        ));
    }
}

/// Prints what is to be known of these drives, each note once.
pub fn print_notes<'a>(setups: impl Iterator<Item = &'a Setup>) {
    let mut told = Vec::new();
    for note in setups.flat_map(Setup::notes) {
        if !told.contains(&note) {
            notice(&note);
            told.push(note);
        }
    }
}

/// Refuses two schemes for one axis.
pub fn check_one_scheme_per_axis(axes: impl Iterator<Item = &'static str>) -> Result<()> {
    let mut seen = Vec::new();
    for axis in axes {
        if seen.contains(&axis) {
            let message = format!("--scheme {axis}=... is given twice");
            return Err(crate::args::Usage(message).into());
        }
        seen.push(axis);
    }
    Ok(())
}

/// Reports drives whose life ended, each by its name, after their results are printed: exit status 1.
pub fn check_ends<'a>(ends: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Result<()> {
    let told = ends.filter_map(|(name, end)| Some(format!("{name}: {}", end?)));
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Ok(()),
        false => bail!("{}", told.join("\n")),
    }
}
