//! `cargo xtask mutants`: small faults made by cargo-mutants in one crate, and the share of them that tests notice.
//!
//! The commit is checked out into `target/mutants/tree`, mutated in place there and compiled with the profile `mutants`,
//! so that a mutant costs what it changes. Each is judged by the unit tests of its crate first. A mutant with which they
//! pass is judged by the crate's other tests, and one of a drive's crates then by tests of `firstread-testkit`.
//! The score goes into `docs/mutants.md`; `.cargo/mutants.toml` says what is not mutated, and why.

mod score;

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::score::{Score, enter};
use crate::commands::{command, output, run};

const DOCUMENT: &str = "docs/mutants.md";

/// Mutants that are judged before the clock is looked at.
const BATCH: usize = 4;

/// A test that takes this many times as long as without a fault has not ended, and at least so long.
const TIMEOUT_FACTOR: u32 = 5;
const TIMEOUT_FLOOR: Duration = Duration::from_secs(60);

/// Files of a folder that declare the others.
const ROOTS: [&str; 3] = ["lib.rs", "main.rs", "mod.rs"];

/// A crate whose mutants are judged.
struct Subject {
    name: &'static str,
    /// How cargo finds its unit tests.
    unit_tests: &'static str,
    /// Whether tests of `firstread-testkit` should notice a fault too.
    asks_testkit: bool,
    /// The share of viable mutants that is to be noticed, in percent.
    aim_pct: u32,
}

const TESTKIT: &str = "firstread-testkit";

/// What the names of the asked tests of `firstread-testkit` contain: all of its tests take too long for a mutant.
const TESTKIT_FILTERS: [&str; 2] = ["golden_", "sequence_"];

const fn subject(
    name: &'static str,
    unit_tests: &'static str,
    asks_testkit: bool,
    aim_pct: u32,
) -> Subject {
    Subject {
        name,
        unit_tests,
        asks_testkit,
        aim_pct,
    }
}

const SUBJECTS: &[Subject] = &[
    subject("firstread-core", "--lib", false, 80),
    subject("firstread-nand", "--lib", false, 90),
    subject("firstread-ecc", "--lib", false, 80),
    subject("firstread-firmware", "--lib", true, 90),
    subject("firstread-workload", "--lib", false, 80),
    subject("firstread-drive", "--lib", true, 90),
    subject("firstread-session", "--lib", false, 80),
    subject("firstread-cli", "--bins", false, 80),
];

/// Options of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The crate whose code is mutated, say `firstread-core`
    #[arg(long)]
    package: String,
    /// The sample: of the mutants in the order of the code, those whose number leaves the remainder K when divided by N
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: String,
    /// Begin no further batch of mutants after so many hours; what was judged until then is a sample too
    #[arg(long)]
    hours: Option<f64>,
    /// Print the drawn mutants without judging them
    #[arg(long)]
    list: bool,
    /// Judge by the unit tests of the crate alone, and write nothing
    #[arg(long)]
    quick: bool,
}

/// Judges mutants and writes the score.
pub fn run_task(options: &Options) -> Result<(), String> {
    let Some(subject) = SUBJECTS.iter().find(|s| s.name == options.package) else {
        let names: Vec<&str> = SUBJECTS.iter().map(|s| s.name).collect();
        return Err(format!(
            "no package `{}` is mutated; there are: {}",
            options.package,
            names.join(", ")
        ));
    };
    let bench = Bench::prepare(subject)?;
    let drawn = bench.list(Some(&options.shard))?;
    if options.list {
        drawn.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    println!(
        "{}: {} mutants, {} of them drawn",
        subject.name,
        bench.all.len(),
        drawn.len()
    );
    if drawn.is_empty() {
        return Err(format!("shard {} has no mutant", options.shard));
    }
    let stages = match options.quick {
        true => vec![Stage::UnitTests],
        false => bench.stages(),
    };
    let mut timeouts = vec![None; stages.len()];
    let mut score = Score {
        package: subject.name.to_owned(),
        commit: bench.commit.clone(),
        shard: options.shard.clone(),
        testkit: subject.asks_testkit.then(|| TESTKIT_FILTERS.join(", ")),
        aim_pct: subject.aim_pct,
        mutants: bench.all.len(),
        drawn: drawn.len(),
        ..Score::default()
    };
    let start = Instant::now();
    let batches = drawn.len().div_ceil(BATCH);
    for batch in 0..batches {
        let hours = start.elapsed().as_secs_f64() / 3600.0;
        if options.hours.is_some_and(|most| hours >= most) {
            break;
        }
        // Each batch is spread over the whole crate, so that where the clock stops, what was judged still is.
        let mut names: Vec<String> = drawn.iter().skip(batch).step_by(batches).cloned().collect();
        let judged = names.len();
        for (stage, timeout) in stages.iter().zip(&mut timeouts) {
            if names.is_empty() {
                break;
            }
            let timeout = match *timeout {
                Some(known) => known,
                None => *timeout.insert(bench.timeout(*stage)?),
            };
            let begun = Instant::now();
            let verdicts = bench.judge(*stage, &names, timeout)?;
            println!(
                "batch {} of {batches}: {} mutants judged by {} in {:.0} s, {} missed",
                batch + 1,
                names.len(),
                stage.text(),
                begun.elapsed().as_secs_f64(),
                verdicts.missed.len()
            );
            score.unviable += verdicts.unviable;
            score.timeouts += verdicts.timeouts;
            match stage {
                Stage::UnitTests => score.by_unit_tests += verdicts.caught,
                Stage::Own => score.by_own += verdicts.caught,
                Stage::Testkit => score.by_testkit += verdicts.caught,
            }
            names = verdicts.missed;
        }
        score.judged += judged;
        score.missed.append(&mut names);
        println!("{}", score.sentence());
    }
    if options.quick {
        score
            .missed
            .iter()
            .for_each(|name| println!("missed: {name}"));
        return Ok(());
    }
    let path = root().join(DOCUMENT);
    let old = fs::read_to_string(&path).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    let order = SUBJECTS.iter().map(|s| s.name).collect::<Vec<_>>();
    fs::write(&path, enter(&old, &score, &order)?).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// Declares each file below `folder` that no line of its parent module does, without compiling it once more: cargo-mutants
/// does not see modules that a macro declares.
fn declare_hidden(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut paths: Vec<PathBuf> = entries
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .iter()
        .map(DirEntry::path)
        .collect();
    paths.sort();
    let is_root = |path: &&PathBuf| ROOTS.iter().any(|root| path.ends_with(root));
    let roots: Vec<&PathBuf> = paths.iter().filter(is_root).collect();
    let beside = folder.with_extension("rs");
    let parents = match roots.is_empty() {
        true => vec![&beside],
        false => roots.clone(),
    };
    for path in &paths {
        if path.is_dir() {
            declare_hidden(path)?;
        }
        let is_module = path.join("mod.rs").exists() || path.extension().is_some_and(|e| e == "rs");
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("");
        if !is_module || roots.contains(&path) {
            continue;
        }
        let read = |path: &&PathBuf| {
            fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
        };
        let texts = parents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        if !texts
            .iter()
            .any(|text| text.contains(&format!("mod {name};")))
        {
            println!("a macro declares {}", path.display());
            let text = format!("{}\n#[cfg(any())]\nmod {name};\n", texts[0]);
            fs::write(parents[0], text).map_err(|e| format!("{}: {e}", parents[0].display()))?;
        }
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whose tests judge.
#[derive(Clone, Copy)]
enum Stage {
    UnitTests,
    /// Tests in the folder `tests` of the crate.
    Own,
    /// Those tests of `firstread-testkit` that `TESTKIT_FILTERS` names.
    Testkit,
}

impl Stage {
    fn text(self) -> &'static str {
        match self {
            Stage::UnitTests => "unit tests",
            Stage::Own => "the crate's other tests",
            Stage::Testkit => "tests of firstread-testkit",
        }
    }
}

/// What became of the mutants of a batch.
#[derive(Default)]
struct Verdicts {
    caught: usize,
    timeouts: usize,
    unviable: usize,
    missed: Vec<String>,
}

/// A checkout of the commit, to be mutated.
struct Bench {
    subject: &'static Subject,
    commit: String,
    /// Names of all its mutants.
    all: Vec<String>,
    tree: PathBuf,
    /// The folders of builds and of cargo-mutants' reports.
    build: PathBuf,
    reports: PathBuf,
}

impl Bench {
    fn prepare(subject: &'static Subject) -> Result<Bench, String> {
        output(Command::new("cargo").args(["mutants", "--version"])).map_err(|e| {
            format!("cargo-mutants is missing: cargo install cargo-mutants --locked\n{e}")
        })?;
        let commit = output(&mut command("git", &["rev-parse", "--short=12", "HEAD"]))?;
        let state = output(&mut command("git", &["status", "--porcelain"]))?;
        if !state.is_empty() {
            println!("changes that are not committed are not looked at:\n{state}");
        }
        let folder = root().join("target/mutants");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let folder = folder
            .canonicalize()
            .map_err(|e| format!("{}: {e}", folder.display()))?;
        let tree = folder.join("tree");
        // A worktree: a file that the commits share keeps its time, so that it is not compiled again.
        if tree.join(".git").exists() {
            let mut git = Command::new("git");
            run(git
                .arg("-C")
                .arg(&tree)
                .args(["checkout", "--quiet", "--force", "--detach", &commit]))?;
        } else {
            let mut git = command(
                "git",
                &["worktree", "add", "--quiet", "--force", "--detach"],
            );
            run(git.arg(&tree).arg(&commit))?;
        }
        let src = subject.name.replace("firstread-", "crates/") + "/src";
        declare_hidden(&tree.join(src))?;
        let mut bench = Bench {
            subject,
            commit,
            all: Vec::new(),
            tree,
            build: folder.join("build"),
            reports: folder,
        };
        bench.all = bench.list(None)?;
        Ok(bench)
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .args(args);
        cargo
    }

    /// Whose tests judge, in this order.
    fn stages(&self) -> Vec<Stage> {
        let mut stages = vec![Stage::UnitTests];
        let folder = self.subject.name.replace("firstread-", "crates/");
        if self.tree.join(folder).join("tests").is_dir() {
            stages.push(Stage::Own);
        }
        if self.subject.asks_testkit {
            stages.push(Stage::Testkit);
        }
        stages
    }

    /// The package, the option that finds the tests of `stage` in it, and what their names contain.
    fn asked(&self, stage: Stage) -> (&'static str, &'static str, &'static [&'static str]) {
        match stage {
            Stage::UnitTests => (self.subject.name, self.subject.unit_tests, &[]),
            Stage::Own => (self.subject.name, "--test=*", &[]),
            Stage::Testkit => (TESTKIT, "--test=*", &TESTKIT_FILTERS),
        }
    }

    /// Names of the mutants, all or those of a shard.
    fn list(&self, shard: Option<&str>) -> Result<Vec<String>, String> {
        let mut list = self.cargo(&["mutants", "--list", "--colors=never", "--package"]);
        list.arg(self.subject.name);
        if let Some(shard) = shard {
            list.args(["--sharding=round-robin", "--shard", shard]);
        }
        Ok(output(&mut list)?.lines().map(str::to_owned).collect())
    }

    /// How long the tests of `stage` may take. They have to pass without a fault, and are compiled meanwhile.
    fn timeout(&self, stage: Stage) -> Result<Duration, String> {
        let (package, targets, filters) = self.asked(stage);
        let mut tests = self.cargo(&["test", "--quiet", "--profile=mutants"]);
        tests.args(["--package", package, targets]);
        println!("without a fault: {}", stage.text());
        let mut build = self.cargo(&[]);
        run(build.args(tests.get_args()).arg("--no-run"))?;
        let start = Instant::now();
        output(tests.arg("--").args(filters))?;
        let took = start.elapsed();
        println!(
            "without a fault: {} pass in {:.0} s",
            stage.text(),
            took.as_secs_f64()
        );
        Ok((took * TIMEOUT_FACTOR).max(TIMEOUT_FLOOR))
    }

    /// Judges the mutants `names`.
    fn judge(&self, stage: Stage, names: &[String], timeout: Duration) -> Result<Verdicts, String> {
        let mut mutants = self.cargo(&[
            "mutants",
            "--in-place",
            // Seen to pass before.
            "--baseline=skip",
            "--iterate",
            "--profile=mutants",
            "--colors=never",
        ]);
        mutants
            .args(["--package", self.subject.name])
            .args(["--timeout", &timeout.as_secs().to_string()])
            .arg("--output")
            .arg(&self.reports);
        let (package, targets, filters) = self.asked(stage);
        mutants
            .args(["--test-package", package])
            .arg(format!("--cargo-arg={targets}"))
            // Behind the first mark stands what cargo test is given, behind the second what the tests are.
            .args(["--", "--"])
            .args(filters);
        // What it is to leave out is told as caught before: patterns of names do not hold for every kind of mutant.
        let report = self.reports.join("mutants.out");
        let others: String = self.all.iter().filter(|name| !names.contains(name)).fold(
            String::new(),
            |mut text, name| {
                text += name;
                text + "\n"
            },
        );
        let told = report.join("previously_caught.txt");
        fs::remove_dir_all(&report)
            .or_else(|e| match e.kind() {
                ErrorKind::NotFound => Ok(()),
                _ => Err(e),
            })
            .and_then(|()| fs::create_dir_all(&report))
            .and_then(|()| fs::write(&told, others))
            .map_err(|e| format!("{}: {e}", told.display()))?;
        let out = mutants
            .output()
            .map_err(|e| format!("cargo mutants: {e}"))?;
        // 2 is that mutants were missed, 3 that a test did not end.
        if !matches!(out.status.code(), Some(0 | 2 | 3)) {
            return Err(format!(
                "cargo mutants ended with {}: {}{}",
                out.status,
                String::from_utf8_lossy(&out.stdout),
                String::from_utf8_lossy(&out.stderr)
            ));
        }
        let verdicts = Verdicts {
            caught: self.report("caught")?.len(),
            timeouts: self.report("timeout")?.len(),
            unviable: self.report("unviable")?.len(),
            missed: self.report("missed")?,
        };
        let judged =
            verdicts.caught + verdicts.timeouts + verdicts.unviable + verdicts.missed.len();
        if judged != names.len() {
            return Err(format!("{judged} of {} mutants were judged", names.len()));
        }
        Ok(verdicts)
    }

    /// Mutants with one verdict.
    fn report(&self, verdict: &str) -> Result<Vec<String>, String> {
        let path = self.reports.join(format!("mutants.out/{verdict}.txt"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_modules_that_a_macro_declares_are_declared_once_more() {
        let folder = std::env::temp_dir().join(format!("declared-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("lib.rs", "pub mod laws;\nmod plain;\nmod beside;\n");
        write("plain.rs", "");
        write("beside.rs", "mod inner;\n");
        write("beside/inner.rs", "");
        write("laws/mod.rs", "laws! { first; second; }\n");
        write("laws/first.rs", "");
        write("laws/second/mod.rs", "");
        declare_hidden(&folder).unwrap();
        let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
        assert_eq!(read("lib.rs"), "pub mod laws;\nmod plain;\nmod beside;\n");
        assert_eq!(read("beside.rs"), "mod inner;\n");
        assert_eq!(
            read("laws/mod.rs"),
            "laws! { first; second; }\n\n#[cfg(any())]\nmod first;\n\n#[cfg(any())]\nmod second;\n"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
