//! `hot`: the control of `cell_mode=raro`. The pages that RARO would copy into SLC or TLC mode are rewritten in the
//! drive's own mode.
//!
//! What of RARO's gain a rewrite alone gives is what `hot` gives: the errors of data that have aged go with any
//! rewrite. Trigger, thresholds and their defaults are those of `cell_mode=raro` by construction: both ask
//! [`RaroRule`]. A page of RARO leaves QLC and so is promoted once or twice; a page that is rewritten stays in the
//! mode, which `age` makes up for.

use firstread_core::params::{Need, Order, Role, Scheme, Values};

use super::read_limit::{READS_MLC, READS_QLC, READS_SLC, READS_TLC};
use super::rewritten::{LeastAge, REFRESHED};
use super::{MostSenses, Refresh};
use crate::observe::StreamRow;
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, RaroRule, Thresholds};

pub const SCHEME: Scheme = Scheme {
    name: "hot",
    summary: "pages that RARO would promote are rewritten in the drive's own mode; besides, as read-count",
    source: "the control of RARO (Wang et al.), which has none",
    role: Role::Scheme,
    needs: &[Need::Heat, Need::OwnStream],
    ordered: &[Order::AtMost("r1", "r2"), Order::AtMost("warm", "hot")],
    params: &[
        RaroRule::TRIGGER,
        RaroRule::r1("retries from which a hot page is rewritten"),
        RaroRule::r2("retries from which a warm page is rewritten"),
        RaroRule::SLOWER,
        Thresholds::WARM,
        Thresholds::HOT,
        LeastAge::AGE,
        READS_SLC,
        READS_MLC,
        READS_TLC,
        READS_QLC,
    ],
};

#[derive(Clone, Debug)]
pub struct Hot {
    rule: RaroRule,
    age: LeastAge,
    most_senses: MostSenses,
}

impl Hot {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Hot {
        Hot {
            rule: RaroRule::new(setup, values),
            age: LeastAge::new(values),
            most_senses: MostSenses::new(setup, values),
        }
    }
}

impl Refresh for Hot {
    fn most_senses(&self) -> MostSenses {
        self.most_senses
    }

    fn streams(&self) -> &'static [StreamRow] {
        REFRESHED
    }

    fn rewrites(&mut self, read: &PageRead) -> bool {
        // The rule learns from every read.
        self.rule.target(read).is_some() && self.age.is_reached(read)
    }
}
