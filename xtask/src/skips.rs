//! What was not tested, as its data or its tool is missing. A test that cannot run prints a line that begins with
//! `SKIPPED: ` and passes, and the test harness hides what passing tests print. The tests are therefore asked for their
//! output, which is read here and not shown.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// How a skip begins.
const MARK: &str = "SKIPPED: ";

/// What has been skipped since the task began.
static SKIPS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says that something is skipped, now and at the end of the task.
pub fn skip(what: String) {
    println!("{MARK}{what}");
    remember(what);
}

fn remember(what: String) {
    // The list is whole even where a thread has failed while it held the lock.
    SKIPS.lock().unwrap_or_else(|e| e.into_inner()).push(what);
}

/// Prints the number of skips, and each of them.
pub fn tell() {
    let skips = SKIPS.lock().unwrap_or_else(|e| e.into_inner());
    println!("== skipped: {}", skips.len());
    skips.iter().for_each(|what| println!("{what}"));
}

/// Runs `tests`, a `cargo test` whose harnesses have been given `--show-output`, and remembers what they skip.
pub fn watch(tests: &mut Command) -> Result<(), String> {
    let failed = |e: std::io::Error| e.to_string();
    let mut child = tests.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut reader = Reader::default();
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|out| BufReader::new(out).split(b'\n'))
    {
        let line = line.map_err(failed)?;
        let line = String::from_utf8_lossy(&line);
        match reader.read(&line) {
            Seen::Shown => println!("{line}"),
            Seen::Hidden => (),
            Seen::Skip(what) => remember(what),
        }
    }
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{tests:?} ended with {status}")),
    }
}

/// Follows the output of test harnesses.
#[derive(Default)]
struct Reader {
    /// The test whose output is being read, and passed. Empty between tests.
    passed: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Seen {
    Shown,
    /// Output of a test that has passed.
    Hidden,
    Skip(String),
}

impl Reader {
    fn read(&mut self, line: &str) -> Seen {
        let Some(test) = &mut self.passed else {
            if line == "successes:" {
                self.passed = Some(String::new());
                return Seen::Hidden;
            }
            return Seen::Shown;
        };
        if line.starts_with("test result: ") || line == "failures:" {
            self.passed = None;
            return Seen::Shown;
        }
        let header = line.strip_prefix("---- ");
        if let Some(name) = header.and_then(|l| l.strip_suffix(" stdout ----")) {
            *test = name.to_owned();
        }
        match line.strip_prefix(MARK) {
            Some(what) => Seen::Skip(format!("{test}: {what}")),
            None => Seen::Hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Vec<Seen> {
        let mut reader = Reader::default();
        lines.lines().map(|line| reader.read(line)).collect()
    }

    #[test]
    fn formula_a_skip_within_a_test_that_passed_has_the_tests_name() {
        let seen = read(
            "running 2 tests\n..\nsuccesses:\n\n---- a::smoke_b stdout ----\nloud\nSKIPPED: no trace\n\n\
             successes:\n    a::smoke_b\n\ntest result: ok. 2 passed\nDoc-tests",
        );
        let shown = |seen: &&Seen| **seen == Seen::Shown;
        assert_eq!(seen.iter().filter(shown).count(), 4, "{seen:?}");
        assert_eq!(seen[6], Seen::Skip("a::smoke_b: no trace".into()));
        assert_eq!(
            seen.iter().filter(|s| matches!(s, Seen::Skip(_))).count(),
            1
        );
    }

    #[test]
    fn formula_output_of_tests_that_failed_is_shown() {
        let seen =
            read("successes:\nloud\nfailures:\n---- c stdout ----\nbecause\ntest result: FAILED");
        assert_eq!(seen[..2], [Seen::Hidden, Seen::Hidden]);
        assert!(
            seen[2..].iter().all(|seen| *seen == Seen::Shown),
            "{seen:?}"
        );
    }
}
