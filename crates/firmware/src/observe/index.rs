//! The index of a region's superblocks, by which schemes find victims and free superblocks without looking at all of them.
//!
//! A changed superblock is only marked, because the path of a request changes superblocks and seldom searches them. A search
//! comes after an update ([`Index::update`]).

use alloc::boxed::Box;
use alloc::vec;
use core::ops::Range;

use firstread_core::Geometry;

use super::at_rest::AtRest;
use super::by_wear::ByWear;
use super::superblock::SuperblockInfo;
use super::who::ModeSet;

/// The index of the superblocks of a region.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// Number of the first superblock.
    first: u32,
    at_rest: AtRest,
    by_wear: ByWear,
    /// A bit for each superblock: whether it may have changed since the last update.
    changed: Box<[u64]>,
    /// The same since they were last kept, as of the last update; empty if nobody keeps them.
    to_keep: Box<[u64]>,
}

impl Index {
    /// Of the superblocks with the numbers `numbers`, all of them changed. Those in the modes `apart` are no victims.
    pub(super) fn new(numbers: Range<u32>, apart: ModeSet) -> Index {
        let mut index = Index {
            first: numbers.start,
            at_rest: AtRest::new(&numbers, apart),
            by_wear: ByWear::new(&numbers),
            changed: vec![0; numbers.len().div_ceil(64)].into(),
            to_keep: Box::default(),
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

    /// Looks at all changed superblocks anew; `infos` are the records of all superblocks of the index.
    pub(super) fn update(&mut self, infos: &[SuperblockInfo], geometry: &Geometry) {
        let mut has_order = true;
        for word in 0..self.changed.len() {
            let mut changed = core::mem::take(&mut self.changed[word]);
            if let Some(to_keep) = self.to_keep.get_mut(word) {
                *to_keep |= changed;
            }
            while changed != 0 {
                let block = word * 64 + changed.trailing_zeros() as usize;
                changed &= changed - 1;
                self.by_wear.look_at(block, &infos[block]);
                has_order = has_order && self.at_rest.look_at(block, &infos[block], geometry);
            }
        }
        if !has_order {
            self.at_rest.make_anew(infos, geometry);
        }
    }

    /// From now on somebody keeps what changes.
    pub(super) fn start_keeping(&mut self) {
        self.to_keep = vec![0; self.changed.len()].into();
    }

    /// Calls `keep` with each superblock that may have changed since the last call.
    pub(super) fn each_to_keep(&mut self, mut keep: impl FnMut(u32)) {
        for (i, to_keep) in self.to_keep.iter_mut().enumerate() {
            let mut blocks = core::mem::take(to_keep) | self.changed[i];
            while blocks != 0 {
                keep(self.first + i as u32 * 64 + blocks.trailing_zeros());
                blocks &= blocks - 1;
            }
        }
    }

    /// The superblocks at rest.
    pub(crate) fn at_rest(&self) -> &AtRest {
        self.assert_updated();
        &self.at_rest
    }

    /// The superblocks by their wear.
    pub(super) fn by_wear(&self) -> &ByWear {
        self.assert_updated();
        &self.by_wear
    }

    /// Whether searches find the same in `other`.
    pub(super) fn has_the_same(&self, other: &Index) -> bool {
        self.by_wear == other.by_wear && self.at_rest.in_order().eq(other.at_rest.in_order())
    }

    fn assert_updated(&self) {
        debug_assert!(
            self.changed.iter().all(|word| *word == 0),
            "superblocks were marked, and the index was not updated"
        );
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Reverse;

    use firstread_core::{CellMode, Stream, SuperblockId};

    use super::super::regions::Regions;
    use super::super::superblock::SuperblockUse;
    use super::super::superblocks::SuperblockTable;
    use super::super::who::ModeSet;
    use crate::ftl::tests::geometry;

    /// Free superblocks, those at rest and the most worn of all are what looking at each superblock finds: after any
    /// changes, in all regions, in any modes.
    #[test]
    fn model_superblocks_by_wear_are_those_of_a_scan() {
        const USES: [SuperblockUse; 5] = [
            SuperblockUse::Free,
            SuperblockUse::Open,
            SuperblockUse::Full,
            SuperblockUse::Erasing,
            SuperblockUse::Bad,
        ];
        let mut found = 0;
        for seed in 0..100 {
            let s = Stream::new(seed).named("index by wear");
            let superblocks = [1, 7, 8, 9, 64, 65, 200][s.at(0).below(7) as usize];
            let geometry = geometry(superblocks);
            let mut table = SuperblockTable::new(superblocks, CellMode::Qlc);
            let low = s.at(1).below(u64::from(superblocks) + 1) as u32;
            let declared = [None, Some(low)][s.at(2).below(2) as usize];
            table.divide(Regions::new(superblocks, declared));
            for step in 0..40 {
                let s = s.at(3 + step);
                for i in 0..s.at(0).below(u64::from(superblocks) + 1) {
                    let block = s.at(1).at(i).below(superblocks.into()) as u32;
                    let (info, s) = (table.info_mut(SuperblockId(block)), s.at(2).at(i));
                    info.usage = USES[s.at(0).below(5) as usize];
                    info.mode = CellMode::ALL[s.at(1).below(4) as usize];
                    // Few values, so that many are equal.
                    info.pe_cycles = s.at(2).below(4) as u32;
                    info.evacuating = s.at(3).below(3) == 0;
                }
                table.update_index(&geometry);
                let modes = CellMode::ALL.into_iter();
                let modes: ModeSet = modes
                    .filter(|m| s.at(3).at(*m as u64).below(2) == 0)
                    .collect();
                for region in table.regions() {
                    let view = table.in_region(region);
                    let of = |which: fn(SuperblockUse) -> bool| {
                        view.iter().filter(move |(_, info)| which(info.usage))
                    };
                    let free = || {
                        let free = of(|usage| usage == SuperblockUse::Free);
                        free.filter(|(_, info)| modes.has(info.mode))
                    };
                    let first = free().next().map(|(block, _)| block);
                    assert_eq!(view.first_free(modes), first, "seed {seed} step {step}");
                    let least = free().min_by_key(|(block, info)| (info.pe_cycles, block.0));
                    let least = least.map(|(block, _)| block);
                    assert_eq!(
                        view.least_worn_free(modes, None),
                        least,
                        "seed {seed} step {step}"
                    );
                    let others = free().filter(|(block, _)| Some(*block) != least);
                    let second = others.min_by_key(|(block, info)| (info.pe_cycles, block.0));
                    let second = second.map(|(block, _)| block);
                    assert_eq!(
                        view.least_worn_free(modes, least),
                        second,
                        "seed {seed} step {step}"
                    );
                    let most =
                        free().min_by_key(|(block, info)| (Reverse(info.pe_cycles), block.0));
                    let most = most.map(|(block, _)| block);
                    assert_eq!(view.most_worn_free(modes), most, "seed {seed} step {step}");
                    let at_rest = of(|usage| usage == SuperblockUse::Full);
                    let at_rest = at_rest.filter(|(_, info)| !info.evacuating);
                    let coldest = at_rest.min_by_key(|(block, info)| (info.pe_cycles, block.0));
                    let coldest = coldest.map(|(block, _)| block);
                    assert_eq!(
                        view.least_worn_at_rest(),
                        coldest,
                        "seed {seed} step {step}"
                    );
                    let in_use = of(|usage| usage != SuperblockUse::Bad);
                    let worn =
                        in_use.min_by_key(|(block, info)| (Reverse(info.pe_cycles), block.0));
                    let worn = worn.map(|(block, _)| block);
                    assert_eq!(view.most_worn(), worn, "seed {seed} step {step}");
                    found += usize::from(second.is_some() && coldest.is_some());
                }
            }
        }
        assert!(found > 1000, "{found}");
    }
}
