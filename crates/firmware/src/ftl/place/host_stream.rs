//! What takes for granted that the host has one stream, [`StreamId::HOST`]: a block for each concern.
//!
//! Each block says what it assumes, and what several streams of the host would need there. All other code asks the row of
//! a stream who fills it ([`crate::observe::Writer`]), or goes through the streams that the host fills
//! ([`Streams::of_host`](super::Streams::of_host)). What the capacity is charged for the stream is part of
//! [`RESERVE`](super::RESERVE), which says the same of itself.

use firstread_core::{Buf, Ppa};

use super::{Placement, Programs};
use crate::observe::StreamId;
use crate::shared::{Out, Shared};

/// **Choice.** Assumes that there is none: what no declared region takes goes to one stream, which has superwordlines of
/// its own. A preference of a scheme is a choice before this one, in `target.rs`. With several streams of the host, each
/// page has one of them here.
impl Placement {
    /// The stream that a page goes to which the host writes.
    #[inline(always)]
    pub(super) fn stream_of_write() -> StreamId {
        StreamId::HOST
    }
}

/// **Pacing.** Assumes that the host needs a free superblock when the one that it fills is full, and not before. With several
/// streams, the first superblock that is full sets the deadline; how many slots the host writes until then depends on the
/// share of the writes that each stream takes, and writes of one stream should not wait for a superblock of another.
impl Placement {
    /// Slots that the host can write before it needs another superblock.
    #[inline]
    pub(crate) fn left_for_host(&self) -> u32 {
        self.streams.of(StreamId::HOST).slots_left()
    }
}

/// **Flush.** Assumes that one number tells which data of the host are programmed: wordlines of a stream are begun in the order
/// of their numbers. With several streams, a command waits for the last wordline that each of them had begun when the
/// command came.
impl Placement {
    /// The number of the wordline that the host has begun last.
    pub(crate) fn last_superwordline_of_host(&self) -> u64 {
        self.streams.of(StreamId::HOST).superwordlines_begun()
    }

    /// The number of the oldest wordline of the host that some die has not programmed yet.
    pub(crate) fn oldest_superwordline_of_host(&self) -> Option<u64> {
        self.streams.of(StreamId::HOST).oldest_superwordline()
    }
}

/// **Merging.** Assumes that what a partial write may still change lies in the buffer of one stream. With several streams, the
/// buffer of each is asked, and a page that is merged in place stays in the stream that it went to.
impl Placement {
    /// The buffer of the slot at `ppa`, if the host may still change it.
    #[inline]
    pub(crate) fn open_slot_of_host(&self, ppa: Ppa) -> Option<Buf> {
        self.streams.of(StreamId::HOST).open_slot(ppa)
    }
}

/// **Padding.** Assumes that the data that a command waits for lie in one wordline that is being filled, and that the slots of
/// other writes go to this wordline too. With several streams, the wordline of each that holds such data is padded, and
/// takes the slots of its own stream alone.
impl Placement {
    /// Whether the write buffer of the host holds no wordline but the one being filled.
    pub(crate) fn host_only_fills(&self) -> bool {
        self.streams.of(StreamId::HOST).only_fills()
    }

    /// Pads one slot of the wordline that the host fills, if no other wordline of the host waits to be
    /// programmed. Returns the programs that this makes due; none if nothing is padded.
    pub(crate) fn pad(&mut self, shared: &mut Shared, ports: &mut impl Out) -> Option<Programs> {
        let may_pad = self.host_only_fills();
        may_pad.then(|| self.pad_superwordline(StreamId::HOST, shared, ports))?
    }
}

/// **Power.** Assumes that the host fills its own streams, and that of the declared region only where the write cache is
/// protected. Several streams need nothing more: all of them are gone through.
impl Placement {
    /// Slots that the host has in the buffers of its own streams, and that are not on flash yet, with their buffers.
    pub(super) fn held_by_host(&self) -> impl Iterator<Item = (Ppa, Buf)> {
        let buffers = self.streams.of_host().map(|stream| self.streams.of(stream));
        buffers.flat_map(|buffer| (0..buffer.len()).filter_map(|i| buffer.held_at(i)))
    }
}
