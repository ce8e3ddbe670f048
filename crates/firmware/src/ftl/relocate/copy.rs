//! What a read makes necessary. A page that the host has just read is copied into the stream of another cell mode
//! (promotion, axis `cell_mode`), or rewritten in the drive's own (refresh, axis `refresh`). The data are in the buffer
//! of the read, so nothing is read again and nothing waits. A copy that finds no slot is refused, counted and
//! forgotten. A superblock that was read as often as axis `refresh` lets it is emptied.

use firstread_core::{Arena, Buf, CellMode, Lpn, Ns, SuperblockId, Wait};

use super::{ASKED, Relocate};
use crate::ftl::place::{Evacuation, Item, TakeError, Why};
use crate::lower_layers::LowerLayers;
use crate::observe::{
    CopyRefused, Counters, Owner, RegionId, StreamUse, SuperblockInfo, SuperblockUse,
};
use crate::policy::area::Areas;
use crate::policy::cell_mode::CellModes;
use crate::policy::hot_pages::PageRead;
use crate::policy::refresh::Refresh;
use crate::schedule::{Job, Purpose};
use crate::shared::Out;

impl Relocate {
    /// The read of a multi-plane page under `job` has ended, and all wanted codewords could be corrected. Returns
    /// whether relocation has to go on.
    #[inline(always)] // Its only caller is on the path of every request.
    pub(crate) fn mp_page_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let shared = &lower.store.shared;
        let block = shared.jobs[job].at.block;
        let info = shared.blocks.info(block);
        let is_disturbed = info.reads >= self.looks_from.of(info.mode);
        if is_disturbed {
            self.refresh_superblock(now, block, lower, ports);
        }
        self.copies && self.host_has_read(now, job, lower, ports) || is_disturbed && self.wakes()
    }

    /// If `job` was a read of the host, those of its pages that belong elsewhere are copied.
    #[inline(never)] // A drive on which nothing is copied has one branch.
    fn host_has_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let shared = &lower.store.shared;
        let ended = &shared.jobs[job];
        let of_host = matches!(
            ended.purpose,
            Purpose::HostRead { .. } | Purpose::SharedRead
        );
        let info = shared.blocks.info(ended.at.block);
        // Only a full superblock is copied from, so that a recovery can tell copies apart.
        if !of_host || info.usage != SuperblockUse::Full || info.holds_map {
            return false;
        }
        let scheme = &mut lower.store.place.area;
        let region = shared.blocks.region_of(ended.at.block);
        if self.sees_every_read || scheme.sees_read(region, ended.step) {
            return self.pages_read(now, job, lower, ports);
        }
        scheme.has_read(slots_of(ended.asked, shared.layout.codewords_per_slot()));
        self.wakes()
    }

    /// Those of the pages that the host has read under `job` that belong elsewhere are copied.
    #[inline(never)] // Few reads come here.
    fn pages_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> bool {
        let shared = &lower.store.shared;
        let Job {
            at, step, asked, ..
        } = shared.jobs[job];
        let info = *shared.blocks.info(at.block);
        let region = shared.blocks.region_of(at.block);
        let codewords = shared.layout.codewords_per_slot();
        let whole = u64::MAX >> (64 - codewords);
        let first = shared.ppa_in(at, 0);
        let buffer = shared.jobs.buffer(job);
        let mut left = asked;
        while left != 0 {
            let mp_page_slot = left.trailing_zeros() / codewords;
            let of_slot = whole << (mp_page_slot * codewords);
            left &= !of_slot;
            let shared = &lower.store.shared;
            let ppa = shared.layout.slot_behind(first, mp_page_slot);
            let from = buffer.slot(mp_page_slot);
            let Some(lpn) = ports.buffered(from).map(|spare| spare.lpn) else {
                continue;
            };
            let read = PageRead {
                block: at.block,
                mode: info.mode,
                pe_cycles: info.pe_cycles,
                page: at.page.0,
                block_reads: info.reads,
                retries: step,
                age: now.since(info.programmed_at),
                heat: shared.heat.of(lpn),
                future: shared.future.of(lpn),
            };
            let is_own = info.mode == shared.config.mode;
            self.limits.earn();
            let migrates = lower.store.place.area.after_read(region, &read);
            let budget = &mut lower.store.shared.counters.migrations_over_budget;
            *budget += u64::from(migrates == Some(false));
            let promoted = lower.store.place.cell_mode.after_read(&read);
            let Some(to) = self.wants_copy(&read, promoted, is_own, migrates == Some(true)) else {
                if is_own && lower.store.place.sees_reads() {
                    self.move_to_faster_page(lpn, &read, lower);
                }
                continue;
            };
            let item = Item {
                lpn,
                expect: Some(ppa),
                why: Why::Copied(to),
                wish: lower.store.wish_of_move(lpn, 1),
            };
            let refused = match (asked & of_slot == of_slot, to) {
                (false, _) => Some(CopyRefused::Part),
                (true, StreamUse::Promoted(mode)) => {
                    self.promote(now, &item, mode, from, lower, ports)
                }
                (true, _) => copy(now, &item, to, from, lower, ports),
            };
            if let Some(reason) = refused {
                refusals(to, &mut lower.store.shared.counters)[reason as usize] += 1;
                self.again |= reason == CopyRefused::NoSuperblock;
                // Next best to a faster mode that has no room is the fastest page type of the drive's own.
                let is_promoted = matches!(to, StreamUse::Promoted(_));
                if is_promoted && is_own && reason.is_for_room() && lower.store.place.sees_reads() {
                    self.move_to_faster_page(lpn, &read, lower);
                }
            } else {
                // The oldest move may be of this page.
                self.try_arrived_again();
            }
        }
        self.reclaim(now, lower, ports);
        self.wakes()
    }

    /// Page `lpn`, which the host has read and no scheme has copied, is moved if axis `page_type` wants it on a faster page type. It
    /// is read again for that: the move takes its turn with all others. The reserve of cleaning and the pace of the host are kept.
    fn move_to_faster_page<M: Arena>(
        &mut self,
        lpn: Lpn,
        read: &PageRead,
        lower: &mut LowerLayers<M>,
    ) {
        let store = &mut lower.store;
        // Pages that were asked for begin before cleaning goes on, so few may wait.
        let is_full = self.pages.len() as u32 >= self.window;
        if !store.place.promotes(read) || is_full || !store.place.may_promote(&store.shared) {
            return;
        }
        // Where the page moves already its next read asks again.
        if self.ask_move(Owner::Scheme, lpn, lower).is_ok() {
            lower.store.place.has_promoted();
            self.again = true;
        }
    }

    /// The stream into which a page that was read is to be copied, if any. `promoted`: the mode in which axis `cell_mode` wants it. `is_own`: the page lies in the drive's own
    /// mode. A promotion goes before a migration into another region, and a migration before a refresh.
    fn wants_copy(
        &mut self,
        read: &PageRead,
        promoted: Option<CellMode>,
        is_own: bool,
        migrates: bool,
    ) -> Option<StreamUse> {
        // Both schemes are asked, even if the answer of one decides: each is to see every read.
        let refreshes = is_own && self.refresh.rewrites(read);
        let promoted = promoted.map(StreamUse::Promoted);
        let migrated = || (is_own && migrates).then_some(StreamUse::Region(RegionId::DECLARED));
        promoted
            .or_else(migrated)
            .or_else(|| refreshes.then_some(StreamUse::Refreshed))
    }

    /// Superblock `block` was read so often that its data are to be rewritten, or will be soon: asks for it to be emptied, or
    /// for a superblock of its mode for its pages. If it is still open, it is closed first: pages that were just moved may be all that is read, so that nothing else would ever
    /// fill it. If it is not at rest or the queue of requests is full, the next read of the superblock asks again.
    #[cold]
    fn refresh_superblock<M: Arena>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut lower.store;
        let (place, shared) = (&mut store.place, &store.shared);
        let info = shared.blocks.info(block);
        if info.evacuating || info.failed || place.space.read_only {
            return;
        }
        if info.reads < self.most_senses.of(info.mode) {
            if self.will_lack_its_mode(info, place, shared) {
                place.relocation.wanted.add(info.mode);
                self.again = true;
            }
            return;
        }
        if info.usage == SuperblockUse::Open {
            return store.close_early(now, block, ports);
        }
        if info.usage != SuperblockUse::Full
            || self.asked.len() == ASKED
            || self.asked.iter().any(|asked| asked.block == block)
        {
            return;
        }
        self.asked.push_back(Evacuation {
            owner: Owner::Refresh,
            block,
            opened: info.opened,
            mode: place.mode_after(info.mode, shared),
            mp_page: 0,
            mp_pages: 0,
            shrinks: 0,
        });
        place.relocation.asked += 1;
        self.again = true;
    }
}

impl Relocate {
    /// Whether the superblock of `info` was read so much oftener than its limit that its refresh waits for no host: a sixteenth
    /// oftener. By `docs/firmware/refresh.md` disturb has then used about a quarter of what the code has left.
    pub(super) fn is_overdue(&self, info: &SuperblockInfo) -> bool {
        let limit = self.most_senses.of(info.mode);
        info.reads >= limit.saturating_add(limit / 16)
    }
}

/// Slots of which codewords are `asked`, `codewords` a slot.
fn slots_of(asked: u64, codewords: u32) -> u32 {
    let whole = u64::MAX >> (64 - codewords);
    let (mut left, mut slots) = (asked, 0);
    while left != 0 {
        left &= !(whole << (left.trailing_zeros() / codewords * codewords));
        slots += 1;
    }
    slots
}

/// The counts of refused copies into the stream that takes `to`.
fn refusals(to: StreamUse, counters: &mut Counters) -> &mut [u64; CopyRefused::COUNT] {
    match to {
        StreamUse::Refreshed => &mut counters.refreshes_refused,
        StreamUse::Region(_) => &mut counters.entries_refused,
        _ => &mut counters.promotions_refused,
    }
}

/// Copies page `item`, whose data are in buffer `from`, into the stream that takes `to`. Returns why it was refused.
pub(super) fn copy<M: Arena>(
    now: Ns,
    item: &Item,
    to: StreamUse,
    from: Buf,
    lower: &mut LowerLayers<M>,
    ports: &mut impl Out,
) -> Option<CopyRefused> {
    if lower.map_cache.is_crowded() {
        return Some(CopyRefused::Map);
    }
    let placed = match lower.store.take(now, item) {
        Ok(placed) => placed,
        // The host has written the page meanwhile: there is nothing to copy.
        Err(TakeError::Overtaken) => return None,
        Err(TakeError::Wait(Wait::Overlay)) => return Some(CopyRefused::Map),
        Err(TakeError::Wait(Wait::Rewrite)) => return Some(CopyRefused::Rewrites),
        Err(TakeError::Wait(Wait::Buffer)) => return Some(CopyRefused::Buffer),
        Err(TakeError::Wait(Wait::Reserve)) => return Some(CopyRefused::Reserve),
        Err(TakeError::Wait(_) | TakeError::Never(_)) => return Some(CopyRefused::NoSuperblock),
    };
    ports.copy(from, placed.buf());
    let counters = &mut lower.store.shared.counters;
    let owner = match to {
        StreamUse::Promoted(mode) => {
            counters.slots_promoted[mode as usize] += 1;
            Owner::Promotion
        }
        StreamUse::Region(_) => Owner::Migration,
        _ => {
            counters.slots_refreshed += 1;
            Owner::Refresh
        }
    };
    counters.slots_moved += 1;
    counters.slots_moved_by[owner as usize] += 1;
    let programs = lower.commit(placed);
    lower.store.start(now, programs, ports);
    None
}

#[cfg(test)]
mod tests;
