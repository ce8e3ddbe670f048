//! Victims of garbage collection: chosen and planned.

use firstread_core::SuperblockId;

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
}

impl Gc {
    pub(super) fn new(victim: AnyGcVictim) -> Gc {
        Gc {
            victim: core::array::from_fn(|_| victim.clone()),
            chosen: 0,
            planned: [SuperblockId(0); MOST_PLANNED],
            planned_count: 0,
            consider_wear: [false; MOST_REGIONS],
        }
    }

    /// Power is back: takes over what was `dumped`. The scheme is this firmware's, which may be another one.
    pub(super) fn take_dumped(&mut self, dumped: Gc) {
        let Gc {
            victim: _,
            chosen,
            planned,
            planned_count,
            consider_wear,
        } = dumped;
        (self.chosen, self.planned, self.planned_count) = (chosen, planned, planned_count);
        self.consider_wear = consider_wear;
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
