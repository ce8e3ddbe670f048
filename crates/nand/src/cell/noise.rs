//! Sense noise, and the additional noise of short senses.

use firstread_core::SenseTiming;

use crate::profile::error::ProfileError;
use crate::profile::field::{Field, Numbers, Source, numbers, path, table, unit};

/// Sense noise. Shorter phases add noise by incomplete settling: a phase at `x` of its default length adds
/// `amplitude_mv * (exp(-x m) - exp(-m))`, where `m` is its default length in time constants. The phases add
/// in quadrature.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SensingProfile {
    /// Noise that is drawn again for every sense of a cell: sense amplifier noise and random telegraph noise
    /// (mV, standard deviation). It is part of `sigma_mv` and determines how much two senses have in common.
    pub noise_mv: f64,
    /// Settling of the precharge.
    pub pre: PhaseSettling,
    /// Settling of the evaluation.
    pub eval: PhaseSettling,
    /// Settling of the discharge.
    pub disch: PhaseSettling,
    /// Distance between neighbouring levels of a soft sense, per mode, as a share of the top state's fresh
    /// standard deviation.
    pub soft_spacing: f64,
}

numbers! {
    /// Settling of one sense phase.
    pub struct PhaseSettling {
        /// Noise of a phase of zero length (mV); null 0.
        amplitude_mv: f64 = "amplitude", MV, 0.0, 1e5;
        /// Default length in time constants.
        time_constants: f64 = "time_constants", ONE, 0.01, 100.0;
    }
}

/// Noise of a default sense.
pub(crate) const NOISE: Field = Field::new("noise", unit::MV, 0.0, 500.0);
const SOFT_SPACING: Field = Field::new("soft_spacing", unit::X, 0.01, 5.0);

impl Numbers for SensingProfile {
    fn read(from: &dyn Source) -> SensingProfile {
        SensingProfile {
            noise_mv: from.number(&NOISE),
            pre: table(from, "pre", PhaseSettling::read),
            eval: table(from, "eval", PhaseSettling::read),
            disch: table(from, "disch", PhaseSettling::read),
            soft_spacing: from.number(&SOFT_SPACING),
        }
    }

    fn check(&self, table: &str) -> Result<(), ProfileError> {
        NOISE.check(table, self.noise_mv)?;
        for (key, phase) in [
            ("pre", self.pre),
            ("eval", self.eval),
            ("disch", self.disch),
        ] {
            phase.check(&path(table, key))?;
        }
        SOFT_SPACING.check(table, self.soft_spacing)
    }
}

/// Variance of the noise that a shortened sense adds (mV squared).
///
/// A node that settles with time constant `T` is still off by `exp(-t / T)` of its swing after time `t`. A
/// phase cut to `x` of its default length adds the difference to the default. That precharge has slack and
/// evaluation has none (AR², ASPLOS'21) is an unverified recollection; the profile gives the amplitudes.
#[inline]
pub fn extra_variance(s: &SensingProfile, t: SenseTiming) -> f32 {
    if t == SenseTiming::DEFAULT {
        0.0
    } else {
        short_sense_variance(s, t)
    }
}

#[cold]
fn short_sense_variance(s: &SensingProfile, t: SenseTiming) -> f32 {
    let phase = |p: &PhaseSettling, permille: u16| {
        let x = permille as f64 * 1e-3;
        if x >= 1.0 {
            return 0.0;
        }
        p.amplitude_mv * (libm::exp(-x * p.time_constants) - libm::exp(-p.time_constants))
    };
    let (a, b, c) = (
        phase(&s.pre, t.pre_permille),
        phase(&s.eval, t.eval_permille),
        phase(&s.disch, t.disch_permille),
    );
    (a * a + b * b + c * c) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    /// Variances of ct-a by the formula at the top: precharge 200 mV at 6 time constants, evaluation 400 mV at 1.5, discharge
    /// 150 mV at 2.
    #[test]
    fn formula_short_phases_add_their_variances() {
        let s = reference::ct_a().sensing;
        let of = |pre_permille, eval_permille, disch_permille| {
            let timing = SenseTiming {
                pre_permille,
                eval_permille,
                disch_permille,
            };
            f64::from(extra_variance(&s, timing))
        };
        let exp = libm::exp;
        let pre = 200.0 * (exp(-3.0) - exp(-6.0));
        let eval = 400.0 * (exp(-1.2) - exp(-1.5));
        let disch = 150.0 * (exp(-1.8) - exp(-2.0));
        for (is, expected) in [
            (of(500, 1000, 1000), pre * pre),
            (of(1000, 800, 1000), eval * eval),
            (of(1000, 1000, 900), disch * disch),
            (of(500, 800, 900), pre * pre + eval * eval + disch * disch),
        ] {
            assert!((is / expected - 1.0).abs() < 1e-6, "{is}, not {expected}");
        }
        assert_eq!(
            (of(1000, 1000, 1000), of(1200, 1000, 1000)),
            (0.0, 0.0),
            "longer adds nothing"
        );
        let late = of(1200, 800, 1000);
        assert!((late / (eval * eval) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn formula_numbers_of_a_sense_are_in_their_ranges() {
        type Break = fn(&mut SensingProfile);
        let cases: [(&str, Break); 5] = [
            ("sensing.noise", |s| s.noise_mv = -1.0),
            ("sensing.pre.amplitude", |s| s.pre.amplitude_mv = -1.0),
            ("sensing.eval.time_constants", |s| {
                s.eval.time_constants = 0.0
            }),
            ("sensing.disch.amplitude", |s| s.disch.amplitude_mv = 1e6),
            ("sensing.soft_spacing", |s| s.soft_spacing = 0.0),
        ];
        for (key, spoil) in cases {
            let mut s = reference::ct_a().sensing;
            assert_eq!(s.check("sensing"), Ok(()));
            spoil(&mut s);
            assert_eq!(s.check("sensing").map_err(|e| e.key), Err(key.into()));
        }
    }
}
