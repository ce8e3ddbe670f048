//! `greedy`: the superblock with the fewest valid slots.

use firstread_core::SuperblockId;
use firstread_core::params::{Role, Scheme, Values};

use super::{GcVictim, Law, Rule, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "greedy",
    summary: "the superblock with the fewest valid slots, the oldest of equals",
    source: "Rosenblum and Ousterhout (SOSP 1991), section 3.4; optimal under uniform random writes",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No state: the superblocks' records tell how full each is.
#[derive(Clone, Debug)]
pub struct Greedy;

impl Greedy {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Greedy {
        Greedy
    }
}

impl GcVictim for Greedy {
    fn choose(&self, victims: Victims<'_>, _nth: u64) -> Option<SuperblockId> {
        // Superblocks in different cell modes differ in size, so the share of valid slots is compared.
        victims.emptiest()
    }
    fn law(&self) -> Option<Law> {
        Some(Law::guarded(Rule::Emptiest))
    }
}
