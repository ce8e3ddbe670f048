//! What characterization knows of a chip: plain numbers with units in their names.
//!
//! A profile holds measurements and the parameters of the ageing laws, never an outcome: no retry
//! count, no latency, no error rate. Every law has a null, named at its structure, so that a study
//! can switch one mechanism off. [`ChipProfile::validate`] says which key is wrong and why.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use firstread_core::CellMode;

use crate::characterize::FactoryRule;

/// How a cell keeps its charge. The laws are the same code; the numbers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Technology {
    /// Charge in traps of a nitride layer: early, level-dependent loss.
    ChargeTrap,
    /// Charge on a conductive floating gate: slow loss.
    FloatingGate,
}

impl Technology {
    /// The name used in profiles and options.
    pub const fn name(self) -> &'static str {
        match self {
            Technology::ChargeTrap => "charge-trap",
            Technology::FloatingGate => "floating-gate",
        }
    }
}

/// One chip: everything the medium needs to know of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ChipProfile {
    /// Name, as in `firstread cells NAME`.
    pub name: String,
    /// Charge storage.
    pub technology: Technology,
    /// Layers and strings of a block.
    pub array: ArrayProfile,
    /// Size of one DAC unit of a read level (mV).
    pub dac_step_mv: f64,
    /// The modes the chip can run a block in, any order, each at most once.
    pub modes: Vec<ModeProfile>,
    /// At which condition the factory default read levels are the optimum.
    pub factory_default: FactoryDefault,
    /// By which rule its factory retry table is made.
    pub factory_table: FactoryRule,
    /// Loss of charge over time.
    pub retention: RetentionProfile,
    /// What program/erase cycles do.
    pub wear: WearProfile,
    /// What reads of a block do to its other wordlines.
    pub disturb: DisturbProfile,
    /// Reading at another temperature than that of programming.
    pub cross_temperature: CrossTemperatureProfile,
    /// The first read after a block has idled.
    pub transient: TransientProfile,
    /// Differences between layers of the stack.
    pub layers: LayerProfile,
    /// Blocks that are only partly written.
    pub open_block: OpenBlockProfile,
    /// Random differences between chips, blocks, wordlines and states.
    pub variation: VariationProfile,
    /// Noise of a sense.
    pub sensing: SensingProfile,
    /// Blocks that are bad or go bad.
    pub failures: FailureProfile,
    /// Durations that do not depend on the mode.
    pub timing: ChipTiming,
}

/// Layers and strings of a block. A wordline index runs over `layers * strings_per_layer`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ArrayProfile {
    /// Word-line layers of the stack.
    pub layers: u16,
    /// Strings that share a layer, each a wordline of its own to the firmware.
    pub strings_per_layer: u16,
    /// Which of the two runs faster in the wordline index.
    pub order: WordlineOrder,
}

/// How wordline indices map to layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordlineOrder {
    /// `layer = wordline / strings_per_layer`: all strings of a layer, then the next layer.
    LayerByLayer,
    /// `layer = wordline % layers`: all layers of a string, then the next string.
    StringByString,
}

/// One cell mode of the chip.
#[derive(Clone, PartialEq, Debug)]
pub struct ModeProfile {
    /// The mode.
    pub mode: CellMode,
    /// Mean threshold voltage of each state right after programming of a fresh block, erased state
    /// first (mV). As many as the mode has states, rising.
    pub mean_mv: Vec<f64>,
    /// Standard deviation of each state at the same moment, erased state first (mV). It is what a
    /// default sense sees: [`SensingProfile::noise_mv`] is part of it.
    pub sigma_mv: Vec<f64>,
    /// The Gray code: for each page type, LSB first, its valleys (1-based; valley `k` lies between
    /// states `k - 1` and `k`), rising. Each valley is on exactly one page.
    pub pages: Vec<Vec<u8>>,
    /// Sentinel valley of each page type, one of that page's valleys: the one a search moves and the
    /// others are projected from.
    pub sentinels: Vec<u8>,
    /// Retention shift of the top state per decade of time in a fresh block (mV), the `A` of the
    /// law; one number for each of [`RetentionProfile::components`].
    pub retention_mv_per_decade: Vec<f64>,
    /// Rated program/erase cycles.
    pub endurance_pe_cycles: u32,
    /// Part of `tR` that does not depend on how many levels are sensed (ns).
    pub setup_ns: u64,
    /// Phases of one sense; `tR = setup + n * (pre + eval + disch)` for a page of `n` valleys.
    pub sense: SensePhases,
    /// Programming all pages of one wordline (on all planes at once). Beware: data sheets and
    /// ISSCC tables often give the average *per page*; check against the programming throughput.
    pub program: ProgramTiming,
    /// Erasing a block, `tBERS` (ns).
    pub erase_ns: u64,
}

/// Phases of one sense (ns).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SensePhases {
    /// Bit-line precharge, `tPRE`.
    pub pre_ns: u64,
    /// Evaluation, `tEVAL`.
    pub eval_ns: u64,
    /// Discharge, `tDISCH`.
    pub disch_ns: u64,
}

/// Time to program one wordline, all of its pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramTiming {
    /// All pages in one operation.
    OneShot {
        /// Its duration.
        wordline_ns: u64,
    },
    /// A coarse pass, then a fine one.
    TwoStep {
        /// Duration of the coarse pass.
        first_ns: u64,
        /// Duration of the fine pass.
        second_ns: u64,
    },
}

/// The condition at which the default read levels are optimal. The levels themselves are computed
/// by the model, never typed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FactoryDefault {
    /// Time since programming (h).
    pub retention_h: f64,
    /// Temperature during it (°C).
    pub temperature_c: f64,
    /// Program/erase cycles.
    pub pe_cycles: u32,
}

/// Loss of charge. A state `s` of `top` shifts by
/// `-A * g(s) * (1 + per_kpe * PEC/1000) * log10(1 + t_eff / (onset_h + dwell_coefficient * dwell))`
/// summed over the components, with `t_eff` the time under Arrhenius acceleration. The null is an
/// empty list of components.
#[derive(Clone, PartialEq, Debug)]
pub struct RetentionProfile {
    /// At most [`MAX_COMPONENTS`]: the late (main) one, optionally an early and a low-energy one.
    pub components: Vec<RetentionComponent>,
    /// Broadening: standard deviation added in quadrature, as a share of the state's own shift.
    pub broadening: f64,
    /// Self-recovery: hours of onset gained per hour of dwell between cycles (HeatWatch's form;
    /// null 0).
    pub dwell_coefficient: f64,
    /// How a component's shift depends on the programmed state.
    pub level_law: LevelLaw,
    /// Upward shift of the erased state, as a share of `A` per decade (null 0).
    pub erased_rise: f64,
}

/// Most retention components a chip has.
pub const MAX_COMPONENTS: usize = 3;

/// One component of the retention law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RetentionComponent {
    /// `t0` of the logarithm, hours at 25 °C.
    pub onset_h: f64,
    /// Hours at 25 °C after which it saturates; infinite for none. The logarithm becomes
    /// `log10(1 + t/onset) - log10(1 + t/saturation)`.
    pub saturation_h: f64,
    /// Arrhenius activation energy (eV).
    pub activation_energy_ev: f64,
    /// Growth per 1,000 program/erase cycles, as a share (`k_pe`).
    pub per_kpe: f64,
}

/// `g(s)` of the retention law, 1 at the top state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LevelLaw {
    /// `floor + (1 - floor) * s / top`: every programmed state falls, high ones faster.
    Linear {
        /// Value extrapolated to state 0.
        floor: f64,
    },
    /// `(s - neutral) / (top - neutral)`: states below `neutral` rise, as measured on planar TLC
    /// (Cai et al., Proc. IEEE 2017, table 5).
    AroundNeutral {
        /// The state that does not move, as a (fractional) index.
        neutral_state: f64,
    },
}

/// What program/erase cycles do. The null is all zeros.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WearProfile {
    /// Growth of every standard deviation per 1,000 cycles, as a share.
    pub sigma_per_kpe: f64,
    /// Shift of the erased state per 1,000 cycles (mV, up is positive).
    pub erased_shift_mv_per_kpe: f64,
    /// Shift of the programmed states right after programming per 1,000 cycles (mV).
    pub programmed_shift_mv_per_kpe: f64,
}

/// Read disturb. With `N_eff = N_other + adjacent_weight * N_adjacent` reads, the erased state rises
/// by `shift_mv * (1 + per_kpe * PEC/1000) * ln(1 + N_eff / onset_reads)`; a state whose mean lies
/// `d` mV above the erased one rises by `exp(-d / level_scale_mv)` of that. The null is `shift_mv = 0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DisturbProfile {
    /// Rise of the erased state per e-fold of reads (mV).
    pub shift_mv: f64,
    /// Reads at which the logarithm sets in.
    pub onset_reads: f64,
    /// Weight of a read of a neighbouring wordline against one further away.
    pub adjacent_weight: f64,
    /// Growth per 1,000 program/erase cycles, as a share.
    pub per_kpe: f64,
    /// Decay of the effect with a state's mean above the erased state's (mV).
    pub level_scale_mv: f64,
}

/// Reading at another temperature than that of programming: what the chip's own compensation
/// leaves. A state shifts by `(shift_mv_per_c + slope_mv_per_c * s/top) * (T_read - T_program)` and
/// gains a standard deviation of `sigma_mv_per_c * |T_read - T_program|` in quadrature. Null: zeros.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CrossTemperatureProfile {
    /// Common shift (mV/°C; negative: warmer reads lower).
    pub shift_mv_per_c: f64,
    /// Further shift of the top state (mV/°C).
    pub slope_mv_per_c: f64,
    /// Broadening (mV/°C).
    pub sigma_mv_per_c: f64,
}

/// The first read after idling: programmed states are seen shifted by
/// `shift_mv * (1 - exp(-idle / time_constant_s))`. The null is `shift_mv = 0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransientProfile {
    /// Shift after a long idle time (mV; negative: seen lower).
    pub shift_mv: f64,
    /// Time constant of its return (s).
    pub time_constant_s: f64,
}

/// Blocks that are bad or go bad. Null: both shares zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FailureProfile {
    /// Share of blocks that are bad from the factory.
    pub factory_bad: f64,
    /// Share of the others that have failed by the rated endurance.
    pub grown_bad: f64,
    /// Weibull shape of a block's life: above one, failures grow with wear.
    pub shape: f64,
    /// Share of failures that come in the erase and not in a program.
    pub erase_share: f64,
}

/// Systematic differences between layers. `x` runs from -1 at the first layer to 1 at the last
/// (`Linear`), or `x = 2 u^2 - 1` with `u` from -1 to 1 (`Bowed`: both ends alike, the middle the
/// other extreme). Null: zero spans, `edge_layers = 0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerProfile {
    /// Shape of the systematic profile.
    pub shape: LayerShape,
    /// Retention is multiplied by `1 + retention_span * x`.
    pub retention_span: f64,
    /// Standard deviations are multiplied by `1 + sigma_span * (x + 1) / 2`.
    pub sigma_span: f64,
    /// Programmed states are offset by `offset_span_mv * x` (mV).
    pub offset_span_mv: f64,
    /// Layers at each end of the stack that count as edge.
    pub edge_layers: u16,
    /// Retention of edge layers is multiplied by this.
    pub edge_retention_factor: f64,
    /// Standard deviations of edge layers are multiplied by this.
    pub edge_sigma_factor: f64,
}

/// Shape of the layer profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayerShape {
    /// From one extreme at the first layer to the other at the last.
    Linear,
    /// Both ends at one extreme, the middle at the other.
    Bowed,
}

/// Blocks that are only partly written: the last wordlines written lack the interference of their
/// successors. Null: zeros and `frontier_sigma_factor = 1`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OpenBlockProfile {
    /// Wordlines before the first unwritten one that differ.
    pub frontier_wordlines: u16,
    /// Their shift (mV).
    pub frontier_shift_mv: f64,
    /// Their standard deviations are multiplied by this.
    pub frontier_sigma_factor: f64,
    /// Shift of every wordline while the block is open: fewer cells of a string conduct against it
    /// (mV).
    pub open_shift_mv: f64,
}

/// Random differences, all Gaussian and drawn from counter-based streams: nothing is stored per
/// cell. Rates multiply retention; offsets move programmed states; sigmas multiply standard
/// deviations. The null is all zeros.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VariationProfile {
    /// Retention rate between chips, relative standard deviation.
    pub chip_rate: f64,
    /// Retention rate between blocks of a plane, relative standard deviation.
    pub block_rate: f64,
    /// Retention rate between wordlines of a layer, relative standard deviation.
    pub wordline_rate: f64,
    /// Retention rate of each state, independent in each block, relative standard deviation. It
    /// keeps a page's valleys from moving as one.
    pub state_rate: f64,
    /// Offset of all programmed states between chips (mV).
    pub chip_offset_mv: f64,
    /// Offset of all programmed states between blocks (mV).
    pub block_offset_mv: f64,
    /// Offset of all programmed states between wordlines (mV).
    pub wordline_offset_mv: f64,
    /// Offset of each programmed state, independent in each wordline (mV).
    pub state_offset_mv: f64,
    /// Width of the states between blocks, relative standard deviation.
    pub block_sigma: f64,
    /// Width of the states between wordlines, relative standard deviation.
    pub wordline_sigma: f64,
    /// Share of cells of a state that belong to a wider Gaussian (heavy tails; null 0).
    pub tail_fraction: f64,
    /// Width of that Gaussian relative to the state's (at least 1; ignored at a zero share).
    pub tail_sigma_ratio: f64,
}

/// Noise of a sense. Shorter phases add noise: a phase at `x` of its default adds
/// `amplitude_mv * (exp(-x m) - exp(-m))` with `m` its default length in time constants (incomplete
/// settling), in quadrature over the phases.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SensingProfile {
    /// Noise that is drawn anew at every sense of a cell: sense amplifier and random telegraph noise
    /// (mV, standard deviation). Part of `sigma_mv`; it decides how alike two senses are.
    pub noise_mv: f64,
    /// Settling of the precharge.
    pub pre: PhaseSettling,
    /// Settling of the evaluation.
    pub eval: PhaseSettling,
    /// Settling of the discharge.
    pub disch: PhaseSettling,
    /// Distance of neighbouring levels of a soft sense, per mode: as a share of the top state's
    /// fresh standard deviation.
    pub soft_spacing: f64,
}

/// Settling of one sense phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhaseSettling {
    /// Noise of a phase of zero length (mV); null 0.
    pub amplitude_mv: f64,
    /// Default length in time constants.
    pub time_constants: f64,
}

/// Durations that do not depend on the mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChipTiming {
    /// `tSET`: changing a feature, such as the sensing time (ns).
    pub set_feature_ns: u64,
    /// Changing the read levels of a die, where they are a feature too; zero where they come with each
    /// read command (ns).
    pub set_levels_ns: u64,
    /// Whether each plane has level registers of its own. Where planes share them, those that need
    /// different levels are sensed one after another.
    pub plane_levels: bool,
    /// `tRST` during a read: ending a sense that is no longer wanted (ns).
    pub reset_ns: u64,
    /// `tRCBSY`: moving a page from the page register to the cache register, before the next sense of
    /// a cache read begins and its data can be read out (ns).
    pub cache_busy_ns: u64,
    /// From a suspend command until the array is free, of a program (ns).
    pub program_suspend_ns: u64,
    /// From a suspend command until the array is free, of an erase (ns).
    pub erase_suspend_ns: u64,
    /// Added to what is left when a program or erase resumes (ns).
    pub resume_ns: u64,
    /// Times one program or erase may be suspended.
    pub max_suspends: u16,
    /// Least time a program or erase runs between a resume and the next suspend (ns).
    pub min_progress_ns: u64,
    /// Transfers per second of the channel, eight bits each (MT/s).
    pub io_mt_per_s: u32,
    /// Whether planes of a die may sense different pages at the same time, each beginning and ending
    /// by itself (independent-plane or independent-wordline read). Programs and erases take the whole
    /// die all the same.
    pub independent_plane_reads: bool,
}

/// Why a profile is not usable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// The key, as in the profile: `modes.qlc.mean_mv`.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl core::error::Error for ProfileError {}

fn bad(key: impl Into<String>, reason: impl Into<String>) -> ProfileError {
    ProfileError {
        key: key.into(),
        reason: reason.into(),
    }
}

/// Coldest and hottest temperature the laws are used at (°C).
pub const TEMPERATURE_RANGE_C: (f64, f64) = (-55.0, 150.0);

impl ChipProfile {
    /// The profile of `mode`, if the chip has it.
    pub fn mode(&self, mode: CellMode) -> Option<&ModeProfile> {
        self.modes.iter().find(|m| m.mode == mode)
    }

    /// Wordlines of a block.
    pub fn wordlines(&self) -> u32 {
        self.array.layers as u32 * self.array.strings_per_layer as u32
    }

    /// Checks every key; the error names the first that is wrong.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.name.is_empty() {
            return Err(bad("name", "is empty"));
        }
        if self.array.layers == 0 || self.array.strings_per_layer == 0 {
            return Err(bad("array", "layers and strings_per_layer are at least 1"));
        }
        if self.wordlines() > u16::MAX as u32 {
            return Err(bad("array", "more than 65,535 wordlines in a block"));
        }
        within("dac_step_mv", self.dac_step_mv, 0.1, 100.0)?;
        if self.modes.is_empty() {
            return Err(bad("modes", "the chip has no cell mode"));
        }
        if self.retention.components.len() > MAX_COMPONENTS {
            return Err(bad(
                "retention.components",
                format!(
                    "{} components, at most {MAX_COMPONENTS}",
                    self.retention.components.len()
                ),
            ));
        }
        for (i, m) in self.modes.iter().enumerate() {
            if self.modes[..i].iter().any(|o| o.mode == m.mode) {
                return Err(bad(format!("modes.{}", m.mode.name()), "appears twice"));
            }
            m.validate(self.retention.components.len())?;
        }
        let f = &self.factory_default;
        within("factory_default.retention_h", f.retention_h, 0.0, 1e6)?;
        temperature("factory_default.temperature_c", f.temperature_c)?;
        within(
            "factory_table.step_mv",
            self.factory_table.step_mv,
            0.1,
            1e3,
        )?;
        self.validate_laws()?;
        self.validate_variation()?;
        self.timing.validate()
    }

    fn validate_laws(&self) -> Result<(), ProfileError> {
        let r = &self.retention;
        for (i, c) in r.components.iter().enumerate() {
            let key = |name: &str| format!("retention.components[{i}].{name}");
            within(&key("onset_h"), c.onset_h, 1e-9, 1e6)?;
            if c.saturation_h.is_nan() || c.saturation_h <= c.onset_h {
                return Err(bad(key("saturation_h"), "must exceed onset_h"));
            }
            within(
                &key("activation_energy_ev"),
                c.activation_energy_ev,
                0.0,
                3.0,
            )?;
            within(&key("per_kpe"), c.per_kpe, 0.0, 10.0)?;
        }
        within("retention.broadening", r.broadening, 0.0, 2.0)?;
        within("retention.dwell_coefficient", r.dwell_coefficient, 0.0, 1e3)?;
        within("retention.erased_rise", r.erased_rise, -2.0, 2.0)?;
        match r.level_law {
            LevelLaw::Linear { floor } => within("retention.level_law.floor", floor, -1.0, 1.0)?,
            LevelLaw::AroundNeutral { neutral_state } => {
                for m in &self.modes {
                    let top = m.mode.states() as f64 - 1.0;
                    if !(neutral_state >= 0.0 && neutral_state < top) {
                        return Err(bad(
                            "retention.level_law.neutral_state",
                            format!(
                                "{neutral_state} is not below the top state of {}",
                                m.mode.name()
                            ),
                        ));
                    }
                }
            }
        }
        within("wear.sigma_per_kpe", self.wear.sigma_per_kpe, 0.0, 1.0)?;
        within(
            "wear.erased_shift_mv_per_kpe",
            self.wear.erased_shift_mv_per_kpe,
            -1e3,
            1e3,
        )?;
        within(
            "wear.programmed_shift_mv_per_kpe",
            self.wear.programmed_shift_mv_per_kpe,
            -1e3,
            1e3,
        )?;
        let d = &self.disturb;
        within("disturb.shift_mv", d.shift_mv, 0.0, 1e4)?;
        within("disturb.onset_reads", d.onset_reads, 1.0, 1e12)?;
        within("disturb.adjacent_weight", d.adjacent_weight, 1.0, 1e3)?;
        within("disturb.per_kpe", d.per_kpe, 0.0, 10.0)?;
        within("disturb.level_scale_mv", d.level_scale_mv, 1.0, 1e6)?;
        let x = &self.cross_temperature;
        within(
            "cross_temperature.shift_mv_per_c",
            x.shift_mv_per_c,
            -20.0,
            20.0,
        )?;
        within(
            "cross_temperature.slope_mv_per_c",
            x.slope_mv_per_c,
            -20.0,
            20.0,
        )?;
        within(
            "cross_temperature.sigma_mv_per_c",
            x.sigma_mv_per_c,
            0.0,
            20.0,
        )?;
        within("transient.shift_mv", self.transient.shift_mv, -1e3, 1e3)?;
        within(
            "transient.time_constant_s",
            self.transient.time_constant_s,
            1e-6,
            1e9,
        )?;
        let f = &self.failures;
        within("failures.factory_bad", f.factory_bad, 0.0, 0.5)?;
        within("failures.grown_bad", f.grown_bad, 0.0, 0.99)?;
        within("failures.shape", f.shape, 0.1, 50.0)?;
        within("failures.erase_share", f.erase_share, 0.0, 1.0)?;
        let l = &self.layers;
        within("layers.retention_span", l.retention_span, -0.9, 0.9)?;
        within("layers.sigma_span", l.sigma_span, -0.9, 10.0)?;
        within("layers.offset_span_mv", l.offset_span_mv, -500.0, 500.0)?;
        if l.edge_layers > self.array.layers / 2 {
            return Err(bad("layers.edge_layers", "more than half of the stack"));
        }
        within(
            "layers.edge_retention_factor",
            l.edge_retention_factor,
            0.0,
            10.0,
        )?;
        within("layers.edge_sigma_factor", l.edge_sigma_factor, 0.1, 10.0)?;
        let o = &self.open_block;
        within(
            "open_block.frontier_shift_mv",
            o.frontier_shift_mv,
            -1e3,
            1e3,
        )?;
        within(
            "open_block.frontier_sigma_factor",
            o.frontier_sigma_factor,
            0.1,
            10.0,
        )?;
        within("open_block.open_shift_mv", o.open_shift_mv, -1e3, 1e3)
    }

    fn validate_variation(&self) -> Result<(), ProfileError> {
        let v = &self.variation;
        for (key, value) in [
            ("variation.chip_rate", v.chip_rate),
            ("variation.block_rate", v.block_rate),
            ("variation.wordline_rate", v.wordline_rate),
            ("variation.state_rate", v.state_rate),
            ("variation.block_sigma", v.block_sigma),
            ("variation.wordline_sigma", v.wordline_sigma),
        ] {
            within(key, value, 0.0, 0.5)?;
        }
        for (key, value) in [
            ("variation.chip_offset_mv", v.chip_offset_mv),
            ("variation.block_offset_mv", v.block_offset_mv),
            ("variation.wordline_offset_mv", v.wordline_offset_mv),
            ("variation.state_offset_mv", v.state_offset_mv),
        ] {
            within(key, value, 0.0, 200.0)?;
        }
        within("variation.tail_fraction", v.tail_fraction, 0.0, 0.5)?;
        if v.tail_fraction > 0.0 {
            within("variation.tail_sigma_ratio", v.tail_sigma_ratio, 1.0, 5.0)?;
        }
        let s = &self.sensing;
        within("sensing.noise_mv", s.noise_mv, 0.0, 500.0)?;
        for m in &self.modes {
            if m.sigma_mv.iter().any(|&sigma| sigma <= s.noise_mv) {
                return Err(bad(
                    "sensing.noise_mv",
                    format!(
                        "is part of modes.{}.sigma_mv and must be below it",
                        m.mode.name()
                    ),
                ));
            }
        }
        for (key, phase) in [("pre", s.pre), ("eval", s.eval), ("disch", s.disch)] {
            within(
                &format!("sensing.{key}.amplitude_mv"),
                phase.amplitude_mv,
                0.0,
                1e5,
            )?;
            within(
                &format!("sensing.{key}.time_constants"),
                phase.time_constants,
                0.01,
                100.0,
            )?;
        }
        within("sensing.soft_spacing", s.soft_spacing, 0.01, 5.0)
    }
}

impl ModeProfile {
    fn validate(&self, components: usize) -> Result<(), ProfileError> {
        let mode = self.mode;
        let key = |name: &str| format!("modes.{}.{name}", mode.name());
        for (name, values) in [("mean_mv", &self.mean_mv), ("sigma_mv", &self.sigma_mv)] {
            if values.len() != mode.states() {
                return Err(bad(
                    key(name),
                    format!("{} values for {} states", values.len(), mode.states()),
                ));
            }
        }
        for s in 0..mode.states() {
            within(&key(&format!("mean_mv[{s}]")), self.mean_mv[s], -1e4, 1e4)?;
            within(&key(&format!("sigma_mv[{s}]")), self.sigma_mv[s], 1.0, 5e3)?;
            if s > 0 && self.mean_mv[s] <= self.mean_mv[s - 1] {
                return Err(bad(
                    key("mean_mv"),
                    format!("states {} and {s} are not in rising order", s - 1),
                ));
            }
        }
        if self.retention_mv_per_decade.len() != components {
            return Err(bad(
                key("retention_mv_per_decade"),
                format!(
                    "{} values for {components} retention.components",
                    self.retention_mv_per_decade.len()
                ),
            ));
        }
        for &a in &self.retention_mv_per_decade {
            within(&key("retention_mv_per_decade"), a, 0.0, 1e3)?;
        }
        crate::cell::gray::check(mode, &self.pages).map_err(|reason| bad(key("pages"), reason))?;
        if self.sentinels.len() != self.pages.len() {
            return Err(bad(
                key("sentinels"),
                format!(
                    "{} for {} page types",
                    self.sentinels.len(),
                    self.pages.len()
                ),
            ));
        }
        for (page, sentinel) in self.sentinels.iter().enumerate() {
            if !self.pages[page].contains(sentinel) {
                return Err(bad(
                    key("sentinels"),
                    format!("valley {sentinel} is not on page {page}"),
                ));
            }
        }
        if self.endurance_pe_cycles == 0 {
            return Err(bad(key("endurance_pe_cycles"), "must be above zero"));
        }
        duration(&key("setup_ns"), self.setup_ns, 0)?;
        duration(&key("sense.pre_ns"), self.sense.pre_ns, 1)?;
        duration(&key("sense.eval_ns"), self.sense.eval_ns, 1)?;
        duration(&key("sense.disch_ns"), self.sense.disch_ns, 1)?;
        match self.program {
            ProgramTiming::OneShot { wordline_ns } => {
                duration(&key("program.wordline_ns"), wordline_ns, 1)?;
            }
            ProgramTiming::TwoStep {
                first_ns,
                second_ns,
            } => {
                duration(&key("program.first_ns"), first_ns, 1)?;
                duration(&key("program.second_ns"), second_ns, 1)?;
            }
        }
        duration(&key("erase_ns"), self.erase_ns, 1)
    }
}

impl ChipTiming {
    fn validate(&self) -> Result<(), ProfileError> {
        duration("timing.set_feature_ns", self.set_feature_ns, 0)?;
        duration("timing.set_levels_ns", self.set_levels_ns, 0)?;
        if self.independent_plane_reads && !self.plane_levels {
            return Err(bad(
                "timing.plane_levels",
                "planes that read independently have level registers of their own",
            ));
        }
        duration("timing.reset_ns", self.reset_ns, 0)?;
        duration("timing.cache_busy_ns", self.cache_busy_ns, 0)?;
        duration("timing.program_suspend_ns", self.program_suspend_ns, 0)?;
        duration("timing.erase_suspend_ns", self.erase_suspend_ns, 0)?;
        duration("timing.resume_ns", self.resume_ns, 0)?;
        duration("timing.min_progress_ns", self.min_progress_ns, 0)?;
        if !(1..=100_000).contains(&self.io_mt_per_s) {
            return Err(bad(
                "timing.io_mt_per_s",
                format!("{} is outside 1..=100000", self.io_mt_per_s),
            ));
        }
        Ok(())
    }
}

fn within(key: &str, value: f64, min: f64, max: f64) -> Result<(), ProfileError> {
    if value >= min && value <= max {
        Ok(())
    } else {
        Err(bad(key, format!("{value} is outside {min}..={max}")))
    }
}

/// One hundred seconds: longer array operations are unit mistakes.
const LONGEST_NS: u64 = 100_000_000_000;

fn duration(key: &str, ns: u64, min: u64) -> Result<(), ProfileError> {
    if (min..=LONGEST_NS).contains(&ns) {
        Ok(())
    } else {
        Err(bad(
            key,
            format!("{ns} ns is outside {min}..={LONGEST_NS} ns"),
        ))
    }
}

pub(crate) fn temperature(key: &str, celsius: f64) -> Result<(), ProfileError> {
    within(key, celsius, TEMPERATURE_RANGE_C.0, TEMPERATURE_RANGE_C.1)
}
