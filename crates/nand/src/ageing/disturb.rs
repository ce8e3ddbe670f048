//! Read disturb: each read weakly programs the other wordlines of its block, the erased state first
//! and the neighbours of the wordline read most (8.4 times as much, STRAW, ASPLOS'26, second-hand).
//!
//! A logarithm of reads, as tunnelling slows while the state rises. Null: `shift_mv = 0`.

use crate::profile::{DisturbProfile, ModeProfile};

/// Reads a wordline has suffered, in reads of a wordline that is not its neighbour. `reads` are
/// spread evenly over `wordlines`; `adjacent` more went to its neighbours.
#[inline]
pub fn effective_reads(d: &DisturbProfile, reads: f64, adjacent: f64, wordlines: f64) -> f64 {
    reads * even_weight(d, wordlines) + adjacent * d.adjacent_weight
}

/// What a read that is one of many spread evenly over `wordlines` counts for.
#[inline]
pub fn even_weight(d: &DisturbProfile, wordlines: f64) -> f64 {
    1.0 + (d.adjacent_weight - 1.0) * 2.0 / wordlines
}

/// Rise of the erased state (mV).
#[inline]
pub fn erased_rise_mv(d: &DisturbProfile, effective_reads: f64, pe_cycles: u32) -> f64 {
    if d.shift_mv == 0.0 || effective_reads <= 0.0 {
        return 0.0;
    }
    d.shift_mv
        * (1.0 + d.per_kpe * pe_cycles as f64 * 1e-3)
        * libm::log1p(effective_reads / d.onset_reads)
}

/// How fast the erased state rises (mV per effective read).
pub fn rise_mv_per_read(d: &DisturbProfile, effective_reads: f64, pe_cycles: u32) -> f64 {
    d.shift_mv * (1.0 + d.per_kpe * pe_cycles as f64 * 1e-3) / (d.onset_reads + effective_reads)
}

/// Share of the erased state's rise that each state of a mode takes.
pub fn share(d: &DisturbProfile, mode: &ModeProfile) -> [f64; 16] {
    let mut out = [0.0; 16];
    for (o, mean) in out.iter_mut().zip(&mode.mean_mv) {
        *o = libm::exp(-(mean - mode.mean_mv[0]) / d.level_scale_mv);
    }
    out
}
