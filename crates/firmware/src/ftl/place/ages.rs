//! When the data of each superblock were written by the host, for schemes of axis `stream` that ask for ages.

use alloc::boxed::Box;

use firstread_core::{Ppa, SuperblockId};

/// When the pages of a superblock were written, in slots that the host had written before.
#[derive(Clone, Copy, Default, Debug)]
struct Written {
    /// Its first page and its last one. Both are the mean, if the pages have moved here.
    first: u64,
    last: u64,
    /// Pages of it so far.
    pages: u32,
}

/// The superblocks of a drive. Learned anew after a power cut: what is not known was written at the beginning.
#[derive(Clone, Debug)]
pub(super) struct Ages(Box<[Written]>);

impl Ages {
    /// For a drive of `blocks` superblocks; none where nobody asks.
    pub(super) fn new(blocks: u32) -> Ages {
        Ages(alloc::vec![Written::default(); blocks as usize].into())
    }

    /// Superblock `block` is opened.
    pub(super) fn open(&mut self, block: SuperblockId) {
        if let Some(written) = self.0.get_mut(block.0 as usize) {
            *written = Written::default();
        }
    }

    /// Slot `ppa` has been filled with a page that the host wrote `at` its slot of that number, and that `moves` here.
    pub(super) fn filled(&mut self, ppa: Ppa, at: u64, moves: bool) {
        let Some(written) = self.0.get_mut(ppa.block().0 as usize) else {
            return;
        };
        written.pages += 1;
        let pages = u64::from(written.pages);
        if moves {
            let mean = (written.first * (pages - 1) + at) / pages;
            (written.first, written.last) = (mean, mean);
        } else {
            written.first = if pages == 1 { at } else { written.first };
            written.last = at;
        }
    }

    /// When the page at `ppa` was written, whose superblock has `slots` slots: between the first one of the superblock and the
    /// last one, as its place is.
    pub(super) fn written_at(&self, ppa: Ppa, slots: u32) -> u64 {
        let written = self
            .0
            .get(ppa.block().0 as usize)
            .copied()
            .unwrap_or_default();
        let filled = u64::from(written.pages.clamp(1, slots.max(1)));
        let place = u64::from(ppa.slot()).min(filled);
        written.first + written.last.saturating_sub(written.first) * place / filled
    }
}
