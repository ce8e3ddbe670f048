//! `optimal`: the true valleys of the very page.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::{Outcome, ReadCtx, ReadLevels, Setup};

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "optimal",
    summary: "the true valleys of the page that is read",
    source: "the oracle: no levels have fewer errors on this page",
    role: Role::Oracle,
    params: &[],
};

/// Attempts before it gives up. Sensing noise is drawn anew each time, nothing else changes.
const ATTEMPTS: u8 = 8;

/// The scheme.
#[derive(Debug)]
pub struct Optimal;

impl Optimal {
    /// It needs nothing.
    pub fn new(_setup: &Setup, _values: &Values) -> Optimal {
        Optimal
    }
}

impl ReadLevels for Optimal {
    fn attempt(
        &mut self,
        _ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        (step < ATTEMPTS).then_some(Levels::Ideal(IdealScope::Page))
    }
}
