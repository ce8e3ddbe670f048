//! Reads of a timed drive that is worn as a life left it at a stage.

use std::sync::Arc;

use firstread_drive::{DriveError, Ended, StateError, WornBlocks};

use crate::error::Error;
use crate::input::Input;
use crate::setup::Setup;
use crate::worn;

/// The load of a probe: the latency of the drive itself.
const JOB: &str = "[probe]\nrw=randread\nbs=4k\niodepth=1\nnorandommap\nio_size=64t\n";

/// Reads of 4 KiB, one at a time, all over a drive that was just filled and has then aged as the life says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    pub reads: u64,
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

/// Probes the drive of `setup` by so many reads, with superblocks as worn as `blocks`. None where there are none, where
/// so many blocks are bad at that wear that the drive cannot be filled, or where it was interrupted.
pub(super) fn probe(
    setup: &Setup,
    requests: u64,
    blocks: &WornBlocks,
) -> Result<Option<Probe>, Error> {
    if requests == 0 {
        return Ok(None);
    }
    let mut setup = Setup {
        input: Arc::new(Input::job_file("probe", JOB.into())?),
        limit: Some(requests),
        burn_in: None,
        ..setup.clone()
    };
    worn::wear(&mut setup.profile, &mut setup.state, blocks.clone());
    let outcome = match setup.simulate() {
        Err(Error::Drive(DriveError::State(
            StateError::BadBlocks { .. } | StateError::LowArea { .. },
        ))) => return Ok(None),
        outcome => outcome?,
    };
    if outcome.stats.ended == Ended::Interrupted {
        return Ok(None);
    }
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
