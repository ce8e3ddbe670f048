//! Starts what a die does next: a read, a program or an erase, or a suspended program or erase again.
//!
//! The levels of a read are chosen when its sense starts, so that they are the newest. The schedule asks the read
//! machine for them ([`ReadSteps`]).

use firstread_core::{DieId, FlashKind, FlashOp, Ns, Ports, Priority, SenseMode, Tag};

use super::Schedule;
use super::job::{Job, Jobs, Purpose, Step};
use crate::observe::{Outcome, ReadCtx, SuperblockTable};

/// The steps of a read, as the schedule asks for them.
pub(crate) trait ReadSteps {
    /// The current step of the read `job` begins to be sensed. Chooses the levels of a first step; those of a later step
    /// were chosen before. Returns the mode of the sense.
    fn sensed(&mut self, ctx: &ReadCtx, job: &mut Job) -> SenseMode;

    /// Whether the step after `step` may be sensed before the outcome of `step` is known.
    fn pipelines_after(&self, step: u8) -> bool;

    /// Whether a host read keeps its die for the step after `step` while other host reads wait for that die.
    fn keeps_die(&self, step: u8) -> bool;

    /// The step after the current step of `job`; none if nothing is left to try. `last` is the outcome of the current
    /// step, if it is known yet.
    fn next_step(
        &mut self,
        ctx: &ReadCtx,
        job: u32,
        last: Option<&Outcome>,
        jobs: &Jobs,
    ) -> Option<Step>;
}

impl Schedule {
    /// Starts the next job of `die`, if the die is idle. If planes read independently, starts all jobs whose
    /// planes are idle.
    #[inline]
    pub(crate) fn start_die(
        &mut self,
        now: Ns,
        die: DieId,
        reads: &mut impl ReadSteps,
        jobs: &mut Jobs,
        blocks: &mut SuperblockTable,
        ports: &mut impl Ports,
    ) {
        if self.may_start(die) {
            self.start_jobs(now, die, reads, jobs, blocks, ports);
        }
    }

    #[inline(never)] // Every operation starts here.
    fn start_jobs(
        &mut self,
        now: Ns,
        die: DieId,
        reads: &mut impl ReadSteps,
        jobs: &mut Jobs,
        blocks: &mut SuperblockTable,
        ports: &mut impl Ports,
    ) {
        if self.is_paused && !self.dies.has_suspended(die) {
            return;
        }
        while let Some(job) = self.start(now, die, jobs, blocks, ports) {
            self.issue_read(now, job, reads, jobs, blocks, ports);
            if !self.has_independent_planes() {
                return;
            }
        }
    }

    /// Issues the sense of `job`, whose die is free.
    #[inline(always)] // Its only caller is on the path of every request.
    fn issue_read(
        &mut self,
        now: Ns,
        job: u32,
        reads: &mut impl ReadSteps,
        jobs: &mut Jobs,
        blocks: &mut SuperblockTable,
        ports: &mut impl Ports,
    ) {
        let buf = jobs.buffer(job);
        let at = jobs[job].at;
        let ctx = blocks.read_ctx(now, at);
        // Each sense counts, retries and cancelled ones too, because each disturbs the block.
        blocks.count_read(at.block);
        let state = &mut jobs[job];
        let step = state.step;
        state.is_waiting = false;
        state.issued = Some(now);
        let mode = reads.sensed(&ctx, state);
        ports.issue(FlashOp {
            tag: Tag(job),
            die: at.die,
            after: None,
            class: state.class(step),
            queued: state.queued,
            kind: FlashKind::Read {
                block: at.block,
                on: blocks.block_of(at.block, at.die),
                wordline: at.wordline,
                page: at.page,
                cell_mode: ctx.mode,
                wanted: state.wanted,
                levels: state.levels,
                timing: state.short_sense.timing,
                mode,
                buf,
            },
        });
        if reads.pipelines_after(step) {
            self.issue_speculative(now, job, reads, jobs, blocks, ports);
        }
    }

    /// The current step of `job` begins to be sensed, or its output has been asked for. Issues the next step
    /// as a speculative sense, unless the read has to give way. Without one, the die is free once the current
    /// step is transferred.
    ///
    /// A speculative step is sensed before the outcome of the step before it is known. It is an operation of its
    /// own under the job's other tag. The two tags of a job alternate, so the step whose outcome is awaited and
    /// the next one never share a tag.
    pub(crate) fn issue_speculative(
        &mut self,
        now: Ns,
        job: u32,
        reads: &mut impl ReadSteps,
        jobs: &mut Jobs,
        blocks: &mut SuperblockTable,
        ports: &mut impl Ports,
    ) {
        let Job {
            purpose,
            priority,
            at,
            wanted,
            step,
            sense,
            ..
        } = jobs[job];
        // A soft sense rarely fails, so no step is sensed speculatively after it.
        let alone = matches!(purpose, Purpose::Probe) || sense != SenseMode::Hard;
        if alone || !reads.pipelines_after(step) {
            return;
        }
        // A read that no host command waits for does not keep a die that the host waits for.
        // Nor does a host read keep it for long: a walk to the end of a table of 39 entries would take 11 ms
        // (docs/firmware/retry.md).
        let keeps = priority == Priority::Host && reads.keeps_die(step);
        if !keeps && self.dies.host_waits(at.die) || self.dies.is_turn_due(now, jobs, at.die) {
            return;
        }
        let ctx = blocks.read_ctx(now, at);
        let Some(next) = reads.next_step(&ctx, job, None, jobs) else {
            return;
        };
        jobs[job].is_speculative = true;
        jobs.retry_state(job).ahead = next;
        blocks.count_read(at.block);
        ports.issue(FlashOp {
            tag: jobs.step_tag(job, true),
            die: at.die,
            after: Some(jobs.step_tag(job, false)),
            class: jobs[job].class(step + 1),
            queued: now,
            kind: FlashKind::Read {
                block: at.block,
                on: blocks.block_of(at.block, at.die),
                wordline: at.wordline,
                page: at.page,
                cell_mode: ctx.mode,
                wanted,
                levels: next.levels,
                timing: next.short_sense.timing,
                mode: SenseMode::Hard,
                buf: jobs.buffer(job),
            },
        });
    }
}
