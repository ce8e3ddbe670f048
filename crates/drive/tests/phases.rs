//! Phases: whether a wait of a job file ages the cells as `--age` does, at the temperature that the phase has.

use firstread_core::Ns;
use firstread_drive::{DriveState, RunError, RunStats, TemperatureRefused};
use firstread_testkit::{FOUR_DIES, digest_of, drive, profile, try_run};

const READS: &str = "rw=randread\nbs=64k\niodepth=8\nnorandommap\nrandseed=7\nnumber_ios=600\n";

/// A drive that never calibrates: what its reads meet is the cells' age alone.
const FROZEN: &[&str] = &["schemes.read_levels=frozen"];

fn state(age_h: u64, temperature_c: f64) -> DriveState {
    DriveState {
        age: (Ns::from_h(age_h), Ns::from_h(age_h)),
        pe_cycles: (1500, 1500),
        temperature_c,
        hottest_in_run_c: Some(85.0),
        ..DriveState::default()
    }
}

fn run(state: &DriveState, job: &str) -> Result<RunStats, RunError> {
    let set: Vec<&str> = FOUR_DIES.iter().chain(FROZEN).copied().collect();
    try_run(
        &mut drive(profile("dc-qlc-15t", &set), state, 1),
        job,
        1,
        None,
    )
}

fn retries(stats: &RunStats) -> u64 {
    let of = |(steps, &pages): (usize, &u64)| steps as u64 * pages;
    stats.counters.retries.iter().enumerate().map(of).sum()
}

/// A delay of 27 h on a drive of 1 h is an age of 28 h: the same retries, page by page.
#[test]
fn formula_a_delay_ages_as_age_does() {
    for celsius in [25.0, 55.0] {
        let aged = run(&state(28, celsius), &format!("[r]\n{READS}")).unwrap();
        let waited = run(&state(1, celsius), &format!("[r]\nstartdelay=27h\n{READS}")).unwrap();
        assert_eq!(aged.counters.retries, waited.counters.retries, "{celsius}");
        assert!(retries(&aged) > 0, "{celsius}: the cells have aged");
        let young = run(&state(1, celsius), &format!("[r]\n{READS}")).unwrap();
        assert!(retries(&young) < retries(&aged), "{celsius}: {young:?}");
        assert_eq!(waited.phases[0].started, Ns::from_h(27));
        assert_eq!(waited.phases[0].began, Ns::ZERO);
    }
}

/// The delay's temperature counts while the delay lasts, the phase's afterwards: as `--temperature 55,25@27h` has it.
#[test]
fn formula_a_delay_at_another_temperature_ages_at_that() {
    let of =
        |state: &DriveState, options: &str| run(state, &format!("[r]\n{options}{READS}")).unwrap();
    let step = DriveState {
        temperature_step: Some((Ns::from_h(27), 25.0)),
        ..state(27, 55.0)
    };
    let stepped = of(&step, "");
    let cooled = "startdelay=27h\n; firstread: delay_temperature=55\n; firstread: temperature=25\n";
    let phase = of(&state(0, 55.0), cooled);
    assert_eq!(stepped.counters.retries, phase.counters.retries);
    // Either temperature alone is another story.
    for other in [
        "startdelay=27h\n; firstread: temperature=25\n",
        "startdelay=27h\n; firstread: temperature=55\n",
    ] {
        let other = of(&state(0, 55.0), other);
        assert_ne!(stepped.counters.retries, other.counters.retries);
    }
    // Without a delay, its temperature means nothing.
    let no_delay = |options: &str| digest_of(&of(&state(28, 25.0), options));
    assert_eq!(
        no_delay(""),
        no_delay("; firstread: delay_temperature=85\n; firstread: temperature=25\n")
    );
}

/// Phases follow one another; a temperature stays until another phase changes it.
#[test]
fn sequence_phases_change_the_temperature_in_order() {
    let job = format!(
        "[write]\nrw=randwrite\nbs=64k\nnumber_ios=50\n[wait]\nstonewall\nstartdelay=100h\n\
         ; firstread: delay_temperature=85\n; firstread: temperature=40\n{READS}\n[again]\nstonewall\n{READS}"
    );
    let stats = run(&state(0, 25.0), &job).unwrap();
    let of = |i: usize| {
        let phase = &stats.phases[i];
        (
            phase.delay_temperature_c,
            phase.temperature_c,
            phase.requests,
        )
    };
    assert_eq!(stats.phases.len(), 3);
    assert_eq!(
        [of(0), of(1), of(2)],
        [(25.0, 25.0, 50), (85.0, 40.0, 600), (40.0, 40.0, 600)]
    );
    assert_eq!(stats.phases[1].jobs, ["wait"]);
    for (before, after) in [(0, 1), (1, 2)] {
        assert_eq!(stats.phases[before].ended, Some(stats.phases[after].began));
    }
    assert_eq!(
        stats.phases[1].started.since(stats.phases[1].began),
        Ns::from_h(100)
    );
    assert_eq!(stats.phases[2].ended, Some(stats.simulated));
}

/// A limit is one of each phase: the next one begins, and each has what was counted in it.
#[test]
fn sequence_a_limit_is_of_each_phase() {
    let job = format!("[a]\n{READS}[b]\nstonewall\n; firstread: temperature=85\n{READS}");
    let mut drive = drive(profile("dc-qlc-15t", FOUR_DIES), &state(1, 25.0), 1);
    let stats = try_run(&mut drive, &job, 1, Some(100)).unwrap();
    assert_eq!((stats.phases.len(), stats.groups.len()), (2, 2));
    for (phase, group) in stats.phases.iter().zip(&stats.groups) {
        assert_eq!((phase.requests, phase.reached_limit), (100, true));
        assert_eq!((group.all.read.count(), &group.jobs), (100, &phase.jobs));
    }
    let pages = |of: &firstread_firmware::observe::Counters| of.retries.iter().sum::<u64>();
    let of_groups: u64 = stats.groups.iter().map(|g| pages(&g.counters)).sum();
    assert!(pages(&stats.groups[0].counters) > 0);
    assert_eq!(of_groups, pages(&stats.counters));
    assert_eq!(drive.temperature_c(drive.now()), 85.0);
}

/// A limit counts what is measured: not what a ramp issues. A job of which nothing was measured is named.
#[test]
fn sequence_a_limit_counts_what_is_measured() {
    let job = format!("[a]\nramp_time=1ms\n{READS}[b]\nstartdelay=1\n{READS}");
    let mut drive = drive(profile("dc-qlc-15t", FOUR_DIES), &state(1, 25.0), 1);
    let stats = try_run(&mut drive, &job, 1, Some(50)).unwrap();
    assert_eq!(stats.all.read.count(), 50);
    assert!(stats.requests > 50, "{}", stats.requests);
    assert_eq!(stats.unmeasured, ["b"]);
    assert!(stats.groups.is_empty(), "one group is the run");
}

#[test]
fn sequence_a_temperature_that_cannot_be_is_refused() {
    let mut drive = drive(profile("dc-qlc-15t", FOUR_DIES), &state(1, 25.0), 1);
    let now = drive.now();
    let hotter = drive.set_temperature(now, 90.0);
    assert_eq!(
        hotter,
        Err(TemperatureRefused::Hotter {
            celsius: 90.0,
            hottest: 85.0
        })
    );
    let colder = drive.set_temperature(now, -300.0);
    assert_eq!(
        colder,
        Err(TemperatureRefused::OutOfRange { celsius: -300.0 })
    );
    drive.set_temperature(now + Ns::from_h(1), 40.0).unwrap();
    let before = drive.set_temperature(now, 30.0);
    assert_eq!(before, Err(TemperatureRefused::Planned { celsius: 30.0 }));
    assert_eq!(drive.temperature_c(now), 25.0);
    assert_eq!(drive.temperature_c(now + Ns::from_h(2)), 40.0);
    // A drive that was not told how hot a run gets.
    let plain = DriveState {
        hottest_in_run_c: None,
        ..state(1, 25.0)
    };
    let job = format!("[a]\n; firstread: temperature=85\n{READS}");
    let refused = run(&plain, &job).unwrap_err();
    assert!(
        matches!(
            refused,
            RunError::Temperature(TemperatureRefused::Hotter { .. })
        ),
        "{refused}"
    );
}
