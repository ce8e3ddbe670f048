//! Power cuts: what is lost, what the emergency dump and the recovery take.
//!
//! What survives and how the map is made anew is the firmware's (`ftl/recovery.rs`). Times are
//! computed from what it counted, not simulated step by step. The dump resets the dies, then programs
//! what the capacitors have to save on all of them at once, in SLC mode where the chip has it. The
//! recovery reads rows on all dies side by side, each sensed and transferred, the channels shared.
//! The work of the controller's processors is not charged.

use firstread_core::{CellMode, Ns, PageType, SenseMode, SenseTiming};
use firstread_firmware::ftl::Recovery;

use crate::drive::{Drive, DriveError};

/// When power is cut in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAt {
    /// So long after its start.
    Time(Ns),
    /// After so many of its events.
    Events(u64),
}

/// What a power cut came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PowerCut {
    /// When, on the drive's clock.
    pub at: Ns,
    /// For how long the capacitors must hold the drive up.
    pub dump: Ns,
    /// From power-on until the first command is taken.
    pub recovery: Ns,
    /// Requests of the host that were in flight, and are lost.
    pub lost_requests: u32,
    /// What the firmware had to do.
    pub work: Recovery,
}

impl Drive {
    /// Cuts the power in the next run.
    pub fn cut_power_at(&mut self, cut: CutAt) {
        self.cut = Some(cut);
    }

    /// Whether a cut is due in a run that began at `start`, after so many events of it.
    #[cold]
    pub(crate) fn cut_is_due(&self, start: Ns, events: u64) -> bool {
        match self.cut {
            Some(CutAt::Time(after)) => self.world.due() > start + after,
            Some(CutAt::Events(n)) => events >= n,
            None => false,
        }
    }

    /// When the power is cut.
    pub(crate) fn cut_at(&self) -> Ns {
        match self.cut {
            Some(CutAt::Time(after)) => self.world.now.max(self.run_start + after),
            _ => self.world.now,
        }
    }

    /// Cuts the power now, and brings the drive back: everything under way is lost.
    pub fn power_cut(&mut self) -> Result<PowerCut, DriveError> {
        if !self.world.payload.has_whole_sequence() {
            return Err(DriveError::State(
                "power cannot be cut after more than 536 million slots were written: a slot's \
                 sequence number is simulated with 29 bits; cut earlier"
                    .into(),
            ));
        }
        let at = self.cut_at();
        self.cut = None;
        let lost_requests = self.world.power_cut();
        self.wake = Ns::MAX;
        let work = self.firmware.recover(&mut self.world);
        let (dump, recovery) = (self.dump_time(&work), self.recovery_time(&work));
        self.world.now = at + dump + recovery;
        self.firmware.restart(self.world.now, &mut self.world);
        self.wake_firmware();
        Ok(PowerCut {
            at,
            dump,
            recovery,
            lost_requests,
            work,
        })
    }

    /// Bus time of a page row of a die (ns).
    fn row_transfer_ns(&self) -> u64 {
        let p = &self.profile;
        let bytes = p.stored_bytes(p.geometry.page_bytes) * p.geometry.planes as u64;
        p.channel.command_ns + p.channel.transfer_ns(bytes)
    }

    /// How long `rows` page rows take on all dies and channels, `array_ns` each on its die.
    fn rows_ns(&self, rows: u64, array_ns: u64) -> u64 {
        let g = &self.profile.geometry;
        let transfer = self.row_transfer_ns();
        let of_die = rows.div_ceil(g.dies() as u64) * (array_ns + transfer);
        let of_channel = rows.div_ceil(g.channels as u64) * transfer;
        of_die.max(of_channel)
    }

    fn dump_time(&self, work: &Recovery) -> Ns {
        let (p, g) = (&self.profile, &self.profile.geometry);
        let mode = match p.chip.mode(CellMode::Slc) {
            Some(_) => CellMode::Slc,
            None => p.mode,
        };
        let program = self.medium().program_ns(mode).unwrap_or(0) / mode.bits() as u64;
        let row_bytes = g.page_bytes as u64 * g.planes as u64;
        let rows = work.dumped_bytes.div_ceil(row_bytes);
        Ns(p.chip.timing.reset_ns + self.rows_ns(rows, program))
    }

    fn recovery_time(&self, work: &Recovery) -> Ns {
        let mode = self.profile.mode;
        let sense = |page| {
            let (hard, timing) = (SenseMode::Hard, SenseTiming::DEFAULT);
            let ns = self.medium().read_ns(mode, PageType(page), hard, timing);
            ns.unwrap_or(0)
        };
        let all: u64 = (0..mode.bits()).map(sense).sum();
        Ns(self.rows_ns(work.rows_read, all / mode.bits() as u64))
    }
}
