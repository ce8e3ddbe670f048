//! What a simulation came to.

use firstread_core::Ns;
use firstread_core::voltage::BlockGroups;
use firstread_drive::stats::{Drift, Latencies, Percentile, Report};
use firstread_drive::{BurnIn, RunStats};
use firstread_firmware::log::Record;
use firstread_firmware::observe::Counters;
use firstread_workload::Notice;

use crate::retries::Retries;
use crate::watched::WrittenDown;

/// What a simulation came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Latencies, counters, and how the run ended.
    pub stats: RunStats,
    /// What the firmware did in the background, before the run and in it.
    pub log: Vec<Record>,
    /// The groups that the log speaks of.
    pub groups: Option<BlockGroups>,
    /// When the workload began, on the clock of the log.
    pub began: Ns,
    /// What the burn-in before the run did, if there was one.
    pub burn_in: Option<BurnIn>,
    /// Temperature of the drive when the workload began (°C).
    pub temperature_before_run_c: f64,
    /// Background reads until then.
    pub background_reads_before: u64,
    /// Capacity of the drive (bytes).
    pub capacity_bytes: u64,
    /// Memory of what an oracle was told of the future (bytes); none where no scheme asks.
    pub future_bytes: Option<u64>,
    /// Notices about the workload for the user.
    pub notices: Vec<Notice>,
    /// What was written down of the run beside its report.
    pub written_down: WrittenDown,
    /// The parts that it was put together of; none where the run was not split.
    pub split: Option<SplitRun>,
    /// Run time on this machine. All other fields are the same for the same setup and version.
    pub wall: Wall,
}

/// Figures that differ from one run to the next.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Making, filling, ageing and burning in the drive (s).
    pub prepare_s: f64,
    /// Running the workload (s).
    pub run_s: f64,
    /// When the run ended, by the clock of this machine (ms since 1970, UTC).
    pub ended_unix_ms: u64,
}

/// What was measured of jobs that ran together.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Names of the jobs, where others ran before or after them.
    pub jobs: Option<&'a [String]>,
    /// Requests of all of them.
    pub all: &'a Report,
    pub counters: &'a Counters,
    /// Their reports, as places in [`RunStats::reports`]; none where no others ran.
    reports: Option<&'a [usize]>,
}

impl<'a> Part<'a> {
    /// The latencies whose tail is explained, with their direction: of reads if there are any, otherwise of
    /// writes or trims.
    pub fn latencies(&self) -> (&'static str, &'a Latencies) {
        let report = self.all;
        let all = [
            ("read", &report.read),
            ("write", &report.write),
            ("trim", &report.trim),
        ];
        let any = all.into_iter().find(|(_, l)| l.count() > 0);
        any.unwrap_or(all[0])
    }

    /// Retries of the host's page reads.
    pub fn retries(&self) -> Retries {
        Retries::of(self.counters)
    }

    /// The names of its jobs in a word; none where no others ran.
    pub fn name(&self) -> Option<String> {
        self.jobs.map(|jobs| jobs.join("+"))
    }

    /// The reports of its jobs among those of the run.
    pub fn reports(&self, run: &'a RunStats) -> Vec<&'a Report> {
        match self.reports {
            None => run.reports.iter().collect(),
            Some(places) => places.iter().map(|&i| &run.reports[i]).collect(),
        }
    }
}

impl Outcome {
    /// What was measured of each group of jobs that ran together: one part where all jobs did. Nothing is measured of
    /// jobs together that ran one after the other.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let stats = &self.stats;
        match &stats.groups[..] {
            [] => vec![Part {
                jobs: None,
                all: &stats.all,
                counters: &stats.counters,
                reports: None,
            }],
            groups => groups
                .iter()
                .map(|group| Part {
                    jobs: Some(&group.jobs),
                    all: &group.all,
                    counters: &group.counters,
                    reports: Some(&group.reports),
                })
                .collect(),
        }
    }

    /// The same of the only part. Where there are several, of requests that did not run together.
    pub fn latencies(&self) -> (&'static str, &Latencies) {
        let part = Part {
            jobs: None,
            all: &self.stats.all,
            counters: &self.stats.counters,
            reports: None,
        };
        part.latencies()
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
    /// So many requests of its burn-in have completed.
    BurningIn(u64),
    /// So many requests have completed.
    Completed(u64),
}

/// The parts that an outcome was put together of.
#[derive(Clone, PartialEq, Debug)]
pub struct SplitRun {
    /// Requests of each part that have completed.
    pub requests: Vec<u64>,
    /// What the host writes in a part, in capacities of the drive.
    pub drive_writes: f64,
    /// The largest change of latency in the course of the parts, with the direction that it is of; none where none can be told.
    pub drift: Option<(&'static str, Drift)>,
}
