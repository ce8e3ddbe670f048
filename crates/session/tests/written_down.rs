//! What is written down of a run beside its report: its course over time, fio's logs, the log of its requests.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the files that a session writes"
)]

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;

use firstread_core::Ns;
use firstread_drive::Cause;
use firstread_drive::stats::{Latencies, timeline::Interval};
use firstread_session::conditions::Condition;
use firstread_session::results::{result_and_wall, text};
use firstread_session::{
    Error, FileError, Input, LogFormat, LogSpec, Outcome, Setup, Simulation, Watched, Which,
};

/// Two jobs of which one has a ramp, on a worn drive: reads with retries, writes of parts of mapping units, flushes, trims.
const JOBS: &str = "\
[global]
ramp_time=1ms
[mixed]
rw=randrw
rwmixread=80
bs=4k,2k
iodepth=16
fsync=50
write_iops_log=m
write_bw_log=m
write_lat_log=m
log_avg_msec=2
[trims]
rw=randtrim
bs=64k
rate_iops=2000
[reads]
rw=randread
bs=64k
iodepth=8
";

fn simulation(jobs: &str, limit: u64) -> Simulation {
    let mut simulation = Simulation {
        limit: Some(limit),
        ..Simulation::of(Input::job_file("a", jobs.to_owned()).unwrap())
    };
    Condition::PeCycles
        .set(&mut simulation.state, "2500")
        .unwrap();
    simulation
}

fn logged(name: &str, which: Which) -> LogSpec {
    LogSpec {
        path: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name),
        format: LogFormat::Csv,
        which,
    }
}

const ALL: Which = Which::Every(NonZeroU64::MIN);

/// A run of `simulation` of which `watched` is written down.
pub(crate) fn run(simulation: &Simulation, watched: Watched) -> (Setup, Outcome) {
    let setup = Setup {
        watched,
        ..simulation.setup().unwrap()
    };
    let outcome = setup.simulate().unwrap();
    (setup, outcome)
}

/// The rows of a log, by column.
fn rows(spec: &LogSpec) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(&spec.path).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        let named = names.iter().zip(cells);
        named
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> u64 {
    row[name]
        .parse()
        .unwrap_or_else(|_| panic!("{name} is `{}`", row[name]))
}

/// What a report has of one direction, from rows that it counts.
fn is_report_of(rows: &[&BTreeMap<String, String>], report: &Latencies, direction: &str) {
    let mut latencies: Vec<u64> = rows.iter().map(|row| number(row, "latency_ns")).collect();
    latencies.sort_unstable();
    assert_eq!(latencies.len() as u64, report.count(), "{direction}");
    let lost = rows.iter().filter(|row| row["lost"] == "1").count();
    assert_eq!(lost as u64, report.lost(), "{direction}");
    let Some((first, last)) = latencies.first().zip(latencies.last()) else {
        return;
    };
    let sum: u64 = latencies.iter().sum();
    assert_eq!(sum as f64 / latencies.len() as f64, report.mean_ns());
    // The report has three digits.
    let is_slot_of = |reported: u64, exact: u64| reported.abs_diff(exact) <= exact / 1_000;
    assert!(is_slot_of(report.min_ns(), *first) && is_slot_of(report.max_ns(), *last));
    for percent in [1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
        let rank = (latencies.len() as f64 * percent / 100.0).ceil() as usize;
        let exact = latencies[rank.max(1) - 1];
        let reported = report.percentile(percent).ns;
        assert!(
            is_slot_of(reported, exact),
            "{direction} P{percent}: {exact} of rows, {reported} of the report"
        );
    }
}

/// The causes of each row add up to its latency, and what the report says is what its rows say.
#[test]
fn model_the_rows_of_a_log_are_the_report() {
    let spec = logged("all.csv", ALL);
    let (_, outcome) = run(
        &simulation(JOBS, 6_000),
        Watched {
            log: Some(spec.clone()),
            ..Watched::default()
        },
    );
    let rows = rows(&spec);
    assert_eq!(rows.len() as u64, outcome.stats.requests);
    for row in &rows {
        let causes = Cause::ALL.map(|cause| number(row, &format!("{}_ns", cause.name())));
        assert_eq!(
            causes.iter().sum::<u64>(),
            number(row, "latency_ns"),
            "{row:?}"
        );
        let has_page = !row["die"].is_empty();
        assert!(!has_page || row["kind"] == "read", "{row:?}");
        for name in ["retries", "page_type", "cell_mode"] {
            assert_eq!(!row[name].is_empty(), has_page, "{row:?}");
        }
        // A read that joined another one's late was spared its retries.
        let waited = row["kind"] == "read" && number(row, "retry_ns") > 0;
        assert!(!waited || number(row, "retries") > 0, "{row:?}");
    }
    let ends: Vec<u64> = rows
        .iter()
        .map(|row| number(row, "arrival_ns") + number(row, "latency_ns"))
        .collect();
    assert!(ends.is_sorted(), "in the order of completion");
    assert!(rows.iter().any(|row| row["measured"] == "0"), "the ramp");
    assert!(
        rows.iter()
            .any(|row| !row["retries"].is_empty() && row["retries"] != "0")
    );
    for (job, report) in outcome.stats.reports.iter().enumerate() {
        for (kind, latencies) in [
            ("read", &report.read),
            ("write", &report.write),
            ("trim", &report.trim),
            ("flush", &report.flush),
        ] {
            let of = |row: &&BTreeMap<String, String>| {
                row["kind"] == kind && row["measured"] == "1" && number(row, "job") == job as u64
            };
            let counted: Vec<_> = rows.iter().filter(of).collect();
            is_report_of(&counted, latencies, &format!("job {job}, {kind}"));
        }
    }
}

/// Where each request is a read of one page, the retries, dies and page types of rows are those that the firmware counted.
#[test]
fn model_retries_of_rows_are_those_that_the_firmware_counts() {
    for scheme in ["retry=sequential", "retry=pipelined"] {
        let spec = logged(&format!("{}.csv", scheme.replace('=', "-")), ALL);
        let jobs = "[a]\nrw=randread\nbs=4k\niodepth=4\n";
        let simulation = Simulation {
            schemes: vec![
                scheme.parse().unwrap(),
                "read_levels=factory".parse().unwrap(),
            ],
            ..simulation(jobs, 4_000)
        };
        let watched = Watched {
            log: Some(spec.clone()),
            ..Watched::default()
        };
        let (_, outcome) = run(&simulation, watched);
        let rows = rows(&spec);
        let counters = &outcome.stats.counters;
        // A read that joins another one's is a row, and no page read of its own.
        let joined = counters.joined_reads;
        assert_eq!(joined, 0, "choose a load that joins nothing");
        let mut counted = [0; firstread_firmware::observe::RETRY_BINS];
        let mut by_page_type = BTreeMap::new();
        for row in rows.iter().filter(|row| row["lost"] == "0") {
            counted[number(row, "retries") as usize] += 1;
        }
        for row in &rows {
            *by_page_type.entry(row["page_type"].clone()).or_insert(0) += 1;
        }
        assert_eq!(counted, counters.retries, "{scheme}");
        assert!(counted[1..].iter().sum::<u64>() > 100, "{counted:?}");
        let pages = counters.page_reads_by_page_type.iter();
        let mut pages: Vec<u64> = pages.copied().filter(|&n| n > 0).collect();
        let mut found: Vec<u64> = by_page_type.into_values().collect();
        pages.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, pages, "{scheme}");
    }
}

/// Each n-th row, and the slowest ones, are those of the whole log.
#[test]
fn model_a_part_of_a_log_is_a_part_of_the_whole() {
    let simulation = simulation(JOBS, 2_000);
    let log = |name: &str, which| {
        let spec = logged(name, which);
        let watched = Watched {
            log: Some(spec.clone()),
            ..Watched::default()
        };
        run(&simulation, watched);
        rows(&spec)
    };
    let all = log("whole.csv", ALL);
    for n in [2, 7, 1_000_000] {
        let every = log("every.csv", Which::Every(NonZeroU64::new(n).unwrap()));
        let expected: Vec<_> = all.iter().step_by(n as usize).cloned().collect();
        assert_eq!(every, expected, "each {n}");
    }
    let mut measured: Vec<_> = all.iter().filter(|r| r["measured"] == "1").collect();
    // Stable: of equal ones the first stays the first.
    measured.sort_by_key(|row| std::cmp::Reverse(number(row, "latency_ns")));
    for k in [1, 50, 1_000_000] {
        let slowest = log("slowest.csv", Which::Slowest(k));
        let expected: Vec<_> = measured.iter().take(k).map(|r| (*r).clone()).collect();
        assert_eq!(slowest, expected, "the {k} slowest");
    }
}

/// A run that is watched is the run that is not, and its intervals add up to it.
#[test]
fn model_watching_changes_nothing_and_intervals_add_up() {
    let jobs = JOBS.replace("ramp_time=1ms\n", "");
    let simulation = simulation(&jobs, 6_000);
    let (plain_setup, plain) = run(&simulation, Watched::default());
    let watched = Watched {
        interval: Some(Ns(300_000)),
        fio_logs: true,
        log: Some(logged("watched.csv", ALL)),
        trace: None,
    };
    let (_, outcome) = run(&simulation, watched);
    let without = Outcome {
        written_down: Default::default(),
        ..outcome.clone()
    };
    let result = |outcome| text(&result_and_wall(&plain_setup, outcome, true).0);
    assert_eq!(result(&plain), result(&without));
    assert_eq!(plain.stats.events, outcome.stats.events);

    let intervals = &outcome.written_down.intervals;
    assert!(intervals.len() > 5, "{}", intervals.len());
    let all = &outcome.stats.all;
    for (i, latencies) in [&all.read, &all.write, &all.trim, &all.flush]
        .into_iter()
        .enumerate()
    {
        let sum = |of: fn(&Interval, usize) -> u64| intervals.iter().map(|n| of(n, i)).sum::<u64>();
        assert_eq!(sum(|n, i| n.directions[i].requests), latencies.count());
        assert_eq!(sum(|n, i| n.directions[i].bytes), latencies.bytes);
        assert_eq!(sum(|n, i| n.directions[i].lost), latencies.lost());
        let ns: u128 = intervals.iter().map(|n| n.directions[i].sum_ns).sum();
        let count = latencies.count().max(1);
        assert_eq!(ns as f64 / count as f64, latencies.mean_ns());
    }
    let counters = &outcome.stats.counters;
    let work = |of: fn(&Interval) -> u64| intervals.iter().map(of).sum::<u64>();
    assert_eq!(
        work(|n| n.work.written.host_bytes),
        counters.host_bytes_written
    );
    assert_eq!(work(|n| n.work.slots_moved), counters.slots_moved);
    assert_eq!(work(|n| n.work.erases), counters.erases);
    let retries: u64 = counters.page_retries_by_mode.iter().sum();
    assert_eq!(work(|n| n.work.retries), retries);
    assert_eq!(
        intervals.last().unwrap().end,
        outcome.stats.simulated,
        "the last interval ends with the run"
    );
}

/// fio's logs have fio's names and columns, and what they say is what was measured.
#[test]
fn model_fios_logs_add_up_to_the_report() {
    let (_, outcome) = run(
        &simulation(JOBS, 6_000),
        Watched {
            fio_logs: true,
            ..Watched::default()
        },
    );
    let logs = &outcome.written_down.fio_logs;
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    assert_eq!(
        names,
        ["m_iops.1.log", "m_bw.1.log", "m_lat.1.log", "m_clat.1.log"]
    );
    let lines = |log: usize| -> Vec<[u64; 5]> {
        let line = |line: &str| {
            let cells = line.split(", ").map(|cell| cell.parse().unwrap());
            <[u64; 5]>::try_from(cells.collect::<Vec<_>>()).unwrap()
        };
        logs[log].text.lines().map(line).collect()
    };
    let iops = lines(0);
    assert!(iops.is_sorted_by_key(|line| (line[0], line[2])), "{iops:?}");
    let whole = iops.iter().filter(|line| line[0] % 2 == 0).count();
    assert!(whole > 4, "windows of 2 ms: {iops:?}");
    let report = &outcome.stats.reports[0];
    for (direction, latencies) in [(0, &report.read), (1, &report.write)] {
        let of = |log: usize| -> Vec<[u64; 5]> {
            let mut lines = lines(log);
            lines.retain(|line| line[2] == direction);
            lines
        };
        // All windows but the last one are 2 ms long: of a rate, as many as twice its thousandth.
        let (rates, bandwidths, latency) = (of(0), of(1), of(2));
        assert_eq!(latency, of(3));
        let counted: f64 = rates[..rates.len() - 1]
            .iter()
            .map(|l| l[1] as f64 * 0.002)
            .sum();
        let missing = latencies.count() as f64 - counted;
        assert!(
            (0.0..latencies.count() as f64 / 3.0).contains(&missing),
            "{missing}"
        );
        for (rate, bandwidth) in rates.iter().zip(&bandwidths) {
            let bytes = bandwidth[1] as f64 * 1024.0 / rate[1] as f64;
            let expected = latencies.bytes as f64 / latencies.count() as f64;
            assert!((bytes / expected - 1.0).abs() < 0.01, "{bytes} a request");
        }
        let weighted = rates
            .iter()
            .zip(&latency)
            .map(|(n, l)| n[1] as f64 * l[1] as f64);
        let mean = weighted.sum::<f64>() / rates.iter().map(|n| n[1] as f64).sum::<f64>();
        assert!((mean / latencies.mean_ns() - 1.0).abs() < 0.2, "{mean}");
    }
}

/// Bins of latency as fio's json+ has them add up to the requests, and hold the percentiles.
#[test]
fn model_bins_are_the_distribution() {
    let (setup, outcome) = run(&simulation(JOBS, 3_000), Watched::default());
    let whole = firstread_session::results::Whole::new(&setup, &outcome, false);
    let value = whole.bins(true).value();
    for (job, report) in outcome.stats.reports.iter().enumerate() {
        for (name, latencies) in [("read", &report.read), ("write", &report.write)] {
            let of = &value["jobs"][job][name]["clat_ns"];
            let Some(bins) = of["bins"].as_object() else {
                assert_eq!(latencies.count(), 0, "{name}");
                continue;
            };
            let mut all: Vec<(u64, u64)> = bins
                .iter()
                .map(|(ns, n)| (ns.parse().unwrap(), n.as_u64().unwrap()))
                .collect();
            all.sort_unstable();
            let requests: u64 = all.iter().map(|(_, n)| n).sum();
            assert_eq!(requests, latencies.count());
            let mut below = 0;
            let median = all.iter().find(|(_, n)| {
                below += n;
                2 * below >= requests
            });
            assert_eq!(median.unwrap().0, latencies.percentile(50.0).ns);
        }
    }
}

/// A log that cannot be made or written ends the run with why.
#[test]
fn fuzz_a_log_that_cannot_be_written_ends_the_run() {
    let simulation = simulation("[a]\nrw=randread\nbs=4k\n", 60_000);
    let fails = |path: &str| {
        let setup = Setup {
            watched: Watched {
                log: Some(LogSpec {
                    path: path.into(),
                    ..logged("x.csv", ALL)
                }),
                ..Watched::default()
            },
            ..simulation.setup().unwrap()
        };
        match setup.simulate() {
            Err(Error::File(FileError::System { name, error })) => {
                assert_eq!(name, path);
                error.kind()
            }
            other => panic!("{path}: {other:?}"),
        }
    };
    use std::io::ErrorKind;
    assert_eq!(fails("no/such/folder/x.csv"), ErrorKind::NotFound);
    assert_eq!(fails(env!("CARGO_TARGET_TMPDIR")), ErrorKind::IsADirectory);
    #[cfg(target_os = "linux")]
    assert_eq!(fails("/dev/full"), ErrorKind::StorageFull);
}
