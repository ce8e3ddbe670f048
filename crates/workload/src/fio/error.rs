//! What is wrong with a job file.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use thiserror::Error;

/// Why a text does not have the shape of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SyntaxError {
    /// It has no job.
    #[error("no job: a job file has at least one [section] other than [global]")]
    NoJob,
    /// An option stands before the first section.
    #[error("an option before the first [section]")]
    NoSection,
    /// The head of a section has another shape.
    #[error("a section is written [name]")]
    Section,
    /// A section that fio would take for `[global]`. Holds its name.
    #[error(
        "fio takes [{0}] for a [global] section, since its name begins with `global`; call it \
         [global], or rename the job"
    )]
    LikeGlobal(String),
    /// Another file is to be read.
    #[error("`include` is not supported: paste the included lines here")]
    Include,
    /// A variable of the environment that has no value. Holds its name.
    #[error("`${{{0}}}` has no value: set {0} in the environment, or tell its value")]
    Variable(String),
    /// A word that fio replaces by what the machine has. Holds it as a message shows it.
    #[error("`{0}` depends on the machine fio runs on and is not expanded: write the value")]
    Keyword(&'static str),
    /// A job waits for one that does not stand before it.
    #[error("wait_for={wanted}: no job of that name stands before `{job}`")]
    WaitFor {
        /// The job that it waits for, as written.
        wanted: String,
        /// Name of the job that waits.
        job: String,
    },
    /// There are more jobs and clones than this.
    #[error("more than {0} jobs and clones")]
    TooManyJobs(u64),
}

/// Why a file that a job file names cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnreadFile {
    /// Whoever has the job file parsed reads no files.
    #[error("no file can be read here")]
    NoReader,
    /// Whoever reads files could not.
    #[error("{fault}")]
    Fault {
        /// What it said, with the name of the file.
        fault: String,
    },
}

/// Why an option cannot take a value.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValueError {
    #[error("a value is missing")]
    Missing,
    /// Text that is no number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// A number with a decimal point where whole ones stand.
    #[error("`{0}`: write a whole number of a smaller unit")]
    Fraction(String),
    /// A whole number outside its range.
    #[error("must be from {min} to {max}")]
    Count {
        /// The smallest that is allowed.
        min: u64,
        /// The largest that is allowed.
        max: u64,
    },
    /// A decimal number outside its range.
    #[error("`{text}` must be from {min} to {max}")]
    Range {
        /// As written.
        text: String,
        /// The smallest that is allowed.
        min: f64,
        /// The largest that is allowed.
        max: f64,
    },
    /// A unit that there is not.
    #[error("unknown unit `{unit}`; use {known}")]
    Unit {
        /// As written, in small letters.
        unit: String,
        /// Those that there are.
        known: &'static str,
    },
    /// Bytes that are not whole sectors.
    #[error("{0} bytes are no multiple of 512")]
    Sectors(u64),
    /// More bytes than a request has. Holds the most that it has.
    #[error("must be at most {0} bytes")]
    RequestBytes(u64),
    /// Text that is no share of a hundred.
    #[error("`{0}` is no whole percentage from 0 to 100")]
    Percent(String),
    /// Shares do not add up to 100 %.
    #[error("{what} add up to {sum}, not 100")]
    Shares {
        /// What they are shares of.
        what: &'static str,
        sum: u32,
    },
    /// Zones are larger than the whole. Holds their sum (%).
    #[error("sizes add up to {0} percent")]
    ZoneSizes(u64),
    /// Text that is no zone.
    #[error("`{0}`: a zone is written access/size")]
    Zone(String),
    /// A normal distribution without its deviation. Holds the distribution's name.
    #[error("write {0}:deviation, in percent")]
    Deviation(&'static str),
    /// None of the words that the option takes.
    #[error("must be one of {}{}", words.join(", "), meant(nearest))]
    Word {
        /// Those that it takes.
        words: Vec<&'static str>,
        /// The most similar of them, if any is similar.
        nearest: Option<&'static str>,
    },
    /// An engine of fio's that makes no load for a drive. Holds what it does instead.
    #[error("this engine {0}")]
    NoLoad(&'static str),
    /// An engine that fio does not have.
    #[error("fio has no such engine; {}", near_engine(nearest))]
    NoEngine {
        /// The most similar engine, if any is similar.
        nearest: Option<&'static str>,
    },
    /// The file that it names cannot be read.
    #[error(transparent)]
    File(#[from] UnreadFile),
    /// A line of a file of placement handles that is no range.
    #[error("line {line}: `{text}` {fault}")]
    SchemeLine {
        line: u64,
        /// As written, shortened.
        text: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A rule that the value breaks, whatever it is.
    #[error("{0}")]
    Rule(&'static str),
}

fn meant(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

fn near_engine(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!("the nearest is `{name}`"),
        None => "`libaio` is the usual one".to_owned(),
    }
}
