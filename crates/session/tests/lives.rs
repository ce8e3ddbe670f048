//! Lives as points of a study: what they come to, that they are kept and resumed, and what is refused.
#![allow(
    clippy::disallowed_methods,
    reason = "results are kept in files and read from them"
)]

use std::fs;
use std::path::PathBuf;

use firstread_session::life::{self, Life, Terms};
use firstread_session::study::dimension::Dimension;
use firstread_session::study::metric::{self, Metric, Source};
use firstread_session::study::plan::{self, Inputs};
use firstread_session::study::points::Points;
use firstread_session::study::spec::Study;
use firstread_session::study::{measure, verdict};
use firstread_session::{Matrix, Point, Results, Store};
use serde_json::Value;

/// Two ways of wear leveling at two capacities; lives of a few dozen cycles.
const STUDY: &str = r#"
set = [
    "geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1", "geometry.planes=2",
    "geometry.page=8 KiB", "geometry.wordlines_per_block=16", "chip.modes.slc.endurance=60 P/E",
    "chip.failures.grown_bad=20 %", "chip.failures.shape=6 x", "schemes.gc_victim=greedy", "heat.epoch=none",
]

[variants.static]
drive = "bench-4g"
schemes = ["wear=static"]
set = ["wear.static.spread=4 P/E"]

[variants.areas]
drive = "bench-4g"
schemes = ["wear=static", "area=differential"]
set = ["wear.static.spread=4 P/E", "area.trigger=any"]

[workloads.mixed]
job = """
[reads]
rw=randread
bs=4k
norandommap
random_distribution=zipf:1.2
[writes]
rw=randwrite
bs=4k
norandommap
random_distribution=zipf:0.9
"""

[[experiment]]
id = "lives"
variants = ["static", "areas"]
workloads = "mixed"
capacity = ["22 MiB", "16 MiB"]
life = { until = "bad=2%", probe = 0 }
repetitions = { full = 5, quick = 2 }
figure = { x = "capacity", y = ["tbw_tb", "life_low_read_percent"] }

[[claim]]
id = "ours.lives"
says = "spare flash makes a drive live longer: bytes written"
falsified_by = "it does not"
unit = "x"
band = [1.1, 3]
points = { experiment = "lives", metric = "tbw_tb", kind = "ratio", of = { variant = "static", capacity = "16 MiB" }, against = { capacity = "22 MiB" } }
"#;

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("firstread-lives-{test}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kept(points: &[Point], store: &Store) -> Results {
    let matrix = Matrix {
        points,
        threads: None,
        watch: &(),
    };
    matrix.kept(store, metric::of_finished).unwrap()
}

/// What the reader and the plan say of the study with `from` written as `to`.
fn said(from: &str, to: &str) -> String {
    assert!(STUDY.contains(from), "{from}");
    let study = match Study::parse("mine", &STUDY.replacen(from, to, 1)) {
        Ok(study) => study,
        Err(error) => return error.to_string(),
    };
    let inputs = Inputs::open(&study, None).unwrap();
    match plan::points(&study, &inputs, &[], true) {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{error:#}"),
    }
}

/// A point of a study has the result that the same life has alone, byte for byte, and its metrics are taken from that.
#[test]
fn model_a_point_is_the_life_of_its_drive() {
    let study = Study::parse("mine", STUDY).unwrap();
    let inputs = Inputs::open(&study, None).unwrap();
    let (points, _) = plan::points(&study, &inputs, &[], true).unwrap();
    assert_eq!(points.len(), 8, "variants, capacities, drives");
    let e = &study.experiments[0];
    assert_eq!(e.values(Dimension::PeCycles, false), ["0"], "a new drive");
    let runs: Vec<Point> = points.iter().map(|p| p.run.clone()).collect();
    let store = Store::in_memory("study", "").with_results();
    let results = kept(&runs, &store);
    let mut measured = Points::default();
    for (i, point) in points.iter().enumerate() {
        let kept = results.of(i).unwrap();
        assert_eq!(kept.ended, "completed");
        measured.add("lives", point.at.clone(), kept.values.clone());
        let alone = Life {
            setup: point.run.setup.clone(),
            terms: Terms {
                until: "bad=2%".parse().unwrap(),
                probe_requests: 0,
                ..Terms::default()
            },
        };
        let outcome = alone.live(&mut |_| {}).unwrap();
        let json = life::json(&alone, &outcome);
        assert_eq!(kept.result().to_string(), json.to_string());
        // The capacity is that of the point.
        let mib: f64 = if point.at.get(Dimension::Capacity) == "22 MiB" {
            22.0
        } else {
            16.0
        };
        assert_eq!(json["capacity_bytes"], mib * f64::from(1 << 20));
        let of = |name: &str| kept.values[name].as_f64().unwrap();
        let number = |value: &Value| value.as_f64().unwrap();
        assert_eq!(of("tbw_tb"), number(&json["tbw_bytes"]) / 1e12);
        assert_eq!(of("dwpd"), number(&json["dwpd"]));
        assert_eq!(
            of("life_write_amplification"),
            number(&json["write_amplification"])
        );
        let moved = number(&json["moved"]["garbage_collection"]);
        assert_eq!(of("gc_moved_per_written"), moved);
        assert_eq!(of("bad_percent"), 100.0 * number(&json["bad_share"]));
        let has_areas = point.at.get(Dimension::Variant) == "areas";
        assert_eq!(has_areas, kept.values.contains_key("low_end_pe_mean"));
        match has_areas {
            true => {
                let share = number(&json["low_read_share"]);
                assert!(share > 0.0 && share < 1.0, "{share}");
                assert_eq!(of("life_low_read_percent"), 100.0 * share);
                assert_eq!(of("low_end_pe_max"), number(&json["wear"]["low"]["max"]));
                assert_eq!(of("high_end_pe_p99"), number(&json["wear"]["high"]["p99"]));
            }
            false => {
                assert_eq!(of("life_low_read_percent"), 0.0);
                assert_eq!(of("end_pe_mean"), number(&json["wear"]["one"]["mean"]));
            }
        }
        assert!(!kept.values.contains_key("read_end_us"), "no probe");
    }
    let known = verdict::Known {
        absent: &Default::default(),
        facts: &Default::default(),
        said: &Default::default(),
        quick: false,
    };
    let verdicts = verdict::judge(&study, &measured, &known);
    assert_eq!(verdicts.len(), 1);
    let from = study.claims[0].points.as_ref().unwrap();
    let number = measure::number(&measured, from, "tbw_tb").unwrap();
    assert!(number.mean > 1.1 && number.drives == 2, "{number:?}");
}

/// Lives are kept, and not lived again; other terms are another life. Two points of the same life share one.
#[test]
fn sequence_lives_are_kept_and_resumed() {
    let folder = Folder::new("kept");
    let lives = |until: &str| -> Vec<Point> {
        let text = STUDY.replacen("bad=2%", until, 1);
        let study = Study::parse("mine", &text).unwrap();
        let inputs = Inputs::open(&study, None).unwrap();
        let (points, _) = plan::points(&study, &inputs, &[], true).unwrap();
        let of_first = points.iter().filter(|p| p.run.setup.seed == 1);
        of_first.map(|p| p.run.clone()).take(2).collect()
    };
    let store = Store::open(&folder.0, "study", "mine").unwrap();
    let mut points = lives("bytes=100MB");
    let first = kept(&points, &store);
    assert_eq!((first.simulations(), first.were_there), (2, 0));
    let values = first.of(1).unwrap().values.clone();
    points.push(Point {
        name: "the same".into(),
        ..points[0].clone()
    });
    let again = kept(&points, &store);
    assert_eq!((again.simulations(), again.were_there), (2, 2));
    assert_eq!(again.of(1).unwrap().values, values);
    assert_eq!(again.of(2).unwrap().values, again.of(0).unwrap().values);
    assert_eq!(again.of(1).unwrap().ended, "completed");
    let longer = kept(&lives("bytes=110MB"), &store);
    assert_eq!((longer.simulations(), longer.were_there), (2, 0));
    // A run of the same drive is not its life.
    let run = Point {
        life: None,
        setup: firstread_session::Setup {
            limit: Some(10),
            ..points[0].setup.clone()
        },
        ..points[0].clone()
    };
    assert_eq!(kept(&[run], &store).were_there, 0);
}

/// An interrupted life is not kept.
#[test]
fn sequence_an_interrupted_life_has_no_result() {
    let study = Study::parse("mine", STUDY).unwrap();
    let inputs = Inputs::open(&study, None).unwrap();
    let (points, _) = plan::points(&study, &inputs, &[], true).unwrap();
    let point = points[0].run.clone();
    point.setup.interrupt.ask();
    let results = kept(&[point], &Store::in_memory("study", ""));
    assert_eq!((results.finished(), results.simulations()), (0, 1));
}

/// Names of metrics tell what they are of.
#[test]
fn formula_a_metric_has_one_source() {
    let mut names: Vec<&str> = Vec::new();
    for source in Source::ALL {
        names.extend(Metric::of(source).iter().map(|m| m.name));
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// A life that cannot end, a metric of something else, and what does not go together are refused before anything is run.
#[test]
fn golden_what_lives_are_refused() {
    assert_eq!(said("repetitions", "repetitions"), "ok");
    for (from, to, message) in [
        (
            "until = \"bad=2%\"",
            "until = \"bed=2%\"",
            "`bed=2%` is no end of a life; give lost=enterprise",
        ),
        ("until = \"bad=2%\", ", "", "have no voltages"),
        (
            "\"chip.failures.grown_bad=20 %\"",
            "\"chip.failures.grown_bad=0 %\"",
            "no block of chip `constant-128p` ever fails",
        ),
        ("rw=randwrite", "rw=randread", "mixed writes nothing"),
        ("probe = 0", "probes = 0", "unknown field `probes`"),
        ("probe = 0", "wear_rate = 0", "a wear rate of 0 is outside"),
        (
            "probe = 0",
            "drive_writes_a_day = 0",
            "above 0 and at most 10000",
        ),
        ("probe = 0", "warranty = -1", "years above 0"),
        (
            "y = [\"tbw_tb\", \"life_low_read_percent\"]",
            "y = [\"mean_us\"]",
            "`mean_us` is a metric of runs, and the points here are lives",
        ),
        (
            "metric = \"tbw_tb\"",
            "metric = \"p99_us\"",
            "`p99_us` is a metric of runs, and the points here are lives",
        ),
        (
            "metric = \"tbw_tb\"",
            "metric = \"tbw_tib\"",
            "there is no metric `tbw_tib`; the nearest is `tbw_tb`",
        ),
        (
            "life = {",
            "requests = 5\nlife = {",
            "give `workloads` with `requests` or with `life`",
        ),
        (
            "life = {",
            "unpowered = \"5d\"\nlife = {",
            "a `life` has no `unpowered`",
        ),
        (
            "capacity = [\"22 MiB\"",
            "capacity = [\"22 MB/s\"",
            "no capacity `22 MiB`",
        ),
        (
            "full = 5, quick = 2",
            "full = 4, quick = 2",
            "a claim takes 5",
        ),
    ] {
        let text = said(from, to);
        assert!(text.contains(message), "{from} -> {to}: {text}");
    }
    let claim = STUDY.find("[[claim]]").unwrap();
    let wrong = STUDY[..claim].replacen("\"22 MiB\"", "\"22 parsecs\"", 1);
    let study = Study::parse("mine", &wrong).unwrap();
    let inputs = Inputs::open(&study, None).unwrap();
    let error = plan::points(&study, &inputs, &[], true).unwrap_err();
    assert!(error.to_string().contains("22 parsecs"), "{error}");
    // And the reverse.
    let of_runs = "[[experiment]]\nid = \"runs\"\nvariants = \"bench-4g\"\nworkloads = \"randread-4k-qd1\"\nrequests = 5\n\
                   figure = { y = \"dwpd\" }\n";
    let error = Study::parse("mine", of_runs).unwrap_err().to_string();
    let expected = "`dwpd` is a metric of lives, and the points here are runs";
    assert!(error.contains(expected), "{error}");
}
