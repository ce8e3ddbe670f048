//! One score for the errors of a soft-read codeword.
//!
//! The outcome of soft decoding depends on how many bits of each reliability class are wrong, and on how many
//! are merely unreliable: three numbers with three senses per level, five numbers with five. Tables over so
//! many numbers are hard to measure and to look up, and they are not needed. Wrong bits hurt the decoder in
//! proportion to its trust in them. Unreliable bits hurt because they correct nothing. The two losses
//! multiply:
//!
//! `score = Σ trust(c) · errors(c) · exp(Σ loss(c) · right(c) / bits of the codeword)`
//!
//! with the wrong bits and the right bits of each class. The constants are fitted to the decoder of
//! [`crate::ldpc`]: with them, the logit of its failure probability, as a function of this score alone, has
//! the highest likelihood over random counts. The counts come from two Gaussian states; in half of the
//! samples every count is changed by up to a quarter. With three senses, half of the codewords fail at the
//! same score within 0.3 %, for both codes and for any distance of the outer levels (0.2 to 0.8 standard
//! deviations). For five senses the fit used outer pairs at 0.28 to 0.5 standard deviations and at twice that
//! distance. The remaining difference between score and measurement is 0.2 in the logit with three senses and
//! 0.3 with five (root mean square, including measurement noise): a factor of 1.2 to 1.4 in the failure
//! probability. So one table, measured with three senses, serves all.

/// Bits and errors of a codeword by reliability class; class 0 is the most reliable. The hard decision is
/// that of the middle sense. With three senses per level, a bit is in class 1 if its cell lies between the
/// outer two. With five, it is in class 2 between the inner pair of outer levels, and in class 1 between the
/// outer pair otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SoftWeights {
    /// Number of classes: 1 for a hard read, 2 for three senses, 3 for five.
    pub classes: u8,
    /// Bits in error, by class.
    pub errors: [u32; 3],
    /// Bits, right or wrong, by class; for a soft read they add up to all bits of the codeword.
    pub bits: [u32; 3],
}

/// Cost of the bits of each class to the decoder.
struct Law {
    /// Cost of a wrong bit, in strong errors of a three-sense read.
    trust: [f64; 3],
    /// Cost of the share of right bits of a codeword that lie in the class, in the logarithm of the score.
    loss: [f64; 3],
}

const THREE: Law = Law {
    trust: [1.0, 0.2, 0.0],
    loss: [0.0, 6.88, 0.0],
};
const FIVE: Law = Law {
    trust: [0.963, 0.404, 0.164],
    loss: [0.0, 2.05, 9.2],
};

impl SoftWeights {
    /// A hard read with `weight` errors.
    pub const fn hard(weight: u32) -> SoftWeights {
        SoftWeights {
            classes: 1,
            errors: [weight, 0, 0],
            bits: [weight, 0, 0],
        }
    }

    /// Total number of errors: those of a hard read at the middle level.
    pub const fn hard_errors(&self) -> u32 {
        self.errors[0]
            .saturating_add(self.errors[1])
            .saturating_add(self.errors[2])
    }

    /// The score, in strong errors of a three-sense read; for a hard read, the number of errors.
    pub fn score(&self) -> u32 {
        match self.classes {
            0 | 1 => self.hard_errors(),
            // A float that is too large saturates to the largest integer.
            _ => libm::round(self.exact_score()) as u32,
        }
    }

    /// [`SoftWeights::score`] before rounding.
    pub fn exact_score(&self) -> f64 {
        let law = match self.classes {
            0 | 1 => return f64::from(self.hard_errors()),
            2 => &THREE,
            _ => &FIVE,
        };
        let all: f64 = self.bits.iter().map(|&bits| f64::from(bits)).sum();
        let (mut errors, mut loss) = (0.0, 0.0);
        for c in 0..3 {
            errors += law.trust[c] * f64::from(self.errors[c]);
            loss += law.loss[c] * f64::from(self.bits[c].saturating_sub(self.errors[c]));
        }
        errors * libm::exp(loss / all.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn formula_a_further_error_never_lowers_the_score() {
        let mut seen = 0;
        for seed in 0..20_000 {
            let s = Stream::new(seed).named("score test");
            let mut w = SoftWeights {
                classes: 1 + s.at(0).below(3) as u8,
                bits: [8_000, 0, 0],
                ..SoftWeights::default()
            };
            for c in 0..usize::from(w.classes) {
                w.bits[c] += s.at(10).at(c as u64).below(900) as u32 + 1;
                w.errors[c] = s.at(20).at(c as u64).below(60) as u32 % w.bits[c];
            }
            // Beyond one sixtieth of the bits every codeword fails.
            let before = w.exact_score();
            if before * 60.0 > 9_216.0 {
                continue;
            }
            seen += 1;
            let c = s.at(1).below(u64::from(w.classes)) as usize;
            w.errors[c] += 1;
            assert!(w.exact_score() >= before, "seed {seed}: {w:?}");
        }
        assert!(seen > 10_000);
    }

    /// Computed by the formula at the top, apart from this crate.
    #[test]
    fn formula_a_score_weighs_errors_and_unreliable_bits() {
        let weights = |classes, errors, bits| SoftWeights {
            classes,
            errors,
            bits,
        };
        let three = weights(2, [40, 60, 0], [8800, 416, 0]);
        let five = weights(3, [40, 30, 50], [8700, 300, 216]);
        assert!((three.exact_score() - 67.830_206).abs() < 1e-6);
        assert!((five.exact_score() - 73.743_459).abs() < 1e-6);
        assert_eq!((three.score(), five.score()), (68, 74));
        assert_eq!((three.hard_errors(), five.hard_errors()), (100, 120));
        // Of a hard read it is the number of errors, whatever their bits.
        for classes in [0, 1] {
            let hard = weights(classes, [77, 0, 0], [9216, 0, 0]);
            assert_eq!((hard.score(), hard.exact_score()), (77, 77.0));
        }
        let hard = SoftWeights::hard(77);
        assert_eq!(
            (hard.score(), hard.hard_errors(), hard.classes),
            (77, 77, 1)
        );
        let most = weights(2, [u32::MAX; 3], [u32::MAX; 3]);
        assert_eq!(most.hard_errors(), u32::MAX, "no sum overflows");
        assert_eq!(weights(2, [0; 3], [0; 3]).score(), 0, "no bits");
    }
}
