//! The drive that writes: garbage collection, suspend and trim on whole drives.

use firstread_core::{FlashEvent, FlashKind, HostOp, Ns};
use firstread_drive::DriveState;
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_firmware::policy::gc_victim::AXIS;
use firstread_testkit::{drive, profile, try_run};

/// A drive of 60 MiB with pages of 4 KiB: two channels of two dies.
const TINY: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=2",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=30",
    "capacity=50 MiB",
];

/// Two dies whose programs take milliseconds and may be suspended.
const QLC: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.planes=1",
    "geometry.blocks_per_plane=24",
    "capacity=3 GiB",
    "chip.failures.factory_bad=0 %",
    "cells=ideal",
    "schemes.read_levels=factory",
    // Both dies are for data.
    "schemes.read_recovery=none",
];

fn qlc(more: &[&str]) -> firstread_drive::Drive {
    let set: Vec<&str> = QLC.iter().chain(more).copied().collect();
    drive(profile("dc-qlc-15t", &set), &DriveState::default(), 1)
}

fn tiny(more: &[&str]) -> firstread_drive::Drive {
    let set: Vec<&str> = TINY.iter().chain(more).copied().collect();
    drive(profile("bench-4g", &set), &DriveState::default(), 1)
}

#[test]
fn model_garbage_collection_keeps_every_version() {
    for victim in AXIS.schemes.iter().map(|scheme| scheme.name) {
        let scheme = format!("schemes.gc_victim={victim}");
        let mut drive = tiny(&[&scheme]);
        // A stale read ends the run with an error.
        let job = "[j]\nrw=randrw\nrwmixread=30\nbssplit=4k/70:12k/20:6k/10\nblockalign=512\n\
                   iodepth=32\nnorandommap\nrandom_distribution=zipf:0.9\nio_size=400m\n\
                   [t]\nrw=randtrim\nbs=64k\nnumber_ios=500\n\
                   [all]\nstonewall\nrw=read\nbs=64k\niodepth=8\n";
        let stats = try_run(&mut drive, job, 1, None).unwrap_or_else(|e| panic!("{victim}: {e}"));
        assert_eq!(stats.all.uncorrectable(), 0);
        assert!(
            stats.counters.erases > 50,
            "{victim}: {:?}",
            stats.counters.erases
        );
        assert!(stats.counters.slots_moved > 1000, "{victim}");
    }
}

fn issued(c: &PortCall) -> Option<&FlashKind> {
    match &c.what {
        PortCallKind::Issued(op) => Some(&op.kind),
        _ => None,
    }
}

/// Both dies program, and a read comes.
#[test]
fn sequence_a_program_is_suspended_for_a_read_and_resumes() {
    for (scheme, stops) in [
        ("none", false),
        ("erase", false),
        ("program", true),
        ("free", true),
    ] {
        let scheme_set = format!("schemes.suspend={scheme}");
        let mut drive = qlc(&[&scheme_set]);
        let timing = drive.profile().chip.timing;
        drive.log_ports();
        // 32 slots fill a wordline over both dies.
        let job = "[w]\nrw=write\nbs=128k\nsize=128k\n[r]\nrw=randread\nbs=4k\niodepth=1\n\
                   offset=8m\nsize=8m\nnumber_ios=1\nstartdelay=1ms\n";
        try_run(&mut drive, job, 1, None).unwrap();
        let log = drive.port_calls();
        let at = |wanted: &dyn Fn(&PortCall) -> bool| log.iter().find(|c| wanted(c)).map(|c| c.at);
        let read = at(&|c| matches!(issued(c), Some(FlashKind::Read { .. }))).unwrap();
        let arrived = at(
            &|c| matches!(&c.what, PortCallKind::Submitted(command) if command.op == HostOp::Read),
        )
        .unwrap();
        let told = at(&|c| matches!(issued(c), Some(FlashKind::Suspend { .. })));
        assert_eq!(told.is_some(), stops, "{scheme}");
        if !stops {
            continue;
        }
        let free = scheme == "free";
        let latency = if free { 0 } else { timing.program_suspend_ns };
        assert_eq!(
            told,
            Some(arrived),
            "{scheme}: the suspend goes out with the read"
        );
        assert_eq!(
            read,
            arrived + Ns(latency),
            "{scheme}: the read starts when it has stopped"
        );
        let left = log.iter().find_map(|c| match c.what {
            PortCallKind::Event(FlashEvent::Suspended { remaining, tag }) => Some((remaining, tag)),
            _ => None,
        });
        let (left, tag) = left.expect("a program that stops says so");
        let resumed = at(&|c| matches!(issued(c), Some(FlashKind::Resume { .. })));
        let ended = at(
            &|c| matches!(c.what, PortCallKind::Event(FlashEvent::Programmed { tag: t, .. }) if t == tag),
        );
        if let (Some(resumed), Some(ended)) = (resumed, ended) {
            let extra = if free { 0 } else { timing.resume_ns };
            assert_eq!(
                ended,
                resumed + left + Ns(extra),
                "{scheme}: it ends when it is done"
            );
        }
        assert!(
            resumed.is_some(),
            "{scheme}: it resumes once the read has left the die"
        );
        assert_eq!(drive.counters().suspends, 1, "{scheme}");
    }
}

#[test]
fn formula_suspending_shortens_the_tail_of_reads() {
    let job = "[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=16\nnorandommap\nnumber_ios=40000\n";
    let tail = |scheme: &str| {
        let set = format!("schemes.suspend={scheme}");
        let stats = try_run(&mut qlc(&[&set]), job, 1, None).unwrap();
        (stats.all.read.mean_ns(), stats.all.read.percentile(99.0).ns)
    };
    let (none, program, both, free) = (
        tail("none"),
        tail("program"),
        tail("program-erase"),
        tail("free"),
    );
    println!("none {none:?}\nprogram {program:?}\nprogram-erase {both:?}\nfree {free:?}");
    assert!(
        both.0 < none.0 && free.0 < both.0,
        "{none:?} {both:?} {free:?}"
    );
    assert!(free.1 < none.1, "{none:?} {free:?}");
    assert!(program.0 < none.0, "{none:?} {program:?}");
}

#[test]
fn model_a_whole_large_drive_is_trimmed_at_once() {
    let mut drive = drive(
        profile(
            "dc-qlc-15t",
            &["cells=ideal", "schemes.read_levels=factory"],
        ),
        &DriveState::default(),
        1,
    );
    let job = "[w]\nrw=randwrite\nbs=4k\nnumber_ios=20000\nnorandommap\niodepth=32\n\
               [t]\nstonewall\nrw=trim\nbs=1g\nblockalign=4k\n\
               [r]\nstonewall\nrw=randread\nbs=4k\nnumber_ios=2000\nnorandommap\n";
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    assert!(stats.all.trim.count() > 14_000);
    let mapped = (0..drive.capacity_bytes() / 4096).step_by(99_991);
    let left = mapped.filter(|&lpn| drive.is_mapped(lpn)).count();
    assert!(left < 5, "{left} pages are left of what was trimmed");
}

/// Superblocks whose wear differs by far more than leveling allows: it mends that in time, and each move of
/// cold data is paid by other erases.
#[test]
fn model_leveling_costs_a_bounded_part_of_the_writes() {
    let amplification = |wear: &[&str]| {
        let set: Vec<&str> = TINY.iter().chain(wear).copied().collect();
        let state = DriveState {
            pe_cycles: (100, 2_500),
            ..DriveState::default()
        };
        let mut drive = drive(profile("bench-4g", &set), &state, 1);
        let job = "[j]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\nio_size=400m\n";
        let c = try_run(&mut drive, job, 1, None).unwrap().counters;
        (
            c.slots_programmed as f64 / c.host_slots_written as f64,
            c.erases,
        )
    };
    let (none, _) = amplification(&[]);
    let (leveled, erases) = amplification(&["schemes.wear=static"]);
    let (without_end, _) = amplification(&["schemes.wear=static", "wear.every=1"]);
    println!(
        "amplifies {none:.2}, leveled {leveled:.2} ({erases} erases), after every erase {without_end:.2}"
    );
    // One superblock in sixteen erases is moved, which gives back nothing.
    assert!(leveled < 1.2 * none, "{leveled:.2}, {none:.2} without");
    assert!(leveled > none, "leveling moves something");
    assert!(without_end > 1.5 * none, "{without_end:.2}");
}
