//! `cost-benefit`: the superblock with the most free space per slot moved, weighted by age.
//!
//! Age counts the superblocks opened since, not hours. Age stands for how stable the data are, and data prove
//! stable only while other data are written. If age were hours, older superblocks would be worth cleaning for
//! a single slot after a day without writes.

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Victims};
use crate::observe::SuperblockRow;
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

/// The scheme.
#[derive(Clone, Debug)]
pub struct CostBenefit;

impl CostBenefit {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> CostBenefit {
        CostBenefit
    }
}

/// `age * (1 - u) / 2u`, scaled alike for all superblocks. An empty superblock has the highest value.
fn worth(victims: &Victims<'_>, row: &SuperblockRow) -> u128 {
    let age = u128::from(victims.age(row));
    let (slots, valid) = (victims.slots(row), row.valid_slots);
    match valid {
        0 => u128::MAX,
        _ => (age * (slots - valid) as u128 * 1024) / (2 * valid as u128),
    }
}

impl GcVictim for CostBenefit {
    fn choose(&self, victims: Victims<'_>, _nth: u64) -> Option<SuperblockId> {
        let best = victims
            .candidates()
            .max_by_key(|(_, row)| (worth(&victims, row), u64::MAX - row.opened));
        best.map(|(block, _)| block)
    }
    fn law(&self) -> Option<Law> {
        Some(Law::CostBenefit)
    }
}
