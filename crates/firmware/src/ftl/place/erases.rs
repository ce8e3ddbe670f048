//! The erases of superblocks that are under way. The dies erase their parts of a superblock side by side, each as soon
//! as it is free for that.
//!
//! Emptied superblocks are erased one at a time. On a drive with pools of other cell modes, as many free superblocks as
//! there are pools are erased into another mode beside that: no pool waits for another one or for cleaning, and
//! cleaning waits for none of them.

use crate::format::record;
use firstread_core::{CellMode, SuperblockId};

/// Superblocks erased side by side at most: an emptied one, and a free one for each mode.
const MOST_ERASES: usize = 1 + CellMode::ALL.len();

/// A superblock that is being erased.
#[derive(Clone, Copy, Debug)]
struct Erase {
    block: SuperblockId,
    /// Dies that have not erased their part yet.
    dies_left: u16,
}

/// Why a superblock is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Erased {
    /// A superblock that relocation has emptied.
    Emptied,
    /// A free superblock, for another cell mode.
    Free,
}

/// The erases under way.
#[derive(Clone, Debug)]
pub(crate) struct Erases {
    /// The erase of the emptied superblock, then those of free ones.
    under_way: [Option<Erase>; MOST_ERASES],
    /// Number of erases under way.
    number: u8,
    /// Free superblocks that are erased beside an emptied one, at most.
    beside: u32,
}

impl Erases {
    /// No erase is under way. At most `beside` free superblocks are erased beside an emptied one.
    pub(crate) fn new(beside: u32) -> Erases {
        Erases {
            under_way: [None; MOST_ERASES],
            number: 0,
            beside,
        }
    }

    /// Whether no superblock is being erased.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.number == 0
    }

    /// Where another superblock may be erased: none if it has to wait.
    fn place_for(&self, what: Erased) -> Option<usize> {
        let beside = 1..=self.beside as usize;
        match what {
            // Without pools of other cell modes there is one erase at a time, whatever it is for.
            _ if beside.is_empty() => self.is_empty().then_some(0),
            Erased::Emptied => self.under_way[0].is_none().then_some(0),
            // Not entry 0, even if it is vacant: cleaning never waits for a change of mode.
            Erased::Free => beside.into_iter().find(|i| self.under_way[*i].is_none()),
        }
    }

    /// Whether another superblock may be erased.
    #[inline]
    pub(crate) fn may_begin(&self, what: Erased) -> bool {
        self.place_for(what).is_some()
    }

    /// The superblocks that are being erased.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = SuperblockId> + use<> {
        self.under_way
            .into_iter()
            .flatten()
            .map(|erase| erase.block)
    }

    /// Whether what was loaded is of a drive of `blocks` superblocks on `dies` dies.
    pub(super) fn is_sound(&self, blocks: u32, dies: u16) -> bool {
        let is_sound = |erase: &Erase| erase.block.0 < blocks && erase.dies_left <= dies;
        let mut under_way = self.under_way.iter().flatten();
        let number = under_way.clone().count();
        under_way.all(is_sound) && number == usize::from(self.number)
    }

    /// Begins to erase `block` on `dies` dies.
    pub(super) fn begin(&mut self, what: Erased, block: SuperblockId, dies: u16) {
        let place = self.place_for(what).expect("an erase may begin");
        self.under_way[place] = Some(Erase {
            block,
            dies_left: dies,
        });
        self.number += 1;
    }

    /// After a power cut, all erases begin again on `dies` dies.
    pub(super) fn begin_again(&mut self, dies: u16) {
        for erase in self.under_way.iter_mut().flatten() {
            erase.dies_left = dies;
        }
    }

    /// Whether one die alone has to erase its part of `block` still.
    pub(super) fn is_last(&self, block: SuperblockId) -> bool {
        let mut under_way = self.under_way.iter().flatten();
        under_way.any(|erase| erase.block == block && erase.dies_left == 1)
    }

    /// A die has finished its part of `block`. Returns whether it was the last one.
    pub(super) fn die_ended(&mut self, block: SuperblockId) -> bool {
        let of_block = |erase: &&mut Option<Erase>| erase.is_some_and(|e| e.block == block);
        let slot = self.under_way.iter_mut().find(of_block);
        let Some((slot, erase)) = slot.and_then(|slot| slot.map(|erase| (slot, erase))) else {
            return false;
        };
        let dies_left = erase.dies_left - 1;
        *slot = (dies_left > 0).then_some(Erase { dies_left, ..erase });
        self.number -= u8::from(dies_left == 0);
        dies_left == 0
    }
}

record! {
    of values Erase as "erase" {
        block: "superblock",
        dies_left ["dies"]: "dies that have not erased their part",
    }
}

record! {
    Erases as "erases" {
        under_way: "that of an emptied superblock, then those of free ones",
        number: "erases under way",
    } not {
        beside: "of the schemes",
    }
}
