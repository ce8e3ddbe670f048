//! `cost-benefit`: the superblock with the most free space per slot moved, weighted by age.
//!
//! Age counts the superblocks opened since, not hours. Age stands for how stable the data are, and data prove
//! stable only while other data are written. If age were hours, older superblocks would be worth cleaning for
//! a single slot after a day without writes.

use core::cmp::Reverse;

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Rule, Victims};
use crate::observe::Filled;
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "cost-benefit",
    summary: "the highest age * (1 - u) / 2u, u being the valid share and age superblocks opened since",
    source: "Kawaguchi et al. (USENIX 1995), after Rosenblum and Ousterhout (SOSP 1991)",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No state: the superblocks' records tell age and valid slots.
#[derive(Clone, Debug)]
pub struct CostBenefit;

impl CostBenefit {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> CostBenefit {
        CostBenefit
    }
}

/// `age * (1 - u) / 2u`, scaled alike for all superblocks. An empty superblock has the highest value.
fn worth(age: u64, filled: Filled) -> u128 {
    match filled.valid {
        0 => u128::MAX,
        valid => (u128::from(age) * u128::from(filled.gain()) * 1024) / (2 * u128::from(valid)),
    }
}

impl GcVictim for CostBenefit {
    fn choose(&self, victims: Victims<'_>, _nth: u64) -> Option<SuperblockId> {
        victims.first_by(|filled, opened| (Reverse(worth(victims.age(opened), filled)), opened))
    }
    fn law(&self) -> Option<Law> {
        Some(Law::guarded(Rule::CostBenefit))
    }
}
