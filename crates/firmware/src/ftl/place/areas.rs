//! Areas: which superblocks a stream opens, and what is kept of them.
//!
//! An area is a preference. Room, reserve and the proof that cleaning can finish know no areas. But the free superblocks
//! of the low wearing area are kept from what the host, the map and refresh may open, as long as the high wearing area
//! can hold its own data with the reserve: otherwise they would be taken first, since cleaning makes room for no more
//! than one superblock. Where the high wearing area is overfull, all free superblocks are for everyone.
//!
//! The stream of the low wearing area is none of relocation's: its superblock is opened only if after that everything
//! that has to be left is left, and a slot of it takes no room. A page that it cannot take now goes where it would go on
//! a drive without areas. Only moves wait for its buffer: what is emptied within the area is to stay there.

use firstread_core::{Ns, SuperblockId, Wait};

use super::target::Taken;
use super::{Evacuation, Place, Refusal};
use crate::observe::{Area, LowEntry, Owner, StreamId, StreamUse, Writer};
use crate::policy::area::{Areas, LowRoom, MakeRoom};
use crate::policy::wear::Wear;
use crate::shared::Shared;

impl Place {
    /// Superblocks have changed: looks at them anew.
    pub(crate) fn look_at_areas(&mut self, shared: &Shared) {
        if shared.blocks.has_areas() {
            self.area.look(&shared.blocks);
            let is_kept = self.high_holds_its_data(shared);
            if let Some(pool) = self.space.pools.in_area_mut(Area::Low) {
                pool.is_kept = is_kept;
            }
            self.low.refuses_writes = self.area.refuses_writes();
        }
    }

    /// Whether the high wearing area has room for its data, the reserve and the least spare.
    fn high_holds_its_data(&self, shared: &Shared) -> bool {
        let usable = shared.blocks.in_area(Area::High);
        let usable = usable.iter().map(|(_, row)| row);
        let usable = usable.filter(|row| row.usage != crate::observe::SuperblockUse::Bad);
        let (slots, valid) = usable.fold((0, 0), |(slots, valid), row| {
            let of_row = u64::from(shared.slots_of(row.mode));
            (slots + of_row, valid + u64::from(row.valid_slots))
        });
        let kept = self.space.needed_slots - self.space.capacity_slots;
        slots >= valid + kept + self.space.least_spare()
    }

    /// Whether writes of the host are refused, although there is room.
    #[inline]
    pub(crate) fn refuses_writes(&self) -> bool {
        self.low.refuses_writes
    }

    /// Whether free superblocks of the low wearing area are kept for it.
    pub(crate) fn keeps_low(&self) -> bool {
        let low = self.space.pools.in_area(Area::Low);
        low.is_some_and(|pool| pool.is_kept)
    }

    /// Free superblocks of the low wearing area.
    fn low_free(&self) -> u32 {
        let low = self.space.pools.in_area(Area::Low);
        low.map_or(0, |pool| pool.free)
    }

    /// Whether a superblock of the low wearing area is being cleaned: for room there, which no pace of the host's
    /// knows.
    pub(crate) fn compacts_low(&self, shared: &Shared) -> bool {
        let current = self.relocation.emptying;
        current.is_some_and(|e| shared.blocks.area_of(e.block) == Area::Low)
    }

    /// Free superblocks of the low wearing area are for everyone, because nothing else can be had. Whether that changes
    /// anything.
    pub(crate) fn release_low(&mut self) -> bool {
        let low = self.space.pools.in_area_mut(Area::Low);
        low.is_some_and(|pool| core::mem::take(&mut pool.is_kept) && pool.free > 0)
    }

    /// Superblocks that are kept for the low wearing area once those that are emptied or erased are free, and their
    /// slots.
    pub(crate) fn kept_low_soon(&self, shared: &Shared) -> (u32, u64) {
        let kept = self
            .space
            .pools
            .in_area(Area::Low)
            .filter(|pool| pool.is_kept);
        let Some(pool) = kept else {
            return (0, 0);
        };
        let mode_of = |block: SuperblockId| (block, shared.blocks.row(block).mode);
        let emptying = self.relocation.emptying.map(|e| (e.block, e.mode));
        let coming = self.space.erases.blocks().map(mode_of).chain(emptying);
        let low = coming.filter(|(block, _)| shared.blocks.area_of(*block) == Area::Low);
        let free = (pool.free, pool.free_slots);
        low.fold(free, |(n, slots), (_, mode)| {
            (n + 1, slots + u64::from(shared.slots_of(mode)))
        })
    }

    /// The free superblock to be opened for `stream`: of its own area, or else of the other one.
    pub(super) fn free_for(&mut self, stream: StreamId, shared: &Shared) -> Option<SuperblockId> {
        let takes = self.streams.takes(stream);
        if takes == StreamUse::Low {
            return self.free_in(Area::Low, stream, shared);
        }
        if let Some(block) = self.free_in(Area::High, stream, shared) {
            return Some(block);
        }
        let is_kept = self.keeps_low() && !self.has_to_go_elsewhere(stream);
        // Pools of cell modes have their superblocks in the high wearing area.
        let has_pool = matches!(takes, StreamUse::Promoted(_));
        if !shared.blocks.has_areas() || is_kept || has_pool {
            return None;
        }
        self.free_in(Area::Low, stream, shared)
    }

    /// Whether `stream` is one of moves, which find no slot in the high wearing area: not even in the superblock of
    /// another stream.
    fn has_to_go_elsewhere(&self, stream: StreamId) -> bool {
        let is_of_mover = self.streams.row(stream).writer() == Writer::Mover;
        is_of_mover && self.left_for_moves() == 0
    }

    /// The free superblock of `area` that its wear leveling opens next for `stream`.
    fn free_in(&mut self, area: Area, stream: StreamId, shared: &Shared) -> Option<SuperblockId> {
        let modes = self.streams.opens(stream);
        let blocks = shared.blocks.in_area(area);
        let wear = &mut self.wear[area as usize];
        match self.streams.takes(stream) {
            StreamUse::ReadOften => wear.open_for_read_often(blocks, modes),
            StreamUse::Cold => wear.open(blocks, modes, true),
            takes => {
                // Cold data of the low wearing area have no stream of their own. Others have one if the scheme declares it.
                let takes_cold = takes == StreamUse::Low
                    || stream == StreamId::MOVE && self.streams.cold().is_none();
                let is_cold = |e: Evacuation| {
                    e.owner == Owner::Wear && shared.blocks.area_of(e.block) == area
                };
                let emptying = self.relocation.emptying.filter(|_| takes_cold);
                wear.open(blocks, modes, emptying.is_some_and(is_cold))
            }
        }
    }

    /// A slot of `stream`, that of the low wearing area, for a page that enters by `entry`, which is counted.
    pub(super) fn take_for_entry(
        &mut self,
        now: Ns,
        stream: StreamId,
        entry: LowEntry,
        shared: &mut Shared,
    ) -> Result<Taken, Refusal> {
        let opened = self.space.opened();
        let taken = match entry.leaves_one_free() && !self.can_spill() {
            true => Err(Refusal::Wait(Wait::Superblock)),
            false => self.take_for_copy(now, stream, shared),
        };
        let had_none = matches!(taken, Err(Refusal::Wait(Wait::Superblock)));
        if had_none || self.space.opened() != opened && self.low_free() == 0 {
            self.wants_low(entry);
        }
        if let Ok((_, slot)) = &taken {
            self.low.entered(entry, slot.buf);
            shared.counters.slots_into_low[entry as usize] += 1;
        }
        taken
    }

    /// Whether data that spill leave a free superblock to those that are read often, and to those that are to stay when
    /// one is emptied within the area.
    fn can_spill(&self) -> bool {
        let low = self.streams.that_takes(StreamUse::Low);
        let opens = low.is_some_and(|stream| self.streams.of(stream).slots_left() == 0);
        self.low_free() > u32::from(opens)
    }

    fn wants_low(&mut self, entry: LowEntry) {
        let is_hot = self.low.wants.is_some_and(LowEntry::is_hot);
        if !is_hot {
            self.low.wants = Some(entry);
        }
    }

    /// Whether the low wearing area may have another superblock: cleaning keeps its reserve, and what the host may open
    /// does not become less.
    pub(super) fn can_open_low(&self, shared: &Shared) -> bool {
        match self.keeps_low() {
            true => {
                let slots = self.space.largest_slots as u32;
                self.low_free() == 0 || self.leaves_room(slots, shared)
            }
            false => self.can_open_for_refresh(shared),
        }
    }

    /// Whether room is wanted in the low wearing area.
    #[inline]
    pub(crate) fn low_is_wanted(&self) -> bool {
        self.low.wants.is_some()
    }

    /// Whether room is to be made in the low wearing area now, and whether for pages that are read often. Asked once
    /// for each change of superblocks.
    pub(crate) fn begin_to_make_room(&mut self, shared: &Shared) -> Option<bool> {
        let entry = self.low.wants.take()?;
        let at = (self.space.opened(), shared.counters.erases);
        let for_hot = entry.is_hot() || entry == LowEntry::Stay;
        let looked_at = self.low.looked_at[usize::from(for_hot)];
        let has_room = match for_hot {
            true => self.low_free() > 0,
            false => self.can_spill(),
        };
        let is_busy = self.low_is_coming(shared) || self.space.read_only;
        if has_room || is_busy || looked_at == at {
            return None;
        }
        self.low.looked_at[usize::from(for_hot)] = at;
        Some(for_hot)
    }

    /// A superblock will be returned to the high wearing area. Pages that are read often stay, unless so many of them
    /// stayed the last time that little was gained.
    pub(crate) fn begin_return(&mut self) {
        self.low.may_stay = u64::from(self.low.stayed) * 2 < self.space.largest_slots;
        self.low.stayed = 0;
    }

    /// Whether a superblock of the low wearing area will be free soon.
    fn low_is_coming(&self, shared: &Shared) -> bool {
        let is_low = |block: SuperblockId| shared.blocks.area_of(block) == Area::Low;
        let emptying = self.relocation.emptying.map(|e| e.block);
        let mut coming = self.space.erases.blocks().chain(emptying);
        coming.any(is_low)
    }

    /// What the scheme does to make room.
    pub(crate) fn makes_room(&self, room: &LowRoom) -> MakeRoom {
        self.area.makes_room(room)
    }
}
