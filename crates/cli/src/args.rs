//! Options that several sub-commands share, and how their values are read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use firstread_core::Ns;
use firstread_drive::profile::{Override, Problem};
use firstread_drive::{BurnIn, DriveState, EarlierFill, Precondition};
use firstread_session::conditions::{
    Condition, parse_earlier_fill, parse_fill, parse_requests, parse_speed, parse_unpowered,
    usual_state,
};
use firstread_session::{
    BurnInSetup, Choices, ConditionError, DEFAULT_DRIVE, Error, Input, Simulation, Sweep, TraceArg,
    TraceArgs, Varied, Watched,
};

/// The drive, and the state it is in when the workload begins.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Drive")]
pub struct DriveArgs {
    /// A shipped drive (`firstread list drives`) or the path of a drive profile; of several, each is run
    #[arg(long, value_name = "NAME|FILE,...", default_value = DEFAULT_DRIVE, value_delimiter = ',')]
    pub drive: Vec<String>,
    /// Set a value of the profile or a parameter of a scheme; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE,...", value_parser = SetList::parse)]
    pub sets: Vec<SetList>,
    /// Powered time since the drive was last written: `28h`, `2d3h`; with a range, superblocks differ in age
    ///
    /// Units are s, min, h, d, mo (30 d) and y (365 d); a bare number is in hours.
    #[arg(
        long,
        value_name = "TIME|FROM..TO,...",
        default_value = "28h",
        value_delimiter = ','
    )]
    #[arg(value_parser = |text: &str| said(Condition::Age, text))]
    pub age: Vec<String>,
    /// Temperature of storage and reads, in °C; `25,55@24h` for 25 and, from 24 h of age on, 55; repeat it for several
    #[arg(
        long,
        value_name = "DEGC[,DEGC@TIME]",
        default_value = "55",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = |text: &str| said(Condition::Temperature, text))]
    pub temperature: Vec<String>,
    /// Program-erase cycles: `300`, `1.5k`; a range spreads superblocks over wear
    #[arg(
        long,
        value_name = "N|FROM..TO,...",
        default_value = "300",
        value_delimiter = ','
    )]
    #[arg(value_parser = |text: &str| said(Condition::PeCycles, text))]
    pub pe_cycles: Vec<String>,
    /// The result of `firstread life --json`: superblocks are worn as that life left them
    ///
    /// Each superblock has the P/E cycles that it had at the end of the life, and those that were retired are retired. The
    /// drive has to have the geometry of the one that lived.
    #[arg(long, value_name = "FILE", conflicts_with = "pe_cycles")]
    pub wear_from: Option<PathBuf>,
    /// Time without power, after the powered time
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_unpowered)]
    pub unpowered: Ns,
    /// Age that earlier data of the drive had reached when they were erased for this fill; `none`: its first fill
    ///
    /// The drive was filled before, aged at the first temperature with one P/E cycle less, and was then erased and
    /// filled for this run: --age, --pe-cycles and all else are of this fill. What firmware learns of data beyond their
    /// erase is kept: CT-QLC's tables of read levels. With none the tables are empty when the drive has been filled.
    /// The default is what the profile of the drive says (history.earlier_fill): 8 d for dc-qlc-15t, none for most
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
    /// Seed of the drive: its chips, bad blocks and whatever its firmware draws; several are as many drives
    #[arg(long, value_name = "N,...", default_value = "1", value_delimiter = ',')]
    pub seed: Vec<u64>,
    /// Seed of the load: addresses, sizes, times, the hot pages of --precondition
    #[arg(long, value_name = "N,...", default_value = "1", value_delimiter = ',')]
    pub workload_seed: Vec<u64>,
}

/// `text`, which has to say `condition`.
fn said(condition: Condition, text: &str) -> Result<String, ConditionError> {
    condition.set(&mut usual_state(), text)?;
    Ok(text.trim().to_owned())
}

/// A path of a profile, and values for it.
#[derive(Clone, Debug)]
pub struct SetList {
    path: String,
    values: Vec<String>,
}

impl SetList {
    /// Reads `PATH=A,B`. A comma within brackets or quotes is one of the value.
    fn parse(text: &str) -> Result<SetList, Problem> {
        let all = Override::parse(text)?;
        let values = listed(&all.value).into_iter();
        let one = |value: &str| Override::parse(&format!("{}={value}", all.path)).map(|o| o.value);
        Ok(SetList {
            values: values.map(one).collect::<Result<_, _>>()?,
            path: all.path,
        })
    }
}

/// An option of fio's, and values for it.
#[derive(Clone, Debug)]
pub struct JobList {
    key: String,
    values: Vec<String>,
}

impl JobList {
    /// Reads `KEY=A,B`.
    fn parse(text: &str) -> Result<JobList, String> {
        let (key, values) = text.split_once('=').unwrap_or_default();
        let values = listed(values).into_iter();
        let values: Vec<String> = values.map(|v| without_brackets(v).to_owned()).collect();
        match key.trim() {
            key if !key.is_empty() && values.iter().all(|v| !v.is_empty()) => Ok(JobList {
                key: key.to_owned(),
                values,
            }),
            _ => Err("expected KEY=VALUE or KEY=A,B, as in iodepth=1,8,32".into()),
        }
    }
}

/// `value` without the brackets or quotes that made its commas its own.
fn without_brackets(value: &str) -> &str {
    let within = |open, close| value.strip_prefix(open)?.strip_suffix(close);
    within('[', ']')
        .or(within('"', '"'))
        .unwrap_or(value)
        .trim()
}

/// Reads `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(plain)
    };
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, as in DEV=/dev/nvme0n1".into()),
    }
}

/// The parts of `text` between commas outside of brackets and quotes.
fn listed(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0usize, false);
    let parts = text.split(|c: char| {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    });
    parts.map(str::trim).collect()
}

impl DriveArgs {
    /// What is given several values, with those of `schemes` and `jobs`, in the order in which they are crossed.
    ///
    /// # Errors
    /// [`Usage`] where a value is given twice.
    pub fn sweep(&self, schemes: &[Choices], jobs: &[JobList]) -> Result<Sweep, Usage> {
        let text = |seeds: &[u64]| seeds.iter().map(u64::to_string).collect::<Vec<_>>();
        let names = |choices: &Choices| {
            let each = choices.schemes.iter();
            (
                Varied::Scheme(choices.axis),
                each.map(|c| c.scheme.name.to_owned()).collect(),
            )
        };
        let mut all: Vec<(Varied, Vec<String>)> = schemes.iter().map(names).collect();
        all.push((Varied::Drive, self.drive.clone()));
        all.extend(
            self.sets
                .iter()
                .map(|set| (Varied::Set(set.path.clone()), set.values.clone())),
        );
        all.extend(
            jobs.iter()
                .map(|job| (Varied::Job(job.key.clone()), job.values.clone())),
        );
        for (condition, values) in [
            (Condition::WorkloadSeed, text(&self.workload_seed)),
            (Condition::Temperature, self.temperature.clone()),
            (Condition::PeCycles, self.pe_cycles.clone()),
            (Condition::Age, self.age.clone()),
        ] {
            all.push((Varied::State(condition), values));
        }
        all.retain(|(_, values)| values.len() > 1);
        for (varied, values) in &all {
            let twice = values
                .iter()
                .enumerate()
                .find(|(i, v)| values[..*i].contains(v));
            if let Some((_, value)) = twice {
                return Err(Usage(format!(
                    "{}: `{value}` is given twice",
                    varied.name()
                )));
            }
        }
        Ok(Sweep::of(all))
    }

    /// `input` on this drive, with all that is given a single value.
    ///
    /// # Errors
    /// [`Error`] where an option of `jobs` does not fit the workload.
    pub fn simulation(
        &self,
        input: &Arc<Input>,
        schemes: &[Choices],
        args: &WorkloadArgs,
    ) -> Result<Simulation, Error> {
        let mut state = DriveState {
            unpowered: self.unpowered,
            earlier_fill: self.earlier_fill,
            fill: self.fill,
            precondition: self.precondition,
            workload_seed: self.workload_seed[0],
            ..usual_state()
        };
        Condition::Age.set(&mut state, &self.age[0])?;
        Condition::Temperature.set(&mut state, &self.temperature[0])?;
        Condition::PeCycles.set(&mut state, &self.pe_cycles[0])?;
        let mut input = Arc::clone(input);
        for JobList { key, values } in &args.jobs {
            if let [one] = &values[..] {
                input = Arc::new(input.with_option(key, one)?);
            }
        }
        let single = |choices: &&Choices| choices.schemes.len() == 1;
        let sets = self.sets.iter().filter(|set| set.values.len() == 1);
        Ok(Simulation {
            input,
            drive: self.drive[0].clone(),
            schemes: schemes
                .iter()
                .filter(single)
                .map(|c| c.schemes[0])
                .collect(),
            set: sets
                .map(|set| Override::new(&set.path, &set.values[0]))
                .collect(),
            state,
            seed: self.seed[0],
            limit: args.limit,
            burn_in: None,
            wear_from: self.wear_from.clone(),
            split: None,
            watched: Watched::default(),
        })
    }
}

/// How the drive is burnt in.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Drive")]
pub struct BurnInArgs {
    /// Run the workload, or this one, until writes are in a steady state; then measure
    ///
    /// The drive is filled and aged first. Its burn-in ends once its superblocks have been turned over, and write
    /// amplification and the pages moved for each reason are steady (docs/writes.md); its length is printed. The
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

/// How a trace is read.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Workload")]
pub struct TraceOptions {
    /// Format of a trace, where its content does not tell (`firstread list traces`)
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,
    /// Columns of a trace in a format of one's own, in their order: time:us,op,offset:B,size:B
    ///
    /// Columns are separated by commas, semicolons or blanks, which the first line tells; it may be
    /// a header. Lines that begin with # are comments. Numbers may be in quotes, in hexadecimal
    /// (0x1000) or have thousands (1,048,576).
    ///   time:UNIT    ns, 100ns, us, ms or s; decimals are allowed. Without it requests come as
    ///                fast as the queue takes them
    ///   op           R, W, read, write, trim, discard, flush, RS, WSM, ...; op:r0w1 and op:r1w0
    ///                are 0 and 1. Without it all are reads
    ///   offset:UNIT  first byte, in units of B, sector (512 B), 4KiB, ...
    ///   size:UNIT    length, in the same units
    ///   device       number of a volume
    ///   placement    placement handle of a write (NVMe's FDP), from 0 on
    ///   -            a column that is not used; ... at the end stands for all that follow
    #[arg(
        long,
        value_name = "SPEC",
        verbatim_doc_comment,
        allow_hyphen_values = true
    )]
    pub trace_columns: Option<String>,
    /// A regular expression for the lines of any text: its named groups are the columns
    ///
    /// Groups have the names of columns, with the unit behind an underscore: `(?<time_us>...)`, `(?<op>...)`,
    /// `(?<offset_B>...)`, `(?<offset_sector>...)`, `(?<size_B>...)`, `(?<size_4KiB>...)`, `(?<device>...)`, `(?<placement>...)`. Lines that do not match
    /// are skipped, which is said.
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub trace_regex: Option<String>,
    /// Move a trace's requests past the end of the drive to their offset modulo its size
    #[arg(long)]
    pub trace_wrap: bool,
    /// Give a record of a trace whose time goes back the time of the record above it
    #[arg(long)]
    pub trace_clamp: bool,
    /// Run only the requests of one device of a trace
    #[arg(long, value_name = "N")]
    pub trace_device: Option<u32>,
    /// Replay a trace this many times faster
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,
}

/// How the workload is read and how much of it is run.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Workload")]
pub struct WorkloadArgs {
    #[command(flatten)]
    pub trace: TraceOptions,
    /// Stop after this many measured requests: `200000`, `200k`, `1M`
    ///
    /// Requests within a ramp (ramp_time) are not among them. Of a job file whose jobs run one group after another
    /// (stonewall), each group ends after so many.
    #[arg(long, value_name = "N", value_parser = parse_requests)]
    pub limit: Option<u64>,
    /// Set an option of fio in all jobs of a job file: iodepth=1,8,32, bs=4k,64k, numjobs=1,4; may be given often
    ///
    /// Of one section alone: writer.rate_iops=100. A list that is one value stands in brackets or quotes, as in
    /// `bs=[4k,64k]` for reads of 4 KiB and writes of 64 KiB.
    #[arg(long = "job", value_name = "[SECTION.]KEY=VALUE,...", value_parser = JobList::parse)]
    pub jobs: Vec<JobList>,
    /// The value of ${NAME} in a job file, where the environment has none or another one; may be given often
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    pub vars: Vec<(String, String)>,
}

impl WorkloadArgs {
    /// The workload called `name`, or that of the command line `fio`.
    ///
    /// # Errors
    /// [`Error`] where there is none.
    pub fn open(&self, name: Option<&str>, fio: &[String]) -> anyhow::Result<Input> {
        let args = TraceArgs {
            vars: self.vars.clone(),
            ..self.trace.args()
        };
        match (name, fio) {
            (Some(name), []) => Ok(Input::open_as(name, &args)?),
            (None, words) => {
                if let Some(arg) = args.given() {
                    let not = format!("{} is for traces, and behind -- is a job", option_of(arg));
                    return Err(Usage(not).into());
                }
                Ok(Input::command_line(words, &self.vars)?)
            }
            (Some(name), _) => Err(Usage(format!(
                "{name} is a workload, and so is the command line behind --: give one of them"
            ))
            .into()),
        }
    }
}

impl TraceOptions {
    /// The same, as sessions take it.
    pub fn args(&self) -> TraceArgs {
        TraceArgs {
            format: self.trace_format.clone(),
            columns: self.trace_columns.clone(),
            pattern: self.trace_regex.clone(),
            wrap: self.trace_wrap,
            clamp: self.trace_clamp,
            device: self.trace_device,
            speed: self.speed,
            vars: Vec::new(),
        }
    }
}

/// The command-line option that sets it.
pub const fn option_of(arg: TraceArg) -> &'static str {
    match arg {
        TraceArg::Format => "--trace-format",
        TraceArg::Columns => "--trace-columns",
        TraceArg::Pattern => "--trace-regex",
        TraceArg::Wrap => WRAP,
        TraceArg::Clamp => CLAMP,
        TraceArg::Device => "--trace-device",
        TraceArg::Speed => "--speed",
        TraceArg::JobOption => "--job",
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

impl DrivesArgs {
    /// The seeds of the drives: those given, or as many as --drives says from the one that is.
    ///
    /// # Errors
    /// [`Usage`] where both are given, or a seed twice.
    pub fn seeds(self, given: &[u64]) -> Result<Vec<u64>, Usage> {
        match (given, self.drives) {
            ([first], drives) => Ok((0..u64::from(drives))
                .map(|i| first.wrapping_add(i))
                .collect()),
            (seeds, 1) => {
                let twice = seeds
                    .iter()
                    .enumerate()
                    .find(|(i, s)| seeds[..*i].contains(s));
                match twice {
                    Some((_, seed)) => Err(Usage(format!("--seed {seed} is given twice"))),
                    None => Ok(seeds.to_vec()),
                }
            }
            _ => Err(Usage(
                "--seed takes one seed beside --drives, which counts up from it".into(),
            )),
        }
    }
}

/// What is printed.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct FormArgs {
    /// What is printed: `human`, tables to read, `json`, or of one run `json+`, with the bins of fio's json+
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Printed::Human)]
    #[arg(hide_possible_values = true)]
    output: Printed,
    /// The same as --output json
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// What is printed and kept.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    pub form: FormArgs,
    /// Also keep the result, the latency distribution and the calibration log in files there
    ///
    /// The same command finds the result there, and says so. Of several runs (lists of values, --drives, compare) the
    /// folder has the tables, and the result of each run from when that run ended: the same command, after any end,
    /// finds those and runs what is not there yet. A result is found by all that made it: workload, drive, conditions,
    /// seeds, limits and this program. What differs or is damaged is run anew, and that is said.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub plan: PlanArgs,
}

/// Whether runs are written down and not made.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// Run nothing: write what would be run there, a file a point, for other processes and machines
    ///
    /// `firstread point` runs points; the same command with --out and without --plan prints what they came to. With
    /// --out, points that have a result there are left out (docs/many-machines.md).
    #[arg(long = "plan", value_name = "DIR", help_heading = "Output")]
    pub folder: Option<PathBuf>,
}

/// What is printed, and the folder where it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    pub form: Form,
    pub out: Option<&'a Path>,
    /// Where points are written down and not run.
    pub plan: Option<&'a Path>,
}

impl OutputArgs {
    pub fn output(&self) -> Output<'_> {
        Output {
            form: self.form.form(),
            out: self.out.as_deref(),
            plan: self.plan.folder.as_deref(),
        }
    }

    /// Whether results go to a folder, by this command or by whoever runs what it plans.
    pub fn is_kept(&self) -> bool {
        self.out.is_some() || self.plan.folder.is_some()
    }
}

impl FormArgs {
    pub fn form(self) -> Form {
        match (self.json, self.output) {
            (false, Printed::Human) => Form::Human,
            _ => Form::Json,
        }
    }

    /// Whether JSON has the distribution of latencies, as fio's `json+`.
    pub fn has_bins(self) -> bool {
        !self.json && self.output == Printed::JsonPlus
    }

    /// That `json+` is not asked of a command that makes no single run.
    ///
    /// # Errors
    /// [`Usage`] where it is.
    pub fn no_bins(self) -> Result<(), Usage> {
        match self.has_bins() {
            true => Err(Usage("--output json+ is of one run: use json".into())),
            false => Ok(()),
        }
    }
}

/// What the command line has for a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Printed {
    /// Tables to read
    Human,
    /// JSON; that of runs has fio's keys
    Json,
    /// The same with fio's bins of latency
    #[value(name = "json+")]
    JsonPlus,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Tables to read
    Human,
    /// JSON; that of runs has fio's keys
    Json,
}

/// A command that was interrupted and has printed what it has: [`crate::interrupt::status`].
#[derive(Debug)]
pub struct Interrupted(pub String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted{}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// A usage error that the option parser cannot find: an unknown name, or options that
/// exclude each other.
#[derive(Debug)]
pub struct Usage(pub String);

/// Refuses `option` for a command that makes several runs.
///
/// # Errors
/// [`Usage`] unless `is_one` says that it makes one.
pub fn of_one_run(option: &str, is_one: bool) -> Result<(), Usage> {
    match is_one {
        true => Ok(()),
        false => Err(Usage(format!(
            "{option} is of one run: of lists of values, --drives or several seeds, give one"
        ))),
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
