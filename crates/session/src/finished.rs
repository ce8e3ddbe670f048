//! What a point of a matrix came to.

use firstread_drive::Ended;

use crate::life::{Life, LifeOutcome};
use crate::outcome::Outcome;

/// What a point came to.
#[derive(Debug)]
pub enum Finished {
    Run(Box<Outcome>),
    Life(Box<FinishedLife>),
}

impl Finished {
    /// Whether it ended by itself, and was not interrupted.
    pub fn is_whole(&self) -> bool {
        match self {
            Finished::Run(outcome) => outcome.stats.ended != Ended::Interrupted,
            Finished::Life(of) => !of.outcome.interrupted,
        }
    }
}

/// A life that was lived.
#[derive(Debug)]
pub struct FinishedLife {
    pub life: Life,
    /// What came of it.
    pub outcome: LifeOutcome,
    /// How long it took on this machine, with its check and its probes (s).
    pub wall_s: f64,
}
