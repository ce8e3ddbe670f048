//! The reserve: space kept so that cleaning can always finish.
//!
//! # Headroom
//!
//! Moved data go to the free superblocks of common pools, and to the rest of the superblocks that relocation fills. The
//! slots there are the **headroom** for moves. Emptying a superblock of `n` slots with `v` valid ones takes `v` slots
//! of headroom and gives back `n`. So the headroom never shrinks, provided that it is one superblock at the beginning
//! and that nothing but cleaning takes slots from it. Five others do:
//!
//! - **The host and the map cache** open superblocks. Either may open one only if two things are left once the current
//!   victim has been emptied: headroom for one superblock, and headroom for what one power cut can tear. A power cut
//!   tears the part of a wordline that each die programs, and that part is written again.
//! - **Single-page moves, and superblocks that shrink or are retired,** take more than they give back. Their headroom
//!   is reserved before they begin, so that nothing else takes it.
//! - **A power cut or a failed program** takes headroom for the data that it tears. Host writes then wait until
//!   cleaning has refilled the reserve.
//! - **A declared stream of copies** that fills superblocks of a common pool opens one only if the same two things are
//!   left without this superblock, even if there is no garbage now: the pages that it copies leave garbage where they
//!   lay. A slot of its open superblock takes no headroom, because the whole superblock was taken from the headroom
//!   when it was opened.
//! - **A superblock that was read too often while open** is closed before it is full. The rest of the superblock is
//!   garbage from then on. If relocation fills the superblock, its rest was headroom: the superblock is closed only if
//!   the same two things are left without this rest.
//!
//! # Streams
//!
//! Relocation has separate streams for data (several, if a scheme of axis `stream` declares them), for map pages, and for the
//! cold data and the pages read often of wear leveling (if its scheme declares them). These streams share the headroom: if no
//! superblock is free, pages of one stream go to the superblock of another. Pages of several streams of data do so earlier, while the
//! host needs the free superblocks soon.
//!
//! An open superblock cannot be cleaned before it is full. So the capacity counts one superblock as empty for each
//! stream, of the host and of relocation as well as declared ones ([`super::RESERVE`],
//! [`super::StreamPlan::kept_slots`]). Then the full superblocks hold garbage as soon as the headroom is short.
//!
//! # Claims
//!
//! The reserve lets cleaning finish. It does not let the host keep its pace: cleaning makes one superblock at a time, for
//! the host. On a drive with regions, pools of cell modes or promotions to faster page types, whatever else takes free superblocks
//! makes a **claim** first ([`Placement::may_lend`], [`Placement::may_empty`]): streams of copies, changes of cell mode,
//! superblocks that leave a declared region, and pages that are promoted, each on its slot. Refresh and the retirement of failed superblocks make none, because data would be lost, and
//! neither does a change of mode that the host asks for. A claim is granted if the reserve stays whole and the host keeps its pace. If not, a
//! copy is refused, and everything else waits. Cleaning makes headroom for a refused claim on a superblock, beginning
//! when the host opens its next superblock ([`super::relocation_state::Claims`]).
//!
//! # Pools
//!
//! Each superblock belongs to one pool (`pools`). The kind of a pool says what it lends to moves:
//!
//! - **A common pool** lends all of its free superblocks: they are headroom. It does not matter in which region they
//!   lie.
//! - **A kept pool** is a common pool whose free superblocks are kept for the stream of its region (`regions`). Its
//!   free superblocks are headroom, too. But the pool lends them to moves alone, and only when the drive's own region
//!   has no free superblock and no stream of moves has a slot left. The host, the map cache and refresh may open none
//!   of them, and the space that the host may have is computed without them. The stream of the region opens one only if
//!   headroom for one superblock and for a power cut is left without it. When nothing can be cleaned and something
//!   waits for a superblock, the pool is released ([`Placement::release_kept`]).
//! - **A pool of one cell mode** lends none of its free superblocks: they are opened for its stream alone, and are no
//!   headroom. Pages that are copied into the pool take no headroom, and leave garbage where they lay. When a
//!   superblock of the pool is cleaned, it is erased into the drive's own mode. So it gives back the slots that a
//!   superblock has in that mode, which are more than it had in the mode of the pool. The capacity counts one open and
//!   one free superblock of each such pool as empty.
//!
//! A pool of one mode **wants** a superblock if its stream has found none. The pool gets a superblock of the drive's
//! own mode, which is erased into the mode of the pool: one that garbage collection has just emptied, or else a free
//! one. This is allowed only if the headroom stays large enough without the superblock, and if the slots left hold the
//! capacity. A declared region that wants room gets none from other pools: a superblock of its own is emptied.
//!
//! # Last resort
//!
//! Further power cuts before the reserve is refilled, or more failures than there are spare superblocks, may take the
//! headroom that the current victim needs. Then emptying stops, and the superblock that gains most is cleaned first,
//! whatever the scheme chooses. If there is no other headroom, moved data go to the rest of the open superblock of the
//! host, of a declared stream of copies, or of a pool of one mode, and the host waits. If that is not enough either,
//! the drive has reached its end of life and takes no more writes.

use firstread_core::{CellMode, SuperblockId, Wait};

use super::buffer::WriteBuffer;
use super::{Evacuation, Placement};
use crate::observe::{ModeSet, Owner, RegionId, SuperblockInfo};
use crate::policy::gc_victim::Outlook;
use crate::shared::Shared;

/// How far cleaning is ahead of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ahead {
    /// Slots that can be written before another superblock has to be cleaned, once those that are being emptied are empty.
    pub host_slots: i64,
    /// Slots that are yet to be moved out of these.
    pub moves: u64,
}

impl Placement {
    /// Slots available for future moves, once the superblocks being erased are free. Negative if a power cut or failed
    /// programs have torn more than was left: such data ask for no headroom before they take it.
    fn headroom(&self, shared: &Shared) -> i64 {
        let space = &self.space;
        let erasing = match space.erases.is_empty() {
            true => 0,
            false => self.headroom_in_erasing(shared),
        };
        let open = self.left_for_moves();
        (space.pools.free_slots() + u64::from(erasing) + u64::from(open)) as i64
            - (space.reserved + u64::from(self.rewrites.len())) as i64
    }

    /// Slots for moves in the superblocks that are being erased.
    fn headroom_in_erasing(&self, shared: &Shared) -> u32 {
        let headroom_of = |block| self.headroom_in(shared.blocks.info(block).mode, shared);
        self.space.erases.blocks().map(headroom_of).sum()
    }

    /// Slots left in the superblocks that relocation fills.
    #[inline]
    pub(crate) fn left_for_moves(&self) -> u32 {
        self.streams.left_for_moves()
    }

    /// Slots left in the superblocks that garbage collection fills while superblocks are free.
    pub(crate) fn left_for_cleaning(&self) -> u32 {
        self.streams.left_for_cleaning()
    }

    /// Slots for moves in a free superblock in `mode`: none if the mode has a pool of its own.
    fn headroom_in(&self, mode: CellMode, shared: &Shared) -> u32 {
        match self.space.pools.has(mode) {
            true => 0,
            false => shared.slots_of(mode),
        }
    }

    /// The mode into which a superblock in `mode` is erased when it has been cleaned: a superblock of a pool
    /// goes back to the drive's own mode.
    pub(crate) fn mode_after(&self, mode: CellMode, shared: &Shared) -> CellMode {
        match self.space.pools.has(mode) {
            true => shared.config.mode,
            false => mode,
        }
    }

    /// Slots that moves may have once the superblock of `info` has been cleaned, less those that its data take.
    pub(crate) fn headroom_gained(&self, info: &SuperblockInfo, shared: &Shared) -> u32 {
        shared.slots_of(self.mode_after(info.mode, shared)) - info.valid_slots
    }

    /// Slots by which the headroom grows once the current victim is emptied.
    fn gain(&self, shared: &Shared) -> i64 {
        let of_cleaning = match &self.relocation.emptying {
            None => 0,
            Some(current) => self.gain_of(current, shared),
        };
        match &self.relocation.destaging {
            None => of_cleaning,
            Some(current) => of_cleaning + self.gain_of(current, shared),
        }
    }

    /// Slots by which the headroom grows once `current` is emptied.
    fn gain_of(&self, current: &Evacuation, shared: &Shared) -> i64 {
        let info = shared.blocks.info(current.block);
        // A superblock with a failed block may turn out not to be repairable.
        let gives = if info.failed {
            0
        } else {
            self.headroom_in(current.mode, shared)
        };
        i64::from(gives) - i64::from(info.valid_slots)
    }

    /// Whether the host or the map cache may take `slots`, so that cleaning can still finish even after a
    /// power cut. Also true if there is nothing to clean.
    pub(crate) fn can_spare(&self, slots: u32, shared: &Shared) -> bool {
        self.leaves_headroom(slots, shared) || !self.has_garbage(shared)
    }

    /// Whether there is headroom for a superblock and for what a power cut tears, without `slots`.
    pub(super) fn leaves_headroom(&self, slots: u32, shared: &Shared) -> bool {
        let kept = self.space.largest_slots + u64::from(self.torn_slots(shared));
        self.headroom_to_come(shared) >= kept as i64 + i64::from(slots)
    }

    /// Whether `slots` slots of common pools may go to something that is neither the host's, the map's nor cleaning's: a
    /// superblock for a stream of copies or for a pool of another cell mode, or a slot for a page that is promoted. Cleaning keeps its reserve, neither the host nor
    /// the map cache waits for a superblock, and the host keeps its pace.
    pub(crate) fn may_lend(&mut self, slots: u32, shared: &Shared) -> bool {
        let may = !self.relocation.superblock_is_wanted()
            && self.has_beyond_reserve(u64::from(slots), shared)
            && self.leaves_headroom(slots, shared)
            && self.host_keeps_pace(slots, shared);
        self.decide(may, true, shared)
    }

    /// Whether a free superblock of the drive's own mode may change to another one: as [`Placement::may_lend`], and one is there
    /// that can. Those of a declared region cannot, however many are free.
    pub(crate) fn may_convert_free(&mut self, shared: &mut Shared) -> bool {
        let own = shared.config.mode;
        shared.update_index();
        let in_own = shared.blocks.in_region(RegionId::MAIN);
        match in_own.most_worn_free(ModeSet::of(own)) {
            Some(_) => self.may_lend(shared.slots_of(own), shared),
            None => self.decide(false, true, shared),
        }
    }

    /// Whether superblock `block` may be emptied for `owner` now, so that the host keeps its pace. For wear leveling and refresh it gives
    /// back what it takes, but its moves come before those that make the host's next superblock. Where `has_time` is set it waits no
    /// longer than for the garbage collection that makes that superblock: for wear leveling, because its moves are planned or early, and
    /// for a refresh that is overdue, because reads go on meanwhile and data would be lost.
    pub(crate) fn may_empty(
        &mut self,
        block: SuperblockId,
        owner: Owner,
        has_time: bool,
        shared: &Shared,
    ) -> bool {
        let region = shared.blocks.region_of(block);
        let is_destaged = owner == Owner::Destage;
        let asks = region != RegionId::MAIN
            || matches!(owner, Owner::Refresh | Owner::Wear | Owner::Destage);
        let host_waits = self.relocation.host_waits.has(Wait::Superblock);
        if !asks || has_time && !host_waits {
            return true;
        }
        let leaves = match self.keeps(region) {
            true => self.leaves_region(block, owner, shared),
            false if is_destaged => shared.blocks.info(block).valid_slots,
            false => 0,
        };
        // What leaves a pool, or is moved to make a superblock of one, takes headroom and gives none back.
        if is_destaged && !self.leaves_headroom(leaves, shared) {
            return self.decide(false, true, shared);
        }
        if is_destaged && !host_waits && self.host_is_far(leaves, shared) {
            return self.decide(true, false, shared);
        }
        let may = match host_waits {
            // Without garbage nothing else makes room for the host.
            true => !self.has_garbage(shared),
            false => self.host_is_ahead(leaves + self.promised_to_claim(), shared),
        };
        self.decide(may, is_destaged, shared)
    }

    /// Slots that cleaning makes headroom for beside the host's, because a claim on a superblock waits.
    pub(super) fn promised_to_claim(&self) -> u32 {
        u32::from(self.relocation.claims.is_served) * self.space.largest_slots as u32
    }

    /// A claim is granted if it `may`. `by_cleaning`: if not, cleaning makes headroom for it.
    fn decide(&mut self, may: bool, by_cleaning: bool, shared: &Shared) -> bool {
        let written = shared.counters.host_slots_written;
        let claims = &mut self.relocation.claims;
        match may {
            true if by_cleaning => claims.grant(),
            true => {}
            false => claims.refuse(by_cleaning, written),
        }
        may
    }

    /// Whether the host keeps its pace if `slots` slots are taken from it. A drive without regions and pools keeps the pace without
    /// asking.
    fn host_keeps_pace(&self, slots: u32, shared: &Shared) -> bool {
        !self.shares_headroom(shared) || self.host_is_ahead(slots, shared)
    }

    /// Whether the host can do without `slots` slots: it has most of its superblock before it, over which the moves for them are
    /// spread, or has its next superblock without them, or writes nothing.
    pub(super) fn host_is_ahead(&self, slots: u32, shared: &Shared) -> bool {
        let superblock = self.space.largest_slots;
        let left = self.left_for_host_without(u32::from(slots > 0), shared);
        let has_begun = 4 * u64::from(left) >= 3 * superblock;
        let written = shared.counters.host_slots_written;
        has_begun
            || self.host_has_next_without(slots, shared)
            || self.relocation.claims.host_rests(written) && !self.is_paced()
    }

    /// Whether `moves` moves are few for the slots that the host writes until it needs its next superblock: a third of them at most. So
    /// many may come on top of what cleaning moves meanwhile.
    fn host_is_far(&self, moves: u32, shared: &Shared) -> bool {
        3 * moves <= self.left_for_host(shared) && !self.is_paced()
    }

    /// Whether regions, pools of cell modes or promotions to faster page types share the headroom with the host.
    pub(crate) fn shares_headroom(&self, shared: &Shared) -> bool {
        shared.blocks.has_regions() || !self.space.pools.are_common() || self.sees_reads()
    }

    /// Whether the host has the superblocks that it needs while it writes one, its next one at least, even if `slots` slots are taken.
    pub(super) fn host_has_next_without(&self, slots: u32, shared: &Shared) -> bool {
        let superblock = self.space.largest_slots as u32;
        let soon = self.needed_within(superblock).max(1);
        let next = slots + soon * superblock;
        if self.has_beyond_reserve(u64::from(next), shared) && self.leaves_headroom(next, shared) {
            return true;
        }
        let others = soon - 1;
        let taken = i64::from(slots) + i64::from(others) * i64::from(superblock);
        let (kept, _) = self.kept_soon(shared);
        let free = self.space.free_soon(&shared.blocks);
        free > kept + others + u32::from(slots > 0) && self.missing_headroom(shared) + taken <= 0
    }

    /// Whether the host has the superblocks that it needs while it writes half of one, if any, even if moves open one. That takes no headroom.
    pub(super) fn host_has_all_without_one(&self, shared: &Shared) -> bool {
        let soon = self.needed_within(self.space.largest_slots as u32 / 2);
        let Some(others) = soon.checked_sub(1) else {
            return true;
        };
        let slots = i64::from(others) * self.space.largest_slots as i64;
        let (kept, _) = self.kept_soon(shared);
        self.space.free_soon(&shared.blocks) > kept + soon
            && self.missing_headroom(shared) + slots <= 0
    }

    /// Headroom once the current victim is emptied. Its moves do not change this value: each move takes one slot
    /// of headroom and leaves one valid slot less to move.
    fn headroom_to_come(&self, shared: &Shared) -> i64 {
        self.headroom(shared) + self.gain(shared)
    }

    /// How far cleaning is ahead of the host. Moves do not change the first value, and a victim that is chosen raises it by what it
    /// frees.
    pub(crate) fn ahead(&self, shared: &Shared) -> Ahead {
        let open: u32 = self.streams.iter().map(WriteBuffer::slots_left).sum();
        let open = i64::from(open) - i64::from(self.left_for_moves());
        let current = [&self.relocation.emptying, &self.relocation.destaging];
        let to_move = current.into_iter().flatten();
        let valid = to_move.map(|current| shared.blocks.info(current.block).valid_slots);
        Ahead {
            host_slots: self.headroom_to_come(shared) + open,
            moves: valid.map(u64::from).sum(),
        }
    }

    /// Slots that one power cut can tear.
    fn torn_slots(&self, shared: &Shared) -> u32 {
        shared.config.geometry.slots_per_stripe() * u32::from(shared.config.mode.bits())
    }

    /// Slots missing from the headroom before the host may open another superblock. Zero or negative if it may
    /// open one as soon as one is free.
    pub(crate) fn missing_headroom(&self, shared: &Shared) -> i64 {
        let slots = self.space.largest_slots;
        let kept = self.kept_from_host() + u64::from(self.torn_slots(shared));
        let (_, of_regions) = self.kept_soon(shared);
        (kept + of_regions + slots) as i64
            - self.headroom_to_come(shared)
            - i64::from(self.stay_of_emptying(shared))
    }

    /// Whether there is headroom to move `valid` slots.
    pub(crate) fn fits(&self, valid: u32, shared: &Shared) -> bool {
        i64::from(valid) <= self.headroom(shared).max(0)
    }

    /// Whether there is headroom to move `valid` slots if the rests of the superblocks of other streams are used
    /// too, as a last resort.
    pub(crate) fn fits_with_host(&self, valid: u32, shared: &Shared) -> bool {
        self.fits(valid, shared) || self.fits_with_others(valid, shared)
    }

    #[cold]
    fn fits_with_others(&self, valid: u32, shared: &Shared) -> bool {
        let others = self.streams.of_others();
        let left: u32 = others.map(|s| self.streams.of(s).slots_left()).sum();
        i64::from(valid) <= (self.headroom(shared) + i64::from(left)).max(0)
    }

    /// Superblocks that yield slots when cleaned, with the number of slots.
    pub(crate) fn gains<'a>(
        &'a self,
        shared: &'a Shared,
    ) -> impl Iterator<Item = (SuperblockId, u32)> {
        let infos = shared.blocks.iter();
        let repairable = infos.filter(|(block, info)| !info.failed || self.bad.can_repair(*block));
        let garbage = repairable.filter(|(block, info)| {
            Outlook::default().is_at_rest(*block, info)
                && (info.valid_slots < shared.slots_of(info.mode)
                    || shared.blocks.apart().has(info.mode))
        });
        garbage.map(|(block, info)| (block, self.headroom_gained(info, shared)))
    }

    /// Whether any superblock yields slots when cleaned.
    pub(crate) fn has_garbage(&self, shared: &Shared) -> bool {
        self.gains(shared).next().is_some()
    }

    /// Whether `slots` can be taken beyond the cleaning reserve: one superblock, and a second one in case a
    /// program in the first fails, as long as the drive has spare superblocks.
    pub(crate) fn has_beyond_reserve(&self, slots: u64, shared: &Shared) -> bool {
        let space = &self.space;
        let kept = self.kept_from_host() + space.pools.kept_slots();
        space.pools.free_slots() >= kept + space.reserved + self.owed_slots(shared) + slots
    }

    /// Slots of free superblocks reserved for cleaning: see [`Placement::has_beyond_reserve`].
    pub(crate) fn kept_from_host(&self) -> u64 {
        let space = &self.space;
        let spare = space.with_lent_slots() >= space.needed_slots + space.largest_slots;
        space.largest_slots * (1 + spare as u64)
    }

    /// Whether the host may open a free superblock of `slots` slots: there is enough free space now, or there
    /// will be enough headroom once the current victim is emptied.
    pub(crate) fn can_open(&self, slots: u32, shared: &Shared) -> bool {
        (self.has_beyond_reserve(u64::from(slots), shared) && self.can_spare(slots, shared))
            || self.missing_headroom(shared) <= 0
    }

    /// What a write has to wait for before it may take a slot of the write buffer; none if it may take one. A partial
    /// write whose old data have been read (`has_merged`) was paced before that read
    /// ([`Placement::waits_before_merge`]). It is not paced again, because a job holds these data, and the reads of the
    /// host need jobs.
    pub(crate) fn waits_for_cleaning(&mut self, has_merged: bool, shared: &Shared) -> Option<Wait> {
        if !self.rewrites.is_empty() {
            return Some(Wait::Rewrite);
        }
        if self.space.is_short && self.waits_for_reserve(shared) {
            return Some(Wait::Reserve);
        }
        (!has_merged && self.waits_for_moves(0)).then_some(Wait::Cleaning)
    }

    /// What a partial write has to wait for before the old data of its slot are read; none if they may be read. The old
    /// data of `others` slots are read for other writes, which will not be paced again: the moves that those writes
    /// cost count as due. The write waits only for what ends by itself: moves, programs and erases in progress, or,
    /// where `are_read` is set, reads of old data in flight. The end of each has the blocked writes tried again.
    pub(crate) fn waits_before_merge(
        &mut self,
        others: u32,
        are_read: bool,
        shared: &Shared,
    ) -> Option<Wait> {
        let wait = self.waits_for_cleaning(false, shared);
        wait.or_else(|| {
            self.waits_for_moves_after(others, are_read)
                .then_some(Wait::Cleaning)
        })
    }

    /// Whether a write has to wait for due moves, those of the `others` slots among them whose old data `are_read` for
    /// other writes: [`Placement::waits_before_merge`]. Padding of the wordline that the host fills waits as a partial
    /// write does, because the `others` slots will take slots of this wordline.
    pub(crate) fn waits_for_moves_after(&mut self, others: u32, are_read: bool) -> bool {
        let reads = others > 0 && are_read && self.relocation.pace.is_behind_after(others);
        reads || self.waits_for_moves(others)
    }

    /// Whether a write has to wait for due moves, those of `slots_before` slots of other writes among them.
    #[inline]
    fn waits_for_moves(&mut self, slots_before: u32) -> bool {
        let waits = self.is_paced_after(slots_before);
        if waits {
            let relocation = &mut self.relocation;
            // All that wait are tried again as soon as the one with the fewest slots before it may go on.
            let also = match relocation.host_waits.has(Wait::Cleaning) {
                true => relocation.slots_before,
                false => u32::MAX,
            };
            relocation.slots_before = slots_before.min(also);
            relocation.host_waits.set(Wait::Cleaning, true);
        }
        waits
    }

    /// Whether a write has to wait because a power cut or a failed program has used part of the reserve.
    fn waits_for_reserve(&mut self, shared: &Shared) -> bool {
        self.space.is_short = !self.can_spare(0, shared);
        if self.space.is_short {
            self.relocation.host_waits.set(Wait::Superblock, true);
        }
        self.space.is_short
    }

    /// Whether cleaning has its reserve and one more superblock.
    pub(crate) fn has_spare(&self) -> bool {
        self.space.pools.free_slots() >= 2 * self.space.largest_slots + self.space.reserved
    }

    /// Slots of free superblocks that the current victim will take beyond what it gives back.
    pub(crate) fn owed_slots(&self, shared: &Shared) -> u64 {
        // Garbage collection gives back more than it takes, unless its superblock goes to a pool of another mode. Other
        // evacuations may move more than they give back.
        let owes = self
            .relocation
            .emptying
            .is_some_and(|e| e.owner != Owner::Gc || self.space.pools.has(e.mode))
            || self.relocation.destaging.is_some();
        if owes {
            (-self.gain(shared)).max(0) as u64
        } else {
            0
        }
    }

    /// Whether a write has to wait until some moves have been made. Only true while an operation is in
    /// progress that ends by itself and triggers another check. Moves whose data have arrived do not count,
    /// because they may wait for host writes.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.is_paced_after(self.relocation.slots_before)
    }

    #[inline]
    fn is_paced_after(&self, slots: u32) -> bool {
        self.relocation.pace.is_behind_after(slots)
            && (self.relocation.moves_reading > 0
                || self.space.programs > 0
                || !self.space.erases.is_empty())
    }

    /// Whether a write that waits for a superblock will wait forever: there is nothing to clean, nothing in
    /// progress that will produce garbage, and no free superblock that is kept from the host
    /// ([`Placement::release_kept`]).
    pub(crate) fn is_full(&self, shared: &Shared) -> bool {
        self.relocation.is_idle()
            && self.space.pools.kept_slots() == 0
            && self.rewrites.is_empty()
            && self.space.erases.is_empty()
            && self.space.programs == 0
            && !self.pool_has_free()
            && !self.has_garbage(shared)
    }
}
