//! Relocation: the only way by which data move, whoever asks.
//!
//! Garbage collection, wear leveling, mode conversion and retirement empty superblocks, one at a time, one
//! multi-plane page after another. Refresh and others ask for single pages. Reads of a move take the real
//! read path at a priority of their own, behind host reads, and may need retries. The data go to the write
//! buffer of a stream of its own.
//!
//! A move holds no lock. When its data have arrived, the map tells for each slot whether it is still the last
//! version. If the host has written or trimmed it meanwhile, the move of that slot is dropped. A superblock
//! is erased once it has no valid slot, no move in flight and no queued read.
//!
//! Relocation keeps no reverse map: the spare area of a slot holds its logical page and arrives with the
//! data. The superblock's table of contents tells which slots to read. A controller reads it from the
//! superblock's last multi-plane pages (sixteen bytes per slot, 0.4 % of the pages; not charged). It is not
//! needed where the slot's contents are known from before the first write ([`firstread_core::InitialContents`]).
//!
//! - `evacuate`: emptying and erasing superblocks.
//! - `moves`: one move, from its read to its new slot. `part`: neighbours that move stay on one page type.
//! - `copy`: copies of what the host has read, for promotion and refresh. `promote`: superblocks for promoted pages.
//!   `limits`: how many pages are promoted, and from when on a superblock is converted for them.
//!   `left_behind`: pages that a refresh has moved out of their mode come back.
//! - `gc`: garbage collection and its pace; wear leveling. `victims`: chosen and planned victims. `steepest`: which of several openings
//!   sets the pace.
//! - `pool`: room in the pool of another cell mode that the host writes to.
//! - `regions`: victims of each region, and room in the one that a scheme declares.

mod copy;
mod evacuate;
mod gc;
mod left_behind;
mod limits;
mod moves;
mod part;
mod pool;
mod promote;
mod regions;
mod steepest;
mod victims;

use alloc::collections::VecDeque;

use firstread_core::{Arena, CellMode, Geometry, Lpn, Ns, Ppa, SuperblockId};

use crate::config::Config;
use crate::format::record;
use crate::ftl::place::{Erased, Evacuation};
use crate::lower_layers::LowerLayers;
use crate::observe::{ModeSet, Owner, RegionId, SuperblockTable, SuperblockUse};
use crate::policy::cell_mode::{AnyCellMode, CellModes};
use crate::policy::gc_victim::AnyGcVictim;
use crate::policy::refresh::{AnyRefresh, MostSenses, Refresh};
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};
use left_behind::LeftBehind;
use limits::Limits;
pub(crate) use moves::{Arrived, Rewritten};
use part::Part;
use victims::Gc;

/// Maximum number of requested superblocks, besides the one being emptied.
const ASKED: usize = 8;
/// Maximum number of requested pages.
const PAGES: usize = 64;
/// Maximum number of moves in flight; lower on drives with fewer dies.
const MAX_MOVES: u16 = 128;

/// Why relocation refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Busy {
    /// The queue of requests is full: ask later.
    QueueFull,
    /// The page is already being moved.
    Moving,
    /// The page holds no data, or is in the write buffer.
    NothingThere,
    /// The superblock is open, being erased, being emptied or retired.
    NotAtRest,
    /// The drive would no longer hold its capacity.
    NoHeadroom,
    /// The drive keeps no read levels for that cell mode.
    NoLevels,
    /// That cell mode has a pool of superblocks: the scheme of axis `cell_mode` alone adds to it. The host and moves
    /// cannot use what is in it.
    ModeOfScheme,
}

/// Requests to relocation, and the scheme of axis `gc_victim`.
#[derive(Clone, Debug)]
pub(crate) struct Relocate {
    asked: VecDeque<Evacuation>,
    /// The superblock to be emptied for room in its region.
    for_room: Option<Evacuation>,
    /// The superblock to be emptied for room in the pool that the host writes to.
    for_pool: Option<Evacuation>,
    pages: VecDeque<(Owner, Lpn)>,
    /// Jobs whose data have arrived and wait for the write buffer.
    arrived: VecDeque<u32>,
    /// The oldest of these moves was refused because the write buffer is full. No move is tried before
    /// [`Relocate::try_arrived_again`].
    waits_for_buffer: bool,
    /// The part of the oldest of these moves that is being written.
    part: Part,
    /// Maximum number of moves that hold a job.
    window: u32,
    /// The search was cut short: wake relocation soon.
    again: bool,
    /// No superblock was available for data to be written.
    lacks_headroom: bool,
    /// Blocked writes and trims may be able to continue.
    unblocks_writes: bool,
    gc: Gc,
    refresh: AnyRefresh,
    /// Whether a scheme may want to copy what the host has read, and whether one of axis `cell_mode`, `refresh` or
    /// `page_type` may.
    copies: bool,
    sees_every_read: bool,
    /// Senses of a superblock from which it is emptied and rewritten.
    most_senses: MostSenses,
    /// Senses from which reads of a superblock are looked at: the same, but sooner in a mode with a pool, so that a superblock
    /// for its pages can be made.
    looks_from: MostSenses,
    /// Pages read often that a refresh has moved out of their mode.
    left_behind: LeftBehind,
    /// Slots that superblocks in other modes leave the drive.
    keep_slots: u64,
    /// Limits of promotion.
    limits: Limits,
}

impl Relocate {
    /// For a drive of `config`. `promotes`: axis `page_type` is shown what the host reads.
    pub(crate) fn new(
        config: &Config,
        victim: AnyGcVictim,
        cell_mode: &AnyCellMode,
        refresh: AnyRefresh,
        has_regions: bool,
        promotes: bool,
    ) -> Relocate {
        let window = Relocate::window(&config.geometry);
        let kept = config.capacity_slots * u64::from(cell_mode.keep_permille()) / 1000;
        let modes = cell_mode.streams().iter().filter_map(|row| row.mode());
        let copies = !(cell_mode.streams().is_empty() && refresh.streams().is_empty());
        let sees_every_read = copies || promotes;
        Relocate {
            asked: VecDeque::with_capacity(ASKED),
            for_room: None,
            for_pool: None,
            pages: VecDeque::with_capacity(PAGES),
            arrived: VecDeque::with_capacity(window as usize),
            waits_for_buffer: false,
            part: Part::default(),
            window,
            again: false,
            lacks_headroom: false,
            unblocks_writes: false,
            gc: Gc::new(victim),
            copies: has_regions || sees_every_read,
            sees_every_read,
            most_senses: refresh.most_senses(),
            looks_from: refresh.most_senses().an_eighth_sooner(modes.collect()),
            left_behind: LeftBehind::default(),
            refresh,
            keep_slots: config.capacity_slots + kept,
            limits: Limits::new(config, cell_mode),
        }
    }

    /// Maximum number of moves that hold a job.
    pub(crate) fn window(geometry: &Geometry) -> u32 {
        u32::from(geometry.dies().clamp(4, MAX_MOVES))
    }

    /// The scheme of axis `gc_victim`.
    pub(crate) fn gc_victim(&self) -> &AnyGcVictim {
        self.gc.victim()
    }

    /// The plans of victims that were loaded are not those of this drive: victims are planned anew.
    pub(crate) fn forget_plans(&mut self) {
        self.gc.planned_count = 0;
    }

    /// Whether what was loaded names only superblocks that there are.
    pub(crate) fn is_sound(&self, blocks: &SuperblockTable) -> bool {
        self.gc.is_sound(blocks.len())
    }

    /// Relocation may have work: wake it soon.
    pub(crate) fn wake(&mut self) {
        self.again = true;
    }

    /// Whether relocation may have work.
    #[inline]
    pub(crate) fn wakes(&self) -> bool {
        self.again
    }

    /// The oldest move whose data have arrived may end now: a wordline of the write buffer was freed, another move is
    /// the oldest, or its page was written or copied meanwhile.
    #[inline]
    pub(crate) fn try_arrived_again(&mut self) {
        self.waits_for_buffer = false;
    }

    /// Whether the data that arrived have to wait until [`Relocate::try_arrived_again`].
    #[inline]
    pub(crate) fn waits_for_buffer(&self) -> bool {
        self.waits_for_buffer
    }

    /// Begins a turn of relocation. Returns whether there is anything to do.
    #[inline]
    pub(crate) fn begin<M>(&mut self, lower: &LowerLayers<M>) -> bool {
        self.again = false;
        let place = &lower.store.place;
        !place.relocation.is_idle()
            || place.has_rewrites()
            || place.relocation.wanted != ModeSet::default()
            || place.room_is_wanted()
            || place.pool_may_need()
            || self.has_more_to_move(&lower.store)
    }

    /// Whether blocked writes and trims may be able to continue, because of a change since the last call.
    pub(crate) fn unblocks_writes(&mut self) -> bool {
        core::mem::take(&mut self.unblocks_writes)
    }

    /// Asks for a move of logical page `lpn`. The first request owns the move: a page that is already being
    /// moved is refused.
    pub(crate) fn ask_move<M: Arena>(
        &mut self,
        owner: Owner,
        lpn: Lpn,
        lower: &mut LowerLayers<M>,
    ) -> Result<(), Busy> {
        let store = &mut lower.store;
        let Some(ppa) = store.table.map.at(lpn) else {
            return Err(Busy::NothingThere);
        };
        let info = store.shared.blocks.info(ppa.block());
        if info.usage != SuperblockUse::Full {
            return Err(Busy::NothingThere);
        }
        let is_asked = self.pages.iter().any(|(_, l)| *l == lpn);
        if info.evacuating
            || is_asked
            || (store.place.relocation.moves > 0 && is_moving(ppa, &store.shared))
        {
            return Err(Busy::Moving);
        }
        if self.pages.len() == PAGES {
            return Err(Busy::QueueFull);
        }
        self.pages.push_back((owner, lpn));
        store.place.relocation.asked += 1;
        Ok(())
    }

    /// Asks for an erase of `block` into `mode`, after its data are moved away. Refused if the superblock is
    /// not at rest, or if the drive would no longer hold its capacity. The request is dropped if garbage
    /// collection erases the superblock first. Returns whether there is anything to move.
    pub(crate) fn ask_mode<M: Arena>(
        &mut self,
        now: Ns,
        block: SuperblockId,
        mode: CellMode,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Result<bool, Busy> {
        let store = &mut lower.store;
        let has_levels = store.read.has_levels(mode);
        let (place, shared) = (&mut store.place, &mut store.shared);
        let info = *shared.blocks.info(block);
        let (before, after) = (shared.slots_of(info.mode), shared.slots_of(mode));
        // Requests that are not done yet count as done.
        let shrinks = u64::from(before.saturating_sub(after)) + self.promised_slots(place);
        if u64::from(after) > place.space.largest_slots
            || !place.space.holds_capacity_without(shrinks)
            || place.space.read_only
        {
            return Err(Busy::NoHeadroom);
        }
        if !has_levels {
            return Err(Busy::NoLevels);
        }
        if place.space.pools.has(mode) {
            return Err(Busy::ModeOfScheme);
        }
        match info.usage {
            SuperblockUse::Free if place.space.erases.may_begin(Erased::Free) => {
                // The superblock is not free while it is being erased, and cleaning must keep its reserve.
                if !place.has_beyond_reserve(u64::from(before), shared) {
                    return Err(Busy::NoHeadroom);
                }
                place.take_free(block, shared);
                store.start_erase(now, block, mode, Erased::Free, ports);
                Ok(false)
            }
            SuperblockUse::Full if !info.evacuating && !info.failed => {
                if self.asked.iter().any(|a| a.block == block) {
                    return Err(Busy::Moving);
                }
                if self.asked.len() == ASKED {
                    return Err(Busy::QueueFull);
                }
                self.asked.push_back(Evacuation {
                    owner: Owner::Convert,
                    block,
                    opened: info.opened,
                    mode,
                    mp_page: 0,
                    mp_pages: 0,
                    shrinks: before.saturating_sub(after),
                });
                place.relocation.asked += 1;
                Ok(true)
            }
            _ => Err(Busy::NotAtRest),
        }
    }

    /// A superblock of `region` has been erased, so wear has changed.
    pub(crate) fn erased(&mut self, region: RegionId) {
        self.gc.consider_wear(region);
    }
}

/// Whether the slot at `ppa` is being moved.
fn is_moving(ppa: Ppa, shared: &Shared) -> bool {
    let (at, mp_page_slot) = shared.mp_page_of(ppa);
    shared.jobs.iter().any(|job| {
        job.at == at
            && matches!(job.purpose, Purpose::Move { slots, .. } if slots >> mp_page_slot & 1 != 0)
    })
}

record! {
    Relocate as "relocation of data" {
        gc: "garbage collection",
    } not {
        asked: "requests that have not begun are lost; wear leveling and refresh ask again",
        for_room: "room is asked for again by the next page",
        for_pool: "asked for again by the next look at the pool",
        pages: "requests that have not begun are lost",
        arrived: "moves in flight are lost",
        waits_for_buffer: "moves in flight are lost",
        part: "moves in flight are lost",
        window: "of the configuration",
        again: "every restart wakes relocation",
        lacks_headroom: "of one turn",
        unblocks_writes: "of one turn",
        copies: "of the schemes",
        sees_every_read: "of the schemes",
        refresh: "the scheme counts anew what the superblocks' records do not count",
        most_senses: "of the schemes",
        looks_from: "of the schemes",
        left_behind: "pages read often come back once what they lie in is full",
        keep_slots: "of the configuration",
        limits: "the limits of promotion count anew: pages that wait are asked for again by their next reads",
    }
}

#[cfg(test)]
mod tests;
