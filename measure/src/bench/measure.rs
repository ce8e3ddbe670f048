//! One case, measured.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use firstread_core::{Ns, Status};
use firstread_drive::profile::{DriveProfile, Library, Override, load_drive};
use firstread_drive::stats::Written;
use firstread_drive::{Drive, DriveState, Host, RunStats, UntimedDrive};
use firstread_firmware::policy::AXES;
use firstread_workload::{JobStream, fio};
use serde_json::{Value, json};

use super::cases::{BASELINES, Case};

/// Result of a case: the best of its repetitions.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests of one run.
    pub requests: f64,
    /// The slowest of the runs that went on at once (s).
    pub run_s: f64,
    /// From the profile's text to a drive that takes requests (s).
    pub ready_s: f64,
    pub events_per_request: f64,
    /// Page rows sensed, for the host and in the background.
    pub senses_per_request: f64,
    /// Bytes programmed for each that the host wrote, from a run's start to its end.
    pub write_amplification: Option<f64>,
    /// Simulated time (s).
    pub simulated_s: f64,
    /// The most this process ever held (MiB).
    pub peak_mib: f64,
}

impl Measured {
    pub fn requests_per_s(&self) -> f64 {
        self.requests / self.run_s
    }

    pub fn to_json(self) -> Value {
        json!({
            "requests": self.requests,
            "run_s": self.run_s,
            "ready_s": self.ready_s,
            "events_per_request": self.events_per_request,
            "senses_per_request": self.senses_per_request,
            "write_amplification": self.write_amplification,
            "simulated_s": self.simulated_s,
            "peak_mib": self.peak_mib,
        })
    }

    pub fn from_json(text: &[u8]) -> Result<Measured, String> {
        let value: Value = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        let number = |key: &str| {
            let found = value[key].as_f64();
            found.ok_or_else(|| format!("the measurement has no `{key}`"))
        };
        Ok(Measured {
            requests: number("requests")?,
            run_s: number("run_s")?,
            ready_s: number("ready_s")?,
            events_per_request: number("events_per_request")?,
            senses_per_request: number("senses_per_request")?,
            write_amplification: value["write_amplification"].as_f64(),
            simulated_s: number("simulated_s")?,
            peak_mib: number("peak_mib")?,
        })
    }
}

/// The best of `repeat` measurements of `case`.
pub fn best(case: &Case, repeat: u32) -> Result<Measured, String> {
    let mut best: Option<Measured> = None;
    for _ in 0..repeat {
        let m = once(case)?;
        let b = best.get_or_insert(m);
        b.run_s = b.run_s.min(m.run_s);
        b.ready_s = b.ready_s.min(m.ready_s);
    }
    let mut best = best.ok_or("no repetition was asked for")?;
    best.peak_mib = peak_kib() as f64 / 1024.0;
    Ok(best)
}

/// Its runs, all at once.
fn once(case: &Case) -> Result<Measured, String> {
    let start_together = Barrier::new(case.runs as usize);
    let results: Vec<Result<Measured, String>> = thread::scope(|scope| {
        let runs: Vec<_> = (0..case.runs)
            .map(|i| {
                let start_together = &start_together;
                scope.spawn(move || one_run(case, u64::from(i) + 1, start_together))
            })
            .collect();
        let joined = runs.into_iter().map(|run| run.join());
        joined
            .map(|result| result.unwrap_or_else(|_| Err("the run panicked".into())))
            .collect()
    });
    let mut all: Option<Measured> = None;
    for result in results {
        let m = result?;
        let a = all.get_or_insert(m);
        a.run_s = a.run_s.max(m.run_s);
        a.ready_s = a.ready_s.max(m.ready_s);
    }
    all.ok_or_else(|| "a case has at least one run".into())
}

/// The profile of the drive of `case`.
pub fn profile(case: &Case) -> Result<DriveProfile, String> {
    profile_with(case, &[])
}

/// [`profile`] with more of it changed.
fn profile_with(case: &Case, set: &[&str]) -> Result<DriveProfile, String> {
    let overrides: Vec<Override> = BASELINES
        .iter()
        .chain(case.set)
        .chain(set)
        .map(|s| Override::parse(s).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    load_drive(&Library::new(), case.drive, &overrides, AXES).map_err(|e| e.to_string())
}

/// Simulated time (s) of `job` on the drive of `case` with `set` changed, and that drive's profile.
pub fn simulated_s(case: &Case, set: &[&str], job: &str) -> Result<(f64, DriveProfile), String> {
    let profile = profile_with(case, set)?;
    let tables = firstread_drive::tables::for_drive(&profile).map_err(|e| e.to_string())?;
    let mut drive =
        Drive::new(profile.clone(), tables, &state(case), 1).map_err(|e| e.to_string())?;
    let workload = fio::parse(case.name, job).map_err(|e| e.to_string())?;
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(case.requests))
        .map_err(|e| e.to_string())?;
    let stats = host
        .run(&mut drive, &mut |_| {})
        .map_err(|e| e.to_string())?;
    Ok((stats.simulated.0 as f64 * 1e-9, profile))
}

/// The state of the drive of `case` at its first request.
fn state(case: &Case) -> DriveState {
    let age = Ns::from_h(case.age_h);
    DriveState {
        age: (age, age),
        pe_cycles: (case.pe_cycles, case.pe_cycles),
        temperature_c: 55.0,
        fill: case.fill,
        precondition: case.precondition,
        ..DriveState::default()
    }
}

/// A run on a drive without time: the requests of the job's first stream, one after another.
fn one_life(case: &Case, seed: u64) -> Result<Measured, String> {
    let start = Instant::now();
    let profile = profile(case)?;
    let tables = firstread_drive::tables::for_drive(&profile).map_err(|e| e.to_string())?;
    let (slot_bytes, capacity) = (profile.geometry.slot_bytes, profile.capacity_bytes);
    let drive = UntimedDrive::new(profile, tables, &state(case), seed);
    let mut drive = drive.map_err(|e| e.to_string())?;
    let ready_s = start.elapsed().as_secs_f64();
    let text = case.job.ok_or("a life needs a job")?;
    let workload = fio::parse(case.name, text).map_err(|e| e.to_string())?;
    let job = workload.jobs.first().ok_or("a life needs a job")?;
    let stream = JobStream::new(job, capacity, seed).map_err(|e| e.to_string())?;
    let before = drive.counters().clone();
    let start = Instant::now();
    for (n, request) in (0..case.requests).zip(stream) {
        let (op, at) = (request.op, Ns(n * 1_000));
        let done = drive.command(
            at,
            op,
            request.offset_bytes,
            request.len_bytes,
            request.placement,
        );
        match done.map_err(|e| e.to_string())? {
            Status::Ok => {}
            status => return Err(format!("{}: request {n} ended {status:?}", case.name)),
        }
    }
    let run_s = start.elapsed().as_secs_f64();
    let counters = drive.counters().since(&before);
    Ok(Measured {
        requests: case.requests as f64,
        run_s,
        ready_s,
        events_per_request: 0.0,
        senses_per_request: 0.0,
        write_amplification: Written::of(&counters, slot_bytes).ratio(),
        simulated_s: 0.0,
        peak_mib: 0.0,
    })
}

fn one_run(case: &Case, seed: u64, start_together: &Barrier) -> Result<Measured, String> {
    if case.untimed {
        start_together.wait();
        return one_life(case, seed);
    }
    let state = state(case);
    let made = || -> Result<(Drive, f64), String> {
        let start = Instant::now();
        let profile = profile(case)?;
        let tables = firstread_drive::tables::for_drive(&profile).map_err(|e| e.to_string())?;
        let drive = Drive::new(profile, tables, &state, seed).map_err(|e| e.to_string())?;
        Ok((drive, start.elapsed().as_secs_f64()))
    };
    let made = made();
    // Also where it failed: the others wait here.
    start_together.wait();
    let (mut drive, ready_s) = made?;
    let slot_bytes = drive.profile().geometry.slot_bytes;
    let mut measured = Measured {
        requests: 0.0,
        run_s: f64::MAX,
        ready_s,
        events_per_request: 0.0,
        senses_per_request: 0.0,
        write_amplification: None,
        simulated_s: 0.0,
        peak_mib: 0.0,
    };
    let Some(job) = case.job else {
        return Ok(measured);
    };
    let workload = fio::parse(case.name, job).map_err(|e| e.to_string())?;
    let host = Host::jobs(&workload, drive.capacity_bytes(), seed, Some(case.requests))
        .map_err(|e| e.to_string())?;
    let start = Instant::now();
    let stats = host
        .run(&mut drive, &mut |_| {})
        .map_err(|e| e.to_string())?;
    measured.run_s = start.elapsed().as_secs_f64();
    if stats.requests != case.requests {
        let (ran, asked) = (stats.requests, case.requests);
        return Err(format!("{}: {ran} of {asked} requests ran", case.name));
    }
    measured.requests = stats.requests as f64;
    measured.events_per_request = stats.events as f64 / measured.requests;
    measured.senses_per_request = senses(&stats) as f64 / measured.requests;
    measured.simulated_s = stats.simulated.0 as f64 * 1e-9;
    measured.write_amplification = Written::of(&stats.counters, slot_bytes).ratio();
    Ok(measured)
}

/// Page rows sensed, for the host and in the background.
fn senses(stats: &RunStats) -> u64 {
    let c = &stats.counters;
    let host = c
        .retries
        .iter()
        .zip(1..)
        .map(|(rows, senses)| rows * senses);
    host.sum::<u64>() + c.background_reads
}

/// Peak memory of this process (KiB); 0 if the system does not report it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|l| l.starts_with("VmHWM:"))
        .unwrap_or_default();
    let kib = line.split_whitespace().nth(1);
    kib.and_then(|n| n.parse().ok()).unwrap_or(0)
}
