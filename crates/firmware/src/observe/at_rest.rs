//! An index of the superblocks at rest: those that are full and whose data are not being moved. It finds the superblock that
//! comes first by how full it is and when it was opened, and looks at few others for it.
//!
//! Superblocks with neighbouring numbers are a group, eight groups are a group of the next level, and so on. A group knows the
//! least that one of its superblocks holds and the opening of the oldest. Where the key of a search does not fall as
//! either grows, no superblock of the group comes before the key of these two, which belong to different superblocks as a
//! rule. A search goes into the groups in the order of these keys, and leaves out those that come after what it has
//! found.
//!
//! A changed superblock is only marked, because the path of a request changes superblocks and seldom searches them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use firstread_core::{Geometry, SuperblockId};

use super::superblocks::{SuperblockRow, SuperblockUse};

/// Superblocks of a group, and groups of one of the next level.
const FANOUT: usize = 8;

/// How full a superblock is: ordered by the share of its slots that are valid.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    /// Valid slots.
    pub valid: u32,
    /// All slots, at least one.
    pub slots: u32,
}

impl Filled {
    /// That of the superblock of `row`, on a drive of `geometry`.
    #[inline]
    pub fn of(row: &SuperblockRow, geometry: &Geometry) -> Filled {
        Filled {
            valid: row.valid_slots,
            slots: geometry.slots_per_superblock(row.mode),
        }
    }

    /// Slots that cleaning yields.
    #[inline]
    pub fn gain(self) -> u32 {
        self.slots - self.valid
    }
}

impl Ord for Filled {
    #[inline]
    fn cmp(&self, other: &Filled) -> Ordering {
        let [own, others] = [(self, other), (other, self)]
            .map(|(of, by)| u64::from(of.valid) * u64::from(by.slots));
        own.cmp(&others)
    }
}

impl PartialOrd for Filled {
    fn partial_cmp(&self, other: &Filled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Filled {
    fn eq(&self, other: &Filled) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Filled {}

/// What is known of a group of superblocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The least that one at rest holds, and the sequence number of the one at rest that was opened first. None if none is
    /// at rest.
    pub(crate) at_rest: Option<(Filled, u64)>,
    /// The least that one with map pages holds, among those at rest.
    pub(crate) of_map: Option<Filled>,
    /// Sequence number of the one that was opened last, at rest or not.
    pub(crate) newest: u64,
}

impl Group {
    const NONE: Group = Group {
        at_rest: None,
        of_map: None,
        newest: 0,
    };

    fn of(row: &SuperblockRow, geometry: &Geometry) -> Group {
        let is_at_rest = row.usage == SuperblockUse::Full && !row.leaving;
        let filled = is_at_rest.then(|| Filled::of(row, geometry));
        Group {
            at_rest: filled.map(|filled| (filled, row.opened)),
            of_map: filled.filter(|_| row.holds_map),
            newest: row.opened,
        }
    }

    fn and(self, other: Group) -> Group {
        let both = |(filled, opened): (Filled, u64), (other, others): (Filled, u64)| {
            (filled.min(other), opened.min(others))
        };
        Group {
            at_rest: either(self.at_rest, other.at_rest, both),
            of_map: either(self.of_map, other.of_map, Filled::min),
            newest: self.newest.max(other.newest),
        }
    }
}

/// `a` and `b` joined by `both`, or the one that there is.
fn either<T>(a: Option<T>, b: Option<T>, both: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (a, b) => a.or(b),
    }
}

/// The index.
#[derive(Clone, Debug)]
pub(super) struct AtRest {
    /// Groups of all levels, those of superblocks first, the one of all superblocks last.
    groups: Box<[Group]>,
    /// Where each level begins in `groups`.
    levels: Box<[usize]>,
    /// A bit for each group of superblocks: whether one of its superblocks has changed since the last update.
    changed: Box<[u64]>,
}

impl AtRest {
    /// Of `superblocks` superblocks, all of them changed.
    pub(super) fn new(superblocks: u32) -> AtRest {
        let (mut levels, mut end) = (Vec::new(), 0);
        let mut of_level = superblocks as usize;
        loop {
            of_level = of_level.div_ceil(FANOUT).max(1);
            levels.push(end);
            end += of_level;
            if of_level == 1 {
                break;
            }
        }
        let mut index = AtRest {
            groups: alloc::vec![Group::NONE; end].into(),
            levels: levels.into(),
            changed: alloc::vec![0; (superblocks as usize).div_ceil(FANOUT * 64)].into(),
        };
        (0..superblocks).for_each(|block| index.mark(block));
        index
    }

    /// Superblock number `block` may have changed.
    #[inline]
    pub(super) fn mark(&mut self, block: u32) {
        let group = block as usize / FANOUT;
        self.changed[group / 64] |= 1 << (group % 64);
    }

    /// Looks at all changed superblocks of `rows` anew.
    pub(super) fn update(&mut self, rows: &[SuperblockRow], geometry: &Geometry) {
        for word in 0..self.changed.len() {
            let mut changed = core::mem::take(&mut self.changed[word]);
            while changed != 0 {
                let group = word * 64 + changed.trailing_zeros() as usize;
                changed &= changed - 1;
                self.update_group(group, rows, geometry);
            }
        }
    }

    fn update_group(&mut self, mut group: usize, rows: &[SuperblockRow], geometry: &Geometry) {
        let of_group = rows.chunks(FANOUT).nth(group).into_iter().flatten();
        let of_rows = of_group.map(|row| Group::of(row, geometry));
        self.groups[group] = of_rows.fold(Group::NONE, Group::and);
        for level in 1..self.levels.len() {
            group /= FANOUT;
            let below = &self.groups[self.members(level, group)];
            self.groups[self.levels[level] + group] =
                below.iter().copied().fold(Group::NONE, Group::and);
        }
    }

    /// The groups that are group number `group` of `level`, which is no level of superblocks.
    fn members(&self, level: usize, group: usize) -> Range<usize> {
        let from = self.levels[level - 1] + group * FANOUT;
        from..(from + FANOUT).min(self.levels[level])
    }

    /// The superblock of `range` whose key comes first, with its key; of equal ones the one of the lowest number. `key` is
    /// that of a superblock, none for one that is not to be found. `bound` is a key that none of a group comes before, none
    /// if none of them is to be found.
    pub(super) fn first<K: Ord + Copy>(
        &self,
        rows: &[SuperblockRow],
        range: Range<u32>,
        bound: impl Fn(&Group) -> Option<K>,
        key: impl Fn(SuperblockId, &SuperblockRow) -> Option<K>,
    ) -> Option<(K, SuperblockId)> {
        debug_assert!(
            self.changed.iter().all(|word| *word == 0),
            "superblocks were marked, and the index was not updated"
        );
        let mut search = Search {
            index: self,
            rows,
            range,
            bound,
            key,
            found: None,
        };
        search.enter(self.levels.len() - 1, 0);
        search.found.map(|(key, block)| (key, SuperblockId(block)))
    }
}

struct Search<'a, K, B, F> {
    index: &'a AtRest,
    rows: &'a [SuperblockRow],
    range: Range<u32>,
    bound: B,
    key: F,
    found: Option<(K, u32)>,
}

impl<K, B, F> Search<'_, K, B, F>
where
    K: Ord + Copy,
    B: Fn(&Group) -> Option<K>,
    F: Fn(SuperblockId, &SuperblockRow) -> Option<K>,
{
    /// Looks for a superblock that comes before the one found, in group number `group` of `level`.
    fn enter(&mut self, level: usize, group: usize) {
        if level == 0 {
            let numbers = self.numbers(level, group);
            for block in numbers.start.max(self.range.start)..numbers.end.min(self.range.end) {
                let key = (self.key)(SuperblockId(block), &self.rows[block as usize]);
                self.offer(key.map(|key| (key, block)));
            }
            return;
        }
        let members = self.index.members(level, group);
        let first = members.start - self.index.levels[level - 1];
        let mut bounds = [None; FANOUT];
        for (i, (bound, of)) in bounds
            .iter_mut()
            .zip(&self.index.groups[members])
            .enumerate()
        {
            let numbers = self.numbers(level - 1, first + i);
            let meets = numbers.start < self.range.end && self.range.start < numbers.end;
            *bound = match meets {
                true => (self.bound)(of).map(|key| (key, numbers.start)),
                false => None,
            };
        }
        // The bound that comes first, until that comes after what was found.
        while let Some((next, i)) = (bounds.iter().enumerate())
            .filter_map(|(i, bound)| bound.map(|bound| (bound, i)))
            .min()
        {
            if self.found.is_some_and(|found| found <= next) {
                return;
            }
            bounds[i] = None;
            self.enter(level - 1, first + i);
        }
    }

    fn offer(&mut self, offered: Option<(K, u32)>) {
        if offered.is_some() && (self.found.is_none() || offered < self.found) {
            self.found = offered;
        }
    }

    /// Numbers of the superblocks in group number `group` of `level`.
    fn numbers(&self, level: usize, group: usize) -> Range<u32> {
        let size = FANOUT.pow(level as u32 + 1);
        let all = self.rows.len();
        let [from, to] = [group, group + 1].map(|group| (group * size).min(all) as u32);
        from..to
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Reverse;

    use firstread_core::{CellMode, Stream};

    use super::super::superblocks::SuperblockTable;
    use super::*;
    use crate::ftl::tests::geometry;

    /// Changes superblock `block` at random.
    fn change(row: &mut SuperblockRow, geometry: &Geometry, opened: u64, s: Stream) {
        row.mode = [CellMode::Slc, CellMode::Qlc][s.at(0).below(2) as usize];
        row.usage = match s.at(1).below(4) {
            0 => SuperblockUse::Open,
            _ => SuperblockUse::Full,
        };
        let slots = geometry.slots_per_superblock(row.mode);
        // Few values, so that many are equal.
        row.valid_slots = s.at(2).below(5) as u32 * slots / 4;
        row.leaving = s.at(3).below(5) == 0;
        row.holds_map = s.at(4).below(5) == 0;
        row.opened = opened;
    }

    /// Whatever the key and wherever the range begins and ends, the index finds what looking at each superblock finds, also
    /// after changes.
    #[test]
    fn model_the_index_finds_what_a_scan_finds() {
        for seed in 0..60 {
            let s = Stream::new(seed).named("index");
            let superblocks = [1, 7, 8, 9, 64, 65, 513, 600][s.at(0).below(8) as usize];
            let geometry = geometry(superblocks);
            let mut table = SuperblockTable::new(superblocks, CellMode::Qlc);
            for step in 0..40 {
                let s = s.at(1 + step);
                for i in 0..s.at(0).below(u64::from(superblocks) + 1) {
                    let block = s.at(1).at(i).below(superblocks.into()) as u32;
                    let row = table.row_mut(SuperblockId(block));
                    // A superblock that is opened late may have a low number: the order is that of opening.
                    change(row, &geometry, s.at(2).at(i).below(50), s.at(3).at(i));
                }
                table.update_index(&geometry);
                let ends = [0, 1].map(|i| s.at(4).at(i).below(u64::from(superblocks) + 1) as u32);
                let view = table.view(ends[0].min(ends[1])..ends[0].max(ends[1]));
                let at_rest =
                    |row: &SuperblockRow| row.usage == SuperblockUse::Full && !row.leaving;
                let scan = |key: &dyn Fn(&SuperblockRow) -> Option<(u128, u64)>| {
                    let keys = view
                        .iter()
                        .filter_map(|(block, row)| Some((key(row)?, block)));
                    keys.min_by_key(|(key, block)| (*key, block.0))
                };
                // Fullest share in 2^32, opening.
                let share =
                    |filled: Filled| (u128::from(filled.valid) << 32) / u128::from(filled.slots);
                type Key = fn(u128, u64) -> (u128, u64);
                let keys: [Key; 4] = [
                    |share, opened| (share, opened),
                    |_, opened| (0, opened),
                    |share, opened| (share * u128::from(opened + 1), 0),
                    |share, opened| (share + (u128::from(opened) << 28), opened),
                ];
                for (which, key) in keys.iter().enumerate() {
                    let of_row = |row: &SuperblockRow| {
                        at_rest(row).then(|| key(share(Filled::of(row, &geometry)), row.opened))
                    };
                    let found = view.first(
                        |group| {
                            group
                                .at_rest
                                .map(|(filled, oldest)| key(share(filled), oldest))
                        },
                        |_, row| of_row(row),
                    );
                    assert_eq!(found, scan(&of_row), "seed {seed} step {step} key {which}");
                }
                let of_map = |row: &SuperblockRow| {
                    let is_map = at_rest(row) && row.holds_map;
                    is_map.then(|| (share(Filled::of(row, &geometry)), 0))
                };
                let found = view.first(
                    |group| group.of_map.map(|filled| (share(filled), 0)),
                    |_, row| of_map(row),
                );
                assert_eq!(found, scan(&of_map), "seed {seed} step {step}: map");
                let newest = view.iter().map(|(_, row)| row.opened).max();
                assert_eq!(
                    view.newest(),
                    newest.unwrap_or(0),
                    "seed {seed} step {step}"
                );
            }
        }
    }

    /// A search among many looks at few of them, whichever comes first.
    #[test]
    fn formula_a_search_looks_at_few_superblocks() {
        const MANY: u32 = 8192;
        let geometry = geometry(MANY);
        let mut table = SuperblockTable::new(MANY, CellMode::Qlc);
        let slots = geometry.slots_per_superblock(CellMode::Qlc);
        let s = Stream::new(1).named("search");
        for block in 0..MANY {
            let row = table.row_mut(SuperblockId(block));
            row.usage = SuperblockUse::Full;
            row.opened = s.at(0).at(block.into()).below(1 << 40);
            row.valid_slots = s.at(1).at(block.into()).below(u64::from(slots) + 1) as u32;
        }
        table.update_index(&geometry);
        let looked_at = core::cell::Cell::new(0);
        let emptiest = table.all().first(
            |group| group.at_rest,
            |_, row| {
                looked_at.set(looked_at.get() + 1);
                Some((Filled::of(row, &geometry), row.opened))
            },
        );
        let (emptiest, oldest) = (emptiest.unwrap(), looked_at.take());
        assert!(
            emptiest.0.0.valid <= 1 && oldest < 400,
            "{oldest} looked at"
        );
        let age = |opened: u64| u128::from((1u64 << 40) - opened);
        let worth = |filled: Filled, opened| {
            let per_move = u128::from(filled.gain()) * 1000 / u128::from(filled.valid.max(1));
            Reverse(age(opened) * per_move)
        };
        let best = table.all().first(
            |group| group.at_rest.map(|(filled, opened)| worth(filled, opened)),
            |_, row| {
                looked_at.set(looked_at.get() + 1);
                Some(worth(Filled::of(row, &geometry), row.opened))
            },
        );
        let benefit = looked_at.take();
        assert!(best.is_some() && benefit < 1000, "{benefit} looked at");
    }
}
