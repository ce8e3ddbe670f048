//! The drive as a machine: commands in, completions out, without a run above it.

use firstread_core::{HostOp, Ns};
use firstread_drive::{Completed, Drive, Host, Submission, SubmitError};
use firstread_testkit::{aged, drive, profile};
use firstread_workload::TraceRecord;

const KIB: u64 = 1024;

fn made(set: &[&str]) -> Drive {
    let four_dies = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=2",
        "geometry.blocks_per_plane=24",
        "capacity=12 GiB",
        "chip.failures.factory_bad=0 %",
    ];
    let set: Vec<&str> = four_dies.iter().chain(set).copied().collect();
    drive(profile("ct-qlc", &set), &aged(28, 300), 1)
}

/// Reads, writes and trims all over the drive.
fn request(i: u64) -> (HostOp, u64, u32) {
    let op = match i * 7 % 10 {
        0..=5 => HostOp::Read,
        6..=8 => HostOp::Write,
        _ => HostOp::Trim,
    };
    let len = (4 * KIB) << (i * 5 % 4);
    (op, i * 2_654_435_761 % (1 << 20) * 4 * KIB, len as u32)
}

fn command(i: u64, since: Ns) -> Submission {
    let (op, offset_bytes, len_bytes) = request(i);
    Submission {
        op,
        offset_bytes,
        len_bytes,
        fua: false,
        queue: 0,
        since,
    }
}

/// A host of a few lines does what a run does.
#[test]
fn model_a_loop_of_ones_own_sees_every_completion_of_a_run() {
    const REQUESTS: u64 = 3_000;
    const DEPTH: u32 = 16;
    let queues: &[&str] = &["queues.fetched=4", "firmware.command_interval=10us"];
    for set in [&[], queues] {
        let mut by_run = made(set);
        by_run.digest_completions();
        let records = (0..REQUESTS).map(|i| {
            let (op, offset_bytes, len_bytes) = request(i);
            Ok(TraceRecord {
                time_ns: 0,
                op,
                offset_bytes,
                len_bytes,
                device: 0,
            })
        });
        let host = Host::trace("trace", records, DEPTH, None);
        let stats = host.run(&mut by_run, &mut |_| {}).unwrap();

        let mut by_hand = made(set);
        by_hand.digest_completions();
        let start = by_hand.now();
        let mut clock = start;
        let (mut issued, mut completed) = (0, 0);
        while completed < REQUESTS {
            while issued < REQUESTS && issued - completed < u64::from(DEPTH) {
                by_hand.submit(clock, command(issued, start)).unwrap();
                issued += 1;
            }
            if by_hand.completion_due() > by_hand.now() {
                by_hand.advance(Ns::MAX);
            }
            let by = by_hand.now();
            if let Some(Completed { at, .. }) = by_hand.completion(by) {
                (clock, completed) = (at, completed + 1);
            }
        }
        assert_eq!(by_hand.digest(), by_run.digest(), "{set:?}");
        let counters = |drive: &Drive| format!("{:?}", drive.counters());
        assert_eq!(counters(&by_hand), counters(&by_run), "{set:?}");
        assert_eq!(clock.since(start), stats.simulated);
        assert_eq!(by_hand.stale(), None);
    }
}

/// Time passes in whatever steps: completions are the same.
#[test]
fn model_steps_of_time_change_nothing() {
    let complete = |step: Ns| {
        let mut drive = made(&[]);
        drive.digest_completions();
        let start = drive.now();
        for i in 0..64 {
            drive.submit(start, command(i, start)).unwrap();
        }
        let (mut clock, mut completed) = (start, 0);
        while completed < 64 {
            clock = clock.saturating_add(step);
            drive.advance(clock);
            let by = drive.now().min(clock);
            while drive.completion(by).is_some() {
                completed += 1;
            }
        }
        drive.digest().unwrap()
    };
    let whole = complete(Ns::MAX);
    assert_eq!(whole.count, 64);
    for step in [100, 3_333, 1_000_000] {
        assert_eq!(complete(Ns(step)), whole, "steps of {step} ns");
    }
}

#[test]
fn formula_an_idle_drive_stops_at_the_time_given() {
    let mut drive = made(&[]);
    let until = drive.now() + Ns(5_000_000);
    drive.advance(until);
    assert_eq!(drive.now(), until + drive.host_lag());
    assert_eq!(drive.completion_due(), Ns::MAX);
    drive.advance(until);
    assert_eq!(
        drive.now(),
        until + drive.host_lag(),
        "time does not go back"
    );
}

#[test]
fn sequence_what_a_drive_refuses_changes_nothing() {
    let mut drive = made(&["link.max_outstanding=4"]);
    drive.advance(drive.now() + Ns(1_000_000));
    let now = drive.now();
    let past = now.since(drive.host_lag() + Ns(1));
    assert_eq!(drive.submit(past, command(0, past)), Err(SubmitError::Late));
    let last = Submission {
        offset_bytes: drive.capacity_bytes() - 4 * KIB,
        len_bytes: 8 * KIB as u32,
        ..command(0, now)
    };
    assert_eq!(
        drive.submit(now, last).unwrap_err().to_string(),
        "a read of 8192 bytes at 12884897792 reaches past the end of the drive (12884901888 bytes)"
    );
    let felt = now.since(drive.host_lag());
    for i in 0..4 {
        assert!(drive.has_room());
        drive.submit(felt, command(i, felt)).unwrap();
    }
    assert!(!drive.has_room());
    assert_eq!(drive.submit(now, command(4, now)), Err(SubmitError::Full));
    let mut completed = 0;
    while completed < 4 {
        drive.advance(Ns::MAX);
        completed += u32::from(drive.completion(Ns::MAX).is_some());
    }
}
