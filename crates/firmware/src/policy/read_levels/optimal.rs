//! `optimal`: the true valleys of the page that is read.
//!
//! This oracle bounds every scheme of the axis. No levels have fewer errors on the page. So no other choice
//! of levels reads the page at an earlier attempt, or reads a page that these levels cannot read, except for
//! sensing noise. Because of the noise there are several attempts.

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::{IdealScope, Levels};

use super::ReadLevels;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "optimal",
    summary: "the true valleys of the page that is read",
    source: "the oracle: no levels have fewer errors on this page",
    role: Role::Oracle,
    needs: &[Need::TrueLevels],
    ordered: &[],
    params: &[],
};

/// Attempts before it gives up. Only the sensing noise differs between them.
pub(super) const ATTEMPTS: u8 = 8;

#[derive(Clone, Debug)]
pub struct Optimal;

impl Optimal {
    /// The scheme, which has no parameters.
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
