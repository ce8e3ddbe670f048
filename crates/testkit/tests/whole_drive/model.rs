//! The whole drive against a map of the last versions, in configurations drawn at random: geometries,
//! modes, mapping units, a scheme of every axis there is, over-provisioning, wear, preconditioning;
//! writes, trims, flushes, changes of mode, blocks that go bad and power cuts: at any event, one after
//! another, and in the middle of recoveries. The payload of the drive keeps the map: a read that
//! returns anything else ends the run with an error.
//!
//! A failure prints the seed with all of its configuration; `FIRSTREAD_MODEL_SEED=N` runs that one alone.
//! `FIRSTREAD_SEED_BASE=N` has each test draw its seeds from N on.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::{Mutex, PoisonError};

use crate::slow_reads::All;
use firstread_core::params::{Axis, Need, ParamKind, Role, Scheme, Values};
use firstread_core::{CellMode, HostOp, Ns, Stream, SuperblockId};
use firstread_drive::profile::DriveProfile;
use firstread_drive::tables::DriveTables;
use firstread_drive::{CutAt, Drive, DriveError, DriveState, Ended, Host, PowerCut, Precondition};
use firstread_firmware::policy::AXES;
use firstread_testkit::{profile, voltages};
use firstread_workload::TraceRecord;

#[derive(Debug)]
struct Swarm {
    set: Vec<String>,
    /// Its schemes, as `axis=name`.
    schemes: Vec<String>,
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

/// The scheme of `axis` that `seed` draws, and the words of its parameters that are words or flags.
fn drawn(axis: &'static Axis, seed: u64) -> (&'static Scheme, Vec<String>) {
    let s = Stream::new(seed).named("schemes").named(axis.name);
    let scheme = &axis.schemes[s.at(0).below(axis.schemes.len() as u64) as usize];
    let words = (1..).zip(scheme.params).filter_map(|(i, param)| {
        let word = match param.kind {
            ParamKind::Number { .. } => return None,
            ParamKind::Choice(words) => words[s.at(i).below(words.len() as u64) as usize],
            ParamKind::Flag(_) => ["false", "true"][s.at(i).below(2) as usize],
        };
        Some(format!("{}.{}={word}", axis.name, param.key))
    });
    (scheme, words.collect())
}

/// Parameters of scheme `scheme` of axis `refresh` with which a few requests refresh pages and superblocks.
fn soon_refreshed(scheme: &Scheme, stream: Stream) -> Vec<String> {
    let reads = ["2", "10", "50"][stream.below(3) as usize];
    let small = |key: &str| match key {
        "reads_slc" | "reads_mlc" | "reads_tlc" | "reads_qlc" => Some(format!("{reads} reads")),
        "warm" => Some("1 reads".into()),
        "hot" => Some("2 reads".into()),
        "retries" | "r1" | "r2" => Some("0 retries".into()),
        "age" => Some("0 ns".into()),
        _ => None,
    };
    let set = |key: &'static str| Some(format!("refresh.{key}={}", small(key)?));
    let params = scheme.params.iter();
    params.filter_map(|param| set(param.key)).collect()
}

/// A scheme of axis `stream` with three streams, as far as there is room for so many superblocks more, and how many they take.
fn few_streams(seed: u64, room: u64) -> (Vec<String>, u64) {
    let axis = AXES.iter().find(|axis| axis.name == "stream");
    let (scheme, words) = drawn(axis.expect("an axis"), seed);
    let of_one = (vec!["schemes.stream=one".into()], 0);
    let three = scheme
        .params
        .iter()
        .filter(|p| matches!(p.kind, ParamKind::Number { .. }));
    let keys: Vec<&str> = three.map(|p| p.key).collect();
    let values = scheme.params.iter().map(|p| match p.kind {
        ParamKind::Number { .. } => 3,
        _ => i64::from(words.iter().any(|word| word.ends_with("=true"))),
    });
    let values: Vec<i64> = values.collect();
    let takes = Values::new(scheme, &values).own_streams() as u64;
    if takes >= room {
        return of_one;
    }
    let mut set = vec![format!("schemes.stream={}", scheme.name)];
    set.extend(keys.iter().map(|key| format!("stream.{key}=3")));
    set.extend(words);
    (set, takes)
}

fn swarm(seed: u64) -> Swarm {
    let s = Stream::new(seed).named("swarm");
    let (mut schemes, mut set) = (Vec::new(), Vec::new());
    let (mut has_parity, mut whole_die, mut changes_modes) = (false, false, false);
    let mut own_streams = 0;
    let mut has_areas = false;
    let mut pool_streams = 0;
    for axis in AXES.iter().filter(|axis| axis.name != "stream") {
        let (scheme, words) = drawn(axis, seed);
        has_parity |= scheme.requires(Need::StripeParity);
        whole_die |= scheme.requires(Need::WholeDie);
        changes_modes |= scheme.requires(Need::CellModes);
        if axis.name == "cell_mode" && scheme.requires(Need::CellModes) {
            // Small drives, few reads.
            let own: &[&str] = match scheme.requires(Need::Heat) {
                _ if scheme.requires(Need::SlcAlone) => &[],
                true => &[
                    "warm=1 reads",
                    "hot=2 reads",
                    "stay_slc=1 reads",
                    "stay_tlc=0 reads",
                    "demand=20 permille",
                ],
                false => &["lost=100 permille"],
            };
            let also: &[&str] = match scheme.name {
                // A page in SLC mode costs less than one in the drive's own.
                "hybrid-pools" => &[
                    "keep=0 permille",
                    "wear_weight=0 permille",
                    "level=2 P/E",
                    "warm=1 reads",
                    "hot=2 reads",
                ],
                "slc-cache" => &["keep=0 permille", "idle=5 ms"],
                _ => &["keep=0 permille", "reclaim_period=300 reads"],
            };
            let own = own.iter().chain(also);
            set.extend(own.map(|value| format!("cell_mode.{value}")));
            let is_none = |word: &String| word.ends_with("promote=none");
            pool_streams = match scheme.requires(Need::SlcAlone) {
                false => 0,
                true if scheme.params.iter().any(|p| p.key == "promote")
                    && !words.iter().any(is_none) =>
                {
                    set.push("heat.enabled=true".into());
                    2
                }
                true => 1,
            };
        }
        own_streams += scheme.own_streams() as u64;
        if axis.name == "area" && scheme.own_streams() > 0 {
            has_areas = true;
            // Small drives, few reads.
            let hot = ["new_reads", "middle_reads", "old_reads", "reads"];
            let hot = hot
                .iter()
                .filter(|key| scheme.params.iter().any(|p| p.key == **key));
            set.extend(hot.map(|key| format!("area.{key}={} reads", s.at(35).below(3))));
            set.push("area.low_share=300 permille".into());
            if scheme.params.iter().any(|p| p.key == "bound") {
                let bound = one(s.at(37), &[50, 800]);
                set.push(format!("area.bound={bound} permille"));
            }
        }
        if axis.name == "refresh" {
            set.extend(soon_refreshed(scheme, s.at(34)));
        }
        schemes.push(format!("{}={}", axis.name, scheme.name));
        set.push(format!("schemes.{}={}", axis.name, scheme.name));
        set.extend(words);
    }
    let (channels, chips, dies) = (
        // Parity lies on another die.
        1 + s.at(0).below(2).max(u64::from(has_parity)),
        1 + s.at(1).below(2),
        1 + s.at(2).below(2),
    );
    let planes = 1 << s.at(3).below(3);
    // Modes with fewer bits are SLC and TLC. Their open and free superblocks take as much as two of QLC.
    let mode = match changes_modes {
        true => CellMode::Qlc,
        false => one(s.at(4), &[CellMode::Slc, CellMode::Tlc, CellMode::Qlc]),
    };
    // Those of a pool that the host writes to count whole.
    let in_modes = match pool_streams {
        0 => 2 * u64::from(changes_modes),
        streams => 2 * streams,
    };
    if !changes_modes {
        // Two of the triggers of `refresh` are for drives of QLC whose superblocks change their mode.
        set.retain(|word| !word.starts_with("refresh.trigger="));
    }
    // As printed, the rule is refused on drives with so little to spare.
    set.retain(|word| !word.starts_with("area.rule="));
    let blocks = 10 + in_modes + 10 * u64::from(has_areas) + s.at(5).below(30);
    let page = 16 << 10;
    let data_dies = channels * chips * dies - u64::from(has_parity);
    let superblock = data_dies * planes * page * 8 * mode.bits() as u64;
    // Spare superblocks beyond the three that any drive has, from almost none.
    // A superblock in another mode takes some of what is spare.
    let spare = 1 + u64::from(changes_modes) + s.at(6).below(blocks / 3);
    let on = |i: u64, share: u64| s.at(i).below(100) < share;
    let unit = one(s.at(7), &[4, 16]);
    // A map that is not in memory as a whole takes two superblocks, and a stream of its own one more.
    let map_cached = on(25, 30);
    let kept = own_streams + if map_cached { 6 } else { 3 };
    let (stream, of_streams) = few_streams(seed, blocks - kept - in_modes - 1);
    let kept = kept + of_streams;
    schemes.push(stream[0].replacen("schemes.", "", 1));
    set.extend(stream);
    // The host has one superblock at least.
    let spare = spare.min(blocks - kept - in_modes - 1);
    let capacity = (blocks - kept - in_modes - spare) * superblock;
    // What the drive was filled with fails at the first attempt.
    let worn_out = on(32, 35);
    let age = match on(30, 80) {
        _ if worn_out => Ns::from_h(1_000),
        true => Ns::from_h(48),
        false => Ns::ZERO,
    };
    let apart = !whole_die && on(33, 50);
    set.extend([
        format!("chip.timing.independent_plane_reads={apart}"),
        format!("chip.timing.plane_levels={apart}"),
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
        format!(
            "firmware.cell_modes={}",
            if changes_modes || on(19, 40) {
                "all"
            } else {
                "one"
            }
        ),
        format!("capacity={capacity} B"),
        format!(
            "cells={}",
            if worn_out || on(9, 60) {
                "modelled"
            } else {
                "ideal"
            }
        ),
        format!(
            "chip.failures.factory_bad={} %",
            one(s.at(21), if worn_out { &[0] } else { &[0, 0, 1, 4] })
        ),
        format!(
            "chip.failures.grown_bad={} %",
            one(s.at(22), if worn_out { &[0] } else { &[0, 10, 50, 90] })
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
        format!(
            "dram.write_cache={}",
            one(
                s.at(36),
                &["protected", "protected", "volatile", "write-through"]
            )
        ),
        format!("dram.read_cache={} KiB", one(s.at(26), &[0, 0, 64, 2048])),
        format!("queues.fetched={}", one(s.at(28), &[0, 0, 1, 12])),
        format!(
            "firmware.max_wait={} us",
            one(s.at(14), &[100, 5_000, 1_000_000])
        ),
    ]);
    let pe_cycles = if worn_out { 5_000 } else { 0 };
    Swarm {
        set,
        schemes,
        state: DriveState {
            age: (age, age),
            temperature_c: 55.0,
            fill: one(s.at(15), if worn_out { &[1.0] } else { &[0.0, 0.4, 1.0] }),
            pe_cycles: (pe_cycles, pe_cycles),
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
        reads: one(s.at(18), if worn_out { &[800] } else { &[50, 300, 700] }),
        converts: on(19, 40),
        cuts: one(s.at(20), &[0, 30, 80]),
    }
}

/// The same drive with cells that make no errors.
fn without_errors(mut swarm: Swarm) -> Swarm {
    for word in &mut swarm.set {
        if word == "cells=modelled" {
            *word = "cells=ideal".into();
        }
    }
    swarm
}

/// What the runs met, over all seeds.
#[derive(Default, Debug)]
struct Met {
    requests: u64,
    cuts: u64,
    lost: u64,
    /// Slots that a volatile write cache has lost, and writes that were refused at the bound of an area's wear.
    lost_slots: u64,
    write_protected: u64,
    torn: u64,
    waiting: u64,
    erasing: u64,
    map_pages: u64,
    map_reads: u64,
    cache_hits: u64,
    ahead: u64,
    moved: u64,
    /// Pages refreshed one by one, and superblocks.
    refreshed: u64,
    superblocks_refreshed: u64,
    suspends: u64,
    ended: u64,
    refused: u64,
    replaced: u64,
    retired: u64,
    preconditioned: u64,
    retried: u64,
    cancelled: u64,
    soft: u64,
    rebuilt: u64,
    uncorrectable: u64,
    /// Cuts in the middle of a recovery, and cuts as soon as power was back.
    cuts_of_recovery: u64,
    cuts_back_to_back: u64,
    /// Cuts that met a background read, soft senses, reads for parity, a change of mode.
    cuts_of_probes: u64,
    cuts_of_soft: u64,
    cuts_of_rebuilds: u64,
    cuts_of_conversions: u64,
    /// Schemes that ran, as `axis=name`.
    schemes: BTreeSet<String>,
    /// Whether what the parts of drives do is recorded and checked.
    records: bool,
    /// Cuts of recoveries, by pair of schemes that move data.
    pairs: BTreeMap<(String, String), u64>,
}

impl Met {
    fn cut(&mut self, cut: &PowerCut) {
        let work = &cut.work;
        self.cuts += 1;
        self.cuts_of_recovery += u64::from(cut.twice);
        self.lost += u64::from(cut.lost_requests);
        self.lost_slots += u64::from(work.lost_slots);
        self.torn += u64::from(work.torn_programs);
        self.waiting += u64::from(work.waiting_programs);
        self.erasing += u64::from(work.erasing > 0);
        self.map_pages += u64::from(work.dumped_map_pages);
        self.cuts_of_probes += u64::from(work.probing);
        self.cuts_of_soft += u64::from(work.soft_reads > 0);
        self.cuts_of_rebuilds += u64::from(work.rebuild_reads > 0);
        self.cuts_of_conversions += u64::from(work.converting);
    }

    /// Every scheme of every axis has run.
    fn check_schemes(&self) {
        let of_axis = |axis: &Axis| {
            let name = |s: &Scheme| format!("{}={}", axis.name, s.name);
            axis.schemes.iter().map(name).collect::<Vec<_>>()
        };
        for scheme in AXES.iter().flat_map(of_axis) {
            let ran = self.schemes.contains(&scheme) || are_named();
            assert!(ran, "no seed draws {scheme}");
        }
        let never = self.never_cut_pairs();
        println!("recoveries were cut with all pairs of schemes but {never:?}");
        assert!(are_named() || never.is_empty(), "never cut: {never:?}");
    }

    /// The pairs of schemes that move data and whose recoveries were never cut.
    fn never_cut_pairs(&self) -> Vec<(String, String)> {
        let is_cut = |pair: &(String, String)| self.pairs.get(pair).is_some_and(|cuts| *cuts > 0);
        moving_pairs().filter(|pair| !is_cut(pair)).collect()
    }

    /// All seeds together must have met each of `these`; those that the environment names need not.
    fn check(&self, these: &[u64]) {
        println!("{self:?}");
        assert!(are_named() || these.iter().all(|&n| n > 0), "{self:?}");
    }
}

/// All pairs of schemes of two axes that move data, baselines apart.
fn moving_pairs() -> impl Iterator<Item = (String, String)> {
    const MOVING: [&str; 5] = ["gc_victim", "wear", "area", "cell_mode", "refresh"];
    let axes = AXES.iter().filter(|axis| MOVING.contains(&axis.name));
    let schemes = axes.enumerate().flat_map(|(i, axis)| {
        let moving = axis.schemes.iter().filter(|s| s.role != Role::Baseline);
        moving.map(move |s| (i, format!("{}={}", axis.name, s.name)))
    });
    let schemes: Vec<_> = schemes.collect();
    schemes.clone().into_iter().flat_map(move |(i, one)| {
        let others = schemes.clone().into_iter().filter(move |(j, _)| i < *j);
        others.map(move |(_, other)| (one.clone(), other))
    })
}

/// The voltage tables of the chip of `profile`, which depend on the modes alone here and take long to
/// make.
fn tables(profile: &DriveProfile) -> DriveTables {
    static MADE: Mutex<BTreeMap<(&'static str, usize), DriveTables>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let of_mode = made.entry((profile.mode.name(), profile.other_modes().count()));
    of_mode.or_insert_with(|| voltages(profile)).clone()
}

/// Says what was running when a test fails, whatever ends it.
struct Running<'a> {
    seed: u64,
    rounds: u64,
    requests: u64,
    swarm: &'a Swarm,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Running {
                seed,
                rounds,
                requests,
                swarm,
            } = self;
            println!(
                "in {rounds} rounds of {requests} requests: {swarm:?}\nrepeat it with FIRSTREAD_MODEL_SEED={seed}"
            );
        }
    }
}

/// Runs `rounds` rounds of `requests` requests.
fn run(swarm: &Swarm, seed: u64, rounds: u64, requests: u64, met: &mut Met) {
    let _running = Running {
        seed,
        rounds,
        requests,
        swarm,
    };
    let set: Vec<&str> = swarm.set.iter().map(String::as_str).collect();
    let profile = profile("dc-qlc-15t", &set);
    let mode = profile.mode;
    let tables = tables(&profile);
    let unit = profile.geometry.slot_bytes as u64;
    let mut drive = match Drive::new(profile, tables, &swarm.state, seed) {
        Ok(drive) => drive,
        // Too many bad blocks for its spare superblocks.
        Err(DriveError::State(_)) => {
            met.refused += 1;
            return;
        }
        Err(e) => panic!("seed {seed}: {e}"),
    };
    met.preconditioned += (swarm.state.precondition != Precondition::None) as u64;
    let bad_at_first = drive.counters().clone();
    let slots = drive.capacity_bytes() / unit;
    let stream = Stream::new(seed).named("host");
    let fail = |e: &dyn Error| -> ! { panic!("seed {seed}: {e}") };
    met.schemes.extend(swarm.schemes.iter().cloned());
    let cut_before = met.cuts_of_recovery;
    for round in 0..rounds {
        let s = stream.at(round);
        let is_cut = s.at(0).below(100) < swarm.cuts;
        let mut cut = None;
        if is_cut {
            // A request is two to ten events. Many cuts come soon after the one before.
            let event = match s.at(8).below(3) {
                0 => s.at(1).below(30),
                _ => s.at(1).below(requests * 4),
            };
            cut = Some(match s.at(6).below(2) {
                0 => CutAt::Events(event),
                _ => CutAt::Time(Ns(1 << s.at(7).below(30))),
            });
            if s.at(9).below(4) == 0 {
                let superblocks = drive.blocks().len();
                drive.cut_recovery_after(s.at(10).below(superblocks.into()) as u32);
            }
        }
        if swarm.converts {
            for ask in 0..s.at(2).below(4) {
                let s = s.at(3).at(ask);
                let block = SuperblockId(s.at(0).below(drive.blocks().len() as u64) as u32);
                let to = one(s.at(1), &[CellMode::Slc, mode, mode]);
                // Refused or not: both are fine.
                let _ = drive.ask_mode(block, to);
            }
        }
        let at_once = s.at(11).below(8);
        for _ in 0..at_once.saturating_sub(4) * u64::from(is_cut) {
            // What came back from the cut before has not done a thing.
            met.cut(&drive.power_cut(drive.now()).unwrap_or_else(|e| fail(&e)));
            met.cuts_back_to_back += 1;
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
                placement: 0,
            })
        });
        let depth = 1 + stream.named("depth").below(64) as u32;
        let mut host = Host::trace("model", records.clone(), depth, None);
        host.foretell_by(records);
        cut.into_iter().for_each(|cut| host.cut_power_at(cut));
        let ran = match met.records {
            false => host.run(&mut drive, &mut |_| {}),
            true => {
                let mut all = All::default();
                drive.record();
                let ran = host.run_watched(&mut drive, &mut |_| {}, &mut all);
                all.check(&format!("seed {seed}, round {round}"));
                ran
            }
        };
        let stats = ran.unwrap_or_else(|e| fail(&e));
        met.requests += stats.requests;
        met.write_protected += stats.counters.writes_refused;
        met.moved += stats.counters.slots_moved;
        met.refreshed += stats.counters.slots_refreshed;
        met.superblocks_refreshed += stats.counters.superblocks_refreshed;
        met.suspends += stats.counters.suspends;
        met.retried += stats.counters.retries[1..].iter().sum::<u64>();
        met.cancelled += stats.counters.cancelled_senses;
        let front = stats.counters.front;
        met.map_reads += front.map_reads;
        met.cache_hits += front.cache_hits;
        met.ahead += front.ahead_slots;
        met.soft += stats.counters.soft_reads;
        met.rebuilt += stats.counters.rebuilt;
        met.uncorrectable += stats.all.uncorrectable();
        if let Some(cut) = stats.power_cut {
            met.cut(&cut);
        }
        if let Err(unsound) = drive.audit() {
            panic!("seed {seed}, round {round}: {unsound:?}");
        }
        if stats.ended != Ended::Completed {
            met.ended += 1;
            break;
        }
    }
    let cuts = met.cuts_of_recovery - cut_before;
    for (one, other) in moving_pairs() {
        if [&one, &other].iter().all(|s| swarm.schemes.contains(s)) {
            *met.pairs.entry((one, other)).or_default() += cuts;
        }
    }
    let bad = drive.counters().since(&bad_at_first);
    met.replaced += bad.replaced;
    met.retired += bad.retired;
    if drive.is_read_only() {
        // Requests are in flight that a run has given up.
        drive.power_cut(drive.now()).unwrap_or_else(|e| fail(&e));
    }
    // All of it reads back.
    let all = (0..slots.div_ceil(16)).map(|i| {
        Ok(TraceRecord {
            time_ns: 0,
            op: HostOp::Read,
            offset_bytes: i * 16 * unit,
            len_bytes: (16.min(slots - i * 16) * unit) as u32,
            device: 0,
            placement: 0,
        })
    });
    let mut host = Host::trace("all", all.clone(), 32, None);
    host.foretell_by(all);
    let read = host.run(&mut drive, &mut |_| {});
    let read = read.unwrap_or_else(|e| fail(&e));
    let ideal = swarm.set.iter().any(|s| s == "cells=ideal");
    met.uncorrectable += read.all.uncorrectable();
    assert!(
        !ideal || read.all.uncorrectable() == 0,
        "seed {seed}: {} reads are lost",
        read.all.uncorrectable()
    );
}

/// The one seed to replay, where the environment names one.
#[expect(clippy::disallowed_methods, reason = "how a failed test is replayed")]
fn replayed() -> Option<u64> {
    let seed = std::env::var("FIRSTREAD_MODEL_SEED").ok()?;
    Some(seed.parse().expect("FIRSTREAD_MODEL_SEED is a number"))
}

/// Whether the environment names the seeds.
fn are_named() -> bool {
    replayed().is_some() || seeds_named().is_some()
}

/// The first of the seeds of a test: the same ones everywhere, unless the environment names another.
#[expect(clippy::disallowed_methods, reason = "how a test draws new seeds")]
fn base() -> u64 {
    match std::env::var("FIRSTREAD_SEED_BASE") {
        Ok(base) => base.parse().expect("FIRSTREAD_SEED_BASE is a number"),
        Err(_) => 0,
    }
}

fn seeds(count: u64) -> Vec<u64> {
    match replayed() {
        Some(seed) => vec![seed],
        None => (base()..base() + count).collect(),
    }
}

#[test]
fn model_swarm_of_drives_keeps_every_version() {
    let mut met = Met::default();
    for seed in seeds(12) {
        run(&swarm(seed), seed, 4, 120, &mut met);
    }
    met.check(&[
        met.requests,
        met.moved,
        met.refreshed,
        met.superblocks_refreshed,
    ]);
}

/// With any schemes, and where power is cut: no plane, channel or decoder does two things at a time, and the parts of each read
/// add up to its latency.
#[test]
fn model_swarm_of_drives_does_one_thing_at_a_time() {
    let mut met = Met {
        records: true,
        ..Met::default()
    };
    for seed in seeds(24) {
        run(&swarm(seed), seed, 3, 120, &mut met);
    }
    met.check(&[met.requests, met.moved, met.cuts, met.suspends, met.retried]);
}

/// Power cut at random events: what was acknowledged reads back, what was not is old or new. That cuts
/// meet all there is to meet, the long form asserts; tests of their own do so for each kind.
#[test]
fn powerloss_swarm_of_drives_keeps_what_was_acknowledged() {
    let mut met = Met::default();
    for seed in seeds(12) {
        let every = Swarm {
            cuts: 100,
            ..swarm(seed)
        };
        run(&every, seed, 16, 16, &mut met);
    }
    met.check(&[met.cuts / 100, met.lost, met.torn, met.waiting]);
}

/// The program of a part that holds padding alone fails, and is the last one of its wordline: nothing is to be written
/// again, and the write that waits for the wordline ends all the same.
#[test]
fn powerloss_a_write_ends_where_the_last_program_is_of_padding_and_fails() {
    let seed = 1_770_010_027;
    let every = Swarm {
        cuts: 100,
        ..swarm(seed)
    };
    run(&every, seed, 60, 40, &mut Met::default());
}

/// Millions of requests and cuts. `FIRSTREAD_MODEL_SEEDS=A..B` runs these seeds.
#[test]
#[ignore = "takes minutes: cargo test -p firstread-testkit --test whole_drive -- --ignored swarm"]
fn powerloss_long_swarm_of_drives_keeps_every_version() {
    let mut met = Met::default();
    let all = match seeds_named() {
        Some(range) => range.collect(),
        None => seeds(1_500),
    };
    for seed in all {
        run(&swarm(seed), seed, 12, 400, &mut met);
        let every = Swarm {
            cuts: 100,
            ..swarm(seed)
        };
        run(&every, seed, 60, 40, &mut met);
        // Many cuts, close together: that takes little time where cells make no errors.
        let often = match seed % 4 {
            0 => every,
            _ => without_errors(every),
        };
        run(&often, seed, 960, 10, &mut met);
        // Who stops it wants to know how far it came.
        println!(
            "seed {seed}: {} requests, {} cuts, of these {} cut twice and {} back to back; \
             probes {}, soft {}, rebuilds {}, conversions {}",
            met.requests,
            met.cuts,
            met.cuts_of_recovery,
            met.cuts_back_to_back,
            met.cuts_of_probes,
            met.cuts_of_soft,
            met.cuts_of_rebuilds,
            met.cuts_of_conversions,
        );
    }
    met.check(&[
        met.cuts,
        met.lost_slots,
        met.write_protected,
        met.torn,
        met.waiting,
        met.erasing,
        met.refreshed,
        met.superblocks_refreshed,
        met.map_pages,
        met.replaced,
        met.retired,
        met.ended,
        met.soft,
        met.rebuilt,
        met.cuts_of_recovery,
        met.cuts_back_to_back,
        met.cuts_of_probes,
        met.cuts_of_soft,
        met.cuts_of_rebuilds,
        met.cuts_of_conversions,
    ]);
    met.check_schemes();
}

/// The seeds that the environment names.
#[expect(
    clippy::disallowed_methods,
    reason = "how a long run goes on where it was"
)]
pub(crate) fn seeds_named() -> Option<std::ops::Range<u64>> {
    let named = std::env::var("FIRSTREAD_MODEL_SEEDS").ok()?;
    let ends = named.split_once("..").map(|(a, b)| (a.parse(), b.parse()));
    match ends {
        Some((Ok(first), Ok(end))) => Some(first..end),
        _ => panic!("FIRSTREAD_MODEL_SEEDS is two numbers, A..B"),
    }
}
