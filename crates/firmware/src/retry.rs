//! The steps of one read: their levels, and those that are sensed ahead.
//!
//! A step sensed ahead is an operation of its own under the job's other tag. The two tags of a job
//! take turns, so that the step whose outcome is awaited and the one behind it never share one.

use firstread_core::{
    Arena, FlashKind, FlashOp, Levels, Ns, OpClass, Ports, Priority, SenseMode, Tag,
};

use crate::Firmware;
use crate::job::{Job, Purpose};
use crate::log::Record;
use crate::policy::read_levels::{Outcome, ReadCtx, ReadLevels};
use crate::policy::retry::{Haste, Retry};

/// Whether at most a quarter of the codewords asked for failed.
fn nearly_passed(outcome: &Outcome) -> bool {
    4 * outcome.failed.count_ones() <= outcome.wanted.count_ones()
}

/// A step of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Retries up to it, itself included.
    pub step: u8,
    /// Which entry of the levels it tries.
    pub entry: u8,
    /// What the scheme of the levels remembers.
    pub note: u8,
    pub levels: Levels,
    pub haste: Haste,
    /// The read makes haste no more.
    pub slow: bool,
    pub sense: SenseMode,
}

impl Step {
    /// Step `step` with entry `entry`, at the default time.
    pub(crate) const fn of(step: u8, entry: u8, note: u8) -> Step {
        Step {
            step,
            entry,
            note,
            levels: Levels::DEFAULT,
            haste: Haste::NONE,
            slow: false,
            sense: SenseMode::Hard,
        }
    }
}

impl Job {
    /// The read goes on with `next`.
    pub(crate) fn begin(&mut self, next: Step) {
        self.step = next.step;
        self.entry = next.entry;
        self.note = next.note;
        self.levels = next.levels;
        self.haste = next.haste;
        self.slow = next.slow;
        self.sense = next.sense;
        self.hurried |= next.haste != Haste::NONE;
    }
}

impl<M: Arena> Firmware<M> {
    /// The step after the one of `job` that failed, or none when there is nothing left to try. `last`
    /// is the outcome, if it is known yet.
    pub(crate) fn next_step(
        &mut self,
        ctx: &ReadCtx,
        job: u32,
        last: Option<&Outcome>,
    ) -> Option<Step> {
        let Job {
            step,
            entry,
            haste,
            slow,
            levels,
            hurried,
            mut note,
            ..
        } = self.jobs[job];
        let step = step.checked_add(1)?;
        let own = self.retry.own_steps();
        if own > 0 {
            return (step <= own).then(|| Step {
                levels: self.retry.own_levels(),
                ..Step::of(step, entry, note)
            });
        }
        // A step at the end that most codewords passed would have passed as a whole without haste. One
        // that is sensed ahead of the outcome cannot know, and goes on.
        let slow = slow || haste.at_end;
        if haste.at_end && last.is_some_and(nearly_passed) {
            return Some(Step {
                levels,
                slow: true,
                ..Step::of(step, entry, note)
            });
        }
        if last.is_none() && self.levels.needs_outcome(entry + 1) {
            return None;
        }
        if let Some(levels) = self.levels.attempt(ctx, entry + 1, last, &mut note) {
            let haste = if slow {
                Haste::NONE
            } else {
                self.retry.haste(ctx, entry + 1)
            };
            return Some(Step {
                levels,
                haste,
                slow,
                ..Step::of(step, entry + 1, note)
            });
        }
        // Nothing is left, but what was tried in haste might have succeeded without.
        if slow || !hurried {
            return None;
        }
        let levels = self.levels.attempt(ctx, 1, last, &mut note)?;
        Some(Step {
            levels,
            slow: true,
            ..Step::of(step, 1, note)
        })
    }

    /// The job of the operation under `tag`.
    #[inline]
    pub(crate) fn job_of(&self, tag: Tag) -> u32 {
        tag.0.checked_sub(self.jobs.len()).unwrap_or(tag.0)
    }

    /// The tag of the step of `job` whose outcome comes next, or of the one after it.
    fn step_tag(&self, job: u32, after: bool) -> Tag {
        let high = self.jobs[job].high_tag != after;
        Tag(job + high as u32 * self.jobs.len())
    }

    /// The step of `job` begins to be sensed, or its output has been asked for: has the one after it
    /// sensed ahead, unless the read is to give way. The die is then free once this step is transferred.
    pub(crate) fn look_ahead<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ports: &mut P,
    ) {
        let Job {
            purpose,
            priority,
            at,
            wanted,
            step,
            sense,
            ..
        } = self.jobs[job];
        // A soft sense rarely fails: what would follow it is not sensed ahead.
        let alone = purpose == Purpose::Probe || sense != SenseMode::Hard;
        if alone || !self.retry.looks_ahead(step) {
            return;
        }
        // A read that nobody of the host waits for keeps no die that the host waits for.
        let keeps = priority == Priority::Host && self.retry.keeps_die(step);
        if !keeps && self.dies.host_waits(at.die)
            || self.dies.has_waited_enough(now, &self.jobs, at.die)
        {
            return;
        }
        let ctx = self.read_ctx(now, at);
        let Some(next) = self.next_step(&ctx, job, None) else {
            return;
        };
        self.jobs[job].is_ahead = true;
        self.jobs.further(job).ahead = next;
        self.blocks.row_mut(at.block).reads += 1;
        ports.issue(FlashOp {
            tag: self.step_tag(job, true),
            die: at.die,
            after: Some(self.step_tag(job, false)),
            class: self.read_class(job, step + 1),
            queued: now,
            kind: FlashKind::Read {
                block: at.block,
                wordline: at.wordline,
                page: at.page,
                cell_mode: ctx.mode,
                wanted,
                levels: next.levels,
                timing: next.haste.timing,
                mode: SenseMode::Hard,
                buf: self.job_buffer(job),
            },
        });
    }

    /// A step of `job` has come to `outcome`; the step after it was sensed ahead. Whether
    /// the read goes on with that one: not if it has succeeded, or is sensed softly next.
    pub(crate) fn ahead_decoded<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        outcome: &Outcome,
        ports: &mut P,
    ) -> bool {
        let next = self.step_tag(job, true);
        let softens = outcome.failed != 0 && self.softens(job);
        let state = &mut self.jobs[job];
        debug_assert!(state.is_ahead, "the caller has looked");
        state.is_ahead = false;
        let (die, step) = (state.at.die, state.step + 1);
        let about = |class, kind| FlashOp {
            tag: next,
            die,
            after: None,
            class,
            queued: now,
            kind,
        };
        if outcome.failed == 0 || softens {
            self.counters.cancelled_senses += 1;
            let class = self.read_class(job, step);
            ports.issue(about(class, FlashKind::Cancel { victim: next }));
            return false;
        }
        let ahead = self.jobs.further(job).ahead;
        let state = &mut self.jobs[job];
        state.begin(ahead);
        state.high_tag = !state.high_tag;
        let failed = outcome.failed;
        state.wanted = failed;
        state.queued = now;
        // First: the command that moves a page out of the page register says what is sensed next.
        self.look_ahead(now, job, ports);
        let class = self.read_class(job, step);
        let output = FlashKind::Output {
            read: next,
            wanted: failed,
        };
        ports.issue(about(class, output));
        true
    }

    /// What step `step` of the read of `job` is charged to.
    #[inline]
    pub(crate) fn read_class(&self, job: u32, step: u8) -> OpClass {
        let Job {
            purpose, priority, ..
        } = self.jobs[job];
        match purpose {
            Purpose::Probe => OpClass::Calibration,
            Purpose::ReadAhead if priority != Priority::Host => OpClass::ReadAhead,
            Purpose::MapRead { .. } => OpClass::MapRead,
            Purpose::Merge { .. } | Purpose::Move { .. } => OpClass::MoveRead,
            Purpose::Rebuild => OpClass::Recovery,
            _ if step == 0 => OpClass::HostRead,
            _ if self.jobs[job].sense != SenseMode::Hard => OpClass::Recovery,
            _ => OpClass::HostRetry,
        }
    }
}
