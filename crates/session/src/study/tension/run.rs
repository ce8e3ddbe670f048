//! A plan is run: cells first, then the drives of the draws that leave most rows possible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use firstread_core::Stream;
use serde_json::{Value, json};

use super::super::plan::Inputs;
use super::super::spec::Study;
use super::cases::{self, Case};
use super::draw::{self, Draw};
use super::points::Bench;
use super::rule::Judged;
use super::screen::{self, Screened};
use super::spec::{Part, Plan, RowOf};
use crate::error::Error;
use crate::files;
use crate::interrupt::Interrupt;
use crate::matrix::{Matrix, Watch};
use crate::parallel;
use crate::program;
use crate::results;
use crate::store::Store;

/// How a plan is run.
#[derive(Clone, Debug)]
pub struct Terms {
    pub quick: bool,
    /// Draws, if not the plan's own number.
    pub draws: Option<u64>,
    /// Seed of the first drive.
    pub seed: u64,
    pub threads: Option<u16>,
    /// Where what the cells say is kept; the simulations are kept in the store.
    pub folder: Option<PathBuf>,
    pub interrupt: Interrupt,
}

/// Observer of a run. Called from the threads that do the work.
pub trait Progress: Sync {
    /// The cells of one of `all` draws have been looked at.
    fn screened(&self, all: u64);

    /// The drives of `draw` are simulated next: the `nth` of `all`, so many simulations.
    fn simulates(&self, draw: &Draw, nth: usize, all: usize, simulations: usize) -> &dyn Watch;
}

/// What the drives of a draw came to.
#[derive(Debug)]
pub struct Drawn {
    /// Index of the draw.
    pub draw: usize,
    /// By case; none where it was not simulated or has no number.
    pub cases: Vec<Option<Judged>>,
}

/// All that a run of a plan came to.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub plan: &'a Plan,
    pub study: &'a Study,
    pub rows: Vec<RowOf<'a>>,
    pub cases: Vec<Case>,
    /// The chip as shipped, then the draws.
    pub draws: Vec<Draw>,
    /// What the cells say of each draw and case.
    pub screened: Vec<Screened>,
    /// Draws that were simulated, best first; the chip as shipped before them.
    pub drawn: Vec<Drawn>,
    /// Cases that the cells had ruled out and that were simulated: draw, case.
    pub audited: BTreeSet<(usize, usize)>,
    /// Simulations, and how many of them were in the store already.
    pub simulations: usize,
    pub were_there: usize,
    /// Time of the simulations on one core (s).
    pub wall_s: f64,
    pub quick: bool,
}

impl Outcome<'_> {
    /// Whether the cells leave a case of a draw possible.
    pub fn is_possible(&self, draw: usize, case: usize) -> bool {
        let row = &self.rows[self.cases[case].row];
        screen::is_possible(row, &self.screened[draw][case])
    }
}

/// Runs `plan` of `study`. What is in the folder and in the store is not done again.
///
/// # Errors
/// [`Error`] where a drive cannot be made or simulated, or results cannot be kept. [`Error::Interrupted`] where it was
/// asked to end early; what had ended by then is kept.
pub fn run<'a>(
    plan: &'a Plan,
    study: &'a Study,
    inputs: &Inputs,
    store: &Store,
    terms: &Terms,
    progress: &dyn Progress,
) -> Result<Outcome<'a>, Error> {
    let rows: Vec<RowOf<'a>> = plan.rows(study).collect();
    let cases = cases::all(plan, study, terms.quick);
    let n = terms.draws.unwrap_or(plan.draws.of(terms.quick));
    let draws = draw::draws(plan, n)?;
    let screened = parallel::each(&draws, terms.threads, |draw| {
        if terms.interrupt.is_asked() {
            return Err(Error::Interrupted);
        }
        let found_by = found_by(plan, study, draw)?;
        let kept = terms
            .folder
            .as_deref()
            .and_then(|f| kept(f, draw, &found_by));
        let screened = match kept.filter(|kept| kept.len() == cases.len()) {
            Some(kept) => kept,
            None => {
                let screened = screen::screen(plan, study, &rows, &cases, draw);
                let screened = screened.map_err(|e| e.of(format!("draw {}", draw.number)))?;
                if let Some(folder) = &terms.folder {
                    keep(folder, draw, &found_by, &screened)?;
                }
                screened
            }
        };
        progress.screened(n + 1);
        Ok(screened)
    })?;
    let mut outcome = Outcome {
        plan,
        study,
        rows,
        cases,
        draws,
        screened,
        drawn: Vec::new(),
        audited: BTreeSet::new(),
        simulations: 0,
        were_there: 0,
        wall_s: 0.0,
        quick: terms.quick,
    };
    let simulated = outcome.ranked(plan.simulate.of(terms.quick));
    outcome.audited = outcome.audit(&simulated, plan.audit.of(terms.quick));
    let rows = outcome.rows.clone();
    let bench = Bench {
        plan,
        study,
        inputs,
        rows: &rows,
        quick: terms.quick,
        seed: terms.seed,
    };
    for (nth, &draw) in simulated.iter().enumerate() {
        let drawn = outcome.simulate(&bench, draw, store, terms, &|simulations| {
            let draw = &outcome.draws[draw];
            progress.simulates(draw, nth, simulated.len(), simulations)
        })?;
        let (drawn, simulations, were_there, wall_s) = drawn;
        outcome.drawn.push(drawn);
        outcome.simulations += simulations;
        outcome.were_there += were_there;
        outcome.wall_s += wall_s;
    }
    Ok(outcome)
}

impl Outcome<'_> {
    /// The chip as shipped, then the `most` draws with most fit rows that the cells leave possible under one setting of the
    /// switches; of equals the one drawn first.
    fn ranked(&self, most: u64) -> Vec<usize> {
        let settings = cases::settings(self.plan, self.quick, |_| true);
        let possible = |draw: usize| {
            let together = |setting: &cases::Setting| {
                let of_row = |row: usize| {
                    let cases = self.cases.iter().enumerate();
                    let mut own = cases.filter(|(_, c)| c.row == row && c.is_of(setting));
                    own.any(|(i, _)| self.is_possible(draw, i))
                };
                let fit = self.rows.iter().enumerate();
                let fit = fit.filter(|(_, row)| row.row.part == Part::Fit);
                fit.filter(|(row, _)| of_row(*row)).count()
            };
            settings.iter().map(together).max().unwrap_or(0)
        };
        let mut ranked: Vec<(usize, usize)> = (1..self.draws.len())
            .map(|draw| (possible(draw), draw))
            .collect();
        ranked.sort_by_key(|(possible, draw)| (usize::MAX - possible, *draw));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let best = ranked.into_iter().take(most).map(|(_, draw)| draw);
        std::iter::once(0).chain(best).collect()
    }

    /// So many cases of the `simulated` draws that the cells rule out, chosen by a hash.
    fn audit(&self, simulated: &[usize], most: u64) -> BTreeSet<(usize, usize)> {
        let stream = Stream::new(1).named("audit");
        let out = simulated.iter().flat_map(|&draw| {
            let cases = 0..self.cases.len();
            let out = cases.filter(move |case| !self.is_possible(draw, *case));
            out.map(move |case| (draw, case))
        });
        let mut out: Vec<(u64, (usize, usize))> = out
            .map(|(draw, case)| (stream.at(draw as u64).draw(case as u64), (draw, case)))
            .collect();
        out.sort_unstable();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        out.into_iter().take(most).map(|(_, which)| which).collect()
    }

    /// Simulates the cases of a draw that are left, and those that are audited.
    fn simulate<'p>(
        &self,
        bench: &Bench<'_>,
        draw: usize,
        store: &Store,
        terms: &Terms,
        watch: &dyn Fn(usize) -> &'p dyn Watch,
    ) -> Result<(Drawn, usize, usize, f64), Error> {
        let number = &self.draws[draw];
        let is_wanted =
            |case: usize| self.is_possible(draw, case) || self.audited.contains(&(draw, case));
        let cases = self.cases.iter().enumerate();
        let wanted = cases.filter(|(i, _)| is_wanted(*i)).map(|(_, case)| case);
        let mut points = bench.wanted(number, wanted)?;
        for point in &mut points.points {
            point.setup.interrupt = terms.interrupt.clone();
        }
        let matrix = Matrix {
            points: &points.points,
            threads: terms.threads,
            watch: watch(points.points.len()),
        };
        let results = matrix.kept(store, super::super::metric::of_finished)?;
        if results.finished() < results.simulations() || terms.interrupt.is_asked() {
            return Err(Error::Interrupted);
        }
        let judged = |(i, case): (usize, &Case)| match is_wanted(i) {
            true => bench.judged(number, case, &points, &results),
            false => Ok(None),
        };
        let judged: Result<Vec<_>, Error> = self.cases.iter().enumerate().map(judged).collect();
        let drawn = Drawn {
            draw,
            cases: judged?,
        };
        let (all, there) = (results.simulations(), results.were_there);
        Ok((drawn, all, there, results.wall_s()))
    }
}

/// All that what the cells of `draw` say depends on.
fn found_by(plan: &Plan, study: &Study, draw: &Draw) -> Result<Value, Error> {
    let variants = &study.variants;
    let text = format!("{plan:?} {variants:?} {draw:?} {:?}", study.claims);
    Ok(json!({
        "program": program::identity()?,
        "plan": files::checksum(text.as_bytes()),
    }))
}

fn file(draw: &Draw) -> PathBuf {
    format!("cells/draw-{:03}.json", draw.number).into()
}

fn keep(folder: &Path, draw: &Draw, found_by: &Value, screened: &Screened) -> Result<(), Error> {
    let text = results::text(&json!({ "found_by": found_by, "numbers": screened }));
    Ok(files::write(folder, &[(file(draw), text.into_bytes())])?)
}

/// What is kept of `draw`; none where it is of something else.
fn kept(folder: &Path, draw: &Draw, found_by: &Value) -> Option<Screened> {
    let path = folder.join(file(draw));
    let text = files::is_file(&path).then(|| files::read_text(&path).ok())??;
    let kept: Value = serde_json::from_str(&text).ok()?;
    let numbers = kept["found_by"]
        .eq(found_by)
        .then(|| kept["numbers"].as_array())??;
    let of_case =
        |case: &Value| -> Option<Vec<f64>> { case.as_array()?.iter().map(Value::as_f64).collect() };
    numbers.iter().map(of_case).collect()
}
