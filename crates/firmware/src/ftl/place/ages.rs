//! When the data of each superblock were written by the host, for schemes of axes `stream` and `cell_mode` that ask for ages.

use alloc::boxed::Box;

use firstread_core::{Ppa, SuperblockId};

/// When the pages of a superblock were written, in slots that the host had written before.
#[derive(Clone, Copy, Default, Debug)]
struct Written {
    /// Of pages that the host has written here: the first one and the last one.
    first: u64,
    last: u64,
    /// Pages that have moved here, and the sum of when they were written.
    moved: u32,
    sum: u128,
    /// Pages of it so far.
    pages: u32,
}

/// The superblocks of a drive. Learned anew after a power cut: nothing is known of those that were filled before.
#[derive(Clone, Debug)]
pub(super) struct Ages(Box<[Written]>);

impl Ages {
    /// For a drive of `blocks` superblocks; none where nobody asks.
    pub(super) fn new(blocks: u32) -> Ages {
        Ages(alloc::vec![Written::default(); blocks as usize].into())
    }

    /// Whether somebody asks.
    #[inline(always)]
    pub(super) fn are_kept(&self) -> bool {
        !self.0.is_empty()
    }

    /// Superblock `block` is opened.
    pub(super) fn open(&mut self, block: SuperblockId) {
        if let Some(written) = self.0.get_mut(block.0 as usize) {
            *written = Written::default();
        }
    }

    /// Slot `ppa` has been filled. The host wrote the page when it had written `at` slots. `moves`: the page moves here.
    pub(super) fn filled(&mut self, ppa: Ppa, at: u64, moves: bool) {
        let Some(written) = self.0.get_mut(ppa.block().0 as usize) else {
            return;
        };
        written.pages += 1;
        if moves {
            written.moved += 1;
            written.sum += u128::from(at);
        } else {
            let is_first = written.pages - written.moved == 1;
            written.first = if is_first { at } else { written.first };
            written.last = at;
        }
    }

    /// When the page at `ppa` was written, whose superblock has `slots` slots: between the first one and the last one that the host
    /// wrote there, as its place is; the mean, where pages have moved there. None if nothing is known of the superblock.
    pub(super) fn written_at(&self, ppa: Ppa, slots: u32) -> Option<u64> {
        let written = self.0.get(ppa.block().0 as usize).filter(|w| w.pages > 0)?;
        if written.moved > 0 {
            return Some((written.sum / u128::from(written.moved)) as u64);
        }
        let filled = u64::from(written.pages.min(slots.max(1)));
        let place = u64::from(ppa.slot()).min(filled);
        let span = u128::from(written.last.saturating_sub(written.first));
        let after = span * u128::from(place) / u128::from(filled);
        Some(written.first.saturating_add(after as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: SuperblockId = SuperblockId(1);

    /// Pages of the host are dated by their place, moved ones by their mean, and nothing is known of other superblocks.
    #[test]
    fn formula_pages_are_dated_by_their_place_or_their_mean() {
        let mut ages = Ages::new(3);
        let at = |slot| Ppa::new(BLOCK, slot);
        assert_eq!(ages.written_at(at(0), 8), None);
        for slot in 0..8 {
            ages.filled(at(slot), 1_000 + 10 * u64::from(slot), false);
        }
        let dated: [Option<u64>; 3] = [0, 4, 8].map(|slot| ages.written_at(at(slot), 8));
        assert_eq!(dated, [Some(1_000), Some(1_035), Some(1_070)]);
        ages.open(BLOCK);
        assert_eq!(ages.written_at(at(0), 8), None);
        for (slot, written) in (0..).zip([10, 11, 12, u64::MAX >> 1]) {
            ages.filled(at(slot), written, true);
        }
        let mean = ((u64::MAX >> 1) + 33) / 4;
        assert_eq!(
            [0, 3].map(|slot| ages.written_at(at(slot), 8)),
            [Some(mean); 2]
        );
        assert_eq!(Ages::new(0).written_at(at(0), 8), None);
    }
}
