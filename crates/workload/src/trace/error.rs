//! What is wrong with a trace.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use std::io;

use ruzstd::decoding::errors::FrameDecoderError;
use thiserror::Error;

use crate::handles::NoHandle;

/// Why the format of a trace cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A trace that is named vscsi is none.
    #[error("the first two records have no version byte of vscsi 1 or 2")]
    NoVscsi,
    /// Bytes that are no text are no vscsi trace either.
    #[error("binary data that are no vscsi trace")]
    Binary,
    /// The trace begins with blank lines.
    #[error("no line in the first 32 KiB")]
    NoLine,
    /// The first records have the columns of no format.
    #[error(
        "no known trace format: the first record is `{first}`; name the format if it is one of {}",
        formats.join(", ")
    )]
    Unknown {
        /// The first record, as messages show it.
        first: String,
        /// Names of the formats.
        formats: Vec<&'static str>,
    },
}

/// Why columns that were told cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ColumnsError {
    /// A name that is none.
    #[error(
        "unknown column `{given}`{}; there are time, op, offset, size, device, placement and - for a column that is not used",
        nearest.map(|name| format!("; the nearest is `{name}`")).unwrap_or_default()
    )]
    Unknown {
        /// As written.
        given: String,
        /// The most similar name there is, if any is similar.
        nearest: Option<&'static str>,
    },
    /// A unit that the column does not have, or none where it needs one.
    #[error(
        "column `{column}` {}: {column}{units}",
        given.as_ref().map_or("needs its unit".to_owned(), |unit| format!("has no unit `{unit}`"))
    )]
    Unit {
        column: &'static str,
        /// As written.
        given: Option<String>,
        /// What can stand there.
        units: &'static str,
    },
    /// The same of a group of an expression.
    #[error(
        "column `{column}` {} {}",
        given.as_ref().map_or("needs its unit behind an underscore,".to_owned(), |unit| format!("has no unit `{unit}`;")),
        group_units(column)
    )]
    GroupUnit {
        column: &'static str,
        /// As written.
        given: Option<String>,
    },
    /// A column is told twice.
    #[error("column `{0}` is told twice")]
    Twice(&'static str),
    /// A column that is needed is not there.
    #[error("there is no column `{0}`, without which there is no request")]
    Missing(&'static str),
    /// Something follows the dots that stand for all that follows.
    #[error("nothing can follow `...`")]
    AfterDots,
    /// More columns than a line may have.
    #[error("more than {0} columns; put `...` for those at the end that are not used")]
    TooMany(usize),
}

/// Names of groups with the units of `column`.
fn group_units(column: &str) -> String {
    match column {
        "time" => "as in time_ns, time_us, time_ms or time_s".to_owned(),
        "op" => "as in op, op_r0w1 or op_r1w0".to_owned(),
        column @ ("offset" | "size") => {
            format!("as in {column}_B, {column}_sector or {column}_4KiB")
        }
        column => format!("as in {column}"),
    }
}

/// Why a regular expression cannot be used.
#[derive(Clone, Debug, Error)]
pub enum PatternError {
    /// It is no expression.
    #[error("{0}")]
    Syntax(regex_lite::Error),
    /// No group has a name.
    #[error(
        "it has no named groups; name those of offset and size, as in (?<offset_B>[0-9]+) and (?<size_B>[0-9]+)"
    )]
    NoGroups,
    /// The names of its groups are not columns of a trace.
    #[error("group `{group}`: {error}")]
    Group { group: String, error: ColumnsError },
    /// The groups together are not those of a request.
    #[error("{0}")]
    Columns(ColumnsError),
}

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// It is to be replayed at a speed that is none.
    #[error("a replay speed of {0} is not above 0")]
    Speed(f64),
    /// It has no byte.
    #[error("the trace is empty")]
    Empty,
    /// It has no request.
    #[error("the trace holds no request")]
    NoRequest,
    /// No line of it matches the expression.
    #[error("no line of the trace matches the expression; the first line is `{0}`")]
    NoMatch(String),
    /// It has no request of the one device that is wanted.
    #[error("the trace holds no request of device {0}")]
    NoRequestOf(u32),
    /// A line is longer than this (bytes).
    #[error("the line is longer than {0} bytes: this is no trace")]
    LongLine(usize),
    /// Reading its first bytes failed.
    #[error("{0}")]
    Open(io::Error),
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Reading or decompressing gzip failed.
    #[error("gzip data are corrupt or cut short: {0}")]
    Gzip(io::Error),
    /// Reading or decompressing xz failed.
    #[error("xz data are corrupt or cut short: {0}")]
    Xz(io::Error),
    /// Reading or decompressing bzip2 failed.
    #[error("bzip2 data are corrupt or cut short: {0}")]
    Bzip2(io::Error),
    /// Reading or decompressing Zstandard failed.
    #[error("zstd data are corrupt or cut short: {0}")]
    Zstd(ZstdError),
}

/// Why a Zstandard file cannot be decompressed.
#[derive(Debug, Error)]
pub enum ZstdError {
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A frame is no frame, or corrupt.
    #[error("{0}")]
    Frame(#[from] FrameDecoderError),
    /// A skippable frame is shorter than it says.
    #[error("a skippable frame is cut short")]
    CutShort,
    /// The checksum of a frame is not that of its data.
    #[error("the checksum of a frame does not match")]
    Checksum,
}

/// Why a record of a trace cannot be used. Fields and lines are held as messages show them, shortened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// A field is not the number that it should be.
    #[error(transparent)]
    Number(#[from] BadNumber),
    /// A number is too large for what it counts.
    #[error("{0} is too large")]
    TooLarge(u64),
    /// A line has other columns than its format.
    #[error(
        "{given} columns where {} are expected ({}): `{line}`",
        names.len(),
        names.join(", ")
    )]
    Columns {
        /// Columns of the line.
        given: usize,
        /// Columns of the format.
        names: Vec<&'static str>,
        line: String,
    },
    /// A line of blkparse is too short.
    #[error(
        "{given} columns where device, cpu, sequence, time, pid and action are expected: `{line}`"
    )]
    BlkparseColumns {
        /// Columns of the line.
        given: usize,
        line: String,
    },
    /// A line of an I/O log has the columns of neither an action on a file nor a request.
    #[error(
        "{given} columns where {} or {} are expected ({}file, action, offset, length): `{line}`",
        2 + usize::from(*timestamp),
        4 + usize::from(*timestamp),
        if *timestamp { "timestamp, " } else { "" }
    )]
    IologColumns {
        /// Columns of the line.
        given: usize,
        /// Whether the log's version has times.
        timestamp: bool,
        line: String,
    },
    /// An I/O log begins with another line than its version.
    #[error("the first line is `{0}`, not `fio version 2 iolog` or `fio version 3 iolog`")]
    IologVersion(String),
    /// The header has another unit than was told.
    #[error("the header `{header}` has the unit {has}, and {told} was told")]
    HeaderUnit {
        header: String,
        /// Unit that the header names.
        has: &'static str,
        /// Unit that was told.
        told: &'static str,
    },
    /// The header names another column.
    #[error("unknown column `{0}` in the header")]
    Header(String),
    /// A field is none of the words that its column takes.
    #[error("`{field}` is not one of {}", words.join(", "))]
    Word {
        field: String,
        words: Vec<&'static str>,
    },
    /// A field is not what its column takes.
    #[error("`{field}` {fault}")]
    Field {
        field: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A write names a placement handle that the drive does not have.
    #[error(transparent)]
    Placement(NoHandle),
    /// An I/O log names more files than this.
    #[error("more than {0} files")]
    Files(usize),
    /// A vscsi record is of another version than those before it.
    #[error(
        "version {found} in a trace of version {of}: the trace is corrupt, or a record was lost"
    )]
    Version {
        /// Version of the record.
        found: u16,
        /// Version of the trace.
        of: u16,
    },
    /// An operation code of SCSI that is not known.
    #[error("SCSI operation code {0:#04x} has no known meaning")]
    Command(u16),
    /// The trace ends within a record.
    #[error("the last record has {have_bytes} of {wanted_bytes} bytes")]
    CutShort {
        /// What there is of it (bytes).
        have_bytes: usize,
        /// Length of a record (bytes).
        wanted_bytes: usize,
    },
    /// A request is longer than a request can be.
    #[error("a request of {len_bytes} bytes; at most {most_bytes} are possible")]
    Length {
        len_bytes: u64,
        /// The most that is possible (bytes).
        most_bytes: u64,
    },
    /// A rule that the record breaks.
    #[error("{0}")]
    Rule(&'static str),
}

/// Why a field is not the number that it should be. Holds the field as messages show it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadNumber {
    #[error("is missing")]
    Missing,
    /// It has a decimal point.
    #[error("`{0}` has a decimal point where whole numbers stand")]
    Point(String),
    /// It is no whole number.
    #[error("`{0}` is no whole number")]
    NotWhole(String),
    /// It is no number.
    #[error("`{0}` is no number")]
    NoNumber(String),
    /// It is larger than the column can be.
    #[error("`{0}` is too large")]
    TooLarge(String),
}
