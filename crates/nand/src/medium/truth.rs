//! True values that no sense reveals: best levels, error rates and states, of a page or of the nominal page.

use firstread_core::{CellMode, DieId, LevelOffsets, Ns, PageAddr, PageType, SenseTiming};

use super::Medium;
use crate::ageing::history::acceleration;
use crate::ageing::law::{Exposure, MAX_COMPONENTS};
use crate::cell::levels::{LevelsMv, ReadLevels};
use crate::cell::model::{
    self, BlockState, Condition, Extra, ModeModel, StateDistribution, Wordline,
};
use crate::cell::noise;
use crate::cell::optimum;
use crate::place::variation::{Drawn, PlaceBits};
use crate::sense_error::SenseError;

impl Medium {
    /// The best levels of the wordline at `at` (mV), index `valley - 1`.
    pub fn ideal_levels_mv(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
    ) -> Result<LevelsMv, SenseError> {
        let condition = self.condition(block, now);
        let (w, _) = self.wordline(at, plane, &condition, 0.0)?;
        Ok(optimum::levels_mv(&w))
    }

    /// The best levels in DAC units relative to the default, unrounded.
    pub fn ideal_offsets(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
    ) -> Result<[f64; 15], SenseError> {
        let model = self.model(block.mode)?;
        let levels = self.ideal_levels_mv(at, plane, block, now)?;
        Ok(self.units(model, &levels))
    }

    pub(crate) fn units(&self, model: &ModeModel, levels: &LevelsMv) -> [f64; 15] {
        let mut out = [0.0; 15];
        for (k, o) in out.iter_mut().enumerate().take(model.mode.valleys()) {
            *o = (levels[k] - model.default_mv[k]) / self.chip.dac_step_mv;
        }
        out
    }

    /// Mean raw bit error rate of the page at `levels`, without drawing anything.
    pub fn page_rber(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        levels: &ReadLevels,
    ) -> Result<f64, SenseError> {
        self.page_rber_of(at, plane, block, now, levels, SenseTiming::DEFAULT)
    }

    /// The same for a sense with other phases.
    pub fn page_rber_of(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        levels: &ReadLevels,
        sense_timing: SenseTiming,
    ) -> Result<f64, SenseError> {
        let condition = self.condition(block, now);
        let extra_variance = noise::extra_variance(&self.chip.sensing, sense_timing);
        let (w, _) = self.wordline(at, plane, &condition, extra_variance)?;
        Ok(self.overlap_at(&w, at.page, levels, 0.0)?.rber())
    }

    /// Layers of the chip's stack.
    pub fn layers(&self) -> u16 {
        self.layers.len() as u16
    }

    /// Mean raw bit error rate of pages of type `page` at their best levels, on a wordline in `layer` of a block of
    /// `die` that differs from others as `bits` say, whatever the geometry has of that layer.
    pub fn drawn_rber(
        &self,
        (die, layer): (DieId, u16),
        page: PageType,
        bits: &PlaceBits,
        condition: &Condition,
    ) -> Result<f64, SenseError> {
        let model = self.model(condition.mode)?;
        let Some(chip) = self.chips.get(die.0 as usize) else {
            return Err(SenseError::Die(die));
        };
        let Some(layer) = self.layers.get(layer as usize) else {
            return Err(SenseError::Layer(layer));
        };
        let (v, g) = (&self.chip.variation, &*self.gaussian);
        let drawn = Drawn::of_bits(&self.spread, g, chip, bits);
        let extra = Extra {
            variance: noise::extra_variance(&self.chip.sensing, SenseTiming::DEFAULT),
            ..Extra::NONE
        };
        let w = Wordline::new(model, v, g, condition, drawn, layer, extra);
        Ok(self.overlap_at(&w, page, &ReadLevels::Ideal, 0.0)?.rber())
    }

    /// Distributions of the states of the wordline at `at`.
    pub fn states(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
    ) -> Result<[StateDistribution; 16], SenseError> {
        let condition = self.condition(block, now);
        let (w, _) = self.wordline(at, plane, &condition, 0.0)?;
        Ok(w.states())
    }

    /// Distributions of the states of the nominal wordline.
    pub fn nominal_states(
        &self,
        block: &BlockState,
        now: Ns,
    ) -> Result<[StateDistribution; 16], SenseError> {
        Ok(self.nominal(&self.condition(block, now))?.states())
    }

    /// Mean raw bit error rate of a page type of the nominal wordline.
    pub fn nominal_rber(
        &self,
        page: PageType,
        block: &BlockState,
        now: Ns,
        levels: &ReadLevels,
    ) -> Result<f64, SenseError> {
        let condition = self.condition(block, now);
        let w = self.nominal(&condition)?;
        Ok(self.overlap_at(&w, page, levels, 0.0)?.rber())
    }

    /// The condition of a closed block with `pe_cycles` cycles whose data have gone through the (hours, °C)
    /// pairs of `exposure`. It is read at the last of these temperatures, and was programmed at the same
    /// temperature.
    pub fn aged_condition(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        exposure: &[(f64, f64)],
    ) -> Condition {
        let mut stress = [0.0; MAX_COMPONENTS];
        for &(hours, celsius) in exposure {
            for (s, c) in stress.iter_mut().zip(&self.chip.laws.retention.components) {
                *s += hours * acceleration(c.activation_energy_ev, celsius);
            }
        }
        let celsius = exposure.last().map_or(25.0, |l| l.1);
        let block = BlockState {
            program_temperature_c: celsius as f32,
            ..self.programmed(mode, pe_cycles, 0, Ns::ZERO)
        };
        // Read at the programming temperature, without a pause and without earlier reads.
        let effect = self.chip.laws.shift(&Exposure {
            stress_h: stress,
            pe_cycles: pe_cycles as f64,
            ..Exposure::default()
        });
        model::condition(self.some_model(mode), &block, effect)
    }

    /// The best levels of the nominal page (mV) of a block with `pe_cycles` cycles after `exposure`.
    pub fn nominal_levels_mv(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        exposure: &[(f64, f64)],
    ) -> Result<LevelsMv, SenseError> {
        self.model(mode)?;
        let condition = self.aged_condition(mode, pe_cycles, exposure);
        let w = self.nominal(&condition)?;
        Ok(optimum::levels_mv(&w))
    }

    /// The same in DAC units relative to the default, unrounded.
    pub fn nominal_offsets(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        exposure: &[(f64, f64)],
    ) -> Result<[f64; 15], SenseError> {
        let levels = self.nominal_levels_mv(mode, pe_cycles, exposure)?;
        Ok(self.units(self.model(mode)?, &levels))
    }

    /// The best offsets of the nominal page of `block` at `now`, rounded to DAC units.
    pub fn nominal_optimum(&self, block: &BlockState, now: Ns) -> Result<LevelOffsets, SenseError> {
        let model = self.model(block.mode)?;
        let condition = self.condition(block, now);
        let w = self.nominal(&condition)?;
        Ok(self.offsets_of(model, &optimum::levels_mv(&w)))
    }

    /// The wordline of one member page, for the group search.
    pub(crate) fn member<'a>(
        &'a self,
        at: PageAddr,
        plane: u8,
        condition: &'a Condition,
    ) -> Result<Wordline<'a>, SenseError> {
        Ok(self.wordline(at, plane, condition, 0.0)?.0)
    }
}
