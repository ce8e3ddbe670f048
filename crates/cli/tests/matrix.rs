//! Many runs in one command, the end of a command by Ctrl-C, and the words that people type.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use command::{Folder, Ran};
use serde_json::Value;

const SHORT: &str = "--limit 500 --threads 2";

/// Every combination is the run that it would be alone, has a row for each drive, and is not run twice.
#[test]
fn model_a_matrix_is_the_runs_of_its_combinations() {
    let folder = Folder::new("combinations");
    let lists = "--drive dc-qlc-15t,bench-4g --age 0,2d3h --pe-cycles 100,1k --seed 3,5";
    let line = format!("run randread-4k-qd32 {lists} {SHORT} --out m");
    let first = folder.run(&line).ok();
    assert!(
        first
            .out
            .contains("16 runs (2 drive × 2 pe_cycles × 2 age × 2 drives, seeds 3 5)"),
        "{}",
        first.out
    );
    let csv = folder.read("m/matrix.csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 17, "{csv}");
    assert_eq!(
        rows[0][..7],
        [
            "workload",
            "drive",
            "pe_cycles",
            "age_h",
            "temperature_c",
            "workload_seed",
            "seed"
        ]
    );
    assert_eq!(
        rows[16][..8],
        [
            "randread-4k-qd32",
            "bench-4g",
            "1000",
            "51",
            "55",
            "1",
            "5",
            "completed"
        ]
    );
    assert!(folder.read("m/matrix.svg").contains(">bench-4g</text>"));
    assert!(folder.files("m/points") == 16 && folder.0.join("m/matrix.png").is_file());

    let json = folder.run(&format!("{line} --json")).json();
    assert_eq!(json["axis"], "drive,pe_cycles,age_h");
    let last = &json["runs"][15];
    assert_eq!(last["drive"], "bench-4g");
    let point = serde_json::json!({ "drive": "bench-4g", "pe_cycles": 1000.0, "age_h": 51.0, "seed": 5, "workload_seed": 1 });
    assert_eq!(last["point"], point);
    let alone =
        "run randread-4k-qd32 --drive bench-4g --age 51h --pe-cycles 1000 --seed 5 --limit 500";
    let alone = folder.run(&format!("{alone} --output json")).json();
    assert_eq!(last["result"]["jobs"], alone["jobs"]);
    assert!(last["result"]["firstread"]["wall_seconds"].is_number());

    fs::remove_file(
        folder
            .0
            .join("m/points")
            .join("drive-dc-qlc-15t-pe_cycles-1k-age-0_seed-3.json"),
    )
    .unwrap();
    let again = folder.run(&line).ok();
    assert!(
        again.err.contains("15 of 16 runs were there already"),
        "{}",
        again.err
    );
    assert_eq!((again.out, folder.read("m/matrix.csv")), (first.out, csv));
}

/// What is given a list: options of fio, schemes, parameters, temperatures with a history, seeds of the load.
#[test]
fn sequence_everything_that_takes_a_list_is_crossed() {
    let folder = Folder::new("lists");
    let json = |lists: &str| {
        let json = folder
            .run(&format!(
                "run randread-4k-qd1 --drive bench-4g {lists} {SHORT} --json"
            ))
            .json();
        let runs = json["runs"].as_array().unwrap().clone();
        (json["axis"].as_str().unwrap().to_owned(), runs)
    };
    let (axis, runs) = json("--job iodepth=1,8 --job bs=4k,64k");
    assert_eq!((axis.as_str(), runs.len()), ("iodepth,bs", 4));
    let job = |run: &Value, key: &str| run["result"]["jobs"][0]["job options"][key].clone();
    assert_eq!(
        (job(&runs[3], "iodepth"), job(&runs[3], "bs")),
        ("8".into(), "64k".into())
    );
    let (axis, runs) = json("--temperature 25 --temperature 25,55@1h");
    assert_eq!(axis, "temperature_c");
    assert_eq!(runs[1]["point"]["temperature_c"], "25,55@1h");
    let (axis, runs) = json(
        "--scheme gc_victim=fifo,greedy --workload-seed 1,2 --set ecc.engines_per_channel=1,4",
    );
    assert_eq!(
        (axis.as_str(), runs.len()),
        ("gc_victim,ecc.engines_per_channel,workload_seed", 8)
    );
    assert_eq!(runs[7]["scheme"], "greedy");
    assert_eq!(
        runs[7]["result"]["firstread"]["config"]["profile"]["ecc.engines_per_channel"],
        "4"
    );
    let (_, runs) = json("--age 0..2d,28h");
    assert_eq!(runs[0]["point"]["age_h"], "0..48", "a range is one drive");

    let compared = format!("compare randread-4k-qd1 --drive bench-4g,ct-qlc --age 0,28h {SHORT}");
    let compared = folder.run(&compared).ok();
    assert!(
        compared.out.contains("changes are against drive=bench-4g"),
        "{}",
        compared.out
    );
    assert!(compared.out.contains("change\n"), "{}", compared.out);
}

/// A study of one life on two drives; cells whose blocks fail within a few dozen cycles.
const LIVES: &str = r#"
[variants.small]
drive = "bench-4g"
schemes = ["wear=static"]
set = [
    "geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1", "geometry.planes=2",
    "geometry.page=8 KiB", "geometry.wordlines_per_block=16", "chip.modes.slc.endurance=60 P/E",
    "chip.failures.grown_bad=20 %", "wear.static.spread=4 P/E",
]
[workloads.writes]
job = "[w]\nrw=randwrite\nbs=4k\nnorandommap\n"
[[experiment]]
id = "lives"
variants = "small"
workloads = "writes"
capacity = "20 MiB"
life = { until = "bytes=300MB", probe = 50 }
repetitions = 2
"#;

/// The same life alone, on several drives and as a point of a study: the same result, byte for byte in its figures. A study repeats a
/// point by the command that it writes beside it, and does not live twice.
#[test]
fn model_a_life_is_the_same_in_every_command() {
    let folder = Folder::new("lives").with("lives.toml", LIVES);
    let ran = folder.run("study lives.toml --out s").ok();
    assert!(ran.out.contains("tbw_tb"), "{}", ran.out);
    let again = folder.run("study lives.toml --out s").ok();
    assert!(
        again.err.contains("2 of 2 simulations were there already"),
        "{}",
        again.err
    );
    let points = folder.read("s/points.csv");
    let mut points = csv::Reader::from_reader(points.as_bytes());
    let head = points.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = points.records().map(Result::unwrap).collect();
    let of = |row: &csv::StringRecord, key: &str| {
        let at = head.iter().position(|name| name == key).unwrap();
        row[at].to_owned()
    };
    assert_eq!((rows.len(), of(&rows[0], "mean_us")), (2, String::new()));
    let line = of(&rows[0], "command");
    let run = |line: &str| {
        let words = line.strip_prefix("firstread ").unwrap().split('\'');
        // What stands in quotes may have blanks in it.
        let words = words.enumerate().flat_map(|(i, text)| match i % 2 {
            0 => text.split_whitespace().map(str::to_owned).collect(),
            _ => vec![text.to_owned()],
        });
        let mut command = folder.command();
        command.current_dir(folder.0.join("s")).args(words);
        Ran::from(command.output().unwrap()).json()
    };
    // The load of a point has the name that it has in its study.
    let figures = |result: &Value| {
        let mut result = result.clone();
        let config = result["config"].take();
        // What the store keeps with a result.
        result.as_object_mut().unwrap().remove("firstread");
        (result.to_string(), config["profile"].to_string())
    };
    let one = run(&format!("{line} --json"));
    let tbw = one["written_bytes"].as_f64().unwrap() / 1e12;
    assert_eq!(of(&rows[0], "written_tb"), tbw.to_string());
    assert!(one["stages"][4]["reads"]["mean_ns"].as_f64().unwrap() > 0.0);
    let name = "s/points/lives_small_writes_28h_55_0_0_default_100-_none_1_20-MiB_seed-1.json";
    let kept: Value = serde_json::from_str(&folder.read(name)).unwrap();
    assert!(figures(&kept) == figures(&one));

    let both = run(&line.replace(" --seed 1", " --drives 2 --json --out ../d"));
    let runs = both["runs"].as_array().unwrap();
    assert_eq!(
        (runs.len(), &runs[1]["point"]["seed"]),
        (2, &Value::from(2))
    );
    assert!(figures(&runs[0]["result"]) == figures(&one));
    let second = runs[1]["result"]["written_bytes"].as_f64().unwrap() / 1e12;
    assert_eq!(of(&rows[1], "written_tb"), second.to_string());
    let text = folder.read("d/drives.txt");
    for part in [
        "2 drives (seeds 1 to 2)",
        "--until bytes=300000000B (2 of 2 drives)",
        "write amplification",
        "P/E at the end, one, P99",
        "read at 50 % of the life, mean",
        "over drives: lowest",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let alone = folder.read("d/seed-1/life.json");
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert!(figures(&alone) == figures(&one));
}

/// A table of several drives says what schemes all have, and those of each drive that differ.
#[test]
fn model_a_table_of_drives_has_the_schemes_of_each() {
    let folder = Folder::new("schemes-of-drives").with("w.fio", "[w]\nrw=randread\nbs=4k\n");
    let line = "run w.fio --limit 100 --age 0h --drive dwr-256g,bench-4g";
    let one = folder.run(line).ok().out;
    let text = |out: &str, begins: &str| {
        let found = out.lines().find(|l| l.trim_start().starts_with(begins));
        let found = found.unwrap_or_else(|| panic!("no line `{begins}`: {out}"));
        found
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let shared = text(&one, "read_levels=");
    assert!(shared.contains(&"read_levels=factory".to_owned()), "{one}");
    assert!(!shared.iter().any(|s| s.starts_with("wear=")), "{one}");
    assert_eq!(
        text(&one, "dwr-256g: "),
        ["dwr-256g:", "gc_victim=cost-benefit", "wear=static"],
        "{one}"
    );
    assert_eq!(
        text(&one, "bench-4g: "),
        ["bench-4g:", "gc_victim=fifo", "wear=none"],
        "{one}"
    );
    // What a column of the table has is not said of a drive.
    let crossed = format!("{line} --scheme wear=none,dynamic");
    let crossed = folder.run(&crossed).ok().out;
    assert_eq!(
        text(&crossed, "bench-4g: "),
        ["bench-4g:", "gc_victim=fifo"],
        "{crossed}"
    );
}

/// A scheme that an option switches off says so: in the report, on the standard error and in the result.
#[test]
fn model_what_an_option_switches_off_is_said_everywhere() {
    let folder = Folder::new("switched-off").with("w.fio", "[w]\nrw=randwrite\nbs=16k\n");
    let area = "w.fio --limit 50 --age 0h --drive dwr-256g --scheme area=differential";
    let volatile = format!("{area} --set dram.write_cache=volatile");
    let note = "area=differential: no write of the host enters the low wearing area, because `dram.write_cache` is \
                `volatile`";
    for (command, is_off) in [
        (format!("run {volatile}"), true),
        (format!("run {volatile} --drives 2"), true),
        (format!("run {}", volatile.replace("0h", "0h,1h")), true),
        (
            format!(
                "compare {}",
                volatile.replace("=differential", "=one,differential")
            ),
            true,
        ),
        (format!("run {area}"), false),
    ] {
        let ran = folder.run(&command).ok();
        assert_eq!(ran.out.contains(note), is_off, "{command}: {}", ran.out);
        assert_eq!(
            ran.err.matches(note).count(),
            usize::from(is_off),
            "{command}: {}",
            ran.err
        );
    }
    for (line, n) in [(&volatile, 1), (&area.to_owned(), 0)] {
        let result: Value =
            serde_json::from_str(&folder.run(&format!("run {line} --json")).ok().out).unwrap();
        let notes = result["firstread"]["notes"].as_array().unwrap();
        assert_eq!(notes.len(), n, "{notes:?}");
        assert!(
            notes.iter().all(|n| n.as_str().unwrap().starts_with(note)),
            "{notes:?}"
        );
    }
}

#[test]
fn golden_lists_that_are_refused() {
    let folder =
        Folder::new("refused").with("t.csv", "128166372003061629,hm,1,Read,2088960,4096,24931\n");
    let example = "run randread-4k-qd1";
    let mut text = String::new();
    for line in [
        &format!("{example} --drive dc-qlc-15t,bench-4"),
        &format!("{example} --age 28h,28h"),
        &format!("{example} --age 28h,2x"),
        &format!("{example} --age 3h2d"),
        &format!("{example} --pe-cycles 1m"),
        &format!("{example} --seed 1,2 --drives 3"),
        &format!("{example} --seed 2,2"),
        &format!("{example} --set ecc.engine=1,2"),
        &format!("{example} --scheme gc_victim=fifo,gredy"),
        &format!("{example} --job iodpth=1,2"),
        &format!("{example} --job iodepth"),
        &format!("{example} --job bs=4k,4x"),
        "run t.csv --job iodepth=1,2",
        &format!("{example} --age 0,1h --calibration-log"),
        &format!("{example} --json --output human"),
        &format!("{example} --limit 1m"),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.out, "", "{line} prints data");
        let code = ran.code;
        text += &format!("$ firstread {line}\n{}[exit {code}]\n\n", ran.err);
    }
    insta::assert_snapshot!("refused_lists", text);
}

#[test]
fn sequence_words_that_people_type() {
    let folder = Folder::new("words");
    let ran = folder
        .run("run randread-4k-qd32 --limit 1k --pe-cycles 1.5k --age 2d3h")
        .ok();
    assert!(
        ran.out.contains("51 h at 55 °C, 1500 P/E of "),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("\n  1,000 requests"), "{}", ran.out);
    assert!(
        ran.out
            .contains("more requests are needed for P99.99 (10,000), P99.999 (100,000)"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("JESD218 allows 1.0e-15 (client), 1.0e-16 (enterprise)"),
        "{}",
        ran.out
    );
    // An option of the job gives way to --job without a word.
    let ran = folder
        .run("run randread-4k-qd32 --job iodepth=2 --limit 200")
        .ok();
    assert!(!ran.err.contains("given again"), "{}", ran.err);
    let json = folder.run("run randread-4k-qd32 --limit 200 --json").json();
    assert_eq!(json["firstread"]["requests"], 200);
    // The next command has all that was asked of the run, and runs.
    let schemes = "--scheme read_levels=frozen,ct-qlc --set ecc.engines_per_channel=4";
    let line = format!(
        "compare randread-4k-qd32 --pe-cycles=1k --age 0..2d {schemes} --limit 300 --drives 2 --json"
    );
    let ran = folder.run(&line.replace(" --json", "")).ok();
    let next = ran
        .err
        .lines()
        .find_map(|line| line.strip_prefix("next: firstread "))
        .unwrap();
    assert_eq!(
        next,
        "run randread-4k-qd32 --pe-cycles=1k --age 0..2d --set ecc.engines_per_channel=4 --limit 300 --scheme read_levels=ct-qlc \
         --calibration-log"
    );
    folder.run(next).ok();
}

/// Completions and manual pages come from the definitions of the options.
#[test]
fn smoke_completions_and_manual_pages() {
    let folder = Folder::new("shell");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = folder.run(&format!("completions {shell}")).ok();
        assert!(
            ran.out.contains("pe-cycles") && ran.err.is_empty(),
            "{shell}"
        );
    }
    folder.run("man pages").ok();
    assert!(folder.read("pages/firstread.1").starts_with(".ie"));
    let run = folder.read("pages/firstread-run.1");
    assert!(
        run.contains(".TH firstread-run 1") && run.contains("Powered time"),
        "{run}"
    );
    // Commands can be copied: their lines are as in the help.
    let (_, examples) = run.split_once(".SH EXAMPLES\n.nf\n").unwrap();
    let line = "  firstread run job.fio --age 0h..48h --pe-cycles 0..3000 --limit 1e6";
    assert!(examples.contains(&line.replace('-', "\\-")), "{examples}");
}

/// Help is as wide as the terminal.
#[test]
fn formula_help_wraps() {
    let folder = Folder::new("help");
    for sub in [
        "", "run", "compare", "study", "life", "cells", "list", "show",
    ] {
        for columns in [40, 60, 80, 100] {
            let mut command = folder.command();
            command.args(sub.split_whitespace()).arg("--help");
            let ran = Ran::from(
                command
                    .env("COLUMNS", columns.to_string())
                    .output()
                    .unwrap(),
            )
            .ok();
            // A usage line is one command, and a word is not broken.
            let is_one = |line: &&str| line.starts_with("Usage:") || !line.trim().contains(' ');
            let mut lines = ran.out.lines().filter(|line| !is_one(line));
            let long = lines.find(|line| line.chars().count() > columns);
            assert_eq!(long, None, "{sub} at {columns}");
            assert!(
                !ran.out.contains('\u{1b}'),
                "colour where there is no terminal"
            );
        }
    }
}

#[cfg(target_os = "linux")]
mod ctrl_c {
    use super::*;

    /// Whether the process catches SIGINT yet.
    fn catches(child: &Child) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 << 1 != 0)
    }

    /// Whether the process has had half a second of a processor: requests are under way, however busy the machine is.
    fn has_worked(child: &Child) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(|n| n.parse().unwrap_or(0)).sum();
        // A tick is a hundredth of a second.
        ticks >= 50
    }

    /// Sends SIGINT once `is_due`, and waits for the end.
    fn interrupt(child: Child, is_due: impl Fn(&Child) -> bool) -> Ran {
        for _ in 0..6_000 {
            if catches(&child) && is_due(&child) {
                break;
            }
            sleep(Duration::from_millis(20));
        }
        let sent = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        Ran::from(child.wait_with_output().unwrap())
    }

    /// A job that is longer than any test.
    const LONG: &str = "[a]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\nio_size=64t\n";

    #[test]
    fn sequence_a_run_ends_with_what_it_has() {
        let folder = Folder::new("ctrl-c-run").with("long.fio", LONG);
        let child = folder.start("run long.fio --drive bench-4g --out r");
        let ran = interrupt(child, has_worked);
        assert_eq!(ran.code, 130, "{}", ran.err);
        let result: Value = serde_json::from_str(&folder.read("r/result.json")).unwrap();
        assert_eq!(result["firstread"]["ended"], "interrupted");
        let requests = result["firstread"]["requests"].as_u64().unwrap();
        assert_eq!(result["jobs"][0]["read"]["total_ios"], requests);
        let told = ran.err.lines().last().unwrap();
        assert!(
            told.starts_with("interrupted after ") && told.ends_with(" requests"),
            "{}",
            ran.err
        );
        assert_eq!(
            told.replace(|c: char| !c.is_ascii_digit(), ""),
            requests.to_string()
        );
        assert_eq!(folder.read("r/report.txt"), ran.out);
        assert!(
            requests > 0 && ran.out.contains("percentile"),
            "{}",
            ran.out
        );
    }

    #[test]
    fn sequence_a_burn_in_is_not_a_run() {
        let write = LONG.replace("randread", "randwrite");
        let folder = Folder::new("ctrl-c-burn-in").with("long.fio", &write);
        let child = folder.start("run long.fio --drive bench-512g --burn-in --out r");
        let ran = interrupt(child, |_| true);
        assert_eq!((ran.code, ran.out.as_str()), (130, ""), "{}", ran.err);
        assert!(
            ran.err
                .ends_with("interrupted in the burn-in, before the first request\n"),
            "{}",
            ran.err
        );
        assert!(!folder.0.join("r").exists());
    }

    #[test]
    fn sequence_a_comparison_has_the_runs_that_ended() {
        let folder = Folder::new("ctrl-c-compare").with("long.fio", LONG);
        let line = "compare long.fio --drive bench-4g --scheme gc_victim=fifo,greedy --limit 4G --threads 2";
        let ran = interrupt(folder.start(line), |_| true);
        assert_eq!((ran.code, ran.out.as_str()), (130, ""), "{}", ran.err);
        assert!(
            ran.err.ends_with("interrupted before any run had ended\n"),
            "{}",
            ran.err
        );
    }

    #[test]
    fn sequence_a_matrix_goes_on_where_it_was() {
        let folder = Folder::new("ctrl-c-matrix")
            .with("some.fio", &LONG.replace("io_size=64t", "number_ios=40000"));
        let line = "run some.fio --drive bench-4g --age 0,1h,2h,3h,4h,5h,6h,7h --out m --threads 1";
        let ran = interrupt(folder.start(line), |_| folder.files("m/points") >= 2);
        assert_eq!(ran.code, 130, "{}", ran.err);
        let kept = folder.files("m/points");
        let told = format!(
            "interrupted: {kept} of 8 runs have ended; the same command goes on from there\n"
        );
        assert!(
            (2..8).contains(&kept) && ran.err.ends_with(&told),
            "{kept}: {}",
            ran.err
        );
        assert_eq!(folder.read("m/matrix.csv").lines().count(), kept + 1);
        let again = folder.run(line).ok();
        assert!(
            again
                .err
                .contains(&format!("{kept} of 8 runs were there already")),
            "{}",
            again.err
        );
    }

    #[test]
    fn sequence_a_life_ends_with_what_it_was() {
        let write = LONG.replace("randread", "randwrite");
        let folder = Folder::new("ctrl-c-life").with("long.fio", &write);
        let line = "life long.fio --drive bench-4g --until bytes=1PB --json --out l";
        let ran = interrupt(folder.start(line), has_worked);
        assert_eq!(ran.code, 130, "{}", ran.err);
        let told = ran.err.lines().last().unwrap();
        assert!(
            told.starts_with("interrupted after ") && told.ends_with(" requests"),
            "{}",
            ran.err
        );
        let result: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(result["ended"], "interrupted");
        assert!(result["written_bytes"].as_f64().unwrap() > 0.0);
        assert!(result["tbw_bytes"].is_null());
        assert_eq!(folder.read("l/life.json"), ran.out);
        let text = folder.read("l/life.txt");
        assert!(
            text.contains("written so far") && !text.contains("TBW"),
            "{text}"
        );
        // A drive begins where it was.
        folder
            .run("run randread-4k-qd1 --drive bench-4g --wear-from l/life.json --limit 100")
            .ok();
    }

    #[test]
    fn sequence_a_study_keeps_its_store() {
        let text = include_str!("../../session/src/study/small.toml");
        let text = text.replace("full = 1000", "full = 40000");
        let folder = Folder::new("ctrl-c-study").with("small.toml", &text);
        let line = "study small.toml --out s --threads 1";
        let ran = interrupt(folder.start(line), |_| folder.files("s/points") >= 1);
        assert_eq!((ran.code, ran.out.as_str()), (130, ""), "{}", ran.err);
        let kept = folder.files("s/points");
        assert!(
            ran.err.contains(&format!("interrupted: {kept} of ")),
            "{}",
            ran.err
        );
        let again = folder.run(line).ok();
        assert!(again.err.contains(&format!("{kept} of ")), "{}", again.err);
    }
}

/// Tension of a study of one's own, by the plan beside it: a line a draw, found again, and what is refused.
#[test]
fn smoke_tension_of_a_study_of_ones_own() {
    let plan = include_str!("../../session/tests/data/tension_plan.toml");
    let folder = Folder::new("tension")
        .with(
            "study.toml",
            include_str!("../../session/tests/data/tension_study.toml"),
        )
        .with("tension.toml", plan);
    let line = "study study.toml --tension --draws 2 --threads 2 --out t";
    let first = folder.run(line).ok();
    for text in ["t.retries", "Pairs that never hold together", "As shipped"] {
        let text = text.to_lowercase();
        assert!(first.out.to_lowercase().contains(&text), "{}", first.out);
    }
    let csv = folder.read("t/tension.csv");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("draw,simulated,drift (mV/decade),t.retries,t.retries number,"));
    let json: Value = serde_json::from_str(&folder.read("t/tension.json")).unwrap();
    assert_eq!(json["draws"][0]["values"][0], 28.0);
    assert!(folder.read("t/tension.svg").contains("<svg"));
    let again = folder.run(line).ok();
    assert_eq!(again.out, first.out);
    assert!(
        again
            .err
            .contains("24 simulations, 24 of them there already"),
        "{}",
        again.err
    );
    folder
        .run("study dwr --tension --out d")
        .says("no plan for --tension");
    folder
        .run("study ct-qlc --draws 5 --out d")
        .says("--draws goes with --tension");
    folder
        .run("study ct-qlc --tension --only fig12 --out d")
        .says("--only does not go with --tension");
    folder.write("tension.toml", &plan.replace("[\"20 mV", "[\"30 mV"));
    folder
        .run(line)
        .says("tension.toml:15: knob `drift` goes from 30 mV/decade");
}
