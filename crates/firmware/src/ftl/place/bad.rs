//! Bad blocks and spares.
//!
//! A superblock has one block per plane of every die. A block that fails is replaced by a spare block of the
//! same die. Spares come from retired superblocks: when a superblock cannot be repaired, its good blocks
//! become spares of their dies. So a drive whose worst die has `k` bad blocks loses `k` superblocks and no
//! more.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{DieId, SuperblockId};

/// State of bad blocks.
#[derive(Clone, Debug)]
pub(crate) struct BadBlocks {
    /// Spare blocks of each die.
    spares: Box<[u32]>,
    /// Failed blocks in superblocks that are in use.
    failed: Vec<(SuperblockId, DieId)>,
    /// Most entries of `failed`: the room that the list has reserved may differ in a clone of the drive.
    most_failed: usize,
}

impl BadBlocks {
    pub(crate) fn new(dies: u16, blocks: u32) -> BadBlocks {
        // A failed block that is dropped because the list is full will fail again.
        let most_failed = blocks as usize + 4 * dies as usize;
        BadBlocks {
            spares: alloc::vec![0; dies as usize].into_boxed_slice(),
            failed: Vec::with_capacity(most_failed),
            most_failed,
        }
    }

    /// `block` of `die` has failed.
    pub(crate) fn note(&mut self, block: SuperblockId, die: DieId) {
        let known = self.failed.contains(&(block, die));
        if !known && self.failed.len() < self.most_failed {
            self.failed.push((block, die));
        }
    }

    /// Whether there are spares for the blocks of `block` that have failed.
    pub(crate) fn can_repair(&self, block: SuperblockId) -> bool {
        let mut failed = self.failed.iter().filter(|f| f.0 == block);
        failed.all(|f| self.spares[f.1.0 as usize] > 0)
    }
}

impl BadBlocks {
    /// A new drive has the bad blocks `of_dies` on each die. `retired` superblocks, as many as the worst die
    /// has bad blocks, are retired, and their good blocks become spares.
    pub(crate) fn of_factory(&mut self, of_dies: &[u32], retired: u32) {
        for (spares, bad) in self.spares.iter_mut().zip(of_dies) {
            *spares = retired - bad;
        }
    }

    /// Calls `replaced` for each die whose block of `block` has failed: a spare takes its place. Each of
    /// these dies has a spare.
    pub(crate) fn repair(&mut self, block: SuperblockId, mut replaced: impl FnMut(DieId)) {
        let spares = &mut self.spares;
        self.failed.retain(|&(b, die)| {
            if b == block {
                spares[die.0 as usize] -= 1;
                replaced(die);
            }
            b != block
        });
    }

    /// `block` is retired: its good blocks become spares of their dies.
    pub(crate) fn retire(&mut self, block: SuperblockId) {
        let spares = &mut self.spares;
        spares.iter_mut().for_each(|spares| *spares += 1);
        self.failed.retain(|&(b, die)| {
            if b == block {
                spares[die.0 as usize] -= 1;
            }
            b != block
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Superblocks are retired until the worst die has no bad block in use: the others have spares for each bad block
    /// that they have fewer.
    #[test]
    fn formula_a_new_drive_has_the_spares_that_its_worst_die_leaves() {
        let mut bad = BadBlocks::new(2, 10);
        bad.of_factory(&[3, 1], 3);
        let block = SuperblockId;
        for (i, die, repairs) in [(0, 0, false), (1, 1, true), (2, 1, true), (3, 1, false)] {
            bad.note(block(i), DieId(die));
            assert_eq!(bad.can_repair(block(i)), repairs, "block {i} of die {die}");
            if repairs {
                let mut replaced = Vec::new();
                bad.repair(block(i), |die| replaced.push(die));
                assert_eq!(replaced, [DieId(die)]);
            }
        }
        // A superblock that is retired gives its good blocks, here one of die 1.
        bad.retire(block(0));
        assert!(bad.can_repair(block(3)));
        bad.note(block(4), DieId(0));
        assert!(!bad.can_repair(block(4)));
    }
}
