//! Reads by page type: shown for drives whose scheme chooses page types, and beside them.

use firstread_session::page_speed::are_chosen;
use firstread_session::results::page_types::{OfPageType, of_page_types};
use firstread_session::{Outcome, Setup};
use serde::{Deserialize, Serialize};

use super::format::{Side, count, ratio, share, table, time};

const HEAD: [&str; 7] = [
    "page type",
    "senses",
    "tR",
    "page reads",
    "of all",
    "mean",
    "retries",
];

fn cells(of: &OfPageType) -> Vec<String> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    vec![
        format!("{} {}", of.mode.name(), of.name),
        of.senses.to_string(),
        time(of.sense_ns as f64),
        count(of.page_reads),
        or_none(of.read_share.map(share)),
        or_none(of.read_mean_us.map(|us| time(us * 1e3))),
        or_none(of.retries_mean.map(ratio)),
    ]
}

/// Lines of a report.
pub fn lines(setup: &Setup, outcome: &Outcome) -> String {
    let of = of_run(setup, outcome);
    if !of.are_chosen {
        return String::new();
    }
    let rows = [vec![HEAD.map(String::from).to_vec()], of.rows].concat();
    format!("\nreads by page type\n{}", table("  ", &sides(1), &rows))
}

fn sides(left: usize) -> Vec<Side> {
    [vec![Side::Left; left], vec![Side::Right; HEAD.len() - 1]].concat()
}

/// Reads by page type in a run.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct OfPageTypes {
    /// Whether a scheme of the drive chooses page types.
    are_chosen: bool,
    /// Cells of the table, a row a page type.
    rows: Vec<Vec<String>>,
}

/// Those of the run of `setup`.
pub fn of_run(setup: &Setup, outcome: &Outcome) -> OfPageTypes {
    OfPageTypes {
        are_chosen: are_chosen(&setup.profile),
        rows: of_page_types(setup, outcome).iter().map(cells).collect(),
    }
}

/// Those of the drives that are compared, of the first one of each; nothing where no scheme chooses page types.
pub fn compared(axis: &str, results: &[(&str, &OfPageTypes)]) -> String {
    if !results.iter().any(|(_, of)| of.are_chosen) {
        return String::new();
    }
    let head = [axis].into_iter().chain(HEAD).map(String::from);
    let mut rows = vec![head.collect::<Vec<String>>()];
    for (label, of) in results {
        let label = || vec![(*label).to_owned()];
        rows.extend(of.rows.iter().map(|row| [label(), row.clone()].concat()));
    }
    format!("\nreads by page type\n{}", table("  ", &sides(2), &rows))
}
