//! A calibration in progress, and what a dump keeps of it.

use firstread_core::{DieId, Ns, SuperblockId};

use crate::format::{self, Blank, Cursor, record};
use crate::observe::{Probe, SuperblockTable};
use crate::voltage::offset_search::OffsetSearch;

/// A calibration in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// Number of the calibration: its pages follow from the number.
    pub(super) number: u64,
    pub(super) block: SuperblockId,
    pub(super) programmed_at: Ns,
    pub(super) page: u8,
    /// The die of the unit; none if the unit is the whole superblock.
    pub(super) die: Option<DieId>,
    /// Whether its background read is in flight.
    pub(super) asked: bool,
    pub(super) phase: Phase,
}

impl Visit {
    pub(super) fn alive(&self, blocks: &SuperblockTable) -> bool {
        blocks.still_holds(self.block, self.programmed_at)
    }

    /// Whether no other calibration of page type `page` of `block`, on `die` if the unit is a die's, may begin: one of the
    /// same unit, or one of the same page type, whose turn it would be until this one has ended.
    pub(super) fn excludes(&self, block: SuperblockId, page: u8, die: Option<DieId>) -> bool {
        self.block == block && (self.page == page || self.die == die)
    }

    /// Whether `probe` is its read. Calibrations of a superblock differ in their dies.
    pub(super) fn has_asked(&self, probe: &Probe) -> bool {
        let at = probe.at;
        let is_die = self.die.is_none_or(|die| die == at.die);
        self.asked && self.block == at.block && self.page == at.page.0 && is_die
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Walks the retry table: current step, and entry where the walk began. No step yet means that the levels
    /// in use are tried.
    Find { step: Option<u8>, from: u8 },
    /// Compares offsets.
    Refine(OffsetSearch),
}

/// A search of one of its kinds has as many bytes as of the other.
impl format::Record for Phase {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let (mut step, mut from, mut search) = match *self {
            Phase::Find { step, from } => (step, from, None),
            Phase::Refine(search) => (None, 0, Some(search)),
        };
        search.transfer(cursor);
        step.transfer(cursor);
        from.transfer(cursor);
        *self = match search {
            Some(search) => Phase::Refine(search),
            None => Phase::Find { step, from },
        };
    }
}

impl Blank for Phase {
    const BLANK: Phase = Phase::Find {
        step: None,
        from: 0,
    };
}

record! {
    of values Visit as "calibration in progress" {
        number: "number of the calibration, of those begun",
        block: "superblock",
        programmed_at ["ns"]: "time at which its data were programmed",
        page: "page type",
        die: "die of the unit; none if the unit is the superblock",
        asked: "whether its background read is in flight",
        phase: "the comparison of offsets, once it has begun; step of the walk over the retry table, and entry where it began",
    }
}
