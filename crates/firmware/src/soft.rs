//! Soft senses: what is tried for a read around the nearest of the levels that have failed.
//!
//! Of each failed step the decoder tells how many parity checks its hard decisions left unsatisfied.
//! The levels of the step with the fewest codewords failed, and of these with the fewest checks, are
//! the centre of the soft senses: what controllers know without looking into cells.
//!
//! They come when the hard steps have ended, or when so many in a row as axis `recovery` says came no
//! nearer. Where they fail, the hard steps go on; levels that come nearer still may be sensed softly too.

use firstread_core::{Arena, Levels, SenseMode};

use crate::Firmware;
use crate::job::Job;
use crate::policy::read_levels::{Outcome, ReadCtx};
use crate::policy::recovery::Recovery;
use crate::policy::retry::Haste;
use crate::retry::Step;

/// The step of a read that came nearest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    failed: u8,
    unsatisfied: u16,
    levels: Levels,
    /// Hard steps since, none of which came nearer.
    since: u8,
    /// Whether soft senses around its levels have failed.
    tried: bool,
}

impl Nearest {
    /// No step yet.
    pub(crate) const NONE: Nearest = Nearest {
        failed: u8::MAX,
        unsatisfied: u16::MAX,
        levels: Levels::DEFAULT,
        since: 0,
        tried: false,
    };
}

impl<M: Arena> Firmware<M> {
    /// A step of the read of `job` has failed, hard or soft: notes what that says of its levels.
    pub(crate) fn remember(&mut self, job: u32, outcome: &Outcome) {
        if self.recovery.soft_after(SenseMode::Hard).is_none() {
            return;
        }
        let Job {
            step,
            levels,
            sense,
            ..
        } = self.jobs[job];
        let before = &mut self.jobs.further(job).nearest;
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
    pub(crate) fn softens(&mut self, job: u32) -> bool {
        let after = self.recovery.hard_steps();
        let sense = self.jobs[job].sense;
        let nearest = self.jobs.further(job).nearest;
        let due = !nearest.tried && after.is_some_and(|after| nearest.since >= after);
        // Five senses where three were not enough, before anything else.
        sense != SenseMode::Hard || due
    }

    /// The step after the one of `job` that has failed, hard or soft, or none when there is nothing
    /// left to try.
    #[inline(never)]
    pub(crate) fn step_after(
        &mut self,
        ctx: &ReadCtx,
        job: u32,
        outcome: &Outcome,
    ) -> Option<Step> {
        let sense = self.jobs[job].sense;
        if self.softens(job)
            && let Some(next) = self.soft_step(job, sense)
        {
            return Some(next);
        }
        // What a soft sense tells of spare cells and codewords is not what a hard step would.
        let last = (sense == SenseMode::Hard).then_some(outcome);
        let next = self.next_step(ctx, job, last);
        if next.is_some() || self.jobs.further(job).nearest.tried {
            return next;
        }
        self.soft_step(job, SenseMode::Hard)
    }

    /// The soft step of `job` after one that sensed `failed`.
    fn soft_step(&mut self, job: u32, failed: SenseMode) -> Option<Step> {
        let Job {
            step,
            entry,
            note,
            slow,
            ..
        } = self.jobs[job];
        let sense = self.recovery.soft_after(failed)?;
        let step = step.checked_add(1)?;
        self.counters.soft_reads += 1;
        Some(Step {
            levels: self.jobs.further(job).nearest.levels,
            haste: Haste::NONE,
            slow,
            sense,
            ..Step::of(step, entry, note)
        })
    }

    /// A soft step has ended the read: the outcome of its hard steps, which have all failed.
    #[cold]
    pub(crate) fn soft_decoded(&mut self, outcome: &Outcome) -> Outcome {
        self.counters.soft_saved += (outcome.failed == 0) as u64;
        Outcome {
            failed: outcome.wanted,
            max_errors: 0,
            sum_errors: 0,
            ..*outcome
        }
    }
}
