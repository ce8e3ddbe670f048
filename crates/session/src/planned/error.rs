//! Why a point cannot be written down, or one that was cannot be run here.

use std::fmt::Display;
use std::path::PathBuf;

use thiserror::Error;

/// Why a point cannot be written down, or one that was cannot be run here.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The folder has something that is of no plan.
    #[error("{folder}: has `{name}`, which is of no plan; choose another folder", folder = folder.display())]
    Taken { folder: PathBuf, name: String },
    /// A folder has no plan.
    #[error("{folder}: is no plan: {1}", folder = .0.display())]
    NoPlan(PathBuf, String),
    /// A file is no point.
    #[error("is no point of a plan: {0}")]
    NoPoint(String),
    /// A point in the form of another version.
    #[error("is a point in form {theirs}, and this version reads form {ours}; plan it anew")]
    OtherForm { theirs: u64, ours: u64 },
    /// It was planned by another version.
    #[error(
        "was planned by version {theirs}, and this is version {ours}; plan it anew, or run it by that version"
    )]
    OtherVersion { theirs: String, ours: &'static str },
    /// It was planned by another program.
    #[error(
        "was planned by another program (`{theirs}`; this is `{ours}`), whose results may differ; use one binary on all \
         machines, or plan it anew"
    )]
    OtherProgram { theirs: String, ours: &'static str },
    /// A trace is not what it was.
    #[error("the trace {path} is not as it was when the point was planned: its content was changed; plan it anew", path = path.display())]
    TraceChanged { path: PathBuf },
    /// A text that points share is not what it was, or gone.
    #[error("{path}: {why}; plan it anew, or copy the whole folder of the plan", path = path.display())]
    Text { path: PathBuf, why: String },
    /// What is in the file is not what its key says.
    #[error("its key is not that of what it holds: the file was edited or damaged; plan it anew")]
    Edited,
    /// The standard input is nowhere else.
    #[error(
        "a trace that came on the standard input is not there for others; write it to a file and name that"
    )]
    StandardInput,
    /// A log or a timeline is written where the run is.
    #[error("a log of requests or a timeline is of a run that is made here, and is in no plan")]
    Logged,
    /// A profile that no file and no option made.
    #[error("defect: its drive was not read from a profile")]
    MadeHere,
    /// What was written gives something else when it is read.
    #[error("defect: {0} would not be the same elsewhere")]
    NotTheSame(&'static str),
    /// It cannot be written as JSON.
    #[error("defect: {0}")]
    Defect(String),
}

impl PlanError {
    pub(super) fn defect(error: impl Display) -> PlanError {
        PlanError::Defect(error.to_string())
    }

    /// Whether the point will not run here, however often it is tried.
    pub fn is_of_input(&self) -> bool {
        !matches!(
            self,
            PlanError::MadeHere | PlanError::NotTheSame(_) | PlanError::Defect(_)
        )
    }
}
