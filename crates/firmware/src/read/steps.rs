//! The steps of one read: their levels, and which of them are sensed speculatively.
//!
//! A speculative step is sensed before the outcome of the step before it is known. It is an operation of its
//! own under the job's other tag. The two tags of a job alternate, so the step whose outcome is awaited and
//! the next one never share a tag.

use firstread_core::{FlashKind, FlashOp, Ns, Priority, SenseMode, Tag};

use super::Read;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::read_levels::ReadLevels;
use crate::policy::retry::{Retry, ShortSense};
use crate::schedule::{Job, Jobs, Purpose, Step};
use crate::shared::{Out, Shared};

impl Read {
    /// The step after the failed step of `job`; none if nothing is left to try. `last` is the outcome of the
    /// failed step, if it is known yet.
    pub(super) fn next_step(
        &mut self,
        ctx: &ReadCtx,
        job: u32,
        last: Option<&Outcome>,
        jobs: &Jobs,
    ) -> Option<Step> {
        let Job {
            step,
            entry,
            slow,
            used_short_sense,
            mut note,
            ..
        } = jobs[job];
        let step = step.checked_add(1)?;
        let own = self.retry.own().own_steps();
        if own > 0 {
            return (step <= own).then(|| Step {
                levels: self.retry.own().own_levels(),
                short_sense: self.retry.own().own_sense(),
                ..Step::of(step, entry, note)
            });
        }
        let levels = self.levels.of(ctx.mode);
        if last.is_none() && levels.needs_outcome(entry + 1) {
            return None;
        }
        if let Some(levels) = levels.attempt(ctx, entry + 1, last, &mut note) {
            let short_sense = if slow {
                ShortSense::NONE
            } else {
                self.retry.of(ctx.mode).short_sense(ctx, entry + 1)
            };
            return Some(Step {
                levels,
                short_sense,
                slow: slow || short_sense.slow,
                ..Step::of(step, entry + 1, note)
            });
        }
        // No levels are left, but a step that failed with a short sense might succeed with the default
        // timing.
        if slow || !used_short_sense {
            return None;
        }
        let levels = self.levels.of(ctx.mode);
        let levels = levels.attempt(ctx, 1, last, &mut note)?;
        Some(Step {
            levels,
            slow: true,
            ..Step::of(step, 1, note)
        })
    }

    /// The current step of `job` begins to be sensed, or its output has been asked for. Issues the next step
    /// as a speculative sense, unless the read has to give way. Without one, the die is free once the current
    /// step is transferred.
    pub(super) fn issue_speculative(
        &mut self,
        now: Ns,
        job: u32,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        let Job {
            purpose,
            priority,
            at,
            wanted,
            step,
            sense,
            ..
        } = shared.jobs[job];
        // A soft sense rarely fails, so no step is sensed speculatively after it.
        let alone = matches!(purpose, Purpose::Probe) || sense != SenseMode::Hard;
        if alone || !self.retry.own().pipelines_after(step) {
            return;
        }
        // A read that no host command waits for does not keep a die that the host waits for.
        let keeps = priority == Priority::Host && self.retry.own().keeps_die(step);
        if !keeps && shared.schedule.host_waits(at.die)
            || shared.schedule.is_turn_due(now, at.die, &shared.jobs)
        {
            return;
        }
        let ctx = shared.read_ctx(now, at);
        let Some(next) = self.next_step(&ctx, job, None, &shared.jobs) else {
            return;
        };
        shared.jobs[job].is_speculative = true;
        shared.jobs.retry_state(job).ahead = next;
        shared.blocks.row_mut(at.block).reads += 1;
        ports.issue(FlashOp {
            tag: step_tag(job, true, &shared.jobs),
            die: at.die,
            after: Some(step_tag(job, false, &shared.jobs)),
            class: shared.jobs[job].class(step + 1),
            queued: now,
            kind: FlashKind::Read {
                block: at.block,
                wordline: at.wordline,
                page: at.page,
                cell_mode: ctx.mode,
                wanted,
                levels: next.levels,
                timing: next.short_sense.timing,
                mode: SenseMode::Hard,
                buf: shared.job_buffer(job),
            },
        });
    }

    /// A step of `job` has ended with `outcome`, and the next step was sensed speculatively. Returns whether
    /// the read continues with that next step: not if it has succeeded, or if a soft sense comes next.
    pub(super) fn speculative_decoded(
        &mut self,
        now: Ns,
        job: u32,
        outcome: &Outcome,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let next = step_tag(job, true, &shared.jobs);
        let softens = outcome.failed != 0 && self.softens(job, &mut shared.jobs);
        let state = &mut shared.jobs[job];
        debug_assert!(state.is_speculative, "the caller has looked");
        state.is_speculative = false;
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
            shared.counters.cancelled_senses += 1;
            let class = shared.jobs[job].class(step);
            ports.issue(about(class, FlashKind::Cancel { victim: next }));
            return false;
        }
        let ahead = shared.jobs.retry_state(job).ahead;
        let state = &mut shared.jobs[job];
        state.begin(ahead);
        state.high_tag = !state.high_tag;
        let failed = outcome.failed;
        state.wanted = failed;
        state.queued = now;
        // This comes first: the command that empties the page register has to name the next sense.
        self.issue_speculative(now, job, shared, ports);
        let class = shared.jobs[job].class(step);
        let output = FlashKind::Output {
            read: next,
            wanted: failed,
        };
        ports.issue(about(class, output));
        true
    }
}

/// The tag of the step of `job` whose outcome comes next, or with `after` that of the step behind it.
fn step_tag(job: u32, after: bool, jobs: &Jobs) -> Tag {
    let high = jobs[job].high_tag != after;
    Tag(job + high as u32 * jobs.len())
}
