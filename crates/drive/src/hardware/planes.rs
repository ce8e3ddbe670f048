//! Dies whose planes read independently.
//!
//! Such a die has a **lane** for each plane, with a state, a timer and a log of its own. A read runs on the
//! lane of its lowest plane and also occupies the lanes of its other planes. Programs, erases and suspends
//! run on the whole die, while every lane is idle. All lanes share the channel and its decoder. Lanes have
//! the indices after the dies, as if they were dies.

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{DieId, FlashEvent, FlashKind, FlashOp, Ns};

use super::charge::Cause;
use super::{Die, DiePhase, Hardware};

/// The lanes of the dies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    dies: u16,
    /// Lanes per die; zero if planes do not read independently.
    planes: u16,
    per_page: u32,
}

impl Lanes {
    /// For `dies` dies of `planes` planes, with `per_page` codewords per page.
    pub(super) const fn new(independent: bool, dies: u16, planes: u8, per_page: u32) -> Lanes {
        Lanes {
            dies,
            planes: if independent { planes as u16 } else { 0 },
            per_page,
        }
    }

    /// Whether there are any lanes.
    #[inline]
    pub(super) const fn are_used(&self) -> bool {
        self.planes > 0
    }

    /// Number of dies and lanes.
    pub(super) const fn count(&self) -> usize {
        self.dies as usize * (1 + self.planes as usize)
    }

    /// The planes that `op` occupies.
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
    /// Occupies the lanes that `op` needs, which must be idle, except for the lane of the lowest plane. Returns
    /// the index of that lane, or of the die if `op` takes all planes: the caller occupies it.
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
            // The operation has waited for the plane that was busy longest.
            if self.dies[lane].log.last_end() > self.dies[first].log.last_end() {
                self.dies[first].log = self.dies[lane].log;
            }
        }
        first as u16
    }

    /// Whether no plane of `die` is reading independently.
    pub(super) fn lanes_are_idle(&self, die: DieId) -> bool {
        let mut lanes = self.lanes.of(die, ALL_PLANES);
        lanes.all(|lane| self.dies[lane].phase == DiePhase::Idle)
    }

    /// The operation under `tag` has freed its planes at `now`. The log of the die records it only now: a
    /// read of single planes began when its lane did.
    #[cold]
    pub(super) fn free_lanes(&mut self, now: Ns, tag: u32) {
        let (op, lane) = (self.ops[tag as usize].op, self.ops[tag as usize].lane);
        let since = self.dies[lane as usize].since;
        self.leave_lanes(&op, since, now, Cause::busy_with(op.class));
        self.dies[op.die.0 as usize].since = since;
    }

    /// The planes of `op`, occupied since `since`, are idle at `now`.
    #[cold]
    pub(super) fn leave_lanes(&mut self, op: &FlashOp, since: Ns, now: Ns, cause: Cause) {
        for lane in self.lanes.of(op.die, self.lanes.planes_of(op)) {
            let state = &mut self.dies[lane];
            state.phase = DiePhase::Idle;
            state.log.push(since, now, cause);
        }
    }

    /// All planes of `die` were busy from `since` to `now`, and still are.
    #[cold]
    pub(super) fn log_lanes(&mut self, die: DieId, since: Ns, now: Ns, cause: Cause) {
        for lane in self.lanes.of(die, ALL_PLANES) {
            self.dies[lane].log.push(since, now, cause);
        }
    }

    /// The events that the firmware gets when the read under `tag` has freed its planes.
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
