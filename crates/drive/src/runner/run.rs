//! A run in progress: which client issues next, which clients have ended, what is counted.

use firstread_core::{HostOp, Ns, Status};
use firstread_firmware::observe::Counters;
use firstread_workload::job::ExitWhat;

use super::client::{Client, Next};
use super::error::RunError;
use super::flow::{Flows, Share};
use super::host::Host;
use super::host_log::{LogOfRun, LogStats};
use super::observer::{Observed, Observer};
use super::phases::{Phase, PhasePlan};
use crate::commands::{Completed, Submission};
use crate::drive::Drive;
use crate::stats::{Depths, Report};

/// A run under way.
pub(crate) struct Run<'a> {
    /// The host's clock, which may be behind the drive's.
    now: Ns,
    clients: Vec<Client<'a>>,
    pub(crate) reports: Vec<Report>,
    /// Requests that are measured and still to be issued in this group.
    left: u64,
    /// The same at the start of a group.
    limit: u64,
    /// Counters of the firmware when the first request was issued that is measured.
    measured_from: Option<Box<Counters>>,
    /// The groups that have begun, where there are several.
    pub(crate) groups: Vec<BegunGroup>,
    group: u32,
    pub(crate) completed: u64,
    pub(crate) in_flight: u32,
    first: Vec<Option<Ns>>,
    /// Clients that may have something to issue now.
    ready: Vec<u32>,
    /// Clients of the group that have not ended.
    running: usize,
    ended: Vec<bool>,
    /// Time at which each client has to be polled again; [`Ns::MAX`] if it waits for an event.
    wake: Vec<Ns>,
    /// The earliest of these times.
    wake_due: Ns,
    flows: Option<Flows>,
    plan: Vec<PhasePlan>,
    /// Phases that have begun.
    pub(crate) phases: Vec<Phase>,
    /// When the run began.
    began: Ns,
    /// Clients found the queues full.
    crowded: bool,
    /// A status that ends the run.
    pub(crate) failed: Option<Status>,
    /// The log of the host between the clients and the drive.
    log: Option<Box<LogOfRun>>,
    /// Whether nothing of the log is left to be done, as far as clients want nothing more.
    log_rests: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(host: Host<'a>, log: Option<Box<LogOfRun>>) -> Run<'a> {
        let clients = host.clients;
        Run {
            now: Ns::ZERO,
            group: clients.iter().map(|c| c.group).min().unwrap_or(0),
            first: vec![None; host.reports.len()],
            wake: vec![Ns::MAX; clients.len()],
            ready: Vec::with_capacity(clients.len()),
            running: 0,
            ended: vec![false; clients.len()],
            wake_due: Ns::MAX,
            flows: host.flows,
            phases: Vec::with_capacity(host.phases.len()),
            plan: host.phases,
            began: Ns::ZERO,
            crowded: false,
            reports: host.reports,
            left: 0,
            limit: host.limit.unwrap_or(u64::MAX),
            measured_from: None,
            groups: Vec::new(),
            completed: 0,
            in_flight: 0,
            failed: None,
            log_rests: log.is_none(),
            log,
            clients,
        }
    }

    /// Starts the clients of the first group at `now`.
    pub(crate) fn start(&mut self, now: Ns, drive: &mut Drive) -> Result<(), RunError> {
        (self.now, self.began) = (now, now);
        self.start_group(self.group, drive)
    }

    /// Time of the last action of the host.
    pub(crate) fn now(&self) -> Ns {
        self.now
    }

    /// The host goes on to `until`: issues what is ready, takes completions, issues more. It stops early at the
    /// end of the run, and at what fails it. When it goes on next, if no completion reaches it before.
    pub(crate) fn go_on<O: Observer>(
        &mut self,
        until: Ns,
        drive: &mut Drive,
        observer: &mut O,
    ) -> Result<Ns, RunError> {
        loop {
            self.issue(drive)?;
            let completion = drive.completion_due();
            let next = completion.min(self.wake_due);
            if next > until || self.done() {
                if next > Drive::LATEST && next != Ns::MAX {
                    return Err(RunError::AfterTheEnd);
                }
                return Ok(next);
            }
            if completion > self.wake_due {
                self.now = next;
                self.woken();
            } else if let Some(completed) = drive.completion(next) {
                self.now = next;
                let goes_on = match self.log.is_some() {
                    false => self.completed(&completed, observer),
                    true => self.log_completed(&completed, observer),
                };
                if O::WATCHES && !goes_on {
                    return Err(RunError::EndedByObserver);
                }
            }
            if self.failed.is_some() || drive.stale().is_some() {
                return Ok(Ns::MAX);
            }
        }
    }

    fn start_group(&mut self, group: u32, drive: &mut Drive) -> Result<(), RunError> {
        self.end_phase();
        (self.group, self.left) = (group, self.limit);
        if self.left > 0 {
            self.begin_phase(drive)?;
        }
        for i in 0..self.clients.len() {
            if self.clients[i].group == group && !self.ended[i] {
                self.running += 1;
                if !self.waits(i) {
                    self.start_client(i);
                }
            }
        }
        Ok(())
    }

    /// The phase of the group begins now: the drive is brought to its temperature.
    #[cold]
    fn begin_phase(&mut self, drive: &mut Drive) -> Result<(), RunError> {
        let Some(plan) = self.plan.iter().find(|plan| plan.group == self.group) else {
            return Ok(());
        };
        let of_group = self.clients.iter().filter(|c| c.group == self.group);
        let delay = of_group.map(Client::start_delay).min().unwrap_or(Ns::ZERO);
        let started = self.now.saturating_add(delay);
        if self.plan.len() > 1 {
            self.groups.push(BegunGroup {
                group: self.group,
                counters: drive.counters().clone(),
            });
        }
        let before = drive.temperature_c(self.now);
        let temperature_c = plan.temperature_c.unwrap_or(before);
        let delay_temperature_c = plan.delay_temperature_c.unwrap_or(temperature_c);
        if delay > Ns::ZERO && delay_temperature_c != before {
            drive.set_temperature(self.now, delay_temperature_c)?;
        }
        if drive.temperature_c(started) != temperature_c {
            drive.set_temperature(started, temperature_c)?;
        }
        self.phases.push(Phase {
            jobs: plan.jobs.clone(),
            reached_limit: false,
            began: self.now.since(self.began),
            started: started.since(self.began),
            ended: None,
            delay_temperature_c,
            temperature_c,
            requests: self.completed,
        });
        Ok(())
    }

    /// The phase that has begun last ends now, with all of its requests completed.
    #[cold]
    fn end_phase(&mut self) {
        if let Some(phase) = self.phases.last_mut()
            && phase.ended.is_none()
        {
            phase.ended = Some(self.now.since(self.began));
            phase.reached_limit = self.left == 0;
            phase.requests = self.completed - phase.requests;
        }
    }

    /// The run has ended: so has its last phase, if all of its requests have completed.
    pub(crate) fn settle_phases(&mut self) {
        if self.done() {
            self.end_phase();
        } else if let Some(phase) = self.phases.last_mut() {
            phase.requests = self.completed - phase.requests;
        }
    }

    /// The run has ended: its reports are told at which queue depths their requests were submitted.
    pub(crate) fn settle_depths(&mut self) {
        for client in &self.clients {
            self.reports[client.report].depths.merge(&client.depths);
        }
    }

    /// The group of jobs that a report is of.
    pub(crate) fn group_of(&self, report: usize) -> u32 {
        let mut clients = self.clients.iter();
        clients.find(|c| c.report == report).map_or(0, |c| c.group)
    }

    /// Names of the jobs of which no request was measured, each once.
    pub(crate) fn unmeasured(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for client in self.clients.iter().filter(|client| !client.is_measured()) {
            let job = client.job.iter().map(|(_, name)| name);
            names.extend(
                job.filter(|name| !names.contains(name))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        names
    }

    /// Counters of the firmware from the first measured request to `end`; of a run without one, none have counted.
    pub(crate) fn measured(&self, end: &Counters) -> Counters {
        end.since(self.measured_from.as_deref().unwrap_or(end))
    }

    fn start_client(&mut self, i: usize) {
        self.clients[i].start(self.now);
        self.ready.push(i as u32);
        if let Some(flows) = &mut self.flows {
            flows.set_part(i as u32, true, &mut self.ready);
        }
    }

    /// No client issues anything more.
    #[cold]
    pub(crate) fn stop(&mut self) {
        (self.left, self.limit) = (0, 0);
        for i in 0..self.clients.len() {
            self.clients[i].stop();
            if self.clients[i].is_done() && !self.ended[i] {
                self.end(i);
            }
        }
    }

    /// Whether client `i` waits for a job that has not ended.
    fn waits(&self, i: usize) -> bool {
        let Some(section) = self.clients[i].dependencies.wait_for else {
            return false;
        };
        let mut clients = self.clients.iter().zip(&self.ended);
        clients.any(|(c, ended)| c.dependencies.section == section && !ended)
    }

    /// Whether every client has ended and nothing is in flight.
    pub(crate) fn done(&self) -> bool {
        self.running == 0 && self.log_rests
    }

    /// Whether it has ended: done, or failed.
    pub(crate) fn is_over(&self) -> bool {
        self.done() || self.failed.is_some()
    }

    /// Issues what is ready.
    fn issue(&mut self, drive: &mut Drive) -> Result<(), RunError> {
        if self.crowded && drive.has_room() {
            self.crowded = false;
            self.ready
                .extend((0..self.clients.len() as u32).filter(|&i| !self.ended[i as usize]));
        }
        while let Some(i) = self.ready.pop() {
            let client = &self.clients[i as usize];
            if client.group == self.group && client.is_started() {
                self.issue_of(i, drive)?;
                self.note_end(i);
            }
            if self.running == 0
                && let Some(next) = (0..self.clients.len())
                    .filter(|&c| !self.ended[c])
                    .map(|c| self.clients[c].group)
                    .min()
            {
                self.start_group(next, drive)?;
            }
        }
        if self.log.is_some() {
            self.send(drive)?;
        }
        if self.wake_due != Ns::MAX {
            // A client may have been polled earlier in this loop, and may now wait for a later time.
            self.wake_due = self.wake.iter().copied().min().unwrap_or(Ns::MAX);
        }
        Ok(())
    }

    #[inline]
    fn issue_of(&mut self, i: u32, drive: &mut Drive) -> Result<(), RunError> {
        let client = &mut self.clients[i as usize];
        loop {
            if self.left == 0 {
                client.stop();
                return Ok(());
            }
            if !drive.has_room() {
                self.crowded = true;
                return Ok(());
            }
            if let Some(flows) = &mut self.flows {
                match flows.share(i, self.now) {
                    Share::Open => {}
                    Share::Wait => return Ok(()),
                    Share::At(due) => {
                        self.wake[i as usize] = due;
                        self.wake_due = self.wake_due.min(due);
                        return Ok(());
                    }
                }
            }
            match client.next(self.now)? {
                Next::Issue(request, since) => {
                    if since >= client.counts_from {
                        self.left -= 1;
                        if self.measured_from.is_none() {
                            self.measured_from = Some(counters_now(drive));
                        }
                    }
                    self.in_flight += 1;
                    if request.op != HostOp::Flush {
                        client.count_depth(since);
                    }
                    if let Some(flows) = &mut self.flows {
                        flows.issued(i, &mut self.ready);
                    }
                    if let Some(log) = &mut self.log {
                        let taken = log.take(i, &request, since);
                        taken.map_err(|why| client.refused(why))?;
                        if client.is_busy() {
                            return Ok(());
                        }
                        continue;
                    }
                    let command = Submission {
                        op: request.op,
                        offset_bytes: request.offset_bytes,
                        len_bytes: request.len_bytes,
                        fua: request.fua,
                        placement: request.placement,
                        queue: i,
                        since,
                    };
                    drive.submit(self.now, command)?;
                    if client.is_busy() {
                        return Ok(());
                    }
                }
                Next::At(due) => {
                    self.wake[i as usize] = due;
                    self.wake_due = self.wake_due.min(due);
                    return Ok(());
                }
                Next::Wait | Next::End => return Ok(()),
            }
        }
    }

    /// The log sends what the drive takes of it. Where no client issues anything more, it comes to rest.
    #[inline(never)] // Few runs have a log.
    fn send(&mut self, drive: &mut Drive) -> Result<(), RunError> {
        if let Some(log) = &mut self.log {
            self.log_rests = self.running == 0 && log.comes_to_rest();
            self.crowded |= log.send(self.now, drive)?;
        }
        Ok(())
    }

    /// A command of the log has completed now, and perhaps a request with it. Whether the run goes on.
    #[inline(never)]
    fn log_completed<O: Observer>(&mut self, completed: &Completed<'_>, observer: &mut O) -> bool {
        let mut goes_on = true;
        if let Some(mut log) = self.log.take() {
            let failed = log.ended(completed, |request| {
                goes_on = self.completed(request, observer);
            });
            self.failed = self.failed.or(failed);
            self.log = Some(log);
        }
        goes_on
    }

    /// Bytes that the host has written, by `counters`, or the applications above its log.
    pub(super) fn host_bytes(&self, counters: &Counters) -> u64 {
        let log = self.log.as_ref();
        log.map_or(counters.host_bytes_written, |log| log.application_bytes())
    }

    /// The run has ended, and `drive` keeps its log.
    pub(super) fn end_log(&mut self, drive: &mut Drive) -> Option<LogStats> {
        self.log.take().map(|log| log.end(drive))
    }

    /// Power was cut, and is back at `now`: what was in flight will never complete, and clients go on
    /// without it.
    pub(crate) fn lose_all(&mut self, now: Ns) {
        self.now = now;
        self.in_flight = 0;
        self.ready.clear();
        self.crowded = false;
        self.wake.fill(Ns::MAX);
        self.wake_due = Ns::MAX;
        for i in (0..self.clients.len() as u32).filter(|&i| !self.ended[i as usize]) {
            self.clients[i as usize].lose_all();
            self.ready.push(i);
        }
    }

    /// Records whether client `i` has ended.
    #[inline]
    fn note_end(&mut self, i: u32) {
        if self.clients[i as usize].is_done() && !self.ended[i as usize] {
            self.end(i as usize);
        }
    }

    /// Client `i` has ended: so may others with it, and those that waited for it start.
    #[cold]
    fn end(&mut self, i: usize) {
        self.ended[i] = true;
        if self.clients[i].is_started() || self.clients[i].group == self.group {
            self.running -= 1;
        }
        if let Some(flows) = &mut self.flows {
            flows.set_part(i as u32, false, &mut self.ready);
        }
        let (group, dependencies) = (self.clients[i].group, self.clients[i].dependencies);
        if let Some(depth) = self.clients[i].depth_found() {
            self.reports[self.clients[i].report].depth = Some(depth);
        }
        for other in 0..self.clients.len() {
            let client = &mut self.clients[other];
            let goes_too = dependencies.exit_all.is_some_and(|what| match what {
                ExitWhat::ReportingGroup => {
                    client.dependencies.reporting_group == dependencies.reporting_group
                }
                ExitWhat::Together => client.group == group,
                ExitWhat::All => true,
            });
            if goes_too && !self.ended[other] {
                client.stop();
                if client.is_done() {
                    self.end(other);
                }
            }
        }
        for other in 0..self.clients.len() {
            let client = &self.clients[other];
            let is_next = client.dependencies.wait_for == Some(dependencies.section)
                && client.group == self.group
                && !client.is_started();
            if is_next && !self.ended[other] && !self.waits(other) {
                self.start_client(other);
            }
        }
    }

    /// A request has completed now. Whether the run goes on, as far as `observer` says.
    #[inline(always)] // Its one caller has the completion in registers.
    fn completed<O: Observer>(&mut self, ended: &Completed<'_>, observer: &mut O) -> bool {
        let Completed {
            command,
            queue,
            since,
            status,
            ns_by_cause,
            ..
        } = *ended;
        let now = self.now;
        self.completed += 1;
        self.in_flight -= 1;
        let client = &mut self.clients[queue as usize];
        let forget = client.completed(now, since);
        if self.ready.last() != Some(&queue) {
            self.ready.push(queue);
        }
        let report = &mut self.reports[client.report];
        if forget {
            forget_all(report);
            client.depths = Depths::default();
            self.first[client.report] = None;
        }
        let goes_on = !O::WATCHES
            || observer.completed(&Observed {
                completed: ended,
                is_measured: since >= client.counts_from
                    && matches!(status, Status::Ok | Status::Uncorrectable),
            });
        if since >= client.counts_from {
            let first = self.first[client.report].get_or_insert(since);
            *first = (*first).min(since);
            report.runtime_ns = now.since(*first).0;
            let latency = now.since(since);
            debug_assert!(
                ns_by_cause.iter().sum::<u64>() == latency.0
                    || !matches!(status, Status::Ok | Status::Uncorrectable),
                "every nanosecond has a cause: {ended:?}"
            );
            let moved = if status == Status::Ok {
                command.len_bytes
            } else {
                0
            };
            report.rates.count(command.op, report.runtime_ns, moved);
            let latencies = report.direction(command.op);
            match status {
                Status::Ok => latencies.record(now, latency, command.len_bytes, ns_by_cause),
                Status::Uncorrectable => latencies.record_lost(now, latency, ns_by_cause),
                // A drive that is to be read alone: the load goes on without its writes, which are counted.
                Status::WriteProtected => {}
                other => self.failed = Some(other),
            }
        } else if !matches!(
            status,
            Status::Ok | Status::Uncorrectable | Status::WriteProtected
        ) {
            self.failed = Some(status);
        }
        goes_on
    }

    /// The time has come at which a client wanted to be asked again: all that wait for a time are.
    fn woken(&mut self) {
        for (i, wake) in self
            .wake
            .iter_mut()
            .enumerate()
            .filter(|(_, wake)| **wake != Ns::MAX)
        {
            *wake = Ns::MAX;
            self.ready.push(i as u32);
        }
        self.wake_due = Ns::MAX;
    }
}

/// Counters of the firmware as they are now: apart from what every request takes.
#[cold]
#[inline(never)]
fn counters_now(drive: &Drive) -> Box<Counters> {
    Box::new(drive.counters().clone())
}

/// A group of jobs that has begun.
#[derive(Clone, Debug)]
pub(crate) struct BegunGroup {
    pub(crate) group: u32,
    /// Counters of the firmware when it began.
    pub(crate) counters: Counters,
}

/// Forgets what `report` has counted: apart from what every completion takes, for an empty report is large.
#[cold]
#[inline(never)]
fn forget_all(report: &mut Report) {
    report.forget();
}
