//! Why something that was asked of this crate cannot be done.

use std::fmt;
use std::path::PathBuf;

use firstread_drive::drive::ActivateError;
use firstread_drive::profile::{Problem, ProfileError};
use firstread_drive::tables::TableError;
use firstread_drive::{DriveError, Precondition, RunError};
use firstread_ecc::CodeError;
use firstread_nand::SenseError;
use firstread_workload::WorkloadError;
use firstread_workload::fio::CommandLineError;
use firstread_workload::trace::{ColumnsError, PatternError};
use thiserror::Error;

use crate::choice::ChoiceError;
use crate::conditions::ConditionError;
use crate::files::FileError;
use crate::life::error::LifeError;
use crate::mqsim::MqsimError;
use crate::names::Unknown;
use crate::planned::error::PlanError;
use crate::retry_table::RetryTableError;
use crate::split::error::SplitError;
use crate::study::StudyError;
use crate::worn::WornError;

/// An error of this crate. Its text is complete: it includes the causes.
#[derive(Debug, Error)]
pub enum Error {
    /// A name that nothing has.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// A load by a name that stands for a trace which may not be shipped.
    #[error(
        "`jesd219-client`: the client workload of JESD219 is a recorded trace (its master trace), which JEDEC gives to those who \
         register and which may not be shipped: give its file in place of the name (what its columns are: --trace-columns or \
         --trace-regex). `jesd219-enterprise` is a rule, and is shipped"
    )]
    ClientWorkload,
    /// A condition of a drive that cannot be read.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// Schemes that cannot be chosen.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A value of a profile that cannot be set.
    #[error(transparent)]
    Override(#[from] Problem),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Results cannot be stored, or the folder has results of something else.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A choice that is for traces alone.
    #[error(transparent)]
    NotATrace(#[from] NotATrace),
    /// Columns of a trace that cannot be used.
    #[error("columns of the trace: {0}")]
    Columns(ColumnsError),
    /// A file of MQSim's that cannot be used.
    #[error("{file}: {error}")]
    Mqsim { file: String, error: MqsimError },
    /// A file that is no retry table.
    #[error(transparent)]
    RetryTable(#[from] RetryTableError),
    /// A command line of fio that says no job.
    #[error("command line of fio: {0}")]
    CommandLine(CommandLineError),
    /// A variable that was told and does not occur.
    #[error("the workload has no `${{{0}}}`")]
    UnusedVariable(String),
    /// An expression for the lines of a trace that cannot be used.
    #[error("expression of the trace: {0}")]
    Pattern(PatternError),
    /// A trace is to be read in two ways.
    #[error(
        "a trace is read by its columns, by an expression or in a format that has a name, not by two of them"
    )]
    ToldTwice(TraceArg, TraceArg),
    /// A profile that is wrong: a problem a line.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A job file or a trace that cannot be read, or does not fit the drive.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A chip whose voltage tables cannot be made.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// A drive that cannot be made, or not in the state asked for.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// Schemes that a drive in use does not take.
    #[error(transparent)]
    Activate(#[from] ActivateError),
    /// The steady state of overwrites is known of this drive as an approximation alone.
    #[error(
        "--precondition {0}: on this drive the area of the host (axis `area`) cannot hold all data, and the steady state of both \
         areas under Zipf's law is known as an approximation alone (write amplification 15 % low on a drive of 64 superblocks): \
         have the workload overwrite the drive until it is steady (--burn-in), use --precondition random, lower `area.low_share`, \
         or fill less (--fill)"
    )]
    Approximated(Precondition),
    /// A chip that makes no medium, or not in the condition asked for.
    #[error(transparent)]
    Chip(#[from] firstread_nand::ProfileError),
    #[error(transparent)]
    Code(#[from] CodeError),
    /// Cells that cannot be read as asked.
    #[error(transparent)]
    Sense(#[from] SenseError),
    /// A life without a result.
    #[error(transparent)]
    Life(#[from] LifeError),
    /// The wear of a life that cannot be used.
    #[error(transparent)]
    Worn(#[from] WornError),
    /// A study that is wrong.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A point that cannot be written down, or one that cannot be run here.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A run that cannot be split into parts.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Folders of results that cannot be joined.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A run that cannot go on.
    #[error("{workload}: {error}")]
    Run {
        /// Name of the workload.
        workload: String,
        error: Box<RunError>,
    },
    /// Jobs of which no request was measured.
    #[error(
        "{workload}: {} measured nothing: {}",
        jobs_in_words(jobs),
        if *limited { "the run ended at its limit before, or all requests came within `ramp_time`" }
        else { "all requests came within `ramp_time`, or the job ended before its first one" }
    )]
    Unmeasured {
        /// Name of the workload.
        workload: String,
        jobs: Vec<String>,
        /// Whether the run had a limit of requests.
        limited: bool,
    },
    /// It was asked to end before there was anything to report.
    #[error("interrupted")]
    Interrupted,
    /// An error with its context: a variant, a workload, a point.
    #[error("{place}: {error}")]
    Of {
        place: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
}

impl Error {
    /// The same, of what `place` names.
    pub fn of(self, place: impl Into<String>) -> Error {
        Error::Of {
            place: place.into(),
            error: Box::new(self),
        }
    }

    /// What a run of `workload` ended with. What is wrong with a workload says of which, and where.
    pub fn of_run(workload: &str, error: RunError) -> Error {
        match error {
            RunError::Workload(error) => Error::Workload(error),
            error => Error::Run {
                workload: workload.to_owned(),
                error: Box::new(error),
            },
        }
    }

    /// The innermost error, without its context.
    pub fn cause(&self) -> &Error {
        match self {
            Error::Of { error, .. } => error.cause(),
            other => other,
        }
    }
}

/// Names of jobs in a sentence.
fn jobs_in_words(jobs: &[String]) -> String {
    let names: Vec<String> = jobs.iter().map(|job| format!("`{job}`")).collect();
    let noun = if names.len() == 1 { "job" } else { "jobs" };
    format!("{noun} {}", names.join(", "))
}

/// A choice of [`TraceArgs`](crate::TraceArgs).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceArg {
    Format,
    Columns,
    /// An expression for its lines.
    Pattern,
    /// That requests past the end of the drive are moved.
    Wrap,
    /// That records that go back in time are moved.
    Clamp,
    Device,
    /// How much faster it is replayed.
    Speed,
    /// An option of fio, which jobs alone have.
    JobOption,
}

impl fmt::Display for TraceArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TraceArg::Format => "a format",
            TraceArg::Columns => "columns",
            TraceArg::Pattern => "an expression",
            TraceArg::Wrap => "wrapping",
            TraceArg::Clamp => "clamping",
            TraceArg::Device => "a device",
            TraceArg::Speed => "a speed",
            TraceArg::JobOption => "an option of a job",
        })
    }
}

/// What is given in place of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// A trace, where a job file is needed.
    Trace,
    JobFile,
    /// A synthetic stand-in, which has no file.
    StandIn,
}

/// A choice that is for traces alone.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", self.says(&arg.to_string()))]
pub struct NotATrace {
    pub arg: TraceArg,
    /// Name of the workload.
    pub workload: String,
    /// What the input is instead.
    pub given: Given,
}

impl NotATrace {
    /// The message, where the choice is called `arg`.
    pub fn says(&self, arg: &str) -> String {
        let workload = &self.workload;
        match self.given {
            Given::Trace => format!("{arg} is for job files, and {workload} is a trace"),
            Given::JobFile => format!("{arg} is for traces, and {workload} is a job file"),
            Given::StandIn => {
                format!("{arg} is for the file of a trace, and {workload} is made up")
            }
        }
    }
}

/// Why results cannot be kept, or those that were cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder is another's.
    #[error("{folder}: holds results of {whose}; choose another folder", folder = folder.display())]
    Taken {
        folder: PathBuf,
        /// What it holds results of: `study ct-qlc`.
        whose: String,
    },
    /// The folder has results in another form, of an earlier or a later version.
    #[error(
        "{folder}: holds results in the form of another version, which does not tell all that they were made of; \
         delete the folder, or choose another one",
        folder = folder.display()
    )]
    OtherForm { folder: PathBuf },
    /// A file is no result.
    #[error("{path}: not a result of a {kind}; delete it and it is made anew", path = path.display())]
    NoResult {
        path: PathBuf,
        /// What it should be a result of: a study.
        kind: &'static str,
    },
    /// A folder is in the place of a result.
    #[error("{path}: is a folder, in the place of a result; delete it, or choose another folder", path = path.display())]
    IsFolder { path: PathBuf },
    /// A result is larger than any that would be read.
    #[error(
        "{path}: a result of {bytes} bytes is too large to be kept, which {most_bytes} bytes at most are; report jobs \
         together by `group_reporting`",
        path = path.display()
    )]
    TooLarge {
        /// The file that it would be.
        path: PathBuf,
        bytes: u64,
        /// The size limit (bytes).
        most_bytes: u64,
    },
    /// A file that was there in this run is gone.
    #[error("{path}: was deleted while results were written beside it; run the command again", path = path.display())]
    Gone { path: PathBuf },
    /// The program that runs cannot be read, so results of it cannot be told from those of another one.
    #[error("results cannot be kept: {0}")]
    Program(FileError),
}

/// Why folders of results cannot be joined.
#[derive(Debug, Error)]
pub enum MergeError {
    /// A folder has no results.
    #[error("{folder}: has no results (no store.json)", folder = .0.display())]
    NoResults(PathBuf),
    /// Two folders have results of different commands.
    #[error("{one} and {other} have results of different commands (store.json)", one = one.display(), other = other.display())]
    OtherCommand { one: PathBuf, other: PathBuf },
    /// Two results were made by different programs.
    #[error(
        "{one} and {other} were made by different {what} (`{by_one}` and `{by_other}`), whose results may differ",
        one = one.display(), other = other.display()
    )]
    OtherProgram {
        /// What differs: versions, programs.
        what: &'static str,
        one: PathBuf,
        by_one: String,
        other: PathBuf,
        by_other: String,
    },
    /// Two folders have different results of one point.
    #[error("{one} and {other} are of one point and differ", one = one.display(), other = other.display())]
    Differ { one: PathBuf, other: PathBuf },
    /// A result is not as it was written.
    #[error("{path}: is damaged: {why}; delete it, and its point is made anew", path = path.display())]
    Damaged { path: PathBuf, why: String },
}

/// Why the run time and memory of a result are not known.
#[derive(Clone, Copy, Debug, Error)]
pub(crate) enum WallError {
    /// There is no file of them.
    #[error("is missing, so how long the run took is not known")]
    Missing,
    /// Their file is not as it was written.
    #[error("is damaged, so how long the run took is not known")]
    Damaged,
}
