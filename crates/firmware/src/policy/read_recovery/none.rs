//! `none`: a read that fails with all its levels is uncorrectable.

use firstread_core::params::{Role, Scheme, Values};

use super::ReadRecovery;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "none",
    summary: "a read that its levels do not save is uncorrectable",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct NoReadRecovery;

impl NoReadRecovery {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> NoReadRecovery {
        NoReadRecovery
    }
}

impl ReadRecovery for NoReadRecovery {}
