//! `differential`: DWR. How many reads make a page hot depends on the stage of life: the rule is in `dwr`.

use firstread_core::params::{Need, Order, Role, Scheme};

use super::at_bound::{AT_BOUND, BOUND};
use super::budget::BUDGET;
use super::dwr::{BY_GC, BY_READ, BY_UPDATE, Dwr, GATED, RULE, SLOWER, TRIGGER};
use super::locality::{LOCALITY, LOW_LOCALITY};
use super::params::LOW_SHARE;
use super::stage::{MIDDLE, MIDDLE_READS, NEW_READS, OLD, OLD_READS};

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "differential",
    summary: "two areas that wear apart: writes go to one, data read often to the other",
    source: "DWR (Song et al.)",
    role: Role::Scheme,
    needs: &[Need::Heat, Need::OwnStream],
    ordered: &[Order::AtMost("middle", "old")],
    params: &[
        LOW_SHARE,
        RULE,
        NEW_READS,
        MIDDLE_READS,
        OLD_READS,
        MIDDLE,
        OLD,
        TRIGGER,
        SLOWER,
        BY_GC,
        BY_UPDATE,
        BY_READ,
        GATED,
        BUDGET,
        BOUND,
        AT_BOUND,
        LOW_LOCALITY,
        LOCALITY,
    ],
};

/// DWR, whose threshold of reads depends on the stage of life. FDWR is the same type.
pub type Differential = Dwr;
