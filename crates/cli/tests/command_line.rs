//! The command as users and scripts meet it: what it prints, how it ends, what it leaves behind.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use command::{Folder, Ran};
use serde_json::Value;

/// Few enough requests for a test, enough for a result.
const LIMIT: &str = "2000";

#[test]
fn golden_help() {
    let folder = Folder::new("help");
    for sub in [
        &["--help"][..],
        &["run", "--help"],
        &["compare", "--help"],
        &["study", "--help"],
        &["life", "--help"],
        &["show", "--help"],
    ] {
        let ran = folder.run(sub).ok();
        insta::assert_snapshot!(format!("help_{}", sub[0].trim_matches('-')), ran.out);
        assert_eq!(ran.err, "");
    }
}

#[test]
fn golden_errors() {
    let folder = Folder::new("errors")
        .with("option.fio", "[a]\nrw=randread\niodpth=3\n")
        .with("size.fio", "[a]\nrw=randread\nsize=0\n")
        .with("past.fio", "[a]\nrw=randread\noffset=15t\nsize=2t\n")
        .with("empty", "")
        .with(
            "past.csv",
            "128166372003061629,hm,1,Read,99915360000000000,4096,24931\n",
        )
        .with("write.fio", "[w]\nrw=randwrite\nbs=4k\n")
        .with("fdp.fio", "[w]\nrw=randwrite\nfdp=1\n")
        .with(
            "ranges.fio",
            "[w]\nrw=write\nfdp=1\nplid_select=scheme\ndp_scheme=ranges.txt\n",
        )
        .with("ranges.txt", "0,512,1\n512,1024\n")
        .with("life.json", "{}")
        .with(
            "other.json",
            "{\"worn\": {\"drive\": \"mine\", \"superblocks\": 65}}",
        )
        .with("word.csv", "128166372003061629,hm,1,Raed,0,4096,24931\n")
        .with(
            "drive.toml",
            "based_on = \"dc-qlc-15t\"\nname = \"mine\"\nchannels = 4\n",
        );
    let example = "randread-4k-qd1";
    let small = ["--drive", "bench-4g"];
    let cases: [&[&str]; 36] = [
        &[],
        &["rnu"],
        &["list", "drive"],
        &["run"],
        &["run", "randread-4k"],
        &["life", "jesd219-client"],
        &["run", "./nosuch.fio"],
        &["run", "option.fio"],
        &["run", "size.fio"],
        &["run", "past.fio"],
        &["run", "fdp.fio"],
        &["run", "ranges.fio"],
        &["run", "empty"],
        &["run", "past.csv"],
        &["run", "word.csv", "--trace-format", "msr"],
        &["run", "word.csv", "--trace-format", "mrs"],
        &["run", example, "--sped", "2"],
        &["run", example, "--speed", "2"],
        &["run", example, "--drive", "ct-qcl"],
        &["run", example, "--drive", "drive.toml"],
        &["run", example, "--scheme", "read_level=frozen"],
        &["run", example, "--scheme", "read_levels=ctqlc"],
        &[
            "run",
            example,
            "--set",
            "ecc.iterations=3us",
            "--set",
            "link.rate=3",
        ],
        &["run", example, "--set", "read_levels.intervall=1h"],
        &["run", example, "--age", "28", "--pe-cycles", "many"],
        &["run", example, "--temperature", "5000"],
        &["compare", example],
        &["show", "ctqlc"],
        &["life", example],
        &["life", "write.fio", small[0], small[1]],
        &["life", "write.fio", small[0], small[1], "--until", "full"],
        &["life", "write.fio", "--until", "lost=enterprize"],
        &["life", "write.fio", "--until", "until"],
        &[
            "life",
            "write.fio",
            small[0],
            small[1],
            "--until",
            "years=1",
            "--wear-rate",
            "10",
        ],
        &[
            "run",
            example,
            small[0],
            small[1],
            "--wear-from",
            "life.json",
        ],
        &[
            "run",
            example,
            small[0],
            small[1],
            "--wear-from",
            "other.json",
        ],
    ];
    let mut text = String::new();
    for case in cases {
        let ran = folder.run(case);
        assert_eq!(ran.out, "", "{case:?} prints data");
        text += &format!(
            "$ firstread {}\n{}[exit {}]\n\n",
            case.join(" "),
            ran.err,
            ran.code
        );
    }
    insta::assert_snapshot!("errors", text);
}

#[test]
fn golden_lists() {
    let folder = Folder::new("lists");
    for what in [
        "drives", "chips", "axes", "schemes", "traces", "examples", "studies",
    ] {
        let ran = folder.run(&["list", what]).ok();
        // Every name that is listed can be shown; what is indented explains it.
        let named = |line: &&str| !line.is_empty() && !line.starts_with(' ');
        for line in ran.out.lines().filter(named) {
            let name = line.split_whitespace().next().unwrap();
            let shown = folder.run(&["show", name]).ok();
            assert!(
                shown.out.contains(name.rsplit('=').next().unwrap()),
                "{name}: {}",
                shown.out
            );
        }
    }
}

#[test]
fn formula_json_has_fios_keys_and_adds_up() {
    let folder = Folder::new("json").with(
        "two.fio",
        "[global]\nbs=4k\niodepth=8\n[reads]\nrw=randread\n[both]\nrw=randrw\nrwmixread=50\nfsync=8\n",
    );
    let result = folder
        .run(&["run", "two.fio", "--limit", LIMIT, "--output", "json"])
        .json();
    let jobs = result["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(result["global options"]["iodepth"], "8");
    assert_eq!(jobs[1]["job options"]["rwmixread"], "50");
    let mut total = 0;
    for job in jobs {
        for direction in ["read", "write", "trim"] {
            let d = &job[direction];
            let n = d["total_ios"].as_u64().unwrap();
            total += n;
            assert_eq!(d["io_bytes"], n * 4096);
            assert_eq!(d["lat_ns"]["N"], n);
            if n == 0 {
                continue;
            }
            let runtime_s = d["runtime"].as_f64().unwrap() / 1e3;
            // The runtime is rounded to milliseconds.
            let off = 1.0 / (runtime_s * 1e3) + 1e-3;
            let iops = d["iops"].as_f64().unwrap();
            assert!(
                (iops * runtime_s / n as f64 - 1.0).abs() < off,
                "{iops} {runtime_s} {n}"
            );
            let bw = d["bw_bytes"].as_f64().unwrap();
            assert!((bw / (iops * 4096.0) - 1.0).abs() < 1e-3, "{bw} {iops}");
            let lat = &d["clat_ns"];
            let ordered: Vec<u64> = ["50.000000", "99.000000", "99.990000"]
                .map(|p| lat["percentile"][p].as_u64().unwrap())
                .to_vec();
            assert!(ordered.is_sorted(), "{ordered:?}");
            let mean = lat["mean"].as_f64().unwrap();
            assert!(mean >= lat["min"].as_f64().unwrap() && mean <= lat["max"].as_f64().unwrap());
            assert_eq!(d["slat_ns"]["max"], 0);
        }
        total += job["sync"]["total_ios"].as_u64().unwrap();
        let percent: f64 = ["latency_ns", "latency_us", "latency_ms"]
            .iter()
            .flat_map(|unit| job[unit].as_object().unwrap().values())
            .map(|v| v.as_f64().unwrap())
            .sum();
        assert!(
            (percent - 100.0).abs() < 1e-6,
            "{percent} % of requests in the distribution"
        );
    }
    let own = &result["firstread"];
    assert_eq!(own["requests"], total);
    assert_eq!(own["requests"].to_string(), LIMIT);
    for key in [
        "version",
        "commit",
        "seed",
        "config",
        "requests_per_wall_second",
        "wall_seconds",
        "peak_rss_bytes",
        "first_try_rate",
        "retries_mean",
        "retries_histogram",
        "background_reads",
        "steady",
        "written",
        "capacity_bytes",
        "uncorrectable",
        "tail",
    ] {
        assert!(!own[key].is_null(), "firstread.{key}");
    }
    let histogram: Vec<u64> = own["retries_histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_u64().unwrap())
        .collect();
    let pages: u64 = histogram.iter().sum();
    assert_eq!(own["page_reads"], pages);
    let first_try = own["first_try_rate"].as_f64().unwrap();
    assert!((first_try - histogram[0] as f64 / pages as f64).abs() < 1e-12);
    assert_eq!(own["tail_of"], "read");
    for key in ["tail", "write_tail"] {
        let causes = own[key].as_object().unwrap_or_else(|| panic!("{key}"));
        let all: f64 = causes.values().map(|v| v.as_f64().unwrap()).sum();
        assert!(
            (all - 1.0).abs() < 1e-9,
            "the causes of {key} add up to {all}"
        );
        assert!(
            own[format!("{key}_requests")].as_u64().unwrap() > 0,
            "{key}"
        );
    }
    // A write here is in the buffer at once, and a read is sensed.
    assert_eq!(own["write_tail"]["sense"], 0.0);
    assert!(own["tail"]["sense"].as_f64().unwrap() > 0.1);
}

#[test]
fn sequence_compare_keeps_the_order_of_its_schemes() {
    let folder = Folder::new("compare");
    let scheme = "read_levels=optimal,factory";
    let args = [
        "compare",
        "randread-4k-qd32",
        "--scheme",
        scheme,
        "--limit",
        LIMIT,
        "--output",
        "json",
    ];
    let result = folder.run(&args).json();
    assert_eq!(result["axis"], "read_levels");
    let runs = result["runs"].as_array().unwrap();
    let labels: Vec<&str> = runs
        .iter()
        .map(|run| run["scheme"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["optimal", "factory"]);
    for run in runs {
        let config = &run["result"]["firstread"]["config"];
        assert_eq!(config["schemes"]["read_levels"], run["scheme"]);
        assert_eq!(run["result"]["firstread"]["requests"].to_string(), LIMIT);
    }
    let first_try = |i: usize| {
        runs[i]["result"]["firstread"]["first_try_rate"]
            .as_f64()
            .unwrap()
    };
    assert!(
        first_try(0) > first_try(1),
        "who knows the cells does not retry more: {} {}",
        first_try(0),
        first_try(1)
    );
}

/// What other modes cost is shown where drives may have several, over several drives too, and nowhere else.
#[test]
fn smoke_compare_shows_cell_modes_where_there_are_several() {
    let folder = Folder::new("compare-modes").with(
        "hot.fio",
        "[a]\nrw=randread\nbs=16k\nsize=16m\nnorandommap\n",
    );
    let run = |more: &[&str]| {
        let args = ["compare", "hot.fio", "--limit", "3000", "--drives", "2"];
        folder.run(&[&args[..], more].concat()).ok().out
    };
    let modes = run(&[
        "--drive",
        "raro-femu",
        "--scheme",
        "cell_mode=fixed,hotness",
        "--set",
        "cells=formula",
        "--set",
        "geometry.mapping_unit=16 KiB",
        "--set",
        "chip.array.layers=2",
        "--set",
        "capacity=384 MiB",
    ]);
    assert!(
        modes.contains("capacity lost to other cell modes"),
        "{modes}"
    );
    let by_mode = modes.split("by cell mode").nth(1).unwrap();
    let of = |scheme: &str, mode: &str| {
        let mut lines = by_mode.lines().map(str::split_whitespace);
        lines.any(|mut words| words.next() == Some(scheme) && words.next() == Some(mode))
    };
    assert!(
        of("hotness", "tlc") && of("hotness", "qlc") && of("fixed", "qlc"),
        "{by_mode}"
    );
    assert!(!of("fixed", "tlc"), "{by_mode}");
    let one = run(&["--drive", "bench-4g", "--scheme", "gc_victim=greedy,fifo"]);
    assert!(!one.contains("cell mode"), "{one}");
}

#[test]
fn sequence_compare_without_arguments_is_the_example() {
    let folder = Folder::new("example");
    let ran = folder.run(&["compare", "--limit", LIMIT]).ok();
    for part in [
        "randread-64k-qd128 on dc-qlc-15t",
        "28 h at 55 °C, 300 P/E",
        "P99",
        "first try",
        "background reads",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    for scheme in ["frozen", "ct-qlc", "optimal-group", "optimal"] {
        assert!(
            ran.out.lines().any(|l| l.trim_start().starts_with(scheme)),
            "{scheme}: {}",
            ran.out
        );
    }
    assert!(ran.err.contains("next: firstread run"), "{}", ran.err);
    // The sample in the README begins as the command does today; its figures take minutes, and are compared below.
    let worn = folder
        .run(&["compare", "--pe-cycles", "2500", "--limit", "200"])
        .ok();
    assert_eq!(
        worn.out.lines().next(),
        readme_sample().lines().next(),
        "make it anew: cargo run --release -p firstread-cli --example readme"
    );
    // Of 2,000 requests two lie beyond P99.9: too few for its value, and the page says how many it takes.
    let (table, needs) = ran.out.split_once("more requests are needed for").unwrap();
    assert!(!table.contains("P99.9"), "{}", ran.out);
    assert!(needs.starts_with(" P99.9 (10,000)"), "{}", ran.out);
}

/// The sample in the README.
fn readme_sample() -> &'static str {
    let readme = include_str!("../../../README.md");
    let (_, sample) = readme.split_once("\n```text\n").unwrap();
    sample.split_once("```").unwrap().0
}

#[test]
#[ignore = "six hundred thousand reads, many of them retried"]
fn golden_the_sample_in_the_readme() {
    let folder = Folder::new("readme");
    let schemes = "read_levels=factory,frozen,ct-qlc,optimal";
    let ran = folder
        .run(&[
            "compare",
            "--scheme",
            schemes,
            "--pe-cycles",
            "2500",
            "--drives",
            "3",
            "--limit",
            "50000",
        ])
        .ok();
    assert!(
        ran.out.starts_with(readme_sample()),
        "make it anew: cargo run --release -p firstread-cli --example readme\n{}",
        ran.out
    );
}

/// Takes the fields out that the wall clock decides.
fn without_wall(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in [
                "requests_per_wall_second",
                "wall_seconds",
                "prepare_wall_seconds",
                "peak_rss_bytes",
                "timestamp",
                "timestamp_ms",
                "time",
            ] {
                map.remove(key);
            }
            map.values_mut().for_each(without_wall);
        }
        Value::Array(items) => items.iter_mut().for_each(without_wall),
        _ => {}
    }
}

#[test]
fn sequence_twice_the_same_command_is_the_same_bytes() {
    let folder = Folder::new("twice");
    let args = |threads| {
        let mut args = vec![
            "compare",
            "mixed-70-30",
            "--scheme",
            "read_levels=frozen,ct-qlc",
        ];
        args.extend(["--limit", LIMIT, "--output", "json", "--threads", threads]);
        args
    };
    let [a, b] = ["1", "2"].map(|threads| {
        let mut result = folder.run(&args(threads)).json();
        without_wall(&mut result);
        result.to_string()
    });
    assert_eq!(a, b);
    let human = |seed| {
        folder
            .run(&["run", "randread-4k-qd32", "--limit", LIMIT, "--seed", seed])
            .ok()
            .out
    };
    assert_eq!(human("1"), human("1"));
    assert_ne!(human("1"), human("2").replace("seed 2", "seed 1"));
}

/// `--seed` draws the drive and nothing of the load; `--workload-seed` the load and nothing of the drive.
#[test]
fn model_seeds_of_the_drive_and_of_the_load_are_apart() {
    let folder = Folder::new("seeds");
    let run = |drive: &str, load: &str| {
        let args = ["run", "mixed-70-30", "--limit", LIMIT, "--output", "json"];
        let args = [&args[..], &["--seed", drive, "--workload-seed", load]].concat();
        folder.run(&args).json()
    };
    // How many reads and writes there are, and their bytes, is the load's; what became of the drive
    // before the load came is the drive's.
    let load = |r: &Value| {
        let of = |direction: &str| {
            let job = &r["jobs"][0][direction];
            (job["total_ios"].clone(), job["io_bytes"].clone())
        };
        (of("read"), of("write"))
    };
    let drive = |r: &Value| {
        let own = &r["firstread"];
        let before = |key: &str| own[key].as_u64().unwrap();
        before("background_reads") - before("background_reads_in_run")
    };
    let latency = |r: &Value| r["jobs"][0]["read"]["lat_ns"]["mean"].as_f64().unwrap();
    let [a, chips, requests] = [("1", "1"), ("7", "1"), ("1", "7")].map(|(d, l)| run(d, l));
    assert_eq!(a["firstread"]["workload_seed"], 1);
    assert_eq!(requests["firstread"]["workload_seed"], 7);
    assert_eq!(load(&a), load(&chips));
    assert_ne!(load(&a), load(&requests));
    assert_eq!(drive(&a), drive(&requests));
    assert_ne!(latency(&a), latency(&chips));
}

/// A drive of several is the drive of its seed, and the page has the median and both ends.
#[test]
fn model_drives_are_runs_of_their_seeds() {
    let folder = Folder::new("drives");
    let run = |more: &[&str]| {
        let args = ["run", "randread-4k-qd32", "--limit", LIMIT];
        folder.run(&[&args[..], more].concat()).ok()
    };
    let json = |more: &[&str]| {
        let mut json: Value = serde_json::from_str(&run(more).out).unwrap();
        without_wall(&mut json);
        json
    };
    let three = json(&["--drives", "3", "--seed", "4", "--output", "json"]);
    let runs = three["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for (one, seed) in runs.iter().zip(["4", "5", "6"]) {
        assert_eq!(one["drive"], "dc-qlc-15t");
        assert_eq!(one["point"]["seed"].to_string(), seed);
        let alone = json(&["--seed", seed, "--output", "json"]);
        assert_eq!(one["result"]["jobs"], alone["jobs"], "seed {seed}");
    }
    let page = run(&["--drives", "3", "--seed", "4"]).out;
    assert!(page.contains("3 drives (seeds 4 to 6)"), "{page}");
    assert!(
        page.contains("over drives") && page.contains("within one drive"),
        "{page}"
    );

    let args = [
        "compare",
        "randread-4k-qd32",
        "--limit",
        LIMIT,
        "--drives",
        "2",
    ];
    let schemes = ["--scheme", "read_levels=factory,optimal"];
    let page = folder.run(&[&args[..], &schemes].concat()).ok().out;
    assert!(page.contains("2 drives (seeds 1 to 2)"), "{page}");
    let both = folder
        .run(&[&args[..], &schemes, &["--output", "json"]].concat())
        .json();
    let of = |run: &Value| (run["scheme"].clone(), run["point"]["seed"].clone());
    let rows: Vec<_> = both["runs"].as_array().unwrap().iter().map(of).collect();
    let row = |scheme: &str, seed: u64| (scheme.into(), seed.into());
    assert_eq!(
        rows,
        [
            row("factory", 1),
            row("factory", 2),
            row("optimal", 1),
            row("optimal", 2)
        ]
    );
}

#[test]
fn model_a_result_repeats_from_its_configuration() {
    let folder = Folder::new("repeat");
    let changed = [
        "--set",
        "ecc.iteration=250ns",
        "--set",
        "read_levels.interval=2h",
    ];
    let base = [
        "run",
        "randread-4k-qd1",
        "--limit",
        "200",
        "--output",
        "json",
    ];
    let result = folder.run(&[&base[..], &changed].concat()).json();
    let config = &result["firstread"]["config"];
    let set: Vec<&str> = config["set"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect();
    assert_eq!(set, ["ecc.iteration", "read_levels.interval"]);
    let again: Vec<String> = set
        .iter()
        .flat_map(|path| {
            [
                "--set".to_owned(),
                format!("{path}={}", config["profile"][path].as_str().unwrap()),
            ]
        })
        .collect();
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let repeated = folder.run(&[&base[..], &again].concat()).json();
    assert_eq!(result["jobs"], repeated["jobs"]);
    let unchanged = folder.run(&base).json();
    assert_ne!(
        result["jobs"], unchanged["jobs"],
        "the override has an effect"
    );
}

#[test]
fn sequence_out_keeps_complete_files() {
    let folder = Folder::new("out");
    let args = [
        "run",
        "randread-4k-qd1",
        "--limit",
        LIMIT,
        "--out",
        "kept/deep",
        "--calibration-log",
    ];
    let printed = folder.run(&args).ok();
    let read = |name: &str| fs::read_to_string(folder.0.join("kept/deep").join(name)).unwrap();
    assert!(printed.out.starts_with(&read("report.txt")));
    assert!(printed.out.ends_with(&read("calibration.txt")));
    let result: Value = serde_json::from_str(&read("result.json")).unwrap();
    let requests = &result["firstread"]["requests"];
    let counted: u64 = read("latency.csv")
        .lines()
        .skip(1)
        .map(|l| l.split(',').nth(2).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(requests, counted);
    let csv = read("calibration.csv");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(
        csv.lines().count() > 2 && csv.lines().all(|l| l.split(',').count() == columns),
        "{csv}"
    );
    let left = fs::read_dir(folder.0.join("kept/deep")).unwrap();
    let names: Vec<String> = left
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|n| !n.contains("partial")), "{names:?}");
    // A path that cannot be a folder fails and leaves nothing.
    let ran =
        folder
            .with("file", "")
            .run(&["run", "randread-4k-qd1", "--limit", "10", "--out", "file"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
}

#[test]
fn sequence_notices_and_shortfalls_are_told() {
    let folder = Folder::new("notices").with(
        "job.fio",
        "[a]\nrw=randread\nioengine=libaio\nnumber_ios=50\n[b]\nrw=randread\nioengine=libaio\nnumber_ios=50\n",
    );
    let ran = folder.run(&["run", "job.fio", "--limit", "200"]).ok();
    let notes: Vec<&str> = ran
        .err
        .lines()
        .filter(|l| l.starts_with("note: "))
        .collect();
    assert_eq!(notes.len(), 2, "{}", ran.err);
    assert!(
        notes[0].starts_with("note: job.fio:3: `ioengine` is ignored"),
        "{}",
        notes[0]
    );
    assert_eq!(
        notes[1],
        "note: job.fio: ended after 100 requests, before the limit of 200"
    );
}

#[test]
fn sequence_traces_replay_wrap_and_scale() {
    let line = |i: u64, offset: u64| {
        format!(
            "{},hm,1,Read,{offset},4096,0\n",
            128_166_372_003_061_629 + i * 10_000
        )
    };
    let trace: String = (0..100).map(|i| line(i, i * 8192)).collect();
    let past = format!("{trace}{}", line(100, 99_000_000_000_000));
    let folder = Folder::new("traces")
        .with("trace.csv", &trace)
        .with("past.csv", &past);
    let simulated = |args: &[&str]| {
        let result = folder
            .run(&[&["run", "--output", "json"], args].concat())
            .json();
        assert_eq!(
            result["jobs"][0]["read"]["total_ios"],
            result["firstread"]["requests"]
        );
        result["firstread"]["simulated_ns"].as_f64().unwrap()
    };
    // 99 gaps of a millisecond, and the last request.
    let normal = simulated(&["trace.csv"]);
    assert!((99e6..100e6).contains(&normal), "{normal}");
    let fast = simulated(&["trace.csv", "--speed", "10"]);
    assert!((9.9e6..10.9e6).contains(&fast), "{fast}");
    let ran = folder.run(&["run", "past.csv"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .contains("\nerror: past.csv:101: msr column `offset`"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--trace-wrap"), "{}", ran.err);
    let ran = folder.run(&["run", "past.csv", "--trace-wrap"]).ok();
    assert!(
        ran.err.contains("note: past.csv:101: 1 requests lie past"),
        "{}",
        ran.err
    );
}

#[test]
fn sequence_a_drive_profile_of_ones_own() {
    let folder = Folder::new("own").with(
        "mine.toml",
        "based_on = \"dc-qlc-15t\"\nname = \"mine\"\nsummary = \"two channels\"\n[geometry]\n\
         channels = { value = 2, source = \"a test\" }\n[link]\nmax_outstanding = { value = 64, source = \"a test\" }\n",
    );
    // Two channels hold a quarter of what eight do.
    let capacity = "capacity=3 TB";
    let shown = folder.run(&["show", "mine.toml", "--set", capacity]).ok();
    assert!(
        shown
            .out
            .starts_with("drive mine: two channels\n  3.000 TB for the host"),
        "{}",
        shown.out
    );
    let args = [
        "run",
        "randread-4k-qd1",
        "--drive",
        "mine.toml",
        "--set",
        capacity,
        "--limit",
        "100",
    ];
    let ran = folder.run(&args).ok();
    assert!(
        ran.out.starts_with("randread-4k-qd1 on mine, 3.000 TB"),
        "{}",
        ran.out
    );
}

/// First words of the lines of `firstread list WHAT`.
fn listed(folder: &Folder, what: &str) -> Vec<String> {
    let ran = folder.run(&["list", what]).ok();
    let first = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    ran.out.lines().map(first).collect()
}

#[test]
fn smoke_every_scheme_runs() {
    let folder = Folder::new("schemes");
    for scheme in listed(&folder, "schemes") {
        // Few drives have superblocks that change their mode.
        let drive = match scheme.starts_with("cell_mode=") {
            true => ["--drive", "raro-femu"],
            false => ["--drive", "dc-qlc-15t"],
        };
        let run = ["run", "mixed-70-30", "--scheme", &scheme, "--limit", LIMIT];
        folder.run(&[&run[..], &drive].concat()).ok();
    }
}

#[test]
fn smoke_every_drive_runs_every_example() {
    let folder = Folder::new("drives");
    for drive in listed(&folder, "drives") {
        for example in listed(&folder, "examples") {
            let ran = folder.run(&["run", &example, "--drive", &drive, "--limit", "500"]);
            // A stand-in has a footprint of its own, and the smallest drive may not hold it.
            let too_small = example.starts_with("synthetic-") && ran.err.contains("needs a drive");
            if !too_small {
                ran.ok();
            }
        }
    }
}

const STUDY: &str = include_str!("../../session/src/study/small.toml");

/// What is measured from cells alone needs no run, and is in figures, data and report as all else.
#[test]
fn smoke_a_study_of_cells_needs_no_run() {
    let text = include_str!("../../session/src/study/cells.toml");
    let folder = Folder::new("cells-study").with("cells.toml", text);
    let only = ["--only", "margins", "--quick", "--out", "a"];
    let ran = folder.run(&[&["study", "cells.toml"], &only[..]].concat());
    assert!(ran.ok().err.contains("0 simulations"));
    let file = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    assert!(file("a/figures/margins.svg").contains(">Correctable (bits)</text>"));
    assert!(file("a/report.html").contains("<h2 id=\"margins\">"));
    assert!(fs::metadata(folder.0.join("a/figures/margins.png")).is_ok());
    // A row each age, of one population.
    let rows: Vec<String> = file("a/cells.csv").lines().map(String::from).collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        rows[0].starts_with("experiment,variant,age,temperature,pe_cycles,seed,rare_codeword_bits")
    );
    assert!(!rows[0].contains("least_r_squared"), "{rows:?}");
    assert!(rows[1].starts_with("margins,tlc,1d,30,500,1,"), "{rows:?}");
    // A folder that cannot take results is found out before anything is measured.
    let other = text.replacen("[\"500\"]", "[\"some\"]", 1);
    let folder = folder.with("other.toml", &other);
    let study = |out: &str| folder.run(&["study", "other.toml", "--out", out]);
    let refused = study("a");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("holds results"), "{}", refused.err);
    assert!(study("b").err.contains("some"));
}

/// A claim is shown with all that decides its verdict, and counted with its kind.
#[test]
fn smoke_claims_are_shown_with_what_decides_them() {
    let points = "experiment = \"one\", kind = \"ratio\", of = { variant = \"b\", age = \"2h\" }, against = { variant = \"a\" }";
    let claims = format!(
        "[[claim]]\nid = \"t.phases\"\nsays = \"faster\"\npublished = \"1.5\"\nunit = \"x\"\nband = [1.2, 1.9]\n\
         points = {{ metrics = [\"iops\", \"p50_us\"], {points}, phases = {{ age = [\"2h\", \"28h\"] }} }}\n\
         also = [{{ says = \"and slower\", unit = \"x\", band = [0.4, 0.9], points = {{ metric = \"mean_us\", {points} }} }}]\n\
         open = {{ sentence = \"It was some time ago.\", grid = {{ age = [\"2h\", \"28h\"] }} }}\nreason = \"both are one drive\"\n\
         [[claim]]\nid = \"ours.fitted\"\nsays = \"alike\"\nfalsified_by = \"any difference\"\nunit = \"x\"\nband = [0.9, 1.1]\n\
         claims = \"no-effect\"\nfitted = \"chosen so\"\npoints = {{ metric = \"iops\", {points} }}\n\
         [[claim]]\nid = \"t.in\"\nsays = \"a code\"\npublished = \"72\"\nunit = \"bits\"\ninput = \"the code\"\n"
    );
    let text = STUDY.replacen("quick = { age = [\"2h\"] }\n", "", 1) + "\n" + &claims;
    let folder = Folder::new("claims").with("claims.toml", &text);
    let ran = folder.run(&["study", "claims.toml", "--quick", "--out", "a"]);
    let out = &ran.ok().out;
    for line in [
        "Published rows: 1 reproduced, 1 missed, 0 undetermined, 0 not comparable",
        "Ours: 0 reproduced, 0 missed, 0 undetermined, 0 not comparable",
        "Fitted (a parameter was chosen from the number): 1 in band, 0 out of band",
        "Inputs: 1",
        "median of 2 phases",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let file = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    for page in ["a/README.md", "a/report.html"] {
        let page = file(page);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        for text in [
            "2 phases: 0 % in band, median 1 x, worst 1 x at 2h",
            "and slower",
            "It was some time ago.",
            "0 of 2 choices reproduce it",
            "any difference",
            "both are one drive",
            "chosen so",
            "1 drive",
        ] {
            at(text);
        }
        assert!(at("Published rows") < at("t.phases"), "totals come first");
    }
    let report = file("a/report.html");
    assert!(
        report.find("id=\"claims\"") < report.find("<svg"),
        "claims come first"
    );
    let results: Value = serde_json::from_str(&file("a/results.json")).unwrap();
    let phases = &results[1];
    assert_eq!(phases["verdict"], "missed");
    assert_eq!(
        (&phases["in_band"], &phases["in_band_at_default"]),
        (&false.into(), &false.into())
    );
    assert_eq!(phases["phases"]["all"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&phases["phases"]["in_band"], &phases["phases"]["worst"]),
        (&0.0.into(), &1.0.into())
    );
    assert_eq!(phases["parts"].as_array().unwrap().len(), 3);
    assert_eq!(phases["open"]["choices"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&results[2]["verdict"], &results[2]["in_band"]),
        (&"fitted".into(), &true.into())
    );
    assert_eq!(results[3]["verdict"], "input");
    // A line each number.
    assert_eq!(file("a/claims.csv").lines().count(), 1 + 1 + 3 + 1 + 1);
}

/// A study that is interrupted goes on where it was, says what is wrong with what it finds, and gives
/// the same results either way.
#[test]
fn sequence_a_study_runs_resumes_and_refuses() {
    let folder = Folder::new("study").with("small.toml", STUDY);
    let study = |out: &str| folder.run(&["study", "small.toml", "--quick", "--out", out]);
    let first = study("a").ok();
    assert!(first.out.contains("t.same"), "{}", first.out);
    let file = |name: &str| fs::read(folder.0.join(name)).unwrap();
    for name in [
        "a/report.html",
        "a/README.md",
        "a/points.csv",
        "a/claims.csv",
        "a/figures/one.svg",
        "a/figures/one.png",
    ] {
        assert!(!file(name).is_empty(), "{name}");
    }
    let results: Value = serde_json::from_slice(&file("a/results.json")).unwrap();
    assert_eq!(results[0]["verdict"], "reproduced", "{results}");

    let mut points: Vec<_> = fs::read_dir(folder.0.join("a/points"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    points.sort();
    assert_eq!(points.len(), 2);
    fs::remove_file(&points[0]).unwrap();
    let again = study("a").ok();
    assert!(
        again.err.contains("1 of 2 simulations were there already"),
        "{}",
        again.err
    );
    assert_eq!(again.out, first.out);
    study("b").ok();
    // The same bytes but for what the machine decides, which lies apart.
    let all = |out: &str| {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.0.join(out)];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(folder.0.join(out)).unwrap().to_owned();
                match path.is_dir() {
                    true => folders.push(path),
                    false => drop(files.insert(name, fs::read(&path).unwrap())),
                }
            }
        }
        files
    };
    let (a, b) = (all("a"), all("b"));
    assert!(a.keys().eq(b.keys()));
    for (name, bytes) in &a {
        if name.starts_with("wall") {
            let wall: Value = serde_json::from_slice(bytes).unwrap();
            assert!(wall["study_wall_seconds"].as_f64() > Some(0.0), "{wall}");
        } else {
            assert!(*bytes == b[name], "{} differs", name.display());
        }
    }

    // More drives than the quick form has: the first two simulations are there, the pages say how many and how to repeat it.
    let three = ["--quick", "--drives", "3", "--out", "b"];
    let three = folder
        .run(&[&["study", "small.toml"], &three[..]].concat())
        .ok();
    assert!(
        three.err.contains("2 of 6 simulations were there already"),
        "{}",
        three.err
    );
    let page = String::from_utf8(file("b/README.md")).unwrap();
    assert!(
        page.contains("small.toml --quick --drives 3 --out"),
        "{page}"
    );
    assert!(page.contains("the quick form over 3 drives"), "{page}");

    let whole = fs::read(&points[0]).unwrap();
    fs::write(&points[0], "{").unwrap();
    let damaged = study("a").ok();
    let name = points[0].file_name().unwrap().to_str().unwrap();
    assert!(
        damaged.err.contains("run anew; ") && damaged.err.contains(&format!("{name} is damaged")),
        "{}",
        damaged.err
    );
    assert_eq!(damaged.out, first.out);
    assert_eq!(fs::read(&points[0]).unwrap(), whole);

    let other = folder.run(&[
        "study", "ct-qlc", "--quick", "--only", "fig12", "--out", "a",
    ]);
    assert_eq!(other.code, 1);
    assert!(other.err.contains("choose another folder"), "{}", other.err);
    for args in [
        ["study", "ct-qcl", "--out", "c"].as_slice(),
        &["study", "small.toml", "--only", "tow", "--out", "c"],
    ] {
        let refused = folder.run(args);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("nearest"), "{}", refused.err);
    }
    assert!(!folder.0.join("c").exists(), "nothing is written");
}

/// Input without end is refused, soon and with the reason; so is a text larger than any can be.
#[test]
fn sequence_input_without_end_is_refused() {
    let folder = Folder::new("endless");
    let zeros = || fs::File::open("/dev/zero").unwrap();
    let run = |args: &[&str], input: Stdio| {
        let mut command = folder.command();
        command.args(args).stdin(input);
        Ran::from(command.output().unwrap())
    };
    let trace = run(&["run", "-"], zeros().into());
    assert_eq!(trace.code, 1);
    assert!(
        trace.err.contains("standard input: more than 256 MiB"),
        "{}",
        trace.err
    );
    let mut large = Vec::from(*b"[job]\n");
    large.resize(65 << 20, b' ');
    fs::write(folder.0.join("large.fio"), &large).unwrap();
    for (args, name) in [
        (["run", "large.fio"].as_slice(), "large.fio"),
        (
            &["run", "randread-4k-qd1", "--drive", "/dev/zero"],
            "/dev/zero",
        ),
        (&["study", "/dev/zero", "--out", "x"], "/dev/zero"),
    ] {
        let refused = run(args, Stdio::null());
        let why = format!("{name}: more than 64 MiB");
        assert_eq!(refused.code, 1, "{args:?}: {}", refused.err);
        assert!(refused.err.contains(&why), "{args:?}: {}", refused.err);
    }
    // A name of a megabyte is compared with others as far as names go.
    let long = "x".repeat(1 << 20);
    fs::write(folder.0.join("long.toml"), format!("{long} = 1\n")).unwrap();
    fs::write(folder.0.join("long.fio"), format!("[j]\n{long}=1\n")).unwrap();
    for args in [
        ["run", "randread-4k-qd1", "--drive", "long.toml"].as_slice(),
        &["run", "long.fio"],
    ] {
        let began = std::time::Instant::now();
        assert_eq!(run(args, Stdio::null()).code, 1);
        assert!(began.elapsed().as_secs() < 10, "{args:?}");
    }
}

/// A burn-in is told in words and in JSON, and what it refuses ends with its reason.
#[test]
fn sequence_a_burn_in_is_told() {
    let folder = Folder::new("burn-in").with(
        "w.fio",
        "[w]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\n",
    );
    let set = |key: &str, value: &str| ["--set".to_owned(), format!("{key}={value}")];
    let small = [
        set("geometry.channels", "2"),
        set("geometry.chips_per_channel", "1"),
        set("geometry.dies_per_chip", "1"),
        set("geometry.blocks_per_plane", "160"),
        set("capacity", "272 MiB"),
    ];
    let small: Vec<&str> = small.iter().flatten().map(String::as_str).collect();
    let run = |args: &[&str]| {
        let all = [
            &["run"],
            args,
            &["--drive", "bench-4g", "--limit", LIMIT],
            &small[..],
        ]
        .concat();
        folder.run(&all)
    };
    let told = run(&["w.fio", "--burn-in"]).ok();
    assert!(told.out.contains("  burnt in by w: "), "{}", told.out);
    assert!(
        told.out.contains("then steady at write amplification "),
        "{}",
        told.out
    );
    let result = run(&["w.fio", "--burn-in", "--output", "json"]).json();
    assert_eq!(result["firstread"]["burn_in"]["ended"], "steady");
    // A limit that is too short is told, and a read-only workload is burnt in by another one.
    let short = [
        "randread-4k-qd1",
        "--burn-in=w.fio",
        "--burn-in-limit",
        "0.05",
    ];
    let told = run(&short).ok();
    assert!(
        told.out.contains("NOT in a steady state at its limit"),
        "{}",
        told.out
    );
    let all = [
        &[
            "compare",
            "w.fio",
            "--burn-in=w.fio",
            "--burn-in-limit",
            "0.05",
        ][..],
        &small,
        &[
            "--drive",
            "bench-4g",
            "--limit",
            LIMIT,
            "--scheme",
            "gc_victim=fifo,greedy",
        ],
    ];
    let compared = folder.run(&all.concat()).ok();
    assert!(
        compared.out.contains("greedy, seed 1: burnt in by w: 0.0"),
        "{}",
        compared.out
    );

    for (args, code, message) in [
        (
            &["randread-4k-qd1", "--burn-in"][..],
            1,
            "the workload writes nothing",
        ),
        (
            &["w.fio", "--burn-in=nosuch"],
            2,
            "there is no file, example or stand-in `nosuch`",
        ),
        (
            &["w.fio", "--burn-in", "--burn-in-limit", "0"],
            2,
            "drive writes above 0",
        ),
    ] {
        let ran = run(args);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (code, ""),
            "{args:?}: {}",
            ran.err
        );
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

/// Phases are told where a job file waits or changes the temperature, and nowhere else.
#[test]
fn sequence_phases_are_told() {
    let folder = Folder::new("phases");
    let run = |name: &str, more: &[&str]| {
        folder.run(&[&["run", name, "--age", "0h", "--limit", "1000"], more].concat())
    };
    let told = run("write-wait-read", &[]).ok();
    let row = told
        .out
        .lines()
        .find(|line| line.contains("read-after-30-days  "));
    let row = row.unwrap_or_else(|| panic!("{}", told.out));
    assert!(
        row.contains("720 h  40 °C") && row.contains("1,000"),
        "{row}"
    );
    let plain = run("randread-4k-qd32", &[]).ok();
    assert!(!plain.out.contains("\nphases"), "{}", plain.out);
    let plain = run("randread-4k-qd32", &["--output", "json"]).json();
    assert!(plain["firstread"].get("phases").is_none());
}

/// The study to begin with runs as it is written, speaks of no paper, and its commands repeat.
#[test]
fn sequence_a_study_of_ones_own_runs_and_repeats() {
    let folder = Folder::new("own-study");
    let told = folder.run(&["study", "--new", "mine.toml"]).ok().out;
    assert!(
        told.contains("firstread study mine.toml --quick --out mine"),
        "{told}"
    );
    let again = folder.run(&["study", "--new", "mine.toml"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("not written over"), "{}", again.err);
    let path = folder.0.join("mine.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("firstread study mine.toml --quick --out mine"),
        "{text}"
    );
    let few = text
        .replace("quick = 5000", "quick = 300")
        .replace("\"p99_us\"", "\"p99.99_us\"");
    fs::write(&path, few).unwrap();
    let ran = folder
        .run(&["study", "mine.toml", "--quick", "--out", "mine"])
        .ok();
    assert!(
        ran.err
            .contains("no point has a number of `p99.99_us`: fewer than 10 requests lie beyond"),
        "{}",
        ran.err
    );
    let read = |name: &str| fs::read_to_string(folder.0.join("mine").join(name)).unwrap();
    for page in ["README.md", "report.html"] {
        let page = read(page);
        let words = page.replace("--paper", "");
        assert!(!words.contains("paper"), "{page}");
        assert!(page.contains("firstread study mine.toml"), "{page}");
    }
    // A command of the table, in the folder of the results.
    let points = read("points.csv");
    let mut points = csv::Reader::from_reader(points.as_bytes());
    let command = points
        .headers()
        .unwrap()
        .iter()
        .position(|c| c == "command")
        .unwrap();
    let row = points.records().next().unwrap().unwrap();
    let mean = row.iter().nth(
        points
            .headers()
            .unwrap()
            .iter()
            .position(|c| c == "mean_us")
            .unwrap(),
    );
    let mean: f64 = mean.unwrap().parse().unwrap();
    let mut args: Vec<&str> = row[command].split(' ').skip(1).collect();
    args.extend(["--output", "json"]);
    let results = Folder(folder.0.join("mine"));
    let result = results.run(&args).json();
    let again = result["jobs"][0]["read"]["lat_ns"]["mean"]
        .as_f64()
        .unwrap()
        / 1e3;
    assert!((again - mean).abs() < 1e-6, "{again} {mean}");
}

/// Without claims the numbers are printed, and there is no empty file.
#[test]
fn smoke_a_study_without_claims_prints_its_numbers() {
    let folder = Folder::new("plain-study").with(
        "plain.toml",
        "[[experiment]]\nid = \"wear\"\nvariants = \"bench-4g\"\nworkloads = \"randread-4k-qd32\"\n\
         pe_cycles = [100, 1000]\nrequests = 1000\nrepetitions = 1\n",
    );
    let ran = folder.run(&["study", "plain.toml", "--out", "plain"]).ok();
    assert!(ran.out.contains("pe_cycles  mean_us"), "{}", ran.out);
    assert!(ran.out.lines().count() > 4, "{}", ran.out);
    assert!(!folder.0.join("plain/claims.csv").exists());
    for what in ["metrics", "coordinates", "kinds"] {
        assert!(
            folder.run(&["list", what]).ok().out.lines().count() >= 9,
            "{what}"
        );
    }
}

/// A trace in columns of one's own; what it was understood to hold comes before its results.
#[test]
fn sequence_a_trace_in_columns_of_ones_own() {
    let folder = Folder::new("columns").with(
        "mine.csv",
        "time,op,offset,size\n0.5,R,0,4096\n10.25,W,8192,16384\n2000,R,1048576,4096\n",
    );
    let spec = "time:us,op,offset:B,size:B";
    let run = |args: &[&str]| {
        let mut all = vec!["run", "mine.csv", "--drive", "bench-4g"];
        all.extend(args);
        folder.run(&all)
    };
    let ran = run(&["--trace-columns", spec, "--output", "json"]);
    assert!(
        ran.err.starts_with(
            "note: mine.csv: read as columns: 3 requests (66.67 % reads, 33.33 % writes) of 4 KiB to 16 KiB, "
        ),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["firstread"]["requests"], 3);
    for (args, code, message) in [
        (
            &[][..],
            1,
            "tell columns of your own by --trace-columns, say time:us,op,offset:B,size:B",
        ),
        (
            &["--trace-columns", "time,op,offset:B,size:B"],
            2,
            "--trace-columns: column `time` needs its unit: time:ns|100ns|us|ms|s",
        ),
        (
            &["--trace-columns", spec, "--trace-format", "msr"],
            2,
            "--trace-format and --trace-columns cannot be given together",
        ),
        (
            &["--trace-columns", "time:us,op,offset:B,device"],
            2,
            "there is no column `size`",
        ),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}
