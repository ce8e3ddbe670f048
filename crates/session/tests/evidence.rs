//! `docs/evidence.md`: each open number of the profiles, its source, its range, and the rows that decide it. Written by this
//! test, as the reference is.
#![allow(
    clippy::disallowed_methods,
    reason = "results that are kept beside the studies are read"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use firstread_drive::profile::{CHIPS, DRIVES};
use firstread_session::study;
use firstread_session::study::tension;
use serde_json::Value;

use super::documented::{check, code, table};

/// From which rank correlation on a row is said to decide a knob.
const DECIDES: f64 = 0.3;

/// Words with which the source of an open number begins.
const OPEN: [&str; 2] = ["assumed", "chosen"];

/// The leaves of `table` whose source says that they are open: path, value, source.
fn open_numbers(path: &str, table: &toml::Table, all: &mut Vec<[String; 3]>) {
    for (key, value) in table {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let Some(inner) = value.as_table() else {
            continue;
        };
        match (
            inner.get("value"),
            inner.get("source").and_then(|s| s.as_str()),
        ) {
            (Some(value), Some(source)) => {
                if OPEN.iter().any(|word| source.starts_with(word)) {
                    all.push([path, short(value), source.to_owned()]);
                }
            }
            _ => open_numbers(&path, inner, all),
        }
    }
}

/// A value as text; of a list the first two and the last.
fn short(value: &toml::Value) -> String {
    let text = |value: &toml::Value| value.as_str().map_or(value.to_string(), str::to_owned);
    match value.as_array() {
        Some(items) if items.len() > 3 => {
            let (first, second, last) = (&items[0], &items[1], &items[items.len() - 1]);
            format!("{}, {}, … {}", text(first), text(second), text(last))
        }
        _ => text(value),
    }
}

/// What the last run of a plan said: rows by knob, with their rank correlation. Empty where none is kept.
fn decided_by(name: &str) -> BTreeMap<String, Vec<String>> {
    let path = format!(
        "{}/../../studies/{name}/tension.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let kept: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut rows: BTreeMap<String, Vec<(f64, String)>> = BTreeMap::new();
    for moves in kept["moves"].as_array().into_iter().flatten() {
        let of = |key: &str| moves[key].as_str().unwrap_or_default();
        let r = moves["rank_correlation"].as_f64().unwrap_or(0.0);
        if r.abs() >= DECIDES {
            let row = format!("`{}` ({r:+.2}, {})", of("row"), of("of"));
            rows.entry(of("knob").to_owned())
                .or_default()
                .push((r, row));
        }
    }
    let sorted = rows.into_iter().map(|(knob, mut rows)| {
        rows.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        (knob, rows.into_iter().map(|(_, row)| row).collect())
    });
    sorted.collect()
}

#[test]
fn golden_the_evidence_is_that_of_the_profiles_and_plans() {
    let mut text = String::from(
        "# Evidence: the open numbers, their sources and ranges\n\nWritten from the profiles, the plans of tension and their last \
         results by a test, which fails where this page is stale. A number is open if its source begins with \"assumed\" or \
         \"chosen\".\n\n",
    );
    let mut ranges: BTreeMap<(String, String), String> = BTreeMap::new();
    for (name, plan) in tension::PLANS {
        let study = study::find(name).unwrap().remove(0).study;
        let label = format!("studies/{name}/tension.toml");
        let plan = tension::spec::Plan::parse(&label, plan, &study).unwrap();
        let chip = plan.shipped_chip().unwrap();
        let decided = decided_by(name);
        let none = if decided.is_empty() {
            "no result is kept"
        } else {
            "none"
        };
        writeln!(
            text,
            "## Drawn from their ranges: study {name}, chip {}\n\nRows that decide a number: those whose number goes with it over \
             the draws of [tension.md](tension.md), with the rank correlation where it is {DECIDES} or more, of what the cells say \
             or of drives.\n",
            plan.chip.get_ref()
        )
        .unwrap();
        let rows: Vec<Vec<String>> = plan
            .knobs
            .iter()
            .map(|knob| {
                let [low, high] = knob.range.get_ref();
                let range = format!("{low} … {high}");
                ranges.insert(
                    (plan.chip.get_ref().clone(), knob.key.get_ref().clone()),
                    range.clone(),
                );
                let shipped = knob.shipped(&chip).unwrap();
                vec![
                    code(knob.key.get_ref()),
                    knob.what.clone(),
                    format!("{shipped} {}", knob.unit()),
                    range,
                    knob.source.clone(),
                    decided
                        .get(&knob.id)
                        .map_or(none.into(), |rows| rows.join(", ")),
                ]
            })
            .collect();
        table(
            &mut text,
            "key | what | shipped | range | source of the range | rows that decide it",
            rows,
        );
    }
    text += "## All of them, by profile\n\nOnly what stands in a profile itself: what it is based on has its own. Ranges of those \
             that no plan draws, where there are any, are in [nand-model.md](nand-model.md#the-knobs-by-evidence).\n\n";
    for (kind, profiles) in [("chip", CHIPS), ("drive", DRIVES)] {
        for (name, profile) in profiles {
            let mut open = Vec::new();
            open_numbers("", &toml::from_str(profile).unwrap(), &mut open);
            if open.is_empty() {
                continue;
            }
            writeln!(text, "### {kind} {name}\n").unwrap();
            let rows = open.into_iter().map(|[key, value, source]| {
                let range = ranges.get(&((*name).to_owned(), key.clone()));
                let range = range.map_or(String::new(), |range| format!("{range} (drawn)"));
                vec![code(&key), value, range, source]
            });
            table(&mut text, "key | value | range | source", rows);
        }
    }
    check("evidence.md", &text);
}
