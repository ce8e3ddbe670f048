//! A drive as a machine on the virtual clock: firmware and hardware joined in one loop of events.
//!
//! A host submits commands, lets time pass and takes completions. The drive knows neither jobs nor reports:
//! these are in [`crate::runner`].
//!
//! - `build`, `prepare`: made from a profile, then filled and aged.
//! - `activate`: other schemes on a drive in use.
//! - `power`: power cuts, and what coming back takes.
//! - `firmware_builder`: what a firmware is made from, at first and when power is back.

mod activate;
mod build;
mod error;
pub(crate) mod firmware_builder;
mod power;
mod prepare;

use std::fmt;

use firstread_core::flash::ALL_PLANES;
use firstread_core::params::Need;
use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, CommandId, DieId, FlashEvent, Lpn, Ns, SuperblockId};
use firstread_firmware::Firmware;
use firstread_firmware::ftl::{Ahead, Busy, Inconsistency};
use firstread_firmware::log::Record;
use firstread_firmware::observe::{Counters, FdpLog, Future, Heat, SuperblockTable};
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_nand::Medium;
use firstread_workload::host_log::HostLog;

use crate::commands::{Completed, Submission};
use crate::completions::Digest;
use crate::hardware::spans::Span;
use crate::hardware::timers::LATEST;
use crate::hardware::{Done, Resource};
use crate::initial_contents::FilledMemory;
use crate::payload::{Payload, StaleRead};
use crate::platform::{Due, FrontEndTimer, Platform};
use crate::port_log::{PortCall, PortCallKind};
use crate::profile::DriveProfile;
use crate::stats::{ByMode, Lines, WriteBuffers};
use firmware_builder::FirmwareBuilder;

pub use activate::ActivateError;
pub use error::{CutRefused, DriveError, StateError, SubmitError, TemperatureRefused};
pub use power::PowerCut;

/// The overlay grows when fewer changes of the map than this fit.
pub(crate) const OVERLAY_RESERVE: u32 = 8;

/// The side that an event belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The drive's, which has been handled.
    Drive,
    /// The host's: a completion has reached it, or the time has come until which it had nothing to do.
    Host,
}

/// A drive.
///
/// The drive's clock may be ahead of its host's by [`Drive::host_lag`], the time in which a command is fetched
/// and taken: no command of the host reaches the drive sooner. So the host may submit several commands before it
/// advances the drive.
///
/// A clone behaves like the drive: the same commands at the same times give the same completions. So a drive can
/// be burnt in once and measured many times. A clone copies all memory of the drive, including memory that
/// is reserved but unused. The two share nothing.
#[derive(Clone)]
pub struct Drive<P = ()> {
    pub(crate) profile: DriveProfile,
    pub(crate) firmware: Firmware<FilledMemory>,
    pub(crate) platform: Platform<P>,
    /// What a firmware is made from, at first and when power is back.
    firmware_builder: Box<FirmwareBuilder>,
    seed: u64,
    /// When the firmware is polled next, as it asked.
    wake: Ns,
    /// Superblocks that the next recovery reads before power is cut again.
    cut_recovery: Option<u32>,
    /// Write amplification that theory expects of the state it was preconditioned into.
    theory: Option<f64>,
    /// Whether that state is an approximation: [`Drive::is_approximated`].
    is_approximated: bool,
    /// The log of the host whose data lie on it, between runs: what a clone of the drive holds means nothing without it.
    pub(crate) host_log: Option<Box<HostLog>>,
}

impl<P> fmt::Debug for Drive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("name", &self.profile.name)
            .finish_non_exhaustive()
    }
}

impl Drive {
    /// Latest time of an event: 146 years.
    pub const LATEST: Ns = LATEST;
}

/// Methods for the host.
impl<P: Payload> Drive<P> {
    /// From now on completions of reads say which page they waited for last ([`Completed::page`]).
    pub fn keep_pages(&mut self) {
        self.platform.keep_pages();
    }

    /// From now on what its parts do is recorded ([`Drive::spans`]), and where the time of requests goes
    /// ([`Completed::course`]).
    pub fn record(&mut self) {
        let commands = self.platform.slots.len();
        self.platform.hardware.record(commands);
    }

    /// What its parts have done since [`Drive::record`] and [`Drive::spans_taken`], roughly in the order of their ends.
    #[inline]
    pub fn spans(&self) -> &[Span] {
        let recorder = self.platform.hardware.recorder.as_ref();
        recorder.map_or(&[], |recorder| recorder.spans())
    }

    /// What [`Drive::spans`] has is dropped.
    pub fn spans_taken(&mut self) {
        if let Some(recorder) = &mut self.platform.hardware.recorder {
            recorder.taken();
        }
    }

    /// What goes on now is recorded as far as it has come.
    pub fn record_rest(&mut self) {
        let now = self.platform.now;
        self.platform.hardware.record_rest(now);
    }

    /// Whether the queues take another command.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.platform.has_slot()
    }

    /// The host submits a command at `at`, by the host's clock.
    ///
    /// # Errors
    /// [`SubmitError`] where the queues are full, the command reaches past the end of the drive, or `at` lies
    /// further behind [`Drive::now`] than [`Drive::host_lag`]. The drive is as it was then.
    #[inline]
    pub fn submit(&mut self, at: Ns, command: Submission) -> Result<CommandId, SubmitError> {
        let Submission {
            op,
            offset_bytes,
            len_bytes,
            ..
        } = command;
        let capacity_bytes = self.profile.capacity_bytes;
        if offset_bytes.saturating_add(u64::from(len_bytes)) > capacity_bytes {
            return Err(SubmitError::OutOfRange {
                op,
                offset_bytes,
                len_bytes,
                capacity_bytes,
            });
        }
        if at + self.platform.host_lag < self.platform.now {
            return Err(SubmitError::Late);
        }
        self.platform.submit(at, command).ok_or(SubmitError::Full)
    }

    /// When the first completion that has not been taken reaches the host, as far as is known; [`Ns::MAX`] for
    /// never.
    #[inline]
    pub fn completion_due(&self) -> Ns {
        self.platform.completion_due()
    }

    /// Takes the first completion that reaches the host until `by`. All completions that reach it until
    /// [`Drive::now`] are known, and also those until [`Drive::due`], since nothing happens before that.
    #[inline]
    pub fn completion(&mut self, by: Ns) -> Option<Completed<'_>> {
        if self.platform.completion_due() > by {
            return None;
        }
        self.platform.completed()
    }

    /// Handles events until `until`, by the host's clock, or until the first completion reaches the host, whichever is
    /// sooner. Returns at once if a completion has not been taken. Afterwards the drive's clock is ahead of the host's
    /// by [`Drive::host_lag`]. With nothing in flight and `until` at [`Ns::MAX`], it returns only if the firmware will
    /// never have background work again.
    pub fn advance(&mut self, until: Ns) {
        let stop = until.min(self.completion_due());
        if stop.saturating_add(self.platform.host_lag) <= self.platform.now {
            return;
        }
        self.wait(stop);
        while self.step() == Some(Step::Drive) {}
    }

    /// The host has done what it does by [`Drive::now`], and has nothing to do until `until` or until a completion
    /// reaches it that is not known yet; `until` is no later than [`Drive::completion_due`]. [`Drive::step`] tells when
    /// that is.
    #[inline(always)] // Of the one loop of a run.
    pub fn wait(&mut self, until: Ns) {
        self.platform.set_host(until);
        // The host was behind by as long as a command takes: its first one may be here.
        if self.platform.command_due() == self.platform.now {
            self.command(FrontEndTimer::Command);
            self.wake_firmware();
        }
    }

    /// When the next event is due; [`Ns::MAX`] for never.
    #[inline]
    pub fn due(&self) -> Ns {
        self.platform.due()
    }

    /// Temperature of the drive at `at` (°C), as far as is planned.
    pub fn temperature_c(&self, at: Ns) -> f64 {
        self.platform.hardware.cells().temperature_c(at)
    }

    /// The drive is at `celsius` from `at` on, or from now on if that is past. Cells age at that temperature from then
    /// on; what has been sensed stays as it is. Changes are planned in their order: none before another that is planned.
    ///
    /// # Errors
    /// [`TemperatureRefused`]; then nothing has changed.
    pub fn set_temperature(&mut self, at: Ns, celsius: f64) -> Result<(), TemperatureRefused> {
        let hottest = f64::from(self.firmware_builder.temperature_c());
        if celsius > hottest {
            return Err(TemperatureRefused::Hotter { celsius, hottest });
        }
        let at = at.max(self.platform.now);
        let cells = self.platform.hardware.cells_mut();
        if cells.last_change() > at {
            return Err(TemperatureRefused::Planned { celsius });
        }
        cells
            .set_temperature(at, celsius)
            .map_err(|_| TemperatureRefused::OutOfRange { celsius })
    }

    /// How far the host's clock may be behind the drive's (ns): as long as a command takes from the host to the
    /// firmware at least.
    pub fn host_lag(&self) -> Ns {
        self.platform.host_lag
    }

    /// The first read, if any, that returned something else than the last version written.
    #[inline]
    pub fn stale(&self) -> Option<StaleRead> {
        self.platform.stale
    }

    /// Time passes until `until`, without a host.
    fn pass_time(&mut self, until: Ns) {
        while self.platform.due() <= until {
            self.step();
        }
        self.platform.now = self.platform.now.max(until);
    }
}

/// What is known of it, and what is asked of it beside commands.
impl<P: Payload> Drive<P> {
    /// Bytes the host sees.
    pub fn capacity_bytes(&self) -> u64 {
        self.profile.capacity_bytes
    }
    /// The profile it was made from.
    pub fn profile(&self) -> &DriveProfile {
        &self.profile
    }
    /// Counters of the firmware since the drive was made.
    #[inline]
    pub fn counters(&self) -> &Counters {
        self.firmware.counters()
    }
    /// What the firmware did in the background, in order: the last 32,768 records at least.
    pub fn log(&self) -> &[Record] {
        self.platform.log.records()
    }
    /// Records of background work before those of [`Drive::log`], which are not kept.
    pub fn log_dropped(&self) -> u64 {
        self.platform.log.dropped()
    }
    /// The block groups of the scheme that keeps read levels, if it has any.
    pub fn groups(&self) -> Option<&BlockGroups> {
        self.firmware.levels().groups()
    }
    /// Whether the scheme that keeps read levels learns from reads of the host.
    pub fn learns_from_reads(&self) -> bool {
        self.firmware.levels().learns_from_reads()
    }
    /// Simulated time, by the drive's clock.
    #[inline]
    pub fn now(&self) -> Ns {
        self.platform.now
    }
    /// Keeps what passes the firmware's ports from now on, and forgets what was kept.
    pub fn log_ports(&mut self) {
        self.platform.port_log.start();
    }
    /// Folds every completion that reaches the host from now on into a digest.
    pub fn digest_completions(&mut self) {
        self.platform.digest.start();
    }
    /// The digest of what has completed since [`Drive::digest_completions`]; none where that was not called.
    pub fn digest(&self) -> Option<Digest> {
        self.platform.digest.digest()
    }
    /// What passed them since [`Drive::log_ports`]; nothing where it was not called.
    pub fn port_calls(&self) -> &[PortCall] {
        self.platform.port_log.port_calls()
    }
    /// Events of placement handles since the drive was made; none where it takes no handles.
    pub fn fdp_log(&self) -> Option<FdpLog<'_>> {
        self.firmware.fdp_log()
    }
    /// How often the host has read and written each page lately, where the firmware counts it.
    pub fn heat(&self) -> &Heat {
        self.firmware.heat()
    }
    /// What the host will read and write, if a scheme asks and was told.
    pub fn future(&self) -> &Future {
        self.firmware.future()
    }
    /// Tells what the host will read and write from now on. A drive without an oracle that asks forgets it. A run tells it
    /// at its start; who submits commands one by one tells it, or an oracle knows nothing.
    pub fn foretell(&mut self, future: Future) {
        if self.profile.needs(Need::Future) {
            self.firmware.foretell(future);
        }
    }
    /// What the firmware knows of its superblocks: what they are used for, what they hold.
    pub fn blocks(&self) -> &SuperblockTable {
        self.firmware.blocks()
    }
    /// How far cleaning is ahead of the host.
    pub(crate) fn cleaned_ahead(&self) -> Ahead {
        self.firmware.cleaned_ahead()
    }
    /// Superblocks by cell mode, and what capacity they leave.
    pub fn modes(&self) -> ByMode {
        ByMode::of(self.blocks(), &self.profile.geometry)
    }
    /// Memory of its write buffers.
    pub fn write_buffers(&self) -> WriteBuffers {
        let (all, of_schemes) = self.firmware.write_buffer_slots();
        let slot_bytes = self.profile.geometry.slot_bytes;
        let slot = u64::from(slot_bytes);
        let streams = self.firmware.stream_buffers();
        WriteBuffers {
            bytes: u64::from(all) * slot,
            of_schemes_bytes: u64::from(of_schemes) * slot,
            streams: streams.map(|of| Lines::new(of, slot_bytes)).collect(),
            shared: Lines::new(self.firmware.shared_buffer(), slot_bytes),
        }
    }
    /// The least capacity of superblocks, which the table of them keeps, counts from now on.
    pub(crate) fn watch_capacity(&mut self) {
        self.firmware.watch_capacity();
    }
    /// Whether it has reached its end of life and takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.firmware.is_read_only()
    }
    /// Checks that every slot has one owner and every count adds up: time and memory in proportion to
    /// the pages of the drive. For tests.
    pub fn audit(&self) -> Result<(), Inconsistency> {
        self.firmware.audit()
    }
    /// Asks that `block` be erased into `mode`, once what it holds has been moved away.
    pub fn ask_mode(&mut self, block: SuperblockId, mode: CellMode) -> Result<(), Busy> {
        let now = self.platform.now;
        let asked = self.firmware.ask_mode(now, block, mode, &mut self.platform);
        self.wake_firmware();
        asked
    }
    /// What the host makes of the data.
    pub fn payload(&self) -> &P {
        &self.platform.payload
    }
    /// What the host makes of the data, to hand in what it writes and to take what it has read.
    pub fn payload_mut(&mut self) -> &mut P {
        &mut self.platform.payload
    }
    /// The cells, to be looked into without disturbing them.
    pub fn medium(&self) -> &Medium {
        self.platform.hardware.cells().medium()
    }
    /// Bytes of the host's that are in the write buffer, not on flash.
    pub fn buffered_bytes(&self) -> u64 {
        let slots = u64::from(self.firmware.host_slots_buffered());
        slots * u64::from(self.profile.geometry.slot_bytes)
    }
    /// [`Drive::most_buffered_bytes`] counts from now on, up to a power cut.
    pub fn watch_buffers(&mut self) {
        self.firmware.watch_buffers();
    }
    /// The most bytes of the host and of moves that were in the write buffers at once, not on flash: what has to be protected from
    /// power loss. None if the buffers are not watched.
    pub fn most_buffered_bytes(&self) -> Option<u64> {
        let slots = u64::from(self.firmware.most_slots_held()?);
        Some(slots * u64::from(self.profile.geometry.slot_bytes))
    }
    /// Whether the state that it was preconditioned into is an approximation: overwrites by Zipf's law on a drive with two areas of
    /// which the host's own cannot hold the data. Writes then amplify more than the state has it, 15 % on a drive of 64
    /// superblocks, until the host has overwritten the drive (a burn-in).
    pub fn is_approximated(&self) -> bool {
        self.is_approximated
    }
    /// Write amplification that theory expects of the state it was preconditioned into, if it was.
    pub fn expected_amplification(&self) -> Option<f64> {
        self.theory
    }
    /// Whether logical page `lpn` lies on flash or in the write buffer.
    pub fn is_mapped(&self, lpn: u64) -> bool {
        self.firmware.slot_of(Lpn(lpn)).is_some()
    }
}

/// How events are handled.
impl<P: Payload> Drive<P> {
    /// A read has left planes of a die.
    #[cold]
    fn planes_done(&mut self, now: Ns, event: Option<FlashEvent>, free: FlashEvent) {
        let platform = &mut self.platform;
        for event in event.into_iter().chain([free]) {
            platform.port_log.note(now, || PortCallKind::Event(event));
            self.firmware.complete(now, event, platform);
        }
    }

    /// Handles the next event, if there is one. After one of the host's, the host calls [`Drive::wait`].
    #[inline]
    pub fn step(&mut self) -> Option<Step> {
        let next = self.platform.next()?;
        let platform = &mut self.platform;
        let due = platform.now;
        match next {
            Due::Hardware(Resource::Die(die)) => {
                let done = platform.hardware.die_done(
                    due,
                    die,
                    &mut platform.timers,
                    &mut platform.stamps,
                );
                let (event, free, decoded) = match done {
                    Done::GoesOn => {
                        platform.hardware.time_next(&mut platform.timers);
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
                    self.deliver(due, event);
                }
                if let Some(tag) = free {
                    let (die, planes) = (DieId(die), ALL_PLANES);
                    self.deliver(due, FlashEvent::ArrayFree { tag, die, planes });
                    // A decode that takes no time has no timer, so its outcome follows at once. The die comes first,
                    // as it does when decoding takes time.
                    if decoded {
                        let platform = &mut self.platform;
                        let event = platform.hardware.decoded(due, tag.0, &mut platform.stamps);
                        self.deliver(due, event);
                    }
                }
                let platform = &mut self.platform;
                // Not before: commands that the firmware has just issued go ahead of data that could begin to cross
                // now (docs/firmware/reads.md).
                platform.hardware.time_next(&mut platform.timers);
            }
            Due::Hardware(Resource::Decoder(channel)) => {
                let (timers, stamps) = (&mut platform.timers, &mut platform.stamps);
                let event = platform.hardware.decode_done(due, channel, timers, stamps);
                self.deliver(due, event);
            }
            Due::FrontEndTimer(front @ (FrontEndTimer::Command | FrontEndTimer::Write)) => {
                self.command(front)
            }
            Due::FrontEndTimer(FrontEndTimer::Host) => return Some(Step::Host),
            Due::FrontEndTimer(FrontEndTimer::Firmware) => {
                self.wake = Ns::MAX;
                self.firmware.poll(due, platform);
            }
        }
        self.wake_firmware();
        Some(Step::Drive)
    }

    /// The firmware hears of `event`.
    #[inline(always)]
    fn deliver(&mut self, now: Ns, event: FlashEvent) {
        let platform = &mut self.platform;
        platform.port_log.note(now, || PortCallKind::Event(event));
        self.firmware.complete(now, event, platform);
    }

    /// A command has reached the firmware through `front`, unless its data are yet to come.
    #[inline]
    fn command(&mut self, front: FrontEndTimer) {
        if self.platform.has_queues() && front == FrontEndTimer::Command {
            return self.fetched();
        }
        let platform = &mut self.platform;
        let command = platform.arrived(front);
        self.firmware.submit(platform.now, command, platform);
    }

    /// A fetch from the queues has ended.
    #[cold]
    fn fetched(&mut self) {
        let platform = &mut self.platform;
        if let Some(command) = platform.fetched() {
            self.firmware.submit(platform.now, command, platform);
        }
    }

    /// Sees that the firmware is polled when it wants to be, and has memory for what it changes.
    #[inline]
    pub(crate) fn wake_firmware(&mut self) {
        while self.firmware.overlay_is_short(OVERLAY_RESERVE) {
            let grow = FilledMemory::grow;
            self.firmware
                .grow_overlay(self.platform.now, grow, &mut self.platform);
        }
        let due = self.firmware.next_wakeup();
        if due != self.wake {
            self.wake = due;
            self.platform.wake_firmware(due);
        }
    }
}
