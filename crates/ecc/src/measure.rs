//! Outcomes of the decoder for random errors of known weight.
//!
//! The errors are added to random codewords, not to the all-zero codeword. A bit whose evidence cancels is
//! decided as 0, which would always be right for the all-zero codeword.

use alloc::vec::Vec;
use core::ops::Range;

use firstread_core::Stream;

use crate::ldpc::{Decode, Decoder, Encoder, Ldpc, MAX_ITERATIONS, Reliability};
use crate::soft::SoftWeights;

/// Counts of codewords by how their decoding ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeCounts {
    /// Number of codewords decoded.
    pub frames: u32,
    /// Codewords decoded to a wrong codeword. They count as failures.
    pub undetected: u32,
    /// Codewords by iterations: `after[k]` were correct after exactly `k` iterations. The rest failed.
    pub after: [u32; MAX_ITERATIONS as usize + 1],
}

impl Default for DecodeCounts {
    fn default() -> DecodeCounts {
        DecodeCounts {
            frames: 0,
            undetected: 0,
            after: [0; MAX_ITERATIONS as usize + 1],
        }
    }
}

impl DecodeCounts {
    /// Number of codewords that failed.
    pub fn failures(&self) -> u32 {
        self.frames.saturating_sub(self.after.iter().sum())
    }

    /// Counts a codeword: how its decoding ended, and whether its bits are those that were sent.
    fn count(&mut self, decode: Decode, right: bool) {
        self.frames += 1;
        if decode.ok && right {
            self.after[usize::from(decode.iterations)] += 1;
        } else if decode.ok {
            self.undetected += 1;
        }
    }

    /// Adds the codewords of `other`.
    pub fn add(&mut self, other: &DecodeCounts) {
        self.frames += other.frames;
        self.undetected += other.undetected;
        for (to, from) in self.after.iter_mut().zip(&other.after) {
            *to += from;
        }
    }

    /// Mean iterations of the codewords that succeeded; 0 if all failed.
    pub fn mean_iterations(&self) -> f64 {
        let ok = f64::from(self.frames - self.failures());
        let sum: u64 = (0u64..)
            .zip(&self.after)
            .map(|(k, &n)| k * u64::from(n))
            .sum();
        if ok > 0.0 { sum as f64 / ok } else { 0.0 }
    }
}

/// Number of different codewords sent.
const SENT: u32 = 64;

/// Draws error patterns, and decodes them.
#[derive(Clone, Debug)]
pub struct Trial {
    decoder: Decoder,
    /// Codewords that are sent in turn.
    sent: Vec<Vec<u64>>,
    word: Vec<u64>,
    medium: Vec<u64>,
    weak: Vec<u64>,
    /// Bits whose class is already decided.
    taken: Vec<u64>,
}

impl Trial {
    /// Trials of `code`, whose buffers later trials use again.
    pub fn new(code: &Ldpc) -> Trial {
        let zero = alloc::vec![0; code.codeword_words()];
        let encoder = Encoder::new(code);
        let codeword = |n| {
            let stream = Stream::new(n).named("codewords");
            let mut word = zero.clone();
            for (bits, i) in word.iter_mut().zip(0..) {
                *bits = stream.at(i).bits();
            }
            encoder.encode(&mut word);
            word
        };
        Trial {
            decoder: Decoder::new(code),
            sent: (0..u64::from(SENT)).map(codeword).collect(),
            word: zero.clone(),
            medium: zero.clone(),
            weak: zero.clone(),
            taken: zero,
        }
    }

    /// Decodes codewords number `frames` with the errors `weights`, whose positions are drawn from `stream`.
    /// Equal numbers give equal codewords.
    pub fn run(
        &mut self,
        weights: &SoftWeights,
        stream: Stream,
        frames: Range<u32>,
    ) -> DecodeCounts {
        let mut decode_counts = DecodeCounts::default();
        for frame in frames {
            let sent = (frame % SENT) as usize;
            self.word.copy_from_slice(&self.sent[sent]);
            self.draw(weights, stream.at(u64::from(frame)));
            let reliability = match weights.classes {
                0 | 1 => Reliability::Hard,
                2 => Reliability::Three { weak: &self.weak },
                _ => Reliability::Five {
                    weak: &self.weak,
                    medium: &self.medium,
                },
            };
            let decode = self.decoder.decode(&mut self.word, reliability);
            decode_counts.count(decode, self.word == self.sent[sent]);
        }
        decode_counts
    }

    /// Adds errors to the word.
    fn draw(&mut self, weights: &SoftWeights, stream: Stream) {
        for words in [&mut self.medium, &mut self.weak, &mut self.taken] {
            words.fill(0);
        }
        let bits = self.decoder.code().codeword_bits();
        let mut free = bits;
        let mut draws = (0..).map(|i| stream.at(i).below(u64::from(bits)) as usize);
        for class in 0..3 {
            let wrong = weights.errors[class];
            let marked = if class == 0 {
                wrong
            } else {
                weights.bits[class].max(wrong)
            };
            for n in 0..marked.min(free) {
                // If a position is taken, another one is drawn.
                let Some(at) = draws.find(|&at| self.taken[at / 64] >> (at % 64) & 1 == 0) else {
                    return;
                };
                let (word, bit) = (at / 64, 1 << (at % 64));
                self.taken[word] |= bit;
                if n < wrong {
                    self.word[word] ^= bit;
                }
                match (class, weights.classes) {
                    (1, 2) | (2, 3) => self.weak[word] |= bit,
                    (1, 3) => self.medium[word] |= bit,
                    _ => {}
                }
            }
            free -= marked.min(free);
        }
    }
}

/// Expected counts of a codeword of `bits` bits, if the two states of a valley are Gaussians of equal width
/// that overlap to a raw bit error rate of `rber` at the middle level. The outer levels lie `distances`
/// standard deviations from the middle, nearest first: one pair or two.
pub fn gaussian_weights(bits: u32, rber: f64, distances: &[f64]) -> SoftWeights {
    let tail = |x: f64| 0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2);
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if tail(middle) > rber {
            low = middle;
        } else {
            high = middle;
        }
    }
    let count = |p: f64| libm::round(p * f64::from(bits)) as u32;
    // Wrong bits that lie more than a distance beyond the level; right bits within a distance of it.
    let wrong = |x: f64| count(tail(low + x));
    let near = |x: f64| count(tail(low - x)) - wrong(0.0);
    let mut w = SoftWeights {
        classes: distances.len() as u8 + 1,
        ..SoftWeights::default()
    };
    let mut inner = 0.0;
    for (i, &distance) in distances.iter().enumerate().take(2) {
        let class = distances.len().min(2) - i;
        w.errors[class] = wrong(inner) - wrong(distance);
        w.bits[class] = w.errors[class] + near(distance) - near(inner);
        inner = distance;
    }
    w.errors[0] = wrong(inner);
    w.bits[0] = bits - w.bits[1] - w.bits[2];
    w
}

/// Distance of the outer levels in the soft tables, in standard deviations of a state. It is close to the
/// decoder's best: with three senses the decoder corrects most errors at 0.6 to 0.75.
pub const TABLE_DISTANCE: f64 = 0.6;

/// Position of the point `weights` in a measured table: the errors of a hard read, or for three senses a
/// number that grows about as fast. The position spaces the points and identifies their error patterns.
pub const fn place(weights: &SoftWeights) -> u32 {
    let [strong, weak, _] = weights.errors;
    let unreliable = weights.bits[1].saturating_sub(weak);
    strong + (512 + 272 * weak + 32 * unreliable) / 1024
}

/// Three-sense counts at [`TABLE_DISTANCE`] for a given position, which may be off by one.
pub fn weights_of_place(bits: u32, wanted: u32) -> SoftWeights {
    let (mut low, mut high) = (1e-6, 0.1);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if place(&gaussian_weights(bits, middle, &[TABLE_DISTANCE])) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    gaussian_weights(bits, high, &[TABLE_DISTANCE])
}

/// Wilson's confidence interval of a probability, from `events` events in `frames` trials, at `z` standard
/// deviations (1.96 for 95 %).
pub fn wilson(events: u32, frames: u32, z: f64) -> (f64, f64) {
    let (n, z2) = (f64::from(frames), z * z);
    let p = f64::from(events) / n;
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z * libm::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n)) / (1.0 + z2 / n);
    // The bounds at 0 and 1 are exact, regardless of rounding.
    let low = if events == 0 { 0.0 } else { centre - half };
    let high = if events == frames { 1.0 } else { centre + half };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(frames: u32, undetected: u32, after: &[(usize, u32)]) -> DecodeCounts {
        let mut counts = DecodeCounts {
            frames,
            undetected,
            ..DecodeCounts::default()
        };
        after.iter().for_each(|&(k, n)| counts.after[k] = n);
        counts
    }

    #[test]
    fn formula_counts_of_decodes_add_up() {
        let a = counts(100, 2, &[(0, 10), (3, 50), (30, 20)]);
        assert_eq!(a.failures(), 20);
        assert_eq!(a.mean_iterations(), (3.0 * 50.0 + 30.0 * 20.0) / 80.0);
        let mut sum = a;
        sum.add(&counts(7, 1, &[(3, 4), (4, 1)]));
        assert_eq!(sum, counts(107, 3, &[(0, 10), (3, 54), (4, 1), (30, 20)]));
        let none = counts(9, 0, &[]);
        assert_eq!((none.failures(), none.mean_iterations()), (9, 0.0));
    }

    #[test]
    fn formula_a_wrong_codeword_is_a_failure_of_its_own() {
        let decode = |ok, iterations| Decode { ok, iterations };
        let mut c = DecodeCounts::default();
        c.count(decode(true, 4), true);
        c.count(decode(true, 4), false);
        c.count(decode(true, 9), false);
        c.count(decode(false, MAX_ITERATIONS), false);
        assert_eq!(c, counts(4, 2, &[(4, 1)]));
        assert_eq!(c.failures(), 3);
    }

    /// Wilson's interval at 95 %, as calculators print it.
    #[test]
    fn formula_wilson_intervals_are_the_published_ones() {
        for (events, frames, low, high) in [
            (0, 10, 0.0, 0.277_540),
            (5, 10, 0.236_590, 0.763_410),
            (3, 50, 0.020_615, 0.162_173),
            (10, 10, 0.722_460, 1.0),
        ] {
            let is = wilson(events, frames, 1.96);
            let off = (is.0 - low).abs().max((is.1 - high).abs());
            assert!(off < 1e-6, "{events} of {frames}: {is:?}");
        }
        assert_eq!((wilson(0, 3, 1.96).0, wilson(3, 3, 1.96).1), (0.0, 1.0));
    }

    /// Tails of a normal distribution, computed apart from this crate: at a raw bit error rate of 1 % half a standard
    /// deviation leaves 235.4 and reaches 3,389.9 of 100,000 bits; at 2 % 0.3 and 0.7 leave 929.3 and 294.6, and reach 3,973.7
    /// and 8,790.8.
    #[test]
    fn formula_counts_of_a_gaussian_read_are_tails() {
        let hard = gaussian_weights(100_000, 0.01, &[]);
        assert_eq!((hard.classes, hard.errors), (1, [1000, 0, 0]));
        let three = gaussian_weights(100_000, 0.01, &[0.5]);
        assert_eq!((three.classes, three.errors), (2, [235, 765, 0]));
        assert_eq!(three.bits, [96_845, 765 + 2390, 0]);
        let five = gaussian_weights(100_000, 0.02, &[0.3, 0.7]);
        assert_eq!((five.classes, five.errors), (3, [295, 634, 1071]));
        assert_eq!(five.bits, [91_504, 634 + 4817, 1071 + 1974]);
    }

    #[test]
    fn formula_a_place_is_found_again_within_one() {
        let weights = SoftWeights {
            classes: 2,
            errors: [30, 64, 0],
            bits: [9000, 192, 0],
        };
        // 30, 17 for the 64 weak errors, 4 for the 128 weak bits that are right.
        assert_eq!(place(&weights), 51);
        let just = |strong, weak, bits| {
            place(&SoftWeights {
                classes: 2,
                errors: [strong, weak, 0],
                bits: [9000, bits, 0],
            })
        };
        // Half a place is rounded up: 16 right ones are half.
        assert_eq!([just(5, 0, 15), just(5, 0, 16), just(5, 2, 1)], [5, 6, 6]);
        for (bits, wanted) in [(9216, 40), (9216, 85), (36_864, 300), (36_864, 346)] {
            let found = place(&weights_of_place(bits, wanted));
            assert!(found.abs_diff(wanted) <= 1, "{wanted}: {found}");
        }
    }

    /// Errors and marks of a drawn word are as many as was asked for, in each class.
    #[test]
    fn formula_a_drawn_word_has_the_errors_of_each_class() {
        let mut trial = Trial::new(&Ldpc::new_1k());
        let ones = |words: &[u64]| words.iter().map(|w| w.count_ones()).sum::<u32>();
        for (seed, weights) in (0..).zip([
            SoftWeights::hard(0),
            SoftWeights::hard(80),
            SoftWeights {
                classes: 2,
                errors: [40, 60, 0],
                bits: [8800, 416, 0],
            },
            SoftWeights {
                classes: 3,
                errors: [20, 30, 50],
                bits: [8000, 900, 316],
            },
            // More than there are.
            SoftWeights {
                classes: 3,
                errors: [9000, 200, 100],
                bits: [9000, 200, 100],
            },
        ]) {
            trial.word.fill(0);
            trial.draw(&weights, Stream::new(seed));
            let errors = weights.hard_errors().min(9216);
            assert_eq!(ones(&trial.word), errors, "{weights:?}");
            let (medium, weak) = match weights.classes {
                1 => (0, 0),
                2 => (0, weights.bits[1]),
                _ => (
                    weights.bits[1].min(9216 - weights.bits[0].min(weights.errors[0])),
                    weights.bits[2],
                ),
            };
            assert_eq!(ones(&trial.medium), medium, "{weights:?}");
            assert_eq!(
                ones(&trial.weak),
                if errors == 9216 { 16 } else { weak },
                "{weights:?}"
            );
            let wrong = |mask: &[u64]| -> u32 {
                let both = trial
                    .word
                    .iter()
                    .zip(mask)
                    .map(|(a, b)| (a & b).count_ones());
                both.sum()
            };
            if weights.classes == 2 {
                assert_eq!(wrong(&trial.weak), 60, "wrong and weak");
            } else if seed == 3 {
                assert_eq!((wrong(&trial.medium), wrong(&trial.weak)), (30, 50));
            }
        }
    }

    #[test]
    fn formula_few_errors_are_all_corrected_and_too_many_are_none() {
        let mut trial = Trial::new(&Ldpc::new_1k());
        let clean = trial.run(&SoftWeights::hard(0), Stream::new(1), 0..3);
        assert_eq!(clean, counts(3, 0, &[(0, 3)]));
        let few = trial.run(&SoftWeights::hard(20), Stream::new(1), 60..70);
        assert_eq!(
            (few.frames, few.undetected, few.failures(), few.after[0]),
            (10, 0, 0, 0)
        );
        let many = trial.run(&SoftWeights::hard(400), Stream::new(1), 0..4);
        assert_eq!(many, counts(4, 0, &[]));
        // Equal numbers are equal codewords, whatever was decoded before them.
        let again = trial.run(&SoftWeights::hard(75), Stream::new(1), 5..25);
        let mut parts = trial.run(&SoftWeights::hard(75), Stream::new(1), 15..25);
        parts.add(&trial.run(&SoftWeights::hard(75), Stream::new(1), 5..15));
        assert_eq!(parts, again);
    }
}
