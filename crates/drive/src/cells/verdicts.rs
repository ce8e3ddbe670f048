//! Verdicts of one operation, and their sum.

use firstread_ecc::{Code, DecodeTiming, Verdict};

use super::sensed::Sensed;

/// Population count of four bits: a plain processor has no instruction for it.
pub(crate) const COUNT: [u32; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/// Checks left unsatisfied by a given number of errors, each computed on first use.
#[derive(Clone)]
pub(crate) struct Checks {
    /// The number of checks plus one; zero if not computed yet.
    known: Vec<u32>,
}

impl Checks {
    pub(crate) fn new(code: &Code) -> Checks {
        Checks {
            known: vec![0; code.codeword_bits() as usize + 1],
        }
    }

    #[inline]
    fn unsatisfied(&mut self, code: &Code, errors: u32) -> u16 {
        // No codeword has more errors than bits.
        let last = self.known.len() - 1;
        let known = &mut self.known[last.min(errors as usize)];
        if *known == 0 {
            *known = Checks::compute(code, errors) + 1;
        }
        (*known - 1) as u16
    }

    #[cold]
    fn compute(code: &Code, errors: u32) -> u32 {
        code.unsatisfied_checks(errors).min(u16::MAX as u32)
    }
}

/// Verdicts of one operation.
#[derive(Default)]
pub(crate) struct Verdicts {
    pub codewords: u32,
    failed: u64,
    max_errors: u32,
    sum_errors: u32,
    /// Errors of the failed codewords.
    failed_errors: u32,
    max_iterations: u32,
    sum_iterations: u32,
}

impl Verdicts {
    #[inline]
    pub(crate) fn add(&mut self, bit: u32, errors: u32, verdict: Verdict) {
        if verdict.ok {
            self.max_errors = self.max_errors.max(verdict.corrected);
            self.sum_errors += verdict.corrected;
        } else {
            self.failed |= 1 << bit;
            self.failed_errors = self.failed_errors.saturating_add(errors);
        }
        self.max_iterations = self.max_iterations.max(verdict.iterations);
        self.sum_iterations += verdict.iterations;
    }

    /// The outcome. Decoding times are linear in the iterations.
    #[inline]
    pub(crate) fn sensed(self, decode: DecodeTiming, code: &Code, checks: &mut Checks) -> Sensed {
        let unsatisfied = match self.failed {
            0 => 0,
            failed => checks.unsatisfied(code, self.failed_errors / failed.count_ones()),
        };
        Sensed {
            failed: self.failed,
            unsatisfied,
            max_errors: self.max_errors.min(u16::MAX as u32) as u16,
            sum_errors: self.sum_errors,
            decode_sum_ns: decode.latency_of(self.codewords, self.sum_iterations).0,
            decode_last_ns: decode.latency_of(1, self.max_iterations).0,
            ..Sensed::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cached value is the code's value, on first and on later use.
    #[test]
    fn formula_checks_kept_are_those_of_the_code() {
        for name in Code::NAMES {
            let code = Code::named(name).expect("the code has a name");
            let mut checks = Checks::new(&code);
            let bits = code.codeword_bits();
            for errors in [0, 1, 80, 81, 400, bits - 1, bits, bits + 1, u32::MAX] {
                let expected = code.unsatisfied_checks(errors);
                for _ in 0..2 {
                    let kept = checks.unsatisfied(&code, errors);
                    assert_eq!(u32::from(kept), expected, "{name}, {errors} errors");
                }
            }
        }
    }
}
