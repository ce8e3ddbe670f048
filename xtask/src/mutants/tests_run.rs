//! Test programs, and a run of one with a fault switched on or not.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::switches::VARIABLE;

/// Tests that take this many times as long as without the fault, and `SPARE` more, have no end.
const TIMES: u32 = 5;
const SPARE: Duration = Duration::from_secs(30);
/// How often a fault that ran out of time is judged again because the machine is slower than it was.
const AGAIN: u32 = 3;

/// A test program, and which of its tests.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Tests {
    pub(super) program: PathBuf,
    /// Where it is run: the folder of its package.
    pub(super) folder: PathBuf,
    pub(super) only: Option<String>,
}

/// How a run of tests ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Passed,
    /// At the first test that failed; its name.
    Failed(String),
    OutOfTime,
}

/// How long tests take without a fault.
#[derive(Default)]
pub(super) struct Baselines(Mutex<BTreeMap<Tests, Duration>>);

impl Baselines {
    /// Runs `tests` with the fault `number` switched on, or without a number those in which it has been compiled.
    /// `sound` are the same without it.
    pub(super) fn judge(
        &self,
        tests: &Tests,
        sound: &Tests,
        number: Option<u32>,
    ) -> Result<Ended, String> {
        let known = self.known(sound)?;
        let quiet = match known {
            Some(time) => time,
            None => self.measured(sound, None)?,
        };
        self.judged(tests, sound, number.unwrap_or(0), quiet)
    }

    fn known(&self, tests: &Tests) -> Result<Option<Duration>, String> {
        let times = self.0.lock().map_err(|_| "a thread has failed")?;
        Ok(times.get(tests).copied())
    }

    fn judged(
        &self,
        tests: &Tests,
        sound: &Tests,
        number: u32,
        quiet: Duration,
    ) -> Result<Ended, String> {
        let mut limit = quiet * TIMES + SPARE;
        for _ in 0..AGAIN {
            match run(tests, number, Some(limit))? {
                Ended::OutOfTime => {
                    // A machine that others use too may have become slower.
                    let now = self.measured(sound, Some(limit))?;
                    if now * TIMES + SPARE <= limit + limit / 4 {
                        return Ok(Ended::OutOfTime);
                    }
                    limit = now * TIMES + SPARE;
                }
                other => return Ok(other),
            }
        }
        Ok(Ended::OutOfTime)
    }

    /// How long `tests` take now without a fault; they must pass.
    fn measured(&self, tests: &Tests, limit: Option<Duration>) -> Result<Duration, String> {
        let start = Instant::now();
        match run(tests, 0, limit)? {
            Ended::Passed => {}
            Ended::OutOfTime => return Ok(start.elapsed()),
            Ended::Failed(test) => {
                return Err(format!(
                    "{}: {test} fails without a fault",
                    tests.program.display()
                ));
            }
        }
        let time = start.elapsed();
        let mut times = self.0.lock().map_err(|_| "a thread has failed")?;
        let kept = times.entry(tests.clone()).or_insert(time);
        *kept = time.max(*kept);
        Ok(time)
    }
}

/// Runs `tests` until the first fails or `limit` is over.
fn run(tests: &Tests, number: u32, limit: Option<Duration>) -> Result<Ended, String> {
    let mut command = Command::new(&tests.program);
    command
        .args(&tests.only)
        .current_dir(&tests.folder)
        .env("CARGO_MANIFEST_DIR", &tests.folder)
        .env("INSTA_UPDATE", "no")
        .env(VARIABLE, number.to_string())
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
    let limit = limit.unwrap_or(Duration::from_secs(3600));
    let ended = loop {
        match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => {
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
        None => Ended::Failed(format!("the program ended with {status}")),
    })
}

/// The test of which `line` says that it failed.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
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
    }
}
