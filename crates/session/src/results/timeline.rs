//! A run over time: a row an interval.

use firstread_core::HostOp;
use firstread_drive::stats::timeline::{Completions, DIRECTIONS, Interval, PERCENTILES};
use serde_json::{Map, Value, json};

use crate::outcome::Outcome;
use crate::setup::Setup;

/// Directions that have columns; of flushes there is the number alone.
const COLUMNS: [(HostOp, &str); 3] = [
    (HostOp::Read, "read"),
    (HostOp::Write, "write"),
    (HostOp::Trim, "trim"),
];

/// What completed in `interval` of direction `op`.
pub fn completions(interval: &Interval, op: HostOp) -> &Completions {
    let place = DIRECTIONS.iter().position(|&of| of == op);
    &interval.directions[place.unwrap_or(0)]
}

/// A percentile as keys and columns have it: `p99_9`.
fn percentile_name(percent: f64) -> String {
    format!("p{percent}").replace('.', "_")
}

/// Rows of a result, one an interval.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Option<Value> {
    let intervals = &outcome.written_down.intervals;
    let slot_bytes = u64::from(setup.profile.geometry.slot_bytes);
    let rows = || intervals.iter().map(|interval| row(interval, slot_bytes));
    (!intervals.is_empty()).then(|| rows().collect())
}

fn row(interval: &Interval, slot_bytes: u64) -> Value {
    let work = interval.work;
    let mut row = json!({
        "start_ns": interval.start.0,
        "length_ns": interval.length_ns(),
    });
    for (op, name) in COLUMNS {
        let of = completions(interval, op);
        if of.requests > 0 {
            row[name] = direction(interval, of);
        }
    }
    row["flushes"] = completions(interval, HostOp::Flush).requests.into();
    row["write_amplification"] = work.written.ratio().into();
    row["host_bytes"] = work.written.host_bytes.into();
    row["flash_bytes"] = work.written.flash_bytes.into();
    row["moved_bytes"] = (work.slots_moved * slot_bytes).into();
    row["superblocks_erased"] = work.erases.into();
    row["page_reads"] = work.page_reads.into();
    row["retries_mean"] = work.retries_mean().into();
    row["background_reads"] = work.background_reads.into();
    row
}

fn direction(interval: &Interval, of: &Completions) -> Value {
    let mut value = json!({
        "requests": of.requests,
        "iops": interval.per_second(of.requests),
        "bw_bytes": interval.per_second(of.bytes),
        "lost": of.lost,
        "min_ns": of.min_ns,
        "mean_ns": of.mean_ns(),
        "max_ns": of.max_ns,
    });
    let percentiles = PERCENTILES.iter().zip(of.percentiles_ns);
    let percentiles: Map<String, Value> = percentiles
        .map(|(p, ns)| (format!("{p:.6}"), ns.into()))
        .collect();
    value["percentile"] = percentiles.into();
    value
}

/// The rows as CSV, with empty cells for what an interval does not have; none where no course over time was kept.
pub fn csv(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let intervals = &outcome.written_down.intervals;
    if intervals.is_empty() {
        return None;
    }
    let slot_bytes = u64::from(setup.profile.geometry.slot_bytes);
    let mut names: Vec<String> = vec!["start_ns".into(), "length_ns".into()];
    for (_, name) in COLUMNS {
        let of = [
            "requests",
            "iops",
            "bytes_per_s",
            "lost",
            "min_ns",
            "mean_ns",
        ];
        names.extend(of.map(|of| format!("{name}_{of}")));
        let percentiles = PERCENTILES.map(|p| format!("{name}_{}_ns", percentile_name(p)));
        names.extend(percentiles);
        names.push(format!("{name}_max_ns"));
    }
    names.extend(
        [
            "flushes",
            "write_amplification",
            "host_bytes",
            "flash_bytes",
            "moved_bytes",
            "superblocks_erased",
            "page_reads",
            "retries_mean",
            "background_reads",
        ]
        .map(str::to_owned),
    );
    let mut text = names.join(",") + "\n";
    for interval in intervals {
        let mut cells = vec![
            interval.start.0.to_string(),
            interval.length_ns().to_string(),
        ];
        for (op, _) in COLUMNS {
            cells.extend(cells_of(interval, completions(interval, op)));
        }
        let or_empty = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let work = interval.work;
        cells.extend([
            completions(interval, HostOp::Flush).requests.to_string(),
            or_empty(work.written.ratio()),
            work.written.host_bytes.to_string(),
            work.written.flash_bytes.to_string(),
            (work.slots_moved * slot_bytes).to_string(),
            work.erases.to_string(),
            work.page_reads.to_string(),
            or_empty(work.retries_mean()),
            work.background_reads.to_string(),
        ]);
        text += &cells.join(",");
        text.push('\n');
    }
    Some(text)
}

fn cells_of(interval: &Interval, of: &Completions) -> Vec<String> {
    let mut cells = vec![
        of.requests.to_string(),
        interval.per_second(of.requests).to_string(),
        interval.per_second(of.bytes).to_string(),
        of.lost.to_string(),
    ];
    match of.mean_ns() {
        None => cells.extend(vec![String::new(); 3 + PERCENTILES.len()]),
        Some(mean_ns) => {
            cells.extend([of.min_ns.to_string(), mean_ns.to_string()]);
            cells.extend(of.percentiles_ns.map(|ns| ns.to_string()));
            cells.push(of.max_ns.to_string());
        }
    }
    cells
}
