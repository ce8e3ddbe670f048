//! Axis `page_type` on a whole drive of the chip with measured times: what heat gains, what it must not cost, and that it is
//! heat that does it.

use firstread_core::{CellMode, HostOp};
use firstread_drive::{DriveState, Precondition, RunStats};
use firstread_firmware::observe::{Owner, page_type_bin};
use firstread_testkit::{IDEAL, SMALL_BLOCKS, Scripted, drive, play, profile, try_run};

use crate::paced::{Load, worst_write};
use crate::partial_writes::UNIFORM;
use crate::promotion::FORMULA;

/// Four dies of two planes: 600 MiB, of which the loads use 80 %.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.planes=2",
    "geometry.blocks_per_plane=96",
    "chip.array.layers=2",
    "chip.failures.factory_bad=0 %",
    "capacity=600 MiB",
    "schemes.read_recovery=none",
];

/// Heat is remembered for so long that each page is read a few times.
const FOUR: &str = "heat.epoch_times=4";

/// 70 % reads of `reads`, and writes of the same pages without any skew, at a rate at which reads seldom wait.
fn load(reads: &str, seconds: u32) -> String {
    format!(
        "[global]\nbs=4k\niodepth=16\nnorandommap\nsize=80%\n\
         [r]\nrw=randread\nrate_iops=1400\nio_size={}k\n{reads}\n\
         [w]\nrw=randwrite\nrate_iops=600\nio_size={}k\n",
        4 * 1400 * seconds,
        4 * 600 * seconds
    )
}

/// The load on a drive with `set` that has run it for five times as long.
fn measured(set: &[&str], reads: &str) -> RunStats {
    let set = [SMALL, IDEAL, &[FOUR], set].concat();
    let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
    try_run(&mut drive, &load(reads, 600), 1, None).expect("a run");
    let stats = try_run(&mut drive, &load(reads, 120), 2, None).expect("a run");
    assert_eq!(drive.audit(), Ok(()));
    stats
}

/// Slots programmed for each slot that the host has written.
fn amplification(stats: &RunStats) -> f64 {
    let c = &stats.counters;
    c.slots_programmed as f64 / c.host_slots_written as f64
}

/// Shares of the four page types in the pages read.
fn shares(stats: &RunStats) -> [f64; 4] {
    let reads = &stats.counters.page_reads_by_page_type;
    let of = |page| reads[page_type_bin(CellMode::Qlc, page)] as f64;
    let all: f64 = (0..4).map(of).sum();
    [0, 1, 2, 3].map(|page| of(page) / all)
}

fn shown(name: &str, stats: &RunStats) {
    let write = &stats.all.write;
    println!(
        "{name:<24} reads {:6.1} us, by page type {:.3?}; writes {:5.1} us, P99.9 {:7.1} us; WA {:.3}",
        stats.all.read.mean_ns() / 1e3,
        shares(stats),
        write.mean_ns() / 1e3,
        write.percentile(99.9).ns as f64 / 1e3,
        amplification(stats),
    );
}

fn gain(of: &RunStats, than: &RunStats) -> f64 {
    1.0 - of.all.read.mean_ns() / than.all.read.mean_ns()
}

const SKEWED: &str = "random_distribution=zoned:95/20:5/80";
const READ_HEAT: &str = "schemes.page_type=read-heat";

/// Where a fifth of the pages has 95 % of the reads, most of them are on the fastest page type. Cleaning moves as much as in
/// order. With the heat of other pages nothing is gained.
#[test]
fn model_skewed_reads_are_faster_by_their_heat_and_cleaning_moves_as_much() {
    let in_order = measured(&[], SKEWED);
    shown("in-order", &in_order);
    let heat = measured(&[READ_HEAT], SKEWED);
    shown("read-heat", &heat);
    let shuffled = measured(&[READ_HEAT, "heat.shuffle=true"], SKEWED);
    shown("read-heat, shuffled", &shuffled);
    for share in shares(&in_order) {
        assert!((share - 0.25).abs() < 0.01, "{:?}", shares(&in_order));
    }
    assert!(gain(&heat, &in_order) > 0.4, "{}", gain(&heat, &in_order));
    assert!(shares(&heat)[0] > 0.7, "{:?}", shares(&heat));
    let by_chance = gain(&shuffled, &in_order);
    assert!(
        by_chance.abs() < 0.005,
        "{by_chance} with the heat of other pages"
    );
    for (name, of) in [("read-heat", &heat), ("shuffled", &shuffled)] {
        let more = amplification(of) / amplification(&in_order) - 1.0;
        assert!(more.abs() < 0.02, "{name}: WA {more:+.3}");
    }
}

/// A wordline whose cursors are apart holds some data longer, and parts of it are due sooner. So not much more has to be protected from
/// power loss at once, and never more than the buffers hold.
#[test]
fn model_cursors_apart_hold_little_more_that_has_to_be_protected() {
    let most = |set: &[&str], writes: &str| {
        let set = [SMALL, IDEAL, &[FOUR], set].concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
        let job = format!(
            "[global]\nbs=4k\niodepth=16\nnorandommap\nsize=80%\n\
             [r]\nrw=randread\nrate_iops=1400\nio_size=1120m\n{SKEWED}\n[w]\nrw=randwrite\n{writes}\n"
        );
        drive.watch_buffers();
        try_run(&mut drive, &job, 1, None).expect("a run");
        let buffers = drive.write_buffers().bytes;
        (
            drive.most_buffered_bytes().expect("watched") as f64 / 1024.0,
            buffers as f64 / 1024.0,
        )
    };
    for (load, writes) in [
        ("600 writes a second", "rate_iops=600\nio_size=480m"),
        ("writes at full speed", "io_size=960m"),
    ] {
        let (in_order, all) = most(&[], writes);
        let (heat, _) = most(&[READ_HEAT], writes);
        println!("{load}: {in_order:.0} KiB in order, {heat:.0} KiB by heat, of {all:.0} KiB");
        assert!(
            in_order > 0.0 && in_order <= all && heat <= all,
            "{in_order} {heat} {all}"
        );
        assert!(heat < 1.5 * in_order, "{heat} KiB, {in_order} KiB in order");
    }
}

/// From the first request on, the oracle knows what heat has to learn. It knows the load alone that it runs, so it is compared over
/// all of one.
#[test]
fn model_the_oracle_gains_more_than_heat_does() {
    let whole = |set: &[&str]| {
        let set = [SMALL, IDEAL, &[FOUR], set].concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
        try_run(&mut drive, &load(SKEWED, 600), 1, None).expect("a run")
    };
    let in_order = whole(&[]);
    shown("in-order", &in_order);
    let heat = whole(&[READ_HEAT]);
    shown("read-heat", &heat);
    let oracle = whole(&["schemes.page_type=clairvoyant"]);
    shown("clairvoyant", &oracle);
    let (by_heat, known) = (gain(&heat, &in_order), gain(&oracle, &in_order));
    assert!(
        by_heat > 0.1 && known > by_heat,
        "{by_heat} by heat, {known} by the oracle"
    );
    let more = amplification(&oracle) / amplification(&in_order) - 1.0;
    assert!(more.abs() < 0.02, "WA {more:+.3}");
}

/// Where all pages are read alike, heat is chance, and which page of a wordline a page has changes nothing.
#[test]
fn model_random_reads_gain_nothing() {
    let in_order = measured(&[], "");
    let heat = measured(&[READ_HEAT], "");
    shown("in-order", &in_order);
    shown("read-heat", &heat);
    let gained = gain(&heat, &in_order);
    assert!(gained.abs() < 0.005, "{gained}");
    let more = amplification(&heat) / amplification(&in_order) - 1.0;
    assert!(more.abs() < 0.02, "WA {more:+.3}");
}

/// Senses for each read of the host, by `jobs` on a drive with `set` that has run them for five times as long.
fn senses(set: &[&str], jobs: &str) -> f64 {
    let set = [SMALL, IDEAL, set].concat();
    let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
    let load =
        |seconds| format!("[global]\niodepth=4\nsize=80%\nruntime={seconds}\ntime_based\n{jobs}");
    try_run(&mut drive, &load(400), 1, None).expect("a run");
    let stats = try_run(&mut drive, &load(80), 2, None).expect("a run");
    assert_eq!(drive.audit(), Ok(()));
    let pages: u64 = stats.counters.page_reads_by_page_type.iter().sum();
    let reads: u64 = stats.reports.iter().map(|report| report.read.count()).sum();
    pages as f64 / reads as f64
}

/// What the host has written together it reads with about as few senses as in order: a part has one page type, whatever its pages'
/// heat and wherever it begins, and cleaning keeps parts together.
#[test]
fn model_large_reads_take_as_many_senses_as_in_order() {
    const WHOLE: &[&str] = &["geometry.planes=4", "geometry.blocks_per_plane=48"];
    const HALVES: &[&str] = &["geometry.channels=4", "geometry.blocks_per_plane=48"];
    const DIE_FIRST: &[&str] = &[
        "geometry.planes=4",
        "geometry.blocks_per_plane=48",
        "geometry.stripe=die-first",
    ];
    const READS: &str = "[r]\nrw=randread\nbs=64k\nnorandommap\nrate_iops=140\n\
         random_distribution=zoned:95/20:5/80\n";
    const RANDOM: &str = "[w]\nrw=randwrite\nbs=64k\nnorandommap\nrate_iops=60\n";
    const UNALIGNED: &str = "blockalign=4k\n";
    const SEQUENTIAL: &str = "blockalign=4k\n[w]\nrw=write\nbs=256k\noffset=20k\nrate_iops=20\n";
    // Half of the data is written seldom, so that cleaning moves it.
    const MOVED: &str = "blockalign=4k\n[s]\nrw=write\nbs=256k\noffset=20k\nsize=40%\nrate_iops=2\n\
         [w]\nrw=randwrite\nbs=64k\nblockalign=4k\noffset=40%\nsize=40%\nnorandommap\nrate_iops=60\n";
    const MIXED: &str = "blockalign=4k\n[s]\nrw=write\nbs=256k\noffset=20k\nsize=40%\nrate_iops=10\n\
         [w]\nrw=randwrite\nbs=4k\noffset=40%\nsize=40%\nnorandommap\nrate_iops=300\n";
    let unaligned = [UNALIGNED, RANDOM, UNALIGNED].concat();
    for (name, geometry, jobs) in [
        ("whole, random", WHOLE, RANDOM),
        ("whole, random unaligned", WHOLE, &unaligned),
        ("whole, sequential", WHOLE, SEQUENTIAL),
        ("whole, moved", WHOLE, MOVED),
        ("whole, mixed", WHOLE, MIXED),
        ("halves, random unaligned", HALVES, &unaligned),
        ("halves, moved", HALVES, MOVED),
        ("die first, random", DIE_FIRST, RANDOM),
    ] {
        let jobs = [READS, jobs].concat();
        let run = |scheme| senses(&[geometry, &[scheme]].concat(), &jobs);
        let in_order = run("schemes.page_type=in-order");
        let heat = run(READ_HEAT);
        println!("{name}: {heat:.3} senses a read, {in_order:.3} in order");
        assert!(
            heat < 1.1 * in_order,
            "{name}: {heat} senses a read, {in_order} in order"
        );
    }
}

/// A write of 64 KiB whose first page is merged into the buffer is placed by its heat from its second page on.
#[test]
fn sequence_a_part_whose_first_page_is_merged_has_a_wish() {
    const KIB: u64 = 1 << 10;
    let set = [SMALL, IDEAL, &[READ_HEAT]].concat();
    let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
    // Nobody reads, so all of it belongs on the slowest page type. The others are filled as it is full.
    let mut script: Vec<Scripted> = vec![
        (0, HostOp::Write, 0, 4 << 10),
        (100, HostOp::Write, 2 * KIB, 64 << 10),
    ];
    script.extend((1..16u64).map(|i| (1_000 * i, HostOp::Write, 1024 * KIB * i, 1 << 20)));
    let written = play(&mut drive, &script).expect("a run");
    assert_eq!(written.counters.merged_in_place, 1);
    let read: Vec<Scripted> = (1..16)
        .map(|page| (1_000 * page, HostOp::Read, 4 * KIB * page, 4 << 10))
        .collect();
    let stats = play(&mut drive, &read).expect("a run");
    assert_eq!(shares(&stats), [0.0, 0.0, 0.0, 1.0]);
}

/// Pages that the host writes are placed in order where only those that move are placed by heat.
#[test]
fn model_what_the_host_writes_is_in_order_where_only_moves_are_placed_by_heat() {
    let empty = DriveState {
        fill: 0.0,
        ..DriveState::default()
    };
    let run = |places: &str| {
        let set = [SMALL, IDEAL, &[FOUR, READ_HEAT, places]].concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &empty, 1);
        let stats = try_run(&mut drive, &load(SKEWED, 200), 1, None).expect("a run");
        assert_eq!(stats.counters.slots_moved, 0, "nothing was cleaned yet");
        shares(&stats)
    };
    let (all, moved) = (run("page_type.places=all"), run("page_type.places=moved"));
    println!("all {all:.3?}, moved {moved:.3?}");
    assert!(
        moved.iter().all(|share| (share - 0.25).abs() < 0.02),
        "{moved:?}"
    );
    assert!(all[0] > 0.3, "{all:?}");
    // Once the drive is full, cleaning has placed most of what is read.
    let in_order = measured(&[], SKEWED);
    let by_moves = measured(&[READ_HEAT, "page_type.places=moved"], SKEWED);
    shown("moved", &by_moves);
    assert!(
        gain(&by_moves, &in_order) > 0.15,
        "{}",
        gain(&by_moves, &in_order)
    );
}

/// Two tenths of the pages are read alike, and one of them is written ten times as often. By reads both are as hot. By reads a version
/// the one that is seldom written is hotter, so that its reads are faster.
#[test]
fn model_what_is_read_often_a_version_lies_on_the_fastest_page_type() {
    let run = |heat: &str| {
        let set = [SMALL, IDEAL, &[FOUR, READ_HEAT, heat]].concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
        let global = "[global]\nbs=4k\niodepth=16\nnorandommap\n";
        let job = |name: &str, rw: &str, at: &str, rate: u32| {
            format!(
                "[{name}]\nrw={rw}\n{at}\nrate_iops={rate}\nio_size={}k\n",
                4 * 400 * rate
            )
        };
        let [often, seldom, never] = ["size=10%", "offset=10%\nsize=10%", "offset=20%\nsize=60%"];
        let reads = [
            job("ra", "randread", often, 700),
            job("rb", "randread", seldom, 700),
        ]
        .concat();
        let writes = [
            job("wa", "randwrite", often, 500),
            job("wb", "randwrite", seldom, 50),
            job("wc", "randwrite", never, 50),
        ];
        let all = [global, &reads, &writes.concat()].concat();
        try_run(&mut drive, &all, 1, None).expect("a run");
        let of_seldom = [global, &job("rb", "randread", seldom, 50)].concat();
        let stats = try_run(&mut drive, &of_seldom, 2, None).expect("a run");
        shares(&stats)
    };
    let (reads, version) = (
        run("page_type.heat=reads"),
        run("page_type.heat=per-version"),
    );
    println!("by reads {reads:.3?}, by reads a version {version:.3?}");
    assert!(reads[0] < 0.5, "{reads:?}");
    assert!(
        version[0] > reads[0] + 0.1,
        "{version:?}, by reads {reads:?}"
    );
}

/// Data that are read and never written anew stay on the page type on which they were filled. Promotion moves them.
#[test]
fn model_data_that_are_never_written_again_are_promoted_where_that_is_asked_for() {
    let load = "[r]\nrw=randread\nbs=4k\niodepth=16\nnorandommap\nsize=20m\nio_size=1600m\n\
                [c]\nrw=randread\nbs=4k\niodepth=1\nnorandommap\noffset=20m\nsize=400m\nnumber_ios=20000\n";
    let run = |set: &[&str]| {
        let set = [
            SMALL,
            IDEAL,
            &[READ_HEAT, "heat.epoch=200000", "schemes.refresh=none"],
            set,
        ]
        .concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
        try_run(&mut drive, load, 1, None).expect("a run");
        let stats = try_run(&mut drive, load, 2, None).expect("a run");
        assert_eq!(drive.audit(), Ok(()));
        (shares(&stats), drive.counters().slots_moved)
    };
    let (stay, none) = run(&[]);
    let (promoted, moved) = run(&["page_type.promote=100"]);
    println!("{stay:.3?} without, {promoted:.3?} with {moved} pages moved");
    assert_eq!(none, 0, "nothing moves by itself");
    assert!(
        stay.iter().all(|share| (share - 0.25).abs() < 0.03),
        "{stay:?}"
    );
    let fast = promoted[0] + promoted[1];
    assert!(fast > 0.8, "{promoted:?}");
    // 5,120 pages are hot, and half of the slots of a wordline are fast enough to stay.
    assert!((2_000..30_000).contains(&moved), "{moved}");
}

/// Promotions wait for the host as copies to another cell mode do: with as many as there are reads no write waits longer than cleaning
/// lets it without them.
#[test]
fn formula_no_write_waits_long_for_promotions() {
    const PROMOTES: &[&str] = &[
        READ_HEAT,
        "page_type.promote=1000",
        "page_type.hot=1",
        "heat.epoch=20000",
    ];
    for (seed, victim) in [(1, "greedy"), (2, "cost-benefit"), (3, "fifo")] {
        let victim = format!("schemes.gc_victim={victim}");
        let words = [SMALL, IDEAL, PROMOTES, &[&victim]].concat();
        let job = |writes: u32, rate: &str| {
            format!(
                "bs=4k\nsize=60%\nnumber_ios={writes}\n{rate}\
                 [r]\nrw=randread\nbs=4k\niodepth=16\nnorandommap\noffset=60%\nsize=40%\n\
                 rate_iops=8000\nnumber_ios={}\n",
                2 * writes
            )
        };
        let load = Load {
            drive: "ibm-qlc-paca",
            set: words.iter().map(|word| word.to_string()).collect(),
            precondition: Precondition::Random,
            depth: 16,
            job: job(120_000, ""),
            seed,
        };
        let (needed, message) = worst_write(&load, UNIFORM);
        println!("{victim}: {needed:.2} times the queue; {message}");
        assert!(needed <= UNIFORM, "{message}");
        // The claims are granted all the same.
        let state = DriveState {
            precondition: Precondition::Random,
            ..DriveState::default()
        };
        let mut drive = drive(profile("ibm-qlc-paca", &words), &state, seed);
        let job = format!(
            "[w]\nrw=randwrite\nnorandommap\niodepth=16\n{}",
            job(30_000, "rate_iops=1000\n")
        );
        let stats = try_run(&mut drive, &job, seed, None).expect("a run");
        let promoted = stats.counters.slots_moved_by[Owner::Scheme as usize];
        println!(
            "{victim}: {promoted} pages promoted, {:.1} s",
            stats.simulated.0 as f64 / 1e9
        );
        assert!(promoted > 10, "{victim}: {promoted}");
        assert_eq!(drive.audit(), Ok(()));
    }
}

/// Axis `cell_mode` goes first. A page that it has no room for in a faster mode is promoted to a faster page type of its own mode, and one
/// that goes to the faster mode is not.
#[test]
fn sequence_a_page_without_room_in_a_faster_mode_goes_to_a_faster_page_type() {
    let run = |own: &str| {
        // All pages that are hot enough for the one axis are for the other.
        let set = [
            SMALL_BLOCKS,
            FORMULA,
            &["schemes.cell_mode=hotness", READ_HEAT, own],
            &["page_type.promote=1000", "page_type.hot=15"],
        ]
        .concat();
        let load = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n\
            random_distribution=zipf:1.2\nio_size=2000m\n";
        let mut drive = drive(profile("raro-femu", &set), &DriveState::default(), 1);
        let stats = try_run(&mut drive, load, 1, None).expect("a run");
        assert_eq!(drive.audit(), Ok(()));
        let by = |owner| stats.counters.slots_moved_by[owner as usize];
        (by(Owner::Promotion), by(Owner::Scheme))
    };
    let without_room = run("cell_mode.keep=990 permille");
    let with_room = run("cell_mode.demand=0 permille");
    println!("{without_room:?} promoted and moved without room, {with_room:?} with room");
    assert!(
        without_room.0 < with_room.0 / 4,
        "{without_room:?} {with_room:?}"
    );
    assert!(without_room.1 > 5, "{without_room:?}");
    assert_eq!(with_room.1, 0, "{with_room:?}");
}
