//! The pool of another cell mode that the host writes to, if the scheme of axis `cell_mode` has one.
//!
//! The host waits while the write buffer of the pool is full, as it does for its own. The host never waits for a superblock of the pool: without
//! one a page goes where it would go without the pool. So the reserve and the pace of the host's own superblocks do not depend on the pool, and
//! room in the pool is made as far as the host leaves time.
//!
//! Superblocks of the pool stay in it. The pool is emptied for its own sake, and what is still valid in a superblock leaves for the drive's own
//! mode, or stays in the pool, as the scheme says. Garbage collection finds none of them, unless the pool is too large: then its oldest superblocks are
//! the victims, and they go back to the drive's own mode.
//!
//! # How large it may be
//!
//! ```text
//! most = (slots if no superblock were in the pool − (1 + keep) × data in use − reserve of cleaning − one superblock) ÷ lent by each
//! ```
//!
//! Data in use are those of the drive's own region. On a full drive the pool is made of over-provisioning, on a drive that is young or was
//! trimmed also of what is not written yet. A host that writes new pages at full rate makes `most` fall by one superblock for each
//! `lent by each` slots, three quarters of a superblock of QLC. Garbage collection then takes a superblock of the pool for each superblock that
//! the host opens: it moves at most a quarter of a superblock and gains the whole. So it gains no less than three slots for each that it
//! moves, and the superblock that is open on top is what the host writes until the size is looked at again.

use firstread_core::{Arena, CellMode, Lpn, SuperblockId, Wait};

use super::pool_state::{CleanedRound, PoolNeeds};
use super::{Evacuation, Item, Placement};
use crate::config::WriteCache;
use crate::ftl::map::Table;
use crate::observe::{CopyRefused, ModeSet, RegionId, StreamId, SuperblockUse};
use crate::policy::cell_mode::{CellModes, LevelBy, PoolSize, PoolState, PoolWrite, WritePool};
use crate::policy::gc_victim::Outlook;
use crate::shared::Shared;

/// A pool grows while the drive's own mode has room for one part of so many more than it holds.
const ROOM: u64 = 8;

/// Superblocks that a small part of a drive in its own mode has as room beyond its data, but no more than half of what the data take: with
/// fewer, cleaning finds no superblock with much garbage.
const LEAST_ROOM: u64 = 4;

/// How many times as long a superblock of the host may be taken to last because a pool takes writes.
const MOST_STRETCH: u64 = 64;

/// **Writes.**
impl Placement {
    /// The stream of the pool that a page of the host goes to, if any.
    #[inline]
    pub(super) fn pool_of_write<M: Arena>(
        &self,
        item: &Item,
        table: &Table<M>,
        shared: &Shared,
    ) -> Option<StreamId> {
        let stream = self.pool.written?;
        if shared.config.write_cache != WriteCache::Protected {
            return None;
        }
        let is_let_in = self
            .cell_mode
            .of_write(&self.pool_write(item.lpn, table, shared));
        is_let_in.then_some(stream)
    }

    fn pool_write<M: Arena>(&self, lpn: Lpn, table: &Table<M>, shared: &Shared) -> PoolWrite {
        let written = shared.counters.host_slots_written;
        let old = table.map.at(lpn);
        let at = old.and_then(|ppa| {
            let mode = shared.blocks.info(ppa.block()).mode;
            self.ages.written_at(ppa, shared.slots_of(mode))
        });
        PoolWrite {
            lpn,
            life: at.map(|at| written.saturating_sub(at)),
            written,
        }
    }

    /// The host's page `item` has been given a slot of `stream`.
    #[inline(never)] // Most drives have no such pool.
    pub(super) fn has_written_to<M: Arena>(
        &mut self,
        stream: StreamId,
        item: &Item,
        table: &Table<M>,
        shared: &mut Shared,
    ) {
        let page = self.pool_write(item.lpn, table, shared);
        self.cell_mode.has_written(&page);
        shared.counters.slots_written_to_pool += u64::from(Some(stream) == self.pool.written);
    }

    /// A page of the host that belongs in the pool was refused there.
    pub(super) fn note_bypass(&self, reason: CopyRefused, shared: &mut Shared) {
        shared.counters.pool_bypassed[reason as usize] += 1;
    }

    /// Whether stream `stream` is the one that the host writes to in the pool.
    pub(super) fn is_of_pool(&self, stream: StreamId) -> bool {
        Some(stream) == self.pool.written
    }
}

/// **Size.**
impl Placement {
    /// A stream has opened a superblock: how large the pool is to be is decided anew. A drive of 15.36 TB has 750 superblocks to look at, and
    /// opens one in millions of writes.
    pub(crate) fn look_at_pool(&mut self, shared: &Shared) {
        let Some(rule) = self.pool.rule else { return };
        let (own_slots, slots) = (
            u64::from(shared.slots_of(shared.config.mode)),
            u64::from(shared.slots_of(rule.mode)),
        );
        let lent = own_slots.saturating_sub(slots).max(1);
        let usable = shared.blocks.in_region(RegionId::MAIN);
        let usable = usable.iter().map(|(_, info)| info);
        let usable = usable.filter(|info| info.usage != SuperblockUse::Bad);
        let (mut superblocks, mut valid, mut in_promoted) = (0u64, 0, 0);
        let mut own_valid = 0;
        let mut pe_cycles = 0;
        let in_use: u64 = shared
            .blocks
            .iter()
            .map(|(_, info)| u64::from(info.valid_slots))
            .sum();
        for info in usable {
            superblocks += 1;
            valid += u64::from(info.valid_slots);
            pe_cycles += u64::from(info.pe_cycles);
            if info.mode == shared.config.mode {
                own_valid += u64::from(info.valid_slots);
            }
            in_promoted += u32::from(info.stream.is_some() && info.stream == self.pool.promoted);
        }
        let reserve =
            self.space.needed_slots - self.space.capacity_slots + self.space.least_spare();
        let all = (superblocks * own_slots).saturating_sub(reserve + own_slots);
        let kept = valid + valid * u64::from(rule.keep_permille) / 1000;
        let most = (all.saturating_sub(kept) / lent).min(superblocks) as u32;
        let state = PoolState {
            most,
            slots,
            own_slots,
            valid,
            all,
            unwritten: self.space.capacity_slots.saturating_sub(in_use),
            superblocks: superblocks as u32,
            open: self.streams.of_own_mode() as u32,
        };
        let size = self.cell_mode.resize(&state);
        self.pool.size = PoolSize {
            written: size.written.min(most),
            promoted: size.promoted.min(most - size.written.min(most)),
            keeps: size.keeps,
        };
        self.pool.valid_outside = own_valid;
        // What lies in the drive's own mode now has room there as the pool grows.
        let room = (own_valid / 2)
            .min(LEAST_ROOM * own_slots)
            .max(own_valid / ROOM);
        let own_valid = own_valid + room;
        self.pool.grows_to = (all.saturating_sub(own_valid) / own_slots.max(1)) as u32;
        self.pool.in_promoted = in_promoted;
        self.pool.mean_pe = (pe_cycles / superblocks.max(1)) as u32;
        self.pool.most = most;
        self.relocation.plan_anew |= self.pool_is_too_large(0);
    }

    /// The superblocks that garbage collection goes round in. Those of the pool are none of them while the pool is as large as it may be, and
    /// neither are the data in them.
    pub(crate) fn cleaned_round(&self) -> CleanedRound {
        let space = &self.space;
        let (slots, needed) = (space.with_lent_slots(), space.needed_slots);
        let superblocks = slots / space.largest_slots;
        if !self.pool.is_on() {
            return CleanedRound {
                slots,
                needed,
                superblocks,
            };
        }
        let superblocks = superblocks.saturating_sub(space.in_write_pool().into());
        let reserve = needed - space.capacity_slots;
        CleanedRound {
            slots: superblocks * space.largest_slots,
            needed: self.pool.valid_outside + reserve,
            superblocks,
        }
    }

    /// Whether the pool has more superblocks than it may have, once `taken` of them are taken.
    pub(crate) fn pool_is_too_large(&self, taken: u32) -> bool {
        self.pool.is_on() && self.space.in_write_pool().saturating_sub(taken) > self.pool.limit()
    }

    /// Whether the pool has more superblocks than it is to have.
    fn pool_is_larger(&self) -> bool {
        self.space.in_write_pool() > self.pool.wanted_size()
    }

    /// Whether the pool is smaller than it is to be, without the superblock of it that is being emptied if there `is_one`.
    pub(crate) fn pool_has_place_for_one_more(&self, is_one: bool) -> bool {
        let others = self.space.in_write_pool() - u32::from(is_one);
        others < self.pool.wanted_size()
    }

    /// Superblocks of the pool that no promoted pages were copied to: those that the host has written to, and free ones.
    fn in_written(&self) -> u32 {
        let all = self.space.in_write_pool();
        all.saturating_sub(self.pool.in_promoted)
    }

    /// Whether the host may open one more superblock of the pool. What is converted for promoted pages is not for its writes.
    pub(super) fn written_may_open(&self) -> bool {
        let Some(rule) = self.pool.rule.filter(|_| self.pool.promoted.is_some()) else {
            return true;
        };
        let held = self.in_written().saturating_sub(self.free_in_pool(&rule));
        held < self.pool.limit_of_written()
    }

    /// Whether enough superblocks are free in the pool of `mode`, or will be: one, or as many as the range of the ready queue says.
    pub(crate) fn has_enough_free_in(&self, mode: CellMode, shared: &Shared) -> bool {
        match self.pool.rule.filter(|rule| rule.mode == mode) {
            Some(rule) => self.ready_in_pool(&rule, shared) >= self.pool.ready(&rule).1,
            None => self.will_have_free_in(mode, shared),
        }
    }

    /// Superblocks that are free in the pool.
    fn free_in_pool(&self, rule: &WritePool) -> u32 {
        let pool = self.space.pools.of_mode(rule.mode);
        pool.map_or(0, |pool| pool.free)
    }

    /// Superblocks that are free in the pool, or are being erased into it.
    fn ready_in_pool(&self, rule: &WritePool, shared: &Shared) -> u32 {
        let erasing = self.space.erases.blocks();
        let erasing = erasing.filter(|block| shared.blocks.info(*block).mode == rule.mode);
        self.free_in_pool(rule) + erasing.count() as u32
    }

    /// Whether promoted pages, or pages that stay in the pool, may open one more superblock of it.
    pub(crate) fn promoted_may_open(&self, mode: CellMode) -> bool {
        let size = &self.pool.size;
        self.pool_mode() != Some(mode) || size.keeps || self.pool.in_promoted < size.promoted
    }

    /// Whether what is still valid in a superblock of the pool that is emptied for room stays in the pool. A pool that is to shrink keeps
    /// nothing.
    pub(crate) fn pool_keeps(&self) -> bool {
        self.pool.size.keeps && !self.pool_is_larger()
    }

    /// The same for superblock `block`. What is nearly all valid leaves, or the pool would be moved round and round without gaining room.
    pub(crate) fn pool_keeps_from(&self, block: SuperblockId, shared: &Shared) -> bool {
        let info = shared.blocks.info(block);
        let slots = shared.slots_of(info.mode);
        self.pool_keeps() && info.valid_slots <= slots - slots / ROOM as u32
    }

    /// `stream` has opened a superblock.
    pub(super) fn pool_has_opened(&mut self, stream: StreamId) {
        self.pool.in_promoted += u32::from(Some(stream) == self.pool.promoted);
    }

    /// Whether the pool in mode `to` may have one superblock more; none if `to` has no such pool.
    pub(crate) fn pool_may_grow(&self, to: CellMode) -> Option<bool> {
        self.pool.rule.filter(|rule| rule.mode == to)?;
        let relocation = &self.relocation;
        let for_copies = relocation.wanted.has(to) && !relocation.pool_alone_wants;
        let size = match for_copies {
            true => self.pool.size.written + self.pool.size.promoted,
            false => self.pool.wanted_size(),
        };
        Some(
            !self.space.read_only
                && self.space.holds_capacity()
                && self.space.in_write_pool() < size.min(self.pool.grows_to),
        )
    }
}

/// **Room.**
impl Placement {
    /// What the pool needs now.
    pub(crate) fn pool_needs(&mut self, shared: &Shared) -> PoolNeeds {
        let Some(rule) = self.pool.rule else {
            return PoolNeeds::Nothing;
        };
        let free = self.free_in_pool(&rule);
        let ready = self.ready_in_pool(&rule, shared);
        // Pages that stay take superblocks of the pool too.
        let kept = u32::from(self.pool.size.keeps);
        let (low, high) = self.pool.ready(&rule);
        let (low, high) = (low + kept, high + kept);
        self.pool.refills = ready < low || self.pool.refills && ready < high;
        let is_larger = self.pool_is_larger();
        let is_missing = free > 0
            && self.relocation.host_waits.has(Wait::Superblock)
            && !self.has_garbage(shared);
        if free > 0 && self.pool_is_too_large(0) || is_missing {
            return PoolNeeds::Fewer;
        }
        match self.pool.refills && !self.space.read_only {
            true if self.pool_may_grow(rule.mode) == Some(true) => PoolNeeds::Superblock,
            true if !is_larger || ready == 0 => PoolNeeds::Room,
            _ if self.pool.is_at_rest => PoolNeeds::Room,
            _ => PoolNeeds::Nothing,
        }
    }

    /// Whether the pool may need something. Cheap, and asked often.
    #[inline]
    pub(crate) fn pool_may_need(&self) -> bool {
        let Some(rule) = self.pool.rule else {
            return false;
        };
        self.pool.is_at_rest
            || self.free_in_pool(&rule) < rule.ready.1
            || self.pool_is_too_large(0)
            || self.relocation.host_waits.has(Wait::Superblock)
    }

    /// Slots that the host writes until `left` of them have gone to its own streams, by how many have gone to the pool so far.
    pub(crate) fn pool_stretches(&self, left: u32, shared: &Shared) -> u64 {
        let written = shared.counters.host_slots_written;
        let own = written - shared.counters.slots_written_to_pool.min(written);
        match self.pool.is_on() && written > 0 {
            true => {
                (u64::from(left) * (written / own.max(1)).clamp(1, MOST_STRETCH)).max(left.into())
            }
            false => left.into(),
        }
    }

    /// Whether the pool has a free superblock that can be erased into the drive's own mode.
    pub(crate) fn pool_has_free(&self) -> bool {
        self.pool_mode().is_some_and(|mode| self.has_free_in(mode))
    }

    /// A free superblock of the pool, to be erased into the drive's own mode.
    pub(crate) fn free_of_pool(&mut self, shared: &mut Shared) -> Option<SuperblockId> {
        let mode = self.pool_mode()?;
        shared.update_index();
        let blocks = shared.blocks.in_region(RegionId::MAIN);
        blocks.most_worn_free(ModeSet::of(mode))
    }

    /// Whether the host has its next superblock, and another one is free beyond that: then the pool need not have one emptied.
    pub(crate) fn free_beyond_next(&self, shared: &Shared) -> bool {
        let slots = shared.slots_of(shared.config.mode);
        self.host_has_next_without(slots, shared)
    }

    /// The mode of the pool.
    pub(crate) fn pool_mode(&self) -> Option<CellMode> {
        self.pool.rule.map(|rule| rule.mode)
    }

    /// The superblock of the pool that is emptied next after all that `outlook` tells: the oldest one, and the oldest of promoted pages
    /// first while these have more than is left for them, or of the host's writes while these have more than they are to have. Where pages
    /// stay in the pool, it is the one that gives most room for what is moved, weighted by its age as in `cost-benefit`.
    pub(crate) fn next_of_pool(
        &self,
        outlook: Outlook<'_>,
        shared: &Shared,
    ) -> Option<SuperblockId> {
        let rule = self.pool.rule?;
        let size = &self.pool.size;
        let promoted_first = !size.keeps && self.pool.in_promoted > size.promoted;
        let written_first = !promoted_first && self.in_written() > size.written;
        let blocks = shared.blocks.in_region(RegionId::MAIN);
        let at_rest = blocks.iter().filter(|(block, info)| {
            let is_in = info.mode == rule.mode && info.usage == SuperblockUse::Full;
            is_in && !info.failed && outlook.is_at_rest(*block, info)
        });
        if size.keeps {
            let now = self.space.opened();
            let best = at_rest.max_by_key(|(_, info)| {
                let slots = u64::from(shared.slots_of(info.mode));
                let valid = u64::from(info.valid_slots);
                let age = now.saturating_sub(info.opened).max(1);
                (slots - valid.min(slots)) * age * 1024 / (slots + valid)
            });
            return best.map(|(block, _)| block);
        }
        let oldest = at_rest.min_by_key(|(_, info)| {
            let is_promoted = info.stream.is_some() && info.stream == self.pool.promoted;
            let is_later = promoted_first && !is_promoted || written_first && is_promoted;
            (is_later, info.opened)
        });
        oldest.map(|(block, _)| block)
    }

    /// The mode into which the superblock of `current` is erased, which was emptied for the pool and `was_in_pool`: that of the pool, as
    /// long as that is not larger than it is to be and the superblock is not worn far beyond the mean.
    pub(crate) fn mode_after_destage(
        &self,
        current: &Evacuation,
        was_in_pool: bool,
        shared: &Shared,
    ) -> CellMode {
        let has_place = self.pool_has_place_for_one_more(was_in_pool);
        match has_place && !(was_in_pool && self.is_worn(current.block, shared)) {
            true => current.mode,
            false => shared.config.mode,
        }
    }

    /// Whether superblock `block` of the pool is worn by so much that another one is to take its place.
    fn is_worn(&self, block: SuperblockId, shared: &Shared) -> bool {
        let Some(rule) = self.pool.rule else {
            return false;
        };
        let since = match rule.level_by {
            LevelBy::Mean => self.pool.mean_pe,
            LevelBy::Switch => self.pool.pe_at_switch(block),
        };
        shared.blocks.info(block).pe_cycles > since.saturating_add(rule.level)
    }

    /// Power is on: what is known of the wear of superblocks since they changed their mode is what they have now.
    pub(crate) fn pool_begins(&mut self, shared: &Shared) {
        if self
            .pool
            .rule
            .is_some_and(|rule| rule.level_by == LevelBy::Switch)
        {
            let blocks = shared.blocks.iter();
            self.pool.pe_at_switch = blocks.map(|(_, info)| info.pe_cycles).collect();
        }
        self.look_at_pool(shared);
    }
}
