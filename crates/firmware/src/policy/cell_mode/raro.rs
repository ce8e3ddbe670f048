//! `raro`: pages that are read often go to SLC or TLC mode, if reading them where they lie is slow.
//!
//! Which pages these are says table II of the paper (`hot_pages/rule.rs`).

use firstread_core::CellMode;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::cold_superblocks::ColdSuperblocks;
use super::params::{KEEP, SLC_AND_TLC};
use super::rounds::PERIOD;
use super::{CellModes, GiveBack};
use crate::observe::{PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, RaroRule, Thresholds};

pub const SCHEME: Scheme = Scheme {
    name: "raro",
    summary: "hot pages go to SLC mode and warm ones to TLC mode, if their reads take retries",
    source: "RARO (Wang et al.), table II",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::Heat],
    ordered: &[("r1", "r2"), ("warm", "hot")],
    params: &[
        RaroRule::TRIGGER,
        RaroRule::r1("retries from which a hot page goes to SLC mode"),
        RaroRule::r2(
            "retries from which a warm page goes to TLC mode: 5, 7 and 11 in the paper for its young, middle and old drives",
        ),
        RaroRule::SLOWER,
        Thresholds::WARM,
        Thresholds::HOT,
        KEEP,
        PERIOD,
    ],
};

#[derive(Clone, Debug)]
pub struct Raro {
    rule: RaroRule,
    keep_permille: u32,
    cold: ColdSuperblocks,
}

impl Raro {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Raro {
        Raro {
            rule: RaroRule::new(setup, values),
            keep_permille: values.get(KEEP.key) as u32,
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

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        self.cold.after_read();
        self.rule.target(read)
    }

    fn stays(&self, mode: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        self.rule.thresholds().stays(mode, heat)
    }

    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<GiveBack> {
        self.cold.next(blocks).map(GiveBack::Now)
    }
}
