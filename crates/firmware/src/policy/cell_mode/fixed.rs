//! `fixed`: every superblock keeps the mode that the drive gave it.

use firstread_core::params::{Role, Scheme, Values};

use super::CellModes;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "fixed",
    summary: "no data move to another cell mode",
    source: "the baseline; also RARO's",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct Fixed;

impl Fixed {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Fixed {
        Fixed
    }
}

impl CellModes for Fixed {}
