//! Rescue: data whose program failed, was given up or was torn by a power cut, on their way to
//! another superblock.
//!
//! They are copied out of the write buffer at once, slot by slot, so that the buffer never waits for
//! itself, and read from here until they have been written again, first come, first served. Nothing
//! else is written meanwhile, so the slots here and in the write buffers together never exceed those
//! of the write buffers: there is always room. Slots are what is counted, not parts of wordlines: the
//! slots of one QLC part fill four parts of a superblock in SLC, and the few slots of parts that were
//! given up are dealt over all dies when they are written again. Dumped with the write buffers when
//! power is cut.

use alloc::boxed::Box;

use firstread_core::{BlockId, Buf, CellMode, Geometry, Ppa};

use super::buffer::WriteBuffer;

/// The slots that wait to be written again: a ring with a buffer for each place.
#[derive(Clone, Debug)]
pub(crate) struct Rescue {
    /// Where each slot was to be.
    slots: Box<[Ppa]>,
    /// Buffer of the first place.
    first_buf: Buf,
    /// Place of the slot that has waited longest.
    oldest: u32,
    /// Slots that wait.
    len: u32,
}

impl Rescue {
    /// Slot buffers it uses: as many as the write buffers of `streams`.
    pub(crate) fn buffers(geometry: &Geometry, widest: CellMode, streams: usize) -> u32 {
        streams as u32 * WriteBuffer::buffers(geometry, widest)
    }

    /// For the write buffers of `streams`. Its slot buffers begin at `first_buf`.
    pub(crate) fn new(
        geometry: &Geometry,
        widest: CellMode,
        streams: usize,
        first_buf: Buf,
    ) -> Rescue {
        let places = Rescue::buffers(geometry, widest, streams) as usize;
        Rescue {
            slots: alloc::vec![Ppa(0); places].into_boxed_slice(),
            first_buf,
            oldest: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Slots that wait to be written again.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Place of the slot that came `i` after the one that has waited longest.
    fn place(&self, i: u32) -> u32 {
        let (places, place) = (self.slots.len() as u32, self.oldest + i);
        if place < places {
            place
        } else {
            place - places
        }
    }

    /// The slot that came `i` after the one that has waited longest, with its buffer.
    pub(crate) fn at(&self, i: u32) -> (Ppa, Buf) {
        let place = self.place(i);
        (self.slots[place as usize], self.first_buf.slot(place))
    }

    fn held(&self) -> impl Iterator<Item = (Ppa, Buf)> {
        (0..self.len).map(|i| self.at(i))
    }

    /// Takes on the slot that was to be at `ppa`: where to copy it.
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

    /// The slot to be written again next: where it was to be, and its buffer.
    pub(crate) fn next(&self) -> Option<(Ppa, Buf)> {
        self.held().next()
    }

    /// The slot that was next has been written. The superblock that it was to be in, if that waits for no other.
    pub(crate) fn advance(&mut self) -> Option<BlockId> {
        let (ppa, _) = self.next()?;
        self.oldest = self.place(1);
        self.len -= 1;
        (!self.is_busy_with(ppa.block())).then_some(ppa.block())
    }

    /// Whether data that were to be in `block` are here.
    pub(crate) fn is_busy_with(&self, block: BlockId) -> bool {
        self.held().any(|(ppa, _)| ppa.block() == block)
    }

    /// The buffer that holds what was to be at `ppa`.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        let mut held = self.held();
        held.find_map(|(there, buf)| (there == ppa).then_some(buf))
    }
}
