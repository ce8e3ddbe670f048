//! Runs and lives that are kept: where, what of them was found, and what is printed of all of them together.

use std::path::Path;

use anyhow::Result;
use firstread_session::{Alone, How, Point, Results, Setup, Store, results};
use serde_json::{Value, json};

use crate::args::{Form, Interrupted};
use crate::output::human;
use crate::output::summary::Run;
use crate::streams::{notice, tell};

/// The store of runs of the `kind` called `name`: in the folder `out`, or in memory. Whole results stay in memory where
/// they are printed or written as one file.
pub fn store(out: Option<&Path>, kind: &'static str, name: &str) -> Result<Store> {
    Ok(match out {
        Some(folder) => Store::open(folder, kind, name)?.by_front_end(decides(Has::default())),
        None => Store::in_memory(kind),
    })
}

/// What the files of the only run or life have beside what is always there.
#[derive(Clone, Copy, Default, Debug)]
pub struct Has {
    /// A log of calibration, in any case.
    pub calibration_log: bool,
    /// Bins of latency in JSON.
    pub bins: bool,
}

/// The store of the only run or life of the `kind`, whose files have what `has` says. Another one takes its place, so the
/// folder has no name.
pub fn store_of_one(out: Option<&Path>, kind: &'static str, has: Has) -> Result<Store> {
    let store = match out {
        Some(folder) => Store::open_for_one(folder, kind, "")?,
        None => Store::in_memory(kind),
    };
    Ok(store.by_front_end(decides(has)))
}

/// What this command decides of the files of a result.
fn decides(has: Has) -> Value {
    let mut decides = json!({
        "features": FEATURES,
        "calibration_log": has.calibration_log,
    });
    if has.bins {
        decides["bins"] = true.into();
    }
    decides
}

/// The features that this command was built with.
const FEATURES: &[&str] = match cfg!(feature = "figures") {
    true => &["figures"],
    false => &[],
};

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

/// The same of several runs whose results are also in one file.
pub fn listing_store(
    out: Option<&Path>,
    kind: &'static str,
    name: &str,
    form: Form,
) -> Result<Store> {
    let store = store(out, kind, name)?;
    Ok(match (out, form) {
        (None, Form::Human) => store,
        _ => store.with_results(),
    })
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

/// That not all of the `noun` have ended, if so.
pub fn whole(results: &Results, out: Option<&Path>, noun: &str) -> Result<()> {
    let (finished, all) = (results.finished(), results.simulations());
    let goes_on = match out {
        Some(_) => "; the same command goes on from there",
        None => "",
    };
    match finished < all {
        true => {
            Err(Interrupted(format!(": {finished} of {all} {noun} have ended{goes_on}")).into())
        }
        false => Ok(()),
    }
}

/// Says how long each of `runs` took, or that it was found.
pub fn tell_times(runs: &[Run<'_>]) {
    for run in runs {
        let text = match run.kept.how {
            How::Found => "found".to_owned(),
            How::Run | How::RunAnew(_) => human::wall(&run.kept.wall),
        };
        tell(&format!("{}: {text}", run.label));
    }
}

/// A run or a life of a list of them: `scheme` where schemes are compared, which drive, its result.
pub fn row(scheme: Option<&str>, setup: &Setup, result: Value) -> Value {
    json!({
        "scheme": scheme,
        "drive": setup.profile.name,
        "point": { "seed": setup.seed, "workload_seed": setup.state.workload_seed },
        "result": result,
    })
}

/// The text of `{axis, runs}`. The runs are made one after the other, so that thousands of them are not in memory at once.
pub fn listed(axis: Option<&str>, runs: impl Iterator<Item = Value>) -> String {
    let mut text = format!("{{\n  \"axis\": {},\n  \"runs\": [", Value::from(axis));
    for (i, run) in runs.enumerate() {
        text += if i > 0 { "," } else { "" };
        for line in results::text(&run).lines() {
            text += "\n    ";
            text += line;
        }
    }
    text + "\n  ]\n}\n"
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

    #[test]
    fn model_a_list_of_runs_is_the_text_of_its_value() {
        let runs = [json!({ "a": [1, 2.5], "b": "x\ny" }), json!({ "c": null })];
        for axis in [None, Some("read_levels")] {
            let text = listed(axis, runs.iter().cloned());
            assert_eq!(text, results::text(&json!({ "axis": axis, "runs": runs })));
        }
    }
}
