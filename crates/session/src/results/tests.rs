//! Results and metrics of counts that were set by hand.

use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, Ns, SuperblockId};
use firstread_drive::profile::Override;
use firstread_drive::stats::{Depths, OfRegion, Wear};
use firstread_drive::{DriveState, Precondition};
use firstread_firmware::ftl::Owner;
use firstread_firmware::log::{Record, What};
use firstread_firmware::observe::{
    Counters, FrontEndCounters, OpenedFor, PhysicalCapacity, RETRY_BINS, page_type_bin, stream_bin,
};
use firstread_firmware::policy::area::Entry;

use super::*;
use crate::setup::{BurnInSetup, Simulation};
use crate::study::metric::of_run;

/// A run of a hundred requests, whose counts a test sets.
fn short_run(drive: &str, set: &[&str], job: &str) -> (Setup, Outcome) {
    let set = set.iter().map(|text| Override::parse(text).unwrap());
    let setup = Simulation {
        drive: drive.into(),
        set: set.collect(),
        limit: Some(100),
        ..Simulation::of(Input::job_file("j", job.to_owned()).unwrap())
    };
    let setup = setup.setup().unwrap();
    let mut outcome = setup.simulate().unwrap();
    outcome.stats.counters = Counters::default();
    outcome.log.clear();
    (setup, outcome)
}

const READS: &str = "[a]\nrw=randread\nbs=4k\n";

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs().max(1.0)
}

/// The lines of each stream and those that streams of schemes share are all that the write buffers have.
#[test]
fn formula_write_buffers_of_streams_add_up() {
    let few = ["schemes.wear=static"];
    let many = [
        "schemes.wear=progressive-hot",
        "schemes.refresh=lightweight",
        "schemes.area=differential",
        "dram.map_cache=256KiB",
    ];
    let of_few: (&[&str], &[&str]) = (&["host", "moves"], &["cold"]);
    let of_many: (&[&str], &[&str]) = (
        &["host", "moves", "map"],
        &["refreshed", "cold", "read_often", "low"],
    );
    for (set, (own, declared)) in [(&few[..], of_few), (&many, of_many)] {
        let (setup, outcome) = short_run("bench-4g", set, READS);
        let result = result(&setup, &outcome, false);
        let memory = &result["firstread"]["write_buffer"];
        let streams = memory["streams"].as_object().unwrap();
        assert_eq!(streams.keys().collect::<Vec<_>>(), [own, declared].concat());
        let geometry = &setup.profile.geometry;
        let line = geometry.slots_per_stripe() * u32::from(setup.profile.mode.bits());
        let line = u64::from(line) * u64::from(geometry.slot_bytes);
        let lines = |n: u64| json!({ "lines": n, "bytes": n * line });
        for (name, of) in streams {
            let n = if own.contains(&name.as_str()) { 3 } else { 1 };
            assert_eq!(*of, lines(n), "{name}");
        }
        assert_eq!(memory["shared"], lines(2));
        let bytes = |of: &Value| of["bytes"].as_u64().unwrap();
        let all = streams.values().chain([&memory["shared"]]);
        assert_eq!(all.map(bytes).sum::<u64>(), bytes(memory));
        let of_schemes = declared.iter().map(|name| &streams[*name]);
        let of_schemes = of_schemes.chain([&memory["shared"]]);
        assert_eq!(
            of_schemes.map(bytes).sum::<u64>(),
            memory["of_schemes_bytes"].as_u64().unwrap()
        );
    }
    let (setup, outcome) = short_run("bench-4g", &["schemes.wear=none"], READS);
    let result = result(&setup, &outcome, false);
    assert_eq!(result["firstread"].get("write_buffer"), None);
}

/// The slowest requests are at least one, and the shares of what they waited for make a whole.
#[test]
fn formula_the_tail_has_requests_and_shares() {
    let (setup, outcome) = short_run("bench-4g", &[], READS);
    let result = result(&setup, &outcome, false);
    let of = |key: &str| &result["firstread"][key];
    assert!(of("tail_requests").as_u64().unwrap() >= 1);
    let shares = of("tail").as_object().unwrap().values();
    let all: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((all - 1.0).abs() < 1e-9, "{all}");
}

/// What an option of the drive switches off of a scheme stands in a result's notes.
#[test]
fn formula_notes_name_what_is_switched_off() {
    let notes_of = |set: &[&str]| {
        let set = set.iter().map(|text| Override::parse(text).unwrap());
        let simulation = Simulation {
            drive: "dc-qlc-15t".into(),
            set: set.collect(),
            ..Simulation::of(Input::job_file("j", READS.to_owned()).unwrap())
        };
        notes(&simulation.setup().unwrap())
    };
    let area = "schemes.area=differential";
    let off = notes_of(&[area, "dram.write_cache=volatile"]);
    assert_eq!(off.as_array().map(Vec::len), Some(1), "{off}");
    let says = off[0].as_str().unwrap();
    assert!(
        says.starts_with("area=differential: ") && says.contains("`dram.write_cache`"),
        "{says}"
    );
    assert_eq!(notes_of(&[area]), json!([]));
}

/// A state that is computed by an approximation and burnt in is told: that of two areas under Zipf's law. Without a burn-in such a
/// state is refused, or is none.
#[test]
fn formula_notes_name_a_state_that_is_an_approximation() {
    let notes_of = |area: &str, precondition: Precondition, burn_in: bool| {
        let simulation = Simulation {
            drive: "dc-qlc-15t".into(),
            set: vec![Override::parse(area).unwrap()],
            state: DriveState {
                precondition,
                ..DriveState::default()
            },
            burn_in: burn_in.then_some(BurnInSetup::BY_ITSELF),
            ..Simulation::of(Input::job_file("j", READS.to_owned()).unwrap())
        };
        let notes = notes(&simulation.setup().unwrap());
        notes.as_array().map_or(0, Vec::len)
    };
    let (one, two) = ("schemes.area=one", "schemes.area=differential");
    assert_eq!(notes_of(two, Precondition::Zipf(1.1), true), 1);
    assert_eq!(notes_of(two, Precondition::Zipf(1.1), false), 0);
    for (area, precondition) in [
        (one, Precondition::Zipf(1.1)),
        (two, Precondition::Random),
        (two, Precondition::None),
    ] {
        assert_eq!(notes_of(area, precondition, true), 0, "{area}");
    }
}

/// Under Zipf's law a drive whose host's area cannot hold its data is burnt in or refused, and one whose area can is neither.
#[test]
fn formula_a_state_that_is_an_approximation_is_refused_without_a_burn_in() {
    let made = |capacity: &str, burn_in: bool| {
        let set = [
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=32",
            "schemes.area=differential",
            capacity,
        ];
        let simulation = Simulation {
            drive: "raro-femu".into(),
            set: set.map(|text| Override::parse(text).unwrap()).into(),
            state: DriveState {
                precondition: Precondition::Zipf(1.1),
                ..DriveState::default()
            },
            burn_in: burn_in.then_some(BurnInSetup::BY_ITSELF),
            ..Simulation::of(Input::job_file("j", READS.to_owned()).unwrap())
        };
        let made = simulation.setup().unwrap().drive();
        made.map(|drive| drive.is_approximated())
            .map_err(|e| e.to_string())
    };
    assert_eq!(made("capacity=456 MiB", true), Ok(true));
    let text = made("capacity=456 MiB", false).unwrap_err();
    assert!(
        text.contains("--precondition zipf:1.1") && text.contains("--burn-in"),
        "{text}"
    );
    assert_eq!(made("capacity=300 MiB", false), Ok(false));
}

/// A thousand page reads of the page types of QLC and of one of TLC. The second page of three is the slowest of TLC.
#[test]
fn formula_page_types_of_counts_by_hand() {
    let (setup, mut outcome) = short_run("ibm-qlc-paca", &[], READS);
    let c = &mut outcome.stats.measured;
    let qlc = page_type_bin(CellMode::Qlc, 0);
    c.page_reads_by_page_type[qlc..].copy_from_slice(&[500, 200, 100, 100]);
    c.page_retries_by_page_type[qlc + 3] = 250;
    c.page_read_ns_by_page_type[qlc] = 30_000_000;
    c.page_reads_by_page_type[page_type_bin(CellMode::Tlc, 1)] = 100;
    let rows = page_types::json(&setup, &outcome);
    let of = |key: &str| -> Vec<Value> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row[key].clone()).collect()
    };
    let all = |mode: &str| of("mode").iter().filter(|m| *m == mode).count();
    assert_eq!((all("qlc"), all("tlc"), all("slc")), (4, 3, 0));
    assert_eq!(of("page_type"), ["a", "b", "c", "d", "a", "b", "c"]);
    assert_eq!(of("page"), [0, 1, 2, 3, 0, 2, 1]);
    assert_eq!(of("senses"), [1, 2, 4, 8, 2, 2, 3]);
    assert_eq!(of("sense_ns")[..4], [47_900, 76_200, 134_600, 228_100]);
    assert_eq!(of("page_reads"), [500, 200, 100, 100, 0, 0, 100]);
    assert_eq!(
        (&rows[0]["page_read_share"], &rows[0]["page_read_mean_us"]),
        (&json!(0.5), &json!(60.0))
    );
    assert_eq!(
        (&rows[3]["retries_mean"], &rows[4]["retries_mean"]),
        (&json!(2.5), &Value::Null)
    );
    let metrics = of_run(&setup, &outcome);
    let metric = |name: &str| number(&metrics[name]);
    assert!(near(metric("page_a_read_percent"), 50.0) && near(metric("page_d_retries_mean"), 2.5));
    assert!(near(metric("page_a_read_us"), 60.0));
}

/// Streams and placement handles of counts by hand: two handles, whose data stay apart when they move or not.
#[test]
fn formula_streams_and_handles_of_counts_by_hand() {
    let set = |persistent: &str| {
        let persistent = format!("stream.persistent={persistent}");
        let set = ["schemes.stream=fdp", "stream.handles=2", &persistent];
        let (setup, mut outcome) = short_run("bench-4g", &set, READS);
        let slot = u64::from(setup.profile.geometry.slot_bytes);
        let c = &mut outcome.stats.counters;
        let moves = stream_bin(OpenedFor::Moves(0));
        c.slots_into_stream[..2].copy_from_slice(&[100, 40]);
        c.slots_into_stream[moves..moves + 2].copy_from_slice(&[7, 5]);
        c.slots_invalidated_in_stream[..2].copy_from_slice(&[60, 30]);
        c.slots_invalidated_in_stream[moves..moves + 2].copy_from_slice(&[1, 3]);
        c.slots_moved_out_of_stream[..2].copy_from_slice(&[6, 4]);
        c.slots_moved_out_of_stream[moves..moves + 2].copy_from_slice(&[11, 2]);
        c.superblocks_erased_of_stream[..2].copy_from_slice(&[9, 8]);
        c.superblocks_erased_of_stream[moves..moves + 2].copy_from_slice(&[2, 1]);
        c.erases_by_mode[setup.profile.mode.index()] = 20;
        c.host_bytes_written = 140 * slot - 512;
        c.slots_programmed = 161;
        (setup, outcome, slot)
    };
    let of = |rows: &Value, key: &str| -> Vec<Value> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row[key].clone()).collect()
    };
    for (persistent, names, of_moves) in [
        (
            "true",
            &["host", "host-1", "moves", "moves-1"][..],
            [[1, 3], [11, 2], [2, 1]],
        ),
        ("false", &["host", "host-1", "moves"], [[0, 0]; 3]),
    ] {
        let (setup, outcome, slot) = set(persistent);
        let result = &result(&setup, &outcome, false)["firstread"];
        let streams = &result["streams"];
        assert_eq!(of(streams, "name"), names);
        let n = names.len();
        assert_eq!(of(streams, "slots"), [100, 40, 7, 5][..n]);
        assert_eq!(of(streams, "invalidated_slots"), [60, 30, 1, 3][..n]);
        assert_eq!(of(streams, "moved_out_slots"), [6, 4, 11, 2][..n]);
        assert_eq!(of(streams, "superblocks_erased"), [9, 8, 2, 1][..n]);
        let buffers = of(streams, "buffer_bytes");
        let buffer = |name: &str| &result["write_buffer"]["streams"][name]["bytes"];
        for (bytes, name) in buffers.iter().zip(names) {
            assert_eq!(bytes, buffer(name), "{name}");
        }
        let fdp = &result["fdp"];
        let superblock = u64::from(
            setup
                .profile
                .geometry
                .slots_per_superblock(setup.profile.mode),
        );
        assert_eq!(fdp["persistent"], persistent == "true");
        assert_eq!(fdp["hbmw_bytes"], 140 * slot - 512);
        assert_eq!(fdp["mbmw_bytes"], 161 * slot);
        assert_eq!(fdp["mbe_bytes"], 20 * superblock * slot);
        let handles = &fdp["handles"];
        let [invalidated, moved, erased]: [[u64; 2]; 3] = of_moves;
        assert_eq!(of(handles, "handle"), [0, 1]);
        assert_eq!(of(handles, "host_bytes"), [100 * slot, 40 * slot]);
        assert_eq!(
            of(handles, "invalidated_bytes"),
            [60 + invalidated[0], 30 + invalidated[1]].map(|n| n * slot)
        );
        let moved = [6 + moved[0], 4 + moved[1]].map(|n| n * slot);
        assert_eq!(of(handles, "moved_bytes"), moved);
        let erased = [9 + erased[0], 8 + erased[1]].map(|n| n * superblock * slot);
        assert_eq!(of(handles, "erased_bytes"), erased);
        let metrics = of_run(&setup, &outcome);
        let metric = |name: &str| number(&metrics[name]);
        assert!(near(
            metric("host_streams_moved_percent"),
            100.0 * 10.0 / 140.0
        ));
        assert!(near(
            metric("mbmw_per_hbmw"),
            161.0 * slot as f64 / (140 * slot - 512) as f64
        ));
        assert!(near(
            metric("mbe_mib"),
            (20 * superblock * slot) as f64 / f64::from(1 << 20)
        ));
    }
    // Streams of a scheme without handles, and of none.
    for (scheme, shown) in [("write-heat", true), ("one", false)] {
        let set = format!("schemes.stream={scheme}");
        let (setup, outcome) = short_run("bench-4g", &[&set, "capacity=3 GiB"], READS);
        let result = &result(&setup, &outcome, false)["firstread"];
        assert_eq!(result.get("streams").is_some(), shown, "{scheme}");
        assert!(result.get("fdp").is_none(), "{scheme}");
    }
}

/// Page types that are chosen although all of them are alike are told, once.
#[test]
fn formula_notes_name_page_types_that_are_alike() {
    let notes_of = |drive: &str, scheme: &str| {
        let set = format!("schemes.page_type={scheme}");
        let (setup, _) = short_run(drive, &[&set], READS);
        setup.notes()
    };
    let alike = notes_of("bench-4g", "read-heat");
    assert_eq!(alike.len(), 1, "{alike:?}");
    assert!(
        alike[0].starts_with("page_type=read-heat: every page type of chip `constant-128p`"),
        "{alike:?}"
    );
    let none: [String; 0] = [];
    assert_eq!(notes_of("bench-4g", "in-order"), none);
    assert_eq!(notes_of("ibm-qlc-paca", "read-heat"), none);
}

/// A thousand page reads in three modes, two of them with superblocks.
#[test]
fn formula_cell_modes_of_counts_by_hand() {
    let set = [
        "cells=formula",
        "geometry.mapping_unit=16 KiB",
        "schemes.cell_mode=hotness",
        "chip.array.layers=2",
        "capacity=384 MiB",
    ];
    let (setup, mut outcome) = short_run("raro-femu", &set, READS);
    let slot_bytes = u64::from(setup.profile.geometry.slot_bytes);
    assert_eq!(setup.profile.mode, CellMode::Qlc);
    let c = &mut outcome.stats.counters;
    c.page_reads_by_mode = [100, 0, 300, 600];
    c.first_tries_by_mode = [100, 0, 150, 60];
    c.page_retries_by_mode = [0, 0, 600, 3_000];
    c.page_read_ns_by_mode = [4_000_000, 0, 30_000_000, 120_000_000];
    c.erases_by_mode = [10, 0, 20, 30];
    c.slots_programmed_by_mode = [1, 0, 2, 3];
    c.slots_promoted = [40, 0, 50, 0];
    c.conversions = 7;
    c.superblocks_given_back = 8;
    c.superblocks_given_back_for_room = 3;
    c.slots_demoted = 9;
    c.promotions_refused[0] = 5;
    c.promotions_refused[1] = 6;
    let m = &mut outcome.stats.modes;
    (m.start.superblocks, m.end.superblocks) = ([1, 0, 0, 9], [2, 0, 1, 7]);
    (m.start.valid_slots, m.end.valid_slots) = ([11, 0, 0, 12], [13, 0, 14, 15]);
    let capacity = |slots, lost_slots| PhysicalCapacity { slots, lost_slots };
    (m.start.capacity, m.end.capacity, m.worst) =
        (capacity(1_000, 10), capacity(900, 110), capacity(800, 210));
    outcome.capacity_bytes = 700 * slot_bytes;

    let of = modes::json(&setup, &outcome);
    assert_eq!(of["own"], "qlc");
    assert_eq!(of["conversions"], 7);
    assert_eq!(of["superblocks_given_back"], 8);
    assert_eq!(of["superblocks_given_back_for_room"], 3);
    assert_eq!(of["promotions_refused"]["no_superblock"], 6);
    assert_eq!(of["demoted_slots"], 9);
    assert_eq!(of["promoted_slots"]["slc"], 40);
    assert_eq!(of["promoted_slots"]["tlc"], 50);
    let bytes = |slots: [u64; 3], last: &str| {
        let [start, end, worst] = slots.map(|n| n * slot_bytes);
        json!({ "start": start, "end": end, last: worst })
    };
    assert_eq!(of["physical_bytes"], bytes([1_000, 900, 800], "least"));
    assert_eq!(
        of["over_provisioning_bytes"],
        bytes([300, 200, 100], "least")
    );
    assert_eq!(of["lost_bytes"], bytes([10, 110, 210], "most"));
    let by_mode = of["by_mode"].as_object().unwrap();
    assert_eq!(by_mode.keys().collect::<Vec<_>>(), ["slc", "tlc", "qlc"]);
    assert_eq!(
        by_mode["tlc"],
        json!({
            "superblocks": { "start": 0, "end": 1 },
            "valid_slots": { "start": 0, "end": 14 },
            "erases": 20,
            "slots_programmed": 2,
            "page_reads": 300,
            "first_tries": 150,
            "retries": 600,
            "page_read_ns": 30_000_000,
            "page_read_share": 0.3,
            "page_read_mean_us": 100.0,
            "first_try_rate": 0.5,
            "retries_mean": 2.0,
        })
    );
    let rated = |mode| f64::from(setup.profile.chip.mode(mode).unwrap().endurance_pe_cycles);
    let own = rated(CellMode::Qlc);
    let by_ratings = 10.0 * own / rated(CellMode::Slc) + 20.0 * own / rated(CellMode::Tlc) + 30.0;
    let damage = &of["damage_cycles"];
    assert_eq!(damage["alike"], 60.0);
    assert!(near(number(&damage["by_ratings"]), by_ratings), "{damage}");
    let by = setup.profile.cycle_damage();
    let milli = |mode| f64::from(by.milli(mode)) / 1_000.0;
    let as_set = 10.0 * milli(CellMode::Slc) + 20.0 * milli(CellMode::Tlc) + 30.0;
    assert!(near(number(&damage["as_set"]), as_set), "{damage}");

    let metrics = of_run(&setup, &outcome);
    for (name, value) in [
        ("slc_read_percent", 10.0),
        ("qlc_read_percent", 60.0),
        ("slc_read_us", 40.0),
        ("tlc_retries_mean", 2.0),
        ("qlc_retries_mean", 5.0),
        ("slc_superblocks", 2.0),
        ("tlc_valid_slots", 14.0),
        ("qlc_erases", 30.0),
        ("damage_cycles_alike", 60.0),
        ("conversions", 7.0),
        ("promotions_refused", 11.0),
        ("capacity_lost_percent", 100.0 * 110.0 / 1_010.0),
        ("over_provisioning_percent", 200.0 / 7.0),
        ("over_provisioning_least_percent", 100.0 / 7.0),
        ("capacity_lost_mib", 110.0 * slot_bytes as f64 / 1_048_576.0),
        (
            "capacity_lost_peak_mib",
            210.0 * slot_bytes as f64 / 1_048_576.0,
        ),
    ] {
        assert!(
            near(number(&metrics[name]), value),
            "{name}: {}",
            metrics[name]
        );
    }
    // A mode without superblocks, erases, programs or reads did not occur.
    assert!(!metrics.contains_key("mlc_superblocks"));

    // Without reads there are no shares, and the drive's own mode is there anyway.
    outcome.stats.counters = Counters::default();
    outcome.stats.modes.start.superblocks = [0, 0, 0, 0];
    outcome.stats.modes.end.superblocks = [0, 1, 0, 0];
    let of = modes::json(&setup, &outcome);
    let by_mode = of["by_mode"].as_object().unwrap();
    assert_eq!(by_mode.keys().collect::<Vec<_>>(), ["mlc", "qlc"]);
    assert_eq!(by_mode["qlc"]["page_read_share"], Value::Null);
    assert_eq!(by_mode["qlc"]["retries_mean"], Value::Null);
}

/// Each of the three signs of other modes is one.
#[test]
fn sequence_modes_are_mixed_where_one_existed_or_was_made() {
    let (_, mut outcome) = short_run("bench-4g", &[], READS);
    assert!(!modes::are_mixed(&outcome));
    outcome.stats.counters.conversions = 1;
    assert!(modes::are_mixed(&outcome));
    outcome.stats.counters.conversions = 0;
    outcome.stats.modes.start.capacity.lost_slots = 1;
    assert!(modes::are_mixed(&outcome));
    outcome.stats.modes.start.capacity.lost_slots = 0;
    outcome.stats.modes.worst.lost_slots = 1;
    assert!(modes::are_mixed(&outcome));
}

/// Each area has what its region counts.
#[test]
fn formula_areas_of_counts_by_hand() {
    let (setup, mut outcome) = short_run("bench-4g", &[], READS);
    assert_eq!(areas::json(&outcome), None);
    let c = &mut outcome.stats.counters;
    c.page_reads_by_mode = [100, 200, 300, 400];
    c.page_retries_by_mode = [10, 20, 30, 40];
    c.page_read_ns_by_mode = [1_000_000, 2_000_000, 3_000_000, 4_000_000];
    c.page_reads_by_region = [750, 250, 0, 0];
    c.page_retries_by_region = [25, 75, 0, 0];
    c.page_read_ns_by_region = [9_000_000, 1_000_000, 0, 0];
    (c.erases, c.erases_by_region) = (50, [30, 20, 0, 0]);
    c.slots_entered = [1, 2, 4, 8, 16, 32, 64];
    (c.migrations_over_budget, c.superblocks_emptied_for_room) = (3, 4);
    (c.superblocks_compacted, c.opened_elsewhere) = (5, 6);
    c.writes_refused = 7;
    c.slots_moved_by[Owner::Migration as usize] = 2;
    c.slots_moved_by[Owner::MakeRoom as usize] = 13;
    let wear = |mean| Wear {
        min: 1,
        mean,
        p99: 3,
        max: 4,
    };
    let area = |superblocks, wear| OfRegion {
        superblocks,
        valid_slots: 77,
        wear,
    };
    outcome.stats.regions = vec![area(10, Some(wear(2.5))), area(20, None)];
    let of = areas::json(&outcome).unwrap();
    assert_eq!(
        of["by_area"]["high"],
        json!({
            "superblocks": 10,
            "valid_slots": 77,
            "erases": 30,
            "pe_cycles": { "min": 1, "mean": 2.5, "p99": 3, "max": 4 },
            "page_reads": 750,
            "page_read_share": 0.75,
            "page_read_mean_us": 12.0,
            "retries_mean": 25.0 / 750.0,
        })
    );
    let low = &of["by_area"]["low"];
    assert_eq!(
        (&low["erases"], &low["page_reads"]),
        (&20.into(), &250.into())
    );
    assert_eq!(
        (&low["pe_cycles"], &low["page_read_mean_us"]),
        (&Value::Null, &4.0.into())
    );
    assert_eq!(of["entered_slots"][Entry::Stay.name()], 64);
    for (key, n) in [
        ("over_budget", 3),
        ("superblocks_returned", 4),
        ("superblocks_compacted", 5),
        ("opened_elsewhere", 6),
        ("writes_refused", 7),
    ] {
        assert_eq!(of[key], n, "{key}");
    }
    let metrics = of_run(&setup, &outcome);
    for (name, value) in [
        ("low_read_percent", 25.0),
        ("low_read_us", 4.0),
        ("high_read_us", 12.0),
        ("low_retries_mean", 0.3),
        ("high_pe_mean", 2.5),
        // All but what stayed.
        ("low_entered_slots", 63.0),
        ("moved_return_slots", 13.0),
        // Of a hundred requests.
        ("migrated_percent", 2.0),
    ] {
        assert!(
            near(number(&metrics[name]), value),
            "{name}: {}",
            metrics[name]
        );
    }
    assert!(!metrics.contains_key("low_pe_mean"));
}

/// Metrics that are taken from counts alone, or from counts and one time.
#[test]
fn formula_metrics_of_counts_by_hand() {
    let job = "[a]\nrw=randrw\nrwmixread=50\nbs=4k\nnorandommap\n";
    let (setup, mut outcome) = short_run("bench-4g", &[], job);
    outcome.stats.all.runtime_ns = 500_000_000;
    outcome.stats.all.read.bytes = 3 << 20;
    outcome.stats.all.write.bytes = 1 << 20;
    outcome.began = Ns::from_s(10);
    outcome.background_reads_before = 100;
    let c = &mut outcome.stats.counters;
    c.retries = [0; RETRY_BINS];
    (c.retries[0], c.retries[2], c.retries[5]) = (80, 10, 6);
    (c.uncorrectable, c.lost_retries) = (4, 40);
    (c.background_reads, c.cancelled_senses, c.erases) = (11, 12, 13);
    (c.host_slots_written, c.slots_programmed) = (40, 100);
    for (place, n) in c.slots_moved_by.iter_mut().enumerate() {
        *n = 100 + place as u64;
    }
    let metrics = of_run(&setup, &outcome);
    for (name, value) in [
        ("iops", 200.0),
        ("bandwidth_mib_s", 8.0),
        ("write_bandwidth_mib_s", 2.0),
        ("first_try_percent", 80.0),
        // 20, 30 and 40 retries of 100 pages.
        ("retries_mean", 0.9),
        ("retries_min", 0.0),
        ("retries_max", 5.0),
        ("retried_2_percent", 20.0),
        ("retried_3_percent", 10.0),
        ("cancelled_senses", 12.0),
        ("background_reads", 11.0),
        ("background_reads_before", 100.0),
        // 100 pages in half a second are 2,000 in ten.
        ("background_share_percent", 5.0),
        ("superblocks_erased", 13.0),
        ("programmed_slots", 100.0),
        ("programmed_per_written", 2.5),
        ("programmed_host_slots", 40.0),
        ("moved_gc_slots", 100.0),
        ("moved_wear_slots", 101.0),
        ("moved_conversion_slots", 102.0),
        ("moved_refresh_slots", 104.0),
        ("moved_scheme_slots", 106.0),
    ] {
        assert!(
            near(number(&metrics[name]), value),
            "{name}: {}",
            metrics[name]
        );
    }
    // The response is the mean over all requests; a retry's time is that charged to retries, for each of them.
    let (read, write) = (&outcome.stats.all.read, &outcome.stats.all.write);
    let n = |of: &Latencies| of.count() as f64;
    assert!(n(read) > 20.0 && n(write) > 20.0);
    let response = (read.mean_ns() * n(read) + write.mean_ns() * n(write)) / 100.0 / 1e3;
    assert!(near(number(&metrics["response_us"]), response));
    assert!(near(
        number(&metrics["write_mean_us"]),
        write.mean_ns() / 1e3
    ));
    // A hundred requests have ten beyond P50, and fewer beyond P99.
    assert!(metrics.contains_key("p50_us") && !metrics.contains_key("p99_us"));

    // Without writes, and without retries, these have no value.
    outcome.stats.all.write = Latencies::default();
    outcome.stats.counters = Counters::default();
    let metrics = of_run(&setup, &outcome);
    for name in [
        "write_mean_us",
        "write_bandwidth_mib_s",
        "programmed_per_written",
        "retry_step_us",
        "retries_min",
        "background_share_percent",
    ] {
        assert!(!metrics.contains_key(name), "{name}: {}", metrics[name]);
    }
}

/// Hits of the read cache are of all slots that reads wanted and that were not in the write buffer.
#[test]
fn formula_rates_of_caches() {
    let f = FrontEndCounters {
        cache_hits: 3,
        cache_misses: 5,
        ahead_joined: 2,
        map_hits: 9,
        map_misses: 3,
        map_writes: 8,
        ..FrontEndCounters::default()
    };
    assert!(near(front::cache_hit_rate(&f), 0.3));
    assert!(near(front::map_hit_rate(&f), 0.75));
    assert!(near(
        front::cache_hit_rate(&FrontEndCounters::default()),
        0.0
    ));
    let mut counters = Counters {
        front: f,
        ..Counters::default()
    };
    assert_eq!(front::map_amplification(&counters), None);
    counters.host_slots_written = 4;
    assert_eq!(front::map_amplification(&counters), Some(2.0));
}

/// One record of each kind, of two groups: what is added up of them, and a line each.
#[test]
fn golden_a_log_of_calibration() {
    let (_, mut outcome) = short_run("bench-4g", &[], READS);
    outcome.began = Ns::from_h(10);
    outcome.groups = Some(BlockGroups::from_hours(1_000, 2, &[0, 240, 480]));
    let mut levels = [0; 15];
    levels[14] = -7;
    let at = |h, what| Record {
        at: Ns::from_h(h),
        what,
    };
    outcome.log = vec![
        at(
            9,
            What::Populated {
                group: 1,
                entries: [4, 5, 6],
                reads: 10,
            },
        ),
        at(10, What::Inherited { group: 5, from: 1 }),
        at(
            11,
            What::Verified {
                group: 1,
                blocks: [SuperblockId(8), SuperblockId(9)],
                fail_permille: [1, 20, 300],
                reads: 20,
            },
        ),
        at(
            12,
            What::Sorted {
                group: 1,
                order: [2, 0, 1],
            },
        ),
        at(
            13,
            What::Tracked {
                group: 1,
                iterations: 6,
                levels,
                reads: 40,
            },
        ),
        at(
            14,
            What::Tracked {
                group: 1,
                iterations: 5,
                levels,
                reads: 80,
            },
        ),
        at(
            15,
            What::Discarded {
                group: 1,
                fail_permille: [7, 8],
                reads: 160,
            },
        ),
        at(
            16,
            What::Centered {
                group: 5,
                by: [1, -2, 3, 0],
            },
        ),
        at(
            17,
            What::Converted {
                block: SuperblockId(3),
                from: CellMode::Qlc,
                to: CellMode::Slc,
            },
        ),
        at(
            18,
            What::Passed {
                pass: 2,
                began: Ns(5),
                groups: 3,
                reads: 310,
            },
        ),
        at(
            19,
            What::Passed {
                pass: 3,
                began: Ns(6),
                groups: 4,
                reads: 90,
            },
        ),
    ];
    assert_eq!(
        calibration::json(&outcome),
        json!({
            "groups": [
                {
                    "group": 1,
                    "pe_cycles": "0..1000",
                    "retention_h": "24..48",
                    "factory_entries": [4, 5, 6],
                    "inherited": 0,
                    "verified": 1,
                    "last_fail_permille": [1, 20, 300],
                    "sorted": 1,
                    "tracked": 2,
                    "window_moves": 11,
                    "discarded": 1,
                    "reads": 310,
                    "last_h": 5.0,
                },
                {
                    "group": 5,
                    "pe_cycles": "1000..",
                    "retention_h": "48..",
                    "factory_entries": null,
                    "inherited": 1,
                    "verified": 0,
                    "last_fail_permille": null,
                    "sorted": 0,
                    "tracked": 0,
                    "window_moves": 0,
                    "discarded": 0,
                    "reads": 0,
                    "last_h": 6.0,
                },
            ],
            "passes": 2,
            "pass_groups": 7,
            "pass_reads": 400,
        })
    );
    let csv = calibration::csv(&outcome);
    let lines: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap().1.to_owned())
        .collect();
    let dac = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 -7";
    assert_eq!(
        lines,
        [
            "-1.000000000,populated,1,0..1000,24..48,10,4 5 6,,,,,,,,,",
            "0.000000000,inherited,5,1000..,48..,0,,1,,,,,,,,",
            "1.000000000,verified,1,0..1000,24..48,20,,,8 9,1 20 300,,,,,,",
            "2.000000000,sorted,1,0..1000,24..48,0,,,,,2 0 1,,,,,",
            &format!("3.000000000,tracked,1,0..1000,24..48,40,,,,,,6,{dac},,,"),
            &format!("4.000000000,tracked,1,0..1000,24..48,80,,,,,,5,{dac},,,"),
            "5.000000000,discarded,1,0..1000,24..48,160,,,,7 8,,,,,,",
            "6.000000000,centered,5,1000..,48..,0,,,,,,,1 -2 3 0,,,",
            "8.000000000,passed,,,,310,,,,,,,,2,5,3",
            "9.000000000,passed,,,,90,,,,,,,,3,6,4",
        ]
    );
    assert!(calibration::is_told(&outcome.log));
    assert!(!calibration::is_told(&outcome.log[8..9]));
    assert_eq!(calibration::bins(None, 3), ("all".into(), "all".into()));
    let bins = |group| calibration::bins(outcome.groups.as_ref(), group);
    assert_eq!(bins(0), ("0..1000".into(), "0..24".into()));
    assert_eq!(bins(3), ("1000..".into(), "0..24".into()));
}

/// Of eight requests half were submitted alone; fio's keys of a latency add up to all.
#[test]
fn formula_fios_shares_of_depths_and_latencies() {
    let (setup, mut outcome) = short_run("bench-4g", &[], READS);
    outcome.stats.reports[0].depths = Depths([4, 0, 2, 0, 1, 0, 1]);
    outcome.stats.reports[0].runtime_ns = 1_499_500_000;
    let result = result(&setup, &outcome, false);
    let job = &result["jobs"][0];
    let levels = job["iodepth_level"].as_object().unwrap();
    let shares: Vec<f64> = levels.values().map(number).collect();
    assert_eq!(shares.iter().sum::<f64>(), 100.0);
    assert_eq!(levels["1"], 50.0);
    assert_eq!(levels["4"], 25.0);
    assert_eq!(job["iodepth_submit"]["4"], 100.0);
    assert_eq!(job["iodepth_submit"]["8"], 0.0);
    // Half a millisecond is rounded up, and so are seconds.
    assert_eq!(
        (&job["job_runtime"], &job["elapsed"]),
        (&1_500.into(), &2.into())
    );
    let mut all = 0.0;
    for key in ["latency_ns", "latency_us", "latency_ms"] {
        let shares = job[key].as_object().unwrap().values().map(number);
        all += shares.inspect(|share| assert!(*share >= 0.0)).sum::<f64>();
    }
    assert!(near(all, 100.0), "{all}");
    let read = &job["read"];
    assert!(near(number(&read["iops"]), 100.0 / 1.4995));
    assert_eq!(read["bw_bytes"], 100 * 4_096 * 10_000_u64 / 14_995);
    assert_eq!(read["bw"], 100 * 4_096 * 10_000_u64 / 14_995 / 1_024);
    assert_eq!(read["io_kbytes"], 400);
    outcome.stats.reports[0].depths = Depths::default();
    let result = super::result(&setup, &outcome, false);
    let job = &result["jobs"][0];
    assert_eq!(
        (&job["iodepth_level"]["1"], &job["iodepth_submit"]["4"]),
        (&0.0.into(), &0.0.into())
    );
}
