//! Blocks that fail for good: bad from the factory, or grown bad when a program or an erase in them
//! does not verify.
//!
//! A block's life is Weibull distributed: by `t` cycles of a rated endurance `E` a share
//! `1 - (1 - grown_bad)^((t / E)^shape)` of the good ones has failed.

use crate::profile::field::numbers;

numbers! {
    /// Blocks that are bad or go bad. Null: both shares zero.
    pub struct FailureProfile {
        /// Share of blocks that are bad from the factory.
        factory_bad: f64 = "factory_bad", X, 0.0, 0.5;
        /// Share of the others that have failed by the rated endurance.
        grown_bad: f64 = "grown_bad", X, 0.0, 0.99;
        /// Weibull shape of a block's life: above one, failures grow with wear.
        shape: f64 = "shape", X, 0.1, 50.0;
        /// Share of failures that come in the erase and not in a program.
        erase_share: f64 = "erase_share", X, 0.0, 1.0;
    }
}

impl FailureProfile {
    /// Whether any block ever fails.
    pub fn is_null(&self) -> bool {
        self.factory_bad == 0.0 && self.grown_bad == 0.0
    }

    /// The share of blocks, good from the factory, that live beyond `cycles` of `endurance`.
    pub fn survival(&self, cycles: f64, endurance: f64) -> f64 {
        libm::pow(
            1.0 - self.grown_bad,
            libm::pow(cycles / endurance, self.shape),
        )
    }

    /// The cycles of which a block lives beyond with probability `survival`: its inverse.
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
}
