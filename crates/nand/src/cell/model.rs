//! A cell mode compiled for evaluation, and the states of a wordline under a condition.

use alloc::vec::Vec;

use firstread_core::{CellMode, Ns, PageType};

use crate::ageing::layers::LayerFactors;
use crate::ageing::variation::Drawn;
use crate::ageing::{cross_temperature, disturb, retention, transient, wear};
use crate::gaussian::Gaussian;
use crate::profile::{ChipProfile, MAX_COMPONENTS, ModeProfile, SensePhases, VariationProfile};

/// Valleys of one page type.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageValleys {
    valleys: [u8; 15],
    len: u8,
}

impl PageValleys {
    /// They, 1-based and rising.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.valleys[..self.len as usize]
    }
    /// How many.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }
    /// Whether there are none (a page type the mode does not have).
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// One cell mode, compiled.
#[derive(Clone, Debug)]
pub struct ModeModel {
    /// The mode.
    pub mode: CellMode,
    pub(crate) mean_mv: [f64; 16],
    pub(crate) sigma_mv: [f64; 16],
    /// Shift per decade of each retention component (mV).
    pub(crate) per_decade: [[f64; 16]; MAX_COMPONENTS],
    pub(crate) components: usize,
    pub(crate) disturb_share: [f64; 16],
    pub(crate) cross_mv_per_c: [f64; 16],
    pub(crate) broadening: f64,
    /// Valleys of each page type.
    pub pages: [PageValleys; 4],
    /// Page type of each valley (index `valley - 1`).
    pub page_of_valley: [u8; 15],
    /// Sentinel valley of each page type.
    pub sentinel: [u8; 4],
    /// Factory default level of each valley (mV).
    pub default_mv: [f64; 15],
    /// `tR` without senses (ns).
    pub setup_ns: u64,
    /// Phases of a sense (ns).
    pub phases: SensePhases,
    /// Distance of the levels of a soft sense (mV).
    pub soft_spacing_mv: f64,
}

impl ModeModel {
    pub(crate) fn new(chip: &ChipProfile, m: &ModeProfile) -> ModeModel {
        let fill = |values: &[f64]| {
            let mut out = [0.0; 16];
            out[..values.len()].copy_from_slice(values);
            out
        };
        let mut per_decade = [[0.0; 16]; MAX_COMPONENTS];
        let components = chip.retention.components.len();
        for (c, out) in per_decade.iter_mut().enumerate().take(components) {
            *out = retention::per_decade(chip, m, c);
        }
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
        ModeModel {
            mode: m.mode,
            mean_mv: fill(&m.mean_mv),
            sigma_mv: fill(&m.sigma_mv),
            per_decade,
            components,
            disturb_share: disturb::share(&chip.disturb, m),
            cross_mv_per_c: cross_temperature::shift_mv_per_c(
                &chip.cross_temperature,
                m.mode.states(),
            ),
            broadening: chip.retention.broadening,
            pages,
            page_of_valley,
            sentinel,
            default_mv: [0.0; 15],
            setup_ns: m.setup_ns,
            phases: m.sense,
            soft_spacing_mv: chip.sensing.soft_spacing * m.sigma_mv[top],
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

/// What a superblock's cells are like at one moment, apart from where in the block they lie:
/// everything that needs logarithms, computed once for all pages of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub(crate) mode: CellMode,
    /// Mean of each state but for retention and place (mV).
    mean_mv: [f64; 16],
    /// Retention shift of each state at the nominal rate (mV).
    drift_mv: [f64; 16],
    /// Standard deviation of each state but for retention and place (mV).
    sigma_mv: [f64; 16],
    /// Variance that all states gain (mV squared).
    added_variance: f64,
    /// The erased state is of no account above this (mV).
    pub(crate) erased_reach_mv: f64,
    pub(crate) written: u16,
    pub(crate) version: u32,
}

/// State of one superblock that the drive keeps and the medium reads. Plain data: programming sets
/// it, reading counts in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockState {
    /// Mode it was erased into.
    pub mode: CellMode,
    /// Program/erase cycles.
    pub pe_cycles: u32,
    /// How often it has been programmed: new data, new errors.
    pub version: u32,
    /// Stress coordinate at which it was programmed.
    pub programmed: crate::ageing::history::Stress,
    /// Temperature at which it was programmed (°C).
    pub program_temperature_c: f32,
    /// Time between its last cycles, in hours at 25 °C.
    pub dwell_h: f32,
    /// Page reads of each physical block since it was programmed, spread over its wordlines (mean
    /// over the superblock).
    pub reads: f32,
    /// Reads of the neighbours of the wordlines looked at, beyond an even spread.
    pub adjacent_reads: f32,
    /// When a page of it was last read or programmed.
    pub last_read: Ns,
    /// Wordlines programmed so far; all of them when the block is closed.
    pub written_wordlines: u16,
}

/// Mean and standard deviation of one state (mV).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StateDistribution {
    /// Mean threshold voltage.
    pub mean_mv: f64,
    /// Standard deviation, default sense noise included.
    pub sigma_mv: f64,
}

/// The cells of one wordline under a condition: states are evaluated when asked for.
#[derive(Clone, Copy)]
pub struct Wordline<'a> {
    pub(crate) model: &'a ModeModel,
    pub(crate) variation: &'a VariationProfile,
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) condition: &'a Condition,
    pub(crate) drawn: Drawn,
    pub(crate) layer: LayerFactors,
    pub(crate) open_shift_mv: f64,
    pub(crate) open_sigma: f64,
    /// Variance that a shortened sense adds (mV squared).
    pub(crate) noise_variance: f64,
}

impl Wordline<'_> {
    /// Distribution of `state`.
    #[inline]
    pub fn state(&self, state: usize) -> StateDistribution {
        let (c, state) = (self.condition, state & 15);
        let (rate, offset_mv) = self.drawn.of_state(self.variation, self.gaussian, state);
        let drift = c.drift_mv[state] * (self.layer.retention * rate);
        let mut mean = c.mean_mv[state] + drift;
        if state > 0 {
            mean += self.layer.offset_mv + self.open_shift_mv + offset_mv;
        }
        let fresh = c.sigma_mv[state] * (self.layer.sigma * self.drawn.sigma * self.open_sigma);
        let broad = self.model.broadening * drift;
        let variance = fresh * fresh + broad * broad + c.added_variance + self.noise_variance;
        StateDistribution {
            mean_mv: mean,
            sigma_mv: libm::sqrt(variance),
        }
    }

    /// All states; those the mode does not have are zero.
    pub fn states(&self) -> [StateDistribution; 16] {
        let mut out = [StateDistribution::default(); 16];
        for (s, o) in out.iter_mut().enumerate().take(self.model.mode.states()) {
            *o = self.state(s);
        }
        out
    }
}

/// The condition of `block` in mode `m`, given its retention and where it stands otherwise.
pub(crate) fn condition(
    chip: &ChipProfile,
    m: &ModeModel,
    block: &BlockState,
    decades: [f64; MAX_COMPONENTS],
    moment: Moment,
) -> Condition {
    let (erased_mv, programmed_mv) = wear::shift_mv(&chip.wear, block.pe_cycles);
    let reads = disturb::effective_reads(
        &chip.disturb,
        block.reads as f64,
        block.adjacent_reads as f64,
        moment.wordlines,
    );
    let rise = disturb::erased_rise_mv(&chip.disturb, reads, block.pe_cycles);
    let delta_c = moment.temperature_c - block.program_temperature_c as f64;
    let cross_sigma = cross_temperature::sigma_mv(&chip.cross_temperature, delta_c);
    let transient_mv = transient::shift_mv(&chip.transient, moment.idle_s);
    let mut mean_mv = m.mean_mv;
    for mean in mean_mv.iter_mut().skip(1) {
        *mean += programmed_mv + transient_mv;
    }
    mean_mv[0] += erased_mv;
    if rise != 0.0 || delta_c != 0.0 {
        for (s, mean) in mean_mv.iter_mut().enumerate() {
            *mean += rise * m.disturb_share[s] + delta_c * m.cross_mv_per_c[s];
        }
    }
    let mut drift_mv = [0.0; 16];
    for (per_decade, d) in m.per_decade.iter().zip(decades).take(m.components) {
        for (drift, a) in drift_mv.iter_mut().zip(per_decade) {
            *drift += a * d;
        }
    }
    let wear_sigma = wear::sigma_factor(&chip.wear, block.pe_cycles);
    let sigma_mv = m.sigma_mv.map(|s| s * wear_sigma);
    Condition {
        mode: block.mode,
        // Five deviations, and a fifth more for layers and variation.
        erased_reach_mv: mean_mv[0] + 1.2 * drift_mv[0].abs() + 6.0 * sigma_mv[0],
        mean_mv,
        drift_mv,
        sigma_mv,
        added_variance: cross_sigma * cross_sigma,
        written: block.written_wordlines,
        version: block.version,
    }
}

/// Where and when a block is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Temperature (°C).
    pub temperature_c: f64,
    /// Time since its last read (s).
    pub idle_s: f64,
    /// Wordlines of the block.
    pub wordlines: f64,
}
