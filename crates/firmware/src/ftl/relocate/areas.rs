//! Areas: which superblock each of them has cleaned, and how the low wearing area gets room.
//!
//! Garbage collection works for the host, whose superblocks are those of the high wearing area, and so asks the
//! instance of that area. Only if it yields next to nothing beside what the other area would yield, or if the high
//! wearing area is overfull, is a superblock of the low wearing area cleaned for the host.
//!
//! The low wearing area is emptied for its own sake when it has no free superblock left: within the area, or into the
//! high wearing one.

use firstread_core::{SuperblockId, Wait};

use super::Relocate;
use crate::flash_store::FlashStore;
use crate::ftl::place::Evacuation;
use crate::lower_layers::LowerLayers;
use crate::observe::{Area, Owner, SuperblockUse};
use crate::policy::area::{LowRoom, MakeRoom};
use crate::policy::gc_victim::{GcVictim, LEAST_SHARE, Outlook, Victims};

impl Relocate {
    /// The superblocks of `area` to choose a victim from, after all that `outlook` tells.
    pub(super) fn victims_in<'a, M>(
        &self,
        area: Area,
        outlook: Outlook<'a>,
        store: &'a FlashStore<M>,
    ) -> Victims<'a> {
        let shared = &store.shared;
        let blocks = shared.blocks.in_area(area);
        Victims::new(blocks, &shared.config.geometry, outlook)
    }

    /// What the instance of `area` would clean after `after` others, and the slots that this yields.
    fn victim_in<M>(
        &self,
        area: Area,
        after: u64,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<(SuperblockId, u32)> {
        let victims = self.victims_in(area, outlook, store).after(after);
        let victim = &self.gc.victim[area as usize];
        let block = victim.choose(victims, self.gc.chosen + after)?;
        let row = store.shared.blocks.row(block);
        Some((block, victims.filled(row).gain()))
    }

    /// The victim of garbage collection after `after` others, on a drive with areas.
    pub(super) fn victim_of_areas<M>(
        &self,
        after: u64,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        let high = self.victim_in(Area::High, after, outlook, store);
        let low = self.victim_in(Area::Low, after, outlook, store);
        let yields = |of: Option<(SuperblockId, u32)>| of.map_or(0, |(_, gain)| u64::from(gain));
        let is_high = match store.place.keeps_low() {
            true => yields(high) * LEAST_SHARE >= yields(low),
            false => yields(high) >= yields(low),
        };
        let chosen = match is_high {
            true => high.or(low),
            false => low.or(high),
        };
        chosen.map(|(block, _)| block)
    }

    /// Asks for a superblock of the low wearing area to be emptied, if room is wanted there and the scheme says how.
    pub(super) fn make_room_in_low<M>(&mut self, lower: &mut LowerLayers<M>) {
        let store = &mut lower.store;
        if !store.place.low_is_wanted() || self.room.is_some() {
            return;
        }
        let Some(for_hot) = store.place.begin_to_make_room(&store.shared) else {
            return;
        };
        store.shared.update_index();
        let now = Outlook::default();
        let low = self.victim_in(Area::Low, 0, now, store);
        let high = self.victim_in(Area::High, 0, now, store);
        let gain_of = |of: Option<(SuperblockId, u32)>| of.map_or(0, |(_, gain)| gain);
        let room = LowRoom {
            low_gain: gain_of(low),
            high_gain: gain_of(high),
            slots: store.place.space.largest_slots as u32,
            for_hot,
        };
        let (owner, block) = match store.place.makes_room(&room) {
            MakeRoom::Compact => (Owner::Gc, low.map(|(block, _)| block)),
            MakeRoom::ReturnOldest => (Owner::Return, oldest_low(store)),
            MakeRoom::Nothing => return,
        };
        let Some(block) = block else { return };
        if owner == Owner::Return {
            store.place.begin_return();
        }
        let shared = &store.shared;
        let row = shared.blocks.row(block);
        self.room = Some(Evacuation {
            owner,
            block,
            opened: row.opened,
            mode: store.place.mode_after(row.mode, shared),
            row: 0,
            rows: 0,
            shrinks: 0,
        });
        store.place.relocation.asked += 1;
        self.again = true;
    }

    /// The superblock of the low wearing area that is emptied next for room there, unless it has changed since. Like wear
    /// leveling it gives back what it takes, and waits for the host.
    pub(super) fn next_for_room<M>(&mut self, lower: &mut LowerLayers<M>) -> Option<Evacuation> {
        self.room?;
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let waits =
            place.relocation.host_waits.has(Wait::Superblock) || !place.can_spare(0, shared);
        let asked = match waits {
            true => return None,
            false => self.room.take()?,
        };
        place.relocation.asked -= 1;
        let row = shared.blocks.row(asked.block);
        let has_stayed = row.usage == SuperblockUse::Full && row.opened == asked.opened;
        if !has_stayed || row.leaving || !place.fits(row.valid_slots, shared) {
            return None;
        }
        shared.counters.superblocks_compacted += u64::from(asked.owner == Owner::Gc);
        Some(asked)
    }
}

/// The full superblock of the low wearing area that was opened longest ago.
fn oldest_low<M>(store: &FlashStore<M>) -> Option<SuperblockId> {
    let low = store.shared.blocks.in_area(Area::Low);
    let at_rest = low.iter().filter(|(_, row)| {
        row.usage == SuperblockUse::Full && !row.leaving && !row.failed && !row.holds_map
    });
    let oldest = at_rest.min_by_key(|(_, row)| row.opened);
    oldest.map(|(block, _)| block)
}
