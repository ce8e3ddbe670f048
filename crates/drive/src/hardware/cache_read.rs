//! Cache reads: a die senses a page while the data of the page before leave through its cache register.
//!
//! A cache read is issued `after` another read. It is sensed as soon as the page of the earlier read has
//! moved from the page register to the cache register. Its own page then stays in the page register until the
//! firmware asks for its output or cancels it, and moves on when the cache register is empty. Until then its
//! time is not charged, because commands wait for the earlier read.

use firstread_core::{DieId, FlashKind, FlashOp, Ns, Tag};

use super::cache_register::{CachePhase, CacheRegisters, NONE};
use super::charge::Cause;
use super::die::DiePhase;
use super::spans::Activity;
use super::state::{Done, Hardware, Resource};
use crate::hardware::timers::Timers;

impl Hardware {
    /// `op` is to be sensed after another read of its die.
    pub(super) fn issue_after(&mut self, now: Ns, op: FlashOp, timers: &mut Timers) {
        let die = &mut self.dies[op.die.0 as usize];
        let before = match die.phase {
            DiePhase::Array(tag)
            | DiePhase::Cache(CachePhase::Sensing(tag) | CachePhase::Sensed(tag)) => Some(Tag(tag)),
            _ => None,
        };
        assert!(
            before == op.after && die.cache_read.next == NONE,
            "a cache read comes after a read of its die that is not transferred yet: {op:?}"
        );
        die.cache_read.next = op.tag.0;
        if let FlashKind::Read {
            cell_mode, block, ..
        } = op.kind
        {
            debug_assert_eq!(cell_mode, self.cells.mode(block), "{op:?}");
        }
        if let DiePhase::Array(tag) = die.phase {
            self.expect_no_more(now, tag, timers);
        }
        let state = &mut self.ops[op.tag.0 as usize];
        state.op = op;
        // Cache reads use the whole die.
        state.lane = op.die.0;
        state.channel = self.layout.channel(op.die);
        state.held = true;
        self.record_issue(now, op.tag.0);
    }

    /// The read under `tag` has been sensed, and another is to be sensed after it: its page moves to the
    /// cache register.
    pub(super) fn turn(&mut self, now: Ns, die: DieId, tag: u32, timers: &mut Timers) {
        let starts = self.command(now, self.layout.channel(die), timers);
        self.record_array(tag, now, Activity::Holds);
        self.record_command(tag, starts);
        let mut busy = Ns(self.times.cache_busy_ns);
        let state = &mut self.dies[die.0 as usize];
        if let Some(next) = self.ops.get(state.cache_read.next as usize)
            && let FlashKind::Read {
                page,
                cell_mode,
                timing,
                mode,
                levels,
                ..
            } = next.op.kind
        {
            if timing != state.timing {
                state.timing = timing;
                busy += Ns(self.times.set_feature_ns);
            }
            if self.times.sets_levels() {
                let read_ns = self.cells.read_ns(cell_mode, page, mode, timing);
                let sense = levels.sense_ns(read_ns);
                let set = &mut state.levels;
                busy += Ns(self.times.levels(&self.cells, set, &next.op, sense));
            }
        }
        state.phase = DiePhase::Cache(CachePhase::Turning(tag));
        state.cache_read.due = starts + busy;
        self.arm(die, timers);
    }

    /// The firmware asks for codewords `wanted` of `read`.
    pub(super) fn output(
        &mut self,
        now: Ns,
        die: DieId,
        read: u32,
        wanted: u64,
        timers: &mut Timers,
    ) {
        let state = &mut self.ops[read as usize];
        assert!(state.held, "the output of {read} is asked for once");
        state.held = false;
        if let FlashKind::Read {
            wanted: sensed,
            block,
            ..
        } = &mut state.op.kind
            && *sensed != wanted
        {
            // All planes were sensed, whichever of them are wanted now.
            let (block, sensed) = (*block, core::mem::replace(sensed, wanted));
            self.cells_mut().count_unused_sense(block, sensed, wanted);
        }
        self.request_sense(now, read);
        // The breakdown goes on: whoever joined an earlier step has a copy of its beginning.
        debug_assert!(
            self.breakdown_of(read).mark >= now,
            "the step before was charged until its end, when the firmware asks for this one"
        );
        if self.dies[die.0 as usize].phase == DiePhase::Cache(CachePhase::Sensed(read)) {
            self.turn(now, die, read, timers);
        }
    }

    /// The firmware cancels `read`, which was to be sensed after another one.
    pub(super) fn cancel(&mut self, now: Ns, die: DieId, read: u32, timers: &mut Timers) {
        self.ops[read as usize].held = false;
        let FlashOp { class, kind, .. } = self.ops[read as usize].op;
        let state = &mut self.dies[die.0 as usize];
        let until = match state.phase {
            DiePhase::Cache(CachePhase::Sensing(tag)) if tag == read => {
                state.cache_read.due.min(now + Ns(self.times.reset_ns))
            }
            DiePhase::Cache(CachePhase::Sensed(tag)) if tag == read => now,
            _ => {
                let before = matches!(state.phase, DiePhase::Array(_));
                assert!(
                    state.cache_read.next == read && !before,
                    "a cache read is cancelled once the one before it has been sensed"
                );
                state.cache_read.next = NONE;
                return;
            }
        };
        let was = match state.phase {
            DiePhase::Cache(CachePhase::Sensing(_)) => Activity::Sense,
            _ => Activity::Holds,
        };
        state.phase = DiePhase::Cache(CachePhase::Ending(read, class));
        state.cache_read.due = until;
        self.record_array(read, now, was);
        self.record_array(read, until, Activity::Reset);
        if let FlashKind::Read { wanted, block, .. } = kind {
            self.cells_mut().count_unused_sense(block, wanted, 0);
        }
        self.arm(die, timers);
    }

    /// The timer of `die` has expired in `phase`.
    #[inline(never)]
    pub(super) fn cache_done(
        &mut self,
        now: Ns,
        die: DieId,
        phase: CachePhase,
        timers: &mut Timers,
    ) -> Done {
        if let Some((tag, ends)) = self.dies[die.0 as usize].cache_read.out
            && ends <= now
        {
            self.dies[die.0 as usize].cache_read.out = None;
            self.crossed(now, tag);
            self.charge(now, tag, Cause::Transfer);
            self.decode(now, tag, timers);
            self.arm(die, timers);
            return Done::GoesOn;
        }
        match phase {
            CachePhase::Turning(tag) => self.turned(now, die, tag, timers),
            CachePhase::Sensing(tag) => {
                let state = &mut self.dies[die.0 as usize];
                state.phase = DiePhase::Cache(CachePhase::Sensed(tag));
                state.cache_read.due = Ns::MAX;
                self.record_array(tag, now, Activity::Sense);
                if self.ops[tag as usize].held {
                    self.arm(die, timers);
                } else {
                    self.charge(now, tag, Cause::Sense);
                    self.record_part(now, tag, Cause::Sense);
                    self.turn(now, die, tag, timers);
                }
            }
            CachePhase::Sensed(tag) => unreachable!("read {tag} waits for the firmware"),
            CachePhase::Ending(tag, class) => {
                let state = &mut self.dies[die.0 as usize];
                state.log.push(state.since, now, Cause::busy_with(class));
                state.phase = DiePhase::Idle;
                state.cache_read = CacheRegisters::NOTHING;
                return Done::Free(Tag(tag));
            }
        }
        Done::GoesOn
    }

    /// The page of `tag` is in the cache register: its data leave, and the next read is sensed.
    fn turned(&mut self, now: Ns, die: DieId, tag: u32, timers: &mut Timers) {
        self.record_array(tag, now, Activity::Turn);
        let next = core::mem::replace(&mut self.dies[die.0 as usize].cache_read.next, NONE);
        if next == NONE {
            self.dies[die.0 as usize].cache_read = CacheRegisters::NOTHING;
            return self.start_transfer(now, tag, timers);
        }
        let FlashKind::Read {
            page,
            cell_mode,
            timing,
            mode,
            levels,
            ..
        } = self.ops[next as usize].op.kind
        else {
            unreachable!("only a read comes after a read")
        };
        let sense = levels.sense_ns(self.cells.read_ns(cell_mode, page, mode, timing));
        let class = self.ops[tag as usize].op.class;
        let state = &mut self.dies[die.0 as usize];
        state.log.push(state.since, now, Cause::busy_with(class));
        state.since = now;
        state.phase = DiePhase::Cache(CachePhase::Sensing(next));
        state.cache_read.out = Some((tag, Ns::MAX));
        state.cache_read.due = now + Ns(sense);
        self.arm(die, timers);
        self.start_crossing(now, tag, true, timers);
    }

    /// The data in the cache register of `die` will have left at `ends`.
    #[cold]
    pub(super) fn leaves(&mut self, die: u16, ends: Ns, timers: &mut Timers) {
        if let Some((_, leave)) = &mut self.dies[die as usize].cache_read.out {
            *leave = ends;
        }
        self.arm(DieId(die), timers);
    }

    /// Sets the timer of `die` to the next event of its array or its cache register.
    fn arm(&self, die: DieId, timers: &mut Timers) {
        let cache_read = &self.dies[die.0 as usize].cache_read;
        let out = cache_read.out.map_or(Ns::MAX, |(_, ends)| ends);
        timers.set(self.timer(Resource::Die(die.0)), cache_read.due.min(out));
    }
}
