//! Victims of garbage collection: chosen and planned.

use firstread_core::SuperblockId;

use crate::format::record;
use crate::observe::{MOST_REGIONS, RegionId};
use crate::policy::gc_victim::AnyGcVictim;

/// Maximum number of planned victims. Later ones are taken to hold as much as the last of them.
pub(super) const MOST_PLANNED: usize = 32;

/// The scheme of axis `gc_victim`, and the planned victims.
#[derive(Clone, Debug)]
pub(crate) struct Gc {
    /// An instance for each region.
    pub(super) victim: [AnyGcVictim; MOST_REGIONS],
    /// Number of victims chosen so far.
    pub(super) chosen: u64,
    /// Planned victims; the first `planned_count` entries are valid.
    pub(super) planned: [SuperblockId; MOST_PLANNED],
    pub(super) planned_count: usize,
    /// Wear of each region has changed since wear leveling last looked at it.
    pub(super) consider_wear: [bool; MOST_REGIONS],
    /// The superblock that wear leveling has chosen and that may not be emptied yet.
    pub(super) cold: Option<Cold>,
}

/// A superblock of cold data that waits to be emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cold {
    pub(super) block: SuperblockId,
    /// Number of its opening.
    pub(super) opened: u64,
}

impl Gc {
    pub(super) fn new(victim: AnyGcVictim) -> Gc {
        Gc {
            victim: core::array::from_fn(|_| victim.clone()),
            chosen: 0,
            planned: [SuperblockId(0); MOST_PLANNED],
            planned_count: 0,
            consider_wear: [false; MOST_REGIONS],
            cold: None,
        }
    }

    /// Whether the planned victims are of `blocks` superblocks.
    pub(super) fn is_sound(&self, blocks: u32) -> bool {
        self.planned_count <= MOST_PLANNED && self.planned.iter().all(|block| block.0 < blocks)
    }

    /// The scheme's instance for the drive's own region, which cleaning for the host asks.
    pub(super) fn victim(&self) -> &AnyGcVictim {
        &self.victim[RegionId::MAIN.index()]
    }

    /// Wear of `region` has changed.
    pub(super) fn consider_wear(&mut self, region: RegionId) {
        self.consider_wear[region.index()] = true;
    }

    /// The region whose wear has changed since wear leveling last looked at it.
    pub(super) fn worn_region(&self) -> Option<RegionId> {
        let worn = self.consider_wear.iter().position(|worn| *worn);
        worn.map(|region| RegionId(region as u8))
    }

    /// `block` is the next victim.
    pub(super) fn choose(&mut self, block: SuperblockId) {
        self.chosen += 1;
        let planned = &self.planned[..self.planned_count];
        if let Some(at) = planned.iter().position(|b| *b == block) {
            self.planned.copy_within(at + 1..self.planned_count, at);
            self.planned_count -= 1;
        }
    }
}

record! {
    Gc as "garbage collection" {
        chosen: "victims chosen so far",
        planned: "planned victims",
        planned_count: "planned victims that count",
        consider_wear: "for each region, whether its wear has changed since wear leveling looked at it",
    } not {
        victim: "of the schemes",
        cold: "wear leveling chooses again",
    }
}
