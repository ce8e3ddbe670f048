//! Blocks that fail permanently: factory bad blocks, and grown bad blocks, in which a program or erase fails
//! to verify.
//!
//! The life of a block has a Weibull distribution. After `t` cycles at rated endurance `E`, a share `1 - (1 -
//! grown_bad)^((t / E)^shape)` of the initially good blocks has failed.

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

    /// Inverse of [`FailureProfile::survival`]: the cycles that a block survives with probability `survival`.
    pub fn life(&self, survival: f64, endurance: f64) -> f64 {
        if self.grown_bad == 0.0 {
            return f64::INFINITY;
        }
        let spent = libm::log(survival) / libm::log1p(-self.grown_bad);
        endurance * libm::pow(spent, 1.0 / self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_life_is_the_inverse_of_survival() {
        let f = FailureProfile {
            factory_bad: 0.005,
            grown_bad: 0.015,
            shape: 3.0,
            erase_share: 0.5,
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
