//! `firstread run`: a workload on a drive.

use anyhow::Result;
use clap::Args;

use crate::args::{Choice, DriveArgs, Form, OutputArgs, WorkloadArgs, parse_choice};
use crate::input::Input;
use crate::output::{self, calibration, human, json};
use crate::progress::Bars;
use crate::setup::Setup;
use crate::simulate::{Outcome, simulate};
use crate::{data, files, notice};

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
  firstread run job.fio --output json | jq '.jobs[0].read.clat_ns.percentile'

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong.";

/// Run a workload on a drive and report its latencies, its retries and what its tail is made of
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A fio job file or a trace (plain, gzip or Zstandard), told apart by content; `-` for the
    /// standard input; or a shipped example (`firstread list examples`)
    workload: String,
    /// Choose a scheme (`firstread list schemes`); may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=NAME", value_parser = parse_choice)]
    schemes: Vec<Choice>,
    #[command(flatten)]
    drive: DriveArgs,
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
    once_an_axis(args.schemes.iter().map(|c| c.axis.name))?;
    let input = Input::open(&args.workload, &args.input)?;
    let setup = Setup::new(&input, &args.drive, &args.schemes, args.input.limit)?;
    let bar = Bars::default().add(input.title(), args.input.limit.or(input.requests()));
    let outcome = simulate(&setup, &mut |progress| bar.show(progress));
    bar.end();
    let outcome = outcome?;
    tell(&setup, &outcome);
    if let Some(folder) = &args.output.out {
        files::write(folder, &output::pages(&setup, &outcome))?;
    }
    match args.output.output {
        Form::Json => data(&json::text(&json::result(
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
    Ok(())
}

/// Tells what was understood differently than written, and where a limit was not reached.
pub fn tell(setup: &Setup<'_>, outcome: &Outcome) {
    for n in &outcome.notices {
        notice(&n.to_string());
    }
    if let Some(limit) = setup.limit
        && outcome.stats.requests < limit
    {
        let name = setup.input.name();
        let requests = outcome.stats.requests;
        notice(&format!(
            "{name}: ended after {requests} requests, before the limit of {limit}"
        ));
    }
}

/// An axis has one scheme.
pub fn once_an_axis(axes: impl Iterator<Item = &'static str>) -> Result<()> {
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
