//! Victims of garbage collection: chosen and foreseen.

use firstread_core::SuperblockId;

use crate::observe::{MOST_REGIONS, RegionId};
use crate::policy::gc_victim::AnyGcVictim;

/// Maximum number of foreseen victims. Later ones are taken to hold as much as the last of them.
pub(super) const MOST_FORESEEN: usize = 32;

/// The scheme of axis `gc_victim`, and the foreseen victims.
#[derive(Clone, Debug)]
pub(crate) struct Gc {
    /// An instance for each region.
    pub(super) victim: [AnyGcVictim; MOST_REGIONS],
    /// Number of victims chosen so far.
    pub(super) chosen: u64,
    /// Foreseen victims; the first `known` entries are valid.
    pub(super) foreseen: [SuperblockId; MOST_FORESEEN],
    pub(super) known: usize,
    /// Wear of each region has changed since wear leveling last looked at it.
    pub(super) consider_wear: [bool; MOST_REGIONS],
}

impl Gc {
    pub(super) fn new(victim: AnyGcVictim) -> Gc {
        Gc {
            victim: core::array::from_fn(|_| victim.clone()),
            chosen: 0,
            foreseen: [SuperblockId(0); MOST_FORESEEN],
            known: 0,
            consider_wear: [false; MOST_REGIONS],
        }
    }

    /// Power is back: takes over what was `dumped`. The scheme is this firmware's, which may be another one.
    pub(super) fn take_dumped(&mut self, dumped: Gc) {
        let Gc {
            victim: _,
            chosen,
            foreseen,
            known,
            consider_wear,
        } = dumped;
        (self.chosen, self.foreseen, self.known) = (chosen, foreseen, known);
        self.consider_wear = consider_wear;
    }

    /// The scheme.
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
        let known = &self.foreseen[..self.known];
        if let Some(at) = known.iter().position(|b| *b == block) {
            self.foreseen.copy_within(at + 1..self.known, at);
            self.known -= 1;
        }
    }
}
