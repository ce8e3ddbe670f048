//! A burn-in: a workload is run, pass after pass, until its writes are in a steady state; then it is measured.
//!
//! Each superblock that was full at the start has to be turned over first (`stats/turnover.rs`), and once more after that. The
//! test for a steady state is that of a run since the first turnover (`stats/amplification.rs`), with a narrower interval. It is
//! made after 21 erases of superblocks, and again each time that their number has grown by a quarter: a test made too often
//! passes by chance. A drive that is in the state that theory expects needs no turnover.
//!
//! A pass of a job file is all of its phases in which a job writes, without their delays and temperatures. Its
//! `power_cut` cuts the power in each pass that is long enough. A pass
//! has the hot pages of the run that follows and draws its requests anew ([`Host::pass`]): the run issues the same
//! requests as without a burn-in. A trace restarts from its first record.

use firstread_core::Ns;

use super::error::RunError;
use super::host::Host;
use super::outcome::EndOfLife;
use super::watch::EraseWatch;
use crate::drive::Drive;
use crate::stats::{Amplification, Written};

/// Result of a burn-in.
#[derive(Clone, Debug)]
pub struct BurnIn {
    /// Bytes that the host wrote, and bytes programmed to flash.
    pub written: Written,
    /// Bytes that the host wrote, or the applications above its log, in units of the capacity.
    pub drive_writes: f64,
    /// Requests completed in all passes.
    pub requests: u64,
    /// Number of passes begun.
    pub passes: u64,
    /// Power cuts in them.
    pub power_cuts: u64,
    /// Simulated time that the passes took.
    pub time: Ns,
    /// Superblocks erased.
    pub erases: u64,
    /// Write amplification since the drive was turned over for the first time, with the reason if it was not steady.
    pub amplification: Amplification,
    /// Whether the writes became steady, or what ended it before.
    pub ended: BurnInEnd,
}

/// Why a burn-in ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BurnInEnd {
    /// The drive is in a steady state.
    Steady,
    /// The limit of drive writes is reached.
    Limit,
    /// The drive takes no more writes.
    EndOfLife(EndOfLife),
    /// It was stopped ([`Host::stop_when`]).
    Interrupted,
}

impl BurnIn {
    /// Drive writes after which a burn-in ends, steady or not, unless another limit is given.
    pub const MOST_DRIVE_WRITES: f64 = 30.0;

    /// Burns `drive` in until it is steady, or until the host has written `most_drive_writes` capacities, or the
    /// applications above its log. `pass`
    /// makes the host of each pass, from pass 1 on ([`Host::pass`]); `progress` is told now and then how many requests
    /// have completed.
    ///
    /// # Errors
    /// [`RunError`] as in a run, and [`RunError::NothingWritten`] where a pass writes nothing.
    pub fn run<'a, E: From<RunError>>(
        drive: &mut Drive,
        most_drive_writes: f64,
        mut pass: impl FnMut(u64) -> Result<Host<'a>, E>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<BurnIn, E> {
        let capacity = drive.capacity_bytes() as f64;
        let allowed_bytes = (capacity * most_drive_writes) as u64;
        let mut watch = EraseWatch::until_steady(drive, allowed_bytes);
        let (start, before) = (drive.now(), drive.counters().clone());
        let (mut requests, mut passes, mut power_cuts) = (0, 0, 0);
        let mut host_bytes = 0;
        let ended = loop {
            passes += 1;
            let bytes = drive.counters().host_bytes_written;
            let host = pass(passes)?;
            let finished = host.go(drive, &mut watch, &mut |n| progress(requests + n), &mut ())?;
            let of_drive = drive.counters().host_bytes_written - bytes;
            let pass_bytes = finished
                .host_log
                .map_or(of_drive, |log| log.counts.application_bytes);
            host_bytes += pass_bytes;
            requests += finished.run.completed;
            power_cuts += u64::from(finished.power_cut.is_some());
            if finished.run.failed.is_some() {
                break BurnInEnd::EndOfLife(EndOfLife::of(drive, &before));
            }
            if finished.interrupted {
                break BurnInEnd::Interrupted;
            }
            if watch.is_steady() {
                break BurnInEnd::Steady;
            }
            if host_bytes >= allowed_bytes {
                break BurnInEnd::Limit;
            }
            if pass_bytes == 0 {
                return Err(RunError::NothingWritten.into());
            }
        };
        let slot_bytes = drive.profile().geometry.slot_bytes;
        let written = Written::of(&drive.counters().since(&before), slot_bytes);
        Ok(BurnIn {
            written,
            drive_writes: host_bytes as f64 / capacity,
            requests,
            passes,
            power_cuts,
            erases: drive.counters().erases - before.erases,
            time: drive.now().since(start),
            amplification: watch.amplification(drive, None),
            ended,
        })
    }
}
