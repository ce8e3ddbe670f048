//! Whether writes of any size and offset are paced as writes of whole slots are: those that change a slot in part have to
//! read its old data first.

use std::collections::BTreeSet;

use firstread_core::{HostOp, Stream};
use firstread_drive::Precondition;
use firstread_testkit::{Scripted, aged, drive, play, profile};

use crate::paced::{Load, worst_write};
use crate::writes::SMALL_BENCH;

/// Drives, cut down to 64 superblocks of a few thousand slots. Schemes are those that the drives have.
pub(crate) const SMALL: &[(&str, &[&str])] = &[
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

/// Factors on the queue. Within a superblock of the host the pace is not even, because writes differ in size.
pub(crate) const UNIFORM: f64 = 2.0;
/// Superblocks lose valid slots to skewed writes and to trims after their moves were planned: the pace is too fast at first.
pub(crate) const SKEWED: f64 = 3.0;
/// Written through at a depth of 4 at most: each write fills a wordline with padding, and a superblock has few wordlines.
const WRITTEN_THROUGH: f64 = 4.0;

/// Sizes of JESD219's enterprise workload, in percent.
const JESD219: &str = "512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3";

/// Mean slots of 4 KiB that a write of [`JESD219`] touches, where it begins within a slot.
const JESD219_SLOTS: u64 = 4;

/// Commands that write no data, one at a time beside the writes.
const TRIMS: &str =
    "[t]\nrw=randtrim\nbs=64k\niodepth=1\nnorandommap\nthinktime=3ms\nnumber_ios=200\n";

/// Writes drawn from `seed`, over the whole `drive`: of one size from a sector to 64 KiB, or of [`JESD219`]; at any sector, at
/// any slot, or one kilobyte behind the start of a slot; uniform or skewed; at a depth of 1 to 64; with the write
/// cache protected or written through; with trims or without. Slots that they touch are about `slots`. The number is the
/// factor on the queue.
fn drawn(drive: &'static str, set: &[&str], seed: u64, slots: u64) -> (Load, f64) {
    let stream = Stream::new(seed).named("writes");
    let draw = |what: &str, of: u64| stream.named(what).below(of);
    let sectors = match draw("kind", 5) {
        0 => 1 + draw("part", 7),
        1 => 1 + draw("slots in part", 40),
        2 => 1 + draw("to 64 KiB", 128),
        3 => 8 * (1 + draw("slots", 16)),
        _ => 0,
    };
    let (sizes, touched) = match sectors {
        0 => (format!("bssplit={JESD219}"), JESD219_SLOTS),
        sectors => (format!("bs={}", 512 * sectors), 1 + sectors / 8),
    };
    let at = [
        "blockalign=512",
        "blockalign=4k",
        "blockalign=4k\noffset=1k",
    ];
    let at = at[draw("offset", 3) as usize];
    let (law, precondition) = match draw("law", 3) {
        0 => ("random", Precondition::Random),
        1 => ("zipf:1.1", Precondition::Zipf(1.1)),
        _ => ("zoned:50/5:50/95", Precondition::Random),
    };
    // Writes of one slot in one wordline are merged, so that skewed ones fill fewer.
    let slots = if law == "random" { slots } else { 3 * slots };
    let depth = [1, 4, 16, 32, 64][draw("depth", 5) as usize];
    let trims = ["", TRIMS][draw("trims", 2) as usize];
    let cache = ["protected", "write-through"][draw("cache", 2) as usize];
    let factor = match law {
        _ if cache == "write-through" && depth <= 4 => WRITTEN_THROUGH,
        "random" if trims.is_empty() => UNIFORM,
        _ => SKEWED,
    };
    let set = set.iter().map(|s| s.to_string());
    // That drive cleans by `fifo`, whose victims have no bound.
    let guarded = || "schemes.gc_victim=fifo-guarded".to_string();
    let victim = (drive == "bench-4g").then(guarded);
    let load = Load {
        drive,
        set: set
            .chain([format!("dram.write_cache={cache}")])
            .chain(victim)
            .collect(),
        precondition,
        depth,
        job: format!(
            "{sizes}\n{at}\nrandom_distribution={law}\nnumber_ios={}\n{trims}",
            slots / touched
        ),
        seed,
    };
    (load, factor)
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

/// Loads drawn for each drive from `seeds`: none has a write that takes longer than its bound.
fn are_paced(seeds: core::ops::RangeInclusive<u64>, slots: u64) {
    let mut beyond = Vec::new();
    let mut factors = BTreeSet::new();
    for seed in seeds {
        for (nth, (drive, set)) in (0..).zip(SMALL) {
            let (load, factor) = drawn(drive, set, 10 * seed + nth, slots);
            factors.insert(factor as u32);
            let (needed, message) = worst_write(&load, factor);
            if needed > factor {
                beyond.push(message);
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
    assert_eq!(factors.len(), 3, "loads of each factor are drawn");
}

#[test]
fn formula_no_write_of_any_size_waits_long_for_cleaning() {
    are_paced(1..=3, 50_000);
}

/// The same on many more draws.
#[test]
#[ignore = "minutes: cargo test -p firstread-testkit --test whole_drive -- --ignored of_many_sizes"]
fn formula_no_write_of_many_sizes_waits_long_for_cleaning() {
    are_paced(5..=24, 100_000);
}
