//! Superblocks are emptied one at a time, one multi-plane page after another, and then erased or retired.

use firstread_core::{Arena, BlockId, Ns, Wait};

use super::Relocate;
use crate::base::Out;
use crate::below::Below;
use crate::ftl::place::Evacuation;
use crate::observe::{BlockUse, Owner};

/// Slots searched in one go for the next multi-plane page with valid slots. After that other work comes
/// first.
const SCAN_SLOTS: u32 = 1024;

impl Relocate {
    /// Empties superblocks as far as possible now. `is_held`: data that have arrived find no room. Returns
    /// true if emptying was abandoned and move jobs have become free: those who wait for a job come first,
    /// then this continues.
    pub(crate) fn empty<M: Arena>(
        &mut self,
        now: Ns,
        is_held: bool,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> bool {
        let current = below.store.place.ledger.emptying;
        let emptied = |e: Evacuation| below.store.base.blocks.row(e.block).valid_slots == 0;
        if self.lacks_room && !current.is_some_and(emptied) {
            if below.store.place.space.erasing.is_some() {
                return false;
            }
            self.lacks_room = false;
            if self.give_up_emptying(below) {
                return true;
            }
        } else if is_held {
            return false;
        }
        while below.store.place.ledger.moves < self.window
            && !self.pages.is_empty()
            && below.store.place.has_beyond_reserve(1, &below.store.base)
            && let Some((owner, lpn)) = self.pages.pop_front()
        {
            below.store.place.ledger.asked -= 1;
            self.start_page(now, owner, lpn, below, ports);
        }
        loop {
            let Some(current) = below.store.place.ledger.emptying else {
                match self.next_evacuation(below) {
                    Some(next) => below.store.place.ledger.emptying = Some(next),
                    None => {
                        self.nothing_to_empty(below);
                        return false;
                    }
                }
                continue;
            };
            let store = &mut below.store;
            let row = store.base.blocks.row(current.block);
            if row.valid_slots == 0 {
                if row.pins > 0 || store.place.space.erasing.is_some() {
                    return false;
                }
                self.emptied(now, current, below, ports);
                continue;
            }
            if store.place.ledger.moves == self.window
                || !self.may_move(current.owner, &below.store)
            {
                return false;
            }
            if below.pager.is_crowded() {
                if below.pager.map_is_crowded(now, &mut below.store, ports) {
                    let ledger = &below.store.place.ledger;
                    if !ledger.map_waits.has(Wait::Superblock) {
                        return false;
                    }
                } else {
                    self.lets_writes_go = true;
                }
            }
            let store = &below.store;
            let valid = store.base.blocks.row(current.block).valid_slots;
            if !store.place.fits_with_host(valid, &store.base) {
                if self.give_up_emptying(below) {
                    return true;
                }
                continue;
            }
            if !self.start_next_row(now, current, below, ports) {
                return false;
            }
        }
    }

    /// The superblock being emptied holds no more data: it is erased or retired.
    fn emptied<M: Arena>(
        &mut self,
        now: Ns,
        current: Evacuation,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut below.store;
        let (place, base) = (&mut store.place, &mut store.base);
        place.ledger.emptying = None;
        let (block, mode) = (current.block, current.mode);
        if base.blocks.row(block).failed && !place.mend(block, base, ports) {
            store.read.block_changed(now, block, &base.blocks);
        } else {
            store.start_erase(now, block, mode, ports);
        }
    }

    /// Abandons the superblock being emptied, and the data in flight from it. Returns whether jobs have
    /// become free.
    fn give_up_emptying<M>(&mut self, below: &mut Below<M>) -> bool {
        if let Some(current) = below.store.place.ledger.emptying.take() {
            below.store.base.blocks.row_mut(current.block).leaving = false;
        }
        let frees = !self.arrived.is_empty();
        while !self.arrived.is_empty() {
            self.end_move(below);
        }
        frees
    }

    /// No superblock can be emptied now. If nothing is in flight either, writes that wait for space may have
    /// it or will never get it. If there is garbage that cannot be cleaned, the drive has reached its end of
    /// life.
    fn nothing_to_empty<M: Arena>(&mut self, below: &mut Below<M>) {
        let (place, table) = (&mut below.store.place, &below.store.table);
        let is_held = place.has_rescued() && table.map.has_room(1);
        let ledger = &place.ledger;
        let waits = is_held || ledger.superblock_is_wanted();
        let space = &place.space;
        if waits && ledger.is_resting() && space.erasing.is_none() && space.programs == 0 {
            if is_held || place.has_garbage(&below.store.base) {
                place.end_of_life();
            }
            self.lets_writes_go = true;
        }
    }

    /// The superblock to be emptied next. The order is: failed superblocks, requested ones, garbage
    /// collection, wear leveling.
    fn next_evacuation<M: Arena>(&mut self, below: &mut Below<M>) -> Option<Evacuation> {
        // An evacuation that gives back less than it takes waits until cleaning has its reserve.
        let spare = below.store.place.has_spare();
        let row_of = |below: &Below<M>, block| *below.store.base.blocks.row(block);
        let (owner, block, mode, shrinks) = if spare
            && below.store.place.space.failed > 0
            && let Some(block) = failed_at_rest(below)
        {
            (Owner::Retire, block, row_of(below, block).mode, 0)
        } else if spare && let Some(asked) = self.next_asked(below) {
            (asked.owner, asked.block, asked.mode, asked.shrinks)
        } else {
            let (owner, block) = self.choose_victim(&mut below.store)?;
            (owner, block, row_of(below, block).mode, 0)
        };
        let base = &mut below.store.base;
        let row = base.blocks.row_mut(block);
        row.leaving = true;
        let opened = row.opened;
        let g = &base.config.geometry;
        let rows = g.data_dies() as u32 * row.mode.bits() as u32 * g.wordlines_per_block as u32;
        Some(Evacuation {
            owner,
            block,
            opened,
            mode,
            row: 0,
            rows,
            shrinks,
        })
    }

    /// The next requested superblock that has not changed since the request.
    fn next_asked<M>(&mut self, below: &mut Below<M>) -> Option<Evacuation> {
        while let Some(asked) = self.asked.pop_front() {
            below.store.place.ledger.asked -= 1;
            let row = below.store.base.blocks.row(asked.block);
            if row.usage == BlockUse::Full && row.opened == asked.opened {
                return Some(asked);
            }
        }
        None
    }

    /// Whether superblocks wait to be emptied for another reason than garbage collection.
    pub(super) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Starts the move of the next multi-plane page of `current` that holds valid slots. False if there is
    /// none, or if it was not found in one go.
    fn start_next_row<M: Arena>(
        &mut self,
        now: Ns,
        mut current: Evacuation,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> bool {
        let store = &mut below.store;
        let layout = &store.base.layout;
        let mode = store.base.blocks.row(current.block).mode;
        let per_row = layout.slots_per_row();
        let computed = store.table.map.is_computed(current.block);
        let mut budget = SCAN_SLOTS.div_ceil(per_row);
        while current.row < current.rows {
            if budget == 0 {
                self.again = true;
                store.place.ledger.emptying = Some(current);
                return false;
            }
            budget -= 1;
            let at = layout.data_row(current.row, current.block, mode);
            current.row += 1;
            let first = layout.slot_at(at, 0, mode);
            let mut slots = 0u64;
            for row_slot in 0..per_row {
                let ppa = layout.slot_behind(first, row_slot);
                let holds = if computed {
                    store.table.map.holds(ppa)
                } else {
                    let spare = ports.stored(ppa);
                    spare.is_some_and(|spare| store.table.lies_at(spare.lpn, ppa))
                };
                if holds {
                    slots |= 1 << row_slot;
                }
            }
            if slots != 0 {
                store.place.ledger.emptying = Some(current);
                self.start_move(now, current.owner, at, slots, false, below, ports);
                if matches!(current.owner, Owner::Gc | Owner::Wear) {
                    below.store.place.ledger.pace.spend(slots.count_ones());
                }
                return true;
            }
        }
        // Moves in flight will empty the superblock. If none is in flight, search it again from its start.
        if store.place.ledger.moves == 0 {
            debug_assert!(
                false,
                "every valid slot of {:?} was found: {:?}",
                current.block,
                store.base.blocks.row(current.block)
            );
            current.row = 0;
        }
        store.place.ledger.emptying = Some(current);
        false
    }
}

/// A superblock with a failed program that will not be programmed further.
fn failed_at_rest<M>(below: &Below<M>) -> Option<BlockId> {
    let mut blocks = below.store.base.blocks.iter();
    let failed = blocks.find(|(_, row)| row.failed && row.usage == BlockUse::Full);
    failed.map(|(block, _)| block)
}
