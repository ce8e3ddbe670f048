//! One simulation: from its names, on a drive that was made before, and after a burn-in.

use firstread_drive::profile::Override;
use firstread_session::results::{self, result_and_wall, text};
use firstread_session::{
    BurnInSetup, Error, Input, Outcome, Setup, Simulation, TraceArg, TraceArgs, simulate_on,
};

/// A job on a small drive of which 5,000 requests are run.
fn simulation(job: &str) -> Simulation {
    Simulation {
        drive: "bench-4g".into(),
        limit: Some(5_000),
        ..Simulation::of(Input::job_file("a", job.to_owned()).unwrap())
    }
}

const MIXED: &str = "[a]\nrw=randrw\nrwmixread=50\nbs=4k\niodepth=8\nnorandommap\n";

/// What does not depend on the machine.
fn result(setup: &Setup, outcome: &Outcome) -> String {
    text(&result_and_wall(setup, outcome, true).0)
}

#[test]
fn model_a_drive_made_before_gives_the_same() {
    let setup = simulation(MIXED).setup().unwrap();
    let alone = setup.simulate().unwrap();
    let made = setup.drive().unwrap();
    for mut drive in [made.clone(), made] {
        let on = simulate_on(&mut drive, &setup, &mut |_| {}).unwrap();
        assert_eq!(result(&setup, &alone), result(&setup, &on));
    }
}

#[test]
fn sequence_clones_of_a_burnt_in_drive_go_on_alike() {
    let setup = simulation(MIXED).setup().unwrap();
    let burnt = Setup {
        burn_in: Some(BurnInSetup {
            most_drive_writes: 0.2,
            ..BurnInSetup::BY_ITSELF
        }),
        ..setup.clone()
    };
    let prepared = burnt.prepare(&mut |_| {}).unwrap();
    let took = prepared.burn_in.clone().unwrap();
    assert!(took.drive_writes >= 0.2 && took.requests > 0, "{took:?}");
    let fresh = setup.simulate().unwrap();
    let [one, other] = [prepared.clone(), prepared].map(|prepared| {
        let run = prepared.simulate(&burnt, &mut |_| {}).unwrap();
        result(&setup, &run)
    });
    assert_eq!(one, other);
    assert_ne!(one, result(&setup, &fresh), "the burn-in has an effect");
}

#[test]
fn what_is_refused_by_name() {
    let error = Input::open("randread-4k").unwrap_err();
    assert!(
        matches!(&error, Error::Unknown(unknown) if unknown.nearest == "randread-4k-qd1"),
        "{error}"
    );
    let args = TraceArgs {
        wrap: true,
        ..TraceArgs::default()
    };
    let error = Input::open_as("randread-4k-qd1", &args).unwrap_err();
    assert!(
        matches!(&error, Error::NotATrace(not) if not.arg == TraceArg::Wrap),
        "{error}"
    );
    let mut other = simulation(MIXED);
    other.drive = "bench-4".into();
    let error = other.setup().unwrap_err().of("mine");
    assert!(
        error
            .to_string()
            .starts_with("mine: there is no drive `bench-4`"),
        "{error}"
    );
    assert!(matches!(error.cause(), Error::Unknown(_)), "{error:?}");
}

/// A result's figures by cell mode add up to its others, and the damage is told at both ends.
#[test]
fn formula_figures_by_mode_add_up_to_the_result() {
    let mut simulation = simulation(MIXED);
    simulation.limit = Some(200_000);
    let setup = simulation.setup().unwrap();
    let mut outcome = setup.simulate().unwrap();
    let told = |outcome: &Outcome| result_and_wall(&setup, outcome, false).0["firstread"].clone();
    let own = told(&outcome);
    let modes = &own["cell_modes"];
    let in_mode = &modes["by_mode"];
    assert_eq!(in_mode.as_object().unwrap().len(), 1, "{in_mode}");
    let of = &in_mode[modes["own"].as_str().unwrap()];
    assert!(of["erases"].as_u64() > Some(0), "{of}");
    for (of, whole) in [
        (&of["erases"], &own["ftl"]["superblocks_erased"]),
        (&of["slots_programmed"], &own["ftl"]["slots_programmed"]),
        (&of["page_reads"], &own["page_reads"]),
        (&of["first_try_rate"], &own["first_try_rate"]),
        (&of["retries_mean"], &own["retries_mean"]),
        (
            &modes["damage_cycles"]["as_set"],
            &modes["damage_cycles"]["alike"],
        ),
    ] {
        assert_eq!(of.as_f64(), whole.as_f64(), "{modes}");
    }
    let physical = modes["physical_bytes"]["start"].as_u64().unwrap();
    let raw = setup.profile.geometry.raw_bytes(setup.profile.mode);
    assert_eq!(physical, raw);
    assert_eq!(
        modes["over_provisioning_bytes"]["least"].as_u64().unwrap(),
        raw - outcome.capacity_bytes
    );
    assert_eq!(modes["lost_bytes"]["most"], 0);

    // 300 erases that ended an SLC cycle, 70 that ended a QLC cycle: SLC is rated 100,000 cycles, QLC 3,000.
    let mut simulation = self::simulation(MIXED);
    simulation.drive = "dc-qlc-15t".into();
    simulation.limit = Some(10);
    simulation.set = vec![Override::parse("chip.modes.slc.cycle_damage=0.1 x").unwrap()];
    let setup = simulation.setup().unwrap();
    outcome.stats.counters.erases_by_mode = [300, 0, 0, 70];
    let worn = &result_and_wall(&setup, &outcome, false).0["firstread"]["cell_modes"];
    let worn = |key: &str| worn["damage_cycles"][key].as_f64().unwrap();
    assert!((worn("as_set") - 100.0).abs() < 1e-9);
    assert!((worn("by_ratings") - 79.0).abs() < 1e-9);
    assert!((worn("alike") - 370.0).abs() < 1e-9);
}

/// Counters that no result shows, and why.
const INTERNAL: [(&str, &str); 4] = [
    ("uncorrectable", "a result counts requests: stats.all"),
    ("lost_retries", "a part of the mean of retries"),
    ("page_retries_by_region", "a part of the mean of retries"),
    (
        "page_read_ns_by_region",
        "a part of the mean latency of a read",
    ),
];

/// Every number of `value`.
fn numbers(value: &serde_json::Value, into: &mut Vec<u64>) {
    match value {
        serde_json::Value::Number(n) => into.extend(n.as_u64()),
        serde_json::Value::Array(values) => values.iter().for_each(|v| numbers(v, into)),
        serde_json::Value::Object(keys) => keys.values().for_each(|v| numbers(v, into)),
        _ => {}
    }
}

#[test]
fn formula_a_result_shows_every_counter_that_is_not_internal() {
    let memory = [
        "dram.read_cache=4MiB",
        "dram.map_cache=256KiB",
        "schemes.read_ahead=sequential",
        "schemes.area=differential",
        "schemes.stream=write-heat",
        "capacity=3 GiB",
    ];
    let mut simulation = simulation(MIXED);
    simulation.limit = Some(100);
    simulation.set = memory.map(|s| Override::parse(s).unwrap()).to_vec();
    let setup = simulation.setup().unwrap();
    let mut outcome = setup.simulate().unwrap();
    // A value of its own for each counter, the same in all of its bins, that no run comes to. Parts come after wholes, and
    // are less.
    let mut marks = Vec::new();
    outcome.stats.counters.each_mut(&mut |row, counts| {
        let mark = (1 << 40) - marks.len() as u64;
        counts.fill(mark);
        marks.push((row, mark));
    });
    outcome.stats.measured = outcome.stats.counters.clone();
    let mut shown = Vec::new();
    numbers(&result_and_wall(&setup, &outcome, true).0, &mut shown);
    for (row, mark) in marks {
        let internal = INTERNAL.iter().any(|i| i.0 == row.name);
        assert!(
            shown.contains(&mark) != internal,
            "{} ({:?}:{}): {}",
            row.name,
            row.unit,
            row.doc,
            if internal {
                "a result shows it"
            } else {
                "no result shows it"
            }
        );
    }
}

/// A power cut that a job file asks for comes once, at its time, and the run goes on after it.
#[test]
fn powerloss_a_job_file_cuts_the_power() {
    let job = |more: &str| format!("[a]\nrw=randread\nbs=4k\nnorandommap\n{more}");
    let run = |more: &str| {
        let setup = Simulation {
            drive: "bench-4g".into(),
            limit: Some(2_000),
            ..Simulation::of(Input::job_file("a", job(more)).unwrap())
        };
        let setup = setup.setup().unwrap();
        let outcome = setup.simulate().unwrap();
        let result = results::result(&setup, &outcome, false);
        (
            outcome.stats.requests,
            result["firstread"]["power_cut"].clone(),
        )
    };
    let (requests, cut) = run("; firstread: power_cut=50ms\n");
    assert_eq!(cut["at_ns"], 50_000_000);
    assert!(cut["recovery_ns"].as_u64() > Some(0));
    assert_eq!(
        Some(requests + cut["lost_requests"].as_u64().unwrap()),
        Some(2_000)
    );
    assert!(run("").1.is_null());
}

/// Results of cells that are not modelled say so, and what it means.
#[test]
fn formula_cells_that_are_not_modelled_are_named_in_results() {
    for (set, named) in [
        (&[][..], "modelled"),
        (&["cells=ideal"], "ideal"),
        (&["cells=formula"], "formula"),
        (
            &["cells=formula", "cells_tlc_share=0 permille"],
            "formula: 0 permille of the load in TLC",
        ),
        (
            &["cells=fixed-retries", "cells_retries=10"],
            "fixed-retries: 10",
        ),
    ] {
        let set = set.iter().map(|text| Override::parse(text).unwrap());
        let setup = Simulation {
            drive: "raro-femu".into(),
            set: set.collect(),
            ..Simulation::of(Input::open("randread-4k-qd1").unwrap())
        };
        let setup = setup.setup().unwrap();
        assert_eq!(results::config(&setup)["cells"], named);
        let told = setup.other_cells().map(|cells| cells.to_string());
        match named {
            "modelled" => assert_eq!(told, None),
            _ => {
                let told = told.unwrap();
                let begin = format!("cells: {named} (");
                assert!(told.starts_with(&begin) && told.contains("age, "), "{told}");
            }
        }
    }
}
