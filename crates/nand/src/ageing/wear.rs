//! Wear by program/erase cycles: states become wider, and programming and erasing leave them at shifted
//! voltages. Faster retention loss of worn blocks is part of the retention law. Null: zeros.

use super::law::{Effect, Law, Exposure};
use crate::profile::field::numbers;

numbers! {
    /// Wear by program/erase cycles. Null: zeros.
    pub struct WearProfile {
        /// Relative growth of every standard deviation per 1,000 cycles.
        sigma_per_kpe: f64 = "sigma_per_kpe", PERCENT_PER_KPE, 0.0, 100.0;
        /// Shift of the erased state per 1,000 cycles (mV; positive is up).
        erased_shift_mv_per_kpe: f64 = "erased_shift", MV_PER_KPE, -1e3, 1e3;
        /// Shift of the freshly programmed states per 1,000 cycles (mV).
        programmed_shift_mv_per_kpe: f64 = "programmed_shift", MV_PER_KPE, -1e3, 1e3;
    }
}

impl Law for WearProfile {
    fn null() -> WearProfile {
        WearProfile {
            sigma_per_kpe: 0.0,
            erased_shift_mv_per_kpe: 0.0,
            programmed_shift_mv_per_kpe: 0.0,
        }
    }

    #[inline]
    fn shift(&self, exposure: &Exposure, to: &mut Effect) {
        to.widening += self.sigma_per_kpe * exposure.pe_cycles * 1e-3;
        let kpe = exposure.pe_cycles * 1e-3;
        to.shift_mv[0] += self.erased_shift_mv_per_kpe * kpe;
        to.shift_mv[1] += self.programmed_shift_mv_per_kpe * kpe;
    }
}
