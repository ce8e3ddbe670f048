//! A run: a host above a drive. It decides which job issues when and when the power is cut, and collects the results.
//!
//! - `host`: jobs or a trace, and when the power is cut.
//! - `client`: one job or trace, with its queue, pace and end; `flow` and `depth_search`: fio's `flow` and
//!   `latency_target`.
//! - `foresight`: what a load will read and write, for a drive whose schemes ask.
//! - `host_log`: a log of the host between the jobs and the drive.
//! - `run`: which client issues next, which clients have ended, what is counted.
//! - `watch`: watches erases, and stops a run that is in a steady state.
//! - `phases`: jobs that run together, and the temperature that they bring.
//! - `observer`: who watches a run, request by request.
//! - `outcome`: what a run came to.
//! - `parts`: parts of a run that was split, put together.
//! - `burn_in`: runs of a workload until its writes are in a steady state, before it is measured.

mod burn_in;
mod client;
mod depth_search;
mod error;
mod flow;
mod foresight;
mod host;
mod host_log;
mod observer;
mod outcome;
mod parts;
mod phases;
mod run;
mod watch;

use firstread_core::{Ns, Status};

use crate::drive::{Drive, PowerCut, Step};
use crate::stats::{ByMode, Modes, Report, regions};
use firstread_firmware::observe::{Counters, FdpEventKind};
use run::{BegunGroup, Run};
use watch::EraseWatch;

pub use burn_in::{BurnIn, BurnInEnd};
pub use error::{ForesightError, RunError};
pub use host::{CutAt, Host};
pub use host_log::{LogStats, under_log};
pub use observer::{Observed, Observer};
pub use outcome::{EndOfLife, Ended, FdpEvents, Group, RunStats};
pub use phases::Phase;

/// Number of completions between two calls of `progress`.
const PROGRESS: u64 = 1 << 16;
/// The same of a burn-in, which looks then at how much it has written.
const PROGRESS_OF_BURN_IN: u64 = 1 << 10;
/// Number of events between two questions whether to stop: some milliseconds.
const STOP_EVENTS: u64 = 1 << 14;
/// Spans that an observer is handed at once.
const SPANS_AT_ONCE: usize = 1 << 10;

impl<'h> Host<'h> {
    /// Runs on `drive` until every job has ended. `progress` is told now and then how many requests have completed.
    ///
    /// # Errors
    /// [`RunError`] where a request does not fit the drive, the workload goes wrong midway, the power cannot be cut
    /// or a defect of the firmware shows. Requests may be in flight then, and the drive is of no more use.
    pub fn run(
        self,
        drive: &mut Drive,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RunStats, RunError> {
        self.run_watched(drive, progress, &mut ())
    }

    /// The same, watched by `observer`.
    ///
    /// # Errors
    /// As [`Host::run`], and [`RunError::EndedByObserver`].
    pub fn run_watched<O: Observer>(
        self,
        drive: &mut Drive,
        progress: &mut dyn FnMut(u64),
        observer: &mut O,
    ) -> Result<RunStats, RunError> {
        let mut watch = EraseWatch::new(drive);
        let burn_in = self.burn_in;
        let finished = self.go(drive, &mut watch, progress, observer)?;
        let ended = finished.ended(drive);
        let FinishedRun {
            mut run,
            start,
            before,
            modes,
            events,
            power_cut,
            interrupted: _,
            host_log,
            events_before,
        } = finished;
        let run_ended = run.now();
        run.settle_phases();
        run.settle_depths();
        run.reports.iter_mut().for_each(Report::settle);
        let all = merged(run.reports.iter());
        let groups = groups(&run, drive.counters());
        let unmeasured = run.unmeasured();
        let measured = run.measured(drive.counters());
        Ok(RunStats {
            groups,
            unmeasured,
            reports: run.reports,
            phases: run.phases,
            all,
            requests: run.completed,
            counters: drive.counters().since(&before),
            measured,
            modes: Modes {
                start: modes,
                end: drive.modes(),
                worst: drive.blocks().worst_capacity(),
            },
            host_log,
            fdp_events: FdpEvents::of(drive, &events_before),
            regions: regions(drive.blocks()),
            amplification: watch.amplification(drive, burn_in),
            buffered_bytes: drive.buffered_bytes(),
            write_buffers: drive.write_buffers(),
            events,
            simulated: run_ended.since(start),
            power_cut,
            ended,
        })
    }

    /// Runs on `drive` until the host has written `bytes`, or every job has ended, and reports nothing of it: so that what is
    /// run next begins elsewhere in the course of cleaning. How it ended.
    ///
    /// # Errors
    /// As [`Host::run`].
    pub fn lead_in(self, drive: &mut Drive, bytes: u64) -> Result<Ended, RunError> {
        let mut watch = EraseWatch::until_written(drive, bytes);
        let finished = self.go(drive, &mut watch, &mut |_| {}, &mut ())?;
        Ok(finished.ended(drive))
    }

    /// Runs on `drive` until every job has ended, or until `watch` stops it.
    fn go<O: Observer>(
        self,
        drive: &mut Drive,
        watch: &mut EraseWatch,
        progress: &mut dyn FnMut(u64),
        observer: &mut O,
    ) -> Result<FinishedRun<'h>, RunError> {
        let mut host = self;
        host.on_handles(drive.profile().placement_handles())?;
        host.foretell(drive)?;
        let log = host.log(drive)?;
        if let Some(log) = &log {
            watch.has_log(log.application_bytes());
        }
        let start = drive.now();
        let before = drive.counters().clone();
        let modes = drive.modes();
        let events_before = drive
            .fdp_log()
            .map_or_else(Default::default, |log| log.counts);
        drive.watch_capacity();
        let mut cut = host.cut;
        let mut stop = host.stop;
        let mut run = Run::new(host, log);
        run.start(start, drive)?;
        let mut events = 0u64;
        let mut reported = 0;
        let report_every = match watch.may_stop() {
            true => PROGRESS_OF_BURN_IN,
            false => PROGRESS,
        };
        let mut power_cut = None;
        let mut interrupted = false;
        let mut until = start;
        'run: loop {
            let due = goes_on(&mut run, until, drive, observer)?;
            let is_over = run.is_over();
            drive.wait(if is_over { Ns::MAX } else { due });
            if is_over {
                break;
            }
            if run.completed >= reported + report_every {
                reported = run.completed;
                progress(reported);
                if watch.is_enough(run.host_bytes(drive.counters())) {
                    run.stop();
                    continue;
                }
            }
            // Advance the drive until the host has something to do.
            loop {
                if let Some(when) = cut
                    && let Some(at) = when.due(drive, start, events)
                {
                    let Some(was_cut) = cut_power(&mut run, at, drive, observer)? else {
                        break 'run;
                    };
                    (cut, power_cut) = (None, Some(was_cut));
                    break;
                }
                if O::WATCHES && drive.due() >= observer.counters_due() {
                    observer.counters(drive.due(), drive.counters());
                }
                let Some(step) = drive.step() else {
                    return Err(RunError::Stuck(run.in_flight));
                };
                events += 1;
                if O::WATCHES && drive.spans().len() >= SPANS_AT_ONCE {
                    observer.spans(drive.spans());
                    drive.spans_taken();
                }
                if events.is_multiple_of(STOP_EVENTS) && stop.is_some_and(|stop| stop()) {
                    (stop, interrupted) = (None, true);
                    run.stop();
                    break;
                }
                if watch.is_behind(drive.counters()) {
                    let host_bytes = run.host_bytes(drive.counters());
                    if watch.note(drive, host_bytes) {
                        run.stop();
                        break;
                    }
                }
                if step == Step::Host {
                    break;
                }
            }
            until = drive.now();
        }
        progress(run.completed);
        if O::WATCHES {
            drive.record_rest();
            observer.spans(drive.spans());
            drive.spans_taken();
        }
        let host_log = run.end_log(drive);
        Ok(FinishedRun {
            host_log,
            events_before,
            run,
            start,
            before,
            modes,
            events,
            power_cut,
            interrupted,
        })
    }
}

/// A run that has ended.
struct FinishedRun<'a> {
    run: Run<'a>,
    /// Start of the run on the drive's clock.
    start: Ns,
    /// Counters of the firmware at the start.
    before: Counters,
    /// Superblocks by cell mode at the start.
    modes: ByMode,
    events: u64,
    power_cut: Option<PowerCut>,
    /// Whether it was stopped by its host.
    interrupted: bool,
    /// What a log of the host did.
    host_log: Option<LogStats>,
    /// Events of placement handles before it.
    events_before: [u64; FdpEventKind::ALL.len()],
}

impl FinishedRun<'_> {
    /// How it ended on `drive`.
    fn ended(&self, drive: &Drive) -> Ended {
        match self.run.failed {
            Some(_) => Ended::EndOfLife(EndOfLife::of(drive, &self.before)),
            None if self.interrupted => Ended::Interrupted,
            None => Ended::Completed,
        }
    }
}

impl CutAt {
    /// When the power of `drive` is cut, if that is before its next event, in a run that began at `start`, after so
    /// many events of it.
    #[cold]
    fn due(self, drive: &Drive, start: Ns, events: u64) -> Option<Ns> {
        let (is_due, at) = match self {
            CutAt::Time(after) => (drive.due() > start + after, start + after),
            CutAt::Events(n) => (events >= n, Ns::ZERO),
        };
        is_due.then(|| at.max(drive.now()))
    }
}

/// Advances the host to `at` and cuts the power, unless the run ends earlier.
#[cold]
fn cut_power<O: Observer>(
    run: &mut Run<'_>,
    at: Ns,
    drive: &mut Drive,
    observer: &mut O,
) -> Result<Option<PowerCut>, RunError> {
    goes_on(run, at, drive, observer)?;
    if run.is_over() {
        return Ok(None);
    }
    let cut = drive.power_cut(at)?;
    run.lose_all(drive.now());
    Ok(Some(cut))
}

/// The host goes on to `until`, and has nothing to do until the time returned: an error if it meets what ends the
/// run with one.
#[inline(always)] // Of the loop of a run, and of a power cut.
fn goes_on<O: Observer>(
    run: &mut Run<'_>,
    until: Ns,
    drive: &mut Drive,
    observer: &mut O,
) -> Result<Ns, RunError> {
    let due = run.go_on(until, drive, observer)?;
    if let Some(stale) = drive.stale() {
        return Err(RunError::Stale(stale));
    }
    match run.failed {
        None | Some(Status::NoSpace | Status::ReadOnly) => Ok(due),
        Some(other) => Err(RunError::Failed(other)),
    }
}

/// The groups of `run` where several have begun; the counters of the firmware are `end` now.
fn groups(run: &Run<'_>, end: &Counters) -> Vec<Group> {
    let begun = &run.groups;
    if begun.len() < 2 {
        return Vec::new();
    }
    let of = |(i, group): (usize, &BegunGroup)| {
        let until = begun.get(i + 1).map_or(end, |next| &next.counters);
        let reports = 0..run.reports.len();
        let reports: Vec<usize> = reports
            .filter(|&report| run.group_of(report) == group.group)
            .collect();
        Group {
            jobs: run.phases.get(i).map_or(Vec::new(), |p| p.jobs.clone()),
            all: merged(reports.iter().map(|&report| &run.reports[report])),
            reports,
            counters: until.since(&group.counters),
        }
    };
    begun.iter().enumerate().map(of).collect()
}

/// The requests of all `reports`, each of which is settled.
fn merged<'a>(reports: impl Iterator<Item = &'a Report>) -> Report {
    let mut all = Report {
        name: "all".into(),
        ..Report::default()
    };
    for report in reports {
        all.read.merge(&report.read);
        all.write.merge(&report.write);
        all.trim.merge(&report.trim);
        all.flush.merge(&report.flush);
        all.runtime_ns = all.runtime_ns.max(report.runtime_ns);
    }
    all
}
