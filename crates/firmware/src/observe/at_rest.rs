//! An index of the superblocks at rest: those that are full and whose data are not being moved. It finds the superblock that
//! comes first by how full it is and when it was opened, and looks at few others for it.
//!
//! Superblocks stand in the order in which they were opened. Neighbours in this order are a group, eight groups are a group
//! of the next level, and so on. Of a group the index knows the least that one of its superblocks holds. The oldest is the
//! first. Where the key of a search does not fall as either grows, no superblock of the group comes before the key of these
//! two. A search goes into the groups in the order of these keys, and leaves out those that come after what it has found.
//!
//! A changed superblock is only marked, because the path of a request changes superblocks and seldom searches them.

use alloc::boxed::Box;
use alloc::vec;
use core::cmp::Ordering;
use core::ops::Range;

use firstread_core::{Geometry, SuperblockId};

use super::superblocks::{SuperblockRow, SuperblockUse};

/// Superblocks of a group, and groups of one of the next level.
const FANOUT: usize = 1 << FANOUT_BITS;
const FANOUT_BITS: usize = 3;

/// How full a superblock is: ordered by the share of its slots that are valid.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    /// Valid slots.
    pub valid: u32,
    /// All slots, at least one.
    pub slots: u32,
}

impl Filled {
    /// That of no superblock: comes after all others.
    const NONE: Filled = Filled {
        valid: u32::MAX,
        slots: 1,
    };

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

    #[inline]
    fn is_some(self) -> bool {
        self.valid <= self.slots
    }
}

impl Ord for Filled {
    #[inline]
    fn cmp(&self, other: &Filled) -> Ordering {
        let own = u64::from(self.valid) * u64::from(other.slots);
        own.cmp(&(u64::from(other.valid) * u64::from(self.slots)))
    }
}

impl PartialOrd for Filled {
    #[inline]
    fn partial_cmp(&self, other: &Filled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Filled {
    #[inline]
    fn eq(&self, other: &Filled) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Filled {}

/// Which superblocks a search finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Among {
    /// All at rest.
    All,
    /// Those at rest that hold map pages.
    Map,
}

/// The index of the superblocks of a region.
#[derive(Clone, Debug)]
pub(crate) struct AtRest {
    /// Number of the first superblock.
    first: u32,
    /// The place of each superblock in the order of opening. Places of superblocks that were opened anew since stay empty
    /// until the order is made anew.
    places: Box<[u32]>,
    /// The superblock at each place, by its place in `places`.
    at: Box<[u32]>,
    /// The opening that each place is of. It grows from place to place.
    opened: Box<[u64]>,
    /// The first place that is free.
    end: usize,
    /// How full the superblock at each place is, and then the least of each group, level after level.
    all: Groups,
    map: Groups,
    /// A bit for each superblock: whether it may have changed since the last update.
    changed: Box<[u64]>,
}

/// What each place holds, and the least of each group of places.
#[derive(Clone, Debug)]
struct Groups {
    least: Box<[Filled]>,
    /// Where each level begins in `least`; the first one is that of places.
    levels: Box<[usize]>,
}

impl Groups {
    fn new(places: usize) -> Groups {
        let (mut levels, mut end, mut of_level) = (vec![0], places, places);
        while of_level > 1 {
            levels.push(end);
            of_level = of_level.div_ceil(FANOUT);
            end += of_level;
        }
        Groups {
            least: vec![Filled::NONE; end].into(),
            levels: levels.into(),
        }
    }

    /// The members of group `group` of `level`, in `least`.
    #[inline]
    fn members(&self, level: usize, group: usize) -> Range<usize> {
        let from = self.levels[level - 1] + (group << FANOUT_BITS);
        from..(from + FANOUT).min(self.levels[level])
    }

    /// The superblock at `place` is `filled`.
    fn set(&mut self, place: usize, filled: Filled) {
        let (mut group, mut least) = (place, filled);
        for level in 0..self.levels.len() {
            let known = &mut self.least[self.levels[level] + group];
            // The share decides, and in the first level the number of slots must be right too.
            if *known == least && (level > 0 || known.slots == least.slots) {
                return;
            }
            *known = least;
            group >>= FANOUT_BITS;
            if level + 1 < self.levels.len() {
                least = Filled::NONE;
                for of in &self.least[self.members(level + 1, group)] {
                    least = least.min(*of);
                }
            }
        }
    }
}

impl AtRest {
    /// Of the superblocks with the numbers `numbers`, all of them changed.
    pub(super) fn new(numbers: Range<u32>) -> AtRest {
        let superblocks = numbers.len();
        let places = 2 * superblocks.max(1);
        let mut index = AtRest {
            first: numbers.start,
            places: vec![u32::MAX; superblocks].into(),
            at: (0..superblocks as u32)
                .chain(core::iter::repeat_n(0, places - superblocks))
                .collect(),
            opened: vec![0; places].into(),
            // So that the first update makes the order.
            end: places,
            all: Groups::new(places),
            map: Groups::new(places),
            changed: vec![0; superblocks.div_ceil(64)].into(),
        };
        numbers.for_each(|block| index.mark(block));
        index
    }

    /// Superblock number `block`, which is one of these, may have changed.
    #[inline]
    pub(super) fn mark(&mut self, block: u32) {
        let at = (block - self.first) as usize;
        self.changed[at / 64] |= 1 << (at % 64);
    }

    /// Looks at all changed superblocks anew; `rows` are the records of all superblocks of the index.
    pub(super) fn update(&mut self, rows: &[SuperblockRow], geometry: &Geometry) {
        for word in 0..self.changed.len() {
            let mut changed = core::mem::take(&mut self.changed[word]);
            while changed != 0 {
                let block = word * 64 + changed.trailing_zeros() as usize;
                changed &= changed - 1;
                if !self.look_at(block, &rows[block], geometry) {
                    return self.make_anew(rows, geometry);
                }
            }
        }
    }

    /// Superblock number `block` of these is as `row` says. False if the order cannot have it where it belongs.
    fn look_at(&mut self, block: usize, row: &SuperblockRow, geometry: &Geometry) -> bool {
        let place = self.places[block] as usize;
        if place == u32::MAX as usize {
            return false;
        }
        if self.opened[place] != row.opened {
            let is_last = row.opened > self.opened[self.end - 1];
            if !is_last || self.end == self.opened.len() {
                return false;
            }
            self.all.set(place, Filled::NONE);
            self.map.set(place, Filled::NONE);
            self.put(block, row.opened);
        }
        let is_at_rest = row.usage == SuperblockUse::Full && !row.leaving;
        let filled = match is_at_rest {
            true => Filled::of(row, geometry),
            false => Filled::NONE,
        };
        let place = self.places[block] as usize;
        self.all.set(place, filled);
        self.map
            .set(place, if row.holds_map { filled } else { Filled::NONE });
        true
    }

    /// The next place is that of superblock number `block` of these.
    fn put(&mut self, block: usize, opened: u64) {
        self.places[block] = self.end as u32;
        self.at[self.end] = block as u32;
        self.opened[self.end] = opened;
        self.end += 1;
    }

    /// Makes the order anew, of what `rows` say.
    fn make_anew(&mut self, rows: &[SuperblockRow], geometry: &Geometry) {
        self.changed.fill(0);
        self.all.least.fill(Filled::NONE);
        self.map.least.fill(Filled::NONE);
        (0..)
            .zip(&mut self.at[..rows.len()])
            .for_each(|(block, at)| *at = block);
        self.at[..rows.len()].sort_unstable_by_key(|&block| (rows[block as usize].opened, block));
        self.end = 0;
        for place in 0..rows.len() {
            let block = self.at[place] as usize;
            self.put(block, rows[block].opened);
        }
        for (block, row) in rows.iter().enumerate() {
            let is_placed = self.look_at(block, row, geometry);
            debug_assert!(is_placed, "each has a place");
        }
    }

    /// Sequence number of the superblock that was opened last.
    pub(crate) fn newest(&self) -> u64 {
        self.debug_assert_updated();
        self.end.checked_sub(1).map_or(0, |last| self.opened[last])
    }

    /// The superblock whose key comes first, with its key; of equal ones the one of the lowest number. `key` is that of a
    /// superblock at rest that is so full and was opened as this one in the order of opening; it must not fall as either
    /// grows, and is none for those that are not to be found. It may not be none for less than what it is some for.
    /// Superblocks that `are_out` are not found.
    pub(crate) fn first<K: Ord + Copy>(
        &self,
        among: Among,
        key: impl Fn(Filled, u64) -> Option<K>,
        are_out: impl Fn(SuperblockId) -> bool,
    ) -> Option<(K, SuperblockId)> {
        self.debug_assert_updated();
        let groups = match among {
            Among::All => &self.all,
            Among::Map => &self.map,
        };
        let mut search = Search {
            index: self,
            groups,
            key,
            are_out,
            found: None,
        };
        search.enter(groups.levels.len() - 1, 0);
        search.found
    }

    fn debug_assert_updated(&self) {
        debug_assert!(
            self.changed.iter().all(|word| *word == 0),
            "superblocks were marked, and the index was not updated"
        );
    }
}

struct Search<'a, K, F, O> {
    index: &'a AtRest,
    groups: &'a Groups,
    key: F,
    are_out: O,
    found: Option<(K, SuperblockId)>,
}

impl<K, F, O> Search<'_, K, F, O>
where
    K: Ord + Copy,
    F: Fn(Filled, u64) -> Option<K>,
    O: Fn(SuperblockId) -> bool,
{
    /// Looks for a superblock that comes before the one found, in group number `group` of `level`.
    fn enter(&mut self, level: usize, group: usize) {
        if level == 0 {
            let block = SuperblockId(self.index.first + self.index.at[group]);
            if let Some(key) = self.key_of(level, group)
                && self.found.is_none_or(|found| (key, block) < found)
                && !(self.are_out)(block)
            {
                self.found = Some((key, block));
            }
            return;
        }
        let first = group << FANOUT_BITS;
        let mut keys = [None; FANOUT];
        for i in 0..self.groups.members(level, group).len() {
            keys[i] = self.key_of(level - 1, first + i);
        }
        // The one that comes first, until that comes after what was found.
        loop {
            let mut next: Option<(K, usize)> = None;
            for (i, key) in keys.iter().enumerate() {
                if let Some(key) = *key
                    && next.is_none_or(|(least, _)| key < least)
                {
                    next = Some((key, i));
                }
            }
            let Some((key, i)) = next else { return };
            if self.found.is_some_and(|(found, _)| found < key) {
                return;
            }
            keys[i] = None;
            self.enter(level - 1, first + i);
        }
    }

    /// A key that no superblock of group `group` of `level` comes before; in the first level, the superblock's.
    #[inline]
    fn key_of(&self, level: usize, group: usize) -> Option<K> {
        let least = self.groups.least[self.groups.levels[level] + group];
        let oldest = group << (level * FANOUT_BITS);
        match least.is_some() {
            true => (self.key)(least, self.index.opened[oldest]),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use core::cmp::Reverse;

    use firstread_core::{CellMode, Stream};

    use super::super::areas::Area;
    use super::super::superblocks::SuperblockTable;
    use super::*;
    use crate::ftl::tests::geometry;

    /// Changes the superblock of `row` at random; `opened` is the opening if it is opened anew.
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
        if s.at(5).below(2) == 0 {
            row.opened = opened;
        }
    }

    /// A key of how full a superblock is, in 2^-32, and of its opening.
    type Key = fn(u128, u64) -> Option<(u128, u64)>;
    const KEYS: [Key; 5] = [
        |share, opened| Some((share, opened)),
        |_, opened| Some((0, opened)),
        |share, opened| Some((share * u128::from(opened + 1), 0)),
        |share, opened| Some((share + (u128::from(opened) << 22), opened)),
        // Only those that are not too full.
        |share, opened| (share <= 3 << 30).then_some((0, opened)),
    ];

    /// Whatever the key, the index finds what looking at each superblock finds: after any changes, where superblocks are
    /// opened in their order and where they are not, in both areas, and whatever is left out.
    #[test]
    fn model_the_index_finds_what_a_scan_finds() {
        let (mut found, mut none) = (0, 0);
        for seed in 0..100 {
            let s = Stream::new(seed).named("index");
            let superblocks = [1, 7, 8, 9, 64, 65, 513, 600][s.at(0).below(8) as usize];
            let geometry = geometry(superblocks);
            let mut table = SuperblockTable::new(superblocks, CellMode::Qlc);
            let low = s.at(1).below(u64::from(superblocks) + 1) as u32;
            table.set_low_from([None, Some(low)][s.at(2).below(2) as usize]);
            let in_order = s.at(3).below(3) > 0;
            let mut opened = 0;
            for step in 0..60 {
                let s = s.at(4 + step);
                for i in 0..s.at(0).below([3, u64::from(superblocks) + 1][i_odd(step)]) {
                    let block = s.at(1).at(i).below(superblocks.into()) as u32;
                    opened = match in_order {
                        true => opened + 1,
                        false => s.at(2).at(i).below(300),
                    };
                    let row = table.row_mut(SuperblockId(block));
                    change(row, &geometry, opened, s.at(3).at(i));
                }
                table.update_index(&geometry);
                let area = Area::ALL[s.at(4).below(2) as usize];
                let view = table.in_area(area);
                let out = s.at(5).below(4) * u64::from(superblocks) / 4;
                let is_out = |block: SuperblockId| {
                    s.at(6).at(block.0.into()).below(superblocks.into()) < out
                };
                let share =
                    |filled: Filled| (u128::from(filled.valid) << 32) / u128::from(filled.slots);
                for (which, key) in KEYS.iter().enumerate() {
                    for among in [Among::All, Among::Map] {
                        let in_index = view.at_rest().first(
                            among,
                            |filled, opened| key(share(filled), opened),
                            is_out,
                        );
                        let at_rest = view.iter().filter(|(block, row)| {
                            let is_among = among == Among::All || row.holds_map;
                            row.usage == SuperblockUse::Full
                                && !row.leaving
                                && is_among
                                && !is_out(*block)
                        });
                        let scanned = at_rest.filter_map(|(block, row)| {
                            Some((key(share(Filled::of(row, &geometry)), row.opened)?, block))
                        });
                        assert_eq!(
                            in_index,
                            scanned.min(),
                            "seed {seed} step {step} key {which} {among:?} {area:?}"
                        );
                        *(if in_index.is_some() {
                            &mut found
                        } else {
                            &mut none
                        }) += 1;
                    }
                }
                let newest = view.iter().map(|(_, row)| row.opened).max();
                assert_eq!(
                    view.at_rest().newest(),
                    newest.unwrap_or(0),
                    "seed {seed} step {step}"
                );
            }
        }
        assert!(found > 1000 && none > 1000, "{found} {none}");
    }

    fn i_odd(step: u64) -> usize {
        usize::from(step % 2 == 1)
    }

    /// A search among thousands looks at few, whichever comes first, also where the first 31 are left out.
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
            row.opened = 1 + u64::from(block.wrapping_mul(2_654_435_761) % MANY);
            // The older a superblock, the more of it was overwritten.
            let age = MANY - row.opened as u32;
            let garbage = slots * age / MANY / 4 + s.at(block.into()).below(8) as u32;
            row.valid_slots = slots - garbage;
        }
        table.update_index(&geometry);
        let at_rest = table.all().at_rest();
        let worth = |filled: Filled, opened| {
            let per_move = u128::from(filled.gain()) * 1000 / u128::from(filled.valid.max(1));
            Reverse(u128::from(u64::from(MANY) + 1 - opened) * per_move)
        };
        let enough = |filled: Filled| filled.gain() * 8 >= filled.slots;
        let looked_at = Cell::new(0);
        let count = |filled: Filled| {
            looked_at.set(looked_at.get() + 1);
            filled
        };
        let mut out = [SuperblockId(u32::MAX); 32];
        for known in 0..out.len() {
            let is_out = |block: SuperblockId| out[..known].contains(&block);
            let greedy = at_rest.first(Among::All, |f, opened| Some((count(f), opened)), is_out);
            let by_greedy = looked_at.take();
            let oldest = at_rest.first(
                Among::All,
                |f, opened| enough(count(f)).then_some(opened),
                is_out,
            );
            let by_age = looked_at.take();
            let benefit = at_rest.first(
                Among::All,
                |f, opened| Some(worth(count(f), opened)),
                is_out,
            );
            let by_benefit = looked_at.take();
            assert!(greedy.is_some() && oldest.is_some());
            let most = by_greedy.max(by_age).max(by_benefit);
            assert!(
                most < MANY / 10,
                "{known} out: {by_greedy}, {by_age}, {by_benefit}"
            );
            out[known] = benefit.expect("one comes first").1;
        }
    }
}
