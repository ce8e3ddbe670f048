//! Soft senses: tried around the best of the read levels that have failed.
//!
//! For each failed step the decoder reports how many parity checks its hard decisions left unsatisfied. The
//! soft senses are centred on the levels of the step with the fewest failed codewords; among equals, the one
//! with the fewest unsatisfied checks. Controllers know this much without looking into cells.
//!
//! Soft senses come when the hard steps have ended, or after as many hard steps without improvement in a row
//! as axis `read_recovery` says. If they fail, the hard steps continue. If a later hard step gets closer, its
//! levels may be sensed softly too.

use firstread_core::{SenseMode, SenseTiming};

use super::Read;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::read_recovery::ReadRecovery;
use crate::policy::retry::ShortSense;
use crate::schedule::{Job, Jobs, Nearest, ReadSteps, Step};
use crate::shared::Shared;

impl Read {
    /// A hard or soft step of the read of `job` has failed: records what this says about its levels.
    pub(crate) fn remember(&self, job: u32, outcome: &Outcome, jobs: &mut Jobs) {
        if self.read_recovery.soft_after(SenseMode::Hard).is_none() {
            return;
        }
        let Job {
            step,
            levels,
            sense,
            short_sense,
            ..
        } = jobs[job];
        let before = &mut jobs.retry_state(job).nearest;
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
        } else if short_sense.timing == SenseTiming::DEFAULT {
            // That a short sense came no nearer says little about its levels.
            before.since = before.since.saturating_add(1);
        }
    }

    /// Whether soft senses come before the next hard step of `job`.
    pub(super) fn softens(&self, job: u32, jobs: &mut Jobs) -> bool {
        let after = self.read_recovery.hard_steps();
        let sense = jobs[job].sense;
        let nearest = jobs.retry_state(job).nearest;
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
        shared: &mut Shared,
    ) -> Option<Step> {
        let sense = shared.jobs[job].sense;
        if self.softens(job, &mut shared.jobs)
            && let Some(next) = self.soft_step(job, sense, shared)
        {
            return Some(next);
        }
        // The outcome of a soft sense says nothing about what a hard step would have found.
        let last = (sense == SenseMode::Hard).then_some(outcome);
        let next = self.next_step(ctx, job, last, &shared.jobs);
        if next.is_some() || shared.jobs.retry_state(job).nearest.tried {
            return next;
        }
        self.soft_step(job, SenseMode::Hard, shared)
    }

    /// The soft step of `job` after one in mode `failed`.
    fn soft_step(&self, job: u32, failed: SenseMode, shared: &mut Shared) -> Option<Step> {
        let Job {
            step,
            entry,
            note,
            slow,
            ..
        } = shared.jobs[job];
        let sense = self.read_recovery.soft_after(failed)?;
        let step = step.checked_add(1)?;
        shared.counters.soft_reads += 1;
        Some(Step {
            levels: shared.jobs.retry_state(job).nearest.levels,
            short_sense: ShortSense::NONE,
            slow,
            sense,
            ..Step::of(step, entry, note)
        })
    }
}

#[cfg(test)]
mod tests;
