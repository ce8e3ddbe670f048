//! Runs and lives that are kept: where, what of them was found, and what is printed of all of them together.

use std::path::Path;

use anyhow::Result;
use firstread_session::{How, Point, Results, Setup, Store, results};
use serde_json::{Value, json};

use crate::args::{Form, Interrupted};
use crate::output::human;
use crate::output::summary::Run;
use crate::streams::{notice, tell};

/// The store of runs of the `kind` called `name`: in the folder `out`, or in memory. Whole results stay in memory where
/// they are printed or written as one file.
pub fn store(out: Option<&Path>, kind: &'static str, name: &str) -> Result<Store> {
    Ok(match out {
        Some(folder) => Store::open(folder, kind, name)?,
        None => Store::in_memory(kind),
    })
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
    let mut run = Vec::new();
    for (i, kept) in results.all() {
        let label = &points[i].label;
        match &kept.how {
            How::Found => {}
            How::Run => run.push(label.as_str()),
            How::RunAnew(why) => notice(&format!("{label}: run anew; {why}")),
        }
    }
    let (found, all) = (results.were_there, results.simulations());
    if found > 0 {
        let run = match run.is_empty() {
            true => String::new(),
            false => format!("; run now: {}", run.join(", ")),
        };
        notice(&format!("{found} of {all} {noun} were there already{run}"));
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

    #[test]
    fn model_a_list_of_runs_is_the_text_of_its_value() {
        let runs = [json!({ "a": [1, 2.5], "b": "x\ny" }), json!({ "c": null })];
        for axis in [None, Some("read_levels")] {
            let text = listed(axis, runs.iter().cloned());
            assert_eq!(text, results::text(&json!({ "axis": axis, "runs": runs })));
        }
    }
}
