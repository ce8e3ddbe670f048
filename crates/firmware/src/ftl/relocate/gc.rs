//! Garbage collection: when, and how fast. Wear leveling goes with it.
//!
//! **When.** The host needs a free superblock once its open superblock is full: that is the deadline.
//! Cleaning begins when too few superblocks would be free at the deadline for the host to take one. It begins
//! no sooner, because garbage accumulates with time.
//!
//! **Which.** When the host opens a superblock, the scheme of `gc_victim` is asked which victims it will
//! choose until the next opening: these victims are *planned*. When a victim's turn comes, the scheme
//! chooses again, but if the new choice holds more valid data, the planned victim stands. So the number of
//! moves until the deadline can only decrease. A scheme may choose a nearly full superblock without making a
//! write wait for it.
//!
//! **How fast.** The moves needed until enough superblocks are free are spread evenly over the slots that the
//! host can write until the deadline. Both numbers are updated every few slots. The moves are the valid slots
//! of the current victim and of the planned victims, as they are now. The superblocks that moved data will
//! fill are taken into account. Cleaning ends a little before the deadline, so that the last erase has ended
//! by then.
//!
//! **Writes that wait.** Each host slot makes some moves due. While more moves are due than a wordline over
//! all dies holds, writes wait for moves. So each write waits a little, instead of one write for all the
//! work. Writes stall for long only when the last superblock that the host may have is full: then cleaning
//! runs at full speed.
//!
//! **What is not worth cleaning.** When a drive runs out of room for the host, its garbage is about the size
//! of its spare space. Before that point, a superblock is cleaned only if it yields at least half of the
//! average garbage per superblock at that point; the host can still write without it. So each host slot costs
//! a bounded number of moves: `docs/firmware/cleaning.md` has the argument.

use firstread_core::{SuperblockId, Wait};

use super::Relocate;
use super::steepest::{Asked, Spread, Steepest};
use super::victims::{Cold, MOST_PLANNED};
use crate::flash_store::FlashStore;
use crate::ftl::place::{CleanedRound, FILLED, Placement};
use crate::observe::{Among, Filled, Owner, RegionId, SuperblockUse};
use crate::policy::gc_victim::{GcVictim, Outlook};
use crate::shared::Shared;

/// Wordlines over all dies that the host can still fill when cleaning ends: an erase takes about as long as
/// ten SLC programs, and writes share the dies with moves.
const AHEAD_WORDLINES: u32 = 8;
impl Relocate {
    /// Lower and upper estimate of the map pages written until the host has written `left` slots. The
    /// rate is that of the recent past, with four standard deviations of a Poisson count on either side. Map
    /// pages take headroom, and one slot missing at the deadline costs the moves of a whole superblock.
    fn map_pages_to_come<M>(&self, left: u32, store: &FlashStore<M>) -> (i64, i64) {
        let (place, counters) = (&store.place, &store.shared.counters);
        let before = place.relocation.written_before[0];
        let slots = counters.host_slots_written - before.0;
        let pages = counters.front.map_writes - before.1;
        // Of what the host writes, a pool takes a part that does not bring its own superblock nearer.
        let left = place.pool_stretches(left, &store.shared);
        let mean = left * pages / slots.max(1);
        let off = 4 * mean.isqrt() as i64;
        (mean as i64 - off, mean as i64 + off)
    }

    /// Updates the pace: how many moves become due with each slot that the host writes.
    pub(crate) fn update_pace<M>(&mut self, store: &mut FlashStore<M>) {
        if core::mem::take(&mut store.place.relocation.plan_anew) {
            self.gc.plan_anew();
        }
        self.look_at_host(store);
        store.place.relocation.pace.update();
        store.place.pauses_moves(&store.shared);
        let slots = store.place.space.largest_slots as u32;
        let wordline = store.place.relocation.pace.wordline();
        let ahead = (AHEAD_WORDLINES * wordline).min(slots / 8);
        let spread = Spread { ahead };
        let Some(Asked { moves, until }) = self.moves_until_free(spread, store) else {
            return store.place.relocation.pace.rest();
        };
        let pace = &mut store.place.relocation.pace;
        pace.spread(moves, spread.over(until));
    }

    /// Wear leveling is planned when the host opens a superblock.
    fn look_at_host<M>(&mut self, store: &FlashStore<M>) {
        if !self.lets_level(store) {
            return;
        }
        let is_own = |cold: &Cold| store.shared.blocks.region_of(cold.block) == RegionId::MAIN;
        let waits = self.gc.cold.as_ref().is_some_and(is_own);
        let (since, _) = store.place.relocation.written_before[1];
        self.gc.leveling.host_opened(since, waits);
    }

    /// Whether the moves of wear leveling may be planned now. Of several streams of the host, others may be about to open a superblock:
    /// they come first.
    fn lets_level<M>(&self, store: &FlashStore<M>) -> bool {
        let (place, shared) = (&store.place, &store.shared);
        !place.has_several_of_host()
            || 2 * u64::from(place.left_for_host(shared)) >= place.space.largest_slots
    }

    /// Moves until the host can have the superblocks that it needs next, and the slots that it writes until then; none if it can have
    /// them now. Of the openings of several streams the one counts that asks for the most moves a slot. `spread` says over how many slots
    /// moves are spread. Moves in flight do not count.
    fn moves_until_free<M>(&mut self, spread: Spread, store: &mut FlashStore<M>) -> Option<Asked> {
        let (of_one, of_several);
        let openings = match store.place.has_several_of_host() {
            false => {
                of_one = [store.place.left_for_host(&store.shared)];
                &of_one[..]
            }
            true => {
                of_several = store.place.openings();
                of_several.until()
            }
        };
        let map_pages = |until: u32, store: &FlashStore<M>| self.map_pages_to_come(until, store).1;
        let to_come = map_pages(openings[0], store);
        let (place, shared) = (&store.place, &store.shared);
        let space = &place.space;
        let slots = space.largest_slots as i64;
        let for_claim = i64::from(place.relocation.claims.is_served);
        let mut missing = place.missing_headroom(shared) + to_come + for_claim * slots;
        // Superblocks kept for another region are not the host's; the one being emptied counts below.
        let (kept, _) = place.kept_soon(shared);
        let mut free = i64::from(space.free_soon(&shared.blocks)) - for_claim - i64::from(kept);
        let can_open = || to_come + for_claim == 0 && place.can_open(slots as u32, shared);
        // Openings that have their superblock already.
        let mut served = usize::from(free > 0 && (missing <= 0 || can_open()));
        let mut steepest = Steepest::new(spread, slots as u32);
        if served == openings.len() {
            return None;
        }
        if served > 0 {
            missing += slots + map_pages(openings[served], store) - to_come;
            free -= 1;
        }
        // What stays in its region takes nothing of the drive's own one.
        let stay = i64::from(place.stay_of_emptying(shared));
        // Wear leveling that is planned takes no superblock: it gives back the one that it empties. So its moves come on top, and
        // nothing counts on its superblock, because it may not come.
        let leveling = self.gc.leveling.moves_to_come();
        let several = store.place.has_several_of_host();
        let room = store.place.room_of_neighbours();
        // Of several streams, one may be about to open its superblock: wear leveling waits until that is done.
        let is_soon = |until: u32, steepest: &Steepest| several && steepest.is_near(until);
        let with_leveling =
            |moves: i64, until: u32, steepest: &Steepest| match is_soon(until, steepest) {
                true => moves,
                false => moves + leveling,
            };
        self.gc.standing = 0;
        let mut moves = 0;
        // A victim's superblock is free after it has been emptied. Its headroom counts from the moment it is
        // chosen.
        let mut next = place.relocation.emptying.map(|current| {
            let all_begun = current.mp_page == current.mp_pages;
            let valid = shared.blocks.info(current.block).valid_slots;
            if all_begun { 0 } else { i64::from(valid) }
        });
        for after in 0..MOST_PLANNED {
            while missing <= 0 && free > store.place.taken_by_moves(moves, stay) {
                // A further superblock that is there already needs no moves.
                let until = openings[served];
                if served == 0 || moves > 0 {
                    steepest.add(with_leveling(moves, until, &steepest), until);
                }
                if is_soon(until, &steepest) {
                    self.gc.standing = after;
                }
                served += 1;
                if served == openings.len() {
                    return steepest.that_sets_pace(room);
                }
                let map_pages = |until: u32| self.map_pages_to_come(until, store).1;
                missing += slots + map_pages(openings[served]) - map_pages(openings[served - 1]);
                free -= 1;
            }
            if let Some(valid) = next {
                moves += valid;
                free += 1;
            }
            let Some(block) = self.planned(after, store) else {
                missing = 0;
                break;
            };
            let info = store.shared.blocks.info(block);
            next = Some(i64::from(info.valid_slots));
            missing -= i64::from(store.place.headroom_gained(info, &store.shared));
        }
        let until = openings[served];
        if is_soon(until, &steepest) {
            self.gc.standing = MOST_PLANNED;
        }
        // Later victims are taken to hold as much as the last one that is planned, or as all on average where any may be a victim.
        let last = match self.gc.victim().takes_any() {
            true => self.mean_valid(store),
            false => next.unwrap_or(0),
        };
        let last = last.min(slots - 1);
        let further = missing.max(0) * last / (slots - last);
        steepest.add(with_leveling(moves, until, &steepest) + further, until);
        steepest.that_sets_pace(room)
    }

    /// The victim after `after` others, as things are now.
    fn planned<M>(&mut self, after: usize, store: &mut FlashStore<M>) -> Option<SuperblockId> {
        if let Some(block) = self.planned_victim(after, store) {
            return Some(block);
        }
        store.shared.update_index();
        let filled = self.filled_to_their_end(store);
        let outlook = Outlook {
            full: &filled,
            emptied: &self.gc.planned[..after],
        };
        let next = self.next_victim(after, outlook, store);
        self.gc.planned[after] = next?;
        self.gc.planned_count = after + 1;
        next
    }

    /// Superblocks that are completely filled but not completely programmed. The map's open superblock counts
    /// if it will be full before the host's is: it may be mostly garbage, and would then be cleaned first.
    fn filled_to_their_end<M>(&self, store: &FlashStore<M>) -> [Option<SuperblockId>; FILLED] {
        let map_ends = store.place.has_map() && {
            let map_left = store.place.left_for_map();
            let left = store.place.left_for_host(&store.shared);
            self.map_pages_to_come(left, store).0 > i64::from(map_left)
        };
        store.place.filled_to_their_end(map_ends)
    }

    /// The victim after `after` others, if it was planned and can still be cleaned.
    fn planned_victim<M>(&self, after: usize, store: &FlashStore<M>) -> Option<SuperblockId> {
        let block = *self.gc.planned[..self.gc.planned_count].get(after)?;
        let info = store.shared.blocks.info(block);
        let will_be_full = match info.usage {
            SuperblockUse::Open => self.filled_to_their_end(store),
            _ => [None; FILLED],
        };
        let outlook = Outlook {
            full: &will_be_full,
            emptied: &[],
        };
        let has_garbage = info.valid_slots < store.shared.slots_of(info.mode)
            || self.gc.victim().takes_any()
            || store.shared.blocks.apart().has(info.mode);
        (has_garbage && outlook.is_at_rest(block, info)).then_some(block)
    }

    /// The victim after `after` others, chosen now, after all that `outlook` tells. A map superblock that is half garbage
    /// comes first.
    fn next_victim<M>(
        &self,
        after: usize,
        outlook: Outlook<'_>,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        let after = after as u64;
        let first = map_victim(outlook, &store.place, &store.shared)
            .or_else(|| self.victim_of_pool(outlook, false, store));
        let first = first.or_else(|| {
            if store.shared.blocks.has_regions() {
                return self.victim_of_regions(after, outlook, store);
            }
            // Each cleaned superblock makes room to open one.
            let victims = self.victims_in(RegionId::MAIN, outlook, store).after(after);
            self.gc.victim().choose(victims, self.gc.chosen + after)
        });
        first.or_else(|| self.victim_of_pool(outlook, true, store))
    }

    /// The superblock to be cleaned or wear-leveled next.
    pub(crate) fn choose_victim<M>(
        &mut self,
        store: &mut FlashStore<M>,
    ) -> Option<(Owner, SuperblockId)> {
        if store.place.space.read_only {
            return None;
        }
        if let Some(block) = self.choose_cold(store) {
            return Some((Owner::Wear, block));
        }
        self.update_pace(store);
        if !self.may_move(Owner::Gc, store) {
            return None;
        }
        let block = self.worth_cleaning(store);
        let Some(block) = block else {
            store.place.relocation.pace.rest();
            return None;
        };
        self.gc.choose(block);
        store.place.cleans(block, &store.shared);
        store.place.relocation.pace.update_soon();
        Some((Owner::Gc, block))
    }

    /// The superblock to be wear-leveled next. Wear leveling gives back what it takes, so it needs no more headroom than
    /// cleaning. But it can wait. One that may not be emptied yet is asked for again, because the scheme has counted it as moved: its
    /// moves are planned when the host opens its next superblock.
    pub(super) fn choose_cold<M>(&mut self, store: &mut FlashStore<M>) -> Option<SuperblockId> {
        self.look_at_host(store);
        while (self.gc.cold.is_some() || self.gc.worn_region().is_some())
            && !store.place.relocation.host_waits.has(Wait::Superblock)
            && store.place.can_spare(0, &store.shared)
        {
            let chosen = match self.gc.cold.take() {
                Some(cold) => {
                    let info = store.shared.blocks.info(cold.block);
                    let is_at_rest = Outlook::default().is_at_rest(cold.block, info);
                    (is_at_rest && info.opened == cold.opened).then_some(cold.block)
                }
                None => {
                    let region = self.gc.worn_region()?;
                    self.gc.consider_wear[region.index()] = false;
                    store.shared.update_index();
                    store.place.cold(region, &store.shared)
                }
            };
            let Some(block) = chosen else { continue };
            let lets_level = self.lets_level(store);
            let (place, shared) = (&mut store.place, &store.shared);
            let is_own = shared.blocks.region_of(block) == RegionId::MAIN;
            let (left, superblock) = (place.left_for_host(shared), place.space.largest_slots);
            let has_time = is_own && lets_level && self.gc.leveling.has_time(left, superblock);
            let may = place.may_empty(block, Owner::Wear, has_time, shared);
            let info = shared.blocks.info(block);
            if is_own {
                self.gc.leveling.asked(info.valid_slots, may);
            }
            if may {
                return chosen;
            }
            let opened = info.opened;
            self.gc.cold = Some(Cold { block, opened });
            return None;
        }
        None
    }

    /// The next victim, if cleaning it is worth its moves, or if the host cannot continue without it.
    pub(super) fn worth_cleaning<M>(&self, store: &mut FlashStore<M>) -> Option<SuperblockId> {
        store.shared.update_index();
        let store = &*store;
        let now = Outlook::default();
        if !self.has_to_clean(store) && map_victim(now, &store.place, &store.shared).is_none() {
            let regions = store.shared.blocks.regions();
            // The host may not open what is freed in a kept region, so garbage there is no reason to begin early.
            let for_host = regions.filter(|region| !store.place.keeps(*region));
            let gains = for_host.map(|region| self.victims_in(region, now, store).best_gain());
            let is_too_large = store.place.pool_is_too_large(0);
            if !is_too_large && gains.max() < Some(self.least_gain(store)) {
                return None;
            }
        }
        let valid = |block: &SuperblockId| store.shared.blocks.info(*block).valid_slots;
        let next = self.next_victim(0, now, store)?;
        let planned = self
            .planned_victim(0, store)
            .filter(|block| store.shared.blocks.info(*block).usage == SuperblockUse::Full)
            .filter(|block| valid(block) < valid(&next));
        self.victim_that_fits(planned.unwrap_or(next), store)
    }

    /// Slots that the emptiest superblock must yield for cleaning to begin before the host runs out of room:
    /// half of the average yield at that point.
    fn least_gain<M>(&self, store: &FlashStore<M>) -> u32 {
        let CleanedRound {
            slots,
            needed,
            superblocks,
        } = store.place.cleaned_round();
        (slots.saturating_sub(needed) / (2 * superblocks.max(1))) as u32
    }

    /// Valid slots of a superblock on average when the host has run out of room.
    fn mean_valid<M>(&self, store: &FlashStore<M>) -> i64 {
        let round = store.place.cleaned_round();
        (round.needed / round.superblocks.max(1)) as i64
    }

    /// Whether a multi-plane page may be moved for `owner` now.
    pub(crate) fn may_move<M>(&self, owner: Owner, store: &FlashStore<M>) -> bool {
        let others_ask = store.place.space.failed > 0 || self.has_asked();
        !matches!(owner, Owner::Gc | Owner::Wear)
            || store.place.relocation.pace.is_due()
            || self.has_to_clean(store)
            || (owner == Owner::Wear && others_ask)
            // Without writes no move is ever due: cleaning that has begun ends for those who wait behind it.
            || (owner == Owner::Gc && others_ask && store.place.relocation.emptying.is_some())
            || (owner == Owner::Gc && store.place.empties_declared(&store.shared))
    }

    /// Whether something cannot continue before a superblock has been cleaned.
    fn has_to_clean<M>(&self, store: &FlashStore<M>) -> bool {
        store.place.relocation.superblock_is_wanted()
            || (store.place.space.pools.free() == 0 && store.place.has_rewrites())
            || store.place.pool.waits_at_rest()
            || self.others_wait(store)
    }

    /// Whether there may be something to move, apart from requests.
    #[inline]
    pub(crate) fn has_more_to_move<M>(&self, store: &FlashStore<M>) -> bool {
        store.place.relocation.pace.is_due()
            || store.place.relocation.superblock_is_wanted()
            || store.place.space.failed > 0
            || self.gc.worn_region().is_some()
            || self.gc.cold.is_some()
    }

    /// The superblock to be cleaned: `chosen`, or the one that gains most if `chosen` does not fit or the
    /// reserve has to be refilled.
    pub(crate) fn victim_that_fits<M>(
        &self,
        chosen: SuperblockId,
        store: &FlashStore<M>,
    ) -> Option<SuperblockId> {
        let valid = |block: &SuperblockId| store.shared.blocks.info(*block).valid_slots;
        let (place, shared) = (&store.place, &store.shared);
        let best = || place.gains(shared).max_by_key(|(_, gain)| *gain);
        let best = || best().map(|(block, _)| block);
        let chosen = Some(chosen).filter(|block| place.fits(valid(block), shared));
        // While the reserve is short the host waits. The scheme may choose a nearly full superblock, which refills the
        // reserve slowly, so the one that gains most is cleaned instead.
        let chosen = if store.place.space.is_short && !store.place.can_spare(0, &store.shared) {
            None
        } else {
            chosen
        };
        chosen.or_else(|| best().filter(|block| place.fits_with_host(valid(block), shared)))
    }

    /// Whether only garbage collection may move data, because cleaning has no superblock to spare and other
    /// evacuations wait for one.
    pub(crate) fn others_wait<M>(&self, store: &FlashStore<M>) -> bool {
        !store.place.has_spare() && (store.place.space.failed > 0 || self.has_asked())
    }
}

/// The map superblock to be cleaned before others: the one with the smallest share of valid slots, if at least half of it is
/// garbage.
fn map_victim(outlook: Outlook<'_>, place: &Placement, shared: &Shared) -> Option<SuperblockId> {
    if !place.has_map() {
        return None;
    }
    let half = |filled: Filled, _| (filled.valid <= filled.slots / 2).then_some(filled);
    let geometry = &shared.config.geometry;
    let emptiest = shared.blocks.regions().filter_map(|region| {
        outlook.first(shared.blocks.in_region(region), geometry, Among::Map, half)
    });
    emptiest.min().map(|(_, block)| block)
}
