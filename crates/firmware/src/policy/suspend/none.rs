//! `none`: a read waits until the die is free.

use firstread_core::params::{Role, Scheme, Values};

use super::{Running, Suspend};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "none",
    summary: "a read waits until the die is free",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct NoSuspend;

impl NoSuspend {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> NoSuspend {
        NoSuspend
    }
}

impl Suspend for NoSuspend {
    #[inline]
    fn suspends(&self, _running: Running) -> bool {
        false
    }
}
