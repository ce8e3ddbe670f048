//! `firstread run`: a workload on a drive.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use firstread_session::files::Page;
use firstread_session::split::{MOST_PARTS, Split};
use firstread_session::{Choices, Finished, Point, Setup, Simulation, Watched, results};
use serde_json::{Map, Value};

use crate::accept::{self, Acceptance, Target, Targets};
use crate::args::{
    BurnInArgs, DriveArgs, DrivesArgs, Form, OutputArgs, Usage, WorkloadArgs, of_one_run,
};
use crate::interrupt;
use crate::log::LogArgs;
use crate::matrix::{self, Asked};
use crate::output::summary::{Run, Summary};
use crate::output::{self, Has, calibration, drives, human, page, understood};
use crate::runs::{self, Combination, Kind, Plan, Ran, Report, Row, Single, View};
use crate::streams::{data, written};
use crate::timeline::{self, TimelineArgs};
use crate::trace_events::TraceEventsArgs;

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
  firstread run randread-4k-qd32 --job number_ios=20m --split 8
      a long run on eight cores: eight parts side by side, with intervals over them
  firstread run mixed-70-30 --pe-cycles 2500 --trace-events slow.json
      a timeline of the ten slowest reads, for ui.perfetto.dev: what each die did while they waited
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
    /// Split a long run into so many parts that run side by side, with intervals over the parts
    ///
    /// Each part runs its share of the requests on a copy of the drive, drawn anew; what is hot stays hot. All parts together are
    /// shown as one run. Only steady loads are split: what is one course from beginning to end (traces, phases, sequential
    /// jobs, writes without --burn-in, data that age in the run) is refused.
    #[arg(long, value_name = "N", help_heading = "Workload", value_parser = clap::value_parser!(u16).range(2..=i64::from(MOST_PARTS)))]
    split: Option<u16>,
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
    #[command(flatten)]
    trace_events: TraceEventsArgs,
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
    let is_one = seeds.len() == 1 && sweep.varied.is_empty();
    let base = Simulation {
        burn_in: args.burn_in.setup()?,
        watched: Watched {
            interval: args.timeline.interval(&args.output)?,
            fio_logs: args.output.is_kept() && sweep.varied.is_empty(),
            log: args.log.spec(is_one)?,
            trace: args.trace_events.spec(is_one)?,
        },
        split: args.split(is_one)?,
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
    let view = OfRuns {
        accept: &accept::all(&args.accept),
        has: Has {
            calibration_log: args.calibration_log,
            bins: args.output.form.has_bins(),
        },
    };
    let (setup, output) = (base.setup()?, args.output.output());
    if seeds.len() > 1 {
        let all = Combination {
            label: String::new(),
            values: Vec::new(),
            setup,
            life: None,
        };
        let threads = args.drives.threads;
        let plan = Plan::new(Kind::Drives, None, vec![all], &seeds, threads, output);
        return runs::several(&plan, &view);
    }
    let setup = Setup {
        interrupt: interrupt::handled(),
        ..setup
    };
    let point = Point {
        name: "run".into(),
        ..Point::new(Arc::clone(&setup.input).title(), setup)
    };
    runs::single(&point, output, view.has, &view)
}

impl RunArgs {
    /// Into how many parts the run is split, in a command that makes one run where `is_one` says so.
    fn split(&self, is_one: bool) -> Result<Option<Split>, Usage> {
        let Some(parts) = self.split else {
            return Ok(None);
        };
        of_one_run("--split", is_one)?;
        let course = [
            (self.log.is_asked(), "--log"),
            (self.trace_events.is_asked(), "--trace-events"),
            (self.calibration_log, "--calibration-log"),
        ];
        match course.into_iter().find(|(is_asked, _)| *is_asked) {
            Some((_, option)) => Err(Usage(format!(
                "{option} is of one course of requests, and --split has parts side by side"
            ))),
            None => Ok(Some(Split {
                parts,
                threads: self.drives.threads,
            })),
        }
    }
}

/// How a load on one drive or on several is shown.
struct OfRuns<'a> {
    accept: &'a [Target],
    /// What its files have beside what is always there.
    has: Has,
}

impl View for OfRuns<'_> {
    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>> {
        let drives = ran.each().map(|(point, kept)| Run::read(point, kept));
        let drives: Vec<Run<'a>> = drives.collect::<Result<_>>()?;
        let row = |run: &Run<'a>| Row::of(None, run.setup, run.kept);
        let shown = page::Shown {
            name: String::new(),
            runs: drives.iter().map(|run| &run.summary).collect(),
        };
        let (headline, sections) = page::of(&[shown]);
        Ok(Report {
            headline,
            sections,
            text: drives::report(&drives),
            rows: drives.iter().map(row).collect(),
            acceptance: accept::of_points(ran.each(), self.accept)?,
            ..Report::default()
        })
    }
}

impl Single for OfRuns<'_> {
    fn pages(&self, point: &Point, finished: &Finished) -> Vec<Page> {
        match finished {
            Finished::Run(outcome) => output::pages(&point.setup, outcome, self.has),
            Finished::Life(_) => Vec::new(),
        }
    }

    fn print(&self, form: Form, point: &Point, finished: &Finished) -> Result<()> {
        let Finished::Run(outcome) = finished else {
            bail!("a life was lived in place of a run");
        };
        timeline::tell_doubled(&point.setup, outcome);
        match form {
            Form::Json => {
                let whole = results::Whole::new(&point.setup, outcome, self.has.calibration_log);
                let whole = whole.bins(self.has.bins);
                written(|out| whole.write(out))
            }
            Form::Human => {
                data(&human::report(&point.setup, outcome))?;
                match self.has.calibration_log {
                    true => data(&format!("\n{}", calibration::summary(outcome))),
                    false => Ok(()),
                }
            }
        }
    }

    fn printed(&self, form: Form) -> Vec<&'static str> {
        match (form, self.has.calibration_log) {
            (Form::Json, _) => vec!["result.json"],
            (Form::Human, false) => vec!["report.txt"],
            (Form::Human, true) => vec!["report.txt", "calibration.txt"],
        }
    }

    fn acceptance(&self, _: &Point, values: &Map<String, Value>) -> Result<Option<Acceptance>> {
        let run = (String::new(), Summary::of_values(values)?);
        Ok(accept::judge(&[run], self.accept))
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
