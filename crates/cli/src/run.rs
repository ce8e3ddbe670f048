//! `firstread run`: a workload on a drive.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use firstread_drive::Ended;
use firstread_session::simulate::simulate;
use firstread_session::{Choice, Input, Matrix, Outcome, Point, Setup, Simulation, files, results};

use crate::args::{BurnInArgs, DriveArgs, DrivesArgs, Form, OutputArgs, Usage, WorkloadArgs};
use crate::output::{self, calibration, drives, human, understood};
use crate::progress::Bars;
use crate::streams::{data, notice, warning};

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
  firstread run mixed-70-30 --drive bench-4g --burn-in --limit 1e6
      burnt in by the workload itself until its writes are in a steady state, then measured
  firstread run job.fio --output json | jq '.jobs[0].read.clat_ns.percentile'

Exit status: 0 when all of it ran, 1 on an error or at a drive's end of life, 2 when the command
line is wrong.";

/// Run a workload on a drive and report its latencies, its retries and what its tail is made of
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A fio job file or a trace (plain, gzip or Zstandard), told apart by content; `-` for the
    /// standard input; or a shipped example (`firstread list examples`)
    workload: String,
    /// Choose a scheme (`firstread list schemes`); may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=NAME", value_parser = Choice::from_str)]
    schemes: Vec<Choice>,
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
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<()> {
    check_one_scheme_per_axis(args.schemes.iter().map(|c| c.axis.name))?;
    let input = Arc::new(Input::open_as(&args.workload, &args.input.trace())?);
    let simulation = args
        .drive
        .simulation(&input, &args.schemes, args.input.limit);
    let simulation = Simulation {
        burn_in: args.burn_in.setup()?,
        ..simulation
    };
    let setup = simulation.setup()?;
    understood::tell(&setup.input, args.input.limit)?;
    if args.drives.drives > 1 {
        return run_drives(args, setup);
    }
    let bar = Bars::default().add(input.title(), setup.requests());
    let outcome = simulate(&setup, &mut |progress| bar.show(progress));
    drop(bar);
    let outcome = outcome?;
    print_warnings(&setup, &outcome);
    if let Some(folder) = &args.output.out {
        files::write(folder, &output::pages(&setup, &outcome))?;
    }
    match args.output.output {
        Form::Json => data(&results::text(&results::result(
            &setup,
            &outcome,
            args.calibration_log,
        )))?,
        Form::Human => {
            data(&human::report(&setup, &outcome))?;
            if args.calibration_log {
                data(&format!("\n{}", calibration::summary(&outcome)))?;
            }
        }
    }
    eprintln!("{}", human::wall(&outcome));
    check_ends([(setup.input.name(), outcome.stats.ended)].into_iter())
}

/// Runs it on several drives.
fn run_drives(args: &RunArgs, setup: Setup) -> Result<()> {
    if args.calibration_log {
        return Err(Usage("--calibration-log is of one drive; leave --drives out".into()).into());
    }
    let point = |setup: Setup| Point::new(&format!("seed {}", setup.seed), setup);
    let points: Vec<Point> = setup
        .drives(args.drives.drives)
        .into_iter()
        .map(point)
        .collect();
    let bars = Bars::default();
    let matrix = Matrix {
        points: &points,
        threads: args.drives.threads,
        watch: &bars,
    };
    let outcomes = matrix.outcomes()?;
    let setups: Vec<Setup> = points.into_iter().map(|point| point.setup).collect();
    if let (Some(setup), Some(outcome)) = (setups.first(), outcomes.first()) {
        print_warnings(setup, outcome);
    }
    let report = drives::report(&setups, &outcomes);
    let rows = setups.iter().zip(&outcomes);
    let rows = rows.map(|(setup, outcome)| drives::row(None, setup, outcome));
    let all = results::text(&serde_json::json!({ "axis": null, "runs": rows.collect::<Vec<_>>() }));
    if let Some(folder) = &args.output.out {
        let mut pages = vec![
            ("drives.json".into(), all.as_bytes().to_vec()),
            ("drives.txt".into(), report.as_bytes().to_vec()),
        ];
        for (setup, outcome) in setups.iter().zip(&outcomes) {
            pages.extend(output::pages_in(
                &format!("seed-{}", setup.seed),
                setup,
                outcome,
            ));
        }
        files::write(folder, &pages)?;
    }
    match args.output.output {
        Form::Json => data(&all)?,
        Form::Human => data(&report)?,
    }
    for (setup, outcome) in setups.iter().zip(&outcomes) {
        eprintln!("seed {}: {}", setup.seed, human::wall(outcome));
    }
    let names: Vec<String> = setups.iter().map(|s| format!("seed {}", s.seed)).collect();
    let ends = outcomes.iter().map(|outcome| outcome.stats.ended);
    check_ends(names.iter().map(String::as_str).zip(ends))
}

/// Prints notices: options that were interpreted differently, and limits that were not reached.
pub fn print_warnings(setup: &Setup, outcome: &Outcome) {
    for n in &outcome.notices {
        notice(&n.to_string());
    }
    if let Some(cells) = setup.other_cells() {
        notice(&cells.to_string());
    }
    if let Some(beyond) = setup.beyond_rating() {
        warning(&beyond.to_string());
    }
    if let Some(limit) = setup.limit
        && outcome.stats.requests < limit
        && outcome.stats.ended == Ended::Completed
    {
        let name = setup.input.name();
        let requests = outcome.stats.requests;
        notice(&format!(
            "{name}: ended after {requests} requests, before the limit of {limit}"
        ));
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

/// Reports runs that ended early, after their results are printed: exit status 1.
pub fn check_ends<'a>(ended: impl Iterator<Item = (&'a str, Ended)>) -> Result<()> {
    let told = ended.filter_map(|(name, ended)| match ended {
        Ended::Completed => None,
        Ended::EndOfLife(end) => Some(format!("{name}: {end}")),
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Ok(()),
        false => bail!("{}", told.join("\n")),
    }
}
