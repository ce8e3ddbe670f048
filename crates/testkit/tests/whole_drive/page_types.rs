//! Axis `page_type` on a whole drive of the chip with measured times: what heat gains, what it must not cost, and that it is
//! heat that does it.

use firstread_core::CellMode;
use firstread_drive::{DriveState, RunStats};
use firstread_firmware::observe::page_type_bin;
use firstread_testkit::{IDEAL, drive, profile, try_run};

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

/// What the host has written together it reads with as few senses as in order: a part of 64 KiB has one page type, whatever its
/// pages' heat, and cleaning keeps it together.
#[test]
fn model_large_reads_take_as_many_senses_as_in_order() {
    let large = |scheme: &str, jobs: &str| {
        let set = [
            SMALL,
            IDEAL,
            &["geometry.planes=4", "geometry.blocks_per_plane=48", scheme],
        ]
        .concat();
        let mut drive = drive(profile("ibm-qlc-paca", &set), &DriveState::default(), 1);
        let load = |seconds| {
            format!("[global]\niodepth=4\nsize=80%\nruntime={seconds}\ntime_based\n{jobs}")
        };
        try_run(&mut drive, &load(600), 1, None).expect("a run");
        let stats = try_run(&mut drive, &load(60), 2, None).expect("a run");
        let pages: u64 = stats.counters.page_reads_by_page_type.iter().sum();
        let reads: u64 = stats.reports.iter().map(|report| report.read.count()).sum();
        println!("{scheme}: {pages} senses for {reads} reads");
        pages as f64 / reads as f64
    };
    for jobs in [
        "[r]\nrw=randread\nbs=64k\nnorandommap\nrate_iops=140\nrandom_distribution=zoned:95/20:5/80\n\
         [w]\nrw=randwrite\nbs=64k\nnorandommap\nrate_iops=60\n",
        "[r]\nrw=read\nbs=64k\nrate_iops=100\n[h]\nrw=randread\nbs=64k\nnorandommap\nrate_iops=60\n\
         random_distribution=zoned:95/20:5/80\n[w]\nrw=write\nbs=256k\nrate_iops=20\n",
    ] {
        let in_order = large("schemes.page_type=in-order", jobs);
        let heat = large(READ_HEAT, jobs);
        assert!(
            heat < 1.1 * in_order,
            "{heat} senses a read, {in_order} in order: {jobs}"
        );
    }
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
