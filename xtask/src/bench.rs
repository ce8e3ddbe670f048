//! `cargo xtask bench`: how fast the simulator is, and what a request costs.
//!
//! Speed is told as a ratio to the first row of the same run, the drive with constant latencies:
//! absolute figures depend on the machine.

use std::time::Instant;

use firstread_core::Ns;
use firstread_drive::profile::{Library, Override, load_drive};
use firstread_drive::{Drive, DriveState, Host, RunStats};
use firstread_firmware::policy::AXES;
use firstread_workload::fio;

struct Case {
    name: &'static str,
    drive: &'static str,
    set: &'static [&'static str],
    job: &'static str,
    age_h: u64,
    pe_cycles: u32,
    requests: u64,
}

const RAND_4K_QD128: &str = "[j]\nrw=randread\nbs=4k\niodepth=128\nnorandommap\n";
const RAND_64K_QD128: &str = "[j]\nrw=randread\nbs=64k\niodepth=128\nnorandommap\n";

const CASES: &[Case] = &[
    Case {
        name: "4k randread qd128, constant latencies",
        drive: "ct-qlc",
        set: &["cells=ideal", "schemes.read_levels=factory"],
        job: RAND_4K_QD128,
        age_h: 0,
        pe_cycles: 0,
        requests: 4_000_000,
    },
    Case {
        name: "4k randread qd128, cells 28 h 300 P/E, ct-qlc",
        drive: "ct-qlc",
        set: &["schemes.read_levels=ct-qlc"],
        job: RAND_4K_QD128,
        age_h: 28,
        pe_cycles: 300,
        requests: 4_000_000,
    },
    Case {
        name: "4k randread qd128, cells 28 h 2500 P/E, frozen",
        drive: "ct-qlc",
        set: &["schemes.read_levels=frozen"],
        job: RAND_4K_QD128,
        age_h: 28,
        pe_cycles: 2500,
        requests: 1_000_000,
    },
    Case {
        name: "64k randread qd128, cells 28 h 300 P/E, ct-qlc",
        drive: "ct-qlc",
        set: &["schemes.read_levels=ct-qlc"],
        job: RAND_64K_QD128,
        age_h: 28,
        pe_cycles: 300,
        requests: 300_000,
    },
];

/// Runs every case whose name contains `only`, `repeat` times, and prints the best of each.
pub fn run(only: Option<&str>, repeat: u32) -> Result<(), String> {
    println!(
        "{:<50} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8}",
        "case", "k req/s", "ratio", "ns/req", "events", "senses", "ready ms"
    );
    let mut reference = None;
    for case in CASES
        .iter()
        .filter(|c| only.is_none_or(|o| c.name.contains(o)))
    {
        let mut best = f64::MAX;
        let mut ready = f64::MAX;
        let mut stats = None;
        for _ in 0..repeat.max(1) {
            let (ready_s, run_s, run) = measure(case)?;
            ready = ready.min(ready_s);
            best = best.min(run_s);
            stats = Some(run);
        }
        let stats: RunStats = stats.expect("at least one repetition");
        let rate = stats.requests as f64 / best;
        let reference = *reference.get_or_insert(rate);
        println!(
            "{:<50} {:>9.0} {:>6.2} {:>8.0} {:>8.2} {:>8.2} {:>8.0}",
            case.name,
            rate / 1e3,
            rate / reference,
            1e9 / rate,
            stats.events as f64 / stats.requests as f64,
            senses(&stats) as f64 / stats.requests as f64,
            ready * 1e3
        );
    }
    println!("peak memory {} MiB", peak_rss_kib() / 1024);
    Ok(())
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

fn measure(case: &Case) -> Result<(f64, f64, RunStats), String> {
    let overrides: Vec<Override> = case
        .set
        .iter()
        .map(|s| Override::parse(s).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    let profile =
        load_drive(&Library::new(), case.drive, &overrides, AXES).map_err(|e| e.to_string())?;
    let tables = firstread_drive::tables::for_drive(&profile).map_err(|e| e.to_string())?;
    let age = Ns::from_h(case.age_h);
    let state = DriveState {
        age: (age, age),
        pe_cycles: (case.pe_cycles, case.pe_cycles),
        temperature_c: 55.0,
        ..DriveState::default()
    };
    let start = Instant::now();
    let mut drive = Drive::new(profile, tables, &state, 1).map_err(|e| e.to_string())?;
    let ready = start.elapsed().as_secs_f64();
    let workload = fio::parse("bench.fio", case.job).map_err(|e| e.to_string())?;
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(case.requests))
        .map_err(|e| e.to_string())?;
    let start = Instant::now();
    let stats = drive.run(host, &mut |_| {}).map_err(|e| e.to_string())?;
    Ok((ready, start.elapsed().as_secs_f64(), stats))
}

/// Most memory this process ever held (KiB); 0 where the system does not tell.
fn peak_rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|l| l.starts_with("VmHWM:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}
