//! Events of placement handles in runs of a drive.

use firstread_drive::{Drive, DriveState, FdpEvents};
use firstread_firmware::observe::{FdpEventKind, KEPT_FDP_EVENTS};
use firstread_testkit::{drive, profile, try_run};

const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=240 MiB",
    "schemes.gc_victim=greedy",
];

fn small(set: &[&str]) -> Drive {
    let set = [SMALL, set].concat();
    drive(profile("bench-4g", &set), &DriveState::default(), 1)
}

/// Events of a run, and what was moved in it.
fn events(drive: &mut Drive, job: &str, (seed, requests): (u64, u64)) -> (FdpEvents, u64) {
    let stats = try_run(drive, job, seed, Some(requests)).unwrap();
    let events = stats.fdp_events.expect("the drive takes handles");
    (events, stats.counters.slots_moved)
}

const WRITES: &str = "[w]\nrw=randwrite\nbs=4k\niodepth=8\nnorandommap\nfdp=1\nplids=0-1\n";

/// A slot that is moved is told of when its superblock is erased, with the handle of its superblock where handles are not mixed in it.
#[test]
fn formula_events_tell_what_was_moved() {
    for persistent in ["false", "true"] {
        let set = [
            "schemes.stream=fdp",
            "stream.handles=2",
            &format!("stream.persistent={persistent}"),
        ];
        let mut drive = small(&set);
        // After that, no superblock holds what the drive was filled with.
        events(&mut drive, WRITES, (1_000, 200_000));
        let (mut told, mut moved, mut number, mut mixed) = (0, 0, 0, 0);
        for part in 0..60 {
            // So short that all events of a part are kept.
            let (of_part, of_moves) = events(&mut drive, WRITES, (part, 1_500));
            let n = of_part.counts.iter().sum::<u64>();
            assert!(n < KEPT_FDP_EVENTS as u64);
            assert_eq!(of_part.last.len() as u64, n, "part {part}");
            number += of_part.counts[FdpEventKind::MediaReallocated as usize];
            for event in &of_part.last {
                assert_eq!(event.kind, FdpEventKind::MediaReallocated);
                told += u64::from(event.slots);
                mixed += u64::from(event.handle.is_none());
                assert!(event.handle.is_none_or(|handle| handle < 2));
            }
            moved += of_moves;
        }
        assert!(number > 100, "{number} events");
        // What has been moved out of a superblock is told once that is erased.
        assert!(told.abs_diff(moved) < 2 * 512, "{told} of {moved}");
        assert_eq!(mixed > 0, persistent == "false", "{mixed} of {number}");
    }
}

/// Flushes pad, so each handle leaves its superblocks with less than they hold.
#[test]
fn formula_events_tell_what_was_padded() {
    let set = [
        "schemes.stream=fdp",
        "stream.handles=2",
        "dram.write_cache=volatile",
    ];
    let mut drive = small(&set);
    let before = drive.counters().slots_padded;
    let job = format!("{WRITES}fsync=3\n");
    let (told, _) = events(&mut drive, &job, (1, 4_000));
    let padded = drive.counters().slots_padded - before;
    let of_host = told.counts[FdpEventKind::NotFullyWritten as usize];
    let slots: u32 = told.last.iter().map(|event| event.slots).sum();
    assert!(of_host > 4 && of_host < 30, "{told:?}");
    let open = 2 * 512;
    assert!(
        (padded - open..=padded).contains(&u64::from(slots)),
        "{slots} of {padded}"
    );
    // The events of the next run are those of that run alone, and a power cut keeps what was before.
    let (next, _) = events(&mut drive, "[r]\nrw=randread\n", (1, 10));
    assert_eq!((next.counts, next.last.len()), ([0; 3], 0));
    drive.power_cut(drive.now()).unwrap();
    let log = drive.fdp_log().unwrap();
    assert_eq!(log.counts, told.counts);
    let kept: Vec<_> = log.last.into_iter().flatten().copied().collect();
    assert_eq!(kept, told.last);
    assert_eq!(small(&[]).fdp_log(), None);
}
