//! What a scheme of axis `read_levels` is asked, and what it is told.

use firstread_core::voltage::BlockGroups;
use firstread_core::{BlockId, CellMode, Levels, Ns, PageAddr, SenseMode, SpareErrors};

use crate::log::Record;
use crate::observe::BlockMonitor;
use crate::voltage::tables::TableBytes;

/// What is known of the page row about to be read.
#[derive(Clone, Copy, Debug)]
pub struct ReadCtx {
    /// Now.
    pub now: Ns,
    /// Die, superblock, wordline, page type.
    pub at: PageAddr,
    /// Cell mode of the superblock.
    pub mode: CellMode,
    /// Its P/E cycles.
    pub pe_cycles: u32,
    /// Time since its data were programmed.
    pub age: Ns,
}

/// How a sense and its decode went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Codewords asked for: bit `plane * codewords_per_page + codeword`.
    pub wanted: u64,
    /// Those that failed.
    pub failed: u64,
    /// Most bits corrected in one codeword.
    pub max_errors: u16,
    /// Bits corrected in all codewords.
    pub sum_errors: u32,
    /// Parity checks that the hard decisions leave unsatisfied, a codeword that failed: the fewer, the
    /// nearer the levels. Zero where the decoder does not tell.
    pub unsatisfied: u16,
    /// What the spare cells of the planes with failed codewords show.
    pub spare: SpareErrors,
}

/// A background read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The page row.
    pub at: PageAddr,
    /// Planes to sense, a bit each; every codeword of their pages is wanted.
    pub planes: u8,
    /// Levels.
    pub levels: Levels,
    /// `Hard`, or a ones-count.
    pub mode: SenseMode,
}

/// What a probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// Of a hard read.
    Decoded(Outcome),
    /// Of a ones-count: cells that conduct, and cells sensed, over the planes.
    Ones {
        /// Cells that conduct at the level.
        count: u32,
        /// Cells sensed.
        cells: u32,
    },
}

/// Bytes of what the scheme keeps, all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// The tables.
    pub tables: TableBytes,
    /// Four bytes a superblock.
    pub superblocks: usize,
    /// Buffers of the trial and the search, and the scheme's own state.
    pub working: usize,
    /// The zone of each wordline, where a block has several.
    pub zones: usize,
}

impl Footprint {
    /// All of it, what could be derived from the rest included: it lies in memory.
    pub const fn total(&self) -> usize {
        self.tables.total() + self.superblocks + self.working + self.zones
    }
}

/// The axis.
pub trait ReadLevels {
    /// Levels of attempt `step` (0 is the first), or none when the scheme has nothing left to try.
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels>;

    /// Whether attempt `step` depends on the outcome of the one before.
    fn needs_outcome(&self, step: u8) -> bool {
        let _ = step;
        false
    }

    /// A read ended after `step` retries.
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8) {
        let _ = (ctx, step, outcome, note);
    }
    /// Power is on and the block table is true. Background work may begin.
    fn start(&mut self, now: Ns, blocks: &BlockMonitor) {
        let _ = (now, blocks);
    }
    /// Power is back after a time without it, of which the firmware's clock knows nothing. What the scheme
    /// keeps has been kept; the cells have aged.
    fn power_on(&mut self, now: Ns, blocks: &BlockMonitor) {
        let _ = (now, blocks);
    }
    /// `block` was opened and begins to hold data, or lost its data to an erase.
    fn on_block(&mut self, now: Ns, block: BlockId, blocks: &BlockMonitor) {
        let _ = (now, block, blocks);
    }
    /// When background work is next due; [`Ns::MAX`] for never. Only `start`, `power_on`, `on_block`, `probe`
    /// and `on_probe` may change it.
    fn due(&self) -> Ns {
        Ns::MAX
    }
    /// The next background read, if there is one to do now. May move `due` instead.
    fn probe(
        &mut self,
        now: Ns,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        let _ = (now, blocks, log);
        None
    }
    /// The result of the last probe.
    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) {
        let _ = (now, probe, result, blocks, log);
    }
    /// Share of the cells of a wordline that it programs with states it knows, in millionths. They
    /// are spread over the states next to the sentinel valleys. Fixed.
    fn spare_ppm(&self) -> u32 {
        0
    }
    /// The block groups it keeps levels for, if any: what `Ideal(Group)` refers to.
    fn groups(&self) -> Option<&BlockGroups> {
        None
    }
    /// Bytes of what it keeps, where its paper counts them.
    fn footprint(&self) -> Option<Footprint> {
        None
    }
}
