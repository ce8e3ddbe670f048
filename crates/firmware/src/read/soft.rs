//! Soft senses: tried around the best of the read levels that have failed.
//!
//! For each failed step the decoder reports how many parity checks its hard decisions left unsatisfied. The
//! soft senses are centred on the levels of the step with the fewest failed codewords; among equals, the one
//! with the fewest unsatisfied checks. Controllers know this much without looking into cells.
//!
//! Soft senses come when the hard steps have ended, or after as many hard steps without improvement in a row
//! as axis `recovery` says. If they fail, the hard steps continue. If a later hard step gets closer, its
//! levels may be sensed softly too.

use firstread_core::{SenseMode, SenseTiming};

use super::Read;
use crate::base::Base;
use crate::policy::read_levels::{Outcome, ReadCtx};
use crate::policy::recovery::Recovery;
use crate::policy::retry::Haste;
use crate::schedule::{Job, Jobs, Nearest, Step};

impl Read {
    /// A hard or soft step of the read of `job` has failed: records what this says about its levels.
    pub(crate) fn remember(&self, job: u32, outcome: &Outcome, jobs: &mut Jobs) {
        if self.recovery.soft_after(SenseMode::Hard).is_none() {
            return;
        }
        let Job {
            step,
            levels,
            sense,
            haste,
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
        } else if haste.timing == SenseTiming::DEFAULT {
            // That a short sense came no nearer says little about its levels.
            before.since = before.since.saturating_add(1);
        }
    }

    /// Whether soft senses come before the next hard step of `job`.
    pub(super) fn softens(&self, job: u32, jobs: &mut Jobs) -> bool {
        let after = self.recovery.hard_steps();
        let sense = jobs[job].sense;
        let nearest = jobs.further(job).nearest;
        let due = !nearest.tried && after.is_some_and(|after| nearest.since >= after);
        // If three senses were not enough, five senses come before anything else.
        sense != SenseMode::Hard || due
    }

    /// The step after the failed hard or soft step of `job`; none if nothing is left to try.
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
        // The outcome of a soft sense says nothing about what a hard step would have found.
        let last = (sense == SenseMode::Hard).then_some(outcome);
        let next = self.next_step(ctx, job, last, &base.jobs);
        if next.is_some() || base.jobs.further(job).nearest.tried {
            return next;
        }
        self.soft_step(job, SenseMode::Hard, base)
    }

    /// The soft step of `job` after one in mode `failed`.
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
