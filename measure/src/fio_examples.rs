//! `cargo xtask fio-examples DIR`: every job file of a folder on a drive, and what became of it.
//!
//! fio's own examples are the folder meant. They are not part of this project; the table is.

use std::fs;
use std::path::Path;

use firstread_drive::profile::{Library, load_drive};
use firstread_drive::stats::Latencies;
use firstread_drive::{Drive, DriveState, Host, RunStats};
use firstread_firmware::policy::AXES;
use firstread_workload::{Workload, fio};

/// The drive that the jobs run on, and the requests of each at most.
const DRIVE: &str = "dc-qlc-15t";
const LIMIT: u64 = 100_000;
/// The document.
const DOCUMENT: &str = "docs/fio-examples.md";

/// Result of one file.
enum Row {
    Runs {
        requests: u64,
        whole: bool,
        cells: [String; 3],
        ignored: Vec<String>,
    },
    Not(String),
}

/// Runs the job files of `folder` and writes the table; with `check`, compares it instead.
pub fn run(folder: &Path, check: bool) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "fio"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no .fio file is there", folder.display()));
    }
    let mut rows = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let row = try_file(&name, &String::from_utf8_lossy(&text));
        let said = match &row {
            Row::Runs { requests, .. } => format!("{requests} requests"),
            Row::Not(why) => why.clone(),
        };
        println!("{name}: {said}");
        rows.push((name.into_owned(), row));
    }
    let text = document(&rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(DOCUMENT);
    if check {
        let there = fs::read_to_string(&path).map_err(|e| format!("{DOCUMENT}: {e}"))?;
        return match there == text {
            true => Ok(()),
            false => Err(format!(
                "{DOCUMENT} is stale: run cargo xtask fio-examples DIR"
            )),
        };
    }
    fs::write(&path, text).map_err(|e| format!("{DOCUMENT}: {e}"))
}

fn try_file(name: &str, text: &str) -> Row {
    let workload = match fio::parse(name, text) {
        Ok(workload) => workload,
        Err(error) => return Row::Not(error.to_string()),
    };
    match simulate(&workload) {
        Ok(stats) => row(&workload, &stats),
        Err(error) => Row::Not(error),
    }
}

fn simulate(workload: &Workload) -> Result<RunStats, String> {
    let profile = load_drive(&Library::new(), DRIVE, &[], AXES).map_err(|e| e.to_string())?;
    let tables = firstread_drive::tables::for_drive(&profile).map_err(|e| e.to_string())?;
    let state = DriveState::default();
    let mut drive = Drive::new(profile, tables, &state, 1).map_err(|e| e.to_string())?;
    let host =
        Host::jobs(workload, drive.capacity_bytes(), 1, Some(LIMIT)).map_err(|e| e.to_string())?;
    host.run(&mut drive, &mut |_| {}).map_err(|e| e.to_string())
}

fn row(workload: &Workload, stats: &RunStats) -> Row {
    let all = &stats.all;
    // A notice says that `name` is ignored, and why.
    let ignored = workload.notices.iter().filter_map(|notice| {
        let (name, _) = notice.text.split_once(" is ignored")?;
        Some(name.to_owned())
    });
    Row::Runs {
        requests: stats.requests,
        whole: stats.requests < LIMIT,
        cells: [&all.read, &all.write, &all.trim].map(tail),
        ignored: ignored.collect(),
    }
}

/// P99.99 in µs, or the highest percentile with ten requests beyond it.
fn tail(latencies: &Latencies) -> String {
    if latencies.count() == 0 {
        return String::new();
    }
    let reached = [99.99, 99.9, 99.0, 90.0, 50.0]
        .into_iter()
        .find(|&p| latencies.percentile(p).beyond >= 10);
    match reached {
        Some(p) => format!("P{p} {}", time(latencies.percentile(p).ns)),
        None => format!("mean {}", time(latencies.mean_ns() as u64)),
    }
}

/// A time with three digits in a unit that suits it.
fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => (ns as f64, "ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

fn document(rows: &[(String, Row)]) -> String {
    let runs = rows
        .iter()
        .filter(|(_, row)| matches!(row, Row::Runs { .. }));
    let mut text = format!(
        "# fio's own examples\n\nMade by `cargo xtask fio-examples DIR`, where DIR holds the job \
         files of fio's source or of the Debian package `fio-examples` (3.33): they are not part of \
         this project. Each ran on the shipped drive `{DRIVE}`, filled and new, for at most \
         {LIMIT} requests (marked `+`: it would go on). {} of {} run. Latencies are the highest of \
         P99.99, P99.9, P99, P90 and P50 that ten requests lie beyond.\n\n\
         | job file | requests | read | write | trim | options without effect |\n\
         |---|---:|---|---|---|---|\n",
        runs.count(),
        rows.len(),
    );
    for (name, row) in rows {
        if let Row::Runs {
            requests,
            whole,
            cells,
            ignored,
        } = row
        {
            let more = if *whole { "" } else { "+" };
            text += &format!(
                "| {name} | {requests}{more} | {} | {} |\n",
                cells.join(" | "),
                ignored.join(" ")
            );
        }
    }
    text += "\n## Those that do not run\n\n| job file | why |\n|---|---|\n";
    for (name, row) in rows {
        if let Row::Not(why) = row {
            text += &format!("| {name} | {} |\n", why.replace('|', "\\|"));
        }
    }
    text
}
