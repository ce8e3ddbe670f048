//! The copy in which faults are made, the test programs built from it, and the verdict on a mutant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::reach::Reach;
use super::switches::{Change, Edit, HOLDER, SWITCH, Switched, switched};
use super::tests_run::{Baselines, Ended, Tests};
use super::verdict::{Judges, Mutant, Verdict};
use crate::commands::{answer, command, output, run as run_command};

/// Folders that are mutated.
pub(super) const FOLDERS: [&str; 4] = [
    "crates/firmware/src/ftl",
    "crates/firmware/src/voltage",
    "crates/drive/src/hardware",
    "crates/drive/src/stats",
];
/// The program that judges what a crate's own tests let pass, and the tests of it that compare the digests of every
/// completion.
const WHOLE_DRIVE: [&str; 4] = ["-p", "firstread-testkit", "--test", "whole_drive"];
const DIGESTS: &str = "completions";

pub(super) struct Work {
    pub(super) commit: String,
    tree: PathBuf,
    build: PathBuf,
    results: PathBuf,
    /// Copies of the test programs with all faults behind switches.
    programs: PathBuf,
    switched: BTreeMap<Program, PathBuf>,
    baselines: Baselines,
    /// Which tests of a program come by which faults: it is asked once, while those who want to know wait.
    reach: Mutex<BTreeMap<String, Arc<Asked>>>,
}

/// What a test program told, once it has been asked.
type Asked = Mutex<Option<Arc<Reach>>>;

/// A test program: its package and its target.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Program {
    package: String,
    target: String,
    /// The unit tests.
    is_lib: bool,
}

/// Places that do not compile: file and line.
type Places = Vec<(String, usize)>;

impl Work {
    /// Copies the commit that is checked out.
    pub(super) fn prepare(root: &Path) -> Result<Work, String> {
        let commit =
            answer(command("git", &["rev-parse", "--short=12", "HEAD"]).env("LC_ALL", "C"))?;
        // What is judged is the crates; other files may change between runs.
        let crates = answer(&mut command(
            "git",
            &["rev-parse", "--short=12", "HEAD:crates"],
        ))?;
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
        let work = Work {
            results: folder.join(format!("judged-{crates}.txt")),
            build: folder.join("build"),
            programs: folder.join("programs"),
            switched: BTreeMap::new(),
            baselines: Baselines::default(),
            reach: Mutex::default(),
            commit,
            tree,
        };
        work.git(&["fetch", "--quiet", "origin", "HEAD"])?;
        // A run that was interrupted may have left a mutant.
        work.git(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])?;
        Ok(work)
    }

    fn git(&self, args: &[&str]) -> Result<(), String> {
        run_command(Command::new("git").current_dir(&self.tree).args(args))
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .args(args);
        command
    }

    /// All mutants, in the order of their files and lines.
    pub(super) fn list(&self) -> Result<Vec<Mutant>, String> {
        let mut args = vec!["mutants", "--workspace", "--colors", "never"];
        args.extend(["--no-times", "--list", "--json"]);
        let files = FOLDERS.map(|folder| format!("{folder}/**/*.rs"));
        files.iter().for_each(|f| args.extend(["--file", f]));
        let text = answer(&mut self.cargo(&args))?;
        let list: Value =
            serde_json::from_str(&text).map_err(|e| format!("cargo mutants --list: {e}"))?;
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let number = |v: &Value| v.as_u64().unwrap_or_default() as usize;
        let place = |v: &Value| (number(&v["line"]), number(&v["column"]));
        let rows = list.as_array().into_iter().flatten();
        let mutants = rows.map(|row| Mutant {
            name: text(&row["name"]),
            file: text(&row["file"]),
            package: text(&row["package"]),
            edit: Edit {
                change: match row["genre"].as_str() {
                    Some("FnValue") => Change::Body,
                    Some("MatchArm") => Change::Arm,
                    _ => Change::Expression,
                },
                from: place(&row["span"]["start"]),
                to: place(&row["span"]["end"]),
                by: text(&row["replacement"]),
            },
        });
        Ok(mutants.collect())
    }

    /// Compiles `mutants`, numbered from 1, behind switches, with the tests that are to judge. Returns the numbers of
    /// those that do not compile so.
    pub(super) fn switch(
        &mut self,
        mutants: &[Mutant],
        by: Judges,
    ) -> Result<BTreeSet<u32>, String> {
        let mut alone = BTreeSet::new();
        loop {
            let behind = self.seed(mutants, &mut alone)?;
            let places = self.check(&["-p", "firstread-firmware", "-p", "firstread-drive"])?;
            if places.is_empty() {
                break;
            }
            let wrong = at_fault(&behind, &places);
            if wrong.is_empty() {
                return Err(format!(
                    "this does not compile, without a fault: {places:?}"
                ));
            }
            alone.extend(wrong);
        }
        println!(
            "{} faults behind switches, {} to be compiled alone",
            mutants.len() - alone.len(),
            alone.len()
        );
        let packages: BTreeSet<&str> = mutants.iter().map(|m| m.package.as_str()).collect();
        let mut built = BTreeMap::new();
        for package in packages {
            built.extend(self.programs(&["-p", package, "--lib"])?);
            if by > Judges::Unit {
                built.extend(self.programs(&["-p", package, "--tests"])?);
            }
        }
        if by > Judges::Crate {
            built.extend(self.programs(&WHOLE_DRIVE)?);
        }
        fs::create_dir_all(&self.programs).map_err(|e| self.programs_error(&e))?;
        for (program, path) in built {
            let copy = self
                .programs
                .join(format!("{}-{}", program.package, program.target));
            fs::copy(&path, &copy).map_err(|e| self.programs_error(&e))?;
            self.switched.insert(program, copy);
        }
        Ok(alone)
    }

    fn programs_error(&self, e: &dyn std::fmt::Display) -> String {
        format!("{}: {e}", self.programs.display())
    }

    /// Writes the sources with all faults behind switches but those `alone`, to which those without a switch are added.
    fn seed(
        &self,
        mutants: &[Mutant],
        alone: &mut BTreeSet<u32>,
    ) -> Result<Vec<(String, Switched)>, String> {
        let mut files: BTreeMap<&str, Vec<(u32, &Edit)>> = BTreeMap::new();
        for (number, mutant) in (1..).zip(mutants) {
            let file = files.entry(&mutant.file).or_default();
            if !alone.contains(&number) {
                file.push((number, &mutant.edit));
            }
        }
        let mut behind = Vec::new();
        for (file, edits) in files {
            let source = self.committed(file)?;
            let (text, found) = switched(&source, &edits);
            let numbers: BTreeSet<u32> = found.iter().map(|s| s.number).collect();
            alone.extend(
                edits
                    .iter()
                    .map(|(n, _)| *n)
                    .filter(|n| !numbers.contains(n)),
            );
            behind.extend(found.into_iter().map(|s| (file.to_owned(), s)));
            self.write(file, &text)?;
        }
        let holder = self.committed(HOLDER)?;
        self.write(HOLDER, &(holder + SWITCH))?;
        Ok(behind)
    }

    fn committed(&self, file: &str) -> Result<String, String> {
        let mut show = Command::new("git");
        show.current_dir(&self.tree)
            .args(["show", &format!("HEAD:{file}")]);
        let out = output(&mut show)?;
        String::from_utf8(out.stdout).map_err(|e| format!("{file}: {e}"))
    }

    /// Writes `file`, unless that is what it has: cargo goes by its time.
    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.tree.join(file);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Places at which `packages` do not compile.
    fn check(&self, packages: &[&str]) -> Result<Places, String> {
        let args = ["check", "--profile", "mutants", "--message-format", "json"];
        let out = output(self.cargo(&args).args(packages))?;
        if out.status.success() {
            return Ok(Vec::new());
        }
        let mut places = Vec::new();
        for row in rows(&out.stdout) {
            if row["message"]["level"] == "error" {
                let spans = row["message"]["spans"].as_array().into_iter().flatten();
                for span in spans.filter(|span| span["is_primary"] == true) {
                    let file = span["file_name"].as_str().unwrap_or_default();
                    let line = span["line_start"].as_u64().unwrap_or_default();
                    places.push((file.to_owned(), line as usize));
                }
            }
        }
        match places.is_empty() {
            true => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
            false => Ok(places),
        }
    }

    /// Builds the test programs of `targets`.
    fn programs(&self, targets: &[&str]) -> Result<BTreeMap<Program, PathBuf>, String> {
        let args = ["test", "--no-run", "--profile", "mutants"];
        let mut cargo = self.cargo(&args);
        let out = output(cargo.args(["--message-format", "json"]).args(targets))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned());
        }
        let mut built = BTreeMap::new();
        for row in rows(&out.stdout) {
            let Some(path) = row["executable"].as_str() else {
                continue;
            };
            let target = &row["target"];
            let package = targets.get(1).copied().unwrap_or_default();
            let program = Program {
                package: package.into(),
                target: target["name"].as_str().unwrap_or_default().into(),
                is_lib: target["kind"][0] == "lib",
            };
            built.insert(program, path.into());
        }
        Ok(built)
    }

    /// Judges `mutant`, whom some may have let pass before, by whom is asked: behind its switch, or without a `number`
    /// compiled alone. Also returns the test that noticed it.
    pub(super) fn judge(
        &self,
        mutant: &Mutant,
        number: Option<u32>,
        passed: Option<Judges>,
        by: Judges,
    ) -> Result<(Verdict, String), String> {
        let package = ["-p", mutant.package.as_str()];
        if number.is_none() {
            let source = self.committed(&mutant.file)?;
            let text = mutant.edit.applied(&source);
            let text = text.ok_or_else(|| format!("{}: no such place", mutant.name))?;
            // Every other file is as committed.
            self.git(&["checkout", "--quiet", "--force", "HEAD", "--", "crates"])?;
            self.write(HOLDER, &(self.committed(HOLDER)? + SWITCH))?;
            self.write(&mutant.file, &text)?;
            if !self.check(&package)?.is_empty() {
                return Ok((Verdict::Unviable, String::new()));
            }
        }
        let lib = [package[0], package[1], "--lib"];
        let all = [package[0], package[1], "--tests"];
        let module = mutant.file.split("/src/").nth(1).unwrap_or_default();
        let near = module.split('/').next().unwrap_or_default().to_owned() + "::";
        let rows: [(Judges, &[&str], Option<&str>); 5] = [
            (Judges::Folder, &lib, Some(&near)),
            (Judges::Unit, &lib, None),
            (Judges::Crate, &all, None),
            (Judges::Digests, &WHOLE_DRIVE, Some(DIGESTS)),
            (Judges::Drive, &WHOLE_DRIVE, None),
        ];
        for (judge, targets, only) in rows {
            if judge > by || passed.is_some_and(|passed| judge <= passed) {
                continue;
            }
            match self.tested(number, targets, only)? {
                Ended::Passed => {}
                Ended::OutOfTime => return Ok((Verdict::Timeout, String::new())),
                failed => {
                    let by = match failed {
                        Ended::Failed(test) => test,
                        _ => String::new(),
                    };
                    let verdict = match judge > Judges::Crate {
                        true => Verdict::CaughtByDrive,
                        false => Verdict::Caught,
                    };
                    return Ok((verdict, by));
                }
            }
        }
        let missed = match by {
            Judges::Folder => Verdict::MissedByFolder,
            Judges::Unit => Verdict::MissedByUnit,
            Judges::Crate => Verdict::MissedByCrate,
            Judges::Digests => Verdict::MissedByDigests,
            Judges::Drive => Verdict::Missed,
        };
        Ok((missed, String::new()))
    }

    /// Runs `only` of the test programs of `targets`.
    fn tested(
        &self,
        number: Option<u32>,
        targets: &[&str],
        only: Option<&str>,
    ) -> Result<Ended, String> {
        let wanted = |program: &Program| match targets[2] {
            "--lib" => program.is_lib,
            "--tests" => !program.is_lib,
            _ => program.target == targets[3],
        };
        let compiled = match number {
            Some(_) => BTreeMap::new(),
            None => self.programs(targets)?,
        };
        let sound: Vec<(Program, PathBuf)> = self
            .switched
            .iter()
            .filter(|(program, _)| program.package == targets[1] && wanted(program))
            .map(|(program, path)| (program.clone(), path.clone()))
            .collect();
        for (program, path) in sound {
            let folder = program.package.trim_start_matches("firstread-");
            let tests = |program| Tests {
                program,
                folder: self.tree.join("crates").join(folder),
                only: only.map(str::to_owned).into_iter().collect(),
                exact: false,
            };
            let sound = tests(path);
            let ended = match number {
                Some(number) => self.tested_behind_switch(number, &sound)?,
                None => {
                    let own = compiled.get(&program).cloned().ok_or_else(|| {
                        format!("{}: {} was not built", program.package, program.target)
                    })?;
                    self.baselines.judge(&tests(own), &sound, None)?
                }
            };
            if ended != Ended::Passed {
                return Ok(ended);
            }
        }
        Ok(Ended::Passed)
    }

    /// Runs those of `tests` that come by fault `number`, with it switched on.
    fn tested_behind_switch(&self, number: u32, tests: &Tests) -> Result<Ended, String> {
        let reach = self.reach(tests)?;
        let only = tests.only.first().map_or("", |only| only.as_str());
        for (names, time) in reach.rounds(number, only) {
            let tests = Tests {
                only: names,
                exact: true,
                ..tests.clone()
            };
            self.baselines.note(&tests, time)?;
            let ended = self.baselines.judge(&tests, &tests, Some(number))?;
            if ended != Ended::Passed {
                return Ok(ended);
            }
        }
        Ok(Ended::Passed)
    }

    /// Which faults `tests` come by. The unit tests of a folder are those of their crate.
    fn reach(&self, tests: &Tests) -> Result<Arc<Reach>, String> {
        let is_whole_drive = tests
            .program
            .ends_with(format!("{}-{}", WHOLE_DRIVE[1], WHOLE_DRIVE[3]));
        let only = match is_whole_drive {
            true => tests.only.clone(),
            false => Vec::new(),
        };
        let name = tests.program.file_name().unwrap_or_default();
        let key = format!("{}-{}-reach.txt", name.display(), only.concat());
        let failed = "a thread has failed";
        let entry = {
            let mut reach = self.reach.lock().map_err(|_| failed)?;
            reach.entry(key.clone()).or_default().clone()
        };
        let mut known = entry.lock().map_err(|_| failed)?;
        if let Some(reach) = &*known {
            return Ok(reach.clone());
        }
        let all = Tests {
            only,
            ..tests.clone()
        };
        let reach = Arc::new(Reach::of(&all, &self.programs.join(key))?);
        *known = Some(reach.clone());
        Ok(reach)
    }

    pub(super) fn known(&self) -> Result<BTreeMap<String, Verdict>, String> {
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

    pub(super) fn remember(&self, mutant: &Mutant, verdict: Verdict) -> Result<(), String> {
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

/// Cargo's messages.
fn rows(stdout: &[u8]) -> impl Iterator<Item = Value> {
    stdout
        .split(|&b| b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
}

/// Numbers of the faults at `places`: those that begin in such a line, or else all around it.
fn at_fault(behind: &[(String, Switched)], places: &[(String, usize)]) -> BTreeSet<u32> {
    let mut wrong = BTreeSet::new();
    for (file, line) in places {
        let of = |is: &dyn Fn(&Switched) -> bool| -> Vec<u32> {
            let here = behind.iter().filter(|(f, s)| f == file && is(s));
            here.map(|(_, s)| s.number).collect()
        };
        let begin = of(&|s| s.lines.start == *line);
        match begin.is_empty() {
            true => wrong.extend(of(&|s| s.lines.contains(line))),
            false => wrong.extend(begin),
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_what_does_not_compile_is_found_by_its_line() {
        let of = |number, lines| ("a.rs".to_owned(), Switched { number, lines });
        let behind = [of(1, 3..9), of(2, 5..6), of(3, 20..21)];
        let wrong = |line| at_fault(&behind, &[("a.rs".into(), line)]);
        assert_eq!(wrong(5), [2].into());
        assert_eq!(wrong(6), [1].into());
        assert_eq!(wrong(10), BTreeSet::new());
        assert_eq!(at_fault(&behind, &[("b.rs".into(), 5)]), BTreeSet::new());
    }
}
