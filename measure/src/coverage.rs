//! `cargo xtask coverage`: how many runs' intervals hold the truth, and the table of docs/intervals.md.
//!
//! One drive is made again and again and runs the same load with other workload seeds. The truth is the
//! figure of all runs together; an interval of 95 % holds it in 95 of 100 runs.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use firstread_core::Stream;
use firstread_drive::stats::{Latencies, Percentile};
use firstread_drive::tables::DriveTables;
use firstread_drive::{Drive, DriveState, Host};
use firstread_testkit::{aged, profile, voltages};
use firstread_workload::fio;

const DOCUMENT: &str = "docs/intervals.md";
const BEGIN: &str = "<!-- coverage: made by cargo xtask coverage -->\n";
const END: &str = "<!-- end of coverage -->";

/// Percentiles whose coverage has to lie in `BAND`.
const HELD: [f64; 2] = [99.0, 99.9];
/// Others that are shown.
const SHOWN: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// Runs that cover, of those that have an interval, where at least half of all runs have one.
const BAND: std::ops::RangeInclusive<f64> = 0.90..=0.98;
/// Requests of 70/30 in a wave of programs: a wordline over all dies takes 8,192 writes of 4 KiB.
const WAVE: u64 = 27_307;

/// One die of the drive `dc-qlc-15t`: a server with a queue.
const ONE_DIE: &[&str] = &[
    "geometry.channels=1",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=24",
    "capacity=6 GiB",
    "chip.failures.factory_bad=0 %",
    // One die has no other that could hold its parity.
    "schemes.read_recovery=none",
];

/// A load, whose intervals are checked.
struct Case {
    name: &'static str,
    set: &'static [&'static str],
    job: String,
    requests: u64,
    /// Requests of the same load before those that count: fewer than so many, drawn by the workload seed.
    lead: u64,
    judged: Judged,
}

/// Requirement on the coverage of `HELD`.
#[derive(Clone, Copy, PartialEq)]
enum Judged {
    /// In `BAND`.
    Band,
    /// At least the lower end of `BAND`, for a reason that docs/intervals.md gives under this name.
    AtLeast(&'static str),
}

/// Result of the runs of a case.
struct Row {
    figure: String,
    /// Runs whose interval holds the truth, and runs that have one.
    covered: u64,
    known: u64,
    /// Half of an interval, of the truth, on average (%).
    half: f64,
    /// 1.96 standard deviations over runs, of the truth (%).
    apart: f64,
    /// Mean number of requests that runs without an interval are said to need.
    needed: Option<f64>,
    held: bool,
}

/// Measures `runs` runs of each case and writes the table, or the rows of the cases that `only` selects; with
/// `check` writes nothing. Fails if a coverage is outside its band.
pub fn run(runs: u64, check: bool, only: Option<&str>) -> Result<(), String> {
    let saturated = saturated_iops()?;
    let poisson = |load: f64| {
        let rate = (load * saturated) as u64;
        format!(
            "[j]\nrw=randread\nbs=4k\niodepth=4096\nnorandommap\nrate_process=poisson\nrate_iops={rate}\n"
        )
    };
    let random = "[j]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\n";
    let mixed = "[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\n";
    // Writes to 16 MiB find their page in the write buffer and replace it there.
    let beside = |size: &str| {
        format!(
            "[global]\nbs=4k\nnorandommap\n[reads]\nrw=randread\niodepth=22\n\
             [writes]\nrw=randwrite\niodepth=10\nrate_iops=75000\n{size}\n"
        )
    };
    let case = |name, set, job: String, requests| Case {
        name,
        set,
        job,
        requests,
        lead: 0,
        judged: Judged::Band,
    };
    let cases = [
        case(
            "Poisson arrivals on one die, load 0.6",
            ONE_DIE,
            poisson(0.6),
            100_000,
        ),
        case(
            "Poisson arrivals on one die, load 0.9",
            ONE_DIE,
            poisson(0.9),
            100_000,
        ),
        // About what runs of 100,000 are told that P99 needs.
        case(
            "Poisson arrivals on one die, load 0.9",
            ONE_DIE,
            poisson(0.9),
            260_000,
        ),
        case(
            "Poisson arrivals on one die, load 0.9",
            ONE_DIE,
            poisson(0.9),
            500_000,
        ),
        case("random reads of 4 KiB, QD32", &[], random.into(), 100_000),
        Case {
            judged: Judged::AtLeast("control"),
            ..case(
                "reads beside writes to 16 MiB, none programmed",
                &[],
                beside("size=16m"),
                200_000,
            )
        },
        Case {
            judged: Judged::AtLeast("waves"),
            ..case(
                "the same beside writes to the whole drive",
                &[],
                beside(""),
                200_000,
            )
        },
        Case {
            judged: Judged::AtLeast("waves"),
            ..case("reads of 70/30, 4 KiB, QD32", &[], mixed.into(), 200_000)
        },
        Case {
            lead: WAVE,
            ..case(
                "the same, each run from a phase of its own",
                &[],
                mixed.into(),
                200_000,
            )
        },
    ];
    let mut table = format!(
        "{runs} runs each, the drive of seed 1, workload seeds 1 to {runs}. *Covers*: of the runs that have an \
         interval,\nthose whose interval holds the figure of all runs together. *Runs differ*: 1.96 standard deviations of \
         the\nfigure over runs, which half an interval should be. *Waves* and \
         *control*: above 98 %, for\nthe reasons below.\n\n\
         | load | requests | figure | has an interval | covers | half, mean | runs differ | the others need |\n\
         |---|---:|---|---:|---:|---:|---:|---:|\n"
    );
    let mut wrong = Vec::new();
    let wanted = |case: &&Case| {
        let name = format!("{}, {}", case.name, case.requests);
        only.is_none_or(|text| name.contains(text))
    };
    for case in cases.iter().filter(wanted) {
        for row in measure(case, runs)? {
            let share = row.covered as f64 / row.known.max(1) as f64;
            let most_are_short = row.known * 2 < runs;
            let covers = match row.known {
                0 => "too short".to_owned(),
                _ if most_are_short => format!("{:.1} %, most are too short", 100.0 * share),
                _ => match case.judged {
                    Judged::AtLeast(why) if share > *BAND.end() => {
                        format!("{:.1} %, {why}", 100.0 * share)
                    }
                    _ => format!("{:.1} %", 100.0 * share),
                },
            };
            let half = match row.known {
                0 => String::new(),
                _ => format!("± {:.2} %", 100.0 * row.half),
            };
            let needed = row.needed.map_or(String::new(), |n| format!("{n:.1e}"));
            let line = format!(
                "| {} | {} | {} | {} | {covers} | {half} | {:.2} % | {needed} |",
                case.name,
                case.requests,
                row.figure,
                row.known,
                100.0 * row.apart
            );
            println!("{line}");
            table += &(line + "\n");
            let holds = match case.judged {
                Judged::Band => BAND.contains(&share),
                Judged::AtLeast(_) => share >= *BAND.start(),
            };
            if row.held && !most_are_short && !holds {
                wrong.push(format!("{}, {}: {share:.3}", case.name, row.figure));
            }
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
        false => Err(format!("coverage outside its band: {}", wrong.join("; "))),
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

/// Reads a second of the one die when it is never idle.
fn saturated_iops() -> Result<f64, String> {
    let job = "[j]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\n";
    let tables = voltages(&profile("dc-qlc-15t", ONE_DIE));
    let case = Case {
        name: "one die, never idle",
        set: ONE_DIE,
        job: job.into(),
        requests: 20_000,
        lead: 0,
        judged: Judged::Band,
    };
    let read = one_run(&case, tables, 1)?;
    Ok(read.0.count() as f64 * 1e9 / read.1)
}

/// The reads of a run, and its time (ns).
fn one_run(
    case: &Case,
    tables: DriveTables,
    workload_seed: u64,
) -> Result<(Latencies, f64), String> {
    let failed = |e: &dyn std::fmt::Display| format!("workload seed {workload_seed}: {e}");
    let state = DriveState {
        workload_seed,
        ..aged(28, 300)
    };
    let mut drive =
        Drive::new(profile("dc-qlc-15t", case.set), tables, &state, 1).map_err(|e| failed(&e))?;
    let workload = fio::parse("coverage.fio", &case.job).map_err(|e| failed(&e))?;
    let mut run = |requests: u64, seed: u64| {
        let host = Host::jobs(&workload, drive.capacity_bytes(), seed, Some(requests));
        let host = host.map_err(|e| failed(&e))?;
        host.run(&mut drive, &mut |_| {}).map_err(|e| failed(&e))
    };
    if case.lead > 0 {
        let lead = Stream::new(workload_seed).named("lead").at(0);
        run(lead.below(case.lead).max(1), !workload_seed)?;
    }
    let stats = run(case.requests, workload_seed)?;
    Ok((stats.all.read, stats.all.runtime_ns.max(1) as f64))
}

/// Result of a run: each figure with its interval.
struct Kept {
    rate: f64,
    /// IOPS and mean: value and half.
    plain: [(f64, Option<f64>); 2],
    percentiles: [Percentile; SHOWN.len()],
}

fn measure(case: &Case, runs: u64) -> Result<Vec<Row>, String> {
    let tables = voltages(&profile("dc-qlc-15t", case.set));
    let (next, all) = (
        AtomicU64::new(1),
        Mutex::new((Latencies::default(), Vec::new())),
    );
    let worker = || -> Result<(), String> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > runs {
                return Ok(());
            }
            let (read, ns) = one_run(case, tables.clone(), seed)?;
            let rate = read.count() as f64 * 1e9 / ns;
            let kept = Kept {
                rate,
                plain: [
                    (rate, read.rate_half().map(|half| half * rate)),
                    (read.mean_ns(), read.mean_half_ns()),
                ],
                percentiles: SHOWN.map(|p| read.percentile(p)),
            };
            if let Ok(mut all) = all.lock() {
                all.0.merge(&read);
                all.1.push(kept);
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
    let (together, kept) = all.into_inner().map_err(|_| "a thread has failed")?;
    let n = kept.len().max(1) as f64;
    let truths = [
        kept.iter().map(|k| k.rate).sum::<f64>() / n,
        together.mean_ns(),
    ];
    let apart = |of: &dyn Fn(&Kept) -> f64| {
        let mean = kept.iter().map(of).sum::<f64>() / n;
        let squares = kept.iter().map(|k| (of(k) - mean) * (of(k) - mean));
        1.96 * (squares.sum::<f64>() / n).sqrt() / mean
    };
    let mut rows = Vec::new();
    for (i, figure) in ["IOPS", "mean"].into_iter().enumerate() {
        let known: Vec<(f64, f64)> = kept
            .iter()
            .filter_map(|k| Some((k.plain[i].0, k.plain[i].1?)))
            .collect();
        let covered = known
            .iter()
            .filter(|(v, half)| (v - truths[i]).abs() <= *half);
        rows.push(Row {
            figure: figure.into(),
            covered: covered.count() as u64,
            known: known.len() as u64,
            half: known.iter().map(|k| k.1).sum::<f64>() / known.len().max(1) as f64 / truths[i],
            apart: apart(&|k| k.plain[i].0),
            needed: None,
            held: false,
        });
    }
    for (i, percent) in SHOWN.into_iter().enumerate() {
        let truth = together.percentile(percent).ns;
        let known: Vec<(u64, u64)> = kept
            .iter()
            .filter_map(|k| k.percentiles[i].interval_ns)
            .collect();
        let needed: Vec<u64> = kept
            .iter()
            .filter_map(|k| k.percentiles[i].requests_needed)
            .collect();
        let covered = known
            .iter()
            .filter(|(low, high)| (*low..=*high).contains(&truth));
        let halves = known.iter().map(|(low, high)| (high - low) as f64 / 2.0);
        rows.push(Row {
            figure: format!("P{percent}"),
            covered: covered.count() as u64,
            known: known.len() as u64,
            half: halves.sum::<f64>() / known.len().max(1) as f64 / truth.max(1) as f64,
            apart: apart(&|k| k.percentiles[i].ns as f64),
            needed: (!needed.is_empty())
                .then(|| needed.iter().sum::<u64>() as f64 / needed.len() as f64),
            held: HELD.contains(&percent),
        });
    }
    Ok(rows)
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
