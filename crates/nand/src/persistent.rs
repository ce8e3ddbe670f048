//! Counts that do not re-roll their dice.
//!
//! The cells of one codeword that lie beyond a read level form a point process along the voltage
//! axis. Measured by its own mean `m` it is a unit-rate Poisson process, so `N(m1)` and `N(m2)` are
//! correlated by `sqrt(m1 / m2)`, that is `exp(-|ln m1 - ln m2| / 2)`. Nothing is stored: the Gaussian
//! score `z(ln m)` is a stationary process made of hashed Gaussians at the nodes of two grids in
//! `ln m`, interpolated and normalised, so that it is the same whenever it is asked.

use firstread_core::Stream;

use crate::gaussian::Gaussian;
use crate::poisson::Poisson;

/// Where the grids start: means below `exp(-2)` share one score.
const LN_START: f32 = -2.0;
/// Spacing of the fine grid in `ln m`.
const FINE: f32 = 0.7;
/// Nodes of the fine grid.
const FINE_NODES: usize = 20;
/// Spacing of the coarse grid in `ln m`.
const COARSE: f32 = 3.4;
/// Nodes of the coarse grid: one hash.
const COARSE_NODES: usize = 4;
/// Share of the variance on the fine grid. The two spacings and this share are the least-squares
/// fit of the averaged correlation to `exp(-d/2)` over `d` in 0..4 (largest deviation 0.054, root
/// mean square 0.027).
const FINE_SHARE: f32 = 0.397;

/// Words of random bits that one process draws, rounded up to a power of two.
const WORDS: u64 = 8;

/// A mean, prepared for many codewords: its distribution, its place on the grids, and how much of it
/// is drawn anew by each sense.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    poisson: Poisson,
    fine: u8,
    coarse: u8,
    fine_weight: [f32; 2],
    coarse_weight: [f32; 2],
    fresh_weight: f32,
}

/// Positions told apart between two nodes.
const PLACES: usize = 128;

/// Weights of the two nodes around a position, of unit square sum: `(1 - f, f)` normalised, by `f` in
/// steps of 1/128.
const WEIGHTS: [[f32; 2]; PLACES] = {
    let mut w = [[0.0; 2]; PLACES];
    let mut i = 0;
    while i < PLACES {
        let f = i as f64 / PLACES as f64;
        let square = f * f + (1.0 - f) * (1.0 - f);
        // Newton's iteration; constants have no square root.
        let (mut root, mut n) = (1.0, 0);
        while n < 8 {
            root = 0.5 * (root + square / root);
            n += 1;
        }
        w[i] = [((1.0 - f) / root) as f32, (f / root) as f32];
        i += 1;
    }
    w
};

/// Interval and weights of `x` on a grid, scaled to the square sum `share`.
#[inline]
fn place(x: f32, spacing: f32, nodes: usize, share: f32) -> (u8, [f32; 2]) {
    /// Rounds as [`crate::gaussian::ROUND`] does.
    const ROUND: f32 = 12_582_912.0;
    let last = (PLACES * (nodes - 1) - 1) as f32;
    let at = x * (PLACES as f32 / spacing);
    let at = if at > 0.0 { at } else { 0.0 };
    let at = if at < last { at } else { last };
    let place = (at + ROUND).to_bits() as u16 as usize;
    let [a, b] = WEIGHTS[place % PLACES];
    let scale = libm::sqrtf(share);
    ((place / PLACES) as u8, [a * scale, b * scale])
}

/// Natural logarithm of a positive `x` to 1e-3: the grid needs no more.
#[inline]
fn rough_ln(x: f64) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000) as f32;
    // Cubic through log2 of the mantissa at 1 and 2, least squares between.
    let p = (m - 1.0) * (1.420_86 + (m - 1.0) * (-0.577_25 + (m - 1.0) * 0.156_39));
    (exponent as f32 + p) * core::f32::consts::LN_2
}

impl Point {
    /// The point of mean count `mean`, of which a share `fresh` of the variance (0 to 1) differs
    /// between two senses at the same level.
    ///
    /// The fresh part takes the place of fine structure first: the cells that noise swaps are those
    /// next to the level, and a level that moves past them does not lose them twice.
    #[inline]
    pub fn new(mean: f64, fresh: f64) -> Point {
        let x = rough_ln(mean.max(1e-6)) - LN_START;
        let fresh = (fresh as f32).clamp(0.0, 1.0);
        let fine_share = (FINE_SHARE - fresh).max(0.0);
        let (fine, fine_weight) = place(x, FINE, FINE_NODES, fine_share);
        let coarse_share = 1.0 - fresh - fine_share;
        let (coarse, coarse_weight) = place(x, COARSE, COARSE_NODES, coarse_share);
        Point {
            poisson: Poisson::new(mean),
            fine,
            coarse,
            fine_weight,
            coarse_weight,
            fresh_weight: libm::sqrtf(fresh),
        }
    }

    /// Its mean count.
    pub const fn mean(&self) -> f64 {
        self.poisson.mean()
    }

    /// The persistent part of the score of process `process` of `key` here; the fresh part makes its
    /// variance one.
    #[inline]
    pub fn score(&self, gaussian: &Gaussian, key: Stream, process: u64) -> f32 {
        self.sum(self.fields(key, process), |bits| gaussian.of_u16(bits))
    }

    #[inline]
    fn sum(&self, fields: [u16; 4], draw: impl Fn(u16) -> f32) -> f32 {
        let [c0, c1, f0, f1] = fields.map(draw);
        self.coarse_weight[0] * c0
            + self.coarse_weight[1] * c1
            + (self.fine_weight[0] * f0 + self.fine_weight[1] * f1)
    }

    /// Random bits of the nodes around here, two coarse and two fine.
    #[inline(always)] // In the loop over codewords its constants stay in registers.
    fn fields(&self, key: Stream, process: u64) -> [u16; 4] {
        let base = process * WORDS;
        let coarse = key.draw(base) >> (16 * (self.coarse & 3));
        let word = base + 1 + (self.fine as u64 >> 2);
        let fine = key.draw(word) >> (16 * (self.fine & 3));
        // The second node is the next field, of the next word after the fourth.
        let next = if self.fine & 3 == 3 {
            key.draw(word + 1)
        } else {
            fine >> 16
        };
        [
            coarse as u16,
            (coarse >> 16) as u16,
            fine as u16,
            next as u16,
        ]
    }

    /// A whole score with a draw at an end of its distribution.
    #[cold]
    fn score_exactly(&self, gaussian: &Gaussian, key: Stream, process: u64, fresh: u16) -> f32 {
        self.score(gaussian, key, process) + self.fresh_weight * gaussian.of_u16(fresh)
    }

    /// The count of process `process` of `key` in a sense whose own Gaussian is `fresh`.
    pub fn count(&self, gaussian: &Gaussian, key: Stream, process: u64, fresh: f32) -> u32 {
        let z = self.score(gaussian, key, process) + self.fresh_weight * fresh;
        self.poisson.quantile(gaussian, z as f64)
    }

    /// [`Point::count`] of processes two apart from `first` on, one for the Gaussian of each of
    /// `fresh`.
    pub fn counts<const N: usize>(
        &self,
        gaussian: &Gaussian,
        key: Stream,
        first: u64,
        fresh: [u16; N],
    ) -> [u32; N] {
        let scores = core::array::from_fn(|i| {
            let process = first + 2 * i as u64;
            let fields = self.fields(key, process);
            let z = self.sum(fields, |bits| gaussian.inner_u16(bits))
                + self.fresh_weight * gaussian.inner_u16(fresh[i]);
            if z.is_nan() {
                self.score_exactly(gaussian, key, process, fresh[i])
            } else {
                z
            }
        });
        self.poisson.quantiles(gaussian, scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn formula_counts_together_are_those_one_by_one() {
        let g = Gaussian::new();
        // The ends of a Gaussian are drawn once in 512: many thousand times here.
        for (m, mean) in [0.02, 0.9, 4.0, 9.0, 31.0, 800.0].into_iter().enumerate() {
            let p = Point::new(mean, 0.1 * m as f64);
            let key = Stream::new(m as u64).named("counts");
            for i in 0..20_000 {
                let fresh = [0, 1, 2, 3].map(|k| key.draw(4 * i + k) as u16);
                let together = p.counts(&g, key, 8 * i, fresh);
                for (k, n) in (0..).zip(together) {
                    let one = p.count(&g, key, 8 * i + 2 * k, g.of_u16(fresh[k as usize]));
                    assert_eq!(n, one, "mean {mean}, process {}", 8 * i + 2 * k);
                }
            }
        }
    }

    #[test]
    fn model_scores_are_gaussian_and_correlated_as_a_poisson_process() {
        let g = Gaussian::new();
        let n = 60_000u64;
        let means: Vec<f64> = (0..29).map(|i| libm::exp(0.2 * i as f64)).collect();
        let points: Vec<Point> = means.iter().map(|&m| Point::new(m, 0.0)).collect();
        let mut moments = std::vec![[0.0f64; 2]; points.len()];
        let mut cross = std::vec![std::vec![0.0f64; points.len()]; points.len()];
        let root = Stream::new(3);
        let mut z = std::vec![0.0; points.len()];
        for i in 0..n {
            let key = root.at(i);
            for (a, p) in points.iter().enumerate() {
                z[a] = p.score(&g, key, 0) as f64;
                moments[a][0] += z[a];
                moments[a][1] += z[a] * z[a];
            }
            for a in 0..z.len() {
                for b in 0..=a {
                    cross[a][b] += z[a] * z[b];
                }
            }
        }
        for m in &moments {
            assert!((m[0] / n as f64).abs() < 0.02);
            assert!((m[1] / n as f64 - 1.0).abs() < 0.03, "{}", m[1] / n as f64);
        }
        // Averaged over where on the grid the pair lies.
        for lag in 0..21 {
            let pairs: Vec<f64> = (lag..z.len())
                .map(|a| cross[a][a - lag] / n as f64)
                .collect();
            let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
            let exact = libm::exp(-0.1 * lag as f64);
            std::println!(
                "ln ratio {:.1}: {mean:.3} (process {exact:.3})",
                0.2 * lag as f64
            );
            assert!(
                (mean - exact).abs() < 0.1,
                "lag {lag}: {mean} against {exact}"
            );
        }
    }
}
