//! What every machine stands on: the configuration, the superblocks' rows, the jobs and their schedule,
//! the counters.

use firstread_core::{BlockId, Buf, CellMode, DieId, Layout, Ns, PageAddr, Ports, Ppa};

use crate::config::Config;
use crate::log::Record;
use crate::observe::{BlockMonitor, BlockUse, Counters, RETRY_BINS};
use crate::policy::read_levels::ReadCtx;
use crate::schedule::{Jobs, Purpose, Schedule};

/// The outputs of the firmware, with its log records.
pub(crate) trait Out: Ports<Record = Record> {}

impl<P: Ports<Record = Record>> Out for P {}

/// The records that all machines share.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) blocks: BlockMonitor,
    pub(crate) jobs: Jobs,
    pub(crate) schedule: Schedule,
    pub(crate) counters: Counters,
}

impl Base {
    /// Slots of a superblock of `mode`.
    pub(crate) fn slots_of(&self, mode: CellMode) -> u32 {
        self.config.geometry.slots_per_superblock(mode)
    }

    /// The page row that `ppa` lies in, and its slot of it.
    #[inline]
    pub(crate) fn row_of(&self, ppa: Ppa) -> (PageAddr, u32) {
        let mode = self.blocks.row(ppa.block()).mode;
        self.layout.row_of(ppa, mode)
    }

    /// The slot `row_slot` of page row `at`.
    #[inline]
    pub(crate) fn ppa_in(&self, at: PageAddr, row_slot: u32) -> Ppa {
        let mode = self.blocks.row(at.block).mode;
        self.layout.slot_at(at, row_slot, mode)
    }

    /// First slot buffer of `job`.
    #[inline]
    pub(crate) fn job_buffer(&self, job: u32) -> Buf {
        Buf(job * self.layout.slots_per_row())
    }

    /// What is known of page row `at`.
    #[inline]
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

    /// `job` needs its superblock no more. True when that was the last to keep it from its erase.
    #[inline]
    pub(crate) fn unpin(&mut self, job: u32) -> bool {
        let job = &mut self.jobs[job];
        debug_assert!(job.pinned, "a read pins its superblock once");
        job.pinned = false;
        let row = self.blocks.row_mut(job.at.block);
        row.pins -= 1;
        row.leaving && row.pins == 0
    }

    /// Starts the next job of `die`, if it can start. A read is returned: the caller issues it.
    #[inline(always)] // Of one caller, whose path it is part of.
    pub(crate) fn start_die(&mut self, now: Ns, die: DieId, ports: &mut impl Out) -> Option<u32> {
        self.schedule.start(now, die, &mut self.jobs, ports)
    }

    /// Queues a program or an erase at `at`.
    pub(crate) fn push_change(&mut self, now: Ns, purpose: Purpose, at: PageAddr) {
        self.schedule.push_change(now, purpose, at, &mut self.jobs);
    }

    /// A read of the host waits for `die`: suspends what it runs, if the scheme says so.
    #[inline(always)] // What most dies run ends here: a read.
    pub(crate) fn suspend_for_host(&mut self, now: Ns, die: DieId, ports: &mut impl Out) {
        self.schedule.suspend_for_host(now, die, &self.jobs, ports);
    }

    /// The program or erase of `job` has stopped, to go on later: its die.
    pub(crate) fn stopped(&mut self, now: Ns, job: u32) -> DieId {
        self.schedule.stopped(now, job, &mut self.jobs)
    }

    /// A read of the host under `job` has come to a good end: counts its retries.
    #[inline]
    pub(crate) fn count_retries(&mut self, job: u32) {
        let step = self.jobs[job].step as usize;
        self.counters.retries[step.min(RETRY_BINS - 1)] += 1;
    }

    /// Whether `block` is free.
    pub(crate) fn is_free(&self, block: BlockId) -> bool {
        self.blocks.row(block).usage == BlockUse::Free
    }
}
