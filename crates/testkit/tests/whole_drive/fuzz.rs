//! Whether any small load is served whole: no panic, no request lost, no stale read.

use std::sync::OnceLock;

use firstread_drive::tables::DriveTables;
use firstread_drive::{Drive, DriveError, DriveState, Ended, Host, StateError};
use firstread_testkit::{SMALL_BLOCKS, aged, profile, voltages};
use firstread_workload::job::{Distribution, Extent, JobSpec, Operations, Rate, Sizes, Think};
use firstread_workload::{JobStream, Workload};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// Lengths in multiples of `unit` bytes.
fn sizes(unit: u32) -> impl Strategy<Value = Sizes> {
    let longest = 150_000 / unit;
    let units = move || {
        prop_oneof![1 => Just(1), 1 => Just(8), 2 => 1..longest].prop_map(move |n| unit * n)
    };
    prop_oneof![
        units().prop_map(Sizes::Fixed),
        (units(), 1u32..8).prop_map(|(min, m)| Sizes::Range { min, max: min * m }),
        (units(), units(), 1u8..100)
            .prop_map(|(a, b, share)| Sizes::Split(vec![(a, share), (b, 100 - share)])),
    ]
}

fn operations() -> impl Strategy<Value = Operations> {
    prop_oneof![
        1 => Just(Operations::Read),
        1 => Just(Operations::Write),
        1 => Just(Operations::Trim),
        3 => Just(Operations::Mixed),
        1 => Just(Operations::TrimWrite),
    ]
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        (0.2f64..1.8).prop_map(|theta| Distribution::Zipf {
            theta,
            center: None
        }),
        (0.05f64..0.45).prop_map(|h| Distribution::Pareto {
            h,
            center: Some(0.5)
        }),
    ]
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        4 => Just(Rate::Unlimited),
        1 => (1_000u64..1_000_000).prop_map(Rate::Iops),
        1 => (1_000_000u64..1_000_000_000).prop_map(Rate::BytesPerSecond),
    ]
}

prop_compose! {
    fn job(unit: u32)(
        operations in operations(),
        random in any::<bool>(),
        sizes in sizes(unit),
        (read_percent, random_percent) in (0u8..=100, 0u8..=100),
        (distribution, random_map) in (distribution(), any::<bool>()),
        (offset_mib, size_mib) in (0u64..200, 8u64..48),
        (iodepth, number_ios) in (1u32..80, 1u64..250),
        (group, start_delay) in (0u32..2, 0u64..2_000_000),
        rate in rate(),
        think in prop::option::of((1u64..3_000_000, 1u32..20)),
        writes_per_flush in prop::option::of(1u32..9),
        rand_seed in any::<u32>(),
    ) -> JobSpec {
        JobSpec {
            operations,
            random,
            read_percent,
            random_percent: [random_percent; 3],
            sizes: [sizes.clone(), sizes.clone(), sizes],
            distribution,
            random_map,
            offset: Extent::Bytes(offset_mib * MIB),
            size: Some(Extent::Bytes(size_mib * MIB)),
            iodepth,
            number_ios: Some(number_ios),
            group,
            start_delay_ns: [0, start_delay],
            rate: [rate; 3],
            think: think.map(|(time_ns, blocks)| Think { time_ns, blocks }),
            writes_per_flush,
            rand_seed: rand_seed as u64,
            ..JobSpec::new("fuzz")
        }
    }
}

/// Requests the jobs make, flushes too, counted without a drive. None if a job does not fit.
fn requests(jobs: &[JobSpec], capacity: u64, seed: u64) -> Option<u64> {
    let count = |job| Some(JobStream::new(job, capacity, seed).ok()?.count() as u64);
    jobs.iter().map(count).sum()
}

/// A drive to run a load on.
#[derive(Clone, Debug)]
struct Setting {
    scheme: &'static str,
    modelled: bool,
    age_h: u64,
    pe_cycles: u32,
    fill: f64,
    seed: u64,
}

prop_compose! {
    fn setting()(
        scheme in prop::sample::select(vec!["factory", "frozen", "ct-qlc", "similar-page", "block-calibration", "sentinel-cells", "on-die", "retention-model", "optimal-group", "optimal"]),
        modelled in any::<bool>(),
        (age_h, pe_cycles) in (0u64..60, 0u32..3000),
        fill in prop::sample::select(vec![0.0, 0.3, 1.0]),
        seed in any::<u64>(),
    ) -> Setting {
        Setting { scheme, modelled, age_h, pe_cycles, fill, seed }
    }
}

/// Runs `jobs` to their end.
fn serve(mut jobs: Vec<JobSpec>, setting: Setting) -> Result<(), TestCaseError> {
    static TABLES: OnceLock<DriveTables> = OnceLock::new();
    let Setting { modelled, seed, .. } = setting;
    let scheme = format!("schemes.read_levels={}", setting.scheme);
    let cells = if modelled {
        "cells=modelled"
    } else {
        "cells=ideal"
    };
    let set: Vec<&str> = SMALL_BLOCKS
        .iter()
        .copied()
        .chain([scheme.as_str(), cells])
        .collect();
    let profile = profile("dc-qlc-15t", &set);
    let tables = TABLES.get_or_init(|| voltages(&profile)).clone();
    let state = DriveState {
        fill: setting.fill,
        ..aged(setting.age_h, setting.pe_cycles)
    };
    let mut drive = match Drive::new(profile, tables, &state, seed) {
        Err(DriveError::State(StateError::BadBlocks { .. })) => {
            return Err(TestCaseError::reject(
                "too many blocks of this chip are worn out",
            ));
        }
        made => made.unwrap(),
    };
    for (i, job) in jobs.iter_mut().enumerate() {
        (job.section, job.report) = (i as u32, i as u32);
    }
    let Some(expected) = requests(&jobs, drive.capacity_bytes(), seed) else {
        return Err(TestCaseError::reject("a job does not fit"));
    };
    let workload = Workload {
        name: "fuzz".into(),
        jobs,
        notices: Vec::new(),
    };
    let host = Host::jobs(&workload, drive.capacity_bytes(), seed, None).unwrap();
    match host.run(&mut drive, &mut |_| {}) {
        // A drive without room left says so.
        Ok(stats) if stats.ended != Ended::Completed => Ok(()),
        Ok(stats) => {
            prop_assert_eq!(stats.requests, expected);
            let all = &stats.all;
            let counted =
                all.read.count() + all.write.count() + all.trim.count() + all.flush.count();
            prop_assert_eq!(counted, expected);
            prop_assert!(modelled || all.uncorrectable() == 0);
            Ok(())
        }
        Err(e) => Err(TestCaseError::fail(e.to_string())),
    }
}

/// Always the same cases: what fails here fails everywhere. A failure prints its load.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: prop::test_runner::RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fuzz_loads_of_whole_slots_are_served(
        jobs in prop::collection::vec(job(4096), 1..4), setting in setting(),
    ) {
        serve(jobs, setting)?;
    }

    #[test]
    fn fuzz_loads_of_any_sectors_are_served(
        jobs in prop::collection::vec(job(512), 1..4), setting in setting(),
    ) {
        serve(jobs, setting)?;
    }
}
