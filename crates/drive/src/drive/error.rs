//! What a drive refuses, and why.

use firstread_core::HostOp;
use thiserror::Error;

/// Why a drive cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DriveError {
    /// The profile cannot be simulated.
    #[error("{0}")]
    Profile(String),
    /// The state asked for is not one this drive can be in.
    #[error("{0}")]
    State(String),
}

/// Why a drive does not take a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// Its queues are full: as many commands are in flight as it takes (`link.max_outstanding`).
    #[error("the queues of the drive are full")]
    Full,
    /// The command was submitted so long ago that the drive would have taken it by now
    /// ([`Drive::host_lag`](super::Drive::host_lag)).
    #[error("a command is submitted at a time that the drive has gone past")]
    Late,
    /// The command reaches past the end of the drive.
    #[error(
        "a {} of {len_bytes} bytes at {offset_bytes} reaches past the end of the drive ({capacity_bytes} bytes)",
        op_name(*op)
    )]
    OutOfRange {
        /// What was asked.
        op: HostOp,
        /// First byte of the command.
        offset_bytes: u64,
        /// Length of the command (bytes).
        len_bytes: u32,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
}

/// Why the power of a drive cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CutRefused {
    /// More slots were written than sequence numbers count.
    #[error(
        "power cannot be cut after more than a million million slots were written: a slot's \
         sequence number is simulated with 40 bits; cut earlier"
    )]
    SequenceEnded,
    /// The drive may lose writes that were not flushed.
    #[error(
        "power cannot be cut on a drive with `dram.write_cache = \"volatile\"`: that its \
         unflushed writes are lost is not simulated; cut a drive with `protected` or \
         `write-through`"
    )]
    VolatileCache,
}

const fn op_name(op: HostOp) -> &'static str {
    match op {
        HostOp::Read => "read",
        HostOp::Write => "write",
        HostOp::Trim => "trim",
        HostOp::Flush => "flush",
    }
}
