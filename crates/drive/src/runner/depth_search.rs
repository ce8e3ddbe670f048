//! fio's search for the highest queue depth that keeps latency below a target (`latency_target`).
//!
//! The depth doubles while a window of requests passes, and is bisected between the last depth that
//! passed and the lowest that failed. Before a lower depth is tried, everything in flight completes.
//! When the depth no longer changes, one more window is run, which alone is reported.

use firstread_core::Ns;
use firstread_workload::job::LatencyTarget;

use crate::stats::DepthFound;

/// The search of one job.
#[derive(Clone, Debug)]
pub(crate) struct DepthSearch {
    target: LatencyTarget,
    /// Highest depth to try: `iodepth`.
    limit: u32,
    depth: u32,
    /// The highest depth that passed, and the lowest that did not; the limit until one fails.
    low: u32,
    high: u32,
    /// Windows passed in a row just below `high`: after three, `high` is raised.
    stable: u32,
    window_start: Ns,
    completed: u64,
    late: u64,
    /// Latency of the slowest request of the window.
    slowest: Ns,
    last_window: bool,
    settled: bool,
}

/// Windows in a row after which a depth that failed before is tried again.
const STABLE: u32 = 3;

/// Consequence of a completion for the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The window goes on.
    Continue,
    /// Continue at another depth; with `drain`, after everything in flight has completed.
    Depth { drain: bool },
    /// The depth is found: what was counted so far is forgotten, and one window is run at it.
    Found,
    /// The last window is over: the job ends.
    Done,
    /// The target is missed even at depth 1. Holds the latency.
    Impossible(Ns),
}

impl DepthSearch {
    pub(crate) fn new(target: LatencyTarget, limit: u32) -> DepthSearch {
        DepthSearch {
            target,
            limit,
            depth: 1,
            low: 1,
            high: limit,
            stable: 0,
            window_start: Ns::ZERO,
            completed: 0,
            late: 0,
            slowest: Ns::ZERO,
            last_window: false,
            settled: false,
        }
    }

    pub(crate) fn start(&mut self, now: Ns) {
        self.new_window(now);
    }

    /// Result of the search.
    pub(crate) fn found(&self) -> DepthFound {
        DepthFound {
            depth: self.depth,
            settled: self.settled,
        }
    }

    /// Requests in flight at most.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// A request completed after `latency`.
    pub(crate) fn completed(&mut self, now: Ns, latency: Ns) -> Verdict {
        self.completed += 1;
        self.slowest = self.slowest.max(latency);
        self.late += u64::from(latency.0 > self.target.target_ns);
        // If every request must meet the target, the first one that misses it ends the window.
        if self.late > 0 && self.target.percentile >= 100.0 {
            return self.failed(now);
        }
        if now.since(self.window_start).0 < self.target.window_ns {
            return Verdict::Continue;
        }
        let in_time = (self.completed - self.late) as f64 * 100.0 / self.completed as f64;
        if in_time >= self.target.percentile {
            self.passed(now)
        } else {
            self.failed(now)
        }
    }

    fn failed(&mut self, now: Ns) -> Verdict {
        if self.depth == 1 {
            return Verdict::Impossible(self.slowest);
        }
        self.high = self.depth;
        self.low = self.low.min(self.depth - 1);
        self.depth = self.depth.midpoint(self.low);
        self.stable = 0;
        // A depth that passed before has failed now.
        (self.last_window, self.settled) = (false, false);
        self.new_window(now);
        Verdict::Depth { drain: true }
    }

    fn passed(&mut self, now: Ns) -> Verdict {
        let before = self.depth;
        self.low = before;
        if self.target.run && before + 1 == self.high {
            self.stable += 1;
            if self.stable >= STABLE {
                self.high = (self.high + 1).min(self.limit);
                self.stable = 0;
            }
        }
        self.depth = if self.high == self.limit {
            before.saturating_mul(2).min(self.limit)
        } else {
            before.midpoint(self.high)
        };
        self.new_window(now);
        match (self.depth == before, self.target.run, self.last_window) {
            (true, false, true) => {
                self.settled = true;
                Verdict::Done
            }
            (true, false, false) => {
                self.last_window = true;
                Verdict::Found
            }
            (true, true, _) => {
                self.settled = true;
                Verdict::Continue
            }
            (false, ..) => Verdict::Depth { drain: false },
        }
    }

    fn new_window(&mut self, now: Ns) {
        self.window_start = now;
        (self.completed, self.late) = (0, 0);
        self.slowest = Ns::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the search where latency is `per_request` times the depth; the depths it tried.
    fn search(target_ns: u64, per_request: u64, limit: u32) -> (Vec<u32>, Verdict) {
        let target = LatencyTarget {
            target_ns,
            window_ns: 1_000_000,
            percentile: 99.0,
            run: false,
        };
        let mut search = DepthSearch::new(target, limit);
        let (mut now, mut depths) = (Ns::ZERO, vec![1]);
        for _ in 0..1_000_000 {
            let latency = Ns(per_request * u64::from(search.depth()));
            now += Ns(1_000);
            match search.completed(now, latency) {
                Verdict::Continue => {}
                Verdict::Depth { .. } => depths.push(search.depth()),
                Verdict::Found => {}
                end => return (depths, end),
            }
        }
        panic!("the search does not end: {depths:?}");
    }

    #[test]
    fn formula_the_depth_is_doubled_then_bisected() {
        let (depths, end) = search(500, 13, 128);
        assert_eq!(depths, [1, 2, 4, 8, 16, 32, 64, 48, 40, 36, 38, 39, 38]);
        assert_eq!(end, Verdict::Done);
        // 38 requests of 13 ns each are the most below 500 ns.
        for per_request in 1..200 {
            let (depths, end) = search(500, per_request, 128);
            let best = (500 / per_request).min(128) as u32;
            assert_eq!(end, Verdict::Done);
            assert_eq!(*depths.last().unwrap(), best, "{per_request}: {depths:?}");
        }
    }

    #[test]
    fn formula_a_target_out_of_reach_says_how_far() {
        assert_eq!(search(500, 501, 128).1, Verdict::Impossible(Ns(501)));
        assert_eq!(search(500, 500, 1).1, Verdict::Done);
    }
}
