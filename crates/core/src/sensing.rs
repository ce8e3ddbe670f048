//! The shortest safe sense: an integer table made by characterization.

use crate::{Ns, SenseTiming};

/// Temperatures (°C) of the table. A row holds up to its temperature.
pub const TEMPERATURES_C: [i16; 3] = [30, 55, 85];
/// P/E cycles of the table. A row holds up to its wear.
pub const WEARS_PE: [u32; 6] = [0, 500, 1000, 1500, 2000, 3000];
/// Ages of data (h) of the table. A column holds up to its age: an hour, a day, three and seven days, then
/// months of 31 days, so that an age of a round number of months lies within its column.
pub const AGES_H: [u32; 8] = [1, 24, 72, 168, 744, 2232, 4464, 8928];

/// The shortest safe precharge at one temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SafeSense {
    /// Precharge in thousandths of its default; 1000 if nothing shorter is safe.
    pub pre_permille: u16,
    /// Errors that the shorter sense adds to the worst codeword, in bits.
    pub extra_bits: u16,
}

impl SafeSense {
    /// Only the default timing is safe.
    pub const DEFAULT: SafeSense = SafeSense {
        pre_permille: 1000,
        extra_bits: 0,
    };

    /// The sensing phases. Only precharge is shortened.
    pub const fn timing(self) -> SenseTiming {
        SenseTiming {
            pre_permille: self.pre_permille,
            ..SenseTiming::DEFAULT
        }
    }
}

/// Shortest safe senses of a chip in one cell mode with one code, by temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SensingTable {
    /// Errors in a codeword that the code nearly always corrects, in bits.
    pub capability_bits: u16,
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// Indexed by temperature, wear and age.
    pub safe: [[[SafeSense; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
}

impl SensingTable {
    /// A table that shortens no sense.
    pub const NOTHING: SensingTable = SensingTable {
        capability_bits: 0,
        codeword_bits: 0,
        safe: [[[SafeSense::DEFAULT; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
    };

    /// The shortest safe sense at `celsius` for data of `age` in a block of `pe_cycles`. Beyond the table:
    /// the default.
    pub fn at(&self, celsius: i16, pe_cycles: u32, age: Ns) -> SafeSense {
        let hotter = TEMPERATURES_C.iter().position(|&t| celsius <= t);
        let worn = WEARS_PE.iter().position(|&pe| pe_cycles <= pe);
        let older = AGES_H.iter().position(|&h| age <= Ns::from_h(h as u64));
        match (hotter, worn, older) {
            (Some(t), Some(w), Some(a)) => self.safe[t][w][a],
            _ => SafeSense::DEFAULT,
        }
    }
}
