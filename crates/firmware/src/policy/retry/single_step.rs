//! `single-step`: the first retry is at the true valleys of the page.
//!
//! This is the oracle of the axis. It bounds every way to execute the steps of a read, for three reasons: no
//! walk takes fewer retries than one; no sense of a retry is shorter than the shortest that chips are characterized
//! for, which the oracle uses without the errors that a short sense adds; and no step of a retry walk reads a page that
//! the page's own valleys do not read, except for sensing noise. Because of the noise the true valleys are tried
//! several times. The read then ends: a walk would only make lost reads take longer.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::Retry;
use super::short_sense::ShortSense;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "single-step",
    summary: "the first retry is at the true valleys of the page, in the shortest time, without its errors",
    source: "the oracle: a read that fails is retried once, as far as its cells allow it",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    ordered: &[],
    params: &[],
};

/// Steps before the read is given up. Only the sensing noise differs between them.
const STEPS: u8 = 8;

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
        Levels::Ideal(IdealScope::PageAtAnyTime)
    }
    fn own_sense(&self) -> ShortSense {
        ShortSense::SHORTEST
    }
}
