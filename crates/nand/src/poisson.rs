//! Poisson quantiles and tails.

use crate::gaussian::{Gaussian, tail_inverse};
use crate::single::{self, rounded};

/// Powers of the score in a quantile.
const POWERS: usize = 5;

/// Steps of the table of means per octave, as mantissa bits.
const STEP_BITS: u32 = 3;
/// Octaves of the table: from `2^-24`, below which the count is taken as zero, to 16, above which the normal
/// expansion is used.
const FIRST_OCTAVE: u32 = 127 - 24;
const LAST_OCTAVE: u32 = 127 + 4;
const NODES: usize = ((LAST_OCTAVE - FIRST_OCTAVE) << STEP_BITS) as usize + 1;
/// Bits of a mean below the node index.
const BETWEEN_BITS: u32 = 23 - STEP_BITS;

/// Largest count returned: two such counts are still rounded correctly by [`single::ROUND`].
const MOST: f32 = 2_000_000.0;

/// Quantiles of small means, fitted once.
///
/// `N >= n` if the Gaussian score is above `z_n`, where `P(N >= n) = Q(z_n)`. At each node a polynomial of
/// fourth degree in the score is fitted to `n` at all `z_n` up to 6. Nodes are an eighth of an octave apart,
/// and the polynomials are interpolated linearly in the mean between them. The count is the integer part. Its
/// thresholds are accurate to 0.01 in score up to 5.
#[derive(Clone, Debug)]
pub struct Quantiles {
    /// Coefficients, less the one half that turns rounding into rounding down; then the lowest score for
    /// which they hold. At and below that score the count is zero.
    nodes: [[f32; 8]; NODES],
}

impl Quantiles {
    /// Fits them.
    pub fn new() -> Quantiles {
        let mut nodes = [[0.0; 8]; NODES];
        for (i, node) in nodes.iter_mut().enumerate() {
            let bits = (FIRST_OCTAVE << 23) + ((i as u32) << BETWEEN_BITS);
            let (c, least) = fit(f32::from_bits(bits) as f64);
            for (to, from) in node.iter_mut().zip(c) {
                *to = from as f32;
            }
            node[0] -= 0.5;
            node[POWERS] = least as f32;
        }
        Quantiles { nodes }
    }
}

impl Default for Quantiles {
    fn default() -> Self {
        Self::new()
    }
}

/// Scores above which `N >= 1`, `N >= 2`, ... for a mean that is not large.
fn thresholds(mean: f64) -> impl Iterator<Item = f64> {
    let (mut p, mut below, mut n) = (libm::exp(-mean), 0.0, 0.0);
    core::iter::from_fn(move || {
        below += p;
        n += 1.0;
        p *= mean / n;
        if below < 0.5 {
            return Some(-tail_inverse(below));
        }
        // Summed from here on, which is exact, unlike `1 - below`.
        let (mut sum, mut term, mut k) = (0.0, p, n);
        while term > sum * 1e-17 {
            sum += term;
            k += 1.0;
            term *= mean / k;
        }
        Some(tail_inverse(sum))
    })
}

/// The polynomial of a mean, and the lowest score for which it holds.
fn fit(mean: f64) -> ([f64; POWERS], f64) {
    /// Unit of the scores, chosen so that the equations are well conditioned.
    const UNIT: f64 = 4.0;
    /// End of the fit, and the score beyond which it has less weight.
    const REACH: [f64; 2] = [6.0, 5.0];
    let mut a = [[0.0; POWERS + 1]; POWERS];
    let mut all = thresholds(mean);
    let mut z = all.next().unwrap_or(0.0);
    let least = z - 0.3;
    let mut gap_before = None;
    for n in 1..100 {
        let next = all.next().unwrap_or(z);
        let gap = next - z;
        // An error of the count is weighted as the error of score that it causes.
        let slope = gap_before.map_or(gap, |before: f64| 0.5 * (before + gap));
        let weight = slope * slope * if z < REACH[1] { 1.0 } else { 0.1 };
        let mut powers = [1.0; 2 * POWERS];
        for k in 1..2 * POWERS {
            powers[k] = powers[k - 1] * z / UNIT;
        }
        for (i, row) in a.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().take(POWERS).enumerate() {
                *cell += weight * powers[i + j];
            }
            row[POWERS] += weight * powers[i] * n as f64;
        }
        if z > REACH[0] && n > POWERS {
            break;
        }
        (z, gap_before) = (next, Some(gap));
    }
    let mut c = solve(a);
    let mut unit = 1.0;
    for c in &mut c {
        *c *= unit;
        unit /= UNIT;
    }
    (c, least)
}

/// Solves linear equations (right-hand side last) by elimination. They come from a fit and are positive
/// definite.
fn solve(mut a: [[f64; POWERS + 1]; POWERS]) -> [f64; POWERS] {
    for i in 0..POWERS {
        let pivot = a[i];
        for row in &mut a[i + 1..] {
            let factor = row[i] / pivot[i];
            for (cell, p) in row.iter_mut().zip(pivot).skip(i) {
                *cell -= factor * p;
            }
        }
    }
    let mut x = [0.0; POWERS];
    for i in (0..POWERS).rev() {
        let known: f64 = (i + 1..POWERS).map(|j| a[i][j] * x[j]).sum();
        x[i] = (a[i][POWERS] - known) / a[i][i];
    }
    x
}

/// A Poisson distribution, prepared for many quantiles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson {
    /// The quantile as a polynomial in the score, less one half.
    powers: [f32; POWERS],
    /// The lowest score for which the polynomial holds.
    least: f32,
}

impl Poisson {
    /// The distribution with the given mean, which is not negative. For a mean below `2^-24` the count is
    /// always zero.
    #[inline(always)]
    pub fn new(quantiles: &Quantiles, mean: f32) -> Poisson {
        let bits = mean.to_bits().wrapping_sub(FIRST_OCTAVE << 23);
        let at = (bits >> BETWEEN_BITS) as usize;
        let Some([low, high]) = quantiles.nodes.get(at..at.wrapping_add(2)) else {
            return Poisson::far(mean);
        };
        const SCALE: f32 = 1.0 / (1u32 << BETWEEN_BITS) as f32;
        let f = (bits & ((1 << BETWEEN_BITS) - 1)) as i32 as f32 * SCALE;
        let node: [f32; 8] = core::array::from_fn(|k| low[k] + f * (high[k] - low[k]));
        let [c0, c1, c2, c3, c4, least, ..] = node;
        Poisson {
            powers: [c0, c1, c2, c3, c4],
            least,
        }
    }

    /// Means outside the table. For large ones the Cornish–Fisher form of Giles ("Algorithm 955:
    /// approximation of the inverse Poisson cumulative distribution function", ACM TOMS 42, 2016).
    #[inline(never)]
    fn far(mean: f32) -> Poisson {
        if mean.is_nan() || mean < 1.0 {
            return Poisson::default();
        }
        let mean = mean.min(MOST);
        let sqrt = libm::sqrtf(mean);
        let r = 1.0 / sqrt;
        let r2 = r * r;
        Poisson {
            powers: [
                mean + (1.0 / 3.0 - 0.5) - r2 * (8.0 / 405.0),
                sqrt - r * (1.0 / 36.0),
                1.0 / 6.0 + r2 * (7.0 / 810.0),
                r * (-1.0 / 72.0),
                r2 * (1.0 / 270.0),
            ],
            least: -8.0,
        }
    }

    /// The counts at the quantiles of Gaussian scores `z`, as whole numbers up to 2,000,000.
    #[inline(always)] // In vector registers with what comes before and after.
    pub(crate) fn quantiles<const N: usize>(&self, z: [f32; N]) -> [f32; N] {
        let c = &self.powers;
        z.map(|z| {
            let z = if z > self.least { z } else { self.least };
            let x = c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * c[4])));
            let x = if x > 0.0 { x } else { 0.0 };
            let x = if x < MOST { x } else { MOST };
            (x + single::ROUND) - single::ROUND
        })
    }

    /// The count at the quantile of Gaussian score `z`.
    #[inline]
    pub fn quantile(&self, z: f32) -> u32 {
        let [n] = self.quantiles([z]);
        rounded(n)
    }
}

/// `P(N > limit)` for Poisson `N` with the given mean: the chi-square relation with Wilson and Hilferty's
/// cube root. The relative error is below a few percent if the result is above 1e-9.
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

    /// Error in score of the step from `n - 1` to `n`.
    fn off(p: &Poisson, z: f64, n: u32) -> f64 {
        let (mut low, mut high) = (z - 0.5, z + 0.5);
        for _ in 0..30 {
            let mid = 0.5 * (low + high);
            if p.quantile(mid as f32) >= n {
                high = mid;
            } else {
                low = mid;
            }
        }
        (low - z).abs()
    }

    #[test]
    fn formula_quantile_steps_where_the_distribution_does() {
        let q = Quantiles::new();
        let mut worst = [0.0f64; 3];
        // At nodes, between nodes, and in the expansion.
        for i in 0..1_500 {
            let mean = libm::exp2(-23.9 + i as f64 * 0.0193) as f32;
            let p = Poisson::new(&q, mean);
            let region = if mean < 4.0 {
                0
            } else {
                1 + (mean >= 16.0) as usize
            };
            for (n, z) in (1..).zip(thresholds(mean as f64)) {
                // Tail probability errors of the expansion: 3e-6 above, 1e-3 below.
                let [low, high] = if region < 2 { [-5.0, 5.0] } else { [-3.0, 4.5] };
                if z > high {
                    break;
                }
                if z > low {
                    worst[region] = worst[region].max(off(&p, z, n));
                }
            }
        }
        std::println!(
            "below 4: {:.4}, below 16: {:.4}, above: {:.4}",
            worst[0],
            worst[1],
            worst[2]
        );
        assert!(worst[0] < 0.005 && worst[1] < 0.01 && worst[2] < 0.02);
    }

    #[test]
    fn formula_quantile_has_the_mean_and_never_falls() {
        let q = Quantiles::new();
        for mean in [
            0.0, 1e-9, 1e-5, 0.01, 0.7, 3.3, 15.9, 16.1, 70.0, 1500.0, 150_000.0,
        ] {
            let p = Poisson::new(&q, mean);
            let (mut sum, mut last, n) = (0.0, 0, 200_000);
            for i in 0..n {
                let z = -tail_inverse((i as f64 + 0.5) / n as f64);
                let count = p.quantile(z as f32);
                assert!(count >= last, "mean {mean} at {z}");
                (sum, last) = (sum + count as f64, count);
            }
            let off = sum / n as f64 - mean as f64;
            assert!(
                off.abs() < 1e-3 * mean as f64 + 1e-5,
                "mean {mean}: {off:e}"
            );
        }
        for mean in [f32::NAN, -1.0] {
            assert_eq!(Poisson::new(&q, mean).quantile(5.0), 0);
        }
        assert_eq!(Poisson::new(&q, 1e30).quantile(5.0), MOST as u32);
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
