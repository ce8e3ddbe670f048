//! Blocks that fail permanently: factory bad blocks, and grown bad blocks, in which a program or erase fails
//! to verify.
//!
//! The life of a block has a Weibull distribution. After `t` cycles at rated endurance `E`, a share `1 - (1 -
//! grown_bad)^((t / E)^shape)` of the initially good blocks has failed.

use alloc::boxed::Box;

use firstread_core::{BlockId, DieId, Stream};

use crate::gaussian::{Gaussian, tail_exact, tail_inverse};
use crate::place::variation::{block_key, block_rate_score, blocks};
use crate::profile::field::numbers;

numbers! {
    /// Factory and grown bad blocks. Null: both shares zero.
    pub struct FailureProfile {
        /// Share of factory bad blocks.
        factory_bad: f64 = "factory_bad", X, 0.0, 0.5;
        /// Share of the other blocks that have failed by the rated endurance.
        grown_bad: f64 = "grown_bad", X, 0.0, 0.99;
        /// Weibull shape of a block's life. Above one, failures become more frequent with wear.
        shape: f64 = "shape", X, 0.1, 50.0;
        /// Share of failures that occur in an erase rather than in a program.
        erase_share: f64 = "erase_share", X, 0.0, 1.0;
        /// Correlation of how early a block fails with how fast its cells lose charge: 0 none, 1 the fastest fails first.
        /// Of the normal scores of both (a Gaussian copula), so the shares that fail stay the same.
        cell_correlation: f64 = "cell_correlation", ONE, 0.0, 1.0;
    }
}

impl FailureProfile {
    /// Whether any block ever fails.
    pub fn is_null(&self) -> bool {
        self.factory_bad == 0.0 && self.grown_bad == 0.0
    }

    /// Share of initially good blocks that survive more than `cycles` cycles at rated endurance `endurance`.
    pub fn survival(&self, cycles: f64, endurance: f64) -> f64 {
        libm::pow(
            1.0 - self.grown_bad,
            libm::pow(cycles / endurance, self.shape),
        )
    }

    /// The survival that a block draws: `draw` between 0 and 1 if failures do not follow cells, moved by the `score` of its
    /// cells if they do. The highest fails first.
    pub fn drawn(&self, draw: f64, score: f64) -> f64 {
        let correlation = self.cell_correlation;
        if correlation == 0.0 {
            return draw;
        }
        let own = -tail_inverse(draw);
        let both = correlation * score + libm::sqrt(1.0 - correlation * correlation) * own;
        // Never 1, which would be no life at all.
        tail_exact(-both).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON)
    }

    /// Inverse of [`FailureProfile::survival`]: the cycles that a block survives with probability `survival`.
    pub fn life(&self, survival: f64, endurance: f64) -> f64 {
        if self.grown_bad == 0.0 {
            return f64::INFINITY;
        }
        let spent = libm::log(survival) / libm::log1p(-self.grown_bad);
        endurance * libm::pow(spent, 1.0 / self.shape)
    }
}

/// How fast the cells of a drive's blocks lose charge, beside those of other blocks of the chip.
#[derive(Clone, Debug)]
pub struct CellScores {
    blocks: Stream,
    gaussian: Box<Gaussian>,
}

impl CellScores {
    /// The scores of the drive whose medium is made of `seed` ([`crate::Medium::new`]).
    pub fn new(seed: u64) -> CellScores {
        CellScores {
            blocks: blocks(seed),
            gaussian: Box::default(),
        }
    }

    /// Standard normal score of block `block` of plane `plane` of `die`: the higher, the faster its cells lose charge.
    pub fn score(&self, die: DieId, plane: u8, block: BlockId) -> f64 {
        let key = block_key(self.blocks, die, plane, block);
        block_rate_score(&self.gaussian, key).into()
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    /// However failures follow cells, the share of blocks that have failed at a wear is that of the law; and the more they
    /// follow them, the worse are the cells of those that fail first.
    #[test]
    fn formula_failures_follow_cells_and_the_law() {
        let scores = CellScores::new(7);
        let s = Stream::new(3).named("lives");
        let mut means = std::vec::Vec::new();
        for cell_correlation in [0.0, 0.5, 1.0] {
            let law = FailureProfile {
                factory_bad: 0.0,
                grown_bad: 0.1,
                shape: 3.0,
                erase_share: 0.5,
                cell_correlation,
            };
            let alive = law.survival(3000.0, 3000.0);
            let (mut failed, mut sum) = (0, 0.0);
            const BLOCKS: u32 = 40_000;
            for block in 0..BLOCKS {
                let score = scores.score(DieId(1), 0, BlockId(block));
                let draw = (s.draw(block.into()) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17;
                let drawn = law.drawn(draw, score);
                if cell_correlation == 0.0 {
                    assert_eq!(drawn, draw);
                }
                if drawn >= alive {
                    failed += 1;
                    sum += score;
                }
            }
            let share = f64::from(failed) / f64::from(BLOCKS);
            assert!((share - 0.1).abs() < 0.006, "{cell_correlation}: {share}");
            means.push(sum / f64::from(failed));
        }
        // The mean of the highest tenth of normal scores is 1.755.
        assert!(means[0].abs() < 0.06, "{means:?}");
        assert!((means[1] - 0.5 * 1.755).abs() < 0.06, "{means:?}");
        assert!((means[2] - 1.755).abs() < 0.03, "{means:?}");
    }

    #[test]
    fn formula_life_is_the_inverse_of_survival() {
        let f = FailureProfile {
            factory_bad: 0.005,
            grown_bad: 0.015,
            shape: 3.0,
            erase_share: 0.5,
            cell_correlation: 0.0,
        };
        assert!((f.survival(3000.0, 3000.0) - 0.985).abs() < 1e-12);
        for cycles in [10.0, 300.0, 3000.0, 20_000.0] {
            let back = f.life(f.survival(cycles, 3000.0), 3000.0);
            assert!(
                (back / cycles - 1.0).abs() < 1e-6,
                "{cycles} comes back as {back}"
            );
        }
    }

    #[test]
    fn formula_a_block_fails_where_a_share_is_above_zero() {
        let f = |factory_bad, grown_bad| FailureProfile {
            factory_bad,
            grown_bad,
            shape: 2.0,
            erase_share: 0.5,
            cell_correlation: 0.0,
        };
        assert!(f(0.0, 0.0).is_null());
        assert!(!f(0.01, 0.0).is_null() && !f(0.0, 0.01).is_null() && !f(0.1, 0.1).is_null());
        assert_eq!(f(0.01, 0.0).life(0.5, 3000.0), f64::INFINITY);
        // At twice the rated endurance four times the exponent: 0.9^4.
        assert!((f(0.0, 0.1).survival(6000.0, 3000.0) - 0.6561).abs() < 1e-12);
        assert!((f(0.0, 0.1).life(0.6561, 3000.0) - 6000.0).abs() < 1e-6);
        assert_eq!(f(0.0, 0.1).survival(0.0, 3000.0), 1.0);
    }
}
