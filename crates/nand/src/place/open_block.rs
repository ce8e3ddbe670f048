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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_the_last_written_wordlines_are_the_frontier() {
        let mut o = OpenBlockProfile {
            frontier_wordlines: 3,
            frontier_shift_mv: -15.0,
            frontier_sigma_factor: 1.25,
            open_shift_mv: -4.0,
        };
        // Of 20 wordlines 10 are written: 7, 8 and 9 lack their neighbours.
        for (wordline, expected) in [
            (0, (-4.0, 1.0)),
            (6, (-4.0, 1.0)),
            (7, (-19.0, 1.25)),
            (9, (-19.0, 1.25)),
        ] {
            assert_eq!(effect(&o, wordline, 10, 20), expected, "{wordline}");
        }
        assert_eq!(effect(&o, 18, 19, 20), (-19.0, 1.25));
        for written in [20, 21] {
            assert_eq!(effect(&o, 19, written, 20), (0.0, 1.0), "a closed block");
        }
        o.frontier_wordlines = 0;
        assert_eq!(effect(&o, 10, 10, 20), (-4.0, 1.0), "no frontier");
    }
}
