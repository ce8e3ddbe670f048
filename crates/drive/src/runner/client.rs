//! The host: jobs of a workload or a trace, each with its queue, pace and end.

use firstread_core::{HostOp, Ns};
use firstread_workload::host_log::HostLogError;
use firstread_workload::job::ExitWhat;
use firstread_workload::{
    Draws, JobError, JobSpec, JobStream, Location, Request, TraceRecord, WorkloadError,
};

use super::depth_search::{DepthSearch, Verdict};
use crate::stats::{DepthFound, Depths};

/// Where requests come from.
pub(crate) enum Source<'a> {
    /// A job of a job file.
    Job(Box<JobStream>),
    /// A trace: every record is due at its time.
    Trace(Records<'a>),
}

/// The records of a trace.
pub(super) type Records<'a> = Box<dyn Iterator<Item = Result<TraceRecord, WorkloadError>> + 'a>;

/// One job of the host.
pub(crate) struct Client<'a> {
    pub(super) source: Source<'a>,
    /// The job, and where it is written; none for a trace.
    pub(super) job: Option<(Location, String)>,
    /// Requests in flight at most.
    depth: u32,
    in_flight: u32,
    /// Counted requests by the depth they were submitted at.
    pub(crate) depths: Depths,
    /// The next request, if it could not be issued yet.
    next: Option<Request>,
    /// Group it runs in.
    pub(crate) group: u32,
    /// Index of the report its requests count for.
    pub(crate) report: usize,
    start_delay: Ns,
    started: Ns,
    ramp: Ns,
    runtime: Option<Ns>,
    /// End of the current pause.
    resume_at: Ns,
    paused: bool,
    exhausted: bool,
    is_started: bool,
    /// Whether the client drains: it issues nothing until nothing is in flight.
    drains: bool,
    /// Its flush is in flight.
    flushes: bool,
    /// Requests submitted before this time are not counted (ramp time).
    pub(crate) counts_from: Ns,
    /// Dependencies between this job and others.
    pub(crate) dependencies: Dependencies,
    search: Option<Box<Search>>,
}

/// How a job depends on others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dependencies {
    /// Its section of the job file.
    pub(crate) section: u32,
    pub(crate) reporting_group: u32,
    /// Section that has to end before this job starts.
    pub(crate) wait_for: Option<u32>,
    /// Which jobs stop when this job ends.
    pub(crate) exit_all: Option<ExitWhat>,
}

/// A job's search for its queue depth.
struct Search {
    depth: DepthSearch,
    /// Why it cannot go on.
    failed: Option<Ns>,
    target_ns: u64,
}

/// What a client does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// Issue this request now; its latency counts from the given time.
    Issue(Request, Ns),
    /// Wait until this time.
    At(Ns),
    /// Wait for a completion.
    Wait,
    /// The client has ended.
    End,
}

impl<'a> Client<'a> {
    pub(crate) fn job(
        spec: &JobSpec,
        capacity_bytes: u64,
        (seed, draws): (u64, Draws),
        report: usize,
    ) -> Result<Client<'a>, WorkloadError> {
        let stream = JobStream::drawn(spec, capacity_bytes, seed, draws)?;
        Ok(Client {
            start_delay: Ns(stream.start_delay_ns()),
            source: Source::Job(Box::new(stream)),
            job: Some((spec.place.clone(), spec.name.clone())),
            depth: spec.iodepth,
            group: spec.group,
            report,
            ramp: Ns(spec.ramp_ns),
            runtime: spec.runtime_ns.map(Ns),
            dependencies: Dependencies {
                section: spec.section,
                reporting_group: spec.reporting_group,
                wait_for: spec.wait_for,
                exit_all: spec.exit_all,
            },
            search: spec.latency_target.map(|target| {
                Box::new(Search {
                    depth: DepthSearch::new(target, spec.iodepth),
                    failed: None,
                    target_ns: target.target_ns,
                })
            }),
            ..Client::idle()
        })
    }

    /// The drive has so many placement handles; none where it takes no handle.
    pub(super) fn on_handles(&mut self, drive: Option<u16>) -> Result<(), WorkloadError> {
        let (Source::Job(stream), Some((place, job))) = (&mut self.source, &self.job) else {
            return Ok(());
        };
        stream.on_handles(drive).map_err(|why| WorkloadError::Job {
            place: place.clone(),
            job: job.clone(),
            why,
        })
    }

    /// That the log of the host does not take what the job asks for.
    #[cold]
    pub(super) fn refused(&self, why: HostLogError) -> WorkloadError {
        let (place, job) = self
            .job
            .clone()
            .unwrap_or((Location::whole(""), String::new()));
        WorkloadError::Job {
            place,
            job,
            why: why.into(),
        }
    }

    pub(crate) fn trace(
        records: impl Iterator<Item = Result<TraceRecord, WorkloadError>> + 'a,
        depth: u32,
    ) -> Client<'a> {
        Client {
            source: Source::Trace(Box::new(records)),
            depth,
            ..Client::idle()
        }
    }

    fn idle() -> Client<'a> {
        Client {
            source: Source::Trace(Box::new(std::iter::empty())),
            job: None,
            depth: 0,
            in_flight: 0,
            depths: Depths::default(),
            next: None,
            group: 0,
            report: 0,
            start_delay: Ns::ZERO,
            started: Ns::ZERO,
            ramp: Ns::ZERO,
            runtime: None,
            resume_at: Ns::ZERO,
            paused: false,
            exhausted: false,
            is_started: false,
            drains: false,
            flushes: false,
            counts_from: Ns::ZERO,
            dependencies: Dependencies::default(),
            search: None,
        }
    }

    pub(crate) fn start(&mut self, now: Ns) {
        self.is_started = true;
        self.started = now + self.start_delay;
        self.resume_at = self.started;
        self.counts_from = self.started + self.ramp;
        if let Some(search) = &mut self.search {
            self.depth = search.depth.depth();
            search.depth.start(self.started);
        }
    }

    /// What may end it sooner than its requests do, as options of a job file. How many requests are issued before a ramp
    /// ends is not known, so nor is where a limit of measured ones ends it (`limited`).
    pub(super) fn may_end_sooner(&self, limited: bool) -> Option<&'static str> {
        if limited && self.ramp > Ns::ZERO {
            Some("ramp_time")
        } else if self.runtime.is_some() {
            Some("runtime")
        } else if self.search.is_some() {
            Some("latency_target")
        } else {
            self.dependencies.exit_all.map(|_| "exitall")
        }
    }

    /// Requests in flight at most.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// How long after the start of its group it waits.
    pub(crate) fn start_delay(&self) -> Ns {
        self.start_delay
    }

    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Whether it has ended and nothing of it is in flight.
    pub(crate) fn is_done(&self) -> bool {
        self.exhausted && self.in_flight == 0
    }

    /// Whether its queue is full and it has more requests to issue.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight >= self.depth && self.runtime.is_none()
    }

    /// One of its requests, submitted then, completed. Whether what was counted is to be forgotten.
    #[inline]
    pub(crate) fn completed(&mut self, now: Ns, submitted: Ns) -> bool {
        self.in_flight -= 1;
        self.search.is_some() && self.searched(now, submitted)
    }

    #[cold]
    fn searched(&mut self, now: Ns, submitted: Ns) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        let mut found = false;
        // Until everything in flight is done, latencies are those of the depth before.
        if self.drains {
            self.drains = self.in_flight > 0;
            if !self.drains {
                search.depth.start(now);
            }
            return false;
        }
        if !self.exhausted {
            match search.depth.completed(now, now.since(submitted)) {
                Verdict::Continue => {}
                Verdict::Depth { drain } => self.drains = drain && self.in_flight > 0,
                Verdict::Found => {
                    self.drains = self.in_flight > 0;
                    self.counts_from = now;
                    found = true;
                }
                Verdict::Done => self.stop(),
                Verdict::Impossible(latency) => {
                    search.failed = Some(latency);
                }
            }
        }
        if let Some(search) = &self.search {
            self.depth = search.depth.depth();
        }
        found
    }

    /// The queue depth that its search has come to.
    pub(crate) fn depth_found(&self) -> Option<DepthFound> {
        self.search.as_ref().map(|s| s.depth.found())
    }

    /// A request that moves data was submitted.
    #[inline]
    pub(crate) fn count_depth(&mut self, since: Ns) {
        if since >= self.counts_from {
            self.depths.count(self.in_flight);
        }
    }

    /// Whether a request that moves data was submitted and is counted.
    pub(crate) fn is_measured(&self) -> bool {
        self.depths.0.iter().any(|n| *n > 0)
    }

    /// None of its requests in flight will complete.
    pub(crate) fn lose_all(&mut self) {
        self.in_flight = 0;
    }

    /// Nothing more is to be issued.
    pub(crate) fn stop(&mut self) {
        self.exhausted = true;
        self.next = None;
    }

    /// What it does now.
    #[inline]
    pub(crate) fn next(&mut self, now: Ns) -> Result<Next, WorkloadError> {
        // If only the queue depth limits the job, the other conditions need no check.
        if self.in_flight < self.depth
            && self.holds_for_depth_alone()
            && now >= self.resume_at
            && let Source::Job(stream) = &mut self.source
            && let Some(request) = stream.next_plain()
        {
            self.in_flight += 1;
            return Ok(Next::Issue(request, now));
        }
        self.next_of_any(now)
    }

    /// Whether neither a runtime, a search for its depth nor its end holds it.
    #[inline]
    fn holds_for_depth_alone(&self) -> bool {
        self.runtime.is_none() && self.search.is_none() && !self.exhausted
    }

    /// What it does now, whatever it is.
    fn next_of_any(&mut self, now: Ns) -> Result<Next, WorkloadError> {
        if self.exhausted {
            return Ok(Next::End);
        }
        if now < self.resume_at {
            return Ok(Next::At(self.resume_at));
        }
        let measured_from = self.started + self.ramp;
        if self
            .runtime
            .is_some_and(|t| now.since(measured_from) >= t && now >= measured_from)
        {
            self.stop();
            return Ok(Next::End);
        }
        if let Some(search) = &self.search
            && let Some((place, job)) = &self.job
            && let Some(latency) = search.failed
        {
            let (place, job) = (place.clone(), job.clone());
            return Err(WorkloadError::Job {
                place,
                job,
                why: JobError::LatencyTarget {
                    target_ns: search.target_ns,
                    took_ns: latency.0,
                },
            });
        }
        if self.in_flight >= self.depth || self.drains {
            return Ok(Next::Wait);
        }
        if self.flushes {
            // A job waits for its flush.
            if self.in_flight > 0 {
                return Ok(Next::Wait);
            }
            self.flushes = false;
        }
        let request = match self.next.take() {
            Some(request) => request,
            None => {
                let request = match &mut self.source {
                    Source::Job(stream) => stream.next(),
                    Source::Trace(records) => records.next().transpose()?.map(from_record),
                };
                let Some(request) = request else {
                    self.stop();
                    return Ok(Next::End);
                };
                self.paused = request.think_ns > 0;
                request
            }
        };
        if self.paused {
            // A pause begins when everything before it has completed.
            if self.in_flight > 0 {
                self.next = Some(request);
                return Ok(Next::Wait);
            }
            self.next = Some(request);
            self.paused = false;
            self.resume_at = now + Ns(request.think_ns);
            return Ok(Next::At(self.resume_at));
        }
        // A time beyond the range of the clock is reported as an error when the request is due.
        let due = self.started.saturating_add(Ns(request.not_before_ns));
        let due = due.min(Ns(Ns::MAX.0 - 1));
        if due > now {
            self.next = Some(request);
            return Ok(Next::At(due));
        }
        if request.op == HostOp::Flush && matches!(self.source, Source::Job(_)) {
            // It is of the writes before it, which have completed by then.
            if self.in_flight > 0 {
                self.next = Some(request);
                return Ok(Next::Wait);
            }
            self.flushes = true;
        }
        self.in_flight += 1;
        // The latency of a trace record that found the queue full counts from its due time.
        let since = if matches!(self.source, Source::Trace(_)) {
            due
        } else {
            now
        };
        Ok(Next::Issue(request, since))
    }
}

pub(super) fn from_record(record: TraceRecord) -> Request {
    Request {
        op: record.op,
        offset_bytes: record.offset_bytes,
        len_bytes: if record.op == HostOp::Flush {
            0
        } else {
            record.len_bytes
        },
        fua: false,
        placement: record.placement,
        not_before_ns: record.time_ns,
        think_ns: 0,
    }
}
