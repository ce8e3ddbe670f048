//! A map that memory holds in part: what misses cost, and that no data are wrong.

use firstread_core::{HostOp, OpClass};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::profile::DriveProfile;
use firstread_drive::{Cause, DriveState, RunStats};
use firstread_testkit::{FOUR_DIES, IDEAL, SMALL_BLOCKS, aged, drive, profile, run, try_run};
use insta::assert_snapshot;

use crate::scenario::{KIB, READ_4K, Scenario, reads};

const MIB: u64 = 1 << 20;
/// Bytes whose places lie on one page of the map.
const REACH: u64 = 2 * MIB;

fn ideal(own: &[&str]) -> DriveProfile {
    let set: Vec<&str> = FOUR_DIES.iter().chain(IDEAL).chain(own).copied().collect();
    profile("dc-qlc-15t", &set)
}

/// A read of a page of the map, over all page types, when nothing is in its way.
fn map_read_ns(p: &DriveProfile) -> f64 {
    let mode = p.chip.mode(p.mode).unwrap();
    let sense = mode.sense.pre_ns + mode.sense.eval_ns + mode.sense.disch_ns;
    let valleys: usize = mode.pages.iter().map(|page| page.len()).sum();
    let array = mode.setup_ns as f64 + (valleys as u64 * sense) as f64 / mode.pages.len() as f64;
    let transfer = p.channel.transfer_ns(p.stored_bytes(p.geometry.slot_bytes));
    p.channel.command_ns as f64 + array + transfer as f64 + p.ecc.timing.setup_ns as f64
}

fn uniform(p: DriveProfile, rw: &str, requests: u64) -> RunStats {
    let mut drive = drive(p, &DriveState::default(), 1);
    // The first run fills the cache.
    let job = format!("[j]\nrw={rw}\nbs=4k\nsize=1g\nnorandommap\nnumber_ios={requests}\n");
    try_run(&mut drive, &job, 7, None).unwrap();
    try_run(&mut drive, &job, 8, None).unwrap()
}

#[test]
fn formula_uniform_reads_miss_as_often_as_the_cache_is_small() {
    let without = uniform(ideal(&[]), "randread", 20_000);
    assert_eq!(without.counters.front, Default::default());
    // 1 GiB has 512 pages of the map.
    for (cached, miss) in [
        ("256KiB", 1.0 - 64.0 / 512.0),
        ("1MiB", 0.5),
        ("1792KiB", 0.125),
    ] {
        let p = ideal(&[&format!("dram.map_cache={cached}")]);
        let map_ns = map_read_ns(&p);
        let with = uniform(p, "randread", 20_000);
        let f = with.counters.front;
        let measured = f.map_misses as f64 / (f.map_hits + f.map_misses) as f64;
        assert!(
            (measured - miss).abs() < 0.012,
            "{cached}: {measured:.4} misses, {miss}"
        );
        assert_eq!((f.map_reads, f.map_writes), (f.map_misses, 0));
        // The same requests, but for the map.
        let more = with.all.read.mean_ns() - without.all.read.mean_ns();
        let expected = measured * map_ns;
        println!("{cached}: {measured:.4} misses, {more:.0} ns more, expected {expected:.0}");
        assert!(
            (more / expected - 1.0).abs() < 0.01,
            "{cached}: {more:.0} ns, {expected:.0}"
        );
    }
}

#[test]
fn formula_uniform_writes_write_a_page_of_the_map_a_miss() {
    let p = ideal(&["dram.map_cache=1MiB"]);
    let with = uniform(p, "randwrite", 20_000);
    let f = with.counters.front;
    let written = with.counters.host_slots_written as f64;
    // Every page in the cache is changed before it is replaced.
    let rate = f.map_writes as f64 / written;
    assert!(
        (rate - 0.5).abs() < 0.01,
        "{rate:.4} pages of the map a write"
    );
    // Some of those that were replaced last still lie in the write buffer.
    assert_eq!(f.map_reads, f.map_misses);
    assert!(f.map_reads < f.map_writes, "{f:?}");
}

#[test]
fn formula_waits_for_the_map_are_charged_to_it() {
    let p = ideal(&["dram.map_cache=256KiB"]);
    let map_ns = map_read_ns(&p);
    let stats = uniform(p, "randread", 20_000);
    let tail = stats.all.read.tail.slowest(0.2).unwrap();
    let share = tail.share[Cause::Map as usize];
    // The slowest fifth are misses: the map's page, and as much for the page itself.
    assert!(
        (0.4..0.6).contains(&share),
        "{share:.3} of the slowest, {map_ns} ns a miss"
    );
}

#[test]
fn model_a_tiny_map_cache_changes_no_data() {
    let mut set = SMALL_BLOCKS.to_vec();
    set.extend(IDEAL);
    set.extend(["dram.map_cache=256KiB", "dram.read_cache=1MiB"]);
    set.extend(["schemes.read_ahead=sequential", "schemes.gc_victim=greedy"]);
    // 128 pages of the map, 64 of them in memory; twice the drive is written.
    let job = "[global]\nsize=256m\niodepth=16\nnorandommap\n\
               [w]\nrw=randrw\nrwmixread=30\nbssplit=512/10:4k/60:20k/30\nblockalign=512\nio_size=600m\n\
               [s]\nrw=read\nbs=64k\n\
               [t]\nrw=randtrim\nbs=32k\nnumber_ios=3000\n\
               [big]\nrw=randtrim\nbs=40m\nnumber_ios=4\nthinktime=300ms\n";
    let state = aged(0, 0);
    // A stale read ends the run with an error, of a page of the map too.
    let stats = run(profile("dc-qlc-15t", &set), &state, job, u64::MAX);
    let (c, f) = (&stats.counters, stats.counters.front);
    assert!(
        c.erases > 20 && f.map_writes > 1_000 && f.map_misses > 1_000,
        "{c:?}"
    );
    println!("{c:?}");
}

/// Each write asks once where its page of the map lies, one that opens a superblock too.
#[test]
fn formula_a_write_looks_its_page_of_the_map_up_once() {
    let mut set = SMALL_BLOCKS.to_vec();
    set.extend(IDEAL);
    set.push("dram.map_cache=16MiB");
    // So slow that no write waits: one that goes on looks up again.
    let job = "[w]\nrw=write\nbs=4k\nsize=64m\niodepth=1\nthinktime=1ms\n";
    let profile = profile("dc-qlc-15t", &set);
    let writes = 64 << 20 >> 12;
    let per_superblock = profile.geometry.slots_per_superblock(profile.mode);
    assert!(writes > 3 * u64::from(per_superblock), "{per_superblock}");
    let f = run(profile, &aged(0, 0), job, u64::MAX).counters.front;
    assert_eq!(f.map_hits + f.map_misses, writes, "{f:?}");
}

#[test]
fn sequence_of_a_miss() {
    let mut set = IDEAL.to_vec();
    set.push("dram.map_cache=1MiB");
    let mut scenario = Scenario::new(&set, &aged(0, 0));
    // The second read wants the same page of the map, and the third finds it in memory.
    let script = [
        (0, HostOp::Read, 0, READ_4K),
        (50, HostOp::Read, REACH - 4 * KIB, READ_4K),
        (600, HostOp::Read, MIB, READ_4K),
    ];
    let port_calls = scenario.play(&script);
    let text = scenario.text(&port_calls);
    assert_snapshot!(text, @r"
         0  host      #0 Read 0+4K
         0  issue     MapRead tag 0 die 0 waited 0 b18 w0 LSB cw 000f factory 0
     50000  host      #1 Read 2044K+4K
    115580  event     die 0 free of tag 0
    115680  event     decoded tag 0
    115680  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
    115680  issue     HostRead tag 1 die 3 waited 0 b0 w1 TSB cw 0000.0000.0000.f000 factory 0
    231260  event     die 0 free of tag 0
    231360  event     decoded tag 0
    231360  complete  #0 Read 0+4K Ok
    268760  event     die 3 free of tag 1
    268860  event     decoded tag 1
    268860  complete  #1 Read 2044K+4K Ok
    600000  host      #1 Read 1M+4K
    600000  issue     HostRead tag 1 die 0 waited 0 b0 w1 LSB cw 000f factory 0
    715580  event     die 0 free of tag 1
    715680  event     decoded tag 1
    715680  complete  #1 Read 1M+4K Ok
    ");
    let f = scenario.drive.counters().front;
    assert_eq!((f.map_hits, f.map_misses, f.map_reads), (1, 2, 1));
}

#[test]
fn sequence_of_a_read_over_two_pages_of_the_map() {
    let mut set = IDEAL.to_vec();
    set.push("dram.map_cache=1MiB");
    let mut scenario = Scenario::new(&set, &aged(0, 0));
    let port_calls = scenario.play(&[(0, HostOp::Read, REACH - 4 * KIB, 8 << 10)]);
    let classes: Vec<OpClass> = reads(&port_calls).iter().map(|(_, op)| op.class).collect();
    use OpClass::{HostRead, MapRead};
    assert_eq!(classes, [MapRead, HostRead, MapRead, HostRead]);
    let last = port_calls.last().map(|c| c.what);
    assert!(
        matches!(last, Some(PortCallKind::Completed(..))),
        "{last:?}"
    );
}
