//! The decoder.

use super::kernel::{LANES, MAX_CHANNEL, State};

type Small = State<256, { 256 + LANES }>;
type Large = State<1024, { 1024 + LANES }>;

use super::matrix::Ldpc;
use crate::code::MAX_ITERATIONS;

/// Magnitude a hard-read bit enters the decoder with. Min-sum is indifferent to scale but for
/// rounding and the cap of messages: at the knee, 16 to 24 serve equally well, 8 costs 5 % more
/// failures and 4 several times as many.
const HARD: i8 = 16;

/// Magnitudes of strong and weak bits of three senses. The ratio of the true log-likelihoods goes
/// from 5 to 8 with the distance of the levels; 4 to 6 serve all of them.
const SOFT3: (i8, i8) = (24, 5);

/// Magnitudes of strong, medium and weak bits of five senses.
const SOFT5: (i8, i8, i8) = (24, 10, 3);

const _: () = assert!(HARD <= MAX_CHANNEL && SOFT3.0 <= MAX_CHANNEL && SOFT5.0 <= MAX_CHANNEL);

/// What a read knows of its bits besides their values.
#[derive(Clone, Copy, Debug)]
pub enum Reliability<'a> {
    /// One sense: nothing.
    Hard,
    /// Three senses.
    Three {
        /// Bits whose cells lie between the outer senses.
        weak: &'a [u64],
    },
    /// Five senses.
    Five {
        /// Bits whose cells lie between the inner pair of outer senses.
        weak: &'a [u64],
        /// Bits whose cells lie between the outer pair, the weak ones or not.
        medium: &'a [u64],
    },
}

/// How a decode ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decode {
    /// Whether the result is a codeword.
    pub ok: bool,
    /// Iterations run; 0 where the word read was a codeword.
    pub iterations: u8,
}

/// Decodes codewords of one code. Its memory is allocated once and reused.
#[derive(Clone, Debug)]
pub struct Decoder {
    code: Ldpc,
    memory: Memory,
    kernel: Kernel,
}

/// Working memory by circulant size.
#[derive(Clone, Debug)]
enum Memory {
    Small(Small),
    Large(Large),
}

/// How the inner loops are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kernel {
    Portable,
    /// Made only by [`Kernel::fastest`], where the processor has AVX2.
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

/// `SPREAD[b]`: byte `i` is all ones where bit `i` of `b` is set.
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
    /// A decoder of `code`, as fast as this processor can (with feature `std`; without it, as fast
    /// as the target the crate is compiled for).
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

    /// A decoder that uses nothing beyond the target the crate is compiled for. Same results.
    pub fn portable(code: &Ldpc) -> Decoder {
        Decoder {
            kernel: Kernel::Portable,
            ..Decoder::new(code)
        }
    }

    /// Its code.
    pub const fn code(&self) -> &Ldpc {
        &self.code
    }

    /// Decodes `word` in place. A word that does not decode is left as it is.
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

/// `byte` in the bytes whose bit of `mask` is set, else those of `other`.
fn choose(mask: u8, byte: i8, other: u64) -> u64 {
    let mask = SPREAD[mask as usize];
    splat(byte) & mask | other & !mask
}

/// Writes a posterior for each bit: its magnitude, negative where the bit is 1.
#[inline(always)]
fn spread(block: &mut [i8], bits: &[u64], magnitude: impl Fn(usize, usize) -> u64) {
    for (w, (out, word)) in block.chunks_exact_mut(64).zip(bits).enumerate() {
        for (b, (out, byte)) in out.chunks_exact_mut(8).zip(word.to_le_bytes()).enumerate() {
            // Negation of bytes 1 to 127: complement, plus one, which carries nowhere.
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
