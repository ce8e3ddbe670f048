//! `differential-fixed`: FDWR. As `differential`, but `N_R` is the same at every stage of life.

use firstread_core::params::{Need, Role, Scheme};

use super::at_bound::{AT_BOUND, BOUND};
use super::budget::BUDGET;
use super::dwr::{BY_GC, BY_READ, BY_UPDATE, Dwr, GATED, RULE, SLOWER, TRIGGER};
use super::locality::{LOCALITY, LOW_LOCALITY};
use super::params::LOW_SHARE;
use super::stage::FIXED_READS;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "differential-fixed",
    summary: "as differential, with one threshold of reads for life",
    source: "FDWR of DWR's comparison (Song et al., section IV-B)",
    role: Role::Scheme,
    needs: &[Need::Heat, Need::OwnStream],
    ordered: &[],
    params: &[
        LOW_SHARE,
        RULE,
        FIXED_READS,
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

/// FDWR, whose threshold of reads is the same over the whole life. DWR is the same type.
pub type DifferentialFixed = Dwr;
