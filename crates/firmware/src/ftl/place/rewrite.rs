//! Rewrite queue: data whose program failed, was abandoned or was torn by a power cut, on their way to another
//! superblock.
//!
//! Slots to be rewritten are copied out of the write buffer at once, one by one, so that the buffer never waits for
//! itself. They are read from here until they have been written again, in order of arrival. Nothing else is
//! written meanwhile, so the slots here and in the write buffers together never exceed the size of the write
//! buffers, and there is always room. The unit is a slot, not a part of a wordline, for two reasons: the
//! slots of one QLC part fill four parts of a superblock in SLC, and the few slots of abandoned parts are
//! spread over all dies when they are written again. The buffers of the queue are dumped with the write buffers at
//! a power cut.

use alloc::boxed::Box;

use crate::format::record;
use firstread_core::{Buf, Ppa, SuperblockId};

/// The slots to be rewritten: a ring with one buffer per entry.
#[derive(Clone, Debug)]
pub(crate) struct RewriteQueue {
    /// The intended place of each slot.
    slots: Box<[Ppa]>,
    /// Buffer of the first entry.
    first_buf: Buf,
    /// Entry of the slot that has waited longest.
    oldest: u32,
    /// Number of slots to be rewritten.
    len: u32,
}

impl RewriteQueue {
    /// A queue for `buffers` slots, as many as the write buffers have. The slot buffers begin at `first_buf`.
    pub(crate) fn new(buffers: u32, first_buf: Buf) -> RewriteQueue {
        RewriteQueue {
            slots: alloc::vec![Ppa(0); buffers as usize].into_boxed_slice(),
            first_buf,
            oldest: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether what was loaded names entries that the ring has.
    pub(super) fn is_sound(&self) -> bool {
        let places = self.slots.len() as u32;
        self.len <= places && self.oldest < places.max(1)
    }

    /// Number of slots that wait to be written again.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Ring entry of the slot that is `i` behind the oldest.
    fn place(&self, i: u32) -> u32 {
        let (places, place) = (self.slots.len() as u32, self.oldest + i);
        if place < places {
            place
        } else {
            place - places
        }
    }

    /// The slot that is `i` behind the oldest, with its buffer.
    pub(crate) fn at(&self, i: u32) -> (Ppa, Buf) {
        let place = self.place(i);
        (self.slots[place as usize], self.first_buf.slot(place))
    }

    fn held(&self) -> impl Iterator<Item = (Ppa, Buf)> {
        (0..self.len).map(|i| self.at(i))
    }

    /// Adds the slot intended for `ppa`. Returns the buffer to copy it to.
    pub(crate) fn take(&mut self, ppa: Ppa) -> Buf {
        assert!(
            (self.len as usize) < self.slots.len(),
            "as much room as in the write buffers"
        );
        let place = self.place(self.len);
        self.slots[place as usize] = ppa;
        self.len += 1;
        self.first_buf.slot(place)
    }

    /// The slot to be written next: its intended place, and its buffer.
    pub(crate) fn next(&self) -> Option<(Ppa, Buf)> {
        self.held().next()
    }

    /// The next slot has been written. Returns the superblock it was intended for, if no other slot of that
    /// superblock is left.
    pub(crate) fn advance(&mut self) -> Option<SuperblockId> {
        let (ppa, _) = self.next()?;
        self.oldest = self.place(1);
        self.len -= 1;
        (!self.is_busy_with(ppa.block())).then_some(ppa.block())
    }

    /// Whether data intended for `block` are here.
    pub(crate) fn is_busy_with(&self, block: SuperblockId) -> bool {
        self.held().any(|(ppa, _)| ppa.block() == block)
    }

    /// The buffer of data intended for `ppa`.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        let mut held = self.held();
        held.find_map(|(there, buf)| (there == ppa).then_some(buf))
    }
}

record! {
    RewriteQueue as "rewrite queue" {
        slots: "the intended slot of each entry of the ring",
        oldest: "entry that has waited longest",
        len ["slots"]: "entries in use",
    } not {
        first_buf: "of the configuration",
    }
}
