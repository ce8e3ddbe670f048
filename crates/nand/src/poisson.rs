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
    /// Fits the coefficients at each node, once for a medium.
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

    /// Tails of the Poisson distribution, from its tables.
    #[test]
    fn formula_thresholds_have_the_tails_of_the_distribution() {
        for (mean, tails) in [
            (
                2.0,
                [
                    0.864_664_7,
                    0.593_994_2,
                    0.323_323_6,
                    0.142_876_5,
                    0.052_653_0,
                    0.016_563_6,
                ],
            ),
            (
                0.01,
                [
                    9.950_166e-3,
                    4.966_79e-5,
                    1.654_2e-7,
                    4.133e-10,
                    8.26e-13,
                    1.4e-15,
                ],
            ),
            (
                10.0,
                [
                    0.999_954_6,
                    0.999_500_6,
                    0.997_230_6,
                    0.989_663_9,
                    0.970_747_3,
                    0.932_914_0,
                ],
            ),
        ] {
            for (z, tail) in thresholds(mean).zip(tails) {
                let off = crate::gaussian::tail_exact(z) / tail - 1.0;
                assert!(
                    off.abs() < if tail < 1e-11 { 0.02 } else { 2e-4 },
                    "{mean}: {z}, {off:e}"
                );
            }
        }
    }

    #[test]
    fn formula_linear_equations_are_solved() {
        let x = [3.0, -1.0, 0.5, 2.0, -4.0];
        // A positive definite matrix: Hilbert's, with a larger diagonal.
        let mut a = [[0.0; POWERS + 1]; POWERS];
        for (i, row) in a.iter_mut().enumerate() {
            for j in 0..POWERS {
                row[j] = 1.0 / (i + j + 1) as f64 + if i == j { 1.0 } else { 0.0 };
                row[POWERS] += row[j] * x[j];
            }
        }
        for (is, expected) in solve(a).into_iter().zip(x) {
            assert!((is - expected).abs() < 1e-12, "{is}, not {expected}");
        }
    }

    /// The expansion of Giles (2016), equation for large means: mean, root, third and sixth, and terms of one over the root
    /// and over the mean.
    #[test]
    fn formula_large_means_have_the_published_expansion() {
        for mean in [16.5f64, 80.0, 1000.0, 123_456.0] {
            let p = Poisson::new(&Quantiles::new(), mean as f32);
            for w in [-4.0f64, -1.5, 0.0, 1.0, 3.0, 5.0] {
                let root = mean.sqrt();
                let first = (-w / 36.0 - w * w * w / 72.0) / root;
                let second = (-8.0 / 405.0 + 7.0 * w * w / 810.0 + w.powi(4) / 270.0) / mean;
                let exact = mean + root * w + 1.0 / 3.0 + w * w / 6.0 + first + second;
                let is: f64 = (0..POWERS)
                    .map(|k| f64::from(p.powers[k]) * w.powi(k as i32))
                    .sum();
                let off = (is + 0.5 - exact).abs();
                assert!(off < 1e-6 * exact + 2e-6, "{mean} {w}: {is}, {exact}");
            }
            // Beyond eight deviations below nothing is expanded.
            assert_eq!(p.quantile(-8.0), p.quantile(-30.0));
        }
        assert_eq!(
            Poisson::new(&Quantiles::new(), 3e6).quantile(0.0),
            MOST as u32
        );
    }

    #[test]
    fn formula_no_mean_has_no_excess() {
        let g = Gaussian::new();
        assert_eq!([0.0, -1.0].map(|mean| exceeds(&g, mean, 3)), [0.0, 0.0]);
    }
}
