//! Relocation: the one way in which data move, whoever asks.
//!
//! Garbage collection, wear leveling, conversion and retirement empty superblocks, one at a time,
//! a page row after another; refresh and others ask for single pages. Reads of a move take the
//! real read path at their own priority, behind those of the host, and may need retries. What was
//! read goes to the write buffer of a stream of its own.
//!
//! A move holds no lock. When its data have arrived, the map tells for each slot whether it still
//! is the last version; a host write or trim that came meanwhile has won, and the move is dropped.
//! A superblock is erased once no slot of it is valid, no move is under way and no read is queued.
//!
//! Relocation keeps no reverse map: a slot's spare area holds its logical page, which arrives with
//! the data. Which slots to read is asked of the superblock's table of contents, which a controller
//! reads with the superblock's last rows (sixteen bytes a slot, 0.4 % of the rows; not charged). Where
//! what a slot holds is known from before the first write ([`firstread_core::Before`]), nobody is asked.
//!
//! - `evacuate`: superblocks emptied, row after row, and erased.
//! - `moves`: one move, from its read to its new place.
//! - `gc`: garbage collection and its pace; wear leveling. `victims`: those chosen and to come.

mod evacuate;
mod gc;
mod moves;
mod victims;

use alloc::collections::VecDeque;

use firstread_core::{Arena, BlockId, CellMode, Geometry, Lpn, Ns, Ppa};

use crate::base::{Base, Out};
use crate::below::Below;
use crate::ftl::place::Evacuation;
use crate::observe::{BlockUse, Owner};
use crate::policy::gc_victim::AnyGcVictim;
use crate::schedule::Purpose;
pub(crate) use moves::{Arrived, Rescued};
use victims::Gc;

/// Superblocks that may be asked for at a time, beyond the one being emptied.
const ASKED: usize = 8;
/// Pages that may be asked for at a time.
const PAGES: usize = 64;
/// Moves under way at most; fewer on drives with fewer dies.
const MAX_MOVES: u16 = 128;

/// Why relocation does not take something on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Busy {
    /// It has as many requests as it can hold: ask later.
    QueueFull,
    /// A move of the page is under way already.
    Moving,
    /// The page holds no data, or lies in the write buffer.
    NothingThere,
    /// The superblock is open, being erased, on the move or retired.
    NotAtRest,
    /// The drive would no longer hold its capacity.
    NoRoom,
}

/// What relocation has been asked for, and the scheme of axis `gc_victim`.
#[derive(Clone, Debug)]
pub(crate) struct Relocate {
    asked: VecDeque<Evacuation>,
    pages: VecDeque<(Owner, Lpn)>,
    /// Jobs whose data have arrived and wait for the write buffer.
    arrived: VecDeque<u32>,
    /// Moves that may hold a job.
    window: u32,
    /// There is more to look at than one go allows: wake soon.
    again: bool,
    /// No superblock could be had for what is to be written.
    lacks_room: bool,
    /// Writes and trims that wait may have waited for what has just changed.
    lets_writes_go: bool,
    gc: Gc,
}

/// What a power cut leaves of relocation: which victims cleaning has foreseen.
pub(crate) type Dumped = Gc;

impl Relocate {
    /// On a drive of `geometry`.
    pub(crate) fn new(geometry: &Geometry, victim: AnyGcVictim) -> Relocate {
        let window = Relocate::window(geometry);
        Relocate {
            asked: VecDeque::with_capacity(ASKED),
            pages: VecDeque::with_capacity(PAGES),
            arrived: VecDeque::with_capacity(window as usize),
            window,
            again: false,
            lacks_room: false,
            lets_writes_go: false,
            gc: Gc::new(victim),
        }
    }

    /// Moves that may hold a job.
    pub(crate) fn window(geometry: &Geometry) -> u32 {
        u32::from(geometry.dies().clamp(4, MAX_MOVES))
    }

    /// The scheme of axis `gc_victim`.
    pub(crate) fn gc_victim(&self) -> &AnyGcVictim {
        self.gc.victim()
    }

    /// Power is cut: what is left.
    pub(crate) fn dump(self) -> Dumped {
        self.gc
    }

    /// Power is back: takes on what was dumped.
    pub(crate) fn take_dumped(&mut self, dumped: Dumped) {
        self.gc = dumped;
    }

    /// There is something to look at soon.
    pub(crate) fn wake(&mut self) {
        self.again = true;
    }

    /// Whether there is something to look at soon.
    #[inline]
    pub(crate) fn wakes(&self) -> bool {
        self.again
    }

    /// Begins to go on: whether there is anything to do.
    #[inline]
    pub(crate) fn begin<M>(&mut self, below: &Below<M>) -> bool {
        self.again = false;
        let place = &below.store.place;
        !place.ledger.is_idle() || place.has_rescued() || self.has_more_to_move(&below.store)
    }

    /// Whether writes and trims that wait may have waited for what has changed since this was asked last.
    pub(crate) fn lets_writes_go(&mut self) -> bool {
        core::mem::take(&mut self.lets_writes_go)
    }

    /// Asks that logical page `lpn` be written anew. Whoever asks first owns the move: a page that
    /// is on the move already is refused.
    pub(crate) fn ask_move<M: Arena>(
        &mut self,
        owner: Owner,
        lpn: Lpn,
        below: &mut Below<M>,
    ) -> Result<(), Busy> {
        let store = &mut below.store;
        let Some(ppa) = store.table.map.at(lpn) else {
            return Err(Busy::NothingThere);
        };
        let row = store.base.blocks.row(ppa.block());
        if row.usage != BlockUse::Full {
            return Err(Busy::NothingThere);
        }
        let is_asked = self.pages.iter().any(|(_, l)| *l == lpn);
        if row.leaving || is_asked || (store.place.ledger.moves > 0 && is_moving(ppa, &store.base))
        {
            return Err(Busy::Moving);
        }
        if self.pages.len() == PAGES {
            return Err(Busy::QueueFull);
        }
        self.pages.push_back((owner, lpn));
        store.place.ledger.asked += 1;
        Ok(())
    }

    /// Asks that `block` be erased into `mode`. What it holds is moved away first. Refused when the
    /// superblock is not at rest, and when the drive would no longer hold its capacity. Forgotten
    /// when garbage collection erases the superblock first. Whether there is anything to move.
    pub(crate) fn ask_mode<M: Arena>(
        &mut self,
        now: Ns,
        block: BlockId,
        mode: CellMode,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> Result<bool, Busy> {
        let store = &mut below.store;
        let (place, base) = (&mut store.place, &mut store.base);
        let row = *base.blocks.row(block);
        let (before, after) = (base.slots_of(row.mode), base.slots_of(mode));
        // What is asked for and not done yet counts as done.
        let promised = self.asked.iter().chain(&place.ledger.emptying);
        let promised: u64 = promised.map(|e| u64::from(e.shrinks)).sum();
        let shrinks = u64::from(before.saturating_sub(after)) + promised;
        if u64::from(after) > place.space.largest_slots
            || !place.space.holds_capacity_without(shrinks)
            || place.space.read_only
        {
            return Err(Busy::NoRoom);
        }
        match row.usage {
            BlockUse::Free if place.space.erasing.is_none() => {
                // It is not free while it is being erased, and cleaning must keep its reserve.
                if !place.has_beyond_reserve(u64::from(before), base) {
                    return Err(Busy::NoRoom);
                }
                place.take_free(before);
                store.start_erase(now, block, mode, ports);
                Ok(false)
            }
            BlockUse::Full if !row.leaving && !row.failed => {
                if self.asked.iter().any(|a| a.block == block) {
                    return Err(Busy::Moving);
                }
                if self.asked.len() == ASKED {
                    return Err(Busy::QueueFull);
                }
                self.asked.push_back(Evacuation {
                    owner: Owner::Convert,
                    block,
                    opened: row.opened,
                    mode,
                    row: 0,
                    rows: 0,
                    shrinks: before.saturating_sub(after),
                });
                place.ledger.asked += 1;
                Ok(true)
            }
            _ => Err(Busy::NotAtRest),
        }
    }

    /// A superblock has been erased: wear has changed.
    pub(crate) fn erased(&mut self) {
        self.gc.consider_wear();
    }
}

/// Whether a move of the slot at `ppa` is under way.
fn is_moving(ppa: Ppa, base: &Base) -> bool {
    let (at, row_slot) = base.row_of(ppa);
    base.jobs.iter().any(|job| {
        job.at == at
            && matches!(job.purpose, Purpose::Move { slots, .. } if slots >> row_slot & 1 != 0)
    })
}
