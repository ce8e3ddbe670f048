//! `fifo`: the superblock opened longest ago.
//!
//! Under skewed writes some victims are nearly full. The bound on the longest write then holds for the rate
//! of the current host superblock, which may be far below the average rate of the run.

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "fifo",
    summary: "the superblock opened longest ago",
    source: "the baseline: a circular log; Desnoyers (SYSTOR 2012) gives its write amplification in closed form",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No state: the superblocks' records tell when each was opened.
#[derive(Clone, Debug)]
pub struct Fifo;

impl Fifo {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Fifo {
        Fifo
    }
}

impl GcVictim for Fifo {
    fn choose(&self, victims: Victims<'_>, _nth: u64) -> Option<SuperblockId> {
        victims.first_by(|_, opened| opened)
    }
    fn law(&self) -> Option<Law> {
        Some(Law::Oldest)
    }
}
