//! Plans: what is written down of a point is the point, and nothing else is taken for one.
#![allow(
    clippy::disallowed_methods,
    reason = "the tests look into the folder of a plan and edit it"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use firstread_drive::Precondition;
use firstread_drive::profile::{Kind, Library, Override};
use firstread_session::life::{ProbeJob, Terms, Until};
use firstread_session::planned::{self, INDEX, Reader};
use firstread_session::study::plan::{Inputs, points};
use firstread_session::study::{STUDIES, spec::Study};
use firstread_session::{BurnInSetup, Input, Point, Simulation, Store, TraceArgs, Watched, inputs};
use serde_json::Value;

use crate::schema;

/// A folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("firstread-planned-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        folder
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.0.join(file)).unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a plan of `points` of the kind `run`, and returns how many are in it.
fn plan(folder: &Folder, points: &[Point]) -> usize {
    let store = Store::in_memory("run", "");
    let written = planned::write(&folder.0, points, &store, &["run".into()]);
    written.unwrap().points
}

/// Every file of the plan fits its schema, and each point that is read back is one of `points`, all that its result
/// depends on included.
fn comes_back(folder: &Folder, points: &[Point]) {
    let index = folder.json(INDEX);
    schema::check("plan", &index);
    let by_name: BTreeMap<&str, &Point> = points.iter().map(|p| (&*p.name, p)).collect();
    let mut reader = Reader::default();
    let rows = index["points"].as_array().unwrap();
    // Whatever takes files in the order of their names begins with the longest.
    let cost = |row: &Value| row["cost"].as_f64().unwrap_or(f64::INFINITY);
    assert!(rows.is_sorted_by(|a, b| cost(a) >= cost(b)));
    for (i, row) in rows.iter().enumerate() {
        let file = row["file"].as_str().unwrap();
        assert_eq!(file, format!("points/{:05}.json", i + 1));
        // Of hundreds of points that are alike, some are read by their schema.
        if i < 20 || i % 50 == 0 {
            let data = folder.json(file);
            schema::check("point", &data);
            assert_eq!((&data["key"], &data["name"]), (&row["key"], &row["name"]));
        }
        let read = reader.read(&folder.0.join(file)).unwrap().point;
        let point = by_name[row["name"].as_str().unwrap()];
        let name = &point.name;
        assert_eq!((&read.label, &read.name), (&point.label, name));
        assert_eq!(
            inputs(&read.setup).unwrap(),
            inputs(&point.setup).unwrap(),
            "{name}"
        );
        assert_eq!(read.setup.state, point.setup.state, "{name}");
        assert_eq!(format!("{:?}", read.life), format!("{:?}", point.life));
        assert_eq!(
            format!("{:?}", read.setup.input),
            format!("{:?}", point.setup.input)
        );
    }
}

/// Of the thousands of points of a full form, every so many-th is planned: a prime, so that values of every coordinate are among them.
const OF_MANY: usize = 23;

/// Every point of the quick form of the study called `name`, and some of thousands of its full form.
fn study_comes_back(name: &str) {
    let (_, text) = STUDIES.iter().find(|(n, _)| *n == name).unwrap();
    let study = Study::parse(name, text).unwrap();
    let opened = Inputs::open(&study, None).unwrap();
    for quick in [true, false] {
        let (all, _) = points(&study, &opened, &[], quick).unwrap();
        let some = all.into_iter().step_by(if quick { 1 } else { OF_MANY });
        let some: Vec<Point> = some.map(|point| point.run).collect();
        let folder = Folder::new(name);
        let planned = plan(&folder, &some);
        assert!(planned > 0 && planned <= some.len());
        comes_back(&folder, &some);
    }
}

#[test]
fn smoke_points_of_ct_qlc_comes_back() {
    study_comes_back("ct-qlc");
}

#[test]
fn smoke_points_of_pr2_ar2_comes_back() {
    study_comes_back("pr2-ar2");
}

#[test]
fn smoke_points_of_raro_comes_back() {
    study_comes_back("raro");
}

#[test]
fn smoke_points_of_dwr_comes_back() {
    study_comes_back("dwr");
}

#[test]
fn smoke_points_of_ibm_comes_back() {
    study_comes_back("ibm");
}

/// A point on `drive`, with what is rarely asked.
fn on(drive: &str, change: impl FnOnce(&mut Simulation)) -> Point {
    let mut simulation = Simulation {
        drive: drive.into(),
        limit: Some(1_000),
        ..Simulation::of(Input::open("randread-4k-qd1").unwrap())
    };
    change(&mut simulation);
    Point::new(&format!("on {drive}"), simulation.setup().unwrap())
}

#[test]
fn smoke_every_shipped_drive_comes_back() {
    let library = Library::new();
    let drives = library.names(Kind::Drive);
    let points: Vec<Point> = drives.iter().map(|drive| on(drive, |_| {})).collect();
    let folder = Folder::new("drives");
    assert_eq!(plan(&folder, &points), points.len());
    comes_back(&folder, &points);
}

/// States, files and terms that no study has: each number comes back as it was.
#[test]
fn formula_what_is_rarely_asked_comes_back() {
    let folder = Folder::new("rare");
    let from = Folder::new("rare-from");
    fs::create_dir_all(&from.0).unwrap();
    let file = |name: &str, text: &str| {
        let path = from.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let bench = include_str!("../../../profiles/drives/bench-4g.toml");
    let drive = file("own.toml", bench);
    let csv = (0..50).map(|i| format!("{i},R,{},4096\n", i * 40_960));
    let trace = file("t.csv", &csv.collect::<String>());
    let args = TraceArgs {
        columns: Some("time:us,op,offset:B,size:B".into()),
        speed: Some(1.1),
        wrap: true,
        clamp: true,
        ..TraceArgs::default()
    };
    let mut points = vec![
        on("bench-4g", |s| {
            s.state.age = (firstread_core::Ns(1), firstread_core::Ns::from_h(48));
            s.state.temperature_c = 0.1 + 0.2;
            s.state.temperature_step = Some((firstread_core::Ns(7), -5.3));
            s.state.earlier_fill = firstread_drive::EarlierFill::Lived(firstread_core::Ns(9));
            s.state.precondition = Precondition::Zipf(0.1 + 0.7);
            s.state.fill = 1.0 / 3.0;
            s.state.workload_seed = u64::MAX;
            s.seed = u64::MAX;
            s.set = vec![Override::parse("link.max_outstanding=9").unwrap()];
            s.schemes = vec!["gc_victim=random".parse().unwrap()];
            s.burn_in = Some(BurnInSetup {
                most_drive_writes: 0.1 + 0.2,
                ..BurnInSetup::by(Input::open("mixed-70-30").unwrap())
            });
            s.watched = Watched {
                interval: Some(firstread_core::Ns(12_345)),
                fio_logs: true,
                log: None,
                trace: None,
            };
        }),
        on(&drive, |s| {
            s.input = Input::open_as(&trace, &args).unwrap().into();
            s.limit = None;
        }),
        on("bench-4g", |s| {
            let jobs = Input::open("write-wait-read").unwrap();
            s.input = jobs.with_option("iodepth", "3").unwrap().into();
        }),
        on("bench-4g", |s| {
            let mut jobs = Input::open("write-wait-read").unwrap();
            let Input::Jobs { workload, .. } = &mut jobs else {
                panic!("{jobs:?}");
            };
            workload
                .jobs
                .iter_mut()
                .for_each(|job| job.number_ios = None);
            s.input = jobs.into();
        }),
        on("bench-4g", |s| {
            let words = ["--name=a", "--rw=randread", "--bs=4k", "--eta=never"];
            s.input = Input::command_line(&words.map(String::from), &[])
                .unwrap()
                .into();
        }),
        on("bench-4g", |s| {
            s.split = Some(firstread_session::split::Split {
                parts: 7,
                threads: Some(3),
            });
        }),
    ];
    let probe = ProbeJob {
        input: Input::open("randread-4k-qd32").unwrap().into(),
        requests: 77,
        precondition: Precondition::Random,
    };
    for (until, probe) in [
        (Until::Bad(0.021), None),
        (Until::Years(0.3), Some(probe)),
        (Until::Full, None),
        (Until::Bytes(1e11), None),
        (Terms::default().until, None),
    ] {
        let terms = Terms {
            until,
            wear_rate: 3,
            warranty_years: 0.7,
            probe_job: probe,
            ..Terms::default()
        };
        points.push(on("bench-4g", |_| {}).of_life(terms));
    }
    for (i, point) in points.iter_mut().enumerate() {
        point.name = format!("{i}");
    }
    assert_eq!(plan(&folder, &points), points.len());
    comes_back(&folder, &points);
    // Elsewhere neither the profile nor the folder of the command is there; the plan has moved.
    fs::remove_file(from.0.join("own.toml")).unwrap();
    let moved = Folder::new("rare-moved");
    fs::rename(&folder.0, &moved.0).unwrap();
    comes_back(&moved, &points);
    // The trace is where it was, and has to be what it was.
    let index = moved.json(INDEX);
    let mut rows = index["points"].as_array().unwrap().iter();
    let of_trace = rows.find(|row| row["name"] == "1").unwrap();
    let of_trace = moved.0.join(of_trace["file"].as_str().unwrap());
    fs::write(from.0.join("t.csv"), "1,W,0,4096\n").unwrap();
    let says = refused(&of_trace);
    assert!(says.contains("t.csv is not as it was"), "{says}");
    fs::remove_file(from.0.join("t.csv")).unwrap();
    let says = refused(&of_trace);
    assert!(says.contains("t.csv: No such file"), "{says}");
}

/// Why the point at `path` is refused.
fn refused(path: &Path) -> String {
    Reader::default().read(path).unwrap_err().to_string()
}

#[test]
fn smoke_what_is_refused() {
    let folder = Folder::new("refused");
    let points = [on("bench-4g", |_| {})];
    plan(&folder, &points);
    let path = folder.0.join("points/00001.json");
    let whole = fs::read_to_string(&path).unwrap();
    let text = folder.json("points/00001.json")["workload"]["job"]["text"].clone();
    let text = text.as_str().unwrap();
    for (from, to, says) in [
        (
            "\"form\": 1",
            "\"form\": 2",
            "form 2, and this version reads form 1",
        ),
        (
            "\"version\": \"",
            "\"version\": \"7",
            "planned by version 7",
        ),
        ("\"program\": \"", "\"program\": \"x", "another program (`x"),
        ("\"seed\": 1", "\"seed\": 2", "its key is not that"),
        ("\"limit\": 1000", "\"limit\": null", "its key is not that"),
        ("\"fill\": 1.0", "\"fill\": 0.5", "its key is not that"),
        ("\"limit\": ", "\"limt\": ", "unknown field `limt`"),
        ("\"none\"", "\"nine\"", "`nine`"),
        (text, "0000", "0000: is not there"),
        (text, "../x", "is no name of a text"),
        ("}", "", "is no point of a plan"),
    ] {
        assert!(whole.contains(from), "{from}");
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let error = refused(&path);
        assert!(
            error.contains(says) && error.contains("00001.json: "),
            "{error}"
        );
    }
    for cut in [0, 1, whole.len() / 2, whole.len() - 3] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(refused(&path).contains("is no point of a plan"));
    }
    fs::write(&path, &whole).unwrap();
    fs::write(folder.0.join("texts").join(text), "[a]\nrw=read\n").unwrap();
    assert!(refused(&path).contains("was changed; plan it anew"));
}

/// A plan gives way to the next one, and nothing else does.
#[test]
fn sequence_a_plan_is_written_over_a_plan_alone() {
    let folder = Folder::new("over");
    let points = [on("bench-4g", |_| {}), on("bench-512g", |_| {})];
    plan(&folder, &points);
    assert_eq!(plan(&folder, &points[1..]), 1);
    let points_there = fs::read_dir(folder.0.join("points")).unwrap().count();
    assert_eq!(points_there, 1, "of the earlier plan nothing is left");
    fs::write(folder.0.join("store.json"), "{}").unwrap();
    let store = Store::in_memory("run", "");
    let error = planned::write(&folder.0, &points, &store, &[]).unwrap_err();
    assert!(error.to_string().contains("has `store.json`"), "{error}");
    assert!(folder.0.join(INDEX).exists());
}
