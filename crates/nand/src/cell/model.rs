//! A cell mode compiled for fast evaluation, and the states of a wordline under a condition.

use alloc::vec::Vec;

use firstread_core::{CellMode, Ns, PageType};

use crate::ageing::Laws;
use crate::ageing::history::Stress;
use crate::ageing::law::{Effect, MAX_COMPONENTS};
use crate::gaussian::Gaussian;
use crate::place::layers::LayerFactors;
use crate::place::variation::{Drawn, VariationProfile};
use crate::profile::mode::{ModeProfile, SensePhases};
use crate::single::inverse_root;

/// Valleys of one page type.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageValleys {
    valleys: [u8; 15],
    len: u8,
}

impl PageValleys {
    /// The valleys, 1-based, in ascending order.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.valleys[..self.len as usize]
    }
    /// Valleys that a read of the page type compares cells with.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }
    /// Whether there are none, because the mode does not have the page type.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Valleys evaluated side by side.
pub(crate) const ABREAST: usize = 4;

/// Up to four valleys of a page type, in ascending order, with the laws of the states around them. Single
/// precision suffices: distances to the level are below 4 V, where the resolution is 0.25 µV.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    /// Index `valley - 1` of each valley. Unused elements never produce errors.
    pub valleys: [u8; ABREAST],
    /// The lowest valley that is not next to the erased state: its position in the array, and its default
    /// level (mV).
    pub above_erased: (u8, f32),
    /// The lower states, then the upper states.
    pub sides: [SideLaw; 2],
}

/// Distributions and shifts of the states on one side of four valleys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideLaw {
    state: [u8; ABREAST],
    /// Distance from the mean to the default level; positive if the level is on the correct side (mV).
    gap_mv: [f32; ABREAST],
    sigma_mv: [f32; ABREAST],
    per_decade: [[f32; ABREAST]; MAX_COMPONENTS],
    disturb_share: [f32; ABREAST],
    cross_mv_per_c: [f32; ABREAST],
    /// 1 for programmed states, 0 for the erased state.
    programmed: [f32; ABREAST],
}

/// One cell mode, compiled for evaluation.
#[derive(Clone, Debug)]
pub struct ModeModel {
    /// The mode whose states these are.
    pub mode: CellMode,
    /// Laws of the two states around each valley (index `valley - 1`).
    pairs: [PairLaw; 16],
    erased: StateLaw,
    most: Most,
    broadening: f64,
    /// One divided by the number of states.
    pub(crate) share: f32,
    /// Number of retention components in use.
    components: usize,
    states: [StateLaw; 16],
    /// Valleys of each page type, in groups of four.
    pub(crate) fours: [Vec<Four>; 4],
    /// Valleys of each page type.
    pub pages: [PageValleys; 4],
    /// Page type of each valley (index `valley - 1`).
    pub page_of_valley: [u8; 15],
    /// Sentinel valley of each page type.
    pub sentinel: [u8; 4],
    /// Factory default level of each valley (mV).
    pub default_mv: [f64; 15],
    /// `tR` without its senses (ns).
    pub setup_ns: u64,
    /// Phases of a sense (ns).
    pub phases: SensePhases,
    /// `tR` of each page type as measured; zero where it follows from setup and senses (ns).
    pub measured_read_ns: [u64; 4],
    /// Distance between the levels of a soft sense (mV).
    pub soft_spacing_mv: f64,
}

/// Largest shift of any state, in standard deviations of the state.
#[derive(Clone, Copy, Debug)]
struct Most {
    /// Per decade of each retention component.
    per_decade: [f64; MAX_COMPONENTS],
    /// Per mV of rise of the erased state.
    of_rise: f64,
    per_c: f64,
    /// Per mV of common shift.
    per_mv: f64,
}

/// Approximate distance of a read level from the mean of its state, in standard deviations.
const LEVEL_DEVIATIONS: f64 = 3.0;

/// Distribution of one state and how it shifts.
#[derive(Clone, Copy, Debug, Default)]
struct StateLaw {
    mean_mv: f64,
    sigma_mv: f64,
    /// Shift per decade of each retention component (mV).
    per_decade: [f64; MAX_COMPONENTS],
    /// Share of the erased state's rise.
    disturb_share: f64,
    cross_mv_per_c: f64,
}

/// The laws of two neighbouring states, the lower one first, side by side for evaluation.
#[derive(Clone, Copy, Debug, Default)]
struct PairLaw {
    mean_mv: [f64; 2],
    sigma_mv: [f64; 2],
    per_decade: [[f64; 2]; MAX_COMPONENTS],
    disturb_share: [f64; 2],
    cross_mv_per_c: [f64; 2],
}

impl ModeModel {
    /// Mode `m` of a chip with `laws`. The levels of its soft senses lie `soft_spacing` standard deviations
    /// of the top state apart.
    pub(crate) fn new(laws: &Laws, m: &ModeProfile, soft_spacing: f64) -> ModeModel {
        let mut states = [StateLaw::default(); 16];
        let shares = laws.shares(m);
        for (s, law) in states.iter_mut().enumerate().take(m.mode.states()) {
            law.mean_mv = m.mean_mv[s];
            law.sigma_mv = m.sigma_mv[s];
            law.disturb_share = shares.of_rise[s];
            law.cross_mv_per_c = shares.mv_per_c[s];
            law.per_decade = shares.per_decade.map(|a| a[s]);
        }
        let in_use = &states[..m.mode.states()];
        let most = |mv: &dyn Fn(&StateLaw) -> f64| {
            let deviations = in_use.iter().map(|s| mv(s).abs() / s.sigma_mv);
            deviations.fold(0.0, f64::max)
        };
        let most = Most {
            per_decade: core::array::from_fn(|c| most(&|s| s.per_decade[c])),
            of_rise: most(&|s| s.disturb_share),
            per_c: most(&|s| s.cross_mv_per_c),
            per_mv: most(&|_| 1.0),
        };
        let mut pages = [PageValleys::default(); 4];
        let mut page_of_valley = [0; 15];
        let mut sentinel = [0; 4];
        for (p, valleys) in m.pages.iter().enumerate() {
            for (i, &v) in valleys.iter().enumerate() {
                pages[p].valleys[i] = v;
                page_of_valley[v as usize - 1] = p as u8;
            }
            pages[p].len = valleys.len() as u8;
            sentinel[p] = m.sentinels[p];
        }
        let top = m.mode.states() - 1;
        let mut model = ModeModel {
            mode: m.mode,
            pairs: core::array::from_fn(|k| {
                let pair = |f: &dyn Fn(&StateLaw) -> f64| [f(&states[k]), f(&states[(k + 1) & 15])];
                PairLaw {
                    mean_mv: pair(&|s| s.mean_mv),
                    sigma_mv: pair(&|s| s.sigma_mv),
                    per_decade: core::array::from_fn(|c| pair(&|s| s.per_decade[c])),
                    disturb_share: pair(&|s| s.disturb_share),
                    cross_mv_per_c: pair(&|s| s.cross_mv_per_c),
                }
            }),
            erased: states[0],
            most,
            broadening: laws.retention.broadening,
            share: 1.0 / m.mode.states() as f32,
            components: laws.retention.components.len(),
            states,
            fours: Default::default(),
            pages,
            page_of_valley,
            sentinel,
            default_mv: [0.0; 15],
            setup_ns: m.setup_ns,
            phases: m.sense,
            measured_read_ns: core::array::from_fn(|page| {
                m.measured_read_ns.get(page).copied().unwrap_or(0)
            }),
            soft_spacing_mv: soft_spacing * m.sigma_mv[top],
        };
        model.set_default([0.0; 15]);
        model
    }

    /// Upper bound of how far `effect` moves the tail of any state at its read level, in standard deviations.
    pub(crate) fn deviations(&self, effect: &Effect) -> f64 {
        let m = &self.most;
        let decades = m.per_decade.iter().zip(effect.decades);
        let drift = decades.fold(0.0, |sum, (most, d)| sum + most * d.abs());
        let shift = effect
            .shift_mv
            .iter()
            .fold(0.0, |most, s| s.abs().max(most));
        let wider = effect.widening.abs() + 0.5 * effect.variance.abs() * m.per_mv * m.per_mv;
        drift
            + m.of_rise * effect.rise_mv.abs()
            + m.per_c * effect.delta_c.abs()
            + m.per_mv * shift
            + LEVEL_DEVIATIONS * wider
    }

    /// Sets the factory default level of each valley (mV).
    pub(crate) fn set_default(&mut self, levels_mv: [f64; 15]) {
        self.default_mv = levels_mv;
        for page in 0..self.pages.len() {
            let fours = self.pages[page].as_slice().chunks(ABREAST);
            self.fours[page] = fours.map(|valleys| self.four(valleys)).collect();
        }
    }

    fn four(&self, valleys: &[u8]) -> Four {
        let side = |upper: usize| {
            let mut law = SideLaw {
                state: [0; ABREAST],
                // So far away that no cell is beyond it, whatever the width.
                gap_mv: [1e15; ABREAST],
                sigma_mv: [1.0; ABREAST],
                per_decade: [[0.0; ABREAST]; MAX_COMPONENTS],
                disturb_share: [0.0; ABREAST],
                cross_mv_per_c: [0.0; ABREAST],
                programmed: [0.0; ABREAST],
            };
            for (k, &v) in valleys.iter().enumerate() {
                let state = v as usize - 1 + upper;
                let s = &self.states[state];
                let above_mv = self.default_mv[v as usize - 1] - s.mean_mv;
                law.state[k] = state as u8;
                law.gap_mv[k] = (if upper == 1 { -above_mv } else { above_mv }) as f32;
                law.sigma_mv[k] = s.sigma_mv as f32;
                for (to, from) in law.per_decade.iter_mut().zip(s.per_decade) {
                    to[k] = from as f32;
                }
                law.disturb_share[k] = s.disturb_share as f32;
                law.cross_mv_per_c[k] = s.cross_mv_per_c as f32;
                law.programmed[k] = (state > 0) as u8 as f32;
            }
            law
        };
        let above_erased = valleys.iter().position(|&v| v > 1);
        let default_mv = |k: usize| self.default_mv[valleys[k] as usize - 1] as f32;
        Four {
            valleys: core::array::from_fn(|k| valleys.get(k).map_or(0, |v| v - 1)),
            above_erased: above_erased.map_or((0, f32::INFINITY), |k| (k as u8, default_mv(k))),
            sides: [side(0), side(1)],
        }
    }

    /// Valleys of `page`; empty if the mode has no such page.
    #[inline]
    pub fn valleys(&self, page: PageType) -> &[u8] {
        self.pages
            .get(page.0 as usize)
            .map_or(&[], |p| p.as_slice())
    }

    /// All valleys of the mode, 1-based.
    pub fn all_valleys(&self) -> Vec<u8> {
        (1..=self.mode.valleys() as u8).collect()
    }
}

/// Condition of a superblock's cells at one moment, independent of the position within the block. It holds
/// everything that needs logarithms, computed once for all pages of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub(crate) mode: CellMode,
    /// Effect of the ageing laws at the nominal rate.
    effect: Effect,
    /// Factor on the standard deviation of each state.
    sigma: f64,
    /// Above this level the erased state is negligible (mV).
    pub(crate) erased_reach_mv: f32,
    pub(crate) written: u16,
    pub(crate) version: u32,
    near: Near,
}

/// A condition in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Near {
    decades: [f32; MAX_COMPONENTS],
    shift_mv: [f32; 2],
    rise_mv: f32,
    delta_c: f32,
    sigma: f32,
    added_variance: f32,
}

/// State of one superblock, kept by the drive and used by the medium. Plain data: programming sets it, and
/// reads are counted in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockState {
    /// Cell mode it was erased into.
    pub mode: CellMode,
    /// Program/erase cycles: the damage by all of them, in whole cycles of the drive's own mode.
    pub pe_cycles: u32,
    /// Thousandths of a cycle beyond.
    pub pe_milli: u16,
    /// Number of times it was programmed. New data have new errors.
    pub version: u32,
    /// Thermal stress at programming.
    pub programmed: Stress,
    /// Temperature at programming (°C).
    pub program_temperature_c: f32,
    /// Dwell time between its last cycles, in hours at 25 °C.
    pub dwell_h: f32,
    /// Page reads per physical block since programming, spread over its wordlines (mean over the superblock).
    pub reads: f32,
    /// Reads of the neighbours of the wordlines looked at, beyond an even spread.
    pub adjacent_reads: f32,
    /// Time of the last read or program of any of its pages.
    pub last_read: Ns,
    /// Number of wordlines programmed so far; all of them if the block is closed.
    pub written_wordlines: u16,
}

impl BlockState {
    /// Program/erase cycles, with their fraction.
    #[inline]
    pub fn cycles(&self) -> f64 {
        self.pe_cycles as f64 + self.pe_milli as f64 * 1e-3
    }
}

/// Mean and standard deviation of one state (mV).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StateDistribution {
    /// Mean threshold voltage, after ageing and variation.
    pub mean_mv: f64,
    /// Standard deviation, including default sense noise.
    pub sigma_mv: f64,
}

/// Two neighbouring states, the lower one first.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    /// Mean threshold voltages (mV).
    pub mean_mv: [f64; 2],
    /// Variances (mV squared), including default sense noise.
    pub variance: [f64; 2],
}

impl Neighbours {
    /// The state below the valley.
    #[inline]
    pub fn lower(&self) -> StateDistribution {
        StateDistribution {
            mean_mv: self.mean_mv[0],
            sigma_mv: libm::sqrt(self.variance[0]),
        }
    }

    /// The state above the valley.
    #[inline]
    pub fn upper(&self) -> StateDistribution {
        StateDistribution {
            mean_mv: self.mean_mv[1],
            sigma_mv: libm::sqrt(self.variance[1]),
        }
    }
}

/// The cells of one wordline under a condition. States are evaluated on request.
#[derive(Clone, Copy)]
pub struct Wordline<'a> {
    pub(crate) model: &'a ModeModel,
    pub(crate) variation: &'a VariationProfile,
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) condition: &'a Condition,
    drawn: Drawn,
    /// Factor on retention that is common to all states.
    rate: f32,
    /// Standard deviation of the factors of single states.
    rate_spread: f32,
    /// Shift common to the programmed states (mV).
    shift_mv: f32,
    /// Factor on standard deviations, without wear.
    sigma: f32,
    /// Variance added to all states (mV squared).
    variance: f32,
}

/// Contribution of open blocks and of short senses to a wordline.
#[derive(Clone, Copy)]
pub(crate) struct Extra {
    /// Shift of the programmed states (mV).
    pub shift_mv: f32,
    /// Factor on standard deviations.
    pub sigma: f32,
    /// Variance (mV squared).
    pub variance: f32,
}

impl Extra {
    /// A closed block, sensed with default timing.
    pub(crate) const NONE: Extra = Extra {
        shift_mv: 0.0,
        sigma: 1.0,
        variance: 0.0,
    };
}

impl<'a> Wordline<'a> {
    #[inline]
    pub(crate) fn new(
        model: &'a ModeModel,
        variation: &'a VariationProfile,
        gaussian: &'a Gaussian,
        condition: &'a Condition,
        drawn: Drawn,
        layer: &LayerFactors,
        extra: Extra,
    ) -> Wordline<'a> {
        let rate = layer.retention * drawn.rate;
        Wordline {
            model,
            variation,
            gaussian,
            condition,
            rate,
            rate_spread: rate * drawn.state_rate_spread,
            shift_mv: layer.offset_mv + extra.shift_mv + drawn.offset_mv,
            sigma: layer.sigma * drawn.sigma * extra.sigma,
            variance: extra.variance,
            drawn,
        }
    }

    /// Distance of the levels of four valleys from the means of the lower states (of the upper states, with
    /// `upper`), in standard deviations and positive on the correct side; and one over the standard deviation
    /// (per mV). `levels` are relative to the default (mV). `score` turns random bits into a Gaussian.
    /// default (mV); `score` makes a Gaussian of random bits.
    #[inline(always)] // In vector registers with what comes before and after.
    pub(crate) fn right_side(
        &self,
        law: &SideLaw,
        upper: bool,
        levels: [f32; ABREAST],
        score: impl Fn(u16) -> f32,
    ) -> ([f32; ABREAST], [f32; ABREAST]) {
        let each = |f: &dyn Fn(usize) -> f32| core::array::from_fn::<f32, ABREAST, _>(f);
        let c = &self.condition.near;
        let drawn = law.state.map(|s| self.drawn.of_state(s as usize));
        let (rate, offset) = (drawn.map(|d| score(d.0)), drawn.map(|d| score(d.1)));
        let mut nominal = each(&|k| law.per_decade[0][k] * c.decades[0]);
        for i in 1..self.model.components.min(MAX_COMPONENTS) {
            nominal = each(&|k| nominal[k] + law.per_decade[i][k] * c.decades[i]);
        }
        let drift = each(&|k| nominal[k] * (self.rate + self.rate_spread * rate[k]));
        let shift = c.shift_mv[1] + self.shift_mv - c.shift_mv[0];
        let spread = self.drawn.state_offset_spread_mv;
        let moved = each(&|k| {
            let programmed = law.programmed[k] * (shift + spread * offset[k]);
            (c.rise_mv * law.disturb_share[k] + c.delta_c * law.cross_mv_per_c[k])
                + (c.shift_mv[0] + programmed)
                + drift[k]
        });
        let width = c.sigma * self.sigma;
        let added = c.added_variance + self.variance;
        let broadening = self.model.broadening as f32;
        let fresh = each(&|k| law.sigma_mv[k] * width);
        let broad = each(&|k| broadening * drift[k]);
        let variance = each(&|k| fresh[k] * fresh[k] + (broad[k] * broad[k] + added));
        let inverse = each(&|k| inverse_root(variance[k]));
        let above = each(&|k| levels[k] - moved[k]);
        let x = if upper {
            each(&|k| (law.gap_mv[k] - above[k]) * inverse[k])
        } else {
            each(&|k| (law.gap_mv[k] + above[k]) * inverse[k])
        };
        (x, inverse)
    }

    /// Distributions of the states below and above `valley` (1-based).
    #[inline]
    pub fn neighbours(&self, valley: usize) -> Neighbours {
        let lower = valley.wrapping_sub(1) & 15;
        let (sigma, law) = (self.condition.sigma, &self.model.pairs[lower]);
        let c = &self.condition.effect;
        let each = |f: &dyn Fn(usize) -> f64| [f(0), f(1)];
        let mut drawn = self.scores(lower, |bits| self.gaussian.inner_u16(bits));
        if drawn.iter().sum::<f32>().is_nan() {
            drawn = self.scores_exactly(lower);
        }
        let rate = [drawn[0] as f64, drawn[1] as f64];
        let offset = [drawn[2] as f64, drawn[3] as f64];
        let programmed = (lower != 0) as usize;
        let [erased, all] = c.shift_mv;
        let a = [erased, all + self.shift_mv as f64];
        let b = [0.0, self.drawn.state_offset_spread_mv as f64];
        let shift = [a[programmed], a[1]];
        let spread = [b[programmed], b[1]];
        let (of_all, by_state) = (self.rate as f64, self.rate_spread as f64);
        let width = sigma * self.sigma as f64;
        let added = c.variance + self.variance as f64;
        let nominal = each(&|k| {
            law.per_decade[0][k] * c.decades[0]
                + law.per_decade[1][k] * c.decades[1]
                + law.per_decade[2][k] * c.decades[2]
        });
        let drift = each(&|k| nominal[k] * (of_all + by_state * rate[k]));
        let moved = each(&|k| {
            law.mean_mv[k]
                + (c.rise_mv * law.disturb_share[k] + c.delta_c * law.cross_mv_per_c[k])
                + (shift[k] + spread[k] * offset[k])
        });
        let fresh = each(&|k| law.sigma_mv[k] * width);
        let broad = each(&|k| self.model.broadening * drift[k]);
        let variance = each(&|k| fresh[k] * fresh[k] + (broad[k] * broad[k] + added));
        Neighbours {
            mean_mv: each(&|k| moved[k] + drift[k]),
            variance,
        }
    }

    /// Gaussian scores of `lower` and of its upper neighbour: of their retention, then of their offsets.
    #[inline]
    fn scores(&self, lower: usize, draw: impl Fn(u16) -> f32) -> [f32; 4] {
        let (a, b) = (self.drawn.of_state(lower), self.drawn.of_state(lower + 1));
        [a.0, b.0, a.1, b.1].map(draw)
    }

    /// The same if a draw lies at an end of its distribution.
    #[cold]
    fn scores_exactly(&self, lower: usize) -> [f32; 4] {
        self.scores(lower, |bits| self.gaussian.of_u16(bits))
    }

    /// All states; states that the mode does not have are zero.
    pub fn states(&self) -> [StateDistribution; 16] {
        let mut out = [StateDistribution::default(); 16];
        for lower in (0..self.model.mode.states()).step_by(2) {
            let around = self.neighbours(lower + 1);
            out[lower] = around.lower();
            out[lower + 1] = around.upper();
        }
        out
    }
}

/// The condition of `block` in mode `m` under `effect`.
pub(crate) fn condition(m: &ModeModel, block: &BlockState, effect: Effect) -> Condition {
    let sigma = 1.0 + effect.widening;
    // Five standard deviations, plus a fifth for layers and variation.
    let e = &m.erased;
    let [erased_mv, _] = effect.shift_mv;
    let mean_mv = e.mean_mv
        + erased_mv
        + effect.rise_mv * e.disturb_share
        + effect.delta_c * e.cross_mv_per_c;
    let decades = e.per_decade.iter().zip(effect.decades);
    let drift_mv: f64 = decades.map(|(a, d)| a * d).sum();
    Condition {
        mode: block.mode,
        effect,
        sigma,
        erased_reach_mv: (mean_mv + 1.2 * drift_mv.abs() + 6.0 * sigma * e.sigma_mv) as f32,
        written: block.written_wordlines,
        version: block.version,
        near: Near {
            decades: effect.decades.map(|d| d as f32),
            shift_mv: effect.shift_mv.map(|s| s as f32),
            rise_mv: effect.rise_mv as f32,
            delta_c: effect.delta_c as f32,
            sigma: sigma as f32,
            added_variance: effect.variance as f32,
        },
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{DieId, PageAddr, SuperblockId};

    use super::*;
    use crate::characterize::geometry;
    use crate::chip::{ChipProfile, RetentionComponent, TransientProfile};
    use crate::medium::Medium;
    use crate::reference;

    fn medium(chip: ChipProfile) -> Medium {
        let geometry = geometry(&chip, 2);
        Medium::new(chip, geometry, 3).expect("the profile is valid")
    }

    #[test]
    fn formula_valleys_are_those_of_the_profile() {
        let m = medium(reference::ct_t1());
        let model = m.model(CellMode::Tlc).expect("the chip has the mode");
        let pages: [&[u8]; 5] = [&[1, 5], &[2, 4, 6], &[3, 7], &[], &[]];
        for (page, valleys) in pages.into_iter().enumerate() {
            assert_eq!(model.valleys(PageType(page as u8)), valleys);
            if page < 4 {
                let of = model.pages[page];
                assert_eq!(
                    (of.len(), of.is_empty()),
                    (valleys.len(), valleys.is_empty())
                );
            }
        }
        assert_eq!(model.all_valleys(), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(model.page_of_valley[..7], [0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(model.sentinel, [5, 4, 3, 0]);
        assert_eq!(model.soft_spacing_mv, 40.0, "half of the top state's 80 mV");
    }

    /// In deviations of ct-a: its programmed states are 42 mV wide, the top one loses 28 mV a decade, and the erased state of
    /// 350 mV rises by all of a rise.
    #[test]
    fn formula_an_effect_moves_states_by_so_many_deviations() {
        let m = medium(reference::ct_a());
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let of = |effect: Effect| model.deviations(&effect);
        let none = Effect::default();
        for (effect, deviations) in [
            (none, 0.0),
            (
                Effect {
                    decades: [2.0, 0.0, 0.0],
                    ..none
                },
                2.0 * 28.0 / 42.0,
            ),
            (
                Effect {
                    decades: [-2.0, 9.0, 9.0],
                    ..none
                },
                2.0 * 28.0 / 42.0,
            ),
            (
                Effect {
                    rise_mv: 700.0,
                    ..none
                },
                2.0,
            ),
            (
                Effect {
                    rise_mv: -700.0,
                    ..none
                },
                2.0,
            ),
            (
                Effect {
                    shift_mv: [21.0, -84.0],
                    ..none
                },
                2.0,
            ),
            (
                Effect {
                    shift_mv: [84.0, -21.0],
                    ..none
                },
                2.0,
            ),
            (
                Effect {
                    delta_c: 30.0,
                    ..none
                },
                0.0,
            ),
            // Three deviations from the mean a state that is a tenth wider reaches 0.3 further.
            (
                Effect {
                    widening: 0.1,
                    ..none
                },
                0.3,
            ),
            (
                Effect {
                    widening: -0.1,
                    ..none
                },
                0.3,
            ),
            // Half of the variance of a state is a quarter of its width.
            (
                Effect {
                    variance: 42.0 * 42.0 / 2.0,
                    ..none
                },
                0.75,
            ),
            (
                Effect {
                    decades: [1.5, 0.0, 0.0],
                    rise_mv: 350.0,
                    shift_mv: [0.0, 42.0],
                    widening: 0.1,
                    variance: 42.0 * 42.0,
                    ..none
                },
                1.0 + 1.0 + 1.0 + 0.3 + 1.5,
            ),
        ] {
            let is = of(effect);
            assert!(
                (is - deviations).abs() < 1e-9,
                "{effect:?}: {is}, not {deviations}"
            );
        }
        let mut chip = reference::ct_a();
        chip.laws.cross_temperature.shift_mv_per_c = -0.42;
        let m = medium(chip);
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let is = model.deviations(&Effect {
            delta_c: -50.0,
            ..none
        });
        assert!((is - 0.5).abs() < 1e-9, "0.42 mV a degree: {is}");
    }

    /// Six deviations above the mean of the erased state, and a fifth of its drift.
    #[test]
    fn formula_a_condition_knows_how_far_the_erased_state_reaches() {
        let m = medium(reference::ct_a());
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let block = m.programmed(CellMode::Qlc, 0, 9, Ns::ZERO);
        let none = Effect::default();
        let reach = |effect| condition(model, &block, effect).erased_reach_mv;
        assert_eq!(reach(none), -2500.0 + 6.0 * 350.0);
        let all = Effect {
            // It rises by half of 28 mV a decade.
            decades: [2.0, 0.0, 0.0],
            rise_mv: 100.0,
            shift_mv: [30.0, 500.0],
            widening: 0.1,
            ..none
        };
        let expected = -2500.0 + 30.0 + 100.0 + 1.2 * 28.0 + 6.0 * 1.1 * 350.0;
        assert!((reach(all) - expected).abs() < 1e-3, "{}", reach(all));
        let c = condition(model, &block, all);
        assert_eq!((c.version, c.written, c.mode), (9, 1408, CellMode::Qlc));
        let mut chip = reference::ct_a();
        chip.laws.cross_temperature.shift_mv_per_c = -0.5;
        chip.laws.cross_temperature.slope_mv_per_c = -0.5;
        let m = medium(chip.clone());
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let hot = Effect {
            delta_c: 40.0,
            ..none
        };
        let erased = chip.laws.shares(&chip.modes[0]).mv_per_c[0];
        let is = f64::from(condition(model, &block, hot).erased_reach_mv);
        assert!((is - (-400.0 + 40.0 * erased)).abs() < 1e-3, "{is}");
    }

    /// What a sense computes in single precision, four valleys abreast, against the distributions in double precision, with
    /// every law and every difference there is.
    #[test]
    fn model_four_valleys_abreast_agree_with_the_distributions() {
        let mut chip = reference::ct_a();
        let mut early = RetentionComponent {
            onset_h: 0.01,
            activation_energy_ev: 0.3,
            ..chip.laws.retention.components[0]
        };
        early.name = "early";
        chip.laws.retention.components.push(early);
        chip.modes[0].retention_mv_per_decade.push(9.0);
        chip.laws.cross_temperature.shift_mv_per_c = -0.3;
        chip.laws.cross_temperature.slope_mv_per_c = -0.2;
        chip.laws.cross_temperature.sigma_mv_per_c = 0.2;
        chip.laws.wear.erased_shift_mv_per_kpe = 40.0;
        chip.laws.wear.programmed_shift_mv_per_kpe = 10.0;
        chip.laws.transient = TransientProfile {
            shift_mv: -12.0,
            time_constant_s: 60.0,
        };
        chip.layers.offset_span_mv = 7.0;
        chip.variation.state_rate = 0.05;
        chip.variation.state_offset_mv = 4.0;
        chip.variation.block_sigma = 0.03;
        let mut m = medium(chip);
        m.set_temperature(Ns::from_h(9), 60.0)
            .expect("the temperature is valid");
        let mut worst = 0.0f64;
        for (i, (pe, hours, reads, written)) in [
            (0, 0, 0.0, 1408),
            (1500, 10, 3e5, 1408),
            (3000, 700, 2e4, 60),
            (200, 12, 0.0, 58),
        ]
        .into_iter()
        .enumerate()
        {
            let block = BlockState {
                reads,
                written_wordlines: written,
                ..m.programmed(CellMode::Qlc, pe, 2, Ns::ZERO)
            };
            let c = m.condition(&block, Ns::from_h(hours));
            for wordline in [0, 13, 57] {
                let at = PageAddr {
                    die: DieId(i as u16 % 2),
                    block: SuperblockId(0),
                    wordline,
                    page: PageType(0),
                };
                let (w, _) = m
                    .wordline(at, 0, &c, 25.0 * i as f32)
                    .expect("the page is there");
                for four in w.model.fours.iter().flatten() {
                    for (upper, law) in four.sides.iter().enumerate() {
                        let levels = [0.0, 15.0, -15.0, 35.0];
                        let score = |bits| w.gaussian.of_u16(bits);
                        let (x, inverse) = w.right_side(law, upper == 1, levels, score);
                        for k in (0..ABREAST).filter(|&k| law.sigma_mv[k] > 1.0) {
                            let valley = four.valleys[k] as usize + 1;
                            let around = w.neighbours(valley);
                            let d = if upper == 1 {
                                around.upper()
                            } else {
                                around.lower()
                            };
                            let level = w.model.default_mv[valley - 1] + f64::from(levels[k]);
                            let right = if upper == 1 {
                                d.mean_mv - level
                            } else {
                                level - d.mean_mv
                            };
                            let off = (f64::from(x[k]) - right / d.sigma_mv).abs();
                            worst = worst.max(off);
                            assert!((f64::from(inverse[k]) * d.sigma_mv - 1.0).abs() < 1e-5);
                        }
                    }
                    // The unused columns of a group have no cells beyond.
                    let used = w
                        .model
                        .pages
                        .iter()
                        .any(|p| p.as_slice().contains(&(four.valleys[0] + 1)));
                    assert!(used);
                }
            }
        }
        assert!(worst < 2e-4, "{worst:e} deviations");
    }
}
