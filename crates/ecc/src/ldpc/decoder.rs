//! The decoder.

use super::kernel::{LANES, MAX_CHANNEL, State};
use super::matrix::Ldpc;

/// Maximum number of iterations before the decoder gives up.
pub const MAX_ITERATIONS: u8 = 30;

/// Magnitude with which a hard-read bit enters the decoder. Min-sum does not depend on scale, except through
/// rounding and the cap of messages. Measured at the knee: 12 to 32 have equal failure rates within 6 %, 8
/// fails 1.2 times as often, and 4 twice as often.
const HARD: i8 = 16;

/// Magnitudes of strong and weak bits of three senses. The ratio of the true log-likelihood ratios is 8 to 1
/// if the outer levels are 0.3 standard deviations off, and 4 to 1 at 0.8. Measured, ratios of 4 to 6 work
/// about equally well at all distances.
const SOFT3: (i8, i8) = (24, 5);

/// Magnitudes of strong, medium and weak bits of five senses.
const SOFT5: (i8, i8, i8) = (24, 10, 3);

const _: () = assert!(HARD <= MAX_CHANNEL && SOFT3.0 <= MAX_CHANNEL && SOFT5.0 <= MAX_CHANNEL);

/// What a read knows of its bits besides their values.
#[derive(Clone, Copy, Debug)]
pub enum Reliability<'a> {
    /// One sense: nothing more.
    Hard,
    /// One bit of reliability, from three senses.
    Three {
        /// Bits whose cells lie between the outer senses.
        weak: &'a [u64],
    },
    /// Two bits of reliability, from five senses.
    Five {
        /// Bits whose cells lie between the inner pair of outer senses.
        weak: &'a [u64],
        /// Bits whose cells lie between the outer pair, including the weak ones.
        medium: &'a [u64],
    },
}

/// How a decode ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decode {
    /// Whether the result is a codeword.
    pub ok: bool,
    /// Iterations run; 0 if the word was already a codeword.
    pub iterations: u8,
}

/// Decodes codewords of one code. Its memory is allocated once and reused.
#[derive(Clone, Debug)]
pub struct Decoder {
    code: Ldpc,
    memory: Memory,
    kernel: Kernel,
}

/// Working memory, by circulant size.
#[derive(Clone, Debug)]
enum Memory {
    Small(State<256, { 256 + LANES }>),
    Large(State<1024, { 1024 + LANES }>),
}

/// Instruction set for which the inner loops are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kernel {
    Portable,
    /// Created only by [`Kernel::fastest`], if the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Kernel {
    fn fastest() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        {
            #[cfg(any(test, feature = "std"))]
            let avx2 = std::arch::is_x86_feature_detected!("avx2");
            #[cfg(not(any(test, feature = "std")))]
            let avx2 = cfg!(target_feature = "avx2");
            if avx2 {
                return Kernel::Avx2;
            }
        }
        Kernel::Portable
    }

    /// Iterates until the signs form a codeword.
    fn run<const Z: usize, const STRIDE: usize>(self, state: &mut State<Z, STRIDE>) -> Decode {
        match self {
            Kernel::Portable => run(state),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                // SAFETY: `Avx2` exists only where the processor has the feature.
                #[allow(unsafe_code)]
                unsafe {
                    run_avx2(state)
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<const Z: usize, const STRIDE: usize>(state: &mut State<Z, STRIDE>) -> Decode {
    run(state)
}

#[inline(always)]
fn run<const Z: usize, const STRIDE: usize>(state: &mut State<Z, STRIDE>) -> Decode {
    let mut iterations = 0;
    loop {
        if state.is_codeword() {
            return Decode {
                ok: true,
                iterations,
            };
        }
        if iterations == MAX_ITERATIONS {
            return Decode {
                ok: false,
                iterations,
            };
        }
        if iterations == 0 {
            state.iterate::<true>();
        } else {
            state.iterate::<false>();
        }
        iterations += 1;
    }
}

/// `SPREAD[b]`: byte `i` is all ones if bit `i` of `b` is set.
const SPREAD: [u64; 256] = {
    let mut table = [0u64; 256];
    let mut b = 0;
    while b < 256 {
        let mut i = 0;
        while i < 8 {
            if b >> i & 1 == 1 {
                table[b] |= 0xff << (8 * i);
            }
            i += 1;
        }
        b += 1;
    }
    table
};

impl Decoder {
    /// A decoder of `code`, as fast as this processor allows with feature `std`; without `std`, as fast as
    /// the compilation target allows.
    pub fn new(code: &Ldpc) -> Decoder {
        Decoder {
            code: code.clone(),
            memory: if code.z() == 256 {
                Memory::Small(State::new(code))
            } else {
                Memory::Large(State::new(code))
            },
            kernel: Kernel::fastest(),
        }
    }

    /// A decoder that uses only the compilation target's instructions. It gives the same results.
    pub fn portable(code: &Ldpc) -> Decoder {
        Decoder {
            kernel: Kernel::Portable,
            ..Decoder::new(code)
        }
    }

    /// The code whose codewords it decodes.
    pub const fn code(&self) -> &Ldpc {
        &self.code
    }

    /// Decodes `word` in place. If decoding fails, `word` is unchanged.
    ///
    /// # Panics
    /// If `word` or a mask of `reliability` is not [`Ldpc::codeword_words`] long.
    pub fn decode(&mut self, word: &mut [u64], reliability: Reliability) -> Decode {
        let words = self.code.codeword_words();
        assert_eq!(word.len(), words, "words of a codeword");
        match reliability {
            Reliability::Hard => {}
            Reliability::Three { weak } => assert_eq!(weak.len(), words, "words of the weak mask"),
            Reliability::Five { weak, medium } => {
                assert_eq!(weak.len(), words, "words of the weak mask");
                assert_eq!(medium.len(), words, "words of the medium mask");
            }
        }
        match &mut self.memory {
            Memory::Small(state) => decode(state, self.kernel, word, reliability),
            Memory::Large(state) => decode(state, self.kernel, word, reliability),
        }
    }
}

fn decode<const Z: usize, const STRIDE: usize>(
    state: &mut State<Z, STRIDE>,
    kernel: Kernel,
    word: &mut [u64],
    reliability: Reliability,
) -> Decode {
    for (j, block) in state.posterior.iter_mut().enumerate() {
        let words = j * (Z / 64)..(j + 1) * (Z / 64);
        let bits = &word[words.clone()];
        match reliability {
            Reliability::Hard => spread(block, bits, |_, _| splat(HARD)),
            Reliability::Three { weak } => {
                let weak = &weak[words];
                spread(block, bits, |w, b| {
                    choose(weak[w].to_le_bytes()[b], SOFT3.1, splat(SOFT3.0))
                });
            }
            Reliability::Five { weak, medium } => {
                let (weak, medium) = (&weak[words.clone()], &medium[words]);
                spread(block, bits, |w, b| {
                    let m = choose(medium[w].to_le_bytes()[b], SOFT5.1, splat(SOFT5.0));
                    choose(weak[w].to_le_bytes()[b], SOFT5.2, m)
                });
            }
        }
    }
    state.wrap();
    let decode = kernel.run(state);
    if decode.ok && decode.iterations > 0 {
        for (block, bits) in state.posterior.iter().zip(word.chunks_exact_mut(Z / 64)) {
            gather(block, bits);
        }
    }
    decode
}

/// Eight equal bytes.
const fn splat(byte: i8) -> u64 {
    byte as u8 as u64 * 0x0101_0101_0101_0101
}

/// Bytes whose bit in `mask` is set become `byte`; the others come from `other`.
fn choose(mask: u8, byte: i8, other: u64) -> u64 {
    let mask = SPREAD[mask as usize];
    splat(byte) & mask | other & !mask
}

/// Writes the posterior of each bit: its magnitude, negative if the bit is 1.
#[inline(always)]
fn spread(block: &mut [i8], bits: &[u64], magnitude: impl Fn(usize, usize) -> u64) {
    for (w, (out, word)) in block.chunks_exact_mut(64).zip(bits).enumerate() {
        for (b, (out, byte)) in out.chunks_exact_mut(8).zip(word.to_le_bytes()).enumerate() {
            // Negation of bytes 1 to 127: complement plus one, which never carries.
            let negative = SPREAD[byte as usize];
            let value = (magnitude(w, b) ^ negative) + (negative & splat(1));
            for (out, v) in out.iter_mut().zip(value.to_le_bytes()) {
                *out = v as i8;
            }
        }
    }
}

/// Reads the signs of the posteriors back into bits.
fn gather(block: &[i8], bits: &mut [u64]) {
    for (word, block) in bits.iter_mut().zip(block.chunks_exact(64)) {
        let mut gathered = 0;
        for (b, eight) in block.chunks_exact(8).enumerate() {
            let mut bytes = [0u8; 8];
            for (to, from) in bytes.iter_mut().zip(eight) {
                *to = *from as u8;
            }
            // The multiplication moves the lowest bit of byte i to bit 56 + i.
            let ones = u64::from_le_bytes(bytes) >> 7 & splat(1);
            gathered |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * b);
        }
        *word = gathered;
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix::{COLUMNS, ROWS};
    use super::*;
    use crate::ldpc::Encoder;
    use alloc::vec::Vec;
    use firstread_core::Stream;

    fn codeword(code: &Ldpc, stream: Stream) -> Vec<u64> {
        let mut word: Vec<u64> = (0..code.codeword_words())
            .map(|i| stream.at(i as u64).bits())
            .collect();
        Encoder::new(code).encode(&mut word);
        word
    }

    /// A mask with about `bits` bits.
    fn mask(code: &Ldpc, stream: Stream, bits: u32) -> Vec<u64> {
        let mut mask = alloc::vec![0; code.codeword_words()];
        for i in 0..u64::from(bits) {
            let at = stream.at(i).below(u64::from(code.codeword_bits()));
            mask[at as usize / 64] |= 1 << (at % 64);
        }
        mask
    }

    fn xor(a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(a, b)| a ^ b).collect()
    }

    /// The same algorithm bit by bit on wide integers, without rotation or lanes.
    fn reference(code: &Ldpc, word: &mut [u64], reliability: Reliability) -> Decode {
        let z = code.z() as usize;
        let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        let mut posterior: Vec<i32> = (0..COLUMNS * z)
            .map(|i| {
                let magnitude = match reliability {
                    Reliability::Hard => HARD,
                    Reliability::Three { weak } if bit(weak, i) => SOFT3.1,
                    Reliability::Three { .. } => SOFT3.0,
                    Reliability::Five { weak, .. } if bit(weak, i) => SOFT5.2,
                    Reliability::Five { medium, .. } if bit(medium, i) => SOFT5.1,
                    Reliability::Five { .. } => SOFT5.0,
                };
                i32::from(magnitude) * if bit(word, i) { -1 } else { 1 }
            })
            .collect();
        let bits_of = |check: usize| {
            let (row, r) = (check / z, check % z);
            let edges = code.row(row).iter();
            let at = edges.map(|e| e.column as usize * z + (r + e.shift as usize) % z);
            at.collect::<Vec<usize>>()
        };
        let checks: Vec<Vec<usize>> = (0..ROWS * z).map(bits_of).collect();
        let mut messages: Vec<Vec<i32>> = checks.iter().map(|c| alloc::vec![0; c.len()]).collect();
        for iterations in 0..=MAX_ITERATIONS {
            let odd = |c: &Vec<usize>| c.iter().filter(|&&i| posterior[i] < 0).count() % 2 == 1;
            if !checks.iter().any(odd) {
                for (i, p) in posterior.iter().enumerate() {
                    word[i / 64] &= !(1 << (i % 64));
                    word[i / 64] |= u64::from(*p < 0) << (i % 64);
                }
                return Decode {
                    ok: true,
                    iterations,
                };
            }
            if iterations == MAX_ITERATIONS {
                break;
            }
            for (bits, messages) in checks.iter().zip(&mut messages) {
                let t: Vec<i32> = bits
                    .iter()
                    .zip(&*messages)
                    .map(|(&i, r)| posterior[i] - r)
                    .collect();
                for (k, &i) in bits.iter().enumerate() {
                    let others = || t.iter().enumerate().filter(|o| o.0 != k).map(|o| *o.1);
                    let least = others().map(i32::abs).min().unwrap_or(0).min(31);
                    // Three quarters, rounded to nearest; a half is rounded down.
                    let value = (3 * least + 1) / 4;
                    let negative = others().filter(|&v| v < 0).count() % 2 == 1;
                    messages[k] = if negative { -value } else { value };
                    posterior[i] = t[k] + messages[k];
                }
            }
        }
        Decode {
            ok: false,
            iterations: MAX_ITERATIONS,
        }
    }

    #[test]
    fn model_every_kernel_gives_the_bits_of_the_reference() {
        for (code, weights) in [
            (Ldpc::new_1k(), [0, 1, 40, 80, 95]),
            (Ldpc::new_4k(), [0, 1, 40, 160, 200]),
        ] {
            let mut fast = Decoder::new(&code);
            let mut portable = Decoder::portable(&code);
            for (seed, weight) in (0..).zip(weights) {
                let s = Stream::new(seed).named("kernels");
                let sent = codeword(&code, s);
                let errors = mask(&code, s.at(1 << 40), weight);
                let (weak, medium) = (
                    mask(&code, s.at(1 << 41), 10 * weight),
                    mask(&code, s.at(1 << 42), 10 * weight),
                );
                for reliability in [
                    Reliability::Hard,
                    Reliability::Three { weak: &weak },
                    Reliability::Five {
                        weak: &weak,
                        medium: &medium,
                    },
                ] {
                    let read = xor(&sent, &errors);
                    let (mut a, mut b, mut c) = (read.clone(), read.clone(), read);
                    let expected = reference(&code, &mut a, reliability);
                    let what = (code.z(), seed, reliability_name(reliability));
                    assert_eq!(fast.decode(&mut b, reliability), expected, "fast {what:?}");
                    assert_eq!(portable.decode(&mut c, reliability), expected, "{what:?}");
                    assert!(a == b && b == c, "bits differ: {what:?}");
                }
            }
        }
    }

    fn reliability_name(reliability: Reliability) -> &'static str {
        match reliability {
            Reliability::Hard => "hard",
            Reliability::Three { .. } => "three",
            Reliability::Five { .. } => "five",
        }
    }

    #[test]
    fn model_errors_well_below_the_knee_are_corrected() {
        for (code, weights) in [
            (Ldpc::new_1k(), [1, 10, 25, 40]),
            (Ldpc::new_4k(), [1, 50, 120, 200]),
        ] {
            let mut decoder = Decoder::new(&code);
            for seed in 0..25 {
                for weight in weights {
                    let s = Stream::new(seed).named("round trip").at(u64::from(weight));
                    let sent = codeword(&code, s);
                    let errors = mask(&code, s.at(1 << 40), weight);
                    let mut read = xor(&sent, &errors);
                    let decode = decoder.decode(&mut read, Reliability::Hard);
                    assert!(decode.ok && read == sent, "seed {seed}, {weight} errors");
                }
            }
        }
    }

    #[test]
    fn sequence_what_hard_decoding_fails_and_soft_decoding_does() {
        let code = Ldpc::new_1k();
        let mut decoder = Decoder::new(&code);
        for seed in 0..10 {
            let s = Stream::new(seed).named("soft");
            let sent = codeword(&code, s);
            let errors = mask(&code, s.at(1 << 40), 140);
            let read = xor(&sent, &errors);
            let mut word = read.clone();
            let hard = decoder.decode(&mut word, Reliability::Hard);
            assert_eq!((hard.ok, hard.iterations), (false, MAX_ITERATIONS));
            assert_eq!(
                word, read,
                "seed {seed}: a failed word stays as it was read"
            );
            // All errors are weak; as many right bits are weak too.
            let others = mask(&code, s.at(1 << 41), 140);
            let weak: Vec<u64> = errors.iter().zip(&others).map(|(a, b)| a | b).collect();
            let soft = decoder.decode(&mut word, Reliability::Three { weak: &weak });
            assert!(soft.ok && word == sent, "seed {seed}: {soft:?}");
        }
    }

    #[test]
    fn formula_a_portable_decoder_uses_no_more_than_the_target_has() {
        let code = Ldpc::new_1k();
        assert_eq!(Decoder::portable(&code).kernel, Kernel::Portable);
        assert_eq!(Decoder::new(&code).kernel, Kernel::fastest());
    }
}
