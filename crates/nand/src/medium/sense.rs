//! Senses: hard, soft, and ones-counts.

use core::borrow::Borrow;

use firstread_core::{LevelOffsets, Ns, PageAddr, PageType, SenseTiming, Stream, ValleySearch};

use super::Medium;
use crate::cell::levels::{LevelsMv, ReadLevels, SoftLevels};
use crate::cell::model::{BlockState, Condition, ModeModel, Wordline};
use crate::cell::noise;
use crate::cell::sense::{Draws, Overlap, PageSense, SoftSense, overlap};
use crate::persistent::{Point, Process};
use crate::sense_error::SenseError;

impl Medium {
    /// Read levels for `offsets` in `mode` (mV).
    #[inline]
    pub fn levels_mv(&self, model: &ModeModel, offsets: &LevelOffsets) -> LevelsMv {
        let mut out = model.default_mv;
        for (o, &n) in out.iter_mut().zip(offsets) {
            *o += n as f64 * self.chip.dac_step_mv;
        }
        out
    }

    /// Offsets closest to `levels` (mV), rounded and limited to the range of the DAC.
    pub fn offsets_of(&self, model: &ModeModel, levels: &LevelsMv) -> LevelOffsets {
        let mut out = [0; 15];
        for (k, o) in out.iter_mut().enumerate().take(model.mode.valleys()) {
            let units = (levels[k] - model.default_mv[k]) / self.chip.dac_step_mv;
            *o = libm::round(units).clamp(-128.0, 127.0) as i8;
        }
        out
    }

    /// Senses the page at `at` on `plane` with hard decisions. `sense_id` identifies the sense: another id
    /// draws other sense noise, and everything else persists.
    #[allow(clippy::too_many_arguments)] // The operands of a flash read.
    #[inline]
    pub fn sense(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        levels: &ReadLevels,
        sense_timing: SenseTiming,
        sense_id: u64,
    ) -> Result<PageSense<'_>, SenseError> {
        let condition = self.condition(block, now);
        self.sense_under(at, plane, condition, levels, sense_timing, sense_id)
    }

    /// [`Medium::sense`] for a known condition: pages that are sensed together share it.
    #[inline]
    pub fn sense_under(
        &self,
        at: PageAddr,
        plane: u8,
        condition: impl Borrow<Condition>,
        levels: &ReadLevels,
        sense_timing: SenseTiming,
        sense_id: u64,
    ) -> Result<PageSense<'_>, SenseError> {
        let condition = condition.borrow();
        let extra_variance = noise::extra_variance(&self.chip.sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, condition, extra_variance)?;
        let o = self.overlap_at(&w, at.page, levels, 0.0)?;
        let (draws, n) = (self.draws(), self.codeword_bits as f32);
        let data = data_key(key, at.page, condition.version);
        let [left, right] = draws.sides(o.wrong(), o.densities(), n);
        Ok(PageSense {
            gaussian: draws.gaussian,
            data,
            noise: data.at(sense_id),
            most: n.min(u16::MAX as f32),
            left,
            right,
            rber: o.rber(),
        })
    }

    /// Senses the page softly, with `soft` levels around each valley.
    #[allow(clippy::too_many_arguments)] // The operands of a flash read.
    pub fn sense_soft(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        levels: &ReadLevels,
        soft: SoftLevels,
        sense_timing: SenseTiming,
        sense_id: u64,
    ) -> Result<SoftSense<'_>, SenseError> {
        let condition = self.condition(block, now);
        let extra_variance = noise::extra_variance(&self.chip.sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, &condition, extra_variance)?;
        let (draws, n) = (self.draws(), self.codeword_bits as f32);
        let (mut left, mut right) = ([Point::default(); 5], [Point::default(); 5]);
        let reach = soft.senses() as i32 / 2;
        for step in -reach..=reach {
            let i = (step + 2) as usize;
            let shift = step as f32 * w.model.soft_spacing_mv as f32;
            let o = self.overlap_at(&w, at.page, levels, shift)?;
            [left[i], right[i]] = draws.sides(o.wrong(), o.densities(), n);
        }
        let data = data_key(key, at.page, condition.version);
        Ok(SoftSense {
            gaussian: draws.gaussian,
            data,
            noise: data.at(sense_id),
            codeword_bits: self.codeword_bits,
            classes: reach as u8 + 1,
            left,
            right,
        })
    }

    #[inline]
    fn draws(&self) -> Draws<'_> {
        Draws {
            gaussian: &self.gaussian,
            quantiles: &self.quantiles,
            noise_mv: self.chip.sensing.noise_mv as f32,
        }
    }

    #[inline]
    pub(super) fn overlap_at(
        &self,
        w: &Wordline<'_>,
        page: PageType,
        levels: &ReadLevels,
        shift_mv: f32,
    ) -> Result<Overlap, SenseError> {
        if w.model.valleys(page).is_empty() {
            return Err(SenseError::Page(w.model.mode, page));
        }
        let step_mv = self.chip.dac_step_mv as f32;
        Ok(overlap(w, page, levels, step_mv, shift_mv))
    }

    /// 64 uniform bits of a page that was programmed for the `version`-th time: the same at every read, others once
    /// its block was erased. They are keyed as the errors of its cells are.
    #[inline]
    pub fn page_draw(&self, at: PageAddr, plane: u8, version: u32) -> u64 {
        let wordline = self
            .block_key(at.die, plane, at.block)
            .at(at.wordline as u64);
        data_key(wordline, at.page, version).named("retries").bits()
    }

    /// Number of cells on one plane's wordline.
    pub const fn cells(&self) -> u32 {
        self.geometry.codewords_per_page() * self.codeword_bits
    }

    /// Number of cells of the wordline that conduct at `offset` (DAC units) of `valley` (1-based), and the
    /// number of all its cells. The mean is over all states; the cells around the level persist between
    /// senses.
    #[allow(clippy::too_many_arguments)] // The operands of a flash read.
    pub fn ones_count(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        valley: u8,
        offset: i8,
        sense_id: u64,
    ) -> Result<(u32, u32), SenseError> {
        let condition = self.condition(block, now);
        let (w, key) = self.wordline(at, plane, &condition, 0.0)?;
        let mode = w.model.mode;
        if valley == 0 || valley as usize > mode.valleys() {
            return Err(SenseError::Valley(mode, valley));
        }
        let v = valley as usize;
        let level = w.model.default_mv[v - 1] + offset as f64 * self.chip.dac_step_mv;
        let (cells, g) = (self.cells(), &*self.gaussian);
        let per_state = cells as f64 / mode.states() as f64;
        // A key beyond those of page types: the cells around this level are drawn apart from the errors of any page.
        let data = data_key(key, PageType(0x80 | valley), block.version);
        let noise = data.at(sense_id);
        // For states other than the two neighbours the mean suffices.
        let states = w.states();
        let mut far = 0.0;
        for s in (0..mode.states()).filter(|&s| s != v - 1 && s != v) {
            let d = states[s];
            far += g.tail((d.mean_mv - level) / d.sigma_mv);
        }
        // Data are random: the number of cells in one of the lower states, the same for every sense.
        let share = v as f64 / mode.states() as f64;
        let held = cells as f64 * share
            + libm::sqrt(cells as f64 * share * (1.0 - share)) * g.of_bits(data.draw(0));
        let draws = self.draws();
        let (lower, upper) = (states[v - 1], states[v]);
        let around = [
            (lower, level - lower.mean_mv),
            (upper, upper.mean_mv - level),
        ];
        let tails = around.map(|(d, z)| {
            let (q, phi) = g.tail_and_density(z / d.sigma_mv);
            (q as f32, (phi / d.sigma_mv) as f32)
        });
        let points = draws.sides(tails.map(|t| t.0), tails.map(|t| t.1), per_state as f32);
        let tail = |side: usize| {
            // The first draw decides how many cells hold a lower state.
            let (group, lane) = (side as u64 + 1, 0);
            let fresh = noise.draw(side as u64);
            points[side].count(g, data, Process { group, lane }, fresh) as f64
        };
        let (above, below) = (tail(0), tail(1));
        // `far` counts every lower state as conducting. Keep only the difference from that.
        let far = (far - (v as f64 - 1.0)) * per_state;
        let count = libm::round(held - above + below + far).clamp(0.0, cells as f64);
        Ok((count as u32, cells))
    }
}

impl Medium {
    /// The offsets at which a chip reads the page after a search: for each of its valleys the middle between the two
    /// neighbouring levels with the fewest cells between them; of equals, those nearest the centre. A valley beyond
    /// the reach is not found, and the level is the end of the reach that is nearer to it.
    pub fn searched(
        &self,
        at: PageAddr,
        plane: u8,
        block: &BlockState,
        now: Ns,
        search: &ValleySearch,
        sense_id: u64,
    ) -> Result<LevelOffsets, SenseError> {
        let valleys = self.model(block.mode)?.valleys(at.page);
        if valleys.is_empty() {
            return Err(SenseError::Page(block.mode, at.page));
        }
        let reach = i32::from(search.reach.max(1));
        let mut offsets = [0; 15];
        for &valley in valleys {
            // Each count is a sense of its own, with noise of its own.
            let count = |k: i32| {
                let id = sense_id ^ ((k + reach + 1) as u64) << 48;
                let counted = self.ones_count(at, plane, block, now, valley, search.level(k), id);
                counted.map(|(ones, _)| ones)
            };
            let mut fewest = (u32::MAX, i32::MAX, 0);
            let mut before = count(-reach)?;
            for k in 1 - reach..=reach {
                let ones = count(k)?;
                let between = (ones.abs_diff(before), (2 * k - 1).abs(), k);
                fewest = fewest.min(between);
                before = ones;
            }
            let (low, high) = (search.level(fewest.2 - 1), search.level(fewest.2));
            offsets[usize::from(valley) - 1] = ((i16::from(low) + i16::from(high)) / 2) as i8;
        }
        Ok(offsets)
    }
}

/// Stream of a page's data, keyed by wordline, program number and page type. Its draws place the cells; its
/// children are the noise of each sense.
#[inline]
fn data_key(wordline: Stream, page: PageType, version: u32) -> Stream {
    wordline.at(((version as u64) << 8) | page.0 as u64)
}
