//! `none`: the free superblock with the lowest number.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::Wear;
use crate::observe::{ModeSet, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "none",
    summary: "the free superblock of the lowest number: wear is left to chance",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[Need::TrueWear],
    ordered: &[],
    params: &[],
};

/// No state: the lowest number wins, whatever the wear.
#[derive(Clone, Debug)]
pub struct NoWearLeveling;

impl NoWearLeveling {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> NoWearLeveling {
        NoWearLeveling
    }
}

impl Wear for NoWearLeveling {
    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        _cold: bool,
    ) -> Option<SuperblockId> {
        blocks.first_free(modes)
    }
}
