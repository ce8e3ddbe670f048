//! Persistent counts: repeated senses at the same levels see the same errors, except for sense noise.
//!
//! The cells of one codeword that lie beyond a read level form a point process along the voltage axis.
//! Measured by its own mean `m`, this is a unit-rate Poisson process. So `N(m1)` and `N(m2)` are correlated
//! by `sqrt(m1 / m2)`, which is `exp(-|ln m1 - ln m2| / 2)`. Nothing is stored: the Gaussian score `z(ln m)`
//! is a stationary process, computed from hashed Gaussians at the nodes of two grids in `ln m`, interpolated
//! and normalised. It is the same whenever it is computed.

use firstread_core::Stream;

use crate::gaussian::Gaussian;
use crate::poisson::{Poisson, Quantiles};
use crate::single::{self, inverse_root, rough_ln};

/// Start of the grids: all means below `exp(-2)` share one score.
const LN_START: f32 = -2.0;
/// Spacing of the fine grid in `ln m`.
const FINE: f32 = 0.7;
/// Nodes of the fine grid.
const FINE_NODES: usize = 20;
/// Spacing of the coarse grid in `ln m`.
const COARSE: f32 = 3.4;
/// Nodes of the coarse grid: one hash yields all.
const COARSE_NODES: usize = 4;
/// Share of the variance on the fine grid. The two spacings and this share are the least-squares
/// fit of the averaged correlation to `exp(-d/2)` over `d` in 0..4 (largest deviation 0.054, root
/// mean square 0.027).
const FINE_SHARE: f32 = 0.397;

/// Number of cell swaps by noise after which the verdict on a codeword has changed as much as its errors have
/// after one swap. Measured with individually drawn cells and the decoder
/// (`model_codewords_fail_again_as_often_as_cells`): at the same levels, second failures are as frequent as
/// with real cells for 3 to 5, and a seventh too frequent for 1.
const SWAPS: u32 = 4;

/// Processes that share words of random bits, with a field of 16 bits each.
pub const LANES: usize = 4;

/// Words that one group of processes draws: one per node, rounded up to a power of two.
const WORDS: u64 = 32;

/// A mean prepared for many codewords: its distribution, its position on the grids, and the share that each
/// sense draws anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    poisson: Poisson,
    /// Weights of the two coarse nodes, of the two fine nodes, and of the part drawn anew.
    weights: [f32; 5],
    coarse: u8,
    fine: u8,
}

impl Point {
    /// The point of mean count `mean`. A share `fresh` of the variance (0 to 1) differs between two senses at
    /// the same level.
    pub fn new(quantiles: &Quantiles, mean: f32, fresh: f32) -> Point {
        let [point, _] = Point::pair(quantiles, [mean; 2], [fresh; 2]);
        point
    }

    /// [`Point::new`] of two at once: their positions on two grids fill a vector register.
    ///
    /// The fresh part replaces fine structure first. Noise swaps the cells next to the level, and a level
    /// that moves past those cells must not lose them twice.
    #[inline(always)]
    pub(crate) fn pair(quantiles: &Quantiles, mean: [f32; 2], fresh: [f32; 2]) -> [Point; 2] {
        // Just before the end of the last interval of each grid.
        const LAST: [f32; 2] = [COARSE_NODES as f32 - 1.001, FINE_NODES as f32 - 1.001];
        let x = mean.map(|m| rough_ln(if m > 1e-6 { m } else { 1e-6 }) - LN_START);
        let fresh = fresh.map(|f| if f < 1.0 { f } else { 1.0 });
        let fine = fresh.map(|f| if f < FINE_SHARE { FINE_SHARE - f } else { 0.0 });
        let coarse = [1.0 - fresh[0] - fine[0], 1.0 - fresh[1] - fine[1]];
        // Coarse nodes, then fine nodes.
        let share = [coarse[0], coarse[1], fine[0], fine[1]];
        let each = |f: &dyn Fn(usize) -> f32| core::array::from_fn::<f32, 4, _>(f);
        let at = each(&|k| x[k % 2] * [1.0 / COARSE, 1.0 / FINE][k / 2]);
        let at = each(&|k| if at[k] > 0.0 { at[k] } else { 0.0 });
        let at = each(&|k| {
            if at[k] < LAST[k / 2] {
                at[k]
            } else {
                LAST[k / 2]
            }
        });
        // Weights of the two nearest nodes: `(1 - f, f)`, scaled so that their square sum is `share`.
        let node = each(&|k| (at[k] - 0.5) + single::ROUND);
        let f = each(&|k| at[k] - (node[k] - single::ROUND));
        let g = each(&|k| 1.0 - f[k]);
        let square = each(&|k| f[k] * f[k] + g[k] * g[k]);
        let scale = each(&|k| share[k] * inverse_root(share[k] * square[k]));
        let (a, b) = (each(&|k| g[k] * scale[k]), each(&|k| f[k] * scale[k]));
        let drawn_anew = fresh.map(|f| f * inverse_root(f));
        core::array::from_fn(|k| Point {
            poisson: Poisson::new(quantiles, mean[k]),
            weights: [a[k], b[k], a[2 + k], b[2 + k], drawn_anew[k]],
            coarse: node[k].to_bits() as u8,
            fine: node[2 + k].to_bits() as u8,
        })
    }

    /// Scores of the processes of `group` of `key`, in a sense with random bits `fresh`, a field of 16 bits
    /// per process. Scores with a draw at an end of its distribution are NaN: see [`Point::exactly`].
    #[inline(always)] // In vector registers with what comes before and after.
    pub(crate) fn scores(
        &self,
        gaussian: &Gaussian,
        key: Stream,
        group: u64,
        fresh: u64,
    ) -> [f32; LANES] {
        let words = self.words(key, group, fresh);
        let mut z = [0.0; LANES];
        for (word, weight) in words.into_iter().zip(self.weights) {
            let draws: [f32; LANES] =
                core::array::from_fn(|k| gaussian.inner_u16((word >> (16 * k)) as u16));
            z = core::array::from_fn(|k| z[k] + weight * draws[k]);
        }
        z
    }

    /// Computes the NaN scores in `scores` again, exactly.
    #[cold]
    pub(crate) fn exactly(
        self, // Were it a reference, all points would lie in memory for its sake.
        gaussian: &Gaussian,
        key: Stream,
        group: u64,
        fresh: u64,
        mut scores: [f32; LANES],
    ) -> [f32; LANES] {
        let words = self.words(key, group, fresh);
        for (lane, z) in scores.iter_mut().enumerate().filter(|(_, z)| z.is_nan()) {
            *z = self.score(gaussian, words, lane);
        }
        scores
    }

    /// Random bits of the two coarse and two fine nodes nearby, and of the sense.
    #[inline(always)]
    fn words(&self, key: Stream, group: u64, fresh: u64) -> [u64; 5] {
        let coarse = group * WORDS + self.coarse as u64;
        let fine = group * WORDS + COARSE_NODES as u64 + self.fine as u64;
        let draw = |word| key.quick(word);
        let (c0, c1, f0, f1) = (coarse, coarse + 1, fine, fine + 1);
        [draw(c0), draw(c1), draw(f0), draw(f1), fresh]
    }

    #[inline]
    fn score(&self, gaussian: &Gaussian, words: [u64; 5], lane: usize) -> f32 {
        let mut z = 0.0;
        for (word, weight) in words.into_iter().zip(self.weights) {
            z += weight * gaussian.of_u16((word >> (16 * lane)) as u16);
        }
        z
    }

    /// The counts at `scores`, as whole numbers.
    #[inline(always)]
    pub(crate) fn counts(&self, scores: [f32; LANES]) -> [f32; LANES] {
        self.poisson.quantiles(scores)
    }

    /// For each point, the score that decides whether errors can be corrected: process `lane` of its group of `key`,
    /// in a sense whose own random bits for the group are `fresh`. The score persists as the errors do while
    /// levels move, and changes as if noise had swapped cells [`SWAPS`] times.
    #[inline(always)] // Once: the steps of two points go side by side.
    pub(crate) fn scores_of_errors<const N: usize>(
        points: &[Point; N],
        gaussian: &Gaussian,
        key: Stream,
        groups: [u64; N],
        lane: usize,
        fresh: [u64; N],
    ) -> [f32; N] {
        let each = |f: &dyn Fn(usize) -> f32| core::array::from_fn::<f32, N, _>(f);
        let words: [[u64; 5]; N] =
            core::array::from_fn(|k| points[k].words(key, groups[k], fresh[k]));
        let weight = |k: usize, i: usize| points[k].weights[i];
        let draw = |k: usize, i: usize| gaussian.inner_u16((words[k][i] >> (16 * lane)) as u16);
        let mut anew = each(&|k| draw(k, 4));
        let mut score = [0.0; N];
        for i in 0..5 {
            score = each(&|k| score[k] + weight(k, i) * draw(k, i));
        }
        for k in 0..N {
            if score[k].is_nan() {
                (score[k], anew[k]) = points[k].exact_score_of_errors(gaussian, words[k], lane);
            }
        }
        let drawn_anew = each(&|k| weight(k, 4));
        let persists = each(&|k| 1.0 - drawn_anew[k] * drawn_anew[k]);
        let still = each(&|k| (0..SWAPS).map(|_| persists[k]).product());
        let kept = each(&|k| score[k] - drawn_anew[k] * anew[k]);
        each(&|k| {
            let persists = if persists[k] > 1e-3 {
                persists[k]
            } else {
                1e-3
            };
            kept[k] * inverse_root(persists) * libm::sqrtf(still[k])
                + libm::sqrtf(1.0 - still[k]) * anew[k]
        })
    }

    /// Score and fresh part for a draw at an end of its distribution.
    #[cold]
    fn exact_score_of_errors(
        &self,
        gaussian: &Gaussian,
        words: [u64; 5],
        lane: usize,
    ) -> (f32, f32) {
        let anew = gaussian.of_u16((words[4] >> (16 * lane)) as u16);
        (self.score(gaussian, words, lane), anew)
    }

    /// The count of process `process` of `key` in a sense whose own random bits for its group are
    /// `fresh`.
    pub fn count(&self, gaussian: &Gaussian, key: Stream, process: Process, fresh: u64) -> u32 {
        let words = self.words(key, process.group, fresh);
        self.poisson
            .quantile(self.score(gaussian, words, process.lane))
    }

    /// The median count: the mean within 1.
    pub(crate) fn median(&self) -> u32 {
        self.poisson.quantile(0.0)
    }
}

/// Identifies one of the processes of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process {
    /// Group of [`LANES`] processes that share words of random bits.
    pub group: u64,
    /// Index within the group, below [`LANES`].
    pub lane: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn formula_counts_together_are_those_one_by_one() {
        let (g, q) = (Gaussian::new(), Quantiles::new());
        // The ends of a Gaussian are drawn once in 512 times: many thousand times here.
        for (m, mean) in [0.02, 0.9, 4.0, 9.0, 31.0, 800.0].into_iter().enumerate() {
            let p = Point::new(&q, mean, 0.1 * m as f32);
            let key = Stream::new(m as u64).named("counts");
            for group in 0..20_000 {
                let fresh = key.at(group).bits();
                let mut scores = p.scores(&g, key, group, fresh);
                if scores.iter().any(|z| z.is_nan()) {
                    scores = p.exactly(&g, key, group, fresh, scores);
                }
                for (lane, n) in p.counts(scores).into_iter().enumerate() {
                    let one = p.count(&g, key, Process { group, lane }, fresh);
                    assert_eq!(n, one as f32, "mean {mean}, group {group}, lane {lane}");
                }
            }
        }
    }

    /// For senses at the same levels, these scores are uniform, and noise changes them as if it had swapped
    /// cells several times.
    #[test]
    fn formula_an_error_score_changes_as_by_several_swaps() {
        let (g, q) = (Gaussian::new(), Quantiles::new());
        for fresh in [0.0, 0.1, 0.3] {
            let p = Point::new(&q, 60.0, fresh);
            let key = Stream::new(8).named("fates");
            let (n, mut square, mut cross) = (40_000, 0.0, 0.0);
            for i in 0..n {
                let (group, lane) = (i / LANES as u64, i as usize % LANES);
                let fate = |sense: u64| {
                    let noise = key.named("noise").at(sense).draw(group);
                    let [fate] = Point::scores_of_errors(&[p], &g, key, [group], lane, [noise]);
                    f64::from(fate)
                };
                let (a, b) = (fate(1), fate(2));
                square += (a * a + b * b) / (2.0 * n as f64);
                cross += a * b / n as f64;
            }
            let expected = libm::pow(1.0 - f64::from(fresh), f64::from(SWAPS));
            assert!((square - 1.0).abs() < 0.03, "variance {square}");
            assert!(
                (cross - expected).abs() < 0.03,
                "fresh {fresh}: correlation {cross}, expected {expected}"
            );
        }
    }

    #[test]
    fn model_scores_are_gaussian_and_correlated_as_a_poisson_process() {
        let (g, q) = (Gaussian::new(), Quantiles::new());
        let n = 60_000u64;
        let mean = |i| libm::exp(0.2 * i as f64) as f32;
        let points: Vec<Point> = (0..29).map(|i| Point::new(&q, mean(i), 0.0)).collect();
        let mut moments = std::vec![[0.0f64; 2]; points.len()];
        let mut cross = std::vec![std::vec![0.0f64; points.len()]; points.len()];
        let root = Stream::new(3);
        let mut z = std::vec![0.0; points.len()];
        for i in 0..n {
            let (group, lane) = (i / 4, i as usize % 4);
            for (a, p) in points.iter().enumerate() {
                z[a] = p.score(&g, p.words(root, group, 0), lane) as f64;
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
        // Averaged over the position of the pair on the grid.
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

    /// Shares of the variance of a score: what is drawn anew comes from the fine grid first.
    #[test]
    fn formula_weights_share_the_variance_of_a_score() {
        let q = Quantiles::new();
        for (fresh, fine) in [
            (0.0, 0.397),
            (0.1, 0.297),
            (0.397, 0.0),
            (0.6, 0.0),
            (1.0, 0.0),
            (1.5, 0.0),
        ] {
            let anew = f64::min(fresh, 1.0);
            for i in 0..200 {
                let mean = libm::exp(-4.0 + f64::from(i) * 0.08) as f32;
                let p = Point::new(&q, mean, fresh as f32);
                let [a, b, c, d, e] = p.weights.map(f64::from);
                let shares = [a * a + b * b, c * c + d * d, e * e];
                let expected = [1.0 - anew - fine, fine, anew];
                for (share, expected) in shares.into_iter().zip(expected) {
                    assert!(
                        (share - expected).abs() < 1e-4,
                        "{mean} {fresh}: {shares:?}"
                    );
                }
                // Where the mean lies between its nodes: the grids begin at exp(-2), 0.7 and 3.4 apart.
                let at = (libm::log(f64::from(mean)) + 2.0).max(0.0);
                let places = [
                    (3.4, 2.999, p.coarse, [a, b], shares[0]),
                    (0.7, 18.999, p.fine, [c, d], shares[1]),
                ];
                for (spacing, last, node, [low, high], share) in places {
                    let place = f64::min(at / spacing, last);
                    if share > 1e-3 {
                        let is = f64::from(node) + high / (low + high);
                        assert!((is - place).abs() < 3e-3, "{mean} {fresh}: {is}, {place}");
                    }
                }
            }
        }
    }

    /// Points at neighbouring nodes have a word in common, and no group has one of another's.
    #[test]
    fn formula_words_are_those_of_the_two_nodes_nearby() {
        let q = Quantiles::new();
        let key = Stream::new(6);
        let at = |ln: f64| Point::new(&q, libm::exp(ln) as f32, 0.1);
        let words = |ln: f64, group| at(ln).words(key, group, 77);
        // Between coarse nodes 0 and 1, and 1 and 2; between fine nodes 4 and 5, 5 and 6.
        let (low, high) = (words(-2.0 + 3.1, 5), words(-2.0 + 3.7, 5));
        assert_eq!(low[1], high[0], "coarse");
        assert_eq!(low[3], high[2], "fine");
        assert_eq!((low[4], high[4]), (77, 77), "a sense's own");
        let mut seen = std::collections::BTreeMap::new();
        for group in 0..40 {
            for step in 0..200 {
                for word in &words(-2.0 + 0.07 * f64::from(step), group)[..4] {
                    assert_eq!(*seen.entry(*word).or_insert(group), group);
                }
            }
        }
        // All nodes, and those after the last interval of each grid.
        assert_eq!(seen.len(), 40 * (COARSE_NODES + FINE_NODES));
        assert_eq!(
            words(-9.0, 5),
            words(-2.5, 5),
            "small means share one score"
        );
    }

    #[test]
    fn formula_the_median_of_a_point_is_its_mean_within_one() {
        let q = Quantiles::new();
        for mean in [3.0, 20.0, 64.0, 500.0] {
            let median = Point::new(&q, mean, 0.2).median();
            assert!(median.abs_diff(mean as u32) <= 1, "{mean}: {median}");
        }
    }
}
