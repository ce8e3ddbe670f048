//! Why a run cannot be split into parts, or its parts do not make a run.

use firstread_drive::profile::SchemeChoice;
use firstread_workload::Location;
use thiserror::Error;

/// Most parts of a run.
pub const MOST_PARTS: u16 = 1_000;
/// The share of the reads at which disturb sets in that a block may have in a run: by then the RBER of QLC pages has risen by less
/// than 1 % (`firstread cells ct-qlc-176l --pe-cycles 2500 --age 720h --temperature 40 --reads 1000`, and `--reads 0`).
pub(super) const DISTURBED: f64 = 0.1;
/// Fewest requests of a part: at its end the last period of a paced job is cut off.
pub(super) const FEWEST_REQUESTS: u64 = 100;
/// Fewest of the longest periods, or pauses of a job, in a part.
pub(super) const FEWEST_PERIODS: f64 = 50.0;
/// The share of the age of the youngest data that a run may last before it ages them by more than is left out: by then the shift
/// of voltages, which goes with the logarithm of the age, has grown by some thousandths of itself.
pub(super) const AGED: f64 = 0.01;

/// Why a run cannot be split, or its parts do not make a run.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SplitError {
    #[error("--split: a run has 2 to {MOST_PARTS} parts, and not {0}")]
    Parts(u16),
    /// A trace, or a stand-in for one.
    #[error(
        "--split: {0} is a trace, which is one course of requests: only jobs are split, whose requests can be drawn anew"
    )]
    Trace(String),
    /// Jobs have more than one phase, or wait.
    #[error(
        "--split: {place}: job `{job}` has {option}: phases that follow one another are one course, and parts side by side have none"
    )]
    Phases {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// Something of a job goes on from the beginning of the run to its end.
    #[error(
        "--split: {place}: job `{job}` has {option}, which is of the course of a whole run, and parts side by side have none"
    )]
    Course {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// All parts of a sequential job would be the same.
    #[error(
        "--split: {place}: job `{job}` is sequential: its parts would all be the same requests from the start of its region, and their \
         interval would say nothing; only random jobs are split"
    )]
    Sequential { place: Location, job: String },
    /// Writes go through all blocks in turn.
    #[error(
        "--split: {place}: job `{job}` writes each block once before any again (fio's random map): from the first to the last, the blocks \
         that are overwritten are others, which is one course; `norandommap` draws each anew (--job norandommap=1)"
    )]
    Map { place: Location, job: String },
    /// The load changes a drive that is in no steady state.
    #[error(
        "--split: {place}: job `{job}` writes, and each part would begin where no long run is: from its first request on, writes change \
         the drive until it is in a steady state; burn it in (--burn-in)"
    )]
    Writes { place: Location, job: String },
    /// Parts would be shorter than a request.
    #[error("--split: {0} are too few for {1} parts")]
    TooShort(String, u16),
    /// What is kept of the course of a run.
    #[error(
        "--split: the run over time (--interval) is one course, and parts side by side have none"
    )]
    Interval,
    /// The data age in the run.
    #[error(
        "--split: {parts} parts of {part_s:.3} s are a run of {run_s:.3} s, in which data that are {age_s:.3} s old age by more than {} %: \
         where age matters, parts that all begin at the same age are no long run; run it without --split, on older data (--age {least}), \
         or with fewer requests",
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
    /// A scheme learns from the requests of the whole run.
    #[error(
        "--split: scheme `{0}` goes by the reads and writes of a whole run: each part would learn anew, and would end before it knows \
         what it knows late in one long run"
    )]
    Learns(String),
    /// The drive is in no steady state.
    #[error(
        "--split: the burn-in has ended before writes were steady, so parts would all be of the change that goes on (see \
         --burn-in-limit)"
    )]
    NotSteady,
    /// Data that another load has written age in the run.
    #[error(
        "--split: the drive is burnt in by another load: what that has written is seconds old and ages in the run, where age \
         matters; burn it in by the load itself (--burn-in)"
    )]
    Young,
    /// Reads disturb more and more.
    #[error(
        "--split: a run of {parts} such parts reads a block up to {reads:.0} times, where reads begin to disturb it after some \
         {onset:.0}: one long run would come to disturbed cells, and no part does; read more of the drive, or run it without --split"
    )]
    Disturb {
        parts: u16,
        /// Most reads of a block in all parts.
        reads: f64,
        /// Reads at which disturb sets in.
        onset: f64,
    },
    /// Cells wear in the run.
    #[error(
        "--split: a run of {parts} such parts wears the drive by {pe_cycles:.0} P/E cycles of {rated} rated: one long run \
         would come to cells worn so, and no part does; write less, or run it without --split"
    )]
    Wear {
        parts: u16,
        /// P/E cycles of a superblock in all parts, on average.
        pe_cycles: f64,
        rated: u32,
    },
    /// What is done now and then falls between parts.
    #[error(
        "--split: a part takes {part_s:.3} s, and `{what}` is {period_s:.3} s: a part has to take {least_s:.3} s, since what is cut off at \
         its end is cut off in every part; take fewer parts or more requests"
    )]
    Period {
        what: String,
        part_s: f64,
        period_s: f64,
        /// The least that a part has to take (s).
        least_s: f64,
    },
    /// Parts say too little each.
    #[error(
        "--split: part {part} has {requests} requests, of {least} at least: what is cut off at the end of each part would count; \
         take fewer parts or more requests"
    )]
    FewRequests {
        part: u16,
        requests: u64,
        least: u64,
    },
    /// A drive that is used further.
    #[error("--split: a drive that is used further has one run after another, and no parts")]
    DriveInUse,
}

impl SplitError {
    /// The refusal of a scheme that goes by the whole of a run.
    pub(super) fn of_scheme(chosen: &SchemeChoice) -> SplitError {
        SplitError::Learns(format!("{}={}", chosen.axis.name, chosen.scheme.name))
    }
}

/// The least age at which so many parts of a length could be run.
fn hours(parts: u16, part_s: f64) -> String {
    let hours = f64::from(parts) * part_s / AGED / 3600.0;
    format!("{}h", hours.ceil())
}
