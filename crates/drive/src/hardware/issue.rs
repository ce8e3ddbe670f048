//! Issue of operations: where they run, and which of their times are known at that point.

use firstread_core::{DieId, FlashKind, FlashOp, Ns, Tag};

use super::charge::{BreakdownId, Cause};
use super::die::DiePhase;
use super::state::Hardware;
use crate::hardware::timers::Timers;

impl Hardware {
    /// The firmware issues `op`.
    #[inline(always)] // A plain read, the most there is, is known for one where the firmware issues it.
    pub(crate) fn issue(&mut self, now: Ns, op: FlashOp, timers: &mut Timers) {
        match op.kind {
            FlashKind::Read { .. } if op.after.is_none() => self.issue_read(now, op, timers),
            _ => self.issue_other(now, op, timers),
        }
    }

    /// A read starts on an idle die.
    #[inline(always)]
    fn issue_read(&mut self, now: Ns, op: FlashOp, timers: &mut Timers) {
        let FlashKind::Read {
            page,
            block,
            cell_mode,
            timing,
            mode,
            levels,
            ..
        } = op.kind
        else {
            unreachable!("only reads sense")
        };
        debug_assert_eq!(cell_mode, self.cells.mode(block), "{:?}", op.tag);
        let (tag, class, queued) = (op.tag.0, op.class, op.queued);
        let lane = self.occupy(now, op);
        let (state, die) = (&mut self.ops[tag as usize], &mut self.dies[lane as usize]);
        let mut breakdown = BreakdownId::NOBODYS;
        if class.serves_host() {
            // A page read for a rebuild continues as another read, and nobody asks for its time.
            breakdown = match state.breakdown {
                Some(own) if class.goes_on() && !state.handed_over => own,
                _ => state.open(&mut self.breakdowns, queued),
            };
            let charged = &mut self.breakdowns[breakdown];
            die.log.charge_wait(queued, now, &mut charged.ns_by_cause);
            charged.mark = now;
        } else {
            state.open_for_nobody(&mut self.breakdowns);
        }
        die.phase = DiePhase::Array(tag);
        let channel = state.channel;
        let read_ns = self.cells.read_ns(cell_mode, page, mode, timing);
        let mut sense = levels.sense_ns(read_ns);
        if die.timing != timing {
            die.timing = timing;
            sense += self.times.set_feature_ns;
        }
        if self.times.sets_levels() {
            let (cells, times) = (&self.cells, &self.times);
            sense += times.levels(cells, &mut die.levels, &state.op, sense);
        }
        let starts = self.command(now, channel, timers);
        let waited = starts.0 - now.0 - self.times.command_ns;
        if waited != 0 {
            let cause = Cause::Transfer.in_step(class);
            self.breakdowns[breakdown].charge(now + Ns(waited), cause);
        }
        if self.recorder.is_some() {
            self.record_read(now, tag, starts);
        }
        self.expect(now, tag, starts + Ns(sense), timers);
        self.request_sense(now, tag);
    }

    /// Anything but a plain read: a program, an erase, a cache read, or a command about an operation.
    #[inline(never)]
    fn issue_other(&mut self, now: Ns, op: FlashOp, timers: &mut Timers) {
        let tag = op.tag.0;
        match op.kind {
            FlashKind::Suspend { victim, progress } => {
                self.suspend(now, op.die, victim.0, progress, timers);
            }
            FlashKind::Resume { victim } => self.resume(now, op.die, victim.0, timers),
            FlashKind::Output { read, wanted } => self.output(now, op.die, read.0, wanted, timers),
            FlashKind::Abort { victim } => self.abort(now, victim.0, timers),
            FlashKind::Cancel { victim } => self.cancel(now, op.die, victim.0, timers),
            FlashKind::Read { .. } => self.issue_after(now, op, timers),
            FlashKind::Program { .. } => {
                self.occupy(now, op);
                self.record_issue(now, tag);
                self.start_transfer(now, tag, timers);
            }
            FlashKind::Erase { mode, .. } => {
                self.occupy(now, op);
                let channel = self.ops[tag as usize].channel;
                let starts = self.command(now, channel, timers);
                self.record_issue(now, tag);
                self.record_command(tag, starts);
                let erase = starts.since(now).0 + self.cells.erase_ns(mode);
                self.start_work(now, op.die, tag, erase, timers);
            }
        }
    }

    /// `op` occupies its die, or the lanes that it runs on. Returns the index of the die, or of the lane of
    /// the lowest plane.
    #[inline(always)]
    fn occupy(&mut self, now: Ns, op: FlashOp) -> u16 {
        let (tag, die) = (op.tag, op.die);
        let state = &mut self.ops[tag.0 as usize];
        state.op = op;
        state.channel = self.layout.channel(die);
        let mut lane = die.0;
        if self.lanes.are_used() {
            let op = state.op;
            lane = self.take_lanes(&op);
        }
        self.ops[tag.0 as usize].lane = lane;
        let state = &mut self.dies[lane as usize];
        if state.phase != DiePhase::Idle {
            is_busy(die, tag);
        }
        state.since = now;
        lane
    }
}

#[cold]
#[inline(never)]
fn is_busy(die: DieId, tag: Tag) -> ! {
    panic!("operation {} issued to die {}, which is busy", tag.0, die.0)
}
