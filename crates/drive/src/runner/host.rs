//! The host of a run: jobs or a trace, and when the power is cut.

use firstread_core::{HostOp, Ns};
use firstread_workload::host_log::HostLogError;
use firstread_workload::job::Direction;
use firstread_workload::{Draws, JobSpec, TraceRecord, Workload, WorkloadError};

use super::client::{Client, Records};
use super::flow::Flows;
use super::host_log::LogOfRun;
use super::phases::{self, PhasePlan};
use crate::drive::Drive;
use crate::stats::Report;

/// What `job` issues. Memory is reserved for no more, since a run may have thousands of jobs.
fn ops(job: &JobSpec) -> impl Iterator<Item = HostOp> + use<> {
    let op = |direction: &Direction| match direction {
        Direction::Read => HostOp::Read,
        Direction::Write => HostOp::Write,
        Direction::Trim => HostOp::Trim,
    };
    let flushes = job.writes_per_flush.map(|_| HostOp::Flush);
    let directions = job.operations.directions().iter().map(op);
    directions.chain(flushes)
}

/// When power is cut in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAt {
    /// This long after the start of the run.
    Time(Ns),
    /// After this many events of the run.
    Events(u64),
}

/// The host of a run: its sources of requests.
pub struct Host<'a> {
    pub(super) clients: Vec<Client<'a>>,
    pub(super) reports: Vec<Report>,
    pub(super) flows: Option<Flows>,
    pub(super) phases: Vec<PhasePlan>,
    pub(super) limit: Option<u64>,
    pub(super) cut: Option<CutAt>,
    /// Write amplification measured by a burn-in.
    pub(super) burn_in: Option<f64>,
    /// The records of the trace once more, for a drive whose schemes ask what is to come.
    pub(super) again: Option<Records<'a>>,
    /// The load, if a log of the host lies between its jobs and the drive.
    pub(super) log_of: Option<Box<Workload>>,
    /// Whether the run is to stop.
    pub(super) stop: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Host<'a> {
    /// The jobs of a job file, on a drive of `capacity_bytes`; `seed` draws their requests. Of each group of jobs that run
    /// together at most `limit` requests are measured: those after the ramps of their jobs. Then the group ends.
    ///
    /// # Errors
    /// [`WorkloadError`] where a job does not fit the drive.
    pub fn jobs(
        workload: &Workload,
        capacity_bytes: u64,
        seed: u64,
        limit: Option<u64>,
    ) -> Result<Host<'a>, WorkloadError> {
        Host::of_jobs(workload, capacity_bytes, seed, limit, Draws::Run)
    }

    /// Part `part` of a run of jobs that is split into parts. Its requests are drawn anew; what is hot under `seed` stays hot.
    ///
    /// # Errors
    /// As [`Host::jobs`].
    pub fn part(
        workload: &Workload,
        capacity_bytes: u64,
        seed: u64,
        limit: Option<u64>,
        part: u64,
    ) -> Result<Host<'a>, WorkloadError> {
        Host::of_jobs(workload, capacity_bytes, seed, limit, Draws::Part(part))
    }

    /// Pass `pass` (from 1 on) of a burn-in by the jobs of a job file: all of its phases in which a job writes, without
    /// their delays and temperatures. The power is cut so long after the start of each pass as the job file says. Their requests are drawn anew; what is hot under `seed` stays hot.
    ///
    /// # Errors
    /// [`WorkloadError`] where a job does not fit the drive.
    pub fn pass(
        workload: &Workload,
        capacity_bytes: u64,
        seed: u64,
        pass: u64,
    ) -> Result<Host<'a>, WorkloadError> {
        let writes = |group| {
            let mut jobs = workload.jobs.iter().filter(|job| job.group == group);
            jobs.any(JobSpec::writes)
        };
        let jobs = workload.jobs.iter().filter(|job| writes(job.group));
        let at_once = |job: &JobSpec| JobSpec {
            start_delay_ns: [0, 0],
            temperature_c: None,
            delay_temperature_c: None,
            ..job.clone()
        };
        let workload = Workload {
            jobs: jobs.map(at_once).collect(),
            ..workload.clone()
        };
        Host::of_jobs(&workload, capacity_bytes, seed, None, Draws::Pass(pass))
    }

    /// What comes before part `part` of such a run ([`Host::lead_in`]).
    ///
    /// # Errors
    /// As [`Host::jobs`].
    pub fn before_part(
        workload: &Workload,
        capacity_bytes: u64,
        seed: u64,
        limit: Option<u64>,
        part: u64,
    ) -> Result<Host<'a>, WorkloadError> {
        Host::of_jobs(workload, capacity_bytes, seed, limit, Draws::LeadIn(part))
    }

    fn of_jobs(
        workload: &Workload,
        capacity_bytes: u64,
        seed: u64,
        limit: Option<u64>,
        draws: Draws,
    ) -> Result<Host<'a>, WorkloadError> {
        let capacity_bytes = workload.capacity_on(capacity_bytes);
        let cut = workload.jobs.iter().filter_map(|job| job.power_cut_ns);
        let mut host = Host {
            clients: Vec::new(),
            reports: Vec::new(),
            flows: Flows::new(workload.jobs.iter().map(|job| job.flow)),
            phases: phases::plan(workload),
            limit,
            cut: cut.min().map(|after| CutAt::Time(Ns(after))),
            burn_in: None,
            again: None,
            log_of: workload.host_log().map(|_| Box::new(workload.clone())),
            stop: None,
        };
        for job in &workload.jobs {
            let report = job.report as usize;
            while report >= host.reports.len() {
                host.reports.push(Report {
                    name: job.name.clone(),
                    percentiles: job.percentiles.clone(),
                    ..Report::default()
                });
            }
            host.reports[report].reserve(ops(job));
            host.clients
                .push(Client::job(job, capacity_bytes, (seed, draws), report)?);
        }
        Ok(host)
    }

    /// A trace, with at most `depth` requests in flight. At most `limit` requests are issued.
    pub fn trace(
        name: &str,
        records: impl Iterator<Item = Result<TraceRecord, WorkloadError>> + 'a,
        depth: u32,
        limit: Option<u64>,
    ) -> Host<'a> {
        let mut report = Report {
            name: name.to_owned(),
            percentiles: firstread_workload::job::DEFAULT_PERCENTILES.to_vec(),
            ..Report::default()
        };
        report.reserve([HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush]);
        Host {
            clients: vec![Client::trace(records, depth)],
            reports: vec![report],
            flows: None,
            phases: Vec::new(),
            limit,
            cut: None,
            burn_in: None,
            again: None,
            log_of: None,
            stop: None,
        }
    }

    /// The log between jobs and `drive`, where there is one.
    pub(super) fn log(&self, drive: &mut Drive) -> Result<Option<Box<LogOfRun>>, WorkloadError> {
        let Some(workload) = &self.log_of else {
            drive.host_log = None;
            return Ok(None);
        };
        if self.cut.is_some() {
            return Err(workload.jobs[0].error(HostLogError::PowerCut.into()));
        }
        let requests = self.clients.iter().map(Client::depth).sum();
        let log = LogOfRun::new(workload, drive, self.clients.len() as u32, requests)?;
        Ok(log.map(Box::new))
    }

    /// The drive has so many placement handles; none where it takes no handle. Where there is a log, jobs name those of the log.
    pub(super) fn on_handles(&mut self, drive: Option<u16>) -> Result<(), WorkloadError> {
        let log_of = self.log_of.as_ref();
        let drive = log_of.map_or(drive, |workload| workload.handles_on(drive));
        let mut clients = self.clients.iter_mut();
        clients.try_for_each(|client| client.on_handles(drive))
    }

    /// Sets the write amplification at which a burn-in was steady. A run close to that value counts as steady as soon
    /// as it is long enough to tell.
    pub fn expect_amplification(&mut self, burn_in: f64) {
        self.burn_in = Some(burn_in);
    }

    /// The records of the trace once more. A drive whose schemes ask what is to come ([`Drive::foretell`]) is told by
    /// these; jobs tell it themselves.
    ///
    /// [`Drive::foretell`]: crate::Drive::foretell
    pub fn foretell_by(
        &mut self,
        records: impl Iterator<Item = Result<TraceRecord, WorkloadError>> + 'a,
    ) {
        self.again = Some(Box::new(records));
    }

    /// Stops the run once `stop` says so: no more requests are issued, and those in flight complete. It is asked now
    /// and then.
    pub fn stop_when(&mut self, stop: &'a dyn Fn() -> bool) {
        self.stop = Some(stop);
    }

    /// Cuts the power during the run, unless the run ends earlier.
    pub fn cut_power_at(&mut self, cut: CutAt) {
        self.cut = Some(cut);
    }
}
