//! `single-step`: the first retry is at the true valleys of the page.
//!
//! The oracle of the axis. No way to execute steps is faster than to need one of them; where even the
//! true valleys fail, the scheme's own steps follow.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::{Retry, Setup};

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "single-step",
    summary: "the first retry is at the true valleys of the page",
    source: "the oracle: a read that fails is retried once, as far as its cells allow it",
    role: Role::Oracle,
    params: &[],
};

/// The scheme.
#[derive(Debug)]
pub struct SingleStep;

impl SingleStep {
    /// It has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SingleStep {
        SingleStep
    }
}

impl Retry for SingleStep {
    fn own_steps(&self) -> u8 {
        1
    }
    fn own_levels(&self) -> Levels {
        Levels::Ideal(IdealScope::Page)
    }
}
