//! `lightweight`: pages that are read often and whose reads take long are rewritten, page by page.
//!
//! LDR reads its medium by soft senses, and a page is slow there if it needs many of them. Here a page is slow if its
//! read took retries.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::read_limit::{READS_MLC, READS_QLC, READS_SLC, READS_TLC};
use super::rewritten::{LeastAge, REFRESHED};
use super::{MostSenses, Refresh};
use crate::observe::StreamRow;
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, Thresholds};

const HOT: Param = Thresholds::HOT_ALONE;

const RETRIES: Param = Param::number(
    "retries",
    "retries of a read from which its page is rewritten, if it is hot",
    "retries",
    (3, 0, 64),
);

pub const SCHEME: Scheme = Scheme {
    name: "lightweight",
    summary: "hot pages whose read took retries are rewritten, page by page; besides, as read-count",
    source: "LDR (Du et al., DAC 2017), with retries for its soft senses",
    role: Role::Scheme,
    needs: &[Need::Heat, Need::OwnStream],
    ordered: &[],
    params: &[
        HOT,
        RETRIES,
        LeastAge::AGE,
        READS_SLC,
        READS_MLC,
        READS_TLC,
        READS_QLC,
    ],
};

#[derive(Clone, Debug)]
pub struct Lightweight {
    hot: u8,
    retries: u8,
    age: LeastAge,
    most_senses: MostSenses,
}

impl Lightweight {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Lightweight {
        Lightweight {
            hot: values.get(HOT.key) as u8,
            retries: values.get(RETRIES.key) as u8,
            age: LeastAge::new(values),
            most_senses: MostSenses::new(setup, values),
        }
    }
}

impl Refresh for Lightweight {
    fn most_senses(&self) -> MostSenses {
        self.most_senses
    }

    fn streams(&self) -> &'static [StreamRow] {
        REFRESHED
    }

    fn rewrites(&mut self, read: &PageRead) -> bool {
        read.heat.reads >= self.hot && read.retries >= self.retries && self.age.is_reached(read)
    }
}
