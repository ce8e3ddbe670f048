use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::fio;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn stream(options: &str, capacity: u64) -> JobStream {
    spec_stream(options, capacity, 1).unwrap_or_else(|e| panic!("{options}: {e}"))
}

fn spec_stream(options: &str, capacity: u64, seed: u64) -> Result<JobStream, WorkloadError> {
    let text = format!("[j]\n{}\n", options.replace(' ', "\n"));
    let jobs = fio::parse("t", &text)
        .unwrap_or_else(|e| panic!("{e}"))
        .jobs;
    JobStream::new(&jobs[0], capacity, seed)
}

fn offsets(options: &str, capacity: u64, n: usize) -> Vec<u64> {
    stream(options, capacity)
        .take(n)
        .map(|r| r.offset_bytes)
        .collect()
}

#[test]
fn sequence_reads_in_order_once() {
    assert_eq!(
        offsets("rw=read size=16k", MIB, 100),
        [0, 4096, 8192, 12288]
    );
    // A rest shorter than a block is left out.
    assert_eq!(offsets("rw=read size=10k", MIB, 100), [0, 4096]);
    // More to move than the region holds: over again from its start.
    assert_eq!(
        offsets("rw=read size=8k io_size=20k offset=64k", MIB, 100),
        [65536, 69632, 65536, 69632, 65536]
    );
    assert_eq!(
        offsets("rw=read size=8k loops=2", MIB, 100),
        [0, 4096, 0, 4096]
    );
    assert_eq!(offsets("rw=read number_ios=3", MIB, 100), [0, 4096, 8192]);
}

#[test]
fn sequence_with_holes_and_backwards() {
    assert_eq!(
        offsets("rw=read:4k size=32k", MIB, 5),
        [0, 8192, 16384, 24576, 0]
    );
    assert_eq!(
        offsets("rw=read:-8k size=16k loops=2", MIB, 5),
        [12288, 8192, 4096, 0, 12288]
    );
}

#[test]
fn sequence_goes_from_zone_to_zone() {
    // Two blocks of a zone, then over what is left out; a pass is one way through the region.
    assert_eq!(
        offsets("rw=read size=48k zonesize=8k zoneskip=8k", MIB, 100),
        [0, 4096, 16384, 20480, 32768, 36864]
    );
    // More is moved than the zone holds: over again from its start.
    assert_eq!(
        offsets(
            "rw=read size=32k zonesize=12k zonerange=8k zoneskip=8k offset=64k io_size=1m number_ios=7",
            MIB,
            100
        ),
        [65536, 69632, 65536, 81920, 86016, 81920, 65536]
    );
    let random = offsets(
        "rw=randread norandommap size=1m zonesize=64k zoneskip=192k io_size=8m",
        MIB,
        2000,
    );
    for (i, zone) in random.chunks(16).take(48).enumerate() {
        let start = (i as u64 % 4) * (256 << 10);
        assert!(
            zone.iter().all(|o| (start..start + (64 << 10)).contains(o)),
            "{i}: {zone:?}"
        );
    }
}

#[test]
fn sequence_of_trim_then_write() {
    for rw in ["trimwrite", "randtrimwrite"] {
        let all: Vec<Request> = stream(&format!("rw={rw} size=64k bsrange=4k-8k"), MIB).collect();
        assert_eq!(all.len() % 2, 0);
        for pair in all.chunks(2) {
            assert_eq!((pair[0].op, pair[1].op), (HostOp::Trim, HostOp::Write));
            assert_eq!(pair[0].offset_bytes, pair[1].offset_bytes);
            assert_eq!(pair[0].len_bytes, pair[1].len_bytes);
        }
    }
    assert_eq!(stream("rw=randtrimwrite number_ios=5", MIB).count(), 10);
}

#[test]
fn a_random_map_covers_every_block_exactly_once_a_pass() {
    let s = stream("rw=randrw bs=4k loops=2 offset=1m", 17 * MIB);
    let all: Vec<u64> = s.map(|r| r.offset_bytes).collect();
    let (first, second) = all.split_at(all.len() / 2);
    assert_eq!(first.len() as u64, 16 * MIB / 4096);
    for pass in [first, second] {
        let blocks: BTreeSet<u64> = pass.iter().map(|o| (o - MIB) / 4096).collect();
        assert_eq!(blocks.len(), pass.len());
        assert_eq!(blocks.last(), Some(&4095));
    }
    assert_ne!(first, second, "passes have orders of their own");
}

#[test]
fn without_a_map_blocks_repeat() {
    let blocks: BTreeSet<u64> = stream("rw=randread norandommap", 16 * MIB)
        .map(|r| r.offset_bytes)
        .collect();
    // 4096 draws from 4096 blocks leave a share of 1/e untouched: 2589 distinct, sd 31.
    assert!(blocks.len().abs_diff(2589) < 155, "{}", blocks.len());
}

/// The short way of uniform random jobs against the one all other jobs take.
#[test]
fn model_the_short_way_gives_what_the_long_way_does() {
    for options in [
        "rw=randread bs=4k loops=2",
        "rw=randwrite bs=12k size=1000k",
        "rw=randtrim bs=64k offset=1m number_ios=77",
        "rw=randread bs=4k norandommap size=100k io_size=333k",
        "rw=randread bs=4k random_distribution=zipf:1.1 number_ios=3000",
        "rw=randread bs=512 blockalign=4k norandommap time_based runtime=1 number_ios=5000",
        "rw=randrw rwmixread=70 bs=4k",
        "rw=randrw rwmixread=30 bs=4k norandommap size=100k io_size=333k",
        "rw=randrw bs=8k random_distribution=zipf:1.1 number_ios=3000",
    ] {
        let short = stream(options, 17 * MIB);
        assert!(short.plain.is_some(), "{options} is no plain job");
        let mut long = stream(options, 17 * MIB);
        long.plain = None;
        assert!(short.eq(long), "{options}");
    }
}

#[test]
fn a_drive_of_15_terabytes_needs_no_memory_for_its_map() {
    let capacity = 15_360_000_000_000;
    let mut s = stream("rw=randread bs=4k", capacity);
    assert_eq!(s.amount_bytes(), Some(capacity));
    let seen: BTreeSet<u64> = s.by_ref().take(100_000).map(|r| r.offset_bytes).collect();
    assert_eq!(seen.len(), 100_000);
    assert!(*seen.last().unwrap() > capacity / 1000 * 999);
}

#[test]
fn streams_repeat_by_seed_and_differ_between_clones() {
    let w = fio::parse(
        "t",
        "[j]\nrw=randrw\nnumjobs=2\nbsrange=4k-64k\nnorandommap\n",
    )
    .unwrap();
    let of = |job: usize, seed| -> Vec<Request> {
        JobStream::new(&w.jobs[job], GIB, seed)
            .unwrap()
            .take(500)
            .collect()
    };
    assert_eq!(of(0, 7), of(0, 7));
    assert_ne!(of(0, 7), of(0, 8));
    assert_ne!(of(0, 7), of(1, 7));
    let other = fio::parse(
        "t",
        "[j]\nrw=randrw\nbsrange=4k-64k\nnorandommap\nrandseed=5\n",
    )
    .unwrap();
    let other: Vec<_> = JobStream::new(&other.jobs[0], GIB, 7)
        .unwrap()
        .take(500)
        .collect();
    assert_ne!(of(0, 7), other);
}

/// A golden: changes here change every result that used a seed.
#[test]
fn golden_first_requests_of_a_seed() {
    let w = fio::parse("t", "[j]\nrw=randrw\nbssplit=4k/50:16k/50\n").unwrap();
    let text: Vec<String> = JobStream::new(&w.jobs[0], GIB, 42)
        .unwrap()
        .take(6)
        .map(|r| format!("{:?} {} {}", r.op, r.offset_bytes, r.len_bytes))
        .collect();
    assert_eq!(text, GOLDEN);
}
const GOLDEN: [&str; 6] = [
    "Read 972709888 4096",
    "Read 700022784 16384",
    "Read 467566592 4096",
    "Read 348545024 4096",
    "Write 197423104 4096",
    "Write 1013784576 4096",
];

#[test]
fn the_mix_of_reads_and_writes_matches_its_percentage() {
    for percent in [0, 30, 50, 97, 100] {
        let n = 100_000;
        let options = format!("rw=randrw norandommap rwmixread={percent} time_based runtime=1");
        let reads = stream(&options, GIB)
            .take(n)
            .filter(|r| r.op == HostOp::Read)
            .count();
        let expected = n * percent / 100;
        assert!(reads.abs_diff(expected) < 800, "{percent} %: {reads}");
        if percent % 100 == 0 {
            assert_eq!(reads, expected);
        }
    }
}

#[test]
fn lengths_follow_their_distributions() {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for r in stream("rw=randread bssplit=4k/10:64k/50:32k/40 io_size=10g", GIB).take(100_000) {
        *counts.entry(r.len_bytes).or_default() += 1;
    }
    for (len, share) in [(4096, 10_000), (65536, 50_000), (32768, 40_000)] {
        assert!(
            counts[&len].abs_diff(share) < 900,
            "{len}: {}",
            counts[&len]
        );
    }
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for r in stream("rw=randwrite bsrange=4k-16k io_size=10g", GIB).take(100_000) {
        *counts.entry(r.len_bytes).or_default() += 1;
    }
    assert_eq!(
        counts.keys().copied().collect::<Vec<_>>(),
        [4096, 8192, 12288, 16384]
    );
    assert!(
        counts.values().all(|c| c.abs_diff(25_000) < 800),
        "{counts:?}"
    );
    // Reads and writes have lengths of their own; the third value is that of trims.
    for r in stream("rw=randrw bs=4k,64k,512", GIB).take(1000) {
        assert_eq!(r.len_bytes, if r.op == HostOp::Read { 4096 } else { 65536 });
        assert_eq!(r.offset_bytes % u64::from(r.len_bytes), 0);
    }
}

#[test]
fn a_pass_with_varying_lengths_moves_its_amount_and_stays_inside() {
    for rw in ["read", "randread", "write", "randrw"] {
        let moved: u64 = stream(&format!("rw={rw} bsrange=4k-64k size=1m"), MIB)
            .map(|r| {
                assert!(r.offset_bytes + u64::from(r.len_bytes) <= MIB);
                u64::from(r.len_bytes)
            })
            .sum();
        assert!((MIB..MIB + 65536).contains(&moved), "{rw}: {moved}");
    }
}

#[test]
fn runs_and_repeats_follow_one_random_position() {
    let run = offsets("rw=randread:4 norandommap io_size=1g", GIB, 4000);
    for four in run.chunks(4) {
        for pair in four.windows(2) {
            assert!(pair[1] == pair[0] + 4096 || pair[1] == 0, "{four:?}");
        }
    }
    let same = offsets(
        "rw=randread:4 rw_sequencer=identical norandommap",
        GIB,
        4000,
    );
    assert!(
        same.chunks(4)
            .all(|four| four.iter().all(|o| *o == four[0]))
    );
    assert!(
        same.chunks(4)
            .map(|four| four[0])
            .collect::<BTreeSet<_>>()
            .len()
            > 990
    );
}

#[test]
fn a_share_of_random_requests() {
    let all = offsets(
        "rw=randread percentage_random=25 norandommap io_size=1g",
        GIB,
        40_000,
    );
    let followers = all.windows(2).filter(|w| w[1] == w[0] + 4096).count();
    assert!(followers.abs_diff(30_000) < 450, "{followers}");
}

#[test]
fn zones_get_their_shares_where_they_lie() {
    let n = 100_000;
    let all = offsets(
        "rw=randread random_distribution=zoned:60/10:30/20:8/30:2/40 io_size=10g",
        GIB,
        n,
    );
    let share = |from: u64, to: u64| {
        all.iter()
            .filter(|&&o| o >= GIB / 100 * from && o < GIB / 100 * to)
            .count()
    };
    for (from, to, expected) in [
        (0, 10, 60_000),
        (10, 30, 30_000),
        (30, 60, 8_000),
        (60, 100, 2_000),
    ] {
        let got = share(from, to);
        assert!(got.abs_diff(expected) < 800, "{from}..{to} %: {got}");
    }
    let all = offsets(
        "rw=randread random_distribution=zoned_abs:90/1m:10/9m io_size=1g",
        GIB,
        10_000,
    );
    assert!(all.iter().all(|o| *o < 10 * MIB));
    let hot = all.iter().filter(|o| **o < MIB).count();
    assert!(hot.abs_diff(9000) < 160, "{hot}");
    let e = spec_stream(
        "rw=randread random_distribution=zoned_abs:90/1m:10/9g",
        GIB,
        1,
    );
    assert!(e.unwrap_err().to_string().contains("ends past the size"));
}

#[test]
fn skewed_positions_are_scattered_and_the_center_can_be_set() {
    for distribution in ["zipf:1.2", "pareto:0.1", "normal:2"] {
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        let all = offsets(
            &format!("rw=randread random_distribution={distribution} io_size=10g"),
            GIB,
            50_000,
        );
        for o in &all {
            *counts.entry(*o).or_default() += 1;
        }
        assert!(counts.len() < 40_000, "{distribution} is not skewed");
        let near = all
            .windows(2)
            .filter(|w| w[0].abs_diff(w[1]) < GIB / 64)
            .count();
        // Scattered: two requests lie within 1/64 of the drive as rarely as uniform ones (1/32),
        // save that both may hit one hot block.
        let both: f64 = counts
            .values()
            .map(|c| libm::pow(f64::from(*c) / 50_000.0, 2.0))
            .sum();
        let expected = 50_000.0 * (both + (1.0 - both) / 32.0);
        assert!(
            (near as f64) < 2.5 * expected,
            "{distribution}: {near} neighbours of {expected}"
        );
    }
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for o in offsets(
        "rw=randread random_distribution=zipf:1.5:0.25 io_size=1g",
        GIB,
        10_000,
    ) {
        *counts.entry(o).or_default() += 1;
    }
    let hottest = counts.iter().max_by_key(|c| c.1).map(|c| *c.0);
    assert_eq!(hottest, Some(GIB / 4));
}

#[test]
fn the_hottest_zipf_block_gets_its_share() {
    // 262144 blocks, theta 1.2: the first rank has 1/zeta(1.2, n) = 0.2096 of the draws.
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for o in offsets(
        "rw=randwrite random_distribution=zipf:1.2 io_size=10g",
        GIB,
        100_000,
    ) {
        *counts.entry(o).or_default() += 1;
    }
    let zeta: f64 = (1..=262_144).map(|k| libm::pow(f64::from(k), -1.2)).sum();
    let expected = 100_000.0 / zeta;
    let hottest = f64::from(*counts.values().max().unwrap());
    assert!(
        (hottest - expected).abs() < 5.0 * expected.sqrt(),
        "{hottest}, expected {expected}"
    );
}

#[test]
fn equal_gaps_are_exact() {
    let due = |options: &str, n: usize| -> Vec<u64> {
        stream(options, GIB)
            .take(n)
            .map(|r| r.not_before_ns)
            .collect()
    };
    assert_eq!(
        due("rw=randread rate_iops=1000", 4),
        [0, 1_000_000, 2_000_000, 3_000_000]
    );
    let thirds = due("rw=randread rate_iops=3", 4);
    assert_eq!(thirds, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    assert_eq!(
        due("rw=read rate=4096000 bs=4k", 3),
        [0, 1_000_000, 2_000_000]
    );
    assert_eq!(due("rw=read", 3), [0, 0, 0]);
    // Only writes are paced.
    assert_eq!(due("rw=read rate_iops=,100", 3), [0, 0, 0]);
}

/// Clones lie one increment after another, in bytes or percent.
#[test]
fn formula_clones_are_an_increment_apart() {
    for (increment, bytes) in [
        ("1m", MIB),
        ("10%", 6 * MIB + (MIB >> 2) + (MIB >> 3) + (24 << 10)),
    ] {
        let text =
            format!("[j]\nrw=read\noffset=2m\noffset_increment={increment}\nsize=1m\nnumjobs=5\n");
        let jobs = fio::parse("t", &text).unwrap().jobs;
        for (clone, job) in (0..).zip(&jobs) {
            let (start, len) = JobStream::new(job, 64 * MIB, 1).unwrap().region_bytes();
            assert_eq!(
                (start, len),
                (2 * MIB + clone * bytes, MIB),
                "{increment}, clone {clone}"
            );
        }
    }
}

#[test]
fn formula_no_share_of_random_requests_is_a_sequence() {
    let all = offsets("rw=randread percentage_random=0 io_size=1g", GIB, 3_000);
    assert!(all.windows(2).all(|w| w[1] == w[0] + 4096));
    let few = offsets("rw=randread percentage_random=1 io_size=1g", GIB, 3_000);
    assert!(few.windows(2).any(|w| w[1] != w[0] + 4096));
}

/// A request is due when as many bytes or requests as came before it have had their time: exactly, rounded down.
#[test]
fn model_equal_gaps_do_not_drift() {
    let draws = firstread_core::Stream::new(1).named("rates");
    for i in 0..60 {
        let rate = 1_000 + draws.at(i).below(1 << (10 + i % 24));
        let bytes = 512 * (1 + draws.at(i).at(1).below(64));
        let by_bytes = i % 2 == 0;
        let (option, each) = if by_bytes {
            ("rate", bytes)
        } else {
            ("rate_iops", 1)
        };
        let options = format!("rw=randread bs={bytes} {option}={rate} io_size=1g");
        for (n, request) in (0..).zip(stream(&options, GIB).take(300)) {
            let due = u128::from(n * each) * 1_000_000_000 / u128::from(rate);
            assert_eq!(
                u128::from(request.not_before_ns),
                due,
                "{options}, request {n}"
            );
        }
    }
}

/// The first arrival of a Poisson process is as far from the start as two are from each other.
#[test]
fn formula_the_first_poisson_arrival_is_random_too() {
    const SEEDS: u64 = 2_000;
    let first = |seed| {
        let options = "rw=randread rate_iops=10000 rate_process=poisson";
        let mut stream = spec_stream(options, GIB, seed).unwrap();
        stream.next().unwrap().not_before_ns as f64
    };
    let mean = (0..SEEDS).map(first).sum::<f64>() / SEEDS as f64;
    // Five standard deviations of the mean.
    assert!((mean / 100_000.0 - 1.0).abs() < 0.112, "{mean}");
}

#[test]
fn formula_a_zone_without_a_block_is_refused() {
    for (zones, number) in [
        ("zoned:50/0:50/100", 1),
        ("zoned:100/100:0/0", 0),
        ("zoned_abs:50/4k:50/512", 2),
    ] {
        let options = format!("rw=randread random_distribution={zones} bs=4k");
        match (spec_stream(&options, GIB, 1), number) {
            (Ok(_), 0) => {}
            (Err(e), 1..) => assert!(
                e.to_string().contains(&format!(
                    "zone {number} of random_distribution holds no block"
                )),
                "{e}"
            ),
            (other, _) => panic!(
                "{zones}: {:?}",
                other.map(|_| ()).map_err(|e| e.to_string())
            ),
        }
    }
}

#[test]
fn with_a_rate_for_both_directions_each_gets_its_own() {
    let all: Vec<Request> = stream("rw=randrw rate_iops=3000,1000 rwmixread=50", GIB)
        .take_while(|r| r.not_before_ns < 1_000_000_000)
        .collect();
    let reads = all.iter().filter(|r| r.op == HostOp::Read).count();
    assert_eq!((reads, all.len()), (3000, 4000));
    assert!(
        all.windows(2)
            .all(|w| w[0].not_before_ns <= w[1].not_before_ns)
    );
}

#[test]
fn poisson_arrivals_have_exponential_gaps() {
    let n = 100_000;
    let due: Vec<u64> = stream("rw=randread rate_iops=10000 rate_process=poisson", GIB)
        .take(n)
        .map(|r| r.not_before_ns)
        .collect();
    let gaps: Vec<f64> = due.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let var = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / gaps.len() as f64;
    assert!(
        (mean / 100_000.0 - 1.0).abs() < 0.016,
        "mean {mean} ns, expected 100000"
    );
    assert!(
        (var.sqrt() / mean - 1.0).abs() < 0.02,
        "cv {}",
        var.sqrt() / mean
    );
    let late = gaps.iter().filter(|g| **g > 300_000.0).count() as f64 / n as f64;
    assert!(
        (late - libm::exp(-3.0)).abs() < 0.0035,
        "beyond 3 means: {late}"
    );
}

#[test]
fn flushes_and_pauses_come_after_their_counts() {
    let all: Vec<Request> = stream("rw=write size=24k fsync=2", MIB).collect();
    let ops: Vec<HostOp> = all.iter().map(|r| r.op).collect();
    use HostOp::{Flush, Write};
    assert_eq!(
        ops,
        [
            Write, Write, Flush, Write, Write, Flush, Write, Write, Flush
        ]
    );
    let think: Vec<u64> = stream("rw=read size=24k thinktime=3ms thinktime_blocks=2", MIB)
        .map(|r| r.think_ns)
        .collect();
    assert_eq!(think, [0, 0, 3_000_000, 0, 3_000_000, 0]);
}

#[test]
fn start_delays_lie_in_their_range() {
    let of = |options: &str| stream(options, MIB).start_delay_ns();
    assert_eq!(of("startdelay=2"), 2_000_000_000);
    let drawn = of("startdelay=10ms-20ms");
    assert!((10_000_000..=20_000_000).contains(&drawn), "{drawn}");
}

#[test]
fn jobs_that_do_not_fit_say_so() {
    let of = |options: &str, capacity| spec_stream(options, capacity, 1).unwrap_err().to_string();
    assert_eq!(
        of("size=2m", MIB),
        "t:1: job `j`: size=2097152 from offset 0 does not fit on a drive of 1048576 bytes; leave \
         `size` out to cover the drive"
    );
    assert_eq!(
        of("offset=1m", MIB),
        "t:1: job `j`: offset (with 0 times offset_increment) lies past the drive's 1048576 bytes"
    );
    assert_eq!(
        of("bs=2m", MIB),
        "t:1: job `j`: its region of 1048576 bytes is smaller than one block of 2097152 bytes"
    );
}

#[test]
fn percentages_are_of_what_they_say() {
    let region = |options: &str| stream(options, 1000 * 4096).region_bytes();
    assert_eq!(region("size=20%"), (0, 200 * 4096));
    assert_eq!(region("offset=10% size=50%"), (100 * 4096, 450 * 4096));
    assert_eq!(region("offset=10%"), (100 * 4096, 900 * 4096));
    assert_eq!(
        stream("size=20% io_size=50%", 1000 * 4096).amount_bytes(),
        Some(100 * 4096)
    );
    assert_eq!(
        stream("filesize=64k size=1m", 16 * MIB).amount_bytes(),
        Some(MIB)
    );
    assert_eq!(region("filesize=64k size=1m"), (0, 65536));
}

#[test]
fn a_job_made_by_hand_with_bad_numbers_is_refused() {
    let refuse = |change: fn(&mut JobSpec)| {
        let mut spec = JobSpec::new("hand");
        spec.random = true;
        change(&mut spec);
        assert!(JobStream::new(&spec, GIB, 1).is_err());
    };
    refuse(|s| s.sizes[0] = Sizes::Fixed(0));
    refuse(|s| s.sizes[0] = Sizes::Fixed(1000));
    refuse(|s| s.sizes[0] = Sizes::Split(vec![]));
    refuse(|s| {
        s.sizes[0] = Sizes::Range {
            min: 8192,
            max: 4096,
        }
    });
    refuse(|s| s.align_bytes[0] = Some(0));
    refuse(|s| s.rate[0] = Rate::Iops(0));
    refuse(|s| {
        s.distribution = Distribution::Zipf {
            theta: f64::NAN,
            center: None,
        };
    });
    refuse(|s| {
        s.distribution = Distribution::Normal {
            deviation: 5.0,
            center: Some(7.0),
        };
    });
}

/// A zone holds the longest of the shortest requests of each direction, or the job is refused.
#[test]
fn formula_a_zone_is_as_long_as_a_request() {
    let refused = |zone_bytes, sizes: [u32; 2]| {
        let mut spec = JobSpec::new("hand");
        spec.operations = Operations::Mixed;
        spec.strides = Some(Strides {
            move_bytes: zone_bytes,
            zone_bytes,
            skip_bytes: 0,
        });
        for (to, bytes) in spec.sizes.iter_mut().zip(sizes) {
            *to = Sizes::Fixed(bytes);
        }
        JobStream::new(&spec, GIB, 1).is_err()
    };
    for (zone_bytes, sizes, expected) in [
        (8192, [4096, 8192], false),
        (16_384, [4096, 8192], false),
        (4096, [4096, 8192], true),
        (4096, [8192, 4096], true),
        (512, [4096, 4096], true),
    ] {
        assert_eq!(
            refused(zone_bytes, sizes),
            expected,
            "{zone_bytes} {sizes:?}"
        );
    }
}

/// A run, passes of a burn-in, parts of a run and their lead-ins draw different requests to the same hot blocks.
#[test]
fn formula_all_draws_share_what_is_hot() {
    let text =
        "[j]\nrw=randrw\nbs=4k\nnorandommap\nrandom_distribution=zipf:1.2\nnumber_ios=20000\n";
    let job = &crate::fio::parse("t.fio", text).unwrap().jobs[0];
    let requests = |draws| JobStream::drawn(job, 64 << 20, 7, draws).unwrap();
    assert!(requests(Draws::Run).eq(JobStream::new(job, 64 << 20, 7).unwrap()));
    let hottest = |draws| {
        let mut times = std::collections::BTreeMap::new();
        requests(draws).for_each(|r| *times.entry(r.offset_bytes).or_insert(0) += 1);
        let mut by_times: Vec<(u32, u64)> = times.into_iter().map(|(at, n)| (n, at)).collect();
        by_times.sort_unstable();
        by_times.last().unwrap().1
    };
    let parts = (0..3).flat_map(|part| [Draws::Part(part), Draws::LeadIn(part)]);
    let others: Vec<Draws> = (1..4).map(Draws::Pass).chain(parts).collect();
    for (i, &draws) in others.iter().enumerate() {
        assert_eq!(hottest(draws), hottest(Draws::Run));
        for &other in others[..i].iter().chain(&[Draws::Run]) {
            let same = requests(draws).zip(requests(other));
            // A block of rank r and a direction agree by chance in the sum of their squared shares.
            let same = same.filter(|(a, b)| a == b).count();
            assert!(same < 2_000, "{draws:?} and {other:?}: {same}");
        }
    }
}
