//! Durations of array operations.

use firstread_core::{CellMode, PageType, SenseMode, SenseTiming};

use crate::medium::Medium;
use crate::profile::scaled;
use crate::sense_error::SenseError;

impl Medium {
    /// `tR` of a page (ns): setup, plus as many senses as the page has levels; three or five times as many
    /// for soft reads, one for a ones-count. Where the chip has measured times, this is the share by which the measured
    /// time of the page grows or shrinks.
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
        let model = |senses: u64, t: SenseTiming| {
            let part = |ns: u64, permille: u16| ns * permille as u64 / 1000;
            let one = part(m.phases.pre_ns, t.pre_permille)
                + part(m.phases.eval_ns, t.eval_permille)
                + part(m.phases.disch_ns, t.disch_permille);
            m.setup_ns + senses * one
        };
        Ok(match m.measured_read_ns[usize::from(page.0)] {
            0 => model(senses, t),
            measured => scaled(
                measured,
                model(senses, t),
                model(valleys, SenseTiming::DEFAULT),
            ),
        })
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

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::characterize::geometry;
    use crate::profile::ProgramTiming;
    use crate::reference;

    #[test]
    fn formula_operations_take_the_times_of_the_profile() {
        let mut chip = reference::ct_a();
        chip.modes[0].setup_ns = 1_000;
        chip.timing.io_mt_per_s = 1_200;
        let with = |program| {
            let mut chip = chip.clone();
            chip.modes[0].program = program;
            let geometry = geometry(&chip, 1);
            Medium::new(chip, geometry, 1).expect("the profile is valid")
        };
        let m = with(ProgramTiming::OneShot { wordline_ns: 700 });
        let ns =
            |page, sense| m.read_ns(CellMode::Qlc, PageType(page), sense, SenseTiming::DEFAULT);
        // Senses of 23 + 5 + 9.5 us; three valleys of the LSB, four of the others.
        assert_eq!(ns(0, SenseMode::Hard), Ok(1_000 + 3 * 37_500));
        assert_eq!(ns(3, SenseMode::Hard), Ok(1_000 + 4 * 37_500));
        assert_eq!(ns(0, SenseMode::Soft3), Ok(1_000 + 9 * 37_500));
        assert_eq!(ns(3, SenseMode::Soft5), Ok(1_000 + 20 * 37_500));
        assert_eq!(
            ns(3, SenseMode::OnesCount { valley: 3 }),
            Ok(1_000 + 37_500)
        );
        assert_eq!(
            ns(4, SenseMode::Hard),
            Err(SenseError::Page(CellMode::Qlc, PageType(4)))
        );
        let short = SenseTiming {
            pre_permille: 500,
            eval_permille: 800,
            disch_permille: 600,
        };
        let cut = m.read_ns(CellMode::Qlc, PageType(0), SenseMode::Hard, short);
        assert_eq!(cut, Ok(1_000 + 3 * (11_500 + 4_000 + 5_700)));
        assert_eq!(m.program_ns(CellMode::Qlc), Ok(700));
        assert_eq!(m.erase_ns(CellMode::Qlc), Ok(10_000_000));
        let none = SenseError::Mode(CellMode::Slc);
        assert_eq!(
            (m.program_ns(CellMode::Slc), m.erase_ns(CellMode::Slc)),
            (Err(none), Err(none))
        );
        // 4,096 bytes at 1.2 a ns are 3,413.3 ns.
        assert_eq!(
            [0, 12, 4096].map(|bytes| m.transfer_ns(bytes)),
            [0, 10, 3_414]
        );
        // Measured times: what is not a hard read at the default timing has its share of the model, 1 + 3 * 37.5 us and
        // 1 + 4 * 37.5 us.
        let mut measured = chip.clone();
        measured.modes[0].measured_read_ns = vec![100_000, 200_000, 210_000, 220_000];
        let geometry = geometry(&measured, 1);
        let m = Medium::new(measured, geometry, 1).expect("the profile is valid");
        let ns = |page, sense, t| m.read_ns(CellMode::Qlc, PageType(page), sense, t);
        let hard = |page| ns(page, SenseMode::Hard, SenseTiming::DEFAULT);
        assert_eq!(
            [0, 1, 2, 3].map(hard),
            [100_000, 200_000, 210_000, 220_000].map(Ok)
        );
        let share = |of: f64, part: f64, whole: f64| Ok((of * part / whole).round() as u64);
        assert_eq!(
            ns(0, SenseMode::Soft3, SenseTiming::DEFAULT),
            share(100_000.0, 338_500.0, 113_500.0)
        );
        assert_eq!(
            ns(3, SenseMode::OnesCount { valley: 3 }, SenseTiming::DEFAULT),
            share(220_000.0, 38_500.0, 151_000.0)
        );
        assert_eq!(
            ns(0, SenseMode::Hard, short),
            share(100_000.0, 64_600.0, 113_500.0)
        );
        let two = with(ProgramTiming::TwoStep {
            first_ns: 300,
            second_ns: 900,
        });
        assert_eq!(two.program_ns(CellMode::Qlc), Ok(1_200));
    }
}
