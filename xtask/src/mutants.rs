//! `cargo xtask mutants`: deliberate faults, one at a time, and whether a test fails.
//!
//! cargo-mutants makes the faults (an operator changed, a body replaced by a constant) in a copy of the
//! committed state, in `target/mutants`. Each mutant is judged by the unit tests of its own folder first, if these
//! pass by all of its crate, and if these pass by those of the whole drive. All mutants take many processor hours, so a run
//! takes a random sample, or as many as a number of hours allows; what was judged of the same commit is
//! not judged again. The score is written into `docs/mutants.md`; `docs/mutants-no-fault.txt` says of
//! which mutants have been found, by review, to change nothing that counts.

mod report;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use firstread_core::{Permutation, Stream};
use serde_json::Value;

use self::report::{Score, by_file, document};
use self::verdict::{Judges, Mutant, Verdict};
use crate::check::{command, run as run_command};

/// Folders that are mutated.
const FOLDERS: [&str; 4] = [
    "crates/firmware/src/ftl",
    "crates/firmware/src/voltage",
    "crates/drive/src/hardware",
    "crates/drive/src/stats",
];
/// Who judges what a crate's own tests let pass: the digests of every completion; without the last word, all tests
/// of the whole drive.
const WHOLE_DRIVE: [&str; 5] = [
    "-p",
    "firstread-testkit",
    "--test",
    "whole_drive",
    "completions",
];

const DOCUMENT: &str = "docs/mutants.md";
/// After this the document is written by hand.
const BY_HAND: &str = "<!-- by hand from here on -->\n";
const NO_FAULT: &str = "docs/mutants-no-fault.txt";

/// Options of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Mutants to judge, drawn at random; all if not given
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    /// Seed of the draw: the same seed and commit give the same mutants in the same order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start no further mutant after this many hours
    #[arg(long)]
    hours: Option<f64>,
    /// Whose tests judge: those of the mutant's crate, these and the digests of completions, or these and all
    /// of the whole drive, which take minutes for each mutant that the others let pass
    #[arg(long, value_enum, default_value = "drive")]
    by: Judges,
    /// Only mutants whose name contains this; nothing is written
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print the names of the drawn mutants in order, without judging them
    #[arg(long)]
    list: bool,
}

/// Judges mutants and writes the score.
pub fn run(options: &Options) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let version = answer(Command::new("cargo").args(["mutants", "--version"])).map_err(|e| {
        format!("cargo-mutants is missing: cargo install cargo-mutants --locked\n{e}")
    })?;
    let work = Work::prepare(&root)?;
    let all = work.list()?;
    let drawn = draw(all.clone(), options);
    if drawn.is_empty() {
        return Err(format!("{}: no mutant is there", FOLDERS.join(", ")));
    }
    if options.list {
        drawn.iter().for_each(|m| println!("{}", m.name));
        return Ok(());
    }
    println!(
        "{version}; {} mutants in {} files, {} of them drawn with seed {}",
        all.len(),
        by_file(all.iter().map(|m| (m, ()))).len(),
        drawn.len(),
        options.seed
    );
    let mut known = work.known()?;
    let mut baselines: BTreeMap<String, Duration> = BTreeMap::new();
    let mut judged = Vec::new();
    let start = Instant::now();
    for (i, mutant) in drawn.iter().enumerate() {
        let verdict = match known.get(&mutant.name) {
            Some(&verdict) if verdict.passed().is_none_or(|by| by >= options.by) => verdict,
            _ if options
                .hours
                .is_some_and(|h| start.elapsed().as_secs_f64() > h * 3600.0) =>
            {
                println!("the hours are used up");
                break;
            }
            _ => {
                let passed = known.get(&mutant.name).and_then(|known| known.passed());
                let verdict = work.judge(mutant, passed, options.by, &mut baselines)?;
                work.remember(mutant, verdict)?;
                known.insert(mutant.name.clone(), verdict);
                verdict
            }
        };
        println!("{:>5} {:>26}  {}", i + 1, verdict.text(), mutant.name);
        judged.push((mutant.clone(), verdict));
    }
    let no_fault = no_faults(&root)?;
    let score = Score::of(&judged, &no_fault);
    println!("{}", score.sentence());
    if options.only.is_none() {
        let all_judged = judged.len() == all.len();
        let text = document(
            &work.commit,
            &version,
            options.seed,
            all.len(),
            all_judged,
            &judged,
            &no_fault,
        );
        // What a person wrote of the survivors stays.
        let old = fs::read_to_string(root.join(DOCUMENT)).unwrap_or_default();
        let by_hand = old.split_once(BY_HAND).map_or("", |(_, rest)| rest);
        let text = format!("{text}\n{BY_HAND}{by_hand}");
        fs::write(root.join(DOCUMENT), text).map_err(|e| format!("{DOCUMENT}: {e}"))?;
        println!("wrote {DOCUMENT}");
    }
    Ok(())
}

/// The mutants to be judged, in random order.
fn draw(mut all: Vec<Mutant>, options: &Options) -> Vec<Mutant> {
    if let Some(only) = &options.only {
        all.retain(|m| m.name.contains(only.as_str()));
    }
    let n = all.len() as u64;
    if n == 0 {
        return all;
    }
    let order = Permutation::new(n, Stream::new(options.seed).named("mutants"));
    let drawn = (0..options.sample.unwrap_or(n).min(n)).map(|i| all[order.at(i) as usize].clone());
    drawn.collect()
}

/// The copy in which mutants are made.
struct Work {
    commit: String,
    tree: PathBuf,
    /// Record that cargo-mutants writes for a mutant.
    out: PathBuf,
    build: PathBuf,
    results: PathBuf,
}

impl Work {
    /// Copies the commit that is checked out.
    fn prepare(root: &Path) -> Result<Work, String> {
        let commit =
            answer(command("git", &["rev-parse", "--short=12", "HEAD"]).env("LC_ALL", "C"))?;
        let changed = answer(&mut command("git", &["status", "--porcelain", "crates"]))?;
        if !changed.is_empty() {
            return Err(format!(
                "mutants are made of what is committed; these are not:\n{changed}"
            ));
        }
        let folder = root.join("target/mutants");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let folder = fs::canonicalize(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let tree = folder.join("tree");
        if !tree.exists() {
            let git = fs::canonicalize(root).map_err(|e| e.to_string())?;
            run_command(
                Command::new("git")
                    .args(["clone", "--quiet", "--shared"])
                    .args([&git, &tree]),
            )?;
        }
        let git = |args: &[&str]| run_command(Command::new("git").current_dir(&tree).args(args));
        // A run that was interrupted may have left a mutant.
        git(&["fetch", "--quiet", "origin", "HEAD"])?;
        git(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])?;
        Ok(Work {
            results: folder.join(format!("judged-{commit}.txt")),
            out: folder.join("last"),
            build: folder.join("build"),
            commit,
            tree,
        })
    }

    fn mutants(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build);
        command
            .args(["mutants", "--workspace", "--colors", "never", "--no-times"])
            .args(args);
        command
    }

    /// All mutants, in the order of their files and lines.
    fn list(&self) -> Result<Vec<Mutant>, String> {
        let mut args = vec!["--list".to_owned(), "--json".to_owned()];
        for folder in FOLDERS {
            args.extend(["--file".to_owned(), format!("{folder}/**/*.rs")]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let text = answer(&mut self.mutants(&args))?;
        let list: Value =
            serde_json::from_str(&text).map_err(|e| format!("cargo mutants --list: {e}"))?;
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let rows = list.as_array().into_iter().flatten();
        let mutants = rows.map(|row| Mutant {
            name: text(&row["name"]),
            file: text(&row["file"]),
            package: text(&row["package"]),
        });
        Ok(mutants.collect())
    }

    /// Judges `mutant`, whom some may have let pass before, by whom is asked; `baselines` holds how long the tests
    /// take where nothing is changed.
    fn judge(
        &self,
        mutant: &Mutant,
        passed: Option<Judges>,
        by: Judges,
        baselines: &mut BTreeMap<String, Duration>,
    ) -> Result<Verdict, String> {
        let module = mutant.file.split("/src/").nth(1).unwrap_or_default();
        let module = module.split('/').next().unwrap_or_default().to_owned() + "::";
        let near = ["-p", &mutant.package, "--lib", &module];
        let rows: [(Judges, &[&str]); 4] = [
            (Judges::Crate, &near),
            (Judges::Crate, &near[..2]),
            (Judges::Digests, &WHOLE_DRIVE),
            (Judges::Drive, &WHOLE_DRIVE[..4]),
        ];
        for (judge, tests) in rows {
            if judge > by || passed.is_some_and(|passed| judge <= passed) {
                continue;
            }
            match self.tested(mutant, tests, baselines)? {
                Verdict::Missed => {}
                Verdict::Caught if judge > Judges::Crate => return Ok(Verdict::CaughtByDrive),
                verdict => return Ok(verdict),
            }
        }
        Ok(match by {
            Judges::Crate => Verdict::MissedByCrate,
            Judges::Digests => Verdict::MissedByDigests,
            Judges::Drive => Verdict::Missed,
        })
    }

    /// Runs the tests that `package` names, `["-p", name, ...]`, on `mutant`.
    fn tested(
        &self,
        mutant: &Mutant,
        package: &[&str],
        baselines: &mut BTreeMap<String, Duration>,
    ) -> Result<Verdict, String> {
        let key = package.join(" ");
        let baseline = match baselines.get(&key) {
            Some(&time) => time,
            None => {
                let time = self.baseline(package)?;
                *baselines.entry(key).or_insert(time)
            }
        };
        // Tests that take five times as long and a minute have no end; machines are not always quiet.
        let timeout = (baseline.as_secs() * 5 + 60).to_string();
        let exactly = format!("^{}$", escaped(&mutant.name));
        let (out, file) = (self.out.to_string_lossy(), &mutant.file);
        let mut args = vec![
            "--in-place",
            "--baseline",
            "skip",
            "--profile",
            "mutants",
            "--timeout",
            &timeout,
            "--output",
            &out,
            "--file",
            file,
            "--re",
            &exactly,
            "--test-package",
            package[1],
        ];
        if package.len() > 2 {
            args.push("--");
            args.extend(&package[2..]);
        }
        let output = output(&mut self.mutants(&args))?;
        let outcomes = self.out.join("mutants.out/outcomes.json");
        let text = fs::read_to_string(&outcomes)
            .map_err(|e| format!("{}: {e}\n{output:?}", outcomes.display()))?;
        let outcomes: Value =
            serde_json::from_str(&text).map_err(|e| format!("outcomes.json: {e}"))?;
        // Others may be there: mutants of fields are made whatever the expression (cargo-mutants 27.1).
        let rows = outcomes["outcomes"].as_array().into_iter().flatten();
        let own = rows
            .filter(|row| row["scenario"]["Mutant"]["name"] == mutant.name.as_str())
            .find_map(|row| row["summary"].as_str());
        match own {
            Some("CaughtMutant") => Ok(Verdict::Caught),
            Some("MissedMutant") => Ok(Verdict::Missed),
            Some("Timeout") => Ok(Verdict::Timeout),
            Some("Unviable") => Ok(Verdict::Unviable),
            other => Err(format!("{}: {other:?}\n{output:?}", mutant.name)),
        }
    }

    /// How long the tests of `package` take, which must pass.
    fn baseline(&self, package: &[&str]) -> Result<Duration, String> {
        println!("tests without a mutant: {}", package.join(" "));
        let test = |more: &[&str]| {
            let mut command = Command::new("cargo");
            command
                .current_dir(&self.tree)
                .env("CARGO_TARGET_DIR", &self.build);
            run_command(
                command
                    .args(["test", "--quiet", "--profile", "mutants"])
                    .args(package)
                    .args(more),
            )
        };
        test(&["--no-run"])?;
        let start = Instant::now();
        test(&[])?;
        println!("they take {} s", start.elapsed().as_secs());
        Ok(start.elapsed())
    }

    fn known(&self) -> Result<BTreeMap<String, Verdict>, String> {
        let text = match fs::read_to_string(&self.results) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(|e| format!("{}: {e}", self.results.display()))?,
        };
        let rows = text.lines().filter_map(|line| {
            let (verdict, name) = line.split_once('\t')?;
            Some((name.to_owned(), Verdict::parse(verdict)?))
        });
        Ok(rows.collect())
    }

    fn remember(&self, mutant: &Mutant, verdict: Verdict) -> Result<(), String> {
        use std::io::Write as _;
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.results);
        let line = format!("{}\t{}\n", verdict.text(), mutant.name);
        let written = file.and_then(|mut f| f.write_all(line.as_bytes()));
        written.map_err(|e| format!("{}: {e}", self.results.display()))
    }
}

/// Mutants found, by review, to change nothing that counts: place and reason.
fn no_faults(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = fs::read_to_string(root.join(NO_FAULT)).map_err(|e| format!("{NO_FAULT}: {e}"))?;
    let mut found = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (place, why) = line
            .split_once(" | ")
            .ok_or_else(|| format!("{NO_FAULT}:{}: expected `mutant | reason`", number + 1))?;
        found.insert(place.to_owned(), why.to_owned());
    }
    Ok(found)
}

/// `text` as a regular expression that matches itself.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|e| format!("{command:?}: {e}"))
}

/// Output of `command`.
fn answer(command: &mut Command) -> Result<String, String> {
    let out = output(command)?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::verdict::mutant;
    use super::*;

    #[test]
    fn sequence_a_draw_follows_from_its_seed_and_names_a_mutant_once() {
        let all: Vec<_> = (0..100).map(|i| mutant(&format!("f:{i}:1: x"))).collect();
        let options = |seed, sample| Options {
            sample,
            seed,
            hours: None,
            by: Judges::Drive,
            only: None,
            list: false,
        };
        let names = |seed, sample| -> Vec<String> {
            let drawn = draw(all.clone(), &options(seed, sample));
            drawn.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(names(1, Some(10))[..], names(1, Some(20))[..10]);
        assert_ne!(names(1, Some(10)), names(2, Some(10)));
        let mut whole = names(3, None);
        whole.sort();
        whole.dedup();
        assert_eq!(whole.len(), 100);
    }
}
