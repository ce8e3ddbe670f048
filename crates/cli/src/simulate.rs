//! One simulation from a setup to its outcome, against the wall clock.
#![allow(
    clippy::disallowed_methods,
    reason = "how long a run took is measured here"
)]

use std::time::Instant;

use anyhow::{Result, bail};
use firstread_core::Ns;
use firstread_core::voltage::BlockGroups;
use firstread_drive::{Drive, Ended, Host, RunError, RunStats, tables};
use firstread_firmware::log::Record;
use firstread_workload::{Notice, Place, TraceRecord};

use crate::input::Input;
use crate::setup::Setup;

/// What a simulation came to.
#[derive(Debug)]
pub struct Outcome {
    pub stats: RunStats,
    /// What the firmware did in the background, before the run and in it.
    pub log: Vec<Record>,
    /// The groups that the log speaks of.
    pub groups: Option<BlockGroups>,
    /// When the workload began, on the clock of the log.
    pub began: Ns,
    /// Background reads until then.
    pub background_reads_before: u64,
    pub capacity_bytes: u64,
    /// What the user should know of the workload.
    pub notices: Vec<Notice>,
    pub wall: Wall,
}

/// Runs that did not end as they should, told once their results have been: exit status 1.
pub fn check_ends<'a>(ended: impl Iterator<Item = (&'a str, Ended)>) -> Result<()> {
    let told = ended.filter_map(|(name, ended)| match ended {
        Ended::Completed => None,
        Ended::EndOfLife(end) => Some(format!("{name}: {end}")),
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Ok(()),
        false => bail!("{}", told.join("\n")),
    }
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

/// Runs `setup` to its end.
pub fn simulate(setup: &Setup<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Outcome> {
    progress(Progress::Preparing);
    let start = Instant::now();
    let tables = tables::for_drive(&setup.profile)?;
    let mut drive = Drive::new(setup.profile.clone(), tables, &setup.state, setup.seed)?;
    let prepare_s = start.elapsed().as_secs_f64();

    let capacity_bytes = drive.capacity_bytes();
    let workload_seed = setup.state.workload_seed;
    let began = drive.now();
    let background_reads_before = drive.counters().background_reads;
    let start = Instant::now();
    let mut completed = |n| progress(Progress::Completed(n));
    let (stats, mut notices) = match setup.input {
        Input::Jobs { workload, .. } => {
            let host = Host::jobs(workload, capacity_bytes, workload_seed, setup.limit)?;
            (
                run(&mut drive, host, &mut completed, setup)?,
                workload.notices.clone(),
            )
        }
        Input::Trace(trace) => {
            let mut reader = trace.reader(capacity_bytes)?;
            let depth = setup.profile.link.max_outstanding;
            let host = Host::trace(setup.input.title(), &mut reader, depth, setup.limit);
            (
                run(&mut drive, host, &mut completed, setup)?,
                reader.notices(),
            )
        }
        Input::StandIn { row, speed } => {
            let records = row.stream(capacity_bytes, workload_seed)?.map(|record| {
                Ok(TraceRecord {
                    time_ns: (record.time_ns as f64 / speed) as u64,
                    ..record
                })
            });
            let depth = setup.profile.link.max_outstanding;
            let host = Host::trace(row.name, records, depth, setup.limit);
            (run(&mut drive, host, &mut completed, setup)?, Vec::new())
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
        background_reads_before,
        capacity_bytes,
        notices,
        wall: Wall { prepare_s, run_s },
    })
}

fn run(
    drive: &mut Drive,
    host: Host<'_>,
    progress: &mut dyn FnMut(u64),
    setup: &Setup<'_>,
) -> Result<RunStats> {
    host.run(drive, progress).map_err(|error| match error {
        // These name file and line already.
        RunError::Workload(error) => anyhow::Error::msg(with_options(&error.to_string())),
        _ => anyhow::Error::new(error).context(setup.input.name().to_owned()),
    })
}

/// `message` with the options that allow what it is about.
fn with_options(message: &str) -> String {
    message
        .replace("wrap addresses", "wrap addresses with --trace-wrap")
        .replace(
            "allow it with the policy `clamp`",
            "allow it with --trace-clamp",
        )
}
