//! `none`: no data are rewritten because of how they are read.

use firstread_core::params::{Role, Scheme, Values};

use super::Refresh;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "none",
    summary: "no data are rewritten because of their reads, however many disturb them",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct NoRefresh;

impl NoRefresh {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> NoRefresh {
        NoRefresh
    }
}

impl Refresh for NoRefresh {}
