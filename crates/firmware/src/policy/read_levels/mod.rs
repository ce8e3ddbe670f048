//! Axis `read_levels`: which levels a read tries, in which order, and how they are kept up to date.
//!
//! Call order of a read: for each multi-plane page read for the host or for a move, `attempt` is called with
//! step 0. It is called again with step 1, 2, ... and the outcome of the step before, until the read succeeds
//! or `attempt` returns none. Then `on_read` is called once. All these calls get the same `note`, a byte that
//! is 0 at step 0 and in which the scheme may keep something about this read. A step may be sensed
//! speculatively: then `attempt` is called without the outcome of the step before, unless `needs_outcome`
//! says otherwise, and perhaps once more than the read needs. A read may go through its steps twice, the
//! second time from step 1 on.
//!
//! Background: whenever `due() <= now` and fewer than `most_probes` background reads are in flight, `probe` may
//! return one. Its result comes back through `on_probe`, or it ends without one and `given_up` is called. Nothing here
//! allocates after `new`.

use crate::format;
use crate::log::Record;
use crate::observe::{Outcome, Probe, ProbeResult, ReadCtx, SuperblockTable};
use firstread_core::voltage::BlockGroups;
use firstread_core::{DieId, Levels, Ns, SuperblockId};

mod block_calibration;
mod contract;
mod ct_qlc;
mod factory;
mod frozen;
mod on_die;
mod optimal;
mod optimal_group;
mod params;
mod retention_model;
mod sentinel_cells;
mod similar_page;

use crate::policy::axis::axis;
pub use contract::{Footprint, ReadLevels};

axis! {
    "read_levels": "which levels a read tries, in what order, and who keeps them true";
    AnyReadLevels: ReadLevels {
        factory::Factory,
        frozen::Frozen,
        ct_qlc::CtQlc,
        similar_page::SimilarPage,
        block_calibration::BlockCalibration,
        sentinel_cells::SentinelCells,
        on_die::OnDie,
        retention_model::RetentionModel,
        optimal_group::OptimalGroup,
        optimal::Optimal,
    }
    #[inline]
    fn attempt(&mut self, ctx: &ReadCtx, step: u8, last: Option<&Outcome>, note: &mut u8) -> Option<Levels>;
    fn needs_outcome(&self, step: u8) -> bool;
    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8);
    fn start(&mut self, now: Ns, blocks: &SuperblockTable);
    fn start_again(&mut self, now: Ns, blocks: &SuperblockTable);
    fn outlives_erase(&self) -> bool;
    fn learns_from_reads(&self) -> bool;
    fn power_on(&mut self, now: Ns, blocks: &SuperblockTable);
    fn on_block(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable);
    fn due(&self) -> Ns;
    fn most_probes(&self) -> u16;
    fn probes_give_way(&self) -> bool;
    fn probe(&mut self, now: Ns, blocks: &SuperblockTable, is_free: &impl Fn(DieId) -> bool, log: &mut impl FnMut(Record)) -> Option<Probe>;
    fn given_up(&mut self, probe: &Probe);
    fn on_probe(&mut self, now: Ns, probe: &Probe, result: &ProbeResult, blocks: &SuperblockTable, log: &mut impl FnMut(Record));
    fn spare_ppm(&self) -> u32;
    fn groups(&self) -> Option<&BlockGroups>;
    fn footprint(&self) -> Option<Footprint>;
}

/// The scheme that there is: which one it is follows from the configuration.
impl format::Record for AnyReadLevels {
    fn transfer(&mut self, cursor: &mut format::Cursor<'_>) {
        use AnyReadLevels as Any;
        match self {
            Any::Frozen(s) => s.transfer(cursor),
            Any::CtQlc(s) => s.transfer(cursor),
            Any::SimilarPage(s) => s.transfer(cursor),
            Any::BlockCalibration(s) => s.transfer(cursor),
            Any::SentinelCells(s) => s.transfer(cursor),
            Any::RetentionModel(s) => s.transfer(cursor),
            // They learn nothing.
            Any::Factory(_) | Any::OnDie(_) | Any::OptimalGroup(_) | Any::Optimal(_) => {}
        }
        if !cursor.is_loading() || cursor.has_fault() {
            return;
        }
        let is_sound = match self {
            Any::Frozen(s) => s.complete(),
            Any::CtQlc(s) => s.complete(),
            Any::SimilarPage(s) => s.is_sound(),
            Any::BlockCalibration(s) => s.is_sound(),
            // Any offset will do.
            Any::SentinelCells(_) => true,
            Any::RetentionModel(s) => s.is_sound(),
            Any::Factory(_) | Any::OnDie(_) | Any::OptimalGroup(_) | Any::Optimal(_) => true,
        };
        if !is_sound {
            cursor.fault();
        }
    }
}

#[cfg(test)]
mod tests;
