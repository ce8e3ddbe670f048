//! `optimal-group`: the best vector that all pages of a block group can share.

use alloc::boxed::Box;

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::voltage::{BlockGroups, VoltageTables};
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
    tables: Box<VoltageTables>,
}

impl OptimalGroup {
    /// From the chip's tables and the choice of bins.
    pub fn new(setup: &Setup, values: &Values) -> OptimalGroup {
        OptimalGroup {
            groups: groups::groups(values.get(groups::RETENTION_BINS_PARAM.key)),
            tables: Box::new(setup.tables.clone()),
        }
    }
}

impl ReadLevels for OptimalGroup {
    /// After the group's vector, the factory table.
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        match step {
            0 => Some(Levels::Ideal(IdealScope::Group(
                self.groups.group(ctx.pe_cycles, ctx.age),
            ))),
            _ if step <= self.tables.factory_len => {
                Some(Levels::Offsets(self.tables.factory[step as usize - 1]))
            }
            _ => None,
        }
    }
    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.groups)
    }
}
