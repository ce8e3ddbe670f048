//! An index of the superblocks at rest: those that are full and whose data are not being moved. It finds the superblock that
//! comes first by how full it is and when it was opened, and looks at few others for it.
//!
//! Superblocks stand in the order in which they were opened. Of a group of neighbours in this order the index knows the least
//! that one of them holds ([`Groups`]), and the oldest is the first. Where the key of a search does not fall as either grows,
//! no superblock of the group comes before the key of these two, so that most groups are never entered.

use alloc::boxed::Box;
use alloc::vec;
use core::cmp::Ordering;
use core::ops::Range;

use firstread_core::{Geometry, SuperblockId};

use super::groups::{Groups, Held};
use super::superblock::{SuperblockInfo, SuperblockUse};
use super::who::ModeSet;

/// How full a superblock is: ordered by the share of its slots that are valid.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    /// Slots whose data the map points at.
    pub valid: u32,
    /// All slots, at least one.
    pub slots: u32,
}

impl Held for Filled {
    const NONE: Filled = Filled {
        valid: u32::MAX,
        slots: 1,
    };
}

impl Filled {
    /// That of the superblock of `info`, on a drive of `geometry`.
    #[inline]
    pub fn of(info: &SuperblockInfo, geometry: &Geometry) -> Filled {
        Filled {
            valid: info.valid_slots,
            slots: geometry.slots_per_superblock(info.mode),
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
    All,
    /// Only superblocks that hold map pages.
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
    all: Groups<Filled>,
    map: Groups<Filled>,
    /// Modes whose superblocks no search finds, because they are cleaned apart.
    apart: ModeSet,
}

impl AtRest {
    /// Of the superblocks with the numbers `numbers`, but those in the modes `apart`. None has a place before the order is made.
    pub(super) fn new(numbers: &Range<u32>, apart: ModeSet) -> AtRest {
        let superblocks = numbers.len();
        let places = 2 * superblocks.max(1);
        AtRest {
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
            apart,
        }
    }

    /// Superblock number `block` of these is as `info` says. False if the order cannot have it where it belongs.
    pub(super) fn look_at(
        &mut self,
        block: usize,
        info: &SuperblockInfo,
        geometry: &Geometry,
    ) -> bool {
        let place = self.places[block] as usize;
        if place == u32::MAX as usize {
            return false;
        }
        if self.opened[place] != info.opened {
            let is_last = info.opened > self.opened[self.end - 1];
            if !is_last || self.end == self.opened.len() {
                return false;
            }
            self.all.set(place, Filled::NONE);
            self.map.set(place, Filled::NONE);
            self.put(block, info.opened);
        }
        let is_found = !self.apart.has(info.mode);
        let is_at_rest = info.usage == SuperblockUse::Full && !info.evacuating && is_found;
        let filled = match is_at_rest {
            true => Filled::of(info, geometry),
            false => Filled::NONE,
        };
        let place = self.places[block] as usize;
        self.all.set(place, filled);
        self.map
            .set(place, if info.holds_map { filled } else { Filled::NONE });
        true
    }

    /// The next place is that of superblock number `block` of these.
    fn put(&mut self, block: usize, opened: u64) {
        self.places[block] = self.end as u32;
        self.at[self.end] = block as u32;
        self.opened[self.end] = opened;
        self.end += 1;
    }

    /// Makes the order anew, of what `infos` say.
    pub(super) fn make_anew(&mut self, infos: &[SuperblockInfo], geometry: &Geometry) {
        self.all.clear();
        self.map.clear();
        (0..)
            .zip(&mut self.at[..infos.len()])
            .for_each(|(block, at)| *at = block);
        self.at[..infos.len()].sort_unstable_by_key(|&block| (infos[block as usize].opened, block));
        self.end = 0;
        for place in 0..infos.len() {
            let block = self.at[place] as usize;
            self.put(block, infos[block].opened);
        }
        for (block, info) in infos.iter().enumerate() {
            let is_placed = self.look_at(block, info, geometry);
            debug_assert!(is_placed, "each has a place");
        }
    }

    /// The superblocks at rest in the order of their opening: their numbers and openings, how full they are, and so those that
    /// hold map pages. For tests.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, u64, Filled, Filled)> {
        let held = self.all.least().iter().zip(self.map.least());
        let places = self.at.iter().zip(&self.opened).zip(held);
        let at_rest = places.filter(|(_, (all, _))| **all != Filled::NONE);
        at_rest.map(|((at, opened), (all, map))| (*at, *opened, *all, *map))
    }

    /// Modes whose superblocks are cleaned apart.
    pub(crate) fn apart(&self) -> ModeSet {
        self.apart
    }

    /// Sequence number of the superblock that was opened last.
    pub(crate) fn newest(&self) -> u64 {
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
        let groups = match among {
            Among::All => &self.all,
            Among::Map => &self.map,
        };
        groups.first(
            |least, place| Some((key(least, self.opened[place])?, SuperblockId(0))),
            |filled, place| {
                let block = SuperblockId(self.first + self.at[place]);
                let key = key(filled, self.opened[place])?;
                (!are_out(block)).then_some((key, block))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use core::cmp::Reverse;

    use firstread_core::{CellMode, Stream};

    use super::super::regions::{RegionId, Regions};
    use super::super::superblocks::SuperblockTable;
    use super::*;
    use crate::ftl::tests::geometry;

    /// Changes the superblock of `info` at random; `opened` is the opening if it is opened anew.
    fn change(info: &mut SuperblockInfo, geometry: &Geometry, opened: u64, s: Stream) {
        info.mode = [CellMode::Slc, CellMode::Qlc][s.at(0).below(2) as usize];
        info.usage = match s.at(1).below(4) {
            0 => SuperblockUse::Open,
            _ => SuperblockUse::Full,
        };
        let slots = geometry.slots_per_superblock(info.mode);
        // Few values, so that many are equal.
        info.valid_slots = s.at(2).below(5) as u32 * slots / 4;
        info.evacuating = s.at(3).below(5) == 0;
        info.holds_map = s.at(4).below(5) == 0;
        if s.at(5).below(2) == 0 {
            info.opened = opened;
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
    /// opened in their order and where they are not, in all regions, and whatever is left out.
    #[test]
    fn model_the_index_finds_what_a_scan_finds() {
        let (mut found, mut none) = (0, 0);
        for seed in 0..100 {
            let s = Stream::new(seed).named("index");
            let superblocks = [1, 7, 8, 9, 64, 65, 513, 600][s.at(0).below(8) as usize];
            let geometry = geometry(superblocks);
            let mut table = SuperblockTable::new(superblocks, CellMode::Qlc);
            let low = s.at(1).below(u64::from(superblocks) + 1) as u32;
            let declared = [None, Some(low)][s.at(2).below(2) as usize];
            table.divide(Regions::new(superblocks, declared));
            let in_order = s.at(3).below(3) > 0;
            let mut opened = 0;
            for step in 0..60 {
                let s = s.at(4 + step);
                for i in 0..s
                    .at(0)
                    .below([3, u64::from(superblocks) + 1][(step % 2) as usize])
                {
                    let block = s.at(1).at(i).below(superblocks.into()) as u32;
                    opened = match in_order {
                        true => opened + 1,
                        false => s.at(2).at(i).below(300),
                    };
                    let info = table.info_mut(SuperblockId(block));
                    change(info, &geometry, opened, s.at(3).at(i));
                }
                table.update_index(&geometry);
                let region = RegionId(s.at(4).below(table.regions().count() as u64) as u8);
                let view = table.in_region(region);
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
                        let at_rest = view.iter().filter(|(block, info)| {
                            let is_among = among == Among::All || info.holds_map;
                            info.usage == SuperblockUse::Full
                                && !info.evacuating
                                && is_among
                                && !is_out(*block)
                        });
                        let scanned = at_rest.filter_map(|(block, info)| {
                            Some((key(share(Filled::of(info, &geometry)), info.opened)?, block))
                        });
                        assert_eq!(
                            in_index,
                            scanned.min(),
                            "seed {seed} step {step} key {which} {among:?} {region:?}"
                        );
                        *(if in_index.is_some() {
                            &mut found
                        } else {
                            &mut none
                        }) += 1;
                    }
                }
                let newest = view.iter().map(|(_, info)| info.opened).max();
                assert_eq!(
                    view.at_rest().newest(),
                    newest.unwrap_or(0),
                    "seed {seed} step {step}"
                );
            }
        }
        assert!(found > 1000 && none > 1000, "{found} {none}");
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
            let info = table.info_mut(SuperblockId(block));
            info.usage = SuperblockUse::Full;
            info.opened = 1 + u64::from(block.wrapping_mul(2_654_435_761) % MANY);
            // The older a superblock, the more of it was overwritten.
            let age = MANY - info.opened as u32;
            let garbage = slots * age / MANY / 4 + s.at(block.into()).below(8) as u32;
            info.valid_slots = slots - garbage;
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
