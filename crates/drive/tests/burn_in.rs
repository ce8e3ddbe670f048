//! Burn-in: whether it ends where theory says that it does, and not before; and what follows it.

use firstread_drive::profile::DriveProfile;

use firstread_drive::stats::amplification::NotSteady;
use firstread_drive::{BurnIn, BurnInEnd, Drive, DriveState, Ended, Host, Precondition, RunError};
use firstread_testkit::{digest_of, drive, profile, try_run};
use firstread_workload::fio;

/// 320 MiB with constant latencies: 160 superblocks of 512 slots.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=272 MiB",
];

const OVERWRITES: &str = "[w]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\n";

fn small(victim: &str) -> DriveProfile {
    let scheme = format!("schemes.gc_victim={victim}");
    let set: Vec<&str> = SMALL.iter().copied().chain([scheme.as_str()]).collect();
    profile("bench-4g", &set)
}

fn filled() -> DriveState {
    DriveState::default()
}

fn preconditioned() -> DriveState {
    DriveState {
        precondition: Precondition::Random,
        ..filled()
    }
}

/// Burns `drive` in by `job`, for so many drive writes at most.
fn burn_in(drive: &mut Drive, job: &str, seed: u64, most: f64) -> Result<BurnIn, RunError> {
    let workload = fio::parse("test.fio", job)?;
    let capacity = drive.capacity_bytes();
    let pass = |pass| Ok(Host::pass(&workload, capacity, seed, pass)?);
    BurnIn::run(drive, most, pass, &mut |_| {})
}

/// From a drive filled in address order, a burn-in by random overwrites ends in the state that theory knows: its
/// amplification is theory's, and that of a drive that was put into that state at once.
#[test]
fn formula_burn_in_ends_where_theory_says() {
    const SEEDS: u64 = 6;
    for victim in ["fifo", "greedy", "cost-benefit"] {
        let mut all = 0.0;
        for seed in 1..=SEEDS {
            let mut at_once = drive(small(victim), &preconditioned(), seed);
            let theory = at_once.expected_amplification().unwrap();
            let steady = burn_in(&mut at_once, OVERWRITES, seed, 10.0).unwrap();
            let mut slowly = drive(small(victim), &filled(), seed);
            let burnt = burn_in(&mut slowly, OVERWRITES, seed, 10.0).unwrap();
            assert_eq!(
                (burnt.ended, steady.ended),
                (BurnInEnd::Steady, BurnInEnd::Steady)
            );
            let a = burnt.amplification.steady().expect("steady");
            let b = steady.amplification.steady().expect("steady");
            println!(
                "{victim}, seed {seed}: theory {theory:.3}; {:.3}, {:.3?} after {:.2} drive writes and {} erases; \
                 preconditioned {:.3}, {:.3?} after {:.2}",
                a.mean,
                a.interval,
                burnt.drive_writes,
                burnt.amplification.erases,
                b.mean,
                b.interval,
                steady.drive_writes,
            );
            all += a.mean / theory;
            // Each within what a burn-in ends with, of a theory that is itself within 1 %.
            for found in [a, b] {
                let half = found.interval.1 - found.mean;
                assert!(half <= 0.01 * found.mean, "{found:?}");
                assert!((found.mean / theory - 1.0).abs() < 0.02, "{found:?}");
            }
            // What is already there is found at once.
            assert!(steady.amplification.erases < 80, "{steady:?}");
            assert_eq!(steady.passes, 1);
            // Every superblock was a victim twice, and not much more was written.
            assert!((320..1_400).contains(&burnt.erases), "{burnt:?}");
            assert!(burnt.drive_writes < 3.0, "{burnt:?}");
        }
        let mean = all / SEEDS as f64;
        assert!((mean - 1.0).abs() < 0.02, "{victim}: {mean} of theory");
    }
}

/// A drive that was just filled has free superblocks at first, then full ones to clean. No run that ends on this way is steady at another amplification than the last.
#[test]
fn formula_what_follows_a_fill_is_not_steady() {
    for victim in ["fifo", "greedy"] {
        for seed in 1..=4 {
            for percent in (5..=70).step_by(5) {
                let mut drive = drive(small(victim), &filled(), seed);
                let job = format!("{OVERWRITES}io_size={percent}%\n");
                let stats = try_run(&mut drive, &job, seed, None).unwrap();
                let found = stats.amplification;
                if found.erases < 160 {
                    let fault = found.not_steady;
                    assert!(matches!(fault, Some(NotSteady::FewErases(_, 160))));
                }
                if let Some(steady) = found.steady() {
                    assert!(
                        (steady.mean / 3.921 - 1.0).abs() < 0.05,
                        "{victim}, seed {seed}, {percent} %: {found:?}"
                    );
                }
            }
        }
    }
}

/// What the test above is about is there: after a fill, tenths of the capacity are amplified by much less and by more
/// than theory says.
#[test]
fn formula_a_fill_has_a_transient() {
    let mut drive = drive(small("fifo"), &filled(), 1);
    let job = format!("{OVERWRITES}io_size=10%\n");
    let mut courses = (1..=5).map(|seed| {
        let stats = try_run(&mut drive, &job, seed, None).unwrap();
        stats.counters.slots_programmed as f64 / stats.counters.host_slots_written as f64
    });
    let (lowest, highest) = courses.by_ref().fold((9.0f64, 0.0f64), |(low, high), wa| {
        (low.min(wa), high.max(wa))
    });
    assert!(
        lowest < 3.921 * 0.85 && highest > 3.921 * 1.1,
        "{lowest} to {highest}"
    );
}

/// Burnt in once and cloned, or burnt in for each run: the same completions. The runs issue what they issue on any
/// drive, and need few erases to be steady.
#[test]
fn model_a_clone_of_a_burnt_in_drive_is_one() {
    let measured = format!("{OVERWRITES}number_ios=6000\n");
    let burnt = || {
        let mut drive = drive(small("greedy"), &filled(), 3);
        let burnt = burn_in(&mut drive, OVERWRITES, 3, 10.0).unwrap();
        (drive, burnt.amplification.steady().unwrap().mean)
    };
    let (once, mean) = burnt();
    let run = |mut drive: Drive, expected: Option<f64>| {
        let workload = fio::parse("test.fio", &measured).unwrap();
        let mut host = Host::jobs(&workload, drive.capacity_bytes(), 3, None).unwrap();
        if let Some(mean) = expected {
            host.expect_amplification(mean);
        }
        host.run(&mut drive, &mut |_| {}).unwrap()
    };
    let (first, second) = (run(once.clone(), Some(mean)), run(once, Some(mean)));
    let alone = run(burnt().0, None);
    assert_eq!(digest_of(&first), digest_of(&second));
    assert_eq!(digest_of(&first), digest_of(&alone));
    assert_eq!(first.requests, 6000);
    // Counted from the end of the burn-in.
    assert_eq!(first.counters.host_slots_written, 6000);
    assert!(
        first.amplification.steady().is_some(),
        "{:?}",
        first.amplification
    );
    let fault = alone.amplification.not_steady;
    assert!(
        matches!(fault, Some(NotSteady::FewErases(_, 160))),
        "{fault:?}"
    );
}

/// A burn-in ends at its limit, and says that the drive is not steady.
#[test]
fn sequence_a_burn_in_ends_at_its_limit() {
    let mut drive = drive(small("greedy"), &filled(), 1);
    let burnt = burn_in(&mut drive, OVERWRITES, 1, 0.25).unwrap();
    assert_eq!(burnt.ended, BurnInEnd::Limit);
    assert!(burnt.amplification.steady().is_none());
    // As far as the next erase, and what is in flight.
    assert!((0.25..0.27).contains(&burnt.drive_writes), "{burnt:?}");
    let capacity = drive.capacity_bytes() as f64;
    assert_eq!(
        burnt.written.host_bytes as f64,
        burnt.drive_writes * capacity
    );
}

/// A short job is run pass after pass; phases without a write, and delays, are left out.
#[test]
fn sequence_a_burn_in_repeats_what_writes() {
    let mut drive = drive(small("greedy"), &filled(), 1);
    let job = format!(
        "{OVERWRITES}io_size=16m\nstartdelay=30d\n[r]\nstonewall\nrw=randread\nnumber_ios=1000\nstartdelay=30d\n"
    );
    let burnt = burn_in(&mut drive, &job, 1, 10.0).unwrap();
    assert_eq!(burnt.ended, BurnInEnd::Steady);
    assert_eq!(burnt.requests * 4096, burnt.written.host_bytes);
    assert_eq!(burnt.passes, burnt.written.host_bytes.div_ceil(16 << 20));
    assert!(burnt.time < firstread_core::Ns::from_s(3600), "{burnt:?}");
}

/// The power is cut in each pass that lasts long enough, and what the drive had to do it does all the same: it is as
/// steady as without, and holds what was acknowledged.
#[test]
fn powerloss_a_burn_in_goes_through_power_cuts() {
    let mut drive = drive(small("greedy"), &filled(), 1);
    let job = format!("{OVERWRITES}io_size=64m\n; firstread: power_cut=20ms\n");
    let burnt = burn_in(&mut drive, &job, 1, 10.0).unwrap();
    assert_eq!(burnt.ended, BurnInEnd::Steady, "{burnt:?}");
    assert!(
        burnt.passes > 2 && burnt.power_cuts + 1 >= burnt.passes,
        "{burnt:?}"
    );
    let steady = burnt.amplification.steady().unwrap();
    assert!((steady.mean / 3.921 - 1.0).abs() < 0.05, "{steady:?}");
    assert_eq!(drive.audit(), Ok(()));
    let read = try_run(&mut drive, "[r]\nrw=read\nbs=64k\niodepth=8\n", 1, None).unwrap();
    assert_eq!(read.all.uncorrectable(), 0);
    // The run that follows a burn-in has its own power cut.
    let after = try_run(&mut drive, &format!("{job}io_size=64m\n"), 1, None).unwrap();
    assert!(after.power_cut.is_some());
}

/// A workload without a write has nothing to burn in.
#[test]
fn sequence_a_burn_in_that_writes_nothing_is_refused() {
    let mut drive = drive(small("greedy"), &filled(), 1);
    for job in [
        "[r]\nrw=randread\nnumber_ios=100\n",
        "[t]\nrw=randtrim\nnumber_ios=100\n",
    ] {
        let refused = burn_in(&mut drive, job, 1, 10.0).unwrap_err();
        assert!(matches!(refused, RunError::NothingWritten), "{refused}");
    }
}

/// A drive that wears out in its burn-in says so, and so does a run after it.
#[test]
fn sequence_the_end_of_life_in_a_burn_in_is_told() {
    let worn = profile(
        "bench-4g",
        &[
            SMALL,
            &[
                "chip.modes.slc.endurance=20 P/E",
                "chip.failures.grown_bad=99 %",
                "chip.failures.shape=50 x",
            ],
        ]
        .concat(),
    );
    let nearly = DriveState {
        pe_cycles: (18, 18),
        ..filled()
    };
    let mut drive = drive(worn, &nearly, 1);
    let burnt = burn_in(&mut drive, OVERWRITES, 1, 10.0).unwrap();
    assert!(matches!(burnt.ended, BurnInEnd::EndOfLife(_)), "{burnt:?}");
    let after = try_run(&mut drive, OVERWRITES, 1, Some(100)).unwrap();
    assert!(matches!(after.ended, Ended::EndOfLife(_)));
}

/// What leads in to a part of a run writes what it is told to, neither less nor much more, and ends where its jobs end.
#[test]
fn formula_a_lead_in_writes_so_many_bytes() {
    let workload = fio::parse("test.fio", OVERWRITES).unwrap();
    let superblock = 512 * 4096;
    for (part, bytes) in [superblock, 3 * superblock, 40 * superblock]
        .into_iter()
        .enumerate()
    {
        let mut drive = drive(small("greedy"), &preconditioned(), 1);
        let capacity = drive.capacity_bytes();
        let before = drive.counters().host_bytes_written;
        let host = Host::before_part(&workload, capacity, 1, None, part as u64).unwrap();
        assert_eq!(host.lead_in(&mut drive, bytes).unwrap(), Ended::Completed);
        let written = drive.counters().host_bytes_written - before;
        // It is asked each 1,024 requests and at each erase.
        assert!(
            (bytes..bytes + 1_100 * 4096).contains(&written),
            "{written} of {bytes}"
        );
    }
    let few = fio::parse("test.fio", &format!("{OVERWRITES}number_ios=100\n")).unwrap();
    let mut drive = drive(small("greedy"), &preconditioned(), 1);
    let host = Host::before_part(&few, drive.capacity_bytes(), 1, None, 0).unwrap();
    assert_eq!(
        host.lead_in(&mut drive, superblock).unwrap(),
        Ended::Completed
    );
    assert_eq!(drive.counters().host_bytes_written, 100 * 4096);
}
