//! Timers of dies that expire: the array is done, or data have crossed the channel.

use firstread_core::flash::SenseMode;
use firstread_core::{DieId, FlashEvent, FlashKind, Ns, Tag};

use super::cache_register::NONE;
use super::charge::Cause;
use super::die::DiePhase;
use super::in_flight::InFlight;
use super::state::{Done, Hardware};
use super::timers::Timers;
use crate::payload::Stamps;

impl Hardware {
    /// The timer of `die` has expired.
    #[inline]
    pub(crate) fn die_done(
        &mut self,
        now: Ns,
        die: u16,
        timers: &mut Timers,
        stamps: &mut Stamps,
    ) -> Done {
        match self.dies[die as usize].phase {
            DiePhase::Array(tag) => self.array_done(now, die, tag, timers, stamps),
            DiePhase::Registers(tag) => {
                self.crossed(now, tag);
                self.transfer_done(now, tag, timers)
            }
            DiePhase::Stopping(tag) => self.stopped(now, die, tag),
            DiePhase::Aborting(tag) => self.aborted(now, tag),
            DiePhase::Cache(phase) => self.cache_done(now, DieId(die), phase, timers),
            DiePhase::Idle => unreachable!("the timer of an idle die is stopped"),
        }
    }

    #[inline]
    fn array_done(
        &mut self,
        now: Ns,
        die: u16,
        tag: u32,
        timers: &mut Timers,
        stamps: &mut Stamps,
    ) -> Done {
        let op = &self.ops[tag as usize].op;
        if let FlashKind::Read { .. } = op.kind {
            if self.dies[die as usize].cache_read.next == NONE {
                self.crossed(now, tag);
                return self.transfer_done(now, tag, timers);
            }
            self.record_sense(now, tag);
            self.charge(now, tag, Cause::Sense);
            self.record_part(now, tag, Cause::Sense);
            self.turn(now, DieId(die), tag, timers);
            return Done::GoesOn;
        }
        self.changed(now, die, tag, stamps)
    }

    /// The data of `tag` arrive at the channel. The die's timer marks the end of their transfer.
    pub(super) fn start_transfer(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let lane = self.ops[tag as usize].lane as usize;
        self.dies[lane].phase = DiePhase::Registers(tag);
        self.start_crossing(now, tag, false, timers);
    }

    #[inline]
    fn transfer_done(&mut self, now: Ns, tag: u32, timers: &mut Timers) -> Done {
        let InFlight { op, sensed_at, .. } = &self.ops[tag as usize];
        let (die, class, sensed) = (op.die, op.class, *sensed_at);
        let mode = match op.kind {
            FlashKind::Read { mode, .. } => mode,
            FlashKind::Program { block, .. } => {
                let program = self.cells.program_ns(block);
                self.data_is_in(now, die);
                self.start_work(now, die, tag, program, timers);
                return Done::GoesOn;
            }
            _ => unreachable!("only reads and programs use the channel"),
        };
        // For a read through the cache register this time is in the past, and nothing is charged.
        let breakdown = self.breakdown_of(tag);
        breakdown.charge(sensed, Cause::Sense.in_step(class));
        breakdown.charge(now, Cause::Transfer.in_step(class));
        self.free_die(now, tag);
        self.ensure_sensed(now, tag);
        if let SenseMode::OnesCount { .. } = mode {
            let sensed = &self.ops[tag as usize].sensed;
            let ones = FlashEvent::Ones {
                tag: Tag(tag),
                count: sensed.ones,
                cells: sensed.cells,
            };
            return self.free_after(tag, Some(ones));
        }
        // A die with lanes first reports which of them are free.
        if self.start_decode(now, tag, !self.lanes.are_used(), timers) {
            return Done::FreeThenDecoded(Tag(tag));
        }
        self.free_after(tag, None)
    }

    pub(super) fn free_die(&mut self, now: Ns, tag: u32) {
        if self.lanes.are_used() {
            self.free_lanes(now, tag);
        }
        let op = &self.ops[tag as usize].op;
        let die = &mut self.dies[op.die.0 as usize];
        die.log.push(die.since, now, Cause::busy_with(op.class));
        die.phase = DiePhase::Idle;
        die.suspending_since = None;
    }

    /// The read under `tag` has freed its die, or planes of it. The firmware gets `event` first.
    #[inline]
    fn free_after(&self, tag: u32, event: Option<FlashEvent>) -> Done {
        if self.lanes.are_used() {
            return Done::Planes(event, self.planes_free(tag));
        }
        match event {
            Some(event) => Done::EventThenFree(event, Tag(tag)),
            None => Done::Free(Tag(tag)),
        }
    }

    /// Also transfer and decode codewords `more`, on planes that the read under `tag` senses. False if its
    /// transfer has begun.
    #[inline(never)]
    pub(crate) fn widen(&mut self, now: Ns, tag: u32, more: u64, timers: &mut Timers) -> bool {
        let InFlight { lane, op, .. } = self.ops[tag as usize];
        let die = &self.dies[lane as usize];
        let next = die.cache_read.next;
        if die.phase != DiePhase::Array(tag) || next == NONE && self.crosses(now, tag) {
            return false;
        }
        if !self.cells.are_ideal() {
            self.sense_all();
            let mut added = op;
            if let FlashKind::Read { wanted, .. } = &mut added.kind {
                *wanted = more;
            }
            let sensed = self.cells.sense_more(now, &added);
            self.ops[tag as usize].sensed.add(&sensed);
        }
        for read in [tag, next] {
            if let Some(state) = self.ops.get_mut(read as usize)
                && let FlashKind::Read { wanted, .. } = &mut state.op.kind
            {
                *wanted |= more;
            }
        }
        if next == NONE {
            self.lengthen(tag, timers);
        }
        true
    }
}
