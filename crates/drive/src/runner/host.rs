//! The host of a run: jobs or a trace, and when the power is cut.

use firstread_core::Ns;
use firstread_workload::WorkloadError;

use super::client::Client;
use super::flow::Flows;
use crate::stats::Report;

/// When power is cut in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAt {
    /// So long after its start.
    Time(Ns),
    /// After so many of its events.
    Events(u64),
}

/// The host of a run: its sources of requests.
pub struct Host<'a> {
    pub(super) clients: Vec<Client<'a>>,
    pub(super) reports: Vec<Report>,
    pub(super) flows: Option<Flows>,
    pub(super) limit: Option<u64>,
    pub(super) cut: Option<CutAt>,
}

impl<'a> Host<'a> {
    /// The jobs of a job file, on a drive of `capacity_bytes`; `seed` draws their requests. At most `limit`
    /// requests are issued.
    ///
    /// # Errors
    /// [`WorkloadError`] where a job does not fit the drive.
    pub fn jobs(
        workload: &firstread_workload::Workload,
        capacity_bytes: u64,
        seed: u64,
        limit: Option<u64>,
    ) -> Result<Host<'a>, WorkloadError> {
        let mut host = Host {
            clients: Vec::new(),
            reports: Vec::new(),
            flows: Flows::new(workload.jobs.iter().map(|job| job.flow)),
            limit,
            cut: None,
        };
        for job in &workload.jobs {
            let report = job.report as usize;
            if report >= host.reports.len() {
                host.reports.push(Report {
                    name: job.name.clone(),
                    percentiles: job.percentiles.clone(),
                    ..Report::default()
                });
            }
            host.clients
                .push(Client::job(job, capacity_bytes, seed, report)?);
        }
        Ok(host)
    }

    /// A trace, with at most `depth` requests in flight. At most `limit` requests are issued.
    pub fn trace(
        name: &str,
        records: impl Iterator<Item = Result<firstread_workload::TraceRecord, WorkloadError>> + 'a,
        depth: u32,
        limit: Option<u64>,
    ) -> Host<'a> {
        let report = Report {
            name: name.to_owned(),
            percentiles: firstread_workload::job::DEFAULT_PERCENTILES.to_vec(),
            ..Report::default()
        };
        Host {
            clients: vec![Client::trace(records, depth)],
            reports: vec![report],
            flows: None,
            limit,
            cut: None,
        }
    }

    /// The power is cut in the run, if that has not ended by then.
    pub fn cut_power_at(&mut self, cut: CutAt) {
        self.cut = Some(cut);
    }
}
