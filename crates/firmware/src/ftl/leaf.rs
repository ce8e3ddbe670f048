//! Leaves of the map's overlay: up to twenty pages of a region with their places, in sixteen words.
//!
//! Lanes of sixteen bits and, behind them, halves of words: the header, then for each entry the page
//! within its region (twelve bits) with the upper four bits of its place, and in the halves the lower
//! 32 bits. Keys of a word are compared side by side.

/// Words of a leaf.
pub(super) const LEAF_WORDS: usize = 16;
/// Entries of a leaf.
pub(super) const LEAF_ENTRIES: usize = 20;
/// Bits of a page within its region, and of a place.
pub(super) const KEY_BITS: u32 = 12;
pub(super) const PLACE_BITS: u32 = 36;

/// Words of lanes: a header and a key for each entry.
const LANE_WORDS: usize = (1 + LEAF_ENTRIES).div_ceil(4);
const KEY: u64 = (1 << KEY_BITS) - 1;
/// One in each lane of a word.
const ONES: u64 = 0x0001_0001_0001_0001;

const _: () = assert!(LANE_WORDS + LEAF_ENTRIES / 2 == LEAF_WORDS);

/// A leaf to be read.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a>(pub(super) &'a [u64; LEAF_WORDS]);

impl Leaf<'_> {
    /// Entries it holds.
    #[inline]
    pub(super) fn len(self) -> usize {
        (self.0[0] & 0xff) as usize
    }
    /// Bits of its pages' hashes that are alike.
    #[inline]
    pub(super) fn depth(self) -> u32 {
        (self.0[0] >> 8) as u32 & 0xff
    }
    #[inline]
    fn lane(self, i: usize) -> u64 {
        self.0[i / 4] >> (i % 4 * 16) & 0xffff
    }
    #[inline]
    pub(super) fn place(self, i: usize) -> u64 {
        let low = self.0[LANE_WORDS + i / 2] >> (i % 2 * 32) & 0xffff_ffff;
        self.lane(1 + i) >> KEY_BITS << 32 | low
    }
    /// Page and place of entry `i`.
    pub(super) fn entry(self, i: usize) -> (u64, u64) {
        (self.lane(1 + i) & KEY, self.place(i))
    }
    /// The entry of page `key`.
    #[inline]
    pub(super) fn find(self, key: u64) -> Option<usize> {
        let len = self.len();
        // The header is no key.
        let mut others = 0x0fff;
        for (w, word) in self.0[..LANE_WORDS].iter().enumerate() {
            let apart = (word ^ (key * ONES)) & (KEY * ONES) | others;
            // A lane that is zero is the only one whose upper bit stays clear.
            let same = !(apart + 0x7fff * ONES) & (0x8000 * ONES);
            if same != 0 {
                let i = 4 * w + same.trailing_zeros() as usize / 16 - 1;
                return (i < len).then_some(i);
            }
            if 4 * w + 4 > len {
                break;
            }
            others = 0;
        }
        None
    }
}

/// A leaf to be changed.
pub(super) struct LeafMut<'a>(pub(super) &'a mut [u64; LEAF_WORDS]);

impl LeafMut<'_> {
    /// Empties it.
    pub(super) fn clear(&mut self, depth: u32) {
        *self.0 = [0; LEAF_WORDS];
        self.0[0] = u64::from(depth) << 8;
    }
    /// Entry `i` is that of `key`, at `place`.
    pub(super) fn set(&mut self, i: usize, key: u64, place: u64) {
        let (lane, half) = (1 + i, i % 2 * 32);
        let word = &mut self.0[lane / 4];
        let shift = lane % 4 * 16;
        *word = *word & !(0xffff << shift) | (place >> 32 << KEY_BITS | key) << shift;
        let word = &mut self.0[LANE_WORDS + i / 2];
        *word = *word & !(0xffff_ffff << half) | (place & 0xffff_ffff) << half;
    }
    /// Adds an entry; there is room, and what lies there is zero.
    #[inline]
    pub(super) fn push(&mut self, key: u64, place: u64) {
        let len = Leaf(self.0).len();
        let lane = 1 + len;
        self.0[lane / 4] |= (place >> 32 << KEY_BITS | key) << (lane % 4 * 16);
        self.0[LANE_WORDS + len / 2] |= (place & 0xffff_ffff) << (len % 2 * 32);
        self.0[0] += 1;
    }
    /// Keeps the entries whose place passes.
    pub(super) fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let (len, depth) = (Leaf(self.0).len(), Leaf(self.0).depth());
        let old = *self.0;
        self.clear(depth);
        let entries = (0..len).map(|i| Leaf(&old).entry(i));
        for (key, place) in entries.filter(|e| keep(e.1)) {
            self.push(key, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    #[test]
    fn model_a_leaf_is_a_map() {
        for seed in 0..200 {
            let stream = Stream::new(seed);
            // Whatever was there before.
            let mut words = core::array::from_fn(|i| stream.at(1).at(i as u64).below(u64::MAX));
            let mut model = BTreeMap::new();
            LeafMut(&mut words).clear(7);
            for step in 0..60 {
                let s = stream.at(2).at(step);
                // Few different keys, some of which look like a header.
                let key = [s.at(0).below(32), s.at(0).below(1 << KEY_BITS)][seed as usize % 2];
                let place = s.at(1).below(1 << PLACE_BITS);
                match Leaf(&words).find(key) {
                    Some(i) => {
                        assert_eq!(Leaf(&words).place(i), model[&key]);
                        LeafMut(&mut words).set(i, key, place);
                    }
                    None if model.len() < LEAF_ENTRIES => {
                        assert!(!model.contains_key(&key));
                        LeafMut(&mut words).push(key, place);
                    }
                    None => continue,
                }
                model.insert(key, place);
                assert_eq!(Leaf(&words).len(), model.len());
                assert_eq!(Leaf(&words).depth(), 7);
            }
            for key in 0..1 << KEY_BITS {
                let found = Leaf(&words).find(key).map(|i| Leaf(&words).entry(i));
                assert_eq!(found, model.get(&key).map(|&place| (key, place)));
            }
            LeafMut(&mut words).retain(|place| place % 2 == 0);
            model.retain(|_, place| *place % 2 == 0);
            let entries = (0..Leaf(&words).len()).map(|i| Leaf(&words).entry(i));
            let mut entries: Vec<_> = entries.collect();
            entries.sort();
            assert_eq!(entries, model.into_iter().collect::<Vec<_>>());
        }
    }
}
