//! Lines and tables of numbers that were set by hand, and what is read off a run beside what its result says of it.

use firstread_core::Ns;
use firstread_drive::LastSuperblocks;
use firstread_drive::stats::{DepthFound, Lines, WriteBuffers};
use firstread_firmware::observe::RETRY_BINS;
use firstread_session::{Input, Simulation, results};
use serde_json::json;

use super::*;

/// A setup of `limit` requests that read and write.
fn mixed(limit: u64) -> Setup {
    let job = "[a]\nrw=randrw\nbs=4k\niodepth=16\nnorandommap\n".to_owned();
    let setup = Simulation {
        drive: "bench-4g".into(),
        limit: Some(limit),
        ..Simulation::of(Input::job_file("a", job).unwrap())
    };
    setup.setup().unwrap()
}

#[test]
fn golden_the_seeds_of_drives() {
    let setup = mixed(1);
    let of = |all: &[u64]| {
        let setups: Vec<Setup> = all
            .iter()
            .map(|&seed| {
                let mut of_seed = Setup {
                    seed,
                    ..setup.clone()
                };
                of_seed.state.workload_seed = 77;
                of_seed
            })
            .collect();
        seeds(setups.iter())
    };
    assert_eq!(of(&[4]), "seed 4, workload seed 77");
    assert_eq!(of(&[4, 5, 6]), "3 drives (seeds 4 to 6), workload seed 77");
    assert_eq!(of(&[4, 6]), "2 drives (seeds 4, 6), workload seed 77");
    let last = of(&[u64::MAX, 0]);
    assert!(
        last.starts_with("2 drives (seeds 18446744073709551615, 0)"),
        "{last}"
    );
}

#[test]
fn golden_write_buffers_of_each_stream() {
    let lines = |name, lines| Lines {
        name,
        lines,
        bytes: u64::from(lines) * 1_000_000,
    };
    let mut buffers = WriteBuffers {
        bytes: 9_000_000,
        of_schemes_bytes: 3_000_000,
        streams: vec![lines("host", 3), lines("moves", 3), lines("read_often", 1)],
        shared: lines("shared", 2),
    };
    assert_eq!(
        front::write_buffers(&buffers),
        "write buffers of 9.00 MB, in lines of a wordline over all dies: host 3.00 MB in 3, moves 3.00 MB in 3, \
         read often 1.00 MB in 1, shared 2.00 MB in 2\n"
    );
    buffers.of_schemes_bytes = 0;
    assert_eq!(front::write_buffers(&buffers), "");
}

#[test]
fn golden_states_of_a_drive() {
    let mut setup = mixed(1);
    setup.state = DriveState {
        age: (Ns::from_h(28), Ns::from_h(28)),
        pe_cycles: (300, 300),
        temperature_c: 40.0,
        ..DriveState::default()
    };
    let rated = format!("of {} rated", count(setup.rated_pe_cycles().into()));
    let line = |setup: &Setup| state_line(setup).replace(&rated, "RATED");
    assert_eq!(
        line(&setup),
        "filled in address order, 28 h at 40 °C, 300 P/E RATED"
    );

    setup.state.age.1 = Ns::from_h(720);
    setup.state.pe_cycles.1 = 900;
    setup.state.precondition = Precondition::Zipf(0.9);
    setup.state.temperature_step = Some((Ns::from_h(1), 55.5));
    setup.state.fill = 0.75;
    setup.state.unpowered = Ns::from_h(2);
    setup.state.last = Some(LastSuperblocks {
        permille: 125,
        pe_cycles: 1_500,
    });
    assert_eq!(
        line(&setup),
        "overwritten by Zipf's law, theta 0.9, 28 h to 30 d at 40 °C and, from 1 h on, 55.5 °C, 300 to 900 P/E \
         RATED and, in the last 12.5 % of superblocks, 1500, then 2 h without power, 75 % full"
    );

    setup.state.precondition = Precondition::Random;
    setup.state.earlier_fill = firstread_drive::EarlierFill::Lived(Ns::from_h(5));
    let text = line(&setup);
    assert!(text.starts_with("overwritten at random, "), "{text}");
    assert!(
        text.contains(", after an earlier fill of 5 h, 75 % full"),
        "{text}"
    );

    setup.state.fill = 0.0;
    let text = line(&setup);
    assert!(
        text.starts_with("empty, ") && !text.contains("full"),
        "{text}"
    );
}

/// P99.9 of a thousand requests has one beyond it; ten beyond P99.9999 are of ten million.
#[test]
fn formula_requests_that_percentiles_need() {
    assert_eq!(needed(&[], 1), "");
    assert_eq!(needed(&[100.0], 1), "");
    assert_eq!(
        needed(&[99.9, 100.0, 99.9999], 10),
        "  more requests are needed for P99.9 (10,000), P99.9999 (10,000,000)\n"
    );
    assert_eq!(
        needed(&[50.0], 1),
        "  more requests are needed for P50 (2)\n"
    );
}

#[test]
fn sequence_marks_are_explained_where_they_were_used() {
    let p = Percentile {
        percent: 99.0,
        ns: 1_000,
        interval_ns: Some((312_000, 340_000)),
        requests_needed: None,
        beyond: ENOUGH_BEYOND,
        lost_share: 0.0,
        among_errors: false,
    };
    let mut marks = Marks::default();
    assert_eq!(
        (marks.of(&p), marks.interval(&p)),
        (String::new(), "312 … 340 µs".into())
    );
    assert_eq!(marks.explained(), "");

    let few = Percentile {
        beyond: ENOUGH_BEYOND - 1,
        interval_ns: None,
        requests_needed: Some(1_200_000),
        ..p
    };
    assert_eq!(
        (marks.of(&few), marks.interval(&few)),
        ("*".into(), "needs 1.20 M".into())
    );
    let lines: Vec<String> = marks.explained().lines().map(String::from).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("* fewer than 100 requests"), "{lines:?}");
    assert!(lines[1].contains("needs N"), "{lines:?}");

    let mut marks = Marks::default();
    let lost = Percentile {
        among_errors: true,
        ..p
    };
    assert_eq!(marks.of(&lost), "!");
    // What an earlier percentile was marked by stays.
    assert_eq!(marks.of(&p), "");
    assert!(marks.explained().starts_with("  ! among errors"));
    assert_eq!(
        marks.of(&Percentile {
            among_errors: true,
            ..few
        }),
        "*!"
    );
    assert_eq!(
        marks.interval(&Percentile {
            requests_needed: None,
            ..few
        }),
        "too short"
    );
    assert_eq!(marks.explained().lines().count(), 4);
}

/// Of 10^15 bits read, two reads that are lost are 2·10^-15 a bit; none is below 3·10^-15 with 95 % certainty.
#[test]
fn formula_lost_requests_and_their_rate() {
    let none = Losses {
        reads: (0, 4_000),
        writes: (0, 10),
        read_bytes: 125_000_000_000_000,
    };
    assert_eq!(uncorrectable(none), "");
    assert_eq!(
        error_rate(none),
        "uncorrectable reads: none in 1.00 Pbit, so below 3.0e-15 a bit; JESD218 allows 1.0e-15 (client), 1.0e-16 \
         (enterprise)\n"
    );
    let some = Losses {
        reads: (2, 4_000),
        writes: (1, 10),
        ..none
    };
    let text = uncorrectable(some);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("UNCORRECTABLE: 2 of 4,000 reads ended in an error (5.0e-4); "));
    assert!(lines[1].starts_with("UNCORRECTABLE: 1 of 10 writes ended in an error (1.0e-1); "));
    assert!(error_rate(some).starts_with("uncorrectable reads: 2.0e-15 a bit; "));
    let few = Losses {
        read_bytes: 75,
        ..none
    };
    let text = error_rate(few);
    assert!(
        text.contains("none in 600 bit, so below 5.0e-3 a bit"),
        "{text}"
    );
    assert_eq!(error_rate(Losses::default()), "");
    let sum = Losses::sum([some, none, some].into_iter());
    assert_eq!((sum.reads, sum.writes), ((4, 12_000), (2, 30)));
    assert_eq!(sum.read_bytes, 375_000_000_000_000);
}

/// Ideal cells have no rate of bit errors, whatever a failed die or block has lost; other cells without voltages have one
/// where something was lost.
#[test]
fn formula_ideal_cells_have_no_bit_error_rate() {
    let of = |drive: &str, cells: &str, lost| {
        let job = "[j]\nrw=randread\nbs=4k\n".to_owned();
        let set = firstread_drive::profile::Override::parse(&format!("cells={cells}")).unwrap();
        let simulation = Simulation {
            drive: drive.into(),
            set: vec![set],
            ..Simulation::of(Input::job_file("j", job).unwrap())
        };
        let losses = Losses {
            reads: (lost, 4_000),
            read_bytes: 1 << 30,
            ..Losses::default()
        };
        let text = error_rate_of_cells(&simulation.setup().unwrap(), losses);
        !text.is_empty()
    };
    for (drive, cells, expected) in [
        ("bench-4g", "ideal", [false, false]),
        ("dwr-256g", "stages", [false, true]),
        ("dwr-256g", "modelled", [true, true]),
    ] {
        let says = [0, 2].map(|lost| of(drive, cells, lost));
        assert_eq!(says, expected, "{drive}, {cells}");
    }
}

#[test]
fn golden_run_times() {
    let of = |value: Value| wall(value.as_object().unwrap());
    assert_eq!(
        of(json!({
            "prepare_wall_seconds": 1.5,
            "wall_seconds": 0.002,
            "requests_per_wall_second": 97_900,
            "peak_rss_bytes": 1_310_000_000_u64,
        })),
        "prepared in 1.50 s, ran in 2.00 ms (97.9 k requests a second), 1.31 GB of memory at most"
    );
    assert_eq!(
        of(json!({})),
        "prepared in 0 ns, ran in 0 ns (0 requests a second)"
    );
}

/// Of ten thousand page reads nine thousand take no retry, and one in a thousand is lost.
#[test]
fn golden_retries_of_counts_by_hand() {
    let setup = mixed(50);
    let mut outcome = setup.simulate().unwrap();
    let counters = &mut outcome.stats.counters;
    counters.retries = [0; RETRY_BINS];
    counters.uncorrectable = 0;
    assert_eq!(retries(&outcome.parts()[0]), "");
    let counters = &mut outcome.stats.counters;
    for (place, n) in [(0, 9_000), (1, 500), (7, 3), (9, 200), (15, 87), (20, 100)] {
        counters.retries[place] = n;
    }
    counters.retries[RETRY_BINS - 1] = 100;
    counters.uncorrectable = 10;
    counters.lost_retries = 640;
    // 500 + 21 + 1,800 + 1,305 + 2,000 + 6,400 + 640 retries of 10,000 pages.
    let text = retries(&outcome.parts()[0]);
    assert_eq!(
        text,
        "\nretries of 10,000 page reads for the host
  first try 90.00 %, page failure rate 1.0e-1, 1.27 retries a page; share of reads lost 0

           0  9,000  90.00 %  ███████████████████████████
           1    500   5.00 %  █▌
           7      3   3.0e-4
     8 to 15    287   2.87 %  ▉
    16 to 31    100   1.00 %  ▎
  64 or more    100   1.00 %  ▎
        lost     10   0.10 %
"
    );
}

/// Each kind of work has its line where it occurred, and none otherwise.
#[test]
fn sequence_the_footer_tells_what_occurred() {
    let setup = mixed(50);
    let mut outcome = setup.simulate().unwrap();
    outcome.background_reads_before = 1_234;
    let counters = &mut outcome.stats.counters;
    counters.background_reads = 5;
    let parts = [
        ("old data of partial writes 11, with 12 retries", 0),
        ("programs and erases suspended 13\n", 1),
        ("senses ahead that were not needed 14\n", 2),
        ("soft senses 15, which saved 16 pages\n", 3),
        ("rebuilt from their stripes 17, by 18 page reads", 4),
    ];
    let set = |outcome: &mut Outcome, which: &dyn Fn(usize) -> bool| {
        let c = &mut outcome.stats.counters;
        let n = |place: usize, n: u64| if which(place) { n } else { 0 };
        (c.merge_reads, c.merge_retries) = (n(0, 11), 12);
        c.suspends = n(1, 13);
        c.cancelled_senses = n(2, 14);
        (c.soft_reads, c.soft_saved) = (n(3, 15), 16);
        (c.rebuilt, c.rebuild_reads) = (17, n(4, 18));
    };
    set(&mut outcome, &|_| false);
    let text = footer(&setup, &outcome);
    assert!(
        text.starts_with("\nbackground reads 1,234 before the run, 5 in it\n"),
        "{text}"
    );
    assert!(parts.iter().all(|(part, _)| !text.contains(part)), "{text}");
    for shown in 0..parts.len() {
        set(&mut outcome, &|place| place == shown);
        let text = footer(&setup, &outcome);
        for (part, place) in parts {
            assert_eq!(text.contains(part), place == shown, "{part}\n{text}");
        }
    }
}

/// The rows of a table between its head and the next empty line.
fn body<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let (_, rest) = text.split_once(head).unwrap();
    let lines = rest.lines().skip(1).take_while(|line| !line.is_empty());
    let cells = |line: &'a str| line.split("  ").map(str::trim).filter(|c| !c.is_empty());
    lines.map(|line| cells(line).collect()).collect()
}

/// The text of a run says what its result says: rates, latencies, percentiles with their intervals, causes.
#[test]
fn model_a_report_says_what_the_result_says() {
    let setup = mixed(5_000);
    let outcome = setup.simulate().unwrap();
    let result = results::result(&setup, &outcome, false);
    let text = report(&setup, &outcome);
    let job = &result["jobs"][0];
    for name in ["read", "write"] {
        let (of, number) = (&job[name], |v: &Value| v.as_f64().unwrap());
        let latency = &of["lat_ns"];
        let (_, part) = text.split_once(&format!("\n\n{name}\n")).unwrap();
        let lines: Vec<&str> = part.lines().collect();
        assert!(lines[0].starts_with(&format!(
            "  {} requests, {} in ",
            count(of["total_ios"].as_u64().unwrap()),
            bytes(number(&of["io_bytes"])),
        )));
        let half = |interval: &Value, of: &Value| {
            let ends = [0, 1].map(|i| interval[i].as_f64());
            let [Some(low), Some(high)] = ends else {
                return String::new();
            };
            format!(" {}", plus_minus((high - low) / 2.0 / number(of)))
        };
        let (rate, mean) = (&of["iops"], &latency["mean"]);
        let half_of_rate = half(&of["iops_interval_95"], rate);
        assert_eq!(
            lines[1],
            format!(
                "  IOPS {}{half_of_rate}, bandwidth {}/s",
                si(number(rate)),
                bytes(number(&of["bw_bytes"]))
            )
        );
        let half_of_mean = half(&latency["mean_interval_95"], mean);
        assert_eq!(
            lines[2],
            format!(
                "  latency mean {}{half_of_mean}, deviation {}, min {}, max {}",
                time(number(mean)),
                time(number(&latency["stddev"])),
                time(number(&latency["min"])),
                time(number(&latency["max"])),
            )
        );
        assert!(part.contains(
            "  more requests are needed for P99.99 (10,000), P99.999 (100,000), P99.9999 (1,000,000), P99.99999 \
             (10,000,000)\n"
        ));
        let rows = body(part, "percentile  ");
        let rows: Vec<_> = rows
            .iter()
            .filter(|row| row[0].parse::<f64>().is_ok())
            .collect();
        assert_eq!(rows.len(), 5, "what 2,500 requests reach: {rows:?}");
        for row in rows {
            let key = format!("{:.6}", row[0].parse::<f64>().unwrap());
            let Some(ns) = of["clat_ns"]["percentile"][&key].as_f64() else {
                panic!("{key} is not in the result");
            };
            assert_eq!(row[1], time(ns), "{key}");
            let interval = &of["clat_ns"]["percentile_interval_95"][&key];
            let ends = [0, 1].map(|i| interval[i].as_f64());
            if let [Some(low), Some(high)] = ends {
                assert_eq!(row[2], range(&time(low), &time(high)));
            } else {
                assert!(
                    row[2].starts_with("needs ") || row[2] == "too short",
                    "{row:?}"
                );
            }
        }
        let tail = match name {
            "read" => &result["firstread"]["tail"],
            _ => &result["firstread"]["write_tail"],
        };
        let rows = body(&text, &format!("of {name}s went"));
        let shares = tail.as_object().unwrap().values().map(number);
        let mut shares: Vec<f64> = shares.filter(|share| *share >= 0.0005).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let expected: Vec<String> = shares
            .iter()
            .map(|s| format!("{:.1} %", s * 100.0))
            .collect();
        let shown: Vec<&str> = rows.iter().map(|row| row[1]).collect();
        assert_eq!(shown, expected);
    }
    assert!(text.ends_with(&format!("{WITHIN}\n")));
}

/// A search for a depth is told with the job that it is of, where there are several.
#[test]
fn sequence_a_search_for_a_depth_is_told() {
    let mut report = Report::default();
    assert_eq!(job("", &report), "");
    let mut text = |title, settled| {
        report.depth = Some(DepthFound { depth: 24, settled });
        job(title, &report)
    };
    assert!(
        text("", true).starts_with("\nqueue depth: 24 is the highest that keeps latency_target")
    );
    assert!(text("fast", false).starts_with("\nqueue depth of fast: the search was at 24 when"));
}
