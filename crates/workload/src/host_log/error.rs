//! Why a log cannot lie on a drive, or jobs not above it.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use thiserror::Error;

/// Why a log cannot lie on a drive, or jobs not above it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostLogError {
    #[error(
        "{option}: {bytes} bytes are no whole number of the {page} bytes that the drive maps at a time: {nearest} would do"
    )]
    Page {
        option: &'static str,
        bytes: u64,
        page: u64,
        nearest: u64,
    },
    #[error(
        "host_log_zone: the drive holds {zones} zones of {zone} bytes, and a log with {heads} heads needs {spare} beside those of its \
         data: host_log_zone={zone_that_fits} would do"
    )]
    Zones {
        zones: u64,
        zone: u64,
        heads: u8,
        spare: u64,
        zone_that_fits: u64,
    },
    #[error(
        "host_log: of {zones} zones {left} are left to clean with, and a log with {heads} heads needs {spare}: host_log={most} would do"
    )]
    Spare {
        zones: u64,
        left: u64,
        heads: u8,
        spare: u64,
        most: u64,
    },
    #[error("host_log: the drive has {pages} pages, and a log holds {most} at most")]
    Large { pages: u64, most: u64 },
    #[error(
        "host_log_heads: each of {heads} heads has a placement handle, and the drive has {handles}: `stream.handles={heads}` would do"
    )]
    Handles { heads: u8, handles: u16 },
    #[error(
        "host_log_heads: the log has {heads}, for placement handles from 0 on, and the job names handle {handle}: \
         host_log_heads={} would do", u32::from(*handle) + 1
    )]
    NoHead { handle: u16, heads: u8 },
    #[error(
        "host_log: a length or an offset of {bytes} bytes is no whole number of the {page} bytes that the drive maps at a time, and the log \
         takes no parts of pages"
    )]
    Request { bytes: u64, page: u32 },
    #[error("host_log: no job writes, and a log that is only read is a plain drive: leave it out")]
    NothingWritten,
    #[error("host_log: the log takes reads, writes and flushes, and this job trims")]
    Trims,
    #[error(
        "host_log: how a log of the host recovers after a power cut is not modelled: leave out `power_cut` or `host_log`"
    )]
    PowerCut,
    #[error(
        "host_log: its options are not those of job `{other}`, and a drive has one log: write them in `[global]`"
    )]
    Differs { other: String },
}
