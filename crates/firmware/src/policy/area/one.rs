//! `one`: the drive wears as a whole.

use firstread_core::params::{Role, Scheme, Values};

use super::Areas;
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "one",
    summary: "all superblocks take all data: the drive wears as a whole",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// A drive without areas: no state, and no question that it answers otherwise than by default.
#[derive(Clone, Debug)]
pub struct One;

impl One {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> One {
        One
    }
}

impl Areas for One {}
