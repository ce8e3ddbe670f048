//! Why a run cannot be split into parts, or its parts do not make a run.

use firstread_workload::Location;
use thiserror::Error;

/// Most parts of a run.
pub const MOST_PARTS: u16 = 1_000;
/// The share of the age of the youngest data that a run may last before it ages them by more than is left out: by then the shift
/// of voltages, which goes with the logarithm of the age, has grown by some thousandths of itself.
pub(super) const AGED: f64 = 0.01;

/// Why a run cannot be split, or its parts do not make a run.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SplitError {
    #[error("a run has 2 to {MOST_PARTS} parts, and not {0}")]
    Parts(u16),
    /// A trace, or a stand-in for one.
    #[error(
        "{0} is a trace, which is one course of requests: only jobs are split, whose requests can be drawn anew"
    )]
    Trace(String),
    /// Jobs have more than one phase, or wait.
    #[error(
        "{place}: job `{job}` has {option}: phases that follow one another are one course, and parts side by side have none"
    )]
    Phases {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// Something of a job goes on from the beginning of the run to its end.
    #[error(
        "{place}: job `{job}` has {option}, which is of the course of a whole run, and parts side by side have none"
    )]
    Course {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// All parts of a sequential job would be the same.
    #[error(
        "{place}: job `{job}` is sequential: its parts would all be the same requests from the start of its region, and their \
         interval would say nothing; only random jobs are split"
    )]
    Sequential { place: Location, job: String },
    /// Writes go through all blocks in turn.
    #[error(
        "{place}: job `{job}` writes each block once before any again (fio's random map): from the first to the last, the blocks \
         that are overwritten are others, which is one course; `norandommap` draws each anew (--job norandommap=1)"
    )]
    Map { place: Location, job: String },
    /// The load changes a drive that is in no steady state.
    #[error(
        "{place}: job `{job}` writes, and each part would begin where no long run is: from its first request on, writes change \
         the drive until it is in a steady state; burn it in (--burn-in)"
    )]
    Writes { place: Location, job: String },
    /// Parts would be shorter than a request.
    #[error("{0} are too few for {1} parts")]
    TooShort(String, u16),
    /// What is kept of the course of a run.
    #[error("the run over time (--interval) is one course, and parts side by side have none")]
    Interval,
    /// The data age in the run.
    #[error(
        "{parts} parts of {part_s:.3} s are a run of {run_s:.3} s, in which data that are {age_s:.3} s old age by more than {} %: \
         where age matters, parts that all begin at the same age are no long run. Without --split they are; so are older data \
         (--age {least}), or fewer requests",
        AGED * 100.0,
        least = hours(*parts, *part_s)
    )]
    Ages {
        parts: u16,
        /// Simulated time of the longest part so far (s).
        part_s: f64,
        /// That of all parts (s).
        run_s: f64,
        /// Age of the youngest data (s).
        age_s: f64,
    },
    /// A drive that is used further.
    #[error("a drive that is used further has one run after another, and no parts")]
    DriveInUse,
}

/// The least age at which so many parts of a length could be run.
fn hours(parts: u16, part_s: f64) -> String {
    let hours = f64::from(parts) * part_s / AGED / 3600.0;
    format!("{}h", hours.ceil())
}
