//! Superblocks: opening, erase and retirement; and the drive's end of life.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use firstread_core::{Arena, CellMode, DieId, Ns, PageAddr, PageType, SuperblockId};

use super::erases::{Erased, Erases};
use super::{Placement, Pools, StreamPlan};
use crate::format::record;
use crate::ftl::map::Table;
use crate::observe::{
    PoolId, RegionId, Regions, StreamId, StreamUse, SuperblockTable, SuperblockUse, Writer,
};
use crate::policy::wear::Wear;
use crate::schedule::Purpose;
use crate::shared::Shared;

/// Superblocks that a drive needs beyond its capacity: one open for the host, one open for moves, and one
/// free for moves, so that cleaning can always finish.
///
/// Assumes that the host has one stream. Each further one has a superblock open too: the capacity is
/// charged this superblock only where a scheme declares the stream (`StreamPlan::kept_slots`).
pub const RESERVE: u64 = 3;

/// State of all superblocks together.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Superblocks opened so far.
    opened: u64,
    /// Superblocks filled so far.
    pub(crate) closed: u64,
    /// Superblocks filled when the map image was written: a mount reads it, and the tables of contents of later ones.
    imaged: u64,
    /// Free superblocks, by pool.
    pub(crate) pools: Pools,
    /// Slots of all superblocks that are not retired, each in its cell mode.
    pub(crate) physical_slots: u64,
    /// Superblocks in the mode of the write pool, and slots that each of them holds less than one in the drive's own mode.
    in_write_pool: u32,
    lent_by_each: u64,
    /// Slots reserved for single-page moves.
    pub(crate) reserved: u64,
    /// Slots of the capacity, that of the map included.
    pub(crate) capacity_slots: u64,
    /// Slots needed for the capacity and the cleaning reserve.
    pub(crate) needed_slots: u64,
    /// Minimum number of slots beyond `needed_slots`.
    least_spare: u64,
    /// Slots of a superblock in the mode that holds most.
    pub(crate) largest_slots: u64,
    /// Whether the drive has stopped taking writes.
    pub(crate) read_only: bool,
    /// The superblocks being erased.
    pub(crate) erases: Erases,
    /// Programs queued or running, of all streams.
    pub(crate) programs: u32,
    /// Superblocks with a failed program that have not been emptied yet.
    pub(crate) failed: u32,
    /// The reserve may have been used: writes wait until it is whole.
    pub(crate) is_short: bool,
}

impl Space {
    /// The superblocks of `regions`, free and of `slots` slots each, for `capacity` logical pages and at least
    /// `least_spare` spare slots, with the streams of `plan`.
    pub(crate) fn new(
        regions: &Regions,
        slots: u32,
        capacity: u64,
        least_spare: u64,
        plan: &StreamPlan,
    ) -> Space {
        let pools = Pools::new(regions, slots, plan.pools());
        Space {
            opened: 0,
            closed: 0,
            imaged: 0,
            physical_slots: pools.free_slots(),
            pools,
            in_write_pool: 0,
            lent_by_each: plan.lent_by_pool_superblock(),
            reserved: 0,
            capacity_slots: capacity,
            needed_slots: capacity + RESERVE * slots as u64 + plan.kept_slots(),
            least_spare,
            largest_slots: slots as u64,
            read_only: false,
            erases: Erases::new(plan.erases_beside()),
            programs: 0,
            failed: 0,
            is_short: false,
        }
    }

    /// A free superblock of `pool`, of `slots` slots, has been taken. Returns its number in the order of opening.
    pub(crate) fn take(&mut self, pool: PoolId, slots: u32) -> u64 {
        self.pools.take(pool, slots);
        self.opened += 1;
        self.opened
    }

    /// A superblock has been filled. Returns its number in the order of filling.
    pub(crate) fn close(&mut self) -> Option<NonZeroU64> {
        self.closed += 1;
        NonZeroU64::new(self.closed)
    }

    /// The controller writes an image of the map, which has all superblocks that are full.
    pub(crate) fn write_image(&mut self) {
        self.imaged = self.closed;
    }

    /// Whether the numbers that were loaded are those of a drive: fewer than a drive can open in its life.
    pub(crate) fn is_sound(&self) -> bool {
        const MOST: u64 = 1 << 56;
        self.opened < MOST && self.closed < MOST && self.imaged <= self.closed
    }

    /// Whether there is an image of the map.
    pub(crate) fn has_image(&self) -> bool {
        self.imaged > 0
    }

    /// Whether the map image has what lies in a superblock that was filled as the `closed`th.
    pub(crate) fn is_in_image(&self, closed: Option<NonZeroU64>) -> bool {
        closed.is_some_and(|closed| closed.get() <= self.imaged)
    }

    /// A free superblock of `pool`, of `slots` slots, is retired before first use.
    pub(crate) fn drop_free(&mut self, pool: PoolId, slots: u32) {
        self.pools.take(pool, slots);
        self.physical_slots -= slots as u64;
    }

    /// A superblock of `slots` slots is retired.
    pub(crate) fn retired(&mut self, slots: u32, was_in_write_pool: bool) {
        self.physical_slots -= slots as u64;
        self.in_write_pool -= u32::from(was_in_write_pool);
        self.read_only |= !self.holds_capacity();
    }

    /// Superblocks of common pools that are free, or will be once the erases under way have ended.
    pub(crate) fn free_soon(&self, blocks: &SuperblockTable) -> u32 {
        let modes = self.erases.blocks().map(|block| blocks.info(block).mode);
        self.pools.free() + modes.filter(|mode| !self.pools.has(*mode)).count() as u32
    }

    /// Superblocks opened so far.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Counts free superblocks in the table `blocks` that was loaded, where each superblock names its pool anew: the table
    /// may be of schemes with other pools.
    pub(crate) fn recount(
        &mut self,
        blocks: &mut SuperblockTable,
        slots: impl Fn(CellMode) -> u32,
    ) {
        self.pools.assign(blocks);
        self.pools = self.pools.counted(blocks, &slots);
        let used = || {
            blocks
                .iter()
                .filter(|(_, info)| info.usage != SuperblockUse::Bad)
        };
        self.physical_slots = used().map(|(_, info)| u64::from(slots(info.mode))).sum();
        let apart = blocks.apart();
        let in_pool = used().filter(|(_, info)| apart.has(info.mode));
        self.in_write_pool = in_pool.count() as u32;
        self.failed = used().filter(|(_, info)| info.failed).count() as u32;
    }

    /// Whether the remaining superblocks, less `slots`, hold the capacity, the reserve and the minimum of
    /// spare slots.
    pub(crate) fn holds_capacity_without(&self, slots: u64) -> bool {
        self.with_lent_slots() >= self.needed_slots + self.least_spare + slots
    }

    /// Slots of all superblocks that are not retired, if those of the write pool were in the drive's own mode: garbage collection can
    /// bring them back at any time, and each gives more than it takes.
    #[inline]
    pub(crate) fn with_lent_slots(&self) -> u64 {
        self.physical_slots + u64::from(self.in_write_pool) * self.lent_by_each
    }

    /// Superblocks in the mode of the write pool.
    pub(crate) fn in_write_pool(&self) -> u32 {
        self.in_write_pool
    }

    /// Whether the remaining superblocks hold the capacity, the reserve and the minimum of spare slots.
    pub(crate) fn holds_capacity(&self) -> bool {
        self.holds_capacity_without(0)
    }

    /// Minimum number of slots beyond those that are needed.
    pub(crate) fn least_spare(&self) -> u64 {
        self.least_spare
    }

    /// Whether the free superblocks are those of the table `blocks`, where each superblock names its pool.
    pub(crate) fn agrees(&self, blocks: &SuperblockTable, slots: impl Fn(CellMode) -> u32) -> bool {
        self.pools.are_named_in(blocks) && self.pools.counted(blocks, slots) == self.pools
    }
}

impl Placement {
    /// Reserves the slot that a single-page move will take.
    pub(crate) fn reserve_slot(&mut self) {
        self.space.reserved += 1;
    }

    /// A single-page move has taken its slot, or does not need it.
    pub(crate) fn release_slot(&mut self) {
        self.space.reserved -= 1;
    }

    /// The drive has reached its end of life: it takes no more writes.
    pub(crate) fn end_of_life(&mut self) {
        self.space.read_only = true;
    }

    /// A superblock with a failed program has been emptied: replaces its failed blocks, or retires it if a
    /// die has no spare left. Returns whether the superblock can be used again.
    pub(crate) fn repair_or_retire(
        &mut self,
        now: Ns,
        block: SuperblockId,
        shared: &mut Shared,
    ) -> bool {
        self.space.failed -= 1;
        self.keep_rewrites_of(block);
        let mended = self.repair(block, shared);
        if !mended {
            self.note_erase(now, block, shared);
            self.retire(block, shared);
        }
        mended
    }

    /// Opens a free superblock for `stream`. False if there is none that the stream may have.
    pub(super) fn open(&mut self, now: Ns, stream: StreamId, shared: &mut Shared) -> bool {
        shared.update_index();
        let Some(block) = self.free_for(stream, shared) else {
            return false;
        };
        let info = shared.blocks.info(block);
        let (mode, pool) = (info.mode, info.pool);
        let slots = shared.slots_of(mode);
        // The host leaves enough space for one more cleaning.
        let is_of_host = self.streams.row(stream).writer() == Writer::Host;
        if is_of_host && !self.can_open(slots, shared) {
            return false;
        }
        let region = shared.blocks.region_of(block);
        let is_elsewhere = region != RegionId::MAIN
            && !self.space.pools.has(mode)
            && self.streams.takes(stream) != StreamUse::Region(region);
        shared.counters.opened_elsewhere += u64::from(is_elsewhere);
        let opened = self.space.take(pool, slots);
        let info = shared.blocks.info_mut(block);
        info.usage = SuperblockUse::Open;
        info.programmed_at = now;
        info.opened = opened;
        info.closed = None;
        info.holds_map = Some(stream) == self.streams.map();
        info.stream = Some(stream);
        self.streams.of_mut(stream).open(block, mode);
        self.ages.open(block);
        if let Some(handle) = self.handle_of_host(stream) {
            self.events.opens(now, handle);
        }
        let plans = matches!(
            self.streams.row(stream).writer(),
            Writer::Host | Writer::Map
        );
        self.relocation.plan_anew |= plans;
        if is_of_host {
            let c = &shared.counters;
            let written = (c.host_slots_written, c.front.map_writes);
            let [_, before] = self.relocation.written_before;
            // Several streams may open superblocks one after another, and a rate over a few slots tells nothing.
            if !self.streams.has_several_of_host()
                || written.0 >= before.0 + self.space.largest_slots
            {
                self.relocation.written_before = [before, written];
            }
        }
        self.pool_has_opened(stream);
        let serves = is_of_host || self.is_of_pool(stream);
        // Moves for a claim come on top of those for the host's next superblock, so they need some slots.
        if serves
            && 2 * u64::from(self.left_for_host_without(1, shared)) >= self.space.largest_slots
        {
            self.relocation.claims.host_opens();
        }
        if serves {
            self.look_at_pool(shared);
        }
        debug_assert!(self.opened.is_none(), "reads were told of the one before");
        self.opened = Some(block);
        self.look_at_regions(shared);
        true
    }

    /// Open superblock `block` is to be full before its time: no further wordline of it is begun. Returns the stream
    /// that fills it, whose wordline is to be padded to its end. None if that would take headroom that cleaning needs,
    /// or if no more of it will be filled anyway.
    pub(crate) fn close_early(
        &mut self,
        now: Ns,
        block: SuperblockId,
        shared: &mut Shared,
    ) -> Option<StreamId> {
        let stream = self.streams.filling(block)?;
        let of_mover = self.streams.of_mover().any(|s| s == stream);
        let left = self.streams.of(stream).slots_left();
        // The rest of a superblock that moves fill is headroom, which closing it loses. The rest of any other is none.
        if !self.leaves_headroom(left * u32::from(of_mover), shared) {
            return None;
        }
        if let Some(handle) = self.handle_of_host(stream) {
            self.events.takes_off(now, handle, left);
        }
        self.streams.of_mut(stream).end_after_superwordline(block);
        self.close_if_done(block, shared);
        self.relocation.plan_anew = true;
        shared.counters.superblocks_closed_early += 1;
        Some(stream)
    }

    /// A free superblock of the common pool, to be erased into another mode.
    pub(crate) fn free_for_conversion(&mut self, shared: &mut Shared) -> Option<SuperblockId> {
        shared.update_index();
        let own = core::iter::once(shared.config.mode).collect();
        // From the drive's own region alone: pools of cell modes have no superblocks in declared regions.
        self.wear[RegionId::MAIN.index()].open(shared.blocks.in_region(RegionId::MAIN), own, false)
    }

    /// Whether the pool of `mode` has a free superblock.
    pub(crate) fn has_free_in(&self, mode: CellMode) -> bool {
        let pool = self.space.pools.of_mode(mode);
        pool.is_some_and(|pool| pool.free > 0)
    }

    /// Whether a superblock is free in the pool of `mode`, or is being erased into it.
    pub(crate) fn will_have_free_in(&self, mode: CellMode, shared: &Shared) -> bool {
        let mut erasing = self.space.erases.blocks();
        self.space.pools.has(mode)
            && (self.has_free_in(mode)
                || erasing.any(|block| shared.blocks.info(block).mode == mode))
    }

    /// Takes free superblock `block`, to be erased into another mode.
    pub(crate) fn take_free(&mut self, block: SuperblockId, shared: &Shared) {
        let info = shared.blocks.info(block);
        self.space.take(info.pool, shared.slots_of(info.mode));
    }

    /// Marks free superblock `block` as filled with `pages` pages.
    pub(crate) fn mark_filled(
        &mut self,
        now: Ns,
        block: SuperblockId,
        pe_cycles: u32,
        pages: u32,
        shared: &mut Shared,
    ) {
        let info = shared.blocks.info_mut(block);
        debug_assert_eq!(
            info.usage,
            SuperblockUse::Free,
            "only a free superblock can be filled"
        );
        let slots = shared.config.geometry.slots_per_superblock(info.mode);
        info.opened = self.space.take(info.pool, slots);
        info.closed = self.space.close();
        info.usage = SuperblockUse::Full;
        info.set_pe_cycles(pe_cycles);
        info.programmed_at = now;
        info.valid_slots = pages;
    }

    /// A new drive has the bad blocks `bad`, which name superblock and die. The superblocks `retired` are retired, and the
    /// last ones of the others, until as many are as the worst die has bad blocks. Their good blocks replace the bad
    /// blocks of other superblocks. False if the rest does not hold the capacity.
    pub(crate) fn set_bad_blocks(
        &mut self,
        bad: &[(SuperblockId, DieId)],
        retired: &[SuperblockId],
        shared: &mut Shared,
    ) -> bool {
        let dies = shared.config.geometry.dies();
        let of_die = |die| bad.iter().filter(|(_, d)| *d == DieId(die)).count();
        let worst = (0..dies).map(of_die).max().unwrap_or(0);
        let all = (0..shared.blocks.len()).map(SuperblockId);
        let more = worst.saturating_sub(retired.len());
        let last = all
            .rev()
            .filter(|block| !retired.contains(block))
            .take(more);
        let out: Vec<SuperblockId> = retired.iter().copied().chain(last).collect();
        if out.len() < worst {
            return false;
        }
        for block in out {
            let info = shared.blocks.info_mut(block);
            info.usage = SuperblockUse::Bad;
            let (mode, pool) = (info.mode, info.pool);
            self.space.drop_free(pool, shared.slots_of(mode));
            shared.counters.retired += 1;
        }
        let replaced = self.bad.of_factory(bad, &mut shared.blocks);
        shared.counters.replaced += u64::from(replaced);
        self.space.holds_capacity()
    }

    /// Whether the spares are those of the table `blocks`.
    pub(crate) fn bad_blocks_agree(&self, blocks: &SuperblockTable) -> bool {
        self.bad.agrees(blocks)
    }

    /// Replaces the failed blocks of empty superblock `block`. False if a die has no spare left.
    fn repair(&mut self, block: SuperblockId, shared: &mut Shared) -> bool {
        if !self.bad.can_repair(block) {
            return false;
        }
        let replaced = self.bad.repair(block, &mut shared.blocks);
        shared.counters.replaced += u64::from(replaced);
        shared.blocks.info_mut(block).failed = false;
        true
    }

    /// Retires empty superblock `block`. Its good blocks become spares.
    fn retire(&mut self, block: SuperblockId, shared: &mut Shared) {
        let mode = shared.blocks.info(block).mode;
        let (slots, is_in_pool) = (shared.slots_of(mode), shared.blocks.apart().has(mode));
        let info = shared.blocks.info_mut(block);
        info.usage = SuperblockUse::Bad;
        info.evacuating = false;
        shared.counters.retired += 1;
        shared.changed_capacity(true);
        self.bad.retire(block, &mut shared.blocks);
        self.space.retired(slots, is_in_pool);
    }

    /// Begins to erase `block` into `mode` on every die ([`Placement::push_erase`]). The superblock is empty, has
    /// no pins, and [`Erases::may_begin`] says yes.
    pub(crate) fn begin_erase<M: Arena>(
        &mut self,
        block: SuperblockId,
        mode: CellMode,
        what: Erased,
        table: &mut Table<M>,
        shared: &mut Shared,
    ) {
        let slots = (
            shared.slots_of(shared.blocks.info(block).mode),
            shared.slots_of(mode),
        );
        let pool = self
            .space
            .pools
            .that_has(shared.blocks.region_of(block), mode);
        if let Some(bin) = self.bin_of(shared.blocks.info(block)) {
            shared.counters.superblocks_erased_of_stream[bin] += 1;
        }
        let apart = shared.blocks.apart();
        let was = apart.has(shared.blocks.info(block).mode);
        let info = shared.blocks.info_mut(block);
        debug_assert_eq!((info.valid_slots, info.pins), (0, 0), "{info:?} is in use");
        info.usage = SuperblockUse::Erasing;
        info.evacuating = false;
        (info.mode_before, info.mode) = (info.mode, mode);
        (info.pool, info.stream) = (pool, None);
        shared.changed_capacity(slots.0 != slots.1);
        self.keep_rewrites_of(block);
        table.map.erase(block);
        let space = &mut self.space;
        space.physical_slots = space.physical_slots - slots.0 as u64 + slots.1 as u64;
        space.in_write_pool = space.in_write_pool - u32::from(was) + u32::from(apart.has(mode));
        space
            .erases
            .begin(what, block, shared.config.geometry.dies());
    }

    /// Queues the erase of the part of `die` of `block`, into the cell mode of its record.
    pub(crate) fn push_erase(&self, now: Ns, block: SuperblockId, die: DieId, shared: &mut Shared) {
        let mode = shared.blocks.info(block).mode;
        let at = PageAddr {
            die,
            block,
            wordline: 0,
            page: PageType(0),
        };
        shared.push_change(now, Purpose::Erase { mode }, at);
    }

    /// One die has finished its part of a superblock erase, under `job`. If its block has failed and a spare takes its
    /// place, that is erased next.
    pub(crate) fn die_erased(&mut self, job: u32, ok: bool, shared: &mut Shared) -> DieErased {
        let PageAddr { block, die, .. } = shared.schedule.change_ended(job, &mut shared.jobs);
        if !ok {
            self.bad.note(block, die);
        }
        // A block that has failed before may get a spare too: one that another superblock has left meanwhile.
        let replaced = match self.space.erases.is_last(block) {
            true => self.bad.replace_any(block, &mut shared.blocks),
            false if ok => None,
            false => self.bad.replace(block, die, &mut shared.blocks),
        };
        if let Some(die) = replaced {
            shared.counters.replaced += 1;
            return DieErased::Again(block, die);
        }
        if !self.space.erases.die_ended(block) {
            return DieErased::Others;
        }
        let info = shared.count_erase(block);
        info.reads = 0;
        info.closed = None;
        info.stripe_broken = false;
        if self.bad.has_failed(block) {
            self.retire(block, shared);
        } else {
            let info = shared.blocks.info_mut(block);
            info.usage = SuperblockUse::Free;
            let slots = shared.config.geometry.slots_per_superblock(info.mode);
            self.space.pools.put_back(info.pool, slots);
        }
        self.look_at_regions(shared);
        DieErased::All(block)
    }
}

/// What an erase on one die leaves to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DieErased {
    /// Other dies have still to erase their parts.
    Others,
    /// The die has another block in the superblock now, which is to be erased.
    Again(SuperblockId, DieId),
    /// It was the last die: the superblock is free, or retired.
    All(SuperblockId),
}

record! {
    Space as "space" {
        opened: "superblocks opened so far",
        closed: "superblocks filled so far",
        imaged: "superblocks filled when the map image was written",
        read_only: "whether the drive has stopped taking writes",
        erases: "superblocks being erased",
    } not {
        pools: "counted again from the superblocks",
        physical_slots: "counted again from the superblocks",
        in_write_pool: "counted again from the superblocks",
        lent_by_each: "of the schemes",
        reserved: "moves in flight are lost",
        capacity_slots: "of the configuration",
        needed_slots: "of the configuration",
        least_spare: "of the configuration",
        largest_slots: "of the configuration",
        programs: "programs that waited are queued again",
        failed: "counted again from the superblocks",
        is_short: "every restart assumes that the reserve was used",
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{BlockId, CellMode, DieId, Ns, SuperblockId};

    use super::{DieErased, Erased, Erases, Space};
    use crate::ftl::tests::{SLOTS, Silent, drive, drive_of, fill, geometry, setup};
    use crate::observe::{PoolId, SuperblockUse};

    /// A free superblock that is retired takes its slots from what is free and from what there is.
    #[test]
    fn formula_a_free_superblock_that_is_retired_is_no_longer_there() {
        let space = &mut drive(12, 256, 0).lower.store.place.space;
        let slots = u64::from(SLOTS);
        let counts = |space: &Space| {
            (
                space.pools.free(),
                space.pools.free_slots(),
                space.physical_slots,
            )
        };
        let before = counts(space);
        assert_eq!(before, (12, 12 * slots, 12 * slots));
        space.drop_free(PoolId(0), SLOTS);
        let after = counts(space);
        assert_eq!(after, (11, 11 * slots, 11 * slots));
    }

    /// From the begin of an erase into another mode on, a superblock belongs to the pool of that mode.
    #[test]
    fn formula_an_erase_into_another_mode_takes_a_superblock_to_its_pool() {
        let setup = setup(CellMode::Qlc, geometry(16), 1_000);
        let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "hotness"));
        fill(&mut drive, 4, 0);
        let store = &mut drive.lower.store;
        let (place, shared, table) = (&mut store.place, &mut store.shared, &mut store.table);
        for (block, mode, pool) in [(3, CellMode::Slc, 1), (4, CellMode::Tlc, 2)] {
            let block = SuperblockId(block);
            assert_eq!(shared.blocks.info(block).pool, PoolId(0));
            place.begin_erase(block, mode, Erased::Emptied, table, shared);
            assert_eq!(shared.blocks.info(block).pool, PoolId(pool), "{mode:?}");
            assert!(
                place
                    .space
                    .agrees(&shared.blocks, |mode| shared.slots_of(mode))
            );
            place.space.erases = Erases::new(2);
        }
    }

    /// A drive may write as long as what is left holds the capacity, the reserve and the least spare.
    #[test]
    fn formula_a_drive_that_no_longer_holds_its_capacity_is_read_only() {
        let space = &mut drive(12, 256, 0).lower.store.place.space;
        let spare = space.physical_slots - space.needed_slots - space.least_spare;
        for retired in 0..=spare / u64::from(SLOTS) {
            assert!(space.holds_capacity() && !space.read_only, "{retired}");
            assert!(space.holds_capacity_without(spare - retired * u64::from(SLOTS)));
            space.retired(SLOTS, false);
        }
        assert!(!space.holds_capacity() && space.read_only);
    }

    /// A superblock whose erase has failed on a die without a spare gets the spare that another superblock leaves meanwhile, and
    /// is free only once that is erased. Without one it is retired.
    #[test]
    fn sequence_a_spare_that_comes_late_is_erased_too() {
        for comes in [true, false] {
            let mut drive = drive(12, 256, 0);
            let (erased, other) = (SuperblockId(3), SuperblockId(5));
            let mut ports = Silent::default();
            let store = &mut drive.lower.store;
            let (place, shared) = (&mut store.place, &mut store.shared);
            place.take_free(erased, shared);
            place.begin_erase(
                erased,
                CellMode::Slc,
                Erased::Free,
                &mut store.table,
                shared,
            );
            let mut jobs = [0, 1].map(|die| {
                place.push_erase(Ns::ZERO, erased, DieId(die), shared);
                shared.start_die(Ns::ZERO, DieId(die), &mut store.read, &mut ports);
                ports.issued.last().expect("an erase is issued").tag.0
            });
            assert_eq!(place.die_erased(jobs[0], false, shared), DieErased::Others);
            if comes {
                place.take_free(other, shared);
                place.retire(other, shared);
            }
            let ended = place.die_erased(jobs[1], true, shared);
            if !comes {
                assert_eq!(ended, DieErased::All(erased));
                assert_eq!(shared.blocks.info(erased).usage, SuperblockUse::Bad);
                continue;
            }
            assert_eq!(ended, DieErased::Again(erased, DieId(0)));
            assert_eq!(shared.blocks.block_of(erased, DieId(0)), BlockId(other.0));
            assert_eq!(shared.blocks.info(erased).usage, SuperblockUse::Erasing);
            place.push_erase(Ns::ZERO, erased, DieId(0), shared);
            shared.start_die(Ns::ZERO, DieId(0), &mut store.read, &mut ports);
            jobs[0] = ports.issued.last().expect("the spare is erased").tag.0;
            assert_eq!(
                place.die_erased(jobs[0], true, shared),
                DieErased::All(erased)
            );
            assert_eq!(shared.blocks.info(erased).usage, SuperblockUse::Free);
        }
    }
}
