//! `frozen`: entries chosen from the factory table at start-up and never calibrated.
//!
//! This is the baseline of the CT-QLC paper: CT-QLC without calibration. It has the same groups, tables and
//! population, and nothing after them. A group that superblocks enter later inherits the entries of the group
//! they left. So reads try what start-up chose, however old the data have become.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::voltage::BlockGroups;
use firstread_core::{BlockId, Levels, Ns};

use super::{Outcome, Probe, ProbeResult, ReadCtx, ReadLevels};
use crate::log::Record;
use crate::observe::BlockMonitor;
use crate::policy::Setup;
use crate::voltage::keeper::Keeper;
use crate::voltage::options::{FROZEN, keeper};
use crate::voltage::selector::Selector;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "frozen",
    summary: "three entries a group chosen from the factory table at start-up, never calibrated",
    source: "CT-QLC without voltage calibration (no-cal), the baseline of its Figs 3 and 12 to 14",
    role: Role::Scheme,
    needs: &[],
    params: FROZEN,
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct Frozen {
    keeper: Keeper,
}

impl Frozen {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Frozen {
        Frozen {
            keeper: keeper(setup, values, false, 1),
        }
    }
    /// Groups and tables of the scheme.
    pub fn selector(&self) -> &Selector {
        &self.keeper.selector
    }
}

impl ReadLevels for Frozen {
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        self.keeper.levels(ctx, step)
    }
    fn start(&mut self, now: Ns, blocks: &BlockMonitor) {
        self.keeper.start(now, blocks);
    }
    fn on_block(&mut self, now: Ns, block: BlockId, blocks: &BlockMonitor) {
        self.keeper.on_block(now, block, blocks);
    }
    fn due(&self) -> Ns {
        self.keeper.due()
    }
    fn probe(
        &mut self,
        now: Ns,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        self.keeper.settle(now, blocks, log);
        self.keeper.population_probe(blocks)
    }
    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) {
        self.keeper
            .population_result(now, probe, result, blocks, log);
    }
    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.keeper.selector.groups)
    }
}
