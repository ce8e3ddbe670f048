//! Cross-temperature: reading at another temperature than the programming temperature. Threshold voltage and
//! cell current depend on temperature, and the chip compensates only part of it. The shift is linear in the
//! difference. Cells have different coefficients, which broadens the states. Null: zeros.

use super::law::{Effect, Law, Exposure, Shares};
use crate::profile::field::numbers;
use crate::profile::mode::ModeProfile;

numbers! {
    /// Cross-temperature effects that remain after the chip's own compensation. A state shifts by
    /// `(shift_mv_per_c + slope_mv_per_c * s/top) * (T_read - T_program)` and gains a standard deviation of
    /// `sigma_mv_per_c * |T_read - T_program|` in quadrature. Null: zeros.
    pub struct CrossTemperatureProfile {
        /// Common shift (mV/°C; negative: warmer reads lower).
        shift_mv_per_c: f64 = "shift", MV_PER_DEGC, -20.0, 20.0;
        /// Additional shift of the top state (mV/°C).
        slope_mv_per_c: f64 = "slope", MV_PER_DEGC, -20.0, 20.0;
        /// Broadening (mV/°C).
        sigma_mv_per_c: f64 = "sigma", MV_PER_DEGC, 0.0, 20.0;
    }
}

impl Law for CrossTemperatureProfile {
    fn null() -> CrossTemperatureProfile {
        CrossTemperatureProfile {
            shift_mv_per_c: 0.0,
            slope_mv_per_c: 0.0,
            sigma_mv_per_c: 0.0,
        }
    }

    #[inline]
    fn shift(&self, exposure: &Exposure, to: &mut Effect) {
        to.delta_c += exposure.delta_c;
        let sigma_mv = self.sigma_mv_per_c * exposure.delta_c.abs();
        to.variance += sigma_mv * sigma_mv;
    }

    /// The erased state moves like the lowest programmed state.
    fn shares(&self, mode: &ModeProfile, to: &mut Shares) {
        let states = mode.mode.states();
        let top = states as f64 - 1.0;
        for (s, share) in to.mv_per_c.iter_mut().enumerate().take(states) {
            *share += self.shift_mv_per_c + self.slope_mv_per_c * s as f64 / top;
        }
    }
}
