//! Results that are kept with `--out`: found by what made them, noticed where they are damaged, and there after any end of
//! the command.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary, edit its inputs and read what it wrote"
)]

mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use command::{Folder, Ran, wait_until};
use firstread_session::results::COMMIT;

/// Reads all over a small drive.
fn trace(op: char) -> String {
    let line = |i: u64| format!("{},{op},{},4096\n", i * 100, i * 7919 % 100_000 * 4096);
    (0..400).map(line).collect()
}

const COLUMNS: &str = "--trace-columns time:us,op,offset:B,size:B";

/// A trace that is edited in place is another trace, however long it is; so is one that is read otherwise.
#[test]
fn sequence_a_trace_that_was_edited_is_run_anew() {
    let folder = Folder::new("trace").with("t.csv", &trace('R'));
    let line = format!("run t.csv {COLUMNS} --drive bench-4g --age 0,1h --out m");
    let reads = folder.run(&line).ok();
    let again = folder.run(&line).ok();
    again.says("note: 2 of 2 runs were there already\n");
    assert_eq!(again.out, reads.out);
    folder.write("t.csv", &trace('W'));
    let writes = folder.run(&line).ok();
    writes.says("note: age=0: run anew; m/points/age-0_seed-1.json: `workload.trace.content` was ");
    assert!(!writes.err.contains("there already"), "{}", writes.err);
    assert!(
        writes.out.contains("write") && writes.out != reads.out,
        "{}",
        writes.out
    );
    let sectors = line.replace("offset:B", "offset:sector") + " --trace-wrap";
    folder
        .run(&sectors)
        .ok()
        .says("`workload.trace.columns` differs");
}

/// A trace that is replaced while a matrix runs is refused: what was kept before is of the first one, and what is run after
/// is of the second one.
#[test]
fn sequence_a_trace_that_is_replaced_under_way_is_refused() {
    let replaced = trace('R')
        .replacen("7919,", "7920,", 1)
        .replace(",R,", ",W,");
    let ages: Vec<String> = (0..60).map(|h| format!("{h}h")).collect();
    let ages = ages.join(",");
    let folder = Folder::new("replaced").with("t.csv", &trace('R'));
    let line = format!("run t.csv {COLUMNS} --drive bench-4g --age {ages} --threads 1 --out m");
    let child = folder.start(&line);
    wait_until(|| folder.files("m/points") >= 3);
    folder.write("t.csv", &replaced);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    ran.says("t.csv");
    ran.says("the file was changed after the command had begun; run the command again");
    let kept = folder.files("m/points");
    assert!((3..60).contains(&kept), "{kept}");
    // All that was kept is of the trace that was there first.
    for (name, bytes) in folder
        .all("m")
        .iter()
        .filter(|(n, _)| n.starts_with("points"))
    {
        let of: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        let requests = &of["jobs"][0]["read"]["total_ios"];
        assert_eq!(requests, 400, "{}", name.display());
    }
    let again = folder.run(&line).ok();
    again.says("run anew; ");
    again.says("`workload.trace.content` was ");
    assert!(!again.err.contains("there already"), "{}", again.err);
}

/// The only run of a command is found as long as everything that made it is the same, and is printed as it was.
#[test]
fn sequence_a_single_run_is_found_until_an_input_changes() {
    const JOB: &str = "[a]\nrw=randrw\nbs=4k\nnumber_ios=300\n";
    let folder = Folder::new("single")
        .with("j.fio", JOB)
        .with("t.csv", &trace('R'))
        .with("burn.fio", "[b]\nrw=randwrite\nbs=4k\nnumber_ios=200\n");
    let base = "run j.fio --drive bench-4g --limit 200 --out s";
    let first = folder.run(base).ok();
    assert!(!first.err.contains("note: j: "), "{}", first.err);
    first.says("prepared in ");
    let before = folder.all("s");
    let is_found = |line: &str| {
        let ran = folder.run(line).ok();
        ran.says("note: j: the run was there already\n");
        assert!(!ran.err.contains("prepared in "), "{}", ran.err);
        assert!(folder.all("s") == before, "{line}");
        ran.out
    };
    assert_eq!(is_found(base), first.out);
    assert_eq!(
        is_found(&format!("{base} --json")),
        folder.read("s/result.json")
    );
    assert_eq!(
        is_found(&format!("{base} --threads 2 --seed 1 --age 28h")),
        first.out
    );
    let copy = |to: &str| {
        let _ = fs::remove_dir_all(folder.0.join(to));
        let copied = Command::new("cp")
            .args(["-r", "s", to])
            .current_dir(&folder.0)
            .status();
        assert!(copied.unwrap().success());
    };
    let anew = |line: &str, why: &str| {
        let line = line.replace("--out s", "--out c");
        let ran = folder.run(&line).ok();
        ran.says("run anew; c/points/run.json: ");
        ran.says(why);
        ran.says("prepared in ");
        let again = folder.run(&line).ok();
        again.says("the run was there already");
        assert_eq!(again.out, ran.out, "{line}");
    };
    for (change, why) in [
        ("--seed 2", "`seed` was 1 and is 2"),
        ("--workload-seed 2", "`workload_seed` was 1 and is 2"),
        ("--limit 201", "`limit` was 200 and is 201"),
        ("--age 29h", "`config.age"),
        ("--age 0..28h", "`config.age"),
        (
            "--temperature 54",
            "`config.temperature_c` was 55.0 and is 54.0",
        ),
        ("--temperature 55,25@1h", "`config.temperature"),
        ("--pe-cycles 299", "`config.pe_cycles"),
        ("--fill 99%", "`config.fill"),
        ("--unpowered 1h", "`config.unpowered"),
        ("--earlier-fill 1h", "`config.earlier_fill"),
        ("--precondition random", "`config.precondition"),
        ("--scheme gc_victim=greedy", "`config."),
        (
            "--set link.max_outstanding=9",
            "`config.set` was [] and is [\"link.max_outstanding\"]",
        ),
        ("--job iodepth=2", "`workload.text` "),
        ("--burn-in", "`burn_in"),
        ("--burn-in=burn.fio", "`burn_in"),
        (
            "--calibration-log",
            "`front_end.calibration_log` was false and is true",
        ),
    ] {
        copy("c");
        let option = change.split([' ', '=']).next().unwrap();
        let line = match option {
            "--limit" => base.replace("--limit 200", change),
            _ => format!("{base} {change}"),
        };
        anew(&line, why);
    }
    copy("c");
    anew(&base.replace("bench-4g", "bench-512g"), "`config.");
    copy("c");
    anew(
        &base.replace("j.fio", &format!("t.csv {COLUMNS}")),
        "`workload.name` was",
    );
    copy("c");
    folder.write("k.fio", JOB);
    anew(
        &base.replace("j.fio", "k.fio"),
        "`workload.name` was \"j.fio\" and is \"k.fio\"",
    );
    copy("c");
    folder.write("j.fio", &format!("{JOB}# a word\n"));
    anew(base, "`workload.text` was ");
    folder.write("j.fio", JOB);
    // Files of the run that are not as they were written, or are gone.
    for file in ["result.json", "report.txt", "latency.csv"] {
        fs::write(folder.0.join("s").join(file), "x").unwrap();
        let mended = folder.run(base).ok();
        mended.says(&format!(
            "note: j: run anew; s/{file} is not as it was written"
        ));
        assert_eq!(mended.out, first.out);
    }
    // The folder is of one run, and not of several.
    let several = folder.run(&format!("{base} --drives 2"));
    assert_eq!(several.code, 1, "{}", several.err);
    several.says("s: holds results of run; choose another folder");
}

/// The same of the only life.
#[test]
fn sequence_a_single_life_is_found_until_an_input_changes() {
    const LOAD: &str = "[w]\nrw=randwrite\nbs=4k\nnorandommap\n";
    let folder = Folder::new("life").with("w.fio", LOAD);
    let base = "life w.fio --drive bench-4g --until bytes=20MB --probe 50 --out l";
    let first = folder.run(base).ok();
    assert!(!first.err.contains("note: w: "), "{}", first.err);
    let before = folder.all("l");
    for (line, out) in [
        (base.to_owned(), first.out.clone()),
        (format!("{base} --json"), folder.read("l/life.json")),
    ] {
        let found = folder.run(&line).ok();
        found.says("note: w: the life was there already\n");
        assert!(found.out == out && folder.all("l") == before, "{line}");
    }
    for (change, why) in [
        ("--seed 2", "`seed` was 1 and is 2"),
        ("--workload-seed 2", "`workload_seed` was 1 and is 2"),
        ("--until bytes=21MB", "`life.until` was "),
        ("--probe 51", "`life.probe_requests` was 50 and is 51"),
        ("--warranty 4y", "`life.warranty_years` was 5.0 and is 4.0"),
        (
            "--drive-writes-a-day 2",
            "`life.drive_writes_a_day` was 1.0 and is 2.0",
        ),
        ("--temperature 54", "`config.temperature_c`"),
        ("--age 29h", "`config.age"),
        ("--pe-cycles 1", "`config.pe_cycles"),
        ("--scheme gc_victim=greedy", "`config."),
    ] {
        let option = change.split(' ').next().unwrap();
        let line = match option {
            "--until" => base.replace("--until bytes=20MB", change),
            "--probe" => base.replace("--probe 50", change),
            _ => format!("{base} {change}"),
        };
        let ran = folder.run(&line).ok();
        ran.says("note: w: run anew; l/points/life.json: ");
        ran.says(why);
        // Back to what the next change is compared with, with the same bytes.
        assert_eq!(folder.run(base).ok().out, first.out);
        assert!(folder.all("l") == before, "{change}");
    }
    folder.write("w.fio", &format!("{LOAD}# a word\n"));
    folder.run(base).ok().says("`workload.text` was ");
}

/// Run times that cannot be read are unknown, and their results are found all the same.
#[test]
fn sequence_a_damaged_run_time_is_like_a_missing_one() {
    let folder = Folder::new("wall");
    let line = "run randread-4k-qd1 --drive bench-4g --age 0,1h --limit 200 --out m";
    let first = folder.run(line).ok();
    let wall = "m/wall/age-0_seed-1.json";
    let text = folder.read(wall);
    let damaged = [
        b"\xff\xfe".to_vec(),
        Vec::new(),
        b"{}".to_vec(),
        b"[1]".to_vec(),
        text.replacen("\"wall_seconds\": 0.", "\"wall_seconds\": 9.", 1)
            .into_bytes(),
        vec![b' '; 65 << 20],
    ];
    for bytes in damaged {
        assert_ne!(bytes, text.as_bytes());
        fs::write(folder.0.join(wall), bytes).unwrap();
        let ran = folder.run(line).ok();
        ran.says(&format!(
            "note: {wall}: is damaged, so how long the run took is not known\n"
        ));
        ran.says("note: 2 of 2 runs were there already\n");
        assert_eq!(ran.out, first.out);
    }
    fs::remove_file(folder.0.join(wall)).unwrap();
    folder
        .run(line)
        .ok()
        .says(&format!("note: {wall}: is missing, "));
    fs::create_dir(folder.0.join(wall)).unwrap();
    folder
        .run(line)
        .ok()
        .says(&format!("note: {wall}: is damaged, "));
    fs::remove_dir_all(folder.0.join("m/wall")).unwrap();
    folder
        .run(line)
        .ok()
        .says("is missing, so how long the run took is not known; and 1 more like it\n");
}

/// Of many runs that were run now a few are named.
#[test]
fn sequence_the_names_of_many_runs_are_a_line() {
    let folder = Folder::new("many");
    let ages = |n: u32| {
        (0..n)
            .map(|h| format!("{h}h"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let line = |n| {
        let ages = ages(n);
        format!("run randread-4k-qd1 --drive bench-4g --age {ages} --limit 20 --out m")
    };
    folder.run(&line(2)).ok();
    let more = folder.run(&line(40)).ok();
    more.says(
        "note: 2 of 40 runs were there already; run now: age=2h, age=3h, age=4h, age=5h, age=6h and 33 more\n",
    );
    let other = folder.run(&format!("{} --workload-seed 2", line(40))).ok();
    assert_eq!(
        other.err.matches(": run anew; m/points/").count(),
        5,
        "{}",
        other.err
    );
    other.says("note: run anew too: age=5h, age=6h, age=7h, age=8h, age=9h and 30 more\n");
}

/// A program of other bytes does not take results for its own, unless both are built of the same commit.
#[test]
fn sequence_another_program_runs_anew() {
    let folder = Folder::new("program");
    let line = "run randread-4k-qd1 --drive bench-4g --age 0,1h --limit 200 --out m";
    folder.run(line).ok();
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_firstread")).unwrap();
    bytes.push(0);
    let other = folder.0.join("firstread");
    fs::copy(env!("CARGO_BIN_EXE_firstread"), &other).unwrap();
    fs::write(&other, bytes).unwrap();
    let mut command = folder.command_of(&other);
    let output = command.args(line.split(' ')).output();
    let ran = Ran::from(output.unwrap()).ok();
    match COMMIT.ends_with("-modified") || COMMIT == "unknown" {
        true => ran.says("`program` "),
        false => ran.says("2 of 2 runs were there already"),
    }
}

/// What `run --drives`, `compare` and lives keep is found drive by drive, is noticed where it was changed, and made anew
/// with the same bytes.
#[test]
fn sequence_each_drive_is_found_by_itself() {
    let folder = Folder::new("drives").with("w.fio", "[w]\nrw=randwrite\nbs=4k\nnorandommap\n");
    let life = "life w.fio --drive bench-4g --until bytes=2GB --probe 100";
    for (command, files, point) in [
        (
            "run mixed-70-30 --drive bench-4g --limit 1000",
            vec![
                "drives.json",
                "drives.txt",
                "seed-2/result.json",
                "seed-2/report.txt",
            ],
            "seed-2",
        ),
        (
            "compare mixed-70-30 --drive bench-4g --limit 1000 --scheme gc_victim=fifo,greedy",
            vec!["compare.json", "compare.txt", "fifo/seed-2/latency.csv"],
            "greedy/seed-2",
        ),
        (
            life,
            vec![
                "drives.json",
                "drives.txt",
                "seed-2/life.json",
                "seed-2/life.csv",
            ],
            "seed-2",
        ),
    ] {
        let name = command.split(' ').next().unwrap();
        let line = format!("{command} --drives 2 --out {name}");
        let first = folder.run(&line).ok();
        let before = folder.all(name);
        for file in files {
            assert!(before.contains_key(Path::new(file)), "{file}");
        }
        let again = folder.run(&line).ok();
        assert_eq!(again.out, first.out, "{line}");
        let all = if name == "compare" { 4 } else { 2 };
        again.says(&format!("note: {all} of {all} "));
        let path = format!("{name}/points/{point}.json");
        let text = folder.read(&path);
        let at = text.find("capacity_bytes\": ").unwrap() + "capacity_bytes\": ".len();
        let digit = if &text[at..=at] == "9" { "8" } else { "9" };
        folder.write(&path, &format!("{}{digit}{}", &text[..at], &text[at + 1..]));
        let mended = folder.run(&line).ok();
        mended.says("run anew; ");
        mended.says("is damaged: its checksum does not match");
        mended.says(&format!("note: {} of {all} ", all - 1));
        assert_eq!(mended.out, first.out, "{line}");
        assert!(folder.all(name) == before, "{line}");
    }
    // What is printed is what is kept, and the time that it took.
    let line = "run mixed-70-30 --drive bench-4g --limit 1000 --drives 2 --out run --json";
    let printed: serde_json::Value = serde_json::from_str(&folder.run(line).ok().out).unwrap();
    let mut kept: serde_json::Value =
        serde_json::from_str(&folder.read("run/drives.json")).unwrap();
    let own = &printed["runs"][0]["result"]["firstread"];
    assert!(own["wall_seconds"].as_f64() > Some(0.0), "{own}");
    assert!(kept["runs"][0]["result"]["firstread"]["wall_seconds"].is_null());
    kept["runs"][0]["result"]["firstread"] = own.clone();
    assert_eq!(kept["runs"][0], printed["runs"][0]);
}

/// A folder of an earlier form says what to do about it.
#[test]
fn sequence_an_older_folder_is_refused() {
    let folder = Folder::new("older").with("matrix.json", "{}");
    fs::create_dir_all(folder.0.join("m/points")).unwrap();
    let ran = folder.run("run randread-4k-qd1 --drive bench-4g --age 0,1h --limit 50 --out m");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    ran.says("delete the folder, or choose another one");
    assert_eq!(folder.files("m"), 1);
}

/// What a file brings along does not reach the terminal.
#[test]
fn sequence_an_error_of_a_profile_is_plain_text() {
    let folder = Folder::new("escapes").with(
        "d.toml",
        "based_on = \"a\u{1b}[31mb\"\nname = \u{1b}]0;x\u{7}\n",
    );
    let ran = folder.run("run randread-4k-qd1 --drive d.toml");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let control = ran.err.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{:?}", ran.err);
}

#[cfg(target_os = "linux")]
mod signals {
    use firstread_session::files::ignores_hangup;

    use super::*;

    /// A job that is longer than any test.
    const LONG: &str = "[a]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\nio_size=64t\n";

    fn send(child: &Child, signal: &str) {
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Whether the process catches signals yet.
    fn catches(child: &Child) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGTERM is 15, and is caught after SIGINT.
        mask.is_some_and(|mask| mask & 1 << 14 != 0)
    }

    /// Kills of drives under way lose what was under way and nothing else; the end is that of a run without them.
    #[test]
    fn sequence_drives_go_on_after_a_kill() {
        let some = LONG.replace("io_size=64t", "number_ios=30000");
        let write = some
            .replace("randread", "randwrite")
            .replace("number_ios=30000", "io_size=64t");
        let folder = Folder::new("kills")
            .with("some.fio", &some)
            .with("w.fio", &write);
        for command in [
            "run some.fio --drive bench-4g --drives 6",
            "life w.fio --drive bench-4g --until bytes=3GB --probe 100 --drives 6",
            "compare some.fio --drive bench-4g --scheme gc_victim=fifo,greedy --drives 3",
        ] {
            let name = command.split(' ').next().unwrap();
            let whole = folder
                .run(&format!("{command} --threads 2 --out {name}-whole"))
                .ok();
            let line = format!("{command} --threads 1 --out {name}");
            let is_point =
                |p: &PathBuf| p.starts_with("points") && p.extension().is_some_and(|e| e == "json");
            let kept = || match folder.0.join(name).exists() {
                true => folder.all(name).keys().filter(|p| is_point(p)).count(),
                false => 0,
            };
            for least in [1, 3] {
                let mut child = folder.start(&line);
                wait_until(|| kept() >= least);
                child.kill().unwrap();
                child.wait().unwrap();
                assert!(!folder.0.join(name).join("drives.txt").exists());
            }
            let ended = folder.run(&line).ok();
            ended.says(" of 6 ");
            assert_eq!(ended.out, whole.out, "{name}");
            folder.same(name, &format!("{name}-whole"));
        }
    }

    /// What is printed of a test that needs SIGHUP, where the tests were started with this signal ignored.
    const NO_HANGUP: &str = "SKIPPED: the tests run under nohup";

    /// A signal that asks to end is like Ctrl-C: what there is is printed and kept. The exit status tells the signal.
    #[test]
    fn sequence_termination_and_hangup_keep_what_there_is() {
        let folder = Folder::new("signals").with("long.fio", LONG);
        for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
            if signal == "-HUP" && ignores_hangup() {
                println!("{NO_HANGUP}: SIGHUP");
                continue;
            }
            let mut child = folder.start(&format!("run long.fio --drive bench-4g --out r{code}"));
            if signal == "-HUP" {
                // As of a terminal that was closed: nothing can be told any more.
                drop(child.stderr.take());
                drop(child.stdout.take());
            }
            wait_until(|| catches(&child));
            sleep(Duration::from_millis(1_500));
            send(&child, signal);
            if signal == "-HUP" {
                send(&child, signal);
            }
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert_eq!(ran.code, code, "{}", ran.err);
            let result = folder.read(&format!("r{code}/result.json"));
            assert!(result.contains("\"ended\": \"interrupted\""), "{signal}");
        }
    }

    /// What a killed command was writing is removed by the next one; what a living one is writing is not.
    #[test]
    fn sequence_what_a_killed_command_was_writing_is_removed() {
        let folder = Folder::new("partial").with("long.fio", LONG);
        let line = "run randread-4k-qd1 --drive bench-4g --drives 2 --limit 100 --out r";
        folder.run(line).ok();
        let other = Living(folder.start("run long.fio --drive bench-4g"));
        let killed = {
            let mut child = folder.start("run long.fio --drive bench-4g");
            child.kill().unwrap();
            child.wait().unwrap();
            child.id()
        };
        for below in ["", "points/", "wall/", "seed-2/"] {
            for id in [killed, other.0.id()] {
                folder.write(&format!("r/{below}result.json.partial-{id}"), "half");
            }
        }
        let left = |id: u32| {
            let all = folder.all("r");
            let named = all
                .keys()
                .filter(|p| p.to_string_lossy().ends_with(&id.to_string()));
            named.count()
                + usize::from(
                    folder
                        .0
                        .join(format!("r/wall/result.json.partial-{id}"))
                        .exists(),
                )
        };
        assert_eq!((left(killed), left(other.0.id())), (4, 4));
        // A drive that is not there is written, and its folder swept.
        fs::remove_file(folder.0.join("r/points/seed-2.json")).unwrap();
        folder.run(line).ok().says("1 of 2 runs were there already");
        assert_eq!((left(killed), left(other.0.id())), (0, 4));
    }

    /// A process that is ended with its test, however that ends.
    struct Living(Child);

    impl Drop for Living {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Where the terminal is closed, the signal is what ended the command, not the output that nobody reads.
    #[test]
    fn sequence_a_closed_terminal_ends_a_command_by_its_signal() {
        if ignores_hangup() {
            return println!("{NO_HANGUP}: a closed terminal");
        }
        use std::fs::File;
        use std::os::fd::OwnedFd;

        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let folder = Folder::new("terminal").with("long.fio", LONG);
        for form in ["", "--json"] {
            let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
            let ours = ours.unwrap();
            grantpt(&ours).unwrap();
            unlockpt(&ours).unwrap();
            let name = ptsname(&ours, Vec::new()).unwrap();
            let open = || {
                let mut options = File::options();
                let theirs = options.read(true).write(true).open(name.to_str().unwrap());
                std::process::Stdio::from(OwnedFd::from(theirs.unwrap()))
            };
            let line = format!("run long.fio --drive bench-4g --out r {form}");
            let mut command = folder.command();
            command.args(line.split_whitespace());
            let mut child = command.stdout(open()).stderr(open()).spawn().unwrap();
            drop(command);
            wait_until(|| catches(&child));
            sleep(Duration::from_millis(1_000));
            drop(ours);
            send(&child, "-HUP");
            assert_eq!(child.wait().unwrap().code(), Some(129), "{form}");
            let result = folder.read("r/result.json");
            assert!(result.contains("\"ended\": \"interrupted\""), "{form}");
        }
    }

    /// A command under nohup does not end when its terminal is closed.
    #[test]
    fn sequence_nohup_ignores_a_hangup() {
        let folder = Folder::new("nohup").with("long.fio", LONG);
        let program = env!("CARGO_BIN_EXE_firstread");
        let line = format!("{program} run long.fio --drive bench-4g --out r");
        let mut command = folder.command_of("nohup");
        let child = command.args(line.split(' ')).spawn().unwrap();
        wait_until(|| catches(&child));
        send(&child, "-HUP");
        sleep(Duration::from_millis(500));
        send(&child, "-TERM");
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 143, "{}", ran.err);
    }

    /// Results whose folder was deleted under way are an error, not the rest of them.
    #[test]
    fn sequence_a_folder_deleted_under_way_is_an_error() {
        let some = LONG.replace("io_size=64t", "number_ios=30000");
        let folder = Folder::new("deleted").with("some.fio", &some);
        let child = folder.start("run some.fio --drive bench-4g --drives 4 --threads 1 --out r");
        wait_until(|| folder.0.join("r/points/seed-1.json").exists());
        fs::remove_dir_all(folder.0.join("r")).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        ran.says("r/store.json: was deleted while results were written");
    }
}

/// A run in parts is found again whatever its threads, and is no run in other parts, nor one in a piece.
#[test]
fn sequence_a_run_in_parts_is_found_by_their_number() {
    let job = "[a]\nrw=randread\nbs=4k\niodepth=8\nnumber_ios=1200\n";
    let folder = Folder::new("parts").with("r.fio", job);
    let run = |options: &str| folder.run(&format!("run r.fio --out s {options}")).ok();
    let first = run("--split 2");
    assert!(
        first.out.contains("in 2 parts side by side"),
        "{}",
        first.out
    );
    let found = run("--split 2 --threads 1");
    found.says("note: r: the run was there already\n");
    assert_eq!(found.out, first.out);
    run("--split 3").says("`config.split` was 2 and is 3");
    run("").says("`config.split` was 3 and is null");
}
