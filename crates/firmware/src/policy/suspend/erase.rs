//! `erase`: erases are suspended.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::{Running, Suspend};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "erase",
    summary: "erases are suspended for reads of the host",
    source: "Wu and He (FAST 2012): erase suspension",
    role: Role::Scheme,
    needs: &[Need::SlicedErases],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct SuspendErase;

impl SuspendErase {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SuspendErase {
        SuspendErase
    }
}

impl Suspend for SuspendErase {
    #[inline]
    fn suspends(&self, running: Running) -> bool {
        running == Running::Erase
    }
}
