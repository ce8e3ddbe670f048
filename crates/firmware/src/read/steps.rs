//! The steps of one read: their levels, and which of them are sensed speculatively, before the outcome of the step
//! before them is known.

use firstread_core::{FlashKind, FlashOp, Levels, Ns, SenseMode};

use super::Read;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::read_levels::ReadLevels;
use crate::policy::retry::{Retry, ShortSense};
use crate::schedule::{Job, Jobs, Purpose, ReadSteps, Step};
use crate::shared::{Out, Shared};

impl ReadSteps for Read {
    #[inline(always)] // Its only caller is on the path of every request.
    fn sensed(&mut self, ctx: &ReadCtx, job: &mut Job) -> SenseMode {
        if let Purpose::Probe = job.purpose {
            return self.probe_of(job.note).1.mode;
        }
        if job.step == 0 {
            // The levels are chosen when the sense starts, so that they are the newest.
            job.note = 0;
            job.levels = self
                .levels
                .of(ctx.mode)
                .attempt(ctx, 0, None, &mut job.note)
                .expect("every scheme has a first attempt");
        }
        job.sense
    }

    #[inline]
    fn pipelines_after(&self, step: u8) -> bool {
        self.retry.own().pipelines_after(step)
    }

    fn keeps_die(&self, step: u8) -> bool {
        self.retry.own().keeps_die(step)
    }

    fn next_step(
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
        // Such a step cannot be sensed speculatively: its levels follow from an outcome that is still being decoded.
        if last.is_none() && levels.needs_outcome(entry + 1) {
            return None;
        }
        if let Some(levels) = levels.attempt(ctx, entry + 1, last, &mut note) {
            // A search of the chip takes its own time.
            let short_sense = if slow || matches!(levels, Levels::OnDie(_)) {
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
        // From entry 1 on: the first read, entry 0, always had the default timing.
        let levels = levels.attempt(ctx, 1, last, &mut note)?;
        Some(Step {
            levels,
            slow: true,
            ..Step::of(step, 1, note)
        })
    }
}

impl Read {
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
        let next = shared.jobs.step_tag(job, true);
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
        state.issued = None;
        // This comes first: the command that empties the page register has to name the next sense.
        let Shared {
            schedule,
            jobs,
            blocks,
            ..
        } = shared;
        schedule.issue_speculative(now, job, self, jobs, blocks, ports);
        let class = shared.jobs[job].class(step);
        let output = FlashKind::Output {
            read: next,
            wanted: failed,
        };
        ports.issue(about(class, output));
        true
    }
}
