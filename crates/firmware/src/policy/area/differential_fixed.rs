//! `differential-fixed`: FDWR. As `differential`, but `N_R` is the same at every stage of life.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::Areas;
use super::at_bound::{AT_BOUND, BOUND};
use super::budget::BUDGET;
use super::contract::{LowRoom, MakeRoom, PageMove, PageWrite};
use super::dwr::{BY_GC, BY_READ, BY_UPDATE, Dwr, RULE, SLOWER, TRIGGER};
use super::locality::{LOCALITY, LOW_LOCALITY};
use super::params::{LOW, LOW_SHARE};
use super::stage::{FIXED_READS, Stages};
use crate::observe::{Area, LowEntry, StreamRow, SuperblockTable};
use crate::policy::Setup;
use crate::policy::hot_pages::PageRead;

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
        BUDGET,
        BOUND,
        AT_BOUND,
        LOW_LOCALITY,
        LOCALITY,
    ],
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct DifferentialFixed(Dwr);

impl DifferentialFixed {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> DifferentialFixed {
        DifferentialFixed(Dwr::new(setup, values, Stages::fixed(values)))
    }
}

impl Areas for DifferentialFixed {
    fn low_from(&self) -> Option<u32> {
        Some(self.0.low_from)
    }

    fn free_after_fill(&self) -> Option<u32> {
        self.0.free_after_fill()
    }

    fn streams(&self) -> &'static [StreamRow] {
        LOW
    }

    fn look(&mut self, blocks: &SuperblockTable) {
        self.0.look(blocks);
    }

    fn refuses_writes(&self) -> bool {
        self.0.refuses_writes()
    }

    fn tells_updates(&self) -> bool {
        self.0.tells_updates()
    }

    #[inline]
    fn of_write(&self, page: &PageWrite) -> Option<LowEntry> {
        self.0.of_write(page)
    }

    #[inline]
    fn has_written(&mut self) {
        self.0.has_written();
    }

    #[inline]
    fn of_move(&self, page: &PageMove) -> Option<LowEntry> {
        self.0.of_move(page)
    }

    #[inline]
    fn after_read(&mut self, area: Area, read: &PageRead) -> Option<bool> {
        self.0.after_read(area, read)
    }

    fn makes_room(&self, room: &LowRoom) -> MakeRoom {
        self.0.makes_room(room)
    }
}
