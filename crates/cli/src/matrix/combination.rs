//! The combinations of values that are run, and what has run of each.

use firstread_session::study::metric;
use firstread_session::{Kept, Setup, Simulation, Sweep};
use serde_json::Value;

use crate::accept::Target;
use crate::args::OutputArgs;
use crate::output::spread::Spread;

/// What is asked for.
pub struct Asked<'a> {
    /// What all runs have in common.
    pub base: Simulation,
    /// What they differ in; of at least one thing.
    pub sweep: Sweep,
    /// Seeds of the drives, which all run every combination.
    pub seeds: Vec<u64>,
    /// Whether changes are shown: against the first value of what is first in the sweep.
    pub compares: bool,
    /// What is asked of each run.
    pub accept: &'a [Target],
    /// Simulations at a time.
    pub threads: Option<u16>,
    pub output: &'a OutputArgs,
}

/// The runs of one combination of values, a drive each.
pub struct Combination {
    /// In the order of what varies.
    pub values: Vec<String>,
    /// The jobs that it is of, and the place of their group, where jobs ran one group after another.
    pub jobs: Option<(usize, String)>,
    /// Those that have finished, with the seed of the drive.
    pub runs: Vec<(Setup, Kept)>,
}

impl Combination {
    /// A metric of a run with this seed; none where it has none.
    fn of_seed(&self, seed: u64, metric: &str) -> Option<f64> {
        let (_, kept) = self.runs.iter().find(|(setup, _)| setup.seed == seed)?;
        kept.values.get(metric)?.as_f64()
    }

    /// A metric over its drives; none where a drive has none.
    pub fn over(&self, metric: &str) -> Option<Spread> {
        let each = self.runs.iter();
        Spread::of(each.map(|(_, kept)| kept.values.get(metric)?.as_f64()))
    }

    /// How often a metric is that of `base`, drive by drive.
    pub fn against(&self, base: &Combination, metric: &str) -> Option<Spread> {
        let each = self.runs.iter().map(|(setup, kept)| {
            let value = kept.values.get(metric)?.as_f64()?;
            let ratio = value / base.of_seed(setup.seed, metric)?;
            ratio.is_finite().then_some(ratio)
        });
        Spread::of(each)
    }
}

impl Combination {
    /// A combination for each group of its jobs: itself where all of them ran together.
    pub fn by_group(self) -> Vec<Combination> {
        let groups = |kept: &Kept| kept.values.get(metric::GROUPS)?.as_array().cloned();
        let of_first = self.runs.first().and_then(|(_, kept)| groups(kept));
        let Some(of_first) = of_first else {
            return vec![self];
        };
        let of = |(i, first): (usize, &Value)| {
            let run = |(setup, kept): &(Setup, Kept)| {
                let mut of_group = kept.clone();
                of_group.values = groups(kept)?.get(i)?.as_object()?.clone();
                Some((setup.clone(), of_group))
            };
            let jobs = first[metric::JOBS].as_str().unwrap_or_default();
            Combination {
                values: self.values.clone(),
                jobs: Some((i, jobs.to_owned())),
                runs: self.runs.iter().filter_map(run).collect(),
            }
        };
        of_first.iter().enumerate().map(of).collect()
    }

    /// The names of its jobs; empty where all jobs ran together.
    pub fn jobs(&self) -> &str {
        self.jobs.as_ref().map_or("", |(_, jobs)| jobs)
    }

    /// Whether its runs are those of no combination before it: groups of jobs share their runs.
    pub fn is_first(&self) -> bool {
        self.jobs.as_ref().is_none_or(|(place, _)| *place == 0)
    }
}

/// The rows of the table.
pub struct Rows<'a> {
    /// What was asked for.
    pub asked: &'a Asked<'a>,
    /// Every combination of which a run has finished.
    pub combinations: Vec<Combination>,
}
