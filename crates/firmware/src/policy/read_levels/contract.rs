//! The contract of schemes of axis `read_levels`.

use firstread_core::voltage::BlockGroups;
use firstread_core::{DieId, Levels, Ns, SuperblockId};

use crate::log::Record;
use crate::observe::{Outcome, Probe, ProbeResult, ReadCtx, SuperblockTable};
use crate::voltage::tables::TableBytes;

/// Memory that the scheme uses, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Active, shadow and staging tables of all groups.
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
    /// Whether `on_read` changes what later reads try: such a scheme knows more the longer a load has run.
    fn learns_from_reads(&self) -> bool {
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
    /// Background reads that may be in flight at once, from one on. Constant.
    fn most_probes(&self) -> u16 {
        1
    }
    /// Whether a background read gives way: a host read that waits for its die ends it, as long as its data do not
    /// cross the channel. Then `given_up` is called instead of `on_probe`. Constant.
    fn probes_give_way(&self) -> bool {
        false
    }
    /// The background read to be done now, if any. It may postpone `due` instead. A scheme that has several in flight
    /// asks for none on a die that is not `free`: another background read is in flight on its channel.
    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        is_free: &impl Fn(DieId) -> bool,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        let _ = (now, blocks, is_free, log);
        None
    }
    /// The background read `probe` has ended without a result. Its turn is spent.
    fn given_up(&mut self, probe: &Probe) {
        let _ = probe;
    }
    /// The result of a background read. Where several are in flight, any of them.
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
