//! Bad blocks and spares: which blocks superblocks are assembled of.
//!
//! A superblock has one block of each die, on all its planes. The table of superblocks says which
//! ([`SuperblockTable::block_of`]), and every operation names the block. A plane that fails takes the block out of use. A
//! block that fails is replaced by a spare of the same die. Spares come from retired superblocks: when a
//! superblock cannot be repaired, its good blocks become spares of their dies. So a drive whose worst die has `k` bad
//! blocks loses `k` superblocks and no more.
//!
//! The wear of a superblock is that of the blocks that it began with: its erases. A spare has the cycles that it had in
//! its retired superblock, and those of the superblock that it joins from then on. Schemes see the superblock's
//! cycles alone, as a controller does that counts per superblock.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::format::record;
use crate::observe::{SuperblockTable, SuperblockUse};
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

    /// Failed blocks of superblocks in use.
    pub(super) fn failed(&self) -> core::slice::Iter<'_, (SuperblockId, DieId)> {
        self.failed.iter()
    }

    /// A new drive has the bad blocks `bad`, and superblocks are retired for them already: their good blocks replace the bad
    /// ones of the others. Returns the number of blocks that are replaced.
    pub(crate) fn of_factory(
        &mut self,
        bad: &[(SuperblockId, DieId)],
        blocks: &mut SuperblockTable,
    ) -> u32 {
        let is_retired =
            |blocks: &SuperblockTable, block| blocks.info(block).usage == SuperblockUse::Bad;
        for (block, die) in bad {
            if is_retired(blocks, *block) {
                blocks.drop_block(*block, *die);
            }
        }
        self.recount(blocks);
        let mut replaced = 0;
        for (block, die) in bad {
            if !is_retired(blocks, *block) {
                replaced += u32::from(take_spare(&mut self.spares, *block, *die, blocks));
            }
        }
        replaced
    }

    /// Whether there are spares for the blocks of `block` that have failed.
    pub(crate) fn can_repair(&self, block: SuperblockId) -> bool {
        let mut failed = self.failed.iter().filter(|f| f.0 == block);
        failed.all(|f| self.spares[f.1.0 as usize] > 0)
    }

    /// Replaces the failed blocks of `block` by spares. Each of their dies has one. Returns their number.
    pub(crate) fn repair(&mut self, block: SuperblockId, blocks: &mut SuperblockTable) -> u32 {
        let before = self.failed.len();
        let spares = &mut self.spares;
        self.failed.retain(|&(b, die)| {
            if b == block {
                take_spare(spares, block, die, blocks);
            }
            b != block
        });
        (before - self.failed.len()) as u32
    }

    /// Whether a block of `block` has failed and was not replaced.
    pub(crate) fn has_failed(&self, block: SuperblockId) -> bool {
        self.failed.iter().any(|failed| failed.0 == block)
    }

    /// The block of `block` on `die` has failed in an erase: a spare takes its place, which has to be erased. Returns the die;
    /// none if it has no spare.
    pub(crate) fn replace(
        &mut self,
        block: SuperblockId,
        die: DieId,
        blocks: &mut SuperblockTable,
    ) -> Option<DieId> {
        if !take_spare(&mut self.spares, block, die, blocks) {
            return None;
        }
        self.failed.retain(|failed| *failed != (block, die));
        Some(die)
    }

    /// The same for any failed block of `block` that a spare can replace.
    pub(crate) fn replace_any(
        &mut self,
        block: SuperblockId,
        blocks: &mut SuperblockTable,
    ) -> Option<DieId> {
        let spares = &self.spares;
        let has_spare = |failed: &&(SuperblockId, DieId)| {
            failed.0 == block && spares[usize::from(failed.1.0)] > 0
        };
        let (_, die) = *self.failed.iter().find(has_spare)?;
        self.replace(block, die, blocks)
    }

    /// Empty `block` is retired: its good blocks become spares of their dies.
    pub(crate) fn retire(&mut self, block: SuperblockId, blocks: &mut SuperblockTable) {
        let spares = &mut self.spares;
        spares.iter_mut().for_each(|spares| *spares += 1);
        self.failed.retain(|&(b, die)| {
            if b == block {
                spares[die.0 as usize] -= 1;
                blocks.drop_block(block, die);
            }
            b != block
        });
    }

    /// Counts spares in the table `blocks` that was loaded.
    pub(crate) fn recount(&mut self, blocks: &SuperblockTable) {
        for (die, spares) in (0..).map(DieId).zip(self.spares.iter_mut()) {
            *spares = blocks.spares_on(die);
        }
    }

    /// Whether the spares are those of the table `blocks`.
    pub(crate) fn agrees(&self, blocks: &SuperblockTable) -> bool {
        let mut dies = (0..).map(DieId).zip(&self.spares);
        dies.all(|(die, spares)| *spares == blocks.spares_on(die))
    }
}

/// `block` gets a spare of `die`. False if there is none.
fn take_spare(
    spares: &mut [u32],
    block: SuperblockId,
    die: DieId,
    blocks: &mut SuperblockTable,
) -> bool {
    let Some(from) = blocks.with_spare(die) else {
        return false;
    };
    spares[die.0 as usize] -= 1;
    blocks.replace(block, die, from);
    true
}

record! {
    BadBlocks as "bad blocks" {
        failed: "failed blocks of superblocks in use: superblock and die",
    } not {
        spares: "counted again from the superblocks",
        most_failed: "of the configuration",
    }
}
