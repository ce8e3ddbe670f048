//! The schemes of a read, an instance for each cell mode that superblocks may have: levels, what was learned of
//! retries, groups and calibration of one mode say nothing about another.
//!
//! The instance of another mode than the drive's starts when the first superblock in that mode begins to hold data.
//! Until then it has no background work.

use alloc::boxed::Box;

use firstread_core::{CellMode, Ns, SuperblockId};

use crate::observe::{Probe, SuperblockTable};
use crate::policy::read_levels::{AnyReadLevels, ReadLevels};

/// A background read, and the cell mode whose instance has asked for it.
pub(super) type Asked = (CellMode, Probe);

/// An instance of a scheme for each cell mode.
#[derive(Clone, Debug)]
pub(crate) struct ByMode<S> {
    /// The mode in which superblocks start.
    mode: CellMode,
    /// The instance of that mode. Reads in a mode without an instance go by it.
    own: S,
    others: Box<[Other<S>]>,
}

#[derive(Clone, Debug)]
struct Other<S> {
    mode: CellMode,
    scheme: S,
    has_started: bool,
}

impl<S> ByMode<S> {
    pub(super) fn new(
        mode: CellMode,
        own: S,
        others: impl Iterator<Item = (CellMode, S)>,
    ) -> ByMode<S> {
        let other = |(mode, scheme)| Other {
            mode,
            scheme,
            has_started: false,
        };
        ByMode {
            mode,
            own,
            others: others.map(other).collect(),
        }
    }

    /// The instance of the mode in which superblocks start.
    pub(super) fn own(&self) -> &S {
        &self.own
    }

    /// Whether reads of superblocks in `mode` have an instance of their own.
    pub(super) fn has(&self, mode: CellMode) -> bool {
        mode == self.mode || self.others.iter().any(|other| other.mode == mode)
    }

    /// The instance of each mode, the drive's own first.
    pub(super) fn each(&self) -> impl Iterator<Item = (CellMode, &S)> {
        let others = self.others.iter().map(|other| (other.mode, &other.scheme));
        core::iter::once((self.mode, &self.own)).chain(others)
    }

    /// The instance for superblocks in `mode`.
    #[inline(always)] // It is one comparison on the path of every read.
    pub(super) fn of(&mut self, mode: CellMode) -> &mut S {
        if mode == self.mode {
            return &mut self.own;
        }
        self.of_other(mode)
    }

    #[inline(never)]
    fn of_other(&mut self, mode: CellMode) -> &mut S {
        let other = self.others.iter_mut().find(|other| other.mode == mode);
        other.map_or(&mut self.own, |other| &mut other.scheme)
    }
}

impl ByMode<AnyReadLevels> {
    /// Power is on and the drive is filled.
    pub(super) fn start(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.own.start(now, blocks);
        for other in &mut self.others {
            other.start_if_used(now, blocks);
        }
    }

    /// Power is on, on a drive that was erased and filled again. An instance whose mode no superblock has any more
    /// stops.
    pub(super) fn start_again(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.own.start_again(now, blocks);
        for other in &mut self.others {
            let has_started = core::mem::take(&mut other.has_started);
            if has_started && other.is_used(blocks) {
                other.has_started = true;
                other.scheme.start_again(now, blocks);
            } else {
                other.start_if_used(now, blocks);
            }
        }
    }

    /// Power is back after a time that the firmware's clock has not counted.
    pub(super) fn power_on(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.own.power_on(now, blocks);
        for other in self.started() {
            other.scheme.power_on(now, blocks);
        }
    }

    /// `block` has begun to hold data, or no longer holds any. It may have left the mode that it had before.
    /// Before `start` no instance starts (`is_on`).
    pub(super) fn on_block(
        &mut self,
        now: Ns,
        block: SuperblockId,
        blocks: &SuperblockTable,
        is_on: bool,
    ) {
        self.own.on_block(now, block, blocks);
        let mode = blocks.info(block).mode;
        for other in &mut self.others {
            if other.has_started {
                other.scheme.on_block(now, block, blocks);
            } else if is_on && mode == other.mode {
                other.start_if_used(now, blocks);
            }
        }
    }

    /// When background work of any mode is due next.
    pub(super) fn due(&self) -> Ns {
        let others = self.others.iter().filter(|other| other.has_started);
        others.fold(self.own.due(), |due, other| due.min(other.scheme.due()))
    }

    /// The mode whose background work comes next: of those that are due, the drive's own first.
    pub(super) fn next_due(&self, now: Ns) -> Option<CellMode> {
        if self.own.due() <= now {
            return Some(self.mode);
        }
        let due = |other: &&Other<AnyReadLevels>| other.has_started && other.scheme.due() <= now;
        self.others.iter().find(due).map(|other| other.mode)
    }

    fn started(&mut self) -> impl Iterator<Item = &mut Other<AnyReadLevels>> {
        self.others.iter_mut().filter(|other| other.has_started)
    }
}

impl Other<AnyReadLevels> {
    /// Starts the instance if a superblock in its mode holds data.
    fn start_if_used(&mut self, now: Ns, blocks: &SuperblockTable) {
        if self.is_used(blocks) {
            self.has_started = true;
            self.scheme.start(now, blocks);
        }
    }

    /// Whether a superblock in this mode holds data.
    fn is_used(&self, blocks: &SuperblockTable) -> bool {
        blocks.with_data().any(|(_, info)| info.mode == self.mode)
    }
}

#[cfg(test)]
mod tests;
