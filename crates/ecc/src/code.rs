//! The codes a drive can be built with, and their verdict on a codeword of known error weight.

use core::fmt;

use firstread_core::Ns;

use crate::ldpc;
use crate::outcome::{self, Outcomes, TableError};
use crate::soft::SoftWeights;
use crate::verdict::Verdict;

/// An error-correcting code as the simulator sees it: the outcome for a codeword with a given number of bit
/// errors. No bit is decoded; LDPC codes answer from outcomes that were measured with the decoder of
/// [`crate::ldpc`].
#[derive(Clone, Debug)]
pub enum Code {
    /// Fails exactly if a codeword has more errors than the threshold.
    Threshold(Threshold),
    /// A quasi-cyclic LDPC code with its measured outcomes.
    Ldpc(LdpcCode),
}

/// A bounded-distance code, as data sheets quote it ("72 bit per 1 KiB").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threshold {
    data_bits: u32,
    parity_bits: u32,
    correctable: u32,
}

/// An LDPC code with its outcomes.
#[derive(Clone, Debug)]
pub struct LdpcCode {
    name: &'static str,
    data_bits: u32,
    parity_bits: u32,
    hard: Outcomes,
    soft: Outcomes,
}

/// Decoder times, from the drive profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeTiming {
    /// Fixed part: load, syndrome check, unload. A threshold code has no other part.
    pub setup_ns: u32,
    /// Time per iteration.
    pub iteration_ns: u32,
}

impl DecodeTiming {
    /// Duration of the decode that ended in `verdict`.
    pub const fn latency(self, verdict: Verdict) -> Ns {
        self.latency_of(1, verdict.iterations)
    }

    /// Duration of `decodes` decodes one after another, with `iterations` iterations in total.
    #[inline]
    pub const fn latency_of(self, decodes: u32, iterations: u32) -> Ns {
        Ns(self.setup_ns as u64 * decodes as u64 + self.iteration_ns as u64 * iterations as u64)
    }
}

/// Why a code could not be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// No code has this name; [`Code::NAMES`] lists the codes.
    UnknownName,
    /// A table of outcomes in the crate, named by its file, does not parse.
    Table(&'static str, TableError),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::UnknownName => write!(f, "no such code; there are {:?}", Code::NAMES),
            CodeError::Table(file, e) => write!(f, "{file}: {e}"),
        }
    }
}

impl core::error::Error for CodeError {}

impl Code {
    /// Names of the codes.
    pub const NAMES: [&'static str; 3] = ["threshold", "ldpc-1k", "ldpc-4k"];

    /// The code called `name`. Builds tables, which takes about a millisecond: call it once per drive, not
    /// once per read.
    pub fn named(name: &str) -> Result<Code, CodeError> {
        let table = |file: &'static str| {
            let text = outcome::TABLES.iter().find(|t| t.0 == file);
            Outcomes::parse(text.map_or("", |t| t.1)).map_err(|e| CodeError::Table(file, e))
        };
        let ldpc = |name, z: u32, hard, soft| {
            Ok(Code::Ldpc(LdpcCode {
                name,
                data_bits: 32 * z,
                parity_bits: 4 * z,
                hard: table(hard)?,
                soft: table(soft)?,
            }))
        };
        match name {
            "threshold" => Ok(Code::Threshold(Threshold {
                data_bits: 8192,
                parity_bits: 1024,
                correctable: 72,
            })),
            "ldpc-1k" => ldpc("ldpc-1k", 256, "ldpc-1k-hard.csv", "ldpc-1k-soft.csv"),
            "ldpc-4k" => ldpc("ldpc-4k", 1024, "ldpc-4k-hard.csv", "ldpc-4k-soft.csv"),
            _ => Err(CodeError::UnknownName),
        }
    }

    /// The name of the code, one of [`Code::NAMES`].
    pub const fn name(&self) -> &'static str {
        match self {
            Code::Threshold(_) => "threshold",
            Code::Ldpc(c) => c.name,
        }
    }

    /// Bits of a codeword, including parity.
    pub const fn codeword_bits(&self) -> u32 {
        match self {
            Code::Threshold(c) => c.data_bits + c.parity_bits,
            Code::Ldpc(c) => c.data_bits + c.parity_bits,
        }
    }

    /// Data bytes of a codeword.
    pub const fn data_bytes(&self) -> u32 {
        match self {
            Code::Threshold(c) => c.data_bits / 8,
            Code::Ldpc(c) => c.data_bits / 8,
        }
    }

    /// Verdict on a hard-read codeword with `weight` bit errors. `draw` is 64 uniform bits that belong to the
    /// codeword and are the same at every read. `persistent_draw` returns 64 uniform bits that persist as far as the
    /// errors do. It is called only if the weight leaves open whether the codeword fails. So the same errors
    /// always have the same outcome, and additional errors never have a better one.
    #[inline(always)] // Its verdict then stays in registers.
    pub fn judge(&self, weight: u32, draw: u64, persistent_draw: impl FnOnce() -> u64) -> Verdict {
        match self {
            Code::Threshold(c) => c.judge(weight),
            Code::Ldpc(c) => c.hard.judge(weight, weight, draw, persistent_draw),
        }
    }

    /// Verdict on a soft-read codeword; `persistent_draw` is as in [`Code::judge`]. A threshold code gains nothing from
    /// soft information.
    #[inline]
    pub fn judge_soft(&self, weights: &SoftWeights, persistent_draw: u64) -> Verdict {
        let errors = weights.hard_errors();
        match self {
            Code::Threshold(c) => c.judge(errors),
            Code::Ldpc(c) => {
                let outcomes = c.outcomes(weights);
                outcomes.judge(weights.score(), errors, persistent_draw, || persistent_draw)
            }
        }
    }

    /// Whether the code gains from soft reads.
    pub const fn is_soft(&self) -> bool {
        matches!(self, Code::Ldpc(_))
    }

    /// Probability that a codeword with the errors `weights` fails to decode.
    pub fn soft_failure_probability(&self, weights: &SoftWeights) -> f64 {
        match self {
            Code::Threshold(_) => self.failure_probability(weights.hard_errors()),
            Code::Ldpc(c) => c.outcomes(weights).failure_probability(weights.score()),
        }
    }

    /// Parity checks left unsatisfied by a codeword with `weight` bit errors at random positions: an LDPC
    /// decoder counts them before its first iteration. Zero for a code whose decoder does not report them.
    pub fn unsatisfied_checks(&self, weight: u32) -> u32 {
        match self {
            Code::Threshold(_) => 0,
            Code::Ldpc(c) => {
                // A check is unsatisfied if an odd number of its bits is wrong.
                let p =
                    f64::from(weight.min(self.codeword_bits())) / f64::from(self.codeword_bits());
                let odd = |bits: u32| 0.5 * (1.0 - libm::pow(1.0 - 2.0 * p, f64::from(bits)));
                let checks: f64 = ldpc::CHECK_BITS.into_iter().map(odd).sum();
                let of_each = c.parity_bits / ldpc::CHECK_BITS.len() as u32;
                libm::round(checks * f64::from(of_each)) as u32
            }
        }
    }

    /// Mean iterations of hard decodes that succeed, for `weight` errors; none if all fail.
    pub fn mean_iterations(&self, weight: u32) -> Option<f64> {
        match self {
            Code::Threshold(_) => Some(0.0),
            Code::Ldpc(c) => c.hard.mean_iterations(weight),
        }
    }

    /// Probability that a hard decode fails, for `weight` errors.
    pub fn failure_probability(&self, weight: u32) -> f64 {
        match self {
            Code::Threshold(c) => f64::from(u8::from(weight > c.correctable)),
            Code::Ldpc(c) => c.hard.failure_probability(weight),
        }
    }

    /// Frame error rate of a hard read over a memoryless channel with raw bit error rate `rber`: the failure
    /// probability averaged over the binomial distribution of the weight. For documents and tests; a drive
    /// draws a weight and judges it.
    pub fn frame_error_rate(&self, rber: f64) -> f64 {
        outcome::mix(self.codeword_bits(), rber, |w| self.failure_probability(w))
    }
}

impl LdpcCode {
    /// The outcomes of reads with the same number of senses as `weights`.
    #[inline]
    fn outcomes(&self, weights: &SoftWeights) -> &Outcomes {
        match weights.classes {
            0 | 1 => &self.hard,
            _ => &self.soft,
        }
    }
}

impl Threshold {
    #[inline(always)] // So that verdicts stay in registers, whatever the code.
    fn judge(&self, weight: u32) -> Verdict {
        let ok = weight <= self.correctable;
        Verdict {
            ok,
            corrected: if ok { weight } else { 0 },
            iterations: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ldpc::Ldpc;
    use crate::measure::{Trial, gaussian_weights, weights_of_place, wilson};
    use crate::outcome::parse_points;
    use firstread_core::Stream;

    fn code(name: &str) -> Code {
        Code::named(name).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    #[test]
    fn smoke_every_name_makes_a_code_of_rate_eight_ninths() {
        for name in Code::NAMES {
            let c = code(name);
            assert_eq!(c.name(), name);
            assert_eq!(c.codeword_bits() * 8 / 9, c.data_bytes() * 8);
        }
        assert!(matches!(Code::named("bch"), Err(CodeError::UnknownName)));
    }

    #[test]
    fn formula_threshold_code_fails_as_the_binomial_tail() {
        // Tail of Binomial(9216, p) beyond 72, computed independently of this crate.
        for (rber, expected) in [(5.93e-3, 1e-2), (4.93e-3, 1e-4)] {
            let fer = code("threshold").frame_error_rate(rber);
            let off = fer / expected - 1.0;
            assert!(off.abs() < 0.05, "RBER {rber}: {fer}, expected {expected}");
        }
    }

    #[test]
    fn formula_more_errors_never_end_better_for_the_same_draw() {
        for name in Code::NAMES {
            let c = code(name);
            for seed in 0..300 {
                // Half of the draws are from the far tail.
                let bits = Stream::new(seed).named("draw").bits();
                let draw = bits >> (if seed % 2 == 0 { 0 } else { bits & 63 });
                let mut last = c.judge(0, draw, || draw);
                assert_eq!((last.ok, last.iterations), (true, 0), "{name}");
                for weight in 1..500 {
                    let v = c.judge(weight, draw, || draw);
                    assert_eq!(v, c.judge(weight, draw, || draw));
                    assert!(
                        v.ok <= last.ok && v.iterations >= last.iterations,
                        "{name}, seed {seed}, weight {weight}: {last:?} then {v:?}"
                    );
                    assert_eq!(v.corrected, if v.ok { weight } else { 0 });
                    last = v;
                }
                assert!(!last.ok, "{name}: 500 errors, seed {seed}");
            }
        }
    }

    #[test]
    fn formula_draws_fail_as_often_as_the_table_says() {
        let c = code("ldpc-1k");
        for weight in [60, 78, 87, 96] {
            let (mut failed, mut iterations, n) = (0, 0, 40_000);
            for i in 0..n {
                let draw = Stream::new(3).at(i).bits();
                let v = c.judge(weight, draw, || draw);
                failed += u32::from(!v.ok);
                iterations += if v.ok { v.iterations } else { 0 };
            }
            let (low, high) = wilson(failed, n as u32, 4.0);
            let p = c.failure_probability(weight);
            assert!(
                (low..=high).contains(&p),
                "weight {weight}: {low}..{high}, {p}"
            );
            let mean = f64::from(iterations) / f64::from(n as u32 - failed);
            let expected = c.mean_iterations(weight).unwrap_or(0.0);
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, {expected}");
        }
    }

    #[test]
    fn model_unsatisfied_checks_are_those_of_drawn_errors() {
        for name in ["ldpc-1k", "ldpc-4k"] {
            let (c, ldpc) = (
                code(name),
                Ldpc::named(name).unwrap_or_else(|| panic!("{name}")),
            );
            let bits = c.codeword_bits();
            for weight in [10, 72, 150, 400] {
                let (mut sum, trials) = (0, 40);
                for trial in 0..trials {
                    let mut word = alloc::vec![0; ldpc.codeword_words()];
                    let draws = Stream::new(trial).named("checks").at(u64::from(weight));
                    let mut left = weight;
                    for i in 0.. {
                        let at = draws.at(i).below(u64::from(bits)) as usize;
                        let (at, bit) = (at / 64, 1 << (at % 64));
                        left -= u32::from(word[at] & bit == 0);
                        word[at] |= bit;
                        if left == 0 {
                            break;
                        }
                    }
                    sum += ldpc.unsatisfied_checks(&word);
                }
                let (mean, told) = (f64::from(sum) / trials as f64, c.unsatisfied_checks(weight));
                assert!(
                    (mean / f64::from(told) - 1.0).abs() < 0.03,
                    "{name}, {weight} errors: {mean} unsatisfied, told {told}"
                );
            }
        }
    }

    #[test]
    fn golden_tables_are_those_of_the_codes() {
        for (file, text) in outcome::TABLES {
            let name = &file[..7];
            let ldpc = Ldpc::named(name).unwrap_or_else(|| panic!("{name}"));
            let tag = std::format!("code {:08x},", ldpc.fingerprint());
            assert!(text.contains(&tag), "{file} is not for {tag}");
            for p in parse_points(text).unwrap_or_else(|e| panic!("{file}: {e}")) {
                assert_eq!(p.score, p.weights.score(), "{file}");
            }
        }
    }

    #[test]
    fn model_fresh_error_patterns_fail_as_often_as_the_tables_say() {
        for (name, weights, frames) in [
            ("ldpc-1k", [78, 87, 96], 1_000),
            ("ldpc-4k", [334, 346, 358], 300),
        ] {
            let c = code(name);
            let ldpc = Ldpc::named(name).unwrap_or_else(|| panic!("{name}"));
            let mut trial = Trial::new(&ldpc);
            let stream = Stream::new(0x5eed).named(name);
            for weight in weights {
                let soft = weights_of_place(c.codeword_bits(), weight);
                for w in [SoftWeights::hard(weight), soft] {
                    let decode_counts = trial.run(&w, stream.at(u64::from(weight)), 0..frames);
                    let (low, high) = wilson(decode_counts.failures(), frames, 3.5);
                    // Scores are rounded for the lookup.
                    let (outcomes, exact) = (outcomes(&c, &w), w.exact_score());
                    let above = outcomes.failure_probability(libm::ceil(exact) as u32);
                    let below = outcomes.failure_probability(libm::floor(exact) as u32);
                    assert!(
                        low <= above && below <= high,
                        "{name} {w:?}: {low}..{high}, table {below}..{above}"
                    );
                }
            }
        }
    }

    fn outcomes<'a>(code: &'a Code, weights: &SoftWeights) -> &'a Outcomes {
        match code {
            Code::Ldpc(c) => c.outcomes(weights),
            Code::Threshold(_) => panic!("a threshold code has no table"),
        }
    }

    #[test]
    fn model_the_score_tells_the_failures_of_other_senses() {
        // The claim of module `soft`: whatever the distances of the levels and whatever the counts, the odds
        // are predicted within a factor of 1.5, apart from the noise of few codewords.
        let ldpc = Ldpc::new_1k();
        let c = code("ldpc-1k");
        let mut trial = Trial::new(&ldpc);
        let (frames, bits) = (600, c.codeword_bits());
        let reads: [(&[f64], [u32; 3]); 8] = [
            (&[0.2], [0; 3]),
            (&[0.43], [0; 3]),
            (&[0.8], [0; 3]),
            // Fewer strong errors and more weak ones than with two equal states.
            (&[0.43], [0, 40, 0]),
            (&[0.3, 0.6], [0; 3]),
            (&[0.43, 0.86], [0; 3]),
            (&[0.43, 0.86], [0, 12, 0]),
            (&[0.43, 0.86], [0, 0, 30]),
        ];
        for (distances, more) in reads {
            let counts = |rber: f64| {
                let mut w = gaussian_weights(bits, rber, distances);
                for (class, more) in more.into_iter().enumerate() {
                    w.errors[class] += more;
                    w.bits[class] += more;
                }
                w
            };
            let (mut low, mut high) = (1e-3, 0.05);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if counts(middle).exact_score() < 85.5 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let w = counts(high);
            let decode_counts = trial.run(&w, Stream::new(11).named("score"), 0..frames);
            let (low, high) = wilson(decode_counts.failures(), frames, 3.0);
            let outcomes = outcomes(&c, &w);
            let odds = |p: f64| p / (1.0 - p);
            let below = odds(outcomes.failure_probability(85)) / 1.5;
            let above = odds(outcomes.failure_probability(86)) * 1.5;
            assert!(
                below <= odds(high) && odds(low) <= above,
                "{distances:?} {w:?}: {low:.3}..{high:.3} fail, table odds {below:.3} to {above:.3}"
            );
        }
    }

    #[test]
    fn formula_a_decode_takes_its_setup_and_its_iterations() {
        let timing = DecodeTiming {
            setup_ns: 100,
            iteration_ns: 7,
        };
        let verdict = Verdict {
            ok: true,
            corrected: 3,
            iterations: 5,
        };
        assert_eq!(timing.latency(verdict), Ns(135));
        assert_eq!(timing.latency_of(3, 10), Ns(370));
        assert_eq!(timing.latency_of(0, 0), Ns(0));
    }

    #[test]
    fn formula_codes_have_the_sizes_of_their_names() {
        for (name, bits, data_bytes, soft) in [
            ("threshold", 9216, 1024, false),
            ("ldpc-1k", 9216, 1024, true),
            ("ldpc-4k", 36_864, 4096, true),
        ] {
            let c = code(name);
            let is = (c.codeword_bits(), c.data_bytes(), c.is_soft());
            assert_eq!(is, (bits, data_bytes, soft), "{name}");
        }
    }

    #[test]
    fn golden_errors_name_the_codes_and_the_table() {
        let unknown = Code::named("bch")
            .map(|_| ())
            .map_err(|e| std::format!("{e}"));
        let names = "no such code; there are [\"threshold\", \"ldpc-1k\", \"ldpc-4k\"]";
        assert_eq!(unknown, Err(names.into()));
        let what = outcome::TableFault::Pair;
        let table = CodeError::Table("a.csv", TableError { line: 3, what });
        assert_eq!(
            std::format!("{table}"),
            "a.csv: outcome table, line 3: a pair of the last column is not written iterations:codewords"
        );
    }

    #[test]
    fn formula_a_threshold_code_corrects_72_bits_however_they_are_read() {
        let c = code("threshold");
        for (errors, ok) in [
            (0, true),
            (71, true),
            (72, true),
            (73, false),
            (9216, false),
        ] {
            let soft = SoftWeights {
                classes: 2,
                errors: [errors / 3, errors - errors / 3, 0],
                bits: [8000, 1216, 0],
            };
            let expected = Verdict {
                ok,
                corrected: if ok { errors } else { 0 },
                iterations: 0,
            };
            assert_eq!(c.judge(errors, 0, || 0), expected);
            assert_eq!(c.judge_soft(&soft, 0), expected);
            let fails = if ok { 0.0 } else { 1.0 };
            assert_eq!(c.failure_probability(errors), fails);
            assert_eq!(c.soft_failure_probability(&soft), fails);
            assert_eq!(
                (c.unsatisfied_checks(errors), c.mean_iterations(errors)),
                (0, Some(0.0))
            );
        }
        // A channel without errors, and one that turns each bit over.
        assert_eq!(
            (c.frame_error_rate(0.0), c.frame_error_rate(1.0)),
            (0.0, 1.0)
        );
    }

    #[test]
    fn formula_a_soft_read_is_judged_by_the_table_of_its_senses() {
        for name in ["ldpc-1k", "ldpc-4k"] {
            let c = code(name);
            let Code::Ldpc(ldpc) = &c else {
                panic!("{name}");
            };
            let mut opened = 0;
            for place in (0..400).step_by(2) {
                for (weights, table) in [
                    (SoftWeights::hard(place), &ldpc.hard),
                    (
                        weights_of_place(c.codeword_bits(), place.max(1)),
                        &ldpc.soft,
                    ),
                ] {
                    let fail = table.failure_probability(weights.score());
                    assert_eq!(c.soft_failure_probability(&weights), fail);
                    let draw = |share: f64| (share * 18_446_744_073_709_551_616.0) as u64;
                    let below = c.judge_soft(&weights, draw(fail * 0.999));
                    let above = c.judge_soft(&weights, draw(fail * 1.001 + 1e-9));
                    if fail > 1e-6 && fail < 0.99 {
                        opened += 1;
                        assert!(!below.ok && above.ok, "{name} {weights:?}: {fail}");
                        assert_eq!(above.corrected, weights.hard_errors());
                    }
                }
                let hard = SoftWeights::hard(place);
                assert_eq!(
                    c.soft_failure_probability(&hard),
                    c.failure_probability(place)
                );
            }
            assert!(opened > 20, "{opened}");
        }
    }

    /// One wrong bit leaves as many checks unsatisfied as it is in, 141 of 36 columns; where all bits are wrong, each check
    /// of an odd number of bits is unsatisfied.
    #[test]
    fn formula_the_fewest_and_the_most_errors_leave_checks_unsatisfied() {
        for (name, z) in [("ldpc-1k", 256), ("ldpc-4k", 1024)] {
            let c = code(name);
            let all = c.codeword_bits();
            let checks = [0, 1, all, all + 1].map(|weight| c.unsatisfied_checks(weight));
            assert_eq!(checks, [0, 4, 3 * z, 3 * z], "{name}");
            assert_eq!(c.unsatisfied_checks(all / 2), 2 * z, "half of all checks");
        }
    }
}
