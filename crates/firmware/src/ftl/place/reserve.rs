//! The reserve: that cleaning can always finish.
//!
//! Moved data go to free superblocks and to what is left of the superblocks that moves fill: its
//! **room**. Emptying a superblock of `n` slots of which `v` are valid takes `v` of it and gives back
//! `n`, so the room never shrinks as long as it takes a superblock's worth to begin with and nobody else
//! takes from it. Who does:
//!
//! - The host opens a superblock, and the map cache fills one, only if a superblock's worth is left
//!   when what is being emptied has been, and as much more as one power cut can tear: the part of a
//!   wordline that each die programs, which is written again.
//! - Pages that move alone and superblocks that shrink or are retired take more than they give back.
//!   What they take is promised to them before they begin, so that nobody else gets it.
//! - A power cut and a program that fails take what they tear. Writes of the host wait until cleaning
//!   has made up for it.
//! - More power cuts before that, or more failures than there are spare superblocks, may take the
//!   room that a superblock being emptied needs. Then it stays as it is, and the one that gains most
//!   is cleaned first, whatever the scheme chooses. Without other room moved data go to what is left
//!   of the superblock of the host, who waits. If that is not enough, the drive has reached its end:
//!   it takes no more writes.
//!
//! Data and pages of the map have streams of their own, but share the room: without a free superblock
//! the one goes to the superblock of the other.

use firstread_core::{BlockId, Wait};

use super::Place;
use crate::base::Base;
use crate::observe::{Owner, StreamId};
use crate::policy::gc_victim;

impl Place {
    /// Slots that data to be moved from now on can be written to, once the superblock that is being
    /// erased is free.
    fn room_for_moves(&self, base: &Base) -> i64 {
        let space = &self.space;
        let erasing = space
            .erasing
            .map_or(0, |(block, ..)| base.slots_of(base.blocks.row(block).mode));
        let open = self.left_for_moves();
        (space.free_slots() + u64::from(erasing) + u64::from(open)) as i64
            - (space.reserved + u64::from(self.rescue.len())) as i64
    }

    /// Slots by which the room grows when the superblock being emptied has been.
    fn gain(&self, base: &Base) -> i64 {
        let Some(current) = &self.ledger.emptying else {
            return 0;
        };
        let row = base.blocks.row(current.block);
        // A superblock that failed may not be repaired.
        let gives = if row.failed {
            0
        } else {
            base.slots_of(current.mode)
        };
        i64::from(gives) - i64::from(row.valid_slots)
    }

    /// Whether the host or the map cache may take `slots` without keeping cleaning from its end, even
    /// if power is cut; or there is nothing to clean.
    pub(crate) fn can_spare(&self, slots: u32, base: &Base) -> bool {
        let kept = self.space.largest_slots + u64::from(self.torn_slots(base));
        self.room_to_come(base) >= kept as i64 + i64::from(slots) || !self.has_garbage(base)
    }

    /// Room once the superblock being emptied has been. Moves do not change it: what they take of the
    /// room they take from what is to be moved.
    fn room_to_come(&self, base: &Base) -> i64 {
        self.room_for_moves(base) + self.gain(base)
    }

    /// Slots that one power cut can tear.
    fn torn_slots(&self, base: &Base) -> u32 {
        base.config.geometry.slots_per_stripe() * u32::from(base.config.mode.bits())
    }

    /// Slots that are missing from the room before the host may open another superblock; none or fewer
    /// when it may, if one is free.
    pub(crate) fn missing_room(&self, base: &Base) -> i64 {
        let slots = self.space.largest_slots;
        let kept = self.kept_from_host() + u64::from(self.torn_slots(base));
        (kept + slots) as i64 - self.room_to_come(base)
    }

    /// Whether `valid` slots can be moved.
    pub(crate) fn fits(&self, valid: u32, base: &Base) -> bool {
        i64::from(valid) <= self.room_for_moves(base).max(0)
    }

    /// Whether `valid` slots can be moved if some go to the superblock of the host, as they do when
    /// there is no other room.
    pub(crate) fn fits_with_host(&self, valid: u32, base: &Base) -> bool {
        let host = self.buffers[StreamId::Host as usize].slots_left();
        i64::from(valid) <= (self.room_for_moves(base) + i64::from(host)).max(0)
    }

    /// Superblocks that cleaning would gain slots from, and how many.
    pub(crate) fn gains<'a>(&'a self, base: &'a Base) -> impl Iterator<Item = (BlockId, u32)> {
        let geometry = &base.config.geometry;
        let rows = base.blocks.iter();
        let repairable = rows.filter(|(block, row)| !row.failed || self.bad.can_repair(*block));
        let gains = repairable.map(|(block, row)| (block, gc_victim::gain(geometry, row)));
        gains.filter(|(_, gain)| *gain > 0)
    }

    /// Whether there is a superblock that it gains to clean.
    pub(crate) fn has_garbage(&self, base: &Base) -> bool {
        self.gains(base).next().is_some()
    }

    /// Whether `slots` more can be taken without touching what cleaning needs: a superblock, and one
    /// more in case a program in it fails, as long as the drive has superblocks to spare.
    pub(crate) fn has_beyond_reserve(&self, slots: u64, base: &Base) -> bool {
        let space = &self.space;
        let kept = self.kept_from_host();
        space.free_slots() >= kept + space.reserved + self.owed_slots(base) + slots
    }

    /// Slots of free superblocks that cleaning keeps: see [`Place::has_beyond_reserve`].
    pub(crate) fn kept_from_host(&self) -> u64 {
        let space = &self.space;
        let spare = space.physical_slots >= space.needed_slots + space.largest_slots;
        space.largest_slots * (1 + spare as u64)
    }

    /// Whether the host may open a free superblock of `slots` slots: if enough are free, or there will
    /// be as much room when the superblock being emptied has been.
    pub(crate) fn can_open(&self, slots: u32, base: &Base) -> bool {
        (self.has_beyond_reserve(u64::from(slots), base) && self.can_spare(slots, base))
            || self.missing_room(base) <= 0
    }

    /// What a write waits for, before it may take a slot of the write buffer, so that cleaning keeps
    /// up; none if it may have one. `has_merged`: a write in part that has read what it keeps. It pins
    /// that where moves may be about to empty, and so is not paced.
    pub(crate) fn waits_for_cleaning(&mut self, has_merged: bool, base: &Base) -> Option<Wait> {
        if !self.rescue.is_empty() {
            return Some(Wait::Rescue);
        }
        if self.space.is_short && self.waits_for_reserve(base) {
            return Some(Wait::Reserve);
        }
        if !has_merged && self.is_paced() {
            self.ledger.host_waits.set(Wait::Cleaning, true);
            return Some(Wait::Cleaning);
        }
        None
    }

    /// Whether a write must wait, because a power cut or a program that failed has taken of the reserve.
    fn waits_for_reserve(&mut self, base: &Base) -> bool {
        self.space.is_short = !self.can_spare(0, base);
        if self.space.is_short {
            self.ledger.host_waits.set(Wait::Superblock, true);
        }
        self.space.is_short
    }

    /// Whether cleaning has all it needs, and a superblock more.
    pub(crate) fn has_spare(&self) -> bool {
        self.space.free_slots() >= 2 * self.space.largest_slots + self.space.reserved
    }

    /// Slots of free superblocks that what is being emptied takes beyond what it gives back.
    pub(crate) fn owed_slots(&self, base: &Base) -> u64 {
        let owes = self.ledger.emptying.is_some_and(|e| e.owner != Owner::Gc);
        if owes {
            (-self.gain(base)).max(0) as u64
        } else {
            0
        }
    }

    /// Whether a write is to wait until some moves have been made. Something is under way that will
    /// end by itself and have this asked again: a move that has arrived may wait for the host's writes.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.ledger.pace.is_behind()
            && (self.ledger.moves_reading > 0
                || self.space.programs > 0
                || self.space.erasing.is_some())
    }

    /// Whether a write that waits for a superblock waits in vain: there is nothing to clean, and
    /// nothing under way from which there will be.
    pub(crate) fn is_full(&self, base: &Base) -> bool {
        self.ledger.is_idle()
            && self.rescue.is_empty()
            && self.space.erasing.is_none()
            && self.space.programs == 0
            && !self.has_garbage(base)
    }
}
