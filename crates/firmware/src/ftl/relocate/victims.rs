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
    /// The first of them stand when victims are planned anew: those for superblocks that one of several streams of the host opens soon.
    pub(super) standing: usize,
    /// Wear of each region has changed since wear leveling last looked at it.
    pub(super) consider_wear: [bool; MOST_REGIONS],
    /// The superblock that wear leveling has chosen and that may not be emptied yet.
    pub(super) cold: Option<Cold>,
    /// How much wear leveling there is while the host fills a superblock.
    pub(super) leveling: Leveling,
}

/// A superblock of cold data that waits to be emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cold {
    pub(super) block: SuperblockId,
    /// Number of its opening.
    pub(super) opened: u64,
}

/// Host superblocks after which one superblock fewer is planned, if fewer than planned were leveled during each of them.
pub(super) const REMEMBERED: u32 = 16;

/// Superblocks outside declared regions that are wear-leveled while the host fills one. Cleaning spreads its moves over the whole
/// superblock of the host. Those of wear leveling would come on top of them, so they are planned as well: as many superblocks as
/// were leveled, or waited, while the host filled one. Leveling is rarer than cleaning, so a plan that was not used stays for some time.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Leveling {
    /// Slots written when the host opened its superblock.
    since: u64,
    /// Superblocks whose moves are planned.
    planned: u32,
    begun: u32,
    /// Host superblocks until one superblock fewer is planned.
    remembered: u32,
    /// Valid slots of the superblock that was leveled last, or that waits.
    slots: u32,
}

impl Leveling {
    /// The host has opened a superblock, when it had written `since` slots, if that is another one than before. `waits`: a
    /// superblock waits to be leveled.
    pub(super) fn host_opened(&mut self, since: u64, waits: bool) {
        if since == self.since {
            return;
        }
        let asked = self.begun + u32::from(waits);
        self.remembered = self.remembered.saturating_sub(1);
        if asked >= self.planned || self.remembered == 0 {
            self.planned = asked.max(self.planned.saturating_sub(1));
            self.remembered = REMEMBERED;
        }
        (self.since, self.begun) = (since, 0);
    }

    /// Superblocks that are planned and not begun.
    pub(super) fn planned_left(&self) -> u32 {
        self.planned.saturating_sub(self.begun)
    }

    /// Whether one more may begin, where the host has `left` slots of its `superblock` slots left: it is planned, or its moves are
    /// spread over half of the superblock at least.
    pub(super) fn has_time(&self, left: u32, superblock: u64) -> bool {
        self.planned_left() > 0 || 2 * u64::from(left) >= superblock
    }

    /// Moves of the superblocks that are planned and not begun.
    pub(super) fn moves_to_come(&self) -> i64 {
        i64::from(self.planned_left()) * i64::from(self.slots)
    }

    /// A superblock with `slots` valid slots is to be leveled, which begins or waits.
    pub(super) fn asked(&mut self, slots: u32, begins: bool) {
        self.slots = slots;
        self.begun += u32::from(begins);
    }
}

impl Gc {
    pub(super) fn new(victim: AnyGcVictim) -> Gc {
        Gc {
            victim: core::array::from_fn(|_| victim.clone()),
            chosen: 0,
            planned: [SuperblockId(0); MOST_PLANNED],
            planned_count: 0,
            standing: 0,
            consider_wear: [false; MOST_REGIONS],
            cold: None,
            leveling: Leveling::default(),
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
            self.standing -= usize::from(at < self.standing);
        }
    }

    /// Victims are planned anew, but for those that stand.
    pub(super) fn plan_anew(&mut self) {
        self.planned_count = self.planned_count.min(self.standing);
    }
}

record! {
    Gc as "garbage collection" {
        chosen: "victims chosen so far",
        planned: "planned victims",
        planned_count: "planned victims that count",
        consider_wear: "for each region, whether its wear has changed since wear leveling looked at it",
    } not {
        standing: "found again when the pace is updated",
        victim: "of the schemes",
        cold: "wear leveling chooses again",
        leveling: "learned anew while the host fills a superblock",
    }
}
