//! The write buffers of a drive, one per stream.
//!
//! Every drive has a stream for writes of the host and one for moves. A drive whose map lies on flash has one
//! for map pages. Each of these has slot buffers for three superwordlines: one being filled and the others being
//! programmed. Further streams are declared by schemes, a row each ([`StreamRow`]). A stream whose row names a cell
//! mode fills superblocks in that mode, from a pool of their own. One whose row names none fills superblocks of the
//! common pool, as the host does.
//!
//! Declared streams share their superwordlines. A superwordline may stay partly filled for as long as nothing is written to
//! its stream, so each stream can always have one; the two further superwordlines are those of programs that run. So a
//! drive with `n` declared streams has buffers for `n + 2` superwordlines, and not for `3 n`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{Buf, CellMode, Geometry, Layout, Ppa, SuperblockId};

use super::buffer::{Allocated, NoSlot, SUPERWORDLINES, WriteBuffer};
use crate::format::record;
use crate::observe::{
    ModeSet, StreamBuffer, StreamId, StreamRow, StreamUse, SuperblockInfo, Writer,
};
use crate::policy::DECLARE;
use crate::policy::page_type::{AnyPageType, MOST_PLACED_STREAMS, PageOrder, PageTypes, Wish};

/// Maximum number of streams of a drive: those that every drive has, that of the map, and those that schemes declare. Each
/// has a superblock open and buffers for at least one superwordline, so drives have few; tables of streams are of this length.
pub const MOST_STREAMS: usize = 32;

const _: () = assert!(MOST_STREAMS <= MOST_PLACED_STREAMS);

/// Maximum number of superblocks that may be completely filled but not completely programmed.
pub(crate) const FILLED: usize = MOST_STREAMS * SUPERWORDLINES;

/// Which streams a drive has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamPlan {
    geometry: Geometry,
    /// The cell mode of the streams that every drive has.
    mode: CellMode,
    /// A row for each stream, then none: the streams with superwordlines of their own, and those that schemes declare.
    rows: [Option<&'static StreamRow>; MOST_STREAMS],
    /// Number of streams, and of those with superwordlines of their own.
    len: u8,
    with_own_superwordlines: u8,
    /// The streams of the host and of moves that a scheme of axis `stream` declares: the first one, and how many.
    of_host: (u8, u8),
    of_moves: (u8, u8),
}

impl StreamPlan {
    /// Streams of a drive whose superblocks start in `mode`, with `map_pages` map pages on flash and the rows
    /// that schemes have declared.
    pub(crate) fn new(
        geometry: Geometry,
        mode: CellMode,
        map_pages: u32,
        declared: [&'static [StreamRow]; DECLARE],
    ) -> StreamPlan {
        let of_map = (map_pages > 0).then_some(StreamRow::OF_MAP);
        let own = StreamRow::OF_EVERY_DRIVE.into_iter().chain(of_map);
        let with_own_superwordlines = own.clone().count() as u8;
        let mut plan = StreamPlan {
            geometry,
            mode,
            rows: [None; MOST_STREAMS],
            len: 0,
            with_own_superwordlines,
            of_host: (0, 0),
            of_moves: (0, 0),
        };
        for row in own.chain(declared.into_iter().flatten()) {
            let len = usize::from(plan.len);
            assert!(
                len < MOST_STREAMS,
                "a drive has {MOST_STREAMS} streams at most"
            );
            plan.rows[len] = Some(row);
            let numbered = match row.takes {
                StreamUse::HostStream(_) => Some(&mut plan.of_host),
                StreamUse::MoveStream(_) => Some(&mut plan.of_moves),
                _ => None,
            };
            if let Some((first, streams)) = numbered {
                *first = if *streams == 0 { plan.len } else { *first };
                *streams += 1;
            }
            plan.len += 1;
        }
        plan
    }

    /// The rows of all streams, with their numbers.
    fn rows(&self) -> impl Iterator<Item = (StreamId, &'static StreamRow)> {
        let rows = self.rows.iter().copied().flatten();
        (0..).map(StreamId).zip(rows)
    }

    /// The rows of the declared streams.
    fn declared(&self) -> impl Iterator<Item = (StreamId, &'static StreamRow)> {
        self.rows().skip(usize::from(self.with_own_superwordlines))
    }

    /// The row of `stream`.
    pub(super) fn row(&self, stream: StreamId) -> &'static StreamRow {
        self.rows[usize::from(stream.0)].expect("a stream of the drive")
    }

    /// The stream that takes `what`.
    pub(super) fn that_takes(&self, what: StreamUse) -> Option<StreamId> {
        self.rows()
            .find(|(_, row)| row.takes == what)
            .map(|(id, _)| id)
    }

    fn has_map(&self) -> bool {
        self.that_takes(StreamUse::Map).is_some()
    }

    /// The mode that stores most in a superblock of a declared stream; none if no stream is declared.
    fn widest_declared(&self) -> Option<CellMode> {
        let modes = self
            .declared()
            .map(|(_, row)| row.mode().unwrap_or(self.mode));
        modes.max_by_key(|mode| mode.bits())
    }

    /// Whether `stream` is declared by a scheme, and shares its superwordlines with others.
    #[inline]
    fn is_declared(&self, stream: StreamId) -> bool {
        stream.0 >= self.with_own_superwordlines
    }

    /// Number of superwordlines that the declared streams share: one for each, so that none waits for another to fill its own,
    /// and those for programs.
    fn shared_superwordlines(&self) -> u32 {
        u32::from(self.len - self.with_own_superwordlines) + self.superwordlines_for_programs()
    }

    /// Of these, the superwordlines for programs: as many as a stream of every drive has, where any stream is declared.
    fn superwordlines_for_programs(&self) -> u32 {
        match self.len > self.with_own_superwordlines {
            true => SUPERWORDLINES as u32 - 1,
            false => 0,
        }
    }

    /// The write buffer of each stream: all superwordlines of a stream that has its own, and the one that each
    /// declared stream may always have.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = StreamBuffer> {
        let (own, shared) = self.superwordline_slots();
        self.rows().map(move |(id, row)| {
            let (superwordlines, slots) = match self.is_declared(id) {
                true => (1, shared),
                false => (SUPERWORDLINES as u32, own),
            };
            StreamBuffer {
                name: row.name,
                superwordlines,
                slots: superwordlines * slots,
            }
        })
    }

    /// The superwordlines that the declared streams share beyond these, for programs.
    pub(crate) fn shared_buffer(&self) -> StreamBuffer {
        let (_, slots) = self.superwordline_slots();
        let superwordlines = self.superwordlines_for_programs();
        StreamBuffer {
            name: "shared",
            superwordlines,
            slots: superwordlines * slots,
        }
    }

    /// Number of superwordlines of the streams that have their own.
    fn own_superwordlines(&self) -> u32 {
        u32::from(self.with_own_superwordlines) * SUPERWORDLINES as u32
    }

    /// Slot buffers of a superwordline of the streams that have their own, and of one that the declared streams share.
    fn superwordline_slots(&self) -> (u32, u32) {
        let shared = self.widest_declared().unwrap_or(self.mode);
        let slots = |mode| WriteBuffer::superwordline_slots(&self.geometry, mode);
        (slots(self.mode), slots(shared))
    }

    /// Number of slot buffers of all write buffers.
    pub(crate) fn slot_buffers(&self) -> u32 {
        let (own, _) = self.superwordline_slots();
        self.own_superwordlines() * own + self.shared_slot_buffers()
    }

    /// Number of slot buffers that the declared streams share.
    pub(crate) fn shared_slot_buffers(&self) -> u32 {
        let (_, shared) = self.superwordline_slots();
        self.shared_superwordlines() * shared
    }

    /// Number of slot buffers of placement: those of the write buffers, and as many for data to be rewritten.
    pub(crate) fn all_slot_buffers(&self) -> u32 {
        2 * self.slot_buffers()
    }

    /// Maximum number of programs in flight from all write buffers.
    pub(crate) fn programs(&self) -> u32 {
        (self.own_superwordlines() + self.shared_superwordlines()) * u32::from(self.geometry.dies())
    }

    /// Slots that the superblocks of these streams take from the capacity: one superblock of the map, and the open
    /// superblock of each declared stream, with a free one where the stream has a pool of its own.
    pub(crate) fn kept_slots(&self) -> u64 {
        let slots = |mode| u64::from(self.geometry.slots_per_superblock(mode));
        let map = u64::from(self.has_map()) * slots(self.mode);
        // Of the pool that the host writes to, all slots count that its superblocks would have in the drive's own mode, because
        // garbage collection can bring back those that are full. The open one and the free one it cannot.
        let lends = self.lent_by_pool_superblock() > 0;
        let declared = self.declared().map(|(_, row)| match row.mode() {
            Some(_) if lends => 2 * slots(self.mode),
            Some(mode) => 2 * slots(mode),
            None => slots(self.mode),
        });
        map + declared.sum::<u64>()
    }

    /// Of these slots, those of streams of copies that lie in the drive's own region, and those of the streams among which axis
    /// `stream` chooses. Other streams of moves share the room of all moves instead.
    pub(crate) fn kept_by_copies(&self) -> u64 {
        let slots = |mode| u64::from(self.geometry.slots_per_superblock(mode));
        let copies = self.declared().map(|(_, row)| row);
        let copies = copies.filter(|row| {
            let is_of_copies = row.writer() == Writer::Copy;
            row.number().is_some() || is_of_copies && !matches!(row.takes, StreamUse::Region(_))
        });
        let lends = self.lent_by_pool_superblock() > 0;
        copies
            .map(|row| match row.mode() {
                Some(_) if lends => 2 * slots(self.mode),
                Some(mode) => 2 * slots(mode),
                None => slots(self.mode),
            })
            .sum()
    }

    /// Slots that a superblock of the pool that the host writes to holds less than one in the drive's own mode; zero if there is none.
    pub(super) fn lent_by_pool_superblock(&self) -> u64 {
        let written = self.rows().find_map(|(_, row)| match row.takes {
            StreamUse::Written(mode) => Some(mode),
            _ => None,
        });
        let slots = |mode| u64::from(self.geometry.slots_per_superblock(mode));
        written.map_or(0, |mode| slots(self.mode).saturating_sub(slots(mode)))
    }

    /// Free superblocks that are erased beside an emptied one, at most: one for each pool of a mode.
    pub(crate) fn erases_beside(&self) -> u32 {
        let pools = self.pools();
        CellMode::ALL
            .iter()
            .filter(|mode| pools.has(**mode))
            .count() as u32
    }

    /// Cell modes whose superblocks are opened for declared streams alone.
    pub(crate) fn pools(&self) -> ModeSet {
        self.rows().filter_map(|(_, row)| row.mode()).collect()
    }
}

/// The write buffers, one per stream.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    buffers: Box<[WriteBuffer]>,
    /// The first slot buffer of the superwordlines that the declared streams share.
    shared: Buf,
    plan: StreamPlan,
    /// Which page types pages go to.
    page_type: AnyPageType,
    /// The stream of the map, if that lies on flash.
    map: Option<StreamId>,
    /// The streams of wear leveling, if its scheme declares them: cold data, and pages read often that are taken along.
    cold: Option<StreamId>,
    read_often: Option<StreamId>,
    /// The most slots that the buffers held at once, as [`Streams::note_held`] has seen; none if nobody asks for it.
    pub(crate) most_held: Option<u32>,
}

impl Streams {
    /// The write buffers of `plan`. Their slot buffers begin at `first`.
    pub(crate) fn new(plan: StreamPlan, page_type: AnyPageType, first: Buf) -> Streams {
        let layout = Layout::new(plan.geometry);
        let (of_own, _) = plan.superwordline_slots();
        let own = (0..u32::from(plan.with_own_superwordlines)).map(|i| {
            let superwordlines = first.slot(i * SUPERWORDLINES as u32 * of_own);
            WriteBuffer::new(layout, plan.mode, superwordlines)
        });
        let shared = first.slot(plan.own_superwordlines() * of_own);
        let widest = plan.widest_declared().unwrap_or(plan.mode);
        let declared = plan
            .declared()
            .map(|_| WriteBuffer::new(layout, widest, shared));
        let buffers: Vec<WriteBuffer> = own.chain(declared).collect();
        Streams {
            buffers: buffers.into_boxed_slice(),
            shared,
            map: plan.that_takes(StreamUse::Map),
            cold: plan.that_takes(StreamUse::Cold),
            read_often: plan.that_takes(StreamUse::ReadOften),
            plan,
            page_type,
            most_held: None,
        }
    }

    /// Notes how many slots the buffers hold that no program has finished.
    #[inline]
    pub(crate) fn note_held(&mut self) {
        if let Some(most) = self.most_held {
            self.most_held = Some(most.max(self.held()));
        }
    }

    #[inline(never)] // Few ask for it.
    fn held(&self) -> u32 {
        self.buffers.iter().map(WriteBuffer::held).sum()
    }

    /// Which streams there are.
    pub(crate) fn plan(&self) -> &StreamPlan {
        &self.plan
    }

    /// The buffer of `stream`, which the drive has.
    #[inline]
    pub(crate) fn of(&self, stream: StreamId) -> &WriteBuffer {
        &self.buffers[usize::from(stream.0)]
    }

    /// The buffer of `stream`, mutable.
    #[inline]
    pub(crate) fn of_mut(&mut self, stream: StreamId) -> &mut WriteBuffer {
        &mut self.buffers[usize::from(stream.0)]
    }

    /// The scheme of axis `page_type`.
    #[inline]
    pub(crate) fn page_type(&self) -> &AnyPageType {
        &self.page_type
    }

    /// The same, for a read that it is shown.
    pub(crate) fn page_type_mut(&mut self) -> &mut AnyPageType {
        &mut self.page_type
    }

    /// Allocates a slot of `stream` for a page with `wish`.
    #[inline]
    pub(crate) fn allocate(
        &mut self,
        stream: StreamId,
        wish: Option<Wish>,
    ) -> Result<Allocated, NoSlot> {
        if self.plan.is_declared(stream) {
            self.lend_superwordline(stream)?;
        }
        self.allocate_own(stream, wish)
    }

    /// Whether the host has several streams.
    #[inline]
    pub(super) fn has_several_of_host(&self) -> bool {
        self.plan.of_host.1 > 0
    }

    /// Whether moves have a stream for each one of the host.
    pub(super) fn moves_by_handle(&self) -> bool {
        self.plan.of_moves.1 == self.plan.of_host.1
    }

    /// Number of streams of the host.
    #[inline]
    pub(super) fn count_of_host(&self) -> u8 {
        1 + self.plan.of_host.1
    }

    /// Whether moves have several streams among which axis `stream` chooses.
    #[inline]
    pub(super) fn has_several_of_moves(&self) -> bool {
        self.plan.of_moves.1 > 0
    }

    /// The stream of the host with this number, or the last one.
    #[inline]
    pub(super) fn host(&self, number: u8) -> StreamId {
        numbered(StreamId::HOST, self.plan.of_host, number)
    }

    /// The stream of moves with this number, or the last one.
    #[inline]
    pub(super) fn moves(&self, number: u8) -> StreamId {
        numbered(StreamId::MOVE, self.plan.of_moves, number)
    }

    /// The streams of moves among which axis `stream` chooses, in the order of their numbers.
    pub(super) fn numbered_of_moves(&self) -> impl Iterator<Item = StreamId> {
        let (first, streams) = self.plan.of_moves;
        let others = (first..first + streams).map(StreamId);
        core::iter::once(StreamId::MOVE).chain(others)
    }

    /// The same of a stream that has superwordlines of its own.
    #[inline]
    pub(crate) fn allocate_own(
        &mut self,
        stream: StreamId,
        wish: Option<Wish>,
    ) -> Result<Allocated, NoSlot> {
        match wish {
            None => self.of_mut(stream).allocate(PageOrder::IN_ORDER),
            Some(wish) => self.allocate_by_wish(stream, wish),
        }
    }

    #[inline(never)] // Most drives place in order.
    fn allocate_by_wish(&mut self, stream: StreamId, wish: Wish) -> Result<Allocated, NoSlot> {
        let (buffer, at) = (
            &mut self.buffers[usize::from(stream.0)],
            usize::from(stream.0),
        );
        let mode = buffer.mode().ok_or(NoSlot::NeedsBlock)?;
        let slot = buffer.allocate(self.page_type.order(at, wish, mode))?;
        self.page_type.has_placed(at, wish);
        Ok(slot)
    }

    /// Lends declared stream `stream` a shared superwordline if its next slot begins one.
    #[inline(never)] // Few pages go to such a stream.
    fn lend_superwordline(&mut self, stream: StreamId) -> Result<(), NoSlot> {
        if self.of(stream).begins_superwordline() {
            let superwordline = self.superwordline_for(stream).ok_or(NoSlot::Full)?;
            self.of_mut(stream).lend(superwordline);
        }
        Ok(())
    }

    /// Whether a new superblock for `stream` could not be filled yet, because the wordlines in its buffer, or in those
    /// that it shares superwordlines with, wait for programs.
    pub(crate) fn is_full(&self, stream: StreamId) -> bool {
        let buffer = self.of(stream);
        let lacks_superwordline = || {
            self.plan.is_declared(stream)
                && !buffer.fills_superwordline()
                && self.superwordline_for(stream).is_none()
        };
        buffer.is_full() || lacks_superwordline()
    }

    /// The shared superwordline in which declared stream `stream` may begin a wordline, if any: one that is not in use, as long
    /// as one stays for each stream that has none.
    fn superwordline_for(&self, stream: StreamId) -> Option<Buf> {
        let first = self.plan.with_own_superwordlines;
        let declared = &self.buffers[usize::from(first)..];
        let others = (first..).map(StreamId).zip(declared);
        let others = others.filter(|(id, _)| *id != stream);
        let owed = others
            .filter(|(_, buffer)| buffer.superwordlines() == 0)
            .count();
        let (_, slots) = self.plan.superwordline_slots();
        let superwordlines =
            (0..self.plan.shared_superwordlines()).map(|i| self.shared.slot(i * slots));
        let in_use = |superwordline: &Buf| {
            declared
                .iter()
                .any(|b| b.superwordlines_in_use().any(|l| l == *superwordline))
        };
        superwordlines
            .filter(|superwordline| !in_use(superwordline))
            .nth(owed)
    }

    /// Whether schemes declare streams.
    #[inline]
    pub(crate) fn declares_any(&self) -> bool {
        self.plan.len > self.plan.with_own_superwordlines
    }

    #[inline]
    pub(crate) fn iter(&self) -> core::slice::Iter<'_, WriteBuffer> {
        self.buffers.iter()
    }

    /// All buffers, without that of the map if `map_ends`.
    pub(crate) fn that_fill_on(&self, map_ends: bool) -> impl Iterator<Item = &WriteBuffer> {
        let ids = (0..).map(StreamId);
        let buffers = ids.zip(&self.buffers);
        buffers
            .filter(move |(id, _)| !map_ends || Some(*id) != self.map)
            .map(|(_, buffer)| buffer)
    }

    /// The stream of map pages; none if the whole map is in DRAM.
    #[inline]
    pub(crate) fn map(&self) -> Option<StreamId> {
        self.map
    }

    /// The stream of map pages, on a drive that has such pages.
    #[inline]
    pub(crate) fn of_map(&self) -> StreamId {
        self.map.expect("map pages have a stream")
    }

    /// Whether there is a stream for map pages.
    #[inline]
    pub(crate) fn has_map(&self) -> bool {
        self.map.is_some()
    }

    /// The streams that the host fills.
    pub(crate) fn of_host(&self) -> impl Iterator<Item = StreamId> {
        let rows = self.plan.rows();
        let of_host = rows.filter(|(_, row)| row.writer() == Writer::Host);
        of_host.map(|(id, _)| id)
    }

    /// Number of streams that fill superblocks in the drive's own mode.
    pub(crate) fn of_own_mode(&self) -> usize {
        let rows = self.plan.rows();
        rows.filter(|(_, row)| row.mode().is_none()).count()
    }

    /// The streams that moves write to: their superblocks are the headroom, with the free ones.
    #[inline]
    pub(crate) fn of_mover(&self) -> impl Iterator<Item = StreamId> {
        let of_mover = self.plan.rows();
        let of_mover =
            of_mover.filter(|(_, row)| matches!(row.writer(), Writer::Mover | Writer::Map));
        of_mover.map(|(id, _)| id)
    }

    /// The other streams: those whose superblocks moved data go to as a last resort.
    pub(crate) fn of_others(&self) -> impl Iterator<Item = StreamId> {
        let others = self.plan.rows().filter(|(_, row)| row.is_last_resort());
        others.map(|(id, _)| id)
    }

    /// Slots left in the superblock of `stream`; 0 if there is no such stream.
    #[inline]
    fn left_in(&self, stream: Option<StreamId>) -> u32 {
        stream.map_or(0, |stream| self.of(stream).slots_left())
    }

    /// Slots left in the superblocks that garbage collection fills while superblocks are free.
    #[inline]
    pub(crate) fn left_for_cleaning(&self) -> u32 {
        let own = match self.has_several_of_moves() {
            false => self.of(StreamId::MOVE).slots_left(),
            true => {
                let streams = self.numbered_of_moves();
                streams.map(|stream| self.of(stream).slots_left()).sum()
            }
        };
        own + self.left_in(self.map)
    }

    /// Slots left in the superblocks that moves write to.
    #[inline]
    pub(crate) fn left_for_moves(&self) -> u32 {
        self.left_for_cleaning() + self.left_in(self.cold) + self.left_in(self.read_often)
    }

    /// Whether all data of the superblock of `info` have moved since the host wrote them: a stream of moves has opened it.
    pub(crate) fn have_moved(&self, info: &SuperblockInfo) -> bool {
        let opener = info.stream.map(|stream| self.row(stream).writer());
        opener == Some(Writer::Mover)
    }

    /// Whether the superblock of `info` names the stream that fills it, if one does.
    pub(crate) fn are_named_in(&self, block: SuperblockId, info: &SuperblockInfo) -> bool {
        let ids = (0..).map(StreamId);
        let mut buffers = ids.zip(&self.buffers);
        buffers.all(|(id, buffer)| !buffer.is_busy_with(block) || info.stream == Some(id))
    }

    /// The stream that will fill more slots of `block`.
    pub(crate) fn filling(&self, block: SuperblockId) -> Option<StreamId> {
        let fills = |id: &StreamId| {
            let buffer = self.of(*id);
            buffer.fills(block) || buffer.fills_superwordline_of(block)
        };
        self.of_mover().chain(self.of_others()).find(fills)
    }

    /// The stream that takes `what`.
    pub(crate) fn that_takes(&self, what: StreamUse) -> Option<StreamId> {
        self.plan.that_takes(what)
    }

    /// The stream of cold data that wear leveling moves, if its scheme declares one.
    #[inline]
    pub(crate) fn cold(&self) -> Option<StreamId> {
        self.cold
    }

    /// The stream of pages read often that garbage collection and wear leveling take along, if the scheme of wear
    /// leveling declares one.
    #[inline]
    pub(crate) fn read_often(&self) -> Option<StreamId> {
        self.read_often
    }

    /// The row of `stream`.
    #[inline]
    pub(crate) fn row(&self, stream: StreamId) -> &'static StreamRow {
        self.plan.row(stream)
    }

    #[inline]
    pub(crate) fn takes(&self, stream: StreamId) -> StreamUse {
        self.row(stream).takes
    }

    /// The modes of the superblocks that `stream` opens.
    pub(crate) fn opens(&self, stream: StreamId) -> ModeSet {
        match self.row(stream).mode() {
            Some(mode) => ModeSet::of(mode),
            None => self.plan.pools().complement(),
        }
    }

    /// Entry `i` of the buffers, one after another: the slot where the data are to lie, and their buffer. The
    /// inner option is none for an entry without data; the outer one holds the number of entries passed if
    /// `i` is past the last.
    pub(crate) fn held_at(&self, mut i: u32) -> Result<Option<(Ppa, Buf)>, u32> {
        for buffer in &self.buffers {
            if i < buffer.len() {
                return Ok(buffer.held_at(i));
            }
            i -= buffer.len();
        }
        Err(i)
    }

    /// Superblocks of the wordlines in all buffers.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = SuperblockId> {
        self.buffers.iter().flat_map(WriteBuffer::blocks)
    }
}

/// Number `number` of the streams that begin with `own` and go on with those `declared`, which are their first one and how many
/// there are.
#[inline]
fn numbered(own: StreamId, (first, streams): (u8, u8), number: u8) -> StreamId {
    match number.min(streams) {
        0 => own,
        number => StreamId(first + number - 1),
    }
}

record! {
    Streams as "write buffers" {
        buffers: "the write buffer of each stream",
    } not {
        shared: "of the configuration",
        plan: "of the schemes",
        page_type: "the scheme learns anew which pages are hot; data stay where they are",
        map: "of the schemes",
        cold: "of the schemes",
        read_often: "of the schemes",
        most_held: "counted from when it is asked for",
    }
}
