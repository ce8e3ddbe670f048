//! Areas that wear apart: shown for drives that have them.

use firstread_firmware::policy::area::Entry;
use firstread_session::Outcome;
use firstread_session::results::areas::{InRun, Reads, areas, entered};

use super::copies::refused;
use super::format::{Side, count, ratio, share, table, time};

/// Lines of a report.
pub fn lines(outcome: &Outcome) -> String {
    let Some(areas) = areas(outcome) else {
        return String::new();
    };
    let mut rows = vec![head("area", &[])];
    rows.extend(areas.iter().map(|of| {
        let mut row = vec![of.name.to_owned()];
        row.extend([
            count(u64::from(of.end.superblocks)),
            count(of.end.valid_slots),
            count(of.erases),
        ]);
        row.extend(of.end.wear.map_or([(); 4].map(|()| "-".into()), |wear| {
            [
                count(u64::from(wear.min)),
                format!("{:.1}", wear.mean),
                count(u64::from(wear.p99)),
                count(u64::from(wear.max)),
            ]
        }));
        row.extend(reads(&of.reads));
        row
    }));
    let c = &outcome.stats.counters;
    let ways = Entry::ALL.into_iter().zip(c.slots_entered);
    let ways: Vec<String> = ways
        .filter(|(_, slots)| *slots > 0)
        .map(|(entry, slots)| format!("{} {}", entry.name().replace('_', " "), count(slots)))
        .collect();
    let ways = match ways.is_empty() {
        true => "none".into(),
        false => ways.join(", "),
    };
    let mut text = format!(
        "\nareas that wear apart\n{}\
         \x20 mapping units written into the low wearing area: {ways}; refused: {}; over budget: {}\n\
         \x20 superblocks of it: {} returned, {} compacted, {} opened for other data\n",
        table("  ", &sides(1), &rows),
        refused(&c.entries_refused),
        count(c.migrations_over_budget),
        count(c.superblocks_emptied_for_room),
        count(c.superblocks_compacted),
        count(c.opened_elsewhere),
    );
    if c.writes_refused > 0 {
        text += &format!(
            "  writes and trims of the host refused at the bound of wear: {}\n",
            count(c.writes_refused)
        );
    }
    text
}

fn head(first: &str, second: &[&str]) -> Vec<String> {
    let rest = [
        "superblocks",
        "valid units",
        "erases",
        "P/E min",
        "mean",
        "P99",
        "max",
        "page reads",
        "of all",
        "mean",
        "retries",
    ];
    let all = [first].into_iter().chain(second.iter().copied());
    all.chain(rest).map(String::from).collect()
}

fn sides(left: usize) -> Vec<Side> {
    [vec![Side::Left; left], vec![Side::Right; 11]].concat()
}

fn reads(of: &Reads) -> [String; 4] {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    [
        count(of.pages),
        or_none(of.share.map(share)),
        or_none(of.mean_us.map(|us| time(us * 1e3))),
        or_none(of.retries_mean.map(ratio)),
    ]
}

/// The areas of a run, a row each as [`compared`] takes them; none where the drive wears as a whole.
pub fn rows(outcome: &Outcome) -> Vec<Vec<String>> {
    let c = &outcome.stats.counters;
    let row = |of: InRun| {
        let [_, of_all, mean, retries] = reads(&of.reads);
        let wear = of.end.wear.unwrap_or_default();
        vec![
            of.name.to_owned(),
            format!("{:.1}", wear.mean),
            count(u64::from(wear.max)),
            of_all,
            mean,
            retries,
            count(entered(outcome)),
            count(c.superblocks_emptied_for_room),
            count(c.opened_elsewhere),
        ]
    };
    areas(outcome).into_iter().flatten().map(row).collect()
}

/// The areas of the drives that are compared, the rows of the first one of each; nothing where none has any.
pub fn compared(axis: &str, results: &[(&str, &[Vec<String>])]) -> String {
    let head = [
        axis,
        "area",
        "P/E mean",
        "max",
        "of reads",
        "mean",
        "retries",
        "entered",
        "returned",
        "elsewhere",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (label, areas) in results {
        let label = || vec![(*label).to_owned()];
        rows.extend(areas.iter().map(|row| [label(), row.clone()].concat()));
    }
    if rows.len() == 1 {
        return String::new();
    }
    let sides = [vec![Side::Left; 2], vec![Side::Right; 8]].concat();
    format!("\nareas that wear apart\n{}", table("  ", &sides, &rows))
}
