//! `fifo`: the superblock opened longest ago.
//!
//! A victim may be full of valid data: a circular log passes each superblock in turn. Emptying it yields nothing and takes
//! nothing, and it is the youngest afterwards. So one round over all superblocks frees at least the garbage that there was at
//! its beginning. Under skewed writes many victims are nearly full, and writes wait for their moves.

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Rule, Victims};
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
        victims.any().first_by(|_, opened| opened)
    }
    fn takes_any(&self) -> bool {
        true
    }
    fn law(&self) -> Option<Law> {
        Some(Law::of_any(Rule::Oldest))
    }
}
