//! Reads of a timed drive that is worn as a life left it at a stage.
//!
//! The drive that is probed has the chip's whole blocks, whatever part of them the life had: its reads are of all layers of
//! the stack. Its capacity grows in proportion, so its superblocks are as many and as full.

use std::sync::Arc;

use firstread_drive::profile::DriveProfile;
use firstread_drive::{DriveError, DriveState, Ended, Precondition, StateError, WornBlocks};
use firstread_workload::job::JobSpec;

use super::error::LifeError;
use super::lost;
use super::parts::{Probe, ProbeJob, ProbeRun, ProbedWrites, Sample, mean_wear};
use crate::error::Error;
use crate::input::Input;
use crate::setup::Setup;
use crate::worn;

/// The load of a standard probe: the latency of the drive itself.
const JOB: &str = "[probe]\nrw=randread\nbs=4k\niodepth=1\nnorandommap\nio_size=64t\n";

/// Reads beyond a percentile below which it means little.
const FEWEST_BEYOND: u64 = 100;

/// The standard probe, by so many reads.
pub(super) fn standard(requests: u64) -> Result<Option<ProbeJob>, Error> {
    match requests {
        0 => Ok(None),
        requests => Ok(Some(ProbeJob {
            input: Arc::new(Input::job_file("probe", JOB.into())?),
            requests,
            precondition: Precondition::None,
        })),
    }
}

/// Whether `job` can probe: it reads something, as far as that is known before it runs.
pub(super) fn check(job: &ProbeJob) -> Result<(), LifeError> {
    let reads = |job: &JobSpec| job.reads();
    match &*job.input {
        Input::Jobs { workload, .. } if !workload.jobs.iter().any(reads) => {
            Err(LifeError::ProbeReadsNothing(workload.name.clone()))
        }
        Input::Jobs { workload, .. } if workload.has_groups() => {
            Err(LifeError::ProbeOfGroups(workload.name.clone()))
        }
        _ => Ok(()),
    }
}

/// Probes the drive of `setup` by `job`, worn as at the last of `samples`; where so many blocks are bad by then that it cannot
/// be filled, as at the last one at which it can. None where there is none, or where it was interrupted.
pub(super) fn at_last(
    setup: &Setup,
    job: &ProbeJob,
    samples: &[Sample],
) -> Result<Option<(Probe, Arc<ProbeRun>)>, Error> {
    for sample in samples.iter().rev() {
        match at(setup, job, sample)? {
            Probed::Reads(probe, run) => return Ok(Some((probe, run))),
            Probed::CannotBeFilled => {}
            Probed::Interrupted => return Ok(None),
        }
    }
    Ok(None)
}

enum Probed {
    Reads(Probe, Arc<ProbeRun>),
    /// So many blocks are bad.
    CannotBeFilled,
    Interrupted,
}

fn at(setup: &Setup, job: &ProbeJob, sample: &Sample) -> Result<Probed, Error> {
    let mut setup = Setup {
        input: Arc::clone(&job.input),
        limit: Some(job.requests),
        burn_in: None,
        state: DriveState {
            precondition: job.precondition,
            ..setup.state
        },
        ..setup.clone()
    };
    with_whole_blocks(setup.profile.make_mut());
    let blocks: WornBlocks = sample.blocks.clone();
    worn::wear(setup.profile.make_mut(), &mut setup.state, blocks);
    let mut outcome = match setup.simulate() {
        Err(Error::Drive(DriveError::State(
            StateError::BadBlocks { .. }
            | StateError::LowArea { .. }
            | StateError::Keeps { .. }
            | StateError::Full { .. },
        ))) => return Ok(Probed::CannotBeFilled),
        Err(Error::Interrupted) => return Ok(Probed::Interrupted),
        outcome => outcome?,
    };
    match outcome.stats.ended {
        Ended::Interrupted => return Ok(Probed::Interrupted),
        Ended::EndOfLife(_) => return Ok(Probed::CannotBeFilled),
        _ => {}
    }
    let reads = &outcome.stats.all.read;
    if reads.count() == 0 {
        return Err(LifeError::ProbeReadsNothing(job.input.name().to_owned()).into());
    }
    let writes = &outcome.stats.all.write;
    let rare = reads.percentile(99.99);
    let probe = Probe {
        host_bytes: sample.host_bytes,
        pe_cycles: mean_wear(sample),
        reads: reads.count(),
        mean_ns: reads.mean_ns(),
        p99_ns: reads.percentile(99.0).ns,
        p999_ns: reads.percentile(99.9).ns,
        p9999_ns: (rare.beyond >= FEWEST_BEYOND).then_some(rare.ns),
        p9999_interval_ns: rare.interval_ns,
        retries_mean: outcome.retries().mean,
        lost_share: reads.lost_share(),
        writes: (writes.count() > 0).then(|| ProbedWrites {
            writes: writes.count(),
            mean_ns: writes.mean_ns(),
            p999_ns: writes.percentile(99.9).ns,
            max_ns: writes.max_ns(),
        }),
        written_bytes: outcome.stats.counters.host_bytes_written,
    };
    outcome.stats.reports = Vec::new();
    outcome.log = Vec::new();
    Ok(Probed::Reads(probe, Arc::new(ProbeRun { setup, outcome })))
}

/// The drive of `profile` has the whole blocks of its chip, and a capacity in proportion.
pub(super) fn with_whole_blocks(profile: &mut DriveProfile) {
    let have = profile.chip.wordlines() as u16;
    let taken = profile.geometry.wordlines_per_block;
    if !lost::has_rates(profile) || taken >= have {
        return;
    }
    let slot_bytes = u64::from(profile.geometry.slot_bytes);
    let slots = u128::from(profile.capacity_bytes / slot_bytes);
    profile.capacity_bytes = (slots * u128::from(have) / u128::from(taken)) as u64 * slot_bytes;
    profile.geometry.wordlines_per_block = have;
}
