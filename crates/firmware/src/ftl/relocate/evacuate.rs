//! Superblocks are emptied one at a time, one multi-plane page after another, and then erased or retired.

use firstread_core::{Arena, CellMode, Geometry, Ns, SuperblockId, Wait};

use super::Relocate;
use crate::flash_store::FlashStore;
use crate::ftl::place::{Erased, Evacuation, HostStreamSet};
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, SuperblockInfo, SuperblockUse};
use crate::shared::Out;

/// Slots searched in one go for the next multi-plane page with valid slots. After that other work comes
/// first.
const SCAN_SLOTS: u32 = 1024;

impl Relocate {
    /// Empties superblocks as far as possible now. `is_held`: data that have arrived find no room. Returns
    /// true if emptying was abandoned and move jobs have become free: those who wait for a job come first,
    /// then this continues.
    pub(crate) fn empty<M: Arena>(
        &mut self,
        now: Ns,
        is_held: bool,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let current = lower.store.place.relocation.emptying;
        let emptied = |e: Evacuation| lower.store.shared.blocks.info(e.block).valid_slots == 0;
        if self.lacks_headroom && !current.is_some_and(emptied) {
            if !lower.store.place.space.erases.is_empty() {
                return false;
            }
            self.lacks_headroom = false;
            if self.give_up_emptying(lower) {
                return true;
            }
        } else if is_held {
            return false;
        }
        while lower.store.place.relocation.moves < self.window
            && !self.pages.is_empty()
            && lower.store.place.has_beyond_reserve(1, &lower.store.shared)
            && let Some((owner, lpn)) = self.pages.pop_front()
        {
            lower.store.place.relocation.asked -= 1;
            self.start_page(now, owner, lpn, lower, ports);
        }
        self.convert_free(now, lower, ports);
        self.make_room(lower);
        self.empty_for_pool(now, lower, ports);
        loop {
            let Some(current) = lower.store.place.relocation.emptying else {
                match self.next_evacuation(lower) {
                    Some(next) => lower.store.place.relocation.emptying = Some(next),
                    None => {
                        self.nothing_to_empty(lower);
                        return false;
                    }
                }
                continue;
            };
            let store = &mut lower.store;
            let info = store.shared.blocks.info(current.block);
            if info.valid_slots == 0 {
                if info.pins > 0
                    || !store.place.space.erases.may_begin(Erased::Emptied)
                    || self.waits_for_newer(now, current.block, store, ports)
                {
                    return false;
                }
                self.emptied(now, current, lower, ports);
                continue;
            }
            if store.place.relocation.moves == self.window
                || !self.may_move(current.owner, &lower.store)
            {
                return false;
            }
            if lower.map_cache.is_crowded() {
                if lower.map_cache.map_is_crowded(now, &mut lower.store, ports) {
                    let relocation = &lower.store.place.relocation;
                    if !relocation.map_waits.has(Wait::Superblock) {
                        return false;
                    }
                } else {
                    self.unblocks_writes = true;
                }
            }
            let store = &lower.store;
            let valid = store.shared.blocks.info(current.block).valid_slots;
            if !store.place.fits_with_host(valid, &store.shared) {
                if self.give_up_emptying(lower) {
                    return true;
                }
                continue;
            }
            if lower.store.place.pauses_moves(&lower.store.shared) {
                return false;
            }
            let mut current = current;
            let has_started = self.start_next_mp_page(now, &mut current, lower, ports);
            lower.store.place.relocation.emptying = Some(current);
            if !has_started {
                return false;
            }
        }
    }

    /// Whether `block` holds versions that a power cut would bring back, because what replaced them is in the host's
    /// write buffer: [`Placement::keeps_older_in`](crate::ftl::place::Placement::keeps_older_in). Then the parts that hold data of the
    /// host are padded, unless others are being programmed: that may be enough. This padding makes moves due and
    /// waits for none, because moves may wait for the erase.
    pub(super) fn waits_for_newer<M: Arena>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        if !store.place.keeps_older_in(block) {
            return false;
        }
        let all = store.place.filled_to(HostStreamSet::ALL);
        while let Some(stream) = store.place.stream_to_pad(core::iter::once(&all))
            && store.pad(now, stream, ports)
        {
            if store.place.relocation.pace.earn() {
                self.update_pace(store);
            }
        }
        true
    }

    /// The superblock being emptied holds no more data: it is erased or retired.
    pub(super) fn emptied<M: Arena>(
        &mut self,
        now: Ns,
        current: Evacuation,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        if current.owner == Owner::Refresh {
            self.left_behind.let_come_back(now, lower, ports);
        }
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        place.relocation.emptying = None;
        let block = current.block;
        shared.counters.superblocks_refreshed += u64::from(current.owner == Owner::Refresh);
        let for_room = current.owner == Owner::MakeRoom;
        shared.counters.superblocks_emptied_for_room += u64::from(for_room);
        let mode = match current.owner {
            // One that reads have disturbed has left hot pages behind, for which their stream may want another one.
            Owner::Gc | Owner::Refresh => self.mode_for_stream(block, current.mode, place, shared),
            _ => current.mode,
        };
        if shared.blocks.info(block).failed && !place.repair_or_retire(now, block, shared) {
            store.read.block_changed(now, block, &shared.blocks);
        } else {
            store.start_erase(now, block, mode, Erased::Emptied, ports);
        }
    }

    /// Abandons the superblocks being emptied, and the data in flight from them. Returns whether jobs have
    /// become free.
    fn give_up_emptying<M>(&mut self, lower: &mut LowerLayers<M>) -> bool {
        if let Some(current) = lower.store.place.relocation.emptying.take() {
            lower.store.shared.blocks.info_mut(current.block).evacuating = false;
        }
        if let Some(current) = lower.store.place.relocation.destaging.take() {
            lower.store.shared.blocks.info_mut(current.block).evacuating = false;
        }
        let frees = !self.arrived.is_empty();
        while !self.arrived.is_empty() {
            self.end_move(lower);
        }
        frees
    }

    /// No superblock can be emptied now. If nothing is in flight either, writes that wait for space may have
    /// it or will never get it. If there is garbage that cannot be cleaned, the drive has reached its end of
    /// life.
    fn nothing_to_empty<M: Arena>(&mut self, lower: &mut LowerLayers<M>) {
        let (place, table) = (&mut lower.store.place, &lower.store.table);
        let is_held = place.has_rewrites() && table.map.has_room(1);
        let relocation = &place.relocation;
        let waits = is_held || relocation.superblock_is_wanted();
        let space = &place.space;
        if waits && relocation.is_resting() && space.erases.is_empty() && space.programs == 0 {
            // Kept superblocks are the last to be given up. They come before the end of life, because a drive that still
            // has free superblocks is not full.
            if place.release_kept() {
                self.again = true;
            } else if is_held || place.has_garbage(&lower.store.shared) {
                place.end_of_life();
            }
            self.unblocks_writes = true;
        }
    }

    /// The superblock to be emptied next. The order is: failed superblocks, requested ones, room in the region that a
    /// scheme declares, garbage collection, wear leveling.
    fn next_evacuation<M: Arena>(&mut self, lower: &mut LowerLayers<M>) -> Option<Evacuation> {
        // An evacuation that gives back less than it takes waits until cleaning has its reserve.
        let spare = lower.store.place.has_spare();
        let mode_after = |lower: &LowerLayers<M>, block| {
            let shared = &lower.store.shared;
            lower
                .store
                .place
                .mode_after(shared.blocks.info(block).mode, shared)
        };
        let (owner, block, mode, shrinks) = if spare
            && lower.store.place.space.failed > 0
            && let Some(block) = failed_at_rest(lower)
        {
            (Owner::Retire, block, mode_after(lower, block), 0)
        } else if spare && let Some(asked) = self.next_asked(lower) {
            (asked.owner, asked.block, asked.mode, asked.shrinks)
        } else if let Some(asked) = self.next_for_room(lower) {
            (asked.owner, asked.block, asked.mode, 0)
        } else {
            let (owner, block) = self.choose_victim(&mut lower.store)?;
            (owner, block, mode_after(lower, block), 0)
        };
        let shared = &mut lower.store.shared;
        let info = shared.blocks.info_mut(block);
        info.evacuating = true;
        let opened = info.opened;
        let mp_pages = mp_pages_of(&shared.config.geometry, info.mode);
        Some(Evacuation {
            owner,
            block,
            opened,
            mode,
            mp_page: 0,
            mp_pages,
            shrinks,
        })
    }

    /// The first requested superblock that has not changed since the request and may be emptied now.
    pub(super) fn next_asked<M>(&mut self, lower: &mut LowerLayers<M>) -> Option<Evacuation> {
        let mut i = 0;
        while let Some(asked) = self.asked.get(i).copied() {
            let (place, shared) = (&mut lower.store.place, &lower.store.shared);
            let info = shared.blocks.info(asked.block);
            let is_at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
            let has_stayed = is_at_rest && info.opened == asked.opened;
            let has_time = asked.owner == Owner::Refresh && self.is_overdue(info);
            if has_stayed && !place.may_empty(asked.block, asked.owner, has_time, shared) {
                i += 1;
                continue;
            }
            self.asked.remove(i);
            place.relocation.asked -= 1;
            if has_stayed {
                return Some(asked);
            }
        }
        None
    }

    /// Whether superblocks wait to be emptied for another reason than garbage collection.
    pub(super) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Starts the move of the next multi-plane page of `current` that holds valid slots. False if there is
    /// none, or if it was not found in one go.
    pub(super) fn start_next_mp_page<M: Arena>(
        &mut self,
        now: Ns,
        current: &mut Evacuation,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let store = &mut lower.store;
        let layout = &store.shared.layout;
        let mode = store.shared.blocks.info(current.block).mode;
        let per_mp_page = layout.slots_per_mp_page();
        let computed = store.table.map.is_computed(current.block);
        let mut budget = SCAN_SLOTS.div_ceil(per_mp_page);
        while current.mp_page < current.mp_pages {
            if budget == 0 {
                self.again = true;
                return false;
            }
            budget -= 1;
            let at = layout.data_mp_page(current.mp_page, current.block, mode);
            current.mp_page += 1;
            let first = layout.slot_at(at, 0, mode);
            let mut slots = 0u64;
            for mp_page_slot in 0..per_mp_page {
                let ppa = layout.slot_behind(first, mp_page_slot);
                let holds = if computed {
                    store.table.map.holds(ppa)
                } else {
                    let spare = ports.stored(ppa);
                    spare.is_some_and(|spare| store.table.lies_at(spare.lpn, ppa))
                };
                if holds {
                    slots |= 1 << mp_page_slot;
                }
            }
            if slots != 0 {
                let pays = store.place.shares_headroom(&store.shared);
                self.start_move(now, current.owner, at, slots, false, lower, ports);
                // The moves until the host has its next superblock are those of this one too, and so are moves out of a pool. Where
                // those did not count, the longest of 600,000 writes took 653 ms in place of 123 (Zipf 1.1, 410 superblocks, 80 % used,
                // one seed).
                if matches!(current.owner, Owner::Gc | Owner::Wear | Owner::Refresh) || pays {
                    lower.store.place.relocation.pace.spend(slots.count_ones());
                }
                return true;
            }
        }
        // Moves in flight will empty the superblock. If none is in flight, search it again from its start.
        if store.place.relocation.moves == 0 {
            debug_assert!(
                false,
                "every valid slot of {:?} was found: {:?}",
                current.block,
                store.shared.blocks.info(current.block)
            );
            current.mp_page = 0;
        }
        false
    }
}

/// Number of multi-plane pages of data of a superblock in `mode`.
pub(super) fn mp_pages_of(geometry: &Geometry, mode: CellMode) -> u32 {
    let of_die = u32::from(mode.bits()) * u32::from(geometry.wordlines_per_block);
    u32::from(geometry.data_dies()) * of_die
}

/// A superblock with a failed program that will not be programmed further.
fn failed_at_rest<M>(lower: &LowerLayers<M>) -> Option<SuperblockId> {
    let mut blocks = lower.store.shared.blocks.iter();
    let is_at_rest = |info: &SuperblockInfo| info.usage == SuperblockUse::Full && !info.evacuating;
    let failed = blocks.find(|(_, info)| info.failed && is_at_rest(info));
    failed.map(|(block, _)| block)
}
