//! `optimal-group`: the best vector that all pages of a block group can share.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::voltage::BlockGroups;
use firstread_core::{IdealScope, Levels};

use super::{Outcome, ReadCtx, ReadLevels, Setup};
use crate::voltage::groups;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "optimal-group",
    summary: "the best levels that the pages of a block group can share",
    source: "the oracle of every scheme that keeps levels by group of P/E cycles and retention",
    role: Role::Oracle,
    params: &[groups::RETENTION_BINS_PARAM],
};

/// The scheme.
#[derive(Debug)]
pub struct OptimalGroup {
    groups: BlockGroups,
    table_len: u8,
}

impl OptimalGroup {
    /// From the chip's tables and the choice of bins.
    pub fn new(setup: &Setup, values: &Values) -> OptimalGroup {
        OptimalGroup {
            groups: groups::groups(values.get(groups::RETENTION_BINS_PARAM.key)),
            table_len: setup.tables.factory_len,
        }
    }
}

impl ReadLevels for OptimalGroup {
    /// After the group's vector, the factory table outward from the entry nearest to it.
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        let group = self.groups.group(ctx.pe_cycles, ctx.age);
        let scope = match step.checked_sub(1) {
            None => IdealScope::Group(group),
            Some(k) => IdealScope::GroupTable(group, k),
        };
        (step <= self.table_len).then_some(Levels::Ideal(scope))
    }
    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.groups)
    }
}
