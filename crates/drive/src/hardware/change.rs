//! Programs and erases: on the array, suspended and resumed, and their effect on cells and stamps.

use firstread_core::{
    BlockId, Buf, CellMode, DieId, FlashEvent, FlashKind, Ns, PageAddr, PageType, SuperblockId, Tag,
};

use super::charge::Cause;
use super::die::DiePhase;
use super::spans::Activity;
use super::state::{Done, Hardware, Resource};
use super::suspend::Work;
use super::timers::Timers;
use crate::payload::Stamps;

impl Hardware {
    /// A program or erase starts on the array and takes `ns`.
    pub(super) fn start_work(
        &mut self,
        now: Ns,
        die: DieId,
        tag: u32,
        ns: u64,
        timers: &mut Timers,
    ) {
        let state = &mut self.dies[die.0 as usize];
        state.phase = DiePhase::Array(tag);
        state.work = Work {
            started: now,
            until: now + Ns(ns),
            resumed: false,
        };
        timers.set(self.timer(Resource::Die(die.0)), now + Ns(ns));
        if self.dies[die.0 as usize].suspending_since.is_some() {
            self.stop(now, die, tag, timers);
        }
    }

    /// The firmware asks `die` to suspend the program or erase `victim` once its run has done `progress` of its work.
    /// While the data of a program are still on the way to the die there is nothing to suspend yet.
    pub(super) fn suspend(
        &mut self,
        now: Ns,
        die: DieId,
        victim: u32,
        progress: Ns,
        timers: &mut Timers,
    ) {
        let state = &mut self.dies[die.0 as usize];
        assert!(
            state.suspended.is_none() && state.suspending_since.is_none(),
            "die {} suspends one operation at a time",
            die.0
        );
        state.suspending_since = Some(now);
        state.progress = progress;
        match state.phase {
            DiePhase::Array(tag) if tag == victim => self.stop(now, die, victim, timers),
            DiePhase::Registers(tag) if tag == victim => {}
            phase => panic!("die {} does not run operation {victim}: {phase:?}", die.0),
        }
    }

    fn stop(&mut self, now: Ns, die: DieId, tag: u32, timers: &mut Timers) {
        let times = self.times.suspend;
        let latency_ns = match self.ops[tag as usize].op.kind {
            FlashKind::Erase { .. } => times.erase_ns,
            _ => times.program_ns,
        };
        let state = &mut self.dies[die.0 as usize];
        let told = now.max(state.work.reaches(state.progress, &times));
        state.suspending_since = Some(told);
        // The operation may end before it can stop; then it ends.
        if let Some((stops, left)) = state.work.stop(told, latency_ns, &times) {
            state.phase = DiePhase::Stopping(tag);
            state.suspended = Some((tag, left));
            timers.set(self.timer(Resource::Die(die.0)), stops);
        }
    }

    /// The program or erase of `die` has been suspended.
    pub(super) fn stopped(&mut self, now: Ns, die: u16, tag: u32) -> Done {
        let op = self.ops[tag as usize].op;
        let state = &mut self.dies[die as usize];
        let (since, suspending_since) = (state.since, state.suspending_since.take().unwrap_or(now));
        state
            .log
            .push(since, suspending_since, Cause::busy_with(op.class));
        state.log.push(suspending_since, now, Cause::Suspend);
        state.phase = DiePhase::Idle;
        self.record_work(suspending_since, tag);
        self.record_array(tag, now, Activity::Suspending);
        if let Some(recorder) = &mut self.recorder {
            recorder.suspends(now, op.die);
        }
        let state = &self.dies[die as usize];
        let remaining = state.suspended.map_or(Ns::ZERO, |(_, left)| left);
        if self.lanes.are_used() {
            self.leave_lanes(&op, since, suspending_since, Cause::busy_with(op.class));
            self.leave_lanes(&op, suspending_since, now, Cause::Suspend);
        }
        let tag = Tag(tag);
        Done::Event(FlashEvent::Suspended { tag, remaining })
    }

    /// The firmware asks `die` to resume the suspended `victim`.
    pub(super) fn resume(&mut self, now: Ns, die: DieId, victim: u32, timers: &mut Timers) {
        let times = self.times.suspend;
        assert!(
            self.lanes_are_idle(die),
            "operation {victim} resumed while a plane reads"
        );
        let state = &mut self.dies[die.0 as usize];
        assert_eq!(
            state.phase,
            DiePhase::Idle,
            "operation {victim} resumed on a busy die"
        );
        let Some((tag, left)) = state.suspended.take().filter(|(tag, _)| *tag == victim) else {
            panic!("die {} has not suspended operation {victim}", die.0)
        };
        state.since = now;
        state.phase = DiePhase::Array(tag);
        let work = Work::resume(now, left, &times);
        state.work = work;
        if let Some(recorder) = &mut self.recorder {
            recorder.was_suspended(now, die, tag, true);
            recorder.occupied(now, die.0);
        }
        timers.set(self.timer(Resource::Die(die.0)), work.until);
    }

    /// Superblock `block` has block `on` of `die`, since the drive was made if it is `made` so.
    #[inline]
    pub(crate) fn assemble(&mut self, block: SuperblockId, die: DieId, on: BlockId, made: bool) {
        if on.0 != block.0 {
            self.failures.joins(block, die, on);
            self.cells_mut().join(block, die, on, made);
        }
    }

    /// The cells of `block` were erased into `mode`.
    pub(super) fn erased(&mut self, block: SuperblockId, mode: CellMode) {
        let from = self.cells().mode(block);
        self.cells_mut().erased(block, mode);
        self.failures.cycled(block, from, mode);
    }

    /// The program or erase under `tag` has ended.
    pub(super) fn changed(&mut self, now: Ns, die: u16, tag: u32, stamps: &mut Stamps) -> Done {
        let op = self.ops[tag as usize].op;
        self.record_work(now, tag);
        self.free_die(now, tag);
        let tag = op.tag;
        let event = match op.kind {
            FlashKind::Program {
                block,
                on,
                wordline,
                buf,
            } => {
                self.assemble(block, op.die, on, false);
                self.cells_mut().program(now, block, wordline);
                let ok = !self.failures.program_fails(block, op.die, on, wordline);
                // Data that did not verify cannot be read.
                if ok {
                    self.program(op.die, block, wordline, buf, stamps);
                }
                FlashEvent::Programmed { tag, ok }
            }
            FlashKind::Erase { block, on, mode } => {
                let ends_cycle = self.failures.ends_cycle(block, op.die, on);
                self.assemble(block, op.die, on, false);
                // The firmware erases a superblock on every die before it uses the superblock again.
                if die == 0 && ends_cycle {
                    self.erased(block, mode);
                    stamps.erase(block);
                }
                let ok = !self.failures.erase_fails(block, op.die, ends_cycle);
                FlashEvent::Erased { tag, ok }
            }
            _ => unreachable!("only reads, programs and erases use the array"),
        };
        Done::EventThenFree(event, tag)
    }

    /// Bytes that a program transfers over the channel, including code parity.
    pub(super) fn program_bytes(&self, block: SuperblockId) -> u64 {
        let mp_pages = self.layout.slots_per_mp_page() * self.cells.mode(block).bits() as u32;
        let codewords = mp_pages as u64 * self.layout.codewords_per_slot() as u64;
        codewords * self.cells.codeword_bytes()
    }

    /// Moves a die's part of a wordline from its buffers into the cells.
    fn program(
        &self,
        die: DieId,
        block: SuperblockId,
        wordline: u16,
        buf: Buf,
        stamps: &mut Stamps,
    ) {
        let layout = &self.layout;
        // The parity die is programmed with the sum of the wordline's other parts.
        if layout.parity_die(wordline) == Some(die) {
            return;
        }
        let mode = self.cells.mode(block);
        let first = wordline as u32 * layout.slots_per_stripe() * mode.bits() as u32;
        for page in (0..mode.bits()).map(PageType) {
            let at = PageAddr {
                die,
                block,
                wordline,
                page,
            };
            for mp_page_slot in 0..layout.slots_per_mp_page() {
                let ppa = layout.slot_at(at, mp_page_slot, mode);
                stamps.program(ppa, buf.slot(ppa.slot() - first));
            }
        }
    }

    /// `die` has received the data of a program.
    pub(super) fn data_is_in(&mut self, now: Ns, die: DieId) {
        let state = &mut self.dies[die.0 as usize];
        let since = std::mem::replace(&mut state.since, now);
        state.log.push(since, now, Cause::DieDataIn);
        if self.lanes.are_used() {
            self.log_lanes(die, since, now, Cause::DieDataIn);
        }
    }
}
