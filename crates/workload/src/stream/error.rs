//! What is wrong with a job, however it was made.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use firstread_core::permutation::MAX_NUMBERS;
use thiserror::Error;

use crate::handles::HandlesError;
use crate::host_log::HostLogError;

/// Why a job contradicts itself, does not fit on the drive or cannot go on.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum JobError {
    /// Jobs of one phase give different temperatures.
    #[error(
        "{option}={celsius}, but job `{other}` of the same phase has {of_other}: a drive has one temperature at a \
         time; part the jobs by `stonewall`, or give one temperature"
    )]
    Temperatures {
        /// The option: of the phase, or of its start delay.
        option: &'static str,
        /// What the job gives (°C).
        celsius: f64,
        /// Name of a job of the same phase.
        other: String,
        /// What that gives (°C).
        of_other: f64,
    },
    /// A number behind `rw` that counts requests, and is none.
    #[error("rw=...:{0} is no number of requests")]
    Requests(i64),
    /// A number behind `rw` that skips bytes, and not whole sectors.
    #[error("rw=...:{0} skips bytes that are no multiple of 512")]
    Skip(i64),
    /// Shares of reads and writes (%) are both given.
    #[error("rwmixread={read} and rwmixwrite={write} do not add up to 100")]
    Mix {
        /// Share of reads (%).
        read: u8,
        /// Share of writes (%).
        write: u8,
    },
    /// A sequential job has several files. Holds how many.
    #[error(
        "nrfiles={0}: a drive is one file, so what is sequential in each of several is not; leave it \
         out, or write a job for each with its `offset` and `size`"
    )]
    Files(u32),
    /// The job's region is smaller than a block.
    #[error("its region of {region_bytes} bytes is smaller than one block of {block_bytes} bytes")]
    Region {
        /// Length of the region (bytes).
        region_bytes: u64,
        /// Length of the block (bytes).
        block_bytes: u64,
    },
    /// There are more blocks than a random map holds.
    #[error("{0} blocks are more than {MAX_NUMBERS}")]
    Blocks(u64),
    /// The job begins past the end of the drive.
    #[error(
        "offset (with {clone} times offset_increment) lies past the drive's {capacity_bytes} bytes"
    )]
    Offset {
        /// Number of the clone.
        clone: u32,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
    /// The job ends past the end of the drive.
    #[error(
        "size={len_bytes} from offset {start_bytes} does not fit on a drive of {capacity_bytes} bytes; \
         leave `size` out to cover the drive"
    )]
    Size {
        /// Length of the region (bytes).
        len_bytes: u64,
        /// First byte of the region.
        start_bytes: u64,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
    /// A zone of `random_distribution` cannot be.
    #[error("zone {number} of random_distribution {fault}")]
    Zone {
        /// Its number, from 1.
        number: usize,
        fault: &'static str,
    },
    /// The drive is too small for a stand-in.
    #[error("it needs a drive of {needed_bytes} bytes, not {capacity_bytes}")]
    Capacity {
        /// What the stand-in needs (bytes).
        needed_bytes: u64,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
    /// No queue depth meets the target of latencies.
    #[error(
        "latency_target={target_ns} ns cannot be met: even one at a time, a request took {took_ns} ns; \
         raise the target or lower latency_percentile"
    )]
    LatencyTarget {
        target_ns: u64,
        /// What a request took (ns).
        took_ns: u64,
    },
    /// The job names placement handles that the drive does not have.
    #[error(transparent)]
    Handles(#[from] HandlesError),
    /// The log of the host does not fit the drive, or the jobs not the log.
    #[error(transparent)]
    HostLog(#[from] HostLogError),
    /// A rule that the job breaks.
    #[error("{0}")]
    Rule(&'static str),
}
