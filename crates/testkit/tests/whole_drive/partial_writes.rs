//! Whether writes of any size and offset are paced as writes of whole slots are: those that change a slot in part have to
//! read its old data first.

use firstread_core::{HostOp, Stream};
use firstread_drive::Precondition;
use firstread_testkit::{Scripted, aged, drive, play, profile};

use crate::paced::{Load, worst_write};
use crate::writes::SMALL_BENCH;

/// Drives, cut down to 64 superblocks of a few thousand slots. Schemes are those that the drives have.
const SMALL: &[(&str, &[&str])] = &[
    ("bench-4g", SMALL_BENCH),
    (
        "raro-femu",
        &[
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=32",
            "capacity=384 MiB",
        ],
    ),
    (
        "dwr-256g",
        &[
            "geometry.channels=4",
            "geometry.chips_per_channel=1",
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=16",
            "capacity=340 MiB",
            "chip.failures.factory_bad=0 %",
        ],
    ),
    (
        "ct-qlc",
        &[
            "geometry.channels=4",
            "geometry.chips_per_channel=1",
            "geometry.dies_per_chip=1",
            "geometry.planes=2",
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=32",
            "capacity=600 MiB",
            "chip.failures.factory_bad=0 %",
        ],
    ),
];

/// The factor on the queue: within a superblock of the host the pace is not even, and writes differ in size.
const QUEUES: f64 = 2.0;

/// Sizes of JESD219's enterprise workload, in percent.
const JESD219: &str = "512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3";

/// Mean slots of 4 KiB that a write of [`JESD219`] touches, where it begins within a slot.
const JESD219_SLOTS: u64 = 4;

/// Writes whose size and offset are drawn from `seed`, over the whole `drive`: of one size from a sector to five slots, or
/// of [`JESD219`]; at any sector, or one kilobyte behind the start of a slot. Slots that they touch are about `slots`.
fn drawn(drive: &'static str, set: &[&str], seed: u64, slots: u64) -> Load {
    let stream = Stream::new(seed).named("partial writes");
    let draw = |what: &str, of: u64| stream.named(what).below(of);
    let sectors = match draw("kind", 3) {
        0 => 1 + draw("part", 7),
        1 => 1 + draw("sectors", 40),
        _ => 0,
    };
    let (sizes, touched) = match sectors {
        0 => (format!("bssplit={JESD219}"), JESD219_SLOTS),
        sectors => (format!("bs={}", 512 * sectors), 1 + sectors / 8),
    };
    let offset = ["blockalign=512", "blockalign=4k\noffset=1k"][draw("offset", 2) as usize];
    Load {
        drive,
        set: set.iter().map(|s| s.to_string()).collect(),
        precondition: Precondition::Random,
        depth: 32,
        job: format!("{sizes}\n{offset}\nnumber_ios={}\n", slots / touched),
        seed,
    }
}

/// Old data that are read are counted as what they are, with their retries: five to a page of a drive of this wear.
#[test]
fn formula_reads_of_old_data_are_counted() {
    for (pe_cycles, retries) in [(0, 0), (60, 5)] {
        let profile = profile("dwr-256g", &["chip.failures.factory_bad=0 %"]);
        let mut drive = drive(profile, &aged(0, pe_cycles), 1);
        let far = |i: u64| (i * 1_000, HostOp::Write, i * (8 << 20) + 512, 1024);
        let script: Vec<Scripted> = (0..50).map(far).collect();
        let counters = play(&mut drive, &script).unwrap().counters;
        assert_eq!(counters.merge_reads, 50);
        assert_eq!(counters.merge_retries, 50 * retries, "{pe_cycles} P/E");
        // They are no reads of the host.
        assert_eq!(counters.retries.iter().sum::<u64>(), 0);
        assert_eq!(counters.host_slots_written, 50);
    }
}

/// Loads of each drive, drawn from `seeds`: none has a write that takes longer than its bound.
fn are_paced(seeds: core::ops::RangeInclusive<u64>, slots: u64) {
    let mut beyond = Vec::new();
    for seed in seeds {
        for (nth, (drive, set)) in (0..).zip(SMALL) {
            let load = drawn(drive, set, 10 * seed + nth, slots);
            let (needed, message) = worst_write(&load, QUEUES);
            if needed > QUEUES {
                beyond.push(message);
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

#[test]
fn formula_no_partial_write_waits_long_for_cleaning() {
    are_paced(1..=2, 60_000);
}

/// The same on many more draws.
#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored partial"]
fn formula_no_partial_write_of_many_waits_long_for_cleaning() {
    are_paced(5..=40, 150_000);
}
