//! Poisson quantiles and tails.

use crate::gaussian::{Gaussian, ROUND};

/// Below this mean the distribution is summed; above it the normal expansion holds to 0.034 in score
/// between -2.5 and 4.5 (at the mean itself, and better by its square above).
const SUM_BELOW: f64 = 5.0;

/// Reciprocals of the counts that a sum can reach.
const RECIPROCAL: [f64; 96] = {
    let mut r = [0.0; 96];
    let mut n = 1;
    while n < 96 {
        r[n] = 1.0 / n as f64;
        n += 1;
    }
    r
};

/// Largest count that is told: two of them still fit their type.
const MOST: f64 = 2e9;

/// A Poisson distribution, prepared for many quantiles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson {
    mean: f64,
    /// `exp(-mean)` and zeros when sums are used, else the quantile as powers of the score, less the
    /// half that makes rounding a rounding down.
    powers: [f64; 5],
}

impl Poisson {
    /// The distribution of the given mean (not negative).
    #[inline]
    pub fn new(mean: f64) -> Poisson {
        if mean < SUM_BELOW {
            Poisson {
                mean,
                powers: [exp_minus(mean), 0.0, 0.0, 0.0, 0.0],
            }
        } else {
            let sqrt = libm::sqrt(mean);
            let r = 1.0 / sqrt;
            let r2 = r * r;
            Poisson {
                mean,
                powers: [
                    mean + (1.0 / 3.0 - 0.5) - r2 * (8.0 / 405.0),
                    sqrt - r * (1.0 / 36.0),
                    1.0 / 6.0 + r2 * (7.0 / 810.0),
                    r * (-1.0 / 72.0),
                    r2 * (1.0 / 270.0),
                ],
            }
        }
    }

    /// Its mean.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The count at the quantile of Gaussian score `z`.
    ///
    /// Above a mean of 5 the Cornish–Fisher form of Giles ("Algorithm 955: approximation of the
    /// inverse Poisson cumulative distribution function", ACM TOMS 42, 2016).
    #[inline]
    pub fn quantile(&self, gaussian: &Gaussian, z: f64) -> u32 {
        if self.mean < SUM_BELOW {
            self.sum(gaussian, z)
        } else {
            self.expand(z)
        }
    }

    /// [`Poisson::quantile`] of several scores.
    #[inline]
    pub fn quantiles<const N: usize>(&self, gaussian: &Gaussian, scores: [f32; N]) -> [u32; N] {
        if self.mean < SUM_BELOW {
            scores.map(|z| self.sum(gaussian, z as f64))
        } else {
            scores.map(|z| self.expand(z as f64))
        }
    }

    #[inline]
    fn sum(&self, gaussian: &Gaussian, z: f64) -> u32 {
        let u = gaussian.tail(-z);
        let mut p = self.powers[0];
        let (mut sum, mut n) = (p, 0);
        while sum < u && n + 1 < RECIPROCAL.len() {
            n += 1;
            p *= self.mean * RECIPROCAL[n];
            sum += p;
        }
        n as u32
    }

    #[inline]
    fn expand(&self, z: f64) -> u32 {
        let c = &self.powers;
        let x = c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * c[4])));
        let x = if x > 0.0 { x } else { 0.0 };
        let x = if x < MOST { x } else { MOST };
        (x + ROUND).to_bits() as u32
    }
}

/// `exp(-x)` for `x` from 0 to [`SUM_BELOW`], to 1e-11: a power of two and a series of what is left.
#[inline]
fn exp_minus(x: f64) -> f64 {
    let power = x * -core::f64::consts::LOG2_E + ROUND;
    let r = -x - (power - ROUND) * core::f64::consts::LN_2;
    let mut sum = 1.0;
    for n in (1..=9).rev() {
        sum = 1.0 + sum * r * RECIPROCAL[n];
    }
    let exponent = 1023i64 + (power.to_bits() as i32) as i64;
    sum * f64::from_bits((exponent as u64) << 52)
}

/// `P(N > limit)` for `N` Poisson of the given mean: the chi-square relation with Wilson and
/// Hilferty's cube root. Relative error below a few percent where it is above 1e-9.
pub fn exceeds(gaussian: &Gaussian, mean: f64, limit: u32) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let a = limit as f64 + 1.0;
    let z = 3.0 * libm::sqrt(a) * (libm::cbrt(mean / a) - 1.0 + 1.0 / (9.0 * a));
    gaussian.tail(-z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::tail_exact;

    #[test]
    fn formula_exponential_of_the_sums() {
        for i in 0..5_000 {
            let x = i as f64 * 1e-3 + 1e-7;
            let off = exp_minus(x) / libm::exp(-x) - 1.0;
            assert!(off.abs() < 2e-11, "{x}: {off:e}");
        }
    }

    /// Cumulative distribution by summation in logarithms.
    fn cdf(mean: f64, n: u32) -> f64 {
        let (mut log_p, mut sum) = (-mean, libm::exp(-mean));
        for i in 1..=n {
            log_p += libm::log(mean / i as f64);
            sum += libm::exp(log_p);
        }
        sum.min(1.0)
    }

    #[test]
    fn formula_quantile_inverts_the_distribution() {
        let g = Gaussian::new();
        for mean in [
            0.01, 0.1, 0.7, 3.0, 9.0, 11.9, 12.1, 15.0, 30.0, 70.0, 300.0, 1500.0, 5000.0,
        ] {
            let p = Poisson::new(mean);
            for i in -60..=60 {
                let z = i as f64 * 0.1 + 0.013;
                let n = p.quantile(&g, z);
                // `n` is right when `z` lies between the scores of `n - 1` and `n`, within the
                // stated error.
                let u_low = tail_exact(-(z - 0.034));
                let u_high = tail_exact(-(z + 0.034));
                if (5.0..700.0).contains(&mean) && !(-2.5..=4.5).contains(&z) {
                    // The far tails (6e-3 below, 3e-6 above) may be one count off.
                    assert!(cdf(mean, n + 1) >= u_low && (n < 2 || cdf(mean, n - 2) <= u_high));
                } else if mean < 700.0 {
                    assert!(
                        cdf(mean, n) >= u_low - 1e-12,
                        "mean {mean} z {z}: {n} too small"
                    );
                    if n > 0 {
                        assert!(
                            cdf(mean, n - 1) <= u_high + 1e-12,
                            "mean {mean} z {z}: {n} too large"
                        );
                    }
                } else {
                    let w = mean + z * libm::sqrt(mean) + (z * z + 2.0) / 6.0;
                    assert!((n as f64 - w).abs() < 2.0, "mean {mean} z {z}: {n}");
                }
            }
        }
    }

    #[test]
    fn formula_exceeds_against_the_sum() {
        let g = Gaussian::new();
        for (mean, limit) in [
            (45.0, 72),
            (55.0, 72),
            (30.0, 72),
            (72.0, 72),
            (90.0, 72),
            (5.0, 10),
        ] {
            let mut exact = 0.0;
            let mut log_p = -mean;
            for i in 1..400u32 {
                log_p += libm::log(mean / i as f64);
                if i > limit {
                    exact += libm::exp(log_p);
                }
            }
            let got = exceeds(&g, mean, limit);
            let tolerance = if exact > 1e-9 { 0.05 } else { 0.5 };
            assert!(
                (got / exact - 1.0).abs() < tolerance,
                "{mean} {limit}: {got:e} against {exact:e}"
            );
        }
    }
}
