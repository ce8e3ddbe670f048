//! Axis `read_levels`: which levels a read tries, in what order, and who keeps them true.
//!
//! Call order. For each page row read for the host or the data mover, `attempt` is called with
//! step 0, then with step 1, 2, ... and the outcome of the step before until the read succeeds or
//! `attempt` gives up; then `on_read` once. All of them are handed the same `note`, a byte that is 0
//! at step 0: what the scheme wants to remember of this read. A step may be sensed ahead: it is asked
//! for without that outcome, unless `needs_outcome`, and perhaps once more than the read needs. A read
//! may try its steps twice, from step 1 on. Background: whenever `due() <= now` and none of the
//! axis's probes is in flight, `probe` may return one; its result comes back through `on_probe`
//! before the next. Nothing here allocates after `new`.

use crate::log::Record;
use crate::observe::BlockMonitor;
use firstread_core::voltage::BlockGroups;
use firstread_core::{BlockId, Levels, Ns};

mod block_calibration;
mod contract;
mod ct_qlc;
mod factory;
mod frozen;
mod optimal;
mod optimal_group;
mod sentinel_cells;
mod similar_page;

use crate::policy::axis::axis;
pub use contract::{Footprint, Outcome, Probe, ProbeResult, ReadCtx, ReadLevels};

axis! {
    "read_levels": "which levels a read tries, in what order, and who keeps them true";
    AnyReadLevels: ReadLevels {
        factory::Factory,
        frozen::Frozen,
        ct_qlc::CtQlc,
        similar_page::SimilarPage,
        block_calibration::BlockCalibration,
        sentinel_cells::SentinelCells,
        optimal_group::OptimalGroup,
        optimal::Optimal,
    }
    #[inline]
    fn attempt(&mut self, ctx: &ReadCtx, step: u8, last: Option<&Outcome>, note: &mut u8) -> Option<Levels>;
    fn needs_outcome(&self, step: u8) -> bool;
    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8);
    fn start(&mut self, now: Ns, blocks: &BlockMonitor);
    fn power_on(&mut self, now: Ns, blocks: &BlockMonitor);
    fn on_block(&mut self, now: Ns, block: BlockId, blocks: &BlockMonitor);
    fn due(&self) -> Ns;
    fn probe(&mut self, now: Ns, blocks: &BlockMonitor, log: &mut impl FnMut(Record)) -> Option<Probe>;
    fn on_probe(&mut self, now: Ns, probe: &Probe, result: &ProbeResult, blocks: &BlockMonitor, log: &mut impl FnMut(Record));
    fn spare_ppm(&self) -> u32;
    fn groups(&self) -> Option<&BlockGroups>;
    fn footprint(&self) -> Option<Footprint>;
}
