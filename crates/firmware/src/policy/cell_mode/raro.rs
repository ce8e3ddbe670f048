//! `raro`: pages that are read often go to SLC or TLC mode, if reading them where they lie is slow.
//!
//! Which pages these are says table II of the paper (`hot_pages/rule.rs`).

use firstread_core::CellMode;
use firstread_core::params::{Need, Order, Role, Scheme, Values};

use super::cold_superblocks::ColdSuperblocks;
use super::params::{DEMAND, KEEP, RATE, SLC_AND_TLC, limits};
use super::rounds::PERIOD;
use super::stay::{STAY_BELOW, STAY_SLC, STAY_TLC, Stay};
use super::{CellModes, GiveBack, PromotionLimits, ReclaimState};
use crate::observe::{PageFuture, PageHeat, StreamRow};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, RaroRule, Thresholds};

pub const SCHEME: Scheme = Scheme {
    name: "raro",
    summary: "hot pages go to SLC mode and warm ones to TLC mode, if their reads take retries",
    source: "RARO (Wang et al.), table II",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::Heat],
    ordered: &[
        Order::AtMost("r1", "r2"),
        Order::AtMost("warm", "hot"),
        STAY_BELOW[0],
        STAY_BELOW[1],
    ],
    params: &[
        RaroRule::TRIGGER,
        RaroRule::r1("retries from which a hot page goes to SLC mode"),
        RaroRule::r2(
            "retries from which a warm page goes to TLC mode: 5, 7 and 11 in the paper for its young, middle and old drives",
        ),
        RaroRule::SLOWER,
        Thresholds::WARM,
        Thresholds::HOT,
        STAY_SLC,
        STAY_TLC,
        KEEP,
        DEMAND,
        RATE,
        PERIOD,
    ],
};

#[derive(Clone, Debug)]
pub struct Raro {
    rule: RaroRule,
    stay: Stay,
    keep_permille: u32,
    limits: PromotionLimits,
    cold: ColdSuperblocks,
}

impl Raro {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Raro {
        Raro {
            rule: RaroRule::new(setup, values),
            stay: Stay::new(values),
            keep_permille: values.get(KEEP.key) as u32,
            limits: limits(values),
            cold: ColdSuperblocks::new(setup, values),
        }
    }
}

impl CellModes for Raro {
    fn streams(&self) -> &'static [StreamRow] {
        SLC_AND_TLC
    }

    fn keep_permille(&self) -> u32 {
        self.keep_permille
    }

    fn limits(&self) -> PromotionLimits {
        self.limits
    }

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        self.cold.after_read(read);
        self.rule.target(read)
    }

    fn stays(&self, mode: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        self.stay.has(mode, heat)
    }

    fn stays_refreshed(&self, _: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        Stay::has_refreshed(heat)
    }

    fn gives_back(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        self.cold.next(state)
    }
}
