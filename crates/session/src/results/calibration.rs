//! The log of background work on read levels: a row a group to read, every record as CSV.

use std::collections::BTreeMap;

use firstread_core::Ns;
use firstread_core::voltage::BlockGroups;
use firstread_firmware::log::{Record, What};
use serde_json::{Value, json};

use crate::outcome::Outcome;

/// What was done for one group.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Factory entries it was given at start-up.
    pub entries: Option<[u8; 3]>,
    /// Times that it took entries from another group.
    pub inherited: u32,
    /// Times that its entries were verified.
    pub verified: u32,
    /// Fail ratio of its entries in thousandths, when it was verified last.
    pub fail_permille: Option<[u16; 3]>,
    /// Times that its entries were put in another order.
    pub sorted: u32,
    /// Number of searches for new levels.
    pub tracked: u32,
    /// Window moves of all searches.
    pub iterations: u32,
    /// Number of searches whose result was rejected.
    pub discarded: u32,
    /// Background reads for it.
    pub reads: u64,
    /// Time of the last record of the group, on the drive's clock.
    pub last: Ns,
}

/// Passes over all groups.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passes {
    /// How many there were.
    pub n: u64,
    /// Groups of all of them.
    pub groups: u64,
    /// Background reads of all of them.
    pub reads: u64,
}

/// A row for each group that `log` speaks of, and the passes.
pub fn rows(log: &[Record]) -> (BTreeMap<u8, Row>, Passes) {
    let mut rows: BTreeMap<u8, Row> = BTreeMap::new();
    let mut passes = Passes::default();
    for record in log {
        let Some(group) = group_of(&record.what) else {
            if let What::Passed { groups, reads, .. } = record.what {
                passes.n += 1;
                passes.groups += u64::from(groups);
                passes.reads += u64::from(reads);
            }
            continue;
        };
        let row = rows.entry(group).or_default();
        row.last = record.at;
        row.reads += u64::from(reads_of(&record.what));
        match record.what {
            What::Populated { entries, .. } => row.entries = Some(entries),
            What::Inherited { .. } => row.inherited += 1,
            What::Verified { fail_permille, .. } => {
                row.verified += 1;
                row.fail_permille = Some(fail_permille);
            }
            What::Sorted { .. } => row.sorted += 1,
            What::Tracked { iterations, .. } => {
                row.tracked += 1;
                row.iterations += u32::from(iterations);
            }
            What::Discarded { .. } => row.discarded += 1,
            What::Centered { .. } | What::Converted { .. } | What::Passed { .. } => {}
        }
    }
    (rows, passes)
}

/// Whether `log` tells of calibration.
pub fn is_told(log: &[Record]) -> bool {
    let mut all = log.iter();
    all.any(|record| !matches!(record.what, What::Converted { .. }))
}

/// The group a record is about.
const fn group_of(what: &What) -> Option<u8> {
    match what {
        What::Populated { group, .. }
        | What::Inherited { group, .. }
        | What::Verified { group, .. }
        | What::Sorted { group, .. }
        | What::Tracked { group, .. }
        | What::Centered { group, .. }
        | What::Discarded { group, .. } => Some(*group),
        What::Converted { .. } | What::Passed { .. } => None,
    }
}

/// Background reads a record stands for. Those of a pass are those of its parts.
const fn reads_of(what: &What) -> u32 {
    match what {
        What::Populated { reads, .. }
        | What::Verified { reads, .. }
        | What::Tracked { reads, .. }
        | What::Discarded { reads, .. } => *reads,
        What::Inherited { .. }
        | What::Sorted { .. }
        | What::Centered { .. }
        | What::Converted { .. }
        | What::Passed { .. } => 0,
    }
}

/// P/E cycles and hours of retention of a group: `0..1000`, `24..48`; the last bins are open.
pub fn bins(groups: Option<&BlockGroups>, group: u8) -> (String, String) {
    let Some(groups) = groups.filter(|g| !g.is_empty()) else {
        return ("all".into(), "all".into());
    };
    let (pe, retention) = (group / groups.retention_bins, group % groups.retention_bins);
    let pe_low = u64::from(pe) * u64::from(groups.pe_width);
    let pe = match pe + 1 < groups.pe_bins {
        true => format!("{pe_low}..{}", pe_low + u64::from(groups.pe_width)),
        false => format!("{pe_low}.."),
    };
    let edge = |bin: u8| groups.edges[usize::from(bin)].0 as f64 / 3.6e12;
    let retention = match retention + 1 < groups.retention_bins {
        true => format!("{}..{}", edge(retention), edge(retention + 1)),
        false => format!("{}..", edge(retention)),
    };
    (pe, retention)
}

/// Hours from the start of the workload to `at`; negative before it.
pub fn hours(outcome: &Outcome, at: Ns) -> f64 {
    (at.0 as f64 - outcome.began.0 as f64) / 3.6e12
}

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// The rows as JSON.
pub fn json(outcome: &Outcome) -> Value {
    let (rows, passes) = rows(&outcome.log);
    let rows: Vec<Value> = rows
        .iter()
        .map(|(&group, row)| {
            let (pe, retention) = bins(outcome.groups.as_ref(), group);
            json!({
                "group": group,
                "pe_cycles": pe,
                "retention_h": retention,
                "factory_entries": row.entries,
                "inherited": row.inherited,
                "verified": row.verified,
                "last_fail_permille": row.fail_permille,
                "sorted": row.sorted,
                "tracked": row.tracked,
                "window_moves": row.iterations,
                "discarded": row.discarded,
                "reads": row.reads,
                "last_h": hours(outcome, row.last),
            })
        })
        .collect();
    json!({ "groups": rows, "passes": passes.n, "pass_groups": passes.groups, "pass_reads": passes.reads })
}

/// All records as CSV lines. Columns that do not apply to a record are empty.
pub fn csv(outcome: &Outcome) -> String {
    let mut text = String::from(
        "at_ns,hours_from_run,event,group,pe_cycles,retention_h,reads,entries,from_group,superblocks,\
         fail_permille,order,window_moves,levels_dac,pass,began_ns,groups\n",
    );
    for Record { at, what } in &outcome.log {
        let mut cells: [String; 10] = Default::default();
        let [
            entries,
            from,
            blocks,
            fail,
            order,
            moves,
            levels,
            pass,
            began,
            groups,
        ] = &mut cells;
        let event = match what {
            What::Populated { entries: e, .. } => {
                *entries = joined(e);
                "populated"
            }
            What::Inherited { from: f, .. } => {
                *from = f.to_string();
                "inherited"
            }
            What::Verified {
                blocks: b,
                fail_permille,
                ..
            } => {
                *blocks = joined(&b.map(|b| b.0));
                *fail = joined(fail_permille);
                "verified"
            }
            What::Sorted { order: o, .. } => {
                *order = joined(o);
                "sorted"
            }
            What::Tracked {
                iterations,
                levels: l,
                ..
            } => {
                *moves = iterations.to_string();
                *levels = joined(l);
                "tracked"
            }
            What::Centered { by, .. } => {
                *levels = joined(by);
                "centered"
            }
            What::Discarded { fail_permille, .. } => {
                *fail = joined(fail_permille);
                "discarded"
            }
            What::Passed {
                pass: p,
                began: b,
                groups: g,
                ..
            } => {
                *pass = p.to_string();
                *began = b.0.to_string();
                *groups = g.to_string();
                "passed"
            }
            What::Converted { .. } => continue,
        };
        let (group, (pe, retention)) = match group_of(what) {
            Some(group) => (group.to_string(), bins(outcome.groups.as_ref(), group)),
            None => Default::default(),
        };
        let reads = match what {
            What::Passed { reads, .. } => *reads,
            other => reads_of(other),
        };
        let h = hours(outcome, *at);
        text += &format!("{},{h:.9},{event},{group},{pe},{retention},{reads},", at.0);
        text += &cells.join(",");
        text.push('\n');
    }
    text
}
