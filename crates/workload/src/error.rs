//! Errors and notices, with the place in the input.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use std::fmt;

use thiserror::Error;

use crate::fio::{SyntaxError, ValueError};
use crate::stream::JobError;
use crate::trace::{FormatError, InputError, RecordError};

/// Where in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The name the caller gave the input.
    pub file: String,
    pub position: Position,
}

/// A position within an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The input as a whole.
    Whole,
    /// A line, the first is 1.
    Line(u64),
    /// A byte of the decompressed input, the first is 0.
    Byte(u64),
}

impl Location {
    /// The input as a whole.
    pub fn whole(file: &str) -> Location {
        Location {
            file: file.to_owned(),
            position: Position::Whole,
        }
    }
    /// A line of it.
    pub fn line(file: &str, line: u64) -> Location {
        Location {
            file: file.to_owned(),
            position: Position::Line(line),
        }
    }
    /// A byte of it.
    pub fn byte(file: &str, byte: u64) -> Location {
        Location {
            file: file.to_owned(),
            position: Position::Byte(byte),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Position::Whole => write!(f, "{}", self.file),
            Position::Line(line) => write!(f, "{}:{line}", self.file),
            Position::Byte(byte) => write!(f, "{}: byte {byte}", self.file),
        }
    }
}

/// A notice that is not an error: an option without effect here, an address that was moved. Each
/// notice is given once, however often it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where it first applies.
    pub place: Location,
    /// What, in one line.
    pub text: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Why a job file, a job or a trace cannot be used.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The text is not a job file.
    #[error("{place}: {why}")]
    Syntax {
        place: Location,
        /// What is wrong with it.
        why: SyntaxError,
    },
    /// An option that is unknown to fio, too (as far as this version knows).
    #[error("{place}: unknown option `{option}`{}", nearest_hint(nearest))]
    UnknownOption {
        place: Location,
        /// As written.
        option: String,
        /// The most similar name there is, if any is similar.
        nearest: Option<&'static str>,
    },
    /// An option of fio that would change the load and has no counterpart here.
    #[error("{place}: option `{option}` is not supported: {why}")]
    UnsupportedOption {
        place: Location,
        option: &'static str,
        /// What it would do.
        why: &'static str,
    },
    /// An option with a value that it cannot take.
    #[error("{place}: {option}={value}: {why}")]
    BadValue {
        place: Location,
        /// Name of the option.
        option: &'static str,
        /// As written.
        value: String,
        /// What is wrong with it.
        why: Box<ValueError>,
    },
    /// A job that contradicts itself or does not fit on the drive.
    #[error("{place}: job `{job}`: {why}")]
    Job {
        /// Where the job begins.
        place: Location,
        job: String,
        /// What is wrong with it.
        why: JobError,
    },
    /// A name that is not in a table: a trace format, a synthetic stream.
    #[error("unknown {what} `{name}`{}", nearest_hint(nearest))]
    UnknownName {
        /// Kind of thing that the name stands for.
        what: &'static str,
        /// As written.
        name: String,
        /// The most similar name there is, if any is similar.
        nearest: Option<&'static str>,
    },
    /// A trace whose format cannot be detected from its first records.
    #[error("{place}: {why}")]
    UnknownFormat {
        place: Location,
        /// What was seen, and what can be done.
        why: FormatError,
    },
    /// A record of a trace that cannot be used.
    #[error("{place}: {format} {}{why}", column_hint(column))]
    Record {
        place: Location,
        /// Name of the trace's format.
        format: &'static str,
        /// The column at fault, where it is one.
        column: Option<&'static str>,
        /// What is wrong with it.
        why: Box<RecordError>,
    },
    /// A request of a trace lies past the end of the drive.
    #[error(
        "{place}: {format} {}bytes {first} to {end} lie past the drive's {capacity_bytes}; take a larger drive, or \
         wrap addresses",
        column_hint(column)
    )]
    PastTheEnd {
        place: Location,
        /// Name of the trace's format.
        format: &'static str,
        /// The column of offsets, where the format has one.
        column: Option<&'static str>,
        /// First byte of the request.
        first: u64,
        /// The byte after its last.
        end: u64,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
    /// A record of a trace is older than the one ahead, and nothing allows it
    /// ([`TimeBack`](crate::trace::TimeBack)).
    #[error(
        "{place}: {format} {}time goes back by {by_ns} ns; allow it with the policy `clamp`",
        column_hint(column)
    )]
    TimeBack {
        place: Location,
        /// Name of the trace's format.
        format: &'static str,
        /// The column of times, where the format has one.
        column: Option<&'static str>,
        by_ns: u64,
    },
    /// Reading or decompressing failed.
    #[error("{place}: {why}")]
    Input {
        /// How far reading came.
        place: Location,
        /// What the reader or the decompressor said.
        why: InputError,
    },
}

fn nearest_hint(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!("; the nearest valid name is `{name}`"),
        None => String::new(),
    }
}

fn column_hint(column: &Option<&'static str>) -> String {
    match column {
        Some(name) => format!("column `{name}`: "),
        None => String::new(),
    }
}
