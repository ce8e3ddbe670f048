//! Many simulations and lives: planned as points, run on several threads, kept on disk where that is wanted.
//!
//! The same runner serves comparisons, loads on several drives and studies. The result of a point does not
//! depend on the number of threads or on the other points. Points that differ in their
//! workload and limit alone share a burn-in: the drive is burnt in once, and each point runs on a clone.
//!
//! ```
//! use firstread_session::conditions::Condition::{Age, PeCycles};
//! use firstread_session::{Error, Input, Matrix, Point, Simulation, crossed};
//!
//! # fn main() -> Result<(), Error> {
//! let input = Input::open("randread-4k-qd1")?;
//! let base = Simulation { drive: "bench-4g".into(), limit: Some(500), ..Simulation::of(input) };
//! let mut points = Vec::new();
//! for at in crossed(&[vec![(Age, "0"), (Age, "28h")], vec![(PeCycles, "0"), (PeCycles, "1000")]]) {
//!     let (mut one, mut label) = (base.clone(), String::new());
//!     for (condition, text) in at {
//!         condition.set(&mut one.state, text)?;
//!         label += text;
//!         label.push(' ');
//!     }
//!     points.push(Point::new(label.trim_end(), one.setup()?));
//! }
//! let matrix = Matrix { points: &points, threads: None, watch: &() };
//! for (point, outcome) in points.iter().zip(matrix.outcomes()?) {
//!     println!("{}: {} ns", point.label, outcome.percentile(99.0).ns);
//! }
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::claim::{Claiming, Holder};
use crate::cost;
use crate::error::Error;
use crate::files::{self, Page};
use crate::finished::{Finished, FinishedLife};
use crate::life::{Life, LifeProgress, Terms};
use crate::outcome::{Outcome, Progress};
use crate::parallel::{self, Job};
use crate::program;
use crate::results;
use crate::setup::Setup;
use crate::simulate::{Prepared, timed};
use crate::store::{How, Kept, Made, Search, Store, THIS_RUN, burnt_in, inputs_by, inputs_of_life};

/// Length up to which a label is a name. Most systems take names of 255 bytes, and a temporary one has more at its end.
const LONGEST_NAME: usize = 160;

/// Time between two looks at points that other processes are making.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// A simulation or a life among many.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its label in messages.
    pub label: String,
    /// Its name in a [`Store`]: a file name without extension, or such below a folder; unique within the matrix.
    pub name: String,
    pub setup: Setup,
    /// What is asked of the life of its drive; none for a run.
    pub life: Option<Terms>,
}

impl Point {
    /// A point called `label`; its name in a store is made of that and of the drive's seed.
    pub fn new(label: &str, setup: Setup) -> Point {
        Point {
            label: label.to_owned(),
            name: Point::file_name(label, setup.seed),
            setup,
            life: None,
        }
    }

    /// The same point as a life of its drive.
    pub fn of_life(self, terms: Terms) -> Point {
        Point {
            life: Some(terms),
            ..self
        }
    }

    /// All that its result depends on, where `program` runs.
    pub(crate) fn inputs(&self, program: &str) -> Result<Value, Error> {
        match &self.life {
            None => inputs_by(program, &self.setup),
            Some(terms) => inputs_of_life(program, &self.setup, terms),
        }
    }

    /// Its result where it is alone: as `store` has it, or run now, with the values for tables and the files that `made`
    /// makes of it. What was interrupted has its files, and is not found later.
    ///
    /// # Errors
    /// As [`Matrix::kept`], without the label. [`Error::Interrupted`] where there is nothing to report.
    pub fn alone(
        &self,
        watch: &dyn Watch,
        store: &Store,
        made: impl Fn(&Point, &Finished) -> (Map<String, Value>, Vec<Page>),
    ) -> Result<Alone, Error> {
        let matrix = Matrix {
            points: std::slice::from_ref(self),
            threads: None,
            watch,
        };
        let inputs = self.found_by(store)?;
        let watched = &self.setup.watched;
        let anew = match (&watched.log, &watched.trace) {
            (Some(_), _) => Some("a log of its requests is written"),
            (None, Some(_)) => Some("a timeline of its slowest reads is written"),
            (None, None) => None,
        };
        let how = match store.search(&self.name, &inputs)? {
            Search::Found(kept) => match anew {
                Some(why) => How::RunAnew(why.into()),
                None => return Ok(Alone::Found(kept)),
            },
            Search::Nothing => How::Run,
            Search::Not(why) => How::RunAnew(why),
        };
        let finished = matrix.run_or_part(self, &mut Chain::default(), &|_| {})?;
        let finished = finished.ok_or(Error::Interrupted)?;
        if store.is_written() {
            let (values, pages) = made(self, &finished);
            let made = Made {
                setup: &self.setup,
                finished: &finished,
                values,
                pages,
            };
            match finished.is_whole() {
                true => drop(store.keep(&self.name, &inputs, made, how.clone())?),
                false => store.write_part(&self.name, &made.pages)?,
            }
        }
        Ok(Alone::Ran(finished, how))
    }

    /// All that its result is found by in `store`.
    fn found_by(&self, store: &Store) -> Result<Value, Error> {
        Ok(match store.is_written() {
            true => store.found_by(self.inputs(program::identity()?)?),
            false => Value::Null,
        })
    }

    /// A name of a file, made of `label` and the seed of a drive.
    pub fn file_name(label: &str, seed: u64) -> String {
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => c,
            _ => '-',
        };
        let mut name: String = label.chars().map(plain).collect();
        if name.len() > LONGEST_NAME {
            name.truncate(LONGEST_NAME);
            name += &format!("-{}", &files::checksum(label.as_bytes())[..16]);
        }
        format!("{name}_seed-{seed}")
    }
}

/// Observer of the simulations of a matrix. Called from the threads that run them.
pub trait Watch: Sync {
    /// The simulation of `point` begins. The returned value is called with its progress, and is dropped at its end.
    fn begin<'a>(&'a self, point: &Point) -> Box<dyn FnMut(Progress) + 'a>;

    /// The same of a point that is a life.
    fn begin_life<'a>(&'a self, point: &Point) -> Box<dyn FnMut(LifeProgress) + 'a> {
        let _ = point;
        Box::new(|_| {})
    }

    /// The simulation of `point` has ended, in this run or in an earlier one: `completed`, or as
    /// [`results::ended`](crate::results::ended) or the result of a life has it.
    fn done(&self, point: &Point, ended: &str) {
        let _ = (point, ended);
    }

    /// Nothing is left but `points` that other processes are making, the first of them this one. They are waited for.
    fn waits(&self, points: usize, first: &Holder) {
        let _ = (points, first);
    }
}

impl Watch for () {
    fn begin<'a>(&'a self, _: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        Box::new(|_| {})
    }
}

#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    pub points: &'a [Point],
    /// Simulations that run at a time; by default the number of cores.
    pub threads: Option<u16>,
    pub watch: &'a dyn Watch,
}

impl Matrix<'_> {
    /// Runs every point, each a run. Outcomes are in the order of the points.
    ///
    /// # Errors
    /// Those of [`simulate`](crate::simulate::simulate()): of the first point in order that fails. After a failure no
    /// simulation of a later point is started. Points that share a drive stand where the first of them does.
    /// [`Error::Interrupted`] where a point was interrupted.
    pub fn outcomes(&self) -> Result<Vec<Outcome>, Error> {
        let run = |finished| match finished {
            Some(Finished::Run(outcome)) => Some(*outcome),
            Some(Finished::Life(_)) | None => None,
        };
        let whole: Option<Vec<Outcome>> = self.all()?.into_iter().map(run).collect();
        whole.ok_or(Error::Interrupted)
    }

    /// What every point came to, in their order; none for one that was interrupted, or not begun because of that.
    fn all(&self) -> Result<Vec<Option<Finished>>, Error> {
        let groups = sharing(self.points.iter())?;
        let all = self.in_chains(
            groups,
            |i| i,
            |i, chain, further| {
                let finished = self.run(&self.points[i], chain, further)?;
                if let Some(finished) = &finished {
                    let ended = match finished {
                        Finished::Run(outcome) => results::ended(outcome.stats.ended),
                        Finished::Life(of) => of.outcome.ended(),
                    };
                    self.watch.done(&self.points[i], ended);
                }
                Ok(finished)
            },
        )?;
        Ok(all.into_iter().map(|(_, finished)| finished).collect())
    }

    /// The results of all points. A point whose result is in `store` is not run again. Every other result is
    /// stored, with the values that `values` computes from what it came to. Points with the same inputs share one
    /// simulation. A point that is interrupted has no result, and neither have those that are not begun because of that.
    ///
    /// # Errors
    /// Those of [`simulate`](crate::simulate::simulate()) and of [`Life::live`], with the point's label, and those of
    /// `store`.
    pub fn kept(
        &self,
        store: &Store,
        values: impl Fn(&Setup, &Finished) -> Map<String, Value> + Sync,
    ) -> Result<Results, Error> {
        self.kept_with_pages(store, values, |_, _| Vec::new())
    }

    /// The same, with the files that `pages` makes of each outcome in the folder of the store. They are written when a
    /// simulation ends, with its result.
    ///
    /// # Errors
    /// As [`Matrix::kept`].
    pub fn kept_with_pages(
        &self,
        store: &Store,
        values: impl Fn(&Setup, &Finished) -> Map<String, Value> + Sync,
        pages: impl Fn(&Point, &Finished) -> Vec<Page> + Sync,
    ) -> Result<Results, Error> {
        let runs = self.runs()?;
        let mut groups = sharing(runs.iter().map(|run| &self.points[run[0]]))?;
        let made = |point: &Point, finished: &Finished| {
            let pages = match store.is_written() {
                true => pages(point, finished),
                false => Vec::new(),
            };
            (values(&point.setup, finished), pages)
        };
        let mut kept: Vec<Option<Kept>> = runs.iter().map(|_| None).collect();
        let mut held: Vec<(usize, Holder)> = Vec::new();
        // Points that other processes are making are looked at again after all others, alone.
        while !groups.is_empty() {
            let all = self.in_chains(
                groups,
                |run| runs[run][0],
                |run, chain, further| self.kept_or_run(store, &runs[run], &made, chain, further),
            )?;
            let waited = held.len();
            held.clear();
            for (i, came) in all {
                match came {
                    Came::Kept(of) => kept[i] = Some(*of),
                    Came::Interrupted => {}
                    Came::Held(by) => held.push((i, by)),
                }
            }
            groups = match store.waits() {
                true => held.iter().map(|(i, _)| vec![*i]).collect(),
                false => Vec::new(),
            };
            if let (Some((_, by)), true) = (held.first(), store.waits()) {
                if held.len() != waited {
                    self.watch.waits(held.len(), by);
                }
                thread::sleep(BETWEEN_LOOKS);
            }
        }
        let were_there = kept.iter().flatten().filter(|kept| kept.how == How::Found);
        let mut of_point = vec![0; self.points.len()];
        for (i, run) in runs.iter().enumerate() {
            run.iter().for_each(|&point| of_point[point] = i);
        }
        Ok(Results {
            were_there: were_there.count(),
            kept,
            of_point,
            held,
        })
    }

    /// Number of different simulations: points with the same inputs share one.
    ///
    /// # Errors
    /// [`Error`] where the file of a trace, or the running program, cannot be read.
    pub fn simulations(&self) -> Result<usize, Error> {
        Ok(self.runs()?.len())
    }

    /// The result of the points `run`, which share a simulation: as `store` has it, or run now, unless another process is
    /// making it. `made` has the values and the files of what came of it.
    fn kept_or_run(
        &self,
        store: &Store,
        run: &[usize],
        made: &(impl Fn(&Point, &Finished) -> (Map<String, Value>, Vec<Page>) + Sync),
        chain: &mut Chain,
        further: &dyn Fn(Job<Chain>),
    ) -> Result<Came, Error> {
        let point = &self.points[run[0]];
        let inputs = point.found_by(store)?;
        let look = || {
            let mut how = How::Run;
            for same in run.iter().map(|&i| &self.points[i]) {
                match store.search(&same.name, &inputs)? {
                    Search::Found(kept) => return Ok(Err(kept)),
                    Search::Nothing => {}
                    Search::Not(why) => how = How::RunAnew(why),
                }
            }
            Ok::<_, Error>(Ok(how))
        };
        let look_and_claim = || {
            if let Err(kept) = look()? {
                return Ok(Err(Came::Kept(kept)));
            }
            if point.setup.interrupt.is_asked() {
                return Ok(Err(Came::Interrupted));
            }
            let claim = match store.claim(&point.name)? {
                Some(Claiming::Held(by)) => return Ok(Err(Came::Held(by))),
                Some(Claiming::Got(claim)) => Some(claim),
                None => None,
            };
            // Whoever had the claim until now may have made it.
            Ok::<_, Error>(match look()? {
                Err(kept) => Err(Came::Kept(kept)),
                Ok(how) => Ok((how, claim)),
            })
        };
        let (how, claim) = match look_and_claim()? {
            Ok(own) => own,
            Err(came) => {
                if let Came::Kept(kept) = &came {
                    self.watch.done(point, &kept.ended);
                }
                return Ok(came);
            }
        };
        let finished = self.run(point, chain, further);
        let finished = finished.map_err(|error| error.of(&point.label))?;
        let Some(finished) = finished else {
            return Ok(Came::Interrupted);
        };
        let (values, pages) = made(point, &finished);
        let made = Made {
            setup: &point.setup,
            finished: &finished,
            values,
            pages,
        };
        let kept = store.keep(&point.name, &inputs, made, how)?;
        // Only now, when others find it.
        drop(claim);
        self.watch.done(point, &kept.ended);
        Ok(Came::Kept(kept.into()))
    }

    /// Runs `point`, or lives it. None where that is interrupted.
    fn run(
        &self,
        point: &Point,
        chain: &mut Chain,
        further: &dyn Fn(Job<Chain>),
    ) -> Result<Option<Finished>, Error> {
        let finished = self.run_or_part(point, chain, further)?;
        Ok(finished.filter(Finished::is_whole))
    }

    /// The same, with what there was until it was interrupted. None where it had not begun.
    fn run_or_part(
        &self,
        point: &Point,
        chain: &mut Chain,
        further: &dyn Fn(Job<Chain>),
    ) -> Result<Option<Finished>, Error> {
        if point.setup.interrupt.is_asked() {
            return Ok(None);
        }
        if let Some(terms) = &point.life {
            return Ok(Some(self.live(point, terms.clone())?));
        }
        let mut progress = self.watch.begin(point);
        let prepared = match chain.prepared(&point.setup, &mut *progress, further) {
            Err(Error::Interrupted) => return Ok(None),
            prepared => prepared?,
        };
        let outcome = prepared.simulate(&point.setup, &mut *progress)?;
        Ok(Some(Finished::Run(outcome.into())))
    }

    /// Lives `point` as `terms` ask.
    fn live(&self, point: &Point, terms: Terms) -> Result<Finished, Error> {
        let mut progress = self.watch.begin_life(point);
        let life = Life {
            setup: point.setup.clone(),
            terms,
        };
        let (outcome, wall_s) = timed(|| life.live(&mut *progress));
        let of = FinishedLife {
            life,
            outcome: outcome?,
            wall_s,
        };
        Ok(Finished::Life(of.into()))
    }

    /// What `one` makes of each that is in `groups`, which share a drive each, in their order. Those that cost most are begun first, and
    /// what has no known length before them. `point` tells the point of what is in a group.
    fn in_chains<O: Send>(
        &self,
        groups: Vec<Vec<usize>>,
        point: impl Fn(usize) -> usize,
        one: impl Fn(usize, &mut Chain, &dyn Fn(Job<Chain>)) -> Result<O, Error> + Sync,
    ) -> Result<Vec<(usize, O)>, Error> {
        let cost = |i| {
            let Point { setup, life, .. } = &self.points[point(i)];
            cost::expected(setup, life.as_ref()).unwrap_or(f64::INFINITY)
        };
        let chain = |group: Vec<usize>| Chain {
            points: group.into_iter().rev().map(|i| (i, cost(i))).collect(),
            prepared: None,
        };
        let jobs = groups.into_iter().map(|group| chain(group).job()).collect();
        let of_chains = parallel::longest_first(jobs, self.threads, |mut chain, further| {
            let mut all = Vec::new();
            while let Some(i) = chain.next() {
                all.push((i, one(i, &mut chain, further)?));
            }
            Ok::<_, Error>(all)
        })?;
        let mut all: Vec<(usize, O)> = of_chains.into_iter().flatten().collect();
        // What shares a drive is run together, so it comes out of order.
        all.sort_by_key(|(i, _)| *i);
        Ok(all)
    }

    /// The points of each simulation, in the order of their first point: those with the same inputs share one.
    pub(crate) fn runs(&self) -> Result<Vec<Vec<usize>>, Error> {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let mut by_inputs: BTreeMap<String, usize> = BTreeMap::new();
        for (i, point) in self.points.iter().enumerate() {
            // Of thousands of points the checksums are kept, and not all that they are of.
            let inputs = files::checksum(point.inputs(THIS_RUN)?.to_string().as_bytes());
            let run = *by_inputs.entry(inputs).or_insert(runs.len());
            match runs.get_mut(run) {
                Some(run) => run.push(i),
                None => runs.push(vec![i]),
            }
        }
        Ok(runs)
    }
}

/// What a simulation came to in this process.
enum Came {
    Kept(Box<Kept>),
    Interrupted,
    /// Another process is making it.
    Held(Holder),
}

/// Points that share a drive, which is burnt in for the first of them that is run. Then the others are handed on with a clone of
/// it, so that another thread goes on with them.
#[derive(Default)]
struct Chain {
    /// Those to come, the next one last, with what each is expected to cost.
    points: Vec<(usize, f64)>,
    prepared: Option<Prepared>,
}

impl Chain {
    fn next(&mut self) -> Option<usize> {
        self.points.pop().map(|(point, _)| point)
    }

    /// The drive for one of the points, whose setup is `setup`; those to come are handed on with a clone.
    fn prepared(
        &mut self,
        setup: &Setup,
        progress: &mut dyn FnMut(Progress),
        further: &dyn Fn(Job<Chain>),
    ) -> Result<Prepared, Error> {
        let prepared = match self.prepared.take() {
            Some(prepared) => prepared,
            None => setup.prepare(progress)?,
        };
        let rest = Chain {
            points: std::mem::take(&mut self.points),
            prepared: None,
        };
        if !rest.points.is_empty() {
            further(
                Chain {
                    prepared: Some(prepared.fork()),
                    ..rest
                }
                .job(),
            );
        }
        Ok(prepared)
    }

    /// It as a job, which is as long as the points to come.
    fn job(self) -> Job<Chain> {
        Job {
            number: self.points.last().map_or(0, |(point, _)| *point),
            cost: self.points.iter().map(|(_, cost)| cost).sum(),
            of: self,
        }
    }
}

/// What a point came to that is alone.
#[derive(Debug)]
pub enum Alone {
    /// Its result was in the store.
    Found(Box<Kept>),
    /// It was run, or a part of it where that was interrupted.
    Ran(Finished, How),
}

/// Indices of `points`, those together that can share a drive: the same drive in the same state, burnt in by the same
/// workload. A drive that is not burnt in is made for each.
fn sharing<'a>(points: impl Iterator<Item = &'a Point>) -> Result<Vec<Vec<usize>>, Error> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_drive: BTreeMap<String, usize> = BTreeMap::new();
    for (i, point) in points.enumerate() {
        let group = match burnt_in(&point.setup)? {
            Some(drive) => *by_drive.entry(drive.to_string()).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(group) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    Ok(groups)
}

/// The results of a matrix that are kept.
#[derive(Debug)]
pub struct Results {
    kept: Vec<Option<Kept>>,
    /// Index of the simulation of each point.
    of_point: Vec<usize>,
    /// Number of simulations whose results were in the store already.
    pub were_there: usize,
    /// Simulations that other processes are making, where those are not waited for.
    held: Vec<(usize, Holder)>,
}

impl Results {
    /// The result of the point at `index`; none where it was interrupted.
    pub fn of(&self, index: usize) -> Option<&Kept> {
        self.kept[self.of_point[index]].as_ref()
    }

    /// The results of all simulations that have one, each with the index of its first point.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Kept)> {
        let first = |run: usize| self.of_point.iter().position(|of| *of == run);
        let kept = self.kept.iter().enumerate();
        kept.filter_map(move |(run, kept)| Some((first(run)?, kept.as_ref()?)))
    }

    /// Simulations that other processes are making: the index of the first point of each, and who makes it.
    pub fn held(&self) -> impl Iterator<Item = (usize, &Holder)> {
        let first = |run: usize| self.of_point.iter().position(|of| *of == run);
        let held = self.held.iter();
        held.filter_map(move |(run, by)| Some((first(*run)?, by)))
    }

    /// Simulations that have a result.
    pub fn finished(&self) -> usize {
        self.kept.iter().flatten().count()
    }

    /// Simulations that the points come to.
    pub fn simulations(&self) -> usize {
        self.kept.len()
    }

    /// Time that all simulations took on one core, in this run or in earlier ones (s).
    pub fn wall_s(&self) -> f64 {
        // From zero: `sum` makes -0 of no results.
        let kept = self.kept.iter().flatten();
        kept.fold(0.0, |s, kept| s + kept.wall_s)
    }
}

/// All combinations of the values of several axes; the last axis varies fastest.
pub fn crossed<T: Clone>(axes: &[Vec<T>]) -> Vec<Vec<T>> {
    axes.iter().fold(vec![Vec::new()], |all, values| {
        let with = |before: &Vec<T>| {
            let before = before.clone();
            let one = move |value: &T| [&before[..], std::slice::from_ref(value)].concat();
            values.iter().map(one).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_axes_are_crossed_last_one_fastest() {
        let all = crossed(&[vec!["a", "b"], vec!["c", "d"]]);
        assert_eq!(all, [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]);
        assert_eq!(crossed::<u8>(&[]).len(), 1, "nothing crossed is one point");
        assert_eq!(crossed(&[vec![1], vec![]]), Vec::<Vec<i32>>::new());
    }
}
