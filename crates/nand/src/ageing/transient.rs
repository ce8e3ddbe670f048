//! The first read after idling: the floating channel of a string settles over seconds to minutes,
//! and a first read sees the programmed states shifted until reads have settled it again.
//! An exponential approach; amplitude and time constant are the profile's. Null: `shift_mv = 0`.

use crate::profile::TransientProfile;

/// Shift of the programmed states after `idle_s` seconds without a read (mV).
#[inline]
pub fn shift_mv(t: &TransientProfile, idle_s: f64) -> f64 {
    if t.shift_mv == 0.0 || idle_s <= 0.0 {
        return 0.0;
    }
    t.shift_mv * -libm::expm1(-idle_s / t.time_constant_s)
}
