//! `soft-parity`: soft senses first, then the rebuild from the other dies of the stripe.

use firstread_core::SenseMode;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::ReadRecovery;
use super::soft::{PARAMS, Soft};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "soft-parity",
    summary: "soft senses, then parity across the dies of a superblock",
    source: "the usual order: hard, retries, soft, RAID (RiF, HPCA 2024, second-hand)",
    role: Role::Scheme,
    needs: &[Need::SoftDecoder, Need::StripeParity],
    ordered: &[],
    params: PARAMS,
};

#[derive(Clone, Debug)]
pub struct SoftParity(Soft);

impl SoftParity {
    /// The scheme with the parameters of `soft`.
    pub fn new(setup: &Setup, values: &Values) -> SoftParity {
        SoftParity(Soft::new(setup, values))
    }
}

impl ReadRecovery for SoftParity {
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        self.0.soft_after(failed)
    }
    fn hard_steps(&self) -> Option<u8> {
        self.0.hard_steps()
    }
}
