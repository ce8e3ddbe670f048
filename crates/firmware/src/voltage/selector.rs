//! Voltage selector: which levels a foreground read tries (CT-QLC §III-C), and where a group that
//! superblocks enter for the first time takes its entries from.

use firstread_core::Levels;
use firstread_core::voltage::BlockGroups;

use super::tables::{ENTRIES, TableManager};

/// What the selector finds when it looks a group up (the four states of the paper's Fig 5, whose
/// drawing the text does not spell out). Reads are served from the factory table in the first and
/// from the active table in the others; none of them ever sees a staged entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The group has no active entries yet.
    Factory,
    /// It has, and nothing is under way.
    Active,
    /// New entries are in the making in the staging table.
    Staging,
    /// They have been written to the shadow, which is about to become the active table.
    Switching,
}

/// How the factory table is walked once the active entries have failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// At the entry nearest to the group's first; then outward on both sides.
    Outward,
    /// There too; then onward in the manufacturer's order, and round.
    Onward,
    /// At the first, in the manufacturer's order, as published.
    First,
}

/// The selector, with the tables it selects from.
#[derive(Clone, Debug)]
pub struct Selector {
    /// The groups.
    pub groups: BlockGroups,
    /// The tables.
    pub tables: TableManager,
    /// How the factory table is walked after the active entries.
    pub fallback: Fallback,
}

impl Selector {
    /// Levels of attempt `step` on a superblock of `group`: three active entries, then every factory
    /// entry once, then none. A group without entries is served by the one it will inherit from;
    /// without one, or in no group, only the factory table is walked. Entries that are switched in
    /// the middle of a read change what its remaining steps try.
    #[inline]
    pub fn levels(&self, group: Option<u8>, step: u8) -> Option<Levels> {
        self.levels_in(group, 0, step)
    }

    /// The same in `zone` of the group.
    #[inline]
    pub fn levels_in(&self, group: Option<u8>, zone: u8, step: u8) -> Option<Levels> {
        let tables = &self.tables;
        let group = group.and_then(|group| self.serving(group));
        let len = tables.factory_len();
        let i = match (group, step.checked_sub(ENTRIES as u8)) {
            (None, _) => (step < len).then_some(step),
            (Some(group), None) => {
                return Some(Levels::Offsets(
                    tables.entries_in(group, zone)[step as usize],
                ));
            }
            (Some(group), Some(k)) => match self.fallback {
                Fallback::Outward => outward(tables.nearest(group), len, k),
                Fallback::Onward => (k < len).then(|| (tables.nearest(group) + k) % len),
                Fallback::First => (k < len).then_some(k),
            },
        };
        tables.factory(i?).map(|&levels| Levels::Offsets(levels))
    }

    /// The group whose entries serve `group`: itself, once it has some.
    #[inline]
    fn serving(&self, group: u8) -> Option<u8> {
        match self.tables.populated(group) {
            true => Some(group),
            false => self.heir_of(group),
        }
    }

    /// The group that `group` inherits from: the last earlier retention bin that has entries, in
    /// its own P/E bin, or else, its own retention bin included, in the nearest P/E bin that has
    /// one.
    pub fn heir_of(&self, group: u8) -> Option<u8> {
        let (bins, pe_bins) = (self.groups.retention_bins, self.groups.pe_bins);
        let (pe, retention) = (group / bins, group % bins);
        (0..pe_bins)
            .flat_map(|distance| [pe.checked_sub(distance), Some(pe + distance)])
            .flatten()
            .filter(|&pe| pe < pe_bins)
            .flat_map(|pe| (0..=retention).rev().map(move |r| pe * bins + r))
            .find(|&source| source != group && self.tables.populated(source))
    }

    /// The state of `group`.
    pub fn state(&self, group: u8) -> State {
        if !self.tables.populated(group) {
            State::Factory
        } else if self.tables.is_shadowed(group) {
            State::Switching
        } else if self.tables.is_staged(group) {
            State::Staging
        } else {
            State::Active
        }
    }
}

/// Step `k` of a walk over `len` entries from `start` outward: start, start + 1, start - 1,
/// start + 2, ..., and on along the one side when the other has ended. Each entry comes once.
#[inline]
pub fn outward(start: u8, len: u8, k: u8) -> Option<u8> {
    if k >= len {
        return None;
    }
    let (below, above) = (start, len - 1 - start);
    let both = below.min(above);
    Some(if k <= 2 * both {
        match k % 2 {
            1 => start + k.div_ceil(2),
            _ => start - k / 2,
        }
    } else if above > below {
        start + (k - both)
    } else {
        start - (k - both)
    })
}
