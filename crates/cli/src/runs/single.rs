//! The only run or life of a command: run or found, printed and kept. What there was of it until it was interrupted is printed
//! and kept too.

use anyhow::{Result, bail};
use firstread_drive::Ended;
use firstread_session::files::Page;
use firstread_session::{Alone, Error, Finished, Point, results};
use serde_json::{Map, Value};

use super::{kept, notices, planned};
use crate::accept::Acceptance;
use crate::args::{Form, Interrupted, Output};
use crate::output::Has;
use crate::output::format::count;
use crate::output::human;
use crate::output::summary::{self, Summary, end_of_life_of};
use crate::progress::Bars;
use crate::streams::{data, tell};

/// How a command shows its only run or life.
pub trait Single {
    /// What is kept of it for what may be asked later: of a run, its metrics and its summary.
    fn values(&self, point: &Point, finished: &Finished) -> Map<String, Value> {
        summary::values(&point.setup, finished)
    }

    /// Its files.
    fn pages(&self, point: &Point, finished: &Finished) -> Vec<Page>;

    /// Prints it.
    fn print(&self, form: Form, point: &Point, finished: &Finished) -> Result<()>;

    /// Those of its files that are printed where it is found.
    fn printed(&self, form: Form) -> Vec<&'static str>;

    /// What came of `--accept`, from what is kept.
    fn acceptance(&self, point: &Point, values: &Map<String, Value>) -> Result<Option<Acceptance>>;
}

/// Runs `point`, or finds it, and prints and keeps what `view` shows of it. `has` says what its files have
/// beside what is always there.
pub fn single(point: &Point, output: Output<'_>, has: Has, view: &dyn Single) -> Result<()> {
    let one = if point.life.is_some() { "life" } else { "run" };
    if let Some(folder) = output.plan {
        let many = if point.life.is_some() {
            "lives"
        } else {
            "runs"
        };
        let store = kept::store_to_plan(output.out, one, "", has)?;
        return planned::write(
            folder,
            output.out,
            std::slice::from_ref(point),
            &store,
            many,
        );
    }
    let store = kept::store_of_one(output.out, one, has)?;
    let made = |point: &Point, finished: &Finished| {
        (view.values(point, finished), view.pages(point, finished))
    };
    let alone = match point.alone(&Bars::default(), &store, made) {
        Err(Error::Interrupted) => {
            let burn_in = match point.setup.burn_in {
                Some(_) => " in the burn-in,",
                None => "",
            };
            return Err(Interrupted(format!("{burn_in} before the first request")).into());
        }
        alone => alone?,
    };
    kept::tell_found_alone(&point.label, &alone, one);
    let values = match &alone {
        Alone::Found(kept) => {
            notify(
                point,
                &kept.values,
                kept.ended == results::ended(Ended::Completed),
            )?;
            for (i, page) in view.printed(output.form).into_iter().enumerate() {
                let text = store.page(page)?;
                data(&if i > 0 { format!("\n{text}") } else { text })?;
            }
            kept.values.clone()
        }
        Alone::Ran(finished, _) => {
            let values = view.values(point, finished);
            notify(point, &values, is_completed(finished))?;
            view.print(output.form, point, finished)?;
            tell_ended(point, finished)?;
            values
        }
    };
    if let Some(end) = end_of_life_of(&values) {
        bail!("{}: {end}", point.setup.input.name());
    }
    match view.acceptance(point, &values)? {
        Some(acceptance) => acceptance.tell(output.form),
        None => Ok(()),
    }
}

/// Tells what is to be known of a run. A life has it in its report.
fn notify(point: &Point, values: &Map<String, Value>, completed: bool) -> Result<()> {
    if point.life.is_none() {
        notices::of_run(&point.setup, &Summary::of_values(values)?, completed);
        notices::switched_off([&point.setup].into_iter());
    }
    Ok(())
}

fn is_completed(finished: &Finished) -> bool {
    match finished {
        Finished::Run(outcome) => outcome.stats.ended == Ended::Completed,
        Finished::Life(of) => !of.outcome.interrupted,
    }
}

/// How long a run took, and whether it was interrupted.
fn tell_ended(point: &Point, finished: &Finished) -> Result<()> {
    let requests = match finished {
        Finished::Run(outcome) => {
            let (_, wall) = results::result_and_wall(&point.setup, outcome, false);
            tell(&human::wall(&wall.as_object().cloned().unwrap_or_default()));
            outcome.stats.requests
        }
        Finished::Life(of) => of.outcome.lived.requests,
    };
    match finished.is_whole() {
        true => Ok(()),
        false => Err(Interrupted(format!(" after {} requests", count(requests))).into()),
    }
}
