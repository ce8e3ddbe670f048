//! Poisson quantiles and tails.

use crate::gaussian::Gaussian;

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

/// A Poisson distribution, prepared for many quantiles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson {
    mean: f64,
    sqrt: f64,
    /// `exp(-mean)` when sums are used, else `1 / sqrt`.
    aux: f64,
}

impl Poisson {
    /// The distribution of the given mean (not negative).
    #[inline]
    pub fn new(mean: f64) -> Poisson {
        if mean < SUM_BELOW {
            Poisson {
                mean,
                sqrt: 0.0,
                aux: libm::exp(-mean),
            }
        } else {
            let sqrt = libm::sqrt(mean);
            Poisson {
                mean,
                sqrt,
                aux: 1.0 / sqrt,
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
            let u = gaussian.tail(-z);
            let (mut p, mut sum, mut n) = (self.aux, self.aux, 0);
            while sum < u && n + 1 < RECIPROCAL.len() {
                n += 1;
                p *= self.mean * RECIPROCAL[n];
                sum += p;
            }
            return n as u32;
        }
        let z2 = z * z;
        let x = self.mean
            + self.sqrt * z
            + (1.0 / 3.0 + z2 * (1.0 / 6.0))
            + self.aux
                * (z * (-1.0 / 36.0 - z2 * (1.0 / 72.0))
                    + self.aux * (-8.0 / 405.0 + z2 * (7.0 / 810.0) + z2 * z2 * (1.0 / 270.0)));
        if x > 0.0 { x as u32 } else { 0 }
    }
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
