//! Intervals of a drive that cleans: how wide they are beside what runs differ by, and how often they hold the figure of all runs.
//!
//! One drive, burnt in once; each run begins at a phase of its own and draws its own requests.

use firstread_core::Stream;
use firstread_drive::stats::Latencies;
use firstread_drive::{Drive, DriveState, Host, Precondition, RunStats};
use firstread_testkit::{drive, profile};
use firstread_workload::fio;

/// Requests of a lead-in: fewer than so many.
const LEAD: u64 = 20_000;
/// An interval is at most so many times as wide as runs differ; half of one beside 1.96 standard deviations.
const WIDEST: f64 = 3.0;
/// What runs differ by less than need not be told apart (relative).
const FINE: f64 = 0.002;
/// Runs that cover, of those with an interval.
const FEWEST_COVER: f64 = 0.9;
/// Runs that have an interval, for it to be judged.
const FEWEST_KNOWN: f64 = 0.5;

struct Load {
    name: &'static str,
    set: &'static [&'static str],
    job: &'static str,
    requests: u64,
}

const RANDOM: &str = "[w]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\n";
const MIXED: &str = "[m]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\n";
/// Arrivals at random, in bursts by chance, at half of what the drive can do.
const ARRIVALS: &str = "[m]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=1024\nnorandommap\nrate_process=poisson\nrate_iops=1200,510\n";

const LOADS: [Load; 4] = [
    Load {
        name: "70/30, QD32",
        set: &[],
        job: MIXED,
        requests: 200_000,
    },
    Load {
        name: "random writes, QD32",
        set: &[],
        job: RANDOM,
        requests: 80_000,
    },
    Load {
        name: "70/30, Poisson arrivals",
        set: &[],
        job: ARRIVALS,
        requests: 200_000,
    },
    Load {
        name: "70/30, QD32, area=differential",
        set: &["schemes.area=differential"],
        job: MIXED,
        requests: 200_000,
    },
];

/// 160 superblocks of 512 slots, overwritten at random.
fn overwritten(set: &[&str]) -> Drive {
    let small = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=160",
        "capacity=272 MiB",
    ];
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    drive(profile("bench-4g", &[&small, set].concat()), &state, 1)
}

fn run_of(load: &Load, drive: &Drive, seed: u64) -> RunStats {
    let mut drive = drive.clone();
    let workload = fio::parse("test.fio", load.job).unwrap();
    let mut run = |requests: u64, seed: u64| {
        let host = Host::jobs(&workload, drive.capacity_bytes(), seed, Some(requests));
        host.unwrap().run(&mut drive, &mut |_| {}).unwrap()
    };
    let lead = Stream::new(seed).named("lead").at(0).below(LEAD).max(1);
    run(lead, !seed);
    run(load.requests, seed)
}

/// A figure of a run, with its interval.
struct Figure {
    value: f64,
    interval: Option<(f64, f64)>,
}

fn around(value: f64, half: Option<f64>) -> Figure {
    let interval = half.map(|half| (value - half, value + half));
    Figure { value, interval }
}

fn figures(stats: &RunStats) -> Vec<(&'static str, Figure)> {
    let mut all = Vec::new();
    let amplification = &stats.amplification;
    if let Some(e) = amplification.estimate {
        all.push((
            "write amplification",
            Figure {
                value: e.mean,
                interval: amplification.steady().map(|e| e.interval),
            },
        ));
    }
    let seconds = stats.all.runtime_ns as f64 / 1e9;
    let mut of = |l: &Latencies, names: [&'static str; 3]| {
        if l.count() == 0 {
            return;
        }
        let rate = l.count() as f64 / seconds;
        all.push((
            names[0],
            around(rate, l.rate_half().map(|half| half * rate)),
        ));
        all.push((names[1], around(l.mean_ns(), l.mean_half_ns())));
        let p = l.percentile(99.0);
        let ends = p.interval_ns.map(|(low, high)| (low as f64, high as f64));
        let value = p.ns as f64;
        all.push((
            names[2],
            Figure {
                value,
                interval: ends,
            },
        ));
    };
    of(
        &stats.all.read,
        ["IOPS of reads", "mean of reads", "P99 of reads"],
    );
    of(
        &stats.all.write,
        ["IOPS of writes", "mean of writes", "P99 of writes"],
    );
    all
}

/// Runs each load with so many seeds, and returns the rows that are not as they should be.
fn judge(loads: &[Load], runs: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    println!(
        "| load | figure | has an interval | covers | half, mean | runs differ |\n|---|---|---:|---:|---:|---:|"
    );
    for load in loads {
        let drive = overwritten(load.set);
        let all: Vec<_> = (1..=runs)
            .map(|seed| figures(&run_of(load, &drive, seed)))
            .collect();
        for i in 0..all[0].len() {
            let of_figure = || all.iter().map(|run| &run[i].1);
            let n = runs as f64;
            let mean = of_figure().map(|f| f.value).sum::<f64>() / n;
            let squares: f64 = of_figure()
                .map(|f| (f.value - mean) * (f.value - mean))
                .sum();
            let differ = 1.96 * (squares / (n - 1.0)).sqrt() / mean;
            let known: Vec<(f64, f64)> = of_figure().filter_map(|f| f.interval).collect();
            let covered = known
                .iter()
                .filter(|(low, high)| (*low..=*high).contains(&mean));
            let covers = covered.count() as f64 / known.len().max(1) as f64;
            let halves = known.iter().map(|(low, high)| (high - low) / 2.0 / mean);
            let half = halves.sum::<f64>() / known.len().max(1) as f64;
            let row = format!(
                "| {} | {} | {} of {runs} | {:.0} % | ± {:.2} % | {:.2} % |",
                load.name,
                all[0][i].0,
                known.len(),
                100.0 * covers,
                100.0 * half,
                100.0 * differ
            );
            println!("{row}");
            let is_judged = known.len() as f64 >= FEWEST_KNOWN * n;
            let is_wide = half > WIDEST * differ.max(FINE);
            if !is_judged || is_wide || covers < FEWEST_COVER {
                wrong.push(row);
            }
        }
    }
    wrong
}

/// A drive that was put into its steady state is found in it, and the interval of its write amplification is as wide as runs differ. By neighbouring
/// segments alone it was eleven times as wide.
#[test]
fn formula_an_overwritten_drive_is_steady_within_what_runs_differ_by() {
    const RUNS: u64 = 8;
    let drive = overwritten(&[]);
    let load = Load {
        requests: 120_000,
        ..LOADS[0]
    };
    let runs = (1..=RUNS).map(|seed| run_of(&load, &drive, seed).amplification);
    let steady: Vec<_> = runs.map(|found| found.steady().expect("steady")).collect();
    let mean = steady.iter().map(|e| e.mean).sum::<f64>() / RUNS as f64;
    let half = steady.iter().map(|e| e.interval.1 - e.mean).sum::<f64>() / RUNS as f64;
    let holds = steady
        .iter()
        .filter(|e| (e.interval.0..=e.interval.1).contains(&mean));
    let (holds, half) = (holds.count(), half / mean);
    println!("{mean:.3} ± {half:.4}, {holds} of {RUNS}");
    // Runs of this length differ by 0.8 %.
    assert!(holds >= 6 && half < 0.02, "{mean} ± {half}, {holds}");
}

/// Loads with cleaning, each with forty seeds. docs/intervals.md has the table.
#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored intervals"]
fn formula_intervals_under_cleaning_are_as_wide_as_runs_differ() {
    let wrong = judge(&LOADS, 40);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
