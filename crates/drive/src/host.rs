//! The host: jobs of a workload or a trace, each with its queue, pace and end.

use firstread_core::{HostOp, Ns};
use firstread_workload::{JobSpec, JobStream, Request, TraceRecord, WorkloadError};

/// Where requests come from.
pub(crate) enum Source<'a> {
    /// A job of a job file.
    Job(Box<JobStream>),
    /// A trace: every record is due at its time.
    Trace(Box<dyn Iterator<Item = Result<TraceRecord, WorkloadError>> + 'a>),
}

/// One job of the host.
pub(crate) struct Client<'a> {
    source: Source<'a>,
    /// Requests in flight at most.
    depth: u32,
    in_flight: u32,
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
    /// When it may go on after a pause.
    resume_at: Ns,
    paused: bool,
    exhausted: bool,
}

/// What a client does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// This request, now; its latency counts from the time given.
    Issue(Request, Ns),
    /// Nothing before this time.
    At(Ns),
    /// Nothing until one of its requests completes.
    Wait,
    /// Nothing ever again.
    End,
}

impl<'a> Client<'a> {
    pub(crate) fn job(
        spec: &JobSpec,
        capacity_bytes: u64,
        seed: u64,
        report: usize,
    ) -> Result<Client<'a>, WorkloadError> {
        let stream = JobStream::new(spec, capacity_bytes, seed)?;
        Ok(Client {
            start_delay: Ns(stream.start_delay_ns()),
            source: Source::Job(Box::new(stream)),
            depth: spec.iodepth,
            group: spec.group,
            report,
            ramp: Ns(spec.ramp_ns),
            runtime: spec.runtime_ns.map(Ns),
            ..Client::idle()
        })
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
            depth: 0,
            in_flight: 0,
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
        }
    }

    /// Its group starts.
    pub(crate) fn start(&mut self, now: Ns) {
        self.started = now + self.start_delay;
        self.resume_at = self.started;
    }

    /// Requests completed from this time on count.
    pub(crate) fn measured_from(&self) -> Ns {
        self.started + self.ramp
    }

    /// Whether it has ended and nothing of it is in flight.
    pub(crate) fn is_done(&self) -> bool {
        self.exhausted && self.in_flight == 0
    }

    /// Whether it has as many requests in flight as it may, and more to come.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight >= self.depth && self.runtime.is_none()
    }

    /// One of its requests completed.
    pub(crate) fn completed(&mut self) {
        self.in_flight -= 1;
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
    pub(crate) fn next(&mut self, now: Ns) -> Result<Next, WorkloadError> {
        if self.exhausted {
            return Ok(Next::End);
        }
        if now < self.resume_at {
            return Ok(Next::At(self.resume_at));
        }
        if self
            .runtime
            .is_some_and(|t| now.since(self.measured_from()) >= t && now >= self.measured_from())
        {
            self.stop();
            return Ok(Next::End);
        }
        if self.in_flight >= self.depth {
            return Ok(Next::Wait);
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
        let due = self.started + Ns(request.not_before_ns);
        if due > now {
            self.next = Some(request);
            return Ok(Next::At(due));
        }
        self.in_flight += 1;
        // A record of a trace that found the queue full has waited since it was due.
        let since = if matches!(self.source, Source::Trace(_)) {
            due
        } else {
            now
        };
        Ok(Next::Issue(request, since))
    }
}

fn from_record(record: TraceRecord) -> Request {
    Request {
        op: record.op,
        offset_bytes: record.offset_bytes,
        len_bytes: if record.op == HostOp::Flush {
            0
        } else {
            record.len_bytes
        },
        not_before_ns: record.time_ns,
        think_ns: 0,
    }
}
