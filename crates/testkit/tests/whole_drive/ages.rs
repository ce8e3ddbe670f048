//! Whether drives of mixed ages, and drives without power, are calibrated as they should be.

use std::collections::BTreeSet;

use firstread_core::{HostOp, Ns};
use firstread_drive::DriveState;
use firstread_firmware::log::What;
use firstread_testkit::{FOUR_DIES, aged, drive, play, profile, run, try_run};

#[test]
fn mixed_ages_populate_and_calibrate_every_group() {
    let state = DriveState {
        age: (Ns::ZERO, Ns::from_h(200)),
        pe_cycles: (0, 3999),
        temperature_c: 55.0,
        ..DriveState::default()
    };
    let mut drive = drive(
        profile("dc-qlc-15t", &["schemes.read_levels=ct-qlc"]),
        &state,
        1,
    );
    let job = "[j]\nrw=randread\nbs=64k\niodepth=32\nnorandommap\nnumber_ios=4000\n";
    try_run(&mut drive, job, 1, None).unwrap();
    // Two quiet hours: whatever was under way has ended.
    play(&mut drive, &[(7_200_000_000, HostOp::Read, 0, 4096)]).unwrap();

    let (mut populated, mut inherited, mut verified, mut tracked) = (
        BTreeSet::new(),
        BTreeSet::new(),
        BTreeSet::new(),
        BTreeSet::new(),
    );
    let (mut reads, mut of_passes) = (0u64, 0u64);
    for record in drive.log() {
        match record.what {
            What::Populated {
                group, reads: n, ..
            } => {
                populated.insert(group);
                reads += n as u64;
            }
            What::Inherited { group, .. } => {
                inherited.insert(group);
            }
            What::Verified {
                group, reads: n, ..
            } => {
                verified.insert(group);
                reads += n as u64;
            }
            What::Tracked {
                group, reads: n, ..
            } => {
                tracked.insert(group);
                reads += n as u64;
            }
            What::Discarded { reads: n, .. } => reads += n as u64,
            What::Passed { reads: n, .. } => of_passes += n as u64,
            What::Sorted { .. } | What::Centered { .. } | What::Converted { .. } => {}
        }
    }
    let all: BTreeSet<u8> = (0..44).collect();
    let entries: BTreeSet<u8> = populated.union(&inherited).copied().collect();
    assert_eq!(entries, all, "groups that got entries");
    assert_eq!(verified, all, "groups that were verified");
    assert!(
        !populated.is_empty() && inherited.len() > 20,
        "{} inherited",
        inherited.len()
    );
    assert!(tracked.len() > 10, "{} tracked", tracked.len());
    // Whoever inherits is verified at once, not when the next pass comes round.
    for (i, heir) in drive.log().iter().enumerate() {
        let What::Inherited { group, .. } = heir.what else {
            continue;
        };
        let verified = drive.log()[i..]
            .iter()
            .find(|r| matches!(r.what, What::Verified { group: g, .. } if g == group))
            .expect("every group was verified");
        let later = verified.at.since(heir.at);
        assert!(
            later < Ns::from_s(60),
            "group {group} was verified {later:?} later"
        );
    }
    // The log accounts for every background read: none is made without being told of.
    assert_eq!(
        reads,
        drive.counters().background_reads,
        "reads of the log and of the counter"
    );
    assert!(of_passes <= reads, "passes cost no more than all of it");
}

#[test]
fn unpowered_drives_fail_more_first_reads() {
    // 30 days at 25 °C with the firmware on, which follows the drift every 5 h; and with it off,
    // which finds its groups and levels where it left them.
    let set: Vec<&str> = FOUR_DIES
        .iter()
        .copied()
        .chain(["schemes.read_levels=ct-qlc"])
        .collect();
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n";
    let month = Ns::from_h(720);
    let (hour, at_25c) = (Ns::from_h(1), 25.0);
    let state = |age: Ns, unpowered: Ns| DriveState {
        age: (age, age),
        unpowered,
        temperature_c: at_25c,
        ..aged(0, 1500)
    };
    let first_tries = |state: DriveState| {
        let stats = run(profile("dc-qlc-15t", &set), &state, job, 3_000);
        let rows: u64 = stats.counters.retries.iter().sum();
        stats.counters.retries[0] as f64 / (rows + stats.counters.uncorrectable) as f64
    };
    let powered = first_tries(state(hour + month, Ns::ZERO));
    let unpowered = first_tries(state(hour, month));
    assert!(powered > 0.9, "powered: {powered:.3} succeed at once");
    assert!(
        1.0 - unpowered > 3.0 * (1.0 - powered),
        "first tries: {unpowered:.3} after a month without power, {powered:.3} with it"
    );
}

#[test]
fn formula_a_step_of_temperature_ages_from_its_time_on() {
    let set: Vec<&str> = FOUR_DIES
        .iter()
        .copied()
        .chain(["schemes.read_levels=factory"])
        .collect();
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n";
    let age = Ns::from_h(28);
    let retries = |celsius: f64, step: Option<(Ns, f64)>| {
        let state = DriveState {
            age: (age, age),
            temperature_c: celsius,
            temperature_step: step,
            ..aged(0, 300)
        };
        let stats = run(profile("dc-qlc-15t", &set), &state, job, 3_000);
        let steps = stats.counters.retries.iter().zip(0u64..);
        steps.map(|(n, step)| n * step).sum::<u64>()
    };
    let (cool, hot) = (retries(25.0, None), retries(55.0, None));
    let late = retries(25.0, Some((Ns::from_h(20), 55.0)));
    assert!(cool < late && late < hot, "{cool} < {late} < {hot}");
    let never = retries(25.0, Some((Ns::from_h(29), 55.0)));
    assert_eq!(never, cool, "a step that is still to come");
    let always = retries(25.0, Some((Ns::ZERO, 55.0)));
    assert!(always > late, "{always} > {late}");
}
