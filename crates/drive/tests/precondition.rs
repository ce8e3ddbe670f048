//! A drive preconditioned by theory against one that was really overwritten.

use firstread_drive::{Drive, DriveState, Precondition, RunStats};
use firstread_firmware::observe::BlockUse;
use firstread_testkit::{drive, profile, try_run};

/// 320 MiB with constant latencies: 160 superblocks of 512 slots.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=272 MiB",
];

fn small(victim: &str, precondition: Precondition, fill: f64, seed: u64) -> Drive {
    let scheme = format!("schemes.gc_victim={victim}");
    let set: Vec<&str> = SMALL.iter().copied().chain([scheme.as_str()]).collect();
    let state = DriveState {
        fill,
        precondition,
        ..DriveState::default()
    };
    drive(profile("bench-4g", &set), &state, seed)
}

fn write(drive: &mut Drive, distribution: &str, times: f64, run_seed: u64) -> RunStats {
    let pages = drive.capacity_bytes() / 4096;
    let n = (pages as f64 * times) as u64;
    let job = format!(
        "[j]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\nio_size={}\n{distribution}\n",
        n * 4096
    );
    try_run(drive, &job, run_seed, None).unwrap()
}

fn amplification(stats: &RunStats) -> f64 {
    let c = &stats.counters;
    1.0 + c.slots_moved as f64 / c.host_slots_written as f64
}

/// Valid shares of the superblocks at rest at the seven inner octiles.
fn octiles(drive: &Drive) -> [f64; 7] {
    let at_rest = drive.blocks().iter().map(|(_, row)| row);
    let at_rest = at_rest.filter(|row| row.usage == BlockUse::Full && !row.leaving);
    let mut valid: Vec<f64> = at_rest.map(|row| row.valid_slots as f64 / 512.0).collect();
    valid.sort_by(f64::total_cmp);
    core::array::from_fn(|i| valid[(valid.len() - 1) * (i + 1) / 8])
}

/// Times of the capacity that the drive is really overwritten.
const OVERWRITES: f64 = 5.0;

/// Compares the two drives: `scatter` is what their octiles may differ by, `amplifies` the ratio of
/// the write amplifications of the next capacity's worth of writes.
fn compare(victim: &str, precondition: Precondition, scatter: f64, amplifies: f64) {
    let distribution = match precondition {
        Precondition::Zipf(theta) => format!("random_distribution=zipf:{theta}"),
        _ => String::new(),
    };
    let seed = 1;
    let mut written = small(victim, Precondition::None, 1.0, seed);
    write(&mut written, &distribution, OVERWRITES, seed);
    let mut made = small(victim, precondition, 1.0, seed);
    made.audit().unwrap();
    let (a, b) = (octiles(&written), octiles(&made));
    println!("{precondition} {victim}: written {a:.3?}\n  made {b:.3?}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let off = (a - b).abs();
        assert!(
            off < scatter,
            "{precondition} {victim}, seed {seed}: octile {i} is {b:.4}, of the written drive {a:.4}"
        );
    }
    let a = amplification(&write(&mut written, &distribution, 1.0, seed));
    let b = amplification(&write(&mut made, &distribution, 1.0, seed));
    println!("  then written {a:.3}, made {b:.3}");
    made.audit().unwrap();
    assert!(
        (b / a - 1.0).abs() < amplifies,
        "{precondition} {victim}, seed {seed}: amplifies {b:.3}, the written drive {a:.3}"
    );
}

#[test]
fn model_random_is_what_fifo_leaves() {
    compare("fifo", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_greedy_leaves() {
    compare("greedy", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_cost_benefit_leaves() {
    compare("cost-benefit", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_d_choices_leave() {
    compare("d-choices", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_zipf_is_what_fifo_leaves() {
    compare("fifo", Precondition::Zipf(0.9), 0.05, 0.03);
}

#[test]
fn model_zipf_is_what_greedy_leaves() {
    compare("greedy", Precondition::Zipf(0.9), 0.05, 0.03);
}

#[test]
fn model_zipf_is_what_cost_benefit_leaves() {
    compare("cost-benefit", Precondition::Zipf(0.9), 0.05, 0.05);
}

/// Wider skew, and victims drawn at random: one course of many.
#[test]
#[ignore = "half a minute: cargo test -p firstread-drive --test precondition -- --ignored"]
fn model_other_skews_and_schemes() {
    for victim in ["fifo", "greedy", "cost-benefit", "d-choices", "random"] {
        compare(victim, Precondition::Random, 0.04, 0.03);
        compare(victim, Precondition::Zipf(0.6), 0.06, 0.06);
        compare(victim, Precondition::Zipf(1.2), 0.15, 0.10);
    }
}

/// Reads, writes, trims and garbage collection on a preconditioned drive: a stale read ends the run
/// with an error.
#[test]
fn model_every_version_is_found_after_preconditioning() {
    for (victim, precondition, fill) in [
        ("fifo", Precondition::Random, 1.0),
        ("greedy", Precondition::Zipf(0.9), 1.0),
        ("d-choices", Precondition::Random, 0.4),
        ("cost-benefit", Precondition::Zipf(1.1), 0.7),
    ] {
        let mut drive = small(victim, precondition, fill, 3);
        let mapped = |drive: &Drive| (0..272 * 256).filter(|&lpn| drive.is_mapped(lpn)).count();
        assert_eq!(mapped(&drive), (272.0 * 256.0 * fill) as usize);
        let job = "[all]\nrw=read\nbs=64k\niodepth=8\n\
                   [j]\nstonewall\nrw=randrw\nrwmixread=30\nbssplit=4k/70:12k/20:6k/10\nblockalign=512\n\
                   iodepth=32\nnorandommap\nrandom_distribution=zipf:0.9\nio_size=300m\n\
                   [t]\nrw=randtrim\nbs=64k\nnumber_ios=500\n\
                   [again]\nstonewall\nrw=read\nbs=64k\niodepth=8\n";
        let stats = try_run(&mut drive, job, 3, None)
            .unwrap_or_else(|e| panic!("{victim} {precondition}, seed 3: {e}"));
        assert_eq!(stats.all.uncorrectable, 0);
        assert!(
            stats.counters.slots_moved > 1000,
            "{victim}: {:?}",
            stats.counters
        );
        drive
            .audit()
            .unwrap_or_else(|e| panic!("{victim} {precondition}, seed 3: {e:?}"));
    }
}

/// A drive too full for it says so.
#[test]
fn a_drive_without_room_is_refused() {
    let set: Vec<&str> = SMALL.iter().copied().chain(["capacity=314 MiB"]).collect();
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    let profile = profile("bench-4g", &set);
    let tables = firstread_testkit::voltages(&profile);
    let error = Drive::new(profile, tables, &state, 1)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--precondition random") && error.contains("--fill"),
        "{error}"
    );
}
