//! `hotness`: hot pages go to SLC mode and warm ones to TLC mode, whatever their reads cost.
//!
//! RARO's comparator of that name: its table II without the condition on retries.

use firstread_core::CellMode;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::cold_superblocks::ColdSuperblocks;
use super::params::{KEEP, SLC_AND_TLC};
use super::rounds::PERIOD;
use super::{CellModes, GiveBack};
use crate::observe::{PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, Temperature, Thresholds};

pub const SCHEME: Scheme = Scheme {
    name: "hotness",
    summary: "hot pages go to SLC mode and warm ones to TLC mode, whatever their reads cost",
    source: "the comparator Hotness of RARO (Wang et al.)",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::Heat],
    ordered: &[("warm", "hot")],
    params: &[Thresholds::WARM, Thresholds::HOT, KEEP, PERIOD],
};

#[derive(Clone, Debug)]
pub struct Hotness {
    thresholds: Thresholds,
    keep_permille: u32,
    cold: ColdSuperblocks,
}

impl Hotness {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Hotness {
        Hotness {
            thresholds: Thresholds::new(values),
            keep_permille: values.get(KEEP.key) as u32,
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

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        self.cold.after_read();
        match (read.mode, self.thresholds.of(read.heat)) {
            (CellMode::Slc, _) | (_, Temperature::Cold) => None,
            (_, Temperature::Hot) => Some(CellMode::Slc),
            (CellMode::Tlc, Temperature::Warm) => None,
            (_, Temperature::Warm) => Some(CellMode::Tlc),
        }
    }

    fn stays(&self, mode: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        self.thresholds.stays(mode, heat)
    }

    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<GiveBack> {
        self.cold.next(blocks).map(GiveBack::Now)
    }
}
