//! Results that are kept with `--out`: found by what made them, noticed where they are damaged, and there after any end of
//! the command.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary, edit its inputs and read what it wrote"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use firstread_session::results::COMMIT;

/// A folder of its own for each test, empty at its start.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("kept")
            .join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn with(self, name: &str, text: &str) -> Folder {
        self.write(name, text);
        self
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn command(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).args(line.split_whitespace());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, line: &str) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_firstread"));
        self.command(program, line).spawn().unwrap()
    }

    fn run(&self, line: &str) -> Ran {
        Ran::from(self.start(line).wait_with_output().unwrap())
    }

    /// How many files are in a folder.
    fn files(&self, name: &str) -> usize {
        fs::read_dir(self.0.join(name)).map_or(0, Iterator::count)
    }

    /// All files below a folder but those of run times, by name.
    fn all(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let top = self.0.join(name);
        let (mut files, mut folders) = (BTreeMap::new(), vec![top.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let below = path.strip_prefix(&top).unwrap().to_owned();
                match path.is_dir() {
                    true if below == Path::new("wall") => {}
                    true => folders.push(path),
                    false => drop(files.insert(below, fs::read(&path).unwrap_or_default())),
                }
            }
        }
        files
    }

    /// The files of two folders are the same, byte for byte.
    fn same(&self, one: &str, other: &str) {
        let (a, b) = (self.all(one), self.all(other));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        for (name, bytes) in &a {
            assert!(*bytes == b[name], "{} differs", name.display());
        }
    }
}

struct Ran {
    /// None where a signal ended it.
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    fn ok(self) -> Ran {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    #[track_caller]
    fn says(&self, text: &str) {
        assert!(self.err.contains(text), "{text}: {}", self.err);
    }
}

/// Waits until `is_due`, for two minutes at most.
fn wait_until(is_due: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_due() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
}

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
    let output = folder.command(&other, line).output().unwrap();
    let ran = Ran::from(output).ok();
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
        let (at, _) = text.match_indices("\"result\"").next().unwrap();
        let at = at + text[at..].find("capacity_bytes\": ").unwrap() + "capacity_bytes\": ".len();
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
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
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
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let control = ran.err.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{:?}", ran.err);
}

#[cfg(target_os = "linux")]
mod signals {
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
            let partial = folder.all(name);
            let left = partial
                .keys()
                .filter(|p| p.to_string_lossy().contains(".partial-"));
            left.for_each(|p| fs::remove_file(folder.0.join(name).join(p)).unwrap());
            folder.same(name, &format!("{name}-whole"));
        }
    }

    /// A signal that asks to end is like Ctrl-C: what there is is printed and kept. The exit status tells the signal.
    #[test]
    fn sequence_termination_and_hangup_keep_what_there_is() {
        let folder = Folder::new("signals").with("long.fio", LONG);
        for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
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
            assert_eq!(ran.code, Some(code), "{}", ran.err);
            let result = folder.read(&format!("r{code}/result.json"));
            assert!(result.contains("\"ended\": \"interrupted\""), "{signal}");
        }
    }

    /// A command under nohup does not end when its terminal is closed.
    #[test]
    fn sequence_nohup_ignores_a_hangup() {
        let folder = Folder::new("nohup").with("long.fio", LONG);
        let program = env!("CARGO_BIN_EXE_firstread");
        let line = format!("{program} run long.fio --drive bench-4g --out r");
        let child = folder.command(Path::new("nohup"), &line).spawn().unwrap();
        wait_until(|| catches(&child));
        send(&child, "-HUP");
        sleep(Duration::from_millis(500));
        send(&child, "-TERM");
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(143), "{}", ran.err);
    }

    /// Results whose folder was deleted under way are an error, not the rest of them.
    #[test]
    fn sequence_a_folder_deleted_under_way_is_an_error() {
        let some = LONG.replace("io_size=64t", "number_ios=30000");
        let folder = Folder::new("deleted").with("some.fio", &some);
        let child = folder.start("run some.fio --drive bench-4g --drives 4 --threads 1 --out r");
        wait_until(|| folder.files("r/points") >= 1);
        fs::remove_dir_all(folder.0.join("r")).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
        ran.says("r/store.json: was deleted while results were written");
    }
}
