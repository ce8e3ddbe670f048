//! The reserve: that cleaning can always finish.
//!
//! Moved data go to free superblocks and to what is left of the superblocks that the mover fills: its
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

use firstread_core::{Arena, BlockId, Ns, Ports, Wait};

use super::mover::Evacuation;
use super::{Owner, StreamId};
use crate::job::Purpose;
use crate::log::Record;
use crate::policy::gc_victim;
use crate::{Firmware, streams};

impl<M: Arena> Firmware<M> {
    /// Slots that data to be moved from now on can be written to, once the superblock that is being
    /// erased is free.
    fn room_for_moves(&self) -> i64 {
        let space = &self.space;
        let erasing = space
            .erasing
            .map_or(0, |(block, ..)| self.slots_of(self.blocks.row(block).mode));
        let streams = StreamId::of_mover(streams(&self.map_cache));
        let open: u32 = streams
            .map(|s| self.write_buffers[*s as usize].slots_left())
            .sum();
        (space.free_slots() + u64::from(erasing) + u64::from(open)) as i64
            - (space.reserved + u64::from(self.rescue.len())) as i64
    }

    /// Slots by which the room grows when the superblock being emptied has been.
    fn gain(&self) -> i64 {
        let Some(current) = &self.mover.current else {
            return 0;
        };
        let row = self.blocks.row(current.block);
        // A superblock that failed may not be repaired.
        let gives = if row.failed {
            0
        } else {
            self.slots_of(current.mode)
        };
        i64::from(gives) - i64::from(row.valid_slots)
    }

    /// Whether the host or the map cache may take `slots` without keeping cleaning from its end, even
    /// if power is cut; or there is nothing to clean.
    pub(crate) fn can_spare(&self, slots: u32) -> bool {
        let kept = self.space.largest_slots + u64::from(self.torn_slots());
        self.room_to_come() >= kept as i64 + i64::from(slots) || !self.has_garbage()
    }

    /// Room once the superblock being emptied has been. Moves do not change it: what they take of the
    /// room they take from what is to be moved.
    fn room_to_come(&self) -> i64 {
        self.room_for_moves() + self.gain()
    }

    /// Slots that one power cut can tear.
    fn torn_slots(&self) -> u32 {
        self.config.geometry.slots_per_stripe() * u32::from(self.config.mode.bits())
    }

    /// Slots that are missing from the room before the host may open another superblock; none or fewer
    /// when it may, if one is free.
    pub(crate) fn missing_room(&self) -> i64 {
        let slots = self.space.largest_slots;
        let kept = self.kept_from_host() + u64::from(self.torn_slots());
        (kept + slots) as i64 - self.room_to_come()
    }

    /// Whether `valid` slots can be moved.
    fn fits(&self, valid: u32) -> bool {
        i64::from(valid) <= self.room_for_moves().max(0)
    }

    /// Whether `valid` slots can be moved if some go to the superblock of the host, as they do when
    /// there is no other room.
    fn fits_with_host(&self, valid: u32) -> bool {
        let host = self.write_buffers[StreamId::Host as usize].slots_left();
        i64::from(valid) <= (self.room_for_moves() + i64::from(host)).max(0)
    }

    /// Whether the superblock being emptied can be emptied to its end.
    pub(crate) fn can_finish(&self, current: Evacuation) -> bool {
        self.fits_with_host(self.blocks.row(current.block).valid_slots)
    }

    /// The superblock to be cleaned: `chosen`, or the one that gains most if that does not fit or the
    /// reserve is to be made up for.
    pub(crate) fn victim_that_fits(&self, chosen: BlockId) -> Option<BlockId> {
        let valid = |block: &BlockId| self.blocks.row(*block).valid_slots;
        let best = || self.gains().max_by_key(|(_, gain)| *gain);
        let best = || best().map(|(block, _)| block);
        let chosen = Some(chosen).filter(|block| self.fits(valid(block)));
        let chosen = if self.space.is_short && !self.can_spare(0) {
            None
        } else {
            chosen
        };
        chosen.or_else(|| best().filter(|block| self.fits_with_host(valid(block))))
    }

    /// Superblocks that cleaning would gain slots from, and how many.
    pub(crate) fn gains(&self) -> impl Iterator<Item = (BlockId, u32)> {
        let geometry = &self.config.geometry;
        let rows = self.blocks.iter();
        let repairable = rows.filter(|(block, row)| !row.failed || self.bad.can_repair(*block));
        let gains = repairable.map(|(block, row)| (block, gc_victim::gain(geometry, row)));
        gains.filter(|(_, gain)| *gain > 0)
    }

    /// The superblock being emptied stays as it is, and so do data on their way from there.
    pub(crate) fn give_up_emptying<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if let Some(current) = self.mover.current.take() {
            self.blocks.row_mut(current.block).leaving = false;
        }
        while let Some(job) = self.mover.next_arrived() {
            self.end_move(now, job, ports);
        }
    }

    /// The data of `job`, read to be moved, need no place any more.
    pub(crate) fn end_move<P: Ports<Record = Record>>(&mut self, now: Ns, job: u32, ports: &mut P) {
        let alone = matches!(self.jobs[job].purpose, Purpose::Move { alone: true, .. });
        self.space.reserved -= u64::from(alone);
        self.mover.ended();
        self.unpin(job);
        self.release_read(now, job, ports);
    }

    /// Whether there is a superblock that it gains to clean.
    pub(crate) fn has_garbage(&self) -> bool {
        self.gains().next().is_some()
    }

    /// Nothing can be emptied now. If nothing is under way either, what waits for space may have it,
    /// or waits in vain: when there is garbage that cannot be cleaned, the drive has reached its end.
    pub(crate) fn nothing_to_empty(&mut self) {
        let is_held = !self.rescue.is_empty() && self.map.has_room(1);
        let waits = is_held || self.space.host_waits || self.map_cache.waits_for_space;
        let space = &self.space;
        if waits && self.mover.is_resting() && space.erasing.is_none() && space.programs == 0 {
            self.space.read_only |= is_held || self.has_garbage();
            self.mover.lets_writes_go = true;
        }
    }

    /// Whether `slots` more can be taken without touching what cleaning needs: a superblock, and one
    /// more in case a program in it fails, as long as the drive has superblocks to spare.
    pub(crate) fn has_beyond_reserve(&self, slots: u64) -> bool {
        let space = &self.space;
        let kept = self.kept_from_host();
        space.free_slots() >= kept + space.reserved + self.owed_slots() + slots
    }

    /// Slots of free superblocks that cleaning keeps: see [`Firmware::has_beyond_reserve`].
    pub(crate) fn kept_from_host(&self) -> u64 {
        let space = &self.space;
        let spare = space.physical_slots >= space.needed_slots + space.largest_slots;
        space.largest_slots * (1 + spare as u64)
    }

    /// Whether the host may open a free superblock of `slots` slots: if enough are free, or there will
    /// be as much room when the superblock being emptied has been.
    pub(crate) fn can_open(&self, slots: u32) -> bool {
        (self.has_beyond_reserve(u64::from(slots)) && self.can_spare(slots))
            || self.missing_room() <= 0
    }

    /// What a write waits for, before it may take a slot of the write buffer, so that cleaning keeps
    /// up; none if it may have one. `has_merged`: a write in part that has read what it keeps. It pins
    /// that where moves may be about to empty, and so is not paced.
    pub(crate) fn waits_for_cleaning(&mut self, has_merged: bool) -> Option<Wait> {
        if !self.rescue.is_empty() {
            return Some(Wait::Rescue);
        }
        if self.space.is_short && self.waits_for_reserve() {
            return Some(Wait::Reserve);
        }
        if !has_merged && self.is_paced() {
            self.gc.holds_host = true;
            return Some(Wait::Cleaning);
        }
        None
    }

    /// Whether a write must wait, because a power cut or a program that failed has taken of the reserve.
    fn waits_for_reserve(&mut self) -> bool {
        self.space.is_short = !self.can_spare(0);
        self.space.host_waits |= self.space.is_short;
        self.space.is_short
    }

    /// Whether nobody but garbage collection may move data, because cleaning has no superblock to
    /// spare, and others wait for that.
    pub(crate) fn others_wait(&self) -> bool {
        !self.has_spare() && (self.space.failed > 0 || self.mover.has_asked())
    }

    /// Whether cleaning has all it needs, and a superblock more.
    pub(crate) fn has_spare(&self) -> bool {
        self.space.free_slots() >= 2 * self.space.largest_slots + self.space.reserved
    }

    /// Slots of free superblocks that what is being emptied takes beyond what it gives back.
    pub(crate) fn owed_slots(&self) -> u64 {
        let owes = self.mover.current.is_some_and(|e| e.owner != Owner::Gc);
        if owes {
            (-self.gain()).max(0) as u64
        } else {
            0
        }
    }
}
