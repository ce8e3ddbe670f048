//! Lives of drives: from their beginning to their end.
#![allow(
    clippy::disallowed_methods,
    reason = "a life is kept in a file and read from it"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use firstread_drive::Precondition;
use firstread_firmware::observe::SuperblockUse;
use firstread_session::life::{
    self, Life, LifeEnd, LifeOutcome, LifeProgress, Lived, ProbeJob, Terms, Until,
};
use firstread_session::{Error, Input, Simulation};
use serde_json::Value;

/// 64 superblocks of 512 KiB that wear out in about 60 cycles.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.planes=2",
    "geometry.page=8 KiB",
    "geometry.wordlines_per_block=16",
    "capacity=26 MiB",
    "chip.modes.slc.endurance=60 P/E",
    "chip.failures.grown_bad=20 %",
    "chip.failures.shape=6 x",
    "schemes.gc_victim=greedy",
    "schemes.wear=static",
    "wear.static.spread=4 P/E",
];

fn life(job: &str, until: Until, set: &[&str]) -> Life {
    let input = Input::job_file("load", job.to_owned()).unwrap();
    let set = SMALL.iter().chain(set);
    let mut simulation = Simulation {
        drive: "bench-4g".into(),
        set: set
            .map(|s| firstread_drive::profile::Override::parse(s).unwrap())
            .collect(),
        ..Simulation::of(input)
    };
    simulation.state.pe_cycles = (0, 0);
    Life {
        setup: simulation.setup().unwrap(),
        terms: Terms {
            until,
            probe_requests: 0,
            ..Terms::default()
        },
    }
}

fn at_rate(wear_rate: u32, mut life: Life) -> Life {
    life.terms.wear_rate = wear_rate;
    life
}

fn live(life: &Life) -> LifeOutcome {
    life.live(&mut |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

const WRITES: &str = "[w]\nrw=randwrite\nbs=4k\nnorandommap\nrandom_distribution=zipf:0.9\n";

/// A drive that takes no writes once its high wearing area is worn to the bound ends so, and still holds its capacity.
#[test]
fn formula_a_life_ends_at_a_bound_of_wear() {
    let bound = &[
        "schemes.area=differential",
        "area.at_bound=read-only",
        "area.bound=50permille",
    ];
    let lived = live(&life(WRITES, Until::Full, bound)).lived;
    assert_eq!(lived.end, LifeEnd::WriteProtected);
    assert_eq!(
        lived.last().retired,
        live(&life(WRITES, Until::Bytes(1e6), bound))
            .lived
            .last()
            .retired
    );
}

/// A life ends when it is asked to, and says what was written: never less to flash than by the host, wear between its
/// bounds, and drive writes a day as the definition has them.
#[test]
fn formula_a_life_ends_as_asked() {
    let full = life(WRITES, Until::Full, &[]);
    let outcome = live(&full);
    let lived = &outcome.lived;
    assert_eq!(lived.end, LifeEnd::Full);
    assert!(lived.write_amplification.unwrap() >= 1.0);
    assert!(lived.last().retired > 0 && lived.last().bad_share > 0.0);
    assert_eq!(lived.smart.available_spare, 0);
    assert_eq!(lived.smart.critical_warning & 8, 8, "read only");
    let units = (lived.written_bytes() / 512_000.0).ceil() as u64;
    assert_eq!(lived.smart.data_units_written, units);
    let capacity = full.setup.profile.capacity_bytes as f64;
    let dwpd = lived.written_bytes() / (capacity * 5.0 * 365.0);
    assert!((outcome.dwpd(&full).unwrap() / dwpd - 1.0).abs() < 1e-12);
    assert_eq!(outcome.tbw(&full), Some(lived.written_bytes()));
    for sample in &lived.samples {
        let area = &sample.wear[0];
        let (low, high) = (f64::from(area.min), f64::from(area.max));
        assert!(low <= area.mean && area.mean <= high && area.p99 <= area.max);
    }
    assert!(lived.samples.is_sorted_by_key(|s| s.host_bytes as u64));
    assert_eq!(outcome.stages.len(), life::STAGES.len());

    let bad = live(&life(WRITES, Until::Bad(0.02), &[]));
    let share = bad.lived.last().bad_share;
    assert_eq!(bad.lived.end, LifeEnd::Reached);
    assert!((0.02..0.06).contains(&share), "{share}");
    assert!(bad.lived.written_bytes() < lived.written_bytes());

    let most = 200e6;
    let asked = life(WRITES, Until::Bytes(most), &[]);
    let bytes = live(&asked);
    // Wear did not end it: what was written is not what the drive can be written.
    assert_eq!((bytes.tbw(&asked), bytes.dwpd(&asked)), (None, None));
    let told = life::json(&asked, &bytes);
    assert!(told["tbw_bytes"].is_null() && told["dwpd"].is_null());
    assert_eq!(told["written_bytes"], bytes.lived.written_bytes());
    let over = bytes.lived.written_bytes() - most;
    assert!((0.0..=4096.0).contains(&over), "{over}");

    // One drive write a day, unless the load has times of its own.
    let years = live(&life(WRITES, Until::Years(0.02), &[]));
    let expected = 0.02 * 365.0 * capacity;
    let written = years.lived.written_bytes();
    assert!(
        (written / expected - 1.0).abs() < 0.01,
        "{written} of {expected}"
    );
}

fn by_job(text: &str) -> ProbeJob {
    ProbeJob {
        input: Input::job_file("probe", text.to_owned()).unwrap().into(),
        requests: 2_000,
        precondition: Precondition::None,
    }
}

/// Reads are probed at every end of a life, also where the drive can no longer hold its capacity: then it is as worn as it was
/// when it last could. A load with writes is probed by its reads, and the life does not count what it writes.
#[test]
fn formula_every_end_of_a_life_is_probed() {
    let mut full = life(WRITES, Until::Full, &[]);
    full.terms.probe_requests = 200;
    let alone = live(&full);
    full.terms.probe_job = Some(by_job(
        "[m]\nrw=randrw\nrwmixread=70\nbs=4k\nnorandommap\nio_size=64t\n",
    ));
    let outcome = live(&full);
    assert_eq!(outcome.lived.end, LifeEnd::Full);
    assert_eq!(outcome.lived.written_bytes(), alone.lived.written_bytes());
    let all = outcome.lived.written_bytes();
    for (stage, alone) in outcome.stages.iter().zip(&alone.stages) {
        let (probe, by_job) = (stage.probe.unwrap(), stage.by_job.unwrap());
        assert_eq!(stage.probe, alone.probe);
        assert_eq!((probe.reads, probe.written_bytes), (200, 0));
        assert!((1_300..1_500).contains(&by_job.reads), "{by_job:?}");
        assert_eq!(by_job.written_bytes, (2_000 - by_job.reads) * 4_096);
        assert!(probe.host_bytes <= stage.sample.host_bytes);
        assert!(
            probe.host_bytes > stage.sample.host_bytes - 0.2 * all,
            "{probe:?} of {all}"
        );
    }
    let told = life::json(&full, &outcome);
    assert_eq!(told["stages"][4]["reads_by_job"]["p99_99_ns"], Value::Null);
    assert_eq!(told["probe_job"], "probe");
}

/// The same life twice is the same, byte by byte, and with another seed of the drive it is another.
#[test]
fn formula_a_life_repeats() {
    let of = |seed: u64| {
        let mut life = life(WRITES, Until::Bad(0.02), &[]);
        life.setup.seed = seed;
        life::json(&life, &live(&life)).to_string()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

/// At a wear rate bytes stand for as many, and a life whose check differs is refused with both numbers.
#[test]
fn formula_a_wear_rate_is_checked() {
    let longer = [
        "chip.modes.slc.endurance=2000 P/E",
        "wear.static.spread=100 P/E",
    ];
    let life = at_rate(4, life(WRITES, Until::Bytes(8e9), &longer));
    let outcome = live(&life);
    let (rate, half) = (&outcome.lived, outcome.check.as_ref().unwrap());
    assert_eq!((rate.rate, half.rate), (4, 2));
    let mean = |l: &life::Lived| l.last().wear[0].mean / l.corrected();
    assert!((mean(rate) / mean(half) - 1.0).abs() <= life::MOST_APART);
    assert!(rate.corrected() >= 1.0);

    let coarse = at_rate(60, self::life(WRITES, Until::Full, &[]));
    let why = coarse.live(&mut |_| {}).unwrap_err().to_string();
    let expected = ["at this rate and", "at a rate of 30", "take a lower rate"];
    assert!(expected.iter().all(|part| why.contains(part)), "{why}");
}

/// What has no end, or cannot be had, is refused before it is run.
#[test]
fn formula_a_life_without_an_end_is_refused() {
    let refused = |life: Life, part: &str| {
        let why = life.live(&mut |_| {}).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    };
    let reads = "[r]\nrw=randread\nbs=4k\n";
    refused(life(reads, Until::Full, &[]), "writes nothing");
    let never = &["chip.failures.grown_bad=0 %"];
    refused(
        life(WRITES, Until::Full, never),
        "no block of chip `constant-128p` ever fails",
    );
    let mut probed = life(WRITES, Until::Full, &[]);
    probed.terms.probe_job = Some(by_job("[w]\nrw=randwrite\nbs=4k\n"));
    refused(probed, "--probe probe: reads nothing");
    let mut groups = life(WRITES, Until::Full, &[]);
    groups.terms.probe_job = Some(by_job(
        "[w]\nrw=randwrite\nbs=4k\n[r]\nstonewall\nrw=randread\nbs=4k\n",
    ));
    refused(groups, "several groups");
    refused(
        life(WRITES, "lost=client".parse().unwrap(), &[]),
        "have no voltages",
    );
    let rate = at_rate(2, life(WRITES, Until::Full, &["schemes.wear=dynamic"]));
    refused(rate, "choose static");
}

/// A life of a small drive with the cells of `ct-qlc` that writes it in address order until data are lost.
fn of_cells(wordlines: u32, wear_rate: u32, scheme: &str) -> Life {
    let input = Input::job_file("load", "[w]\nrw=write\nbs=1m\n".to_owned()).unwrap();
    let sets = [
        "geometry.channels=2".to_owned(),
        "geometry.chips_per_channel=1".into(),
        "geometry.dies_per_chip=1".into(),
        "geometry.blocks_per_plane=16".into(),
        "geometry.mapping_unit=16 KiB".into(),
        "chip.failures.factory_bad=0 %".into(),
        "chip.failures.grown_bad=0 %".into(),
        format!("geometry.wordlines_per_block={wordlines}"),
        format!("capacity={} MiB", 2 * wordlines),
        format!("schemes.read_recovery={scheme}"),
    ];
    let sets = sets.map(|s| firstread_drive::profile::Override::parse(&s).unwrap());
    let mut simulation = Simulation {
        set: sets.to_vec(),
        ..Simulation::of(input)
    };
    simulation.state.pe_cycles = (0, 0);
    Life {
        setup: simulation.setup().unwrap(),
        terms: Terms {
            wear_rate,
            probe_requests: 0,
            ..Terms::default()
        },
    }
}

/// Data are lost sooner on a worn drive, and a client's year at 30 °C is told apart from an enterprise's months at 40 °C.
#[test]
fn formula_lost_data_end_a_life_of_cells() {
    let life = of_cells(2, 4, "parity");
    let outcome = live(&life);
    assert_eq!(outcome.lived.end, LifeEnd::Reached);
    let rate = |s: &life::Sample| s.lost.unwrap().enterprise.host;
    let (first, last) = (&outcome.lived.samples[0], outcome.lived.last());
    assert!(
        rate(first) < 1e-16 && rate(last) > 1e-16,
        "{} {}",
        rate(first),
        rate(last)
    );
    let rates: Vec<f64> = outcome.lived.samples.iter().map(rate).collect();
    assert!(rates.is_sorted(), "{rates:?}");
    assert_ne!(last.lost.unwrap().client, last.lost.unwrap().enterprise);
    let (low, high) = outcome.tbw_interval(&life).unwrap();
    let tbw = outcome.tbw(&life).unwrap();
    assert!(
        low < tbw && tbw < high && high < 1.5 * tbw,
        "{low} {tbw} {high}"
    );
}

/// Lives of one wordline a block, of some, of many and of the whole block are the same life, within their intervals: what is
/// lost is that of the chip's block, whatever part of it the geometry takes.
#[test]
fn model_lives_do_not_hang_on_wordlines() {
    let lives = [1, 8, 64, 1408].map(|wordlines| {
        let life = of_cells(wordlines, 16, "parity");
        let outcome = live(&life);
        let capacity = life.setup.profile.capacity_bytes as f64;
        let (low, high) = outcome.tbw_interval(&life).unwrap();
        [low / capacity, high / capacity]
    });
    for a in lives {
        for b in lives {
            assert!(a[0] < b[1], "{lives:?}");
        }
    }
}

/// A latency run begins with the wear that a life left, superblock by superblock; a life of another geometry is refused
/// with the numbers.
#[test]
fn formula_a_run_begins_where_a_life_ended() {
    let life = life(WRITES, Until::Bytes(340e6), &[]);
    let outcome = live(&life);
    let json = life::json(&life, &outcome);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("life-worn.json");
    std::fs::write(&path, json.to_string()).unwrap();
    let with = |set: &[&str]| {
        let set = SMALL.iter().chain(set);
        let simulation = Simulation {
            drive: "bench-4g".into(),
            set: set
                .map(|s| firstread_drive::profile::Override::parse(s).unwrap())
                .collect(),
            wear_from: Some(path.clone()),
            ..Simulation::of(Input::open("randread-4k-qd1").unwrap())
        };
        simulation.setup()
    };
    let setup = with(&[]).unwrap();
    let drive = setup.drive().unwrap();
    let worn = &outcome.lived.last().blocks;
    let has = drive.blocks().iter().map(|(_, info)| info.pe_cycles);
    assert_eq!(has.collect::<Vec<_>>(), worn.pe_cycles);
    let retired = drive.blocks().iter();
    let retired = retired.map(|(_, info)| info.usage == SuperblockUse::Bad);
    assert_eq!(retired.collect::<Vec<_>>(), worn.retired);
    let last = worn.retired.iter().rev().take_while(|retired| **retired);
    assert!(
        worn.retired().len() > last.count(),
        "not the last ones alone are retired: {worn:?}"
    );
    let left: BTreeSet<u32> = worn.in_use().map(|(_, pe)| pe).collect();
    assert!(left.len() > 1, "they are not all alike");
    let result = firstread_session::results::config(&setup);
    assert_eq!(
        result["worn"]["pe_cycles"].as_array().map(Vec::len),
        Some(64)
    );

    let other = with(&["geometry.wordlines_per_block=8", "capacity=13 MiB"]);
    let why = match other {
        Err(Error::Worn(why)) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(
        why.contains("wordlines_per_block 16, and this drive has 8"),
        "{why}"
    );
    std::fs::write(&path, "{}").unwrap();
    let why = with(&[]).unwrap_err().to_string();
    assert!(why.contains("is no result of `firstread life"), "{why}");
    assert!(json["worn"]["retired"] != Value::Null);
}

/// A life that goes on from another's end is what one life would have been: bytes and years count from the beginning, wear and
/// bad blocks are those of the whole.
#[test]
fn model_a_life_goes_on_where_another_ended() {
    let whole = life(WRITES, Until::Bytes(340e6), &[]);
    let first = life(WRITES, Until::Bytes(200e6), &[]);
    let ended = live(&first);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("life-first.json");
    std::fs::write(&path, life::json(&first, &ended).to_string()).unwrap();
    let mut rest = whole.clone();
    rest.terms.probe_requests = 100;
    let simulation = Simulation {
        drive: "bench-4g".into(),
        set: SMALL
            .iter()
            .map(|s| firstread_drive::profile::Override::parse(s).unwrap())
            .collect(),
        wear_from: Some(path),
        ..Simulation::of(Input::job_file("load", WRITES.to_owned()).unwrap())
    };
    rest.setup = simulation.setup().unwrap();
    let outcome = live(&rest);
    // Stages are those of the second life.
    for (stage, share) in outcome.stages.iter().zip(life::STAGES) {
        assert!(
            (stage.share - share).abs() < 0.06,
            "{share}: {}",
            stage.share
        );
    }
    // Superblocks begin as they were left, whatever the wear rate.
    let at_begin = |outcome: &LifeOutcome| outcome.lived.samples[0].blocks.pe_cycles.clone();
    let left = ended.lived.last().blocks.pe_cycles.clone();
    assert_eq!(at_begin(&outcome), left);
    let mut fast = at_rate(8, rest.clone());
    fast.terms.until = Until::Bytes(201e6);
    fast.terms.probe_requests = 0;
    assert_eq!(at_begin(&live(&fast)), left);
    for until in [Until::Bytes(200e6), "years=0.001".parse().unwrap()] {
        let mut past = rest.clone();
        past.terms.until = until;
        let error = past.live(&mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("already"), "{error}");
    }
    let (whole, rest) = (live(&whole).lived, outcome.lived);
    let near = |a: f64, b: f64, within: f64| (a / b - 1.0).abs() < within;
    assert_eq!(rest.earlier_bytes(), ended.lived.written_bytes());
    assert!(near(rest.written_bytes(), whole.written_bytes(), 1e-3));
    assert!(near(rest.last().years, whole.last().years, 1e-3));
    assert!(rest.requests < 6 * whole.requests / 10);
    let wear = |l: &Lived| l.last().wear[0].mean;
    // Cleaning moves less for a while on a drive that was filled anew.
    assert!(near(wear(&rest), wear(&whole), 0.05) && wear(&rest) < wear(&whole));
    let (of_rest, of_whole) = (rest.last(), whole.last());
    assert_eq!(of_rest.factory_bad_blocks, of_whole.factory_bad_blocks);
    assert!(of_whole.bad_blocks > 0 && of_rest.bad_blocks.abs_diff(of_whole.bad_blocks) <= 2);
    let before = ended.lived.last().blocks.retired();
    let after = of_rest.blocks.retired();
    assert!(before.iter().all(|block| after.contains(block)));
    assert!(after.len().abs_diff(of_whole.blocks.retired().len()) <= 1);
}

/// A life that is asked to end has what it was until then: no check, no probe that had not ended.
#[test]
fn sequence_an_interrupted_life_has_what_it_was() {
    let mut asked = life(WRITES, Until::Full, &[]);
    asked.terms.probe_requests = 100;
    asked.setup.interrupt.ask();
    let outcome = live(&asked);
    assert!(outcome.interrupted && outcome.check.is_none());
    assert_eq!(outcome.lived.end, LifeEnd::Interrupted);
    assert_eq!(outcome.lived.requests, 0);
    assert_eq!(life::json(&asked, &outcome)["ended"], "interrupted");

    // Asked by its first look at the drive, and by its first probe.
    let mut early = life(WRITES, Until::Full, &["chip.failures.grown_bad=10 %"]);
    early.terms.probe_requests = 100;
    let interrupt = early.setup.interrupt.clone();
    let outcome = early.live(&mut |_| interrupt.ask()).unwrap();
    assert_eq!(outcome.lived.end, LifeEnd::Interrupted);
    assert!(outcome.lived.requests > 0 && outcome.lived.written_bytes() > 0.0);
    assert!(outcome.stages.iter().all(|stage| stage.probe.is_none()));

    let mut probed = life(WRITES, Until::Bytes(200e6), &[]);
    probed.terms.probe_requests = 20_000;
    let interrupt = probed.setup.interrupt.clone();
    let at_third = |progress| {
        if progress == LifeProgress::Probes(2) {
            interrupt.ask();
        }
    };
    let outcome = probed.live(&mut { at_third }).unwrap();
    assert_eq!(outcome.lived.end, LifeEnd::Reached);
    let probes: Vec<bool> = outcome.stages.iter().map(|s| s.probe.is_some()).collect();
    assert_eq!(probes, [true, true, false, false, false]);
    assert!(outcome.interrupted);
}

/// A drive of 96 superblocks of four chips of QLC, with a pool in SLC mode if `scheme` has one. Half of its pages are written, a few of
/// them often.
fn pool_life(scheme: &str) -> Life {
    let set = [
        "cells=ideal",
        "chip.failures.grown_bad=0 %",
        "geometry.channels=2",
        "geometry.dies_per_chip=1",
        "geometry.chips_per_channel=1",
        "geometry.planes=1",
        "geometry.blocks_per_plane=96",
        "geometry.wordlines_per_block=16",
        "schemes.wear=none",
        "firmware.cell_modes=all",
        "chip.modes.slc.cycle_damage=0.015 x",
    ];
    let set = set.iter().map(|s| s.to_string());
    let set = set.chain([
        format!("schemes.cell_mode={scheme}"),
        "capacity=56 MiB".into(),
    ]);
    let job = "[w]\nrw=randwrite\nbs=4k\nnorandommap\nrandom_distribution=zipf:1.16\nsize=50%\n";
    let mut simulation = Simulation {
        drive: "ibm-qlc".into(),
        set: set
            .map(|s| firstread_drive::profile::Override::parse(&s).unwrap())
            .collect(),
        ..Simulation::of(Input::job_file("load", job.to_owned()).unwrap())
    };
    simulation.state.pe_cycles = (0, 0);
    let probe = "[r]\nrw=randrw\nrwmixread=50\nbs=4k\niodepth=4\nnorandommap\n";
    Life {
        setup: simulation.setup().unwrap(),
        terms: Terms {
            until: Until::Bytes(1e9),
            probe_requests: 0,
            probe_job: Some(ProbeJob {
                input: std::sync::Arc::new(Input::job_file("mixed", probe.to_owned()).unwrap()),
                requests: 4_000,
                precondition: Precondition::None,
            }),
            ..Terms::default()
        },
    }
}

/// What writes cost is told over the life. In QLC mode alone the time of programs is write amplification times a quarter of the program
/// of a wordline, between any two samples as over the life. With a pool in SLC mode it falls as the pool grows, and the probes by a load
/// tell what its writes take.
#[test]
fn formula_a_life_tells_what_writes_cost_over_time() {
    let [fixed, pools] = ["fixed", "hybrid-pools"].map(|scheme| live(&pool_life(scheme)));
    // Two passes of 3.33 and 6.67 ms program the four pages of a wordline.
    let page_ns = 10e6 / 4.0;
    let mut told = 0;
    for (sample, recent) in fixed.lived.over_life() {
        if let (Some(ns), Some(amplification)) =
            (sample.program_ns_per_page, sample.write_amplification)
        {
            assert!((ns / (amplification * page_ns) - 1.0).abs() < 1e-9);
        }
        let Some(recent) = recent else { continue };
        let ns = recent.write_amplification * page_ns;
        assert!((recent.program_ns_per_page / ns - 1.0).abs() < 1e-9);
        told += 1;
    }
    assert!(told + 4 > fixed.lived.samples.len(), "{told}");
    let mean = |outcome: &LifeOutcome| outcome.lived.last().program_ns_per_page.unwrap();
    let of_pools = mean(&pools) / mean(&fixed);
    let share = pools.lived.last().other_modes_share.unwrap();
    println!("{of_pools:.3} of the program time, {share:.2} in SLC mode");
    assert!(of_pools < 0.6 && share > 0.03, "{of_pools} {share}");
    for outcome in [&fixed, &pools] {
        for stage in &outcome.stages {
            let writes = stage.by_job.unwrap().writes.unwrap();
            assert!(writes.writes > 1_500 && writes.mean_ns > 0.0);
            assert!(writes.p999_ns <= writes.max_ns && writes.mean_ns < writes.p999_ns as f64);
        }
        let json = life::json(&pool_life("fixed"), outcome);
        let over_life = json["over_life"].as_array().unwrap();
        let last = over_life.last().unwrap();
        assert!(last["since_last"]["program_ns_per_page"].as_f64().unwrap() > 0.0);
        assert!(over_life[0]["since_last"].is_null());
    }
}
