//! Partly written blocks. The last written wordlines lack the interference that raises a wordline when the
//! following ones are programmed. Unwritten cells conduct better, so every wordline of the string reads
//! slightly lower. Null: zeros, and a factor of one.

use crate::profile::field::numbers;

numbers! {
    /// Partly written blocks: the last written wordlines lack the interference of the following ones. Null:
    /// zeros, and `frontier_sigma_factor = 1`.
    pub struct OpenBlockProfile {
        /// Number of affected wordlines before the first unwritten one.
        frontier_wordlines: u16 = "frontier_wordlines", ONE, 0, 65_535;
        /// Shift of the affected wordlines (mV).
        frontier_shift_mv: f64 = "frontier_shift", MV, -1e3, 1e3;
        /// Factor on the standard deviations of the affected wordlines.
        frontier_sigma_factor: f64 = "frontier_sigma_factor", X, 0.1, 10.0;
        /// Shift of every wordline while the block is open, because fewer cells of a string limit its current
        /// (mV).
        open_shift_mv: f64 = "open_shift", MV, -1e3, 1e3;
    }
}

/// Shift of the programmed states (mV), and factor on standard deviations, for `wordline` in a block with
/// `written` of `wordlines` wordlines programmed.
#[inline]
pub fn effect(o: &OpenBlockProfile, wordline: u16, written: u16, wordlines: u16) -> (f32, f32) {
    if written >= wordlines {
        (0.0, 1.0)
    } else {
        open(o, wordline, written)
    }
}

#[cold]
fn open(o: &OpenBlockProfile, wordline: u16, written: u16) -> (f32, f32) {
    let frontier = wordline as u32 + o.frontier_wordlines as u32 >= written as u32;
    if frontier && o.frontier_wordlines > 0 {
        (
            (o.open_shift_mv + o.frontier_shift_mv) as f32,
            o.frontier_sigma_factor as f32,
        )
    } else {
        (o.open_shift_mv as f32, 1.0)
    }
}
