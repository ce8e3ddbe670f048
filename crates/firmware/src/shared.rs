//! State that all machines share: configuration, superblock table, jobs, die schedule, counters and heat.

use firstread_core::{Buf, CellMode, DieId, Layout, Ns, PageAddr, Ports, Ppa, SuperblockId};

use crate::config::Config;
use crate::log::Record;
use crate::observe::{Counters, Heat, RETRY_BINS, SuperblockTable, SuperblockUse};
use crate::policy::read_levels::ReadCtx;
use crate::schedule::{Jobs, Purpose, Schedule};

/// The outputs of the firmware, with its log records.
pub(crate) trait Out: Ports<Record = Record> {}

impl<P: Ports<Record = Record>> Out for P {}

/// State that all machines share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) blocks: SuperblockTable,
    pub(crate) jobs: Jobs,
    pub(crate) schedule: Schedule,
    pub(crate) counters: Counters,
    pub(crate) heat: Heat,
}

impl Shared {
    /// Slots of a superblock in `mode`.
    pub(crate) fn slots_of(&self, mode: CellMode) -> u32 {
        self.config.geometry.slots_per_superblock(mode)
    }

    /// The multi-plane page that holds `ppa`, and the index of the slot in it.
    #[inline]
    pub(crate) fn row_of(&self, ppa: Ppa) -> (PageAddr, u32) {
        let mode = self.blocks.row(ppa.block()).mode;
        self.layout.row_of(ppa, mode)
    }

    /// The slot with index `row_slot` of multi-plane page `at`.
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

    /// What the firmware knows of multi-plane page `at`.
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

    /// Unpins the superblock of `job`. Returns whether it was the last pin and the superblock waits to be
    /// erased.
    #[inline]
    pub(crate) fn unpin(&mut self, job: u32) -> bool {
        let job = &mut self.jobs[job];
        debug_assert!(job.pinned, "a read pins its superblock once");
        job.pinned = false;
        let row = self.blocks.row_mut(job.at.block);
        row.pins -= 1;
        row.leaving && row.pins == 0
    }

    /// Starts the next job of `die`, if it can start. A read is returned to the caller, who issues it.
    #[inline(always)] // Its only caller is on the path of every request.
    pub(crate) fn start_die(&mut self, now: Ns, die: DieId, ports: &mut impl Out) -> Option<u32> {
        self.schedule.start(now, die, &mut self.jobs, ports)
    }

    /// Queues a program or erase at `at`.
    pub(crate) fn push_change(&mut self, now: Ns, purpose: Purpose, at: PageAddr) {
        self.schedule.push_change(now, purpose, at, &mut self.jobs);
    }

    /// A host read waits for `die`: suspends the program or erase it runs, if the scheme says so.
    #[inline(always)] // In the common case the die runs a read, and this ends here.
    pub(crate) fn suspend_for_host(&mut self, now: Ns, die: DieId, ports: &mut impl Out) {
        self.schedule.suspend_for_host(now, die, &self.jobs, ports);
    }

    /// The program or erase of `job` has been suspended. Returns its die.
    pub(crate) fn stopped(&mut self, now: Ns, job: u32) -> DieId {
        self.schedule.stopped(now, job, &mut self.jobs)
    }

    /// The host read of `job` has succeeded: counts its retries.
    #[inline]
    pub(crate) fn count_retries(&mut self, job: u32) {
        let step = self.jobs[job].step as usize;
        self.counters.retries[step.min(RETRY_BINS - 1)] += 1;
    }

    /// Whether `block` is free.
    pub(crate) fn is_free(&self, block: SuperblockId) -> bool {
        self.blocks.row(block).usage == SuperblockUse::Free
    }
}
