//! Garbage collection: when, how fast, and when it is hopeless. Wear leveling goes with it.
//!
//! It begins when few superblocks are free and moves in proportion to what the host writes: a
//! victim with `v` valid of `n` slots gives back `n - v`, so `v / (n - v)` slots are moved for each
//! that the host writes, and a little more while too few superblocks are free. Dies that are busy with
//! the host's programs may keep it from that: then writes wait a little, again and again, once the host
//! fills its last superblock. They stall for long only when no superblock is left but the one that cleaning
//! needs; then it runs as fast as it can.

use firstread_core::{Arena, BlockId, Ns};

use super::{Owner, RESERVE};
use crate::Firmware;
use crate::policy::gc_victim::{AnyGcVictim, GcVictim, Victims};
use crate::policy::wear::{AnyWear, Wear};

/// Free superblocks at which garbage collection changes its pace. Two are always left to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GcThresholds {
    /// It begins at this many.
    pub start: u32,
    /// It ends at this many, more than `start`.
    pub stop: u32,
    /// At this many, not more than `start`, it moves twice as fast as its gain asks for.
    pub urgent: u32,
}

/// Parts of a slot that credit is counted in.
const PER_SLOT: i64 = 256;

/// The state of garbage collection.
#[derive(Debug)]
pub(crate) struct Gc {
    thresholds: GcThresholds,
    victim: AnyGcVictim,
    /// Whether it has begun and not ended.
    active: bool,
    /// Slots it may move, in parts of a slot.
    credit: i64,
    /// Credit that a slot of the host's earns.
    earned: i64,
    /// Slots it has to move to gain as fast as the host writes, in parts of a slot.
    debt: i64,
    /// Debt from which on writes wait for moves: the mover's write buffer full.
    most_debt: i64,
    /// A write waits for moves.
    pub(crate) holds_host: bool,
    /// Wear has changed since it was last looked at.
    pub(crate) consider_wear: bool,
}

impl Gc {
    /// Writes wait once it owes `buffered` slots.
    pub(crate) fn new(thresholds: GcThresholds, victim: AnyGcVictim, buffered: u32) -> Gc {
        Gc {
            thresholds,
            victim,
            active: false,
            credit: 0,
            earned: 0,
            debt: 0,
            most_debt: i64::from(buffered) * PER_SLOT,
            holds_host: false,
            consider_wear: false,
        }
    }

    /// `free` superblocks are free now.
    pub(crate) fn watch(&mut self, free: u32) {
        if free <= self.thresholds.start {
            self.active = true;
        } else if free >= self.thresholds.stop {
            self.active = false;
        }
    }

    /// The host has written a slot.
    #[inline]
    pub(crate) fn earn(&mut self, free: u32) {
        if self.active {
            let faster = if free <= self.thresholds.urgent { 8 } else { 5 };
            // A little in any case, so that the first victim is looked for.
            self.credit += (self.earned * faster / 4).max(1);
            // What it fell behind earlier does not count: only now does it run short.
            self.debt = match u64::from(free) < RESERVE {
                true => self.debt + self.earned,
                false => 0,
            };
        }
    }

    /// `slots` slots are being moved.
    pub(crate) fn spend(&mut self, slots: u32) {
        self.credit -= slots as i64 * PER_SLOT;
        self.debt -= slots as i64 * PER_SLOT;
    }

    /// Whether, with `free` superblocks left, it has fallen so far behind that writes are to wait.
    #[inline]
    fn is_behind(&self, free: u32) -> bool {
        self.debt >= self.most_debt && self.active && u64::from(free) < RESERVE
    }

    /// Whether the host's writes have paid for another row.
    #[inline]
    pub(crate) fn has_credit(&self) -> bool {
        self.active && self.credit > 0
    }
}

impl<M: Arena> Firmware<M> {
    /// Whether there may be something to move, apart from what the mover has taken on.
    #[inline]
    pub(crate) fn has_more_to_move(&self) -> bool {
        self.gc.has_credit()
            || self.space.host_waits
            || self.map_cache.waits_for_space
            || self.space.failed > 0
            || self.gc.consider_wear
    }

    /// Whether a write is to wait until some moves that are under way have ended.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.gc.is_behind(self.space.free) && self.mover.is_reading()
    }

    /// Whether a row may be moved for `owner` now.
    pub(crate) fn may_move(&self, owner: Owner) -> bool {
        owner != Owner::Gc
            || self.gc.has_credit()
            || self.space.host_waits
            || self.map_cache.waits_for_space
            || (self.space.free == 0 && !self.rescue.is_empty())
            || self.others_wait()
    }

    /// The superblock whose garbage, or whose wear, is to be seen to.
    pub(crate) fn choose_victim(&mut self, now: Ns) -> Option<(Owner, BlockId)> {
        if self.space.read_only {
            return None;
        }
        // It gives back what it takes, so it needs no more than cleaning; but it can wait.
        if self.gc.consider_wear && !self.space.host_waits && self.has_beyond_reserve(0) {
            self.gc.consider_wear = false;
            if let Some(block) = self.wear.cold(&self.blocks) {
                return Some((Owner::Wear, block));
            }
        }
        if !self.may_move(Owner::Gc) {
            return None;
        }
        let victims = Victims {
            now,
            blocks: &self.blocks,
            geometry: &self.config.geometry,
        };
        let chosen = match self.map_victim() {
            Some(block) => block,
            None => self.gc.victim.choose(victims)?,
        };
        let block = self.victim_that_fits(chosen)?;
        let row = self.blocks.row(block);
        let (valid, slots) = (row.valid_slots as i64, self.slots_of(row.mode) as i64);
        self.gc.earned = PER_SLOT * valid / (slots - valid);
        // Credit left over from the last victim is not saved up.
        self.gc.credit = self.gc.credit.min(PER_SLOT);
        // Nor is what it moved ahead of need.
        self.gc.debt = self.gc.debt.max(0);
        Some((Owner::Gc, block))
    }

    /// Whether a write that waits for a superblock waits in vain: there is nothing to clean, and
    /// nothing under way from which there will be.
    pub(crate) fn is_full(&self) -> bool {
        self.mover.is_idle()
            && self.rescue.is_empty()
            && self.space.erasing.is_none()
            && self.space.programs == 0
            && !self.has_garbage()
    }

    /// The scheme of axis `gc_victim`.
    pub fn gc_victim(&self) -> &AnyGcVictim {
        &self.gc.victim
    }
    /// The scheme of axis `wear`.
    pub fn wear(&self) -> &AnyWear {
        &self.wear
    }
}
