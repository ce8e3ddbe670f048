//! The write buffer: wordlines of the open superblock, filled slot by slot in stripe order and
//! programmed die by die, all pages of a wordline at once.
//!
//! The buffer has power-loss protection: a write is acknowledged once it is in.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{BlockId, Buf, CellMode, DieId, Geometry, Ppa};

/// Wordlines (over all dies) the buffer holds: one filling, the others being programmed.
pub(crate) const WORDLINES: usize = 3;

/// A wordline over all dies of the open superblock.
#[derive(Debug)]
struct OpenWordline {
    block: BlockId,
    wordline: u16,
    filled: u32,
    dies_programmed: u16,
    die_done: Box<[bool]>,
    in_use: bool,
}

/// The buffer.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    geometry: Geometry,
    mode: CellMode,
    slots_per_wordline: u32,
    first: Buf,
    ring: Vec<OpenWordline>,
    /// Ring index of the wordline being filled, if one is open.
    filling: Option<usize>,
    /// Superblock and wordline to open next.
    next: Option<(BlockId, u16)>,
}

/// A slot of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    pub(crate) ppa: Ppa,
    pub(crate) buf: Buf,
    /// The die whose wordline is now complete and must be programmed.
    pub(crate) complete: Option<Program>,
}

/// A program to issue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) die: DieId,
    pub(crate) block: BlockId,
    pub(crate) wordline: u16,
}

/// Why no slot can be had now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// All wordlines of the buffer wait for programs.
    Full,
    /// No superblock is open.
    NeedsBlock,
}

impl WriteBuffer {
    /// A buffer for superblocks of `mode`, whose slot buffers begin at `first`.
    pub(crate) fn new(geometry: Geometry, mode: CellMode, first: Buf) -> WriteBuffer {
        let wordline = |_| OpenWordline {
            block: BlockId(0),
            wordline: 0,
            filled: 0,
            dies_programmed: 0,
            die_done: alloc::vec![false; geometry.dies() as usize].into_boxed_slice(),
            in_use: false,
        };
        WriteBuffer {
            geometry,
            mode,
            slots_per_wordline: geometry.slots_per_stripe() * mode.bits() as u32,
            first,
            ring: (0..WORDLINES).map(wordline).collect(),
            filling: None,
            next: None,
        }
    }

    /// Slot buffers it uses.
    pub(crate) fn buffers(geometry: &Geometry, mode: CellMode) -> u32 {
        geometry.slots_per_stripe() * mode.bits() as u32 * WORDLINES as u32
    }

    /// Slots to be filled into `block` from now on.
    pub(crate) fn open(&mut self, block: BlockId) {
        self.next = Some((block, 0));
    }

    /// Takes the next slot of the open superblock.
    pub(crate) fn allocate(&mut self) -> Result<Allocated, Refused> {
        let index = match self.filling {
            Some(index) => index,
            None => self.open_wordline()?,
        };
        let buf = self.ring_buffer(index);
        let line = &mut self.ring[index];
        let in_line = line.filled;
        line.filled += 1;
        let ppa = Ppa::new(
            line.block,
            line.wordline as u32 * self.slots_per_wordline + in_line,
        );
        let place = self.geometry.place(ppa, self.mode);
        // In either stripe order, a die's last slot is the last of its last plane's last page.
        let last_of_die = place.at.page.0 + 1 == self.mode.bits()
            && place.plane + 1 == self.geometry.planes
            && place.slot as u32 + 1 == self.geometry.slots_per_page();
        let complete = last_of_die.then_some(Program {
            die: place.at.die,
            block: line.block,
            wordline: line.wordline,
        });
        if line.filled == self.slots_per_wordline {
            self.filling = None;
        }
        Ok(Allocated {
            ppa,
            buf: buf.slot(in_line),
            complete,
        })
    }

    fn open_wordline(&mut self) -> Result<usize, Refused> {
        let (block, wordline) = self.next.ok_or(Refused::NeedsBlock)?;
        let index = self
            .ring
            .iter()
            .position(|l| !l.in_use)
            .ok_or(Refused::Full)?;
        let line = &mut self.ring[index];
        line.block = block;
        line.wordline = wordline;
        line.filled = 0;
        line.dies_programmed = 0;
        line.die_done.fill(false);
        line.in_use = true;
        self.filling = Some(index);
        let last = wordline + 1 == self.geometry.wordlines_per_block;
        self.next = (!last).then_some((block, wordline + 1));
        Ok(index)
    }

    /// The buffer that holds `ppa`, if it is not programmed yet.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        let (wordline, in_line) = (
            ppa.slot() / self.slots_per_wordline,
            ppa.slot() % self.slots_per_wordline,
        );
        let found =
            |l: &OpenWordline| l.in_use && l.block == ppa.block() && l.wordline as u32 == wordline;
        let index = self.ring.iter().position(found)?;
        let die = self.geometry.place(ppa, self.mode).at.die;
        (!self.ring[index].die_done[die.0 as usize]).then(|| self.ring_buffer(index).slot(in_line))
    }

    /// Notes that `die` has programmed its part of a wordline. True when that was the last die, so
    /// that buffers are free again.
    pub(crate) fn programmed(&mut self, die: DieId, block: BlockId, wordline: u16) -> bool {
        let found = |l: &&mut OpenWordline| l.in_use && l.block == block && l.wordline == wordline;
        let line = self
            .ring
            .iter_mut()
            .find(found)
            .expect("a program ends in a wordline of the buffer");
        line.die_done[die.0 as usize] = true;
        line.dies_programmed += 1;
        if line.dies_programmed == self.geometry.dies() {
            line.in_use = false;
        }
        !line.in_use
    }

    /// Buffer of the first slot of a wordline, over all dies.
    pub(crate) fn buffer_of(&self, block: BlockId, wordline: u16) -> Buf {
        let found = |l: &OpenWordline| l.in_use && l.block == block && l.wordline == wordline;
        self.ring_buffer(
            self.ring
                .iter()
                .position(found)
                .expect("a program's wordline is in the buffer"),
        )
    }

    fn ring_buffer(&self, index: usize) -> Buf {
        self.first.slot(index as u32 * self.slots_per_wordline)
    }
}
