//! Single-precision arithmetic that vectorizes: no branch, no call.

/// Adding this constant rounds a number below 2^22 to an integer, which is then in the low bits. This is
/// cheaper than a cast, which saturates.
pub(crate) const ROUND: f32 = 12_582_912.0;

/// An integer at or next to `x`, whose magnitude is below 2^22.
#[inline(always)]
pub(crate) fn rounded(x: f32) -> u32 {
    (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits())
}

/// `n` as a float, for `n` with a magnitude up to 2^22.
#[inline(always)]
pub(crate) fn number(n: i32) -> f32 {
    f32::from_bits(ROUND.to_bits().wrapping_add_signed(n)) - ROUND
}

/// `1 / sqrt(x)` of positive `x` to 1e-6: a start value from the exponent, and two Newton steps with the
/// constants of Moroz et al. ("Fast calculation of inverse square root with the use of magic constant",
/// 2016). For zero the result is a large number.
#[inline(always)]
pub(crate) fn inverse_root(x: f32) -> f32 {
    let half = 0.5 * x;
    let y = f32::from_bits(0x5f37_6908 - (x.to_bits() >> 1));
    let y = y * (1.500_878_9 - half * y * y);
    y * (1.500_000_6 - half * y * y)
}

/// Natural logarithm of a positive `x` to 1e-3.
#[inline(always)]
pub(crate) fn rough_ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let m = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    // Cubic in the mantissa: exact log2 at 1 and 2, least squares between them.
    let p = (m - 1.0) * (1.420_86 + (m - 1.0) * (-0.577_25 + (m - 1.0) * 0.156_39));
    (number(exponent) + p) * core::f32::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_roots_and_logarithms_against_the_library() {
        for i in 0..200_000 {
            let x = libm::exp(-20.0 + i as f64 * 2.5e-4) as f32;
            let off = inverse_root(x) as f64 * libm::sqrt(x as f64) - 1.0;
            assert!(off.abs() < 1e-6, "1 / sqrt({x}): {off:e}");
            let off = rough_ln(x) as f64 - libm::log(x as f64);
            assert!(off.abs() < 1e-3, "ln({x}): {off:e}");
        }
        assert_eq!(0.0 * inverse_root(0.0), 0.0);
    }

    #[test]
    fn formula_integers_there_and_back() {
        for n in [-4_000_000, -127, -1, 0, 1, 9_216, 2_000_000, 4_000_000] {
            assert_eq!(number(n), n as f32);
            assert_eq!(rounded(n as f32) as i32, n);
        }
    }
}
