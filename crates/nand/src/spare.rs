//! Spare cells: some cells of every wordline that the firmware programs to known states.
//!
//! They are divided evenly among the states next to the sentinel valleys of the page types. So a read of a
//! page, with the levels it uses anyway, shows how many cells of the two states around its sentinel lie on
//! the wrong side of it. Spare cells are few, so each is drawn: a position in the distribution of its state,
//! which persists, and the noise of each sense. They have no heavy tail.

use firstread_core::{CellMode, LevelOffsets, PageAddr, SenseTiming, SpareErrors, Stream};

use crate::cell::model::{Condition, ModeModel, StateDistribution};
use crate::cell::noise;
use crate::gaussian::Gaussian;
use crate::medium::Medium;
use crate::sense_error::SenseError;

/// Separates the draws of spare cells from those of a page's data.
const KEY: u64 = 0x40;

impl Medium {
    /// Spare cells of each state on a wordline of `mode`, if they are `ppm` millionths of its cells.
    pub fn spare_cells(&self, mode: CellMode, ppm: u32) -> Result<u16, SenseError> {
        let all = self.cells() as u64 * ppm as u64 / 1_000_000;
        let states = spare_states(self.model(mode)?).count_ones() as u64;
        Ok((all / states.max(1)).min(u16::MAX as u64) as u16)
    }

    /// Errors of the spare cells, `cells` of each state, in sense `sense_id` of the page at `at`.
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
        let extra_variance = noise::extra_variance(&self.chip().sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, condition, extra_variance)?;
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
            let fresh =
                (noise_mv * noise_mv + extra_variance as f64).min(of.sigma_mv * of.sigma_mv);
            let spread = Spread {
                // Relative to the level, upward.
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

/// The states next to sentinel valleys, one bit each.
fn spare_states(model: &ModeModel) -> u32 {
    let sentinels = &model.sentinel[..model.mode.bits() as usize];
    sentinels.iter().fold(0, |all, &v| all | 0b11 << (v - 1))
}

/// Distribution of the cells of a state.
struct Spread {
    mean_mv: f32,
    /// Standard deviation of the persistent part.
    stays_mv: f32,
    /// Standard deviation of the part that differs between senses.
    fresh_mv: f32,
}

impl Spread {
    /// The number of `cells` cells that lie above zero.
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
