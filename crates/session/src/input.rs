//! A workload: a job file, a trace, a shipped example or a stand-in. Its name and its content decide which it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use firstread_drive::profile::DriveProfile;
use firstread_drive::under_log;
use firstread_workload::fio::{ReadFile, UnreadFile};
use firstread_workload::synthetic::STAND_INS;
use firstread_workload::trace::TimeBack;
use firstread_workload::trace::{Columns, Pattern, Understood};
use firstread_workload::{
    Format, Location, Notice, StandIn, TraceOptions, TraceReader, Workload, WorkloadError, fio,
};
use serde_json::{Value, json};

use crate::content::Content;
use crate::error::{Error, Given, NotATrace, TraceArg};
use crate::files::{self, FileError};
use crate::mqsim::{self, Scenario};
use crate::names::Unknown;

macro_rules! examples {
    ($($name:literal: $summary:literal,)*) => {
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            summary: $summary,
            text: include_str!(concat!(env!("FIRSTREAD_JOBS"), "/", $name, ".fio")),
        }),*];
    };
}

examples! {
    "randread-64k-qd128": "random reads of 64 KiB, 128 at a time: CT-QLC's tail experiment",
    "randread-4k-qd1": "random reads of 4 KiB, one at a time: the latency of the drive itself",
    "randread-4k-qd32": "random reads of 4 KiB, 32 at a time",
    "seqread-128k-qd32": "sequential reads of 128 KiB, 32 at a time",
    "mixed-70-30": "random 4 KiB, 70 % reads and 30 % writes, 32 at a time",
    "jesd219-enterprise": "JESD219 for enterprise drives: 60 % writes of 512 bytes to 64 KiB, half of them to 5 % of the drive",
    "write-wait-read": "phases: writes, reads at once, reads after 30 days at another temperature",
}

/// The client workload of JESD219, which is a recorded trace and no rule.
const CLIENT_WORKLOAD: &str = "jesd219-client";

/// A shipped job file.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name, without ending.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    pub text: &'static str,
}

impl Example {
    /// The example called `name`, with or without its ending.
    pub fn find(name: &str) -> Option<&'static Example> {
        let name = name.strip_suffix(".fio").unwrap_or(name);
        EXAMPLES.iter().find(|e| e.name == name)
    }
}

/// A workload, ready to be run as often as there are drives.
///
/// ```
/// use firstread_session::Input;
///
/// let input = Input::open("randread-4k-qd1")?;
/// assert_eq!(input.title(), "randread-4k-qd1");
/// # Ok::<(), firstread_session::Error>(())
/// ```
#[derive(Debug)]
pub enum Input {
    /// A fio job file.
    Jobs {
        workload: Workload,
        /// Text of the job file.
        text: String,
        /// Texts of the files that it names, by the names that it has for them.
        named: BTreeMap<String, String>,
    },
    Trace(Box<Trace>),
    /// A synthetic stream with the published statistics of a trace that cannot be shipped.
    StandIn {
        /// The trace that it replaces.
        row: &'static StandIn,
        /// How much faster than recorded it is replayed.
        speed: f64,
    },
}

/// How to read a trace, where its content does not say.
#[derive(Clone, Default, Debug)]
pub struct TraceArgs {
    /// Name of its format; none to detect the format from the content.
    pub format: Option<String>,
    /// Columns of a text whose format is none that has a name, as [`Columns::parse`] takes them; none otherwise.
    pub columns: Option<String>,
    /// An expression that the lines of requests match, as [`Pattern::parse`] takes it; none otherwise.
    pub pattern: Option<String>,
    /// Requests past the end of the drive wrap around: their offset is taken modulo the capacity.
    pub wrap: bool,
    /// A record whose time is earlier than that of the record before it gets the earlier record's time.
    pub clamp: bool,
    /// Device whose requests are run; none for all devices.
    pub device: Option<u32>,
    /// Replay speed relative to the recording; none for the recorded speed.
    pub speed: Option<f64>,
    /// Values of `${NAME}` in a job file, before those of the environment.
    pub vars: Vec<(String, String)>,
}

impl TraceArgs {
    /// The first option given; of a job file there are none.
    pub fn given(&self) -> Option<TraceArg> {
        self.of_files().or(self.speed.map(|_| TraceArg::Speed))
    }

    /// The first option given that applies only to a trace file.
    fn of_files(&self) -> Option<TraceArg> {
        let made = [
            (TraceArg::Format, self.format.is_some()),
            (TraceArg::Columns, self.columns.is_some()),
            (TraceArg::Pattern, self.pattern.is_some()),
            (TraceArg::Wrap, self.wrap),
            (TraceArg::Clamp, self.clamp),
            (TraceArg::Device, self.device.is_some()),
        ];
        made.iter().find(|(_, made)| *made).map(|(arg, _)| *arg)
    }
}

/// A trace, opened anew for each run.
#[derive(Debug)]
pub struct Trace {
    /// Its name for messages.
    pub name: String,
    source: Source,
    /// How it is read, as it was asked for.
    pub(crate) args: TraceArgs,
    /// The same, understood; the capacity is filled in later.
    options: TraceOptions,
    /// Its content, once that was asked for: from then on it is read only as long as it has just that.
    content: OnceLock<Content>,
}

#[derive(Debug)]
enum Source {
    File(PathBuf),
    /// Content of the standard input, which cannot be read twice.
    Memory(Vec<u8>),
}

/// Bytes inspected to decide between a job file and a trace.
const HEAD_BYTES: usize = 64 << 10;

impl Input {
    /// The workload called `name`: the path of a job file or trace, plain or compressed; [`files::STDIN`] for the
    /// standard input; a shipped example ([`EXAMPLES`]); a stand-in.
    ///
    /// # Errors
    /// [`Error`] where there is none or it cannot be read.
    pub fn open(name: &str) -> Result<Input, Error> {
        Input::open_as(name, &TraceArgs::default())
    }

    /// The same, a trace read as `args` say.
    ///
    /// # Errors
    /// [`Error::NotATrace`] where `args` has an option for traces and the input is none; otherwise as [`Input::open`].
    pub fn open_as(name: &str, args: &TraceArgs) -> Result<Input, Error> {
        if let Some((file, number)) = numbered(name) {
            return Input::mqsim(file, Some(number), args);
        }
        let path = Path::new(name);
        if let (false, Ok(row)) = (files::is_file(path), StandIn::find(name)) {
            return Input::stand_in(row, args);
        }
        let source = if name == files::STDIN {
            Source::Memory(files::read_stdin()?)
        } else if files::is_file(path) {
            Source::File(path.to_owned())
        } else if let Some(example) = Example::find(name) {
            Source::Memory(example.text.as_bytes().to_vec())
        } else if name.contains(['/', '\\']) {
            files::open(path)?;
            Source::File(path.to_owned())
        } else if name == CLIENT_WORKLOAD {
            return Err(Error::ClientWorkload);
        } else {
            let examples = EXAMPLES.iter().map(|e| e.name);
            let names = examples.chain(STAND_INS.iter().map(|s| s.name));
            return Err(Unknown::new("file, example or stand-in", name, names).into());
        };
        let label = match (name, Example::find(name), &source) {
            (files::STDIN, ..) => "standard input".to_owned(),
            (_, Some(example), Source::Memory(_)) => format!("examples/{}.fio", example.name),
            _ => name.to_owned(),
        };

        if is_mqsim(&source.head(&label)?) {
            return Input::mqsim(name, None, args);
        }
        let is_told = args.format.is_some() || args.columns.is_some() || args.pattern.is_some();
        if !is_told && is_job_file(&source.head(&label)?) {
            if let Some(arg) = args.given() {
                let given = Given::JobFile;
                return Err(NotATrace {
                    arg,
                    workload: label,
                    given,
                }
                .into());
            }
            let text = source.all(&label)?;
            let text = String::from_utf8_lossy(&text);
            return match fio::is_command_line(&text) {
                true => Input::pasted(&label, &text, &args.vars),
                false => Input::job_file(&label, expanded(&text, &args.vars)?),
            };
        }
        if let Some((name, _)) = args.vars.first() {
            return Err(Error::UnusedVariable(name.clone()));
        }
        Input::trace(label, source, args)
    }

    /// The trace in the file at `path`, which is called `name` and is read as `args` say.
    ///
    /// # Errors
    /// [`Error`] where it cannot be read.
    pub(crate) fn trace_file(name: &str, path: PathBuf, args: &TraceArgs) -> Result<Input, Error> {
        Input::trace(name.to_owned(), Source::File(path), args)
    }

    fn trace(label: String, source: Source, args: &TraceArgs) -> Result<Input, Error> {
        let format = match &args.format {
            Some(name) => Some(find_format(name)?),
            None => None,
        };
        let given = [
            (TraceArg::Format, args.format.is_some()),
            (TraceArg::Columns, args.columns.is_some()),
            (TraceArg::Pattern, args.pattern.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is)| *is).map(|(arg, _)| *arg);
        if let (Some(one), Some(other)) = (given.next(), given.next()) {
            return Err(Error::ToldTwice(one, other));
        }
        let columns = args.columns.as_deref().map(Columns::parse).transpose();
        let pattern = args.pattern.as_deref().map(Pattern::parse).transpose();
        let mut options = TraceOptions {
            format,
            columns: columns.map_err(Error::Columns)?,
            pattern: pattern.map_err(Error::Pattern)?,
            wrap: args.wrap,
            on_time_back: if args.clamp {
                TimeBack::Clamp
            } else {
                TimeBack::Error
            },
            device: args.device,
            ..TraceOptions::default()
        };
        options.speed = args.speed.unwrap_or(options.speed);
        let trace = Trace {
            name: label,
            source,
            args: args.clone(),
            options,
            content: OnceLock::new(),
        };
        // An unreadable trace is reported before a drive is built.
        trace.reader(u64::MAX, Some(u16::MAX))?;
        Ok(Input::Trace(Box::new(trace)))
    }

    /// Scenario `number` of the workload of MQSim in `file`: jobs, or a trace that it names, which `args` are for.
    fn mqsim(file: &str, number: Option<usize>, args: &TraceArgs) -> Result<Input, Error> {
        let of = |error| Error::Mqsim {
            file: file.to_owned(),
            error,
        };
        let path = Path::new(file);
        let text = files::read_text(path)?;
        match mqsim::workload(&text, file, number).map_err(of)? {
            Scenario::Jobs(text) => {
                if let Some(arg) = args.given() {
                    let workload = file.to_owned();
                    let given = Given::JobFile;
                    return Err(NotATrace {
                        arg,
                        workload,
                        given,
                    }
                    .into());
                }
                let name = number.map_or(file.to_owned(), |n| format!("{file}#{n}"));
                Input::job_file(&name, text)
            }
            Scenario::Trace {
                file: trace,
                format,
            } => {
                let trace = path.parent().unwrap_or(Path::new("")).join(trace);
                let args = TraceArgs {
                    format: args.format.clone().or(Some(format.to_owned())),
                    ..args.clone()
                };
                Input::open_as(&trace.to_string_lossy(), &args).map_err(|error| error.of(file))
            }
        }
    }

    /// The job that a command line of fio says, with or without `fio` before it.
    ///
    /// # Errors
    /// [`Error::CommandLine`] where it says none.
    pub fn command_line(words: &[String], vars: &[(String, String)]) -> Result<Input, Error> {
        let line = fio::command_line(words).map_err(Error::CommandLine)?;
        let mut input = Input::job_file(&line.name, expanded(&line.text, vars)?)?;
        if let Input::Jobs { workload, .. } = &mut input {
            let left_out = line.left_out.iter().map(|option| Notice {
                place: Location::whole(&line.name),
                text: format!("`--{option}` is ignored: it is of what fio prints and keeps"),
            });
            workload.notices.extend(left_out);
            workload.notices.extend(line.next.iter().map(|next| Notice {
                place: Location::whole(&line.name),
                text: format!("what stands behind `{next}` is ignored: it is another command"),
            }));
        }
        Ok(input)
    }

    /// The same of a line that was pasted into the file called `label`.
    fn pasted(label: &str, text: &str, vars: &[(String, String)]) -> Result<Input, Error> {
        let words = fio::words(text).map_err(Error::CommandLine);
        let input = words.and_then(|words| Input::command_line(&words, vars));
        input.map_err(|error| error.of(label))
    }

    /// The job file called `name` with this text. Files that it names lie in its folder.
    ///
    /// # Errors
    /// [`Error::Workload`] where it is none.
    pub fn job_file(name: &str, text: String) -> Result<Input, Error> {
        Input::job_file_with(name, text, &|file| beside(name, file))
    }

    /// The same, where `read` has the files that it names.
    pub(crate) fn job_file_with(
        name: &str,
        text: String,
        read: ReadFile<'_>,
    ) -> Result<Input, Error> {
        let named = RefCell::new(BTreeMap::new());
        let read = |file: &str| {
            let text = read(file)?;
            named.borrow_mut().insert(file.to_owned(), text.clone());
            Ok(text)
        };
        let workload = fio::parse_with(name, &text, &read)?;
        Ok(Input::Jobs {
            workload,
            text,
            named: named.into_inner(),
        })
    }

    /// The same job file with the option `key` set to `value` in every job, or in the one of `SECTION.key`. Jobs whose
    /// number of requests was taken away stay without one.
    ///
    /// # Errors
    /// [`Error`] where this is no job file, it has no such section, or fio has no such option or value.
    pub fn with_option(&self, key: &str, value: &str) -> Result<Input, Error> {
        let Input::Jobs { workload, text, .. } = self else {
            return Err(NotATrace {
                arg: TraceArg::JobOption,
                workload: self.name().to_owned(),
                given: Given::Trace,
            }
            .into());
        };
        let (section, key) = match key.rsplit_once('.') {
            Some((section, key)) => (Some(section.trim()), key.trim()),
            None => (None, key),
        };
        let option = format!("{key}={value}");
        // Alone first: what is wrong with it is not a line of the file.
        let read = |file: &str| beside(&workload.name, file);
        let alone = format!("[job]\n{option}\n");
        fio::parse_with(&format!("--job {option}"), &alone, &read)?;
        let names = || text.lines().filter_map(section_name);
        if let Some(section) = section.filter(|section| !names().any(|name| name == *section)) {
            let jobs = names().filter(|name| *name != "global");
            return Err(Unknown::new("section of the job file", section, jobs).into());
        }
        let mut sections = String::new();
        let mut in_job = false;
        for line in text.trim_start_matches('\u{feff}').lines() {
            if line.trim_start().starts_with('[') {
                if in_job {
                    sections += &format!("{option}\n");
                }
                in_job = match (section_name(line), section) {
                    (Some(name), Some(section)) => name == section,
                    (name, None) => name != Some("global"),
                    (None, Some(_)) => false,
                };
            }
            // The job's own value gives way, and lines after it keep their numbers.
            let is_it = |(own, _): (&str, &str)| own.trim() == key;
            if !(in_job && line.split_once('=').is_some_and(is_it)) {
                sections += line;
            }
            sections.push('\n');
        }
        if in_job {
            sections += &format!("{option}\n");
        }
        let mut input = Input::job_file(&workload.name, sections)?;
        let unending = workload.jobs.iter().all(|job| job.number_ios.is_none());
        if let (true, false, Input::Jobs { workload, .. }) =
            (unending, key == "number_ios", &mut input)
        {
            workload
                .jobs
                .iter_mut()
                .for_each(|job| job.number_ios = None);
        }
        Ok(input)
    }

    /// The stand-in called `name`, replayed as `args` say.
    ///
    /// # Errors
    /// [`Error`] where there is none.
    pub(crate) fn stand_in_called(name: &str, args: &TraceArgs) -> Result<Input, Error> {
        Input::stand_in(StandIn::find(name)?, args)
    }

    fn stand_in(row: &'static StandIn, args: &TraceArgs) -> Result<Input, Error> {
        match args.of_files() {
            Some(arg) => Err(NotATrace {
                arg,
                workload: row.name.to_owned(),
                given: Given::StandIn,
            }
            .into()),
            None => Ok(Input::StandIn {
                row,
                speed: args.speed.unwrap_or(1.0),
            }),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Input::Jobs { workload, .. } => &workload.name,
            Input::Trace(trace) => &trace.name,
            Input::StandIn { row, .. } => row.name,
        }
    }

    /// Its name in a title: without folders and ending.
    pub fn title(&self) -> &str {
        let name = self.name();
        Path::new(name)
            .file_stem()
            .and_then(|s| s.to_str())
            .unwrap_or(name)
    }

    /// The highest temperature that its phases bring the drive to (°C), if they change the temperature.
    pub fn hottest_c(&self) -> Option<f64> {
        match self {
            Input::Jobs { workload, .. } => workload.hottest_c(),
            Input::Trace(_) | Input::StandIn { .. } => None,
        }
    }

    /// What a trace holds, up to `limit` requests; none of other workloads. The trace is read for it.
    ///
    /// # Errors
    /// [`Error`] where a record cannot be used.
    pub fn understood(&self, limit: Option<u64>) -> Result<Option<Understood>, Error> {
        let Input::Trace(trace) = self else {
            return Ok(None);
        };
        let options = TraceOptions {
            limit,
            ..trace.options.clone()
        };
        let reader = TraceReader::open(&trace.name, trace.source.read()?, options)?;
        Ok(Some(reader.understood()?))
    }

    /// All that its requests depend on.
    ///
    /// # Errors
    /// [`FileError`] where the file of a trace cannot be read.
    pub(crate) fn identity(&self) -> Result<Value, FileError> {
        Ok(match self {
            // The jobs say what the text does not: that their number of requests was taken away.
            Input::Jobs {
                workload,
                text,
                named: _,
            } => {
                let Workload { name, jobs, .. } = workload;
                let jobs = files::checksum(format!("{jobs:?}").as_bytes());
                json!({ "name": name, "text": files::checksum(text.as_bytes()), "jobs": jobs })
            }
            Input::Trace(trace) => json!({ "name": trace.name, "trace": trace.identity()? }),
            Input::StandIn { row, speed } => json!({ "name": row.name, "speed": speed }),
        })
    }

    /// That a drive with so many placement handles has those that the jobs name; none where it takes no handle. Records of
    /// a trace are checked as they are read.
    ///
    /// # Errors
    /// [`Error::Workload`] where a job names another one.
    pub(crate) fn check_handles(&self, drive: Option<u16>) -> Result<(), Error> {
        match self {
            Input::Jobs { workload, .. } => Ok(workload.check_handles(drive)?),
            Input::Trace(_) | Input::StandIn { .. } => Ok(()),
        }
    }

    /// That the log of the host that lies below the jobs fits a drive of `profile`, where there is one.
    ///
    /// # Errors
    /// [`Error::Workload`] where it does not.
    pub(crate) fn check_host_log(&self, profile: &DriveProfile) -> Result<(), Error> {
        match self {
            Input::Jobs { workload, .. } => {
                workload.plan_host_log(&under_log(profile))?;
                Ok(())
            }
            Input::Trace(_) | Input::StandIn { .. } => Ok(()),
        }
    }

    /// Groups of jobs that run one after the other (`stonewall`).
    pub fn groups(&self) -> u64 {
        match self {
            Input::Jobs { workload, .. } => {
                let groups = workload.jobs.iter().map(|job| job.group);
                groups.max().map_or(1, |last| u64::from(last) + 1)
            }
            Input::Trace(_) | Input::StandIn { .. } => 1,
        }
    }

    /// Number of requests, where it is known before the run.
    pub fn requests(&self) -> Option<u64> {
        match self {
            Input::Jobs { workload, .. } => workload.jobs.iter().map(|job| job.number_ios).sum(),
            Input::Trace(_) => None,
            Input::StandIn { row, .. } => Some(row.requests()),
        }
    }
}

impl Trace {
    /// Reads it from its beginning, for a drive of `capacity_bytes` with so many placement handles (none where it takes no
    /// handle). Once its result is to be kept, a file that was
    /// changed since then is an error of the reader.
    ///
    /// # Errors
    /// [`Error`] where its file cannot be opened, or its first records are not a trace.
    pub fn reader(
        &self,
        capacity_bytes: u64,
        placement_handles: Option<u16>,
    ) -> Result<TraceReader<Box<dyn Read + '_>>, Error> {
        let options = TraceOptions {
            capacity_bytes,
            placement_handles,
            ..self.options.clone()
        };
        let source = self.source.read()?;
        let source: Box<dyn Read + '_> = match self.content.get() {
            Some(content) => Box::new(content.again(source)),
            None => source,
        };
        Ok(TraceReader::open(&self.name, source, options)?)
    }

    fn content(&self) -> Result<&Content, FileError> {
        Ok(match self.content.get() {
            Some(content) => content,
            None => {
                let content = Content::of(self.source.read()?);
                let content = content.map_err(FileError::named(&*self.name))?;
                self.content.get_or_init(|| content)
            }
        })
    }

    /// All that its records depend on: the content of its file, and how that is read. The file is read for it, once.
    ///
    /// # Errors
    /// [`FileError`] where its file cannot be read.
    pub(crate) fn identity(&self) -> Result<Value, FileError> {
        // Capacity, handles and limit are of a run and not of its trace. A field that is added has to be decided on here.
        let TraceOptions {
            format,
            columns,
            pattern,
            capacity_bytes: _,
            placement_handles: _,
            wrap,
            on_time_back,
            speed,
            limit: _,
            device,
        } = &self.options;
        Ok(json!({
            "content": self.checksum()?,
            "format": format.map(|format| format.name),
            "columns": columns.map(|columns| format!("{columns:?}")),
            "expression": pattern.as_ref().map(Pattern::as_str),
            "wrap": wrap,
            "clamp": *on_time_back == TimeBack::Clamp,
            "speed": speed,
            "device": device,
        }))
    }

    /// Where its file is; none of the standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Memory(_) => None,
        }
    }

    /// A checksum of the content of its file, which is read for it, once.
    ///
    /// # Errors
    /// [`FileError`] where its file cannot be read.
    pub(crate) fn checksum(&self) -> Result<String, FileError> {
        Ok(self.content()?.checksum())
    }

    /// How much faster than recorded it is replayed.
    pub fn speed(&self) -> f64 {
        self.options.speed
    }
}

impl Source {
    fn read(&self) -> Result<Box<dyn Read + '_>, FileError> {
        Ok(match self {
            Source::File(path) => Box::new(files::open(path)?),
            Source::Memory(bytes) => Box::new(Cursor::new(bytes)),
        })
    }

    fn head(&self, label: &str) -> Result<Vec<u8>, FileError> {
        let mut head = Vec::new();
        let read = self.read()?.take(HEAD_BYTES as u64).read_to_end(&mut head);
        read.map_err(FileError::named(label))?;
        Ok(head)
    }

    /// All of a job file.
    fn all(&self, label: &str) -> Result<Vec<u8>, FileError> {
        let bytes = files::read_at_most(self.read()?, files::MOST_TEXT_MIB);
        let bytes = bytes.map_err(FileError::named(label))?;
        bytes.ok_or_else(|| FileError::TooLarge(label.to_owned()))
    }
}

/// The file and the number in `workload.xml#2`.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let (file, number) = name.rsplit_once('#')?;
    (file.ends_with(".xml") && !files::is_file(Path::new(name)))
        .then(|| Some((file, number.parse().ok()?)))?
}

/// The text of `file`, whose path begins at the folder of the job file called `name`.
fn beside(name: &str, file: &str) -> Result<String, UnreadFile> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let text = files::read_text(&folder.join(file));
    text.map_err(|error| UnreadFile::Fault {
        fault: error.to_string(),
    })
}

/// Whether a file begins as a workload of MQSim.
fn is_mqsim(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(
        |error| mqsim::is_workload(&String::from_utf8_lossy(&head[..error.valid_up_to()])),
        mqsim::is_workload,
    )
}

/// The name of the section that begins in `line`.
fn section_name(line: &str) -> Option<&str> {
    let line = line.split(['#', ';']).next()?.trim();
    Some(line.strip_prefix('[')?.strip_suffix(']')?.trim())
}

/// `text` with the values of `${NAME}`: of `vars`, otherwise of the environment. A name without a value stays, and is an error
/// where it matters.
///
/// # Errors
/// [`Error::UnusedVariable`] where the text does not have one of `vars`.
#[expect(
    clippy::disallowed_methods,
    reason = "fio takes values from the environment"
)]
fn expanded(text: &str, vars: &[(String, String)]) -> Result<String, Error> {
    let unused = vars
        .iter()
        .find(|(name, _)| !text.contains(&format!("${{{name}}}")));
    if let Some((name, _)) = unused {
        return Err(Error::UnusedVariable(name.clone()));
    }
    let value = |name: &str| {
        let told = vars.iter().rfind(|(told, _)| told == name);
        told.map(|(_, value)| value.clone())
            .or_else(|| std::env::var(name).ok())
            // A value of several lines would be options of its own.
            .filter(|value| !value.contains('\n'))
    };
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        whole += before;
        let known = after
            .split_once('}')
            .and_then(|(name, behind)| Some((value(name)?, behind)));
        match known {
            Some((value, behind)) => {
                whole += &value;
                rest = behind;
            }
            None => {
                whole += "${";
                rest = after;
            }
        }
    }
    Ok(whole + rest)
}

/// Whether the first non-empty line is a command line of fio, a `[section]`, or an option before one. Such a file is
/// parsed as a job file, so that the job file's parser reports its errors.
fn is_job_file(head: &[u8]) -> bool {
    if head.contains(&0) {
        return false;
    }
    let text = String::from_utf8_lossy(head);
    // Of a text, not of its first line: a comment may have the command of the job file below it.
    let is_pasted = |line: &str| line.starts_with('#') && fio::is_command_line(&text);
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines
        .find(|line| !line.is_empty() && (!line.starts_with(['#', ';']) || is_pasted(line)))
        .is_some_and(|line| {
            let key = line.split('=').next().unwrap_or_default().trim();
            line.starts_with('[')
                || fio::is_command_line(line)
                || (line.contains('=')
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        })
}

/// The trace format called `name`.
fn find_format(name: &str) -> Result<&'static Format, Error> {
    Format::find(name).map_err(|error| match error {
        WorkloadError::UnknownName { .. } => {
            let names = firstread_workload::trace::FORMATS.iter().map(|f| f.name);
            Unknown::new("trace format", name, names).into()
        }
        other => other.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_job_file() {
        for text in [
            "[global]\nrw=read\n",
            "# why\n\n; that\n[job]",
            "\u{feff}[a]",
            "rw=read\n[a]",
        ] {
            assert!(is_job_file(text.as_bytes()), "{text}");
        }
        let msr = "128166372003061629,hm,1,Read,2088960,4096,24931\n";
        for text in [
            "",
            msr,
            "0 1 2 3 4\n",
            "fio version 2 iolog\n",
            "PK\u{3}\u{0}[",
            "a,b=c",
        ] {
            assert!(!is_job_file(text.as_bytes()), "{text}");
        }
    }

    /// The file of `dp_scheme` lies beside the job file, and what it holds is part of what a result is found by.
    #[test]
    fn formula_a_job_depends_on_what_the_file_of_its_handles_holds() {
        let folder = format!("firstread-input-handles-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (job, scheme) = (folder.join("job.fio"), folder.join("scheme.txt"));
        let text = "[j]\nrw=write\nfdp=1\nplid_select=scheme\ndp_scheme=scheme.txt\n";
        std::fs::write(&job, text).unwrap();
        let open = || Input::open(job.to_str().unwrap());
        let identity = |ranges: &str| {
            std::fs::write(&scheme, ranges).unwrap();
            open().unwrap().identity().unwrap()
        };
        let one = identity("0,512,1\n");
        let (again, other) = (identity("0,512,1\n"), identity("0,512,2\n"));
        let set = open().unwrap().with_option("dp_scheme", "scheme.txt");
        std::fs::remove_file(&scheme).unwrap();
        let missing = open().unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(one, again);
        assert_ne!(one, other);
        assert!(set.is_ok());
        let (job, scheme) = (job.display(), scheme.display());
        let expected = format!("{job}:5: dp_scheme=scheme.txt: {scheme}: ");
        assert!(missing.starts_with(&expected), "{missing}");
    }

    #[test]
    fn formula_a_trace_has_the_speed_that_it_was_given() {
        let file = format!("firstread-input-speed-{}.csv", std::process::id());
        let file = std::env::temp_dir().join(file);
        let msr = "128166372003061629,hm,1,Read,2088960,4096,24931\n";
        std::fs::write(&file, msr).unwrap();
        let traces = [(None, 1.0), (Some(2.5), 2.5)].map(|(given, speed)| {
            let args = TraceArgs {
                speed: given,
                ..TraceArgs::default()
            };
            (Input::open_as(file.to_str().unwrap(), &args), speed)
        });
        std::fs::remove_file(&file).unwrap();
        for (input, speed) in traces {
            let Ok(Input::Trace(trace)) = input else {
                panic!("it is a trace");
            };
            assert_eq!(trace.speed(), speed);
        }
    }

    #[test]
    fn does_every_example_parse() {
        for example in EXAMPLES {
            let workload = fio::parse(example.name, example.text).unwrap();
            assert_eq!(workload.notices, [], "{}", example.name);
        }
    }

    /// Phases alone say how hot a drive becomes.
    #[test]
    fn formula_how_hot_a_workload_makes_the_drive() {
        let job = "[a]\nrw=randread\nsize=1m\n";
        for (temperature, hottest) in [("", None), ("; firstread: temperature=61\n", Some(61.0))] {
            let input = Input::job_file("a", format!("{job}{temperature}")).unwrap();
            assert_eq!(input.hottest_c(), hottest);
        }
    }
}
