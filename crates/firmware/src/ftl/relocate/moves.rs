//! One move. The multi-plane page is read by the common read path at a priority of its own. Each of its slots
//! is then written to a new place, unless the host has overtaken it.

use firstread_core::{Arena, Buf, CellMode, Lpn, Ns, PageAddr, Ppa, Priority, SuperblockId, Wait};

use super::Relocate;
use crate::ftl::place::{Item, TakeError, Why, Wish};
use crate::lower_layers::LowerLayers;
use crate::observe::{Owner, SuperblockUse};
use crate::policy::cell_mode::CellModes;
use crate::schedule::{Job, Purpose};
use crate::shared::{Out, Shared};

/// How far the rewrite queue was written again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rewritten {
    /// There is no room for the next slot.
    Blocked,
    /// There were no data to be rewritten.
    Nothing,
    /// All of them have been rewritten.
    All,
}

/// Progress in writing data that have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrived {
    /// There is no room for the next slot.
    Blocked,
    /// No move has data that wait to be written.
    Nothing,
    /// A move has ended and its job is free.
    Ended,
}

/// A slot of data that moves.
#[derive(Clone, Copy, Debug)]
struct Moved {
    lpn: Lpn,
    from: Ppa,
    owner: Owner,
    /// The mode in which the page stays, if another than the drive's own.
    stays: Option<CellMode>,
    wish: Option<Wish>,
}

impl Relocate {
    /// Starts the move of `slots` of multi-plane page `at`; `alone` if the move was requested separately.
    #[allow(clippy::too_many_arguments)] // the fields of a move, spelled out once
    pub(super) fn start_move<M: Arena>(
        &mut self,
        now: Ns,
        owner: Owner,
        at: PageAddr,
        slots: u64,
        alone: bool,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut lower.store;
        let shared = &mut store.shared;
        let job = shared
            .jobs
            .take()
            .expect("a job is reserved for every move in the window");
        store.place.relocation.moves += 1;
        store.place.relocation.moves_reading += 1;
        let codewords = shared.layout.codewords_per_slot();
        let mut wanted = 0;
        let mut left = slots;
        while left != 0 {
            wanted |= (u64::MAX >> (64 - codewords)) << (left.trailing_zeros() * codewords);
            left &= left - 1;
        }
        let purpose = Purpose::Move {
            slots,
            lost: 0,
            alone,
            owner,
        };
        let (read, priority) = (&mut store.read, Priority::Move);
        read.start(now, job, purpose, priority, at, wanted, shared, ports);
    }

    /// Starts the requested move of single page `lpn`.
    pub(super) fn start_page<M: Arena>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut lower.store;
        let Some(ppa) = store.table.map.at(lpn) else {
            return;
        };
        let info = store.shared.blocks.info(ppa.block());
        // If the page has started to move for another reason meanwhile, that move stands.
        if info.usage == SuperblockUse::Full && !info.evacuating {
            let (at, mp_page_slot) = store.shared.mp_page_of(ppa);
            store.place.reserve_slot();
            self.start_move(now, owner, at, 1 << mp_page_slot, true, lower, ports);
        }
    }

    /// The read of a move has ended; `failed` codewords could not be corrected.
    pub(crate) fn move_read<M>(&mut self, job: u32, failed: u64, lower: &mut LowerLayers<M>) {
        let shared = &mut lower.store.shared;
        shared.counters.move_retries += u64::from(shared.jobs[job].step);
        let codewords = shared.layout.codewords_per_slot();
        let purpose = &mut shared.jobs[job].purpose;
        let Purpose::Move { lost, .. } = purpose else {
            unreachable!("{purpose:?} moves nothing")
        };
        let mut left = failed;
        while left != 0 {
            let mp_page_slot = left.trailing_zeros() / codewords;
            left &= !((u64::MAX >> (64 - codewords)) << (mp_page_slot * codewords));
            *lost |= 1 << mp_page_slot;
        }
        self.arrived.push_back(job);
        lower.store.place.relocation.moves_reading -= 1;
    }

    /// Writes the data of the oldest move that has arrived.
    pub(crate) fn write_arrived<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Arrived {
        let Some(&job) = self.arrived.front() else {
            return Arrived::Nothing;
        };
        let Job { at, purpose, .. } = lower.store.shared.jobs[job];
        let Purpose::Move {
            mut slots,
            lost,
            alone,
            owner,
        } = purpose
        else {
            unreachable!("{purpose:?} moves nothing")
        };
        let first = lower.store.shared.ppa_in(at, 0);
        let buffer = lower.store.shared.jobs.buffer(job);
        while slots != 0 {
            let mp_page_slot = slots.trailing_zeros();
            let shared = &mut lower.store.shared;
            let ppa = shared.layout.slot_behind(first, mp_page_slot);
            let from = buffer.slot(mp_page_slot);
            let is_lost = lost >> mp_page_slot & 1 != 0;
            let spare = match is_lost {
                true => ports.stored(ppa),
                false => ports.buffered(from),
            };
            let stays = match spare.map(|slot| slot.lpn) {
                Some(lpn) if is_lost && lower.store.table.lies_at(lpn, ppa) => {
                    !lose(lpn, ppa, lower)
                }
                Some(lpn) if !is_lost => {
                    let moved = Moved {
                        lpn,
                        from: ppa,
                        owner,
                        stays: self.stays_in(lpn, at.block, owner, lower),
                        wish: self.wish_of_moved(lpn, slots & !lost, buffer, lower, ports),
                    };
                    match self.write_moved(now, moved, from, lower, ports) {
                        Err(TakeError::Overtaken) => {
                            lower.store.shared.counters.moves_overtaken += 1;
                            false
                        }
                        written => {
                            self.waits_for_buffer = written == Err(TakeError::Wait(Wait::Buffer));
                            written.is_err()
                        }
                    }
                }
                _ => {
                    shared.counters.moves_overtaken += 1;
                    false
                }
            };
            if stays {
                lower.store.shared.jobs[job].purpose = Purpose::Move {
                    slots,
                    lost,
                    alone,
                    owner,
                };
                return Arrived::Blocked;
            }
            slots &= slots - 1;
        }
        self.end_move(lower);
        Arrived::Ended
    }

    /// How hot page `lpn` is, which lies in the first of `slots` of the oldest move that has arrived. The data of the move begin at `buffer`.
    #[inline]
    fn wish_of_moved<M: Arena>(
        &mut self,
        lpn: Lpn,
        slots: u64,
        buffer: Buf,
        lower: &LowerLayers<M>,
        ports: &impl Out,
    ) -> Option<Wish> {
        if !lower.store.place.places_by_heat() {
            return None;
        }
        self.part.wish_of(lpn, slots, buffer, lower, ports)
    }

    /// The data of the oldest move that has arrived need no slot any more: its job is free.
    pub(super) fn end_move<M>(&mut self, lower: &mut LowerLayers<M>) {
        let Some(job) = self.arrived.pop_front() else {
            return;
        };
        self.try_arrived_again();
        self.part.move_has_ended();
        let (place, shared) = (&mut lower.store.place, &mut lower.store.shared);
        let alone = matches!(shared.jobs[job].purpose, Purpose::Move { alone: true, .. });
        if alone {
            place.release_slot();
        }
        place.relocation.moves -= 1;
        shared.unpin(job);
        shared.jobs.release(job);
    }

    /// The mode in which page `lpn` stays, if its superblock `block` is in another mode than the drive's own, is emptied for
    /// `owner`, and the scheme of axis `cell_mode` keeps the page there.
    #[inline]
    pub(super) fn stays_in<M: Arena>(
        &self,
        lpn: Lpn,
        block: SuperblockId,
        owner: Owner,
        lower: &LowerLayers<M>,
    ) -> Option<CellMode> {
        if lower.store.place.space.pools.are_common() {
            return None;
        }
        self.stays_in_pool(lpn, block, owner, lower)
    }

    #[inline(never)] // Most drives have no pools.
    fn stays_in_pool<M: Arena>(
        &self,
        lpn: Lpn,
        block: SuperblockId,
        owner: Owner,
        lower: &LowerLayers<M>,
    ) -> Option<CellMode> {
        let store = &lower.store;
        let mode = store.shared.blocks.info(block).mode;
        if !store.place.space.pools.has(mode) || store.table.directory.is_map(lpn) {
            return None;
        }
        let Shared { heat, future, .. } = &store.shared;
        let cell_mode = &store.place.cell_mode;
        let (heat, future) = (heat.of(lpn), future.of(lpn));
        let stays = match owner {
            Owner::Refresh => cell_mode.stays_refreshed(mode, heat, future),
            Owner::Destage => store.place.pool_keeps_from(block, &store.shared),
            Owner::Gc if store.place.pool_is_too_large(0) => false,
            _ => cell_mode.stays(mode, heat, future),
        };
        stays.then_some(mode)
    }

    /// Writes the data of `moved`, which are in buffer `from`, to a new slot.
    fn write_moved<M: Arena>(
        &mut self,
        now: Ns,
        moved: Moved,
        from: Buf,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Result<(), TakeError> {
        let store = &mut lower.store;
        let Moved {
            owner, stays, wish, ..
        } = moved;
        let item = Item {
            lpn: moved.lpn,
            expect: Some(moved.from),
            why: Why::Moved { owner, stays },
            wish,
        };
        let placed = store.take(now, &item);
        self.lacks_headroom |= matches!(placed, Err(TakeError::Wait(Wait::Superblock)));
        let placed = placed?;
        ports.copy(from, placed.buf());
        if !store.place.space.pools.are_common() {
            let mode_of = |ppa: Ppa| store.shared.blocks.info(ppa.block()).mode;
            let mode = mode_of(moved.from);
            let is_demoted = store.place.space.pools.has(mode) && mode != mode_of(placed.ppa());
            store.shared.counters.slots_demoted += u64::from(is_demoted);
            if is_demoted && owner == Owner::Refresh && stays.is_some() {
                self.left_behind.add(mode, placed.ppa().block());
            }
        }
        store.shared.counters.slots_moved += 1;
        store.shared.counters.slots_moved_by[owner as usize] += 1;
        let programs = lower.commit(placed);
        lower.store.start(now, programs, ports);
        Ok(())
    }

    /// Rewrites such data, as far as there is room.
    pub(crate) fn write_again<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Rewritten {
        self.lacks_headroom = false;
        let mut written = Rewritten::Nothing;
        while let Some((ppa, from)) = lower.store.place.next_rewrite() {
            if let Some(slot) = ports.buffered(from) {
                let moved = Moved {
                    lpn: slot.lpn,
                    from: ppa,
                    owner: Owner::Rewrite,
                    stays: None,
                    wish: lower.store.wish_of_move(slot.lpn, 1),
                };
                match self.write_moved(now, moved, from, lower, ports) {
                    Ok(()) | Err(TakeError::Overtaken) => {}
                    Err(_) => return Rewritten::Blocked,
                }
            }
            lower.store.place.rewrite_done(&mut lower.store.shared);
            written = Rewritten::All;
        }
        written
    }
}

/// The data of `lpn` at `ppa` are lost. False if the map has no room to record this now.
fn lose<M: Arena>(lpn: Lpn, ppa: Ppa, lower: &mut LowerLayers<M>) -> bool {
    let store = &mut lower.store;
    if store.table.directory.is_map(lpn) {
        lower.map_cache.lose(lpn, store);
        return true;
    }
    if !store.table.map.has_room(1) {
        return false;
    }
    let (table, shared) = (&mut store.table, &mut store.shared);
    store.place.lose(lpn, ppa, table, shared);
    lower.map_cache.change(lpn, &table.directory);
    true
}
