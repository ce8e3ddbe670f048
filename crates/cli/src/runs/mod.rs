//! Runs and lives of a command: planned, run or found, printed and kept. Every command that makes several goes through here,
//! and has only views of its own: which figures a row has.
//!
//! - [`plan`]: what is asked for, as points. [`runner`]: the points are run, or found in their folder: the one place for that.
//! - [`printer`]: standard output, files of `--out`, closing line, exit status. [`mod@single`]: the same of the only run or life.
//! - [`planned`]: what is asked for is written down instead. [`kept`]: what was found. [`notices`]: what is to be known of runs.

pub mod kept;
mod notices;
mod plan;
pub mod planned;
mod printer;
mod runner;
mod single;

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::{Finished, Point, Setup};
use serde_json::{Map, Value};

use crate::output::{self, summary};
pub use plan::{Combination, Kind, Plan};
pub use printer::{Report, Row};
pub use runner::{Ran, points_run};
pub use single::{Single, single};

/// How a command shows its runs.
pub trait View: Sync {
    /// What is kept of each for tables: of a run, its metrics and its summary.
    fn values(&self, setup: &Setup, finished: &Finished) -> Map<String, Value> {
        summary::values(setup, finished)
    }

    /// The files of each, where it has its own: [`Kind::has_each`].
    fn pages(&self, point: &Point, finished: &Finished) -> Vec<Page> {
        output::pages_in(point, finished)
    }

    /// What is shown of all that has run; without rows where there is nothing to show.
    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>>;
}

/// Runs what is planned, or finds it, and prints and keeps what `view` shows of it.
pub fn several(plan: &Plan<'_>, view: &dyn View) -> Result<()> {
    if let Some(folder) = plan.output.plan {
        let (kind, out) = (plan.kind, plan.output.out);
        let store = kept::store_to_plan(out, kind.name(), &plan.title, output::Has::default())?;
        return planned::write(folder, out, &plan.points, &store, kind.many());
    }
    let ran = plan.run(
        |setup, finished| view.values(setup, finished),
        |point, finished| view.pages(point, finished),
    )?;
    let report = view.report(&ran)?;
    printer::print(&ran, report)
}
