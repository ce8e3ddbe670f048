//! The combinations of values that are run, and what has run of each.

use firstread_session::{Kept, Setup, Simulation, Sweep};

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
    /// Simulations at a time.
    pub threads: Option<u16>,
    pub output: &'a OutputArgs,
}

/// The runs of one combination of values, a drive each.
pub struct Combination {
    /// In the order of what varies.
    pub values: Vec<String>,
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

/// All that has run.
pub struct Ran<'a> {
    /// What was asked for.
    pub asked: &'a Asked<'a>,
    /// Every combination of which a run has finished.
    pub combinations: Vec<Combination>,
}
