//! Read disturb: each read weakly programs the other wordlines of its block. The erased state is affected
//! most, and so are the neighbours of the wordline that is read (8.4 times as much, STRAW, ASPLOS'26,
//! second-hand).
//!
//! The shift is a logarithm of reads, because tunnelling slows down as the state rises. Null: `shift_mv = 0`.

use super::law::{Effect, Law, Exposure, Shares, Slopes};
use crate::profile::field::numbers;
use crate::profile::mode::ModeProfile;

numbers! {
    /// Read disturb. With `N_eff = N_other + adjacent_weight * N_adjacent` reads, the erased state rises
    /// by `shift_mv * (1 + per_kpe * PEC/1000) * ln(1 + N_eff / onset_reads)`; a state whose mean lies
    /// `d` mV above the erased one rises by `exp(-d / level_scale_mv)` of that. The null is `shift_mv = 0`.
    pub struct DisturbProfile {
        /// Rise of the erased state per e-fold increase of reads (mV).
        shift_mv: f64 = "shift", MV_PER_E, 0.0, 1e4;
        /// Number of reads at which the logarithm sets in.
        onset_reads: f64 = "onset", READS, 1.0, 1e12;
        /// Weight of a read of a neighbouring wordline relative to a read of a distant wordline.
        adjacent_weight: f64 = "adjacent_weight", X, 1.0, 1e3;
        /// Relative growth per 1,000 program/erase cycles.
        per_kpe: f64 = "per_kpe", PERCENT_PER_KPE, 0.0, 1_000.0;
        /// Decay of the effect with a state's mean above the erased state's (mV).
        level_scale_mv: f64 = "level_scale", MV, 1.0, 1e6;
    }
}

impl DisturbProfile {
    /// Reads that a wordline has suffered, in equivalent reads of distant wordlines. `reads` are spread
    /// evenly over `wordlines`; `adjacent` more reads went to its neighbours.
    #[inline]
    pub fn effective_reads(&self, reads: f64, adjacent: f64, wordlines: f64) -> f64 {
        reads * self.even_weight(wordlines) + adjacent * self.adjacent_weight
    }

    /// Weight of one read, averaged over an even spread of reads over `wordlines`.
    #[inline]
    pub fn even_weight(&self, wordlines: f64) -> f64 {
        1.0 + (self.adjacent_weight - 1.0) * 2.0 / wordlines
    }
}

impl Law for DisturbProfile {
    fn null() -> DisturbProfile {
        DisturbProfile {
            shift_mv: 0.0,
            onset_reads: 1.0,
            adjacent_weight: 1.0,
            per_kpe: 0.0,
            level_scale_mv: 1.0,
        }
    }

    #[inline]
    fn shift(&self, exposure: &Exposure, to: &mut Effect) {
        if self.shift_mv != 0.0 && exposure.reads > 0.0 {
            to.rise_mv += self.shift_mv
                * (1.0 + self.per_kpe * exposure.pe_cycles * 1e-3)
                * libm::log1p(exposure.reads / self.onset_reads);
        }
    }

    fn slope(&self, exposure: &Exposure, to: &mut Slopes) {
        to.per_read.rise_mv +=
            self.shift_mv * (1.0 + self.per_kpe * exposure.pe_cycles * 1e-3)
                / (self.onset_reads + exposure.reads);
    }

    fn shares(&self, mode: &ModeProfile, to: &mut Shares) {
        for (share, mean) in to.of_rise.iter_mut().zip(&mode.mean_mv) {
            *share += libm::exp(-(mean - mode.mean_mv[0]) / self.level_scale_mv);
        }
    }
}
