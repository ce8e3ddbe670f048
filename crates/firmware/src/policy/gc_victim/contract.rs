//! The contract of schemes of axis `gc_victim`.

use firstread_core::{CellMode, Geometry, SuperblockId};

use crate::observe::{SuperblockRow, SuperblockUse, SuperblockView};

/// A candidate yields at least 1 / `LEAST_SHARE` of the slots that the emptiest superblock yields, scaled to
/// equal size. A scheme may have to pay more per slot than greedy does: a log-structured file system cleans
/// cold segments that yield a quarter of what hot ones do (Rosenblum and Ousterhout, SOSP 1991, figure 6).
/// Four times that factor leaves `fifo` and `cost-benefit` unchanged, and bounds their cost.
pub const LEAST_SHARE: u64 = 16;

/// Slots that cleaning the superblock of `row` yields. Zero unless it is fully programmed and not being moved
/// already.
pub fn gain(geometry: &Geometry, row: &SuperblockRow) -> u32 {
    match row.usage {
        SuperblockUse::Full if !row.leaving => {
            geometry.slots_per_superblock(row.mode) - row.valid_slots
        }
        _ => 0,
    }
}

/// What will have happened, beyond what the table of superblocks says, before a victim is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outlook<'a> {
    /// Superblocks that will be fully programmed.
    pub full: &'a [Option<SuperblockId>],
    /// Superblocks that will be emptied.
    pub emptied: &'a [SuperblockId],
}

impl Outlook<'_> {
    /// Whether superblock `block`, whose record is `row`, will be fully programmed, and nothing empties it.
    pub fn is_at_rest(&self, block: SuperblockId, row: &SuperblockRow) -> bool {
        let is_full = match row.usage {
            SuperblockUse::Full => true,
            SuperblockUse::Open => self.full.contains(&Some(block)),
            _ => false,
        };
        is_full && !row.leaving && !self.emptied.contains(&block)
    }
}

/// The superblocks to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    blocks: SuperblockView<'a>,
    outlook: Outlook<'a>,
    /// Slots of a superblock in SLC.
    slots_per_bit: u32,
    /// Slots that the emptiest superblock yields, and its size in slots.
    best: (u32, u32),
    /// Sequence number of the superblock opened last.
    newest: u64,
}

impl<'a> Victims<'a> {
    /// The superblocks `blocks` of a drive of `geometry`, after all that `outlook` tells.
    pub fn new(
        blocks: SuperblockView<'a>,
        geometry: &Geometry,
        outlook: Outlook<'a>,
    ) -> Victims<'a> {
        let mut victims = Victims {
            blocks,
            outlook,
            slots_per_bit: geometry.slots_per_superblock(CellMode::Slc),
            best: (0, 1),
            newest: 0,
        };
        for (block, row) in blocks.iter() {
            victims.newest = victims.newest.max(row.opened);
            let (gain, slots) = (victims.gain(block, row), victims.slots(row));
            let best = victims.best;
            if u64::from(gain) * u64::from(best.1) > u64::from(best.0) * u64::from(slots) {
                victims.best = (gain, slots);
            }
        }
        victims
    }
    /// Slots that cleaning superblock `block`, whose record is `row`, will yield. Zero unless it is at rest.
    fn gain(&self, block: SuperblockId, row: &SuperblockRow) -> u32 {
        match self.outlook.is_at_rest(block, row) {
            true => self.slots(row) - row.valid_slots,
            false => 0,
        }
    }
    /// The same superblocks after `opened` more have been opened.
    pub fn after(self, opened: u64) -> Victims<'a> {
        Victims {
            newest: self.newest + opened,
            ..self
        }
    }
    /// The superblocks to choose from, with those that are no candidates.
    pub fn blocks(&self) -> SuperblockView<'a> {
        self.blocks
    }
    /// Slots that the emptiest superblock yields.
    pub fn best_gain(&self) -> u32 {
        self.best.0
    }
    /// Age of a superblock: the number of superblocks opened since it was opened, including itself.
    pub fn age(&self, row: &SuperblockRow) -> u64 {
        self.newest - row.opened + 1
    }
    /// Slots of the superblock of `row`.
    pub fn slots(&self, row: &SuperblockRow) -> u32 {
        self.slots_per_bit * u32::from(row.mode.bits())
    }
    /// Whether superblock `block`, whose record is `row`, is a candidate: cleaning it yields at least one slot, and at least 1 /
    /// [`LEAST_SHARE`] of what the emptiest superblock yields.
    pub fn is_candidate(&self, block: SuperblockId, row: &SuperblockRow) -> bool {
        let gain = u64::from(self.gain(block, row));
        let (best, of) = (u64::from(self.best.0), u64::from(self.best.1));
        gain > 0 && gain * of * LEAST_SHARE >= best * u64::from(self.slots(row))
    }
    /// The candidates.
    pub fn candidates(self) -> impl Iterator<Item = (SuperblockId, &'a SuperblockRow)> {
        self.blocks
            .iter()
            .filter(move |(block, row)| self.is_candidate(*block, row))
    }
}

/// Rules of choice for which the steady state is known in theory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// The superblock opened longest ago.
    Oldest,
    /// The emptiest superblock.
    Emptiest,
    /// The superblock with the most free space weighted by age.
    CostBenefit,
    /// The emptiest of this many superblocks drawn at random.
    Drawn(u32),
}

/// The trait of the axis.
pub trait GcVictim {
    /// The superblock to clean next, as the `nth` victim of the drive. The same arguments must give the same
    /// answer, because cleaning is paced by what the next few victims will be.
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId>;
    /// The scheme's rule of choice, if theory has one for it: the steady state of overwrites is computed from
    /// the rule. A drive whose scheme has no such rule cannot be preconditioned.
    fn law(&self) -> Option<Law> {
        None
    }
}
