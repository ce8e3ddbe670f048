//! Heat of a whole drive: what counts as an access, what a power cut leaves, and that observing changes nothing.

use firstread_core::{HostOp, Lpn};
use firstread_drive::DriveState;
use firstread_firmware::observe::PageHeat;
use firstread_testkit::{FOUR_DIES, IDEAL, SMALL_BLOCKS, aged, drive, play, profile, try_run};

const KIB: u64 = 1024;

/// A drive with heat and a read cache.
const OBSERVED: &[&str] = &["heat.enabled=true", "dram.read_cache=1MiB"];

fn set(of: &[&[&'static str]]) -> Vec<&'static str> {
    of.concat()
}

#[test]
fn sequence_reads_that_memory_answers_count() {
    let p = profile("dc-qlc-15t", &set(&[FOUR_DIES, IDEAL, OBSERVED]));
    let mut drive = drive(p, &DriveState::default(), 1);
    let mut script = vec![
        (0, HostOp::Write, 0, 64 << 10),
        // A part of a slot that is still in its buffer is merged there.
        (100, HostOp::Write, 512, 512),
        (150, HostOp::Trim, 40 * KIB, 4 << 10),
    ];
    // From the write buffer; then from flash once, and from the read cache.
    script.extend((2..5).map(|i| (i * 100, HostOp::Read, 0, 8 << 10)));
    script.extend((5..9).map(|i| (i * 1_000, HostOp::Read, 1_024 * KIB, 4 << 10)));
    let stats = play(&mut drive, &script).unwrap();
    let counters = &stats.counters;
    assert_eq!(counters.buffer_hits, 6);
    assert_eq!(
        (counters.front.cache_misses, counters.front.cache_hits),
        (1, 3)
    );
    let of = |reads, writes| PageHeat { reads, writes };
    let shown = [0, 1, 2, 10, 16, 256, 257].map(|page| drive.heat().of(Lpn(page)));
    let cold = of(0, 0);
    assert_eq!(
        shown,
        [of(3, 2), of(3, 1), of(0, 1), of(0, 1), cold, of(4, 0), cold]
    );
}

#[test]
fn powerloss_heat_starts_cold() {
    let p = profile("dc-qlc-15t", &set(&[FOUR_DIES, IDEAL, OBSERVED]));
    let mut drive = drive(p.clone(), &DriveState::default(), 1);
    play(&mut drive, &[(0, HostOp::Read, 0, 4 << 10)]).unwrap();
    assert_eq!(drive.heat().of(Lpn(0)).reads, 1);
    // A reset with another firmware, whose heat is the control.
    let shuffled = profile(
        "ct-qlc",
        &set(&[FOUR_DIES, IDEAL, OBSERVED, &["heat.shuffle=true"]]),
    );
    drive.activate(drive.now(), shuffled).unwrap();
    assert_eq!(drive.heat().of(Lpn(0)).reads, 0);
    play(&mut drive, &[(0, HostOp::Read, 0, 4 << 10)]).unwrap();
    assert_eq!(
        drive.heat().of(Lpn(0)).reads,
        1,
        "of a single page there is one order"
    );
}

#[test]
fn model_heat_only_observes() {
    const JOB: &str = "[global]\niodepth=16\nnorandommap\nnumber_ios=3000\n\
                       [a]\nrw=randrw\nbs=4k\nsize=64m\nrandom_distribution=zipf:1.1\n\
                       [b]\nrw=randread\nbsrange=512-128k\noffset=64m\n";
    let digest = |heat: &'static [&'static str]| {
        let calibrated: &[&str] = &["schemes.read_levels=ct-qlc", "dram.read_cache=1MiB"];
        let p = profile("dc-qlc-15t", &set(&[SMALL_BLOCKS, calibrated, heat]));
        let mut drive = drive(p, &aged(28, 1_000), 7);
        drive.digest_completions();
        let stats = try_run(&mut drive, JOB, 7, None).unwrap();
        let log = format!("{:?} {:?}", stats.counters, drive.log());
        (
            drive.digest(),
            log,
            drive.heat().is_on(),
            drive.heat().bytes(),
        )
    };
    let off = digest(&[]);
    assert!(off.0.is_some() && !off.2 && off.3 == 0);
    for heat in [
        &["heat.enabled=true"] as &[&str],
        &[
            "heat.enabled=true",
            "heat.unit=64KiB",
            "heat.epoch=100",
            "heat.shuffle=true",
        ],
    ] {
        let on = digest(heat);
        assert!(on.2 && on.3 > 0);
        assert_eq!((&off.0, &off.1), (&on.0, &on.1), "{heat:?}");
    }
}
