//! The medium of a drive: all its cells, as arithmetic.
//!
//! Nothing is stored per cell or page. What a page is like follows from its address (variation), its
//! superblock's [`BlockState`] and the temperature history; which of its bits fail is drawn from
//! streams keyed by address, program number and codeword, so the same levels fail the same bits
//! again but for the noise of a sense.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use firstread_core::{
    BlockId, CellMode, DieId, Geometry, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, Stream,
};

use crate::ageing::disturb;
use crate::ageing::history::{History, NS_PER_H, Stress, acceleration};
use crate::ageing::layers::{self, LayerFactors};
use crate::ageing::open_block;
use crate::ageing::retention::Retention;
use crate::ageing::variation::{ChipDrawn, Drawn, Spread};
use crate::cell::model::{
    self, BlockState, Condition, Extra, ModeModel, Moment, StateDistribution, Wordline,
};
use crate::cell::optimum;
use crate::cell::sense::{Draws, LevelsMv, Overlap, PageSense, SoftSense, overlap};
use crate::gaussian::Gaussian;
use crate::persistent::{Point, Process};
use crate::poisson::Quantiles;
use crate::profile::{ChipProfile, MAX_COMPONENTS, ProfileError};
use crate::timing;

/// What a sense was asked for that the medium does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenseError {
    /// The chip has no such cell mode.
    Mode(CellMode),
    /// The mode has no such page type.
    Page(CellMode, PageType),
    /// The drive has no such die.
    Die(DieId),
    /// The block has no such wordline.
    Wordline(u16),
    /// The mode has no such valley.
    Valley(CellMode, u8),
}

impl fmt::Display for SenseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SenseError::Mode(m) => write!(f, "the chip has no {} mode", m.name()),
            SenseError::Page(m, p) => write!(f, "{} mode has no page type {}", m.name(), p.0),
            SenseError::Die(d) => write!(f, "the drive has no die {}", d.0),
            SenseError::Wordline(w) => write!(f, "the block has no wordline {w}"),
            SenseError::Valley(m, v) => write!(f, "{} mode has no valley {v}", m.name()),
        }
    }
}

impl core::error::Error for SenseError {}

/// Levels of one sense.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ReadLevels {
    /// Offsets from the factory default (DAC units).
    Offsets(LevelOffsets),
    /// The best levels of the very page that is sensed, unrounded.
    Ideal,
}

/// How many levels a soft sense places around each valley.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftLevels {
    /// Three, two reliability classes.
    Three,
    /// Five, three reliability classes.
    Five,
}

impl SoftLevels {
    /// Senses of each valley.
    pub const fn senses(self) -> u32 {
        match self {
            SoftLevels::Three => 3,
            SoftLevels::Five => 5,
        }
    }
}

/// All cells of a drive.
#[derive(Clone, Debug)]
pub struct Medium {
    chip: ChipProfile,
    geometry: Geometry,
    codeword_bits: u32,
    pub(crate) gaussian: Box<Gaussian>,
    quantiles: Box<Quantiles>,
    spread: Spread,
    modes: [Option<Box<ModeModel>>; 4],
    retention: Retention,
    history: History,
    /// Layer of each wordline.
    layer_of: Box<[u16]>,
    /// Reads spread evenly that one next to a wordline is worth.
    adjacent_worth: f32,
    /// Factors of each layer.
    layers: Vec<LayerFactors>,
    nominal_layer: LayerFactors,
    /// Draws of each die.
    chips: Vec<ChipDrawn>,
    blocks: Stream,
}

/// How far time, and how far reads, may move any state while its condition counts as known, in
/// deviations of the state. At three deviations, where read levels lie, an error rate changes by
/// 3.3 per deviation: by 0.16 % for this, where its scatter between codewords is above 10 %.
const STANDING_DEVIATIONS: f64 = 5e-4;

/// A superblock's condition, and how long it stands for the true one.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The condition.
    pub condition: Condition,
    until: Ns,
    even_reads: f32,
}

const fn index(mode: CellMode) -> usize {
    mode.bits() as usize - 1
}

impl Medium {
    /// The medium of a drive of `geometry` built from `chip`, at 25 °C until told otherwise.
    ///
    /// A geometry with fewer wordlines than the chip's block stands for an even choice of them. The
    /// codeword length follows from the geometry's user bytes at rate 8/9; see
    /// [`Medium::set_codeword_bits`].
    pub fn new(chip: ChipProfile, geometry: Geometry, seed: u64) -> Result<Medium, ProfileError> {
        chip.validate()?;
        let error = |key: &str, reason| ProfileError {
            key: key.into(),
            reason,
        };
        let have = chip.wordlines();
        let want = geometry.wordlines_per_block;
        if want == 0 || want as u32 > have {
            return Err(error(
                "geometry.wordlines_per_block",
                format!("{want}, but a block of {} has 1..={have}", chip.name),
            ));
        }
        if geometry.planes == 0 || geometry.codeword_bytes == 0 {
            return Err(error(
                "geometry",
                "planes and codeword_bytes are above zero".into(),
            ));
        }
        let root = Stream::new(seed).named("medium");
        let (layers, nominal_layer) = layers::table(&chip);
        let layer_of = layers::of_wordlines(&chip, want);
        let gaussian = Box::<Gaussian>::default();
        let chip_stream = root.named("chip");
        let chips = (0..geometry.dies() as u64)
            .map(|die| ChipDrawn::new(&chip.variation, &gaussian, chip_stream.at(die)))
            .collect();
        let history = History::new(&chip.retention, 25.0)?;
        let mut medium = Medium {
            codeword_bits: geometry.codeword_bytes * 9,
            gaussian,
            quantiles: Box::default(),
            spread: Spread::new(&chip.variation),
            modes: [None, None, None, None],
            retention: Retention::new(&chip),
            history,
            layer_of,
            adjacent_worth: (chip.disturb.adjacent_weight
                / disturb::even_weight(&chip.disturb, geometry.wordlines_per_block as f64))
                as f32,
            layers,
            nominal_layer,
            chips,
            blocks: root.named("block"),
            chip,
            geometry,
        };
        for m in &medium.chip.modes {
            medium.modes[index(m.mode)] = Some(Box::new(ModeModel::new(&medium.chip, m)));
        }
        medium.place_defaults();
        Ok(medium)
    }

    /// The default levels: the optimum of the nominal page under the profile's condition.
    fn place_defaults(&mut self) {
        let f = self.chip.factory_default;
        for mode in CellMode::ALL {
            let levels =
                self.nominal_levels_mv(mode, f.pe_cycles, &[(f.retention_h, f.temperature_c)]);
            if let (Ok(levels), Some(m)) = (levels, &mut self.modes[index(mode)]) {
                m.set_default(levels);
            }
        }
    }

    /// Sets the bits of a codeword as stored, parity included.
    pub fn set_codeword_bits(&mut self, bits: u32) {
        self.codeword_bits = bits.max(1);
    }

    /// Bits of a codeword as stored.
    pub const fn codeword_bits(&self) -> u32 {
        self.codeword_bits
    }

    /// The chip.
    pub const fn chip(&self) -> &ChipProfile {
        &self.chip
    }

    /// The drive's geometry.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The temperature history.
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// The drive is at `celsius` from `at` on.
    pub fn set_temperature(&mut self, at: Ns, celsius: f64) -> Result<(), ProfileError> {
        self.history.set(at, celsius)
    }

    /// The compiled `mode`, if the chip has it.
    #[inline]
    pub fn model(&self, mode: CellMode) -> Result<&ModeModel, SenseError> {
        match &self.modes[index(mode)] {
            Some(m) => Ok(m),
            None => Err(SenseError::Mode(mode)),
        }
    }

    /// The state of a superblock that is erased into `mode` and programmed completely at `now`, for
    /// the `version`-th time.
    pub fn programmed(&self, mode: CellMode, pe_cycles: u32, version: u32, now: Ns) -> BlockState {
        BlockState {
            mode,
            pe_cycles,
            version,
            programmed: self.history.stress(now),
            program_temperature_c: self.history.temperature_c(now) as f32,
            dwell_h: 0.0,
            reads: 0.0,
            adjacent_reads: 0.0,
            last_read: now,
            written_wordlines: self.geometry.wordlines_per_block,
        }
    }

    /// The same for data that at `now` has already lived through `lived` (hours, °C), oldest first;
    /// it was programmed at the first of these temperatures.
    pub fn programmed_before(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        version: u32,
        now: Ns,
        lived: &[(f64, f64)],
    ) -> BlockState {
        let mut b = self.programmed(mode, pe_cycles, version, now);
        b.programmed = self.history.before(now, lived);
        if let Some(&(_, celsius)) = lived.first() {
            b.program_temperature_c = celsius as f32;
        }
        b
    }

    /// The condition of a superblock at `now`: the part of a sense that all its pages share.
    ///
    /// Of a mode that the chip lacks nothing can be said; the senses that follow are refused.
    #[inline]
    pub fn condition(&self, block: &BlockState, now: Ns) -> Condition {
        let stress: Stress = self.history.stress(now);
        let decades = self.retention.decades(
            &stress.since(&block.programmed),
            block.pe_cycles,
            block.dwell_h as f64,
        );
        let moment = Moment {
            temperature_c: self.history.temperature_c(now),
            idle_s: now.since(block.last_read).0 as f64 * 1e-9,
            wordlines: self.geometry.wordlines_per_block as f64,
        };
        model::condition(
            &self.chip,
            self.some_model(block.mode),
            block,
            decades,
            moment,
        )
    }

    /// [`Medium::condition`], with how long it stands.
    pub fn standing(&self, block: &BlockState, now: Ns) -> Standing {
        let model = self.some_model(block.mode);
        let stress = self.history.stress(now).since(&block.programmed);
        let (rates, change) = self.history.rates(now);
        let dwell_h = block.dwell_h as f64;
        let decades_per_h = self
            .retention
            .decades_per_h(&stress, block.pe_cycles, dwell_h);
        let mut deviations_per_ns = 0.0;
        for (c, d) in model.deviations_per_decade.iter().enumerate() {
            deviations_per_ns += d * decades_per_h[c] * rates[c] * (1.0 / NS_PER_H);
        }
        let wordlines = self.geometry.wordlines_per_block as f64;
        let (all, adjacent) = (block.reads as f64, block.adjacent_reads as f64);
        let reads = disturb::effective_reads(&self.chip.disturb, all, adjacent, wordlines);
        let deviations_per_read = model.deviations_per_rise
            * disturb::rise_mv_per_read(&self.chip.disturb, reads, block.pe_cycles);
        let until = if self.chip.transient.shift_mv == 0.0 {
            // A cast saturates, and a null law divides to infinity.
            let hold_ns = (STANDING_DEVIATIONS / deviations_per_ns) as u64;
            Ns(now.0.saturating_add(hold_ns)).min(change)
        } else {
            // It differs with every pause between reads.
            now
        };
        Standing {
            condition: self.condition(block, now),
            until,
            even_reads: ((reads + STANDING_DEVIATIONS / deviations_per_read)
                / disturb::even_weight(&self.chip.disturb, wordlines))
                as f32,
        }
    }

    /// Whether `known` still stands for the condition of `block` at `now`, if time and reads are all
    /// that has passed since.
    #[inline]
    pub fn stands(&self, known: &Standing, block: &BlockState, now: Ns) -> bool {
        // In reads spread evenly.
        let reads = block.reads + block.adjacent_reads * self.adjacent_worth;
        now < known.until && reads < known.even_reads
    }

    /// The model of `mode`, or another where the chip lacks it.
    fn some_model(&self, mode: CellMode) -> &ModeModel {
        let wanted = self.modes[index(mode)].as_deref();
        let any = || self.modes.iter().find_map(|m| m.as_deref());
        wanted.or_else(any).expect("a valid chip has a mode")
    }

    fn block_key(&self, die: DieId, plane: u8, block: BlockId) -> Stream {
        self.blocks
            .at(((die.0 as u64) << 40) | ((plane as u64) << 32) | block.0 as u64)
    }

    /// The wordline at `at` under `condition`, and the stream of its block.
    #[inline]
    pub(crate) fn wordline<'a>(
        &'a self,
        at: PageAddr,
        plane: u8,
        condition: &'a Condition,
        extra_variance: f32,
    ) -> Result<(Wordline<'a>, Stream), SenseError> {
        let model = self.model(condition.mode)?;
        let Some(layer) = self.layer_of.get(at.wordline as usize) else {
            return Err(SenseError::Wordline(at.wordline));
        };
        let layer = &self.layers[*layer as usize];
        let Some(chip) = self.chips.get(at.die.0 as usize) else {
            return Err(SenseError::Die(at.die));
        };
        let block = self.block_key(at.die, plane, at.block);
        let wordline = block.at(at.wordline as u64);
        let drawn = Drawn::new(&self.spread, &self.gaussian, chip, block, wordline);
        let (shift_mv, sigma) = open_block::effect(
            &self.chip.open_block,
            at.wordline,
            condition.written,
            self.geometry.wordlines_per_block,
        );
        let extra = Extra {
            shift_mv,
            sigma,
            variance: extra_variance,
        };
        let (v, g) = (&self.chip.variation, &*self.gaussian);
        Ok((
            Wordline::new(model, v, g, condition, drawn, layer, extra),
            wordline,
        ))
    }

    /// The nominal wordline: mean layer, no variation, `block` closed or not.
    pub(crate) fn nominal<'a>(
        &'a self,
        condition: &'a Condition,
    ) -> Result<Wordline<'a>, SenseError> {
        Ok(Wordline::new(
            self.model(condition.mode)?,
            &self.chip.variation,
            &self.gaussian,
            condition,
            Drawn::NOMINAL,
            &self.nominal_layer,
            Extra::NONE,
        ))
    }

    /// Positions of `offsets` in `mode` (mV).
    #[inline]
    pub fn levels_mv(&self, model: &ModeModel, offsets: &LevelOffsets) -> LevelsMv {
        let mut out = model.default_mv;
        for (o, &n) in out.iter_mut().zip(offsets) {
            *o += n as f64 * self.chip.dac_step_mv;
        }
        out
    }

    /// Offsets nearest to `levels` (mV), rounded and limited to the DAC's byte.
    pub fn offsets_of(&self, model: &ModeModel, levels: &LevelsMv) -> LevelOffsets {
        let mut out = [0; 15];
        for (k, o) in out.iter_mut().enumerate().take(model.mode.valleys()) {
            let units = (levels[k] - model.default_mv[k]) / self.chip.dac_step_mv;
            *o = libm::round(units).clamp(-128.0, 127.0) as i8;
        }
        out
    }

    /// Senses the page at `at` of `plane` with hard decisions. `sense_id` names the sense: another
    /// id draws other noise, everything else persists.
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

    /// [`Medium::sense`] for a condition that is already known: pages sensed together share it.
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
        let haste = timing::extra_variance(&self.chip.sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, condition, haste)?;
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

    /// Senses the page softly, `soft` levels around each valley.
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
        let haste = timing::extra_variance(&self.chip.sensing, sense_timing);
        let (w, key) = self.wordline(at, plane, &condition, haste)?;
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
    fn overlap_at(
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

    /// Cells of one plane's wordline.
    pub const fn cells(&self) -> u32 {
        self.geometry.codewords_per_page() * self.codeword_bits
    }

    /// Cells of the wordline that conduct at `offset` (DAC units) of `valley` (1-based), and all its
    /// cells. The mean is that of all states; the cells around the level persist between senses.
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
        let data = data_key(key, PageType(0x80 | valley), block.version);
        let noise = data.at(sense_id);
        // States other than the two neighbours: their mean is enough.
        let states = w.states();
        let mut far = 0.0;
        for s in (0..mode.states()).filter(|&s| s != v - 1 && s != v) {
            let d = states[s];
            far += g.tail((d.mean_mv - level) / d.sigma_mv);
        }
        // Data is random: how many cells hold one of the lower states, the same at every sense.
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
            // The first draw is that of the cells held.
            let (group, lane) = (side as u64 + 1, 0);
            let fresh = noise.draw(side as u64);
            points[side].count(g, data, Process { group, lane }, fresh) as f64
        };
        let (above, below) = (tail(0), tail(1));
        // `far` counts every lower state as conducting; keep only what differs from that.
        let far = (far - (v as f64 - 1.0)) * per_state;
        let count = libm::round(held - above + below + far).clamp(0.0, cells as f64);
        Ok((count as u32, cells))
    }

    /// The best levels of the very wordline at `at` (mV), index `valley - 1`.
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

    /// The same in DAC units from the default, unrounded.
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

    /// The same of a sense with other phases.
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
        let haste = timing::extra_variance(&self.chip.sensing, sense_timing);
        let (w, _) = self.wordline(at, plane, &condition, haste)?;
        Ok(self.overlap_at(&w, at.page, levels, 0.0)?.rber())
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

    /// The condition of a closed block of `pe_cycles` whose data has lived through `lived` (hours,
    /// °C), read at the last of these temperatures after programming at the same one.
    pub fn aged_condition(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        lived: &[(f64, f64)],
    ) -> Condition {
        let mut stress = [0.0; MAX_COMPONENTS];
        for &(hours, celsius) in lived {
            for (s, c) in stress.iter_mut().zip(&self.chip.retention.components) {
                *s += hours * acceleration(c.activation_energy_ev, celsius);
            }
        }
        let celsius = lived.last().map_or(25.0, |l| l.1);
        let block = BlockState {
            program_temperature_c: celsius as f32,
            ..self.programmed(mode, pe_cycles, 0, Ns::ZERO)
        };
        let decades = self.retention.decades(&stress, pe_cycles, 0.0);
        // At the block's own temperature as stored: rounding must not show as a difference.
        let moment = Moment {
            temperature_c: block.program_temperature_c as f64,
            idle_s: 0.0,
            wordlines: self.geometry.wordlines_per_block as f64,
        };
        model::condition(&self.chip, self.some_model(mode), &block, decades, moment)
    }

    /// The best levels of the nominal page (mV) of a block of `pe_cycles` after `lived`.
    pub fn nominal_levels_mv(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        lived: &[(f64, f64)],
    ) -> Result<LevelsMv, SenseError> {
        self.model(mode)?;
        let condition = self.aged_condition(mode, pe_cycles, lived);
        let w = self.nominal(&condition)?;
        Ok(optimum::levels_mv(&w))
    }

    /// The same in DAC units from the default, unrounded.
    pub fn nominal_offsets(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        lived: &[(f64, f64)],
    ) -> Result<[f64; 15], SenseError> {
        let levels = self.nominal_levels_mv(mode, pe_cycles, lived)?;
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

/// Data of a page: the wordline, its program number and the page type. The draws of this stream place
/// the cells; its children are the noise of each sense.
#[inline]
fn data_key(wordline: Stream, page: PageType, version: u32) -> Stream {
    wordline.at(((version as u64) << 8) | page.0 as u64)
}
