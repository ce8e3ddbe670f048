//! `parity`: what its levels do not save is made anew from the other dies of its stripe.
//!
//! One die of each wordline of a superblock, in turn, holds the sum of the others: a part of the space in
//! as many as there are dies is not for data, and programs write as much more.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::Recovery;
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "parity",
    summary: "parity across the dies of a superblock, read when a page is lost",
    source: "RAID 5 within a drive (RAIN; Kim et al., IEEE Trans. Computers 2012)",
    role: Role::Scheme,
    needs: &[Need::StripeParity],
    params: &[],
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct Parity;

impl Parity {
    /// It has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Parity {
        Parity
    }
}

impl Recovery for Parity {}
