//! Promotion: a page that the host has just read is copied into the stream of another cell mode, if the scheme of
//! axis `cell_mode` says so. The data are in the buffer of the read, so nothing is read again and nothing waits.
//! A promotion that finds no slot is refused, counted and forgotten.
//!
//! The stream opens superblocks from the pool of its mode. If the pool is empty, the next superblock that garbage
//! collection has emptied is erased into the mode. If none is being emptied, a free superblock is erased anew.
//! Superblocks that the scheme gives back are emptied like those of any other change of mode.

use firstread_core::{Arena, CellMode, Ns, SuperblockId, Wait};

use super::Relocate;
use crate::ftl::place::{Item, Place, Refusal, Why};
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, SuperblockUse};
use crate::policy::cell_mode::{CellModes, PageRead, Refused};
use crate::schedule::{Job, Purpose};
use crate::shared::{Out, Shared};

impl Relocate {
    /// The read of a multi-plane page under `job` has ended, and all wanted codewords could be corrected. If it was
    /// a read of the host, those of its pages that belong into another mode are copied. Returns whether relocation
    /// has to go on.
    #[inline(always)] // Its only caller is on the path of every request.
    pub(crate) fn row_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        self.promotes && self.host_has_read(now, job, lower, ports)
    }

    #[inline(never)]
    fn host_has_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let shared = &lower.store.shared;
        let Job {
            at,
            step,
            asked,
            purpose,
            ..
        } = shared.jobs[job];
        let of_host = matches!(purpose, Purpose::HostRead { .. } | Purpose::SharedRead);
        let row = *shared.blocks.row(at.block);
        // Only a full superblock is copied from, so that a recovery can tell copies apart.
        if !of_host || row.usage != SuperblockUse::Full || row.holds_map {
            return false;
        }
        let codewords = shared.layout.codewords_per_slot();
        let whole = u64::MAX >> (64 - codewords);
        let first = shared.ppa_in(at, 0);
        let buffer = shared.job_buffer(job);
        let mut left = asked;
        while left != 0 {
            let row_slot = left.trailing_zeros() / codewords;
            let of_slot = whole << (row_slot * codewords);
            left &= !of_slot;
            let shared = &lower.store.shared;
            let ppa = shared.layout.slot_behind(first, row_slot);
            let from = buffer.slot(row_slot);
            let Some(lpn) = ports.buffered(from).map(|spare| spare.lpn) else {
                continue;
            };
            let read = PageRead {
                block: at.block,
                mode: row.mode,
                pe_cycles: row.pe_cycles,
                page: at.page.0,
                retries: step,
                heat: shared.heat.of(lpn),
            };
            let Some(to) = self.cell_mode.after_read(&read) else {
                continue;
            };
            let item = Item {
                lpn,
                expect: Some(ppa),
                why: Why::Promoted(to),
            };
            let refused = match asked & of_slot == of_slot {
                false => Some(Refused::Part),
                true => promote(now, &item, to, from, lower, ports),
            };
            if let Some(reason) = refused {
                lower.store.shared.counters.promotions_refused[reason as usize] += 1;
                self.again |= reason == Refused::NoSuperblock;
            }
        }
        if let Some(block) = self.cell_mode.gives_back(&lower.store.shared.blocks) {
            self.give_back(now, block, lower, ports);
        }
        self.wakes()
    }

    /// Asks for `block` to be emptied and erased into the drive's own mode. If this cannot be asked for now, the
    /// scheme will come back to it.
    fn give_back<M: Arena>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let mode = lower.store.shared.config.mode;
        if self.ask_mode(now, block, mode, lower, ports).is_ok() {
            lower.store.shared.counters.superblocks_given_back += 1;
            self.again = true;
        }
    }

    /// The mode that emptied superblock `block` is erased into: `mode`, or that of a stream that has found no
    /// superblock.
    pub(super) fn mode_for_stream(
        &mut self,
        block: SuperblockId,
        mode: CellMode,
        place: &mut Place,
        shared: &mut Shared,
    ) -> CellMode {
        let wanted = place.relocation.wanted.first();
        let own = shared.config.mode;
        match wanted {
            // It was not free before, so no free one is taken.
            Some(to) if mode == own && self.may_convert(to, 0, place, shared).is_ok() => {
                debug_assert_eq!(shared.blocks.row(block).valid_slots, 0, "it is empty");
                place.relocation.wanted.remove(to);
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
        if place.space.erasing.is_some() || emptying == Some(Owner::Gc) {
            return;
        }
        if place.has_free_in(to) {
            place.relocation.wanted.remove(to);
            return;
        }
        let taken = shared.slots_of(shared.config.mode);
        let chosen = self
            .may_convert(to, taken, place, shared)
            .and_then(|()| place.free_for_conversion(shared).ok_or(Refused::Reserve));
        match chosen {
            Ok(block) => {
                place.relocation.wanted.remove(to);
                let row = *shared.blocks.row(block);
                place.take_free(row.mode, shared.slots_of(row.mode));
                store.start_erase(now, block, to, ports);
            }
            // Cleaning makes room for one more superblock first.
            Err(Refused::Reserve) if self.over_provisioning_allows(to, place, shared) => {}
            Err(reason) => {
                place.relocation.wanted.remove(to);
                shared.counters.promotions_refused[reason as usize] += 1;
            }
        }
    }

    /// Whether cleaning has to make room for one superblock more than the host needs, because a stream of another
    /// mode has found none.
    pub(super) fn stream_waits(&self, place: &Place, shared: &Shared) -> bool {
        let wanted = place.relocation.wanted.first();
        wanted.is_some_and(|to| self.over_provisioning_allows(to, place, shared))
    }

    /// Whether the over-provisioning allows that a superblock of the drive's own mode changes to mode `to`.
    fn over_provisioning_allows(&self, to: CellMode, place: &Place, shared: &Shared) -> bool {
        let own = shared.slots_of(shared.config.mode);
        let shrinks = u64::from(own - shared.slots_of(to)) + self.promised_slots(place);
        !place.space.read_only
            && place.space.holds_capacity_without(shrinks)
            && place.space.physical_slots >= self.keep_slots + shrinks
    }

    /// Whether a superblock of the drive's own mode may change to mode `to`: `taken` are its slots if it is a free one,
    /// and none if it has just been emptied.
    fn may_convert(
        &self,
        to: CellMode,
        taken: u32,
        place: &Place,
        shared: &Shared,
    ) -> Result<(), Refused> {
        if !self.over_provisioning_allows(to, place, shared) {
            return Err(Refused::OverProvisioning);
        }
        match place.has_beyond_reserve(u64::from(taken), shared) && place.can_spare(taken, shared) {
            true => Ok(()),
            false => Err(Refused::Reserve),
        }
    }

    /// Slots that the drive will lose by changes of mode that were asked for and are not done.
    pub(super) fn promised_slots(&self, place: &Place) -> u64 {
        let promised = self.asked.iter().chain(&place.relocation.emptying);
        promised.map(|e| u64::from(e.shrinks)).sum()
    }
}

/// Copies page `item`, whose data are in buffer `from`, into the stream of mode `to`. Returns why it was refused.
fn promote<M: Arena>(
    now: Ns,
    item: &Item,
    to: CellMode,
    from: firstread_core::Buf,
    lower: &mut LowerLayers<M>,
    ports: &mut impl Out,
) -> Option<Refused> {
    if lower.pager.is_crowded() {
        return Some(Refused::Map);
    }
    let placed = match lower.store.take(now, item) {
        Ok(placed) => placed,
        // The host has written the page meanwhile: there is nothing to promote.
        Err(Refusal::Overtaken) => return None,
        Err(Refusal::Wait(Wait::Overlay)) => return Some(Refused::Map),
        Err(Refusal::Wait(Wait::Rewrite)) => return Some(Refused::Rewrites),
        Err(Refusal::Wait(Wait::Buffer)) => return Some(Refused::Buffer),
        Err(Refusal::Wait(_) | Refusal::Never(_)) => return Some(Refused::NoSuperblock),
    };
    ports.copy(from, placed.buf());
    let counters = &mut lower.store.shared.counters;
    counters.slots_promoted[to as usize] += 1;
    counters.slots_moved += 1;
    counters.slots_moved_by[Owner::Promotion as usize] += 1;
    let programs = lower.commit(placed);
    lower.store.start(now, programs, ports);
    None
}
