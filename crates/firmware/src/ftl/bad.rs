//! Bad blocks and spares.
//!
//! A superblock has a block of every die. One that fails is replaced by a spare of the same die. The
//! spares are what retired superblocks leave: of a superblock that cannot be repaired, the blocks
//! that are good become spares of their dies. So a drive whose worst die has `k` bad blocks loses `k`
//! superblocks and no more.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{Arena, BlockId, DieId, Ns, Ports};

use crate::Firmware;
use crate::log::Record;
use crate::observe::BlockUse;
use crate::policy::read_levels::ReadLevels;

/// What is known of bad blocks.
#[derive(Debug)]
pub(crate) struct BadBlocks {
    /// Spare blocks of each die.
    spares: Box<[u32]>,
    /// Blocks that have failed in superblocks that are in use.
    failed: Vec<(BlockId, DieId)>,
}

impl BadBlocks {
    pub(crate) fn new(dies: u16, blocks: u32) -> BadBlocks {
        BadBlocks {
            spares: alloc::vec![0; dies as usize].into_boxed_slice(),
            // One that is forgotten for lack of room fails again.
            failed: Vec::with_capacity(blocks as usize + 4 * dies as usize),
        }
    }

    /// `block` of `die` has failed.
    pub(crate) fn note(&mut self, block: BlockId, die: DieId) {
        let known = self.failed.contains(&(block, die));
        if !known && self.failed.len() < self.failed.capacity() {
            self.failed.push((block, die));
        }
    }

    /// Whether there are spares for the blocks of `block` that have failed.
    pub(crate) fn can_repair(&self, block: BlockId) -> bool {
        let mut failed = self.failed.iter().filter(|f| f.0 == block);
        failed.all(|f| self.spares[f.1.0 as usize] > 0)
    }
}

impl<M: Arena> Firmware<M> {
    /// Tells a new drive how many bad blocks each die has: as many superblocks as the worst die has,
    /// the last ones, are retired, and their good blocks replace the others' bad ones. False when
    /// what is left does not hold the capacity.
    pub fn set_bad_blocks(&mut self, of_dies: &[u32]) -> bool {
        let worst = of_dies.iter().copied().max().unwrap_or(0);
        let last = self.blocks.len();
        if worst > last {
            return false;
        }
        for (spares, bad) in self.bad.spares.iter_mut().zip(of_dies) {
            *spares = worst - bad;
        }
        for block in (last - worst..last).map(BlockId) {
            let slots = self.slots_of(self.blocks.row(block).mode);
            self.blocks.row_mut(block).usage = BlockUse::Bad;
            self.space.drop_free(slots);
            self.counters.retired += 1;
        }
        self.counters.replaced += of_dies.iter().map(|&bad| bad as u64).sum::<u64>();
        self.space.holds_capacity()
    }

    /// Replaces the blocks of `block`, which holds nothing, that have failed. False when a die has no
    /// spare left.
    pub(crate) fn repair<P: Ports<Record = Record>>(
        &mut self,
        block: BlockId,
        ports: &mut P,
    ) -> bool {
        if !self.bad.can_repair(block) {
            return false;
        }
        let bad = &mut self.bad;
        bad.failed.retain(|&(b, die)| {
            if b == block {
                bad.spares[die.0 as usize] -= 1;
                self.counters.replaced += 1;
                ports.replace(die, block);
            }
            b != block
        });
        self.blocks.row_mut(block).failed = false;
        true
    }

    /// `block`, which holds nothing, is used no more. Its good blocks become spares.
    pub(crate) fn retire(&mut self, now: Ns, block: BlockId) {
        let slots = self.slots_of(self.blocks.row(block).mode);
        let row = self.blocks.row_mut(block);
        row.usage = BlockUse::Bad;
        row.leaving = false;
        self.levels.on_block(now, block, &self.blocks);
        self.counters.retired += 1;
        let bad = &mut self.bad;
        bad.spares.iter_mut().for_each(|spares| *spares += 1);
        bad.failed.retain(|&(b, die)| {
            if b == block {
                bad.spares[die.0 as usize] -= 1;
            }
            b != block
        });
        self.space.retired(slots);
    }
}
