//! What differs between two places of a chip, in standard deviations.
//!
//! The medium draws each difference from sixteen bits of its place. Here each is a Gaussian number first, so that pages can be
//! drawn where data are lost: around a **shift**, with the density by which their weight is told.

use firstread_nand::PlaceBits;
use firstread_nand::gaussian::tail_exact;

/// Differences between blocks, or between wordlines: rate, offset and width, and one of each state.
const OF_A_PLACE: usize = 3 + 16;
/// All differences: those of the block, and then those of the wordline.
pub(super) const SCORES: usize = 2 * OF_A_PLACE;
/// The largest shift that is tried (standard deviations), in steps of a half.
const MOST_SHIFT: f64 = 7.0;
/// Difference over which a slope is taken. The medium's own differences have steps, so it is not small.
const SLOPE_OVER: f64 = 0.5;

pub(super) type Scores = [f64; SCORES];

/// The bits that the medium has of a place with `scores`.
pub(super) fn bits(scores: &Scores) -> PlaceBits {
    let (block, wordline) = scores.split_at(OF_A_PLACE);
    let (block, block_states) = words(block);
    let (wordline, wordline_states) = words(wordline);
    PlaceBits {
        block,
        block_states,
        wordline,
        wordline_states,
    }
}

fn words(scores: &[f64]) -> (u64, [u64; 4]) {
    let word = |of: &[f64]| {
        let fields = of.iter().enumerate();
        fields.fold(0, |word, (i, z)| word | sixteen_bits(*z) << (16 * i))
    };
    let states = |i: usize| word(&scores[3 + 4 * i..7 + 4 * i]);
    (word(&scores[..3]), [0, 1, 2, 3].map(states))
}

/// The share of all numbers below `z`, in sixteen bits.
fn sixteen_bits(z: f64) -> u64 {
    ((tail_exact(-z) * 65_536.0) as u64).min(65_535)
}

/// Where most of what `ln_value` is the logarithm of lies: nearly the place with the highest density times value, on the
/// line along which the value grows fastest. Where the value does not change it is the middle.
pub(super) fn shift<E>(mut ln_value: impl FnMut(&Scores) -> Result<f64, E>) -> Result<Scores, E> {
    let mut at = [0.0; SCORES];
    // The second slope is taken where the value tells.
    for _ in 0..2 {
        let here = ln_value(&at)?;
        let mut slope = [0.0; SCORES];
        for (i, slope) in slope.iter_mut().enumerate() {
            let mut beside = at;
            beside[i] += SLOPE_OVER;
            *slope = (ln_value(&beside)? - here) / SLOPE_OVER;
        }
        let length = libm::sqrt(dot(&slope, &slope));
        if length < 1e-6 {
            break;
        }
        let (mut best, mut most) = (at, f64::NEG_INFINITY);
        for step in 0..=(2.0 * MOST_SHIFT) as u32 {
            let far = f64::from(step) / 2.0;
            let there = slope.map(|s| s / length * far);
            let value = ln_value(&there)? - far * far / 2.0;
            if value > most {
                (best, most) = (there, value);
            }
        }
        at = best;
    }
    Ok(at)
}

/// The weight of `scores`, of which one half is drawn as places are and one half around `shift`.
pub(super) fn weight(scores: &Scores, shift: &Scores) -> f64 {
    let more = dot(scores, shift) - dot(shift, shift) / 2.0;
    1.0 / (0.5 + 0.5 * libm::exp(more))
}

fn dot(a: &Scores, b: &Scores) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;
    use firstread_nand::gaussian::Gaussian;

    use super::*;

    /// Bits of scores are scores of the medium again, within a step of its table.
    #[test]
    fn formula_bits_of_scores_are_those_scores() {
        let gaussian = Gaussian::new();
        for (i, z) in [-9.0, -3.1, -1.0, 0.0, 0.4, 2.2, 9.0]
            .into_iter()
            .enumerate()
        {
            let mut scores = [0.0; SCORES];
            (scores[1], scores[3 + 9]) = (z, -z);
            (scores[OF_A_PLACE + 2], scores[OF_A_PLACE + 3 + 15]) = (z, z);
            let bits = bits(&scores);
            let of =
                |word: u64, field: u32| f64::from(gaussian.of_u16((word >> (16 * field)) as u16));
            let is = |value: f64, z: f64| {
                let z = z.clamp(-4.3, 4.3);
                assert!(
                    (value - z).abs() < 0.02 + 0.05 * z.abs(),
                    "{i}: {value}, not {z}"
                );
            };
            is(of(bits.block, 1), z);
            is(of(bits.block, 0), 0.0);
            is(of(bits.block_states[2], 1), -z);
            is(of(bits.wordline, 2), z);
            is(of(bits.wordline_states[3], 3), z);
            is(of(bits.wordline_states[0], 0), 0.0);
        }
    }

    /// A value that grows by a factor of e for each half of a standard deviation along a line has its most two deviations
    /// away, and weighted draws around that have its mean, exp(2): by hand.
    #[test]
    fn formula_weighted_draws_have_the_mean_of_all() {
        let along = |z: &Scores| 2.0 * (0.6 * z[3] + 0.8 * z[20]);
        let shift = shift(|z| Ok::<f64, ()>(along(z))).unwrap();
        assert!((shift[3] - 1.2).abs() < 1e-9 && (shift[20] - 1.6).abs() < 1e-9);
        let gaussian = Gaussian::new();
        let (mut sum, n) = (0.0, 4_000u64);
        for i in 0..n {
            let draw = Stream::new(7).at(i);
            let mut z: Scores = core::array::from_fn(|k| gaussian.of_bits(draw.draw(k as u64)));
            if i % 2 == 1 {
                z.iter_mut().zip(&shift).for_each(|(z, s)| *z += s);
            }
            sum += weight(&z, &shift) * libm::exp(along(&z));
        }
        let mean = sum / n as f64;
        assert!((mean / libm::exp(2.0) - 1.0).abs() < 0.05, "{mean}");
        assert_eq!(super::shift(|_| Ok::<f64, ()>(-5.0)), Ok([0.0; SCORES]));
    }
}
