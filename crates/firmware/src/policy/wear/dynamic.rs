//! `dynamic`: the free superblock with the fewest P/E cycles.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::Wear;
use crate::observe::{ModeSet, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "dynamic",
    summary: "the free superblock with the fewest P/E cycles",
    source: "dynamic wear leveling, as surveyed by Gal and Toledo (ACM Computing Surveys 2005)",
    role: Role::Scheme,
    needs: &[Need::TrueWear],
    ordered: &[],
    params: &[],
};

/// No state: the superblocks' records tell their wear.
#[derive(Clone, Debug)]
pub struct DynamicWearLeveling;

impl DynamicWearLeveling {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> DynamicWearLeveling {
        DynamicWearLeveling
    }
}

impl Wear for DynamicWearLeveling {
    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        _cold: bool,
    ) -> Option<SuperblockId> {
        blocks.least_worn_free(modes, None)
    }
}
