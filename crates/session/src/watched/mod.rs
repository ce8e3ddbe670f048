//! What is written down of a run beside its report: its course over time, fio's logs, a log of its requests, and a timeline of the
//! slowest reads.
//!
//! - [`fio_logs`]: fio's logs, as jobs ask for them.
//! - [`request_log`]: a record a request, to a file while the run goes on.
//! - [`trace_events`]: a timeline of the slowest reads.

mod csv;
pub mod fio_logs;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
pub mod request_log;
pub mod trace_events;

use firstread_core::{Ns, Status};
use firstread_drive::spans::Span;
use firstread_drive::stats::timeline::{Interval, Timeline};
use firstread_drive::{Drive, Observed, Observer};
use firstread_firmware::observe::Counters;

use crate::files::FileError;
use crate::input::Input;
use fio_logs::{FioLog, FioLogs};
use request_log::{LogSpec, RequestLog};
use trace_events::{TraceEvents, TraceSpec};

/// What is to be written down of a run beside its report.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Length of the intervals of its course over time; none where that is not kept.
    pub interval: Option<Ns>,
    /// Whether fio's logs are made for the jobs that ask for them.
    pub fio_logs: bool,
    /// The log of its requests.
    pub log: Option<LogSpec>,
    /// The timeline of its slowest reads.
    pub trace: Option<TraceSpec>,
}

/// What was written down of a run, in memory.
#[derive(Clone, Debug, Default)]
pub struct WrittenDown {
    /// The run over time; empty where that is not kept.
    pub intervals: Vec<Interval>,
    /// fio's logs.
    pub fio_logs: Vec<FioLog>,
}

/// Watches a run.
pub(crate) struct Watch {
    timeline: Option<Timeline>,
    fio_logs: Option<FioLogs>,
    log: Option<RequestLog>,
    trace: Option<TraceEvents>,
}

impl Watched {
    /// Whether jobs of `input` have fio's logs.
    pub(crate) fn has_fio_logs(&self, input: &Input) -> bool {
        match input {
            Input::Jobs { workload, .. } => {
                self.fio_logs && workload.jobs.iter().any(|job| job.logs.any())
            }
            Input::Trace(_) | Input::StandIn { .. } => false,
        }
    }

    /// Watches a run of `input` that begins on `drive` now; none where there is nothing to write down.
    ///
    /// # Errors
    /// [`FileError`] where a file cannot be made.
    pub(crate) fn begin(
        &self,
        input: &Input,
        drive: &mut Drive,
    ) -> Result<Option<Watch>, FileError> {
        let slot_bytes = drive.profile().geometry.slot_bytes;
        let timeline = self
            .interval
            .map(|width| Timeline::new(width, drive.now(), drive.counters(), slot_bytes));
        let fio_logs = match input {
            Input::Jobs { workload, .. } if self.fio_logs => FioLogs::of(&workload.jobs),
            _ => None,
        };
        let log = match &self.log {
            None => None,
            Some(spec) => Some(RequestLog::begin(spec, drive.now())?),
        };
        let trace = match &self.trace {
            None => None,
            Some(spec) => {
                drive.record();
                let title = format!("{} on {}", input.title(), drive.profile().name);
                Some(TraceEvents::begin(spec, drive.now(), title)?)
            }
        };
        if log.is_some() || trace.is_some() {
            drive.keep_pages();
        }
        let any = timeline.is_some() || fio_logs.is_some() || log.is_some() || trace.is_some();
        Ok(any.then_some(Watch {
            timeline,
            fio_logs,
            log,
            trace,
        }))
    }
}

impl Watch {
    /// The run has ended at `end` on the host's clock.
    ///
    /// # Errors
    /// [`FileError`] where the log or the timeline could not be written.
    pub(crate) fn finish(self, end: Ns, counters: &Counters) -> Result<WrittenDown, FileError> {
        self.log.map_or(Ok(()), RequestLog::finish)?;
        self.trace.map_or(Ok(()), TraceEvents::finish)?;
        Ok(WrittenDown {
            intervals: self
                .timeline
                .map_or(Vec::new(), |timeline| timeline.finish(end, counters)),
            fio_logs: self.fio_logs.map_or(Vec::new(), FioLogs::finish),
        })
    }

    /// The run has failed: the log has what had been logged until then.
    ///
    /// # Errors
    /// [`FileError`] where the log could not be written.
    pub(crate) fn give_up(self) -> Result<(), FileError> {
        self.log.map_or(Ok(()), RequestLog::finish)
    }
}

impl Observer for Watch {
    #[inline]
    fn completed(&mut self, request: &Observed<'_>) -> bool {
        if let Some(timeline) = &mut self.timeline {
            let status = request.completed.status;
            // A write that was refused moved nothing and is in no report.
            if status != Status::WriteProtected {
                timeline.completed(request.completed, status != Status::Ok);
            }
        }
        if let Some(logs) = &mut self.fio_logs {
            logs.completed(request);
        }
        if let Some(trace) = &mut self.trace {
            trace.completed(request);
        }
        match &mut self.log {
            None => true,
            Some(log) => log.completed(request),
        }
    }

    #[inline]
    fn counters_due(&self) -> Ns {
        self.timeline
            .as_ref()
            .map_or(Ns::MAX, Timeline::counters_due)
    }

    fn spans(&mut self, spans: &[Span]) {
        if let Some(trace) = &mut self.trace {
            trace.spans(spans);
        }
    }

    fn counters(&mut self, until: Ns, counters: &Counters) {
        if let Some(timeline) = &mut self.timeline {
            timeline.counters(until, counters);
        }
    }
}
