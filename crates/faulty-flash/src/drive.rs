//! A firmware on a faulty flash, one event at a time.

use firstread_core::params::Need;
use firstread_core::{CommandId, HostCommand, HostOp, Ns, Status, Stream, SuperblockId};
use firstread_firmware::format::{SectionId, bytes_up_to};
use firstread_firmware::ftl::{Recovering, Recovery};
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::{Firmware, Keeper, KeptPlaces, WriteCache};

use super::bug::{Bug, NoBug};
use super::config::{ConfigError, DriveConfig};
use super::faults::{Cut, Faults, PowerCuts};
use super::flash::Flash;
use super::memory::{Memory, Survives};
use super::model::Model;
use super::platform::Platform;
use super::violation::Violation;

/// How long an event takes.
const STEP: Ns = Ns(100);
/// How long the power is off.
const POWER_OFF: Ns = Ns(1_000);
/// What has changed is kept in memory that survives after every so many events, and whenever the firmware is stopped.
const KEEP_EVERY: u64 = 32;
/// Events after which a drive without a command that ends is said never to come to rest.
const EVENTS_AT_MOST: u64 = 4_000_000;

/// What power cuts met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerCutCounts {
    /// Power cuts, those during a recovery included.
    pub cuts: u64,
    /// Power cuts that were followed by another one during the recovery.
    pub in_recovery: u64,
    /// Programs that were torn.
    pub torn_programs: u64,
    /// Programs that waited for their die.
    pub waiting_programs: u64,
    /// Power cuts during an erase of a superblock.
    pub erasing: u64,
    /// Power cuts during the erases of two superblocks.
    pub erasing_two: u64,
    /// Power cuts during a change of a superblock's cell mode.
    pub converting: u64,
    /// Power cuts during a rebuild from parity.
    pub rebuilding: u64,
    /// Power cuts during a soft read.
    pub soft_reads: u64,
    /// Map pages in the emergency dumps.
    pub dumped_map_pages: u64,
    /// Commands in flight that were lost.
    pub lost_commands: u64,
    /// Slots that a volatile write cache has lost.
    pub lost_slots: u64,
    /// Cuts at which the capacitors failed before the dump was whole.
    pub short_dumps: u64,
    /// Cuts that were none: the firmware was stopped, and its memory survived.
    pub stopped: u64,
    /// Those that fell into a step of the firmware.
    pub stopped_in_a_step: u64,
}

/// A drive and its flash. Time passes in steps of 100 ns, an operation of the flash each; which one ends, chance draws.
///
/// [`super::Trial`] drives it through a load. By itself it lets a test ask for anything in any order:
///
/// ```
/// use firstread_core::HostOp;
/// use firstread_faulty_flash::{DriveConfig, Faults, FaultyDrive};
///
/// let mut drive = FaultyDrive::new(&DriveConfig::default(), &Faults::default(), 1)?;
/// drive.submit(HostOp::Write, 0, 4096)?;
/// drive.power_cut()?;
/// drive.submit(HostOp::Read, 0, 4096)?;
/// drive.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Every method that lets the firmware act returns the first [`Violation`] that came of it.
#[derive(Debug)]
pub struct FaultyDrive {
    /// The firmware. A test may call it; what is wrong then is found by the next call of the drive.
    pub firmware: Firmware<Memory>,
    /// Its flash and its host.
    pub platform: Platform,
    pub(crate) config: DriveConfig,
    pub(crate) seed: u64,
    pub(crate) now: Ns,
    events: u64,
    power: PowerCuts,
    power_draws: Stream,
    /// A power cut that follows another one: the event before which it is due.
    again_at: Option<u64>,
    pub(crate) power_cuts: PowerCutCounts,
    /// Counts the allocations of this thread.
    pub(crate) allocations: Option<fn() -> u64>,
    /// Whether the firmware is stopped at some of the power cuts, and its memory survives.
    pub(crate) is_stopped: bool,
    /// That memory.
    pub(crate) keeper: Option<Keeper<Survives>>,
    /// Where the state lies in it, once that is known.
    pub(crate) places: Option<KeptPlaces>,
    /// Allocations while it was written.
    pub(crate) kept_allocations: u64,
}

impl FaultyDrive {
    /// A drive of `config` whose flash has `faults`. All that is left to chance is drawn from `seed`.
    ///
    /// # Errors
    /// [`ConfigError`], if there can be no such drive.
    pub fn new(
        config: &DriveConfig,
        faults: &Faults,
        seed: u64,
    ) -> Result<FaultyDrive, ConfigError> {
        FaultyDrive::with_bug(config, faults, seed, NoBug)
    }

    /// The same, with `bug` between the firmware and its flash.
    ///
    /// # Errors
    /// [`ConfigError`], if there can be no such drive.
    pub fn with_bug(
        config: &DriveConfig,
        faults: &Faults,
        seed: u64,
        bug: impl Bug + 'static,
    ) -> Result<FaultyDrive, ConfigError> {
        config.check()?;
        let firmware = firmware(config, seed, config.filled_slots);
        let flash = Flash::new(
            config.geometry,
            config.mode,
            config.independent_planes,
            config.most_suspends(),
            faults.clone(),
            seed,
        );
        let slot_bytes = config.geometry.slot_bytes;
        let mut model = Model::new(slot_bytes, config.filled_slots, config.write_cache);
        if config.most_journal_pages < config.capacity_slots {
            model.leave_trims();
        }
        let buffers = firmware.buffer_slots();
        let bug = Box::new(bug);
        let platform = Platform::new(flash, model, buffers, config.capacity_slots, bug);
        let mut drive = FaultyDrive {
            firmware,
            platform,
            config: config.clone(),
            seed,
            now: Ns::ZERO,
            events: 0,
            power: faults.power_cuts.clone(),
            power_draws: Stream::new(seed).named("power"),
            again_at: None,
            power_cuts: PowerCutCounts::default(),
            allocations: None,
            is_stopped: false,
            keeper: None,
            places: None,
            kept_allocations: 0,
        };
        drive.fill();
        drive.is_stopped = faults.power_cuts.permille > 0;
        drive.start_keeping();
        Ok(drive)
    }

    fn fill(&mut self) {
        let config = &self.config;
        let per_block = u64::from(config.geometry.slots_per_superblock(config.mode));
        let platform = &mut self.platform;
        let host_blocks = config.filled_slots.div_ceil(per_block);
        for i in 0..host_blocks {
            let pages = per_block.min(config.filled_slots - i * per_block) as u32;
            let block = SuperblockId(i as u32);
            platform.flash.fill(block, i * per_block, pages);
            self.firmware
                .mark_filled(Ns::ZERO, block, 0, pages, platform);
        }
        let map_pages = config.map_pages(config.filled_slots);
        for i in 0..map_pages.div_ceil(per_block) {
            let pages = per_block.min(map_pages - i * per_block) as u32;
            let block = SuperblockId((host_blocks + i) as u32);
            let first = config.capacity_slots + i * per_block;
            platform.flash.fill(block, first, pages);
            let first = (i * per_block) as u32;
            self.firmware
                .mark_filled_with_map(Ns::ZERO, block, 0, first, pages, platform);
        }
        self.firmware.start(Ns::ZERO, platform);
    }

    /// The time of the drive.
    pub fn now(&self) -> Ns {
        self.now
    }
    /// Events of the flash that the firmware was handed.
    pub fn events(&self) -> u64 {
        self.events
    }
    /// What power cuts met.
    pub fn power_cut_counts(&self) -> PowerCutCounts {
        self.power_cuts
    }
    /// From now on an emergency dump or a recovery that allocates is a [`Violation::Allocated`]. `count` returns the
    /// allocations of this thread so far: the test's global allocator counts them.
    pub fn count_allocations(&mut self, count: fn() -> u64) {
        self.allocations = Some(count);
    }

    /// A call of the firmware has returned. What it has changed is kept after some of the calls, so that changes pile up.
    fn checked(&mut self) -> Result<(), Violation> {
        if self.events.is_multiple_of(KEEP_EVERY) {
            self.keep();
        }
        self.platform.take_violation().map_or(Ok(()), Err)
    }

    fn grow(&mut self) {
        if self.firmware.overlay_is_short(2) {
            let grow = |memory: &mut Memory| memory.grow();
            self.firmware
                .grow_overlay(self.now, grow, &mut self.platform);
        }
    }

    /// Lets the firmware do what it wants to do now, without time passing.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn poll(&mut self) -> Result<(), Violation> {
        if self.firmware.next_wakeup() <= self.now {
            self.firmware.poll(self.now, &mut self.platform);
        }
        self.checked()
    }

    /// Ends one operation of the flash. Power is cut where a fault says so. Returns false when nothing is under way and
    /// the firmware asks for nothing, and when all that is under way is on dies that are stuck for ever.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn step(&mut self) -> Result<bool, Violation> {
        self.now += STEP;
        self.grow();
        if self.cut_is_due(Cut::Before(self.events + 1)) {
            self.cut_by_fault()?;
            return Ok(true);
        }
        // Where all dies are stuck, time passes until one is not.
        let next = self.platform.flash.next_end(self.now);
        if next < Ns::MAX {
            self.now = next;
        }
        self.platform.set_now(self.now);
        let events = self.platform.end_one();
        self.platform.take_violation().map_or(Ok(()), Err)?;
        for (i, event) in events.iter().enumerate() {
            self.events += 1;
            if let Some(event) = self.platform.passes(*event) {
                self.firmware.complete(self.now, event, &mut self.platform);
            }
            self.checked()?;
            let is_between = i + 1 < events.len();
            if self.cut_is_due(Cut::After(self.events))
                || (is_between && self.cut_is_due(Cut::Before(self.events + 1)))
            {
                self.grow();
                self.cut_by_fault()?;
                return Ok(true);
            }
        }
        let wakes = self.firmware.next_wakeup() <= self.now;
        self.poll()?;
        self.grow();
        self.checked()?;
        Ok(!events.is_empty() || wakes)
    }

    fn cut_is_due(&mut self, cut: Cut) -> bool {
        if self.power.script.contains(&cut) {
            // Of both names of a moment the power is cut once.
            self.power.script.retain(|c| *c != cut);
            return true;
        }
        match cut {
            Cut::Before(event) if self.again_at.is_some_and(|at| at <= event) => {
                self.again_at = None;
                true
            }
            Cut::After(event) if self.power.permille > 0 => {
                self.power_draws.at(event).below(1000) < u64::from(self.power.permille)
            }
            _ => false,
        }
    }

    /// Cuts the power as the faults say, once more during the recovery if chance draws so.
    fn cut_by_fault(&mut self) -> Result<(), Violation> {
        let s = self.power_draws.named("again").at(self.power_cuts.cuts);
        let mut in_recovery = None;
        if s.at(0).below(1000) < u64::from(self.power.again_permille) {
            match s.at(1).below(2) {
                0 => {
                    let blocks = u64::from(self.config.geometry.blocks_per_plane);
                    in_recovery = Some(s.at(2).below(blocks) as u32);
                }
                _ => self.again_at = Some(self.events + 1 + s.at(2).below(8)),
            }
        }
        let is_stopped = self.keeper.is_some() && self.power_cuts.cuts % 3 == 2;
        let memory = is_stopped.then(|| self.stop()).flatten();
        if let Some(memory) = memory {
            self.compare_with_dump(&memory)?;
            self.goes_on_from(Saved::Kept(memory), in_recovery)?;
        } else {
            self.power_cuts(in_recovery)?;
        }
        self.audit()
    }

    /// Submits a command, after as many events as it takes until one more may be in flight. Returns false if that never
    /// comes because a die is stuck; then nothing is submitted.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn submit(
        &mut self,
        op: HostOp,
        offset_bytes: u64,
        len_bytes: u32,
    ) -> Result<bool, Violation> {
        self.submit_with(op, offset_bytes, len_bytes, false, 0)
    }

    /// The same, with Force Unit Access if `fua` says so, and with the placement handle of a write.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn submit_with(
        &mut self,
        op: HostOp,
        offset_bytes: u64,
        len_bytes: u32,
        fua: bool,
        placement: u16,
    ) -> Result<bool, Violation> {
        let mut events = 0;
        while self.platform.model.in_flight() >= self.config.queue_depth {
            if !self.goes_on(&mut events)? {
                return Ok(false);
            }
        }
        let free = |i: &u32| !self.platform.model.is_in_flight(CommandId(*i));
        let id = (0..self.config.queue_depth).find(free).unwrap_or(0);
        let command = HostCommand {
            id: CommandId(id),
            op,
            client: 0,
            offset_bytes,
            len_bytes,
            fua,
            placement,
        };
        self.platform.model.submit(command);
        self.firmware.submit(self.now, command, &mut self.platform);
        self.grow();
        self.checked()?;
        Ok(true)
    }

    /// One step on the way to the end of a command. False if a stuck die keeps it from coming.
    fn goes_on(&mut self, events: &mut u64) -> Result<bool, Violation> {
        let completed = self.platform.completed.len();
        if !self.step()? {
            if self.platform.flash.is_stuck() {
                return Ok(false);
            }
            let commands = self.platform.model.in_flight();
            let state = self.state();
            return Err(Violation::CommandsNeverEnd { commands, state });
        }
        *events += 1;
        if self.platform.completed.len() > completed {
            *events = 0;
        }
        if *events > EVENTS_AT_MOST {
            return Err(Violation::NeverRests {
                events: *events,
                state: self.state(),
            });
        }
        Ok(true)
    }

    /// Waits until every command has ended. Returns false if some never do because a die is stuck.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn finish(&mut self) -> Result<bool, Violation> {
        let mut events = 0;
        while self.platform.model.in_flight() > 0 {
            if !self.goes_on(&mut events)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until every command has ended and nothing is under way. Returns false if that never comes because a die is
    /// stuck.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn settle(&mut self) -> Result<bool, Violation> {
        let ended = self.finish()?;
        let mut events = 0;
        while self.step()? {
            events += 1;
            if events > EVENTS_AT_MOST {
                let state = self.state();
                return Err(Violation::NeverRests { events, state });
            }
        }
        Ok(ended && !self.platform.flash.is_stuck())
    }

    /// Cuts the power and comes back, with a new firmware that knows the emergency dump alone. Returns what the recovery
    /// took, and how many commands were lost.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn power_cut(&mut self) -> Result<(Recovery, u32), Violation> {
        self.power_cuts(None)
    }

    /// The same. Power is cut once more when the recovery has read `cut_after` superblocks, if it has as many.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn power_cuts(&mut self, cut_after: Option<u32>) -> Result<(Recovery, u32), Violation> {
        self.goes_on_from(Saved::Nothing, cut_after)
    }

    /// The firmware is gone. A new one goes on from what was `saved`: a dump is yet to be written if there is nothing.
    fn goes_on_from(
        &mut self,
        saved: Saved,
        cut_after: Option<u32>,
    ) -> Result<(Recovery, u32), Violation> {
        let lost = self.platform.power_cut();
        self.now += POWER_OFF;
        self.platform.set_now(self.now);
        let before = self.evacuating();
        let mut allocated = std::mem::take(&mut self.kept_allocations);
        let mut cut = None;
        let saved = match saved {
            Saved::Nothing => {
                let (mut dump, met) = self.dump(&mut allocated);
                self.shorten(&mut dump);
                cut = Some(met);
                Saved::Dump(dump)
            }
            saved => saved,
        };
        let mut recovering = self.mount_saved(&saved, &mut allocated)?;
        let at_first = self.allocated();
        let mut left = cut_after;
        while left != Some(0)
            && self
                .firmware
                .recover_superblock(&mut recovering, &self.platform)
        {
            left = left.map(|left| left - 1);
        }
        let mut recovery = recovering.done();
        allocated += self.allocated() - at_first;
        if left == Some(0) {
            let again = self.mount_saved(&saved, &mut allocated)?;
            let at_first = self.allocated();
            recovery = self.firmware.go_through(again, &self.platform);
            allocated += self.allocated() - at_first;
        }
        if let Some(cut) = cut {
            // What the cut has met is no longer in a dump that was not whole.
            recovery = Recovery {
                dumped_slots: recovery.dumped_slots,
                dump_bytes: recovery.dump_bytes,
                dumped_bytes: recovery.dumped_bytes,
                superblocks: recovery.superblocks,
                mp_pages_read: recovery.mp_pages_read,
                image_bytes: recovery.image_bytes,
                wrote_image: recovery.wrote_image,
                lost_sections: recovery.lost_sections,
                ..cut
            };
        }
        self.power_cuts.stopped += u64::from(cut.is_none());
        self.note(&recovery, left == Some(0), lost);
        if allocated > 0 {
            let allocations = allocated;
            return Err(Violation::Allocated { allocations });
        }
        // What a volatile cache has lost makes older versions valid again.
        let goes_back = self.config.write_cache == WriteCache::Volatile;
        if let Some((block, after)) = self.evacuating().filter(|_| !goes_back) {
            let before = before.filter(|(b, _)| *b == block).map_or(0, |(_, n)| n);
            if after > before {
                return Err(Violation::WorkUndone {
                    block,
                    before,
                    after,
                });
            }
        }
        self.firmware.restart(self.now, &mut self.platform);
        self.start_keeping();
        self.checked()?;
        Ok((recovery, lost))
    }

    fn note(&mut self, recovery: &Recovery, again: bool, lost: u32) {
        let c = &mut self.power_cuts;
        c.cuts += 1 + u64::from(again);
        c.in_recovery += u64::from(again);
        c.torn_programs += u64::from(recovery.torn_programs);
        c.waiting_programs += u64::from(recovery.waiting_programs);
        c.erasing += u64::from(recovery.erasing > 0);
        c.erasing_two += u64::from(recovery.erasing > 1);
        c.converting += u64::from(recovery.converting);
        c.rebuilding += u64::from(recovery.rebuild_reads > 0);
        c.soft_reads += u64::from(recovery.soft_reads > 0);
        c.dumped_map_pages += u64::from(recovery.dumped_map_pages);
        c.lost_commands += u64::from(lost);
        c.lost_slots += u64::from(recovery.lost_slots);
    }

    fn allocated(&self) -> u64 {
        self.allocations.map_or(0, |count| count())
    }

    /// Capacitors fail at every eighth cut, when the dump has the counters and all without which data would be lost.
    fn shorten(&mut self, dump: &mut Vec<u8>) {
        if self.power_cuts.cuts % 8 != 7 {
            return;
        }
        let least = bytes_up_to(dump, SectionId::Counters);
        let rest = (dump.len() - least) as u64;
        let kept = Stream::new(self.seed).at(self.power_cuts.cuts).below(rest);
        dump.truncate(least + kept as usize);
        self.power_cuts.short_dumps += 1;
    }

    /// Waits until nothing is under way, shuts the drive down and powers it on again. Returns what the mount took.
    ///
    /// # Errors
    /// The first violation that came of it.
    pub fn shut_down(&mut self) -> Result<Recovery, Violation> {
        self.finish()?;
        self.firmware.shut_down();
        let mut events = 0;
        while !self.firmware.is_at_rest() && self.step()? {
            events += 1;
            if events > EVENTS_AT_MOST {
                let state = self.state();
                return Err(Violation::NeverRests { events, state });
            }
        }
        self.platform.power_cut();
        let mut allocated = 0;
        let (dump, _) = self.dump(&mut allocated);
        let recovering = self.mount(&dump, &mut allocated)?;
        let at_first = self.allocated();
        let recovery = self.firmware.go_through(recovering, &self.platform);
        allocated += self.allocated() - at_first;
        if allocated > 0 {
            let allocations = allocated;
            return Err(Violation::Allocated { allocations });
        }
        self.now += POWER_OFF;
        self.platform.set_now(self.now);
        self.firmware.restart(self.now, &mut self.platform);
        self.start_keeping();
        self.checked()?;
        Ok(recovery)
    }

    /// A new firmware goes on from what was `saved`.
    fn mount_saved(&mut self, saved: &Saved, allocated: &mut u64) -> Result<Recovering, Violation> {
        match saved {
            Saved::Dump(dump) => self.mount(dump, allocated),
            Saved::Kept(memory) => self.mount_kept(memory.clone(), allocated),
            Saved::Nothing => self.mount(&[], allocated),
        }
    }

    /// What the firmware saves while capacitors power it.
    pub(crate) fn dump(&mut self, allocated: &mut u64) -> (Vec<u8>, Recovery) {
        let at_first = self.allocated();
        let cut = self.firmware.cut(&mut self.platform);
        let bytes = self.firmware.dump_bytes(&cut, &self.platform);
        *allocated += self.allocated() - at_first;
        let mut dump = vec![0; bytes];
        let at_first = self.allocated();
        let saved = self
            .firmware
            .save(self.now, &cut, &mut dump, &self.platform);
        *allocated += self.allocated() - at_first;
        assert_eq!(
            saved,
            Some(dump.len()),
            "a dump is as long as it was counted"
        );
        (dump, cut)
    }

    /// The firmware is gone but for its dump; a new one mounts the drive.
    pub(crate) fn mount(
        &mut self,
        dump: &[u8],
        allocated: &mut u64,
    ) -> Result<Recovering, Violation> {
        let firmware = firmware(&self.config, self.seed, 0);
        let before = std::mem::replace(&mut self.firmware, firmware);
        self.platform.forget_buffers();
        let at_first = self.allocated();
        let flash = before.into_flash();
        let mounted = self.firmware.mount(flash, dump, &mut self.platform);
        *allocated += self.allocated() - at_first;
        // Power was cut, so this memory has not survived.
        self.keeper = None;
        mounted.map_err(Violation::DoesNotMount)
    }

    /// The superblock that is being emptied, and its valid slots.
    fn evacuating(&self) -> Option<(SuperblockId, u32)> {
        let mut infos = self.firmware.blocks().iter();
        let found = infos.find(|(_, info)| info.evacuating);
        found.map(|(block, info)| (block, info.valid_slots))
    }

    /// Checks the firmware's own tables: every slot has one owner, and the counts of valid slots agree.
    ///
    /// # Errors
    /// [`Violation::Inconsistency`].
    pub fn audit(&self) -> Result<(), Violation> {
        self.firmware.audit().map_err(Violation::Inconsistency)
    }

    /// Checks that spare is where it belongs: superblocks are retired and blocks are replaced only for a failure. Where
    /// nothing is under way ([`FaultyDrive::settle`]), also that no superblock is being erased or read.
    ///
    /// # Errors
    /// [`Violation::SpareLeaked`], [`Violation::NotAtRest`].
    pub fn check_spare(&self) -> Result<(), Violation> {
        let injected = self.platform.flash.injected();
        let failures = injected.failed_programs + injected.failed_erases;
        let blocks = || self.firmware.blocks().iter();
        let retired = blocks().filter(|(_, info)| info.usage == SuperblockUse::Bad);
        let retired = retired.count() as u64;
        let replaced = self.firmware.counters().replaced;
        if retired + replaced > failures {
            return Err(Violation::SpareLeaked {
                retired,
                replaced,
                failures,
            });
        }
        let is_busy = |info: &&firstread_firmware::observe::SuperblockInfo| {
            info.usage == SuperblockUse::Erasing || info.pins > 0
        };
        let busy = blocks().find(|(_, info)| is_busy(info));
        match busy {
            Some((block, _)) if self.platform.flash.in_flight() == 0 => {
                Err(Violation::NotAtRest { block })
            }
            _ => Ok(()),
        }
    }

    /// Commands that have ended as `status`.
    pub(crate) fn ended_as(&self, status: Status) -> u64 {
        let completed = self.platform.completed.iter();
        completed.filter(|(_, s)| *s == status).count() as u64
    }

    /// Whether a scheme may refuse writes of the host although there is room.
    pub(crate) fn may_refuse_writes(&self) -> bool {
        self.config.schemes.has("area", "at_bound", "read-only")
    }

    /// What the firmware does, for people.
    fn state(&self) -> String {
        let info = |(block, info): (SuperblockId, &firstread_firmware::observe::SuperblockInfo)| {
            format!(
                "\n  {} {:?} {:?} valid {} pins {} evacuating {} failed {} opened {}",
                block.0,
                info.usage,
                info.mode,
                info.valid_slots,
                info.pins,
                info.evacuating,
                info.failed,
                info.opened
            )
        };
        let rows: String = self.firmware.blocks().iter().map(info).collect();
        format!(
            "{} operations under way, {} host slots in the write buffer, {}\nsuperblocks:{rows}",
            self.platform.flash.in_flight(),
            self.firmware.host_slots_buffered(),
            match self.firmware.is_read_only() {
                true => "end of life reached",
                false => "writes are taken",
            },
        )
    }
}

/// What is left of a firmware.
enum Saved {
    Nothing,
    Dump(Vec<u8>),
    Kept(Survives),
}

/// A firmware that knows nothing.
pub(crate) fn firmware(config: &DriveConfig, seed: u64, filled_slots: u64) -> Firmware<Memory> {
    let g = config.geometry;
    let schemes = config.schemes.build(&config.setup(seed));
    let per_block = g.slots_per_superblock(config.mode);
    let memory = Memory::new(per_block, g.blocks_per_plane, filled_slots);
    let mut firmware = Firmware::new(config.firmware(), schemes, memory);
    if config.schemes.requires(Need::Future) {
        firmware.foretell(config.future(seed));
    }
    firmware
}
