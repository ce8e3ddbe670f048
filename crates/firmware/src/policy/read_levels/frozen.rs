//! `frozen`: entries chosen from the factory table at start-up and never calibrated.
//!
//! This is the baseline of the CT-QLC paper: CT-QLC without calibration. It has the same groups, tables and
//! population, and nothing after them. A group that superblocks enter later inherits the entries of the group
//! they left. So reads try what start-up chose, however old the data have become.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::voltage::BlockGroups;
use firstread_core::{DieId, Levels, Ns, SuperblockId};

use super::ReadLevels;
use super::params::{FROZEN, group_levels};
use crate::format::record;
use crate::log::Record;
use crate::observe::{Outcome, Probe, ProbeResult, ReadCtx, SuperblockTable};
use crate::policy::Setup;
use crate::voltage::group_levels::GroupLevels;
use crate::voltage::selector::Selector;

pub const SCHEME: Scheme = Scheme {
    name: "frozen",
    summary: "three entries a group chosen from the factory table at start-up, never calibrated",
    source: "CT-QLC without voltage calibration (no-cal), the baseline of its Figs 3 and 12 to 14",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: FROZEN,
};

#[derive(Clone, Debug)]
pub struct Frozen {
    group_levels: GroupLevels,
}

impl Frozen {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Frozen {
        Frozen {
            group_levels: group_levels(setup, values, false, 1),
        }
    }
    /// Tables of the scheme.
    #[cfg(test)]
    pub(super) fn tables_mut(&mut self) -> &mut crate::voltage::tables::TableManager {
        &mut self.group_levels.selector.tables
    }

    /// After it was loaded: derives what a dump does not keep. Returns whether what was loaded can be.
    pub(super) fn complete(&mut self) -> bool {
        self.group_levels.complete()
    }

    /// Groups and tables of the scheme.
    pub fn selector(&self) -> &Selector {
        &self.group_levels.selector
    }
}

impl ReadLevels for Frozen {
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        self.group_levels.levels(ctx, step)
    }
    fn start(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.group_levels.start(now, blocks);
    }
    fn on_block(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable) {
        self.group_levels.on_block(now, block, blocks);
    }
    fn due(&self) -> Ns {
        self.group_levels.due()
    }
    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        _is_free: &impl Fn(DieId) -> bool,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        self.group_levels.settle(now, blocks, log);
        self.group_levels.population_probe(blocks)
    }
    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
        log: &mut impl FnMut(Record),
    ) {
        self.group_levels
            .population_result(now, probe, result, blocks, log);
    }
    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.group_levels.selector.groups)
    }
}

record! {
    Frozen as "frozen" {
        group_levels: "levels by group",
    }
}
