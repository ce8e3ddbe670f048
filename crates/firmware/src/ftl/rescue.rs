//! Rescue: data whose program failed, was given up or was torn by a power cut, on their way to
//! another superblock.
//!
//! Each die's part of such a wordline is copied out of the write buffer at once, so that the buffer
//! never waits for itself, and read from here until it has been written again. Nothing else is
//! written meanwhile, so what is here and in the write buffers together never exceeds the write
//! buffers: there is always room. It is dumped with them when power is cut.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use firstread_core::{BlockId, Buf, CellMode, DieId, Geometry, Layout, PageAddr, PageType, Ppa};

use super::write::WORDLINES;

/// A die's part of a wordline.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Where it was to be; any page type.
    at: PageAddr,
    mode: CellMode,
    /// Slots of it that held data, in the order of its buffers.
    slots: u32,
    /// Of those, slots that have been written again.
    done: u32,
    /// First of its buffers.
    buf: Buf,
}

/// The parts that wait to be written again.
#[derive(Debug)]
pub(crate) struct Rescue {
    layout: Layout,
    parts: VecDeque<Part>,
    /// First buffers of those that are free.
    free: Vec<Buf>,
}

impl Rescue {
    /// Parts it has room for.
    fn parts(geometry: &Geometry, streams: usize) -> u32 {
        (streams * WORDLINES) as u32 * geometry.dies() as u32
    }

    /// Slot buffers it uses.
    pub(crate) fn buffers(geometry: &Geometry, widest: CellMode, streams: usize) -> u32 {
        Rescue::parts(geometry, streams) * geometry.slots_per_row() * widest.bits() as u32
    }

    /// For the write buffers of `streams`. Its slot buffers begin at `first`.
    pub(crate) fn new(geometry: Geometry, widest: CellMode, streams: usize, first: Buf) -> Rescue {
        let stride = geometry.slots_per_row() * widest.bits() as u32;
        let parts = Rescue::parts(&geometry, streams);
        Rescue {
            layout: Layout::new(geometry),
            parts: VecDeque::with_capacity(parts as usize),
            free: (0..parts).map(|i| first.slot(i * stride)).collect(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Takes on the first `slots` slots of the part of `die` of `wordline` of `block`: where to copy
    /// them.
    pub(crate) fn take(
        &mut self,
        die: DieId,
        block: BlockId,
        wordline: u16,
        mode: CellMode,
        slots: u32,
    ) -> Buf {
        let buf = self.free.pop().expect("as much room as in the buffers");
        let at = PageAddr {
            die,
            block,
            wordline,
            page: PageType(0),
        };
        self.parts.push_back(Part {
            at,
            mode,
            slots,
            done: 0,
            buf,
        });
        buf
    }

    /// Slot `i` of `part`.
    fn ppa(&self, part: &Part, i: u32) -> Ppa {
        let rows = self.layout.slots_per_row();
        let at = PageAddr {
            page: PageType((i / rows) as u8),
            ..part.at
        };
        self.layout.slot_at(at, i % rows, part.mode)
    }

    /// Slots that wait to be written again.
    pub(crate) fn slots(&self) -> u64 {
        let left = self.parts.iter().map(|p| p.slots - p.done);
        left.map(u64::from).sum()
    }

    /// The slot to be written again next: where it was to be, and its buffer.
    pub(crate) fn next(&self) -> Option<(Ppa, Buf)> {
        let part = self.parts.front()?;
        Some((self.ppa(part, part.done), part.buf.slot(part.done)))
    }

    /// That slot is done. The superblock that it was to be in, if this one waits for no other.
    pub(crate) fn advance(&mut self) -> Option<BlockId> {
        let part = self.parts.front_mut()?;
        part.done += 1;
        if part.done < part.slots {
            return None;
        }
        let Part { at, buf, .. } = *part;
        self.parts.pop_front();
        self.free.push(buf);
        (!self.is_busy_with(at.block)).then_some(at.block)
    }

    /// Whether data that were to be in `block` are here.
    pub(crate) fn is_busy_with(&self, block: BlockId) -> bool {
        self.parts.iter().any(|p| p.at.block == block)
    }

    /// The buffer that holds what was to be at `ppa`.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        self.parts.iter().find_map(|part| {
            if part.at.block != ppa.block() {
                return None;
            }
            let (at, row_slot) = self.layout.row_of(ppa, part.mode);
            let i = at.page.0 as u32 * self.layout.slots_per_row() + row_slot;
            let here = (at.die, at.wordline) == (part.at.die, part.at.wordline)
                && (part.done..part.slots).contains(&i);
            here.then(|| part.buf.slot(i))
        })
    }

    /// Every slot it holds, with its buffer.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Ppa, Buf)> {
        self.parts.iter().flat_map(move |part| {
            (part.done..part.slots).map(move |i| (self.ppa(part, i), part.buf.slot(i)))
        })
    }
}
