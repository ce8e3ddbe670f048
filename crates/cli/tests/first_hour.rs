//! Small inputs that people bring in their first hour: job files, command lines, traces, a table of retries. Each stands
//! for a kind; `cases/` has them as they were brought.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use std::fs;

use command::{Folder, Ran};
use serde_json::Value;

fn lines(text: &str, with: &str) -> usize {
    text.lines().filter(|line| line.contains(with)).count()
}

/// Jobs that ran one after the other have no figure together, in any form: fio's groups.
#[test]
fn sequence_groups_have_no_total() {
    let folder = Folder::new("groups").with_case("stonewalled.fio").with(
        "pairs.fio",
        "[global]\nrw=randread\nbs=4k\nsize=1m\n[a]\n[b]\n[c]\nstonewall\niodepth=4\n",
    );
    let ran = folder.run("run stonewalled.fio --drive bench-4g").ok();
    for with in [
        "read of a",
        "read of b",
        "of reads of a went",
        "of reads of b went",
    ] {
        assert_eq!(lines(&ran.out, with), 1, "{with}\n{}", ran.out);
    }
    assert!(
        !ran.out.contains("all jobs") && !ran.out.contains("a+b"),
        "{}",
        ran.out
    );
    let json = folder
        .run("run stonewalled.fio --drive bench-4g --json")
        .json();
    let own = &json["firstread"];
    assert_eq!(
        (&own["tail"], &own["tail_requests"]),
        (&Value::Null, &0.into())
    );
    let groups = own["groups"].as_array().unwrap();
    for (group, job) in groups.iter().zip(json["jobs"].as_array().unwrap()) {
        assert_eq!(group["jobs"][0], job["jobname"]);
        assert_eq!(group["page_reads"], job["read"]["total_ios"]);
        assert_eq!(group["tail_of"], "read");
    }
    // A group of two jobs that ran together has their sum.
    let ran = folder.run("run pairs.fio --drive bench-4g").ok();
    assert_eq!(lines(&ran.out, "read of a+b"), 1, "{}", ran.out);

    let line = "run stonewalled.fio --drive bench-4g --job iodepth=1,4 --out kept";
    let ran = folder.run(line).ok();
    assert_eq!(lines(&ran.out, "  1        a "), 1, "{}", ran.out);
    let csv = folder.read("kept/matrix.csv");
    let (head, rows) = csv.split_once('\n').unwrap();
    assert_eq!(
        (head.matches(",jobs,").count(), rows.lines().count()),
        (1, 4),
        "{csv}"
    );
    let iops = head.split(',').position(|name| name == "iops").unwrap();
    let of = |row: usize| -> f64 {
        let row = rows.lines().nth(row).unwrap();
        row.split(',').nth(iops).unwrap().parse().unwrap()
    };
    assert!(
        (of(0) / of(1) - 1.0).abs() < 0.1,
        "no row has the sum: {csv}"
    );
    let both = folder
        .run("run stonewalled.fio --drive bench-4g --job iodepth=1,4 --json")
        .json();
    assert_eq!(both["runs"].as_array().unwrap().len(), 2);

    let ran = folder
        .run("run stonewalled.fio --drive bench-4g --drives 2")
        .ok();
    for with in [
        "read of a, 2,048 requests in all",
        "read of b, 2,048 requests in all",
    ] {
        assert_eq!(lines(&ran.out, with), 1, "{with}\n{}", ran.out);
    }
    let line = "compare stonewalled.fio --drive bench-4g --scheme gc_victim=fifo,greedy";
    let ran = folder.run(line).ok();
    assert_eq!(
        lines(&ran.out, "latency of a, which ran alone"),
        1,
        "{}",
        ran.out
    );
    let csv = {
        folder
            .run("run stonewalled.fio --drive bench-4g --out one")
            .ok();
        folder.read("one/latency.csv")
    };
    let of = |group: &str| {
        let rows = csv.lines().filter(|row| row.ends_with(group));
        rows.map(|row| row.split(',').nth(2).unwrap().parse::<u64>().unwrap())
            .sum::<u64>()
    };
    assert_eq!((of(",0"), of(",1")), (1024, 1024), "{csv}");
}

/// A limit is one of measured requests, of each group of jobs; a job of which nothing was measured is an error.
#[test]
fn sequence_a_limit_counts_what_is_measured() {
    let folder = Folder::new("limit")
        .with_case("limit-eats-a-job.fio")
        .with_case("ramp.fio")
        .with(
            "within.fio",
            "[j]\nrw=randread\nbs=4k\nsize=1m\nramp_time=5\n",
        )
        .with(
            "late.fio",
            "[a]\nrw=randread\n[b]\nrw=randread\nstartdelay=1\n",
        );
    let json = folder
        .run("run limit-eats-a-job.fio --drive bench-4g --limit 50 --json")
        .json();
    let of = |json: &Value, job: usize| json["jobs"][job]["read"]["total_ios"].as_u64();
    assert_eq!((of(&json, 0), of(&json, 1)), (Some(50), Some(50)));
    let ran = folder
        .run("run limit-eats-a-job.fio --drive bench-4g --limit 51")
        .ok();
    let notes = [
        "warm ended after 50 requests, before the limit of 51",
        "measure ended after 50",
    ];
    assert!(
        notes.iter().all(|note| lines(&ran.err, note) == 1),
        "{}",
        ran.err
    );
    let json = folder
        .run("run ramp.fio --drive bench-4g --limit 2k --json")
        .json();
    assert_eq!(of(&json, 0), Some(2_000));
    assert!(json["firstread"]["simulated_ns"].as_u64() > Some(5_000_000_000));
    assert!(json["firstread"]["requests"].as_u64() > Some(100_000));

    let err = folder
        .run("run within.fio --drive bench-4g --out kept")
        .fails(1);
    assert!(
        err.contains("within.fio: job `j` measured nothing"),
        "{err}"
    );
    let err = folder
        .run("run late.fio --drive bench-4g --limit 50 --out kept")
        .fails(1);
    assert!(
        err.contains("late.fio: job `b` measured nothing: the run ended at its limit"),
        "{err}"
    );
    assert!(folder.has_only(&["late.fio", "limit-eats-a-job.fio", "ramp.fio", "within.fio"]));
    let err = folder
        .run("run within.fio --drive bench-4g --job iodepth=1,2 --out kept")
        .fails(1);
    assert!(
        !err.contains("matrix.svg") && err.contains("measured nothing"),
        "{err}"
    );
}

/// A picture that there is nothing to draw in is not announced.
#[test]
fn sequence_a_picture_that_is_not_written_is_not_announced() {
    let folder = Folder::new("picture");
    let line = "run randread-4k-qd1 --drive bench-4g --limit 5 --age 0,1h --out kept";
    let ran = folder.run(line).ok();
    assert!(!folder.0.join("kept/matrix.svg").exists());
    assert!(
        ran.err.contains("no picture") && !ran.err.contains("matrix.svg"),
        "{}",
        ran.err
    );
    let ran = folder.run(&line.replace("--limit 5", "--limit 5000")).ok();
    assert!(folder.0.join("kept/matrix.svg").exists());
    assert!(
        ran.err.contains("; kept/report.html\n") && !ran.err.contains("no picture"),
        "{}",
        ran.err
    );
}

/// A command line of fio is the job that it says: behind --, pasted into a file, and from the standard input.
#[test]
fn sequence_a_command_line_of_fio_is_a_job() {
    let folder = Folder::new("fio").with_case("command-line.txt");
    let words = folder.read("command-line.txt");
    let limit = "--drive bench-4g --limit 500 --json";
    let pasted = folder.run(&format!("run command-line.txt {limit}")).json();
    let own = |name: &str| pasted["jobs"][0]["job options"][name].clone();
    assert_eq!(
        (own("rw"), own("rwmixread")),
        ("randrw".into(), "70".into())
    );
    assert_eq!((own("time_based"), own("numjobs")), ("".into(), "4".into()));
    assert_eq!(pasted["jobs"][0]["jobname"], "rand");
    assert_eq!(
        pasted["jobs"].as_array().unwrap().len(),
        1,
        "group_reporting"
    );
    let moved = |json: &Value, of: &str| json["jobs"][0][of]["total_ios"].as_u64().unwrap();
    assert_eq!(moved(&pasted, "read") + moved(&pasted, "write"), 500);
    let mut args: Vec<&str> = "run".split(' ').chain(limit.split(' ')).collect();
    args.push("--");
    args.extend(words.split_whitespace().skip(1));
    let ran = Ran::from(folder.command().args(&args).output().unwrap());
    assert!(ran.err.contains("`filename` is ignored"), "{}", ran.err);
    let behind = ran.json();
    let numbers = |json: &Value| {
        (
            moved(json, "read"),
            json["jobs"][0]["read"]["clat_ns"].clone(),
        )
    };
    assert_eq!(numbers(&pasted), numbers(&behind));
    let all = folder.run(
        "compare command-line.txt --drive bench-4g --limit 200 --scheme gc_victim=fifo,greedy",
    );
    assert!(all.ok().out.contains("greedy"));

    for (line, message) in [
        (
            "run -- --name=a --iodpth=3",
            "unknown option `iodpth`; the nearest valid name is `iodepth`",
        ),
        (
            "run -- --rw=read",
            "no job: a command line of fio has --name=NAME",
        ),
        (
            "run command-line.txt -- --name=a",
            "command-line.txt is a workload, and so is the command line",
        ),
        (
            "run --trace-wrap -- --name=a",
            "--trace-wrap is for traces, and behind -- is a job",
        ),
        (
            "run -- --name=a --client=b",
            "`client` is not supported: one machine is simulated",
        ),
    ] {
        let err = folder.run(line).fails(2);
        assert!(err.contains(message), "{line}: {err}");
    }
    // What fio has and this command does not is hinted at.
    let err = folder.run("run randread-4k-qd1 --iodepth 4").fails(2);
    assert!(
        err.contains("--job iodepth=") && err.contains("run -- --name=a"),
        "{err}"
    );
    assert!(
        !folder
            .run("run randread-4k-qd1 --nosuch 4")
            .fails(2)
            .contains("--job")
    );
}

/// An option of one section, a list that is one value, and a variable of the environment.
#[test]
fn sequence_options_of_a_section_and_variables() {
    let folder = Folder::new("options")
        .with_case("variable.fio")
        .with(
            "two.fio",
            "[global]\nrw=randrw\nbs=4k\nsize=1m\n[reader]\n[writer]\niodepth=2\n",
        )
        .with("depth.fio", "[j]\nrw=randread\niodepth=${DEPTH}\nsize=1m\n");
    let json = folder
        .run("run two.fio --drive bench-4g --job writer.iodepth=8 --job bs=[4k,8k] --json")
        .json();
    let option = |job: usize, name: &str| json["jobs"][job]["job options"][name].clone();
    assert_eq!(
        (option(0, "iodepth"), option(1, "iodepth")),
        ("1".into(), "8".into())
    );
    assert_eq!(
        (option(0, "bs"), option(1, "bs")),
        ("4k,8k".into(), "4k,8k".into())
    );
    let bytes = |of: &str| json["jobs"][0][of]["io_bytes"].as_u64().unwrap();
    let ios = |of: &str| json["jobs"][0][of]["total_ios"].as_u64().unwrap();
    assert_eq!(
        (bytes("read") / ios("read"), bytes("write") / ios("write")),
        (4096, 8192)
    );
    let line = "run two.fio --drive bench-4g --job writer.iodepth=8,16 --job bs=[4k,8k] --json";
    assert_eq!(folder.run(line).json()["runs"].as_array().unwrap().len(), 2);
    let err = folder
        .run("run two.fio --drive bench-4g --job wrtier.iodepth=8")
        .fails(2);
    assert!(err.contains("`writer`"), "{err}");

    let dev = "run variable.fio --drive bench-4g --limit 50 --var DEV=/dev/nvme0n1";
    folder.run(dev).ok();
    let depth = |ran: Ran| ran.json()["jobs"][0]["job options"]["iodepth"].clone();
    let line = "run depth.fio --drive bench-4g --json";
    assert_eq!(depth(folder.run(&format!("{line} --var DEPTH=4"))), "4");
    let mut command = folder.command();
    command.env("DEPTH", "2").args(line.split(' '));
    assert_eq!(depth(Ran::from(command.output().unwrap())), "2");
    let err = folder.run(line).fails(1);
    assert!(
        err.contains("depth.fio:3: `${DEPTH}` has no value") && err.contains("--var DEPTH=VALUE"),
        "{err}"
    );
    let err = folder
        .run(&format!("{line} --var DEPHT=4 --out kept"))
        .fails(2);
    assert!(
        err.contains("--var DEPHT: the workload has no `${DEPHT}`"),
        "{err}"
    );
    assert!(folder.has_only(&["depth.fio", "two.fio", "variable.fio"]));
}

/// Traces as people have them: each is told as what it is, or the other reading is named.
#[test]
fn sequence_traces_that_people_have() {
    let folder = Folder::new("traces")
        .with_case("header-with-other-names.txt")
        .with_case("decimal-seconds.trace")
        .with_case("hex.csv")
        .with_case("bom-comment-quotes.csv")
        .with("times.csv", "-,0,512\n-,8,512\n")
        .with("header.csv", "time_ms,offset,size\n1,0,512\n");
    let json = |line: &str| {
        folder
            .run(&format!("run {line} --drive dc-qlc-15t --json"))
            .json()
    };
    let of = |json: &Value, of: &str| {
        let of = &json["jobs"][0][of];
        (
            of["total_ios"].as_u64().unwrap(),
            of["io_bytes"].as_u64().unwrap(),
        )
    };
    let got =
        json("header-with-other-names.txt --trace-columns time:s,-,-,-,op,offset:sector,size:B,-");
    assert_eq!(
        (of(&got, "read"), of(&got, "write")),
        ((1, 8192), (1, 4096))
    );
    let regex = r"^[0-9.]+.*(?<op>[RW])\s(?<offset_sector>\d+)\s(?<size_B>\d+)";
    let got = json(&format!(
        "header-with-other-names.txt --trace-regex {regex}"
    ));
    assert_eq!(
        (of(&got, "read"), of(&got, "write")),
        ((1, 8192), (1, 4096))
    );
    let got = json("hex.csv --trace-columns op,offset:B,size:B");
    assert_eq!(
        (of(&got, "read"), of(&got, "write")),
        ((1, 4096), (1, 8192))
    );
    let got = json("bom-comment-quotes.csv --trace-columns time:us,op,offset:B,size:B");
    assert_eq!(
        (of(&got, "read"), of(&got, "write")),
        ((1, 4096), (1, 4096))
    );
    // A column that is not used may come first.
    assert_eq!(
        of(&json("times.csv --trace-columns -,offset:B,size:B"), "read").0,
        2
    );
    let ran = folder
        .run("run decimal-seconds.trace --drive dc-qlc-15t")
        .ok();
    assert!(ran.err.contains("name the format: ssdsim-s"), "{}", ran.err);
    let got = json("decimal-seconds.trace --trace-format ssdsim-s");
    assert!(got["firstread"]["simulated_ns"].as_u64() > Some(3_027_000_000));

    for (line, code, message) in [
        (
            "header.csv --trace-columns time:s,offset:B,size:B",
            1,
            "header.csv:1: columns column `time`: the header `time_ms` has the unit ms, and s was told",
        ),
        (
            "hex.csv --trace-columns op,offset:B,size:B,device",
            1,
            "hex.csv:1: columns 3 columns where 4 are expected (op, offset, size, device)",
        ),
        (
            "hex.csv --trace-regex (.*)",
            2,
            "--trace-regex: it has no named groups",
        ),
        ("hex.csv --trace-regex (?<size_B>", 2, "--trace-regex: "),
        (
            "hex.csv --trace-regex (?<size_B>.) --trace-columns op",
            2,
            "--trace-columns and --trace-regex cannot be given together",
        ),
        (
            "hex.csv --trace-regex X(?<size_B>.)(?<offset_B>.)",
            1,
            "no line of the trace matches the expression; the first line is `R,0x1000,0x1000`",
        ),
    ] {
        let err = folder.run(&format!("run {line} --out kept")).fails(code);
        assert!(err.contains(message), "{line}: {err}");
    }
    assert!(!folder.0.join("kept").exists());
}

/// Blocks of `page` between fences of `kind`, with the name that stands before each, as in `NAME`:.
fn blocks(page: &str, kind: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut name = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{kind}") {
            let within = lines.by_ref().take_while(|line| *line != "```");
            let text: String = within.map(|line| format!("{line}\n")).collect();
            all.push((name.clone(), text));
        } else if let Some(named) = line.strip_prefix('`').and_then(|l| l.strip_suffix("`:")) {
            name = named.to_owned();
        }
    }
    all
}

/// The page on retry tables does what it says: from a CSV file to the P99.99 of a drive.
#[test]
fn sequence_the_page_on_retry_tables_is_true() {
    let page = include_str!("../../../docs/retry-table.md");
    let mut folder = Folder::new("page");
    for kind in ["csv", "toml"] {
        for (name, text) in blocks(page, kind) {
            folder = folder.with(&name, &text);
        }
    }
    let mut outs = Vec::new();
    for (_, commands) in blocks(page, "sh") {
        for line in commands.lines() {
            let line = line.strip_prefix("firstread ").unwrap();
            outs.push(folder.run(line).ok().out);
        }
    }
    let p9999 = |out: &str| {
        let row = out
            .lines()
            .find(|line| line.trim_start().starts_with("99.99 "));
        row.unwrap_or_else(|| panic!("{out}")).to_owned()
    };
    assert_eq!(outs.len(), 6);
    // Six entries and the default; the rule has 35 more than the default.
    let entries = |out: &str| {
        let (_, rest) = out.split_once("retry table fails").unwrap();
        rest.lines()
            .skip(2)
            .take_while(|l| l.starts_with(' '))
            .skip(1)
            .count()
    };
    assert_eq!(
        (entries(&outs[0]), entries(&outs[4])),
        (7, 7),
        "{}",
        outs[0]
    );
    assert!(entries(&outs[1]) > 7, "{}", outs[1]);
    assert_ne!(p9999(&outs[2]), p9999(&outs[3]));
    let csv = folder.read("results/matrix.csv");
    assert_eq!(
        (csv.lines().count(), csv.matches("p99.99_us").count()),
        (7, 1)
    );
}

/// A table of retries is walked as it was given, whether a file or a list has it; what is none names its place.
#[test]
fn sequence_a_retry_table_of_ones_own() {
    let list = "[[-2,-2,-2,-3,-3,-3,-4,-4,-4,-5,-5,-5,-6,-6,-6],[-4,-4,-5,-5,-6,-6,-7,-8,-8,-9,-10,-10,-11,-12,-12]]";
    let folder = Folder::new("retries")
        .with_case("retry-table.csv")
        .with("high.csv", "entry,v1,v2\n1,2,200\n")
        .with("short.csv", "1,2,3\n1,2\n")
        .with("seven.toml", "based_on = \"ct-qlc-176l\"\nname = \"seven\"\n[factory_table]\nentries = { value = [[1, 2, 3, 4, 5, 6]], source = \"mine\" }\n")
        .with("far.toml", "based_on = \"ct-qlc-176l\"\nname = \"far\"\n[factory_table]\nentries = { value = [[1, 2], [3, -129]], source = \"mine\" }\n");
    let run = |set: &str| {
        let line = "run randread-4k-qd1 --scheme read_levels=factory --scheme read_recovery=none --limit 2000 --age 30d --json --set";
        folder
            .run(&format!("{line} chip.factory_table.entries={set}"))
            .json()
    };
    let (file, typed) = (run("retry-table.csv"), run(list));
    assert_eq!(
        file["jobs"][0]["read"]["clat_ns"],
        typed["jobs"][0]["read"]["clat_ns"]
    );
    let histogram = file["firstread"]["retries_histogram"].as_array().unwrap();
    assert!(
        histogram.len() <= 3 && histogram.len() > 1,
        "two entries: {histogram:?}"
    );
    let profile = &file["firstread"]["config"]["profile"]["chip.factory_table.entries"];
    assert_eq!(profile.as_str().unwrap().replace(' ', ""), list);
    for (line, message) in [
        (
            "ct-qlc-176l --set chip.factory_table.entries=high.csv",
            "high.csv:2: column `v2`: `200` is outside -128 to 127 DAC units",
        ),
        (
            "ct-qlc-176l --set chip.factory_table.entries=short.csv",
            "short.csv:2: 2 levels where the first entry has 3",
        ),
        (
            "ct-qlc-176l --set chip.factory_table.entries=none.csv",
            "none.csv",
        ),
        (
            "ct-qlc-176l --set chip.factory_table.entries=[[1,x]]",
            "chip.factory_table.entries",
        ),
        (
            "seven.toml",
            "its `entries` have 6 levels, and the chip has",
        ),
        (
            "far.toml",
            "far.toml:4: factory_table.entries: entry 2, level 2, is -129; levels are from -128 to 127 DAC units",
        ),
    ] {
        let err = folder.run(&format!("cells {line}")).fails(1);
        assert!(err.contains(message), "{line}: {err}");
    }
}

/// What a buyer asks is answered by interval, and a failure names its cause and ends with status 3.
#[test]
fn sequence_acceptance_is_judged_by_interval() {
    let folder = Folder::new("accept");
    let run = |line: &str, accept: &str| {
        let mut command = folder.command();
        command.args(line.split(' ')).args(["--accept", accept]);
        Ran::from(command.output().unwrap())
    };
    let line = "run randread-4k-qd32 --drive bench-4g --limit 20000 --job numjobs=1";
    let passes = run(line, "read: p50=10ms p99=20ms max=1s").ok();
    assert_eq!(lines(&passes.out, "pass"), 4, "{}", passes.out);
    let fails = run(line, "read: p50=10us p99=20ms p99.99999=10us");
    assert_eq!(fails.code, 3, "{}", fails.err);
    assert!(
        fails.out.contains("read P50 "),
        "the report comes first: {}",
        fails.out
    );
    assert!(
        fails.out.contains("1 of 3 pass, 1 fail, 1 undetermined"),
        "{}",
        fails.out
    );
    let row = fails
        .out
        .lines()
        .find(|line| line.contains("FAIL"))
        .unwrap();
    assert!(
        row.contains("at most 10.0 µs") && row.ends_with('%'),
        "the cause is named: {row}"
    );
    assert!(
        fails.err.contains("not accepted: 1 target failed"),
        "{}",
        fails.err
    );
    let json = run(&format!("{line} --json"), "read: p50=10us");
    assert_eq!(json.code, 3);
    assert!(serde_json::from_str::<Value>(&json.out).is_ok() && json.err.contains("FAIL"));
    assert_eq!(
        run(line, "write: p50=10us")
            .ok()
            .out
            .matches("no requests")
            .count(),
        1
    );

    // Of several runs each is judged, and what was kept is judged anew without a run.
    let line = "run randread-4k-qd32 --drive bench-4g --limit 20000 --job iodepth=1,64 --out kept";
    let first = run(line, "read: p50=100us");
    assert_eq!(first.code, 3, "{}", first.err);
    assert!(
        first.out.contains("iodepth=64") && first.out.contains("1 of 2 pass, 1 fail"),
        "{}",
        first.out
    );
    let again = run(line, "read: p50=10ms").ok();
    assert!(
        again.err.contains("2 of 2 runs were there already"),
        "{}",
        again.err
    );
    let drives = run(
        "run randread-4k-qd32 --drive bench-4g --limit 5000 --drives 2",
        "read: max=1us",
    );
    assert!(
        drives.code == 3 && drives.out.contains("2 fail"),
        "{}",
        drives.out
    );
    let err = run("run randread-4k-qd1", "read: p98=1ms").fails(2);
    assert!(err.contains("`p98` is none of p50, p90"), "{err}");
}

/// MQSim's XML as a job and a drive.
#[test]
fn sequence_xml_of_mqsim_runs() {
    let flow = |reads: &str| {
        format!(
            "<IO_Flow_Parameter_Set_Synthetic><Working_Set_Percentage>50</Working_Set_Percentage>\
         <Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Read_Percentage>{reads}</Read_Percentage>\
         <Address_Distribution>RANDOM_UNIFORM</Address_Distribution><Request_Size_Distribution>FIXED</Request_Size_Distribution>\
         <Average_Request_Size>8</Average_Request_Size><Seed>7</Seed><Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue>\
         <Stop_Time>20000000</Stop_Time></IO_Flow_Parameter_Set_Synthetic>"
        )
    };
    let workload = format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_IO_Scenarios>\n<IO_Scenario>{}{}</IO_Scenario>\n<IO_Scenario>\n\
         <IO_Flow_Parameter_Set_Trace_Based><File_Path>traces\\a.trace</File_Path><Time_Unit>NANOSECOND</Time_Unit>\
         </IO_Flow_Parameter_Set_Trace_Based></IO_Scenario></MQSim_IO_Scenarios>",
        flow("100"),
        flow("70")
    );
    let device = [
        ("Flash_Channel_Count", "4"),
        ("Chip_No_Per_Channel", "2"),
        ("Channel_Transfer_Rate", "333"),
        ("Overprovisioning_Ratio", "0.15"),
        ("GC_Block_Selection_Policy", "RGA"),
        ("Static_Wearleveling_Enabled", "true"),
    ];
    let flash = [
        ("Flash_Technology", "MLC"),
        ("CMD_Suspension_Support", "ERASE"),
        ("Page_Read_Latency_LSB", "60000"),
        ("Page_Read_Latency_MSB", "90000"),
        ("Page_Program_Latency_LSB", "700000"),
        ("Page_Program_Latency_MSB", "800000"),
        ("Block_Erase_Latency", "3800000"),
        ("Block_PE_Cycles_Limit", "5000"),
        ("Die_No_Per_Chip", "2"),
        ("Plane_No_Per_Die", "2"),
        ("Block_No_Per_Plane", "64"),
        ("Page_No_Per_Block", "128"),
        ("Page_Capacity", "8192"),
    ];
    let rows = |of: &[(&str, &str)]| {
        of.iter()
            .map(|(n, v)| format!("<{n}>{v}</{n}>\n"))
            .collect::<String>()
    };
    let device = format!(
        "<?xml version=\"1.0\"?>\n<Execution_Parameter_Set>\n<Device_Parameter_Set>\n{}<Flash_Parameter_Set>\n{}</Flash_Parameter_Set>\n\
         </Device_Parameter_Set></Execution_Parameter_Set>",
        rows(&device),
        rows(&flash)
    );
    let folder = Folder::new("mqsim")
        .with("workload.xml", &workload)
        .with("ssdconfig.xml", &device);
    fs::create_dir(folder.0.join("traces")).unwrap();
    fs::write(
        folder.0.join("traces/a.trace"),
        "0 0 2640 16 0\n900 0 99072 8 1\n",
    )
    .unwrap();
    let json = folder
        .run("run workload.xml#1 --drive ssdconfig.xml --json")
        .json();
    let profile = &json["firstread"]["config"]["profile"];
    for (key, value) in [
        ("geometry.channels", "4"),
        ("chip.modes.slc.erase", "3800000 ns"),
        ("schemes.gc_victim", "d-choices"),
        ("schemes.suspend", "erase"),
        ("schemes.wear", "static"),
    ] {
        let given = profile[key]
            .as_str()
            .unwrap_or_else(|| panic!("{key}: {profile}"));
        assert_eq!(given.replace("3.8 ms", "3800000 ns"), value, "{key}");
    }
    // 75 us is the mean of the page types.
    let fastest = json["jobs"][0]["read"]["clat_ns"]["min"].as_u64().unwrap();
    assert!((75_000..110_000).contains(&fastest), "{fastest}");
    assert_eq!(json["jobs"].as_array().unwrap().len(), 2);
    let json = folder
        .run("run workload.xml#2 --drive ssdconfig.xml --json")
        .json();
    let of = |of: &str| json["jobs"][0][of]["total_ios"].as_u64();
    assert_eq!((of("read"), of("write")), (Some(1), Some(1)));
    let err = folder
        .run("run workload.xml --drive ssdconfig.xml")
        .fails(1);
    assert!(
        err.contains("workload.xml: it has 2 scenarios") && err.contains("workload.xml#1"),
        "{err}"
    );
    let broken = device.replace("RGA", "BEST");
    fs::write(folder.0.join("ssdconfig.xml"), broken).unwrap();
    let err = folder
        .run("run randread-4k-qd1 --drive ssdconfig.xml")
        .fails(1);
    assert!(
        err.contains(
            "ssdconfig.xml: line 8: <GC_Block_Selection_Policy> is `BEST`: expected GREEDY"
        ),
        "{err}"
    );
}

/// The loads of `examples/acceptance` run as they are, and are judged by the targets that stand in them.
#[test]
fn smoke_acceptance_loads_run() {
    let folder = Folder::new("loads");
    for (name, rate, text) in [
        (
            "search",
            "",
            include_str!("../../../examples/acceptance/search.fio"),
        ),
        (
            "database",
            "231m",
            include_str!("../../../examples/acceptance/database.fio"),
        ),
        (
            "warm-storage",
            "15m",
            include_str!("../../../examples/acceptance/warm-storage.fio"),
        ),
        (
            "cache",
            "319m",
            include_str!("../../../examples/acceptance/cache.fio"),
        ),
    ] {
        fs::write(folder.0.join(format!("{name}.fio")), text).unwrap();
        let (_, targets) = text.split_once("--accept '").unwrap();
        let (targets, _) = targets.split_once('\'').unwrap();
        let mut command = folder.command();
        command.args(["run", &format!("{name}.fio"), "--var", "DEV=/dev/nvme0n1"]);
        if text.contains("${RATE}") {
            command.args(["--var", &format!("RATE={rate}")]);
        }
        command.args(["--job", "runtime=1", "--accept", targets]);
        let ran = Ran::from(command.output().unwrap()).ok();
        assert_eq!(lines(&ran.out, " of 7 pass, 0 fail"), 1, "{}", ran.out);
    }
}

/// Until how many bytes written a drive keeps its targets: by stage, with the cause of what fails, for people and beside data, of
/// a life that was kept too.
#[test]
fn sequence_a_life_is_judged_by_its_probes() {
    let folder = Folder::new("life-accept")
        .with("w.fio", "[w]\nrw=randwrite\nbs=4k\nnorandommap\n")
        .with(
            "m.fio",
            "[m]\nrw=randrw\nrwmixread=70\nbs=4k\nnorandommap\nio_size=64t\n",
        );
    let run = |line: &str, targets: &str| {
        let mut command = folder.command();
        command.args(line.split(' ')).args(["--accept", targets]);
        Ran::from(command.output().unwrap())
    };
    let life = "life w.fio --drive bench-4g --until bytes=400MB --probe 2000";
    let kept = format!("{life} --out l");
    let fails = run(&kept, "read: p50=1s p99=1us p99.99999=1s");
    assert_eq!(fails.code, 3, "{}", fails.err);
    fails.says("not accepted: 1 target failed");
    for line in [
        "\nacceptance over the life, probed by: 4 KiB, one at a time\n  read P50 at most 1.00 s\n",
        "holds to the end, 400 MB (",
        "  read P99 at most 1.00 µs\n",
        "    fails from the beginning, 0 B (",
        "000,000 requests  undetermined",
        "    undetermined from the beginning\n",
        "  1 of 3 hold over the whole life, 1 fail, 1 undetermined\n",
    ] {
        assert!(fails.out.contains(line), "{line}: {}", fails.out);
    }
    assert!(
        lines(&fails.out, "  FAIL  ") == 5 && lines(&fails.out, "sense ") > 0,
        "{}",
        fails.out
    );
    // A life that is there is judged by other targets, and its report is the same.
    let report = fails.out.split("\nacceptance").next().unwrap();
    let again = run(&kept, "read: p50=1s").ok();
    again.says("note: w: the life was there already\n");
    assert_eq!(again.out.split("\nacceptance").next().unwrap(), report);
    assert_eq!(
        lines(
            &again.out,
            "1 of 1 hold over the whole life, 0 fail, 0 undetermined"
        ),
        1
    );
    // Beside data the verdicts are on the standard error; percentiles with intervals are in the data.
    let json = run(&format!("{kept} --json"), "read: p99=1us");
    assert_eq!(json.code, 3);
    json.says("fails from the beginning");
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let of_probe = &value["stages"][4]["reads"]["clat_ns"];
    assert!(
        of_probe["percentile"]["99.000000"].as_u64() > Some(1_000),
        "{of_probe}"
    );
    assert!(
        of_probe["percentile_interval_95"]["50.000000"][1].is_u64(),
        "{of_probe}"
    );
    // Several drives under several schemes, by a load of its own.
    let several = life.replace(
        "--probe 2000",
        "--probe 2000 --probe m.fio --drives 2 --scheme gc_victim=greedy,fifo",
    );
    let ran = run(&several, "read: max=1s; write: p50=1ns");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(
        lines(&ran.out, "pass pass pass pass pass"),
        4,
        "{}",
        ran.out
    );
    assert_eq!(
        lines(&ran.out, "FAIL FAIL FAIL FAIL FAIL"),
        4,
        "{}",
        ran.out
    );
    let of_scheme = "gc_victim=greedy: 0 of 2 drives hold all targets over their whole life, 2 fail, the first at 0 B";
    assert_eq!(lines(&ran.out, of_scheme), 1, "{}", ran.out);
    // Cells that wear: a target holds for a part of the life.
    folder.write("w16.fio", "[w]\nrw=randwrite\nbs=16k\nnorandommap\n");
    let small = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=64",
        "geometry.mapping_unit=16KiB",
        "geometry.wordlines_per_block=1",
        "capacity=12MiB",
    ];
    let small = small.map(|set| format!(" --set {set}")).concat();
    let wears = format!(
        "life w16.fio --until bytes=1700MB --wear-rate 4 --probe 20000 --scheme read_levels=factory{small}"
    );
    let ran = run(&wears, "read: p99=1.2ms");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(lines(&ran.out, "  pass"), 2, "{}", ran.out);
    assert_eq!(lines(&ran.out, "  its own retries "), 2, "{}", ran.out);
    let until = "    holds until 428 MB (64 P/E), fails at 1.27 GB (192 P/E)";
    assert_eq!(lines(&ran.out, until), 1, "{}", ran.out);
    // Nothing to judge.
    for (line, targets, why) in [
        (
            life.replace("--probe 2000", "--probe 0"),
            "read: p99=1s",
            "--probe 0 makes none; give a number of reads, or a load",
        ),
        (
            life.to_owned(),
            "write: p99=1s",
            "write P99: the standard probe only reads; give a load by --probe",
        ),
        (
            format!("{life} --probe m.fio"),
            "trim: p99=1s",
            "trim P99: the load m has no such requests",
        ),
    ] {
        let err = run(&line, targets).fails(2);
        assert!(
            err.contains("--accept judges the probes of a life: ") && err.contains(why),
            "{err}"
        );
    }
}

/// Cells that never err say nothing of the bits that a drive loses.
#[test]
fn sequence_ideal_cells_have_no_error_rate() {
    let folder = Folder::new("ideal");
    for (drive, said) in [("bench-4g", 0), ("dc-qlc-15t", 1)] {
        for drives in ["", " --drives 2"] {
            let line = format!("run randread-4k-qd1 --drive {drive} --limit 200{drives}");
            let ran = folder.run(&line).ok();
            assert_eq!(lines(&ran.out, "JESD218 allows"), said, "{}", ran.out);
        }
    }
}

/// Command lines as guides of vendors and hosts print them: with a prompt, over several lines, with one hyphen, with another
/// command behind them.
#[test]
fn sequence_command_lines_of_guides_are_jobs() {
    let folder = Folder::new("guides")
        .with(
            "cloud.txt",
            "sudo fio --filename=/dev/nvme0n1 --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=256 \\\n  \
             --runtime=120 --numjobs=4 --time_based --group_reporting --name=iops-test-job --eta-newline=1 --readonly\n",
        )
        .with(
            "host.txt",
            "# fio -ioengine=libaio -direct=1 -name=fiotest -filename=testfio -iodepth 32 -size=4G -rwmixread=75 \
             -readwrite=randrw ; rm -f testfio\n",
        )
        .with("commented.fio", "# fio --minimal commented.fio\n[a]\nrw=read\nnumber_ios=3\n");
    let options = "--drive bench-512g --limit 4000 --json";
    let json = |file: &str| folder.run(&format!("run {file} {options}")).json();
    let cloud = json("cloud.txt");
    let of = &cloud["jobs"][0];
    assert_eq!(
        (&of["jobname"], &of["read"]["total_ios"]),
        (&"iops-test-job".into(), &4000.into())
    );
    let ran = folder.run(&format!("run host.txt {options}")).ok();
    ran.says("what stands behind `;` is ignored: it is another command");
    let host: Value = serde_json::from_str(&ran.out).unwrap();
    let options = &host["jobs"][0]["job options"];
    assert_eq!(
        (&options["iodepth"], &options["rwmixread"]),
        (&"32".into(), &"75".into()),
        "{options}"
    );
    let reads = host["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert!((2_900..3_100).contains(&reads), "{reads}");
    assert_eq!(json("commented.fio")["jobs"][0]["read"]["total_ios"], 3);
}

/// Traces as tools write and pack them: flags behind R and W, thousands, bz2 and xz.
#[test]
fn sequence_traces_as_tools_write_them() {
    let folder = Folder::new("tools")
        .with_case("flags.csv")
        .with_case("packed.csv.bz2")
        .with_case("packed.csv.xz");
    for (file, reads, writes) in [
        ("flags.csv", (2, 8192), (2, 8192)),
        ("packed.csv.bz2", (2, 8192), (1, 8192)),
        ("packed.csv.xz", (2, 8192), (1, 8192)),
    ] {
        let columns = "--trace-columns time:us,op,offset:B,size:B";
        let json = folder
            .run(&format!("run {file} {columns} --drive bench-4g --json"))
            .json();
        for (of, wanted) in [("read", reads), ("write", writes)] {
            let of = &json["jobs"][0][of];
            let got = (
                of["total_ios"].as_u64().unwrap(),
                of["io_bytes"].as_u64().unwrap(),
            );
            assert_eq!(got, wanted, "{file}");
        }
    }
}

/// Of few requests the share that is explained is that of those requests; a point that is kept is fio's object at its top; a drive
/// of one's own is not called what the shipped one is.
#[test]
fn sequence_small_runs_say_what_they_are() {
    let folder =
        Folder::new("small").with("mine.toml", "based_on = \"dc-qlc-15t\"\nname = \"mine\"\n");
    let ran = folder
        .run("run randread-4k-qd1 --drive dc-qlc-15t --limit 100 --age 0,1h --out out")
        .ok();
    assert_eq!(lines(&ran.out, "bench"), 0);
    let alone = folder
        .run("run randread-4k-qd1 --drive dc-qlc-15t --limit 100")
        .ok();
    let slowest = alone
        .out
        .lines()
        .find(|line| line.contains("slowest "))
        .unwrap();
    let number = |behind: &str| -> f64 {
        let (_, text) = slowest.split_once(behind).unwrap();
        text.split([' ', '%']).next().unwrap().parse().unwrap()
    };
    // Per cent of 100 requests.
    assert_eq!(number("slowest "), number("went ("), "{slowest}");
    let point = folder.read("out/points/age-0_seed-1.json");
    let point: Value = serde_json::from_str(&point).unwrap();
    assert!(point["fio version"].is_string() && point["jobs"][0]["read"]["clat_ns"].is_object());
    let shown = folder.run("show mine.toml").ok().out;
    assert!(
        shown.starts_with("drive mine: dc-qlc-15t with changes of its own\n"),
        "{shown}"
    );
}
