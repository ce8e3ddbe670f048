//! A long run of a load that is steady, split into parts that run side by side.
//!
//! Each part runs a share of the requests on a clone of the drive, drawn anew with the same hot spots. What they come to is put
//! together ([`RunStats::of_parts`]), with intervals over the parts. That equals one long run where nothing that matters
//! changes in the course of it: so what is one course is refused, and [`Drift`] tells what changed all the same.

use std::panic;
use std::sync::{Arc, mpsc};
use std::thread;

use firstread_core::Ns;
use firstread_drive::profile::drive::Cells;
use firstread_drive::stats::Drift;
use firstread_drive::{Drive, Ended, Host, RunStats};
use firstread_workload::job::{Direction, Extent};
use firstread_workload::{JobSpec, JobStream, Location, Notice, Workload};
use thiserror::Error;

use crate::error::Error;
use crate::input::Input;
use crate::parallel;
use crate::setup::Setup;
use crate::simulate::{self, Outcome, Progress};
use crate::watched::{Watched, WrittenDown};

/// Most parts of a run.
pub const MOST_PARTS: u16 = 1_000;
/// The share of the age of the youngest data that a run may last before it ages them by more than is left out: by then the shift
/// of voltages, which goes with the logarithm of the age, has grown by some thousandths of itself.
const AGED: f64 = 0.01;

/// Into how many parts a run is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Two at least, and [`MOST_PARTS`] at most.
    pub parts: u16,
    /// Parts that run at a time; by default as many as cores. Results do not depend on it.
    pub threads: Option<u16>,
}

/// The parts that an outcome was put together of.
#[derive(Clone, PartialEq, Debug)]
pub struct SplitRun {
    /// Requests of each part that have completed.
    pub requests: Vec<u64>,
    /// The largest change of latency in the course of the parts, with the direction that it is of; none where none can be told.
    pub drift: Option<(&'static str, Drift)>,
}

/// Why a run cannot be split, or its parts do not make a run.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SplitError {
    #[error("a run has 2 to {MOST_PARTS} parts, and not {0}")]
    Parts(u16),
    /// A trace, or a stand-in for one.
    #[error(
        "{0} is a trace, which is one course of requests: only jobs are split, whose requests can be drawn anew"
    )]
    Trace(String),
    /// Jobs have more than one phase, or wait.
    #[error(
        "{place}: job `{job}` has {option}: phases that follow one another are one course, and parts side by side have none"
    )]
    Phases {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// Something of a job goes on from the beginning of the run to its end.
    #[error(
        "{place}: job `{job}` has {option}, which is of the course of a whole run, and parts side by side have none"
    )]
    Course {
        place: Location,
        job: String,
        option: &'static str,
    },
    /// All parts of a sequential job would be the same.
    #[error(
        "{place}: job `{job}` is sequential: its parts would all be the same requests from the start of its region, and their \
         interval would say nothing; only random jobs are split"
    )]
    Sequential { place: Location, job: String },
    /// Writes go through all blocks in turn.
    #[error(
        "{place}: job `{job}` writes each block once before any again (fio's random map): from the first to the last, the blocks \
         that are overwritten are others, which is one course; `norandommap` draws each anew (--job norandommap=1)"
    )]
    Map { place: Location, job: String },
    /// The load changes a drive that is in no steady state.
    #[error(
        "{place}: job `{job}` writes, and each part would begin where no long run is: from its first request on, writes change \
         the drive until it is in a steady state; burn it in (--burn-in)"
    )]
    Writes { place: Location, job: String },
    /// Parts would be shorter than a request.
    #[error("{0} are too few for {1} parts")]
    TooShort(String, u16),
    /// What is kept of the course of a run.
    #[error("the run over time (--interval) is one course, and parts side by side have none")]
    Interval,
    /// The data age in the run.
    #[error(
        "{parts} parts of {part_s:.3} s are a run of {run_s:.3} s, in which data that are {age_s:.3} s old age by more than {} %: \
         where age matters, parts that all begin at the same age are no long run. Without --split they are; so are older data \
         (--age {least}), or fewer requests",
        AGED * 100.0,
        least = hours(*parts, *part_s)
    )]
    Ages {
        parts: u16,
        /// Simulated time of the longest part so far (s).
        part_s: f64,
        /// That of all parts (s).
        run_s: f64,
        /// Age of the youngest data (s).
        age_s: f64,
    },
    /// A drive that is used further.
    #[error("a drive that is used further has one run after another, and no parts")]
    DriveInUse,
}

/// The least age at which so many parts of a length could be run.
fn hours(parts: u16, part_s: f64) -> String {
    let hours = f64::from(parts) * part_s / AGED / 3600.0;
    format!("{}h", hours.ceil())
}

impl Setup {
    /// That it can be split as it says.
    ///
    /// # Errors
    /// [`SplitError`] where it cannot.
    pub(crate) fn check_split(&self) -> Result<(), SplitError> {
        let Some(Split { parts, .. }) = self.split else {
            return Ok(());
        };
        if !(2..=MOST_PARTS).contains(&parts) {
            return Err(SplitError::Parts(parts));
        }
        let Input::Jobs { workload, .. } = &*self.input else {
            return Err(SplitError::Trace(self.input.title().to_owned()));
        };
        if self.watched.interval.is_some() {
            return Err(SplitError::Interval);
        }
        for job in &workload.jobs {
            self.check_job(job)?;
        }
        if let Some(limit) = self.limit
            && limit < u64::from(parts)
        {
            return Err(SplitError::TooShort(format!("{limit} requests"), parts));
        }
        Ok(())
    }

    fn check_job(&self, job: &JobSpec) -> Result<(), SplitError> {
        let named = || (job.place.clone(), job.name.clone());
        let phases = [
            (job.group > 0, "`stonewall`"),
            (job.wait_for.is_some(), "`wait_for`"),
            (job.start_delay_ns != [0, 0], "`startdelay`"),
        ];
        if let Some((_, option)) = phases.into_iter().find(|(has, _)| *has) {
            let (place, job) = named();
            return Err(SplitError::Phases { place, job, option });
        }
        let course = [
            (job.latency_target.is_some(), "`latency_target`"),
            (job.power_cut_ns.is_some(), "`power_cut`"),
            (job.host_log.is_some(), "`host_log`"),
            (job.strides.is_some(), "`zonemode`"),
            (job.temperature_c.is_some(), "`temperature`"),
            (
                self.watched.fio_logs && job.logs.any(),
                "logs (`write_*_log`)",
            ),
        ];
        if let Some((_, option)) = course.into_iter().find(|(has, _)| *has) {
            let (place, job) = named();
            return Err(SplitError::Course { place, job, option });
        }
        if !job.random {
            let (place, job) = named();
            return Err(SplitError::Sequential { place, job });
        }
        let changes = job.operations.directions();
        let changes = changes.iter().any(|d| *d != Direction::Read);
        if changes && job.random_map {
            let (place, job) = named();
            return Err(SplitError::Map { place, job });
        }
        if changes && self.burn_in.is_none() {
            let (place, job) = named();
            return Err(SplitError::Writes { place, job });
        }
        Ok(())
    }
}

/// Runs the parts of `setup` on clones of `drive`, and puts them together. `expected_amplification` is what a burn-in by the same
/// load came to.
pub(crate) fn run(
    drive: &Drive,
    setup: &Setup,
    split: Split,
    expected_amplification: Option<f64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    setup.check_split()?;
    let run_all = || each_part(drive, setup, split, expected_amplification, progress);
    let (outcomes, run_s) = simulate::timed(run_all);
    // Parts that an interruption left out are not there.
    let outcomes: Vec<Outcome> = outcomes?.into_iter().flatten().collect();
    let mut outcome = together(outcomes, &setup.input)?;
    outcome.wall.run_s = run_s;
    Ok(outcome)
}

/// The outcomes of all parts, in their order; none of one that had not begun when the run was interrupted.
fn each_part(
    drive: &Drive,
    setup: &Setup,
    split: Split,
    expected_amplification: Option<f64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Option<Outcome>>, Error> {
    let numbers: Vec<u16> = (0..split.parts).collect();
    let (sender, told) = mpsc::channel();
    thread::scope(|scope| {
        let each = move |&number: &u16| {
            let sender = sender.clone();
            let mut progress = |of: Progress| {
                if let Progress::Completed(requests) = of {
                    // Nobody listens once the caller has ended.
                    let _ = sender.send((number, requests));
                }
            };
            let part = Part {
                setup,
                split,
                number,
            };
            part.run(drive, expected_amplification, &mut progress)
        };
        let parts = scope.spawn(|| parallel::each(&numbers, split.threads, each));
        let mut completed = vec![0; usize::from(split.parts)];
        for (number, requests) in told {
            completed[usize::from(number)] = requests;
            progress(Progress::Completed(completed.iter().sum()));
        }
        let ended = parts.join();
        ended.unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    })
}

/// A part of a run.
struct Part<'a> {
    /// That of the whole run.
    setup: &'a Setup,
    split: Split,
    number: u16,
}

impl Part<'_> {
    /// None where it was interrupted before its first request.
    fn run(
        &self,
        drive: &Drive,
        expected_amplification: Option<f64>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<Outcome>, Error> {
        let setup = self.setup_of(drive.capacity_bytes())?;
        let part = Some(u64::from(self.number));
        if setup.interrupt.is_asked() {
            return Ok(None);
        }
        let mut drive = drive.clone();
        if self.lead_in(&mut drive)? == Ended::Interrupted {
            return Ok(None);
        }
        let outcome = simulate::run(&mut drive, &setup, part, expected_amplification, progress)?;
        self.check_ages(outcome.stats.simulated)?;
        Ok(Some(outcome))
    }

    /// Has the load fill a share of a superblock, another one for each part. Cleaning comes in waves as long as a superblock is
    /// filled, and a burn-in ends at one place of a wave: without this all parts would begin there, and end at another place.
    fn lead_in(&self, drive: &mut Drive) -> Result<Ended, Error> {
        let Setup {
            input,
            profile,
            state,
            interrupt,
            ..
        } = self.setup;
        let Input::Jobs { workload, .. } = &**input else {
            return Ok(Ended::Completed);
        };
        let slots = u64::from(profile.geometry.slots_per_superblock(profile.mode));
        let superblock_bytes = slots * u64::from(profile.geometry.slot_bytes);
        let part = u64::from(self.number);
        let bytes = superblock_bytes * part / u64::from(self.split.parts);
        if bytes == 0 || !workload.jobs.iter().any(JobSpec::writes) {
            return Ok(Ended::Completed);
        }
        let capacity_bytes = drive.capacity_bytes();
        let mut host = Host::before_part(workload, capacity_bytes, state.workload_seed, part)?;
        let stop = || interrupt.is_asked();
        host.stop_when(&stop);
        let led = host.lead_in(drive, bytes);
        led.map_err(|error| Error::of_run(input.name(), error))
    }

    /// Its share of `all`: of what is left over the first parts have one more each.
    fn share(&self, all: u64) -> u64 {
        let (parts, number) = (u64::from(self.split.parts), u64::from(self.number));
        all / parts + u64::from(number < all % parts)
    }

    /// Its setup, on a drive of `capacity_bytes`: all that ends the run or a job comes so many times earlier.
    fn setup_of(&self, capacity_bytes: u64) -> Result<Setup, Error> {
        let input = match &*self.setup.input {
            Input::Jobs {
                workload,
                text,
                named,
            } => Input::Jobs {
                workload: Workload {
                    jobs: workload
                        .jobs
                        .iter()
                        .map(|job| self.job(job, workload.capacity_on(capacity_bytes)))
                        .collect::<Result<_, Error>>()?,
                    ..workload.clone()
                },
                text: text.clone(),
                named: named.clone(),
            },
            other => return Err(SplitError::Trace(other.title().to_owned()).into()),
        };
        Ok(Setup {
            input: Arc::new(input),
            limit: self.setup.limit.map(|limit| self.share(limit)),
            split: None,
            watched: Watched::default(),
            ..self.setup.clone()
        })
    }

    fn job(&self, job: &JobSpec, capacity_bytes: u64) -> Result<JobSpec, Error> {
        let parts = self.split.parts;
        let too_short =
            |what: String| SplitError::TooShort(format!("{what} of job `{}`", job.name), parts);
        let mut part = job.clone();
        part.runtime_ns = job.runtime_ns.map(|ns| self.share(ns));
        part.number_ios = job.number_ios.map(|n| self.share(n));
        if let Some(requests) = job.number_ios
            && requests < u64::from(parts)
        {
            return Err(too_short(format!("{requests} requests")).into());
        }
        let stream = JobStream::new(job, capacity_bytes, self.setup.state.workload_seed)?;
        if let Some(bytes) = stream.amount_bytes() {
            let directions = job.operations.directions().iter();
            let unit = directions.map(|d| job.sizes[*d as usize].min()).min();
            let unit = u64::from(unit.unwrap_or(1)).max(1);
            if bytes / unit < u64::from(parts) {
                return Err(too_short(format!("{bytes} bytes")).into());
            }
            part.io_size = Some(Extent::Bytes(self.share(bytes / unit) * unit));
            part.loops = 1;
        }
        Ok(part)
    }

    /// That data do not age much in a run of parts that take as long as this one did.
    fn check_ages(&self, simulated: Ns) -> Result<(), SplitError> {
        let state = &self.setup.state;
        if self.setup.profile.cells != Cells::Modelled || state.fill == 0.0 {
            return Ok(());
        }
        let parts = self.split.parts;
        let part_s = simulated.0 as f64 / 1e9;
        let run_s = part_s * f64::from(parts);
        let age_s = (state.age.0 + state.unpowered).0 as f64 / 1e9;
        match run_s > AGED * age_s {
            true => Err(SplitError::Ages {
                parts,
                part_s,
                run_s,
                age_s,
            }),
            false => Ok(()),
        }
    }
}

/// The outcomes of all parts as that of one run.
fn together(mut outcomes: Vec<Outcome>, input: &Input) -> Result<Outcome, Error> {
    let stats: Vec<&RunStats> = outcomes.iter().map(|outcome| &outcome.stats).collect();
    let requests_of_each: Vec<u64> = stats.iter().map(|part| part.requests).collect();
    let stats = RunStats::of_parts(&stats).ok_or(Error::Interrupted)?;
    let mut notices: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| outcome.notices.clone())
        .collect();
    notices.dedup();
    let future_bytes = outcomes
        .iter()
        .filter_map(|outcome| outcome.future_bytes)
        .max();
    let first = outcomes.swap_remove(0);
    let all = [
        ("read", &stats.all.read),
        ("write", &stats.all.write),
        ("trim", &stats.all.trim),
    ];
    let drift = all
        .into_iter()
        .filter_map(|(of, latencies)| Some((of, latencies.drift()?)));
    let beyond = |drift: &Drift| drift.relative.abs() - drift.half;
    let drift = drift.max_by(|a, b| beyond(&a.1).total_cmp(&beyond(&b.1)));
    let began = first.began;
    let parts = requests_of_each.len() as f64;
    let drive_writes =
        stats.counters.host_bytes_written as f64 / first.capacity_bytes as f64 / parts;
    if drive_writes > 0.0 && drive_writes < 1.0 {
        notices.push(Notice {
            place: Location::whole(input.name()),
            text: format!(
                "each part writes {drive_writes:.2} of the drive: in less than one drive write, parts go on from what superblocks held \
                 when they began, which is the same for all, so intervals may be too narrow; fewer parts or more requests tell more"
            ),
        });
    }
    if let Some((of, drift)) = drift.filter(|(_, drift)| drift.is_there()) {
        notices.push(Notice {
            place: Location::whole(input.name()),
            text: format!(
                "the load is not steady: latencies of {of}s change by {:+.1} ± {:.1} % from the first halves of the parts to the \
                 second ones, so one long run would come to something else (without --split it is one)",
                100.0 * drift.relative,
                100.0 * drift.half
            ),
        });
    }
    Ok(Outcome {
        split: Some(SplitRun {
            requests: requests_of_each,
            drift,
        }),
        // What all parts have in common.
        log: first
            .log
            .into_iter()
            .filter(|record| record.at < began)
            .collect(),
        stats,
        notices,
        future_bytes,
        written_down: WrittenDown::default(),
        ..first
    })
}
