//! Whether the last host read of each superblock was slow, as `trigger` has it: a bit each.
//!
//! A superblock that is written anew keeps its bit until the host reads it again.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::SuperblockId;

use crate::policy::Setup;

#[derive(Clone, Debug)]
pub(super) struct LastReads {
    slow: Box<[u64]>,
}

impl LastReads {
    /// No superblock has been read.
    pub(super) fn new(setup: &Setup) -> LastReads {
        let words = setup.geometry.blocks_per_plane.div_ceil(u64::BITS);
        LastReads {
            slow: vec![0; words as usize].into(),
        }
    }

    fn bit(block: SuperblockId) -> (usize, u64) {
        ((block.0 / u64::BITS) as usize, 1 << (block.0 % u64::BITS))
    }

    /// The host has read a page of `block`.
    #[inline]
    pub(super) fn note(&mut self, block: SuperblockId, is_slow: bool) {
        let (word, bit) = LastReads::bit(block);
        if let Some(word) = self.slow.get_mut(word) {
            *word = if is_slow { *word | bit } else { *word & !bit };
        }
    }

    /// Whether the last read of `block` was slow.
    #[inline]
    pub(super) fn was_slow(&self, block: SuperblockId) -> bool {
        let (word, bit) = LastReads::bit(block);
        self.slow.get(word).is_some_and(|word| word & bit != 0)
    }
}
