//! Which tests come by which faults, and how long they take. A test that does not come by a fault cannot notice it,
//! and of those that do the quick ones are asked first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::tests_run::{Ended, Tests, timed};

/// Tests that take no longer are run in one process.
const QUICK: Duration = Duration::from_secs(1);

/// A test, and how long it takes alone.
type Timed = (String, Duration);

/// What a run of a test program without a fault told.
#[derive(Clone, Default, Debug)]
pub(super) struct Reach {
    times: Vec<Timed>,
    /// The tests that came by a fault.
    by_fault: BTreeMap<u32, BTreeSet<String>>,
}

impl Reach {
    /// Runs `tests` without a fault; what they come by is written into `file` meanwhile.
    pub(super) fn of(tests: &Tests, file: &Path) -> Result<Reach, String> {
        let error = |e: std::io::Error| format!("{}: {e}", file.display());
        fs::write(file, "").map_err(error)?;
        let mut times = Vec::new();
        let ended = timed(tests, file, |name, time| {
            times.push((name.to_owned(), time))
        })?;
        if ended != Ended::Passed {
            let program = tests.program.display();
            return Err(format!("{program}: without a fault: {ended:?}"));
        }
        Ok(Reach {
            times,
            by_fault: read(&fs::read_to_string(file).map_err(error)?),
        })
    }

    /// The tests of which the names contain `only` and which come by `fault`, in the order in which to run them and
    /// with the time that they take: all quick ones together, then each other by itself.
    pub(super) fn rounds(&self, fault: u32, only: &str) -> Vec<(Vec<String>, Duration)> {
        let none = BTreeSet::new();
        let by = self.by_fault.get(&fault).unwrap_or(&none);
        let names: BTreeSet<&str> = self.times.iter().map(|(name, _)| name.as_str()).collect();
        // A thread that a test has started is not called like it.
        let by_anyone = by.iter().any(|thread| !names.contains(thread.as_str()));
        let mut times: Vec<&Timed> = self
            .times
            .iter()
            .filter(|(name, _)| name.contains(only) && (by_anyone || by.contains(name)))
            .collect();
        times.sort_by_key(|(_, time)| *time);
        let quick = times.partition_point(|(_, time)| *time <= QUICK);
        let (quick, slow) = times.split_at(quick);
        let mut rounds = Vec::new();
        if !quick.is_empty() {
            let names = quick.iter().map(|(name, _)| name.clone()).collect();
            rounds.push((names, quick.iter().map(|(_, time)| *time).sum()));
        }
        rounds.extend(slow.iter().map(|(name, time)| (vec![name.clone()], *time)));
        rounds
    }
}

/// Lines of a fault's number and the name of a thread, which is that of its test.
fn read(text: &str) -> BTreeMap<u32, BTreeSet<String>> {
    let mut by_fault: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        if let Some((number, test)) = line.split_once('\t')
            && let Ok(number) = number.parse()
        {
            by_fault.entry(number).or_default().insert(test.to_owned());
        }
    }
    by_fault
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(lines: &str) -> Reach {
        let time = |name: &str, ms| (name.to_owned(), Duration::from_millis(ms));
        Reach {
            times: vec![
                time("a::slow", 9000),
                time("a::slower", 20_000),
                time("a::quick", 10),
                time("b::quick", 20),
            ],
            by_fault: read(lines),
        }
    }

    fn names(rounds: &[(Vec<String>, Duration)]) -> Vec<String> {
        rounds.iter().map(|(names, _)| names.join(" ")).collect()
    }

    #[test]
    fn sequence_quick_tests_that_come_by_a_fault_are_asked_first() {
        let reach = reach("7\ta::slower\n7\ta::slow\n7\tb::quick\n7\ta::quick\n8\ta::slow\n");
        let rounds = reach.rounds(7, "");
        assert_eq!(
            names(&rounds),
            ["a::quick b::quick", "a::slow", "a::slower"]
        );
        assert_eq!(rounds[0].1, Duration::from_millis(30));
        assert_eq!(names(&reach.rounds(7, "b::")), ["b::quick"]);
        assert_eq!(names(&reach.rounds(8, "")), ["a::slow"]);
        assert!(reach.rounds(9, "").is_empty());
    }

    #[test]
    fn sequence_a_fault_that_an_unknown_thread_came_by_is_judged_by_all_tests() {
        let rounds = reach("7\tworker\n").rounds(7, "a::");
        assert_eq!(names(&rounds), ["a::quick", "a::slow", "a::slower"]);
    }
}
