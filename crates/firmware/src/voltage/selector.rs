//! Voltage selector: the levels that a foreground read tries (CT-QLC §III-C), and where a group that
//! superblocks enter for the first time takes its entries from.

use firstread_core::Levels;
use firstread_core::voltage::BlockGroups;

use super::tables::{ENTRIES, TableManager};

/// State of a group in the selector (the four states of the paper's Fig 5, whose drawing the text does not
/// spell out). In the first state, reads are served from the factory table; in the others, from the active
/// table. Reads never see a staged entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The group has no active entries yet.
    Factory,
    /// The group has active entries, and no new ones are being prepared.
    Active,
    /// New entries are being prepared in the staging table.
    Staging,
    /// The new entries are in the shadow, which is about to become the active table.
    Switching,
}

/// Order in which the factory table is walked after the active entries have failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// From the entry closest to the group's first entry, outward to both sides.
    Outward,
    /// From the same entry, onward in the manufacturer's order, wrapping around.
    Onward,
    /// From the first entry, in the manufacturer's order, as published.
    First,
}

/// The selector, with the tables it selects from.
#[derive(Clone, Debug)]
pub struct Selector {
    /// Edges of the P/E and retention bins that make the groups.
    pub groups: BlockGroups,
    /// Entries of each group, and the factory's retry table.
    pub tables: TableManager,
    /// How the factory table is walked after the active entries.
    pub fallback: Fallback,
}

impl Selector {
    /// Levels of attempt `step` on a superblock of `group`: the three active entries, then every factory
    /// entry once, then none. A group without entries uses those of the group it will inherit from. If there
    /// is no such group, or the superblock is in no group, only the factory table is walked. If entries are
    /// switched during a read, its remaining steps use the new ones.
    #[inline]
    pub fn levels(&self, group: Option<u8>, step: u8) -> Option<Levels> {
        self.levels_in(group, 0, step)
    }

    /// The same, in `zone` of the group.
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

    /// The group whose entries serve `group`: `group` itself, once it has entries.
    #[inline]
    fn serving(&self, group: u8) -> Option<u8> {
        match self.tables.populated(group) {
            true => Some(group),
            false => self.inherits_from(group),
        }
    }

    /// The group from which `group` inherits. First choice: the last earlier retention bin with entries, in
    /// the same P/E bin. Else: the same search, including the group's own retention bin, in the nearest P/E
    /// bin that has one.
    pub fn inherits_from(&self, group: u8) -> Option<u8> {
        let (bins, pe_bins) = (self.groups.retention_bins, self.groups.pe_bins);
        let (pe, retention) = (group / bins, group % bins);
        // Superblocks come from an earlier bin as their data age, so its entries have served these very data. A later
        // bin's entries would be of data that have lost more charge.
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

/// Step `k` of a walk over `len` entries outward from `start`: start, start + 1, start - 1, start + 2, ...
/// When one side is exhausted, the walk continues on the other. Each entry comes once.
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
