//! Random differences between chips, blocks, wordlines and states: Gaussian factors from counter-based
//! streams keyed by address, so nothing is stored. Each die counts as a chip. A single factor reaches 4.3
//! standard deviations; sums reach further. Null: zeros.

use firstread_core::{BlockId, DieId, Stream};

use crate::gaussian::Gaussian;
use crate::profile::field::numbers;

numbers! {
    /// Random differences, all Gaussian and drawn from counter-based streams: nothing is stored per cell.
    /// Rates multiply retention, offsets move programmed states, and sigmas multiply standard deviations.
    /// Null: zeros.
    #[derive(Default)]
    pub struct VariationProfile {
        /// Retention rate between chips, relative standard deviation.
        chip_rate: f64 = "chip_rate", X, 0.0, 0.5;
        /// Retention rate between blocks of a plane, relative standard deviation.
        block_rate: f64 = "block_rate", X, 0.0, 0.5;
        /// Retention rate between wordlines of a layer, relative standard deviation.
        wordline_rate: f64 = "wordline_rate", X, 0.0, 0.5;
        /// Retention rate of each state, independent in each block, relative standard deviation. It makes the
        /// valleys of a page move independently.
        state_rate: f64 = "state_rate", X, 0.0, 0.5;
        /// Offset of all programmed states between chips (mV).
        chip_offset_mv: f64 = "chip_offset", MV, 0.0, 200.0;
        /// Offset of all programmed states between blocks (mV).
        block_offset_mv: f64 = "block_offset", MV, 0.0, 200.0;
        /// Offset of all programmed states between wordlines (mV).
        wordline_offset_mv: f64 = "wordline_offset", MV, 0.0, 200.0;
        /// Offset of each programmed state, independent in each wordline (mV).
        state_offset_mv: f64 = "state_offset", MV, 0.0, 200.0;
        /// Width of the states between blocks, relative standard deviation.
        block_sigma: f64 = "block_sigma", X, 0.0, 0.5;
        /// Width of the states between wordlines, relative standard deviation.
        wordline_sigma: f64 = "wordline_sigma", X, 0.0, 0.5;
        /// Share of cells of a state that belong to a wider Gaussian (heavy tails; null 0).
        tail_fraction: f64 = "tail_fraction", X, 0.0, 0.5;
        /// Width of that Gaussian relative to the state's own (at least 1; ignored if the share is zero).
        tail_sigma_ratio: f64 = "tail_sigma_ratio", X, 1.0, 5.0;
    }
}

/// Standard deviations of the profile, in the form used for evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    block_rate: f32,
    block_offset_mv: f32,
    block_sigma: f32,
    wordline_rate: f32,
    wordline_offset_mv: f32,
    wordline_sigma: f32,
    state_rate: f32,
    state_offset_mv: f32,
    /// Whether states differ from each other at all.
    states: bool,
}

impl Spread {
    /// The standard deviations of `v`.
    pub fn new(v: &VariationProfile) -> Spread {
        Spread {
            block_rate: v.block_rate as f32,
            block_offset_mv: v.block_offset_mv as f32,
            block_sigma: v.block_sigma as f32,
            wordline_rate: v.wordline_rate as f32,
            wordline_offset_mv: v.wordline_offset_mv as f32,
            wordline_sigma: v.wordline_sigma as f32,
            state_rate: v.state_rate as f32,
            state_offset_mv: v.state_offset_mv as f32,
            states: v.state_rate > 0.0 || v.state_offset_mv > 0.0,
        }
    }
}

/// Random differences of a chip.
#[derive(Clone, Copy, Debug)]
pub struct ChipDrawn {
    rate: f32,
    offset_mv: f32,
}

impl ChipDrawn {
    /// The draws of the chip whose stream is `chip`.
    pub fn new(v: &VariationProfile, g: &Gaussian, chip: Stream) -> ChipDrawn {
        ChipDrawn {
            rate: (1.0 + v.chip_rate * g.of_bits(chip.draw(0))) as f32,
            offset_mv: (v.chip_offset_mv * g.of_bits(chip.draw(1))) as f32,
        }
    }
}

/// Random differences of one wordline of one block of one chip, before the differences of its states.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Factor on retention.
    pub rate: f32,
    /// Offset of the programmed states (mV).
    pub offset_mv: f32,
    /// Factor on standard deviations.
    pub sigma: f32,
    /// Random bits of the states' rates, per block.
    state_rate: [[u8; 8]; 4],
    /// Random bits of the states' offsets, per wordline.
    state_offset: [[u8; 8]; 4],
    /// Standard deviation of a state's factor on retention.
    pub state_rate_spread: f32,
    /// Standard deviation of a programmed state's offset (mV).
    pub state_offset_spread_mv: f32,
}

/// The stream of the blocks of a drive's medium that is made of `seed`.
pub fn blocks(seed: u64) -> Stream {
    Stream::new(seed).named("medium").named("block")
}

/// The stream of block `block` of plane `plane` of `die`, of the `blocks` of a drive.
#[inline]
pub fn block_key(blocks: Stream, die: DieId, plane: u8, block: BlockId) -> Stream {
    blocks.at(((die.0 as u64) << 40) | ((plane as u64) << 32) | block.0 as u64)
}

/// The normal score of the retention rate of the block whose stream is `block`.
pub fn block_rate_score(g: &Gaussian, block: Stream) -> f32 {
    g.of_u16(block.quick(0) as u16)
}

/// Random bits by which a wordline of a block differs from others, sixteen a difference: fields 0 to 2 of `block` and
/// `wordline` are for rate, offset and width, and field `s` of the states' words is for state `s`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlaceBits {
    /// Differences between blocks.
    pub block: u64,
    /// Rates of the states, by block.
    pub block_states: [u64; 4],
    /// Differences between wordlines.
    pub wordline: u64,
    /// Offsets of the states, by wordline.
    pub wordline_states: [u64; 4],
}

/// Bits whose score is a finite number, used where the spread is zero.
const MIDDLE: [[u8; 8]; 4] = [[0x80; 8]; 4];

impl Drawn {
    /// No variation: the nominal wordline.
    pub const NOMINAL: Drawn = Drawn {
        rate: 1.0,
        offset_mv: 0.0,
        sigma: 1.0,
        state_rate: MIDDLE,
        state_offset: MIDDLE,
        state_rate_spread: 0.0,
        state_offset_spread_mv: 0.0,
    };

    /// Draws a wordline, given its chip's draws and the streams of its block and of itself.
    #[inline]
    pub fn new(
        v: &Spread,
        g: &Gaussian,
        chip: &ChipDrawn,
        block: Stream,
        wordline: Stream,
    ) -> Drawn {
        let words = |s: Stream| [s.quick(1), s.quick(2), s.quick(3), s.quick(4)];
        let states = v.states.then(|| (words(block), words(wordline)));
        Drawn::of(v, g, chip, (block.quick(0), wordline.quick(0)), states)
    }

    /// The same from random bits.
    pub(crate) fn of_bits(v: &Spread, g: &Gaussian, chip: &ChipDrawn, bits: &PlaceBits) -> Drawn {
        let states = v
            .states
            .then_some((bits.block_states, bits.wordline_states));
        Drawn::of(v, g, chip, (bits.block, bits.wordline), states)
    }

    /// From the bits `b` of a block and `w` of a wordline, and those of their states.
    #[inline(always)] // As part of a sense.
    fn of(
        v: &Spread,
        g: &Gaussian,
        chip: &ChipDrawn,
        (b, w): (u64, u64),
        states: Option<([u64; 4], [u64; 4])>,
    ) -> Drawn {
        // Field 0 of each draw is used for the rate, field 1 for the offset, field 2 for the width.
        let f = |bits: u64, i: usize| g.of_u16((bits >> (16 * i)) as u16);
        let (state_rate, state_offset) = match states {
            Some((block, wordline)) => {
                (block.map(u64::to_le_bytes), wordline.map(u64::to_le_bytes))
            }
            None => (MIDDLE, MIDDLE),
        };
        Drawn {
            rate: (chip.rate + v.block_rate * f(b, 0) + v.wordline_rate * f(w, 0)).max(0.0),
            offset_mv: chip.offset_mv
                + v.block_offset_mv * f(b, 1)
                + v.wordline_offset_mv * f(w, 1),
            sigma: (1.0 + v.block_sigma * f(b, 2) + v.wordline_sigma * f(w, 2)).max(0.1),
            state_rate,
            state_offset,
            state_rate_spread: v.state_rate,
            state_offset_spread_mv: v.state_offset_mv,
        }
    }

    /// Random bits of the retention and of the offset of `state`.
    #[inline]
    pub fn of_state(&self, state: usize) -> (u16, u16) {
        let field = |words: &[[u8; 8]; 4]| {
            let bytes = words.as_flattened();
            let at = 2 * (state & 15);
            u16::from_le_bytes([bytes[at], bytes[at + 1]])
        };
        (field(&self.state_rate), field(&self.state_offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of the draws by their published order: rate, offset, width; and the sums of chip, block and wordline.
    #[test]
    fn formula_differences_add_up_over_chip_block_and_wordline() {
        let g = Gaussian::new();
        let v = VariationProfile {
            block_rate: 0.05,
            wordline_rate: 0.02,
            block_offset_mv: 7.0,
            wordline_offset_mv: 3.0,
            block_sigma: 0.04,
            wordline_sigma: 0.01,
            ..VariationProfile::default()
        };
        let chip = ChipDrawn {
            rate: 1.1,
            offset_mv: -2.0,
        };
        for i in 0..500 {
            let (block, wordline) = (Stream::new(i), Stream::new(i).at(1));
            let d = Drawn::new(&Spread::new(&v), &g, &chip, block, wordline);
            let z = |s: Stream, field: u32| g.of_u16((s.quick(0) >> (16 * field)) as u16);
            let near =
                |is: f32, expected: f32| assert!((is - expected).abs() < 1e-5, "{is} {expected}");
            near(d.rate, 1.1 + 0.05 * z(block, 0) + 0.02 * z(wordline, 0));
            near(d.offset_mv, -2.0 + 7.0 * z(block, 1) + 3.0 * z(wordline, 1));
            near(d.sigma, 1.0 + 0.04 * z(block, 2) + 0.01 * z(wordline, 2));
            assert_eq!(d.of_state(3), (0x8080, 0x8080), "states do not differ");
        }
        // No retention runs backwards, and no state is without width.
        let wild = VariationProfile {
            block_rate: 0.5,
            wordline_rate: 0.5,
            block_sigma: 0.5,
            wordline_sigma: 0.5,
            ..v
        };
        let drawn = (0..20_000).map(|i| {
            let (block, wordline) = (Stream::new(i), Stream::new(i).at(1));
            Drawn::new(&Spread::new(&wild), &g, &chip, block, wordline)
        });
        let least = drawn.fold((1f32, 1f32), |m, d| (m.0.min(d.rate), m.1.min(d.sigma)));
        assert_eq!(least, (0.0, 0.1));
    }

    #[test]
    fn formula_states_have_draws_of_their_own() {
        let g = Gaussian::new();
        let chip = ChipDrawn {
            rate: 1.0,
            offset_mv: 0.0,
        };
        let (block, wordline) = (Stream::new(3), Stream::new(4));
        for (state_rate, state_offset_mv) in [(0.1, 0.0), (0.0, 2.0)] {
            let v = VariationProfile {
                state_rate,
                state_offset_mv,
                ..VariationProfile::default()
            };
            let d = Drawn::new(&Spread::new(&v), &g, &chip, block, wordline);
            assert_eq!(
                (d.state_rate_spread, d.state_offset_spread_mv),
                (state_rate as f32, state_offset_mv as f32)
            );
            for state in 0..16 {
                let field =
                    |s: Stream| (s.quick(1 + state as u64 / 4) >> (16 * (state % 4))) as u16;
                assert_eq!(d.of_state(state), (field(block), field(wordline)));
            }
            assert_eq!(d.of_state(16), d.of_state(0));
        }
        let v = VariationProfile {
            chip_rate: 0.1,
            chip_offset_mv: 5.0,
            ..VariationProfile::default()
        };
        let c = ChipDrawn::new(&v, &g, block);
        let z = [0, 1].map(|i| g.of_bits(block.draw(i)));
        assert!((f64::from(c.rate) - 1.0 - 0.1 * z[0]).abs() < 1e-6);
        assert!((f64::from(c.offset_mv) - 5.0 * z[1]).abs() < 1e-5);
    }
}
