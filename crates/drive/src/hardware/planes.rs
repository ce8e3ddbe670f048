//! Dies whose planes read independently.
//!
//! Such a die has a **lane** for each plane, with a phase, a timer and a log of its own: a read runs on
//! the lane of its lowest plane and keeps those of its other planes. Programs, erases and what suspends
//! them run on the die as a whole, while every lane is idle. The channel and its decoder stay one for
//! all. A lane has the index behind the dies, as a die of its own.

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{DieId, FlashEvent, FlashKind, FlashOp, Ns};

use super::charge::Cause;
use super::{Die, DiePhase, Hardware};

/// The lanes of the dies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    dies: u16,
    /// Lanes of a die; none where planes do not read independently.
    planes: u16,
    per_page: u32,
}

impl Lanes {
    /// For `dies` dies of `planes` planes, with so many codewords a page.
    pub(super) const fn new(independent: bool, dies: u16, planes: u8, per_page: u32) -> Lanes {
        Lanes {
            dies,
            planes: if independent { planes as u16 } else { 0 },
            per_page,
        }
    }

    /// Whether there are any.
    #[inline]
    pub(super) const fn are_used(&self) -> bool {
        self.planes > 0
    }

    /// Dies and lanes.
    pub(super) const fn count(&self) -> usize {
        self.dies as usize * (1 + self.planes as usize)
    }

    /// The planes that `op` takes.
    fn planes_of(&self, op: &FlashOp) -> u8 {
        match op.kind {
            FlashKind::Read { wanted, .. } => planes_of(wanted, self.per_page),
            _ => ALL_PLANES,
        }
    }

    /// The lanes of `planes` of `die`.
    fn of(self, die: DieId, planes: u8) -> impl Iterator<Item = usize> {
        let first = (self.dies + die.0 * self.planes) as usize;
        let all = 0..self.planes as usize;
        all.filter(move |plane| planes >> plane & 1 != 0)
            .map(move |plane| first + plane)
    }
}

impl Hardware {
    /// Takes the lanes that `op` runs on, all of which must be idle. Returns the index of the die or
    /// of the lane of the lowest plane, which is taken by the caller.
    #[cold]
    pub(super) fn take_lanes(&mut self, op: &FlashOp) -> u16 {
        let (lanes, die) = (self.lanes, op.die);
        let planes = lanes.planes_of(op);
        let idle = |state: &Die| {
            assert_eq!(
                state.phase,
                DiePhase::Idle,
                "operation issued to a busy die or plane: {op:?}"
            );
        };
        idle(&self.dies[die.0 as usize]);
        let mut of = lanes.of(die, planes);
        if planes == ALL_PLANES {
            of.for_each(|lane| idle(&self.dies[lane]));
            return die.0;
        }
        let Some(first) = of.next() else {
            unreachable!("a read wants codewords")
        };
        for lane in of {
            idle(&self.dies[lane]);
            self.dies[lane].phase = DiePhase::Array(op.tag.0);
            // It has waited for the plane that was busy to the last.
            if self.dies[lane].log.last_end() > self.dies[first].log.last_end() {
                self.dies[first].log = self.dies[lane].log;
            }
        }
        first as u16
    }

    /// Whether no plane of `die` reads by itself.
    pub(super) fn lanes_are_idle(&self, die: DieId) -> bool {
        let mut lanes = self.lanes.of(die, ALL_PLANES);
        lanes.all(|lane| self.dies[lane].phase == DiePhase::Idle)
    }

    /// The operation under `tag` has left its planes at `now`. The die takes note of it afterwards: a
    /// read of planes began when its lane did.
    #[cold]
    pub(super) fn free_lanes(&mut self, now: Ns, tag: u32) {
        let (op, lane) = (self.ops[tag as usize].op, self.ops[tag as usize].lane);
        let since = self.dies[lane as usize].since;
        self.leave_lanes(&op, since, now, Cause::busy_with(op.class));
        self.dies[op.die.0 as usize].since = since;
    }

    /// The planes of `op`, which had them `since`, are idle at `now`.
    #[cold]
    pub(super) fn leave_lanes(&mut self, op: &FlashOp, since: Ns, now: Ns, cause: Cause) {
        for lane in self.lanes.of(op.die, self.lanes.planes_of(op)) {
            let state = &mut self.dies[lane];
            state.phase = DiePhase::Idle;
            state.log.push(since, now, cause);
        }
    }

    /// All planes of `die` were busy from `since` to `now`, and are so still.
    #[cold]
    pub(super) fn log_lanes(&mut self, die: DieId, since: Ns, now: Ns, cause: Cause) {
        for lane in self.lanes.of(die, ALL_PLANES) {
            self.dies[lane].log.push(since, now, cause);
        }
    }

    /// What the firmware hears when the read under `tag` has left its planes.
    #[cold]
    pub(super) fn planes_free(&self, tag: u32) -> FlashEvent {
        let op = &self.ops[tag as usize].op;
        FlashEvent::ArrayFree {
            tag: op.tag,
            die: op.die,
            planes: self.lanes.planes_of(op),
        }
    }
}
