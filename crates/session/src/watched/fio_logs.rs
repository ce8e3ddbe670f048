//! fio's logs of IOPS, bandwidth and latency (`write_iops_log`, `write_bw_log`, `write_lat_log`): a line a window of
//! `log_avg_msec` and direction.
//!
//! Names and columns are fio's: `PREFIX_iops.N.log`, where N is the number of the job in the file, from 1 on, without it where
//! `per_job_logs=0`; `time (ms), value, direction, block size, offset or priority, ...`, of which all but the first three are 0
//! in a log of windows, as in fio. Times count from the first measured request of the job, as fio's count from the end of its ramp.
//! A submission takes no time of the host, so `_lat` is `_clat`, and there is no `_slat`.
//!
//! Windows are kept as figures, up to so many of all jobs together: beyond that the windows that follow are twice as long.

use firstread_core::{HostOp, Ns};
use firstread_drive::Observed;
use firstread_workload::JobSpec;
use firstread_workload::job::{JobLogs, LogValue};

/// Windows of all logs together, before those that follow are twice as long.
const WINDOWS_BEFORE_DOUBLING: usize = 1 << 18;

/// A file of fio's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FioLog {
    /// Its name, say `a_iops.1.log`.
    pub name: String,
    pub text: String,
}

/// What is logged of a job, or of jobs that share a log.
#[derive(Clone, Debug)]
struct Set {
    logs: JobLogs,
    /// Number in the names of its files.
    number: Option<usize>,
    /// When its first measured request began.
    began: Option<Ns>,
    width_ns: u64,
    of_width: usize,
    /// End of the current window (ns after `began`).
    end_ns: u64,
    current: [Window; 3],
    windows: Vec<(u64, u64, [Window; 3])>,
    /// Time of the last completion (ns after `began`).
    last_ns: u64,
}

/// Requests of one direction in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    requests: u64,
    bytes: u64,
    sum_ns: u128,
    max_ns: u64,
}

/// The logs that the jobs of a file ask for.
#[derive(Clone, Debug)]
pub(crate) struct FioLogs {
    sets: Vec<Set>,
    /// The set of each job.
    of_job: Vec<Option<usize>>,
    /// Windows of a set before those that follow are twice as long.
    most: usize,
}

/// Place of `op` among the windows, and its number in a log; none of flushes, of which fio logs nothing.
const fn direction(op: HostOp) -> Option<usize> {
    match op {
        HostOp::Read => Some(0),
        HostOp::Write => Some(1),
        HostOp::Trim => Some(2),
        HostOp::Flush => None,
    }
}

impl FioLogs {
    /// Those that `jobs` ask for; none where no job asks for any.
    pub(crate) fn of(jobs: &[JobSpec]) -> Option<FioLogs> {
        let mut sets: Vec<Set> = Vec::new();
        let mut of_job = Vec::new();
        for (i, job) in jobs.iter().enumerate() {
            let logs = &job.logs;
            if !logs.any() {
                of_job.push(None);
                continue;
            }
            let shared = sets.iter().position(|set| set.logs == *logs);
            let set = match shared.filter(|_| !logs.per_job) {
                Some(set) => set,
                None => {
                    let width_ns = logs.window_ms * 1_000_000;
                    sets.push(Set {
                        logs: logs.clone(),
                        number: logs.per_job.then_some(i + 1),
                        began: None,
                        width_ns,
                        of_width: 0,
                        end_ns: width_ns,
                        current: Default::default(),
                        windows: Vec::new(),
                        last_ns: 0,
                    });
                    sets.len() - 1
                }
            };
            of_job.push(Some(set));
        }
        let most = (WINDOWS_BEFORE_DOUBLING / sets.len().max(1)).max(16);
        (!sets.is_empty()).then_some(FioLogs { sets, of_job, most })
    }

    /// A request has completed.
    pub(crate) fn completed(&mut self, request: &Observed<'_>) {
        let completed = request.completed;
        let set = self.of_job.get(completed.queue as usize).copied().flatten();
        let (Some(set), Some(direction)) = (set, direction(completed.command.op)) else {
            return;
        };
        if request.is_measured {
            let (at, since) = (completed.at, completed.since);
            self.sets[set].completed(direction, at, since, completed.command.len_bytes, self.most);
        }
    }

    /// All of them.
    pub(crate) fn finish(self) -> Vec<FioLog> {
        self.sets.into_iter().flat_map(Set::finish).collect()
    }
}

impl Set {
    fn completed(&mut self, direction: usize, at: Ns, since: Ns, bytes: u32, most: usize) {
        let began = *self.began.get_or_insert(since);
        let time_ns = at.since(began).0;
        while time_ns >= self.end_ns {
            self.end_window(self.end_ns);
            self.of_width += 1;
            if self.of_width == most {
                (self.width_ns, self.of_width) = (self.width_ns.saturating_mul(2), 0);
            }
            self.end_ns = self.end_ns.saturating_add(self.width_ns);
        }
        self.last_ns = time_ns;
        let latency_ns = at.since(since).0;
        let window = &mut self.current[direction];
        window.requests += 1;
        window.bytes += u64::from(bytes);
        window.sum_ns += u128::from(latency_ns);
        window.max_ns = window.max_ns.max(latency_ns);
    }

    /// The current window ends at `end_ns`. One without requests is not kept, as fio logs none.
    fn end_window(&mut self, end_ns: u64) {
        let ended = std::mem::take(&mut self.current);
        if ended.iter().any(|window| window.requests > 0) {
            let start_ns = self.end_ns - self.width_ns;
            self.windows.push((start_ns, end_ns, ended));
        }
    }

    fn finish(mut self) -> Vec<FioLog> {
        self.end_window(self.last_ns);
        let name = |prefix: &str, kind: &str| match self.number {
            Some(number) => format!("{prefix}_{kind}.{number}.log"),
            None => format!("{prefix}_{kind}.log"),
        };
        let log = |prefix: &Option<String>, kind: &str, value: fn(&Window, u64) -> u64| {
            let prefix = prefix.as_deref()?;
            Some(FioLog {
                name: name(prefix, kind),
                text: self.text(value),
            })
        };
        let latency: fn(&Window, u64) -> u64 = match self.logs.value {
            LogValue::Average => |w, _| (w.sum_ns / u128::from(w.requests.max(1))) as u64,
            LogValue::Max => |w, _| w.max_ns,
        };
        [
            log(&self.logs.iops, "iops", |w, ns| per_second(w.requests, ns)),
            log(&self.logs.bw, "bw", |w, ns| per_second(w.bytes, ns) / 1024),
            log(&self.logs.lat, "lat", latency),
            log(&self.logs.lat, "clat", latency),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A line a window and direction, with `value` of the window and its length (ns).
    fn text(&self, value: fn(&Window, u64) -> u64) -> String {
        let mut text = String::new();
        for (start_ns, end_ns, window) in &self.windows {
            for (direction, window) in window.iter().enumerate().filter(|(_, w)| w.requests > 0) {
                text += &format!(
                    "{}, {}, {direction}, 0, 0\n",
                    end_ns.div_ceil(1_000_000),
                    value(window, end_ns - start_ns)
                );
            }
        }
        text
    }
}

fn per_second(n: u64, ns: u64) -> u64 {
    (u128::from(n) * 1_000_000_000 / u128::from(ns.max(1))) as u64
}
