//! Reading at another temperature than that of programming: threshold voltage and cell current
//! depend on temperature, and the chip compensates only part of it. Linear in the difference; the
//! spread of cells' coefficients broadens the states. Null: zeros.

use crate::profile::CrossTemperatureProfile;

/// Shift per °C of each of `states` states (mV); the erased state moves like the lowest.
pub fn shift_mv_per_c(x: &CrossTemperatureProfile, states: usize) -> [f64; 16] {
    let mut out = [0.0; 16];
    let top = states as f64 - 1.0;
    for (s, o) in out.iter_mut().enumerate().take(states) {
        *o = x.shift_mv_per_c + x.slope_mv_per_c * s as f64 / top;
    }
    out
}

/// Broadening at a difference of `delta_c` (mV, standard deviation).
#[inline]
pub fn sigma_mv(x: &CrossTemperatureProfile, delta_c: f64) -> f64 {
    x.sigma_mv_per_c * delta_c.abs()
}
