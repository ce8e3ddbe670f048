//! Ownership of time: the latency breakdown of an operation, and the commands that share a read.

use firstread_core::{DieId, FlashKind, Ns, OpClass};

use super::charge::{Breakdown, BreakdownId, Breakdowns, Cause, DieLog};
use super::in_flight::InFlight;
use super::state::Hardware;
use crate::commands::PageRead;

impl Hardware {
    /// The log of `die`, and all breakdowns.
    pub(crate) fn log_and_breakdowns(&mut self, die: DieId) -> (&DieLog, &mut Breakdowns) {
        (&self.dies[die.0 as usize].log, &mut self.breakdowns)
    }

    /// Charges the time of `tag` from its last mark to `until`: to `cause` on a first attempt, otherwise to
    /// the retry.
    #[inline]
    pub(super) fn charge(&mut self, until: Ns, tag: u32, cause: Cause) {
        let cause = cause.in_step(self.ops[tag as usize].op.class);
        self.breakdown_of(tag).charge(until, cause);
    }

    /// The breakdown of the operation under `tag`, which has been issued; if it is a further step, that of
    /// its read.
    #[inline]
    pub(crate) fn breakdown_of(&mut self, tag: u32) -> &mut Breakdown {
        let first = tag.checked_sub(self.jobs).unwrap_or(tag);
        let breakdown = self.ops[first as usize].breakdown;
        &mut self.breakdowns[breakdown.expect("a read that was issued has a breakdown")]
    }

    /// A retry of the read under `tag` has been decoded.
    #[inline]
    pub(super) fn count_retry(&mut self, tag: u32) {
        let first = tag.checked_sub(self.jobs).unwrap_or(tag);
        let retries = &mut self.ops[first as usize].retries;
        *retries = retries.saturating_add(1);
    }

    /// The page that is read under `tag`, the first tag of its read; none if that is no read.
    pub(crate) fn page_of(&self, tag: u32) -> Option<PageRead> {
        let state = &self.ops[tag as usize];
        let FlashKind::Read {
            page, cell_mode, ..
        } = state.op.kind
        else {
            return None;
        };
        Some(PageRead {
            die: state.op.die,
            page,
            mode: cell_mode,
            retries: state.retries,
        })
    }

    /// From now on a host command waits for the read under `tag`, and is charged with its time: that of its
    /// current step under `class`.
    pub(crate) fn join(&mut self, now: Ns, tag: u32, class: OpClass) {
        // The two tags of the read alternate. If its first step is the current one, that is under `tag`, and the
        // other is of a retry.
        let retry = match class.goes_on() {
            true => class,
            false => OpClass::HostRetry,
        };
        for (tag, class) in [(tag, class), (tag + self.jobs, retry)] {
            if let Some(step) = self.ops.get_mut(tag as usize)
                && step.op.class == OpClass::ReadAhead
            {
                step.op.class = class;
            }
        }
        self.ops[tag as usize].open(&mut self.breakdowns, now);
        if let Some(recorder) = &mut self.recorder {
            recorder.read_begins(tag, now);
        }
    }

    /// A command waits under `waiter` for the read under `read`, as other commands do, from now on or from
    /// the `start` of the read. `queued` is the time since which the read waits for its die; none if it has
    /// been issued. Until [`Hardware::shared`], the breakdown of `waiter` holds the part of the read's time
    /// that does not belong to the command.
    pub(crate) fn share(
        &mut self,
        now: Ns,
        waiter: u32,
        read: u32,
        queued: Option<Ns>,
        start: bool,
    ) {
        let mut before = match queued {
            Some(queued) => Breakdown::from(queued),
            None => *self.breakdown_of(read),
        };
        if start {
            before = Breakdown::from(before.first_queued);
        } else {
            before.first_queued = now;
        }
        let breakdown = self.ops[waiter as usize].open(&mut self.breakdowns, now);
        self.breakdowns[breakdown] = before;
        if let Some(recorder) = &mut self.recorder {
            recorder.read_begins(waiter, before.first_queued);
        }
    }

    /// The codewords for which `waiter` waits have arrived with the read under `read`: the read's time since
    /// the wait began is charged to `waiter`.
    pub(crate) fn shared(&mut self, waiter: u32, read: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.read_shared(waiter, read);
        }
        let InFlight { op, retries, .. } = self.ops[read as usize];
        let of_waiter = &mut self.ops[waiter as usize];
        (of_waiter.op.die, of_waiter.op.kind) = (op.die, op.kind);
        of_waiter.retries = retries;
        let read = *self.breakdown_of(read);
        self.breakdown_of(waiter).became(&read);
    }

    /// A command has last waited for the read under `tag`: the breakdown of the read becomes the command's.
    /// If several commands have waited for it, each has a breakdown of its own.
    pub(crate) fn hand_over(&mut self, tag: u32) -> BreakdownId {
        let state = &mut self.ops[tag as usize];
        let breakdown = state
            .breakdown
            .expect("a read that was issued has a breakdown");
        if std::mem::replace(&mut state.handed_over, true) {
            let same = self.breakdowns[breakdown];
            let copy = self.breakdowns.open(same.mark);
            self.breakdowns[copy] = same;
            return copy;
        }
        breakdown
    }
}

impl InFlight {
    /// Opens a breakdown for it that starts at `from`.
    #[inline]
    pub(super) fn open(&mut self, breakdowns: &mut Breakdowns, from: Ns) -> BreakdownId {
        self.retries = 0;
        match self.breakdown {
            Some(id) if !self.handed_over => {
                breakdowns[id].restart(from);
                id
            }
            _ => {
                self.handed_over = false;
                *self.breakdown.insert(breakdowns.open(from))
            }
        }
    }

    /// No command waits for it, so its time goes to a breakdown that all such reads share and nobody reads.
    #[inline]
    pub(super) fn open_for_nobody(&mut self, breakdowns: &mut Breakdowns) {
        if let Some(own) = self.breakdown.replace(BreakdownId::NOBODYS)
            && !self.handed_over
        {
            breakdowns.close(own);
        }
        self.handed_over = true;
    }
}
