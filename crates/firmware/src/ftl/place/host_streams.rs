//! The streams of the host: which of them a page goes to, when each needs its next superblock, and what a flush waits for.
//!
//! Every drive has one, [`StreamId::HOST`]; a scheme of axis `stream` may declare more. A block for each concern. What the capacity
//! is charged for a stream that is declared is in [`StreamPlan::kept_slots`](super::StreamPlan::kept_slots).

use firstread_core::{Arena, Buf, Ns, Ppa, SuperblockId};

use super::buffer::Reach;
use super::stream_shares::HostStreamSet;
use super::{Evacuation, Item, Placement, Programs, Why, WriteBuffer};
use crate::ftl::map::Table;
use crate::observe::{
    FdpLog, MOST_HOST_STREAMS, OpenedFor, Owner, PageFuture, StreamId, SuperblockInfo, stream_bin,
};
use crate::policy::stream::{HostStreams, Lay, MovedPage, WrittenPage};
use crate::shared::{Out, Shared};

/// **Choice.** Which stream a page goes to, where a scheme of axis `stream` chooses.
impl Placement {
    /// Whether a scheme chooses.
    #[inline(always)]
    pub(super) fn chooses_streams(&self) -> bool {
        self.chooses_streams
    }

    /// The stream that a page goes to which the host writes.
    #[inline]
    pub(super) fn stream_of_write<M: Arena>(
        &self,
        item: &Item,
        table: &Table<M>,
        shared: &Shared,
    ) -> StreamId {
        let (true, Why::Host { placement, .. }) = (self.chooses_streams(), item.why) else {
            return StreamId::HOST;
        };
        let sees = self.host_streams.sees_overwritten();
        let old = sees.then(|| table.map.at(item.lpn)).flatten();
        let number = self.host_streams.of_write(&WrittenPage {
            placement,
            overwritten: old.map(|ppa| self.lay(ppa, shared)),
            future: shared.future.of(item.lpn),
        });
        self.streams.host(number)
    }

    /// The stream of moves that a page of the host goes to which moves for `owner`, where the scheme of axis `wear` has none for it.
    #[inline]
    pub(super) fn numbered_stream_of_move(
        &self,
        owner: Owner,
        item: &Item,
        shared: &Shared,
    ) -> StreamId {
        match (self.chooses_streams(), item.expect) {
            (true, Some(from)) => {
                let number = self.host_streams.of_move(&MovedPage {
                    owner,
                    lies: self.lay(from, shared),
                    future: shared.future.of(item.lpn),
                });
                self.streams.moves(number)
            }
            _ => StreamId::MOVE,
        }
    }

    /// Of `streams`, in the order of their numbers, the one with room in its superblock that is nearest to `number`.
    pub(super) fn nearest_with_room(
        &self,
        streams: impl Iterator<Item = StreamId>,
        number: u8,
    ) -> Option<StreamId> {
        let numbered = (0u8..).zip(streams);
        let with_room = numbered.filter(|(_, stream)| self.streams.of(*stream).slots_left() > 0);
        let nearest = with_room.min_by_key(|(other, _)| other.abs_diff(number));
        nearest.map(|(_, stream)| stream)
    }

    /// How the version at `ppa` lies.
    fn lay(&self, ppa: Ppa, shared: &Shared) -> Lay {
        let info = shared.blocks.info(ppa.block());
        let written = self.ages.written_at(ppa, shared.slots_of(info.mode));
        let age_slots =
            written.map(|written| shared.counters.host_slots_written.saturating_sub(written));
        let hottest = OpenedFor::Host(self.host_streams.hottest());
        let opened_for = info
            .stream
            .and_then(|stream| match self.is_of_pool(stream) {
                // What the host writes to a pool is overwritten soonest.
                true => Some(hottest),
                false => self.streams.row(stream).number(),
            });
        Lay {
            opened_for,
            age_slots,
        }
    }

    /// A page has been given a slot of `stream`. `of_host`: the host wrote it.
    #[inline]
    pub(super) fn note_stream(&mut self, stream: StreamId, of_host: bool, shared: &mut Shared) {
        let looks = of_host && self.host_streams.sees_overwritten();
        shared.counters.looked_up_before_placement += u64::from(looks);
        match self.streams.row(stream).number() {
            Some(OpenedFor::Host(number)) => self.shares.of_host.add(number),
            Some(OpenedFor::Moves(number)) => self.shares.of_moves.add(number),
            None => {}
        }
    }

    /// A page has been given slot `ppa`; it moved from `from`, or the host wrote it.
    #[inline]
    pub(super) fn note_age(&mut self, ppa: Ppa, from: Option<Ppa>, shared: &Shared) {
        let written = match from {
            Some(from) => {
                let mode = shared.blocks.info(from.block()).mode;
                let at = self.ages.written_at(from, shared.slots_of(mode));
                at.unwrap_or(0)
            }
            None => shared.counters.host_slots_written,
        };
        self.ages.filled(ppa, written, from.is_some());
    }

    /// The bin of the stream that the superblock of `info` was opened for, where a scheme chooses among streams.
    #[inline]
    pub(super) fn bin_of(&self, info: &SuperblockInfo) -> Option<usize> {
        let stream = info.stream.filter(|_| self.chooses_streams())?;
        self.streams.row(stream).number().map(stream_bin)
    }

    /// A page lies in a superblock of `stream` now, and no longer at `old`. `of_host`: the host wrote it. `is_map`: it is a map page,
    /// which may have been written anew and not moved, and which is no data of a handle.
    #[inline(never)] // Most drives have one stream of the host.
    pub(super) fn count_streams(
        &mut self,
        stream: StreamId,
        old: Option<Ppa>,
        of_host: bool,
        is_map: bool,
        shared: &mut Shared,
    ) {
        let counters = &mut shared.counters;
        if let Some(number) = self.streams.row(stream).number() {
            counters.slots_into_stream[stream_bin(number)] += 1;
        }
        let from = old.and_then(|old| self.bin_of(shared.blocks.info(old.block())));
        if let Some(bin) = from {
            let out = match of_host {
                true => &mut counters.slots_invalidated_in_stream,
                false => &mut counters.slots_moved_out_of_stream,
            };
            out[bin] += 1;
        }
        if let Some(old) = old.filter(|_| from.is_some() && !of_host && !is_map) {
            self.events.moves(old.block());
        }
    }

    /// The placement handle of `stream`, if that is one of the host's.
    pub(super) fn handle_of_host(&self, stream: StreamId) -> Option<u8> {
        match self.streams.row(stream).number() {
            Some(OpenedFor::Host(handle)) => Some(handle),
            _ => None,
        }
    }

    /// The placement handle of the data of `stream`; none where they are not of a single one.
    fn handle_of(&self, stream: StreamId) -> Option<u8> {
        match self.streams.row(stream).number()? {
            OpenedFor::Host(handle) => Some(handle),
            OpenedFor::Moves(number) => self.streams.moves_by_handle().then_some(number),
        }
    }

    /// Superblock `block` is about to be erased or retired.
    pub(crate) fn note_erase(&mut self, now: Ns, block: SuperblockId, shared: &Shared) {
        let stream = shared.blocks.info(block).stream;
        let handle = stream.and_then(|stream| self.handle_of(stream));
        self.events.erases(now, block, handle);
    }

    /// Events of placement handles so far; none of a drive without them.
    pub(crate) fn fdp_log(&self) -> Option<FdpLog<'_>> {
        self.events.log()
    }

    /// Garbage collection begins to empty superblock `block`.
    pub(crate) fn cleans(&mut self, block: SuperblockId, shared: &Shared) {
        if self.chooses_streams() {
            let lay = self.lay(Ppa::new(block, 0), shared);
            self.host_streams.cleans(&lay);
        }
    }
}

/// Host slots until superblocks have to be free for streams of the host: the i-th entry until i + 1 of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Openings {
    until: [u32; MOST_OPENINGS],
    len: usize,
}

impl Openings {
    #[inline]
    pub(crate) fn until(&self) -> &[u32] {
        &self.until[..self.len]
    }

    /// Superblocks that the host needs until it has written `slots` slots.
    pub(super) fn within(&self, slots: u32) -> u32 {
        self.until().partition_point(|until| *until < slots) as u32
    }
}

/// Superblocks of the host's writes within which openings are looked at. Several streams may open superblocks one after another, so the moves
/// for them have to begin early. With one superblock in place of eight the longest write under Pareto's law took 3 to 4 times as long,
/// at equal write amplification. With sixteen it took 11 % less to 2 % more, and write amplification rose by 1 to 2 %
/// (`docs/firmware/streams.md`).
const LOOKS_AHEAD: u64 = 8;

/// Superblocks that a drive has to spare for each superblock of [`LOOKS_AHEAD`], where the host has fewer streams: what is cleaned early
/// holds less garbage.
const SPARE_A_SUPERBLOCK: u64 = 4;

/// A stream of moves is nearly full if less than one of so many parts of its superblock is left.
const NEARLY_FULL: i64 = 4;

/// Openings that are looked at, at most.
const MOST_OPENINGS: usize = 32;

/// A stream that had fewer than one of so many of the last pages rests.
const RESTS_BELOW: u64 = 64;

/// **Pacing.** Each stream needs its next superblock once the one that it fills is full. How many slots the host writes until
/// then follows from the share of the last pages that the stream had.
///
/// A stream that rests may begin at any time, and may then need a superblock at once. Superblocks for all that rest would be kept free for
/// nothing, and one that is wanted at once would hold cleaning at full pace. So one superblock is kept for all that rest
/// together: it is to be free when the first of the others opens its own.
impl Placement {
    /// Slots that the host can write before it needs another superblock. Where it has several streams: slots until it has used up the
    /// superblocks that are free or soon will be.
    #[inline]
    pub(crate) fn left_for_host(&self, shared: &Shared) -> u32 {
        self.left_for_host_without(0, shared)
    }

    /// The same if `taken` superblocks are taken from it.
    #[inline]
    pub(super) fn left_for_host_without(&self, taken: u32, shared: &Shared) -> u32 {
        match self.streams.has_several_of_host() {
            false => self.streams.of(StreamId::HOST).slots_left(),
            true => self.left_for_several(taken, shared),
        }
    }

    #[inline(never)] // Most drives have one stream of the host.
    fn left_for_several(&self, taken: u32, shared: &Shared) -> u32 {
        let (kept, _) = self.kept_soon(shared);
        let free = self.space.free_soon(&shared.blocks).saturating_sub(kept);
        let missing = self.missing_headroom(shared);
        let with_headroom = match missing <= 0 {
            true => 1 + -missing / self.space.largest_slots as i64,
            false => 0,
        };
        let free = i64::from(free).min(with_headroom) - i64::from(taken);
        let free = free.max(0);
        let openings = self.openings();
        let until = openings.until();
        until[(free as usize).min(until.len() - 1)]
    }

    /// Superblocks that the host needs until it has written `slots` slots, where it has several streams; else one.
    pub(super) fn needed_within(&self, slots: u32) -> u32 {
        match self.streams.has_several_of_host() {
            false => 1,
            true => self.openings().within(slots),
        }
    }

    /// When superblocks are needed, the first one first, of several streams.
    #[inline(never)] // Most drives have one stream of the host.
    pub(crate) fn openings(&self) -> Openings {
        let share = &self.shares.of_host;
        let superblock = self.space.largest_slots;
        let spare = self
            .space
            .with_lent_slots()
            .saturating_sub(self.space.needed_slots)
            / superblock;
        let streams = self.streams.of_host().count() as u64;
        let looks_ahead = (spare / SPARE_A_SUPERBLOCK).clamp(streams.min(LOOKS_AHEAD), LOOKS_AHEAD);
        let (mut until, mut len) = ([u32::MAX; MOST_OPENINGS], 0);
        let mut next = [(u64::MAX, 0u64); MOST_HOST_STREAMS];
        let mut resting = None;
        for (number, stream) in (0..).zip(self.streams.of_host()) {
            let left = u64::from(self.streams.of(stream).slots_left());
            let (pages, all) = (u64::from(share.pages[number]), u64::from(share.all));
            if pages * RESTS_BELOW < all || pages == 0 {
                resting = Some(resting.map_or(left, |least: u64| least.min(left)));
                continue;
            }
            next[number] = (left * all / pages, superblock * all / pages);
        }
        while len < MOST_OPENINGS - 1 {
            let Some(first) = next.iter_mut().min() else {
                break;
            };
            if first.0 == u64::MAX || len > 0 && first.0 > looks_ahead * superblock {
                break;
            }
            until[len] = first.0.min(u64::from(u32::MAX)) as u32;
            len += 1;
            first.0 += first.1;
        }
        if let Some(left) = resting {
            let left = left.min(u64::from(u32::MAX)) as u32;
            // Before anything was written all rest.
            let when = if len == 0 { left } else { left.max(until[0]) };
            let at = until[..len].partition_point(|until| *until <= when);
            len = (len + 1).min(until.len());
            until.copy_within(at..len - 1, at + 1);
            until[at] = when;
        }
        Openings { until, len }
    }

    /// Slots left in all superblocks that the host fills, where pages of a stream without one go to another stream.
    pub(crate) fn room_of_neighbours(&self) -> Option<u32> {
        let go = self.streams.has_several_of_host() && self.host_streams.goes_to_neighbour();
        let left = |stream| self.streams.of(stream).slots_left();
        go.then(|| self.streams.of_host().map(left).sum())
    }

    /// Whether the moves of the superblock that is being emptied pause, because the stream that they go to would open a superblock that
    /// one of several streams of the host opens soon. The host could do with what is free, but not with one less, and moves need far more
    /// time to make another one free. They pause until the host has opened its superblock, and no longer than for half a superblock
    /// of writes, which is twice the estimate, because the stream that is about to open one may rest.
    pub(crate) fn pauses_moves(&mut self, shared: &Shared) -> bool {
        let pauses = self.streams.has_several_of_host() && self.has_to_pause(shared);
        self.relocation.pace.is_paused = pauses;
        pauses
    }

    #[inline(never)] // Most drives have one stream of the host.
    fn has_to_pause(&mut self, shared: &Shared) -> bool {
        let current = self.relocation.emptying;
        let stream = current.and_then(|current| self.only_stream_of(&current, shared));
        let (Some(current), Some(stream)) = (current, stream) else {
            return false;
        };
        let to_move = shared.blocks.info(current.block).valid_slots;
        let in_flight = (self.relocation.moves + 1) * shared.layout.slots_per_mp_page();
        let has_room = self.streams.of(stream).slots_left() >= to_move.min(in_flight);
        let quarter = (self.space.largest_slots / 4) as u32;
        // A refresh or a superblock with a failed program waits until this one is empty, and the host may write nothing.
        let others_wait = self.relocation.asked > 0 || self.space.failed > 0;
        if has_room
            || others_wait
            || self.relocation.superblock_is_wanted()
            || !self.host_needs_all_within(quarter, shared)
        {
            return false;
        }
        let (opened, written) = (self.space.opened(), shared.counters.host_slots_written);
        if self.relocation.paused_at.0 != opened {
            self.relocation.paused_at = (opened, written);
        }
        written - self.relocation.paused_at.1 < 2 * u64::from(quarter)
    }

    /// The stream that all pages of `current` go to, if there is one and they may go nowhere else first.
    fn only_stream_of(&self, current: &Evacuation, shared: &Shared) -> Option<StreamId> {
        match current.owner {
            Owner::Wear if let Some(cold) = self.streams.cold() => Some(cold),
            Owner::Gc | Owner::Wear if !self.host_streams.goes_to_neighbour() => {
                let number = self.host_streams.of_move(&MovedPage {
                    owner: current.owner,
                    lies: self.lay(Ppa::new(current.block, 0), shared),
                    future: PageFuture::default(),
                });
                Some(self.streams.moves(number))
            }
            _ => None,
        }
    }

    /// Whether the host opens all superblocks that are free until it has written `slots` slots, and the next one not much sooner than after
    /// twice the time.
    fn host_needs_all_within(&self, slots: u32, shared: &Shared) -> bool {
        let (kept, _) = self.kept_soon(shared);
        let free = i64::from(self.space.free_soon(&shared.blocks)) - i64::from(kept);
        // Headroom lets the host open so many. Moves that open a superblock take no headroom.
        let may_open = (self.space.largest_slots as i64 - self.missing_headroom(shared))
            / self.space.largest_slots as i64;
        if free <= 0 || free > may_open {
            return false;
        }
        let openings = self.openings();
        let until = |nth: i64| openings.until().get(nth as usize).copied();
        let next = until(free).unwrap_or(u32::MAX);
        until(free - 1).is_some_and(|last| last < slots && next / 2 > last)
    }

    /// Superblocks that streams of moves open for `moves` moves, of which `stay` slots and those of the map find room elsewhere. Each
    /// stream has the rest of its own superblock.
    #[inline]
    pub(crate) fn taken_by_moves(&self, moves: i64, stay: i64) -> i64 {
        let slots = self.space.largest_slots as i64;
        let taken = |moves: i64, open: i64| (moves - open + slots - 1).max(0) / slots;
        match self.streams.has_several_of_moves() {
            false => taken(moves, i64::from(self.left_for_cleaning()) + stay),
            true => {
                let moves = moves - stay;
                if self.shares.of_moves.all == 0 {
                    return taken(moves, i64::from(self.left_for_cleaning()));
                }
                let streams = (0..).zip(self.streams.numbered_of_moves());
                let stay_apart = !self.host_streams.goes_to_neighbour();
                let each = streams.map(|(number, stream)| {
                    let left = i64::from(self.streams.of(stream).slots_left());
                    let part = self.shares.of_moves.part_of(moves, number);
                    // A stream that is nearly full opens one whatever was reckoned, if its pages may go nowhere else.
                    let opens = stay_apart && left < slots / NEARLY_FULL && part > 0;
                    taken(part, left).max(i64::from(opens))
                });
                each.sum()
            }
        }
    }
}

/// **Flush.** A flush waits until all streams of the host are programmed as far as they were filled before it, a write with FUA for those of
/// the streams that its pages went to.
impl Placement {
    /// How far those streams of the host are filled that are in `streams`.
    pub(crate) fn filled_to(&self, streams: HostStreamSet) -> Reaches {
        self.reaches(streams, WriteBuffer::filled_to)
    }

    /// How far the streams of the host are programmed.
    pub(crate) fn programmed_to(&self) -> Reaches {
        self.reaches(HostStreamSet::ALL, WriteBuffer::programmed_to)
    }

    fn reaches(&self, streams: HostStreamSet, of: impl Fn(&WriteBuffer) -> Reach) -> Reaches {
        let mut reaches = Reaches::default();
        for number in (0..self.streams.count_of_host()).filter(|number| streams.has(*number)) {
            let buffer = self.streams.of(self.streams.host(number));
            reaches.0[usize::from(number)] = of(buffer);
        }
        reaches
    }

    /// The set of the host's stream that `ppa` was written to.
    pub(crate) fn host_stream_of(&self, ppa: Ppa, shared: &Shared) -> HostStreamSet {
        let stream = shared.blocks.info(ppa.block()).stream;
        match stream.and_then(|stream| self.streams.row(stream).number()) {
            Some(OpenedFor::Host(number)) => HostStreamSet::of(number),
            _ => HostStreamSet::default(),
        }
    }

    /// Whether the host has several streams.
    #[inline]
    pub(crate) fn has_several_of_host(&self) -> bool {
        self.streams.has_several_of_host()
    }
}

/// How far each stream of the host is filled or programmed. Of a stream that does not count, nothing is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reaches([Reach; MOST_HOST_STREAMS]);

impl Reaches {
    /// Whether each stream is as far as in `others`, or further.
    pub(crate) fn cover(&self, others: &Reaches) -> bool {
        self.0
            .iter()
            .zip(&others.0)
            .all(|(own, other)| own >= other)
    }
}

/// **Merging.** A page that is merged in the write buffer stays in the stream that it went to.
impl Placement {
    /// The buffer of the slot at `ppa`, if the host may still change it.
    #[inline]
    pub(crate) fn open_slot_of_host(&self, ppa: Ppa) -> Option<Buf> {
        match self.streams.has_several_of_host() {
            false => self.streams.of(StreamId::HOST).open_slot(ppa),
            true => {
                let mut of_host = self.streams.of_host();
                of_host.find_map(|stream| self.streams.of(stream).open_slot(ppa))
            }
        }
    }
}

/// **Padding.** The parts of dies that hold data which a command waits for are padded, in the wordline of each stream, and take the slots of
/// their own stream alone. The wordline is filled on behind them.
impl Placement {
    /// The stream of the host to be padded next for commands that wait until the streams are programmed as far as in one of `waits`: one
    /// whose wordline has incomplete parts with data that are waited for, and of which nothing is being programmed. While something is,
    /// commands that arrive may still share the parts that are being filled. Padding that has begun for some parts goes on until all of
    /// them are complete.
    pub(crate) fn stream_to_pad<'a>(
        &mut self,
        waits: impl Iterator<Item = &'a Reaches> + Clone,
    ) -> Option<StreamId> {
        for number in 0..self.streams.count_of_host() {
            let stream = self.streams.host(number);
            let buffer = self.streams.of_mut(stream);
            if !buffer.pads() && buffer.only_fills() {
                let of_stream = waits.clone().map(|waits| waits.0[usize::from(number)]);
                buffer.pad_to(of_stream.max().unwrap_or_default());
            }
            if buffer.pads() {
                return Some(stream);
            }
        }
        None
    }

    /// Pads one slot of the wordline that `stream` of the host fills. Returns the programs that this makes due; none if the stream
    /// fills no wordline.
    pub(crate) fn pad(
        &mut self,
        stream: StreamId,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> Option<Programs> {
        let buffer = self.streams.of_mut(stream);
        if !buffer.fills_superwordline() {
            return None;
        }
        let slot = buffer.allocate_furthest_behind().ok()?;
        Some(self.padded(stream, slot, shared, ports))
    }
}

/// **Power.** The host fills its own streams, and that of the declared region only where the write cache is protected.
impl Placement {
    /// Slots that the host has in the buffers of its own streams, and that are not on flash yet, with their buffers.
    pub(super) fn held_by_host(&self) -> impl Iterator<Item = (Ppa, Buf)> {
        let buffers = self.streams.of_host().map(|stream| self.streams.of(stream));
        buffers.flat_map(|buffer| (0..buffer.len()).filter_map(|i| buffer.held_at(i)))
    }
}

#[cfg(test)]
mod tests;
