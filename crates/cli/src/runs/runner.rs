//! Points are run here, or found in their folder, and nowhere else.

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::{Finished, Kept, Matrix, Point, Results, Setup, Store};
use serde_json::{Map, Value};

use super::kept;
use super::notices;
use super::plan::{Combination, Kind, Plan};
use crate::progress::{Ended, Simulations};

/// What is planned, and what of it has run.
pub struct Ran<'a> {
    pub plan: &'a Plan<'a>,
    pub(super) store: Store,
    pub(super) results: Results,
}

impl Ran<'_> {
    /// The points that have a result.
    pub fn each(&self) -> impl Iterator<Item = (&Point, &Kept)> + Clone {
        let points = self.plan.points.iter().enumerate();
        points.filter_map(|(i, point)| Some((point, self.results.of(i)?)))
    }

    /// The combinations of which any drive has a result, each with those that have.
    pub fn combinations(&self) -> impl Iterator<Item = (&Combination, Vec<(&Point, &Kept)>)> {
        let drives = self.plan.drives;
        let all = self.plan.combinations.iter().enumerate();
        all.filter_map(move |(i, combination)| {
            let at = i * drives..(i + 1) * drives;
            let runs = at.filter_map(|at| Some((&self.plan.points[at], self.results.of(at)?)));
            let runs: Vec<_> = runs.collect();
            (!runs.is_empty()).then_some((combination, runs))
        })
    }

    /// Whether all points have a result.
    pub fn is_whole(&self) -> bool {
        self.results.finished() == self.results.simulations()
    }
}

impl Plan<'_> {
    /// Runs the points, or finds them. `values` and `pages` are what is kept of each.
    pub fn run(
        &self,
        values: impl Fn(&Setup, &Finished) -> Map<String, Value> + Sync,
        pages: impl Fn(&Point, &Finished) -> Vec<Page> + Sync,
    ) -> Result<Ran<'_>> {
        if self.kind == Kind::Matrix {
            notices::before(&self.points);
        }
        let store = kept::store(
            self.output.out,
            self.kind.name(),
            &self.title,
            self.output.form,
            self.kind.has_each(),
        )?;
        let pages_of_each = |point: &Point, finished: &Finished| match self.kind.has_each() {
            true => pages(point, finished),
            false => Vec::new(),
        };
        let many = self.kind.many();
        let results = points_run(
            &self.points,
            self.threads,
            &store,
            many,
            |_, _| {},
            values,
            pages_of_each,
        )?;
        Ok(Ran {
            plan: self,
            store,
            results,
        })
    }
}

/// The results of `points`, as `store` has them or run now, with a bar for each and one for all. `many` is what they are called,
/// `ended` is told how each ended, and `values` and `pages` are what is kept of it.
pub fn points_run(
    points: &[Point],
    threads: Option<u16>,
    store: &Store,
    many: &str,
    ended: Ended,
    values: impl Fn(&Setup, &Finished) -> Map<String, Value> + Sync,
    pages: impl Fn(&Point, &Finished) -> Vec<Page> + Sync,
) -> Result<Results> {
    let matrix = |watch| Matrix {
        points,
        threads,
        watch,
    };
    let watch = Simulations::new(matrix(&()).simulations()?, ended);
    let results = matrix(&watch).kept_with_pages(store, values, pages)?;
    drop(watch);
    kept::tell_found(points, &results, many);
    Ok(results)
}
