//! A run over time, its requests one by one, fio's logs and bins: what the command writes and what it refuses.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use command::{Folder, Ran};

const JOB: &str = "[a]\nrw=randrw\nbs=4k\niodepth=4\n";
const RUN: &str = "run job.fio --drive bench-4g --limit 3000";

fn folder(test: &str) -> Folder {
    Folder::new(test).with("job.fio", JOB)
}

/// What cannot be done says what is wrong, and nothing is run or written.
#[test]
fn fuzz_what_is_refused() {
    let folder = folder("refused");
    for (options, says) in [
        ("--interval 1ms", "--interval needs --out DIR"),
        ("--interval 0 --out o", "--interval"),
        (
            "--interval 0ms --out o",
            "expected a time from 1us to 100 years",
        ),
        (
            "--interval 10ns --out o",
            "expected a time from 1us to 100 years",
        ),
        ("--interval 1kb --out o", "--interval"),
        ("--log l.csv --log-every 0", "--log-every"),
        (
            "--log l.csv --log-slowest 0",
            "expected a number from 1 to 1000000",
        ),
        (
            "--log l.csv --log-every 2 --log-slowest 3",
            "cannot be used with",
        ),
        ("--log-every 2", "--log <FILE>"),
        ("--log l.csv --drives 2", "--log is of one run"),
        ("--log l.csv --age 0,1h", "--log is of one run"),
        ("--log l.csv --seed 1,2", "--log is of one run"),
        (
            "--trace-events t.json --trace-slowest 0",
            "expected a number from 1 to 1000",
        ),
        (
            "--trace-events t.json --trace-window 0ms",
            "expected a time from 1us to 100 years",
        ),
        ("--trace-slowest 3", "--trace-events <FILE>"),
        ("--trace-window 3ms", "--trace-events <FILE>"),
        (
            "--trace-events t.json --drives 2",
            "--trace-events is of one run",
        ),
        (
            "--trace-events t.json --age 0,1h",
            "--trace-events is of one run",
        ),
        (
            "--trace-events t.json --seed 1,2",
            "--trace-events is of one run",
        ),
        ("--split 1", "not in 2..=1000"),
        ("--split 1001", "not in 2..=1000"),
        ("--split 2 --drives 2", "--split is of one run"),
        ("--split 2 --age 0,1h", "--split is of one run"),
        ("--split 2 --log l.csv", "--log is of one course"),
        (
            "--split 2 --trace-events t.json",
            "--trace-events is of one",
        ),
        ("--split 2 --calibration-log", "--calibration-log is of"),
        (
            "--split 2",
            "--split: job.fio:1: job `a` writes each block once",
        ),
        ("--output json+ --drives 2", "--output json+ is of one run"),
        ("--output json+ --age 0,1h", "--output json+ is of one run"),
    ] {
        let error = folder.run(&format!("{RUN} {options}")).fails(2);
        assert!(error.contains(says), "{options}: {error}");
    }
    if !cfg!(feature = "parquet") {
        let error = folder.run(&format!("{RUN} --log l.parquet")).fails(2);
        assert!(error.contains("this build writes no Parquet"), "{error}");
    }
    let error = folder.run("compare job.fio --output json+").fails(2);
    assert!(error.contains("json+ is of one run"), "{error}");
    assert!(folder.has_only(&["job.fio"]));
}

/// A file that cannot be made or written ends the run with its name, and what is there are whole rows.
#[test]
fn fuzz_a_log_that_cannot_be_written() {
    let folder = folder("full");
    let missing = folder.run(&format!("{RUN} --log no/such/l.csv")).fails(1);
    assert!(missing.contains("error: no/such/l.csv: "), "{missing}");
    #[cfg(target_os = "linux")]
    {
        let full = folder.run(&format!("{RUN} --log /dev/full")).fails(1);
        assert!(full.contains("error: /dev/full: No space left"), "{full}");
    }
    #[cfg(unix)]
    {
        // No file may be larger than 64 blocks of a kilobyte or half of one, as the shell has it.
        // More than a block of records.
        let run = RUN.replace("3000", "20000");
        let program = env!("CARGO_BIN_EXE_firstread");
        let line = format!("trap '' XFSZ; ulimit -f 64; exec {program} {run} --log l.csv");
        let mut shell = folder.command_of("sh");
        let ran = Ran::from(shell.args(["-c", &line]).output().unwrap());
        let error = ran.fails(1);
        assert!(error.contains("error: l.csv: File too large"), "{error}");
        let log = folder.read("l.csv");
        let cells = log.lines().next().unwrap().split(',').count();
        assert!(log.ends_with('\n') && log.len() > 30_000, "{}", log.len());
        let rows = || log.lines().skip(1);
        assert!(rows().all(|row| row.split(',').count() == cells));
        // Those that stayed are the first ones.
        folder.run(&format!("{run} --log whole.csv")).ok();
        let whole = folder.read("whole.csv");
        assert!(whole.starts_with(&log) && whole.len() > log.len());
        assert_eq!(whole.lines().count(), 20_001);
    }
}

/// A timeline is there as a whole or not at all: what was there before stays, and nothing else is left.
#[test]
fn fuzz_a_timeline_that_cannot_be_written() {
    let folder = folder("no-timeline");
    let missing = folder.run(&format!("{RUN} --trace-events no/such/t.json"));
    let missing = missing.fails(1);
    assert!(missing.contains("error: no/such/t.json: "), "{missing}");
    let taken = folder.run(&format!("{RUN} --trace-events .")).fails(1);
    assert!(taken.contains("error: .: is a directory"), "{taken}");
    #[cfg(target_os = "linux")]
    {
        let full = folder.run(&format!("{RUN} --trace-events /dev/full"));
        let full = full.fails(1);
        assert!(full.contains("error: /dev/full: No space left"), "{full}");
    }
    assert!(folder.has_only(&["job.fio"]));
    #[cfg(unix)]
    {
        folder.write("t.json", "before");
        let program = env!("CARGO_BIN_EXE_firstread");
        let line =
            format!("trap '' XFSZ; ulimit -f 64; exec {program} {RUN} --trace-events t.json");
        let mut shell = folder.command_of("sh");
        let error = Ran::from(shell.args(["-c", &line]).output().unwrap()).fails(1);
        assert!(error.contains("error: t.json: File too large"), "{error}");
        assert_eq!(folder.read("t.json"), "before");
        assert!(folder.has_only(&["job.fio", "t.json"]));
        // A load that goes wrong midway.
        folder.write("bad.csv", "R,0,4096\nR,4096,4096\nR,x,4096\n");
        let line =
            "run bad.csv --drive bench-4g --trace-columns op,offset:B,size:B --trace-events t.json";
        folder.run(line).fails(1);
        assert_eq!(folder.read("t.json"), "before");
        assert!(folder.has_only(&["bad.csv", "job.fio", "t.json"]));
    }
}

/// A run with a timeline is run, though its result is there, and the timeline is the same.
#[test]
fn sequence_a_timeline_of_the_slowest_reads_is_written_again() {
    let folder = folder("slowest");
    let line = format!("{RUN} --out o --trace-events t.json --trace-slowest 2");
    folder.run(&line).ok();
    let first = folder.read("t.json");
    let ran = folder.run(&line).ok();
    ran.says("run anew; a timeline of its slowest reads is written");
    assert_eq!(folder.read("t.json"), first);
    let json = serde_json::from_str::<serde_json::Value>(&first).unwrap();
    assert_eq!(json["otherData"]["slowest_reads"], 2);
    assert!(json["traceEvents"].as_array().unwrap().len() > 100);
}

/// A run over time is kept as a table and as pictures, is in JSON, and is found like other results.
#[test]
fn sequence_a_timeline_is_kept_and_found() {
    let folder = folder("timeline");
    let line = format!("{RUN} --interval 2ms --out o");
    let first = folder.run(&line).ok();
    let csv = folder.read("o/timeline.csv");
    let intervals = csv.lines().count() - 1;
    assert!(intervals > 3, "{csv}");
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let sum = |name: &str| -> u64 {
        let place = names.iter().position(|n| *n == name).unwrap();
        let cells = csv
            .lines()
            .skip(1)
            .map(|row| row.split(',').nth(place).unwrap());
        cells.map(|cell| cell.parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum("read_requests") + sum("write_requests"), 3000);
    let svg = folder.read("o/timeline.svg");
    assert!(svg.contains(">writes P99<") && !svg.contains("NaN"));
    assert!(folder.0.join("o/timeline.png").is_file());
    let page = folder.read("o/report.html");
    assert!(page.contains(">Over time</h2>") && page.contains(">writes P99<"));
    let again = folder.run(&line).ok();
    again.says("the run was there already");
    assert_eq!(again.out, first.out);
    // Without it, it is another result.
    folder
        .run(&format!("{RUN} --out o"))
        .ok()
        .says("`interval_ns` was 2000000 and is null");
    let json = folder.run(&format!("{RUN} --interval 2ms --json")).json();
    let rows = json["firstread"]["timeline"].as_array().unwrap();
    assert_eq!(rows.len(), intervals);
    assert!(rows[0]["write"]["percentile"]["99.000000"].as_u64() > Some(0));
    // Each of several runs has its own: in a folder, or in its result.
    folder
        .run(&format!("{RUN} --interval 2ms --drives 2 --out d"))
        .ok();
    assert_eq!(folder.read("d/seed-1/timeline.csv"), csv);
    folder
        .run(&format!("{RUN} --interval 2ms --age 0,1h --out m"))
        .ok();
    let point =
        serde_json::from_str::<serde_json::Value>(&folder.read("m/points/age-0_seed-1.json"));
    let rows = point.unwrap()["firstread"]["timeline"].take();
    assert!(rows.as_array().unwrap().len() > 3);
}

/// A run with a log is run, though its result is there, and the log is the same.
#[test]
fn sequence_a_log_is_written_also_where_the_result_is_there() {
    let folder = folder("again");
    folder.run(&format!("{RUN} --out o")).ok();
    for _ in 0..2 {
        let ran = folder.run(&format!("{RUN} --out o --log o/l.csv")).ok();
        ran.says("run anew; a log of its requests is written");
    }
    folder.run(&format!("{RUN} --log l.csv")).ok();
    assert_eq!(folder.read("o/l.csv"), folder.read("l.csv"));
    assert_eq!(folder.read("l.csv").lines().count(), 3001);
    folder
        .run(&format!("{RUN} --log s.csv --log-slowest 10"))
        .ok();
    assert_eq!(folder.read("s.csv").lines().count(), 11);
}

/// fio's logs lie in the folder of the results, under fio's names; without a folder a note says where they would.
#[test]
fn sequence_fios_logs_are_kept() {
    let job = "write_iops_log=/tmp/x/a\nwrite_lat_log\nlog_avg_msec=1\nnumjobs=2\n";
    let folder = Folder::new("fio").with("job.fio", &(JOB.to_owned() + job));
    let ran = folder.run(RUN).ok();
    ran.says("fio's logs of job `a` are kept by `firstread run --out DIR`");
    folder.run(&format!("{RUN} --out o")).ok();
    for name in [
        "a_iops.1.log",
        "a_iops.2.log",
        "a_lat.1.log",
        "a_clat.2.log",
    ] {
        let log = folder.read(&format!("o/{name}"));
        let cells = log.lines().map(|line| line.split(", ").count());
        assert!(
            log.lines().count() > 3 && cells.clone().all(|n| n == 5),
            "{log}"
        );
    }
    assert!(folder.has_only(&["job.fio", "o"]));
}

/// JSON with bins has them printed and kept, and is another result than one without.
#[test]
fn sequence_bins_are_printed_and_kept() {
    let folder = folder("bins");
    let plain = folder.run(&format!("{RUN} --json --out o")).json();
    assert_eq!(
        plain["jobs"][0]["read"]["clat_ns"]["bins"].as_object(),
        None
    );
    for _ in 0..2 {
        let json = folder.run(&format!("{RUN} --output json+ --out o")).json();
        for direction in ["read", "write"] {
            let of = &json["jobs"][0][direction];
            let bins = of["clat_ns"]["bins"].as_object().unwrap();
            let sum: u64 = bins.values().map(|n| n.as_u64().unwrap()).sum();
            assert_eq!(of["total_ios"], sum);
        }
    }
}
