//! Power cuts: what is lost, what the emergency dump and the recovery take.
//!
//! The firmware decides what survives and rebuilds the map (`ftl/recovery.rs`). Times are
//! computed from what it counted, not simulated step by step. The dump resets the dies, then programs
//! what the capacitors have to save on all of them at once, in SLC mode where the chip has it. The
//! recovery reads rows on all dies side by side, each sensed and transferred, the channels shared.
//! The work of the controller's processors is not charged.

use firstread_core::{CellMode, Ns, PageType, SenseMode, SenseTiming};
use firstread_firmware::Firmware;
use firstread_firmware::format::MountError;
use firstread_firmware::ftl::{Recovering, Recovery};

use super::{CutRefused, Drive};
use crate::initial_contents::FilledMemory;
use crate::payload::Payload;

/// Result of a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PowerCut {
    /// When, on the drive's clock.
    pub at: Ns,
    /// Hold-up time that the capacitors must provide; of a shutdown, the time in which the drive saves, the image of its
    /// map included.
    pub dump: Ns,
    /// From power-on until the first command is taken: the time to ready.
    pub recovery: Ns,
    /// Requests of the host that were in flight, and are lost.
    pub lost_requests: u32,
    /// Whether it was cut once more in the recovery ([`Drive::cut_recovery_after`]).
    pub twice: bool,
    /// What the firmware had to do.
    pub work: Recovery,
}

impl<P: Payload> Drive<P> {
    /// Cuts the power once more in the recovery from the next cut, when that has read so many
    /// superblocks' tables of contents.
    pub fn cut_recovery_after(&mut self, superblocks: u32) {
        self.cut_recovery = Some(superblocks);
    }

    /// Cuts the power at `at`, or now if that is past, and restores it. Everything in flight is lost, including
    /// events that were due before `at`.
    ///
    /// # Errors
    /// [`CutRefused`] where what a cut leaves is not simulated; then nothing has changed. A drive that does not mount is of
    /// no more use.
    pub fn power_cut(&mut self, at: Ns) -> Result<PowerCut, CutRefused> {
        self.may_cut_power()?;
        self.reset(at)
    }

    /// The host shuts the drive down and powers it on again (NVMe: a normal shutdown). What it has written is safe, no
    /// operation is torn, and the controller writes an image of the map, so that the next mount is short.
    ///
    /// # Errors
    /// [`CutRefused`]: a host shuts down when none of its commands is outstanding. Then nothing has changed, but a drive that
    /// does not mount is of no more use.
    pub fn shut_down(&mut self) -> Result<PowerCut, CutRefused> {
        self.may_cut_power()?;
        if self.platform.outstanding() > 0 {
            return Err(CutRefused::Outstanding(self.platform.outstanding()));
        }
        let at = self.platform.now;
        self.firmware.shut_down();
        self.platform.set_host(Ns::MAX);
        while !self.firmware.is_at_rest() && self.step().is_some() {}
        self.reset(at)
    }

    /// Losses of power that the host had not announced: SMART's Unsafe Shutdowns. A cut in a recovery is not counted again,
    /// because a recovery writes nothing.
    pub fn unsafe_shutdowns(&self) -> u32 {
        self.firmware.header().unsafe_shutdowns
    }

    /// Whether what a cut leaves is simulated.
    pub(super) fn may_cut_power(&self) -> Result<(), CutRefused> {
        if !self.platform.stamps.has_whole_sequence() {
            return Err(CutRefused::SequenceEnded);
        }
        Ok(())
    }

    /// Power is cut at `at` and comes back, for a firmware with the schemes of the profile.
    pub(super) fn reset(&mut self, at: Ns) -> Result<PowerCut, CutRefused> {
        let at = at.max(self.platform.now);
        let lost_requests = self.platform.power_cut();
        self.wake = Ns::MAX;
        let dump = self.dump();
        let mut recovering = self.mount(&dump)?;
        let mut recovery = Ns::ZERO;
        let mut left = self.cut_recovery.take();
        while left != Some(0)
            && self
                .firmware
                .recover_superblock(&mut recovering, &self.platform)
        {
            left = left.map(|left| left - 1);
        }
        let mut work = recovering.done();
        let twice = left == Some(0);
        if twice {
            // Power was cut again. The dump is unchanged, so the recovery starts over.
            recovery = self.recovery_time(&work);
            let again = self.mount(&dump)?;
            work = self.firmware.go_through(again, &self.platform);
        }
        for lpn in std::mem::take(&mut self.platform.lost_pages) {
            let left = self.firmware.recovered(lpn, &self.platform);
            self.platform.stamps.go_back(lpn.0, left);
        }
        let dump = self.dump_time(&work);
        recovery += self.recovery_time(&work);
        self.platform.now = at + dump + recovery;
        self.firmware.restart(self.platform.now, &mut self.platform);
        self.wake_firmware();
        Ok(PowerCut {
            at,
            dump,
            recovery,
            lost_requests,
            twice,
            work,
        })
    }

    /// Power is cut: what the firmware saves while capacitors power it.
    fn dump(&mut self) -> Vec<u8> {
        let cut = self.firmware.cut(&mut self.platform);
        let mut bytes = vec![0; self.firmware.dump_bytes(&cut, &self.platform)];
        let now = self.platform.now;
        let saved = self.firmware.save(now, &cut, &mut bytes, &self.platform);
        debug_assert_eq!(saved, Some(bytes.len()), "as long as it was counted");
        bytes
    }

    /// A firmware that knows nothing yet.
    fn fresh_firmware(&self) -> Firmware<FilledMemory> {
        let schemes = self.firmware_builder.schemes(&self.profile);
        self.firmware_builder.firmware(&self.profile, schemes)
    }

    /// Power is back, for a new firmware, which mounts the drive from `dump`.
    fn mount(&mut self, dump: &[u8]) -> Result<Recovering, MountError> {
        let firmware = self.fresh_firmware();
        let future = self.firmware.future().clone();
        let before = std::mem::replace(&mut self.firmware, firmware);
        self.platform.stamps.power_off();
        // What the host will do is no memory of the drive.
        self.foretell(future);
        self.firmware
            .mount(before.into_flash(), dump, &mut self.platform)
    }

    /// Bus time of a multi-plane page of a die (ns).
    fn mp_page_transfer_ns(&self) -> u64 {
        let p = &self.profile;
        let bytes = p.stored_bytes(p.geometry.page_bytes) * p.geometry.planes as u64;
        p.channel.command_ns + p.channel.transfer_ns(bytes)
    }

    /// How long `rows` multi-plane pages take on all dies and channels, `array_ns` each on its die.
    fn mp_pages_ns(&self, mp_pages: u64, array_ns: u64) -> u64 {
        let g = &self.profile.geometry;
        let transfer = self.mp_page_transfer_ns();
        let of_die = mp_pages.div_ceil(g.dies() as u64) * (array_ns + transfer);
        let of_channel = mp_pages.div_ceil(g.channels as u64) * transfer;
        of_die.max(of_channel)
    }

    fn dump_time(&self, work: &Recovery) -> Ns {
        let (p, g) = (&self.profile, &self.profile.geometry);
        let mode = match p.chip.mode(CellMode::Slc) {
            Some(_) => CellMode::Slc,
            None => p.mode,
        };
        let program = self.medium().program_ns(mode).unwrap_or(0) / mode.bits() as u64;
        let mp_page_bytes = g.page_bytes as u64 * g.planes as u64;
        let image = match work.wrote_image {
            true => work.image_bytes,
            false => 0,
        };
        let mp_pages = (work.dumped_bytes + image).div_ceil(mp_page_bytes);
        let reset = match work.wrote_image {
            true => 0,
            false => p.chip.timing.reset_ns,
        };
        Ns(reset + self.mp_pages_ns(mp_pages, program))
    }

    fn recovery_time(&self, work: &Recovery) -> Ns {
        let mode = self.profile.mode;
        let sense = |page| {
            let (hard, timing) = (SenseMode::Hard, SenseTiming::DEFAULT);
            let ns = self.medium().read_ns(mode, PageType(page), hard, timing);
            ns.unwrap_or(0)
        };
        let all: u64 = (0..mode.bits()).map(sense).sum();
        Ns(self.mp_pages_ns(work.mp_pages_read, all / mode.bits() as u64))
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{DieId, FlashEvent, FlashKind, HostOp, Stream, SuperblockId, Tag};
    use firstread_firmware::observe::{SuperblockInfo, SuperblockUse};
    use firstread_firmware::policy::AXES;
    use firstread_workload::TraceRecord;

    use super::*;
    use crate::port_log::{PortCall, PortCallKind};
    use crate::profile::{Library, Override, load_drive};
    use crate::{CutAt, DriveState, Host, RunStats, Submission, tables};

    /// Two dies with superblocks of eight wordlines, full, that never err.
    fn drive() -> Drive {
        let set = [
            "geometry.channels=2",
            "geometry.chips_per_channel=1",
            "geometry.dies_per_chip=1",
            "geometry.planes=1",
            "geometry.blocks_per_plane=24",
            "chip.array.layers=1",
            "chip.failures.factory_bad=0 %",
            "capacity=16 MiB",
            "cells=ideal",
            "schemes.read_levels=factory",
            "schemes.suspend=none",
            "schemes.wear=none",
            "schemes.read_recovery=none",
            "schemes.gc_victim=fifo",
        ];
        let set = set.map(|s| Override::parse(s).unwrap());
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES).unwrap();
        let tables = tables::for_drive(&profile).unwrap();
        Drive::new(profile, tables, &DriveState::default(), 1).unwrap()
    }

    /// Random writes of 16 KiB, or sequential reads.
    fn run(drive: &mut Drive, op: HostOp, requests: u64, seed: u64) -> RunStats {
        run_until(drive, op, requests, seed, None)
    }

    /// The same, until the power is cut.
    fn run_until(
        drive: &mut Drive,
        op: HostOp,
        requests: u64,
        seed: u64,
        cut: Option<CutAt>,
    ) -> RunStats {
        let places = drive.capacity_bytes() >> 14;
        let records = (0..requests).map(|i| {
            let place = match op {
                HostOp::Read => i % places,
                _ => Stream::new(seed).at(i).below(places),
            };
            Ok(TraceRecord {
                time_ns: 0,
                op,
                offset_bytes: place << 14,
                len_bytes: 16 << 10,
                device: 0,
                placement: 0,
            })
        });
        let mut host = Host::trace("power", records, 8, None);
        cut.into_iter().for_each(|cut| host.cut_power_at(cut));
        host.run(drive, &mut |_| {}).unwrap()
    }

    /// What was acknowledged reads back, though the numbers of slots pass 2^29 and 2^34 meanwhile.
    #[test]
    fn powerloss_numbers_of_slots_do_not_end() {
        for passed in [1u64 << 29, 1 << 34, (1 << 40) - (1 << 20)] {
            let mut drive = drive();
            run(&mut drive, HostOp::Write, 3_000, 1);
            drive.platform.stamps.pass(passed - 5_000);
            for seed in 0..20 {
                let at = Some(CutAt::Events(500 + 37 * seed));
                let cut = run_until(&mut drive, HostOp::Write, 300, seed, at).power_cut;
                assert!(cut.is_some());
            }
            assert!(drive.platform.stamps.written() > passed);
            run(&mut drive, HostOp::Read, 1_024, 0);
            assert_eq!(drive.audit(), Ok(()));
        }
        let mut drive = drive();
        drive.platform.stamps.pass(1 << 40);
        let refused = drive.power_cut(Ns::ZERO).unwrap_err().to_string();
        assert!(refused.contains("sequence number"), "{refused}");
    }

    /// A shutdown tears nothing, counts as no unsafe one, and makes the next mount short; what was written after it is
    /// read again after a power cut, and no more.
    #[test]
    fn powerloss_a_shutdown_makes_the_next_mounts_short() {
        let mut drive = drive();
        run(&mut drive, HostOp::Write, 3_000, 1);
        let mut lost = drive.clone();
        let lost = lost.power_cut(Ns::ZERO).unwrap();
        let shut = drive.shut_down().unwrap();
        let read = |of: &PowerCut| (of.work.superblocks, of.work.image_bytes > 0);
        assert_eq!(read(&shut), (0, true));
        assert!(lost.work.superblocks > 10, "{lost:?}");
        assert!(shut.recovery < lost.recovery, "{shut:?} {lost:?}");
        assert_eq!((shut.work.torn_programs, drive.unsafe_shutdowns()), (0, 0));
        assert_eq!(drive.audit(), Ok(()));
        run(&mut drive, HostOp::Read, 1_024, 0);
        let mut before = 0;
        for writes in [50, 100, 200, 400] {
            let mut later = drive.clone();
            run(&mut later, HostOp::Write, writes, 2);
            let cut = later.power_cut(Ns::ZERO).unwrap();
            assert_eq!(later.unsafe_shutdowns(), 1);
            assert!(cut.work.superblocks >= before, "{writes} writes: {cut:?}");
            before = cut.work.superblocks;
            run(&mut later, HostOp::Read, 1_024, 0);
            assert_eq!(later.audit(), Ok(()));
        }
        assert!((2..lost.work.superblocks).contains(&before), "{before}");
    }

    /// A host whose commands are outstanding is refused a shutdown.
    #[test]
    fn sequence_a_shutdown_waits_for_commands() {
        let mut drive = drive();
        let read = Submission {
            op: HostOp::Read,
            offset_bytes: 0,
            len_bytes: 4096,
            fua: false,
            placement: 0,
            queue: 0,
            since: Ns::ZERO,
        };
        drive.submit(drive.now(), read).unwrap();
        let refused = drive.shut_down().unwrap_err().to_string();
        assert_eq!(
            refused,
            "a drive is shut down when no command is outstanding: 1 are"
        );
    }

    /// Bytes of the dump of a product's drive at most, but for its journal of trims and losses.
    /// The data of its buffers come on top.
    #[test]
    fn formula_a_dump_is_bounded() {
        let bytes = ["dc-qlc-15t", "fg-qlc", "a-tlc"].map(|name| {
            let profile = load_drive(&Library::new(), name, &[], AXES).unwrap();
            let tables = tables::for_drive(&profile).unwrap();
            let mut drive = Drive::new(profile, tables, &DriveState::default(), 1).unwrap();
            let most = drive.fresh_firmware().dump_bytes_at_most(&drive.platform);
            let slots = drive.write_buffers().bytes;
            let cut = drive.power_cut(Ns::ZERO).unwrap();
            assert!(cut.work.dump_bytes <= most as u64, "{name}");
            let mb = |bytes: f64| bytes / 1e6;
            format!(
                "{name}: {:.1} MB, buffers of {:.0} MB; ",
                mb(most as f64),
                mb(slots as f64)
            )
        });
        assert_eq!(
            bytes.concat(),
            "dc-qlc-15t: 4.0 MB, buffers of 300 MB; fg-qlc: 4.1 MB, buffers of 300 MB; \
             a-tlc: 3.1 MB, buffers of 225 MB; "
        );
    }

    /// Erases on die 0, as they pass the firmware's ports.
    #[derive(Default)]
    struct Erases {
        running: Option<(SuperblockId, Tag)>,
        ended: Option<SuperblockId>,
    }

    impl Erases {
        fn note(&mut self, what: PortCallKind) {
            match what {
                PortCallKind::Issued(op) if op.die == DieId(0) => {
                    if let FlashKind::Erase { block, .. } = op.kind {
                        (self.running, self.ended) = (Some((block, op.tag)), None);
                    }
                }
                PortCallKind::Event(FlashEvent::Erased { tag, .. })
                    if self.running.is_some_and(|(_, of)| of == tag) =>
                {
                    self.ended = self.running.take().map(|(block, _)| block);
                }
                _ => {}
            }
        }
    }

    /// An erase that a cut tears wears its block, and the one that follows it does too: the cells have
    /// seen what the firmware counts. It also counts an erase that waited for the die.
    #[test]
    fn powerloss_a_torn_erase_wears_its_block() {
        let mut drive = drive();
        drive.log_ports();
        let (mut erases, mut seen) = (Erases::default(), 0);
        let (mut torn, mut waited) = (0, [0; 24]);
        for seed in 0..300 {
            let at = Some(CutAt::Events(100 + 7 * seed));
            let cut = run_until(&mut drive, HostOp::Write, 200, seed, at).power_cut;
            let cut_at = cut.map_or(Ns::MAX, |cut| cut.at);
            let port_calls = &drive.port_calls()[seen..];
            seen += port_calls.len();
            let (before, after): (Vec<&PortCall>, Vec<&PortCall>) =
                port_calls.iter().partition(|c| c.at <= cut_at);
            before.iter().for_each(|c| erases.note(c.what));
            if cut.is_some_and(|cut| cut.work.erasing > 0) {
                let block = after.iter().find_map(|c| match c.what {
                    PortCallKind::Issued(op) => match op.kind {
                        FlashKind::Erase { block, .. } => Some(block),
                        _ => None,
                    },
                    _ => None,
                });
                let block = block.expect("the erase is done again");
                if erases.running.is_some_and(|(of, _)| of == block) {
                    torn += 1;
                } else if erases.ended != Some(block) {
                    waited[block.0 as usize] += 1;
                }
            }
            after.iter().for_each(|c| erases.note(c.what));
            let at_rest = |info: &SuperblockInfo| info.usage != SuperblockUse::Erasing;
            for (block, info) in drive.blocks().iter().filter(|(_, info)| at_rest(info)) {
                let cells = drive.platform.hardware.cells().pe_cycles(block);
                let expected = (cells.0 + waited[block.0 as usize], cells.1);
                assert_eq!(
                    (info.pe_cycles, info.pe_milli),
                    expected,
                    "{block:?} after {seed} cuts"
                );
            }
        }
        assert!(torn > 3, "{torn} erases were torn");
    }
}
