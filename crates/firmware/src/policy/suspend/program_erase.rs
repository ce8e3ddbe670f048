//! `program-erase`: programs and erases are suspended.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::{Running, Suspend};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "program-erase",
    summary: "programs and erases are suspended for reads of the host",
    source: "Wu and He (FAST 2012); one of the parts of the IBM controller",
    role: Role::Scheme,
    needs: &[Need::SlicedPrograms, Need::SlicedErases],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct SuspendProgramErase;

impl SuspendProgramErase {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SuspendProgramErase {
        SuspendProgramErase
    }
}

impl Suspend for SuspendProgramErase {
    #[inline]
    fn suspends(&self, _running: Running) -> bool {
        true
    }
}
