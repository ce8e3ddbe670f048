//! Regions: which superblock each of them has cleaned, and how the region that a scheme declares gets room.
//!
//! Garbage collection works for the host, whose superblocks are those of the drive's own region, and so asks the
//! instance of that region. A superblock of another region is cleaned for the host only if the drive's own region is
//! overfull, or has no victim.
//!
//! The declared region is emptied for its own sake when it has no free superblock left: within the region, or into the
//! drive's own one.

use firstread_core::SuperblockId;

use super::Relocate;
use crate::flash_store::FlashStore;
use crate::ftl::place::Evacuation;
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, RegionId, SuperblockUse};
use crate::policy::area::{Areas, MakeRoom, RegionRoom};
use crate::policy::gc_victim::{GcVictim, Outlook, Victims};

impl Relocate {
    /// The superblocks of `region` to choose a victim from, after all that `outlook` tells.
    pub(super) fn victims_in<'a, M>(
        &self,
        region: RegionId,
        outlook: Outlook<'a>,
        store: &'a FlashStore<M>,
    ) -> Victims<'a> {
        let shared = &store.shared;
        let blocks = shared.blocks.in_region(region);
        Victims::new(blocks, &shared.config.geometry, outlook)
    }

    /// The victim that the instance of `region` would choose after `after` others, and the slots that cleaning it
    /// yields.
    pub(super) fn victim_in<M>(
        &self,
        region: RegionId,
        after: u64,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<(SuperblockId, u32)> {
        let victims = self.victims_in(region, outlook, store).after(after);
        let victim = &self.gc.victim[region.index()];
        let block = victim.choose(victims, self.gc.chosen + after)?;
        let info = store.shared.blocks.info(block);
        Some((block, victims.filled(info).gain()))
    }

    /// The victim of garbage collection after `after` others, on a drive with several regions: the one that yields more. A
    /// superblock of a region whose free superblocks are kept is of no use to the host, so it is a victim only if there is
    /// no other.
    pub(super) fn victim_of_regions<M>(
        &self,
        after: u64,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        let yields = |of: Option<(SuperblockId, u32)>| of.map_or(0, |(_, gain)| gain);
        let mut chosen = self.victim_in(RegionId::MAIN, after, outlook, store);
        for region in store.shared.blocks.regions().skip(1) {
            if chosen.is_some() && store.place.keeps(region) {
                continue;
            }
            let other = self.victim_in(region, after, outlook, store);
            if yields(chosen) < yields(other) {
                chosen = other;
            }
        }
        chosen.map(|(block, _)| block)
    }

    /// Asks for a superblock of the declared region to be emptied, if room is wanted there and the scheme says how.
    pub(super) fn make_room<M>(&mut self, lower: &mut LowerLayers<M>) {
        let store = &mut lower.store;
        if !store.place.room_is_wanted() || self.for_room.is_some() {
            return;
        }
        let Some(is_urgent) = store.place.begin_to_make_room(&store.shared) else {
            return;
        };
        store.shared.update_index();
        let now = Outlook::default();
        let victim = self.victim_in(RegionId::DECLARED, 0, now, store);
        let own = self.victim_in(RegionId::MAIN, 0, now, store);
        let gain_of = |of: Option<(SuperblockId, u32)>| of.map_or(0, |(_, gain)| gain);
        let room = RegionRoom {
            gain: gain_of(victim),
            own_gain: gain_of(own),
            slots: store.place.space.largest_slots as u32,
            is_urgent,
        };
        let (owner, block) = match store.place.area.makes_room(&room) {
            MakeRoom::Compact => (Owner::Gc, victim.map(|(block, _)| block)),
            MakeRoom::EmptyOldest => (Owner::MakeRoom, oldest_in(RegionId::DECLARED, store)),
            MakeRoom::Nothing => return,
        };
        let Some(block) = block else { return };
        if !store.place.own_region_takes(block, owner, &store.shared) {
            return;
        }
        if owner == Owner::MakeRoom {
            store.place.area.oldest_leaves();
        }
        let shared = &store.shared;
        let info = shared.blocks.info(block);
        self.for_room = Some(Evacuation {
            owner,
            block,
            opened: info.opened,
            mode: store.place.mode_after(info.mode, shared),
            mp_page: 0,
            mp_pages: 0,
            shrinks: 0,
        });
        store.place.relocation.asked += 1;
        self.again = true;
    }

    /// The superblock of the declared region that is emptied next for room there, unless it has changed since. Like
    /// wear leveling it gives back what it takes, and waits for the host.
    pub(super) fn next_for_room<M>(&mut self, lower: &mut LowerLayers<M>) -> Option<Evacuation> {
        let asked = self.for_room?;
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let waits = !place.can_spare(0, shared)
            || !place.may_empty(asked.block, asked.owner, false, shared);
        let asked = match waits {
            true => return None,
            false => self.for_room.take()?,
        };
        place.relocation.asked -= 1;
        let info = shared.blocks.info(asked.block);
        let has_stayed = info.usage == SuperblockUse::Full && info.opened == asked.opened;
        let is_full = !place.own_region_takes(asked.block, asked.owner, shared);
        if !has_stayed || info.evacuating || is_full || !place.fits(info.valid_slots, shared) {
            return None;
        }
        shared.counters.superblocks_compacted += u64::from(asked.owner == Owner::Gc);
        Some(asked)
    }
}

/// The full superblock of `region` that was opened longest ago.
fn oldest_in<M>(region: RegionId, store: &FlashStore<M>) -> Option<SuperblockId> {
    let blocks = store.shared.blocks.in_region(region);
    let at_rest = blocks.iter().filter(|(_, info)| {
        info.usage == SuperblockUse::Full && !info.evacuating && !info.failed && !info.holds_map
    });
    let oldest = at_rest.min_by_key(|(_, info)| info.opened);
    oldest.map(|(block, _)| block)
}
