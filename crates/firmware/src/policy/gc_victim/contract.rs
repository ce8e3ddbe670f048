//! The contract of schemes of axis `gc_victim`.

use firstread_core::{Geometry, SuperblockId};

use crate::observe::{Among, Filled, SuperblockInfo, SuperblockUse, SuperblockView};

/// A candidate of a guarded scheme yields at least 1 / `LEAST_SHARE` of the slots that the emptiest superblock yields, scaled to
/// equal size. A scheme may have to pay more per slot than greedy does: a log-structured file system cleans
/// cold segments that yield a quarter of what hot ones do (Rosenblum and Ousterhout, SOSP 1991, figure 6).
/// Four times that factor leaves `cost-benefit` unchanged, and bounds the cost of each victim.
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
    /// Whether superblock `block`, whose record is `info`, will be fully programmed, and nothing empties it.
    pub fn is_at_rest(&self, block: SuperblockId, info: &SuperblockInfo) -> bool {
        let is_full = match info.usage {
            SuperblockUse::Full => true,
            SuperblockUse::Open => self.full.contains(&Some(block)),
            _ => false,
        };
        is_full && !info.evacuating && !self.emptied.contains(&block)
    }

    /// The one of `blocks`, which are those of a region, whose key comes first, with its key; of equal ones the one of the
    /// lowest number. `key` is that of a superblock that is so full and was opened as this one in the order of opening. It
    /// must not fall as either grows, and it may be none where it would be too high.
    pub(crate) fn first<K: Ord + Copy>(
        &self,
        blocks: SuperblockView<'_>,
        geometry: &Geometry,
        among: Among,
        key: impl Fn(Filled, u64) -> Option<K>,
    ) -> Option<(K, SuperblockId)> {
        let is_emptied = |block: SuperblockId| self.emptied.contains(&block);
        let at_rest = blocks.at_rest().first(among, &key, is_emptied);
        // The index knows nothing of those that will be full.
        let others = self.full.iter().flatten().filter_map(|&block| {
            let info = blocks.has(block).then(|| blocks.info(block))?;
            let is_among = among == Among::All || info.holds_map;
            let is_apart = blocks.at_rest().apart().has(info.mode);
            let is_found = is_among && !is_apart && self.is_at_rest(block, info);
            let key = key(Filled::of(info, geometry), info.opened).filter(|_| is_found)?;
            Some((key, block))
        });
        at_rest.into_iter().chain(others).min()
    }
}

/// The superblocks to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    blocks: SuperblockView<'a>,
    outlook: Outlook<'a>,
    geometry: &'a Geometry,
    /// The emptiest superblock, the oldest of equals, and how full it is; none if none is at rest.
    emptiest: Option<(Filled, SuperblockId)>,
    /// Sequence number of the superblock opened last.
    newest: u64,
    /// Whether a superblock that yields nothing is a candidate, too.
    any: bool,
}

impl<'a> Victims<'a> {
    /// The superblocks `blocks` of a drive of `geometry`, after all that `outlook` tells.
    pub fn new(
        blocks: SuperblockView<'a>,
        geometry: &'a Geometry,
        outlook: Outlook<'a>,
    ) -> Victims<'a> {
        let emptiest = outlook.first(blocks, geometry, Among::All, |filled, opened| {
            Some((filled, opened))
        });
        Victims {
            blocks,
            outlook,
            geometry,
            emptiest: emptiest.map(|((filled, _), block)| (filled, block)),
            newest: blocks.at_rest().newest(),
            any: false,
        }
    }
    /// The same superblocks after `opened` more have been opened.
    pub fn after(self, opened: u64) -> Victims<'a> {
        Victims {
            newest: self.newest + opened,
            ..self
        }
    }
    /// The same superblocks without the guard: all that are at rest are candidates, as long as one of them yields something.
    pub fn any(self) -> Victims<'a> {
        Victims { any: true, ..self }
    }
    /// The superblocks to choose from, with those that are no candidates.
    pub fn blocks(&self) -> SuperblockView<'a> {
        self.blocks
    }
    /// Slots that the emptiest superblock yields.
    pub fn best_gain(&self) -> u32 {
        self.emptiest.map_or(0, |(filled, _)| filled.gain())
    }
    /// The candidate with the smallest share of valid slots, the oldest of equals.
    pub fn emptiest(&self) -> Option<SuperblockId> {
        let (filled, block) = self.emptiest?;
        (filled.gain() > 0).then_some(block)
    }
    /// Age of a superblock that was opened as number `opened`: the number of superblocks opened since, including itself.
    pub fn age(&self, opened: u64) -> u64 {
        self.newest - opened + 1
    }
    /// How full the superblock of `info` is.
    pub fn filled(&self, info: &SuperblockInfo) -> Filled {
        Filled::of(info, self.geometry)
    }
    /// Whether superblock `block`, whose record is `info`, is a candidate: it is at rest, and yields at least one slot, and
    /// at least 1 / [`LEAST_SHARE`] of what the emptiest superblock yields. Without the guard it is enough that the emptiest
    /// yields a slot.
    pub fn is_candidate(&self, block: SuperblockId, info: &SuperblockInfo) -> bool {
        self.outlook.is_at_rest(block, info) && self.yields_enough(self.filled(info))
    }
    fn yields_enough(&self, filled: Filled) -> bool {
        let best = self.emptiest.map_or(filled, |(emptiest, _)| emptiest);
        if self.any {
            return best.gain() > 0;
        }
        let own = u64::from(filled.gain()) * u64::from(best.slots);
        let least = u64::from(best.gain()) * u64::from(filled.slots);
        filled.gain() > 0 && own * LEAST_SHARE >= least
    }
    /// The candidate whose key comes first. The key is made of how full a superblock is and of the number of its opening. It
    /// must not fall as either grows, because a search leaves out superblocks that are fuller and younger than the one found. Of
    /// how full a superblock is it may use the share alone, and not the number of slots.
    pub fn first_by<K: Ord + Copy>(&self, key: impl Fn(Filled, u64) -> K) -> Option<SuperblockId> {
        let key = |filled, opened| self.yields_enough(filled).then(|| key(filled, opened));
        let first = (self.outlook).first(self.blocks, self.geometry, Among::All, key);
        first.map(|(_, block)| block)
    }
}

/// What is known in theory of the steady state of a scheme: its rule of choice, and what it chooses from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Law {
    /// The rule of choice.
    pub rule: Rule,
    /// Whether victims yield at least 1 / [`LEAST_SHARE`] of what the emptiest superblock yields.
    pub is_guarded: bool,
}

impl Law {
    /// `rule` among superblocks that yield at least 1 / [`LEAST_SHARE`] of what the emptiest one yields.
    pub const fn guarded(rule: Rule) -> Law {
        let is_guarded = true;
        Law { rule, is_guarded }
    }
    /// `rule` among all superblocks.
    pub const fn of_any(rule: Rule) -> Law {
        let is_guarded = false;
        Law { rule, is_guarded }
    }
}

/// Rules of choice for which the steady state is known in theory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The superblock opened longest ago.
    Oldest,
    /// The superblock with the smallest share of valid slots.
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
    /// Whether the scheme chooses without the guard ([`Victims::any`]): a victim may yield nothing.
    fn takes_any(&self) -> bool {
        false
    }
    /// The scheme's rule of choice, if theory has one for it: the steady state of overwrites is computed from
    /// the rule. A drive whose scheme has no such rule cannot be preconditioned.
    fn law(&self) -> Option<Law> {
        None
    }
}
