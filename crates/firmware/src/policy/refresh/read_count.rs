//! `read-count`: a superblock whose blocks were read a number of times is emptied, and its data are rewritten.

use firstread_core::params::{Role, Scheme, Values};

use super::Refresh;
use super::read_limit::{READS, most_senses};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "read-count",
    summary: "a superblock is rewritten when its blocks were read so often that reads disturb them",
    source: "read-disturb refresh of products, at some 400,000 reads of a TLC block (DEAR, MICRO 2025, second-hand)",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[READS],
};

#[derive(Clone, Debug)]
pub struct ReadCount {
    most_senses: u64,
}

impl ReadCount {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> ReadCount {
        ReadCount {
            most_senses: most_senses(setup, values),
        }
    }
}

impl Refresh for ReadCount {
    fn most_senses(&self) -> Option<u64> {
        Some(self.most_senses)
    }
}
