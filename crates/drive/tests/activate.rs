//! Other schemes on a drive that is in use.

use firstread_core::params::Need;
use firstread_core::{HostOp, Ns};
use firstread_drive::profile::DriveProfile;
use firstread_drive::{ActivateError, Drive, Host, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{aged, drive, profile};
use firstread_workload::TraceRecord;

const SMALL: [&str; 7] = [
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.blocks_per_plane=24",
    "capacity=10 GiB",
    "chip.failures.factory_bad=0 %",
    "schemes.wear=none",
];

fn of(set: &[&str]) -> DriveProfile {
    let set: Vec<&str> = SMALL.iter().chain(set).copied().collect();
    profile("dc-qlc-15t", &set)
}

fn run(drive: &mut Drive, op: Option<HostOp>, requests: u64) -> RunStats {
    let records = (0..requests).map(|i| {
        let mixed = [HostOp::Read, HostOp::Write, HostOp::Read, HostOp::Trim][(i * 7 % 4) as usize];
        Ok(TraceRecord {
            time_ns: 0,
            op: op.unwrap_or(mixed),
            offset_bytes: i * 2_654_435_761 % (1 << 21) * 4096,
            len_bytes: 4096 << (i % 3),
            device: 0,
            placement: 0,
        })
    });
    let host = Host::trace("trace", records, 16, None);
    host.run(drive, &mut |_| {}).unwrap()
}

fn digest(drive: &mut Drive) -> String {
    drive.digest_completions();
    run(drive, None, 1_000);
    format!("{:?} {:?}", drive.digest(), drive.counters())
}

/// The same schemes again are a power cut.
#[test]
fn model_the_same_firmware_is_a_power_cut() {
    let mut activated = drive(of(&[]), &aged(28, 300), 1);
    run(&mut activated, None, 1_000);
    let mut cut = activated.clone();
    let same = activated.profile().clone();
    assert_eq!(
        activated.activate(Ns::ZERO, same).unwrap(),
        cut.power_cut(Ns::ZERO).unwrap()
    );
    assert_eq!(digest(&mut activated), digest(&mut cut));
}

/// Every scheme of every axis goes on with the data of a drive that has been written, or says why it cannot.
#[test]
fn model_every_scheme_is_activated_or_refused() {
    let mut written = drive(of(&[]), &aged(28, 300), 1);
    run(&mut written, None, 3_000);
    let (mut activated, mut refused) = (Vec::new(), Vec::new());
    for axis in AXES {
        for scheme in axis.schemes {
            // This drive's superblocks keep their mode: below.
            if scheme.requires(Need::CellModes) {
                continue;
            }
            let set = format!("schemes.{}={}", axis.name, scheme.name);
            let mut drive = written.clone();
            match drive.activate(Ns::ZERO, of(&[&set])) {
                Ok(_) => {
                    assert_eq!(
                        drive.profile().scheme(axis.name).unwrap().scheme.name,
                        scheme.name
                    );
                    // An oracle is told of the requests of a load that can be read twice; this one is a stream.
                    if scheme.requires(Need::Future) {
                        activated.push(set);
                        continue;
                    }
                    run(&mut drive, None, 2_000);
                    assert_eq!(drive.stale(), None, "{set}");
                    assert_eq!(drive.audit(), Ok(()), "{set}");
                    activated.push(set);
                }
                Err(ActivateError::AnotherBuild { .. }) => {
                    assert_eq!(digest(&mut drive), digest(&mut written.clone()), "{set}");
                    refused.push(set);
                }
                Err(error) => panic!("{set}: {error}"),
            }
        }
    }
    // Free suspends are the dies', sentinel cells and parity are programmed with the data, read-ahead and streams have buffers.
    refused.sort();
    assert_eq!(
        refused,
        [
            "schemes.area=clairvoyant",
            "schemes.area=differential",
            "schemes.area=differential-fixed",
            "schemes.read_ahead=sequential",
            // It has more background reads in flight, and jobs for them.
            "schemes.read_levels=block-calibration",
            "schemes.read_levels=sentinel-cells",
            "schemes.read_recovery=none",
            "schemes.read_recovery=soft",
            "schemes.refresh=hot",
            "schemes.refresh=lightweight",
            "schemes.stream=clairvoyant",
            "schemes.stream=fdp",
            "schemes.stream=sepbit",
            "schemes.stream=write-heat",
            "schemes.suspend=free",
            "schemes.wear=progressive",
            "schemes.wear=progressive-hot",
            "schemes.wear=static"
        ]
    );
    assert!(activated.len() > 20, "{activated:?}");
}

/// Schemes of axis `cell_mode` that have the same streams take each other's place. Another number of streams needs other
/// write buffers.
#[test]
fn model_schemes_of_cell_mode_are_activated_where_streams_are_the_same() {
    let of = |scheme: &str| profile("raro-femu", &[&format!("schemes.cell_mode={scheme}")]);
    let mut written = drive(of("hotness"), &aged(28, 300), 1);
    run(&mut written, None, 2_000);
    let mut drive = written.clone();
    drive.activate(Ns::ZERO, of("raro")).unwrap();
    run(&mut drive, None, 2_000);
    assert_eq!((drive.stale(), drive.audit()), (None, Ok(())));
    let refused = written.activate(Ns::ZERO, of("fixed"));
    assert!(matches!(refused, Err(ActivateError::AnotherBuild { .. })));
}

/// What is activated is what reads: levels that know the cells need no retry where a table that was never
/// updated needs many, whichever of them the drive had first.
#[test]
fn formula_reads_are_those_of_the_scheme_that_was_activated() {
    let rate = |drive: &mut Drive| {
        let before = drive.counters().retries;
        run(drive, Some(HostOp::Read), 2_000);
        let after = drive.counters().retries;
        let reads = after.iter().sum::<u64>() - before.iter().sum::<u64>();
        (after[0] - before[0]) as f64 / reads as f64
    };
    let [factory, optimal] =
        ["factory", "optimal"].map(|name| of(&[&format!("schemes.read_levels={name}")]));
    let mut never = drive(factory.clone(), &aged(28, 300), 1);
    let mut knows = drive(optimal.clone(), &aged(28, 300), 1);
    let (low, high) = (rate(&mut never.clone()), rate(&mut knows.clone()));
    assert!(low < 0.5 && high > 0.99, "{low} {high}");
    never.activate(Ns::ZERO, optimal).unwrap();
    knows.activate(Ns::ZERO, factory).unwrap();
    let (now_high, now_low) = (rate(&mut never), rate(&mut knows));
    assert!((now_high - high).abs() < 0.01, "{now_high} of {high}");
    assert!((now_low - low).abs() < 0.02, "{now_low} of {low}");
}

#[test]
fn sequence_a_firmware_of_another_drive_is_refused() {
    let mut drive = drive(of(&[]), &aged(28, 300), 1);
    let mut untouched = drive.clone();
    for (set, says) in [
        ("capacity=11 GiB", "`capacity` differs"),
        ("chip.timing.reset=10us", "`chip.timing.reset` differs"),
        ("dram.write_cache=volatile", "`dram.write_cache` differs"),
    ] {
        let error = drive.activate(Ns::ZERO, of(&[set])).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(digest(&mut drive), digest(&mut untouched));
}
