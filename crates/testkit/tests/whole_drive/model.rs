//! The whole drive against a map of the last versions, in configurations drawn at random: geometries,
//! modes, mapping units, schemes, over-provisioning, wear, preconditioning; writes, trims, flushes, changes of mode,
//! blocks that go bad and power cuts. The payload of the drive keeps the map: a read that returns
//! anything else ends the run with an error.
//!
//! A failure prints its seed; `FIRSTREAD_MODEL_SEED=N` runs that one alone.

use firstread_core::{BlockId, CellMode, HostOp, Ns, Stream};
use firstread_drive::{CutAt, Drive, DriveError, DriveState, Host, Precondition};
use firstread_testkit::{profile, voltages};
use firstread_workload::TraceRecord;

/// A configuration.
#[derive(Debug)]
struct Swarm {
    set: Vec<String>,
    state: DriveState,
    /// Shares of trims and flushes in the requests (permille).
    trims: u64,
    flushes: u64,
    /// Share of the requests that read (permille).
    reads: u64,
    /// Whether the mode of superblocks is changed between rounds.
    converts: bool,
    /// Rounds in a hundred in which power is cut.
    cuts: u64,
}

fn one<T: Copy>(stream: Stream, of: &[T]) -> T {
    of[stream.below(of.len() as u64) as usize]
}

fn swarm(seed: u64) -> Swarm {
    let s = Stream::new(seed).named("swarm");
    let (channels, chips, dies) = (
        1 + s.at(0).below(2),
        1 + s.at(1).below(2),
        1 + s.at(2).below(2),
    );
    let planes = 1 << s.at(3).below(3);
    let mode = one(s.at(4), &[CellMode::Slc, CellMode::Tlc, CellMode::Qlc]);
    let blocks = 10 + s.at(5).below(30);
    let page = 16 << 10;
    let superblock = channels * chips * dies * planes * page * 8 * mode.bits() as u64;
    // Spare superblocks beyond the three that any drive has, from almost none.
    let spare = 1 + s.at(6).below(blocks / 3);
    let on = |i: u64, share: u64| s.at(i).below(100) < share;
    let unit = one(s.at(7), &[4, 16]);
    // A map that is not in memory as a whole takes two superblocks, and a stream of its own one more.
    let map_cached = on(25, 30);
    let kept = if map_cached { 6 } else { 3 };
    let capacity = (blocks - kept - spare) * superblock;
    let retry = match s.at(29).below(6) {
        0 => "sequential",
        1 => "single-step",
        2 => "adaptive",
        3 => "pipelined-adaptive",
        _ => "pipelined",
    };
    // What the drive was filled with fails at the first attempt.
    let age = if on(30, 80) { Ns::from_h(48) } else { Ns::ZERO };
    let mut set = vec![
        format!("geometry.channels={channels}"),
        format!("geometry.chips_per_channel={chips}"),
        format!("geometry.dies_per_chip={dies}"),
        format!("geometry.planes={planes}"),
        format!("geometry.blocks_per_plane={blocks}"),
        format!("geometry.mapping_unit={unit} KiB"),
        format!(
            "geometry.stripe={}",
            one(s.at(8), &["plane-first", "die-first"])
        ),
        "chip.array.layers=1".into(),
        format!("mode={}", mode.name()),
        format!("capacity={capacity} B"),
        format!("cells={}", if on(9, 60) { "modelled" } else { "ideal" }),
        format!(
            "schemes.read_levels={}",
            one(s.at(10), &["factory", "ct-qlc", "optimal"])
        ),
        format!(
            "schemes.gc_victim={}",
            one(
                s.at(11),
                &["fifo", "greedy", "cost-benefit", "d-choices", "random"]
            )
        ),
        format!(
            "schemes.wear={}",
            one(s.at(12), &["none", "dynamic", "static"])
        ),
        format!(
            "schemes.suspend={}",
            one(
                s.at(13),
                &["none", "erase", "program", "program-erase", "free"]
            )
        ),
        format!(
            "chip.failures.factory_bad={} %",
            one(s.at(21), &[0, 0, 1, 4])
        ),
        format!(
            "chip.failures.grown_bad={} %",
            one(s.at(22), &[0, 10, 50, 90])
        ),
        format!(
            "chip.failures.shape={} x",
            one(s.at(23), &["0.7", "1", "3"])
        ),
        // Short lives, so that blocks fail within the test.
        format!(
            "chip.modes.{}.endurance={} P/E",
            mode.name(),
            one(s.at(24), &[10, 40, 160])
        ),
        format!(
            "dram.map_cache={} KiB",
            if map_cached { 64 * unit } else { 0 }
        ),
        format!("dram.read_cache={} KiB", one(s.at(26), &[0, 0, 64, 2048])),
        format!(
            "schemes.read_ahead={}",
            one(s.at(27), &["none", "none", "sequential"])
        ),
        format!("schemes.retry={retry}"),
        format!("queues.fetched={}", one(s.at(28), &[0, 0, 1, 12])),
        format!(
            "firmware.max_wait={} us",
            one(s.at(14), &[100, 5_000, 1_000_000])
        ),
    ];
    if retry.starts_with("pipelined") && on(31, 50) {
        set.push("retry.from=first-read".into());
    }
    Swarm {
        set,
        state: DriveState {
            age: (age, age),
            temperature_c: 55.0,
            fill: one(s.at(15), &[0.0, 0.4, 1.0]),
            pe_cycles: (0, 0),
            precondition: one(
                s.at(25),
                &[
                    Precondition::None,
                    Precondition::Random,
                    Precondition::Zipf(0.9),
                ],
            ),
            ..DriveState::default()
        },
        trims: one(s.at(16), &[0, 20, 150]),
        flushes: one(s.at(17), &[0, 10]),
        reads: one(s.at(18), &[50, 300, 700]),
        converts: on(19, 40),
        cuts: one(s.at(20), &[0, 30, 80]),
    }
}

/// What the runs met, over all seeds.
#[derive(Default, Debug)]
struct Met {
    requests: u64,
    cuts: u64,
    lost: u64,
    torn: u64,
    waiting: u64,
    erasing: u64,
    map_pages: u64,
    map_reads: u64,
    cache_hits: u64,
    ahead: u64,
    moved: u64,
    suspends: u64,
    ended: u64,
    refused: u64,
    replaced: u64,
    retired: u64,
    preconditioned: u64,
    retried: u64,
    cancelled: u64,
}

impl Met {
    /// All seeds together must have met each of `these`; one alone need not.
    fn check(&self, these: &[u64]) {
        println!("{self:?}");
        let one_alone = replayed().is_some();
        assert!(one_alone || these.iter().all(|&n| n > 0), "{self:?}");
    }
}

/// Runs `rounds` rounds of `requests` requests.
fn run(swarm: &Swarm, seed: u64, rounds: u64, requests: u64, met: &mut Met) {
    let set: Vec<&str> = swarm.set.iter().map(String::as_str).collect();
    let profile = profile("ct-qlc", &set);
    let tables = voltages(&profile);
    let mode = profile.mode;
    let unit = profile.geometry.slot_bytes as u64;
    let mut drive = match Drive::new(profile, tables, &swarm.state, seed) {
        Ok(drive) => drive,
        // Too many bad blocks for its spare superblocks.
        Err(DriveError::State(_)) => {
            met.refused += 1;
            return;
        }
        Err(e) => panic!("seed {seed}: {e}: {swarm:?}"),
    };
    met.preconditioned += (swarm.state.precondition != Precondition::None) as u64;
    let bad_at_first = drive.counters().clone();
    let slots = drive.capacity_bytes() / unit;
    let stream = Stream::new(seed).named("host");
    let fail = |e: &DriveError| -> ! { panic!("seed {seed}: {e}\n{swarm:?}") };
    for round in 0..rounds {
        let s = stream.at(round);
        if s.at(0).below(100) < swarm.cuts {
            // A request is two to ten events.
            let event = s.at(1).below(requests * 4);
            drive.cut_power_at(match s.at(6).below(2) {
                0 => CutAt::Events(event),
                _ => CutAt::Time(Ns(1 << s.at(7).below(30))),
            });
        }
        if swarm.converts && s.at(2).below(4) == 0 {
            let block = BlockId(s.at(3).below(drive.blocks().len() as u64) as u32);
            let to = one(s.at(4), &[CellMode::Slc, mode, mode]);
            // Refused or not: both are fine.
            let _ = drive.ask_mode(block, to);
        }
        // Few pages are hot, so that superblocks differ.
        let records = (0..requests).map(|i| {
            let s = s.at(16 + i);
            let kind = s.at(0).below(1000);
            let lpn = match s.at(1).below(5) {
                0 => s.at(2).below(slots),
                // Some follow each other.
                1 => i / 4 * 2 % slots,
                _ => s.at(2).below(slots.div_ceil(5)),
            };
            let op = match kind {
                k if k < swarm.flushes => HostOp::Flush,
                k if k < swarm.flushes + swarm.trims => HostOp::Trim,
                k if k < swarm.flushes + swarm.trims + swarm.reads => HostOp::Read,
                _ => HostOp::Write,
            };
            let (offset, len) = match s.at(3).below(3) {
                // Some sectors, across slots.
                0 => (
                    lpn * unit + s.at(4).below(unit / 512) * 512,
                    512 * (1 + s.at(5).below(40)),
                ),
                1 => (lpn * unit, unit),
                _ => (lpn * unit, unit * (1 + s.at(5).below(12))),
            };
            let len = len.min(slots * unit - offset) as u32;
            Ok(TraceRecord {
                time_ns: 0,
                op,
                offset_bytes: offset,
                len_bytes: len,
                device: 0,
            })
        });
        let depth = 1 + stream.named("depth").below(64) as u32;
        let ran = drive.run(Host::trace("model", records, depth, None), &mut |_| {});
        let stats = match ran {
            Ok(stats) => stats,
            Err(DriveError::NoSpace { .. }) if drive.is_read_only() => break,
            Err(DriveError::ReadOnly { .. }) => {
                met.ended += 1;
                break;
            }
            Err(e) => fail(&e),
        };
        met.requests += stats.requests;
        met.moved += stats.counters.slots_moved;
        met.suspends += stats.counters.suspends;
        met.retried += stats.counters.retries[1..].iter().sum::<u64>();
        met.cancelled += stats.counters.cancelled_senses;
        let front = stats.counters.front;
        met.map_reads += front.map_reads;
        met.cache_hits += front.cache_hits;
        met.ahead += front.ahead_slots;
        if let Some(cut) = stats.power_cut {
            met.cuts += 1;
            met.lost += cut.lost_requests as u64;
            met.torn += cut.work.torn_programs as u64;
            met.waiting += cut.work.waiting_programs as u64;
            met.erasing += cut.work.erasing as u64;
            met.map_pages += cut.work.dumped_map_pages as u64;
        }
        if let Err(unsound) = drive.audit() {
            panic!("seed {seed}, round {round}: {unsound:?}\n{swarm:?}");
        }
    }
    let bad = drive.counters().since(&bad_at_first);
    met.replaced += bad.replaced;
    met.retired += bad.retired;
    if drive.is_read_only() {
        // Requests are in flight that a run has given up.
        drive.power_cut().unwrap_or_else(|e| fail(&e));
    }
    // All of it reads back.
    let all = (0..slots.div_ceil(16)).map(|i| {
        Ok(TraceRecord {
            time_ns: 0,
            op: HostOp::Read,
            offset_bytes: i * 16 * unit,
            len_bytes: (16.min(slots - i * 16) * unit) as u32,
            device: 0,
        })
    });
    let read = drive.run(Host::trace("all", all, 32, None), &mut |_| {});
    let read = read.unwrap_or_else(|e| fail(&e));
    let ideal = swarm.set.iter().any(|s| s == "cells=ideal");
    assert!(
        !ideal || read.all.uncorrectable() == 0,
        "seed {seed}: {swarm:?}"
    );
}

/// The one seed to replay, where the environment names one.
#[expect(clippy::disallowed_methods, reason = "how a failed test is replayed")]
fn replayed() -> Option<String> {
    std::env::var("FIRSTREAD_MODEL_SEED").ok()
}

fn seeds(count: u64) -> Vec<u64> {
    match replayed() {
        Some(seed) => vec![seed.parse().expect("FIRSTREAD_MODEL_SEED is a number")],
        None => (0..count).collect(),
    }
}

#[test]
fn model_swarm_of_drives_keeps_every_version() {
    let mut met = Met::default();
    for seed in seeds(60) {
        run(&swarm(seed), seed, 8, 400, &mut met);
    }
    met.check(&[
        met.retried,
        met.cancelled,
        met.moved,
        met.suspends,
        met.replaced,
        met.retired,
        met.ended,
        met.preconditioned,
        met.map_reads,
        met.cache_hits,
        met.ahead,
    ]);
}

/// Power cut at thousands of random events: what was acknowledged reads back, what was not is old
/// or new.
#[test]
fn powerloss_swarm_of_drives_keeps_what_was_acknowledged() {
    let mut met = Met::default();
    for seed in seeds(50) {
        let every = Swarm {
            cuts: 100,
            ..swarm(seed)
        };
        run(&every, seed, 60, 40, &mut met);
    }
    met.check(&[
        met.cuts / 1_000,
        met.cancelled,
        met.lost,
        met.torn,
        met.waiting,
        met.erasing,
        met.preconditioned,
        met.map_pages,
    ]);
}

/// Millions of requests.
#[test]
#[ignore = "takes minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored swarm"]
fn model_long_swarm_of_drives_keeps_every_version() {
    let mut met = Met::default();
    for seed in seeds(1_500) {
        run(&swarm(seed), seed, 12, 400, &mut met);
        let every = Swarm {
            cuts: 100,
            ..swarm(seed)
        };
        run(&every, seed, 60, 40, &mut met);
    }
    met.check(&[
        met.cuts,
        met.torn,
        met.erasing,
        met.replaced,
        met.retired,
        met.ended,
        met.preconditioned,
    ]);
}
