//! `firstread life`: how long a drive lives under a load, and how its reads age.
//!
//! - `report`: tables of it. `picture`: its figure. `pages`: its files. `drives`: several lives, of drives or schemes.
//!   `summary`: what is kept of each; `lines`: their figure; `written`: its axis. `accept`: what is asked of their reads.

mod accept;
mod drives;
mod lines;
mod pages;
mod picture;
mod report;
mod summary;
mod written;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use firstread_core::Ns;
use firstread_drive::profile::Override;
use firstread_drive::{DriveState, Precondition};
use firstread_session::conditions::{
    Temperature, parse_age, parse_fill, parse_pe_cycles, parse_requests, parse_temperature, single,
    usual_state,
};
use firstread_session::files::Page;
use firstread_session::life::{self, Life, ProbeJob, Terms, Until, Years};
use firstread_session::{
    Choices, DEFAULT_DRIVE, Error, Finished, Input, Point, Setup, Simulation, Sweep, Varied,
    results,
};
use serde_json::{Map, Value};

use crate::accept::{Acceptance, Target, Targets, all};
use crate::args::{DrivesArgs, Form, FormArgs, Output, PlanArgs, TraceOptions, Usage};
use crate::interrupt;
use crate::output::understood;
use crate::run::check_one_scheme_per_axis;
use crate::runs::{self, Combination, Kind, Plan, Single};
use crate::streams::data;
use drives::Lives;
pub use drives::pages_in;
pub use pages::pages;
pub use summary::values;
use summary::{Group, Summary};

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread life job.fio --wear-rate 10 --set geometry.wordlines_per_block=22 --set capacity=240GB
      the default drive under a fio job, with fewer wordlines a block and ten cycles an erase,
      until data kept for three months at 40 °C are lost more often than JESD218 allows
  firstread life synthetic-msr-prxy_0 --drive mine.toml --until bad=2% --json > life.json
      a trace's stand-in, run again and again until 2 % of the blocks are bad
  firstread run randread-4k-qd1 --drive mine.toml --wear-from life.json
      reads of the drive as that life left it
  firstread life job.fio --until bad=2% --drives 5 --out lives
      five drives with chips of their own: each figure with its spread over them
  firstread life oltp.fio --probe oltp.fio --scheme read_levels=factory,ct-qlc --drives 10 --out lives
      one figure: bytes written until worn out, and P99.99 of that job on the way there, a line a scheme
  firstread life job.fio --wear-from life/life.json --out more
      a life that goes on where another one ended, or was interrupted
  firstread life oltp.fio --probe oltp.fio --accept 'read: p99=1.5ms p99.99=5ms'
      until how many bytes written its reads keep these targets, and what breaks them
  firstread life job.fio --until years=5 --drive-writes-a-day 3 --out life
      five years at three drive writes a day; tables and a picture in the folder `life`

All of the firmware runs over flash without time, so lives take minutes. A life of a drive with
fewer wordlines a block is that of a smaller drive: write amplification and wear are nearly the
same, bytes are in proportion. With --wear-rate K each erase counts as K cycles; the life is lived
again at K/2, and refused where the corrected results differ by more than 2 %: docs/life.md.

Exit status: 0 however the life ends, 1 on an error, 2 when the command line is wrong, 3 when a
target of --accept failed, 130 when it was interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP:
what it had until then is printed and kept.";

/// Requests of a load of --probe, where no number is given: 100 reads beyond P99.99, and some writes.
const REQUESTS_BY_JOB: u64 = 2_000_000;

/// Run a load until the drive's life ends: bytes written, wear, bad blocks, and how reads age
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LifeArgs {
    /// A fio job file or a trace, a shipped example, or a stand-in; run again and again
    load: String,
    /// Choose a scheme (`firstread list schemes`); may be given once an axis
    ///
    /// Several schemes of an axis, separated by commas, are as many lives of each drive: one figure, a line for each.
    #[arg(long = "scheme", value_name = "AXIS=NAME,...", value_parser = Choices::from_str)]
    schemes: Vec<Choices>,
    /// When the life ends, if it does not end before because the drive cannot hold its capacity
    ///
    /// lost=enterprise: data kept for 3 months at 40 °C have an uncorrectable bit error rate above 1e-16.
    /// lost=client: data kept for a year at 30 °C, 1e-15 (both JESD218). bad=2%: so many blocks are bad.
    /// bytes=100TB: written by the host. years=5. full: only when the capacity cannot be held.
    #[arg(long, value_name = "END", default_value = "lost=enterprise", value_parser = Until::from_str)]
    until: Until,
    /// P/E cycles that each simulated erase stands for; checked by a life at half of it
    #[arg(long, value_name = "K", default_value_t = 1)]
    wear_rate: u32,
    /// Years over which drive writes a day are stated
    #[arg(long, value_name = "YEARS", default_value = "5y", value_parser = parse_years)]
    warranty: Years,
    /// How fast a load without times of its own writes
    #[arg(long, value_name = "DWPD", default_value_t = 1.0, value_parser = parse_rate)]
    drive_writes_a_day: f64,
    /// Probes of reads at the stages of the life; may be given twice
    ///
    /// A number is the reads of a standard probe, of 4 KiB one at a time (100000); 0 for none. A load, as LOAD, is probed
    /// beside that: its reads, by two million requests, or as many as the number says. What it writes goes to a copy of the drive.
    #[arg(long, value_name = "N|JOB")]
    probe: Vec<String>,
    /// Overwrites that the drive has had before the load of --probe: none, random, zipf:THETA
    #[arg(long, value_name = "LOAD", default_value = "none", value_parser = Precondition::parse)]
    precondition: Precondition,
    /// A shipped drive (`firstread list drives`) or the path of a drive profile
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_DRIVE, help_heading = "Drive")]
    drive: String,
    /// Set a value of the profile or a parameter of a scheme; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = Override::parse, help_heading = "Drive")]
    sets: Vec<Override>,
    /// Raw flash beyond the capacity, as a share of the capacity: sets the capacity; several are as many lives
    #[arg(
        long,
        value_name = "PERCENT,...",
        value_delimiter = ',',
        value_parser = parse_spare,
        help_heading = "Drive"
    )]
    over_provisioning: Vec<f64>,
    /// Program-erase cycles at the beginning of the life
    #[arg(long, value_name = "N", default_value = "0", value_parser = one_pe_cycles, help_heading = "Drive")]
    pe_cycles: u32,
    /// The result of an earlier life: this one goes on from there
    ///
    /// Superblocks are as worn as it left them, those that it retired are retired, and what the host had written and how
    /// long that took count from there on. The drive is filled anew. Its geometry is to be that of the drive that lived.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "pe_cycles",
        help_heading = "Drive"
    )]
    wear_from: Option<PathBuf>,
    /// Share of the capacity that is filled at the beginning of the life
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = parse_fill, help_heading = "Drive")]
    fill: f64,
    /// Age of the data that probes read
    #[arg(long, value_name = "TIME", default_value = "28h", value_parser = one_age, help_heading = "Drive")]
    age: Ns,
    /// Temperature of the data that probes read, in °C
    #[arg(long, value_name = "DEGC", default_value = "55", value_parser = parse_temperature, help_heading = "Drive")]
    #[arg(allow_negative_numbers = true)]
    temperature: Temperature,
    /// Seed of the drive: its chips, bad blocks and whatever its firmware draws; several are as many drives
    #[arg(
        long,
        value_name = "N,...",
        default_value = "1",
        value_delimiter = ',',
        help_heading = "Drive"
    )]
    seed: Vec<u64>,
    #[command(flatten)]
    drives: DrivesArgs,
    /// Seed of the load
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Drive")]
    workload_seed: u64,
    #[command(flatten)]
    trace: TraceOptions,
    #[command(flatten)]
    form: FormArgs,
    /// Judge the reads at each stage: `read: p99=1.5ms p99.99=5ms max=20ms`; exit status 3 where a life fails one
    ///
    /// Targets are those of `run`. Judged is the load of --probe where one is given, and the standard probe otherwise. For
    /// each target it is said until how many bytes written it holds, from where on it fails, and what broke it.
    #[arg(long, value_name = "TARGETS", value_parser = Targets::parse, help_heading = "Output")]
    accept: Vec<Targets>,
    /// Also keep the result, a table over the life and a picture there
    ///
    /// The same command finds the result there, and says so. Of several drives each is kept when its life has ended: the
    /// same command, after any end, finds those and lives what is not there yet. A life is found by all that made it: load, drive, conditions, seeds, what is asked of it,
    /// and this program. What differs or is damaged is lived anew, and that is said.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    plan: PlanArgs,
}

fn parse_years(text: &str) -> Result<Years, String> {
    text.parse()
        .map_err(|_| "expected years above 0: 5, 5y".into())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e4 => Ok(rate),
        _ => Err("expected drive writes a day above 0, at most 10000".into()),
    }
}

/// A share above nothing.
fn parse_spare(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').unwrap_or(text).trim();
    match percent.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1_000.0 => Ok(percent),
        _ => Err("expected over-provisioning above 0 % and at most 1000 %: 7%,28%".into()),
    }
}

fn one_age(text: &str) -> Result<Ns, firstread_session::ConditionError> {
    single(parse_age, text)
}

fn one_pe_cycles(text: &str) -> Result<u32, firstread_session::ConditionError> {
    single(parse_pe_cycles, text)
}

impl LifeArgs {
    fn output(&self) -> Output<'_> {
        Output {
            form: self.form.form(),
            out: self.out.as_deref(),
            plan: self.plan.folder.as_deref(),
        }
    }

    /// The lives that are asked for, each on every drive, with what tells them apart.
    fn lives(&self) -> Result<Vec<(String, Life)>> {
        check_one_scheme_per_axis(self.schemes.iter().map(|c| c.axis.name))?;
        let input = Arc::new(Input::open_as(&self.load, &self.trace.args())?);
        understood::tell(&input, None)?;
        let probe = self.probes()?;
        let one = self.schemes.iter().filter_map(|c| match c.schemes[..] {
            [only] => Some(only),
            _ => None,
        });
        let base = Simulation {
            drive: self.drive.clone(),
            schemes: one.collect(),
            set: self.sets.clone(),
            seed: self.seed.first().copied().unwrap_or(1),
            wear_from: self.wear_from.clone(),
            state: DriveState {
                age: (self.age, self.age),
                pe_cycles: (self.pe_cycles, self.pe_cycles),
                temperature_c: self.temperature.first,
                temperature_step: self.temperature.step,
                fill: self.fill,
                workload_seed: self.workload_seed,
                ..usual_state()
            },
            ..Simulation::of(input)
        };
        let names = |c: &Choices| {
            let names = c.schemes.iter().map(|c| c.scheme.name.to_owned());
            (Varied::Scheme(c.axis), names.collect::<Vec<_>>())
        };
        let mut varied: Vec<_> = self.schemes.iter().map(names).collect();
        varied.retain(|(_, names)| names.len() > 1);
        let sweep = Sweep::of(varied);
        let mut lives = Vec::new();
        for (values, simulation) in sweep.simulations(&base)? {
            let named = sweep.varied.iter().zip(&values);
            let label: Vec<String> = named
                .map(|((varied, _), value)| format!("{}={value}", varied.name()))
                .collect();
            for (spare, simulation) in self.with_spare(&simulation)? {
                let label = [label.clone(), spare].concat().join(" ");
                let setup = simulation.setup().map_err(|error| match label.is_empty() {
                    true => error,
                    false => error.of(&label),
                })?;
                let life = Life {
                    setup: Setup {
                        interrupt: interrupt::handled(),
                        ..setup
                    },
                    terms: Terms {
                        until: self.until,
                        wear_rate: self.wear_rate,
                        warranty_years: self.warranty.0,
                        drive_writes_a_day: self.drive_writes_a_day,
                        probe_requests: probe.0,
                        probe_job: probe.1.clone(),
                    },
                };
                life.check().map_err(Error::from)?;
                accept::check(&all(&self.accept), &life)?;
                lives.push((label, life));
            }
        }
        Ok(lives)
    }

    /// `base` at each over-provisioning that is asked for, with what it is called where there are several.
    fn with_spare(&self, base: &Simulation) -> Result<Vec<(Vec<String>, Simulation)>> {
        let mut all = Vec::new();
        for percent in &self.over_provisioning {
            // Any capacity will do to know the raw bytes: the least.
            let mut simulation = base.clone();
            let slot = Override::new("capacity", "1 MiB");
            simulation.set.push(slot);
            let profile = simulation.setup()?.profile;
            let raw = profile.geometry.raw_bytes(profile.mode) as f64;
            let slot_bytes = u64::from(profile.geometry.slot_bytes);
            let slots = (raw / (1.0 + percent / 100.0)) as u64 / slot_bytes;
            let capacity = format!("{} B", slots * slot_bytes);
            let mut simulation = base.clone();
            simulation.set.push(Override::new("capacity", &capacity));
            let label = match self.over_provisioning.len() {
                1 => Vec::new(),
                _ => vec![format!("over_provisioning={percent}%")],
            };
            all.push((label, simulation));
        }
        if all.is_empty() {
            all.push((Vec::new(), base.clone()));
        }
        Ok(all)
    }

    /// Requests of a standard probe, and the load of another.
    fn probes(&self) -> Result<(u64, Option<ProbeJob>)> {
        let (mut requests, mut job) = (None, None);
        for text in &self.probe {
            if text.chars().all(|c| c.is_ascii_digit()) || parse_requests(text).is_ok() {
                if requests.is_some() {
                    return Err(Usage("--probe: two numbers of reads are given".into()).into());
                }
                requests = Some(match text.parse::<u64>() {
                    Ok(0) => 0,
                    _ => parse_requests(text)?,
                });
            } else if job.is_some() {
                return Err(Usage("--probe: two loads are given".into()).into());
            } else {
                job = Some(Arc::new(Input::open(text)?));
            }
        }
        let usual = Terms::default().probe_requests;
        let job = job.map(|input| ProbeJob {
            input,
            requests: requests.filter(|n| *n > 0).unwrap_or(REQUESTS_BY_JOB),
            precondition: self.precondition,
        });
        if job.is_none() && self.precondition != Precondition::None {
            let why = "--precondition is of the drive that a load of --probe finds; give one";
            return Err(Usage(why.into()).into());
        }
        Ok((requests.unwrap_or(usual), job))
    }
}

pub fn life(args: &LifeArgs) -> Result<()> {
    args.form.no_bins()?;
    let mut lives = args.lives()?;
    let seeds = args.drives.seeds(&args.seed)?;
    let (accept, output) = (all(&args.accept), args.output());
    if (lives.len(), seeds.len()) == (1, 1) {
        let (_, life) = lives.remove(0);
        let point = Point {
            name: "life".into(),
            ..Point::new(Arc::clone(&life.setup.input).title(), life.setup)
        };
        let point = point.of_life(life.terms);
        return runs::single(
            &point,
            output,
            crate::output::Has::default(),
            &OneLife { accept: &accept },
        );
    }
    let one = |(label, life): (String, Life)| Combination {
        values: vec![label.clone()],
        label,
        setup: life.setup,
        life: Some(life.terms),
    };
    let plan = Plan::new(
        Kind::Lives,
        None,
        lives.into_iter().map(one).collect(),
        &seeds,
        args.drives.threads,
        output,
    );
    runs::several(&plan, &Lives { accept: &accept })
}

/// How the only life is shown.
struct OneLife<'a> {
    accept: &'a [Target],
}

impl Single for OneLife<'_> {
    fn values(&self, _: &Point, finished: &Finished) -> Map<String, Value> {
        values(finished)
    }

    fn pages(&self, _: &Point, finished: &Finished) -> Vec<Page> {
        match finished {
            Finished::Life(of) => pages(&of.life, &of.outcome),
            Finished::Run(_) => Vec::new(),
        }
    }

    fn print(&self, form: Form, _: &Point, finished: &Finished) -> Result<()> {
        let Finished::Life(of) = finished else {
            bail!("a run was made in place of a life");
        };
        data(&match form {
            Form::Json => results::text(&life::json(&of.life, &of.outcome)),
            Form::Human => report::report(&of.life, &of.outcome),
        })
    }

    fn printed(&self, form: Form) -> Vec<&'static str> {
        match form {
            Form::Json => vec!["life.json"],
            Form::Human => vec!["life.txt"],
        }
    }

    fn acceptance(&self, point: &Point, values: &Map<String, Value>) -> Result<Option<Acceptance>> {
        let group = Group {
            label: "",
            lives: vec![(&point.setup, Summary::read(values)?)],
        };
        Ok(accept::judge(self.accept, &[group]))
    }
}
