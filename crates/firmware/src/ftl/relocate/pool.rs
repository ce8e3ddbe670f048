//! Room in the pool of another cell mode that the host writes to: the pool grows, or its oldest superblock is emptied.

use firstread_core::{Arena, CellMode, Ns, SuperblockId};

use super::Relocate;
use super::evacuate::mp_pages_of;
use crate::flash_store::FlashStore;
use crate::ftl::place::{Erased, Evacuation, PoolNeeds};
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, RegionId, SuperblockUse};
use crate::policy::gc_victim::Outlook;
use crate::shared::Out;

/// A superblock of the pool is nearly empty if less than one of so many of its slots is valid.
const NEARLY_EMPTY: u32 = 4;

impl Relocate {
    /// Empties superblocks for the pool as far as possible now, one at a time, beside what cleaning empties.
    pub(super) fn empty_for_pool<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        if !lower.store.place.pool.is_on() {
            return;
        }
        loop {
            self.look_at_pool(now, lower, ports);
            let Some(mut current) = lower.store.place.relocation.destaging else {
                match self.next_for_pool(lower) {
                    Some(next) => self.begin_for_pool(next, lower),
                    None => return,
                }
                continue;
            };
            let (place, shared) = (&lower.store.place, &lower.store.shared);
            let info = shared.blocks.info(current.block);
            if info.valid_slots == 0 {
                let waits = info.pins > 0 || !place.space.erases.may_begin(Erased::Free);
                if waits || self.waits_for_newer(now, current.block, &mut lower.store, ports) {
                    return;
                }
                emptied_for_pool(now, &current, &mut lower.store, ports);
                continue;
            }
            let cleaning_first =
                place.relocation.superblock_is_wanted() && place.relocation.emptying.is_some();
            if place.relocation.moves == self.window
                || lower.map_cache.is_crowded()
                || cleaning_first
            {
                return;
            }
            if !place.fits(info.valid_slots, shared) {
                // There is no headroom for what is still valid: cleaning makes some first.
                lower.store.place.relocation.destaging = None;
                lower.store.shared.blocks.info_mut(current.block).evacuating = false;
                return;
            }
            let has_started = self.start_next_mp_page(now, &mut current, lower, ports);
            lower.store.place.relocation.destaging = Some(current);
            if !has_started {
                return;
            }
        }
    }

    fn begin_for_pool<M>(&mut self, next: Evacuation, lower: &mut LowerLayers<M>) {
        let shared = &mut lower.store.shared;
        let info = shared.blocks.info_mut(next.block);
        info.evacuating = true;
        let mp_pages = mp_pages_of(&shared.config.geometry, info.mode);
        lower.store.place.relocation.destaging = Some(Evacuation { mp_pages, ..next });
    }

    /// Asks for what the pool needs now, if it needs anything.
    fn look_at_pool<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let Some(mode) = place.pool_mode() else {
            return;
        };
        match place.pool_needs(shared) {
            PoolNeeds::Nothing => self.for_pool = None,
            PoolNeeds::Superblock if place.has_spare() && place.free_beyond_next(shared) => {
                let relocation = &mut place.relocation;
                if !relocation.wanted.has(mode) {
                    relocation.wanted.add(mode);
                    relocation.pool_alone_wants = true;
                    // While the host rests nothing else comes that would have one erased.
                    self.again |= place.pool.is_at_rest();
                }
            }
            PoolNeeds::Superblock | PoolNeeds::Room if self.for_pool.is_some() => {}
            PoolNeeds::Superblock => {
                shared.update_index();
                let now = Outlook::default();
                // A superblock that is nearly all garbage is worth more than one more. While the host rests all of them are emptied.
                let oldest = place.next_of_pool(now, shared);
                let at_rest = place.pool.is_at_rest();
                let goes_first = |block: &SuperblockId| {
                    let info = shared.blocks.info(*block);
                    at_rest || NEARLY_EMPTY * info.valid_slots <= shared.slots_of(info.mode)
                };
                let victim = oldest.filter(goes_first).or_else(|| {
                    let victim = self.victim_in(RegionId::MAIN, 0, now, store);
                    victim.map(|(block, _)| block)
                });
                self.for_pool = victim.map(|block| self.destage(block, mode, store));
            }
            PoolNeeds::Fewer if place.space.erases.may_begin(Erased::Free) => {
                let Some(block) = place.free_of_pool(shared) else {
                    return;
                };
                place.take_free(block, shared);
                let own = shared.config.mode;
                store.start_erase(now, block, own, Erased::Free, ports);
            }
            PoolNeeds::Fewer => self.for_pool = None,
            PoolNeeds::Room => {
                let Some(block) = place.next_of_pool(Outlook::default(), shared) else {
                    return;
                };
                self.for_pool = Some(self.destage(block, mode, store));
            }
        }
    }

    /// Superblock `block` is to be emptied and erased into `mode`, that of the pool.
    fn destage<M>(&self, block: SuperblockId, mode: CellMode, store: &FlashStore<M>) -> Evacuation {
        Evacuation {
            owner: Owner::Destage,
            block,
            opened: store.shared.blocks.info(block).opened,
            mode,
            mp_page: 0,
            mp_pages: 0,
            shrinks: 0,
        }
    }

    /// The superblock of the pool that is emptied next for room there, unless it has changed since. It waits for the host.
    fn next_for_pool<M: Arena>(&mut self, lower: &mut LowerLayers<M>) -> Option<Evacuation> {
        let asked = self.for_pool?;
        let (place, shared) = (&mut lower.store.place, &lower.store.shared);
        let info = shared.blocks.info(asked.block);
        let has_stayed = info.usage == SuperblockUse::Full && info.opened == asked.opened;
        if !has_stayed || info.evacuating {
            self.for_pool = None;
            return None;
        }
        let waits = !place.can_spare(0, shared)
            || !place.may_empty(asked.block, asked.owner, false, shared);
        place.pool.waits(waits);
        if waits {
            return None;
        }
        self.for_pool = None;
        place.fits(info.valid_slots, shared).then_some(asked)
    }

    /// The superblock of the pool that garbage collection cleans after all that `outlook` tells: one of a pool that is too large, or any
    /// where nothing else can be cleaned.
    pub(super) fn victim_of_pool<M>(
        &self,
        outlook: Outlook<'_>,
        is_last_resort: bool,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        if !store.place.pool.is_on() {
            return None;
        }
        let (apart, blocks) = (store.shared.blocks.apart(), &store.shared.blocks);
        let is_in_pool = |block: SuperblockId| apart.has(blocks.info(block).mode);
        let current = &store.place.relocation;
        let current = current.emptying.iter().chain(&current.destaging);
        let taken = (outlook.emptied.iter().copied()).chain(current.map(|e| e.block));
        let taken = taken.filter(|block| is_in_pool(*block)).count() as u32;
        let takes = is_last_resort || store.place.pool_is_too_large(taken);
        takes.then(|| store.place.next_of_pool(outlook, &store.shared))?
    }
}

/// The superblock of `current` holds no more data. It is erased into the mode of the pool, or into the drive's own mode if the pool is
/// large enough without it.
fn emptied_for_pool<M: Arena>(
    now: Ns,
    current: &Evacuation,
    store: &mut FlashStore<M>,
    ports: &mut impl Out,
) {
    let (place, shared) = (&mut store.place, &mut store.shared);
    place.relocation.destaging = None;
    let info = shared.blocks.info(current.block);
    let was_in_pool = shared.blocks.apart().has(info.mode);
    shared.counters.superblocks_destaged += u64::from(was_in_pool);
    if info.failed && !place.repair_or_retire(now, current.block, shared) {
        store.read.block_changed(now, current.block, &shared.blocks);
        return;
    }
    let mode = place.mode_after_destage(current, was_in_pool, shared);
    store.start_erase(now, current.block, mode, Erased::Free, ports);
}
