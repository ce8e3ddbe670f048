//! The erases of superblocks that are under way. The dies erase their parts of a superblock side by side, each as soon
//! as it is free for that.
//!
//! Emptied superblocks are erased one at a time. On a drive with pools of other cell modes, as many free superblocks as
//! there are pools are erased into another mode beside that: no pool waits for another one or for cleaning, and
//! cleaning waits for none of them.

use firstread_core::{CellMode, SuperblockId};

/// Superblocks erased side by side at most: an emptied one, and a free one for each mode.
const MOST_ERASES: usize = 1 + CellMode::ALL.len();

/// A superblock that is being erased.
#[derive(Clone, Copy, Debug)]
struct Erase {
    block: SuperblockId,
    /// Dies that have not erased their part yet.
    dies_left: u16,
    /// Whether the erase has failed on a die.
    failed: bool,
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

    /// Begins to erase `block` on `dies` dies.
    pub(super) fn begin(&mut self, what: Erased, block: SuperblockId, dies: u16) {
        let place = self.place_for(what).expect("an erase may begin");
        self.under_way[place] = Some(Erase {
            block,
            dies_left: dies,
            failed: false,
        });
        self.number += 1;
    }

    /// After a power cut, all erases begin again on `dies` dies.
    pub(super) fn begin_again(&mut self, dies: u16) {
        for erase in self.under_way.iter_mut().flatten() {
            erase.dies_left = dies;
        }
    }

    /// A die has finished its part of `block`. If it was the last one, returns whether a die has failed.
    pub(super) fn die_ended(&mut self, block: SuperblockId, ok: bool) -> Option<bool> {
        let of_block = |erase: &&mut Option<Erase>| erase.is_some_and(|e| e.block == block);
        let slot = self.under_way.iter_mut().find(of_block)?;
        let erase = slot.as_mut()?;
        erase.dies_left -= 1;
        erase.failed |= !ok;
        let (left, failed) = (erase.dies_left, erase.failed);
        (left == 0).then(|| {
            *slot = None;
            self.number -= 1;
            failed
        })
    }
}
