//! Speed of the decoder. Not part of the test run:
//! `cargo test --release -p firstread-ecc speed -- --ignored --nocapture`.

use alloc::vec::Vec;
use std::time::Instant;

use firstread_core::Stream;

use crate::Code;
use crate::ldpc::{Decoder, Encoder, Ldpc, Reliability};
use crate::measure::gaussian_weights;

/// Best time of a few runs, in seconds. Other work on the machine can only slow a run down.
#[allow(clippy::disallowed_methods)] // The clock is what is read here.
fn best(runs: u32, mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Codewords read over a Gaussian channel with the outer levels of a sense at 0.6.
fn reads(code: &Ldpc, rber: f64, count: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
    let bits = u64::from(code.codeword_bits());
    let w = gaussian_weights(bits as u32, rber, &[0.6]);
    let strong = u64::from(w.errors[0]);
    let wrong = u64::from(w.hard_errors());
    let marked = strong + u64::from(w.bits[1]);
    let read = |n| {
        let s = Stream::new(n).named("speed");
        let mut word = alloc::vec![0; code.codeword_words()];
        let mut weak = word.clone();
        for i in 0..marked {
            let at = s.at(i).below(bits) as usize;
            word[at / 64] |= u64::from(i < wrong) << (at % 64);
            weak[at / 64] |= u64::from(i >= strong) << (at % 64);
        }
        (word, weak)
    };
    (0..count).map(read).collect()
}

#[test]
#[ignore = "a measurement"]
fn speed_of_encoder_decoder_and_judge() {
    for name in ["ldpc-1k", "ldpc-4k"] {
        let code = Ldpc::named(name).unwrap_or_else(|| panic!("{name}"));
        let gigabits = code.data_words() as f64 * 64.0 * 200.0 / 1e9;
        let encoder = Encoder::new(&code);
        let mut word = alloc::vec![0x0123_4567_89ab_cdef; code.codeword_words()];
        let t = best(20, || (0..200).for_each(|_| encoder.encode(&mut word)));
        std::println!("{name}: encode {:.2} Gb/s", gigabits / t);
        for (kernel, mut decoder) in [
            ("fastest", Decoder::new(&code)),
            ("portable", Decoder::portable(&code)),
        ] {
            for (rber, soft) in [(0.003, false), (0.007, false), (0.013, true)] {
                let reads = reads(&code, rber, 200);
                let mut iterations = 0;
                let t = best(20, || {
                    iterations = 0;
                    for (read, weak) in &reads {
                        word.copy_from_slice(read);
                        let reliability = if soft {
                            Reliability::Three { weak }
                        } else {
                            Reliability::Hard
                        };
                        let decode = decoder.decode(&mut word, reliability);
                        iterations += u32::from(decode.iterations);
                    }
                });
                std::println!(
                    "{name}: {kernel}, {} at RBER {rber}: {:.2} Gb/s, {:.2} iterations",
                    if soft { "three senses" } else { "hard" },
                    gigabits / t,
                    f64::from(iterations) / 200.0
                );
            }
        }
        let judge = Code::named(name).unwrap_or_else(|e| panic!("{e}"));
        let n = 1_000_000u64;
        let top = u64::from(code.z()) * 3 / 10;
        let mut sum = 0u64;
        let t = best(5, || {
            for i in 0..n {
                let draw = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let verdict = judge.judge((draw % top) as u32, draw, || draw);
                sum += u64::from(verdict.iterations);
            }
        });
        std::println!("{name}: judge {:.1} ns ({sum})", t * 1e9 / n as f64);
    }
}
