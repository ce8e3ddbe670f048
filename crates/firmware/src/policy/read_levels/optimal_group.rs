//! `optimal-group`: the best levels that all pages of a block group can share, then the page's own valleys.
//!
//! This oracle bounds schemes that keep levels by group of P/E cycles and retention. No other levels read
//! more pages of a group at the first attempt. Whatever such a scheme tries next, and however many entries it
//! holds, nothing suits a page better than its own valleys, so these follow. Schemes with levels for less
//! than a group (a block, a layer, a zone of `ct-qlc`) may read more pages at the first attempt. `optimal`
//! bounds those schemes too.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::voltage::BlockGroups;
use firstread_core::{IdealScope, Levels};

use super::ReadLevels;
use super::optimal::ATTEMPTS;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::Setup;
use crate::voltage::groups;

pub const SCHEME: Scheme = Scheme {
    name: "optimal-group",
    summary: "the best levels that the pages of a block group can share, then those of the page",
    source: "the oracle of every scheme that keeps levels by group of P/E cycles and retention",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    ordered: &[],
    params: &[groups::RETENTION_BINS_PARAM],
};

#[derive(Clone, Debug)]
pub struct OptimalGroup {
    groups: BlockGroups,
}

impl OptimalGroup {
    /// The scheme with the chosen bins.
    pub fn new(_setup: &Setup, values: &Values) -> OptimalGroup {
        OptimalGroup {
            groups: groups::groups(values.get(groups::RETENTION_BINS_PARAM.key)),
        }
    }
}

impl ReadLevels for OptimalGroup {
    /// After the levels of the group come the valleys of the page.
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        let scope = match step {
            0 => IdealScope::Group(self.groups.group(ctx.pe_cycles, ctx.age)),
            _ => IdealScope::Page,
        };
        (step < ATTEMPTS).then_some(Levels::Ideal(scope))
    }
    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.groups)
    }
}
