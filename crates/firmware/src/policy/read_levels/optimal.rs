//! `optimal`: the true valleys of the very page.
//!
//! What it bounds: every scheme of the axis. No levels have fewer errors on the page, so no other way to choose them
//! reads it earlier, or reads it at all where its own valleys fail, but for the noise of a sense: that is why
//! there are several attempts.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::{Outcome, ReadCtx, ReadLevels};
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "optimal",
    summary: "the true valleys of the page that is read",
    source: "the oracle: no levels have fewer errors on this page",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    params: &[],
};

/// Attempts before it gives up. Sensing noise is drawn anew each time, nothing else changes.
pub(super) const ATTEMPTS: u8 = 8;

/// The scheme.
#[derive(Clone, Debug)]
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
