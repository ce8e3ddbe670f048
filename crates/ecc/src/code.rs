//! The codes a drive can be built with, and their verdict on a codeword of known error weight.

use core::fmt;

use firstread_core::Ns;

use crate::outcome::{self, Outcomes, TableError};
use crate::soft::SoftWeights;

/// Most iterations of the LDPC decoder, after which it gives up.
pub const MAX_ITERATIONS: u8 = 30;

/// An error-correcting code as the simulator sees it: what becomes of a codeword with so many bit
/// errors. No bit is decoded; the LDPC codes answer from outcomes measured with the decoder of
/// [`crate::ldpc`].
#[derive(Clone, Debug)]
pub enum Code {
    /// A codeword fails exactly when it has more errors than the threshold.
    Threshold(Threshold),
    /// A quasi-cyclic LDPC code, by its measured outcomes.
    Ldpc(LdpcCode),
}

/// A bounded-distance code, as data sheets quote it ("72 bit per 1 KiB").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threshold {
    data_bits: u32,
    parity_bits: u32,
    correctable: u32,
}

/// An LDPC code and its outcomes.
#[derive(Clone, Debug)]
pub struct LdpcCode {
    name: &'static str,
    data_bits: u32,
    parity_bits: u32,
    hard: Outcomes,
    soft: Outcomes,
}

/// What the decoder made of a codeword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Whether the data came out right. A miscorrection counts as a failure: controllers keep a
    /// checksum within the codeword.
    pub ok: bool,
    /// Bits corrected; 0 where the decoder failed.
    pub corrected: u16,
    /// Iterations run. 0 where the syndrome was zero at once, and always for a threshold code.
    pub iterations: u8,
}

/// Decoder times, from the drive's profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeTiming {
    /// Fixed part: load, syndrome check, unload. All there is for a threshold code.
    pub setup_ns: u32,
    /// Each iteration.
    pub iteration_ns: u32,
}

impl DecodeTiming {
    /// How long the decode that ended in `verdict` took.
    pub const fn latency(self, verdict: Verdict) -> Ns {
        Ns(self.setup_ns as u64 + self.iteration_ns as u64 * verdict.iterations as u64)
    }
}

/// Why a code could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// No code has this name; [`Code::NAMES`] lists those there are.
    UnknownName,
    /// A table of outcomes that is part of the crate does not parse.
    Table(TableError),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::UnknownName => write!(f, "no such code; there are {:?}", Code::NAMES),
            CodeError::Table(e) => write!(f, "{e}"),
        }
    }
}

impl core::error::Error for CodeError {}

impl Code {
    /// Names of the codes.
    pub const NAMES: [&'static str; 3] = ["threshold-72", "ldpc-1k", "ldpc-4k"];

    /// The code called `name`. Builds tables (about a millisecond): once a drive, not once a read.
    pub fn named(name: &str) -> Result<Code, CodeError> {
        let table = |file: &str| {
            let text = outcome::TABLES.iter().find(|t| t.0 == file);
            Outcomes::parse(text.map_or("", |t| t.1)).map_err(CodeError::Table)
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
            "threshold-72" => Ok(Code::Threshold(Threshold {
                data_bits: 8192,
                parity_bits: 1024,
                correctable: 72,
            })),
            "ldpc-1k" => ldpc("ldpc-1k", 256, "ldpc-1k-hard.csv", "ldpc-1k-soft.csv"),
            "ldpc-4k" => ldpc("ldpc-4k", 1024, "ldpc-4k-hard.csv", "ldpc-4k-soft.csv"),
            _ => Err(CodeError::UnknownName),
        }
    }

    /// Its name, one of [`Code::NAMES`].
    pub const fn name(&self) -> &'static str {
        match self {
            Code::Threshold(_) => "threshold-72",
            Code::Ldpc(c) => c.name,
        }
    }

    /// Bits of a codeword, data and parity.
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

    /// What the decoder makes of a hard-read codeword with `weight` bit errors. `draw` is 64
    /// uniform bits that belong to the codeword and stay the same from read to read, so that the
    /// same errors have the same end, and more errors never a better one.
    #[inline]
    pub fn judge(&self, weight: u32, draw: u64) -> Verdict {
        match self {
            Code::Threshold(c) => c.judge(weight),
            Code::Ldpc(c) => c.hard.judge(weight, weight, draw),
        }
    }

    /// What the decoder makes of a soft-read codeword; `draw` as for [`Code::judge`]. A threshold
    /// code gains nothing from soft information.
    #[inline]
    pub fn judge_soft(&self, weights: &SoftWeights, draw: u64) -> Verdict {
        let errors = weights.hard_errors();
        match self {
            Code::Threshold(c) => c.judge(errors),
            Code::Ldpc(c) if weights.classes < 2 => c.hard.judge(errors, errors, draw),
            Code::Ldpc(c) => c.soft.judge(weights.score(), errors, draw),
        }
    }

    /// Whether soft reads help.
    pub const fn is_soft(&self) -> bool {
        matches!(self, Code::Ldpc(_))
    }

    /// Probability that a soft decode fails, given the `score` of [`SoftWeights::score`]; of a code
    /// without soft decoder, `score` errors.
    pub fn soft_failure_probability(&self, score: u32) -> f64 {
        match self {
            Code::Threshold(_) => self.failure_probability(score),
            Code::Ldpc(c) => c.soft.failure_probability(score),
        }
    }

    /// Mean iterations of hard decodes that do not fail, given `weight` errors; none where all fail.
    pub fn mean_iterations(&self, weight: u32) -> Option<f64> {
        match self {
            Code::Threshold(_) => Some(0.0),
            Code::Ldpc(c) => c.hard.mean_iterations(weight),
        }
    }

    /// Probability that a hard decode fails, given `weight` errors.
    pub fn failure_probability(&self, weight: u32) -> f64 {
        match self {
            Code::Threshold(c) => f64::from(u8::from(weight > c.correctable)),
            Code::Ldpc(c) => c.hard.failure_probability(weight),
        }
    }

    /// Frame error rate of a hard read over a memoryless channel of raw bit error rate `rber`: the
    /// failure probability, mixed over the binomial distribution of the weight. For documents and
    /// tests; a drive draws a weight and judges it.
    pub fn frame_error_rate(&self, rber: f64) -> f64 {
        outcome::mix(self.codeword_bits(), rber, |w| self.failure_probability(w))
    }
}

impl Threshold {
    fn judge(&self, weight: u32) -> Verdict {
        let ok = weight <= self.correctable;
        Verdict {
            ok,
            corrected: if ok { weight as u16 } else { 0 },
            iterations: 0,
        }
    }
}
