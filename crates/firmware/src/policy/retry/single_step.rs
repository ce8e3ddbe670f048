//! `single-step`: the first retry is at the true valleys of the page.
//!
//! The oracle of the axis. What it bounds: every way to execute the steps of a read. None is faster than to need one
//! of them, and no step of a walk reads what the page's own valleys do not, but for the noise of a sense. So these are
//! tried several times, and the read then ends: a walk would only make reads that are lost take longer.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::Retry;
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "single-step",
    summary: "the first retry is at the true valleys of the page",
    source: "the oracle: a read that fails is retried once, as far as its cells allow it",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    params: &[],
};

/// Steps before the read is given up. Sensing noise is drawn anew each time, nothing else changes.
const STEPS: u8 = 8;

/// The scheme.
#[derive(Clone, Debug)]
pub struct SingleStep;

impl SingleStep {
    /// It has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SingleStep {
        SingleStep
    }
}

impl Retry for SingleStep {
    fn own_steps(&self) -> u8 {
        STEPS
    }
    fn own_levels(&self) -> Levels {
        Levels::Ideal(IdealScope::Page)
    }
}
