//! Regions: which superblocks a stream opens, and which free superblocks are kept for a stream.
//!
//! A region is a range of superblocks that is worn and cleaned by itself. Every drive has a region of its own, to which
//! the host writes. A scheme of axis `area` may declare one more region, with a stream for the data that enter there.
//!
//! A region is a preference. The headroom counts free superblocks of all regions alike, and the proof that cleaning can
//! finish does not depend on regions (`reserve`). But the free superblocks of a declared region are kept from the host,
//! the map and refresh, as long as the drive's own region can hold its data with the reserve. Otherwise the host would
//! take the kept superblocks first, since cleaning makes room for no more than one superblock. If the drive's own
//! region is overfull, its streams may open them too.
//!
//! The stream of a declared region is no stream of relocation. The stream opens a superblock only if the reserve is
//! left without this superblock, and a slot of an open superblock takes no headroom. A page for which the stream has no
//! slot goes where it would go on a drive with one region. Only moves wait for the stream's write buffer: data that are
//! emptied within the region are to stay there.

use firstread_core::{Ns, SuperblockId, Wait};

use super::target::Taken;
use super::{Evacuation, Placement, TakeError};
use crate::observe::{OpenedFor, Owner, RegionId, StreamId, StreamUse, SuperblockUse, Writer};
use crate::policy::area::{Areas, Entry};
use crate::policy::page_type::Wish;
use crate::policy::wear::Wear;
use crate::shared::Shared;

impl Placement {
    /// Superblocks have changed: the scheme of axis `area` looks at them, and which pools are kept is decided anew.
    pub(crate) fn look_at_regions(&mut self, shared: &Shared) {
        if shared.blocks.has_regions() {
            self.area.look(&shared.blocks);
            let holds = self.own_region_holds(0, shared);
            let was_kept = self.keeps(RegionId::DECLARED);
            self.keep(holds);
            if holds && !was_kept && self.host_lacks_what_is_kept(shared) {
                self.keep(false);
            }
            // Victims of a region that is kept are of no use to the host. Where it is kept no longer, planned victims stay: others
            // could hold more, and the host would have to make up for that within what is left of its superblock.
            self.relocation.plan_anew |= self.keeps(RegionId::DECLARED) && !was_kept;
        }
    }

    fn keep(&mut self, is_kept: bool) {
        for pool in self.space.pools.declared_mut() {
            pool.is_kept = is_kept;
        }
    }

    /// Whether the host, which writes, lacks its next superblock because free ones of a declared region are kept. They are kept
    /// anew only when that takes nothing from the host: where the drive's own region just holds its data, the host had to
    /// make up for a superblock each time, and writes waited for seconds.
    fn host_lacks_what_is_kept(&self, shared: &Shared) -> bool {
        shared.counters.host_slots_written > 0
            && self.kept_soon(shared).0 > 0
            && !self.host_has_next_without(self.promised_to_claim(), shared)
    }

    /// Whether the drive's own region has room for its data and `more` slots, the reserve and the least spare.
    fn own_region_holds(&self, more: u64, shared: &Shared) -> bool {
        let usable = shared.blocks.in_region(RegionId::MAIN);
        let usable = usable.iter().map(|(_, info)| info);
        let usable = usable.filter(|info| info.usage != SuperblockUse::Bad);
        let (slots, valid) = usable.fold((0, 0), |(slots, valid), info| {
            let of_block = u64::from(shared.slots_of(info.mode));
            (slots + of_block, valid + u64::from(info.valid_slots))
        });
        let kept = self.space.needed_slots - self.space.capacity_slots;
        slots >= valid + more + kept + self.space.least_spare()
    }

    /// Whether writes of the host are refused, although there is room.
    #[inline]
    pub(crate) fn refuses_writes(&self) -> bool {
        self.area.refuses_writes()
    }

    /// Whether free superblocks of `region` are kept for its own stream.
    pub(crate) fn keeps(&self, region: RegionId) -> bool {
        let pool = self.space.pools.in_region(region);
        pool.is_some_and(|pool| pool.is_kept)
    }

    /// Free superblocks of `region`.
    fn free_of(&self, region: RegionId) -> u32 {
        let pool = self.space.pools.in_region(region);
        pool.map_or(0, |pool| pool.free)
    }

    /// Whether a superblock of a declared region is being emptied, for room there. Its moves go on even if none are
    /// due: the pace of cleaning follows from what the host needs.
    pub(crate) fn empties_declared(&self, shared: &Shared) -> bool {
        let current = self.relocation.emptying;
        current.is_some_and(|e| shared.blocks.region_of(e.block) != RegionId::MAIN)
    }

    /// Releases the kept free superblocks to the streams of other regions, because no other superblock will be free.
    /// Returns whether any were kept.
    pub(crate) fn release_kept(&mut self) -> bool {
        let mut changes = false;
        for pool in self.space.pools.declared_mut() {
            changes |= core::mem::take(&mut pool.is_kept) && pool.free > 0;
        }
        changes
    }

    /// Superblocks that are kept for regions once those that are emptied or erased are free, and their slots.
    pub(crate) fn kept_soon(&self, shared: &Shared) -> (u32, u64) {
        let pools = &self.space.pools;
        if pools.kept().next().is_none() {
            return (0, 0);
        }
        let free = pools.kept().fold((0, 0), |(n, slots), pool| {
            (n + pool.free, slots + pool.free_slots)
        });
        let mode_of = |block: SuperblockId| (block, shared.blocks.info(block).mode);
        let emptying = self.relocation.emptying.map(|e| (e.block, e.mode));
        let coming = self.space.erases.blocks().map(mode_of).chain(emptying);
        let coming = coming.filter(|(block, _)| self.keeps(shared.blocks.region_of(*block)));
        coming.fold(free, |(n, slots), (_, mode)| {
            (n + 1, slots + u64::from(shared.slots_of(mode)))
        })
    }

    /// Slots of superblock `block` that leave its region if it is emptied for `owner`.
    pub(super) fn leaves_region(&self, block: SuperblockId, owner: Owner, shared: &Shared) -> u32 {
        let stays = self.stays_in_region(block, owner, shared);
        shared.blocks.info(block).valid_slots - stays
    }

    /// Whether the drive's own region has room for what would leave a declared region with superblock `block`. Otherwise that
    /// region could not keep its free superblocks any longer, and would have made room for others. Where it keeps none, any
    /// superblock may leave.
    pub(crate) fn own_region_takes(
        &self,
        block: SuperblockId,
        owner: Owner,
        shared: &Shared,
    ) -> bool {
        let leaves = u64::from(self.leaves_region(block, owner, shared));
        !self.keeps(shared.blocks.region_of(block)) || self.own_region_holds(leaves, shared)
    }

    /// Slots of the superblock being emptied that stay in its region: [`Placement::stays_in_region`].
    pub(crate) fn stay_of_emptying(&self, shared: &Shared) -> u32 {
        let emptying = self.relocation.emptying;
        emptying.map_or(0, |e| self.stays_in_region(e.block, e.owner, shared))
    }

    /// Slots of superblock `block` that stay in its own region if it is emptied for `owner`, because the scheme says so and
    /// there is room. The free superblocks of the region are kept from the host, so these slots take none of what the host
    /// needs.
    pub(super) fn stays_in_region(
        &self,
        block: SuperblockId,
        owner: Owner,
        shared: &Shared,
    ) -> u32 {
        let region = shared.blocks.region_of(block);
        if region == RegionId::MAIN || !self.keeps(region) || !self.area.stays(owner) {
            return 0;
        }
        let stream = self.streams.that_takes(StreamUse::Region(region));
        let open = stream.map_or(0, |stream| self.streams.of(stream).slots_left());
        let free = self.free_of(region) * self.space.largest_slots as u32;
        shared.blocks.info(block).valid_slots.min(open + free)
    }

    /// The free superblock to be opened for `stream`: of its own region, or else of another one.
    pub(super) fn free_for(&mut self, stream: StreamId, shared: &Shared) -> Option<SuperblockId> {
        let takes = self.streams.takes(stream);
        if let StreamUse::Region(region) = takes {
            return self.free_in(region, stream, shared);
        }
        if let Some(block) = self.free_in(RegionId::MAIN, stream, shared) {
            return Some(block);
        }
        // Pools of cell modes have their superblocks in the drive's own region.
        let has_pool = matches!(takes, StreamUse::Promoted(_) | StreamUse::Written(_));
        let may_take_kept = self.has_to_go_elsewhere(stream);
        shared.blocks.regions().skip(1).find_map(|region| {
            let is_kept = self.keeps(region) && !may_take_kept;
            match has_pool || is_kept {
                true => None,
                false => self.free_in(region, stream, shared),
            }
        })
    }

    /// Whether `stream` is a stream of moves, and no stream of moves has a slot left. The free superblocks of the
    /// drive's own region are asked for first.
    fn has_to_go_elsewhere(&self, stream: StreamId) -> bool {
        let is_of_mover = self.streams.row(stream).writer() == Writer::Mover;
        is_of_mover && self.left_for_moves() == 0
    }

    /// The free superblock of `region` that its wear leveling opens next for `stream`.
    fn free_in(
        &mut self,
        region: RegionId,
        stream: StreamId,
        shared: &Shared,
    ) -> Option<SuperblockId> {
        let modes = self.streams.opens(stream);
        let blocks = shared.blocks.in_region(region);
        let wear = &mut self.wear[region.index()];
        match self.streams.takes(stream) {
            StreamUse::ReadOften => wear.open_for_read_often(blocks, modes),
            StreamUse::Cold => wear.open(blocks, modes, true),
            takes => {
                // Cold data of a declared region have no stream of their own. Others have one if the scheme of axis
                // `wear` declares it.
                let number = self.streams.row(stream).number();
                let is_of_moves = matches!(number, Some(OpenedFor::Moves(_)));
                let takes_cold = matches!(takes, StreamUse::Region(_))
                    || is_of_moves && self.streams.cold().is_none();
                let is_cold = |e: Evacuation| {
                    e.owner == Owner::Wear && shared.blocks.region_of(e.block) == region
                };
                let emptying = self.relocation.emptying.filter(|_| takes_cold);
                wear.open(blocks, modes, emptying.is_some_and(is_cold))
            }
        }
    }

    /// A slot of `stream`, that of a declared region, for a page that enters by `entry`, which is counted.
    pub(super) fn take_for_entry(
        &mut self,
        now: Ns,
        stream: StreamId,
        entry: Entry,
        wish: Option<Wish>,
        shared: &mut Shared,
    ) -> Result<Taken, TakeError> {
        let opened = self.space.opened();
        let claims = self.relocation.claims;
        let taken = match entry.leaves_one_free() && !self.leaves_one_free() {
            true => Err(TakeError::Wait(Wait::Superblock)),
            false => self.take_for_copy(now, stream, wish, shared),
        };
        // Cleaning serves copies alone: a page that is written or moved anyway has another place to go to.
        if taken.is_err() && entry != Entry::AFTER_READ {
            self.relocation.claims = claims;
        }
        let had_none = matches!(taken, Err(TakeError::Wait(Wait::Superblock)));
        let has_opened = self.space.opened() != opened;
        if had_none || has_opened && self.free_of(RegionId::DECLARED) == 0 {
            self.wants_room(entry);
        }
        if let Ok((_, slot)) = &taken {
            self.region.entered(entry, slot.buf);
            shared.counters.slots_entered[entry.index()] += 1;
        }
        taken
    }

    /// Whether a page leaves a free superblock of the declared region to pages of other ways, if it takes a slot there
    /// now.
    fn leaves_one_free(&self) -> bool {
        let region = RegionId::DECLARED;
        let stream = self.streams.that_takes(StreamUse::Region(region));
        let opens = stream.is_some_and(|stream| self.streams.of(stream).slots_left() == 0);
        self.free_of(region) > u32::from(opens)
    }

    fn wants_room(&mut self, entry: Entry) {
        if !self.region.wants.is_some_and(Entry::goes_first) {
            self.region.wants = Some(entry);
        }
    }

    /// Whether the stream of `region` may have another superblock: cleaning keeps its reserve, and what the host may
    /// open does not become less.
    pub(super) fn can_open_in(&mut self, region: RegionId, shared: &Shared) -> bool {
        match self.keeps(region) {
            true => {
                let slots = self.space.largest_slots as u32;
                self.free_of(region) == 0 || self.leaves_headroom(slots, shared)
            }
            false => self.may_lend(self.space.largest_slots as u32, shared),
        }
    }

    /// Whether room is wanted in the declared region.
    #[inline]
    pub(crate) fn room_is_wanted(&self) -> bool {
        self.region.wants.is_some()
    }

    /// Whether room is to be made in the declared region now, and whether for pages that may take the last free
    /// superblock. Asked once for each change of superblocks.
    pub(crate) fn begin_to_make_room(&mut self, shared: &Shared) -> Option<bool> {
        let is_urgent = !self.region.wants.take()?.leaves_one_free();
        let at = (self.space.opened(), shared.counters.erases);
        let has_room = match is_urgent {
            true => self.free_of(RegionId::DECLARED) > 0,
            false => self.leaves_one_free(),
        };
        let is_busy = self.is_coming(RegionId::DECLARED, shared) || self.space.read_only;
        let looked_at = &mut self.region.looked_at[usize::from(is_urgent)];
        if has_room || is_busy || *looked_at == at {
            return None;
        }
        *looked_at = at;
        Some(is_urgent)
    }

    /// Whether a superblock of `region` will be free soon.
    fn is_coming(&self, region: RegionId, shared: &Shared) -> bool {
        let is_there = |block: SuperblockId| shared.blocks.region_of(block) == region;
        let emptying = self.relocation.emptying.map(|e| e.block);
        let mut coming = self.space.erases.blocks().chain(emptying);
        coming.any(is_there)
    }
}
