//! The parts of a run: each run, and all put together.

use std::panic;
use std::sync::{Arc, mpsc};
use std::thread;

use firstread_core::Ns;
use firstread_drive::profile::Dimension;
use firstread_drive::profile::drive::Cells;
use firstread_drive::profile::quantity::{NS, Quantity};
use firstread_drive::stats::Drift;
use firstread_drive::{Drive, Ended, Host, RunStats};
use firstread_workload::job::Extent;
use firstread_workload::{JobSpec, JobStream, Location, Notice, Workload};

use super::check::Split;
use super::error::{AGED, DISTURBED, FEWEST_PERIODS, FEWEST_REQUESTS, SplitError};
use crate::error::Error;
use crate::input::Input;
use crate::outcome::{Outcome, Progress, SplitRun};
use crate::parallel;
use crate::setup::Setup;
use crate::watched::{Watched, WrittenDown};

/// What runs a part: its number, its drive, and how it is set up.
pub(crate) type RunPart<'a> =
    dyn Fn(u64, &mut Drive, &Setup, &mut dyn FnMut(Progress)) -> Result<Outcome, Error> + Sync + 'a;

/// Has `run` run the parts of `setup` on clones of `drive`, and puts them together.
pub(crate) fn run(
    drive: &Drive,
    setup: &Setup,
    split: Split,
    run: &RunPart<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    if drive.learns_from_reads()
        && let Some(chosen) = setup.profile.scheme("read_levels")
    {
        return Err(SplitError::of_scheme(chosen).into());
    }
    let outcomes = each_part(drive, setup, split, run, progress)?;
    // Parts that an interruption left out are not there.
    let outcome = together(outcomes.into_iter().flatten().collect(), &setup.input)?;
    let unmeasured = &outcome.stats.unmeasured;
    match outcome.stats.ended == Ended::Completed && !unmeasured.is_empty() {
        true => Err(Error::Unmeasured {
            workload: setup.input.name().to_owned(),
            jobs: unmeasured.clone(),
            limited: setup.limit.is_some(),
        }),
        false => Ok(outcome),
    }
}

/// The outcomes of all parts, in their order; none of one that had not begun when the run was interrupted.
fn each_part(
    drive: &Drive,
    setup: &Setup,
    split: Split,
    run: &RunPart<'_>,
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
            part.run(drive, run, &mut progress)
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

/// A drive before a part.
struct Before {
    at: Ns,
    /// Reads of each superblock.
    reads: Vec<u64>,
}

impl Before {
    fn of(drive: &Drive) -> Before {
        Before {
            at: drive.now(),
            reads: drive.blocks().iter().map(|(_, info)| info.reads).collect(),
        }
    }
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
        run: &RunPart<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<Outcome>, Error> {
        let setup = self.setup_of(drive.capacity_bytes())?;
        if setup.interrupt.is_asked() {
            return Ok(None);
        }
        let mut drive = drive.clone();
        let before = Before::of(&drive);
        if self.lead_in(&mut drive, &setup)? == Ended::Interrupted {
            return Ok(None);
        }
        let outcome = run(u64::from(self.number), &mut drive, &setup, progress)?;
        if outcome.stats.ended == Ended::Completed {
            self.check_course(&before, &drive, &outcome)?;
        }
        Ok(Some(outcome))
    }

    /// Has the load fill a share of a superblock, another one for each part. Cleaning comes in waves as long as a superblock is
    /// filled, and a burn-in ends at one place of a wave: without this all parts would begin there, and end at another place.
    /// It is no longer than the part, `setup`.
    fn lead_in(&self, drive: &mut Drive, setup: &Setup) -> Result<Ended, Error> {
        let Setup {
            input,
            profile,
            state,
            interrupt,
            limit,
            ..
        } = setup;
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
        let mut host =
            Host::before_part(workload, capacity_bytes, state.workload_seed, *limit, part)?;
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

    /// That nothing that matters would have changed in a run of parts that are like this one, which has left `drive` so.
    fn check_course(
        &self,
        before: &Before,
        drive: &Drive,
        outcome: &Outcome,
    ) -> Result<(), SplitError> {
        let requests = outcome.stats.all.all_requests();
        if requests < FEWEST_REQUESTS {
            return Err(SplitError::FewRequests {
                part: self.number + 1,
                requests,
                least: FEWEST_REQUESTS,
            });
        }
        let simulated = outcome.stats.simulated;
        self.check_periods(simulated)?;
        self.check_wear(outcome)?;
        if self.setup.profile.cells == Cells::Modelled {
            self.check_disturb(before, drive)?;
            self.check_ages(drive.now().since(before.at))?;
        }
        Ok(())
    }

    /// That pauses of jobs, and what is done at intervals, are in a part as often as in a long run.
    fn check_periods(&self, simulated: Ns) -> Result<(), SplitError> {
        let part_s = simulated.0 as f64 / 1e9;
        let run_s = part_s * f64::from(self.split.parts);
        let period = |what: String, period_s: f64, periods: f64| SplitError::Period {
            what,
            part_s,
            period_s,
            least_s: periods * period_s,
        };
        if let Input::Jobs { workload, .. } = &*self.setup.input {
            for job in &workload.jobs {
                let pause_s = job.think.map_or(0.0, |think| think.time_ns as f64 / 1e9);
                if pause_s > 0.0 && part_s < FEWEST_PERIODS * pause_s {
                    return Err(period(
                        format!("thinktime of job {}", job.name),
                        pause_s,
                        FEWEST_PERIODS,
                    ));
                }
            }
        }
        let intervals = self.setup.profile.resolved.iter();
        for entry in intervals.filter(|entry| entry.path.ends_with(".interval")) {
            let literal = entry.literal.trim_matches('"');
            let Ok(interval) = Quantity::parse(literal, Dimension::Time) else {
                continue;
            };
            let interval_s = interval.to(NS) / 1e9;
            if part_s < interval_s && interval_s <= run_s {
                return Err(period(entry.path.clone(), interval_s, 1.0));
            }
        }
        Ok(())
    }

    /// That cells do not wear much.
    fn check_wear(&self, outcome: &Outcome) -> Result<(), SplitError> {
        let parts = self.split.parts;
        let superblocks = f64::from(self.setup.profile.geometry.blocks_per_plane);
        let erases = outcome.stats.counters.erases as f64;
        let pe_cycles = erases / superblocks * f64::from(parts);
        let rated = self.setup.rated_pe_cycles();
        match pe_cycles > AGED * f64::from(rated) {
            true => Err(SplitError::Wear {
                parts,
                pe_cycles,
                rated,
            }),
            false => Ok(()),
        }
    }

    /// That reads do not disturb much.
    fn check_disturb(&self, before: &Before, drive: &Drive) -> Result<(), SplitError> {
        let parts = self.split.parts;
        let profile = &self.setup.profile;
        let onset = profile.chip.laws.disturb.onset_reads;
        let read = drive.blocks().iter().zip(&before.reads);
        // One that was erased has begun anew.
        let most =
            read.map(|((_, info), before)| info.reads.checked_sub(*before).unwrap_or(info.reads));
        let a_block = most.max().unwrap_or(0) as f64 / f64::from(profile.geometry.dies().max(1));
        let reads = a_block * f64::from(parts);
        match reads > DISTURBED * onset {
            true => Err(SplitError::Disturb {
                parts,
                reads,
                onset,
            }),
            false => Ok(()),
        }
    }

    /// That data do not age much in a run of parts that take as long as this one did.
    fn check_ages(&self, simulated: Ns) -> Result<(), SplitError> {
        let state = &self.setup.state;
        if state.fill == 0.0 {
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
    let mut notices: Vec<Notice> = Vec::new();
    for notice in outcomes.iter().flat_map(|outcome| &outcome.notices) {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
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
    let beyond = |drift: &Drift| (drift.is_there(), drift.relative.abs() - drift.half);
    let drift = drift.max_by(|a, b| {
        let (a, b) = (beyond(&a.1), beyond(&b.1));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let began = first.began;
    let parts = requests_of_each.len() as f64;
    let drive_writes =
        stats.counters.host_bytes_written as f64 / first.capacity_bytes as f64 / parts;
    if drive_writes > 0.0 && drive_writes < 1.0 {
        let written = match drive_writes < 0.01 {
            true => "less than 0.01".to_owned(),
            false => format!("{drive_writes:.2}"),
        };
        notices.push(Notice {
            place: Location::whole(input.name()),
            text: format!(
                "each part writes {written} of the drive: in less than one drive write, parts go on from what superblocks held \
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
            drive_writes,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{BurnInSetup, Simulation};

    /// What leads in to parts of a load that writes ends at places that are spread evenly over the time in which a superblock is
    /// filled. Reads have no such wave, and nothing leads in to them.
    #[test]
    fn formula_parts_begin_at_different_places_of_a_wave() {
        for (writes, parts) in [(true, 4), (true, 7), (false, 4)] {
            let rw = if writes { "randwrite" } else { "randread" };
            let job = format!("[a]\nrw={rw}\nbs=4k\niodepth=8\nnorandommap\n");
            let split = Split {
                parts,
                threads: None,
            };
            let simulation = Simulation {
                drive: "bench-4g".into(),
                split: Some(split),
                burn_in: Some(BurnInSetup::BY_ITSELF),
                ..Simulation::of(Input::job_file("load", job).unwrap())
            };
            let setup = simulation.setup().unwrap();
            let drive = setup.drive().unwrap();
            let geometry = &setup.profile.geometry;
            let slots = geometry.slots_per_superblock(setup.profile.mode);
            let superblock_bytes = u64::from(slots) * u64::from(geometry.slot_bytes);
            for number in 0..parts {
                let mut drive = drive.clone();
                let before = drive.counters().host_bytes_written;
                let part = Part {
                    setup: &setup,
                    split,
                    number,
                };
                assert_eq!(part.lead_in(&mut drive, &setup).unwrap(), Ended::Completed);
                let written = drive.counters().host_bytes_written - before;
                let asked = match writes {
                    true => superblock_bytes * u64::from(number) / u64::from(parts),
                    false => 0,
                };
                let room = if asked > 0 { superblock_bytes / 8 } else { 0 };
                assert!(
                    (asked..=asked + room).contains(&written),
                    "{number}: {written} of {asked}"
                );
            }
        }
    }
}
