//! Options that several sub-commands share, and how their values are read.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use firstread_core::Ns;
use firstread_drive::profile::Override;
use firstread_drive::{BurnIn, DriveState, EarlierFill, Precondition};
use firstread_session::conditions::{
    Temperature, Wear, parse_age, parse_earlier_fill, parse_fill, parse_requests, parse_speed,
    parse_temperature, parse_unpowered, parse_wear,
};
use firstread_session::{
    BurnInSetup, Choice, DEFAULT_DRIVE, Error, Input, Range, Simulation, TraceArg, TraceArgs,
};

/// The drive, and the state it is in when the workload begins.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Drive")]
pub struct DriveArgs {
    /// A shipped drive (`firstread list drives`) or the path of a drive profile
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_DRIVE)]
    pub drive: String,
    /// Set a value of the profile or a parameter of a scheme; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = Override::parse)]
    pub sets: Vec<Override>,
    /// Powered time since the drive was last written; with a range, superblocks differ in age
    #[arg(long, value_name = "TIME|FROM..TO", default_value = "28h", value_parser = parse_age)]
    pub age: Range<Ns>,
    /// Temperature of storage and reads, in °C; `25,55@24h` for 25 and, from 24 h of age on, 55
    #[arg(long, value_name = "DEGC[,DEGC@TIME]", default_value = "55", value_parser = parse_temperature)]
    #[arg(allow_negative_numbers = true)]
    pub temperature: Temperature,
    /// Program-erase cycles; a range spreads superblocks over wear, and `500,100@20%` is 100 in the last 20 % of them
    #[arg(long, value_name = "N|FROM..TO[,N@PERCENT]", default_value = "300", value_parser = parse_wear)]
    pub pe_cycles: Wear,
    /// The result of `firstread life --output json`: superblocks are worn as that life left them
    ///
    /// Each superblock in use has the P/E cycles that it had at the end of the life, and as many are retired. The drive
    /// has to have the geometry of the one that lived.
    #[arg(long, value_name = "FILE", conflicts_with = "pe_cycles")]
    pub wear_from: Option<PathBuf>,
    /// Time without power, after the powered time
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_unpowered)]
    pub unpowered: Ns,
    /// How long the data before these lived, which firmware has learned from; none for the first fill of a drive
    ///
    /// The drive was filled before, aged at the first temperature with one P/E cycle less, and was then erased and
    /// filled for this run: --age, --pe-cycles and all else are of this fill. What firmware learns of data beyond their
    /// erase is kept: CT-QLC's tables of read levels. With none the tables are empty when the drive has been filled.
    /// The default is what the profile of the drive says (history.earlier_fill): 8 d for ct-qlc, none for most
    /// drives. A drive of 0 P/E cycles, or one that is empty, has none.
    #[arg(long, value_name = "TIME|none|default", default_value = "default", value_parser = parse_earlier_fill)]
    pub earlier_fill: EarlierFill,
    /// Share of the capacity that was written before the workload begins
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = parse_fill)]
    pub fill: f64,
    /// How the written share was overwritten afterwards: none (written once, in address order), random, zipf:THETA
    ///
    /// random and zipf put the drive into the steady state of random overwrites of one mapping unit
    /// each. The state is computed, not simulated: every superblock holds the valid and stale data
    /// that the scheme of garbage collection would leave, and garbage collection is active from the first write on.
    /// The hot pages of zipf are those of the first job of a file with `random_distribution=zipf:THETA` and the same
    /// workload seed. The age then counts from the last overwrite. A superblock filled earlier is older by the time
    /// that the later ones took to fill.
    #[arg(long, value_name = "LOAD", default_value = "none", value_parser = Precondition::parse)]
    pub precondition: Precondition,
    /// Seed of the drive: its chips, bad blocks and whatever its firmware draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Seed of the load: addresses, sizes, times, the hot pages of --precondition
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workload_seed: u64,
}

impl DriveArgs {
    /// The state asked for.
    fn state(&self) -> DriveState {
        DriveState {
            age: self.age.into(),
            pe_cycles: self.pe_cycles.pe_cycles.into(),
            last: self.pe_cycles.last,
            temperature_c: self.temperature.first,
            temperature_step: self.temperature.step,
            hottest_in_run_c: None,
            unpowered: self.unpowered,
            earlier_fill: self.earlier_fill,
            fill: self.fill,
            precondition: self.precondition,
            workload_seed: self.workload_seed,
        }
    }

    /// `input` on this drive with `schemes`.
    pub fn simulation(
        &self,
        input: &Arc<Input>,
        schemes: &[Choice],
        limit: Option<u64>,
    ) -> Simulation {
        Simulation {
            input: Arc::clone(input),
            drive: self.drive.clone(),
            schemes: schemes.to_vec(),
            set: self.sets.clone(),
            state: self.state(),
            seed: self.seed,
            limit,
            burn_in: None,
            wear_from: self.wear_from.clone(),
        }
    }
}

/// How the drive is burnt in.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Drive")]
pub struct BurnInArgs {
    /// Run the workload, or this one, until writes are in a steady state; then measure
    ///
    /// The drive is filled and aged first. Its burn-in ends once write amplification and the pages moved for each
    /// reason are steady, by the test that decides `steady` of a run (docs/writes.md); its length is printed. The
    /// measured run issues the requests that it would issue without a burn-in.
    #[arg(long, value_name = "WORKLOAD", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    burn_in: Option<String>,
    /// Capacities of the drive after which a burn-in ends, steady or not
    #[arg(long, value_name = "DRIVE_WRITES", default_value_t = BurnIn::MOST_DRIVE_WRITES, value_parser = drive_writes)]
    burn_in_limit: f64,
}

impl BurnInArgs {
    /// The burn-in asked for; by the workload itself where none is named.
    pub fn setup(&self) -> Result<Option<BurnInSetup>, Error> {
        let workload = match self.burn_in.as_deref() {
            None => return Ok(None),
            Some("") => None,
            Some(name) => Some(Arc::new(Input::open(name)?)),
        };
        Ok(Some(BurnInSetup {
            workload,
            most_drive_writes: self.burn_in_limit,
        }))
    }
}

fn drive_writes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n <= 1e6 => Ok(n),
        _ => Err("expected a number of drive writes above 0, at most a million".into()),
    }
}

/// How the workload is read and how much of it is run.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Workload")]
pub struct WorkloadArgs {
    /// Format of a trace, where its content does not tell (`firstread list traces`)
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,
    /// Move a trace's requests past the end of the drive to their offset modulo its size
    #[arg(long)]
    pub trace_wrap: bool,
    /// Give a trace record whose time goes back the time of the record before it
    #[arg(long)]
    pub trace_clamp: bool,
    /// Run only the requests of one device of a trace
    #[arg(long, value_name = "N")]
    pub trace_device: Option<u32>,
    /// Replay a trace this many times faster
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,
    /// Stop after this many requests
    #[arg(long, value_name = "N", value_parser = parse_requests)]
    pub limit: Option<u64>,
}

impl WorkloadArgs {
    /// How a trace is read.
    pub fn trace(&self) -> TraceArgs {
        TraceArgs {
            format: self.trace_format.clone(),
            wrap: self.trace_wrap,
            clamp: self.trace_clamp,
            device: self.trace_device,
            speed: self.speed,
        }
    }
}

/// The command-line option that sets it.
pub const fn option_of(arg: TraceArg) -> &'static str {
    match arg {
        TraceArg::Format => "--trace-format",
        TraceArg::Wrap => WRAP,
        TraceArg::Clamp => CLAMP,
        TraceArg::Device => "--trace-device",
        TraceArg::Speed => "--speed",
    }
}

/// Moves requests past the end of the drive.
pub const WRAP: &str = "--trace-wrap";
/// Allows records that go back in time.
pub const CLAMP: &str = "--trace-clamp";

/// How many drives run the same load, and how many of them at a time.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Drive")]
pub struct DrivesArgs {
    /// Drives with seeds from --seed up and the same load: each figure with its spread over them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub drives: u16,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What is printed and kept.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// What is printed
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Human)]
    pub output: Form,
    /// Also keep the result, the latency distribution and the calibration log in files there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Form {
    /// Tables to read
    Human,
    /// JSON, with the keys of fio's own
    Json,
}

/// A usage error that the option parser cannot find: an unknown name, or options that
/// exclude each other.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
