//! One number for the errors of a soft-read codeword.
//!
//! What a soft decoder makes of a codeword depends on how many bits of each reliability are wrong
//! and on how many are merely unreliable: three numbers with three senses of each level, five with
//! five. Tables over so many are neither measured nor looked up easily, and are not needed. The
//! decoder loses by wrong bits in the measure of its trust in them, and by unreliable bits, which
//! correct nothing; the two losses multiply:
//!
//! `score = Σ trust(c) · errors(c) · exp(Σ loss(c) · right(c) / bits of the codeword)`
//!
//! with the wrong bits and the right ones of each class. The constants are those with which the logit of
//! the failure probability of the decoder of [`crate::ldpc`], as a function of this score alone, has the
//! highest likelihood over random counts: two Gaussian states, and every count of half of the samples
//! changed by up to a quarter. With three senses, whatever the distance of the outer levels (0.2 to 0.8
//! standard deviations), half of the codewords fail at the same score within 0.3 %, for both codes; with
//! five it was fitted with the outer pairs 0.28 to 0.5 and twice as far. What is left between score and
//! measurement is 0.2 in the logit with three senses and 0.3 with five (root mean square, noise of the
//! measurement included): a factor of 1.2 to 1.4 in the failure probability. So one table, measured with
//! three senses, serves all.

/// Bits and errors of a codeword by reliability; class 0 is the most reliable. The hard decision is
/// that of the middle sense. With three senses of each level a bit is in class 1 when its cell lies
/// between the outer two. With five it is in class 2 between the inner pair of outer levels, in
/// class 1 between the outer pair otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SoftWeights {
    /// Classes in use: 1 of a hard read, 2 of three senses, 3 of five.
    pub classes: u8,
    /// Bits in error, by class.
    pub errors: [u32; 3],
    /// Bits right or wrong, by class: of a soft read, all bits of the codeword.
    pub bits: [u32; 3],
}

/// What the bits of each class cost the decoder.
struct Law {
    /// Of a wrong bit, in strong errors of a three-sense read.
    trust: [f64; 3],
    /// Of the share of right bits of a codeword that lie in the class, in the logarithm of the score.
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

    /// Errors in all: what a hard read at the middle level has.
    pub const fn hard_errors(&self) -> u32 {
        self.errors[0]
            .saturating_add(self.errors[1])
            .saturating_add(self.errors[2])
    }

    /// Its score, in strong errors of a three-sense read; of a hard read, its errors.
    pub fn score(&self) -> u32 {
        match self.classes {
            0 | 1 => self.hard_errors(),
            // A float that is too large becomes the largest integer.
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
            // Beyond a sixtieth of the bits every codeword fails.
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
}
