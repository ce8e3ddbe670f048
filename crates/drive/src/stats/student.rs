//! Quantiles of Student's t distribution: the width of an interval whose variance is itself an estimate.

/// Confidence level of a two-sided interval.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The quantile of the normal distribution, in standard deviations.
    pub normal: f64,
    /// Quantiles for one and two degrees of freedom, for which the expansion does not hold.
    one: f64,
    two: f64,
}

/// 95 %.
pub const P95: Level = Level {
    normal: 1.959_964,
    one: 12.706_205,
    two: 4.302_653,
};
/// 99 %.
pub const P99: Level = Level {
    normal: 2.575_829,
    one: 63.656_741,
    two: 9.924_843,
};

/// Half-width, in standard errors, of an interval at `level` with `degrees` degrees of freedom: Cornish and
/// Fisher's expansion to the fourth order (Abramowitz and Stegun, 26.7.5). The error is within 0.2 % at 95 %
/// and 1 % at 99 % from three degrees on; exact for one and two.
pub fn student(level: Level, degrees: f64) -> f64 {
    if degrees < 1.5 {
        return level.one;
    }
    if degrees < 2.5 {
        return level.two;
    }
    let (n, z2) = (degrees, level.normal * level.normal);
    let first = (z2 + 1.0) / 4.0;
    let second = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let fourth = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0;
    level.normal * (1.0 + (first + (second + (third + fourth / n) / n) / n) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_quantiles_are_those_of_the_tables() {
        for (level, within, table) in [
            (
                P95,
                2e-3,
                [
                    (1, 12.706),
                    (2, 4.303),
                    (3, 3.182),
                    (4, 2.776),
                    (5, 2.571),
                    (9, 2.262),
                    (30, 2.042),
                ],
            ),
            (
                P99,
                1e-2,
                [
                    (1, 63.657),
                    (2, 9.925),
                    (3, 5.841),
                    (4, 4.604),
                    (8, 3.355),
                    (18, 2.878),
                    (38, 2.712),
                ],
            ),
        ] {
            for (degrees, t) in table {
                let of = student(level, f64::from(degrees));
                assert!((of / t - 1.0).abs() < within, "{degrees}: {of} for {t}");
            }
        }
    }

    /// The truncation error of the expansion is small and known. A wrong coefficient would show as a
    /// different distance from the exact quantiles, which are given to seven digits.
    #[test]
    fn formula_expansion_is_as_far_from_quantiles_as_its_order_is() {
        for (level, degrees, quantile, apart) in [
            (P95, 3.0, 3.182_446_3, -1_203.3e-6),
            (P95, 4.0, 2.776_445_1, -310.8e-6),
            (P95, 6.0, 2.446_911_9, -43.9e-6),
            (P95, 10.0, 2.228_138_9, -3.6e-6),
            (P99, 4.0, 4.604_094_9, -2_196.4e-6),
            (P99, 10.0, 3.169_272_7, -28.8e-6),
        ] {
            let found = student(level, degrees) / quantile - 1.0;
            assert!((found - apart).abs() < 5e-7, "{degrees}: {found}");
        }
    }
}
