//! Soft senses: what is tried for a read around the nearest of the levels that have failed.
//!
//! Of each failed step the decoder tells how many parity checks its hard decisions left unsatisfied.
//! The levels of the step with the fewest codewords failed, and of these with the fewest checks, are
//! the centre of the soft senses: what controllers know without looking into cells.
//!
//! They come when the hard steps have ended, or when so many in a row as axis `recovery` says came no
//! nearer. Where they fail, the hard steps go on; levels that come nearer still may be sensed softly too.

use firstread_core::SenseMode;

use super::Read;
use crate::base::Base;
use crate::policy::read_levels::{Outcome, ReadCtx};
use crate::policy::recovery::Recovery;
use crate::policy::retry::Haste;
use crate::schedule::{Job, Jobs, Nearest, Step};

impl Read {
    /// A step of the read of `job` has failed, hard or soft: notes what that says of its levels.
    pub(crate) fn remember(&self, job: u32, outcome: &Outcome, jobs: &mut Jobs) {
        if self.recovery.soft_after(SenseMode::Hard).is_none() {
            return;
        }
        let Job {
            step,
            levels,
            sense,
            ..
        } = jobs[job];
        let before = &mut jobs.further(job).nearest;
        if sense != SenseMode::Hard {
            before.tried = true;
            return;
        }
        let nearest = Nearest {
            failed: outcome.failed.count_ones() as u8,
            unsatisfied: outcome.unsatisfied,
            levels,
            ..Nearest::NONE
        };
        if step == 0 || (nearest.failed, nearest.unsatisfied) < (before.failed, before.unsatisfied)
        {
            *before = nearest;
        } else {
            before.since = before.since.saturating_add(1);
        }
    }

    /// Whether soft senses come before the hard steps of `job` go on.
    pub(super) fn softens(&self, job: u32, jobs: &mut Jobs) -> bool {
        let after = self.recovery.hard_steps();
        let sense = jobs[job].sense;
        let nearest = jobs.further(job).nearest;
        let due = !nearest.tried && after.is_some_and(|after| nearest.since >= after);
        // Five senses where three were not enough, before anything else.
        sense != SenseMode::Hard || due
    }

    /// The step after the one of `job` that has failed, hard or soft, or none when there is nothing
    /// left to try.
    #[inline(never)]
    pub(super) fn step_after(
        &mut self,
        ctx: &ReadCtx,
        job: u32,
        outcome: &Outcome,
        base: &mut Base,
    ) -> Option<Step> {
        let sense = base.jobs[job].sense;
        if self.softens(job, &mut base.jobs)
            && let Some(next) = self.soft_step(job, sense, base)
        {
            return Some(next);
        }
        // What a soft sense tells of spare cells and codewords is not what a hard step would.
        let last = (sense == SenseMode::Hard).then_some(outcome);
        let next = self.next_step(ctx, job, last, &base.jobs);
        if next.is_some() || base.jobs.further(job).nearest.tried {
            return next;
        }
        self.soft_step(job, SenseMode::Hard, base)
    }

    /// The soft step of `job` after one that sensed `failed`.
    fn soft_step(&self, job: u32, failed: SenseMode, base: &mut Base) -> Option<Step> {
        let Job {
            step,
            entry,
            note,
            slow,
            ..
        } = base.jobs[job];
        let sense = self.recovery.soft_after(failed)?;
        let step = step.checked_add(1)?;
        base.counters.soft_reads += 1;
        Some(Step {
            levels: base.jobs.further(job).nearest.levels,
            haste: Haste::NONE,
            slow,
            sense,
            ..Step::of(step, entry, note)
        })
    }
}
