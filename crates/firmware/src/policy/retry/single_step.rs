//! `single-step`: the first retry is at the true valleys of the page.
//!
//! This is the oracle of the axis. It bounds every way to execute the steps of a read, for two reasons: no
//! read is faster than one with a single retry, and no step of a retry walk reads a page that the page's own
//! valleys do not read, except for sensing noise. Because of the noise the true valleys are tried several
//! times. The read then ends: a walk would only make lost reads take longer.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::Retry;
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "single-step",
    summary: "the first retry is at the true valleys of the page",
    source: "the oracle: a read that fails is retried once, as far as its cells allow it",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    params: &[],
};

/// Steps before the read is given up. Only the sensing noise differs between them.
const STEPS: u8 = 8;

/// The scheme.
#[derive(Clone, Debug)]
pub struct SingleStep;

impl SingleStep {
    /// The scheme, which has no parameters.
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
