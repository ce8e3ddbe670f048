//! Power cuts: what is lost, what the emergency dump and the recovery take.
//!
//! The firmware decides what survives and rebuilds the map (`ftl/recovery.rs`). Times are
//! computed from what it counted, not simulated step by step. The dump resets the dies, then programs
//! what the capacitors have to save on all of them at once, in SLC mode where the chip has it. The
//! recovery reads rows on all dies side by side, each sensed and transferred, the channels shared.
//! The work of the controller's processors is not charged.

use firstread_core::{CellMode, Ns, PageType, SenseMode, SenseTiming};
use firstread_firmware::ftl::{Recovering, Recovery};

use super::{CutRefused, Drive};
use crate::payload::Payload;

/// Result of a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PowerCut {
    /// When, on the drive's clock.
    pub at: Ns,
    /// Hold-up time that the capacitors must provide.
    pub dump: Ns,
    /// From power-on until the first command is taken.
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
    /// [`CutRefused`] where what a cut leaves is not simulated; then nothing has changed.
    pub fn power_cut(&mut self, at: Ns) -> Result<PowerCut, CutRefused> {
        self.may_cut_power()?;
        Ok(self.reset(at, (true, true)))
    }

    /// Whether what a cut leaves is simulated.
    pub(super) fn may_cut_power(&self) -> Result<(), CutRefused> {
        if !self.platform.stamps.has_whole_sequence() {
            return Err(CutRefused::SequenceEnded);
        }
        Ok(())
    }

    /// Power is cut at `at` and comes back, for a firmware that keeps what the schemes of axis `read_levels` have
    /// learned, and those of axis `retry`, or does not.
    pub(super) fn reset(&mut self, at: Ns, kept: (bool, bool)) -> PowerCut {
        let at = at.max(self.platform.now);
        let lost_requests = self.platform.power_cut();
        self.wake = Ns::MAX;
        let mut recovering = self.power_on(kept);
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
            let again = self.power_on((true, true));
            work = work.again(self.firmware.go_through(again, &self.platform));
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
        PowerCut {
            at,
            dump,
            recovery,
            lost_requests,
            twice,
            work,
        }
    }

    /// Power is cut and comes back on, for a new firmware.
    fn power_on(&mut self, (levels, retry): (bool, bool)) -> Recovering {
        let schemes = self.firmware_builder.schemes(&self.profile);
        let firmware = self.firmware_builder.firmware(&self.profile, schemes);
        let future = self.firmware.future().clone();
        let before = std::mem::replace(&mut self.firmware, firmware);
        let mut dump = before.dump(&mut self.platform);
        if !levels {
            dump.forget_levels();
        }
        if !retry {
            dump.forget_retry();
        }
        // What the host will do is no memory of the drive.
        self.foretell(future);
        self.firmware.begin_recovery(dump)
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
        let mp_pages = work.dumped_bytes.div_ceil(mp_page_bytes);
        Ns(p.chip.timing.reset_ns + self.mp_pages_ns(mp_pages, program))
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
    use crate::{CutAt, DriveState, Host, RunStats, tables};

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
        let profile = load_drive(&Library::new(), "ct-qlc", &set, AXES).unwrap();
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
