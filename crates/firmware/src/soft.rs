//! What is left for a read whose steps have all failed: to sense softly around its nearest levels.
//!
//! Of each failed step the decoder tells how many parity checks its hard decisions left unsatisfied.
//! The levels of the step with the fewest codewords failed, and of these with the fewest checks, are
//! the centre of the soft senses: what controllers know without looking into cells.

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
}

impl Nearest {
    /// No step yet.
    pub(crate) const NONE: Nearest = Nearest {
        failed: u8::MAX,
        unsatisfied: u16::MAX,
        levels: Levels::DEFAULT,
    };
}

impl<M: Arena> Firmware<M> {
    /// A step of the read of `job` has failed: keeps its levels, if they are the nearest so far.
    pub(crate) fn remember(&mut self, job: u32, outcome: &Outcome) {
        if self.recovery.soft_after(SenseMode::Hard).is_none() {
            return;
        }
        let Job { step, levels, .. } = self.jobs[job];
        let nearest = Nearest {
            failed: outcome.failed.count_ones() as u8,
            unsatisfied: outcome.unsatisfied,
            levels,
        };
        let before = &mut self.jobs.further(job).nearest;
        if step == 0 || (nearest.failed, nearest.unsatisfied) < (before.failed, before.unsatisfied)
        {
            *before = nearest;
        }
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
        self.remember(job, outcome);
        let next = self.next_step(ctx, job, Some(outcome));
        next.or_else(|| self.soft_step(job))
    }

    /// The soft step after what `job` has tried.
    fn soft_step(&mut self, job: u32) -> Option<Step> {
        let Job {
            sense,
            step,
            entry,
            note,
            ..
        } = self.jobs[job];
        let sense = self.recovery.soft_after(sense)?;
        let step = step.checked_add(1)?;
        self.counters.soft_reads += 1;
        Some(Step {
            levels: self.jobs.further(job).nearest.levels,
            haste: Haste::NONE,
            slow: true,
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
