//! `fifo-guarded`: the superblock opened longest ago of those that yield enough.
//!
//! Under skewed writes some victims are nearly full. The bound on the longest write then holds for the rate
//! of the current host superblock, which may be far below the average rate of the run.

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Rule, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "fifo-guarded",
    summary: "the superblock opened longest ago of those that free a sixteenth of what the emptiest frees",
    source: "fifo, with the bound on the cost of a victim that all schemes but fifo and random have",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No state: the superblocks' records tell when each was opened.
#[derive(Clone, Debug)]
pub struct FifoGuarded;

impl FifoGuarded {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> FifoGuarded {
        FifoGuarded
    }
}

impl GcVictim for FifoGuarded {
    fn choose(&self, victims: Victims<'_>, _nth: u64) -> Option<SuperblockId> {
        victims.first_by(|_, opened| opened)
    }
    fn law(&self) -> Option<Law> {
        Some(Law::guarded(Rule::Oldest))
    }
}
