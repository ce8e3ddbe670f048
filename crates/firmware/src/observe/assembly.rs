//! Which block of each die a superblock has.

use alloc::boxed::Box;

use firstread_core::{BlockId, DieId, SuperblockId};

use crate::format::{Cursor, Record};

/// No block.
const NONE: u32 = u32::MAX;

/// Which block of each die a superblock has: the one with its number, unless that has failed and a spare has its place.
/// Of a retired superblock, those of its blocks that are still spares.
#[derive(Clone, Debug)]
pub(super) struct Assembly {
    dies: usize,
    /// The block of each superblock on each die.
    blocks: Box<[u32]>,
    /// Whether every superblock has the blocks with its number.
    is_identity: bool,
    /// Whether it has changed since it was last kept.
    to_keep: bool,
}

impl Assembly {
    /// `superblocks` superblocks on `dies` dies, none of whose blocks has failed.
    pub(super) fn new(dies: u16, superblocks: u32) -> Assembly {
        let of_superblock = |superblock| core::iter::repeat_n(superblock, usize::from(dies));
        Assembly {
            dies: dies.into(),
            blocks: (0..superblocks).flat_map(of_superblock).collect(),
            is_identity: true,
            to_keep: false,
        }
    }

    /// The block of `superblock` on `die`.
    #[inline]
    pub(super) fn block_of(&self, superblock: SuperblockId, die: DieId) -> BlockId {
        BlockId(match self.is_identity {
            true => superblock.0,
            false => self.blocks[self.at(superblock, die)],
        })
    }

    /// The block of retired `superblock` on `die`, if it is a spare.
    pub(super) fn spare_of(&self, superblock: SuperblockId, die: DieId) -> Option<BlockId> {
        let block = self.blocks[self.at(superblock, die)];
        (block != NONE).then_some(BlockId(block))
    }

    /// `superblock` gets the spare of retired superblock `from` on `die`.
    pub(super) fn replace(&mut self, superblock: SuperblockId, die: DieId, from: SuperblockId) {
        let (to, from) = (self.at(superblock, die), self.at(from, die));
        self.blocks[to] = core::mem::replace(&mut self.blocks[from], NONE);
        (self.is_identity, self.to_keep) = (false, true);
    }

    /// The block of retired `superblock` on `die` is bad, and no spare.
    pub(super) fn drop(&mut self, superblock: SuperblockId, die: DieId) {
        let at = self.at(superblock, die);
        self.blocks[at] = NONE;
        (self.is_identity, self.to_keep) = (false, true);
    }

    /// Whether it has changed since it was last asked.
    pub(super) fn takes_change(&mut self) -> bool {
        core::mem::take(&mut self.to_keep)
    }

    /// Whether every superblock but those that are `retired` has a block of the drive on each die, and no block is in two of
    /// them.
    pub(super) fn is_sound(&self, retired: impl Fn(SuperblockId) -> bool) -> bool {
        let dies = self.dies.max(1);
        let superblocks = (self.blocks.len() / dies) as u32;
        let is_sound = |(at, &block): (usize, &u32)| {
            let superblock = (at / dies) as u32;
            let has = |other: u32| self.blocks[other as usize * dies + at % dies] == block;
            match block {
                NONE => retired(SuperblockId(superblock)),
                _ if block == superblock => true,
                _ => {
                    block < superblocks && (0..superblocks).filter(|other| has(*other)).count() == 1
                }
            }
        };
        self.is_identity || self.blocks.iter().enumerate().all(is_sound)
    }

    fn at(&self, superblock: SuperblockId, die: DieId) -> usize {
        superblock.0 as usize * self.dies + usize::from(die.0)
    }
}

/// A byte that says whether each superblock has the blocks with its number, and the table if it has not.
impl Record for Assembly {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let Assembly {
            // Of the configuration.
            dies: _,
            blocks,
            is_identity,
            // Who keeps it begins with all of it.
            to_keep: _,
        } = self;
        is_identity.transfer(cursor);
        cursor.list();
        if !*is_identity || cursor.counts_most() {
            blocks.transfer(cursor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spare goes from the retired superblock to the one that needs it, once; another die is not concerned.
    #[test]
    fn formula_a_spare_has_one_superblock() {
        let (s, d) = (SuperblockId, DieId);
        let mut assembly = Assembly::new(2, 4);
        assert_eq!(assembly.block_of(s(1), d(1)), BlockId(1));
        assembly.replace(s(1), d(1), s(3));
        assert_eq!(assembly.block_of(s(1), d(1)), BlockId(3));
        assert_eq!(assembly.block_of(s(1), d(0)), BlockId(1));
        assert_eq!(assembly.spare_of(s(3), d(1)), None);
        assert_eq!(assembly.spare_of(s(3), d(0)), Some(BlockId(3)));
        assembly.drop(s(3), d(0));
        assert_eq!(assembly.spare_of(s(3), d(0)), None);
        assert!(assembly.takes_change() && !assembly.takes_change());
        let retired = |superblock| superblock == s(3);
        assert!(assembly.is_sound(retired));
        assert!(
            !assembly.is_sound(|_| false),
            "a superblock in use lacks a block"
        );
        assembly.blocks[0] = 2;
        assert!(!assembly.is_sound(retired), "a block is in two superblocks");
        assembly.blocks[0] = 9;
        assert!(!assembly.is_sound(retired), "there is no such block");
    }
}
