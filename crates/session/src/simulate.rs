//! One simulation from a setup to its outcome, against the wall clock.
#![allow(
    clippy::disallowed_methods,
    reason = "how long a run took is measured here"
)]

use std::time::Instant;

use firstread_core::Ns;
use firstread_core::voltage::BlockGroups;
use firstread_drive::stats::{Latencies, Percentile};
use firstread_drive::{BurnIn, Drive, Host, RunError, RunStats, tables};
use firstread_firmware::log::Record;
use firstread_workload::{Notice, Place, StandIn, TraceRecord, WorkloadError};

use crate::error::Error;
use crate::input::Input;
use crate::retries::Retries;
use crate::setup::Setup;

/// What a simulation came to.
#[derive(Debug)]
pub struct Outcome {
    /// Latencies, counters, and how the run ended.
    pub stats: RunStats,
    /// What the firmware did in the background, before the run and in it.
    pub log: Vec<Record>,
    /// The groups that the log speaks of.
    pub groups: Option<BlockGroups>,
    /// When the workload began, on the clock of the log.
    pub began: Ns,
    /// Temperature of the drive then (°C).
    pub temperature_before_run_c: f64,
    /// Background reads until then.
    pub background_reads_before: u64,
    /// Bytes that the host sees.
    pub capacity_bytes: u64,
    /// What the user should know of the workload.
    pub notices: Vec<Notice>,
    /// What it took on this machine. All else is the same for the same setup and version.
    pub wall: Wall,
}

/// Figures that differ from one run to the next.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Making, filling and ageing the drive (s).
    pub prepare_s: f64,
    /// Running the workload (s).
    pub run_s: f64,
}

impl Outcome {
    /// The latencies that a tail is explained of, and their direction: those of reads where there are any, of
    /// writes or trims elsewhere.
    pub fn latencies(&self) -> (&'static str, &Latencies) {
        let report = &self.stats.all;
        let all = [
            ("read", &report.read),
            ("write", &report.write),
            ("trim", &report.trim),
        ];
        let any = all.into_iter().find(|(_, l)| l.count() > 0);
        any.unwrap_or(all[0])
    }

    /// A percentile of [`Outcome::latencies`], with its interval: 99.9 for P99.9.
    pub fn percentile(&self, percent: f64) -> Percentile {
        self.latencies().1.percentile(percent)
    }

    /// Retries of the host's page reads.
    pub fn retries(&self) -> Retries {
        Retries::of(&self.stats.counters)
    }

    /// Requests of the run for each second that it took.
    pub fn requests_per_wall_second(&self) -> f64 {
        self.stats.requests as f64 / self.wall.run_s.max(1e-9)
    }
}

/// What a run tells while it is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The drive is being made, filled and aged.
    Preparing,
    /// So many requests have completed.
    Completed(u64),
}

impl Setup {
    /// Runs it to its end.
    ///
    /// # Errors
    /// [`Error`] where the drive cannot be made or the workload cannot be run on it. The end of a drive's life is
    /// none: [`RunStats::ended`] says so.
    pub fn simulate(&self) -> Result<Outcome, Error> {
        simulate(self, &mut |_| {})
    }

    /// Makes its drive: filled, worn and aged, ready for the workload.
    ///
    /// # Errors
    /// [`Error`] where the drive cannot be made, or not in its state.
    pub fn drive(&self) -> Result<Drive, Error> {
        let tables = tables::for_drive(&self.profile)?;
        let drive = Drive::new(self.profile.clone(), tables, &self.state, self.seed)?;
        Ok(drive)
    }
}

/// Runs `setup` to its end, and tells `progress` of it.
///
/// # Errors
/// As [`Setup::simulate`].
pub fn simulate(setup: &Setup, progress: &mut dyn FnMut(Progress)) -> Result<Outcome, Error> {
    progress(Progress::Preparing);
    let start = Instant::now();
    let mut drive = setup.drive()?;
    let prepare_s = start.elapsed().as_secs_f64();
    let mut outcome = simulate_on(&mut drive, setup, progress)?;
    outcome.wall.prepare_s = prepare_s;
    Ok(outcome)
}

/// Runs the workload of `setup` on `drive`, which was made before: by [`Setup::drive`] or as its clone, and may have
/// been used since. `setup` says what is run, with which seed and how long; of the drive it says what results repeat
/// as their configuration.
///
/// # Errors
/// As [`Setup::simulate`]. The drive is of no more use then.
pub fn simulate_on(
    drive: &mut Drive,
    setup: &Setup,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    run(drive, setup, None, progress)
}

/// The same on a drive that the same workload has burnt in ([`burn_in`]): where its writes come near to the write
/// amplification at which the burn-in was steady, they are in a steady state too, as soon as that can be told.
///
/// # Errors
/// As [`simulate_on`].
pub fn simulate_after(
    burn_in: &BurnIn,
    drive: &mut Drive,
    setup: &Setup,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    let steady = burn_in.amplification.steady().map(|steady| steady.mean);
    run(drive, setup, steady, progress)
}

/// Runs the workload of `setup` on `drive` until its writes are in a steady state, or until it has written
/// `most_drive_writes` capacities ([`BurnIn::MOST_DRIVE_WRITES`] as a rule): what is measured afterwards, on the drive
/// or on clones of it, is not the beginning.
///
/// # Errors
/// [`Error`] where the workload cannot be run on it, or writes nothing. The drive is of no more use then.
pub fn burn_in(
    drive: &mut Drive,
    setup: &Setup,
    most_drive_writes: f64,
    progress: &mut dyn FnMut(Progress),
) -> Result<BurnIn, Error> {
    let capacity_bytes = drive.capacity_bytes();
    let workload_seed = setup.state.workload_seed;
    let depth = setup.profile.link.max_outstanding;
    let name = setup.input.name();
    let pass = |pass| -> Result<Host<'_>, Failed> {
        Ok(match &*setup.input {
            Input::Jobs { workload, .. } => {
                Host::pass(workload, capacity_bytes, workload_seed, pass).map_err(Error::from)?
            }
            Input::Trace(trace) => Host::trace(
                setup.input.title(),
                trace.reader(capacity_bytes)?,
                depth,
                None,
            ),
            Input::StandIn { row, speed } => {
                let records = stand_in(row, *speed, capacity_bytes, workload_seed)?;
                Host::trace(row.name, records, depth, None)
            }
        })
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

/// The records of a stand-in, replayed `speed` times faster than recorded.
fn stand_in(
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

fn run(
    drive: &mut Drive,
    setup: &Setup,
    expected_amplification: Option<f64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    let capacity_bytes = drive.capacity_bytes();
    let workload_seed = setup.state.workload_seed;
    let began = drive.now();
    let temperature_before_run_c = drive.temperature_c(began);
    let background_reads_before = drive.counters().background_reads;
    let start = Instant::now();
    let depth = setup.profile.link.max_outstanding;
    let mut run = |mut host: Host<'_>| {
        if let Some(expected) = expected_amplification {
            host.expect_amplification(expected);
        }
        let stats = host.run(drive, &mut |n| progress(Progress::Completed(n)));
        stats.map_err(|error| Error::of_run(setup.input.name(), error))
    };
    let (stats, mut notices) = match &*setup.input {
        Input::Jobs { workload, .. } => {
            let host = Host::jobs(workload, capacity_bytes, workload_seed, setup.limit)?;
            (run(host)?, workload.notices.clone())
        }
        Input::Trace(trace) => {
            let mut reader = trace.reader(capacity_bytes)?;
            let host = Host::trace(setup.input.title(), &mut reader, depth, setup.limit);
            (run(host)?, reader.notices())
        }
        Input::StandIn { row, speed } => {
            let records = stand_in(row, *speed, capacity_bytes, workload_seed)?;
            let host = Host::trace(row.name, records, depth, setup.limit);
            (run(host)?, Vec::new())
        }
    };
    let run_s = start.elapsed().as_secs_f64();
    notices.dedup();
    if drive.log_dropped() > 0 {
        notices.push(Notice {
            place: Place::whole(setup.input.name()),
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
        temperature_before_run_c,
        background_reads_before,
        capacity_bytes,
        notices,
        wall: Wall {
            prepare_s: 0.0,
            run_s,
        },
    })
}
