//! One move. The multi-plane page is read by the common read path at a priority of its own. Each of its slots
//! is then written to a new place, unless the host has overtaken it.

use firstread_core::{Arena, Buf, Lpn, Ns, PageAddr, Ppa, Priority, Wait};

use super::Relocate;
use crate::base::Out;
use crate::below::Below;
use crate::ftl::place::{Item, Refusal, Why};
use crate::observe::{BlockUse, Owner};
use crate::schedule::{Job, Purpose};

/// Progress in writing rescued data again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rescued {
    /// There is no room for the next slot.
    Blocked,
    /// There were no rescued data.
    Nothing,
    /// All rescued data have been written.
    All,
}

/// Progress in writing data that have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrived {
    /// There is no room for the next slot.
    Blocked,
    /// Nothing has arrived.
    Nothing,
    /// A move has ended and its job is free.
    Ended,
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
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut below.store;
        let base = &mut store.base;
        let job = base
            .jobs
            .take()
            .expect("a job is reserved for every move in the window");
        store.place.ledger.moves += 1;
        store.place.ledger.moves_reading += 1;
        let codewords = base.layout.codewords_per_slot();
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
        read.start(now, job, purpose, priority, at, wanted, base, ports);
    }

    /// Starts the requested move of single page `lpn`.
    pub(super) fn start_page<M: Arena>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) {
        let store = &mut below.store;
        let Some(ppa) = store.table.map.at(lpn) else {
            return;
        };
        let row = store.base.blocks.row(ppa.block());
        // If the page has started to move for another reason meanwhile, that move stands.
        if row.usage == BlockUse::Full && !row.leaving {
            let (at, row_slot) = store.base.row_of(ppa);
            store.place.reserve_slot();
            self.start_move(now, owner, at, 1 << row_slot, true, below, ports);
        }
    }

    /// The read of a move has ended; `failed` codewords could not be corrected.
    pub(crate) fn move_read<M>(&mut self, job: u32, failed: u64, below: &mut Below<M>) {
        let base = &mut below.store.base;
        base.counters.move_retries += u64::from(base.jobs[job].step);
        let codewords = base.layout.codewords_per_slot();
        let purpose = &mut base.jobs[job].purpose;
        let Purpose::Move { lost, .. } = purpose else {
            unreachable!("{purpose:?} moves nothing")
        };
        let mut left = failed;
        while left != 0 {
            let row_slot = left.trailing_zeros() / codewords;
            left &= !((u64::MAX >> (64 - codewords)) << (row_slot * codewords));
            *lost |= 1 << row_slot;
        }
        self.arrived.push_back(job);
        below.store.place.ledger.moves_reading -= 1;
    }

    /// Writes the data of the oldest move that has arrived.
    pub(crate) fn write_arrived<M: Arena>(
        &mut self,
        now: Ns,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> Arrived {
        let Some(&job) = self.arrived.front() else {
            return Arrived::Nothing;
        };
        let Job { at, purpose, .. } = below.store.base.jobs[job];
        let Purpose::Move {
            mut slots,
            lost,
            alone,
            owner,
        } = purpose
        else {
            unreachable!("{purpose:?} moves nothing")
        };
        let first = below.store.base.ppa_in(at, 0);
        let buffer = below.store.base.job_buffer(job);
        while slots != 0 {
            let row_slot = slots.trailing_zeros();
            let base = &mut below.store.base;
            let ppa = base.layout.slot_behind(first, row_slot);
            let from = buffer.slot(row_slot);
            let is_lost = lost >> row_slot & 1 != 0;
            let spare = match is_lost {
                true => ports.stored(ppa),
                false => ports.buffered(from),
            };
            let stays = match spare.map(|slot| slot.lpn) {
                Some(lpn) if is_lost && below.store.table.lies_at(lpn, ppa) => {
                    !lose(lpn, ppa, below)
                }
                Some(lpn) if !is_lost => {
                    let item = Item {
                        lpn,
                        expect: Some(ppa),
                        why: Why::Moved(owner),
                    };
                    match self.write_moved(now, &item, owner, from, below, ports) {
                        Err(Refusal::Overtaken) => {
                            below.store.base.counters.moves_overtaken += 1;
                            false
                        }
                        written => written.is_err(),
                    }
                }
                _ => {
                    base.counters.moves_overtaken += 1;
                    false
                }
            };
            if stays {
                below.store.base.jobs[job].purpose = Purpose::Move {
                    slots,
                    lost,
                    alone,
                    owner,
                };
                return Arrived::Blocked;
            }
            slots &= slots - 1;
        }
        self.end_move(below);
        Arrived::Ended
    }

    /// The data of the oldest move that has arrived need no slot any more: its job is free.
    pub(super) fn end_move<M>(&mut self, below: &mut Below<M>) {
        let Some(job) = self.arrived.pop_front() else {
            return;
        };
        let (place, base) = (&mut below.store.place, &mut below.store.base);
        let alone = matches!(base.jobs[job].purpose, Purpose::Move { alone: true, .. });
        if alone {
            place.release_slot();
        }
        place.ledger.moves -= 1;
        base.unpin(job);
        base.jobs.release(job);
    }

    /// Writes the data of `item`, which are in buffer `from`, to a new slot.
    fn write_moved<M: Arena>(
        &mut self,
        now: Ns,
        item: &Item,
        owner: Owner,
        from: Buf,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> Result<(), Refusal> {
        let store = &mut below.store;
        let placed = store.take(now, item);
        self.lacks_room |= matches!(placed, Err(Refusal::Wait(Wait::Superblock)));
        let placed = placed?;
        ports.copy(from, placed.buf());
        store.base.counters.slots_moved += 1;
        store.base.counters.slots_moved_by[owner as usize] += 1;
        let programs = below.commit(placed);
        below.store.start(now, programs, ports);
        Ok(())
    }

    /// Writes rescued data, as far as there is room.
    pub(crate) fn write_again<M: Arena>(
        &mut self,
        now: Ns,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> Rescued {
        self.lacks_room = false;
        let mut written = Rescued::Nothing;
        while let Some((ppa, from)) = below.store.place.next_rescued() {
            if let Some(slot) = ports.buffered(from) {
                let item = Item {
                    lpn: slot.lpn,
                    expect: Some(ppa),
                    why: Why::Moved(Owner::Rescue),
                };
                match self.write_moved(now, &item, Owner::Rescue, from, below, ports) {
                    Ok(()) | Err(Refusal::Overtaken) => {}
                    Err(_) => return Rescued::Blocked,
                }
            }
            below.store.place.rescued(&mut below.store.base);
            written = Rescued::All;
        }
        written
    }
}

/// The data of `lpn` at `ppa` are lost. False if the map has no room to record this now.
fn lose<M: Arena>(lpn: Lpn, ppa: Ppa, below: &mut Below<M>) -> bool {
    let store = &mut below.store;
    if store.table.directory.is_map(lpn) {
        below.pager.lose(lpn, store);
        return true;
    }
    if !store.table.map.has_room(1) {
        return false;
    }
    let (table, base) = (&mut store.table, &mut store.base);
    store.place.lose(lpn, ppa, table, base);
    below.pager.change(lpn, &table.directory);
    true
}
