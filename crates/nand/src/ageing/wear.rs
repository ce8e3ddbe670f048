//! Program/erase cycles: wider states, and shifts of where programming and erasing leave them.
//! Faster retention of worn blocks is part of the retention law. Null: zeros.

use crate::profile::WearProfile;

/// Factor on every standard deviation after `pe_cycles`.
#[inline]
pub fn sigma_factor(wear: &WearProfile, pe_cycles: u32) -> f64 {
    1.0 + wear.sigma_per_kpe * pe_cycles as f64 * 1e-3
}

/// Shift of the erased and of the programmed states after `pe_cycles` (mV).
#[inline]
pub fn shift_mv(wear: &WearProfile, pe_cycles: u32) -> (f64, f64) {
    let kpe = pe_cycles as f64 * 1e-3;
    (
        wear.erased_shift_mv_per_kpe * kpe,
        wear.programmed_shift_mv_per_kpe * kpe,
    )
}
