//! The erases of superblocks that are under way. The dies erase their parts of a superblock side by side, each when
//! it comes to it.
//!
//! Emptied superblocks are erased one at a time. On a drive whose schemes declare streams in other cell modes, a free
//! superblock is erased into another mode beside that: a promotion does not wait for cleaning, nor cleaning for it.

use firstread_core::SuperblockId;

/// Superblocks erased side by side at most.
const MOST_ERASES: usize = 2;

/// A superblock that is being erased.
#[derive(Clone, Copy, Debug)]
struct Erase {
    block: SuperblockId,
    /// Dies that have not erased their part yet.
    dies_left: u16,
    /// Whether the erase has failed on a die.
    failed: bool,
}

/// What the erase was asked for.
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
    /// Of the emptied superblock, then of the free one.
    under_way: [Option<Erase>; MOST_ERASES],
    /// Whether a free superblock is erased beside an emptied one.
    side_by_side: bool,
}

impl Erases {
    /// No erase is under way.
    pub(crate) fn new(side_by_side: bool) -> Erases {
        Erases {
            under_way: [None; MOST_ERASES],
            side_by_side,
        }
    }

    /// Superblocks that a drive erases side by side at most.
    pub(crate) fn most(side_by_side: bool) -> u32 {
        1 + u32::from(side_by_side)
    }

    /// Whether no superblock is being erased.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.iter().all(Option::is_none)
    }

    /// Whether another superblock may be erased.
    #[inline]
    pub(crate) fn may_begin(&self, what: Erased) -> bool {
        match self.side_by_side {
            true => self.under_way[what as usize].is_none(),
            false => self.is_empty(),
        }
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
        debug_assert!(self.may_begin(what), "{:?}", self.under_way);
        self.under_way[what as usize] = Some(Erase {
            block,
            dies_left: dies,
            failed: false,
        });
    }

    /// All erases begin again on `dies` dies.
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
            failed
        })
    }
}
