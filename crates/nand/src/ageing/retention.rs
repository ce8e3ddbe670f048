//! Loss of charge: the logarithm of stress time, steeper for high states, worn and slow-dwelling
//! blocks.
//!
//! `shift(s) = -A_c g(s) (1 + k_c PEC/1000) log10(1 + t / (t0_c + a dwell))`, summed over components
//! `c`; `t` in hours at 25 °C by Arrhenius. The form and its parameters for charge trap are a
//! project prototype that reproduces published first-failure times; the dwell term is HeatWatch's
//! (unverified recollection of its form). Electrons lost by statistically independent cells also
//! broaden a state: the profile's share of the shift, in quadrature.
//!
//! Null: no components.

use firstread_core::CellMode;

use crate::profile::{ChipProfile, LevelLaw, MAX_COMPONENTS, ModeProfile, RetentionComponent};

/// The time part of the law.
#[derive(Clone, Debug)]
pub struct Retention {
    components: [Option<RetentionComponent>; MAX_COMPONENTS],
    dwell_coefficient: f64,
}

impl Retention {
    /// Compiles the law.
    pub fn new(chip: &ChipProfile) -> Retention {
        let mut components = [None; MAX_COMPONENTS];
        for (slot, c) in components.iter_mut().zip(&chip.retention.components) {
            *slot = Some(*c);
        }
        Retention {
            components,
            dwell_coefficient: chip.retention.dwell_coefficient,
        }
    }

    /// Decades of each component after `stress_h` hours at 25 °C, times its wear factor. `dwell_h`
    /// is the time at 25 °C between the block's last cycles.
    #[inline]
    pub fn decades(
        &self,
        stress_h: &[f64; MAX_COMPONENTS],
        pe_cycles: u32,
        dwell_h: f64,
    ) -> [f64; MAX_COMPONENTS] {
        let mut decades = [0.0; MAX_COMPONENTS];
        let kpe = pe_cycles as f64 * 1e-3;
        for ((out, c), &t) in decades.iter_mut().zip(&self.components).zip(stress_h) {
            let Some(c) = c else { break };
            let onset = c.onset_h + self.dwell_coefficient * dwell_h;
            let mut l = libm::log10(1.0 + t / onset);
            if c.saturation_h.is_finite() {
                l -= libm::log10(1.0 + t / c.saturation_h.max(onset));
            }
            *out = (1.0 + c.per_kpe * kpe) * l;
        }
        decades
    }

    /// How fast the decades of each component grow, per hour at 25 °C; saturation is left out.
    pub fn decades_per_h(
        &self,
        stress_h: &[f64; MAX_COMPONENTS],
        pe_cycles: u32,
        dwell_h: f64,
    ) -> [f64; MAX_COMPONENTS] {
        let mut slope = [0.0; MAX_COMPONENTS];
        let kpe = pe_cycles as f64 * 1e-3;
        for ((out, c), &t) in slope.iter_mut().zip(&self.components).zip(stress_h) {
            let Some(c) = c else { break };
            let onset = c.onset_h + self.dwell_coefficient * dwell_h;
            *out = (1.0 + c.per_kpe * kpe) * core::f64::consts::LOG10_E / (onset + t);
        }
        slope
    }
}

/// `g(s)` of a mode, 1 at the top state; the erased state is not on it.
pub fn level(law: LevelLaw, mode: CellMode, state: usize) -> f64 {
    let top = mode.states() as f64 - 1.0;
    let s = state as f64;
    match law {
        LevelLaw::Linear { floor } => floor + (1.0 - floor) * s / top,
        LevelLaw::AroundNeutral { neutral_state } => (s - neutral_state) / (top - neutral_state),
    }
}

/// Shift of each state of a mode per decade of component `c` (mV; down is negative).
pub fn per_decade(chip: &ChipProfile, mode: &ModeProfile, c: usize) -> [f64; 16] {
    let a = mode.retention_mv_per_decade.get(c).copied().unwrap_or(0.0);
    let mut out = [0.0; 16];
    out[0] = a * chip.retention.erased_rise;
    for (s, o) in out.iter_mut().enumerate().take(mode.mode.states()).skip(1) {
        *o = -a * level(chip.retention.level_law, mode.mode, s);
    }
    out
}
