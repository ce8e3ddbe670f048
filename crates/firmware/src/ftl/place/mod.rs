//! Placement: the only way by which data get a slot on flash.
//!
//! A writer calls [`Placement::take`] for a slot, puts the data into the slot's buffer, and calls
//! [`Placement::commit`]. From then on the page lies in that slot. Between the two calls data are copied, but the
//! map does not change. Only placement decides which stream a page goes to, which superblock a stream opens,
//! and how much of the free space a stream may use. Only placement changes the counts of valid slots.
//!
//! - `buffer`: the write buffer of a stream.
//! - `space`: superblocks opened, erased and retired. `pools`: what is free in each part of the drive. `bad`: failed
//!   blocks and spares.
//! - `reserve`: space kept so that cleaning can always finish. `relocation_state`: what relocation has in progress.
//! - `program`: programs, and data whose program failed. `rewrite` holds such data until they are written
//!   again.
//! - `write_pool`: the pool of another cell mode that the host writes to; `pool_state` is what is known of it.
//! - `target`: where a page goes, writer by writer, and what becomes of it when it finds no slot there.
//! - `page_type`: how hot a page is, and where its page type matters.
//! - `host_streams`: the streams of the host, their next superblocks, and what a flush waits for; `stream_shares` is how pages are spread
//!   over them. `ages`: when data were written.
//! - `fdp_events`: events of placement handles.
//! - `copies`: slots for pages that are copied because of how they are read.
//! - `regions`: which superblocks a stream opens in each region. `region_state`: what the region of a scheme waits for.
//! - `power`: what a power cut leaves. `older`: what it leaves in place of what a volatile cache loses.

mod ages;
mod assembly;
mod buffer;
mod copies;
mod erases;
mod fdp_events;
mod host_streams;
mod older;
mod page_type;
mod pool_state;
mod pools;
mod power;
mod program;
mod region_state;
mod regions;
mod relocation_state;
mod reserve;
mod rewrite;
mod space;
mod stream_shares;
mod streams;
mod target;
mod waiting;
mod write_pool;

use alloc::collections::VecDeque;

use firstread_core::{Arena, Buf, CellMode, DieId, Lpn, Ns, Ppa, Status, SuperblockId, Wait};

use crate::config::{Config, WriteCache};
use crate::ftl::map::{self, Table};
use crate::observe::{
    MOST_REGIONS, OpenedFor, Owner, RegionId, Regions, StreamId, StreamUse, SuperblockInfo,
    SuperblockUse,
};
use crate::policy::area::{AnyArea, Areas};
use crate::policy::cell_mode::{AnyCellMode, CellModes};
use crate::policy::page_type::AnyPageType;
pub(crate) use crate::policy::page_type::Wish;
use crate::policy::stream::{AnyHostStreams, HostStreams};
use crate::policy::wear::{AnyWear, Wear};
use crate::shared::{Out, Shared};
use ages::Ages;
use assembly::BadBlocks;
pub(crate) use buffer::Program;
use buffer::{Allocated, Due, NoSlot, WriteBuffer};
pub(crate) use erases::Erased;
use fdp_events::FdpEvents;
pub(crate) use host_streams::Reaches;
use older::OlderVersions;
use pool_state::PoolOfWrites;
pub(crate) use pool_state::{CleanedRound, PoolNeeds};
pub(crate) use pools::Pools;
use region_state::RegionState;
pub(crate) use relocation_state::{Evacuation, Pace, RelocationState};
pub use reserve::Ahead;
use rewrite::RewriteQueue;
pub(crate) use space::DieErased;
pub use space::RESERVE;
pub(crate) use space::Space;
pub(crate) use stream_shares::HostStreamSet;
use stream_shares::Shares;
pub use streams::MOST_STREAMS;
use streams::Streams;
pub(crate) use streams::{FILLED, StreamPlan};
use waiting::WaitingProgram;

/// A page to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) lpn: Lpn,
    /// The slot where its last version must still lie; none for any slot. A move is overtaken if the host has
    /// written or trimmed the page meanwhile.
    pub(crate) expect: Option<Ppa>,
    pub(crate) why: Why,
    /// How hot it is: [`Placement::wish`].
    pub(crate) wish: Option<Wish>,
}

/// Why a page is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// By the host, which names the handle `placement`. `has_merged`: a partial write whose old data have been read.
    Host { has_merged: bool, placement: u16 },
    /// Moved for `owner`. `stays`: the mode in which the page lies and is to stay, if another than the drive's own.
    Moved {
        owner: Owner,
        stays: Option<CellMode>,
    },
    /// Copied into the stream that takes such pages, because of how the page is read.
    Copied(StreamUse),
    /// A changed map page.
    Map,
}

/// Why no slot is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TakeError {
    /// The data to be written are no longer the last version.
    Overtaken,
    /// The writer has to wait.
    Wait(Wait),
    /// The write can never succeed.
    Never(Status),
}

/// A slot that was taken and is not committed yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Placed {
    lpn: Lpn,
    stream: StreamId,
    slot: Allocated,
    of_host: bool,
}

impl Placed {
    /// The page that will lie there.
    pub(crate) fn lpn(&self) -> Lpn {
        self.lpn
    }

    pub(crate) fn ppa(&self) -> Ppa {
        self.slot.ppa
    }

    /// The buffer for the data.
    pub(crate) fn buf(&self) -> Buf {
        self.slot.buf
    }
}

/// Programs that are due: of data, if the part of a die is complete, and of the parity.
#[derive(Debug)]
#[must_use]
pub(crate) struct Programs {
    stream: StreamId,
    block: SuperblockId,
    due: Due,
}

impl Programs {
    /// Whether no program is due.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.due.die.is_none() && self.due.parity.is_none()
    }

    /// The program of data, with its stream.
    #[inline]
    pub(crate) fn of_data(&self) -> Option<(StreamId, Program)> {
        self.due.die.map(|die| self.on(die))
    }

    /// The program of parity, which follows the data.
    #[inline]
    pub(crate) fn of_parity(&self) -> Option<(StreamId, Program)> {
        self.due.parity.map(|die| self.on(die))
    }

    #[inline]
    fn on(&self, die: DieId) -> (StreamId, Program) {
        let program = Program {
            die,
            block: self.block,
            wordline: self.due.wordline,
            superwordline: self.due.superwordline,
        };
        (self.stream, program)
    }
}

/// The schemes by which placement places: of axes `cell_mode`, `area`, `wear`, `page_type` and `stream`.
pub(crate) type PlacementSchemes = (AnyCellMode, AnyArea, AnyWear, AnyPageType, AnyHostStreams);

/// Placement: free space, write buffers, and the schemes of [`PlacementSchemes`].
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) space: Space,
    pub(crate) relocation: RelocationState,
    streams: Streams,
    rewrites: RewriteQueue,
    bad: BadBlocks,
    pub(crate) cell_mode: AnyCellMode,
    pub(crate) area: AnyArea,
    region: RegionState,
    older: OlderVersions,
    /// Which streams pages go to, how the last ones were spread over them, and how old data are.
    host_streams: AnyHostStreams,
    /// Whether that scheme chooses: asked for every page.
    chooses_streams: bool,
    /// The pool of another cell mode that the host writes to.
    pub(crate) pool: PoolOfWrites,
    shares: Shares,
    ages: Ages,
    events: FdpEvents,
    /// An instance for each region.
    wear: [AnyWear; MOST_REGIONS],
    /// The superblock opened last, if nobody has asked for it yet.
    opened: Option<SuperblockId>,
    /// Programs to be reissued after a power cut.
    waiting: VecDeque<WaitingProgram>,
}

impl Placement {
    /// Placement for a drive whose superblocks are all free and divided into `regions`, with `map_pages` map pages on
    /// flash and the streams of `plan`. Slot buffers begin at `first`.
    pub(crate) fn new(
        config: &Config,
        map_pages: u32,
        plan: StreamPlan,
        (cell_mode, area, wear, page_type, host_streams): PlacementSchemes,
        regions: &Regions,
        first: Buf,
    ) -> Placement {
        let geometry = config.geometry;
        let slots = geometry.slots_per_superblock(config.mode);
        let wordline = geometry.slots_per_stripe() * u32::from(config.mode.bits());
        let loses = config.write_cache == WriteCache::Volatile;
        let pool = PoolOfWrites::new(cell_mode.write_pool(), |what| plan.that_takes(what));
        let sees_ages = host_streams.sees_ages() || pool.is_on();
        Placement {
            space: Space::new(
                regions,
                slots,
                config.capacity_slots + u64::from(map_pages),
                config.least_spare_slots,
                &plan,
            ),
            relocation: RelocationState::new(Pace::new(slots, wordline)),
            streams: Streams::new(plan, page_type, first),
            rewrites: RewriteQueue::new(plan.slot_buffers(), first.slot(plan.slot_buffers())),
            bad: BadBlocks::new(geometry.dies(), geometry.blocks_per_plane),
            cell_mode,
            area,
            region: RegionState::new(plan.slot_buffers() * u32::from(regions.are_many()), first),
            older: OlderVersions::new(plan.all_slot_buffers() * u32::from(loses), first),
            shares: Shares::new(slots),
            pool,
            ages: Ages::new(geometry.blocks_per_plane * u32::from(sees_ages)),
            events: FdpEvents::new(host_streams.handles(), geometry.blocks_per_plane),
            chooses_streams: host_streams.is_on(),
            host_streams,
            wear: core::array::from_fn(|_| wear.clone()),
            opened: None,
            waiting: VecDeque::with_capacity(plan.programs() as usize),
        }
    }

    /// Number of slot buffers.
    pub(crate) fn slot_buffers(&self) -> u32 {
        self.streams.plan().all_slot_buffers()
    }

    /// Which streams there are.
    pub(crate) fn stream_plan(&self) -> &StreamPlan {
        self.streams.plan()
    }

    /// Takes a slot for `item`. The slot has to be committed once the data are in its buffer.
    #[inline(always)]
    pub(crate) fn take<M: Arena>(
        &mut self,
        now: Ns,
        item: &Item,
        table: &Table<M>,
        shared: &mut Shared,
    ) -> Result<Placed, TakeError> {
        if item.expect.is_some_and(|ppa| !table.lies_at(item.lpn, ppa)) {
            return Err(TakeError::Overtaken);
        }
        let changes_map = matches!(item.why, Why::Moved { .. } | Why::Copied(_));
        if changes_map && !table.map.has_room(1) {
            return Err(TakeError::Wait(Wait::Overlay));
        }
        let wish = item.wish;
        let (stream, slot) = match (self.has_one_choice(item, shared), item.why) {
            (false, _) => self.take_by_target(now, item, table, shared)?,
            (true, Why::Host { has_merged, .. }) => {
                let stream = StreamId::HOST;
                let slot = self.take_for_host(now, stream, has_merged, wish, shared)?;
                (stream, slot)
            }
            (true, Why::Map) => (self.streams.of_map(), self.take_for_map(now, shared)?),
            (true, Why::Moved { .. } | Why::Copied(_)) => {
                let own = match table.directory.is_map(item.lpn) {
                    true => self.streams.of_map(),
                    false => StreamId::MOVE,
                };
                self.take_for_move(now, own, wish, shared)?
            }
        };
        let of_host = matches!(item.why, Why::Host { .. });
        if of_host && shared.blocks.has_regions() {
            self.area.has_written();
        }
        if self.chooses_streams() {
            self.note_stream(stream, of_host, shared);
        }
        if self.ages.are_kept() {
            let from = item.expect.filter(|_| !of_host);
            self.note_age(slot.ppa, from, shared);
        }
        if of_host && self.pool.is_on() {
            self.has_written_to(stream, item, table, shared);
        }
        Ok(Placed {
            lpn: item.lpn,
            stream,
            slot,
            of_host,
        })
    }

    /// A slot of `stream`, which is one of the host's own: writes wait for its superblock.
    #[inline(always)]
    fn take_for_host(
        &mut self,
        now: Ns,
        stream: StreamId,
        has_merged: bool,
        wish: Option<Wish>,
        shared: &mut Shared,
    ) -> Result<Allocated, TakeError> {
        loop {
            if let Some(wait) = self.waits_for_cleaning(has_merged, shared) {
                return Err(TakeError::Wait(wait));
            }
            let taken = match stream == StreamId::HOST && !self.streams.has_several_of_host() {
                true => self.streams.allocate_own(stream, wish),
                false => self.streams.allocate(stream, wish),
            };
            match taken {
                Ok(slot) => return Ok(slot),
                Err(NoSlot::Full) => return Err(TakeError::Wait(Wait::Buffer)),
                Err(NoSlot::NeedsBlock) => {}
            }
            self.open_for_host(now, stream, shared)?;
        }
    }

    #[cold]
    fn open_for_host(
        &mut self,
        now: Ns,
        stream: StreamId,
        shared: &mut Shared,
    ) -> Result<(), TakeError> {
        let needs = !self.open(now, stream, shared);
        self.relocation.host_waits.set(Wait::Superblock, needs);
        if needs && !self.is_full(shared) {
            return Err(TakeError::Wait(Wait::Superblock));
        }
        if needs {
            self.relocation.host_waits.set(Wait::Superblock, false);
            return Err(TakeError::Never(Status::NoSpace));
        }
        Ok(())
    }

    /// A slot for a page that moves, of stream `own` if possible.
    #[inline(always)]
    pub(super) fn take_for_move(
        &mut self,
        now: Ns,
        own: StreamId,
        wish: Option<Wish>,
        shared: &mut Shared,
    ) -> Result<(StreamId, Allocated), TakeError> {
        let mut stream = own;
        let mut taken = self.streams.allocate(stream, wish);
        if let Err(NoSlot::NeedsBlock) = taken {
            (stream, taken) = self.take_of_new(now, own, wish, shared);
        }
        match taken {
            Ok(slot) => {
                if Some(own) == self.streams.map() {
                    shared.blocks.info_mut(slot.ppa.block()).holds_map = true;
                }
                Ok((stream, slot))
            }
            Err(NoSlot::Full) => Err(TakeError::Wait(Wait::Buffer)),
            Err(NoSlot::NeedsBlock) => Err(TakeError::Wait(Wait::Superblock)),
        }
    }

    /// A slot for stream `own` of relocation, in a new superblock. If none is free, a slot of another stream of
    /// relocation, or as a last resort one of any other stream.
    #[cold]
    fn take_of_new(
        &mut self,
        now: Ns,
        own: StreamId,
        wish: Option<Wish>,
        shared: &mut Shared,
    ) -> (StreamId, Result<Allocated, NoSlot>) {
        match self.goes_elsewhere_first(own, shared) {
            Some(other) => return (other, self.streams.allocate(other, wish)),
            None if self.open(now, own, shared) => {
                return (own, self.streams.allocate(own, wish));
            }
            None => {}
        }
        match self.stream_with_room() {
            Some(other) => (other, self.streams.allocate(other, wish)),
            // A superblock of another region is opened for moved data alone. Map pages that move go along.
            None if Some(own) == self.streams.map()
                && shared.blocks.has_regions()
                && self.open(now, StreamId::MOVE, shared) =>
            {
                (StreamId::MOVE, self.streams.allocate(StreamId::MOVE, wish))
            }
            None => (own, Err(NoSlot::NeedsBlock)),
        }
    }

    /// The stream that a page of stream `own` of moves goes to before `own` opens a superblock, because the host would have to make up for
    /// that superblock: cleaning counts on the room in superblocks that are open, and on one superblock more once they are full. Pages read
    /// often that move anyway do so, because it is not known beforehand that their stream needs a superblock. So do pages of the streams among
    /// which axis `stream` chooses, if the host needs its next superblock soon: how moves are spread over streams is an estimate. These go to
    /// the nearest one of them, if the scheme lets them.
    fn goes_elsewhere_first(&self, own: StreamId, shared: &Shared) -> Option<StreamId> {
        if Some(own) == self.streams.read_often() {
            let superblock = self.space.largest_slots as u32;
            let stays = self.host_is_ahead(superblock, shared);
            return (!stays).then(|| self.streams.of_mover().find(|s| self.has_room(*s)))?;
        }
        let OpenedFor::Moves(number) = self.streams.row(own).number()? else {
            return None;
        };
        if !self.streams.has_several_of_moves()
            || !self.host_streams.goes_to_neighbour()
            || self.host_has_all_without_one(shared)
        {
            return None;
        }
        self.nearest_with_room(self.streams.numbered_of_moves(), number)
    }

    /// Whether the superblock of `stream` has a slot left.
    fn has_room(&self, stream: StreamId) -> bool {
        self.streams.of(stream).slots_left() > 0
    }

    /// A stream with room in its superblock for a page that moves: one of relocation, or any other if no superblock
    /// will be free either.
    fn stream_with_room(&self) -> Option<StreamId> {
        let has_room = |stream: &StreamId| self.has_room(*stream);
        let is_last_resort = self.space.erases.is_empty();
        let others = || self.streams.of_others().find(has_room);
        let of_mover = self.streams.of_mover().find(has_room);
        of_mover.or_else(|| is_last_resort.then(others)?)
    }

    #[inline]
    fn take_for_map(&mut self, now: Ns, shared: &mut Shared) -> Result<Allocated, TakeError> {
        self.map_may_write(now, shared)?;
        let slot = self.streams.allocate_own(self.streams.of_map(), None);
        slot.map_err(|_| TakeError::Wait(Wait::Buffer))
    }

    /// Whether the map cache may write a page. Opens a superblock for it if necessary.
    pub(crate) fn map_may_write(&mut self, now: Ns, shared: &mut Shared) -> Result<(), TakeError> {
        if !self.rewrites.is_empty() {
            return Err(TakeError::Wait(Wait::Rewrite));
        }
        if let Some(NoSlot::Full) = self.streams.of(self.streams.of_map()).refuses() {
            return Err(TakeError::Wait(Wait::Buffer));
        }
        match self.give_map_space(now, shared) {
            true => Ok(()),
            false => Err(TakeError::Wait(Wait::Superblock)),
        }
    }

    /// Whether cleaning can spare the space for the next write of the map cache. Opens a superblock for it if
    /// necessary.
    pub(crate) fn give_map_space(&mut self, now: Ns, shared: &mut Shared) -> bool {
        let slots = self.space.largest_slots;
        let map = self.streams.of_map();
        // Asked for each page, not only when a superblock is opened: the rest of the map's superblock is headroom, so
        // each page that the map cache writes takes a slot of it.
        let refuses = self.streams.of(map).refuses();
        let needs_block = matches!(refuses, Some(NoSlot::NeedsBlock));
        let gives = self.can_spare(1, shared)
            && (!needs_block
                || self.has_beyond_reserve(slots, shared) && self.open(now, map, shared));
        self.relocation.map_waits.set(Wait::Superblock, !gives);
        gives
    }

    /// The data of `placed` are in its buffer: from now on the page lies there. Returns the programs that
    /// this makes due.
    #[inline(always)]
    pub(crate) fn commit<M: Arena>(
        &mut self,
        placed: Placed,
        table: &mut Table<M>,
        shared: &mut Shared,
    ) -> Programs {
        if self.older.are_kept() {
            self.note_older(&placed, table);
        }
        let Placed {
            lpn,
            stream,
            slot,
            of_host,
        } = placed;
        let old = table.set(lpn, slot.ppa);
        shared.blocks.info_mut(slot.ppa.block()).valid_slots += 1;
        if let Some(old) = old {
            shared.blocks.info_mut(old.block()).valid_slots -= 1;
        }
        if self.chooses_streams() {
            let is_map = table.directory.is_map(lpn);
            self.count_streams(stream, old, of_host, is_map, shared);
        }
        Programs {
            stream,
            block: slot.ppa.block(),
            due: slot.due,
        }
    }

    /// Pads one slot of the wordline that `stream` fills. Returns the programs that this makes due; none if the stream
    /// fills no wordline.
    pub(crate) fn pad_superwordline(
        &mut self,
        stream: StreamId,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> Option<Programs> {
        if !self.streams.of(stream).fills_superwordline() {
            return None;
        }
        let slot = self.streams.allocate(stream, None).ok()?;
        Some(self.padded(stream, slot, shared, ports))
    }

    /// `slot` of `stream` stays without data. Returns the programs that this makes due.
    fn padded(
        &mut self,
        stream: StreamId,
        slot: Allocated,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> Programs {
        ports.pad(slot.buf);
        self.older.note(slot.buf, None);
        shared.counters.slots_padded += 1;
        if let Some(handle) = self.handle_of_host(stream) {
            self.events.pads(handle);
        }
        let (block, due) = (slot.ppa.block(), slot.due);
        Programs { stream, block, due }
    }

    /// Trims logical pages from `first` on, up to `end` or the end of their region. Returns the number of
    /// pages trimmed. `sequence` is the number of the last slot received before.
    pub(crate) fn trim<M: Arena>(
        &self,
        first: u64,
        end: u64,
        sequence: u64,
        table: &mut Table<M>,
        shared: &mut Shared,
    ) -> u32 {
        let Shared {
            blocks, counters, ..
        } = shared;
        table.map.trim(first, end, sequence, |block, pages| {
            let info = blocks.info_mut(block);
            info.valid_slots -= pages;
            if let Some(bin) = self.bin_of(info) {
                counters.slots_invalidated_in_stream[bin] += u64::from(pages);
            }
        })
    }

    /// Map page `lpn` no longer lies on flash.
    pub(crate) fn forget_map_page<M: Arena>(
        &self,
        lpn: Lpn,
        table: &mut Table<M>,
        shared: &mut Shared,
    ) {
        if let Some(ppa) = table.directory.set(lpn, None) {
            shared.blocks.info_mut(ppa.block()).valid_slots -= 1;
        }
    }

    /// The data of host page `lpn` at `ppa` are lost. Reads of the page report an error and never return
    /// other data.
    pub(crate) fn lose<M: Arena>(
        &self,
        lpn: Lpn,
        ppa: Ppa,
        table: &mut Table<M>,
        shared: &mut Shared,
    ) {
        table.map.set(lpn, map::Mapping::Lost);
        shared.blocks.info_mut(ppa.block()).valid_slots -= 1;
        shared.counters.slots_lost += 1;
    }

    /// Whether there is a stream for map pages.
    pub(crate) fn has_map(&self) -> bool {
        self.streams.has_map()
    }

    /// The buffer of `ppa`, if it is not programmed yet.
    pub(crate) fn buffered(&self, ppa: Ppa, shared: &Shared) -> Option<Buf> {
        let written = self.streams.iter().find_map(|b| b.holds(ppa));
        // Slots to be rewritten are looked up only in superblocks with broken stripes: each failed program breaks
        // one.
        let may_be_rewritten =
            !self.rewrites.is_empty() && shared.blocks.info(ppa.block()).stripe_broken;
        written.or_else(|| may_be_rewritten.then(|| self.rewrites.holds(ppa))?)
    }

    /// Whether `wordline` of `block` is in a buffer: some die has not programmed its part yet.
    pub(crate) fn holds_superwordline(&self, block: SuperblockId, wordline: u16) -> bool {
        self.streams
            .iter()
            .any(|b| b.holds_superwordline(block, wordline))
    }

    /// Slots left in the superblock that map pages go to, on a drive that has a stream for them.
    pub(crate) fn left_for_map(&self) -> u32 {
        self.streams.of(self.streams.of_map()).slots_left()
    }

    /// Whether `block`, whose record is `info`, names the stream that fills it, and none if it is free.
    pub(crate) fn names_its_stream(&self, block: SuperblockId, info: &SuperblockInfo) -> bool {
        let is_empty = matches!(info.usage, SuperblockUse::Free | SuperblockUse::Erasing);
        self.streams.are_named_in(block, info) && !(is_empty && info.stream.is_some())
    }

    /// Superblocks that are completely filled but not completely programmed. With `map_ends` the map's open
    /// superblock counts too: it will be full before the host's is.
    pub(crate) fn filled_to_their_end(&self, map_ends: bool) -> [Option<SuperblockId>; FILLED] {
        let mut filled = [None; FILLED];
        for (into, block) in filled.iter_mut().zip(self.streams.blocks()) {
            let fills =
                |buffer: &WriteBuffer| buffer.fills(block) || buffer.fills_superwordline_of(block);
            let open = self.streams.that_fill_on(map_ends).any(fills);
            *into = (!open).then_some(block);
        }
        filled
    }

    /// The superblock opened since the last call.
    #[inline]
    pub(crate) fn opened(&mut self) -> Option<SuperblockId> {
        self.opened.take()
    }

    /// A superblock of cold data of `region`, to be moved for wear leveling.
    pub(crate) fn cold(&mut self, region: RegionId, shared: &Shared) -> Option<SuperblockId> {
        self.wear[region.index()].cold(shared.blocks.in_region(region))
    }
}

#[cfg(test)]
mod tests;
