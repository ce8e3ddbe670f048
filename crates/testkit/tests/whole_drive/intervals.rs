//! Intervals of a drive that cleans: how wide they are beside what runs differ by. The short form of `cargo xtask coverage`.
//!
//! One drive, overwritten once; each run begins at a phase of its own and draws its own requests.

use firstread_core::Stream;
use firstread_drive::stats::Amplification;
use firstread_drive::{Drive, Host};
use firstread_testkit::overwritten;
use firstread_workload::fio;

/// Requests of a lead-in: fewer than so many.
const LEAD: u64 = 20_000;
const REQUESTS: u64 = 120_000;
const RUNS: u64 = 8;

const MIXED: &str = "[m]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\nio_size=1t\n";

fn amplification(drive: &Drive, seed: u64) -> Amplification {
    let mut drive = drive.clone();
    let workload = fio::parse("test.fio", MIXED).unwrap();
    let mut run = |requests: u64, seed: u64| {
        let host = Host::jobs(&workload, drive.capacity_bytes(), seed, Some(requests));
        host.unwrap().run(&mut drive, &mut |_| {}).unwrap()
    };
    let lead = Stream::new(seed).named("lead").at(0).below(LEAD).max(1);
    run(lead, !seed);
    let stats = run(REQUESTS, seed);
    assert_eq!(stats.requests, REQUESTS);
    stats.amplification
}

/// A drive that was put into its steady state is found in it, and the interval of its write amplification is as wide as runs differ. By neighbouring
/// segments alone it was eleven times as wide.
#[test]
fn formula_an_overwritten_drive_is_steady_within_what_runs_differ_by() {
    let drive = overwritten(&[]);
    let runs = (1..=RUNS).map(|seed| amplification(&drive, seed));
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
