//! `parity`: codewords that fail with all levels are rebuilt from the other dies of their stripe.
//!
//! One die of each wordline of a superblock holds the sum (XOR) of the others; the dies take turns. The price
//! with `n` dies: 1/n of the space holds no data, and programs write that much more.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::ReadRecovery;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "parity",
    summary: "parity across the dies of a superblock, read when a page is lost",
    source: "RAID 5 within a drive (RAIN; Kim et al., IEEE Trans. Computers 2012)",
    role: Role::Scheme,
    needs: &[Need::StripeParity],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct Parity;

impl Parity {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Parity {
        Parity
    }
}

impl ReadRecovery for Parity {}
