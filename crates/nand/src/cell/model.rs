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
    /// Laws of the two states around each valley (index `valley - 1`).
    pairs: [PairLaw; 16],
    erased: StateLaw,
    /// Most deviations that a state moves in a decade of each retention component.
    pub(crate) deviations_per_decade: [f64; MAX_COMPONENTS],
    /// Most deviations that a state moves while the erased state rises by 1 mV.
    pub(crate) deviations_per_rise: f64,
    broadening: f64,
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

/// What one state is like and how it moves.
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

/// The laws of two neighbours, lower state first, side by side for evaluation.
#[derive(Clone, Copy, Debug, Default)]
struct PairLaw {
    mean_mv: [f64; 2],
    sigma_mv: [f64; 2],
    per_decade: [[f64; 2]; MAX_COMPONENTS],
    disturb_share: [f64; 2],
    cross_mv_per_c: [f64; 2],
}

impl ModeModel {
    pub(crate) fn new(chip: &ChipProfile, m: &ModeProfile) -> ModeModel {
        let mut states = [StateLaw::default(); 16];
        let disturb_share = disturb::share(&chip.disturb, m);
        let cross = cross_temperature::shift_mv_per_c(&chip.cross_temperature, m.mode.states());
        for (s, law) in states.iter_mut().enumerate().take(m.mode.states()) {
            law.mean_mv = m.mean_mv[s];
            law.sigma_mv = m.sigma_mv[s];
            law.disturb_share = disturb_share[s];
            law.cross_mv_per_c = cross[s];
        }
        for c in 0..chip.retention.components.len() {
            let shift = retention::per_decade(chip, m, c);
            for (law, a) in states.iter_mut().zip(shift) {
                law.per_decade[c] = a;
            }
        }
        let in_use = &states[..m.mode.states()];
        let most = |mv: &dyn Fn(&StateLaw) -> f64| {
            let deviations = in_use.iter().map(|s| mv(s).abs() / s.sigma_mv);
            deviations.fold(0.0, f64::max)
        };
        let deviations_per_decade = core::array::from_fn(|c| most(&|s| s.per_decade[c]));
        let deviations_per_rise = most(&|s| s.disturb_share);
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
            deviations_per_decade,
            deviations_per_rise,
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
    /// Decades of each retention component at the nominal rate.
    decades: [f64; MAX_COMPONENTS],
    /// Shift of the erased state and of all programmed ones (mV).
    shift_mv: [f64; 2],
    /// Rise of the erased state, of which others take their share (mV).
    rise_mv: f64,
    /// Temperature above that of programming (°C).
    delta_c: f64,
    /// Factor on the standard deviation of each state.
    sigma: f64,
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

/// Two neighbouring states, the lower one first.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    /// Mean threshold voltages (mV).
    pub mean_mv: [f64; 2],
    /// Variances (mV squared), default sense noise included.
    pub variance: [f64; 2],
}

impl Neighbours {
    /// The lower state.
    #[inline]
    pub fn lower(&self) -> StateDistribution {
        StateDistribution {
            mean_mv: self.mean_mv[0],
            sigma_mv: libm::sqrt(self.variance[0]),
        }
    }

    /// The upper state.
    #[inline]
    pub fn upper(&self) -> StateDistribution {
        StateDistribution {
            mean_mv: self.mean_mv[1],
            sigma_mv: libm::sqrt(self.variance[1]),
        }
    }
}

/// The cells of one wordline under a condition: states are evaluated when asked for.
#[derive(Clone, Copy)]
pub struct Wordline<'a> {
    pub(crate) model: &'a ModeModel,
    pub(crate) variation: &'a VariationProfile,
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) condition: &'a Condition,
    drawn: Drawn,
    /// Factor on retention, before states differ.
    rate: f64,
    /// Deviation of the states' factors.
    rate_spread: f64,
    /// Shift of the erased state and of the programmed ones, before these differ (mV).
    shift_mv: [f64; 2],
    /// Deviation of the shift within either (mV).
    state_offset_mv: [f64; 2],
    /// Factor on standard deviations.
    sigma: f64,
    /// Variance added to all states (mV squared).
    variance: f64,
}

/// What open blocks and hasty senses add to a wordline.
#[derive(Clone, Copy)]
pub(crate) struct Extra {
    /// Shift of the programmed states (mV).
    pub shift_mv: f64,
    /// Factor on standard deviations.
    pub sigma: f64,
    /// Variance (mV squared).
    pub variance: f64,
}

impl Extra {
    /// A closed block, sensed in full.
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
        let [erased, programmed] = condition.shift_mv;
        let shift = layer.offset_mv + extra.shift_mv + drawn.offset_mv;
        Wordline {
            model,
            variation,
            gaussian,
            condition,
            rate: layer.retention * drawn.rate,
            rate_spread: layer.retention * drawn.rate * drawn.state_rate_spread,
            shift_mv: [erased, programmed + shift],
            state_offset_mv: [0.0, drawn.state_offset_spread_mv],
            sigma: layer.sigma * drawn.sigma * extra.sigma * condition.sigma,
            variance: condition.added_variance + extra.variance,
            drawn,
        }
    }

    /// Distributions of the states below and above `valley` (1-based).
    #[inline]
    pub fn neighbours(&self, valley: usize) -> Neighbours {
        let lower = valley.wrapping_sub(1) & 15;
        let (c, law) = (self.condition, &self.model.pairs[lower]);
        let each = |f: &dyn Fn(usize) -> f64| [f(0), f(1)];
        let mut drawn = self.scores(lower, |bits| self.gaussian.inner_u16(bits));
        if drawn.iter().sum::<f32>().is_nan() {
            drawn = self.scores_exactly(lower);
        }
        let rate = [drawn[0] as f64, drawn[1] as f64];
        let offset = [drawn[2] as f64, drawn[3] as f64];
        let programmed = (lower != 0) as usize;
        let (a, b) = (self.shift_mv, self.state_offset_mv);
        let shift = [a[programmed], a[1]];
        let spread = [b[programmed], b[1]];
        let nominal = each(&|k| {
            law.per_decade[0][k] * c.decades[0]
                + law.per_decade[1][k] * c.decades[1]
                + law.per_decade[2][k] * c.decades[2]
        });
        let drift = each(&|k| nominal[k] * (self.rate + self.rate_spread * rate[k]));
        let moved = each(&|k| {
            law.mean_mv[k]
                + (c.rise_mv * law.disturb_share[k] + c.delta_c * law.cross_mv_per_c[k])
                + (shift[k] + spread[k] * offset[k])
        });
        let fresh = each(&|k| law.sigma_mv[k] * self.sigma);
        let broad = each(&|k| self.model.broadening * drift[k]);
        let variance = each(&|k| fresh[k] * fresh[k] + (broad[k] * broad[k] + self.variance));
        Neighbours {
            mean_mv: each(&|k| moved[k] + drift[k]),
            variance,
        }
    }

    /// Scores of `lower` and of its upper neighbour among the states: of their retention, then of
    /// their offsets.
    #[inline]
    fn scores(&self, lower: usize, draw: impl Fn(u16) -> f32) -> [f32; 4] {
        let (a, b) = (self.drawn.of_state(lower), self.drawn.of_state(lower + 1));
        [a.0, b.0, a.1, b.1].map(draw)
    }

    /// The same with a draw at an end of its distribution.
    #[cold]
    fn scores_exactly(&self, lower: usize) -> [f32; 4] {
        self.scores(lower, |bits| self.gaussian.of_u16(bits))
    }

    /// All states; those the mode does not have are zero.
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
    let mut c = Condition {
        mode: block.mode,
        decades,
        shift_mv: [erased_mv, programmed_mv + transient_mv],
        rise_mv: rise,
        delta_c,
        sigma: wear::sigma_factor(&chip.wear, block.pe_cycles),
        added_variance: cross_sigma * cross_sigma,
        erased_reach_mv: 0.0,
        written: block.written_wordlines,
        version: block.version,
    };
    // Five deviations, and a fifth more for layers and variation.
    let e = &m.erased;
    let mean_mv = e.mean_mv + erased_mv + rise * e.disturb_share + delta_c * e.cross_mv_per_c;
    let drift_mv: f64 = e.per_decade.iter().zip(decades).map(|(a, d)| a * d).sum();
    c.erased_reach_mv = mean_mv + 1.2 * drift_mv.abs() + 6.0 * c.sigma * e.sigma_mv;
    c
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
