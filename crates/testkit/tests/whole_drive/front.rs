//! Read cache and read-ahead: what they are worth, what they cost, and in what order things happen.

use firstread_core::{FlashKind, HostOp, OpClass};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::profile::DriveProfile;
use firstread_drive::{DriveState, RunStats};
use firstread_testkit::{FOUR_DIES, IDEAL, aged, drive, profile, run, try_run};
use insta::assert_snapshot;

use crate::scenario::{KIB, READ_4K, ROW, Scenario, reads};

const AHEAD: &str = "schemes.read_ahead=sequential";

fn ideal(own: &[&str]) -> DriveProfile {
    let set: Vec<&str> = FOUR_DIES.iter().chain(IDEAL).chain(own).copied().collect();
    profile("dc-qlc-15t", &set)
}

/// What a read of `bytes` takes that needs no flash.
fn front_ns(p: &DriveProfile, bytes: u64) -> u64 {
    p.link.fetch_ns
        + p.firmware.command_ns
        + p.firmware.command_interval_ns
        + (bytes * 1_000_000_000).div_ceil(p.link.bytes_per_s)
        + p.link.completion_ns
}

#[test]
fn formula_a_hit_takes_the_time_of_the_front() {
    let p = ideal(&["dram.read_cache=64MiB"]);
    let front = front_ns(&p, 64 * KIB);
    let mut drive = drive(p, &DriveState::default(), 1);
    let job = "[j]\nrw=read\nbs=64k\nsize=1m\nloops=3\n";
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    let f = stats.counters.front;
    assert_eq!((f.cache_misses, f.cache_hits), (256, 512));
    let hit = stats.all.read.percentile(50.0).ns;
    assert!(
        hit.abs_diff(front) * 100 <= front,
        "{hit} ns, expected {front}"
    );
    // The link rounds up with each of the 16 slots.
    assert!(stats.all.read.min_ns().abs_diff(front) <= 16);
    assert_eq!(stats.counters.retries[0], 16, "rows sensed once each");
}

#[test]
fn formula_uniform_reads_hit_as_often_as_the_cache_is_large() {
    let stats = run(
        ideal(&["dram.read_cache=16MiB"]),
        &DriveState::default(),
        "[j]\nrw=randread\nbs=4k\nsize=64m\nio_size=1g\niodepth=8\nnorandommap\n",
        120_000,
    );
    let f = stats.counters.front;
    // The first 4,096 misses or so fill the cache.
    let rate = f.cache_hits as f64 / (f.cache_hits + f.cache_misses) as f64;
    assert!((rate - 0.25).abs() < 0.01, "hit rate {rate:.4}");
}

#[test]
fn formula_a_scan_leaves_what_is_read_often() {
    // 2 MiB are read again and again, between reads of a scan over 200 MiB.
    let job = "[hot]\nrw=randread\nbs=4k\nsize=2m\nio_size=80m\nnorandommap\n\
               [scan]\nrw=read\nbs=4k\noffset=100m\nsize=80m\n";
    let mut drive = drive(ideal(&["dram.read_cache=4MiB"]), &DriveState::default(), 1);
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    let f = stats.counters.front;
    let rate = f.cache_hits as f64 / 20_480.0;
    assert!(rate > 0.95, "{rate:.3} of the hot reads hit");
}

#[test]
fn model_a_cache_returns_the_last_version() {
    for set in [
        &["dram.read_cache=1MiB"] as &[&str],
        &["dram.read_cache=1MiB", AHEAD, "read_ahead.buffer=1MiB"],
        &[AHEAD, "read_ahead.buffer=64KiB", "read_ahead.rows=3"],
    ] {
        let state = DriveState {
            fill: 0.01,
            ..DriveState::default()
        };
        let job = "[global]\nbs=4k\nsize=16m\niodepth=16\nnorandommap\n\
                   [w]\nrw=randrw\nbssplit=512/20:4k/50:20k/30\nblockalign=512\nnumber_ios=20000\n\
                   [s]\nrw=read\nbs=12k\nloops=3\n\
                   [t]\nrw=randtrim\nnumber_ios=2000\n\
                   [m]\nrw=rw\nbs=3584\nsize=8m\nloops=2\n";
        // A stale read ends the run with an error.
        let stats = run(ideal(set), &state, job, u64::MAX);
        let f = stats.counters.front;
        assert!(f.cache_hits + f.ahead_joined > 300, "{set:?}: {f:?}");
        assert_eq!(f.ahead_used > 0, set.contains(&AHEAD), "{set:?}: {f:?}");
        assert!(f.ahead_slots >= f.ahead_used + f.ahead_wasted, "{f:?}");
    }
}

fn sequential(set: &[&str], job: &str, age_h: u64) -> RunStats {
    run(profile("dc-qlc-15t", set), &aged(age_h, 300), job, 4_000)
}

#[test]
fn formula_read_ahead_hides_the_flash_at_low_depth() {
    for kib in [4u64, 128] {
        let job = format!("[j]\nrw=read\nbs={kib}k\nsize=256m\n");
        let without = run(
            profile("dc-qlc-15t", IDEAL),
            &DriveState::default(),
            &job,
            2_000,
        );
        let set: Vec<&str> = IDEAL.iter().chain(&[AHEAD]).copied().collect();
        let p = profile("dc-qlc-15t", &set);
        let front = front_ns(&p, kib * KIB);
        let with = run(p, &DriveState::default(), &job, 2_000);
        let f = with.counters.front;
        println!(
            "{kib} KiB: {:.0} ns, read ahead {:.0} ns, front {front} ns, {f:?}",
            without.all.read.mean_ns(),
            with.all.read.mean_ns()
        );
        let median = with.all.read.percentile(50.0).ns;
        assert!(
            median.abs_diff(front) * 50 <= front,
            "{median} ns, front {front}"
        );
        assert!(without.all.read.mean_ns() > 3.0 * with.all.read.mean_ns());
        // All that was read ahead and lies before the end was used.
        assert_eq!(f.ahead_wasted, 0);
    }
}

#[test]
fn formula_read_ahead_hides_retries_too() {
    let job = "[j]\nrw=read\nbs=128k\n";
    let set = ["schemes.read_levels=frozen"];
    let without = sequential(&set, job, 28);
    let with = sequential(&[set[0], AHEAD], job, 28);
    println!(
        "mean {:.0} and {:.0} ns; {:?}",
        without.all.read.mean_ns(),
        with.all.read.mean_ns(),
        with.counters.front
    );
    assert!(with.counters.front.ahead_retries > 1000);
    assert!(with.all.read.mean_ns() * 4.0 < without.all.read.mean_ns());
}

#[test]
fn formula_random_reads_do_not_suffer() {
    let job = "[j]\nrw=randread\nbs=4k\niodepth=64\nnorandommap\n";
    let set = ["schemes.read_levels=frozen"];
    let without = sequential(&set, job, 5);
    let with = sequential(&[set[0], AHEAD], job, 5);
    assert_eq!(with.counters.front.ahead_slots, 0);
    assert_eq!(with.all.read.mean_ns(), without.all.read.mean_ns());
}

#[test]
fn formula_deep_queues_gain_nothing_and_lose_nothing() {
    let job = "[j]\nrw=read\nbs=128k\niodepth=128\n";
    let without = run(
        profile("dc-qlc-15t", IDEAL),
        &DriveState::default(),
        job,
        20_000,
    );
    let set: Vec<&str> = IDEAL.iter().chain(&[AHEAD]).copied().collect();
    let with = run(
        profile("dc-qlc-15t", &set),
        &DriveState::default(),
        job,
        20_000,
    );
    let (a, b) = (without.all.runtime_ns as f64, with.all.runtime_ns as f64);
    println!("{a} and {b} ns; {:?}", with.counters.front);
    assert!((b / a - 1.0).abs() < 0.02, "{a} and {b} ns");
}

fn classes(port_calls: &[PortCall]) -> Vec<(OpClass, u16)> {
    reads(port_calls)
        .iter()
        .map(|(_, op)| (op.class, op.die.0))
        .collect()
}

#[test]
fn sequence_of_a_stream_that_is_read_ahead_of() {
    let mut set = IDEAL.to_vec();
    set.extend([
        AHEAD,
        "read_ahead.initial=128KiB",
        "read_ahead.maximum=128KiB",
    ]);
    let mut scenario = Scenario::new(&set, &aged(0, 0));
    // Two reads make a stream; the third joins the row that is on its way, the fourth finds its
    // slot in memory.
    let script = [
        (0, HostOp::Read, 0, READ_4K),
        (200, HostOp::Read, 4 * KIB, READ_4K),
        (330, HostOp::Read, 8 * KIB, READ_4K),
        (600, HostOp::Read, 12 * KIB, READ_4K),
    ];
    let port_calls = scenario.play(&script);
    let text = scenario.text(&port_calls);
    assert_snapshot!(text, @r"
         0  host      #0 Read 0+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
    115580  event     die 0 free of tag 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 0+4K Ok
    200000  host      #0 Read 4K+4K
    200000  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 00f0 factory 0
    200000  issue     ReadAhead tag 2 die 1 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
    200000  issue     ReadAhead tag 3 die 2 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
    315580  event     die 0 free of tag 0
    315580  issue     ReadAhead tag 1 die 0 waited 115580 b0 w0 LSB cw ff00.ffff.ffff.ffff factory 0
    315680  event     decoded tag 0
    315680  complete  #0 Read 4K+4K Ok
    330000  host      #0 Read 8K+4K
    358780  event     die 1 free of tag 2
    358880  event     decoded tag 2
    361860  event     die 2 free of tag 3
    361960  event     decoded tag 3
    468600  event     die 0 free of tag 1
    468700  event     decoded tag 1
    468700  complete  #0 Read 8K+4K Ok
    600000  host      #0 Read 12K+4K
    600000  complete  #0 Read 12K+4K Ok
    ");
    let f = scenario.drive.counters().front;
    assert_eq!((f.ahead_used, f.ahead_joined, f.cache_hits), (2, 1, 1));
}

#[test]
fn sequence_of_a_row_that_is_promoted_in_its_queue() {
    // A row that waits behind others on its die goes first once a command wants it.
    let mut set = IDEAL.to_vec();
    set.extend([AHEAD, "read_ahead.initial=1MiB", "read_ahead.maximum=1MiB"]);
    let mut scenario = Scenario::new(&set, &aged(0, 0));
    // 16 rows on four dies: four each. The read of the last row of die 3 comes while they wait.
    let last = 15 * ROW;
    let script = [
        (0, HostOp::Read, 0, ROW as u32),
        (200, HostOp::Read, ROW, ROW as u32),
        (340, HostOp::Read, last, READ_4K),
    ];
    let port_calls = scenario.play(&script);
    let of_die: Vec<(OpClass, u8)> = reads(&port_calls)
        .iter()
        .filter(|(_, op)| op.die.0 == 3)
        .filter_map(|(_, op)| match op.kind {
            FlashKind::Read { page, .. } => Some((op.class, page.0)),
            _ => None,
        })
        .collect();
    use OpClass::{HostRead, ReadAhead};
    assert_eq!(
        of_die,
        [(ReadAhead, 0), (HostRead, 3), (ReadAhead, 1)],
        "{:?}",
        classes(&port_calls)
    );
    let completed = |c: &&PortCall| matches!(c.what, PortCallKind::Completed(..));
    assert_eq!(port_calls.iter().filter(completed).count(), 3);
}
