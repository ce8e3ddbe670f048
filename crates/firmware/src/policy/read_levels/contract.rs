//! The contract of schemes of axis `read_levels`.

use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, Levels, Ns, PageAddr, SenseMode, SpareErrors, SuperblockId};

use crate::log::Record;
use crate::observe::SuperblockTable;
use crate::voltage::tables::TableBytes;

/// What is known of the multi-plane page about to be read.
#[derive(Clone, Copy, Debug)]
pub struct ReadCtx {
    /// Current time.
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
    /// Codewords that failed.
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

/// A background read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The multi-plane page.
    pub at: PageAddr,
    /// Planes to sense, one bit each. All codewords of their pages are wanted.
    pub planes: u8,
    /// Read levels.
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
        /// Cells sensed.
        cells: u32,
    },
}

/// Memory that the scheme uses, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// The tables.
    pub tables: TableBytes,
    /// Per-superblock state: four bytes each.
    pub superblocks: usize,
    /// Buffers of the trial and of the search, and the state of the scheme.
    pub working: usize,
    /// The zone of each wordline, if a block has several zones.
    pub zones: usize,
}

impl Footprint {
    /// Total, including data that could be derived from the rest: it occupies memory too.
    pub const fn total(&self) -> usize {
        self.tables.total() + self.superblocks + self.working + self.zones
    }
}

/// The trait of the axis.
pub trait ReadLevels {
    /// Levels of attempt `step` (0 is the first); none if the scheme has nothing left to try.
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels>;

    /// Whether attempt `step` depends on the outcome of the attempt before.
    fn needs_outcome(&self, step: u8) -> bool {
        let _ = step;
        false
    }

    /// A read ended after `step` retries.
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8) {
        let _ = (ctx, step, outcome, note);
    }
    /// Power is on and the superblock table is complete. Background work may begin.
    fn start(&mut self, now: Ns, blocks: &SuperblockTable) {
        let _ = (now, blocks);
    }
    /// Power is on and the superblock table is complete, on a drive that was erased and filled again since the
    /// scheme learned. What it knows of classes of data still holds; what it knows of single superblocks is void.
    /// The clock has begun anew. Called in place of `start`; without a method of its own a scheme begins as it
    /// does on a new drive.
    fn start_again(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.start(now, blocks);
    }
    /// Whether the scheme learns in the background what `start_again` keeps.
    fn outlives_erase(&self) -> bool {
        false
    }
    /// Power is back after a time that the firmware's clock has not counted. The scheme's data were kept; the
    /// cells have aged.
    fn power_on(&mut self, now: Ns, blocks: &SuperblockTable) {
        let _ = (now, blocks);
    }
    /// `block` was opened and begins to hold data, or was erased.
    fn on_block(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable) {
        let _ = (now, block, blocks);
    }
    /// When background work is due next; [`Ns::MAX`] for never. Only `start`, `power_on`, `on_block`, `probe`
    /// and `on_probe` may change it.
    fn due(&self) -> Ns {
        Ns::MAX
    }
    /// The background read to be done now, if any. It may postpone `due` instead.
    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        let _ = (now, blocks, log);
        None
    }
    /// The result of the last background read.
    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
        log: &mut impl FnMut(Record),
    ) {
        let _ = (now, probe, result, blocks, log);
    }
    /// Share of the cells of a wordline that the scheme programs with known states, in millionths. They are
    /// divided among the states next to the sentinel valleys. Constant.
    fn spare_ppm(&self) -> u32 {
        0
    }
    /// The block groups for which the scheme keeps levels, if any: `Ideal(Group)` refers to them.
    fn groups(&self) -> Option<&BlockGroups> {
        None
    }
    /// Memory use, for schemes whose paper reports it.
    fn footprint(&self) -> Option<Footprint> {
        None
    }
}
