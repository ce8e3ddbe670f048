//! The write buffers of a drive, one per stream.
//!
//! Every drive has a stream for writes of the host and one for moves. A drive whose map lies on flash has one
//! for map pages. Further streams are declared by schemes, a row each ([`StreamRow`]). A stream whose row names a cell
//! mode fills superblocks in that mode, from a pool of their own. One whose row names none fills superblocks of the
//! common pool, as the host does.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{Buf, CellMode, Geometry, Layout, Ppa, SuperblockId};

use super::buffer::{WORDLINES, WriteBuffer};
use crate::observe::{ModeSet, StreamId, StreamRow};

/// Maximum number of streams of a drive.
const MOST_STREAMS: usize = 8;

/// Maximum number of superblocks that may be completely filled but not completely programmed.
pub(crate) const FILLED: usize = MOST_STREAMS * WORDLINES;

/// Which streams a drive has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamPlan {
    geometry: Geometry,
    /// The cell mode of the streams that every drive has.
    mode: CellMode,
    has_map: bool,
    /// The rows of each axis that declares streams.
    declared: [&'static [StreamRow]; 2],
}

impl StreamPlan {
    /// Streams of a drive whose superblocks start in `mode`, with `map_pages` map pages on flash and the rows
    /// that schemes have declared.
    pub(crate) fn new(
        geometry: Geometry,
        mode: CellMode,
        map_pages: u32,
        declared: [&'static [StreamRow]; 2],
    ) -> StreamPlan {
        let plan = StreamPlan {
            geometry,
            mode,
            has_map: map_pages > 0,
            declared,
        };
        assert!(plan.len() <= MOST_STREAMS, "a scheme declares few streams");
        plan
    }

    fn declares_from(&self) -> usize {
        2 + usize::from(self.has_map)
    }

    /// The rows of the declared streams.
    fn rows(&self) -> impl Iterator<Item = &'static StreamRow> + use<> {
        let [first, second] = self.declared;
        first.iter().chain(second)
    }

    /// Number of streams.
    fn len(&self) -> usize {
        self.declares_from() + self.rows().count()
    }

    /// The cell mode of each stream, in the order of their buffers.
    fn modes(&self) -> impl Iterator<Item = CellMode> {
        let own = core::iter::repeat_n(self.mode, self.declares_from());
        own.chain(self.rows().map(|row| row.mode.unwrap_or(self.mode)))
    }

    /// Number of slot buffers of all write buffers.
    pub(crate) fn slot_buffers(&self) -> u32 {
        let of = |mode| WriteBuffer::buffers(&self.geometry, mode);
        self.modes().map(of).sum()
    }

    /// Number of slot buffers of placement: those of the write buffers, and as many for data to be rewritten.
    pub(crate) fn all_slot_buffers(&self) -> u32 {
        2 * self.slot_buffers()
    }

    /// Maximum number of programs in flight from all write buffers.
    pub(crate) fn programs(&self) -> u32 {
        self.len() as u32 * WriteBuffer::programs(&self.geometry)
    }

    /// Slots that the superblocks of these streams take from the capacity: one superblock of the map, and the open
    /// superblock of each declared stream, with a free one where the stream has a pool of its own.
    pub(crate) fn kept_slots(&self) -> u64 {
        let slots = |mode| u64::from(self.geometry.slots_per_superblock(mode));
        let map = u64::from(self.has_map) * slots(self.mode);
        let declared = self.rows().map(|row| match row.mode {
            Some(mode) => 2 * slots(mode),
            None => slots(self.mode),
        });
        map + declared.sum::<u64>()
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
        self.rows().filter_map(|row| row.mode).collect()
    }
}

/// The write buffers, one per stream.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    buffers: Box<[WriteBuffer]>,
    plan: StreamPlan,
}

impl Streams {
    /// The write buffers of `plan`. Their slot buffers begin at `first`.
    pub(crate) fn new(plan: StreamPlan, first: Buf) -> Streams {
        let layout = Layout::new(plan.geometry);
        let mut next = first;
        let buffers: Vec<WriteBuffer> = plan
            .modes()
            .map(|mode| {
                let buffer = WriteBuffer::new(layout, mode, next);
                next = next.slot(buffer.len());
                buffer
            })
            .collect();
        Streams {
            buffers: buffers.into_boxed_slice(),
            plan,
        }
    }

    /// Which streams there are.
    pub(crate) fn plan(&self) -> &StreamPlan {
        &self.plan
    }

    #[inline]
    fn index(&self, stream: StreamId) -> usize {
        match stream {
            StreamId::Host => 0,
            StreamId::Move => 1,
            StreamId::Map => 2,
            StreamId::Declared(row) => self.plan.declares_from() + usize::from(row),
        }
    }

    /// The buffer of `stream`, which the drive has.
    #[inline]
    pub(crate) fn of(&self, stream: StreamId) -> &WriteBuffer {
        &self.buffers[self.index(stream)]
    }

    /// The buffer of `stream`, mutable.
    #[inline]
    pub(crate) fn of_mut(&mut self, stream: StreamId) -> &mut WriteBuffer {
        &mut self.buffers[self.index(stream)]
    }

    /// All buffers.
    #[inline]
    pub(crate) fn iter(&self) -> core::slice::Iter<'_, WriteBuffer> {
        self.buffers.iter()
    }

    /// All buffers, without that of the map if `map_ends`.
    pub(crate) fn that_fill_on(&self, map_ends: bool) -> impl Iterator<Item = &WriteBuffer> {
        let map = (map_ends && self.has_map()).then(|| self.index(StreamId::Map));
        let buffers = self.buffers.iter().enumerate();
        buffers
            .filter(move |(i, _)| Some(*i) != map)
            .map(|(_, buffer)| buffer)
    }

    /// Whether there is a stream for map pages.
    #[inline]
    pub(crate) fn has_map(&self) -> bool {
        self.plan.has_map
    }

    /// The streams that moves write to.
    pub(crate) fn of_mover(&self) -> impl Iterator<Item = StreamId> + use<> {
        let map = self.has_map().then_some(StreamId::Map);
        core::iter::once(StreamId::Move).chain(map)
    }

    /// The declared streams.
    pub(crate) fn declared(&self) -> impl Iterator<Item = StreamId> + use<> {
        (0..self.plan.rows().count() as u8).map(StreamId::Declared)
    }

    /// The stream that will fill more slots of `block`.
    pub(crate) fn filling(&self, block: SuperblockId) -> Option<StreamId> {
        let fills = |id: &StreamId| {
            let buffer = self.of(*id);
            buffer.fills(block) || buffer.fills_line_of(block)
        };
        let all = core::iter::once(StreamId::Host).chain(self.of_mover());
        all.chain(self.declared()).find(fills)
    }

    /// The declared stream that fills superblocks in `mode`; none for the drive's own mode, from the common pool.
    #[inline]
    pub(crate) fn in_mode(&self, mode: Option<CellMode>) -> Option<StreamId> {
        let row = self.plan.rows().position(|row| row.mode == mode);
        row.map(|row| StreamId::Declared(row as u8))
    }

    /// The modes of the superblocks that `stream` opens.
    pub(crate) fn opens(&self, stream: StreamId) -> ModeSet {
        let mode = match stream {
            StreamId::Declared(row) => self.plan.rows().nth(usize::from(row)),
            _ => None,
        };
        match mode.and_then(|row| row.mode) {
            Some(mode) => core::iter::once(mode).collect(),
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
