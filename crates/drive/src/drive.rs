//! A drive on the virtual clock: firmware, hardware and host joined in one event loop.

use std::fmt;

use firstread_core::flash::ALL_PLANES;
use firstread_core::params::Need;
use firstread_core::voltage::VoltageTables;
use firstread_core::{BlockId, CellMode, DieId, Divisor, FlashEvent, Lpn, Ns, Status};
use firstread_ecc::{Code, DecodeTiming};
use firstread_firmware::Firmware;

use firstread_firmware::ftl::{Busy, MAP_ENTRY_BYTES, RESERVE, Unsound};
use firstread_firmware::observe::{BlockMonitor, BlockRow, BlockUse, Counters};
use firstread_firmware::policy::gc_victim::GcVictim;
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_firmware::voltage::groups;
use firstread_nand::Medium;
use firstread_workload::WorkloadError;
use thiserror::Error;

use crate::before::FilledMemory;
use crate::cells::Cells;
use crate::completions::Digest;
use crate::hardware::failures::Failures;
use crate::hardware::suspend::SuspendTimes;
use crate::hardware::{Done, Hardware, Resource, Times};
use crate::makings::Makings;
use crate::payload::{Payload, StaleRead};
use crate::port_log::{Crossing, Passed};
use crate::power::{CutAt, PowerCut};
use crate::precondition::{self, Precondition, Steady};
use crate::profile::DriveProfile;
use crate::profile::drive::Cells as CellModel;
use crate::queues::Queues;
use crate::run::{Host, Run};
use crate::state::DriveState;
use crate::stats::amplification::Stretches;
use crate::stats::{Amplification, Report};
use crate::world::{Due, Front, LinkTimes, World};

/// The overlay grows when fewer changes of the map than this fit.
const OVERLAY_RESERVE: u32 = 8;

/// Why a drive cannot be made or a run cannot go on.
#[derive(Debug, Error)]
pub enum DriveError {
    /// The profile cannot be simulated.
    #[error("{0}")]
    Profile(String),
    /// The state asked for is not one this drive can be in.
    #[error("{0}")]
    State(String),
    /// The workload is wrong, or does not fit the drive.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A request reaches past the end of the drive.
    #[error(
        "a {op} of {len_bytes} bytes at {offset_bytes} reaches past the end of the drive ({capacity_bytes} bytes)"
    )]
    OutOfRange {
        /// What was asked.
        op: &'static str,
        /// Where.
        offset_bytes: u64,
        /// How much.
        len_bytes: u32,
        /// Bytes of the drive.
        capacity_bytes: u64,
    },
    /// A read returned something else than the last version written: a defect of the firmware.
    #[error("defect: a read returned stale data: {0:?}")]
    Stale(StaleRead),
    /// Requests are in flight but nothing will happen any more: a defect.
    #[error("defect: {0} requests are in flight and no event is due")]
    Stuck(u32),
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All requests have completed.
    Completed,
    /// The drive takes no more writes.
    EndOfLife(EndOfLife),
}

/// What a drive was like when it first refused a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndOfLife {
    /// Bytes the host wrote in this run.
    pub written: u64,
    /// Superblocks in all.
    pub blocks: u32,
    /// Superblocks that are retired.
    pub retired: u32,
    /// Superblocks in which a program has failed, and whose data have not been moved away.
    pub failed: u32,
}

impl fmt::Display for EndOfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndOfLife {
            written,
            blocks,
            retired,
            failed,
        } = self;
        write!(
            f,
            "the drive has reached its end of life after {written} bytes written: its spare is used up. \
             Of {blocks} superblocks {retired} are retired, and programs failed in {failed} more that \
             could not be emptied. It can still be read; write less, start with fewer P/E cycles \
             (--pe-cycles), or use a drive with more over-provisioning"
        )
    }
}

/// Whose event it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The drive's, which has been handled.
    Drive,
    /// The host's, which goes on now.
    Host,
}

/// A drive.
pub struct Drive {
    pub(crate) profile: DriveProfile,
    pub(crate) firmware: Firmware<FilledMemory>,
    pub(crate) world: World,
    /// What a firmware is made from, at first and when power is back.
    makings: Box<Makings>,
    seed: u64,
    /// When the firmware is polled next, as it asked.
    pub(crate) wake: Ns,
    /// When power is cut in the next run, and when that began.
    pub(crate) cut: Option<CutAt>,
    /// Superblocks that the next recovery reads before power is cut again.
    pub(crate) cut_recovery: Option<u32>,
    pub(crate) run_start: Ns,
    /// Write amplification that theory expects of the state it was preconditioned into.
    theory: Option<f64>,
}

impl fmt::Debug for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("name", &self.profile.name)
            .finish_non_exhaustive()
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// One report a job, or a group of jobs.
    pub reports: Vec<Report>,
    /// Requests of all reports.
    pub all: Report,
    /// Requests completed, counted or not (before a ramp's end).
    pub requests: u64,
    /// Counters of the firmware over the run, and over the time of a fetch after it, which the drive is
    /// ahead of its host.
    pub counters: Counters,
    /// Its write amplification.
    pub amplification: Amplification,
    /// Bytes of the host's that were in the write buffer at its end, not on flash.
    pub buffered_bytes: u64,
    /// Events handled. Several completions may reach the host in one.
    pub events: u64,
    /// Simulated time of the run, to its last completion.
    pub simulated: Ns,
    /// The power cut in it.
    pub power_cut: Option<PowerCut>,
    /// How it ended.
    pub ended: Ended,
}

impl Drive {
    /// A drive in `state`, with everything that happens until the workload starts already done:
    /// filled and aged by arithmetic, its firmware's background work simulated. `seed` draws its chips
    /// and what its firmware draws; the workload has a seed of its own.
    pub fn new(
        profile: DriveProfile,
        tables: VoltageTables,
        state: &DriveState,
        seed: u64,
    ) -> Result<Drive, DriveError> {
        let bad_profile = |e: &dyn fmt::Display| DriveError::Profile(e.to_string());
        let geometry = profile.geometry;
        let code = Code::named(&profile.ecc.code).map_err(|e| bad_profile(&e))?;
        let makings = Makings::new(&profile, tables, &code, state.hottest_c(), seed);
        let makings = makings.map_err(|e| bad_profile(&e))?;
        let schemes = makings.schemes(&profile);
        let chip = profile.chip.timing;
        let suspend_times = match profile.needs(Need::FreeSuspends) {
            true => SuspendTimes::FREE,
            false => SuspendTimes::of(&chip),
        };

        let mut medium =
            Medium::new(profile.chip.clone(), geometry, seed).map_err(|e| bad_profile(&e))?;
        medium.set_codeword_bits(code.codeword_bits());
        let ideal = profile.cells == CellModel::Ideal;
        // A decoder has so many lanes: an iteration over a longer codeword takes longer.
        let kib = code.data_bytes().div_ceil(1024);
        let decode = DecodeTiming {
            iteration_ns: profile.ecc.timing.iteration_ns * kib,
            ..profile.ecc.timing
        };
        let mut cells = Cells::new(
            medium,
            code,
            decode,
            ideal,
            profile.mode,
            schemes.read_levels.groups().copied(),
        );
        cells.set_spare(schemes.read_levels.spare_ppm());
        cells
            .set_temperature(Ns::ZERO, state.temperature_c)
            .map_err(|e| DriveError::State(e.to_string()))?;

        let config = makings.config(&profile);
        let memory = FilledMemory::new(geometry.slots_per_superblock(profile.mode));
        let firmware = Firmware::new(config, schemes, memory);
        let times = Times {
            command_ns: profile.channel.command_ns,
            commands_occupy: profile.channel.commands_occupy && profile.channel.command_ns > 0,
            channel_fs_per_byte: 1_000_000_000 / profile.channel.rate_mt_per_s as u64,
            decoder_lanes: Divisor::new(profile.ecc.engines_per_channel as u64),
            decode_streams: profile.ecc.streams,
            suspend: suspend_times,
            cache_busy_ns: chip.cache_busy_ns,
            reset_ns: chip.reset_ns,
            set_feature_ns: chip.set_feature_ns,
            set_levels_ns: chip.set_levels_ns,
            shared_levels: !chip.plane_levels,
            independent_planes: chip.independent_plane_reads,
        };
        let link = LinkTimes {
            fetch_ns: profile.link.fetch_ns + profile.firmware.command_ns,
            command_ns: profile.firmware.command_interval_ns,
            completion_ns: profile.link.completion_ns,
            fs_per_byte: 1_000_000_000_000_000 / profile.link.bytes_per_s,
        };
        let endurance = profile.chip.mode(profile.mode);
        let endurance = endurance.map_or(1, |m| m.endurance_pe_cycles);
        let failures = Failures::new(profile.chip.failures, endurance, &geometry, seed);
        let hardware = Hardware::new(
            geometry,
            times,
            cells,
            failures,
            firmware.tags(),
            firmware.jobs(),
            profile.link.max_outstanding,
        );
        let payload = Payload::new(
            geometry.blocks_per_plane,
            firmware.buffer_slots(),
            config.capacity_slots,
            firmware.map_pages(),
        );
        let timers = hardware.resources();
        let world = World::new(
            hardware,
            payload,
            link,
            geometry.slot_bytes,
            timers,
            profile.link.max_outstanding,
            Queues::new(&profile.queues, profile.link.max_outstanding),
        );
        let mut drive = Drive {
            profile,
            firmware,
            world,
            makings: Box::new(makings),
            seed,
            wake: Ns::MAX,
            cut: None,
            cut_recovery: None,
            run_start: Ns::ZERO,
            theory: None,
        };
        drive.prepare(state)?;
        Ok(drive)
    }

    /// A firmware that knows nothing, as it is when power comes on.
    pub(crate) fn new_firmware(&self) -> Firmware<FilledMemory> {
        let config = self.makings.config(&self.profile);
        let schemes = self.makings.schemes(&self.profile);
        let per_block = config.geometry.slots_per_superblock(config.mode);
        Firmware::new(config, schemes, FilledMemory::new(per_block))
    }

    /// Fills and ages the drive.
    fn prepare(&mut self, state: &DriveState) -> Result<(), DriveError> {
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode);
        let capacity = self.profile.capacity_bytes / geometry.slot_bytes as u64;
        let slots = (capacity as f64 * state.fill) as u64;
        let default_groups = groups::groups(0);
        let bins = self.firmware.levels().groups().unwrap_or(&default_groups);
        let used = match state.precondition {
            Precondition::None => slots.div_ceil(per_block as u64) as u32,
            _ => geometry.blocks_per_plane,
        };
        let mut wear = state.deal_wear(used, bins, self.seed);
        wear.resize(geometry.blocks_per_plane as usize, state.pe_cycles.0);
        let bad = self.find_bad_blocks(&wear)?;

        let steady = self.steady_state(state, slots, bad)?;
        let blocks = match &steady {
            Some(steady) => steady.state.blocks(),
            None => slots.div_ceil(per_block as u64) as u32,
        };
        if blocks > geometry.blocks_per_plane {
            return Err(DriveError::Profile(format!(
                "the capacity takes {blocks} superblocks, but there are {}",
                geometry.blocks_per_plane
            )));
        }
        let block_bytes = per_block as u128 * geometry.slot_bytes as u128;
        let block_fill = Ns(
            (block_bytes * 1_000_000_000 / self.profile.fill_rate().bytes_per_s() as u128) as u64
        );
        let bins = self.firmware.levels().groups().unwrap_or(&default_groups);
        let in_order = || (0..blocks as u64).rev().collect::<Vec<u64>>();
        let since = steady.as_ref().map_or_else(in_order, |s| s.since.clone());
        let plan = state.plan(&since, &wear, block_fill, bins);
        if let Some((at, celsius)) = state.temperature_step {
            let fill_ended = plan.run.since(state.age.1);
            let cells = self.world.hardware.cells_mut();
            cells
                .set_temperature(fill_ended + at, celsius)
                .map_err(|e| DriveError::State(e.to_string()))?;
        }
        // Theory knows slots of data; the parity of their stripes is programmed with them.
        let with_parity = f64::from(geometry.dies()) / f64::from(geometry.data_dies());
        self.theory = steady.as_ref().map(|s| s.amplification * with_parity);
        let steady = steady.map(|s| s.state);
        let before = self.firmware.before_mut();
        match &steady {
            Some(state) => {
                before.precondition(state.clone());
                self.world.payload.precondition(state.clone());
            }
            None => before.fill(slots),
        }

        for free in blocks..geometry.blocks_per_plane {
            let (block, pe_cycles) = (BlockId(free), wear[free as usize]);
            self.firmware.set_pe_cycles(block, pe_cycles);
            let cells = self.world.hardware.cells_mut();
            cells.erase(block, self.profile.mode, pe_cycles);
        }
        let mut started = false;
        for (i, planned) in plan.blocks.iter().enumerate() {
            self.advance(planned.at);
            if !started && planned.at > plan.start {
                self.firmware.start(plan.start, &mut self.world);
                started = true;
            }
            let (block, first) = (BlockId(i as u32), i as u64 * per_block as u64);
            let pages = match &steady {
                Some(state) => state.valid(block),
                None => {
                    let pages = (slots - first).min(per_block as u64) as u32;
                    self.world.payload.fill(block, first, pages);
                    pages
                }
            };
            self.world.hardware.cells_mut().fill(
                planned.at,
                block,
                self.profile.mode,
                planned.pe_cycles,
            );
            self.firmware
                .adopt(planned.at, block, planned.pe_cycles, pages, &mut self.world);
            if !started && planned.at >= plan.start {
                self.firmware.start(planned.at, &mut self.world);
                started = true;
            }
            self.wake_firmware();
        }
        if !started {
            self.firmware
                .start(plan.start.max(self.world.now), &mut self.world);
        }
        self.fill_map(blocks, slots, state.pe_cycles.0);
        self.wake_firmware();
        self.advance(plan.run);
        if state.unpowered > Ns::ZERO {
            self.world.hardware.cells_mut().power_off(state.unpowered);
            self.firmware.power_on(self.world.now, &mut self.world);
            self.wake_firmware();
        }
        Ok(())
    }

    /// Draws which blocks are bad, tells the firmware, and returns how many superblocks they cost.
    fn find_bad_blocks(&mut self, pe_cycles: &[u32]) -> Result<u32, DriveError> {
        let geometry = &self.profile.geometry;
        let per_block = u64::from(geometry.slots_per_superblock(self.profile.mode));
        let mut bad = vec![0; geometry.dies() as usize];
        for (block, &pe_cycles) in (0..).map(BlockId).zip(pe_cycles) {
            let failures = &mut self.world.hardware.failures;
            failures.make(block, pe_cycles, |die| bad[die.0 as usize] += 1);
        }
        let worst = bad.iter().copied().max().unwrap_or(0);
        if !self.firmware.set_bad_blocks(&bad) {
            return Err(DriveError::State(format!(
                "bad blocks cost {worst} of {} superblocks at this wear. The capacity takes {}, cleaning \
                 keeps {RESERVE} and needs {} to spare: start with fewer P/E cycles (--pe-cycles), set \
                 chip.failures.factory_bad or chip.failures.grown_bad lower, or use a drive with more \
                 over-provisioning",
                geometry.blocks_per_plane,
                (self.profile.capacity_bytes / u64::from(geometry.slot_bytes)).div_ceil(per_block),
                self.profile.least_spare_slots() / per_block,
            )));
        }
        Ok(worst)
    }

    /// The steady state that `state` asks for with `pages` pages, if it asks for one. The reserve is
    /// free, as a host leaves it that writes as fast as it can: garbage collection then never gets
    /// ahead. (On average one and a half superblocks are free then and two half full, which make one
    /// that is full and one that is free.)
    fn steady_state(
        &self,
        state: &DriveState,
        pages: u64,
        bad: u32,
    ) -> Result<Option<Steady>, DriveError> {
        if state.precondition == Precondition::None || pages == 0 {
            return Ok(None);
        }
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode);
        let all = (geometry.blocks_per_plane - bad) as u64;
        let needed = pages.div_ceil(per_block as u64) + self.map_superblocks(pages);
        if needed + RESERVE >= all {
            return Err(DriveError::State(format!(
                "--precondition {}: {needed} of {all} superblocks are needed for the data and their map, and \
                 cleaning needs {} more: fill less (--fill), or use a drive with more over-provisioning",
                state.precondition,
                RESERVE + 1,
            )));
        }
        let blocks = (all - RESERVE - self.map_superblocks(pages)) as u32;
        let law = self.firmware.gc_victim().law();
        let law = law.ok_or_else(|| {
            DriveError::State(format!(
                "--precondition {}: no theory is known of how this drive's superblocks are chosen for cleaning \
                 (schemes.gc_victim)",
                state.precondition
            ))
        })?;
        let shape = (blocks, per_block, pages);
        let seeds = (self.seed, state.workload_seed);
        let steady = precondition::steady(state.precondition, shape, law, seeds);
        steady.map(Some).map_err(DriveError::State)
    }

    /// Pages of the map that say where the first `slots` logical pages lie; none where the map lies
    /// in memory.
    fn map_pages_of(&self, slots: u64) -> u64 {
        let entries = (self.profile.geometry.slot_bytes / MAP_ENTRY_BYTES) as u64;
        match self.firmware.map_pages() {
            0 => 0,
            _ => slots.div_ceil(entries),
        }
    }

    /// Superblocks of these pages.
    fn map_superblocks(&self, slots: u64) -> u64 {
        let per_block = self
            .profile
            .geometry
            .slots_per_superblock(self.profile.mode);
        self.map_pages_of(slots).div_ceil(per_block as u64)
    }

    /// Writes the pages of the map that say where the first `slots` logical pages lie into the
    /// superblocks from `first` on, where the map does not lie in memory.
    fn fill_map(&mut self, first: u32, slots: u64, pe_cycles: u32) {
        let pages = self.map_pages_of(slots);
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode) as u64;
        let (now, world) = (self.world.now, &mut self.world);
        for i in 0..pages.div_ceil(per_block) {
            let block = BlockId(first + i as u32);
            let here = (pages - i * per_block).min(per_block) as u32;
            let from = i * per_block;
            world.payload.fill_map(block, from, here);
            let cells = world.hardware.cells_mut();
            cells.fill(now, block, self.profile.mode, pe_cycles);
            self.firmware
                .adopt_map(now, block, pe_cycles, from as u32, here, world);
        }
    }

    /// Handles every event until `until`, and stops there.
    fn advance(&mut self, until: Ns) {
        while self.world.due() <= until {
            self.step();
        }
        self.world.now = self.world.now.max(until);
    }

    /// Bytes the host sees.
    pub fn capacity_bytes(&self) -> u64 {
        self.profile.capacity_bytes
    }
    /// The profile it was made from.
    pub fn profile(&self) -> &DriveProfile {
        &self.profile
    }
    /// Counters of the firmware since the drive was made.
    pub fn counters(&self) -> &Counters {
        self.firmware.counters()
    }
    /// What the firmware did in the background, in order: the last 32,768 records at least.
    pub fn log(&self) -> &[firstread_firmware::log::Record] {
        self.world.log.records()
    }
    /// Records of background work before those of [`Drive::log`], which are not kept.
    pub fn log_dropped(&self) -> u64 {
        self.world.log.dropped()
    }
    /// The block groups of the scheme that keeps read levels, if it has any.
    pub fn groups(&self) -> Option<&firstread_core::voltage::BlockGroups> {
        self.firmware.levels().groups()
    }
    /// Simulated time.
    pub fn now(&self) -> Ns {
        self.world.now
    }
    /// Keeps what passes the firmware's ports from now on, and forgets what was kept.
    pub fn log_ports(&mut self) {
        self.world.port_log.start();
    }
    /// Folds every completion that reaches the host from now on into a digest.
    pub fn digest_completions(&mut self) {
        self.world.digest.start();
    }
    /// The digest of what has completed since [`Drive::digest_completions`]; none where that was not called.
    pub fn completions(&self) -> Option<Digest> {
        self.world.digest.digest()
    }
    /// What passed them since [`Drive::log_ports`]; nothing where it was not called.
    pub fn crossings(&self) -> &[Crossing] {
        self.world.port_log.crossings()
    }
    /// What the firmware knows of its superblocks: what they are used for, what they hold.
    pub fn blocks(&self) -> &BlockMonitor {
        self.firmware.blocks()
    }
    /// Whether it has reached its end of life and takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.firmware.is_read_only()
    }
    /// Checks that every slot has one owner and every count adds up: time and memory in proportion to
    /// the pages of the drive. For tests.
    pub fn audit(&self) -> Result<(), Unsound> {
        self.firmware.audit()
    }
    /// Asks that `block` be erased into `mode`, once what it holds has been moved away.
    pub fn ask_mode(&mut self, block: BlockId, mode: CellMode) -> Result<(), Busy> {
        let now = self.world.now;
        let asked = self.firmware.ask_mode(now, block, mode, &mut self.world);
        self.wake_firmware();
        asked
    }
    /// The cells.
    pub fn medium(&self) -> &Medium {
        self.world.hardware.cells().medium()
    }

    /// Runs `host` to its end. `progress` is told now and then how many requests have completed.
    pub fn run(
        &mut self,
        host: Host<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RunStats, DriveError> {
        let start = self.world.now;
        let before = self.firmware.counters().clone();
        let slot_bytes = self.profile.geometry.slot_bytes;
        let mut stretches = Stretches::new(&before, slot_bytes);
        let mut run = Run::new(host, self.profile.capacity_bytes);
        run.start(start);
        let mut events = 0u64;
        let mut reported = 0;
        self.host_goes_on(&mut run, start)?;
        self.run_start = start;
        let mut power_cut = None;
        while !run.is_over() {
            if self.cut.is_some() && self.cut_is_due(start, events) {
                self.host_goes_on(&mut run, self.cut_at())?;
                if run.is_over() {
                    continue;
                }
                let cut = self.power_cut()?;
                let now = self.world.now;
                run.lose_all(now);
                self.host_goes_on(&mut run, now)?;
                power_cut = Some(cut);
                continue;
            }
            let Some(step) = self.step() else {
                return Err(DriveError::Stuck(run.in_flight));
            };
            events += 1;
            if stretches.is_behind(self.firmware.counters()) {
                stretches.note(self.firmware.counters());
            }
            if step == Step::Drive {
                continue;
            }
            self.host_goes_on(&mut run, self.world.now)?;
            // The host was behind by as long as a command takes: its first one may be here.
            if self.world.command_due() == self.world.now {
                self.command(Front::Command);
                self.wake_firmware();
            }
            if run.completed >= reported + (1 << 16) {
                reported = run.completed;
                progress(reported);
            }
        }
        self.cut = None;
        self.world.set_host(Ns::MAX);
        progress(run.completed);
        let run_ended = run.now();
        let mut all = Report {
            name: "all".into(),
            ..Report::default()
        };
        for report in &mut run.reports {
            report.settle();
            all.read.merge(&report.read);
            all.write.merge(&report.write);
            all.trim.merge(&report.trim);
            all.flush.merge(&report.flush);
            all.runtime_ns = all.runtime_ns.max(report.runtime_ns);
        }
        Ok(RunStats {
            reports: run.reports,
            all,
            requests: run.completed,
            counters: self.firmware.counters().since(&before),
            amplification: stretches.end(self.profile.geometry.blocks_per_plane, self.theory),
            buffered_bytes: u64::from(self.firmware.host_slots_buffered()) * u64::from(slot_bytes),
            events,
            simulated: run_ended.since(start),
            power_cut,
            ended: match run.failed {
                Some(_) => Ended::EndOfLife(self.end_of_life(&before)),
                None => Ended::Completed,
            },
        })
    }

    /// The host goes on to `until`; an error if that meets what ends the run with one.
    fn host_goes_on(&mut self, run: &mut Run<'_>, until: Ns) -> Result<(), DriveError> {
        run.go_on(until, &mut self.world)?;
        if let Some(stale) = self.world.stale {
            return Err(DriveError::Stale(stale));
        }
        match run.failed {
            None | Some(Status::NoSpace | Status::ReadOnly) => Ok(()),
            Some(other) => Err(DriveError::State(format!("a request ended with {other:?}"))),
        }
    }

    fn end_of_life(&self, before: &Counters) -> EndOfLife {
        let slots = self.firmware.counters().host_slots_written - before.host_slots_written;
        let blocks = self.firmware.blocks();
        let count = |of: fn(&BlockRow) -> bool| blocks.iter().filter(|(_, row)| of(row)).count();
        EndOfLife {
            written: slots * self.profile.geometry.slot_bytes as u64,
            blocks: blocks.len(),
            retired: count(|row| row.usage == BlockUse::Bad) as u32,
            failed: count(|row| row.failed && row.usage != BlockUse::Bad) as u32,
        }
    }

    /// A read has left planes of a die.
    #[cold]
    fn planes_done(&mut self, now: Ns, event: Option<FlashEvent>, free: FlashEvent) {
        let world = &mut self.world;
        for event in event.into_iter().chain([free]) {
            world.port_log.note(now, || Passed::Event(event));
            self.firmware.complete(now, event, world);
        }
    }

    /// Handles the next event, if there is one.
    fn step(&mut self) -> Option<Step> {
        let next = self.world.next()?;
        let world = &mut self.world;
        let due = world.now;
        match next {
            Due::Hardware(Resource::Die(die)) => {
                let done = world
                    .hardware
                    .die_done(due, die, &mut world.timers, &mut world.payload);
                let (event, free, decoded) = match done {
                    Done::GoesOn => {
                        world.hardware.time_next(&mut world.timers);
                        return Some(Step::Drive);
                    }
                    Done::Free(tag) => (None, Some(tag), false),
                    Done::FreeThenDecoded(tag) => (None, Some(tag), true),
                    Done::Event(event) => (Some(event), None, false),
                    Done::EventThenFree(event, tag) => (Some(event), Some(tag), false),
                    Done::Planes(event, free) => {
                        self.planes_done(due, event, free);
                        (None, None, false)
                    }
                };
                if let Some(event) = event {
                    self.tell(due, event);
                }
                if let Some(tag) = free {
                    let (die, planes) = (DieId(die), ALL_PLANES);
                    self.tell(due, FlashEvent::ArrayFree { tag, die, planes });
                    if decoded {
                        let world = &mut self.world;
                        let event = world.hardware.decoded(due, tag.0, &mut world.payload);
                        self.tell(due, event);
                    }
                }
                let world = &mut self.world;
                world.hardware.time_next(&mut world.timers);
            }
            Due::Hardware(Resource::Decoder(channel)) => {
                let (timers, payload) = (&mut world.timers, &mut world.payload);
                let event = world.hardware.decode_done(due, channel, timers, payload);
                self.tell(due, event);
            }
            Due::Front(front @ (Front::Command | Front::Write)) => self.command(front),
            Due::Front(Front::Host) => return Some(Step::Host),
            Due::Front(Front::Firmware) => {
                self.wake = Ns::MAX;
                self.firmware.poll(due, world);
            }
        }
        self.wake_firmware();
        Some(Step::Drive)
    }

    /// The firmware hears of `event`.
    #[inline(always)]
    fn tell(&mut self, now: Ns, event: FlashEvent) {
        let world = &mut self.world;
        world.port_log.note(now, || Passed::Event(event));
        self.firmware.complete(now, event, world);
    }

    /// A command has reached the firmware through `front`, unless its data are yet to come.
    #[inline]
    fn command(&mut self, front: Front) {
        if self.world.has_queues() && front == Front::Command {
            return self.fetched();
        }
        let world = &mut self.world;
        let command = world.arrived(front);
        self.firmware.submit(world.now, command, world);
    }

    /// A fetch from the queues has ended.
    #[cold]
    fn fetched(&mut self) {
        let world = &mut self.world;
        if let Some(command) = world.fetched() {
            self.firmware.submit(world.now, command, world);
        }
    }

    /// Sees that the firmware is polled when it wants to be, and has memory for what it changes.
    #[inline]
    pub(crate) fn wake_firmware(&mut self) {
        while self.firmware.overlay_is_short(OVERLAY_RESERVE) {
            let grow = FilledMemory::grow;
            self.firmware
                .grow_overlay(self.world.now, grow, &mut self.world);
        }
        let due = self.firmware.next_wakeup();
        if due != self.wake {
            self.wake = due;
            self.world.wake_firmware(due);
        }
    }

    /// Where logical page `lpn` lies, for tests and tools.
    pub fn is_mapped(&self, lpn: u64) -> bool {
        self.firmware.is_mapped(Lpn(lpn))
    }
}
