//! A log of the host between the jobs of a run and the drive ([`firstread_workload::host_log`]): its requests become commands.
//!
//! What the log has in its tables outlives a run, as the drive does: a burn-in by the log is one of its tables too. So a
//! drive keeps the log between runs, and a clone of the drive has a log of its own. A log of other options begins anew.

use firstread_core::{HostCommand, Ns, Status};
use firstread_workload::host_log::{
    HostLog, HostLogError, LogCounts, LogEnded, LogPlan, LogRequest, UnderLog,
};
use firstread_workload::{Request, Workload, WorkloadError};

use super::error::RunError;
use crate::commands::{Completed, Submission};
use crate::drive::Drive;
use crate::profile::DriveProfile;

/// What a log did in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogStats {
    /// What it is.
    pub plan: LogPlan,
    /// What it did in the run.
    pub counts: LogCounts,
}

/// The log of a run.
pub(super) struct LogOfRun {
    log: Box<HostLog>,
    /// What it had done when the run began.
    before: LogCounts,
    /// Where commands of cleaning are queued.
    queue: u32,
}

/// What a log on a drive of `profile` lies on.
pub fn under_log(profile: &DriveProfile) -> UnderLog {
    let geometry = &profile.geometry;
    let slots = u64::from(geometry.slots_per_superblock(profile.mode));
    UnderLog {
        capacity_bytes: profile.capacity_bytes,
        superblock_bytes: slots * u64::from(geometry.slot_bytes),
        page_bytes: geometry.slot_bytes,
        handles: profile.placement_handles(),
    }
}

impl LogOfRun {
    /// The log of `workload` on `drive`, for a run of `clients` clients with `requests` requests at a time; none where the
    /// workload has none.
    pub(super) fn new(
        workload: &Workload,
        drive: &mut Drive,
        clients: u32,
        requests: u32,
    ) -> Result<Option<LogOfRun>, WorkloadError> {
        // A log that is refused leaves the drive the one that it has.
        let plan = workload.plan_host_log(&under_log(drive.profile()))?;
        let kept = drive.host_log.take();
        let Some(plan) = plan else {
            return Ok(None);
        };
        let mut log = match kept.filter(|log| *log.plan() == plan) {
            Some(log) => log,
            None => Box::new(HostLog::new(plan)),
        };
        log.begin(requests, drive.profile().link.max_outstanding);
        Ok(Some(LogOfRun {
            before: *log.counts(),
            log,
            queue: clients,
        }))
    }

    /// Client `client` issues `request`, of which the latency counts from `since`.
    pub(super) fn take(
        &mut self,
        client: u32,
        request: &Request,
        since: Ns,
    ) -> Result<(), HostLogError> {
        self.log.take(LogRequest {
            op: request.op,
            offset_bytes: request.offset_bytes,
            len_bytes: request.len_bytes,
            fua: request.fua,
            placement: request.placement,
            client,
            since,
        })
    }

    /// Sends the drive what it takes. Whether the queues are full.
    pub(super) fn send(&mut self, now: Ns, drive: &mut Drive) -> Result<bool, RunError> {
        while drive.has_room() {
            let Some(command) = self.log.next_command() else {
                return Ok(false);
            };
            let (queue, since) = command.client.unwrap_or((self.queue, now));
            let submission = Submission {
                op: command.op,
                offset_bytes: command.offset_bytes,
                len_bytes: command.len_bytes,
                fua: command.fua,
                placement: command.placement,
                queue,
                since,
            };
            let id = drive.submit(now, submission)?;
            self.log.sent(id.0, &command);
        }
        Ok(true)
    }

    /// A command has ended. `each` is told of the request that has ended with it, if one has. The status that the run fails with, if
    /// cleaning cannot go on.
    pub(super) fn ended(
        &mut self,
        completed: &Completed<'_>,
        each: impl FnOnce(&Completed<'_>),
    ) -> Option<Status> {
        match self.log.ended(completed.command.id.0, completed.status) {
            LogEnded::Nothing => None,
            LogEnded::Failed(status) => Some(status),
            LogEnded::Request(request, status) => {
                let command = HostCommand {
                    op: request.op,
                    offset_bytes: request.offset_bytes,
                    len_bytes: request.len_bytes,
                    fua: request.fua,
                    placement: request.placement,
                    ..*completed.command
                };
                each(&Completed {
                    command: &command,
                    status,
                    ..*completed
                });
                None
            }
        }
    }

    /// No client issues anything more: whether nothing is left to be done.
    pub(super) fn comes_to_rest(&mut self) -> bool {
        self.log.settle();
        self.log.is_at_rest()
    }

    /// Bytes that applications have written, all in all.
    pub(super) fn application_bytes(&self) -> u64 {
        self.log.counts().application_bytes
    }

    /// The run has ended: `drive` keeps the log, if all that the log has sent has ended.
    pub(super) fn end(self, drive: &mut Drive) -> LogStats {
        let (plan, counts) = (*self.log.plan(), self.log.counts().since(&self.before));
        drive.host_log = self.log.is_at_rest().then_some(self.log);
        LogStats { plan, counts }
    }
}
