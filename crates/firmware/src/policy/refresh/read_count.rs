//! `read-count`: a superblock whose blocks were read a number of times is emptied, and its data are rewritten.

use firstread_core::params::{Role, Scheme, Values};

use super::read_limit::{READS_MLC, READS_QLC, READS_SLC, READS_TLC};
use super::{MostSenses, Refresh};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "read-count",
    summary: "a superblock is rewritten when its blocks were read so often that reads disturb them",
    source: "read-disturb refresh of products, at some 400,000 reads of a TLC block (DEAR, MICRO 2025, second-hand), or 67,000 to 225,000 (three products, from public SMART logs)",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[READS_SLC, READS_MLC, READS_TLC, READS_QLC],
};

#[derive(Clone, Debug)]
pub struct ReadCount {
    most_senses: MostSenses,
}

impl ReadCount {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> ReadCount {
        ReadCount {
            most_senses: MostSenses::new(setup, values),
        }
    }
}

impl Refresh for ReadCount {
    fn most_senses(&self) -> MostSenses {
        self.most_senses
    }
}
