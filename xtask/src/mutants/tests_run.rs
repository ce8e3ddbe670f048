//! Test programs, and a run of one with a fault switched on or not.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::switches::{REACH, REACH_FILE, VARIABLE};

/// Tests that take this many times as long as without the fault, and `SPARE` more, have no end.
const TIMES: u32 = 5;
const SPARE: Duration = Duration::from_secs(30);
/// The limit as long as it is not known how long tests take.
const PATIENCE: Duration = Duration::from_secs(600);
/// No test program takes as long.
const LONGEST: Duration = Duration::from_secs(3600);
/// How often a fault that ran out of time is judged again because the machine is slower than it was.
const AGAIN: u32 = 3;

/// A test program, and which of its tests.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Tests {
    pub(super) program: PathBuf,
    /// Where it is run: the folder of its package.
    pub(super) folder: PathBuf,
    /// What their names contain, or `exact`, their whole names; all if empty.
    pub(super) only: Vec<String>,
    pub(super) exact: bool,
}

/// How a run of tests ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Passed,
    /// At the first test that failed; its name.
    Failed(String),
    /// Not by a test that failed.
    Died,
    OutOfTime,
}

/// What is known of tests without a fault: how long they take, and which have been seen to pass.
#[derive(Default)]
pub(super) struct Baselines {
    times: Mutex<BTreeMap<Tests, Duration>>,
    passed: Mutex<BTreeSet<(PathBuf, String)>>,
}

impl Baselines {
    /// Notes how long `tests` take without a fault.
    pub(super) fn note(&self, tests: &Tests, time: Duration) -> Result<(), String> {
        lock(&self.times)?.entry(tests.clone()).or_insert(time);
        Ok(())
    }

    /// Runs `tests` with the fault `number` switched on, or without a number those in which it has been compiled.
    /// `sound` are the same without it.
    pub(super) fn judge(
        &self,
        tests: &Tests,
        sound: &Tests,
        number: Option<u32>,
    ) -> Result<Ended, String> {
        let known = lock(&self.times)?.get(sound).copied();
        let mut limit = known.map_or(PATIENCE, |time| time * TIMES + SPARE);
        for _ in 0..AGAIN {
            let ended = run(tests, number.unwrap_or(0), Some(limit))?;
            match &ended {
                Ended::Passed => return Ok(ended),
                Ended::Failed(test) => {
                    self.passes(sound, test)?;
                    return Ok(ended);
                }
                Ended::Died => {
                    if known.is_none() {
                        self.measured(sound, None)?;
                    }
                    return Ok(ended);
                }
                Ended::OutOfTime => {
                    // A machine that others use too may have become slower.
                    let now = self.measured(sound, Some(limit))?;
                    if now * TIMES + SPARE <= limit + limit / 4 {
                        return Ok(ended);
                    }
                    limit = now * TIMES + SPARE;
                }
            }
        }
        Ok(Ended::OutOfTime)
    }

    /// A test that has noticed a fault passes without it.
    fn passes(&self, sound: &Tests, test: &str) -> Result<(), String> {
        let key = (sound.program.clone(), test.to_owned());
        if lock(&self.passed)?.contains(&key) {
            return Ok(());
        }
        let alone = Tests {
            only: vec![test.to_owned()],
            exact: true,
            ..sound.clone()
        };
        match run(&alone, 0, None)? {
            Ended::Passed => lock(&self.passed)?.insert(key),
            other => {
                let program = sound.program.display();
                return Err(format!("{program}: {test} without a fault: {other:?}"));
            }
        };
        Ok(())
    }

    /// How long `tests` take now without a fault; they must pass.
    fn measured(&self, tests: &Tests, limit: Option<Duration>) -> Result<Duration, String> {
        let start = Instant::now();
        match run(tests, 0, limit)? {
            Ended::Passed => {}
            Ended::OutOfTime => return Ok(start.elapsed()),
            other => {
                let program = tests.program.display();
                return Err(format!("{program}: without a fault: {other:?}"));
            }
        }
        let time = start.elapsed();
        let mut times = lock(&self.times)?;
        let kept = times.entry(tests.clone()).or_insert(time);
        *kept = time.max(*kept);
        Ok(time)
    }
}

fn lock<T>(of: &Mutex<T>) -> Result<MutexGuard<'_, T>, String> {
    of.lock().map_err(|_| "a thread has failed".to_owned())
}

/// Runs `tests` until the first fails or `limit` is over.
fn run(tests: &Tests, number: u32, limit: Option<Duration>) -> Result<Ended, String> {
    let on = [(VARIABLE, number.to_string().into())];
    watched(tests, &on, limit.unwrap_or(LONGEST), &mut |_| {})
}

/// Runs `tests` without a fault, one at a time; what they come by is appended to `file`. `each` is told of every
/// test and its time.
pub(super) fn timed(
    tests: &Tests,
    file: &Path,
    mut each: impl FnMut(&str, Duration),
) -> Result<Ended, String> {
    let file = file.into();
    let mut start = Instant::now();
    let variables = [(VARIABLE, REACH.into()), (REACH_FILE, file)];
    watched(tests, &variables, LONGEST, &mut |line| {
        if let Some(test) = passed_test(line) {
            each(test, start.elapsed());
        }
        start = Instant::now();
    })
}

/// Runs `tests`, one at a time, until the first fails or `limit` is over. `each` is told of every line.
fn watched(
    tests: &Tests,
    variables: &[(&str, OsString)],
    limit: Duration,
    each: &mut dyn FnMut(&str),
) -> Result<Ended, String> {
    let mut command = Command::new(&tests.program);
    command
        .args(&tests.only)
        .args(tests.exact.then_some("--exact"))
        .args(["--test-threads", "1"])
        .current_dir(&tests.folder)
        .env("CARGO_MANIFEST_DIR", &tests.folder)
        .env("INSTA_UPDATE", "no")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", tests.program.display());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| failed(&e))?;
    let stdout = child.stdout.take().ok_or_else(|| failed(&"no output"))?;
    let (to, lines) = channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            if to
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
        }
    });
    let ended = loop {
        match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => {
                each(&line);
                if let Some(test) = failed_test(&line) {
                    break Some(Ended::Failed(test.into()));
                }
            }
            Err(RecvTimeoutError::Timeout) => break Some(Ended::OutOfTime),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    if ended.is_some() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| failed(&e))?;
    drop(lines);
    reader.join().map_err(|_| failed(&"its output is lost"))?;
    Ok(match ended {
        Some(ended) => ended,
        None if status.success() => Ended::Passed,
        None => Ended::Died,
    })
}

/// The test of which `line` says that it failed.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The test of which `line` says that it passed.
fn passed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_lines_of_a_test_program_name_what_failed() {
        assert_eq!(failed_test("test a::b_c ... FAILED"), Some("a::b_c"));
        for other in ["test a::b ... ok", "test result: FAILED. 1 passed", ""] {
            assert_eq!(failed_test(other), None);
        }
        assert_eq!(passed_test("test a::b ... ok"), Some("a::b"));
        assert_eq!(passed_test("test a::b ... ignored"), None);
    }
}
