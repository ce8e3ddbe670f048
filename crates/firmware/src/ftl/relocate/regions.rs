//! Regions: which superblock each of them has cleaned, and how the region that a scheme declares gets room.
//!
//! Garbage collection works for the host, whose superblocks are those of the drive's own region, and so asks the
//! instance of that region. A superblock of another region is cleaned for the host in two cases: if the victim of the
//! own region yields next to nothing compared with the other one, or if the drive's own region is overfull.
//!
//! The declared region is emptied for its own sake when it has no free superblock left: within the region, or into the
//! drive's own one.

use firstread_core::{SuperblockId, Wait};

use super::Relocate;
use crate::flash_store::FlashStore;
use crate::ftl::place::Evacuation;
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, RegionId, SuperblockUse};
use crate::policy::area::{Areas, MakeRoom, RegionRoom};
use crate::policy::gc_victim::{GcVictim, LEAST_SHARE, Outlook, Victims};

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
    fn victim_in<M>(
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

    /// The victim of garbage collection after `after` others, on a drive with several regions.
    pub(super) fn victim_of_regions<M>(
        &self,
        after: u64,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        let yields = |of: Option<(SuperblockId, u32)>| of.map_or(0, |(_, gain)| u64::from(gain));
        let mut chosen = self.victim_in(RegionId::MAIN, after, outlook, store);
        for region in store.shared.blocks.regions().skip(1) {
            let other = self.victim_in(region, after, outlook, store);
            let stands = match store.place.keeps(region) {
                true => yields(chosen) * LEAST_SHARE >= yields(other),
                false => yields(chosen) >= yields(other),
            };
            chosen = match stands {
                true => chosen.or(other),
                false => other.or(chosen),
            };
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
        self.for_room?;
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let waits =
            place.relocation.host_waits.has(Wait::Superblock) || !place.can_spare(0, shared);
        let asked = match waits {
            true => return None,
            false => self.for_room.take()?,
        };
        place.relocation.asked -= 1;
        let info = shared.blocks.info(asked.block);
        let has_stayed = info.usage == SuperblockUse::Full && info.opened == asked.opened;
        if !has_stayed || info.evacuating || !place.fits(info.valid_slots, shared) {
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
