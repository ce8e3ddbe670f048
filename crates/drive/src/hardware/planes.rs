//! Dies whose planes read independently.
//!
//! Such a die has a **lane** for each plane, with a state, a timer and a log of its own. A read runs on the
//! lane of its lowest plane and also occupies the lanes of its other planes. Programs, erases and suspends
//! run on the whole die, while every lane is idle. All lanes share the channel and its decoder. Lanes have
//! the indices after the dies, as if they were dies.

use firstread_core::flash::ALL_PLANES;
use firstread_core::{DieId, FlashEvent, FlashOp, Ns};

use super::charge::Cause;
use super::die::{Die, DiePhase};
use super::state::Hardware;

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
