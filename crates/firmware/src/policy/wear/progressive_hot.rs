//! `progressive-hot`: as `progressive`; in addition, pages that are read often gather in little-worn superblocks.
//!
//! When garbage collection or wear leveling moves a page whose read heat is above `reads`, the page goes to a stream of
//! its own, for which the least worn superblock that is free is opened. Other data leave that one, if another is free.
//! Data that are read often and seldom written then stay there, and their superblocks wear slowly. Nothing is moved
//! for the sake of its reads alone.

use firstread_core::SuperblockId;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Wear;
use super::by_wear::second_least_worn_free;
use super::contract::COLD_AND_READ_OFTEN;
use super::progressive::{EVERY, ProgressiveWearLeveling, START};
use crate::observe::{ModeSet, PageHeat, StreamRow, SuperblockView};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "progressive-hot",
    summary: "progressive, and pages read often that are moved anyway go to the least worn superblocks",
    source: "the PWL of DWR's latency figures (Song et al., section IV-B)",
    role: Role::Scheme,
    needs: &[Need::Heat, Need::OwnStream, Need::OwnStream, Need::TrueWear],
    ordered: &[],
    params: &[
        START,
        EVERY,
        Param::number(
            "reads",
            "read heat above which a page is read often: N_R of DWR's fixed threshold",
            "reads",
            (5, 0, 254),
        ),
    ],
};

/// `progressive`, with the read heat above which a page gathers with others that are read often.
#[derive(Clone, Debug)]
pub struct ProgressiveHot {
    progressive: ProgressiveWearLeveling,
    reads: u8,
}

impl ProgressiveHot {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> ProgressiveHot {
        ProgressiveHot {
            progressive: ProgressiveWearLeveling::new(setup, values),
            reads: values.get("reads") as u8,
        }
    }
}

impl Wear for ProgressiveHot {
    fn streams(&self) -> &'static [StreamRow] {
        COLD_AND_READ_OFTEN
    }

    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId> {
        match cold {
            true => blocks.most_worn_free(modes),
            false => second_least_worn_free(blocks, modes),
        }
    }

    fn open_for_read_often(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
    ) -> Option<SuperblockId> {
        blocks.least_worn_free(modes, None)
    }

    fn takes_along(&self, heat: PageHeat) -> bool {
        heat.reads > self.reads
    }

    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId> {
        self.progressive.cold(blocks)
    }
}
