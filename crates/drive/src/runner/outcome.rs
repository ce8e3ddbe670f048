//! Outcome of a run.

use std::fmt;

use firstread_core::Ns;
use firstread_firmware::observe::{
    Counters, FdpEvent, FdpEventKind, SuperblockInfo, SuperblockUse,
};

use super::host_log::LogStats;
use super::phases::Phase;
use crate::drive::{Drive, PowerCut};
use crate::stats::{Amplification, Modes, OfRegion, Report, WriteBuffers};

/// What a run did.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// One report a job, or a group of jobs.
    pub reports: Vec<Report>,
    /// The phases that have begun, in order; none of a trace.
    pub phases: Vec<Phase>,
    /// Requests of all reports. Where jobs ran one group after another, only its counts mean something: latencies and rates
    /// are those of [`RunStats::groups`].
    pub all: Report,
    /// The groups of jobs that ran together, where several have begun, in order; none otherwise.
    pub groups: Vec<Group>,
    /// Names of jobs of which no request was measured, each once.
    pub unmeasured: Vec<String>,
    /// Requests completed, counted or not (before a ramp's end).
    pub requests: u64,
    /// Counters of the firmware over the run. They include one fetch time after its end, by which the
    /// drive is ahead of its host.
    pub counters: Counters,
    /// The same from the first request on that is measured: a ramp does not count.
    pub measured: Counters,
    /// Superblocks by cell mode, and what capacity they left.
    pub modes: Modes,
    /// What a log of the host did, where one lay between the jobs and the drive.
    pub host_log: Option<LogStats>,
    /// Events of placement handles, where the drive has them.
    pub fdp_events: Option<FdpEvents>,
    /// Its regions at the end, its own first.
    pub regions: Vec<OfRegion>,
    /// Bytes programmed for each byte of the host, or of the applications above its log, and whether the run was in a steady state.
    pub amplification: Amplification,
    /// Host bytes in the write buffer at the end of the run, which are not on flash yet.
    pub buffered_bytes: u64,
    /// Memory of the write buffers.
    pub write_buffers: WriteBuffers,
    /// Number of events. One event may deliver several completions to the host.
    pub events: u64,
    /// Simulated time of the run, to its last completion.
    pub simulated: Ns,
    /// The power cut in it.
    pub power_cut: Option<PowerCut>,
    /// Whether the run did all that was asked of it.
    pub ended: Ended,
}

/// Jobs that ran together: what lies between two `stonewall`s of a job file.
#[derive(Clone, Debug)]
pub struct Group {
    /// Names of the jobs, each once.
    pub jobs: Vec<String>,
    /// Their reports, as places in [`RunStats::reports`].
    pub reports: Vec<usize>,
    /// Requests of all of them.
    pub all: Report,
    /// Counters of the firmware from the start of the group to that of the next one, or to the end of the run.
    pub counters: Counters,
}

/// Events of placement handles in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FdpEvents {
    /// How many there were, in the order of [`FdpEventKind::ALL`].
    pub counts: [u64; FdpEventKind::ALL.len()],
    /// The last ones, on the clock of the drive, the first one first.
    pub last: Vec<FdpEvent>,
}

impl FdpEvents {
    /// Those since the drive had counted `before`.
    pub(super) fn of(drive: &Drive, before: &[u64]) -> Option<FdpEvents> {
        let log = drive.fdp_log()?;
        let mut counts = log.counts;
        let then = before.iter();
        counts.iter_mut().zip(then).for_each(|(n, then)| *n -= then);
        let kept = log.last.map(<[FdpEvent]>::len).iter().sum::<usize>();
        let earlier = kept.saturating_sub(counts.iter().sum::<u64>() as usize);
        let last = log.last.into_iter().flatten().skip(earlier);
        Some(FdpEvents {
            counts,
            last: last.copied().collect(),
        })
    }
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All requests have completed.
    Completed,
    /// The drive takes no more writes.
    EndOfLife(EndOfLife),
    /// It was stopped ([`Host::stop_when`](super::Host::stop_when)): the requests that it had issued have completed.
    Interrupted,
}

/// State of a drive when it first refused a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndOfLife {
    /// Bytes the host wrote in this run.
    pub written: u64,
    /// Superblocks of the drive, those in use and those retired.
    pub blocks: u32,
    /// Superblocks that are retired.
    pub retired: u32,
    /// Superblocks in which a program has failed, and whose data have not been moved away.
    pub failed: u32,
}

impl fmt::Display for EndOfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndOfLife {
            written,
            blocks,
            retired,
            failed,
        } = self;
        write!(
            f,
            "the drive has reached its end of life after {written} bytes written: its spare is used up. \
             Of {blocks} superblocks {retired} are retired, and programs failed in {failed} more that \
             could not be emptied. It can still be read; write less, start with fewer P/E cycles \
             (--pe-cycles), or use a drive with more over-provisioning"
        )
    }
}

impl EndOfLife {
    /// What `drive` is like now, in a run that began with its counters at `before`.
    pub(super) fn of(drive: &Drive, before: &Counters) -> EndOfLife {
        let slots = drive.counters().host_slots_written - before.host_slots_written;
        let blocks = drive.blocks();
        let count =
            |of: fn(&SuperblockInfo) -> bool| blocks.iter().filter(|(_, info)| of(info)).count();
        EndOfLife {
            written: slots * u64::from(drive.profile().geometry.slot_bytes),
            blocks: blocks.len(),
            retired: count(|info| info.usage == SuperblockUse::Bad) as u32,
            failed: count(|info| info.failed && info.usage != SuperblockUse::Bad) as u32,
        }
    }
}
