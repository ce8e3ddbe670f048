//! `factory`: walk the manufacturer's retry table from its first entry.

use alloc::boxed::Box;

use firstread_core::Levels;
use firstread_core::params::{Role, Scheme, Values};

use super::ReadLevels;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "factory",
    summary: "walk the manufacturer's retry table from its first entry",
    source: "the baseline: what a drive does that keeps no levels of its own",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct Factory {
    /// Entries in the form that reads use.
    entries: Box<[Levels]>,
}

impl Factory {
    /// The scheme with the chip's tables.
    pub fn new(setup: &Setup, _values: &Values) -> Factory {
        Factory {
            entries: setup.tables.factory[..setup.tables.factory_len as usize]
                .iter()
                .map(|&offsets| Levels::Offsets(offsets))
                .collect(),
        }
    }
}

impl ReadLevels for Factory {
    fn attempt(
        &mut self,
        _ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        self.entries.get(step as usize).copied()
    }
}
