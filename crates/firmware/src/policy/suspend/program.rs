//! `program`: programs are suspended.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::{Running, Suspend};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "program",
    summary: "programs are suspended for reads of the host",
    source: "Wu and He (FAST 2012): program suspension",
    role: Role::Scheme,
    needs: &[Need::SlicedPrograms],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct SuspendProgram;

impl SuspendProgram {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SuspendProgram {
        SuspendProgram
    }
}

impl Suspend for SuspendProgram {
    #[inline]
    fn suspends(&self, running: Running) -> bool {
        running == Running::Program
    }
}
