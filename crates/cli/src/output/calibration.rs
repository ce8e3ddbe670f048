//! The log of background work on read levels as a table: a row a group.

use firstread_session::Outcome;
use firstread_session::results::calibration::{bins, hours, rows};

use super::format::{Side, count, table};

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// A row a group.
pub fn summary(outcome: &Outcome) -> String {
    let (rows, passes) = rows(&outcome.log);
    if rows.is_empty() {
        return match passes.n {
            0 => "calibration: the scheme does nothing in the background\n".into(),
            n => format!(
                "calibration: {} background reads logged, in {n} intervals; the scheme has no groups\n",
                count(passes.reads)
            ),
        };
    }
    const HEAD: [&str; 12] = [
        "group",
        "P/E",
        "hours",
        "factory entries",
        "inherited",
        "verified",
        "last fail ‰",
        "sorted",
        "tracked",
        "moves",
        "discarded",
        "reads",
    ];
    let mut head = HEAD.map(String::from).to_vec();
    head.push("last, h".into());
    let mut table_rows = vec![head];
    for (&group, row) in &rows {
        let (pe, retention) = bins(outcome.groups.as_ref(), group);
        table_rows.push(vec![
            group.to_string(),
            pe,
            retention,
            row.entries.map_or("-".into(), |e| joined(&e)),
            row.inherited.to_string(),
            row.verified.to_string(),
            row.fail_permille.map_or("-".into(), |f| joined(&f)),
            row.sorted.to_string(),
            row.tracked.to_string(),
            row.iterations.to_string(),
            row.discarded.to_string(),
            count(row.reads),
            format!("{:+.2}", hours(outcome, row.last)),
        ]);
    }
    let reads: u64 = rows.values().map(|r| r.reads).sum();
    let per_pass = passes.reads.checked_div(passes.n).unwrap_or(0);
    format!(
        "calibration by group; the last column counts from the start of the workload\n{}\
         {} background reads for {} groups; {} passes of {} reads on average\n",
        table("  ", &[Side::Right; 13], &table_rows),
        count(reads),
        rows.len(),
        passes.n,
        count(per_pass),
    )
}
