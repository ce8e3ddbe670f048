//! Reads of a timed drive that is worn as a life left it at a stage.

use std::sync::Arc;

use firstread_drive::{DriveError, StateError, WornBlocks};

use super::{Life, worn};
use crate::error::Error;
use crate::input::Input;
use crate::setup::Setup;

/// The load of a probe: the latency of the drive itself.
const JOB: &str = "[probe]\nrw=randread\nbs=4k\niodepth=1\nnorandommap\nio_size=64t\n";

/// Reads of 4 KiB, one at a time, all over a drive that was just filled and has then aged as the life says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// Reads measured.
    pub reads: u64,
    /// Mean latency (ns).
    pub mean_ns: f64,
    /// Latency that 99 % of reads do not exceed (ns).
    pub p99_ns: u64,
    /// The same for 99.9 %.
    pub p999_ns: u64,
    /// Retries of a page read on average.
    pub retries_mean: f64,
    /// Share of reads that ended without data.
    pub lost_share: f64,
}

/// Probes the drive of `life` with superblocks as worn as `blocks`. None where no probe is asked for, or where so many
/// blocks are bad at that wear that the drive cannot be filled.
pub(super) fn probe(life: &Life, blocks: &WornBlocks) -> Result<Option<Probe>, Error> {
    if life.probe_requests == 0 {
        return Ok(None);
    }
    let mut setup = Setup {
        input: Arc::new(Input::job_file("probe", JOB.into())?),
        limit: Some(life.probe_requests),
        burn_in: None,
        ..life.setup.clone()
    };
    worn::wear(&mut setup, blocks.clone());
    let outcome = match setup.simulate() {
        Err(Error::Drive(DriveError::State(StateError::BadBlocks { .. }))) => return Ok(None),
        outcome => outcome?,
    };
    let reads = &outcome.stats.all.read;
    Ok(Some(Probe {
        reads: reads.count(),
        mean_ns: reads.mean_ns(),
        p99_ns: reads.percentile(99.0).ns,
        p999_ns: reads.percentile(99.9).ns,
        retries_mean: outcome.retries().mean,
        lost_share: reads.lost_share(),
    }))
}
