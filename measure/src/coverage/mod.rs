//! `cargo xtask coverage`: how many runs' intervals hold the truth, and the table of docs/intervals.md.
//!
//! One drive runs the same load again and again from the same state, with other workload seeds. The truth is the
//! figure of all runs together; an interval of 95 % holds it in 95 of 100 runs. [`cases`] has the drives and loads.

mod cases;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use firstread_drive::RunStats;
use firstread_drive::stats::Latencies;

use cases::{Case, Judged};

const DOCUMENT: &str = "docs/intervals.md";
const BEGIN: &str = "<!-- coverage: made by cargo xtask coverage -->\n";
const END: &str = "<!-- end of coverage -->";

/// Percentiles that are shown.
const SHOWN: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// Those whose coverage is judged where the drive does not clean.
const HELD: [&str; 2] = ["P99", "P99.9"];
/// Runs that cover, of those that have an interval, where at least half of all runs have one.
const BAND: std::ops::RangeInclusive<f64> = 0.90..=0.98;
/// Half an interval beside 1.96 standard deviations over runs, at most, where the drive cleans.
const WIDEST: f64 = 3.0;
/// What runs differ by less than need not be told apart (relative).
const FINE: f64 = 0.002;

/// Figure of a run, with its interval.
struct Figure {
    name: String,
    value: f64,
    interval: Option<(f64, f64)>,
    /// Requests after which it is expected to have one, where it has none.
    needed: Option<u64>,
    /// Direction, and percentile of its latencies. The truth is then that of the latencies of all runs together.
    percentile: Option<(usize, f64)>,
}

/// Result of the runs of a case for one figure.
struct Row {
    figure: String,
    /// Runs whose interval holds the truth, runs that have one, and all runs.
    covered: u64,
    known: u64,
    runs: u64,
    /// Half of an interval, of the truth, on average.
    half: f64,
    /// 1.96 standard deviations over runs, of the truth.
    apart: f64,
    /// Mean number of requests that runs without an interval are said to need.
    needed: Option<f64>,
}

impl Row {
    fn covers(&self) -> f64 {
        self.covered as f64 / self.known.max(1) as f64
    }

    fn most_are_short(&self) -> bool {
        self.known * 2 < self.runs
    }

    /// Whether it is as `judged` requires.
    fn holds(&self, judged: Judged) -> bool {
        let covers = self.covers();
        let figure = self.figure.as_str();
        let is_held = match judged {
            Judged::Width(_) => !figure.ends_with("P99.9") && self.reason(judged).is_none(),
            _ => HELD.contains(&figure),
        };
        if !is_held || self.most_are_short() {
            return true;
        }
        match judged {
            Judged::Band => BAND.contains(&covers),
            Judged::AtLeast(_) => covers >= *BAND.start(),
            Judged::Nothing(_) => true,
            Judged::Width(_) => {
                covers >= *BAND.start() && self.half <= WIDEST * self.apart.max(FINE)
            }
        }
    }

    /// Name of the reason why it need not be as others.
    fn reason(&self, judged: Judged) -> Option<&'static str> {
        match judged {
            Judged::Band => None,
            Judged::AtLeast(why) => (self.covers() > *BAND.end()).then_some(why),
            Judged::Width(apart) => {
                let found = apart.iter().find(|(figure, _)| *figure == self.figure);
                found.map(|(_, why)| *why)
            }
            Judged::Nothing(why) => (self.covers() < *BAND.start()).then_some(why),
        }
    }

    fn line(&self, case: &Case) -> String {
        let share = self.covers();
        let covers = match (self.known, self.reason(case.judged)) {
            (0, _) => "too short".to_owned(),
            _ if self.most_are_short() => format!("{:.1} %, most are too short", 100.0 * share),
            (_, Some(why)) => format!("{:.1} %, {why}", 100.0 * share),
            _ => format!("{:.1} %", 100.0 * share),
        };
        let half = match self.known {
            0 => String::new(),
            _ => format!("± {:.2} %", 100.0 * self.half),
        };
        let needed = self.needed.map_or(String::new(), |n| format!("{n:.1e}"));
        format!(
            "| {} | {} | {} | {} | {covers} | {half} | {:.2} % | {needed} |",
            case.name,
            case.requests,
            self.figure,
            self.known,
            100.0 * self.apart
        )
    }
}

/// Measures `runs` runs of each case and writes the table, or the rows of the cases that `only`
/// selects; with `check` writes nothing. Fails if a coverage is not as it has to be.
pub fn run(runs: u64, check: bool, only: Option<&str>) -> Result<(), String> {
    let mut table = format!(
        "{runs} runs each, on one drive, workload seeds 1 to {runs}. *Covers*: of the runs that have an \
         interval,\nthose whose interval holds the figure of all runs together. *Runs differ*: 1.96 standard deviations of \
         the\nfigure over runs, which half an interval should be. *Waves* and \
         *control*: above 98 %, for\nthe reasons below.\n\n\
         | load | requests | figure | has an interval | covers | half, mean | runs differ | the others need |\n\
         |---|---:|---|---:|---:|---:|---:|---:|\n"
    );
    let mut wrong = Vec::new();
    let cases = cases::all()?;
    let wanted = |case: &&Case| {
        let name = format!("{}, {}", case.name, case.requests);
        only.is_none_or(|text| name.contains(text))
    };
    for case in cases.iter().filter(wanted) {
        for row in measure(case, runs)? {
            let line = row.line(case);
            println!("{line}");
            if !row.holds(case.judged) {
                wrong.push(line.clone());
            }
            table += &(line + "\n");
        }
    }
    if !check {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(DOCUMENT);
        let text = fs::read_to_string(&path).map_err(|e| format!("{DOCUMENT}: {e}"))?;
        let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
            let (old, after) = rest.split_once(END)?;
            Some((before, old, after))
        });
        let (before, old, after) = parts.ok_or(format!("{DOCUMENT} has no place for the table"))?;
        let table = match only {
            Some(_) => replaced(old.trim(), &table)? + "\n",
            None => table,
        };
        let text = format!("{before}{BEGIN}\n{table}\n{END}{after}");
        fs::write(&path, text).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("not as they have to be:\n{}", wrong.join("\n"))),
    }
}

/// The table `old` with the rows of `new`, which are the same rows measured again.
fn replaced(old: &str, new: &str) -> Result<String, String> {
    // Load, requests and figure.
    let key = |row: &str| -> Vec<String> { row.split('|').take(4).map(str::to_owned).collect() };
    if old.lines().next() != new.lines().next() {
        return Err(format!("{DOCUMENT} is of another number of runs"));
    }
    let mut rows: Vec<&str> = old.lines().collect();
    for row in new.lines().filter(|row| row.starts_with("| ")) {
        let at = rows.iter().position(|old| key(old) == key(row));
        let at = at.ok_or_else(|| format!("{DOCUMENT} has no row like this: {row}"))?;
        rows[at] = row;
    }
    Ok(rows.join("\n"))
}

/// Latencies by direction: reads, writes.
fn directions(stats: &RunStats) -> [&Latencies; 2] {
    [&stats.all.read, &stats.all.write]
}

/// Figures of a run. Where the drive cleans those of writes and write amplification are among them.
fn figures(case: &Case, stats: &RunStats) -> Vec<Figure> {
    let mut all = Vec::new();
    let around = |value: f64, half: Option<f64>| half.map(|half| (value - half, value + half));
    let with_writes = case.judged.with_writes();
    if let (true, Some(e)) = (with_writes, stats.amplification.estimate) {
        all.push(Figure {
            name: "write amplification".into(),
            value: e.mean,
            interval: stats.amplification.steady().map(|e| e.interval),
            needed: None,
            percentile: None,
        });
    }
    let names = match with_writes {
        true => ["read ", "write "],
        false => ["", ""],
    };
    for (direction, latencies) in directions(stats).into_iter().enumerate() {
        if latencies.count() == 0 || direction > 0 && !with_writes {
            continue;
        }
        let rate = latencies.count() as f64 * 1e9 / stats.all.runtime_ns.max(1) as f64;
        let plain = [
            ("IOPS", rate, latencies.rate_half().map(|half| half * rate)),
            ("mean", latencies.mean_ns(), latencies.mean_half_ns()),
        ];
        all.extend(plain.map(|(name, value, half)| Figure {
            name: format!("{}{name}", names[direction]),
            value,
            interval: around(value, half),
            needed: None,
            percentile: None,
        }));
        all.extend(SHOWN.map(|percent| {
            let p = latencies.percentile(percent);
            Figure {
                name: format!("{}P{percent}", names[direction]),
                value: p.ns as f64,
                interval: p.interval_ns.map(|(low, high)| (low as f64, high as f64)),
                needed: p.requests_needed,
                percentile: Some((direction, percent)),
            }
        }));
    }
    all
}

fn measure(case: &Case, runs: u64) -> Result<Vec<Row>, String> {
    let drive = case.drive();
    let (next, all) = (
        AtomicU64::new(1),
        Mutex::new(([Latencies::default(), Latencies::default()], Vec::new())),
    );
    let worker = || -> Result<(), String> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > runs {
                return Ok(());
            }
            let stats = case.run(&drive, seed)?;
            let figures = figures(case, &stats);
            if let Ok(mut all) = all.lock() {
                for (together, of) in all.0.iter_mut().zip(directions(&stats)) {
                    together.merge(of);
                }
                all.1.push(figures);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|w| w.join().unwrap_or(Err("a thread has failed".into())))
    })?;
    let (together, runs) = all.into_inner().map_err(|_| "a thread has failed")?;
    let figures = runs.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..figures).map(|i| row(&together, &runs, i)).collect())
}

/// Figure `i` over all runs.
fn row(together: &[Latencies; 2], runs: &[Vec<Figure>], i: usize) -> Row {
    let of = || runs.iter().map(|run| &run[i]);
    let n = runs.len() as f64;
    let mean = of().map(|f| f.value).sum::<f64>() / n;
    let truth = match runs[0][i].percentile {
        Some((direction, percent)) => together[direction].percentile(percent).ns as f64,
        None => mean,
    };
    let squares: f64 = of().map(|f| (f.value - mean) * (f.value - mean)).sum();
    let known: Vec<(f64, f64)> = of().filter_map(|f| f.interval).collect();
    let covered = known
        .iter()
        .filter(|(low, high)| (*low..=*high).contains(&truth));
    let halves = known.iter().map(|(low, high)| (high - low) / 2.0);
    let needed: Vec<u64> = of().filter_map(|f| f.needed).collect();
    Row {
        figure: runs[0][i].name.clone(),
        covered: covered.count() as u64,
        known: known.len() as u64,
        runs: runs.len() as u64,
        half: halves.sum::<f64>() / known.len().max(1) as f64 / truth,
        apart: 1.96 * (squares / n).sqrt() / mean,
        needed: (!needed.is_empty())
            .then(|| needed.iter().sum::<u64>() as f64 / needed.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_rows_measured_again_take_the_place_of_the_old_ones() {
        let table = |mean: u32, p99: u32| {
            format!(
                "2 runs each\n\n| load | requests |\n|---|\n| a | 9 | mean | {mean} |\n| a | 9 | P99 | {p99} |"
            )
        };
        let old = table(1, 2);
        let new = "2 runs each\n\n| load | requests |\n|---|\n| a | 9 | P99 | 3 |\n";
        assert_eq!(replaced(&old, new), Ok(table(1, 3)));
        assert!(replaced(&old, &new.replace("a |", "b |")).is_err());
        assert!(replaced(&old, &new.replace("2 runs", "3 runs")).is_err());
    }
}
