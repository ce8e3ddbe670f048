//! Superblocks for promotion: for pages that are copied into the stream of another cell mode.
//!
//! The stream opens superblocks from the pool of its mode. If the pool is empty, the next superblock that garbage
//! collection has emptied is erased into the mode. If none is being emptied, a free superblock is erased anew.
//! Superblocks that the scheme gives back are emptied like those of any other change of mode.

use firstread_core::{Arena, Buf, CellMode, Ns, SuperblockId};

use super::Relocate;
use super::copy::copy;
use super::evacuate::mp_pages_of;
use crate::ftl::place::{Erased, Item, Placement};
use crate::lower_layers::LowerLayers;
use crate::observe::{CopyRefused, Owner, RegionId, StreamUse, SuperblockInfo, SuperblockUse};
use crate::policy::cell_mode::{CellModes, GiveBack, ReclaimState};
use crate::shared::{Out, Shared};

impl Relocate {
    /// Whether a page of superblock `block` stays in its mode. Looks no further than to the first one.
    pub(super) fn one_stays<M: Arena>(
        &self,
        block: SuperblockId,
        lower: &LowerLayers<M>,
        ports: &impl Out,
    ) -> bool {
        let store = &lower.store;
        let (layout, mode) = (&store.shared.layout, store.shared.blocks.info(block).mode);
        let geometry = &store.shared.config.geometry;
        let mut pages = (0..mp_pages_of(geometry, mode)).flat_map(|mp_page| {
            let first = layout.slot_at(layout.data_mp_page(mp_page, block, mode), 0, mode);
            (0..layout.slots_per_mp_page()).map(move |slot| layout.slot_behind(first, slot))
        });
        pages.any(|ppa| {
            let page = ports.stored(ppa).map(|spare| spare.lpn);
            let page = page.filter(|&lpn| store.table.lies_at(lpn, ppa));
            page.is_some_and(|lpn| self.stays_in(lpn, block, Owner::Convert, lower).is_some())
        })
    }

    /// Asks for `block` to be emptied and erased into the drive's own mode. If this cannot be asked for now, the
    /// scheme will come back to it. One that is still open is closed, and one in the drive's own mode is cleaned. Returns
    /// whether it was asked for.
    pub(super) fn give_back<M: Arena>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        if lower.store.shared.blocks.info(block).usage == SuperblockUse::Open {
            lower.store.close_early(now, block, ports);
            return false;
        }
        let mode = lower.store.shared.config.mode;
        let is_asked = self.ask_mode(now, block, mode, lower, ports).is_ok();
        if is_asked {
            let is_other = lower.store.shared.blocks.info(block).mode != mode;
            lower.store.shared.counters.superblocks_given_back += u64::from(is_other);
            self.again = true;
        }
        is_asked
    }

    /// Gives back the superblock that the scheme wants to give back now, if any.
    pub(super) fn reclaim<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let (space, shared) = (&lower.store.place.space, &lower.store.shared);
        let counters = &shared.counters;
        let refused = |reason: CopyRefused| counters.promotions_refused[reason as usize];
        let state = ReclaimState {
            blocks: &shared.blocks,
            heat_epoch: shared.heat.epoch(),
            most_heat: shared.heat.most_reads(),
            spare_slots: space.physical_slots.saturating_sub(space.capacity_slots),
            left_slots: space.physical_slots.saturating_sub(self.keep_slots),
            slots_cleaned: counters.slots_moved_by[Owner::Gc as usize],
            refused_for_room: refused(CopyRefused::OverProvisioning)
                + refused(CopyRefused::Capacity),
        };
        match lower.store.place.cell_mode.gives_back(&state) {
            Some(GiveBack::UnlessOneStays(block)) if self.one_stays(block, lower, ports) => {}
            Some(GiveBack::Now(block) | GiveBack::UnlessOneStays(block)) => {
                self.give_back(now, block, lower, ports);
            }
            Some(GiveBack::ForRoom(block)) => {
                let is_asked = self.give_back(now, block, lower, ports);
                let counters = &mut lower.store.shared.counters;
                counters.superblocks_given_back_for_room += u64::from(is_asked);
            }
            None => {}
        }
    }

    /// Promotes page `item` to `mode` as far as the limits of promotion let it. Its data are in buffer `from`. Returns why it
    /// was refused.
    pub(super) fn promote<M: Arena>(
        &mut self,
        now: Ns,
        item: &Item,
        mode: CellMode,
        from: Buf,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Option<CopyRefused> {
        if !self.limits.may_promote() {
            return Some(CopyRefused::Rate);
        }
        let was_wanted = lower.store.place.relocation.wanted.has(mode);
        let refused = copy(now, item, StreamUse::Promoted(mode), from, lower, ports);
        match refused {
            None => self.limits.spend(),
            // Writes leave no superblock of the pool, whatever cleaning could spare.
            Some(CopyRefused::Reserve) if !lower.store.place.promoted_may_open(mode) => {
                return Some(CopyRefused::OverProvisioning);
            }
            Some(CopyRefused::NoSuperblock) if !was_wanted => {
                let epoch = lower.store.shared.heat.epoch();
                if !self.limits.enough_wait(mode, item.lpn, epoch) {
                    lower.store.place.relocation.wanted.remove(mode);
                    return Some(CopyRefused::Demand);
                }
            }
            Some(_) => {}
        }
        refused
    }

    /// Whether the mode of the superblock of `info`, which is read so often that it will be refreshed, has no free superblock for
    /// its pages and can have one: those that are read most would go to the drive's own mode. What is left of the superblock that
    /// its stream fills does not count, because promotions may take it first.
    pub(super) fn will_lack_its_mode(
        &self,
        info: &SuperblockInfo,
        place: &Placement,
        shared: &Shared,
    ) -> bool {
        place.space.pools.has(info.mode)
            && info.usage == SuperblockUse::Full
            && info.valid_slots > 0
            && !place.will_have_free_in(info.mode, shared)
            && self.over_provisioning_allows(info.mode, place, shared)
    }

    /// The mode that emptied superblock `block` is erased into: `mode`, or that of a stream that has found no
    /// superblock. No superblock of a declared region leaves it for the pool of a mode. One that was in the mode of the stream
    /// costs nothing more.
    pub(super) fn mode_for_stream(
        &mut self,
        block: SuperblockId,
        mode: CellMode,
        place: &mut Placement,
        shared: &mut Shared,
    ) -> CellMode {
        let wanted = place.relocation.wanted.first();
        let own = shared.config.mode;
        let was_in = shared.blocks.info(block).mode;
        match wanted {
            Some(to)
                if mode == own
                    && shared.blocks.region_of(block) == RegionId::MAIN
                    && !place.has_enough_free_in(to, shared)
                    && match to == was_in {
                        // It may be what is taken from a pool that is too large.
                        true if place.pool_mode() == Some(to) => {
                            place.pool_has_place_for_one_more(true) && place.may_lend(0, shared)
                        }
                        true => place.may_lend(0, shared),
                        false => self.may_convert(to, false, place, shared).is_ok(),
                    } =>
            {
                debug_assert_eq!(shared.blocks.info(block).valid_slots, 0, "it is empty");
                place.relocation.wanted.remove(to);
                self.limits.superblock_came(to);
                to
            }
            _ => mode,
        }
    }

    /// Erases a free superblock into the mode of a stream that has found none, unless garbage collection is about
    /// to empty one.
    pub(super) fn convert_free<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let Some(to) = place.relocation.wanted.first() else {
            return;
        };
        let emptying = place.relocation.emptying.map(|e| e.owner);
        if !place.space.erases.may_begin(Erased::Free) || emptying == Some(Owner::Gc) {
            return;
        }
        if place.has_enough_free_in(to, shared) {
            place.relocation.wanted.remove(to);
            return;
        }
        let chosen = self.may_convert(to, true, place, shared).and_then(|()| {
            place
                .free_for_conversion(shared)
                .ok_or(CopyRefused::Reserve)
        });
        match chosen {
            Ok(block) => {
                place.relocation.wanted.remove(to);
                self.limits.superblock_came(to);
                place.take_free(block, shared);
                store.start_erase(now, block, to, Erased::Free, ports);
            }
            // Cleaning makes room for one more superblock first.
            Err(CopyRefused::Reserve) if self.over_provisioning_allows(to, place, shared) => {}
            Err(reason) => {
                place.relocation.wanted.remove(to);
                // The pool that the host writes to asks again, and no page was refused for it.
                let of_pool = place.pool_mode() == Some(to) && place.relocation.pool_alone_wants;
                shared.counters.promotions_refused[reason as usize] += u64::from(!of_pool);
            }
        }
    }

    /// Whether the over-provisioning allows that a superblock of the drive's own mode changes to mode `to`.
    fn over_provisioning_allows(&self, to: CellMode, place: &Placement, shared: &Shared) -> bool {
        if let Some(may_grow) = place.pool_may_grow(to) {
            return may_grow;
        }
        let own = shared.slots_of(shared.config.mode);
        let shrinks = u64::from(own - shared.slots_of(to)) + self.promised_slots(place);
        !place.space.read_only
            && place.space.holds_capacity_without(shrinks)
            && place.space.physical_slots >= self.keep_slots + shrinks
    }

    /// Whether a superblock of the drive's own mode may change to mode `to`: one that `is_free`, or one that has just been
    /// emptied.
    fn may_convert(
        &mut self,
        to: CellMode,
        is_free: bool,
        place: &mut Placement,
        shared: &mut Shared,
    ) -> Result<(), CopyRefused> {
        if !self.over_provisioning_allows(to, place, shared) {
            return Err(CopyRefused::OverProvisioning);
        }
        if !place.cell_mode.may_convert(to, &shared.blocks) {
            return Err(CopyRefused::Capacity);
        }
        let may = match is_free {
            true => place.may_convert_free(shared),
            // It was being emptied, so the change takes no free one: hence the 0.
            false => place.may_lend(0, shared),
        };
        match may {
            true => Ok(()),
            false => Err(CopyRefused::Reserve),
        }
    }

    /// Slots that the drive will lose by changes of mode that were asked for and are not done.
    pub(super) fn promised_slots(&self, place: &Placement) -> u64 {
        let promised = self.asked.iter().chain(&place.relocation.emptying);
        promised.map(|e| u64::from(e.shrinks)).sum()
    }
}

#[cfg(test)]
mod tests;
