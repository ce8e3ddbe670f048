//! Reads: the life of one page read, whoever asks for it: read levels, sense, and what follows from the
//! outcome.
//!
//! - `steps`: the levels of each step, and the steps that are sensed speculatively.
//! - `soft`: soft senses, once the hard steps have failed.
//! - `rebuild`: data rebuilt from the other dies of a stripe.
//! - `background`: reads that axis `read_levels` asks for by itself.
//! - `by_mode`: an instance of the schemes for each cell mode.

mod background;
mod by_mode;
mod rebuild;
mod rebuilds;
mod soft;
mod steps;

use alloc::boxed::Box;

use firstread_core::{CellMode, Ns, PageAddr, Priority, SenseMode, SuperblockId, Tag};

use crate::format::{Cursor, Record as _};
use crate::observe::{Counters, Outcome, ReadCtx, StepTimes, SuperblockTable};
use crate::policy::ModeSchemes;
use crate::policy::read_levels::{AnyReadLevels, ReadLevels};
use crate::policy::read_recovery::AnyReadRecovery;
use crate::policy::retry::{AnyRetry, ReadEnd, Retry, ShortSense};
use crate::schedule::{Job, NO_JOB, Purpose};
use crate::shared::{Out, Shared};

pub use background::Learned;
use by_mode::{Asked, ByMode};
use rebuilds::Rebuilds;

/// The read machine, with the schemes of axes `read_levels`, `retry` and `read_recovery`.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    levels: ByMode<AnyReadLevels>,
    /// When the scheme `levels` wants to be called next.
    levels_due: Ns,
    /// Whether the scheme `levels` has been told that power is on.
    has_started: bool,
    /// What tells the schemes `levels` and `retry` from others.
    identities: [u32; 2],
    retry: ByMode<AnyRetry>,
    /// How long steps take, if the scheme `retry` goes by it.
    step_times: StepTimes,
    read_recovery: AnyReadRecovery,
    /// The background reads in flight, in as many places as there may be.
    probes: Box<[Option<Asked>]>,
    /// Number of them.
    in_flight: u16,
    rebuilds: Rebuilds,
}

/// Most background reads in flight: the job of each has its place in a byte.
pub(crate) const MOST_PROBES: u16 = 1 << u8::BITS;

/// Saves the identity of a scheme, or loads it. Whether what follows is of this scheme; otherwise it is passed over.
fn is_of(identity: u32, cursor: &mut Cursor<'_>) -> bool {
    let mut saved = identity;
    saved.transfer(cursor);
    let is_same = saved == identity;
    if !is_same {
        cursor.skip();
    }
    is_same
}

impl Read {
    /// The machine of a drive whose superblocks start in `mode`.
    pub(crate) fn new(
        mode: CellMode,
        levels: AnyReadLevels,
        retry: AnyRetry,
        read_recovery: AnyReadRecovery,
        others: Box<[ModeSchemes]>,
        identities: [u32; 2],
        channels: u16,
    ) -> Read {
        let retries = others.iter().map(|of| (of.mode, of.retry.clone()));
        let retry = ByMode::new(mode, retry, retries);
        let others = others.into_iter().map(|of| (of.mode, of.read_levels));
        let levels = ByMode::new(mode, levels, others);
        let priced = retry.own().prices_steps();
        let most = levels.own().most_probes().clamp(1, MOST_PROBES);
        Read {
            levels_due: levels.due(),
            has_started: false,
            identities,
            levels,
            retry,
            step_times: StepTimes::new(if priced { channels } else { 0 }),
            read_recovery,
            probes: alloc::vec![None; usize::from(most)].into_boxed_slice(),
            in_flight: 0,
            rebuilds: Rebuilds::default(),
        }
    }

    /// Saves what axis `read_levels` has learned, with the background reads that it waits for, or loads that. A section of
    /// another scheme, or of one with other parameters, is passed over.
    pub(crate) fn transfer_levels(&mut self, cursor: &mut Cursor<'_>) {
        let Read {
            levels,
            // Follows from `levels`.
            levels_due: _,
            has_started,
            identities: [identity, _],
            retry: _,
            // They are of the load, and observed anew.
            step_times: _,
            // Reads in flight are lost.
            read_recovery: _,
            probes,
            // Follows from `probes`.
            in_flight: _,
            rebuilds: _,
        } = self;
        if is_of(*identity, cursor) {
            levels.transfer(cursor);
            probes.iter_mut().for_each(|probe| probe.transfer(cursor));
            *has_started |= cursor.is_loading();
        }
    }

    /// The same for what axis `retry` has learned.
    pub(crate) fn transfer_retry(&mut self, cursor: &mut Cursor<'_>) {
        let [_, identity] = self.identities;
        if is_of(identity, cursor) {
            self.retry.transfer(cursor);
        }
    }

    /// After both were loaded.
    pub(crate) fn loaded(&mut self) {
        self.levels_due = self.levels.due();
        self.in_flight = self.probes.iter().flatten().count() as u16;
    }

    /// The scheme of axis `read_levels`, for superblocks in the mode in which they start.
    pub(crate) fn levels(&self) -> &AnyReadLevels {
        self.levels.own()
    }

    /// The scheme of axis `read_levels` for superblocks in each cell mode.
    pub(crate) fn levels_by_mode(&self) -> impl Iterator<Item = (CellMode, &AnyReadLevels)> {
        self.levels.each()
    }

    /// Whether reads of superblocks in `mode` have levels of their own.
    pub(crate) fn has_levels(&self, mode: CellMode) -> bool {
        self.levels.has(mode)
    }

    /// Tags per job. The second tag is for steps that are sensed speculatively.
    pub(crate) fn tags_per_job(&self) -> u32 {
        1 + self.retry.own().pipelines() as u32
    }

    /// `block` has begun to hold data, or no longer holds any.
    pub(crate) fn block_changed(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable) {
        self.levels.on_block(now, block, blocks, self.has_started);
        self.levels_due = self.levels.due();
    }

    /// Queues a read of multi-plane page `at` under `job`.
    #[allow(clippy::too_many_arguments)] // the fields of a job, spelled out once
    pub(crate) fn start(
        &mut self,
        now: Ns,
        job: u32,
        purpose: Purpose,
        priority: Priority,
        at: PageAddr,
        wanted: u64,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        shared.jobs[job] = Job {
            purpose,
            priority,
            at,
            wanted,
            asked: wanted,
            queued: now,
            began: now,
            is_waiting: true,
            joined: NO_JOB,
            step: 0,
            pinned: true,
            is_speculative: false,
            high_tag: false,
            entry: 0,
            short_sense: ShortSense::NONE,
            slow: false,
            used_short_sense: false,
            sense: SenseMode::Hard,
            ..shared.jobs[job]
        };
        shared.blocks.pin(at.block);
        shared.schedule.push(job, &mut shared.jobs);
        shared.start_die(now, at.die, self, ports);
        if priority == Priority::Host {
            shared.suspend_for_host(now, at.die, ports);
        }
    }

    /// A step of the read of `job` has been decoded with `outcome`: starts the next step. If there is none,
    /// returns the failed codewords: the read has ended, unless they are rebuilt.
    pub(crate) fn decoded(
        &mut self,
        now: Ns,
        job: u32,
        outcome: &Outcome,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> Option<u64> {
        let Job {
            at,
            step,
            priority,
            is_speculative,
            ..
        } = shared.jobs[job];
        let ok = outcome.failed == 0;
        let ctx = shared.blocks.read_ctx(now, at);
        self.time_step(&ctx, job, ok, shared);
        if is_speculative && self.speculative_decoded(now, job, outcome, shared, ports) {
            return None;
        }
        if !ok && let Some(next) = self.step_after(&ctx, job, outcome, shared) {
            let state = &mut shared.jobs[job];
            state.wanted = outcome.failed;
            state.queued = now;
            state.high_tag = false;
            state.begin(next);
            shared.schedule.push_front(job, &mut shared.jobs);
            shared.start_die(now, at.die, self, ports);
            if priority == Priority::Host {
                shared.suspend_for_host(now, at.die, ports);
            }
            return None;
        }
        let Job {
            entry,
            used_short_sense,
            note,
            sense,
            ..
        } = shared.jobs[job];
        let soft;
        let told = match sense {
            SenseMode::Hard => outcome,
            _ => {
                soft = of_hard_steps(outcome, &mut shared.counters);
                &soft
            }
        };
        // A step that an oracle of axis `retry` tried by itself says nothing about the scheme's levels.
        if entry != 0 || step == 0 {
            self.levels.of(ctx.mode).on_read(&ctx, entry, told, note);
        }
        let retry = self.retry.of(ctx.mode);
        let end = ReadEnd {
            entry,
            steps: step,
            used_short_sense,
        };
        retry.on_read(&ctx, end, told, &self.step_times);
        Some(outcome.failed)
    }

    /// The current step of `job` has been decoded: how long that took.
    #[inline]
    fn time_step(&mut self, ctx: &ReadCtx, job: u32, ok: bool, shared: &Shared) {
        let Job {
            issued,
            sense,
            short_sense,
            ..
        } = shared.jobs[job];
        let hard = sense == SenseMode::Hard;
        let sense = self
            .retry
            .of(ctx.mode)
            .sense_ns(ctx.at.page, short_sense.timing);
        if let Some(sense) = sense {
            let sensed = issued.filter(|_| hard).map(|at| at + sense);
            let channel = shared.layout.channel(ctx.at.die);
            self.step_times.decoded(ctx.now, channel, sensed, !ok);
        }
    }

    /// A command waits for the read of `job`, which was started for another purpose. From now on it is a host
    /// read.
    pub(crate) fn make_host_read(
        &mut self,
        now: Ns,
        job: u32,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        let Job {
            at, priority, step, ..
        } = shared.jobs[job];
        shared.jobs[job].priority = Priority::Host;
        ports.join(Tag(job), shared.jobs[job].class(step));
        // If the read has not been issued, the host has waited for it only since now.
        (shared.jobs[job].queued, shared.jobs[job].began) = (now, now);
        let waits =
            priority != Priority::Host && shared.schedule.promote(job, priority, &mut shared.jobs);
        if waits {
            shared.start_die(now, at.die, self, ports);
            shared.suspend_for_host(now, at.die, ports);
        }
    }
}

/// A soft step has ended the read with `outcome`. Returns the outcome of the hard steps, which have all
/// failed.
#[cold]
fn of_hard_steps(outcome: &Outcome, counters: &mut Counters) -> Outcome {
    counters.soft_saved += (outcome.failed == 0) as u64;
    Outcome {
        failed: outcome.wanted,
        max_errors: 0,
        sum_errors: 0,
        ..*outcome
    }
}
