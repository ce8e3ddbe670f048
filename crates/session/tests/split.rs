//! A run in parts: what it comes to beside one long run, and what cannot be split.

use firstread_core::Ns;
use firstread_drive::profile::Override;
use firstread_session::conditions::Condition;
use firstread_session::results::result_and_wall;
use firstread_session::split::Split;
use firstread_session::{
    BurnInSetup, Error, Input, Interrupt, Outcome, Setup, Simulation, Watched,
};

const READS: &str = "[a]\nrw=randread\nbs=4k\niodepth=32\ntime_based\nruntime=1h\n";
const WRITES: &str = "[a]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\ntime_based\nruntime=1h\n";

fn of(job: &str, limit: Option<u64>, parts: u16) -> Simulation {
    Simulation {
        limit,
        split: Some(Split {
            parts,
            threads: None,
        }),
        ..Simulation::of(Input::job_file("load", job.to_owned()).unwrap())
    }
}

/// Reads of worn cells that have been at rest: half of the tail is retries.
fn worn(limit: u64, parts: u16) -> Simulation {
    let mut simulation = of(READS, Some(limit), parts);
    for (condition, value) in [(Condition::PeCycles, "2500"), (Condition::Age, "30d")] {
        condition.set(&mut simulation.state, value).unwrap();
    }
    simulation
}

/// Writes to 320 MiB with constant latencies, burnt in.
fn burnt_in(limit: u64, parts: u16) -> Simulation {
    let set = [
        ("geometry.channels", "2"),
        ("geometry.chips_per_channel", "1"),
        ("geometry.dies_per_chip", "1"),
        ("geometry.blocks_per_plane", "160"),
        ("capacity", "272 MiB"),
    ];
    Simulation {
        drive: "bench-4g".into(),
        set: set.map(|(path, value)| Override::new(path, value)).to_vec(),
        burn_in: Some(BurnInSetup::BY_ITSELF),
        ..of(WRITES, Some(limit), parts)
    }
}

fn run(simulation: &Simulation) -> Outcome {
    simulation.setup().unwrap().simulate().unwrap()
}

/// The same in one piece.
fn long(simulation: &Simulation) -> Outcome {
    let whole = Simulation {
        split: None,
        ..simulation.clone()
    };
    run(&whole)
}

/// What a part of the result is apart from another, beside both their intervals together.
fn within(what: &str, [a, b]: [f64; 2], [half_a, half_b]: [f64; 2]) -> bool {
    let room = (half_a * half_a + half_b * half_b).sqrt();
    println!("{what}: {a:.5} and {b:.5}, which may be {room:.5} apart");
    // Of some figures of three seeds, one in twenty lies outside.
    (a - b).abs() <= 1.5 * room
}

/// Parts together come to what one long run comes to: counts add up, and figures agree within the intervals of both.
#[test]
fn model_parts_of_reads_together_are_one_long_run() {
    for seed in 1..=3 {
        let mut simulation = worn(80_000, 4);
        simulation.state.workload_seed = seed;
        let (whole, parts) = (long(&simulation), run(&simulation));
        let [a, b] = [&whole, &parts].map(|outcome| outcome.latencies().1.clone());
        assert_eq!((a.count(), b.count(), a.bytes), (80_000, 80_000, b.bytes));
        let pages = |outcome: &Outcome| outcome.retries().pages;
        assert_eq!(pages(&whole), pages(&parts), "seed {seed}");
        let all = &parts.stats.all;
        assert_eq!(parts.stats.requests, 80_000);
        // The host is a little ahead of the run's own clock at the end of each part.
        assert!(all.runtime_ns <= parts.stats.simulated.0);
        let half = [a.mean_half_ns(), b.mean_half_ns()].map(Option::unwrap);
        assert!(within("mean", [a.mean_ns(), b.mean_ns()], half));
        let rate = |outcome: &Outcome| 8e13 / outcome.stats.all.runtime_ns as f64;
        let rates = [rate(&whole), rate(&parts)];
        let half = [
            a.rate_half().unwrap() * rates[0],
            b.rate_half().unwrap() * rates[1],
        ];
        assert!(within("rate", rates, half));
        for percent in [50.0, 99.0, 99.9] {
            let [a, b] = [&a, &b].map(|of| of.percentile(percent));
            let half = [a, b].map(|p| {
                let (low, high) = p.interval_ns.unwrap();
                (high - low) as f64 / 2.0
            });
            // Latencies come in steps of a sense.
            let step = 0.005 * a.ns as f64;
            let half = half.map(|half| half.max(step));
            let what = format!("seed {seed}, P{percent}");
            assert!(
                within(&what, [a.ns as f64, b.ns as f64], half),
                "{a:?} {b:?}"
            );
        }
    }
}

/// The same of writes to a drive that is burnt in, with their write amplification.
#[test]
fn model_parts_of_writes_together_are_one_long_run() {
    for seed in 1..=2 {
        let mut simulation = burnt_in(560_000, 4);
        simulation.state.workload_seed = seed;
        let (whole, parts) = (long(&simulation), run(&simulation));
        let amplified = [&whole, &parts].map(|outcome| {
            let found = outcome.stats.amplification;
            found
                .steady()
                .unwrap_or_else(|| panic!("seed {seed}: {found:?}"))
        });
        let half = amplified.map(|of| (of.interval.1 - of.mean).max(0.003 * of.mean));
        let means = amplified.map(|of| of.mean);
        assert!(within("write amplification", means, half), "seed {seed}");
        let writes = [&whole, &parts].map(|outcome| &outcome.stats.all.write);
        let means = writes.map(|of| of.mean_ns());
        let half = writes.map(|of| of.mean_half_ns().unwrap());
        assert!(within("mean", means, half), "seed {seed}");
        assert!(parts.notices.is_empty(), "{:?}", parts.notices);
    }
    // In less than a drive write, what superblocks held at first decides all parts alike, which is told.
    let short = run(&burnt_in(20_000, 4));
    let told = short
        .notices
        .iter()
        .filter(|told| told.text.contains("intervals may be"));
    assert_eq!(told.count(), 1, "{:?}", short.notices);
}

/// A drive that the load has not burnt in is in no steady state of it, and its writes change from the first half of each part
/// to the second: which is told.
#[test]
fn model_a_load_that_is_not_steady_is_told() {
    let hot = "norandommap\nrandom_distribution=zipf:1.2";
    let hot = WRITES.replace("norandommap", hot);
    let simulation = Simulation {
        input: Input::job_file("hot", hot).unwrap().into(),
        burn_in: Some(BurnInSetup::by(
            Input::job_file("uniform", WRITES.into()).unwrap(),
        )),
        ..burnt_in(480_000, 4)
    };
    let outcome = run(&simulation);
    let told = outcome.notices.iter().map(ToString::to_string);
    let told: Vec<String> = told.filter(|told| told.contains("not steady")).collect();
    assert!(
        told[0].contains("latencies of writes change by"),
        "{told:?}"
    );
    let (_, drift) = outcome.split.unwrap().drift.unwrap();
    assert!(drift.is_there(), "{drift:?}");
}

/// Results depend on the number of parts, and not on the number of threads.
#[test]
fn sequence_parts_share_the_requests_whatever_the_threads() {
    let with = |threads: u16| {
        let mut simulation = worn(10_003, 4);
        simulation.split = Some(Split {
            parts: 4,
            threads: Some(threads),
        });
        let setup = simulation.setup().unwrap();
        let outcome = setup.simulate().unwrap();
        (result_and_wall(&setup, &outcome, false).0, outcome)
    };
    let (one, outcome) = with(1);
    for threads in [2, 5] {
        assert_eq!(one, with(threads).0, "{threads} threads");
    }
    let split = outcome.split.unwrap();
    assert_eq!(split.requests, [2_501, 2_501, 2_501, 2_500]);
    assert_eq!(one["firstread"]["split"]["parts"], 4);
    assert_eq!(one["firstread"]["config"]["split"], 4);
    // All parts have other requests: else their mean would have no interval.
    let reads = &outcome.stats.all.read;
    let half = reads.mean_half_ns().unwrap() / reads.mean_ns();
    assert!(half > 1e-3, "{half}");
}

/// What ends a job ends its parts earlier: requests, bytes, time.
#[test]
fn formula_what_ends_a_job_is_shared_out() {
    for (end, requests) in [
        ("number_ios=1001", 1_001),
        ("io_size=4100k", 1_025),
        ("size=2m\nloops=3", 1_536),
        ("number_ios=1001\nio_size=2800k", 700),
    ] {
        let job = format!("[a]\nrw=randread\nbs=4k\niodepth=4\n{end}\n");
        for parts in [2, 3, 7] {
            let simulation = of(&job, None, parts);
            let whole = long(&simulation).stats.requests;
            assert_eq!(
                (whole, run(&simulation).stats.requests),
                (requests, requests),
                "{end}"
            );
        }
    }
    let timed = "[a]\nrw=randread\nbs=4k\niodepth=4\ntime_based\nruntime=40ms\n";
    let simulation = of(timed, None, 4);
    let (whole, parts) = (long(&simulation), run(&simulation));
    let ratio = parts.stats.requests as f64 / whole.stats.requests as f64;
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    let ratio = parts.stats.simulated.0 as f64 / whole.stats.simulated.0 as f64;
    assert!((0.98..1.03).contains(&ratio), "{ratio}");
}

/// A job of many that has no request in one part has some in others; one that has none in any is told.
#[test]
fn sequence_a_job_is_measured_where_any_part_has_a_request_of_it() {
    let slow = |rate: &str| {
        let job = format!(
            "[a]\nrw=randread\nbs=4k\niodepth=8\ntime_based\nruntime=1h\n\
             [b]\nrw=randread\nbs=4k\ntime_based\nruntime=1h\n{rate}\n"
        );
        let simulation = of(&job, Some(2_000), 4);
        simulation.setup().unwrap().simulate()
    };
    let outcome = slow("rate_iops=1000\nrate_process=poisson").unwrap();
    assert!(outcome.stats.reports[1].read.count() > 0);
    let error = slow("ramp_time=1h").unwrap_err().to_string();
    assert!(error.contains("job `b` measured nothing"), "{error}");
}

/// What is to be known of a job is told once, and not by each part.
#[test]
fn formula_notices_of_parts_are_those_of_a_run() {
    let job = READS.replace("bs=4k", "bs=4k\nbuffered=1\nverify=crc32c");
    let simulation = of(&job, Some(800), 4);
    let told = long(&simulation).notices;
    assert!(told.len() > 1, "{told:?}");
    assert_eq!(run(&simulation).notices, told);
}

/// The message with which a setup is refused.
fn refused(simulation: &Simulation) -> String {
    match simulation.setup().and_then(|setup| setup.simulate()) {
        Ok(outcome) => panic!(
            "not refused: {:?}, {:?}",
            simulation.input.title(),
            outcome.split
        ),
        Err(Error::Split(why)) => why.to_string(),
        Err(other) => panic!("{other}"),
    }
}

/// What is one course from its beginning to its end has no parts side by side. Each refusal says which option it is of.
#[test]
fn formula_what_is_one_course_is_refused() {
    let with =
        |option: &str| format!("[a]\nrw=randread\nbs=4k\niodepth=4\nnumber_ios=1000\n{option}\n");
    let job = |option: &str| of(&with(option), None, 4);
    for (simulation, why) in [
        (
            of(
                &(with("") + "[b]\nstonewall\nrw=randread\nnumber_ios=9\n"),
                None,
                4,
            ),
            "load:7: job `b` has `stonewall`",
        ),
        (
            of(
                &(with("") + "[b]\nwait_for=a\nrw=randread\nnumber_ios=9\n"),
                None,
                4,
            ),
            "`wait_for`",
        ),
        (job("startdelay=1s"), "`startdelay`"),
        (job("latency_target=1ms"), "`latency_target`"),
        (job("; firstread: power_cut=1ms"), "`power_cut`"),
        (job("; firstread: temperature=40"), "`temperature`"),
        (job("percentage_random=50"), "is sequential"),
        (
            job("thinktime=10ms\nthinktime_blocks=100"),
            "`thinktime of job a` is 0.010 s",
        ),
        (of(READS, Some(300), 4), "part 1 has 75 requests, of 100"),
        (
            Simulation {
                drive: "raro-femu".into(),
                schemes: vec!["cell_mode=hotness".parse().unwrap()],
                ..of(READS, Some(1000), 4)
            },
            "`cell_mode=hotness` goes by",
        ),
        (
            Simulation {
                schemes: vec!["read_levels=similar-page".parse().unwrap()],
                ..of(READS, Some(1000), 4)
            },
            "`read_levels=similar-page` goes by",
        ),
        (
            Simulation {
                schemes: vec!["read_levels=retention-model".parse().unwrap()],
                ..of(READS, Some(1000), 4)
            },
            "`read_levels=retention-model` goes by",
        ),
        (
            Simulation {
                burn_in: Some(BurnInSetup::by(
                    Input::job_file("other", WRITES.into()).unwrap(),
                )),
                ..of(READS, Some(1000), 4)
            },
            "burnt in by another load",
        ),
        (
            of(&READS.replace("bs=4k", "bs=4k\nsize=1m"), Some(300_000), 4),
            "reads begin to disturb",
        ),
        (
            Simulation {
                set: [
                    &burnt_in(1, 4).set[..],
                    &[Override::new("chip.modes.slc.endurance", "60 P/E")],
                ]
                .concat(),
                ..burnt_in(60_000, 4)
            },
            "P/E cycles of 60 rated",
        ),
        (
            Simulation {
                burn_in: Some(BurnInSetup {
                    most_drive_writes: 0.1,
                    ..BurnInSetup::BY_ITSELF
                }),
                ..burnt_in(60_000, 4)
            },
            "ended before writes were steady",
        ),
        (job("rw=read"), "is sequential"),
        (job("rw=rw"), "is sequential"),
        (job("rw=randwrite\nnorandommap"), "burn it in"),
        (job("rw=randtrim\nnorandommap"), "burn it in"),
        (job("rw=randrw"), "norandommap"),
        (
            Simulation {
                burn_in: Some(BurnInSetup::BY_ITSELF),
                ..job("rw=randrw")
            },
            "norandommap",
        ),
        (of(READS, Some(3), 4), "3 requests are too few for 4 parts"),
        (
            of(&with("number_ios=3"), None, 4),
            "3 requests of job `a` are too few for 4 parts",
        ),
        (
            of(&with("io_size=12k"), None, 4),
            "12288 bytes of job `a` are too few for 4 parts",
        ),
        (of(READS, Some(1000), 1), "2 to 1000 parts, and not 1"),
        (of(READS, Some(10_000), 1_001), "and not 1001"),
        (
            Simulation {
                watched: Watched {
                    interval: Some(Ns::from_ms(1)),
                    ..Watched::default()
                },
                ..of(READS, Some(1000), 4)
            },
            "--interval",
        ),
        (
            Simulation {
                watched: Watched {
                    fio_logs: true,
                    ..Watched::default()
                },
                ..job("write_lat_log=a")
            },
            "write_*_log",
        ),
    ] {
        let message = refused(&simulation);
        assert!(message.contains(why), "{message}");
    }
    let trace = Simulation {
        input: Input::open("synthetic-msr-hm_0").unwrap().into(),
        ..of(READS, Some(1000), 4)
    };
    assert!(refused(&trace).contains("is a trace"));
}

/// A run that would age its data is refused, whatever the number of its parts; the age that the message names is enough.
#[test]
fn model_ages_that_matter_are_refused() {
    let aged = |age: &str, parts| {
        let mut simulation = of(READS, Some(40_000), parts);
        Condition::Age.set(&mut simulation.state, age).unwrap();
        simulation
    };
    // 40,000 reads of 4 KiB take 0.2 s, 1 % of 20 s.
    for age in ["0", "5s", "0h..28h"] {
        for parts in [2, 8] {
            let message = refused(&aged(age, parts));
            assert!(message.contains("age by more than 1 %"), "{message}");
        }
    }
    let message = refused(&aged("5s", 4));
    let (_, least) = message.split_once("--age ").unwrap();
    let (least, _) = least.split_once(')').unwrap();
    run(&aged(least, 4));
    run(&aged("60s", 4));
    // Cells that do not age have no such bound.
    let ideal = Simulation {
        set: vec![Override::new("cells", "ideal")],
        ..aged("0", 4)
    };
    run(&ideal);
}

/// A run that is interrupted before its first request has nothing to report.
#[test]
fn sequence_an_interrupted_run_has_no_parts() {
    let interrupt = Interrupt::default();
    let setup = Setup {
        interrupt: interrupt.clone(),
        ..worn(10_000, 2).setup().unwrap()
    };
    interrupt.ask();
    assert!(matches!(setup.simulate(), Err(Error::Interrupted)));
}
