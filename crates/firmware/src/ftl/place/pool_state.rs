//! What placement knows of the pool that the host writes to.

use alloc::vec::Vec;

use firstread_core::{CellMode, Ns, SuperblockId};

use crate::observe::{StreamId, StreamUse};
use crate::policy::cell_mode::{PoolSize, WritePool};

/// The pool of a drive, as it is and as it is to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolOfWrites {
    pub(super) rule: Option<WritePool>,
    /// Streams that the host writes to in the pool, and that promoted pages go to.
    pub(super) written: Option<StreamId>,
    pub(super) promoted: Option<StreamId>,
    /// What it is to have, and what it may have at most.
    pub(super) size: PoolSize,
    pub(super) most: u32,
    /// Superblocks up to which it grows, as long as so much lies in the drive's own mode.
    pub(super) grows_to: u32,
    /// Superblocks that promoted pages were copied to, and the mean wear of superblocks, when these were last looked at.
    pub(super) in_promoted: u32,
    pub(super) mean_pe: u32,
    /// Valid slots outside it at that time.
    pub(super) valid_outside: u64,
    /// P/E cycles of each superblock when it last changed its mode, or when power came on. Empty unless the pool is levelled by them.
    pub(super) pe_at_switch: Vec<u32>,
    /// Its ready queue fell below its range and has not reached the end of it yet.
    pub(super) refills: bool,
    /// The host has rested for so long that the pool is emptied, and room is missing for that.
    waits_at_rest: bool,
    pub(super) is_at_rest: bool,
    /// When the host sent its last command; none before its first one. A drive that is being filled does not rest.
    host_at: Option<Ns>,
}

/// What garbage collection goes round in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CleanedRound {
    /// Superblocks, and their slots.
    pub(crate) superblocks: u64,
    pub(crate) slots: u64,
    /// Of these slots, those that data and the reserve of cleaning take.
    pub(crate) needed: u64,
}

/// What the pool needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PoolNeeds {
    Nothing,
    /// One superblock more.
    Superblock,
    /// A free superblock fewer.
    Fewer,
    /// Its oldest superblock emptied.
    Room,
}

impl PoolOfWrites {
    /// For the streams of `place`, with the pool of the scheme if it has one.
    pub(super) fn new(rule: Option<WritePool>, of: impl Fn(StreamUse) -> Option<StreamId>) -> Self {
        let stream = |what: fn(CellMode) -> StreamUse| rule.and_then(|rule| of(what(rule.mode)));
        PoolOfWrites {
            rule,
            written: stream(StreamUse::Written),
            promoted: stream(StreamUse::Promoted),
            ..PoolOfWrites::default()
        }
    }

    /// Superblock `block`, with `pe_cycles`, changes its mode.
    pub(crate) fn switches(&mut self, block: SuperblockId, pe_cycles: u32) {
        if let Some(at) = self.pe_at_switch.get_mut(block.0 as usize) {
            *at = pe_cycles;
        }
    }

    /// P/E cycles of superblock `block` when it last changed its mode; 0 before power came on.
    pub(super) fn pe_at_switch(&self, block: SuperblockId) -> u32 {
        let at = self.pe_at_switch.get(block.0 as usize);
        at.copied().unwrap_or(0)
    }

    /// Whether room has to be made at once, because the host rests and the pool is to be emptied.
    #[inline]
    pub(crate) fn waits_at_rest(&self) -> bool {
        self.waits_at_rest
    }

    /// Whether there is one.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.rule.is_some()
    }

    /// The host has sent a command.
    #[inline]
    pub(crate) fn host_asks(&mut self, now: Ns) {
        self.host_at = Some(now);
        self.is_at_rest = false;
        self.waits_at_rest = false;
    }

    /// A superblock of it is to be emptied, and `waits` for the host or for room. While the host rests, cleaning makes room at once.
    pub(crate) fn waits(&mut self, waits: bool) {
        self.waits_at_rest = waits && self.is_at_rest;
    }

    /// The range of its ready queue. While the host rests all of a pool that is emptied then is made ready: erased ahead of the writes to
    /// come.
    #[inline]
    pub(super) fn ready(&self, rule: &WritePool) -> (u32, u32) {
        match self.is_at_rest {
            true => (self.size.written, self.size.written),
            false => rule.ready,
        }
    }

    /// Whether the host has rested for so long that the pool is emptied and made ready.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.is_at_rest
    }

    /// When it has to be looked at because the host has rested for long enough.
    #[inline]
    pub(crate) fn due(&self) -> Ns {
        let idle = self.rule.and_then(|rule| rule.idle);
        match (idle.filter(|_| !self.is_at_rest), self.host_at) {
            (Some(idle), Some(host_at)) => Ns(host_at.0.saturating_add(idle.0)),
            _ => Ns::MAX,
        }
    }

    /// The host may have rested for long enough at `now`.
    pub(crate) fn look_at_host(&mut self, now: Ns) {
        self.is_at_rest = now >= self.due() || self.is_at_rest;
    }

    /// Superblocks that it may have before garbage collection takes some: a few more than it is to have, so that it does not change with
    /// each look.
    pub(super) fn limit(&self) -> u32 {
        let size = self.wanted_size();
        self.most.min(size + size / 8 + 1)
    }

    /// The same of those that the host writes to.
    pub(super) fn limit_of_written(&self) -> u32 {
        self.size.written + self.size.written / 8 + 1
    }

    /// Superblocks that it is to have now. What writes leave to promoted pages counts as far as these have filled it: the pool grows
    /// by it only for pages that are read often.
    pub(super) fn wanted_size(&self) -> u32 {
        self.size.written + self.size.promoted.min(self.in_promoted)
    }
}
