//! One simulation from a setup to its outcome, against the wall clock.
#![allow(
    clippy::disallowed_methods,
    reason = "how long a run took is measured here"
)]

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use firstread_core::params::Need;
use firstread_drive::profile::DriveProfile;
use firstread_drive::{BurnIn, BurnInEnd, Drive, Ended, Host, RunError, RunStats, tables};
use firstread_workload::{Location, Notice, StandIn, TraceRecord, WorkloadError};

use crate::error::Error;
use crate::input::Input;
use crate::outcome::{Outcome, Progress, Wall};
use crate::setup::{BurnInSetup, Setup};
use crate::split::error::SplitError;
use crate::split::parts::{self, RunPart};
use crate::watched::{Watch, WrittenDown};

/// A drive that is ready for its workload: made, filled, aged, and burnt in where its setup says so. A clone is a
/// drive of its own.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub drive: Drive,
    /// What its burn-in did, if it had one.
    pub burn_in: Option<BurnIn>,
    /// How long that took on this machine (s).
    wall_s: f64,
}

impl Prepared {
    /// A clone of it, which has taken no time of its own.
    pub(crate) fn fork(&self) -> Prepared {
        Prepared {
            wall_s: 0.0,
            ..self.clone()
        }
    }

    /// Runs the workload of `setup` on the drive. `setup` is the one that the drive was prepared by, or differs from it
    /// in its workload and limit alone.
    ///
    /// # Errors
    /// As [`Setup::simulate`].
    pub fn simulate(
        mut self,
        setup: &Setup,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome, Error> {
        // A burn-in by another workload says nothing about what this one amplifies.
        let by_itself = |burn_in: &BurnInSetup| burn_in.workload.is_none();
        let expected = match &self.burn_in {
            Some(burn_in) if setup.burn_in.as_ref().is_some_and(by_itself) => {
                burn_in.amplification.steady().map(|steady| steady.mean)
            }
            _ => None,
        };
        let mut outcome = match setup.split {
            None => run(&mut self.drive, setup, None, expected, progress)?,
            Some(split) => {
                let ended = self.burn_in.as_ref().map(|burn_in| burn_in.ended);
                if ended.is_some_and(|ended| ended != BurnInEnd::Steady) {
                    return Err(SplitError::NotSteady.into());
                }
                let one: &RunPart<'_> = &|part, drive, setup, progress| {
                    run(drive, setup, Some(part), expected, progress)
                };
                let all = || parts::run(&self.drive, setup, split, one, progress);
                let (outcome, run_s) = timed(all);
                let mut outcome = outcome?;
                outcome.wall.run_s = run_s;
                outcome
            }
        };
        outcome.burn_in = self.burn_in;
        outcome.wall.prepare_s = self.wall_s;
        Ok(outcome)
    }
}

impl Setup {
    /// Runs it to its end.
    ///
    /// # Errors
    /// [`Error`] where the drive cannot be made or the workload cannot be run on it. A drive that reaches its end
    /// of life is not an error: see [`RunStats::ended`].
    pub fn simulate(&self) -> Result<Outcome, Error> {
        simulate(self, &mut |_| {})
    }

    /// Makes its drive: filled, worn and aged, and not burnt in.
    ///
    /// # Errors
    /// [`Error`] where the drive cannot be made, or not in its state: [`Error::Approximated`] where the state can only be approximated
    /// and no burn-in makes it steady.
    pub fn drive(&self) -> Result<Drive, Error> {
        let tables = tables::for_drive(&self.profile)?;
        let drive = Drive::new(
            DriveProfile::clone(&self.profile),
            tables,
            &self.state,
            self.seed,
        )?;
        match drive.is_approximated() && self.burn_in.is_none() {
            true => Err(Error::Approximated(self.state.precondition)),
            false => Ok(drive),
        }
    }

    /// Makes its drive, ready for the workload: filled, worn, aged, and burnt in where the setup says so. A drive that
    /// several setups share is prepared once and cloned.
    ///
    /// # Errors
    /// [`Error`] where the drive cannot be made, or not in its state, or the burn-in cannot be run on it;
    /// [`Error::Interrupted`] where it was interrupted.
    pub fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Prepared, Error> {
        progress(Progress::Preparing);
        let start = Instant::now();
        let mut drive = self.drive()?;
        let burnt_in = match &self.burn_in {
            None => None,
            Some(by) => {
                let setup = Setup {
                    input: Arc::clone(by.workload.as_ref().unwrap_or(&self.input)),
                    ..self.clone()
                };
                let mut burning = |told| match told {
                    Progress::Completed(n) => progress(Progress::BurningIn(n)),
                    other => progress(other),
                };
                let burnt_in = burn_in(&mut drive, &setup, by.most_drive_writes, &mut burning)?;
                if burnt_in.ended == BurnInEnd::Interrupted {
                    return Err(Error::Interrupted);
                }
                Some(burnt_in)
            }
        };
        Ok(Prepared {
            drive,
            burn_in: burnt_in,
            wall_s: start.elapsed().as_secs_f64(),
        })
    }
}

/// What `work` returns, and how long it took on this machine (s).
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Runs `setup` to its end and reports to `progress`.
///
/// # Errors
/// As [`Setup::simulate`].
pub fn simulate(setup: &Setup, progress: &mut dyn FnMut(Progress)) -> Result<Outcome, Error> {
    let prepared = setup.prepare(progress)?;
    prepared.simulate(setup, progress)
}

/// Runs the workload of `setup` on `drive`, which was made before: by [`Setup::drive`] or as its clone, and may have
/// been used since. `setup` says what is run, with which seed and how long; of the drive it says what results repeat
/// as their configuration.
///
/// # Errors
/// As [`Setup::simulate`]. The drive must not be used after an error.
pub fn simulate_on(
    drive: &mut Drive,
    setup: &Setup,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    match setup.split {
        None => run(drive, setup, None, None, progress),
        Some(_) => Err(SplitError::DriveInUse.into()),
    }
}

/// Runs the workload of `setup` on `drive` until its writes are in a steady state, or until it has written
/// `most_drive_writes` capacities.
fn burn_in(
    drive: &mut Drive,
    setup: &Setup,
    most_drive_writes: f64,
    progress: &mut dyn FnMut(Progress),
) -> Result<BurnIn, Error> {
    let capacity_bytes = drive.capacity_bytes();
    let workload_seed = setup.state.workload_seed;
    let depth = setup.profile.link.max_outstanding;
    let name = setup.input.name();
    let stop = || setup.interrupt.is_asked();
    let pass = |pass| -> Result<Host<'_>, Failed> {
        let mut host = match &*setup.input {
            Input::Jobs { workload, .. } => {
                Host::pass(workload, capacity_bytes, workload_seed, pass).map_err(Error::from)?
            }
            Input::Trace(trace) => Host::trace(
                setup.input.title(),
                trace.reader(capacity_bytes, setup.profile.placement_handles())?,
                depth,
                None,
            ),
            Input::StandIn { row, speed } => {
                let records = stand_in(row, *speed, capacity_bytes, workload_seed)?;
                Host::trace(row.name, records, depth, None)
            }
        };
        host.stop_when(&stop);
        Ok(foretold(host, setup, capacity_bytes)?)
    };
    let mut completed = |n| progress(Progress::Completed(n));
    let burnt_in = BurnIn::run(drive, most_drive_writes, pass, &mut completed);
    burnt_in.map_err(|failed| match failed {
        Failed::Pass(error) => error,
        Failed::Run(error) => Error::of_run(name, error),
    })
}

/// Why a burn-in failed: before a pass of it, or in one.
enum Failed {
    Pass(Error),
    Run(RunError),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Pass(error)
    }
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Failed {
        Failed::Run(error)
    }
}

/// `host` of `setup`, with its trace once more for a drive whose schemes ask what is to come.
fn foretold<'a>(
    mut host: Host<'a>,
    setup: &'a Setup,
    capacity_bytes: u64,
) -> Result<Host<'a>, Error> {
    if setup.profile.needs(Need::Future) {
        match &*setup.input {
            Input::Jobs { .. } => {}
            Input::Trace(trace) => {
                host.foretell_by(trace.reader(capacity_bytes, setup.profile.placement_handles())?)
            }
            Input::StandIn { row, speed } => {
                let workload_seed = setup.state.workload_seed;
                host.foretell_by(stand_in(row, *speed, capacity_bytes, workload_seed)?);
            }
        }
    }
    Ok(host)
}

/// The records of a stand-in, replayed `speed` times faster than recorded.
pub(crate) fn stand_in(
    row: &'static StandIn,
    speed: f64,
    capacity_bytes: u64,
    workload_seed: u64,
) -> Result<impl Iterator<Item = Result<TraceRecord, WorkloadError>>, Error> {
    let records = row.stream(capacity_bytes, workload_seed)?;
    Ok(records.map(move |record| {
        Ok(TraceRecord {
            time_ns: (record.time_ns as f64 / speed) as u64,
            ..record
        })
    }))
}

/// Has `run` run the workload of `setup` on a drive of `capacity_bytes`, and returns what it returns, with notices about the
/// workload. A trace has at most `depth` requests in flight.
fn run_of(
    setup: &Setup,
    capacity_bytes: u64,
    depth: u32,
    part: Option<u64>,
    mut run: impl FnMut(Host<'_>) -> Result<RunStats, Error>,
) -> Result<(RunStats, Vec<Notice>), Error> {
    let workload_seed = setup.state.workload_seed;
    Ok(match &*setup.input {
        Input::Jobs { workload, .. } => {
            let (seed, limit) = (workload_seed, setup.limit);
            let host = match part {
                None => Host::jobs(workload, capacity_bytes, seed, limit)?,
                Some(part) => Host::part(workload, capacity_bytes, seed, limit, part)?,
            };
            (run(host)?, workload.notices.clone())
        }
        Input::Trace(trace) => {
            let mut reader = trace.reader(capacity_bytes, setup.profile.placement_handles())?;
            let host = Host::trace(setup.input.title(), &mut reader, depth, setup.limit);
            (run(host)?, reader.notices())
        }
        Input::StandIn { row, speed } => {
            let records = stand_in(row, *speed, capacity_bytes, workload_seed)?;
            let host = Host::trace(row.name, records, depth, setup.limit);
            (run(host)?, Vec::new())
        }
    })
}

/// Runs the workload of `setup` on `drive`, or part `part` of it, which is as long as `setup` says.
fn run(
    drive: &mut Drive,
    setup: &Setup,
    part: Option<u64>,
    expected_amplification: Option<f64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    let capacity_bytes = drive.capacity_bytes();
    let began = drive.now();
    let temperature_before_run_c = drive.temperature_c(began);
    let background_reads_before = drive.counters().background_reads;
    let start = Instant::now();
    let depth = setup.profile.link.max_outstanding;
    let stop = || setup.interrupt.is_asked();
    let mut watch = setup.watched.begin(&setup.input, drive)?;
    let run = |host: Host<'_>| -> Result<RunStats, Error> {
        let mut host = foretold(host, setup, capacity_bytes)?;
        host.stop_when(&stop);
        if let Some(expected) = expected_amplification {
            host.expect_amplification(expected);
        }
        let mut completed = |n| progress(Progress::Completed(n));
        let stats = match &mut watch {
            None => host.run(drive, &mut completed),
            Some(watch) => host.run_watched(drive, &mut completed, watch),
        };
        stats.map_err(|error| Error::of_run(setup.input.name(), error))
    };
    let ran = run_of(setup, capacity_bytes, depth, part, run);
    let (stats, mut notices) = match ran {
        Ok(ran) => ran,
        Err(error) => {
            // A log that cannot be written is why the run has ended.
            watch.map_or(Ok(()), Watch::give_up)?;
            return Err(error);
        }
    };
    let written_down = match watch {
        None => WrittenDown::default(),
        Some(watch) => watch.finish(began + stats.simulated, drive.counters())?,
    };
    let run_s = start.elapsed().as_secs_f64();
    // A part may be too short for one of many jobs.
    let is_whole = stats.ended == Ended::Completed && part.is_none();
    if is_whole && !stats.unmeasured.is_empty() {
        return Err(Error::Unmeasured {
            workload: setup.input.name().to_owned(),
            jobs: stats.unmeasured,
            limited: setup.limit.is_some(),
        });
    }
    notices.dedup();
    if drive.log_dropped() > 0 {
        notices.push(Notice {
            place: Location::whole(setup.input.name()),
            text: format!(
                "the first {} records of background work are not kept, and tables of the calibration \
                 leave them out",
                drive.log_dropped()
            ),
        });
    }
    Ok(Outcome {
        stats,
        log: drive.log().to_vec(),
        groups: drive.groups().copied(),
        began,
        burn_in: None,
        temperature_before_run_c,
        background_reads_before,
        capacity_bytes,
        future_bytes: drive.future().is_known().then(|| drive.future().bytes()),
        notices,
        written_down,
        split: None,
        wall: Wall {
            prepare_s: 0.0,
            run_s,
            ended_unix_ms: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64),
        },
    })
}
