//! Runs and lives that are kept: where, and what of them was found.

use std::path::Path;

use anyhow::Result;
use firstread_session::{Alone, How, Point, Results, Store};
use serde_json::{Value, json};

use crate::args::Form;
use crate::output::Has;
use crate::streams::notice;

/// The store of runs of the `kind` called `name`: in the folder `out`, or in memory. Whole results stay in memory where they are
/// printed, or written as one file where `is_listed` says so.
pub fn store(
    out: Option<&Path>,
    kind: &'static str,
    name: &str,
    form: Form,
    is_listed: bool,
) -> Result<Store> {
    let store = match out {
        Some(folder) => Store::open(folder, kind, name)?.by_front_end(decides(Has::default())),
        None => Store::in_memory(kind, name),
    };
    Ok(match (form, out) {
        (Form::Human, None) => store,
        (Form::Human, Some(_)) if !is_listed => store,
        _ => store.with_results(),
    })
}

/// The store of the only run or life of the `kind`, whose files have what `has` says. Another one takes its place, so the
/// folder has no name.
pub fn store_of_one(out: Option<&Path>, kind: &'static str, has: Has) -> Result<Store> {
    let store = match out {
        Some(folder) => Store::open_for_one(folder, kind, "")?,
        None => Store::in_memory(kind, ""),
    };
    Ok(store.by_front_end(decides(has)))
}

/// The store of the `kind` called `name` for a plan, whose files have what `has` says: that in the folder `out`, where
/// nothing is written, or an empty one.
pub fn store_to_plan(
    out: Option<&Path>,
    kind: &'static str,
    name: &str,
    has: Has,
) -> Result<Store> {
    let store = match out {
        Some(folder) => Store::open_for_one(folder, kind, name)?,
        None => Store::in_memory(kind, name),
    };
    Ok(store.by_front_end(decides(has)))
}

/// What this command decides of the files of a result.
fn decides(has: Has) -> Value {
    let mut decides = json!({ "calibration_log": has.calibration_log });
    if has.bins {
        decides["bins"] = true.into();
    }
    decides
}

/// What `decides` made `front_end` of.
pub fn has(front_end: &Value) -> Has {
    Has {
        calibration_log: front_end["calibration_log"] == true,
        bins: front_end["bins"] == true,
    }
}

/// Names or messages that are told of many.
const TOLD: usize = 5;

/// The first of `names`, and how many more they are.
fn some_of(names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(TOLD));
    match rest.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Says which of the `points` were found and which were run; `noun` is what they are, say `runs`.
pub fn tell_found(points: &[Point], results: &Results, noun: &str) {
    let (mut run, mut anew, mut no_wall) = (Vec::new(), Vec::new(), Vec::new());
    for (i, kept) in results.all() {
        let label = points[i].label.as_str();
        no_wall.extend(kept.no_wall.as_deref());
        match &kept.how {
            How::Found => {}
            How::Run => run.push(label),
            How::RunAnew(why) => anew.push((label, why)),
        }
    }
    for (label, why) in anew.iter().take(TOLD) {
        tell_anew(label, why);
    }
    if anew.len() > TOLD {
        let rest: Vec<&str> = anew[TOLD..].iter().map(|(label, _)| *label).collect();
        notice(&format!("run anew too: {}", some_of(&rest)));
    }
    tell_no_wall(&no_wall);
    let (found, all) = (results.were_there, results.simulations());
    if found > 0 {
        let run = match run.is_empty() {
            true => String::new(),
            false => format!("; run now: {}", some_of(&run)),
        };
        notice(&format!("{found} of {all} {noun} were there already{run}"));
    }
}

/// Says of the only run or life of a command, called `label`, that it was found, or why what was found was not it.
pub fn tell_found_alone(label: &str, alone: &Alone, noun: &str) {
    match alone {
        // How long it took stands in its result.
        Alone::Found(_) => notice(&format!("{label}: the {noun} was there already")),
        Alone::Ran(_, How::RunAnew(why)) => tell_anew(label, why),
        Alone::Ran(..) => {}
    }
}

fn tell_anew(label: &str, why: &str) {
    notice(&format!("{label}: run anew; {why}"));
}

/// Says why run times of results that were found are unknown: `why` of each.
fn tell_no_wall(why: &[&str]) {
    if let Some(first) = why.first() {
        let more = match why.len() - 1 {
            0 => String::new(),
            more => format!("; and {more} more like it"),
        };
        notice(&format!("{first}{more}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of many runs has the length of a few.
    #[test]
    fn formula_a_few_of_many_names_are_told() {
        assert_eq!(some_of(&[]), "");
        assert_eq!(some_of(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(
            some_of(&["a", "b", "c", "d", "e", "f"]),
            "a, b, c, d, e and 1 more"
        );
        assert_eq!(some_of(&["a"; 4_000]), "a, a, a, a, a and 3995 more");
    }
}
