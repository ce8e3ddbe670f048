//! Spare cells: some cells of every wordline, programmed to states that the reader knows.
//!
//! They are spread evenly over the states next to the sentinel valleys of the page types, so that a read
//! of a page, with the levels it has anyway, shows how many cells of the two states around its sentinel
//! lie on the wrong side of it. They are few, so each is drawn: a place in its state's distribution that
//! stays, and the noise of a sense. Cells of the heavy tail of a profile are not among them.

use firstread_core::{CellMode, LevelOffsets, PageAddr, SenseTiming, SpareErrors, Stream};

use crate::cell::levels::SenseError;
use crate::cell::model::{Condition, ModeModel, StateDistribution};
use crate::cell::noise;
use crate::gaussian::Gaussian;
use crate::medium::Medium;

/// Distinguishes the draws of spare cells from those of the data of a page.
const KEY: u64 = 0x40;

impl Medium {
    /// Spare cells of each state of a wordline of `mode` that has `ppm` millionths of them.
    pub fn spare_cells(&self, mode: CellMode, ppm: u32) -> Result<u16, SenseError> {
        let all = self.cells() as u64 * ppm as u64 / 1_000_000;
        let states = spare_states(self.model(mode)?).count_ones() as u64;
        Ok((all / states.max(1)).min(u16::MAX as u64) as u16)
    }

    /// What the `cells` spare cells of each state show in the sense `sense_id` of the page at `at`.
    #[allow(clippy::too_many_arguments)] // The operands of a flash read.
    pub fn spare_errors(
        &self,
        at: PageAddr,
        plane: u8,
        condition: &Condition,
        levels: &LevelOffsets,
        sense_timing: SenseTiming,
        sense_id: u64,
        cells: u16,
    ) -> Result<SpareErrors, SenseError> {
        let haste = noise::extra_variance(&self.chip().sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, condition, haste)?;
        let page = at.page.0 as usize;
        let valley = w.model.sentinel.get(page).copied().unwrap_or(0) as usize;
        if valley == 0 {
            return Err(SenseError::Page(w.model.mode, at.page));
        }
        let level =
            w.model.default_mv[valley - 1] + levels[valley - 1] as f64 * self.chip().dac_step_mv;
        let around = w.neighbours(valley);
        let beyond = |state: usize, of: StateDistribution, upward: bool| {
            let data = key.at((condition.version as u64) << 8 | KEY | state as u64);
            let noise_mv = self.chip().sensing.noise_mv;
            let fresh = (noise_mv * noise_mv + haste as f64).min(of.sigma_mv * of.sigma_mv);
            let spread = Spread {
                // From the level, upward.
                mean_mv: ((of.mean_mv - level) * if upward { 1.0 } else { -1.0 }) as f32,
                stays_mv: libm::sqrt(of.sigma_mv * of.sigma_mv - fresh) as f32,
                fresh_mv: libm::sqrt(fresh) as f32,
            };
            spread.beyond(&self.gaussian, data, data.at(sense_id), cells)
        };
        Ok(SpareErrors {
            above: beyond(valley - 1, around.lower(), true),
            below: beyond(valley, around.upper(), false),
            cells,
        })
    }
}

/// The states next to sentinel valleys, a bit each.
fn spare_states(model: &ModeModel) -> u32 {
    let sentinels = &model.sentinel[..model.mode.bits() as usize];
    sentinels.iter().fold(0, |all, &v| all | 0b11 << (v - 1))
}

/// Where cells of a state lie.
struct Spread {
    mean_mv: f32,
    /// Deviation of where they stay.
    stays_mv: f32,
    /// Deviation of what differs from sense to sense.
    fresh_mv: f32,
}

impl Spread {
    /// Of `cells` cells, those above zero.
    fn beyond(&self, g: &Gaussian, data: Stream, sense: Stream, cells: u16) -> u16 {
        let mut beyond = 0;
        for i in 0..cells {
            let field = |s: Stream| g.of_u16((s.quick(i as u64 / 4) >> (16 * (i % 4))) as u16);
            let v = self.mean_mv + self.stays_mv * field(data) + self.fresh_mv * field(sense);
            beyond += (v > 0.0) as u16;
        }
        beyond
    }
}
