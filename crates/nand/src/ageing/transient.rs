//! First read after idling: the floating channel of a string settles over seconds to minutes. The first read
//! after a pause sees the programmed states shifted, until further reads have settled the channel. The shift
//! approaches its limit exponentially; the profile gives amplitude and time constant. Null: `shift_mv = 0`.

use super::law::{Effect, Law, Exposure, Slopes};
use crate::profile::field::numbers;

numbers! {
    /// First read after idling: programmed states appear shifted by `shift_mv * (1 - exp(-idle /
    /// time_constant_s))`. Null: `shift_mv = 0`.
    pub struct TransientProfile {
        /// Shift after a long idle time (mV; negative: states appear lower).
        shift_mv: f64 = "shift", MV, -1e3, 1e3;
        /// Time constant with which the shift returns (s).
        time_constant_s: f64 = "time_constant", S, 1e-6, 1e9;
    }
}

impl Law for TransientProfile {
    fn null() -> TransientProfile {
        TransientProfile {
            shift_mv: 0.0,
            time_constant_s: 1.0,
        }
    }

    #[inline]
    fn shift(&self, exposure: &Exposure, to: &mut Effect) {
        if self.shift_mv != 0.0 && exposure.idle_s > 0.0 {
            to.shift_mv[1] += self.shift_mv * -libm::expm1(-exposure.idle_s / self.time_constant_s);
        }
    }

    fn slope(&self, exposure: &Exposure, to: &mut Slopes) {
        if self.shift_mv != 0.0 {
            let left = libm::exp(-exposure.idle_s / self.time_constant_s);
            to.per_idle_s.shift_mv[1] += self.shift_mv * left / self.time_constant_s;
        }
    }
}
