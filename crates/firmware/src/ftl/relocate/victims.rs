//! Victims of garbage collection: chosen and foreseen.

use firstread_core::SuperblockId;

use crate::observe::Area;
use crate::policy::gc_victim::AnyGcVictim;

/// Maximum number of foreseen victims. Later ones are taken to hold as much as the last of them.
pub(super) const MOST_FORESEEN: usize = 32;

/// The scheme of axis `gc_victim`, and the foreseen victims.
#[derive(Clone, Debug)]
pub(crate) struct Gc {
    /// An instance for each area.
    pub(super) victim: [AnyGcVictim; Area::COUNT],
    /// Number of victims chosen so far.
    pub(super) chosen: u64,
    /// Foreseen victims; the first `known` entries are valid.
    pub(super) foreseen: [SuperblockId; MOST_FORESEEN],
    pub(super) known: usize,
    /// Wear of each area has changed since wear leveling last looked at it.
    pub(super) consider_wear: [bool; Area::COUNT],
}

impl Gc {
    pub(super) fn new(victim: AnyGcVictim) -> Gc {
        Gc {
            victim: [victim.clone(), victim],
            chosen: 0,
            foreseen: [SuperblockId(0); MOST_FORESEEN],
            known: 0,
            consider_wear: [false; Area::COUNT],
        }
    }

    /// The scheme.
    pub(super) fn victim(&self) -> &AnyGcVictim {
        &self.victim[Area::High as usize]
    }

    /// Wear of `area` has changed.
    pub(super) fn consider_wear(&mut self, area: Area) {
        self.consider_wear[area as usize] = true;
    }

    /// The area whose wear has changed since wear leveling last looked at it.
    pub(super) fn worn_area(&self) -> Option<Area> {
        Area::ALL
            .into_iter()
            .find(|area| self.consider_wear[*area as usize])
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
