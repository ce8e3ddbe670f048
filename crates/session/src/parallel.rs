//! Runs jobs on several threads, the longest first, and returns the results in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A job: its number in the order of results, what it is expected to cost (in any unit), and what it is about.
#[derive(Debug)]
pub struct Job<J> {
    pub number: usize,
    pub cost: f64,
    pub of: J,
}

/// Does `work` for each of `items` on `threads` threads (as many as cores, where none is said). Results are in the order of
/// `items`.
///
/// # Errors
/// As [`longest_first`].
pub fn each<I: Sync, O: Send, E: Send>(
    items: &[I],
    threads: Option<u16>,
    work: impl Fn(&I) -> Result<O, E> + Sync,
) -> Result<Vec<O>, E> {
    let cost = 0.0;
    let jobs = items.iter().enumerate();
    let jobs = jobs.map(|(number, of)| Job { number, cost, of });
    longest_first(jobs.collect(), threads, |item, _| work(item))
}

/// Does `work` for each of `jobs` on `threads` threads (as many as cores, where none is said). Those that cost most are begun
/// first, so that no thread is left with a long one at the end; of equal ones the first. `work` may hand on a further job,
/// which is begun before all that wait. Results are in the order of the numbers.
///
/// # Errors
/// The error of the lowest number that fails, whatever the order in which jobs ran: after an error no job of a higher number is
/// begun, and those of lower numbers are.
pub fn longest_first<J: Send, O: Send, E: Send>(
    mut jobs: Vec<Job<J>>,
    threads: Option<u16>,
    work: impl Fn(J, &dyn Fn(Job<J>)) -> Result<O, E> + Sync,
) -> Result<Vec<O>, E> {
    // The last one is begun next.
    jobs.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.number.cmp(&a.number)));
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or_else(cores, usize::from);
    let queue = Queue {
        state: Mutex::new(State {
            waiting: jobs,
            running: 0,
            failed: usize::MAX,
            results: Vec::new(),
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // With fewer threads than were asked for it takes longer.
            let worker = || queue.work(&work);
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        queue.work(&work);
    });
    let state = queue.state.into_inner();
    let mut results = state.unwrap_or_else(PoisonError::into_inner).results;
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

struct Queue<J, O, E> {
    state: Mutex<State<J, O, E>>,
    changed: Condvar,
}

struct State<J, O, E> {
    /// Jobs that wait, the next one last.
    waiting: Vec<Job<J>>,
    /// Jobs that run, which may hand on others.
    running: usize,
    /// Lowest number of a job that failed.
    failed: usize,
    results: Vec<(usize, Result<O, E>)>,
}

impl<J, O, E> Queue<J, O, E> {
    fn lock(&self) -> MutexGuard<'_, State<J, O, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does jobs until none is left.
    fn work(&self, work: &impl Fn(J, &dyn Fn(Job<J>)) -> Result<O, E>) {
        let further = |job| {
            self.lock().waiting.push(job);
            self.changed.notify_one();
        };
        let mut state = self.lock();
        loop {
            let Some(Job { number, of, .. }) = state.waiting.pop() else {
                if state.running == 0 {
                    return;
                }
                let changed = self.changed.wait(state);
                state = changed.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if number > state.failed {
                continue;
            }
            state.running += 1;
            drop(state);
            let ends = Ends(self);
            let result = work(of, &further);
            drop(ends);
            state = self.lock();
            if result.is_err() {
                state.failed = state.failed.min(number);
            }
            state.results.push((number, result));
        }
    }
}

/// A job that runs: when it ends, or panics, others need not wait for it.
struct Ends<'a, J, O, E>(&'a Queue<J, O, E>);

impl<J, O, E> Drop for Ends<'_, J, O, E> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread::ThreadId;
    use std::time::Duration;

    use super::*;

    fn jobs(costs: &[f64]) -> Vec<Job<usize>> {
        let jobs = costs.iter().enumerate();
        let job = |(number, &cost)| Job {
            number,
            cost,
            of: number,
        };
        jobs.map(job).collect()
    }

    /// The longest are begun first, results are in order, and what is handed on comes next.
    #[test]
    fn sequence_the_longest_are_begun_first() {
        let begun = Mutex::new(Vec::new());
        let found = longest_first(
            jobs(&[1.0, 3.0, f64::INFINITY, 3.0]),
            Some(1),
            |i, further| {
                begun.lock().unwrap().push(i);
                if i == 1 {
                    let (number, cost) = (4, 0.0);
                    further(Job {
                        number,
                        cost,
                        of: number,
                    });
                }
                Ok::<_, ()>(10 * i)
            },
        );
        assert_eq!(*begun.lock().unwrap(), [2, 1, 4, 3, 0]);
        assert_eq!(found, Ok(vec![0, 10, 20, 30, 40]));
    }

    /// The error is that of the lowest number, however many threads there are and whichever fails first.
    #[test]
    fn model_the_error_is_the_first_in_order() {
        for threads in 1..5 {
            let costs: Vec<f64> = (0..40).map(f64::from).collect();
            let found = longest_first(jobs(&costs), Some(threads), |i, _| match i % 10 {
                7 => Err(i),
                _ => Ok(i),
            });
            assert_eq!(found, Err(7), "{threads} threads");
        }
    }

    /// What a job hands on is done by a thread that has nothing else to do.
    #[test]
    fn model_what_is_handed_on_finds_another_thread() {
        let seen: Mutex<BTreeSet<String>> = Mutex::default();
        let note = |id: ThreadId| seen.lock().unwrap().insert(format!("{id:?}"));
        let found = longest_first(jobs(&[1.0]), Some(2), |i, further| {
            note(thread::current().id());
            if i == 0 {
                let (number, cost) = (1, 0.0);
                further(Job {
                    number,
                    cost,
                    of: number,
                });
                while seen.lock().unwrap().len() < 2 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            Ok::<_, ()>(i)
        });
        assert_eq!(found, Ok(vec![0, 1]));
    }
}
