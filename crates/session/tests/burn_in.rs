//! Burn-ins: what is measured after one, and that points of a matrix share a drive that was burnt in once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use firstread_drive::BurnInEnd;
use firstread_session::{
    BurnInSetup, Error, Input, Matrix, Outcome, Point, Progress, Setup, Simulation, Watch, results,
};

const WRITES: &str = "[w]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\n";
const READS: &str = "[r]\nrw=randread\nbs=4k\niodepth=8\nnorandommap\n";

/// 160 superblocks with constant latencies.
const SMALL: [&str; 5] = [
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=272 MiB",
];

fn input(job: &str) -> Input {
    Input::job_file("job", job.to_owned()).unwrap()
}

fn setup(job: &str, burn_in: Option<BurnInSetup>) -> Setup {
    let set = SMALL.map(|text| firstread_drive::profile::Override::parse(text).unwrap());
    Simulation {
        drive: "bench-4g".into(),
        set: set.to_vec(),
        limit: Some(2_000),
        burn_in,
        ..Simulation::of(input(job))
    }
    .setup()
    .unwrap()
}

fn percentiles(outcome: &Outcome) -> [u64; 3] {
    [50.0, 99.0, 99.9].map(|percent| outcome.percentile(percent).ns)
}

/// Counts the drives that were prepared.
#[derive(Default)]
struct Prepares(AtomicUsize);

impl Watch for Prepares {
    fn begin<'a>(&'a self, _: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        Box::new(|progress| {
            if progress == Progress::Preparing {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        })
    }
}

#[test]
fn sequence_a_run_after_a_burn_in_is_steady_and_says_how_long_it_took() {
    let burnt = setup(WRITES, Some(BurnInSetup::BY_ITSELF));
    let outcome = burnt.simulate().unwrap();
    let burn_in = outcome.burn_in.as_ref().unwrap();
    assert_eq!(burn_in.ended, BurnInEnd::Steady);
    let result = results::result(&burnt, &outcome, false);
    let told = &result["firstread"]["burn_in"];
    assert_eq!(told["ended"], "steady");
    assert_eq!(told["workload"], "job");
    assert!(told["drive_writes"].as_f64().unwrap() > 0.3, "{told}");
    let config = &result["firstread"]["config"]["burn_in"];
    assert_eq!(config["most_drive_writes"], 30.0);
    // Statistics are of the run alone, and a drive that was not burnt in writes faster.
    assert_eq!(outcome.stats.requests, 2_000);
    let fresh = setup(WRITES, None).simulate().unwrap();
    assert!(fresh.burn_in.is_none());
    assert!(percentiles(&fresh) < percentiles(&outcome));
    let told = results::result(&setup(WRITES, None), &fresh, false);
    assert!(told["firstread"].get("burn_in").is_none());
}

/// Points that differ in their workload alone run on clones of one drive, and come to what they come to by themselves.
#[test]
fn model_points_that_share_a_burn_in_come_to_the_same() {
    let by_writes = BurnInSetup {
        most_drive_writes: 0.2,
        ..BurnInSetup::by(input(WRITES))
    };
    let by_itself = BurnInSetup {
        most_drive_writes: 0.2,
        ..BurnInSetup::BY_ITSELF
    };
    let mut longer = setup(READS, Some(by_writes.clone()));
    longer.limit = Some(3_000);
    let setups = [
        setup(READS, Some(by_writes.clone())),
        setup(READS, None),
        longer,
        setup(WRITES, Some(by_itself)),
        Setup {
            seed: 2,
            ..setup(READS, Some(by_writes))
        },
    ];
    let alone: Vec<_> = setups.iter().map(|s| s.simulate().unwrap()).collect();
    let points: Vec<Point> = (0..)
        .zip(setups)
        .map(|(i, setup)| Point::new(&format!("p{i}"), setup))
        .collect();
    let watch = Prepares::default();
    let matrix = Matrix {
        points: &points,
        threads: Some(2),
        watch: &watch,
    };
    let together = matrix.outcomes().unwrap();
    // The first, the third and the fourth share a drive: the same was written to it.
    assert_eq!(watch.0.into_inner(), 3);
    for (one, other) in alone.iter().zip(&together) {
        assert_eq!(percentiles(one), percentiles(other));
        assert_eq!(one.stats.requests, other.stats.requests);
        let drive_writes = |o: &Outcome| o.burn_in.as_ref().map(|b| b.drive_writes.to_bits());
        assert_eq!(drive_writes(one), drive_writes(other));
    }
}

/// Counts the runs that have begun. Those that are burnt in wait for another.
#[derive(Default)]
struct SideBySide(AtomicUsize);

impl Watch for SideBySide {
    fn begin<'a>(&'a self, _: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::new(|progress| {
            if matches!(progress, Progress::Completed(_)) {
                let has_another = || self.0.load(Ordering::Relaxed) > 1;
                let waits = || thread::sleep(Duration::from_millis(1));
                let waited = (0..120_000).take_while(|_| !has_another());
                waited.for_each(|_| waits());
                assert!(has_another(), "no other thread goes on");
            }
        })
    }
}

/// Once the drive that they share is burnt in, points run on as many threads as there are.
#[test]
fn model_points_that_share_a_burn_in_run_side_by_side() {
    let burn_in = BurnInSetup {
        most_drive_writes: 0.1,
        ..BurnInSetup::by(input(WRITES))
    };
    let point = |limit| {
        let mut setup = setup(READS, Some(burn_in.clone()));
        setup.limit = Some(limit);
        Point::new(&format!("{limit}"), setup)
    };
    let points = [2_000, 3_000, 2_500].map(point);
    let matrix = Matrix {
        points: &points,
        threads: Some(2),
        watch: &SideBySide::default(),
    };
    let of = matrix.outcomes().unwrap();
    let requests: Vec<u64> = of.iter().map(|outcome| outcome.stats.requests).collect();
    assert_eq!(requests, [2_000, 3_000, 2_500]);
}

#[test]
fn sequence_a_burn_in_that_writes_nothing_is_refused() {
    let refused = setup(READS, Some(BurnInSetup::BY_ITSELF))
        .simulate()
        .unwrap_err();
    assert!(matches!(refused, Error::Run { .. }), "{refused}");
    assert!(refused.to_string().contains("writes nothing"), "{refused}");
}
