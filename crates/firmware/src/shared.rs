//! State that all machines share: configuration, superblock table, jobs, die schedule, counters, heat and the future.

use firstread_core::{CellMode, DieId, Layout, Ns, PageAddr, Ports, Ppa, SuperblockId};

use crate::config::Config;
use crate::log::{Record, What};
use crate::observe::{
    Counters, Future, Heat, RETRY_BINS, Regions, SuperblockInfo, SuperblockTable, SuperblockUse,
    page_type_bin,
};
use crate::policy::suspend::AnySuspend;
use crate::schedule::{Jobs, Purpose, ReadSteps, Schedule};

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
    pub(crate) future: Future,
}

impl Shared {
    /// For an empty drive of `config` with `jobs`, whose superblocks are divided into `regions`.
    /// `background_gives_way`: a host read ends a background read on its die.
    pub(crate) fn new(
        config: Config,
        regions: Regions,
        suspend: AnySuspend,
        background_gives_way: bool,
        jobs: Jobs,
    ) -> Shared {
        let mut blocks = SuperblockTable::new(config.geometry.blocks_per_plane, config.mode);
        blocks.divide(regions);
        blocks.assemble(config.geometry.dies());
        Shared {
            layout: Layout::new(config.geometry),
            blocks,
            jobs,
            schedule: Schedule::new(&config, suspend, background_gives_way),
            counters: Counters::default(),
            heat: match &config.heat {
                Some(heat) => Heat::new(heat, config.capacity_slots),
                None => Heat::none(),
            },
            future: Future::none(),
            config,
        }
    }

    /// Slots of a superblock in `mode`.
    pub(crate) fn slots_of(&self, mode: CellMode) -> u32 {
        self.config.geometry.slots_per_superblock(mode)
    }

    /// The multi-plane page that holds `ppa`, and the index of the slot in it.
    #[inline]
    pub(crate) fn mp_page_of(&self, ppa: Ppa) -> (PageAddr, u32) {
        let mode = self.blocks.info(ppa.block()).mode;
        self.layout.mp_page_of(ppa, mode)
    }

    /// The slot with index `mp_page_slot` of multi-plane page `at`.
    #[inline]
    pub(crate) fn ppa_in(&self, at: PageAddr, mp_page_slot: u32) -> Ppa {
        let mode = self.blocks.info(at.block).mode;
        self.layout.slot_at(at, mp_page_slot, mode)
    }

    /// Unpins the superblock of `job`. Returns whether it was the last pin and the superblock waits to be
    /// erased.
    #[inline]
    pub(crate) fn unpin(&mut self, job: u32) -> bool {
        let job = &mut self.jobs[job];
        debug_assert!(job.pinned, "a read pins its superblock once");
        job.pinned = false;
        let info = self.blocks.unpin(job.at.block);
        info.evacuating && info.pins == 0
    }

    /// Starts what `die` does next, if it can start: [`Schedule::start_die`].
    #[inline]
    pub(crate) fn start_die(
        &mut self,
        now: Ns,
        die: DieId,
        reads: &mut impl ReadSteps,
        ports: &mut impl Out,
    ) {
        self.schedule
            .start_die(now, die, reads, &mut self.jobs, &mut self.blocks, ports);
    }

    /// Queues a program or erase at `at`.
    #[inline]
    pub(crate) fn push_change(&mut self, now: Ns, purpose: Purpose, at: PageAddr) {
        self.schedule.push_change(now, purpose, at, &mut self.jobs);
    }

    /// A host read waits for `die`: suspends the program or erase it runs, if the scheme says so, or ends the background
    /// read that gives way.
    #[inline(always)] // In the common case the die runs a read, and this ends here.
    pub(crate) fn suspend_for_host(&mut self, now: Ns, die: DieId, ports: &mut impl Out) {
        self.schedule.suspend_for_host(now, die, &self.jobs, ports);
    }

    /// The program or erase of `job` has been suspended and still needs `left`. Returns its die.
    pub(crate) fn stopped(&mut self, now: Ns, job: u32, left: Ns) -> DieId {
        self.schedule.stopped(now, job, left, &mut self.jobs)
    }

    /// The host read of `job` has succeeded: counts its retries.
    #[inline]
    pub(crate) fn count_retries(&mut self, now: Ns, job: u32) {
        let step = self.jobs[job].step;
        self.counters.retries[usize::from(step).min(RETRY_BINS - 1)] += 1;
        self.count_by_mode(now, job, step == 0);
    }

    /// The host read of `job` has stayed uncorrectable.
    #[inline]
    pub(crate) fn count_lost(&mut self, now: Ns, job: u32) {
        self.counters.uncorrectable += 1;
        self.counters.lost_retries += u64::from(self.jobs[job].step);
        self.count_by_mode(now, job, false);
    }

    #[inline(always)] // It is on the path of every request.
    fn count_by_mode(&mut self, now: Ns, job: u32, at_first_try: bool) {
        let job = &self.jobs[job];
        let mode = self.blocks.info(job.at.block).mode;
        let page_type = page_type_bin(mode, job.at.page.0);
        let mode = mode.index();
        let counters = &mut self.counters;
        counters.page_reads_by_page_type[page_type] += 1;
        counters.page_retries_by_page_type[page_type] += u64::from(job.step);
        counters.page_read_ns_by_page_type[page_type] += now.since(job.began).0;
        counters.page_reads_by_mode[mode] += 1;
        counters.first_tries_by_mode[mode] += u64::from(at_first_try);
        counters.page_retries_by_mode[mode] += u64::from(job.step);
        counters.page_read_ns_by_mode[mode] += now.since(job.began).0;
        let region = self.blocks.region_of(job.at.block).index();
        counters.page_reads_by_region[region] += 1;
        counters.page_retries_by_region[region] += u64::from(job.step);
        counters.page_read_ns_by_region[region] += now.since(job.began).0;
    }

    /// `block` was erased on every die: counts the cycle that this ends.
    pub(crate) fn count_erase(&mut self, block: SuperblockId) -> &mut SuperblockInfo {
        let region = self.blocks.region_of(block).index();
        self.counters.erases_by_region[region] += 1;
        let info = self.blocks.info_mut(block);
        self.counters.erases += 1;
        self.counters.erases_by_mode[info.mode_before.index()] += 1;
        self.counters.conversions += u64::from(info.mode_before != info.mode);
        info.wear(self.config.cycle_damage);
        info
    }

    /// `block` begins to be erased: a record of it, if it changes its mode.
    pub(crate) fn log_conversion(&self, at: Ns, block: SuperblockId, ports: &mut impl Out) {
        let info = self.blocks.info(block);
        let (from, to) = (info.mode_before, info.mode);
        if from != to {
            let what = What::Converted { block, from, to };
            ports.log(Record { at, what });
        }
    }

    /// Superblocks are about to be searched: those that have changed are looked at.
    pub(crate) fn update_index(&mut self) {
        self.blocks.update_index(&self.config.geometry);
    }

    /// Superblocks may hold another number of slots than before, if they have `changed`.
    pub(crate) fn changed_capacity(&mut self, changed: bool) {
        if changed {
            let geometry = self.config.geometry;
            self.blocks
                .note_capacity(|mode| geometry.slots_per_superblock(mode));
        }
    }

    /// Whether `block` is free.
    pub(crate) fn is_free(&self, block: SuperblockId) -> bool {
        self.blocks.info(block).usage == SuperblockUse::Free
    }
}
