//! What is known of the read of a page before it starts, and what its sense and decoding told.

use firstread_core::{CellMode, Geometry, Levels, Ns, PageAddr, SenseMode, SpareErrors};

use crate::format::{Blank, Cursor, Record, record};

/// What is known of the multi-plane page about to be read.
#[derive(Clone, Copy, Debug)]
pub struct ReadCtx {
    /// Simulated time at which this is known, in nanoseconds.
    pub now: Ns,
    /// Address of the page.
    pub at: PageAddr,
    /// Cell mode of the superblock.
    pub mode: CellMode,
    /// P/E cycles of the superblock.
    pub pe_cycles: u32,
    /// Time since the data were programmed.
    pub age: Ns,
}

/// Result of a sense and its decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Codewords that were wanted: bit `plane * codewords_per_page + codeword`.
    pub wanted: u64,
    /// Codewords of `wanted` that the decoder could not correct.
    pub failed: u64,
    /// Largest number of bits corrected in one codeword.
    pub max_errors: u16,
    /// Bits corrected over all codewords.
    pub sum_errors: u32,
    /// Parity checks left unsatisfied by the hard decisions, per failed codeword: the fewer, the closer the
    /// levels are to the best ones. Zero if the decoder does not report it.
    pub unsatisfied: u16,
    /// Errors of the spare cells on planes with a failed codeword.
    pub spare: SpareErrors,
}

/// A read that no command waits for: a scheme of the read levels asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The multi-plane page to be sensed.
    pub at: PageAddr,
    /// Planes to sense, one bit each. All codewords of their pages are wanted.
    pub planes: u8,
    /// Read levels of the sense, on all of these planes.
    pub levels: Levels,
    /// `Hard`, or a ones-count.
    pub mode: SenseMode,
}

/// Result of a background read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// Result of a hard read.
    Decoded(Outcome),
    /// Result of a ones-count over all planes sensed.
    Ones {
        /// Cells that conduct at the level.
        count: u32,
        /// Cells that were sensed, on all planes.
        cells: u32,
    },
}

impl Probe {
    /// Whether a drive of `geometry` has such a page in a superblock in `mode`.
    pub fn lies_within(&self, geometry: &Geometry, mode: CellMode) -> bool {
        let at = self.at;
        let valley = match self.mode {
            SenseMode::OnesCount { valley } => valley,
            _ => 1,
        };
        at.block.0 < geometry.blocks_per_plane
            && u32::from(at.die.0) < geometry.dies() as u32
            && at.wordline < geometry.wordlines_per_block
            && at.page.0 < mode.bits()
            && self.planes != 0
            && u32::from(self.planes) >> geometry.planes == 0
            && (1..=mode.valleys()).contains(&usize::from(valley))
    }
}

/// Background reads are at offsets; neither an oracle nor the chip's own search asks for them.
impl Record for Levels {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        match self {
            Levels::Offsets(offsets) => offsets.transfer(cursor),
            Levels::Ideal(_) | Levels::OnDie(_) => cursor.fault(),
        }
    }
}

impl Blank for Levels {
    const BLANK: Levels = Levels::DEFAULT;
}

/// Background reads are hard, or count ones.
impl Record for SenseMode {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let mut counted = match *self {
            SenseMode::Hard => 0,
            SenseMode::OnesCount { valley } => valley,
            SenseMode::Soft3 | SenseMode::Soft5 => return cursor.fault(),
        };
        counted.transfer(cursor);
        *self = match counted {
            0 => SenseMode::Hard,
            valley => SenseMode::OnesCount { valley },
        };
    }
}

impl Blank for SenseMode {
    const BLANK: SenseMode = SenseMode::Hard;
}

record! {
    of values Probe as "background read" {
        at: "multi-plane page",
        planes: "planes to sense, one bit each",
        levels ["dac"]: "offsets from the factory default",
        mode: "0 for a hard read; else the valley at whose level the cells that conduct are counted",
    }
}
