//! One number for the errors of a soft-read codeword.
//!
//! What a soft decoder makes of a codeword depends on how many bits of each reliability are wrong
//! and on how many are merely unreliable: three numbers with three senses of each level, five with
//! five. Tables over so many are neither measured nor looked up easily, and are not needed: to a
//! few percent, the decoder sees only a weighted sum, here scaled so that a strong error of a
//! three-sense read counts as one.
//!
//! The weights are measured with the decoder of [`crate::ldpc`]. For the error counts of two
//! Gaussian states with the outer levels 0.1 to 1.1 standard deviations off the middle (three
//! senses, 8 distances; five senses, 13 pairs of distances), the raw bit error rate was sought at
//! which 10, 30 or 50 % of codewords fail; the sum with these weights then is the same for all
//! distances within 3 %, for both codes, and with three senses also equals the weight at which as
//! many fail in a hard read. Within these 3 % a wrong choice costs as much as a raw bit error rate
//! that is off by 3 %.

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
    /// Bits right or wrong, by class. That of class 0 does not matter.
    pub bits: [u32; 3],
}

/// Parts of the score that make up a strong error.
const UNIT: u32 = 1024;

/// Weights of a class: of a wrong bit and of a right one.
type Class = (u32, u32);

const THREE: [Class; 2] = [(UNIT, 0), (272, 32)];
const FIVE: [Class; 3] = [(901, 0), (451, 3), (322, 28)];

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

    /// Its score, in strong errors of a three-sense read.
    pub fn score(&self) -> u32 {
        let classes: &[Class] = match self.classes {
            0 | 1 => return self.hard_errors(),
            2 => &THREE,
            _ => &FIVE,
        };
        let mut sum = u64::from(UNIT / 2);
        for (c, &(wrong, right)) in classes.iter().enumerate() {
            let rest = self.bits[c].saturating_sub(self.errors[c]);
            sum += u64::from(self.errors[c]) * u64::from(wrong);
            sum += u64::from(rest) * u64::from(right);
        }
        (sum / u64::from(UNIT)).min(u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn formula_a_further_error_never_lowers_the_score() {
        for seed in 0..10_000 {
            let s = Stream::new(seed).named("score test");
            let mut w = SoftWeights {
                classes: 1 + s.at(0).below(3) as u8,
                ..SoftWeights::default()
            };
            for c in 0..usize::from(w.classes) {
                w.bits[c] = s.at(10).at(c as u64).below(5_000) as u32 + 1;
                w.errors[c] = s.at(20).at(c as u64).below(u64::from(w.bits[c])) as u32;
            }
            let before = w.score();
            let c = s.at(1).below(u64::from(w.classes)) as usize;
            w.errors[c] += 1;
            assert!(w.score() >= before, "seed {seed}: {w:?}");
        }
    }
}
