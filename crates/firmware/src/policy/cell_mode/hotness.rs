//! `hotness`: hot pages go to SLC mode and warm ones to TLC mode, whatever their reads cost.
//!
//! RARO's comparator of that name: its table II without the condition on retries.

use firstread_core::CellMode;
use firstread_core::params::{Need, Order, Role, Scheme, Values};

use super::cold_superblocks::ColdSuperblocks;
use super::params::{DEMAND, KEEP, RATE, SLC_AND_TLC, limits};
use super::rounds::PERIOD;
use super::stay::{STAY_BELOW, STAY_SLC, STAY_TLC, Stay};
use super::{CellModes, GiveBack, PromotionLimits, ReclaimState};
use crate::observe::{PageFuture, PageHeat, StreamRow};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, Temperature, Thresholds};

pub const SCHEME: Scheme = Scheme {
    name: "hotness",
    summary: "hot pages go to SLC mode and warm ones to TLC mode, whatever their reads cost",
    source: "the comparator Hotness of RARO (Wang et al.)",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::Heat],
    ordered: &[Order::AtMost("warm", "hot"), STAY_BELOW[0], STAY_BELOW[1]],
    params: &[
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
pub struct Hotness {
    thresholds: Thresholds,
    stay: Stay,
    keep_permille: u32,
    limits: PromotionLimits,
    cold: ColdSuperblocks,
}

impl Hotness {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Hotness {
        Hotness {
            thresholds: Thresholds::new(values),
            stay: Stay::new(values),
            keep_permille: values.get(KEEP.key) as u32,
            limits: limits(values),
            cold: ColdSuperblocks::new(setup, values),
        }
    }
}

impl CellModes for Hotness {
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
        match (read.mode, self.thresholds.of(read.heat)) {
            (CellMode::Slc, _) | (_, Temperature::Cold) => None,
            (_, Temperature::Hot) => Some(CellMode::Slc),
            (CellMode::Tlc, Temperature::Warm) => None,
            (_, Temperature::Warm) => Some(CellMode::Tlc),
        }
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
