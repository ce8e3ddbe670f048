//! Phases of a run: jobs that run together, what lies between two `stonewall`s of a job file. A phase may bring the
//! drive to another temperature, while its start delay lasts and after it.

use firstread_core::Ns;
use firstread_workload::Workload;

/// A phase that has begun, and what it was.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// Names of its jobs, each once.
    pub jobs: Vec<String>,
    /// When the phase began, counted from the start of the run: its jobs wait for their start delay from then on.
    pub began: Ns,
    /// When its first job could issue requests, counted from the start of the run: the shortest start delay is over.
    pub started: Ns,
    /// When the last of its requests completed, counted from the start of the run; none where the run ended before.
    pub ended: Option<Ns>,
    /// Temperature of the drive from [`Phase::began`] to [`Phase::started`] (°C).
    pub delay_temperature_c: f64,
    /// Temperature of the drive from [`Phase::started`] on (°C).
    pub temperature_c: f64,
    /// Requests completed in it.
    pub requests: u64,
    /// Whether the limit of measured requests ended it.
    pub reached_limit: bool,
}

/// What a phase asks for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PhasePlan {
    /// The group of its jobs.
    pub(crate) group: u32,
    pub(crate) jobs: Vec<String>,
    /// Temperature from its beginning on (°C), if it asks for one.
    pub(crate) temperature_c: Option<f64>,
    /// Temperature until the first of its jobs may issue requests (°C), if it asks for another one.
    pub(crate) delay_temperature_c: Option<f64>,
}

/// The phases of `workload`, first one first.
pub(crate) fn plan(workload: &Workload) -> Vec<PhasePlan> {
    let mut groups: Vec<u32> = workload.jobs.iter().map(|job| job.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let phase = |group: u32| {
        let jobs = || workload.jobs.iter().filter(move |job| job.group == group);
        let mut names: Vec<String> = Vec::new();
        for job in jobs() {
            if !names.contains(&job.name) {
                names.push(job.name.clone());
            }
        }
        PhasePlan {
            group,
            jobs: names,
            temperature_c: jobs().find_map(|job| job.temperature_c),
            delay_temperature_c: jobs().find_map(|job| job.delay_temperature_c),
        }
    };
    groups.into_iter().map(phase).collect()
}
