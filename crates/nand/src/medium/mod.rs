//! The medium of a drive: all its cells, computed arithmetically.
//!
//! Nothing is stored per cell or page. The properties of a page follow from its address (variation), its
//! superblock's [`BlockState`] and the temperature history. Which bits fail is drawn from streams keyed by
//! address, program number and codeword. So the same levels see the same failing bits again, except for sense
//! noise.

mod sense;
mod truth;

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{BlockId, CellMode, DieId, Geometry, Ns, PageAddr, Stream, SuperblockId};

use crate::ageing::history::{History, NS_PER_H, Stress};
use crate::ageing::law::Exposure;
use crate::cell::model::{self, BlockState, Condition, Extra, ModeModel, Wordline};
use crate::chip::ChipProfile;
use crate::gaussian::Gaussian;
use crate::place::layers::{self, LayerFactors};
use crate::place::open_block;
use crate::place::variation::{ChipDrawn, Drawn, Spread, block_key, blocks};
use crate::poisson::Quantiles;
use crate::profile::error::bad;
use crate::profile::{ProfileError, Reason};
use crate::sense_error::SenseError;

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
    history: History,
    /// Layer of each wordline.
    layer_of: Box<[u16]>,
    /// Number of evenly spread reads that have the effect of one read of a neighbouring wordline.
    adjacent_worth: f32,
    /// Factors of each layer.
    layers: Vec<LayerFactors>,
    nominal_layer: LayerFactors,
    /// Variation of each die.
    chips: Vec<ChipDrawn>,
    blocks: Stream,
}

/// Largest shift of any state, by time or by reads, for which a cached condition still counts as current, in
/// standard deviations of the state. At three standard deviations, where read levels lie, an error rate
/// changes by a factor of 3.3 per standard deviation. This limit changes it by 0.16 %; its scatter between
/// codewords is above 10 %.
const STANDING_DEVIATIONS: f64 = 5e-4;

/// Cached condition of a superblock, and how long it may be used.
#[derive(Clone, Copy, Debug)]
pub struct CachedCondition {
    /// What all pages of the superblock share.
    pub condition: Condition,
    until: Ns,
    even_reads: f32,
}

const fn index(mode: CellMode) -> usize {
    mode.bits() as usize - 1
}

impl Medium {
    /// The medium of a drive of `geometry` built from `chip`, at 25 °C until set otherwise.
    ///
    /// A geometry with fewer wordlines than the chip's block represents an even selection of them. The
    /// codeword length follows from the geometry's user bytes at rate 8/9; see [`Medium::set_codeword_bits`].
    pub fn new(chip: ChipProfile, geometry: Geometry, seed: u64) -> Result<Medium, ProfileError> {
        chip.validate()?;
        let have = chip.wordlines();
        let want = geometry.wordlines_per_block;
        if want == 0 || want as u32 > have {
            return Err(bad(
                "geometry.wordlines_per_block",
                Reason::Wordlines {
                    taken: want,
                    chip: chip.name,
                    have,
                },
            ));
        }
        if geometry.planes == 0 || geometry.codeword_bytes == 0 {
            return Err(bad(
                "geometry",
                Reason::Rule("planes and codeword_bytes are above zero"),
            ));
        }
        let root = Stream::new(seed).named("medium");
        let (layers, nominal_layer) = layers::table(&chip.layers, chip.array.layers);
        let layer_of = layers::of_wordlines(&chip.array, want);
        let gaussian = Box::<Gaussian>::default();
        let chip_stream = root.named("chip");
        let chips = (0..geometry.dies() as u64)
            .map(|die| ChipDrawn::new(&chip.variation, &gaussian, chip_stream.at(die)))
            .collect();
        let history = History::new(&chip.laws.retention, 25.0)?;
        let mut medium = Medium {
            codeword_bits: geometry.codeword_bytes * 9,
            gaussian,
            quantiles: Box::default(),
            spread: Spread::new(&chip.variation),
            modes: [None, None, None, None],
            history,
            layer_of,
            adjacent_worth: (chip.laws.disturb.adjacent_weight
                / chip
                    .laws
                    .disturb
                    .even_weight(geometry.wordlines_per_block as f64))
                as f32,
            layers,
            nominal_layer,
            chips,
            blocks: blocks(seed),
            chip,
            geometry,
        };
        for m in &medium.chip.modes {
            medium.modes[index(m.mode)] = Some(Box::new(ModeModel::new(
                &medium.chip.laws,
                m,
                medium.chip.sensing.soft_spacing,
            )));
        }
        medium.place_defaults();
        Ok(medium)
    }

    /// Sets the default levels to the optimum of the nominal page under the profile's condition.
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

    /// Sets the stored bits of a codeword, including parity.
    pub fn set_codeword_bits(&mut self, bits: u32) {
        self.codeword_bits = bits.max(1);
    }

    /// Stored bits of a codeword.
    pub const fn codeword_bits(&self) -> u32 {
        self.codeword_bits
    }

    /// The chip that the cells are those of.
    pub const fn chip(&self) -> &ChipProfile {
        &self.chip
    }

    /// Dies, planes, blocks and wordlines that there are cells for.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Temperatures until now, from which retention follows.
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

    /// State of a superblock that is erased into `mode` and completely programmed at `now`, for the
    /// `version`-th time.
    pub fn programmed(&self, mode: CellMode, pe_cycles: u32, version: u32, now: Ns) -> BlockState {
        BlockState {
            mode,
            pe_cycles,
            pe_milli: 0,
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

    /// The same for data that at `now` have already gone through the (hours, °C) pairs of `exposure`, oldest
    /// first. The data were programmed at the first of these temperatures.
    pub fn programmed_before(
        &self,
        mode: CellMode,
        pe_cycles: u32,
        version: u32,
        now: Ns,
        exposure: &[(f64, f64)],
    ) -> BlockState {
        let mut b = self.programmed(mode, pe_cycles, version, now);
        b.programmed = self.history.before(now, exposure);
        if let Some(&(_, celsius)) = exposure.first() {
            b.program_temperature_c = celsius as f32;
        }
        b
    }

    /// The condition of a superblock at `now`: the part of a sense that all its pages share.
    ///
    /// For a mode that the chip lacks the condition is meaningless; senses in that mode are refused.
    #[inline]
    pub fn condition(&self, block: &BlockState, now: Ns) -> Condition {
        let effect = self.chip.laws.shift(&self.exposure(block, now));
        model::condition(self.some_model(block.mode), block, effect)
    }

    /// Exposure of `block` until `now`.
    #[inline]
    fn exposure(&self, block: &BlockState, now: Ns) -> Exposure {
        let stress: Stress = self.history.stress(now);
        let wordlines = self.geometry.wordlines_per_block as f64;
        let (reads, adjacent) = (block.reads as f64, block.adjacent_reads as f64);
        let disturb = &self.chip.laws.disturb;
        Exposure {
            stress_h: stress.since(&block.programmed),
            dwell_h: block.dwell_h as f64,
            pe_cycles: block.cycles(),
            reads: disturb.effective_reads(reads, adjacent, wordlines),
            delta_c: self.history.temperature_c(now) - block.program_temperature_c as f64,
            idle_s: now.since(block.last_read).0 as f64 * 1e-9,
        }
    }

    /// [`Medium::condition`] with its time of validity.
    pub fn cached_condition(&self, block: &BlockState, now: Ns) -> CachedCondition {
        let model = self.some_model(block.mode);
        let exposure = self.exposure(block, now);
        let effect = self.chip.laws.shift(&exposure);
        // The next read ends the pause, so the slope at the beginning of a pause counts.
        let slopes = self.chip.laws.slope(&Exposure {
            idle_s: 0.0,
            ..exposure
        });
        let (rates, change) = self.history.rates(now);
        let mut deviations_per_ns = 0.0;
        for (per_h, rate) in slopes.per_h.iter().zip(rates) {
            deviations_per_ns += model.deviations(per_h) * rate * (1.0 / NS_PER_H);
        }
        let deviations_per_read = model.deviations(&slopes.per_read);
        let until = if model.deviations(&slopes.per_idle_s) == 0.0 {
            // The cast saturates; with null laws the division yields infinity.
            let hold_ns = (STANDING_DEVIATIONS / deviations_per_ns) as u64;
            Ns(now.0.saturating_add(hold_ns)).min(change)
        } else {
            // The effect differs with every pause between reads.
            now
        };
        let wordlines = self.geometry.wordlines_per_block as f64;
        CachedCondition {
            condition: model::condition(model, block, effect),
            until,
            even_reads: ((exposure.reads + STANDING_DEVIATIONS / deviations_per_read)
                / self.chip.laws.disturb.even_weight(wordlines)) as f32,
        }
    }

    /// Whether cached condition `known` is still current for `block` at `now`, provided that only time and
    /// reads have passed since.
    #[inline]
    pub fn is_current(&self, known: &CachedCondition, block: &BlockState, now: Ns) -> bool {
        // In equivalent evenly spread reads.
        let reads = block.reads + block.adjacent_reads * self.adjacent_worth;
        now < known.until && reads < known.even_reads
    }

    /// The model of `mode`, or of another mode if the chip lacks it.
    fn some_model(&self, mode: CellMode) -> &ModeModel {
        let wanted = self.modes[index(mode)].as_deref();
        let any = || self.modes.iter().find_map(|m| m.as_deref());
        wanted.or_else(any).expect("a valid chip has a mode")
    }

    fn block_key(&self, die: DieId, plane: u8, block: SuperblockId) -> Stream {
        block_key(self.blocks, die, plane, BlockId(block.0))
    }

    /// The wordline at `at` under `condition`, and the random stream of its block.
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

    /// The nominal wordline: mean layer, no variation. `block` may be open or closed.
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
}

#[cfg(test)]
mod tests {
    use firstread_core::PageType;

    use super::*;
    use crate::PlaceBits;
    use crate::characterize::geometry;
    use crate::reference;

    fn medium() -> Medium {
        let chip = reference::ct_a();
        let geometry = geometry(&chip, 2);
        Medium::new(chip, geometry, 3).expect("the profile is valid")
    }

    #[test]
    fn formula_a_medium_has_the_cells_of_its_geometry() {
        let mut m = medium();
        // 16 codewords of 1 KiB at rate 8/9.
        assert_eq!((m.codeword_bits(), m.cells()), (9216, 147_456));
        m.set_codeword_bits(8192);
        assert_eq!((m.codeword_bits(), m.cells()), (8192, 131_072));
        m.set_codeword_bits(0);
        assert_eq!(m.codeword_bits(), 1);
        type Break = fn(&mut Geometry);
        let cases: [(&str, Break); 4] = [
            ("geometry.wordlines_per_block", |g| {
                g.wordlines_per_block = 0
            }),
            ("geometry.wordlines_per_block", |g| {
                g.wordlines_per_block = 1409
            }),
            ("geometry", |g| g.planes = 0),
            ("geometry", |g| g.codeword_bytes = 0),
        ];
        for (key, spoil) in cases {
            let mut g = geometry(&reference::ct_a(), 2);
            spoil(&mut g);
            let error = Medium::new(reference::ct_a(), g, 3)
                .map(|_| ())
                .map_err(|e| e.key);
            assert_eq!(error, Err(key.into()));
        }
    }

    #[test]
    fn formula_a_programmed_block_begins_at_its_program() {
        let mut m = medium();
        m.set_temperature(Ns::from_h(1), 55.0)
            .expect("the temperature is valid");
        let now = Ns::from_h(3);
        let b = m.programmed(CellMode::Qlc, 70, 4, now);
        assert_eq!(
            (b.mode, b.pe_cycles, b.pe_milli, b.version),
            (CellMode::Qlc, 70, 0, 4)
        );
        assert_eq!(
            (b.program_temperature_c, b.dwell_h, b.reads),
            (55.0, 0.0, 0.0)
        );
        assert_eq!(
            (b.last_read, b.written_wordlines, b.adjacent_reads),
            (now, 1408, 0.0)
        );
        assert_eq!(b.programmed, m.history().stress(now));
        let worn = BlockState { pe_milli: 250, ..b };
        assert_eq!(worn.cycles(), 70.25);
        // Data that are older: 2 h at 40 °C, and then 5 h at 25.
        let old = m.programmed_before(CellMode::Qlc, 70, 4, now, &[(2.0, 40.0), (5.0, 25.0)]);
        assert_eq!(old.program_temperature_c, 40.0);
        let stress = m.history().stress(now).since(&old.programmed)[0];
        let expected = 5.0 + 2.0 * crate::ageing::history::acceleration(1.1, 40.0);
        assert!((stress / expected - 1.0).abs() < 1e-12);
        let same = m.programmed_before(CellMode::Qlc, 70, 4, now, &[]);
        assert_eq!(same, b);
    }

    #[test]
    fn formula_offsets_and_levels_are_inverse() {
        let m = medium();
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let mut offsets = [0; 15];
        for (k, o) in offsets.iter_mut().enumerate() {
            *o = 17 * (k as i8 - 7);
        }
        let levels = m.levels_mv(model, &offsets);
        for k in 0..15 {
            assert_eq!(levels[k], model.default_mv[k] + 5.0 * f64::from(offsets[k]));
        }
        assert_eq!(m.offsets_of(model, &levels), offsets);
        for (off, units) in [(2.4, 0), (2.6, 1), (-2.6, -1), (1e4, 127), (-1e4, -128)] {
            let levels = model.default_mv.map(|mv| mv + off);
            assert_eq!(m.offsets_of(model, &levels), [units; 15], "{off} mV");
            let exact = m.units(model, &levels);
            assert!(exact.iter().all(|u| (u - off / 5.0).abs() < 1e-9));
        }
    }

    /// Blocks, planes, dies, wordlines, pages and programs have draws of their own, which stay.
    #[test]
    fn formula_each_page_has_a_draw_of_its_own() {
        let m = medium();
        let mut seen = std::collections::BTreeSet::new();
        for die in [0, 1, 256] {
            for plane in [0, 1] {
                for block in [0, 1, 1 << 20] {
                    for wordline in [0, 1, 1400] {
                        for page in 0..4 {
                            for version in [0, 1, 1 << 24] {
                                let at = PageAddr {
                                    die: DieId(die),
                                    block: SuperblockId(block),
                                    wordline,
                                    page: PageType(page),
                                };
                                let draw = m.page_draw(at, plane, version);
                                assert_eq!(draw, m.page_draw(at, plane, version));
                                assert!(seen.insert(draw), "{at:?} {plane} {version}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// A wordline told by its layer and its bits is the wordline at the address that has them.
    #[test]
    fn formula_a_drawn_wordline_is_that_of_its_address() {
        let m = medium();
        let block = m.programmed_before(CellMode::Qlc, 1200, 1, Ns::ZERO, &[(700.0, 40.0)]);
        let condition = m.condition(&block, Ns::ZERO);
        for i in 0..60u64 {
            let draw = Stream::new(i);
            let at = PageAddr {
                die: DieId((i % 2) as u16),
                block: SuperblockId(draw.at(0).below(400) as u32),
                wordline: draw.at(1).below(1408) as u16,
                page: PageType((i % 4) as u8),
            };
            let key = m.block_key(at.die, 1, at.block);
            let line = key.at(at.wordline.into());
            let bits = PlaceBits {
                block: key.quick(0),
                block_states: [1, 2, 3, 4].map(|i| key.quick(i)),
                wordline: line.quick(0),
                wordline_states: [1, 2, 3, 4].map(|i| line.quick(i)),
            };
            let layer = layers::layer_of(&m.chip.array, at.wordline);
            let rate = m.drawn_rber((at.die, layer), at.page, &bits, &condition);
            let expected = m.page_rber(at, 1, &block, Ns::ZERO, &crate::ReadLevels::Ideal);
            assert_eq!(rate, expected, "{at:?}");
        }
        let bits = PlaceBits::default();
        let refused =
            |die, layer| m.drawn_rber((DieId(die), layer), PageType(0), &bits, &condition);
        assert_eq!(refused(0, m.layers()), Err(SenseError::Layer(m.layers())));
        assert_eq!(refused(9, 0), Err(SenseError::Die(DieId(9))));
    }

    /// How long a condition stands: by the slopes of the laws, half a thousandth of a deviation.
    #[test]
    fn formula_a_condition_stands_for_as_long_as_its_slope_says() {
        let mut m = medium();
        let block = BlockState {
            reads: 2e4,
            ..m.programmed(CellMode::Qlc, 1000, 1, Ns::ZERO)
        };
        let now = Ns::from_h(10);
        let until = |m: &Medium, at: Ns| m.cached_condition(&block, at).until;
        // 28 mV a decade of 42 mV, a tenth more by wear; a decade at 10.5 h is 10.5 ln 10 hours.
        let per_h = 28.0 / 42.0 * 1.1 * core::f64::consts::LOG10_E / 10.5;
        let expected = 5e-4 / per_h * 3.6e12;
        let held = (until(&m, now) - now).0 as f64;
        assert!(
            (held / expected - 1.0).abs() < 1e-9,
            "{held}, not {expected}"
        );
        // The erased state rises by 300 mV, a fifth more by wear, for each e-fold of reads from 10,000 on.
        let weight = 1.0 + 7.4 * 2.0 / 1408.0;
        let per_read = 300.0 * 1.2 / (1e4 + 2e4 * weight) / 350.0;
        let reads = f64::from(m.cached_condition(&block, now).even_reads);
        let expected = 2e4 + 5e-4 / per_read / weight;
        assert!(
            (reads / expected - 1.0).abs() < 1e-6,
            "{reads}, not {expected}"
        );
        // A read of a neighbour counts as so many that are spread: 8.4 over the mean weight of one.
        let known = m.cached_condition(&block, now);
        let spare = f64::from(known.even_reads) - 2e4;
        for (share, current) in [(0.98, true), (1.02, false)] {
            let adjacent_reads = (share * spare * weight / 8.4) as f32;
            let read = BlockState {
                adjacent_reads,
                ..block
            };
            assert_eq!(m.is_current(&known, &read, now), current, "{share}");
        }
        // A change of temperature ends it, and heat shortens it.
        m.set_temperature(now + Ns(5), 55.0)
            .expect("the temperature is valid");
        assert_eq!(until(&m, now), now + Ns(5));
    }
}
