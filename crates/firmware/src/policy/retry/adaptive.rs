//! `adaptive`: retries sense for a shorter time where that is safe (AR²).
//!
//! How short is a table's to say, which characterization makes (`cargo xtask characterize`); when, is
//! decided by `haste`. The die's sensing time is a feature: a SET FEATURE (`tSET`) comes before the
//! first short sense, and before the first one at the default time after it, whosever it is.

use firstread_core::SenseTiming;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::Retry;
use super::haste::{Haste, Reckoner};
use crate::policy::Setup;
use crate::policy::read_levels::{Outcome, ReadCtx};

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "adaptive",
    summary: "retries sense for a shorter time where that is safe",
    source: "AR2 (Park et al., ASPLOS 2021); the table is made from this chip's cells",
    role: Role::Scheme,
    needs: &[Need::WholeDie, Need::SafeSenses],
    params: &[],
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct Adaptive {
    reckoner: Reckoner,
}

impl Adaptive {
    /// From the chip's table.
    pub fn new(setup: &Setup, _values: &Values) -> Adaptive {
        Adaptive {
            reckoner: Reckoner::new(setup),
        }
    }
}

impl Retry for Adaptive {
    fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
        self.reckoner.haste(ctx, entry)
    }
    fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome) {
        self.reckoner.on_read(ctx, entry, timing, outcome);
    }
}
