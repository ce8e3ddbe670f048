//! The contract of schemes of axis `gc_victim`.

use firstread_core::{Geometry, SuperblockId};

use crate::observe::{Filled, Group, SuperblockRow, SuperblockUse, SuperblockView};

/// A candidate yields at least 1 / `LEAST_SHARE` of the slots that the emptiest superblock yields, scaled to
/// equal size. A scheme may have to pay more per slot than greedy does: a log-structured file system cleans
/// cold segments that yield a quarter of what hot ones do (Rosenblum and Ousterhout, SOSP 1991, figure 6).
/// Four times that factor leaves `fifo` and `cost-benefit` unchanged, and bounds their cost.
pub const LEAST_SHARE: u64 = 16;

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

    /// The one of `blocks` at rest whose key comes first, with its key; of equal ones the one of the lowest number. `key` is that of a
    /// superblock at rest, and `bound` a key that none of a group of superblocks comes before.
    pub(crate) fn first<K: Ord + Copy>(
        &self,
        blocks: SuperblockView<'_>,
        bound: impl Fn(&Group) -> Option<K>,
        key: impl Fn(&SuperblockRow) -> Option<K>,
    ) -> Option<(K, SuperblockId)> {
        let key_of = |block, row: &SuperblockRow| match self.is_at_rest(block, row) {
            true => key(row),
            false => None,
        };
        let at_rest = blocks.first(bound, key_of);
        // The index knows nothing of those that will be full.
        let others = self
            .full
            .iter()
            .flatten()
            .filter(|block| blocks.has(**block));
        let others = others.filter_map(|block| Some((key_of(*block, blocks.row(*block))?, *block)));
        at_rest
            .into_iter()
            .chain(others)
            .min_by_key(|(key, block)| (*key, block.0))
    }
}

/// The superblocks to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    blocks: SuperblockView<'a>,
    outlook: Outlook<'a>,
    geometry: &'a Geometry,
    /// How full the emptiest superblock is; none if none is at rest.
    emptiest: Option<Filled>,
    /// Sequence number of the superblock opened last.
    newest: u64,
}

impl<'a> Victims<'a> {
    /// The superblocks `blocks` of a drive of `geometry`, after all that `outlook` tells.
    pub fn new(
        blocks: SuperblockView<'a>,
        geometry: &'a Geometry,
        outlook: Outlook<'a>,
    ) -> Victims<'a> {
        let emptiest = outlook.first(
            blocks,
            |group| group.at_rest.map(|(emptiest, _)| emptiest),
            |row| Some(Filled::of(row, geometry)),
        );
        Victims {
            blocks,
            outlook,
            geometry,
            emptiest: emptiest.map(|(filled, _)| filled),
            newest: blocks.newest(),
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
        self.emptiest.map_or(0, Filled::gain)
    }
    /// Age of a superblock that was opened as number `opened`: the number of superblocks opened since, including itself.
    pub fn age(&self, opened: u64) -> u64 {
        // Of a group that reaches beyond these superblocks, one of the others may be younger.
        (self.newest + 1).saturating_sub(opened)
    }
    /// How full the superblock of `row` is.
    pub fn filled(&self, row: &SuperblockRow) -> Filled {
        Filled::of(row, self.geometry)
    }
    /// Whether superblock `block`, whose record is `row`, is a candidate: it is at rest, and yields at least one slot, and
    /// at least 1 / [`LEAST_SHARE`] of what the emptiest superblock yields.
    pub fn is_candidate(&self, block: SuperblockId, row: &SuperblockRow) -> bool {
        self.outlook.is_at_rest(block, row) && self.yields_enough(self.filled(row))
    }
    fn yields_enough(&self, filled: Filled) -> bool {
        let best = self.emptiest.unwrap_or(filled);
        let [own, least] = [(filled, best), (best, filled)]
            .map(|(of, by)| u64::from(of.gain()) * u64::from(by.slots));
        filled.gain() > 0 && own * LEAST_SHARE >= least
    }
    /// The candidate whose key comes first. The key is made of how full a superblock is and of the number of its opening. It
    /// must not fall as either grows: a search leaves out superblocks that are fuller and younger than the one found.
    pub fn first_by<K: Ord + Copy>(&self, key: impl Fn(Filled, u64) -> K) -> Option<SuperblockId> {
        let enough = |filled: &Filled| self.yields_enough(*filled);
        let first = self.outlook.first(
            self.blocks,
            |group| {
                let at_rest = group.at_rest.filter(|(emptiest, _)| enough(emptiest));
                at_rest.map(|(emptiest, oldest)| key(emptiest, oldest))
            },
            |row| {
                let filled = Some(self.filled(row)).filter(enough)?;
                Some(key(filled, row.opened))
            },
        );
        first.map(|(_, block)| block)
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
