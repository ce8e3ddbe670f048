//! The record of a superblock.

use core::num::NonZeroU64;

use firstread_core::{CellMode, CycleDamage, Damage, Ns};

use super::who::StreamId;

/// State of a superblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuperblockUse {
    /// Erased, ready to be opened.
    Free,
    /// A stream fills it, or programs of it are still in flight.
    Open,
    /// Nothing more will be programmed in it: cleaning may choose it.
    Full,
    /// Some of its dies have not erased their part yet.
    Erasing,
    /// Retired after a failed program or erase.
    Bad,
}

/// A pool of superblocks of a drive, by the index of its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PoolId(pub(crate) u8);

/// One superblock. The record fills one cache line, because every read looks at a different record.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct SuperblockInfo {
    /// State of the superblock.
    pub usage: SuperblockUse,
    /// Cell mode since the last erase.
    pub mode: CellMode,
    /// Cell mode before the last erase.
    pub mode_before: CellMode,
    /// Program/erase cycles: the damage by all of them, in whole cycles of the mode that superblocks start in.
    pub pe_cycles: u32,
    /// Thousandths of a cycle beyond.
    pub pe_milli: u16,
    /// When its data were programmed: time of the first program since the erase.
    pub programmed_at: Ns,
    /// Slots that hold the last version of a logical page.
    pub valid_slots: u32,
    /// Multi-plane pages sensed since the erase.
    pub reads: u64,
    /// Sequence number in the order in which superblocks were opened.
    pub opened: u64,
    /// Sequence number in the order in which superblocks became full. None while the superblock is open. Of two
    /// copies of the same version of a page, the newer one lies in the superblock that became full later.
    pub closed: Option<NonZeroU64>,
    /// Reads queued or in flight. The superblock is not erased before they have ended.
    pub pins: u32,
    /// Whether its data are being moved away. It is erased or retired once they are gone.
    pub evacuating: bool,
    /// Whether a program in it has failed. It will be retired instead of erased.
    pub failed: bool,
    /// Whether part of a wordline, data or parity, was left unprogrammed since the erase. Its stripes cannot
    /// be used to rebuild data.
    pub stripe_broken: bool,
    /// Whether it holds map pages: it was opened for them, or some have moved into it, which another stream fills.
    pub holds_map: bool,
    /// The stream that opened it; none once its erase has begun, and where it was filled without being written.
    pub(crate) stream: Option<StreamId>,
    /// The pool that it belongs to by its region and its mode.
    pub(crate) pool: PoolId,
}

const _: () = assert!(size_of::<SuperblockInfo>() == 64);

impl SuperblockInfo {
    /// An erase has ended, or has broken off, that ends a cycle in the mode before it.
    pub(crate) fn wear(&mut self, by: CycleDamage) {
        let before = Damage {
            cycles: self.pe_cycles,
            milli: self.pe_milli,
        };
        let after = before.after_cycle(self.mode_before, by);
        (self.pe_cycles, self.pe_milli) = (after.cycles, after.milli);
    }

    /// Sets its program/erase cycles.
    pub(crate) fn set_pe_cycles(&mut self, pe_cycles: u32) {
        (self.pe_cycles, self.pe_milli) = (pe_cycles, 0);
    }
}
