//! Retention: charge loss proportional to the logarithm of stress time. It is faster for high states and worn
//! blocks, and slower after long dwell times.
//!
//! `shift(s) = -A_c g(s) (1 + k_c PEC/1000) log10(1 + t / (t0_c + a dwell))`, summed over components `c`,
//! with `t` in hours at 25 °C by Arrhenius. The form and its parameters for charge trap come from a prototype
//! of this project that reproduces published first-failure times. The dwell term is HeatWatch's (unverified
//! recollection of its form). Cells lose electrons independently of each other, which broadens a state: a
//! share of the shift, given by the profile, is added in quadrature.
//!
//! Null: no components.

use alloc::vec::Vec;

use firstread_core::CellMode;

use super::law::{Effect, Law, Exposure, MAX_COMPONENTS, Shares, Slopes};
use crate::profile::error::{ProfileError, Reason, bad};
use crate::profile::field::{
    Field, Numbers, Source, choose, numbers, optional, path, unit,
};
use crate::profile::mode::ModeProfile;

/// Retention loss. A state `s` of `top` shifts by `-A * g(s) * (1 + per_kpe * PEC/1000) * log10(1 + t_eff /
/// (onset_h + dwell_coefficient * dwell))`, summed over the components. `t_eff` is the time under Arrhenius
/// acceleration. Null: no components.
#[derive(Clone, PartialEq, Debug)]
pub struct RetentionProfile {
    /// The components, in the order of `Component`, each at most once.
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

/// Names of the possible retention components, in the order in which the medium uses them.
const COMPONENTS: [&str; MAX_COMPONENTS] = ["late", "early", "low_energy"];

numbers! {
    /// One component of the retention law.
    pub struct RetentionComponent {
        [key name: "Which it is: `late`, `early` or `low_energy`."]
        /// `t0` of the logarithm, hours at 25 °C.
        onset_h: f64 = "onset", H, 1e-9, 1e6;
        /// Hours at 25 °C after which the component saturates; infinite for none. The logarithm becomes
        /// `log10(1 + t/onset) - log10(1 + t/saturation)`.
        saturation_h: f64 = "saturation", H, 1e-9, 1e12, or none;
        /// Arrhenius activation energy (eV).
        activation_energy_ev: f64 = "activation_energy", EV, 0.0, 3.0;
        /// Relative growth per 1,000 program/erase cycles (`k_pe`).
        per_kpe: f64 = "per_kpe", PERCENT_PER_KPE, 0.0, 1_000.0;
    }
}

/// `g(s)` of the retention law, 1 at the top state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LevelLaw {
    /// `floor + (1 - floor) * s / top`: every programmed state falls, high states faster.
    Linear {
        /// Value extrapolated to state 0.
        floor: f64,
    },
    /// `(s - neutral) / (top - neutral)`: states below `neutral` rise, as measured on planar TLC
    /// (Cai et al., Proc. IEEE 2017, table 5).
    AroundNeutral {
        /// Index of the state that does not move; may be fractional.
        neutral_state: f64,
    },
}

impl LevelLaw {
    fn read(from: &dyn Source) -> LevelLaw {
        let linear = choose(
            from,
            "level_law",
            &[("linear", true), ("around-neutral", false)],
        );
        if linear {
            let floor = from.number(&FLOOR);
            LevelLaw::Linear { floor }
        } else {
            let neutral_state = from.number(&NEUTRAL);
            LevelLaw::AroundNeutral { neutral_state }
        }
    }

    /// `g(s)` in `mode`, 1 at the top state; not defined for the erased state.
    pub fn of(self, mode: CellMode, state: usize) -> f64 {
        let top = mode.states() as f64 - 1.0;
        let s = state as f64;
        match self {
            LevelLaw::Linear { floor } => floor + (1.0 - floor) * s / top,
            LevelLaw::AroundNeutral { neutral_state } => {
                (s - neutral_state) / (top - neutral_state)
            }
        }
    }
}

const BROADENING: Field = Field::new("broadening", unit::X, 0.0, 2.0);
const DWELL: Field = Field::new("dwell_coefficient", unit::X, 0.0, 1e3);
const FLOOR: Field = Field::new("floor", unit::X, -1.0, 1.0);
const NEUTRAL: Field = Field::new("neutral_state", unit::ONE, 0.0, 15.0);
const ERASED_RISE: Field = Field::new("erased_rise", unit::X, -2.0, 2.0);

impl RetentionProfile {
    /// Names of the components.
    pub fn names(&self) -> Vec<&'static str> {
        self.components.iter().map(|c| c.name).collect()
    }
}

impl Numbers for RetentionProfile {
    fn read(from: &dyn Source) -> RetentionProfile {
        let components = COMPONENTS.iter().filter_map(|&name| {
            let read = |from: &dyn Source| RetentionComponent {
                name,
                ..RetentionComponent::read(from)
            };
            optional(from, name, read)
        });
        RetentionProfile {
            components: components.collect(),
            broadening: from.number(&BROADENING),
            dwell_coefficient: from.number(&DWELL),
            level_law: LevelLaw::read(from),
            erased_rise: from.number(&ERASED_RISE),
        }
    }

    fn check(&self, table: &str) -> Result<(), ProfileError> {
        if self.components.len() > MAX_COMPONENTS {
            let (given, most) = (self.components.len(), MAX_COMPONENTS);
            return Err(bad(table, Reason::Components { given, most }));
        }
        for c in &self.components {
            let at = path(table, c.name);
            if c.saturation_h.is_nan() || c.saturation_h <= c.onset_h {
                return Err(bad(
                    path(&at, "saturation"),
                    Reason::Rule("must exceed onset_h"),
                ));
            }
            c.check(&at)?;
        }
        BROADENING.check(table, self.broadening)?;
        DWELL.check(table, self.dwell_coefficient)?;
        match self.level_law {
            LevelLaw::Linear { floor } => FLOOR.check(table, floor)?,
            LevelLaw::AroundNeutral { neutral_state } => NEUTRAL.check(table, neutral_state)?,
        }
        ERASED_RISE.check(table, self.erased_rise)
    }
}

/// Wear factor, hours and onset of a component after `exposure`.
#[inline]
fn moment(
    profile: &RetentionProfile,
    c: &RetentionComponent,
    exposure: &Exposure,
    i: usize,
) -> (f64, f64, f64) {
    let kpe = exposure.pe_cycles * 1e-3;
    let onset = c.onset_h + profile.dwell_coefficient * exposure.dwell_h;
    (1.0 + c.per_kpe * kpe, exposure.stress_h[i], onset)
}

impl Law for RetentionProfile {
    fn null() -> RetentionProfile {
        RetentionProfile {
            components: Vec::new(),
            broadening: 0.0,
            dwell_coefficient: 0.0,
            level_law: LevelLaw::Linear { floor: 0.0 },
            erased_rise: 0.0,
        }
    }

    #[inline]
    fn shift(&self, exposure: &Exposure, to: &mut Effect) {
        for (i, c) in self.components.iter().enumerate().take(MAX_COMPONENTS) {
            let (wear, t, onset) = moment(self, c, exposure, i);
            let mut l = libm::log10(1.0 + t / onset);
            if c.saturation_h.is_finite() {
                // Dwell moves the onset, which may pass the saturation. Without the bound the loss would then be
                // negative.
                l -= libm::log10(1.0 + t / c.saturation_h.max(onset));
            }
            to.decades[i] += wear * l;
        }
    }

    fn slope(&self, exposure: &Exposure, to: &mut Slopes) {
        for (i, c) in self.components.iter().enumerate().take(MAX_COMPONENTS) {
            let (wear, t, onset) = moment(self, c, exposure, i);
            let mut l = wear * core::f64::consts::LOG10_E / (onset + t);
            if c.saturation_h.is_finite() {
                l -= wear * core::f64::consts::LOG10_E / (c.saturation_h.max(onset) + t);
            }
            to.per_h[i].decades[i] += l;
        }
    }

    fn shares(&self, mode: &ModeProfile, to: &mut Shares) {
        for (per_decade, a) in to.per_decade.iter_mut().zip(&mode.retention_mv_per_decade) {
            per_decade[0] += a * self.erased_rise;
            let programmed = per_decade.iter_mut().enumerate().take(mode.mode.states());
            for (s, shift) in programmed.skip(1) {
                *shift += -a * self.level_law.of(mode.mode, s);
            }
        }
    }

    fn suits(&self, table: &str, modes: &[ModeProfile]) -> Result<(), ProfileError> {
        let LevelLaw::AroundNeutral { neutral_state } = self.level_law else {
            return Ok(());
        };
        let reaches = |m: &&ModeProfile| neutral_state >= m.mode.states() as f64 - 1.0;
        let Some(m) = modes.iter().find(reaches) else {
            return Ok(());
        };
        Err(bad(
            path(table, NEUTRAL.key),
            Reason::Neutral {
                state: neutral_state,
                mode: m.mode,
            },
        ))
    }
}
