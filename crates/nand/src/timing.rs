//! Durations of array operations.

use firstread_core::{CellMode, PageType, SenseMode, SenseTiming};

use crate::medium::Medium;
use crate::sense_error::SenseError;

impl Medium {
    /// `tR` of a page (ns): setup, plus as many senses as the page has levels; three or five times as many
    /// for soft reads, one for a ones-count.
    pub fn read_ns(
        &self,
        mode: CellMode,
        page: PageType,
        sense: SenseMode,
        t: SenseTiming,
    ) -> Result<u64, SenseError> {
        let m = self.model(mode)?;
        let valleys = m.valleys(page).len() as u64;
        if valleys == 0 {
            return Err(SenseError::Page(mode, page));
        }
        let senses = match sense {
            SenseMode::Hard => valleys,
            SenseMode::Soft3 => 3 * valleys,
            SenseMode::Soft5 => 5 * valleys,
            SenseMode::OnesCount { .. } => 1,
        };
        let part = |ns: u64, permille: u16| ns * permille as u64 / 1000;
        let one = part(m.phases.pre_ns, t.pre_permille)
            + part(m.phases.eval_ns, t.eval_permille)
            + part(m.phases.disch_ns, t.disch_permille);
        Ok(m.setup_ns + senses * one)
    }

    /// Time to program all pages of a wordline on all planes (ns); both passes, if the scheme has two.
    pub fn program_ns(&self, mode: CellMode) -> Result<u64, SenseError> {
        self.chip()
            .mode(mode)
            .map(|m| m.program.wordline_ns())
            .ok_or(SenseError::Mode(mode))
    }

    /// `tBERS` of a block (ns).
    pub fn erase_ns(&self, mode: CellMode) -> Result<u64, SenseError> {
        self.chip()
            .mode(mode)
            .map(|m| m.erase_ns)
            .ok_or(SenseError::Mode(mode))
    }

    /// Time to transfer `bytes` over the channel, eight bits per transfer (ns, rounded up).
    pub fn transfer_ns(&self, bytes: u64) -> u64 {
        (bytes * 1000).div_ceil(self.chip().timing.io_mt_per_s as u64)
    }
}
