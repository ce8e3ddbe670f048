//! The write buffer of a stream: wordlines of its open superblock, filled slot by slot in stripe order. Each
//! die's part is programmed as soon as it is complete, all pages of the wordline at once. The slot buffers of a
//! wordline over all dies are a *line*. The streams of every drive have lines of their own; those that schemes declare
//! share some (`streams`).
//!
//! `host/durable.rs` says when data in the buffer are safe from power loss.

use alloc::boxed::Box;

use firstread_core::{
    Buf, CellMode, DieId, Geometry, Layout, PageAddr, PageType, Ppa, SuperblockId,
};

/// Wordlines (over all dies) in the buffer: one being filled, the others being programmed.
pub(crate) const WORDLINES: usize = 3;

/// A wordline over all dies of the open superblock.
#[derive(Clone, Debug)]
struct OpenWordline {
    block: SuperblockId,
    wordline: u16,
    mode: CellMode,
    filled: u32,
    dies_done: u16,
    /// Number of the wordline in the order in which wordlines were begun, from one on.
    number: u64,
    die_done: Box<[bool]>,
    in_use: bool,
    /// Its slot buffers.
    line: Buf,
}

/// The write buffer of a stream.
#[derive(Clone, Debug)]
pub(crate) struct WriteBuffer {
    layout: Layout,
    /// Slot buffers of a line.
    stride: u32,
    ring: [OpenWordline; WORDLINES],
    /// Ring index of the wordline being filled, if there is one.
    filling: Option<usize>,
    /// The open superblock, its mode, and the wordline to begin next.
    next: Option<(SuperblockId, CellMode, u16)>,
    /// Wordlines begun so far.
    begun: u64,
}

/// An allocated slot of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    pub(crate) ppa: Ppa,
    pub(crate) buf: Buf,
    pub(crate) due: Due,
}

/// Parts of a wordline that this slot has completed and that must be programmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) wordline: u16,
    /// Ring index of the wordline.
    pub(crate) line: u8,
    /// The die whose part is complete.
    pub(crate) die: Option<DieId>,
    /// The die that holds the parity of the wordline, if all other dies are complete.
    pub(crate) parity: Option<DieId>,
}

/// A program to issue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) die: DieId,
    pub(crate) block: SuperblockId,
    pub(crate) wordline: u16,
    /// Ring index of the wordline.
    pub(crate) line: u8,
}

/// Why no slot is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// All wordlines of the buffer wait for programs.
    Full,
    /// No superblock is open.
    NeedsBlock,
}

impl WriteBuffer {
    /// A buffer for superblocks in modes up to `widest`. The slot buffers of its lines begin at `first`; a stream
    /// without lines of its own is lent one for each wordline ([`WriteBuffer::lend`]).
    pub(crate) fn new(layout: Layout, widest: CellMode, first: Buf) -> WriteBuffer {
        let stride = WriteBuffer::line(&layout.geometry, widest);
        let wordline = |index: usize| OpenWordline {
            block: SuperblockId(0),
            wordline: 0,
            mode: widest,
            filled: 0,
            dies_done: 0,
            number: 0,
            die_done: alloc::vec![false; layout.dies() as usize].into_boxed_slice(),
            in_use: false,
            line: first.slot(index as u32 * stride),
        };
        WriteBuffer {
            layout,
            stride,
            ring: core::array::from_fn(wordline),
            filling: None,
            next: None,
            begun: 0,
        }
    }

    /// Number of slot buffers of a line, for superblocks in modes up to `widest`.
    pub(crate) fn line(geometry: &Geometry, widest: CellMode) -> u32 {
        geometry.slots_per_stripe() * u32::from(widest.bits())
    }

    /// Opens `block` in `mode`: the next slots are allocated in it.
    pub(crate) fn open(&mut self, block: SuperblockId, mode: CellMode) {
        self.next = Some((block, mode, 0));
    }

    /// Allocates the next slot of the open superblock.
    #[inline]
    pub(crate) fn allocate(&mut self) -> Result<Allocated, Refused> {
        let index = match self.filling {
            Some(index) => index,
            None => self.open_wordline()?,
        };
        let buf = self.ring_buffer(index);
        let line = &mut self.ring[index];
        let in_line = line.filled;
        line.filled += 1;
        let bits = line.mode.bits();
        let slots_per_wordline = self.layout.slots_per_stripe() * bits as u32;
        let ppa = Ppa::new(
            line.block,
            line.wordline as u32 * slots_per_wordline + in_line,
        );
        let mut due = Due {
            wordline: line.wordline,
            line: index as u8,
            die: None,
            parity: None,
        };
        // In either stripe order, the last slot of a die is the last slot of the last page of its last plane.
        let last_page = in_line >= slots_per_wordline - self.layout.slots_per_stripe();
        if last_page {
            let (at, row_slot) = self.layout.row_of(ppa, line.mode);
            let last_of_die = row_slot + 1 == self.layout.slots_per_row();
            due.die = last_of_die.then_some(at.die);
        }
        if line.filled == slots_per_wordline {
            self.filling = None;
            due.parity = self.layout.parity_die(line.wordline);
        }
        Ok(Allocated {
            ppa,
            buf: buf.slot(in_line),
            due,
        })
    }

    /// Slots left in the open superblock.
    #[inline]
    pub(crate) fn slots_left(&self) -> u32 {
        let per_wordline = |mode: CellMode| self.layout.slots_per_stripe() * u32::from(mode.bits());
        let filling = self.filling.map_or(0, |index| {
            let line = &self.ring[index];
            per_wordline(line.mode) - line.filled
        });
        let next = self.next.map_or(0, |(_, mode, wordline)| {
            let left = self.layout.geometry.wordlines_per_block - wordline;
            per_wordline(mode) * u32::from(left)
        });
        filling + next
    }

    /// Whether all wordlines of the buffer wait for programs, so that a new superblock could not be filled yet.
    pub(crate) fn is_full(&self) -> bool {
        self.filling.is_none() && self.ring.iter().all(|line| line.in_use)
    }

    /// Why [`WriteBuffer::allocate`] would be refused now; none if it would succeed.
    pub(crate) fn refuses(&self) -> Option<Refused> {
        if self.filling.is_some() {
            return None;
        }
        let full = self.ring.iter().all(|l| l.in_use);
        match self.next {
            None => Some(Refused::NeedsBlock),
            Some(_) => full.then_some(Refused::Full),
        }
    }

    /// Whether the next slot begins a wordline, for which the buffer has a place.
    pub(crate) fn begins_line(&self) -> bool {
        self.filling.is_none() && self.next.is_some() && self.ring.iter().any(|l| !l.in_use)
    }

    /// The wordline that is begun next has its slot buffers in `line`.
    pub(crate) fn lend(&mut self, line: Buf) {
        if let Some(next) = self.ring.iter_mut().find(|l| !l.in_use) {
            next.line = line;
        }
    }

    /// The lines in use.
    pub(crate) fn lines_in_use(&self) -> impl Iterator<Item = Buf> {
        self.ring.iter().filter(|l| l.in_use).map(|l| l.line)
    }

    fn open_wordline(&mut self) -> Result<usize, Refused> {
        let (block, mode, wordline) = self.next.ok_or(Refused::NeedsBlock)?;
        let free = self.ring.iter().position(|l| !l.in_use);
        let index = free.ok_or(Refused::Full)?;
        let line = &mut self.ring[index];
        line.block = block;
        line.wordline = wordline;
        line.mode = mode;
        line.filled = 0;
        line.dies_done = 0;
        line.die_done.fill(false);
        line.in_use = true;
        self.begun += 1;
        line.number = self.begun;
        self.filling = Some(index);
        let last = wordline + 1 == self.layout.geometry.wordlines_per_block;
        self.next = (!last).then_some((block, mode, wordline + 1));
        Ok(index)
    }

    /// The buffer of `ppa`, if it is not programmed yet.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        self.ring.iter().enumerate().find_map(|(index, l)| {
            if !l.in_use || l.block != ppa.block() {
                return None;
            }
            let slots = self.layout.slots_per_stripe() * l.mode.bits() as u32;
            let (wordline, in_line) = (ppa.slot() / slots, ppa.slot() % slots);
            if l.wordline as u32 != wordline || in_line >= l.filled {
                return None;
            }
            let die = self.layout.row_of(ppa, l.mode).0.die;
            (!l.die_done[die.0 as usize]).then(|| self.ring_buffer(index).slot(in_line))
        })
    }

    /// The buffer of the slot at `ppa`, if it may still be changed: its wordline is being filled, and the
    /// part of its die is not complete.
    pub(crate) fn open_slot(&self, ppa: Ppa) -> Option<Buf> {
        let index = self.filling?;
        let line = &self.ring[index];
        let slots = self.layout.slots_per_stripe() * line.mode.bits() as u32;
        let (wordline, in_line) = (ppa.slot() / slots, ppa.slot() % slots);
        if (line.block, line.wordline as u32) != (ppa.block(), wordline) || in_line >= line.filled {
            return None;
        }
        let last = PageAddr {
            page: PageType(line.mode.bits() - 1),
            ..self.layout.row_of(ppa, line.mode).0
        };
        let last = self
            .layout
            .slot_at(last, self.layout.slots_per_row() - 1, line.mode);
        let is_open = last.slot() % slots >= line.filled;
        is_open.then(|| self.ring_buffer(index).slot(in_line))
    }

    /// `die` has finished with its part of ring line `line`. Returns true if it was the last die, so that the
    /// wordline's buffers are free.
    #[inline]
    pub(crate) fn done(&mut self, die: DieId, line: u8) -> bool {
        let line = &mut self.ring[line as usize];
        debug_assert!(!line.die_done[die.0 as usize], "a part is done once");
        line.die_done[die.0 as usize] = true;
        line.dies_done += 1;
        if line.dies_done == self.layout.dies() {
            line.in_use = false;
        }
        !line.in_use
    }

    /// Stops filling `block`, whose program failed. Returns the ring line that was being filled, if it
    /// belongs to `block`.
    pub(crate) fn abandon(&mut self, block: SuperblockId) -> Option<u8> {
        if self.next.is_some_and(|(b, ..)| b == block) {
            self.next = None;
        }
        let index = self.filling.filter(|&i| self.ring[i].block == block)?;
        self.filling = None;
        Some(index as u8)
    }

    /// Begins no further wordline of `block`. The one that is being filled stays.
    pub(crate) fn end_after_line(&mut self, block: SuperblockId) {
        self.next = self.next.filter(|(b, ..)| *b != block);
    }

    /// Whether the part of `die` of ring line `line` is incomplete. Parity is complete when all other dies
    /// are.
    pub(crate) fn is_incomplete(&self, die: DieId, line: u8) -> bool {
        let line = &self.ring[line as usize];
        match self.part(line, die).max() {
            Some(last) => last >= line.filled,
            None => line.filled < self.layout.slots_per_stripe() * line.mode.bits() as u32,
        }
    }

    /// Whether the buffer holds `wordline` of `block`: some die has not programmed its part yet.
    pub(crate) fn holds_line(&self, block: SuperblockId, wordline: u16) -> bool {
        let here = |l: &OpenWordline| l.in_use && (l.block, l.wordline) == (block, wordline);
        self.ring.iter().any(here)
    }

    /// Wordlines begun so far, which is also the number of the last one.
    pub(crate) fn lines_begun(&self) -> u64 {
        self.begun
    }

    /// The number of the oldest wordline that some die has not programmed yet.
    pub(crate) fn oldest_line(&self) -> Option<u64> {
        let lines = self.ring.iter().filter(|l| l.in_use);
        lines.map(|l| l.number).min()
    }

    /// Whether a wordline is being filled.
    pub(crate) fn fills_line(&self) -> bool {
        self.filling.is_some()
    }

    /// Whether the buffer holds no wordline but the one being filled.
    pub(crate) fn only_fills(&self) -> bool {
        self.filling.is_some() && self.lines() == 1
    }

    /// Number of wordlines in the buffer.
    pub(crate) fn lines(&self) -> usize {
        self.ring.iter().filter(|l| l.in_use).count()
    }

    /// The slot in buffer `i`, if it holds one that is not programmed yet.
    pub(crate) fn held_at(&self, i: u32) -> Option<(Ppa, Buf)> {
        let (index, in_line) = (i / self.stride, i % self.stride);
        let l = &self.ring[index as usize];
        if !l.in_use || in_line >= l.filled {
            return None;
        }
        let slots = self.layout.slots_per_stripe() * u32::from(l.mode.bits());
        let ppa = Ppa::new(l.block, u32::from(l.wordline) * slots + in_line);
        let die = self.layout.row_of(ppa, l.mode).0.die;
        (!l.die_done[die.0 as usize]).then(|| (ppa, l.line.slot(in_line)))
    }

    /// Number of slots that it can hold.
    pub(crate) fn len(&self) -> u32 {
        self.stride * WORDLINES as u32
    }

    /// Number of wordlines of `block` that were begun, if `block` is being filled.
    pub(crate) fn begun(&self, block: SuperblockId) -> Option<u16> {
        let next = self.next.filter(|(b, ..)| *b == block);
        next.map(|(.., wordline)| wordline)
    }

    /// The filled slots of the part of `die` of ring line `line`, with their buffers, in ascending order.
    pub(crate) fn filled_of(&self, die: DieId, line: u8) -> impl Iterator<Item = (Ppa, Buf)> {
        let buf = self.ring_buffer(line as usize);
        let line = &self.ring[line as usize];
        let per_wordline = self.layout.slots_per_stripe() * u32::from(line.mode.bits());
        let first = u32::from(line.wordline) * per_wordline;
        self.part(line, die)
            .filter(|&in_line| in_line < line.filled)
            .map(move |in_line| (Ppa::new(line.block, first + in_line), buf.slot(in_line)))
    }

    /// The superblock of ring line `line`.
    pub(crate) fn block_of(&self, line: u8) -> SuperblockId {
        self.ring[line as usize].block
    }

    /// Indices of the slots of `line` that lie on `die`, within the wordline, in ascending order. None if the
    /// die holds parity.
    fn part(&self, line: &OpenWordline, die: DieId) -> impl Iterator<Item = u32> {
        let g = self.layout;
        let (mode, block, wordline) = (line.mode, line.block, line.wordline);
        let first = wordline as u32 * g.slots_per_stripe() * mode.bits() as u32;
        let rows = match g.parity_die(wordline) == Some(die) {
            true => 0,
            false => mode.bits() as u32 * g.slots_per_row(),
        };
        (0..rows).map(move |i| {
            let (page, row_slot) = (i / g.slots_per_row(), i % g.slots_per_row());
            let page = PageType(page as u8);
            let at = PageAddr {
                die,
                block,
                wordline,
                page,
            };
            g.slot_at(at, row_slot, mode).slot() - first
        })
    }

    /// Superblocks of the wordlines in the buffer.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = SuperblockId> {
        self.ring.iter().filter(|l| l.in_use).map(|l| l.block)
    }

    /// Whether the wordline being filled belongs to `block`.
    pub(crate) fn fills_line_of(&self, block: SuperblockId) -> bool {
        self.filling.is_some_and(|i| self.ring[i].block == block)
    }

    /// Whether more slots of `block` will be filled.
    pub(crate) fn fills(&self, block: SuperblockId) -> bool {
        self.next.is_some_and(|(b, ..)| b == block)
    }

    /// Whether the buffer holds a wordline of `block`.
    pub(crate) fn is_busy_with(&self, block: SuperblockId) -> bool {
        self.ring.iter().any(|l| l.in_use && l.block == block)
    }

    /// Buffer of the first slot of ring line `line` over all dies.
    pub(crate) fn ring_buffer(&self, line: usize) -> Buf {
        self.ring[line].line
    }
}
