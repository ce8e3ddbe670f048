//! `firstread life`: how long a drive lives under a load, and how its reads age.
//!
//! - `report`: tables of it. `picture`: its figure. `pages`: its files. `drives`: the same of several drives.

mod drives;
mod pages;
#[cfg(feature = "figures")]
mod picture;
mod report;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use firstread_core::Ns;
use firstread_drive::DriveState;
use firstread_drive::profile::Override;
use firstread_session::conditions::{
    Temperature, parse_age, parse_fill, parse_pe_cycles, parse_requests, parse_temperature, single,
    usual_state,
};
use firstread_session::life::{self, Life, Terms, Until, Years};
use firstread_session::{
    Alone, Choice, DEFAULT_DRIVE, Error, Finished, Input, Point, Setup, Simulation, results,
};
use serde_json::Map;

use crate::args::{DrivesArgs, Form, FormArgs, Interrupted, TraceOptions};
use crate::interrupt;
use crate::matrix::kept;
use crate::output::format::count;
use crate::output::understood;
use crate::progress::Bars;
use crate::run::check_one_scheme_per_axis;
use crate::streams::data;

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
  firstread life job.fio --until years=5 --drive-writes-a-day 3 --out life
      five years at three drive writes a day; tables and a picture in the folder `life`

All of the firmware runs over flash without time, so lives take minutes. A life of a drive with
fewer wordlines a block is that of a smaller drive: write amplification and wear are nearly the
same, bytes are in proportion. With --wear-rate K each erase counts as K cycles; the life is lived
again at K/2, and refused where the corrected results differ by more than 2 %: docs/life.md.

Exit status: 0 however the life ends, 1 on an error, 2 when the command line is wrong, 130 when it
was interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: what it had until then is
printed and kept.";

/// Run a load until the drive's life ends: bytes written, wear, bad blocks, and how reads age
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LifeArgs {
    /// A fio job file or a trace, a shipped example, or a stand-in; run again and again
    load: String,
    /// Choose a scheme (`firstread list schemes`); may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=NAME", value_parser = Choice::from_str)]
    schemes: Vec<Choice>,
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
    /// Reads of each probe at the stages of the life; 0 for no probes
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    probe: u64,
    /// A shipped drive (`firstread list drives`) or the path of a drive profile
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_DRIVE, help_heading = "Drive")]
    drive: String,
    /// Set a value of the profile or a parameter of a scheme; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = Override::parse, help_heading = "Drive")]
    sets: Vec<Override>,
    /// Program-erase cycles at the beginning of the life
    #[arg(long, value_name = "N", default_value = "0", value_parser = one_pe_cycles, help_heading = "Drive")]
    pe_cycles: u32,
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
    /// Also keep the result, a table over the life and a picture there
    ///
    /// The same command finds the result there, and says so. Of several drives each is kept when its life has ended: the
    /// same command, after any end, finds those and lives what is not there yet. A life is found by all that made it: load, drive, conditions, seeds, what is asked of it,
    /// and this program. What differs or is damaged is lived anew, and that is said.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
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

fn one_age(text: &str) -> Result<Ns, firstread_session::ConditionError> {
    single(parse_age, text)
}

fn one_pe_cycles(text: &str) -> Result<u32, firstread_session::ConditionError> {
    single(parse_pe_cycles, text)
}

impl LifeArgs {
    fn life(&self) -> Result<Life> {
        check_one_scheme_per_axis(self.schemes.iter().map(|c| c.axis.name))?;
        let input = Arc::new(Input::open_as(&self.load, &self.trace.args())?);
        understood::tell(&input, None)?;
        let simulation = Simulation {
            drive: self.drive.clone(),
            schemes: self.schemes.clone(),
            set: self.sets.clone(),
            seed: self.seed.first().copied().unwrap_or(1),
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
        Ok(Life {
            setup: Setup {
                interrupt: interrupt::handled(),
                ..simulation.setup()?
            },
            terms: Terms {
                until: self.until,
                wear_rate: self.wear_rate,
                warranty_years: self.warranty.0,
                drive_writes_a_day: self.drive_writes_a_day,
                probe_requests: match self.probe {
                    0 => 0,
                    n => parse_requests(&n.to_string())?,
                },
            },
        })
    }
}

pub fn life(args: &LifeArgs) -> Result<()> {
    let life = args.life()?;
    let seeds = args.drives.seeds(&args.seed)?;
    if seeds.len() > 1 {
        let threads = args.drives.threads;
        return drives::lives(
            &life,
            &seeds,
            threads,
            args.out.as_deref(),
            args.form.form(),
        );
    }
    live_one(args, life)
}

/// Lives it on one drive.
fn live_one(args: &LifeArgs, life: Life) -> Result<()> {
    let point = Point {
        name: "life".into(),
        ..Point::new(Arc::clone(&life.setup.input).title(), life.setup)
    };
    let point = point.of_life(life.terms);
    let store = kept::store_of_one(args.out.as_deref(), "life", false)?;
    let made = |_: &Point, finished: &Finished| {
        let pages = match finished {
            Finished::Life(of) => pages::pages(&of.life, &of.outcome),
            Finished::Run(_) => Vec::new(),
        };
        let pages = pages.into_iter().map(|(name, page)| (name.into(), page));
        (Map::new(), pages.collect())
    };
    let alone = match point.alone(&Bars::default(), &store, made) {
        Err(Error::Interrupted) => {
            return Err(Interrupted(" before the first request".into()).into());
        }
        alone => alone?,
    };
    kept::tell_found_alone(&point.label, &alone, "life");
    let (life, outcome) = match &alone {
        Alone::Found(_) => {
            let page = match args.form.form() {
                Form::Json => "life.json",
                Form::Human => "life.txt",
            };
            return data(&store.page(page)?);
        }
        Alone::Ran(Finished::Life(of), _) => (&of.life, &of.outcome),
        Alone::Ran(Finished::Run(_), _) => bail!("a run was made in place of a life"),
    };
    match args.form.form() {
        Form::Json => data(&results::text(&life::json(life, outcome)))?,
        Form::Human => data(&report::report(life, outcome))?,
    }
    match outcome.interrupted {
        true => {
            let requests = count(outcome.lived.requests);
            Err(Interrupted(format!(" after {requests} requests")).into())
        }
        false => Ok(()),
    }
}
