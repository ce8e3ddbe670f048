//! Many machines: what points of a plan come to, whoever runs them and however often one is killed, is what the command that
//! planned them makes by itself.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary, edit its inputs and read what it wrote"
)]

mod command;

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use command::{Folder, Ran, wait_until};
use serde_json::Value;

const READS: &str = "[a]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\nnumber_ios=2000\n";
/// A life of a few seconds, and of a moment.
const WRITES: &str = "[w]\nrw=randwrite\nbs=64k\nnorandommap\nio_size=64t\n";

/// A study whose quick form takes a moment.
fn study() -> String {
    let new = include_str!("../../session/src/study/new.toml");
    let small = new.replace("quick = 5000", "quick = 300");
    assert_ne!(small, new);
    small
}

fn folder(test: &str) -> Folder {
    Folder::new(test)
        .with("a.fio", READS)
        .with("w.fio", WRITES)
        .with("mine.toml", &study())
}

impl Folder {
    /// The points of the plan called `plan`.
    fn points(&self, plan: &str) -> Vec<String> {
        let index: Value = serde_json::from_str(&self.read(&format!("{plan}/plan.json"))).unwrap();
        let rows = index["points"].as_array().unwrap().iter();
        rows.map(|row| format!("{plan}/{}", row["file"].as_str().unwrap()))
            .collect()
    }

    /// The same as [`Folder::same`] of a run that is alone, whose file of the result has run times.
    fn same_but_times(&self, one: &str, other: &str) {
        let of = |name: &str| {
            let mut all = self.all(name);
            let wall: Value =
                serde_json::from_str(&self.read(&format!("{name}/wall/run.json"))).unwrap();
            for file in ["result.json", "points/run.json"] {
                let bytes = all.remove(Path::new(file)).unwrap();
                let mut value: Value = serde_json::from_slice(&bytes).unwrap();
                let is_time = |key: &str| wall.get(key).is_some();
                value
                    .as_object_mut()
                    .unwrap()
                    .retain(|key, _| !is_time(key));
                let own = value["firstread"].as_object_mut().unwrap();
                own.retain(|key, _| !is_time(key));
                if let Some(kept) = own.get_mut("kept") {
                    kept["checksum"] = Value::Null;
                    kept["files"]["result.json"] = Value::Null;
                }
                all.insert(file.into(), value.to_string().into_bytes());
            }
            all
        };
        let (a, b) = (of(one), of(other));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        for (name, bytes) in &a {
            assert!(*bytes == b[name], "{} differs", name.display());
        }
    }

    /// Results in the folder called `name`.
    fn results(&self, name: &str) -> usize {
        let is_result = |path: &&Path| {
            path.starts_with("points") && path.extension().is_some_and(|end| end == "json")
        };
        match self.0.join(name).exists() {
            true => self
                .all(name)
                .keys()
                .map(|p| p.as_path())
                .filter(is_result)
                .count(),
            false => 0,
        }
    }
}

/// Of every command that makes a plan: its points, run one by one, are what it finds, prints and draws.
#[test]
fn smoke_each_command_finishes_what_points_have_made() {
    let folder = folder("commands");
    for (name, line, many) in [
        ("run", "run a.fio --drive bench-4g --interval 1ms", 1),
        ("split", "run a.fio --split 3", 1),
        ("json", "run a.fio --calibration-log --output json+", 1),
        (
            "drives",
            "run a.fio --drives 3 --burn-in=w.fio --drive bench-4g --burn-in-limit 0.1",
            3,
        ),
        ("matrix", "run a.fio --age 0,1h --job iodepth=1,8", 4),
        (
            "compare",
            "compare a.fio --drive bench-4g --scheme gc_victim=fifo,greedy --drives 2",
            4,
        ),
        ("fio", "compare --limit 500 --drive bench-4g", 4),
        (
            "life",
            "life w.fio --drive bench-4g --until bytes=400MB --probe 50",
            1,
        ),
        (
            "lives",
            "life w.fio --drive bench-4g --until bytes=400MB --probe 50 --drives 2",
            2,
        ),
        ("study", "study mine.toml --quick", 12),
    ] {
        let one = folder.run(&format!("{line} --out {name}-one")).ok();
        let planned = folder.run(&format!("{line} --plan {name}-plan")).ok();
        assert!(
            planned
                .out
                .contains(&format!("point {name}-plan --out DIR")),
            "{}",
            planned.out
        );
        let points = folder.points(&format!("{name}-plan"));
        assert_eq!(points.len(), many, "{line}");
        let out = format!("{name}-many");
        for point in &points {
            folder.run(&format!("point {point} --out {out}")).ok();
        }
        assert_eq!(folder.results(&out), many, "{line}");
        let again = folder.run(&format!("point {} --out {out}", points[0])).ok();
        again.says("1 of 1 points were there already");
        let finished = folder.run(&format!("{line} --out {out}")).ok();
        finished.says(" there already\n");
        if line.contains("--output") {
            folder.same_but_times(&format!("{name}-one"), &out);
            continue;
        }
        assert_eq!(finished.out, one.out, "{line}");
        match name {
            "run" | "split" => folder.same_but_times(&format!("{name}-one"), &out),
            _ => folder.same(&format!("{name}-one"), &out),
        }
    }
}

/// A plan with the folder of results beside it has what is missing there, and the command runs just that.
#[test]
fn sequence_what_is_missing_is_planned_and_run() {
    let folder = folder("missing");
    let line = "run a.fio --drive bench-4g --drives 3";
    folder.run(&format!("{line} --out one")).ok();
    folder.run(&format!("{line} --plan plan")).ok();
    let second = folder.points("plan").remove(1);
    folder.run(&format!("point {second} --out many")).ok();
    let rest = folder.run(&format!("{line} --plan rest --out many")).ok();
    rest.says("1 of 3 runs were there already");
    assert_eq!(folder.points("rest").len(), 2);
    assert_eq!(folder.results("many"), 1, "nothing is run by a plan");
    let finished = folder.run(&format!("{line} --out many")).ok();
    finished.says("1 of 3 runs were there already; run now: seed 1, seed 3");
    folder.same("one", "many");
    let none = folder.run(&format!("{line} --plan rest --out many")).ok();
    assert!(none.out.starts_with("0 runs are planned"), "{}", none.out);
    folder.run("point rest --out many").ok();
    let same = folder.run(&format!("{line} --plan many --out many"));
    assert!(same.fails(2).contains("--plan and --out name one folder"));
    let taken = folder.run(&format!("{line} --plan many"));
    assert!(taken.fails(2).contains("which is of no plan"));
}

/// A life that takes its time.
const SLOW: &str = "life w.fio --drive bench-4g --until bytes=3GB --probe 100 --drives 6";

/// Three processes fill a folder, one of them is killed while it works, and the others, or whoever comes, make what it left.
#[test]
fn sequence_a_worker_that_is_killed_leaves_nothing_half() {
    let folder = folder("killed");
    folder.run(&format!("{SLOW} --out one")).ok();
    folder.run(&format!("{SLOW} --plan plan")).ok();
    let worker = || folder.start("point plan --out many --threads 1");
    for round in 0..3 {
        let mut killed = worker();
        let mut others = [worker(), worker()];
        let results = folder.results("many");
        let id = format!("\"process\":{},", killed.id());
        wait_until(|| claims(&folder).contains(&id) && folder.results("many") >= results);
        sleep(Duration::from_millis(100 * round));
        killed.kill().unwrap();
        killed.wait().unwrap();
        if round < 2 {
            for other in &mut others {
                other.kill().unwrap();
                other.wait().unwrap();
            }
            // Claims of processes that have ended here are no claims.
            let left = folder.run("point plan/points/00006.json --out many");
            left.ok();
            continue;
        }
        // Each goes by what the other is making, and who is last makes what the killed one has left.
        let ends: Vec<i32> = others
            .map(|other| {
                let ran = Ran::from(other.wait_with_output().unwrap());
                ran.code
            })
            .to_vec();
        assert!(ends.iter().all(|code| [0, 5].contains(code)), "{ends:?}");
    }
    folder.run("point plan --out many --wait").ok();
    assert_eq!(folder.results("many"), 6);
    assert!(!folder.0.join("many/claims").exists());
    let finished = folder.run(&format!("{SLOW} --out many")).ok();
    finished.says("6 of 6 lives were there already");
    folder.same("one", "many");
}

/// The texts of all claims in `many`.
fn claims(folder: &Folder) -> String {
    let all = fs::read_dir(folder.0.join("many/claims"));
    let all = all.into_iter().flatten().flatten();
    all.map(|claim| fs::read_to_string(claim.path()).unwrap_or_default())
        .collect()
}

/// The command itself and points fill one folder together: what others are making is waited for.
#[test]
fn sequence_the_command_works_beside_points() {
    let folder = folder("beside");
    let whole = folder.run(&format!("{SLOW} --out one")).ok();
    folder.run(&format!("{SLOW} --plan plan")).ok();
    let others = folder.start("point plan --out many --threads 1");
    wait_until(|| !claims(&folder).is_empty());
    let held = folder.run("point plan/points/00001.json --out many");
    assert_eq!(held.code, 5, "{}", held.err);
    held.says("seed 1 is being made by process ");
    let own = folder.run(&format!("{SLOW} --out many --threads 1")).ok();
    assert_eq!(own.out, whole.out);
    assert!([0, 5].contains(&Ran::from(others.wait_with_output().unwrap()).code));
    folder.same("one", "many");
}

/// The claim of another machine is left alone until its lease has passed.
#[test]
fn sequence_a_claim_of_a_machine_that_is_gone_expires() {
    let folder = folder("gone");
    folder
        .run("run a.fio --drive bench-4g --drives 2 --plan plan")
        .ok();
    folder.run("point plan/points/00002.json --out many").ok();
    let point: Value = serde_json::from_str(&folder.read("plan/points/00001.json")).unwrap();
    let mut long = folder.start("life w.fio --drive bench-4g --until full --out other");
    fs::create_dir_all(folder.0.join("many/claims")).unwrap();
    // The name of the file is the checksum of the point's name: taken from a claim that a process makes.
    let claim = format!("many/claims/{}", claim_file(&folder, &point));
    let text =
        "{\"point\":\"seed-1\",\"host\":\"other\",\"machine\":\"x\",\"process\":7,\"lease_s\":3}";
    folder.write(&claim, text);
    let held = folder.run("point plan/points/00001.json --out many");
    assert_eq!(held.code, 5, "{}", held.err);
    held.says("process 7 on other");
    folder
        .run("point plan/points/00001.json --out many --wait")
        .ok();
    assert_eq!(folder.results("many"), 2);
    long.kill().unwrap();
    long.wait().unwrap();
}

/// The name of the file of the claim of a `point`.
fn claim_file(folder: &Folder, point: &Value) -> String {
    let name = point["name"].as_str().unwrap();
    let line = format!("run slow.fio --drive bench-4g --drives 2 --out claims-of-{name}");
    folder.write("slow.fio", &READS.replace("number_ios=2000", "io_size=64t"));
    let mut child = folder.start(&line);
    let at = folder.0.join(format!("claims-of-{name}/claims"));
    let of_name = || {
        let all = fs::read_dir(&at).into_iter().flatten().flatten();
        let mut all = all.map(|claim| claim.path());
        all.find(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.contains(&format!("\"point\":\"{name}\""))
        })
    };
    wait_until(|| of_name().is_some());
    let file = of_name().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    file.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn what_is_refused() {
    let folder = folder("refused").with("t.csv", "0,R,0,4096\n9,R,8192,4096\n");
    let line = "run t.csv --trace-columns time:us,op,offset:B,size:B --drive bench-4g";
    folder.run(&format!("{line} --plan trace")).ok();
    folder.write("t.csv", "0,R,0,4096\n9,W,8192,4096\n");
    let says = folder.run("point trace --out many").fails(2);
    assert!(says.contains("t.csv is not as it was"), "{says}");
    folder
        .run("run a.fio --drive bench-4g --drives 2 --plan plan")
        .ok();
    let file = "plan/points/00001.json";
    let whole = folder.read(file);
    let program = "\"program\": \"";
    folder.write(file, &whole.replace(program, "\"program\": \"other "));
    let says = folder.run(&format!("point {file} --out many")).fails(2);
    assert!(
        says.contains("was planned by another program (`other "),
        "{says}"
    );
    folder.write(file, &whole.replace("\"version\": \"", "\"version\": \"9."));
    let says = folder.run(&format!("point {file} --out many")).fails(2);
    assert!(says.contains("planned by version 9."), "{says}");
    folder.write(file, &whole.replace("\"seed\": 1", "\"seed\": 2"));
    let says = folder.run(&format!("point {file} --out many")).fails(2);
    assert!(says.contains("its key is not that"), "{says}");
    folder.write(file, &whole);
    for (line, message) in [
        ("point a.fio --out many", "a.fio: is no point of a plan"),
        ("point many --out many", "many: "),
        ("point none.json --out many", "none.json: "),
        ("point plan trace --out many", "t.csv"),
    ] {
        let ran = folder.run(line);
        assert!([1, 2].contains(&ran.code), "{line}: {}", ran.code);
        ran.says(message);
    }
    assert_eq!(folder.results("many"), 0);
    folder.run("point plan --out many").ok();
    folder.run("run a.fio --drive bench-4g --plan one").ok();
    let says = folder.run("point one --out many").fails(1);
    assert!(says.contains("holds results of drives"), "{says}");
    let says = folder.run("point one plan --out mixed").fails(2);
    assert!(says.contains("results of each have a folder"), "{says}");
    let says = folder.run("run - --plan stdin --trace-format spc").code;
    assert_ne!(says, 0);
    let log = folder.run("run a.fio --log l.csv --plan log").fails(2);
    assert!(
        log.contains("a log of requests or a timeline is of a run"),
        "{log}"
    );
    let tension = folder.run("study raro --tension --plan p --out o").fails(2);
    assert!(tension.contains("cannot be used with"), "{tension}");
}

/// A drive that comes to its end has a result, which is found, and an exit status of its own.
#[test]
fn sequence_the_end_of_a_drive_has_an_exit_status() {
    let folder = folder("end");
    let line = [
        "run",
        "w.fio",
        "--drive",
        "bench-4g",
        "--pe-cycles",
        "0",
        "--set",
        "chip.failures.grown_bad=99%",
        "--set",
        "chip.modes.slc.endurance=8 P/E",
    ];
    folder.run(&[&line[..], &["--plan", "plan"]].concat()).ok();
    let one = folder.run(&[&line[..], &["--out", "one"]].concat());
    assert_eq!(one.code, 1, "{}", one.err);
    for found in [false, true] {
        let ran = folder.run("point plan --out many");
        assert_eq!(ran.code, 4, "{}", ran.err);
        ran.says("end of life: ");
        assert_eq!(ran.err.contains("were there already"), found);
    }
    let finished = folder.run(&[&line[..], &["--out", "many"]].concat());
    assert_eq!((finished.code, finished.out), (1, one.out));
    folder.same_but_times("one", "many");
}

/// What two machines have made of one plan is joined; results of one point that differ are not.
#[test]
fn sequence_folders_are_merged() {
    let folder = folder("merged");
    let line = "run a.fio --drive bench-4g --drives 3";
    folder.run(&format!("{line} --out one")).ok();
    folder.run(&format!("{line} --plan plan")).ok();
    let points = folder.points("plan");
    for (name, of) in [("left", [0, 1]), ("right", [1, 2])] {
        for i in of {
            folder
                .run(&format!("point {} --out {name}", points[i]))
                .ok();
        }
    }
    let merged = folder.run("merge left right --out many").ok();
    assert!(
        merged.out.starts_with("3 results in many, 3 of them new"),
        "{}",
        merged.out
    );
    let again = folder.run("merge right --out many").ok();
    assert!(
        again.out.starts_with("3 results in many, 0 of them new"),
        "{}",
        again.out
    );
    let finished = folder.run(&format!("{line} --out many")).ok();
    finished.says("3 of 3 runs were there already");
    folder.same("one", "many");
    let says = folder.run("merge left a.fio --out m").fails(1);
    assert!(says.contains("a.fio: has no results"), "{says}");
    folder.run("run a.fio --drive bench-4g --out other").ok();
    let says = folder.run("merge left other --out m").fails(1);
    assert!(says.contains("results of different commands"), "{says}");
    let result = "right/points/seed-3.json";
    let whole = folder.read(result);
    folder.write(result, &whole.replacen("\"seed\": 3", "\"seed\": 4", 1));
    let says = folder.run("merge left right --out m").fails(1);
    assert!(says.contains("seed-3.json: is damaged"), "{says}");
    assert!(!folder.0.join("m").exists());
    folder.write(result, &whole);
    // The same point under other limits has another result.
    folder
        .run("run a.fio --drive bench-4g --drives 3 --limit 100 --out short")
        .ok();
    let says = folder.run("merge left short --out m").fails(1);
    assert!(says.contains("are of one point and differ"), "{says}");
    assert!(!folder.0.join("m").exists());
}

/// A full disk is an error, and what is there then is whole; with room, the point is made.
#[test]
#[cfg(target_os = "linux")]
fn sequence_a_full_disk_leaves_nothing_half() {
    let folder = folder("full");
    let disk = folder.0.join("disk");
    fs::create_dir_all(&disk).unwrap();
    let mount = |words: &[&str]| {
        let done = Command::new("mount").args(words).arg(&disk).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "none"]) {
        println!("SKIPPED: a full disk: only root mounts a small one");
        return;
    }
    let unmounted = Unmounted(&disk);
    folder
        .run("run a.fio --drive bench-4g --drives 2 --plan plan")
        .ok();
    let ran = folder.run("point plan --out disk/many");
    let results = folder.results("disk/many");
    let left: usize = folder
        .all("disk")
        .keys()
        .filter(|p| p.to_string_lossy().contains("partial"))
        .count();
    let full = folder.run("run a.fio --drive bench-4g --drives 2 --plan disk/plan");
    mount(&["-o", "remount,size=16m", "none"]);
    let then = folder.run("point plan --out disk/many");
    let there = folder.results("disk/many");
    drop(unmounted);
    assert_eq!(ran.code, 1, "{}", ran.err);
    ran.says("No space left on device");
    assert_eq!((results, left), (0, 0));
    assert_eq!(full.code, 1, "{}", full.err);
    then.ok();
    assert_eq!(there, 2);
}

struct Unmounted<'a>(&'a Path);

impl Drop for Unmounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// A signal ends a point without a result, and tells.
#[test]
#[cfg(target_os = "linux")]
fn sequence_a_point_that_is_interrupted_is_not_written() {
    let folder = folder("interrupted");
    folder.write("long.fio", &READS.replace("number_ios=2000", "io_size=64t"));
    folder.run("run long.fio --drive bench-4g --plan plan").ok();
    let child: Child = folder.start("point plan --out many");
    wait_until(|| !claims(&folder).is_empty());
    sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 143, "{}", ran.err);
    ran.says("interrupted: what was not whole is not written");
    assert_eq!(folder.results("many"), 0);
    assert!(!folder.0.join("many/claims").exists());
}
