//! The JSON of a run beside fio's own.
#![allow(
    clippy::disallowed_methods,
    reason = "a golden file is read and, where asked, written"
)]

use std::collections::BTreeSet;
use std::fs;

use firstread_session::results;
use firstread_session::{Input, Outcome, Setup, Simulation};
use serde_json::Value;

/// The job file of which fio 3.33 made the key paths below.
const JOB: &str = include_str!("data/fio-3.33.fio");
/// Key paths of fio 3.33, `disk_util` and the options of the job file left out.
const FIO: &str = include_str!("data/fio-3.33.paths");
/// Key paths that a result has beyond fio's, `firstread` left out.
const BEYOND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/beyond-fio.paths");

fn run(job: &str, limit: Option<u64>) -> (Setup, Outcome) {
    let simulation = Simulation {
        drive: "bench-4g".into(),
        limit,
        ..Simulation::of(Input::job_file("a", job.to_owned()).unwrap())
    };
    let setup = simulation.setup().unwrap();
    let outcome = setup.simulate().unwrap();
    (setup, outcome)
}

fn result(job: &str, limit: Option<u64>) -> Value {
    let (setup, outcome) = run(job, limit);
    results::result(&setup, &outcome, false)
}

fn paths(value: &Value, at: &str, into: &mut BTreeSet<String>) {
    let below = |key: &str| match at {
        "" => key.to_owned(),
        _ => format!("{at} / {key}"),
    };
    match value {
        Value::Object(map) => {
            let own = ["job options", "global options", "firstread"];
            for (key, value) in map.iter().filter(|(key, _)| !own.contains(&key.as_str())) {
                paths(value, &below(key), into);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let at = below("[]");
            items.iter().for_each(|item| paths(item, &at, into));
        }
        _ => {
            into.insert(at.to_owned());
        }
    }
}

#[test]
fn golden_every_key_of_fio_is_there() {
    let mut here = BTreeSet::new();
    paths(&result(JOB, None), "", &mut here);
    let of_fio: BTreeSet<String> = FIO.lines().map(str::to_owned).collect();
    let missing: Vec<&String> = of_fio.difference(&here).collect();
    assert!(missing.is_empty(), "fio has {missing:#?}");
    // Of a percentile's keys one stands for all.
    let beyond = here
        .difference(&of_fio)
        .map(|path| match path.rsplit_once(" / ") {
            Some((above, key)) if key.parse::<f64>().is_ok() => format!("{above} / PERCENT"),
            _ => path.clone(),
        });
    let beyond: BTreeSet<String> = beyond.collect();
    let beyond: String = beyond.into_iter().map(|path| path + "\n").collect();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(BEYOND, &beyond).unwrap();
    }
    assert_eq!(fs::read_to_string(BEYOND).unwrap_or_default(), beyond);
}

/// Rates by interval agree with the whole run, and depths with what the job asks for.
#[test]
fn formula_rates_and_depths_agree_with_the_run() {
    let job = "[a]\nrw=randrw\nrwmixread=75\nbs=4k\niodepth=32\nrate_iops=3000,1000\nnumjobs=2\n";
    let result = result(job, Some(10_000));
    for job in result["jobs"].as_array().unwrap() {
        for (direction, paced) in [("read", 3000.0), ("write", 1000.0)] {
            let of = &job[direction];
            let number = |key: &str| of[key].as_f64().unwrap();
            // 10,000 requests of 8,000 per second: two full intervals of half a second.
            assert_eq!(of["iops_samples"], 2, "{of}");
            assert_eq!(of["bw_samples"], 2, "{of}");
            assert!((number("iops_mean") / paced - 1.0).abs() < 0.02, "{of}");
            assert!(
                (number("bw_mean") / (paced * 4.0) - 1.0).abs() < 0.02,
                "{of}"
            );
            assert!(number("iops_min") <= number("iops_mean"), "{of}");
            assert!(number("iops_max") >= number("iops_mean").floor(), "{of}");
            assert!(number("iops_stddev") <= number("iops_max") - number("iops_min") + 1.0);
            // Half of the bandwidth of both clones.
            assert!((number("bw_agg") - 50.0).abs() < 2.0, "{of}");
        }
        let levels = job["iodepth_level"].as_object().unwrap();
        let sum: f64 = levels.values().map(|v| v.as_f64().unwrap()).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{levels:?}");
        assert_eq!(job["iodepth_submit"]["4"], 100.0);
        assert_eq!(job["job options"]["numjobs"], "2");
        assert_eq!(job["latency_depth"], 32);
    }
}

/// A job at a steady depth submits nearly everything at that depth; one request at a time is depth 1.
#[test]
fn formula_depth_is_that_of_the_job() {
    for (iodepth, level, least) in [(1, "1", 100.0), (32, "32", 99.0), (100, ">=64", 96.0)] {
        let job = format!("[a]\nrw=randread\nbs=4k\niodepth={iodepth}\n");
        let result = result(&job, Some(4_000));
        let share = result["jobs"][0]["iodepth_level"][level].as_f64().unwrap();
        assert!(share >= least, "{iodepth}: {share} %");
    }
}

/// What fio's tools look up in the options is there, as written or in its default.
#[test]
fn sequence_options_that_tools_look_up_have_their_defaults() {
    let text =
        "[global]\nrw=randread\nblocksize=8k\n[a]\niodepth=4\n[b]\nrw=write\nbs=16k\nnumjobs=3\n";
    let result = result(text, Some(100));
    let options = |i: usize| &result["jobs"][i]["job options"];
    for (i, key, value) in [
        (0, "rw", "randread"),
        (0, "bs", "8k"),
        (0, "iodepth", "4"),
        (0, "numjobs", "1"),
        (1, "rw", "write"),
        (1, "bs", "16k"),
        (1, "iodepth", "1"),
        (1, "numjobs", "3"),
    ] {
        assert_eq!(options(i)[key], value, "job {i}: {}", options(i));
    }
}

/// Runs below half a second have no sample, and the figures of the run in its place.
#[test]
fn formula_a_short_run_is_told_as_a_whole() {
    let result = result("[a]\nrw=randread\nbs=4k\n", Some(100));
    let read = &result["jobs"][0]["read"];
    assert_eq!(
        (&read["iops_samples"], &read["iops_stddev"]),
        (&0.into(), &0.0.into())
    );
    assert_eq!(read["iops_mean"], read["iops"]);
    let floor = read["iops"].as_f64().unwrap().floor();
    assert_eq!(read["iops_min"].as_f64(), Some(floor));
    assert_eq!(result["firstread"]["sample_interval_ns"], 500_000_000);
}
