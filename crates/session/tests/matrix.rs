//! Many simulations: what comes of them depends neither on threads nor on what was kept.
#![allow(
    clippy::disallowed_methods,
    reason = "the tests look into the folder that results are kept in"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use firstread_session::{
    Error, Finished, How, Input, Interrupt, Matrix, Point, Progress, Setup, Simulation, Store,
    StoreError, Watch,
};
use serde_json::{Map, Value, json};

/// Reads on a worn drive with this seed, so many of them: chips tell by their retries.
fn setup(seed: u64, requests: u64) -> Setup {
    let job = "[a]\nrw=randread\nbs=4k\niodepth=8\n".to_owned();
    let mut simulation = Simulation {
        drive: "dc-qlc-15t".into(),
        schemes: vec!["read_levels=frozen".parse().unwrap()],
        seed,
        limit: Some(requests),
        ..Simulation::of(Input::job_file("a", job).unwrap())
    };
    simulation.state.pe_cycles = (3_000, 3_000);
    simulation.setup().unwrap()
}

fn point(label: &str, seed: u64) -> Point {
    Point::new(label, setup(seed, 300))
}

/// A folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("firstread-session-{name}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct Counts {
    begun: AtomicUsize,
    done: AtomicUsize,
}

impl Watch for Counts {
    fn begin<'a>(&'a self, _: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Box::new(|_| {})
    }

    fn done(&self, _: &Point, ended: &str) {
        assert_eq!(ended, "completed");
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts {
    fn take(&self) -> (usize, usize) {
        let take = |n: &AtomicUsize| n.swap(0, Ordering::Relaxed);
        (take(&self.begun), take(&self.done))
    }
}

fn mean(_: &Setup, finished: &Finished) -> Map<String, Value> {
    let Finished::Run(outcome) = finished else {
        return Map::new();
    };
    let mean = outcome.latencies().1.mean_ns();
    json!({ "mean_ns": mean })
        .as_object()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn model_threads_change_nothing() {
    let points: Vec<Point> = (1..=3).map(|seed| point("p", seed)).collect();
    let means = |threads| {
        let matrix = Matrix {
            points: &points,
            threads: Some(threads),
            watch: &(),
        };
        let outcomes = matrix.outcomes().unwrap();
        let means = outcomes.iter().map(|o| o.latencies().1.mean_ns());
        means.collect::<Vec<f64>>()
    };
    let alone = means(1);
    assert_eq!(alone, means(3));
    assert_ne!(alone[0], alone[1], "each with chips of its own");
}

#[test]
fn sequence_what_is_kept_is_not_run_again() {
    let folder = Folder::new("kept");
    let store = Store::open(&folder.0, "sweep", "mine").unwrap();
    let counts = Counts::default();
    // Two points share a simulation.
    let mut points = vec![point("a", 1), point("b", 2), point("a too", 1)];
    let run = |points: &[Point]| {
        let matrix = Matrix {
            points,
            threads: Some(1),
            watch: &counts,
        };
        let results = matrix.kept(&store, mean).unwrap();
        assert_eq!(results.simulations(), matrix.simulations().unwrap());
        // Each simulation counts once, whether it was run now or earlier.
        let walls = [0, 1].map(|i| results.of(i).unwrap().wall_s);
        assert!(walls.iter().all(|wall_s| *wall_s > 0.0), "{walls:?}");
        assert_eq!(results.wall_s(), walls[0] + walls[1]);
        let of = |i| results.of(i).unwrap().values["mean_ns"].as_f64().unwrap();
        let values: Vec<f64> = (0..points.len()).map(of).collect();
        (values, results.were_there, counts.take())
    };
    let (first, there, counted) = run(&points);
    assert_eq!((there, counted), (0, (2, 2)));
    assert_eq!(first[0], first[2]);
    assert_ne!(first[0], first[1]);
    let bytes = || fs::read(folder.0.join("points/a_seed-1.json")).unwrap();
    let before = bytes();
    assert!(folder.0.join("wall/a_seed-1.json").is_file());
    let (again, there, counted) = run(&points);
    assert_eq!((again, there, counted), (first.clone(), 2, (0, 2)));
    assert_eq!(bytes(), before);

    // A point with other inputs is run anew, and it alone.
    points[1].setup = setup(2, 400);
    let (changed, there, counted) = run(&points);
    assert_eq!((there, counted), (1, (1, 2)));
    assert_eq!((changed[0], changed[2]), (first[0], first[2]));
    assert_ne!(changed[1], first[1]);

    // So is one that was changed on disk, and the reason is told.
    let text = String::from_utf8(before).unwrap();
    let file = folder.0.join("points/a_seed-1.json");
    let version = format!("\"version\": \"{}\"", firstread_session::results::VERSION);
    assert!(text.contains(&version));
    let older = text.replace(&version, "\"version\": \"0.0.0\"");
    for damaged in [older.as_str(), "{"] {
        fs::write(&file, damaged).unwrap();
        let matrix = Matrix {
            points: &points[..1],
            threads: Some(1),
            watch: &counts,
        };
        let results = matrix.kept(&store, mean).unwrap();
        let how = &results.of(0).unwrap().how;
        assert!(
            matches!(how, How::RunAnew(why) if why.contains("a_seed-1.json is damaged")),
            "{how:?}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn what_a_store_refuses() {
    let folder = Folder::new("refused");
    let store = Store::open(&folder.0, "sweep", "mine").unwrap();
    let taken = Store::open(&folder.0, "sweep", "other").unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }), "{taken}");
    let points = [point("a", 1)];
    let matrix = Matrix {
        points: &points,
        threads: None,
        watch: &(),
    };
    let file = folder.0.join("points/a_seed-1.json");
    fs::create_dir_all(folder.0.join("points")).unwrap();
    fs::write(&file, "{}").unwrap();
    let error = matrix.kept(&store, mean).unwrap_err();
    assert!(matches!(error, Error::Store(_)), "{error}");
    let message = "not a result of a sweep; delete it and it is made anew";
    assert!(error.to_string().contains(message), "{error}");
}

/// Of several points that fail, the first in their order is told.
#[test]
fn sequence_errors_come_in_the_order_of_points() {
    let folder = Folder::new("order");
    let store = Store::open(&folder.0, "sweep", "mine").unwrap();
    let mut points: Vec<Point> = (1..=3).map(|seed| point("p", seed)).collect();
    for (i, label) in [(1, "second"), (2, "third")] {
        points[i].label = label.into();
        points[i].setup.state.temperature_c = 5_000.0;
    }
    for threads in [1, 3] {
        let matrix = Matrix {
            points: &points,
            threads: Some(threads),
            watch: &(),
        };
        let error = matrix.kept(&store, mean).unwrap_err();
        assert!(
            error.to_string().starts_with("second: temperature"),
            "{error}"
        );
        assert!(matches!(error.cause(), Error::Drive(_)), "{error:?}");
    }
}

/// Asks for the end once a point is done.
struct Ends(Interrupt);

impl Watch for Ends {
    fn begin<'a>(&'a self, _: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        Box::new(|_| {})
    }

    fn done(&self, _: &Point, _: &str) {
        self.0.ask();
    }
}

/// A matrix that is interrupted has the points that had ended, and goes on from them.
#[test]
fn sequence_an_interrupted_matrix_keeps_what_has_ended() {
    let folder = Folder::new("interrupted");
    let store = Store::open(&folder.0, "test", "interrupted").unwrap();
    let interrupt = Interrupt::default();
    let mut points: Vec<Point> = (1..=3).map(|seed| point("a", seed)).collect();
    for point in &mut points {
        point.setup.interrupt = interrupt.clone();
    }
    let ends = Ends(interrupt);
    let matrix = Matrix {
        points: &points,
        threads: Some(1),
        watch: &ends,
    };
    let kept = matrix.kept(&store, mean).unwrap();
    assert_eq!((kept.finished(), kept.simulations()), (1, 3));
    assert!(kept.of(0).is_some() && kept.of(1).is_none());
    // Nothing more is begun, and what has no outcome is no error here.
    assert!(matches!(matrix.outcomes(), Err(Error::Interrupted)));

    let points: Vec<Point> = (1..=3).map(|seed| point("a", seed)).collect();
    let matrix = Matrix {
        points: &points,
        threads: Some(1),
        watch: &(),
    };
    let kept = matrix.kept(&store.with_results(), mean).unwrap();
    assert_eq!((kept.finished(), kept.were_there), (3, 1));
    // With the result in memory, whether it was there or not.
    for i in 0..3 {
        let kept = kept.of(i).unwrap();
        assert!(kept.result()["firstread"]["wall_seconds"].is_null());
        let own = &kept.result_and_wall()["firstread"];
        assert_eq!(own["requests"], 300);
        assert!(own["wall_seconds"].is_number(), "{own}");
    }
}
