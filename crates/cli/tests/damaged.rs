//! Damaged folders of results and damaged profiles: no panic, no run without end, an error that says where, and no number
//! but that of a run.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary, damage its inputs and read what it wrote"
)]

#[path = "../../workload/tests/damage/mod.rs"]
mod damage;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use damage::{Damage, say};
use firstread_core::Stream;

/// A run that takes longer has no end.
const LONGEST: Duration = Duration::from_secs(120);
/// Memory that a run may ask for (KiB): several times what any of these takes undamaged.
const MOST_KIB: u64 = 6 << 20;

/// A folder of its own for each test, empty at its start.
struct Folder(PathBuf);

/// What a command printed.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Folder {
    fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("damaged")
            .join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs the command with bounded memory, for a bounded time.
    fn run(&self, line: &str) -> Ran {
        let program = env!("CARGO_BIN_EXE_firstread");
        let mut command = match cfg!(target_os = "linux") {
            true => {
                let mut shell = Command::new("sh");
                let bounded = format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\"");
                shell.args(["-c", &bounded, program]);
                shell
            }
            false => Command::new(program),
        };
        let to = |name: &str| self.0.join(name);
        let (out, err) = (to(".out"), to(".err"));
        command.current_dir(&self.0).args(line.split_whitespace());
        command
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > LONGEST {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            sleep(Duration::from_millis(2));
        };
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Ran {
            code: status.code(),
            out: text(&out),
            err: text(&err),
        }
    }

    /// The folder called `name` holds just `files`.
    fn put(&self, name: &str, files: &Files) {
        let _ = fs::remove_dir_all(self.0.join(name));
        for (path, bytes) in files {
            self.write(&format!("{name}/{}", path.display()), bytes);
        }
    }

    /// All files below the folder called `name`; one that is a folder has no bytes.
    fn all(&self, name: &str) -> Files {
        let top = self.0.join(name);
        let (mut files, mut folders) = (Files::new(), vec![top.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let below = path.strip_prefix(&top).unwrap().to_owned();
                        files.insert(below, fs::read(&path).unwrap());
                    }
                }
            }
        }
        files
    }
}

impl Ran {
    /// It ended by itself, and not by a panic.
    fn check(&self, replay: &str) {
        let code = self
            .code
            .unwrap_or_else(|| panic!("{replay}: ended by a signal: {}", self.err));
        assert!(
            (0..=2).contains(&code),
            "{replay}: exit code {code}: {}",
            self.err
        );
        for word in ["panicked", "RUST_BACKTRACE", "overflow"] {
            assert!(!self.err.contains(word), "{replay}: {}", self.err);
        }
        match code {
            0 => assert!(!self.err.contains("error: "), "{replay}: {}", self.err),
            _ => {
                assert!(self.err.contains("error: "), "{replay}: {}", self.err);
                assert_eq!(self.out, "", "{replay}");
            }
        }
    }
}

const TRACE: &str = "0,R,0,4096\n100,W,8192,8192\n200,R,4096,4096\n300,R,8192,4096\n";

/// Commands that keep their results, each in the folder of its name.
const COMMANDS: [(&str, &str); 4] = [
    (
        "matrix",
        "run t.csv --trace-columns time:us,op,offset:B,size:B --drive bench-4g --age 0,1h --out",
    ),
    (
        "drives",
        "run mixed-70-30 --drive bench-4g --limit 60 --drives 2 --out",
    ),
    ("run", "run mixed-70-30 --drive bench-4g --limit 60 --out"),
    (
        "life",
        "life w.fio --drive bench-4g --until bytes=20MB --probe 20 --out",
    ),
];

/// What a command prints and keeps when nothing is damaged.
struct Whole {
    name: &'static str,
    line: String,
    out: String,
    files: Files,
}

fn inputs(folder: &Folder) {
    folder.write("t.csv", TRACE.as_bytes());
    folder.write("w.fio", b"[w]\nrw=randwrite\nbs=4k\nnorandommap\n");
}

fn wholes(folder: &Folder) -> Vec<Whole> {
    inputs(folder);
    let whole = |(name, line): (&'static str, &str)| {
        let line = format!("{line} {name}");
        let ran = folder.run(&line);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        Whole {
            name,
            out: ran.out,
            files: folder.all(name),
            line,
        }
    };
    COMMANDS.into_iter().map(whole).collect()
}

/// Whether the machine decides what is in the file at `path` of a folder: run times, when a single run ended, and the
/// checksum of that.
fn is_of_machine(path: &Path) -> bool {
    path.starts_with("wall")
        || ["result.json", "points/run.json"]
            .map(Path::new)
            .contains(&path)
}

/// Damages the file at `path`, and says how. None where that leaves it as it was.
fn damage_file(path: &Path, bytes: &[u8], draws: Stream) -> Option<String> {
    let put = |bytes: &[u8]| fs::write(path, bytes).unwrap();
    Some(match draws.at(0).below(10) {
        0 => {
            put(b"");
            "empty".into()
        }
        1 => {
            let to = draws.at(1).below(bytes.len().max(1) as u64) as usize;
            put(&bytes[..to]);
            format!("cut to {to} bytes")
        }
        2 => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            "a folder".into()
        }
        3 => {
            fs::remove_file(path).unwrap();
            "gone".into()
        }
        4 => {
            put(b"\xff\xfe\x00\xd8");
            "no UTF-8".into()
        }
        5 => {
            // Without taking a block of the disk.
            put(b"");
            let file = File::options().write(true).open(path).unwrap();
            file.set_len(1_100 << 20).unwrap();
            "larger than the limit".into()
        }
        6 => {
            put(b"{}");
            "an empty object".into()
        }
        _ => {
            let damaged = Damage::new(draws).of(bytes);
            put(&damaged);
            if damaged == bytes {
                return None;
            }
            "bytes".into()
        }
    })
}

/// Damages one file of a folder of results and runs the command again. What is printed is what was printed before, or an
/// error that names the file; then no file has changed.
fn damaged_store(folder: &Folder, whole: &Whole, seed: u64) {
    let draws = Stream::new(seed).named("damaged stores");
    let (name, replay) = (whole.name, say(seed));
    folder.put(name, &whole.files);
    let which = draws.at(9).below(whole.files.len() as u64) as usize;
    let (victim, bytes) = whole.files.iter().nth(which).unwrap();
    let Some(how) = damage_file(&folder.0.join(name).join(victim), bytes, draws) else {
        return;
    };
    let replay = format!("{replay}: {name}/{}, {how}", victim.display());
    // What is left after an error is compared with this.
    let is_large = how.starts_with("larger");
    let before = (!is_large).then(|| folder.all(name));
    let ran = folder.run(&whole.line);
    ran.check(&replay);
    if ran.code != Some(0) {
        let file = victim.file_name().unwrap().to_str().unwrap();
        let names_it =
            ran.err.contains(file) || ran.err.contains(&format!("error: {name}: holds results"));
        assert!(names_it, "{replay}: {}", ran.err);
        if let Some(before) = before {
            let after = folder.all(name);
            for (path, bytes) in &before {
                assert!(
                    after.get(path) == Some(bytes),
                    "{replay}: {} has changed",
                    path.display()
                );
            }
            let new: Vec<_> = after
                .keys()
                .filter(|path| !before.contains_key(*path))
                .collect();
            assert!(new.is_empty(), "{replay}: {new:?}");
        }
        return;
    }
    assert_eq!(ran.out, whole.out, "{replay}");
    // All is there as without the damage, and is found now.
    let after = folder.all(name);
    for (path, bytes) in whole.files.iter().filter(|(path, _)| !is_of_machine(path)) {
        assert!(
            after.get(path) == Some(bytes),
            "{replay}: {} is another",
            path.display()
        );
    }
    if seed.is_multiple_of(4) {
        let again = folder.run(&whole.line);
        again.check(&replay);
        assert_eq!((again.code, &again.out), (Some(0), &whole.out), "{replay}");
        assert!(
            again.err.contains("there already"),
            "{replay}: {}",
            again.err
        );
        assert!(!again.err.contains("run anew"), "{replay}: {}", again.err);
    }
}

/// Profiles of shipped drives: whole ones, and such that are based on others.
const PROFILES: [&str; 7] = [
    include_str!("../../../profiles/drives/bench-512g.toml"),
    include_str!("../../../profiles/drives/bench-4g.toml"),
    include_str!("../../../profiles/drives/dc-qlc-15t.toml"),
    include_str!("../../../profiles/drives/dwr-256g.toml"),
    include_str!("../../../profiles/drives/fg-qlc.toml"),
    include_str!("../../../profiles/drives/raro-femu.toml"),
    include_str!("../../../profiles/drives/tlc-48l.toml"),
];

/// What stands in place of a token.
const TOKENS: [&str; 18] = [
    "0",
    "-1",
    "1",
    "true",
    "\"\"",
    "\"0 B\"",
    "\"1 EiB\"",
    "\"99999999999 TB\"",
    "\"-5 ms\"",
    "\"1e300 ms\"",
    "\"nan us\"",
    "[]",
    "{}",
    "9223372036854775807",
    "1.5e308",
    "\"100 %\"",
    "\"1 ns\"",
    "65536",
];

/// `text` with one to three of its tokens (words, strings, brackets) replaced, doubled or taken out.
fn damage_tokens(text: &str, draws: Stream) -> String {
    let mut tokens: Vec<String> = Vec::new();
    let mut quoted = false;
    for c in text.chars() {
        let joins = |last: &String| {
            quoted
                || (c.is_alphanumeric() || "_-.".contains(c))
                    && last.ends_with(char::is_alphanumeric)
        };
        match tokens.last_mut() {
            Some(last) if joins(last) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        quoted ^= c == '"';
    }
    for i in 0..1 + draws.at(50).below(3) {
        let draw = |n, below: usize| draws.at(60 + 10 * i + n).below(below as u64) as usize;
        let solid: Vec<usize> = (0..tokens.len())
            .filter(|&i| !tokens[i].trim().is_empty())
            .collect();
        let at = solid[draw(0, solid.len())];
        let other = solid[draw(1, solid.len())];
        match draw(2, 5) {
            0 => tokens[at].clear(),
            1 => tokens[at] = tokens[other].clone(),
            2 => tokens.swap(at, other),
            _ => tokens[at] = TOKENS[draw(3, TOKENS.len())].into(),
        }
    }
    tokens.concat()
}

/// Runs on a damaged profile, in a folder with the result of the undamaged one. Numbers that are other ones come of a run.
fn damaged_profile(folder: &Folder, seed: u64) -> bool {
    let draws = Stream::new(seed).named("damaged profiles");
    let (replay, text) = (say(seed), PROFILES[seed as usize % PROFILES.len()]);
    let line = "run randrw.fio --drive p.toml --limit 40 --out p";
    folder.write("randrw.fio", b"[a]\nrw=randrw\nbs=4k\n");
    let _ = fs::remove_dir_all(folder.0.join("p"));
    folder.write("p.toml", text.as_bytes());
    let whole = folder.run(line);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let before = folder.all("p");
    let damaged = match draws.at(0).below(2) {
        0 => Damage::new(draws).of(text.as_bytes()),
        _ => damage_tokens(text, draws).into_bytes(),
    };
    folder.write("p.toml", &damaged);
    let replay = format!("{replay}: {}", folder.0.join("p.toml").display());
    let ran = folder.run(line);
    ran.check(&replay);
    if ran.code == Some(0) {
        let anew = ran.err.contains("run anew");
        assert!(anew || ran.out == whole.out, "{replay}: {}", ran.err);
        return true;
    }
    let told: Vec<&str> = ran
        .err
        .lines()
        .filter_map(|line| line.strip_prefix("error: "))
        .collect();
    let lines = 1 + damaged.iter().filter(|&&b| b == b'\n').count();
    for error in &told {
        let place = error.strip_prefix("p.toml:");
        let place = place.unwrap_or_else(|| panic!("{replay}: which file? {error}"));
        if let Some(line) = place
            .split(':')
            .next()
            .and_then(|line| line.parse::<usize>().ok())
        {
            assert!(
                (1..=lines).contains(&line),
                "{replay}: {error}: {lines} lines"
            );
        }
    }
    assert!(folder.all("p") == before, "{replay}: files have changed");
    false
}

/// Tries as many folders as profiles, `inputs` of both together.
fn tried(test: &str, first_seed: u64, inputs: u64) {
    let folder = Folder::new(test);
    let wholes = wholes(&folder);
    let mut good = 0;
    for seed in first_seed..first_seed + inputs {
        match seed % 2 {
            0 => damaged_store(&folder, &wholes[(seed / 2) as usize % wholes.len()], seed),
            _ => good += u64::from(damaged_profile(&folder, seed)),
        }
    }
    // Both are met: profiles that are refused, and profiles that the damage left good.
    let profiles = inputs / 2;
    assert!(
        inputs == 1 || (1..profiles).contains(&good),
        "{good} of {profiles} profiles are good"
    );
}

#[test]
fn fuzz_damaged_results_and_profiles_say_where() {
    let (first, inputs) = damage::range(1, 60);
    tried("some", first, inputs);
}

#[test]
#[ignore = "minutes: cargo test --profile swarm -p firstread-cli --test damaged -- --ignored"]
fn fuzz_many_damaged_results_and_profiles_say_where() {
    let (first, inputs) = damage::range(1_000, 2_000);
    tried("many", first, inputs);
}
