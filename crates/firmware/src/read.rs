//! The life of one page read: levels, sense, and what follows from the outcome.

use firstread_core::{Arena, Buf, FlashKind, Ns, PageAddr, Ports, Priority, SenseMode};

use crate::Firmware;
use crate::job::{Job, NO_JOB, Purpose};
use crate::log::Record;
use crate::observe::RETRY_BINS;
use crate::policy::read_levels::{Outcome, Probe, ProbeResult, ReadCtx, ReadLevels};
use crate::policy::retry::{Haste, Retry};

impl<M: Arena> Firmware<M> {
    /// Queues a read of page row `at` under `job`.
    #[allow(clippy::too_many_arguments)] // the fields of a job, spelled out once
    pub(crate) fn start_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        purpose: Purpose,
        priority: Priority,
        at: PageAddr,
        wanted: u64,
        ports: &mut P,
    ) {
        self.jobs[job] = Job {
            purpose,
            priority,
            at,
            wanted,
            queued: now,
            is_waiting: true,
            joined: NO_JOB,
            step: 0,
            pinned: true,
            is_ahead: false,
            high_tag: false,
            entry: 0,
            haste: Haste::NONE,
            slow: false,
            hurried: false,
            sense: SenseMode::Hard,
            ..self.jobs[job]
        };
        self.blocks.row_mut(at.block).pins += 1;
        self.dies.push(&mut self.jobs, at.die, priority, job);
        self.start_die(now, at.die, ports);
        if priority == Priority::Host {
            self.suspend_for_host(now, at.die, ports);
        }
    }

    /// `job` needs its superblock no more. True when that was the last to keep it from its erase.
    pub(crate) fn unpin(&mut self, job: u32) -> bool {
        let job = &mut self.jobs[job];
        debug_assert!(job.pinned, "a read pins its superblock once");
        job.pinned = false;
        let row = self.blocks.row_mut(job.at.block);
        row.pins -= 1;
        row.leaving && row.pins == 0
    }

    /// Issues the sense of `job`, whose die is free.
    pub(crate) fn issue_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ports: &mut P,
    ) {
        let Job {
            purpose,
            at,
            wanted,
            step,
            queued,
            ..
        } = self.jobs[job];
        let mode = match purpose {
            Purpose::Probe => self.probe.expect("a probe is in flight").mode,
            _ => self.jobs[job].sense,
        };
        let class = self.read_class(job, step);
        self.jobs[job].is_waiting = false;
        if step == 0 && purpose != Purpose::Probe {
            // The freshest levels are those of the moment the sense starts.
            let ctx = self.read_ctx(now, at);
            let state = &mut self.jobs[job];
            state.note = 0;
            state.levels = self
                .levels
                .attempt(&ctx, 0, None, &mut state.note)
                .expect("every scheme has a first attempt");
        }
        let row = self.blocks.row_mut(at.block);
        row.reads += 1;
        let kind = FlashKind::Read {
            block: at.block,
            wordline: at.wordline,
            page: at.page,
            cell_mode: row.mode,
            wanted,
            levels: self.jobs[job].levels,
            timing: self.jobs[job].haste.timing,
            mode,
            buf: self.job_buffer(job),
        };
        self.issue(queued, job, class, kind, ports);
        if self.retry.looks_ahead(step) {
            self.look_ahead(now, job, ports);
        }
    }

    /// The read of `job` has been decoded.
    pub(crate) fn decoded<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        outcome: Outcome,
        ports: &mut P,
    ) {
        let Job {
            purpose,
            at,
            step,
            priority,
            is_ahead,
            ..
        } = self.jobs[job];
        if purpose == Purpose::Probe {
            return self.probe_done(now, job, ProbeResult::Decoded(outcome), ports);
        }
        let ok = outcome.failed == 0;
        if !ok {
            self.remember(job, &outcome);
            if self.jobs[job].joined != NO_JOB {
                self.serve_early(now, job, outcome.failed, ports);
            }
        }
        if is_ahead && self.ahead_decoded(now, job, &outcome, ports) {
            return;
        }
        let ctx = self.read_ctx(now, at);
        if !ok && let Some(next) = self.step_after(&ctx, job, &outcome) {
            let state = &mut self.jobs[job];
            state.wanted = outcome.failed;
            state.queued = now;
            state.high_tag = false;
            state.begin(next);
            self.dies.push_front(&mut self.jobs, at.die, priority, job);
            self.start_die(now, at.die, ports);
            if priority == Priority::Host {
                self.suspend_for_host(now, at.die, ports);
            }
            return;
        }
        let Job {
            entry,
            haste,
            note,
            sense,
            ..
        } = self.jobs[job];
        let soft;
        let told = match sense {
            SenseMode::Hard => &outcome,
            _ => {
                soft = self.soft_decoded(&outcome);
                &soft
            }
        };
        // What an oracle's own step found is nothing the scheme tried.
        if entry != 0 || step == 0 {
            self.levels.on_read(&ctx, entry, told, note);
        }
        self.retry.on_read(&ctx, entry, haste.timing, told);
        if !ok && self.rebuild(now, job, outcome.failed, ports) {
            return;
        }
        self.read_ended(now, job, outcome.failed, ports);
    }

    /// The read of `job` has ended, for good or with codewords `failed` lost.
    #[inline(always)] // Of one read, and of one in millions that is made anew.
    pub(crate) fn read_ended<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        ports: &mut P,
    ) {
        let Job { purpose, step, .. } = self.jobs[job];
        let ok = failed == 0;
        if let Purpose::Move { .. } = purpose {
            self.counters.move_retries += step as u64;
            return self.move_read(now, job, failed, ports);
        }
        let last = self.unpin(job);
        match purpose {
            Purpose::HostRead {
                id,
                first,
                slots,
                row_slot,
                bytes,
            } => {
                if ok {
                    self.counters.retries[(step as usize).min(RETRY_BINS - 1)] += 1;
                    ports.data_out(
                        id,
                        first,
                        slots as u32,
                        self.job_buffer(job).slot(row_slot as u32),
                        bytes,
                    );
                } else {
                    self.counters.uncorrectable += 1;
                    self.counters.lost_retries += step as u64;
                }
                if ok && self.read_cache.keeps() {
                    self.keep_read(id, first, slots as u32, row_slot as u32, job, ports);
                }
                self.host_read_done(id, job, ok, ports);
                self.release_read(now, job, ports);
            }
            Purpose::SharedRead => {
                if ok {
                    self.counters.retries[(step as usize).min(RETRY_BINS - 1)] += 1;
                }
                self.shared_read_ended(now, job, failed, ports);
            }
            Purpose::Merge { merge, .. } => {
                self.merge_read(merge, job, ok, ports);
                self.go_on_merging(now, ports);
            }
            Purpose::MapRead { .. } => self.map_read(now, job, ok, ports),
            Purpose::ReadAhead => self.ahead_read(now, job, failed, ports),
            Purpose::Rebuild => self.rebuild_row_read(now, job, failed, ports),
            Purpose::Free
            | Purpose::Probe
            | Purpose::Move { .. }
            | Purpose::Program { .. }
            | Purpose::Erase { .. } => {
                unreachable!("{purpose:?} decodes nothing")
            }
        }
        let wanted = core::mem::take(&mut self.commands.want_job);
        if wanted {
            self.resume_writes(now, ports);
        }
        if wanted || last {
            self.pump(now, ports);
        }
    }

    /// Frees the job of a read and lets in what waited for one.
    pub(crate) fn release_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ports: &mut P,
    ) {
        self.jobs.release(job);
        self.resume_reads(now, ports);
    }

    /// Starts the next background read of `read_levels` that is due, unless one is in flight.
    pub(crate) fn start_probe<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.probe.is_some() || self.levels_due > now {
            return;
        }
        let probe = self
            .levels
            .probe(now, &self.blocks, &mut |record| ports.log(record));
        self.levels_due = self.levels.due();
        let Some(probe) = probe else {
            return;
        };
        self.counters.background_reads += 1;
        self.read_probe(now, probe, ports);
    }

    /// Queues the background read `probe`.
    pub(crate) fn read_probe<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        probe: Probe,
        ports: &mut P,
    ) {
        let job = self
            .jobs
            .take()
            .expect("a job is reserved for the one probe in flight");
        let codewords = self.layout.codewords_per_page();
        let wanted = (0..self.config.geometry.planes as u32)
            .filter(|plane| probe.planes >> plane & 1 != 0)
            .fold(0u64, |all, plane| {
                all | (u64::MAX >> (64 - codewords)) << (plane * codewords)
            });
        self.probe = Some(probe);
        self.jobs[job].levels = probe.levels;
        self.start_read(
            now,
            job,
            Purpose::Probe,
            Priority::Background,
            probe.at,
            wanted,
            ports,
        );
    }

    /// A background read has come back.
    pub(crate) fn probe_done<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        result: ProbeResult,
        ports: &mut P,
    ) {
        let probe = self.probe.take().expect("a probe is in flight");
        self.levels
            .on_probe(now, &probe, &result, &self.blocks, &mut |record| {
                ports.log(record)
            });
        self.levels_due = self.levels.due();
        let last = self.unpin(job);
        self.release_read(now, job, ports);
        self.start_probe(now, ports);
        if last {
            self.pump(now, ports);
        }
    }

    /// First slot buffer of `job`.
    pub(crate) fn job_buffer(&self, job: u32) -> Buf {
        Buf(job * self.layout.slots_per_row())
    }

    /// Buffer of the one slot that `job` has read for a merge.
    pub(crate) fn merge_buffer(&self, job: u32) -> Buf {
        let Purpose::Merge { row_slot, .. } = self.jobs[job].purpose else {
            unreachable!("a merge waits for a read of its own")
        };
        self.job_buffer(job).slot(row_slot as u32)
    }

    pub(crate) fn read_ctx(&self, now: Ns, at: PageAddr) -> ReadCtx {
        let row = self.blocks.row(at.block);
        ReadCtx {
            now,
            at,
            mode: row.mode,
            pe_cycles: row.pe_cycles,
            age: now.since(row.programmed_at),
        }
    }
}
