//! What a scheme of axis `gc_victim` is asked, and what it is told.

use firstread_core::{BlockId, Geometry};

use crate::observe::{BlockMonitor, BlockRow, BlockUse};

/// A candidate frees at least one in so many of the slots that the emptiest one does, superblocks of
/// one size compared. A scheme that pays this much more for a slot than it must is as far from greedy
/// as cost-benefit cleaning wants to be: a log-structured file system cleans cold segments that free a
/// quarter of what hot ones do (Rosenblum and Ousterhout, SOSP 1991, figure 6). Four times as much
/// leaves `fifo` and `cost-benefit` what they are, and bounds what they cost.
pub const LEAST_SHARE: u64 = 16;

/// Slots that cleaning the superblock of `row` frees: none unless it is programmed to its end and
/// not being moved already.
pub fn gain(geometry: &Geometry, row: &BlockRow) -> u32 {
    match row.usage {
        BlockUse::Full if !row.leaving => geometry.slots_per_superblock(row.mode) - row.valid_slots,
        _ => 0,
    }
}

/// What there is to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    blocks: &'a BlockMonitor,
    geometry: &'a Geometry,
    /// Slots that the emptiest superblock frees, and of how many.
    best: (u32, u32),
    /// Place of the superblock opened last in the order of opening.
    newest: u64,
}

impl<'a> Victims<'a> {
    /// Of `blocks`, on a drive of `geometry`.
    pub fn new(blocks: &'a BlockMonitor, geometry: &'a Geometry) -> Victims<'a> {
        let mut best = (0, 1);
        let mut newest = 0;
        for (_, row) in blocks.iter() {
            newest = newest.max(row.opened);
            let (gain, slots) = (gain(geometry, row), geometry.slots_per_superblock(row.mode));
            if u64::from(gain) * u64::from(best.1) > u64::from(best.0) * u64::from(slots) {
                best = (gain, slots);
            }
        }
        Victims {
            blocks,
            geometry,
            best,
            newest,
        }
    }
    /// The same once `opened` more superblocks have been opened.
    pub fn after(self, opened: u64) -> Victims<'a> {
        Victims {
            newest: self.newest + opened,
            ..self
        }
    }
    /// The superblocks.
    pub fn blocks(&self) -> &'a BlockMonitor {
        self.blocks
    }
    /// Slots that the emptiest superblock frees.
    pub fn best_gain(&self) -> u32 {
        self.best.0
    }
    /// Superblocks opened since that of `row` was, itself among them.
    pub fn age(&self, row: &BlockRow) -> u64 {
        self.newest - row.opened + 1
    }
    /// Slots of the superblock of `row`.
    pub fn slots(&self, row: &BlockRow) -> u32 {
        self.geometry.slots_per_superblock(row.mode)
    }
    /// Whether the superblock of `row` may be chosen: cleaning it frees a slot or more, and no fewer
    /// than one in [`LEAST_SHARE`] of what cleaning the emptiest does.
    pub fn is_candidate(&self, row: &BlockRow) -> bool {
        let gain = u64::from(gain(self.geometry, row));
        let (best, of) = (u64::from(self.best.0), u64::from(self.best.1));
        gain > 0 && gain * of * LEAST_SHARE >= best * u64::from(self.slots(row))
    }
    /// The superblocks that may be chosen.
    pub fn candidates(self) -> impl Iterator<Item = (BlockId, &'a BlockRow)> {
        self.blocks
            .iter()
            .filter(move |(_, row)| self.is_candidate(row))
    }
}

/// How a scheme chooses, as far as theory tells schemes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// The one opened longest ago.
    Oldest,
    /// The emptiest of all.
    Emptiest,
    /// The one with the most free space by age.
    CostBenefit,
    /// The emptiest of so many drawn at random.
    Drawn(u32),
}

/// The axis.
pub trait GcVictim {
    /// The superblock to clean next, the `nth` of all. The same question has the same answer: cleaning is
    /// paced by what the next few will be.
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<BlockId>;
    /// The law it follows, where theory knows one: the steady state of overwrites is computed from it. A drive with
    /// a scheme of no law cannot be preconditioned.
    fn law(&self) -> Option<Law> {
        None
    }
}
