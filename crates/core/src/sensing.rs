//! How short a sense may safely be: an integer table that characterization makes for the firmware.

use crate::{Ns, SenseTiming};

/// Temperatures the table has rows for, each for all that is not hotter (°C).
pub const TEMPERATURES_C: [i16; 3] = [30, 55, 85];
/// P/E cycles the table has rows for, each for all that is worn less.
pub const WEARS_PE: [u32; 6] = [0, 500, 1000, 1500, 2000, 3000];
/// Ages of data the table has columns for, each for all that is younger (h): an hour, a day, three and
/// seven of them, then months of 31 days, so that what is as old as a round number lies within.
pub const AGES_H: [u32; 8] = [1, 24, 72, 168, 744, 2232, 4464, 8928];

/// The shortest safe precharge of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SafeSense {
    /// Precharge, in thousandths of its default: 1000 where nothing shorter is safe.
    pub pre_permille: u16,
    /// Bits that the worst codeword errs in beyond those of a sense at the default time.
    pub extra_bits: u16,
}

impl SafeSense {
    /// Nothing but the default is safe.
    pub const DEFAULT: SafeSense = SafeSense {
        pre_permille: 1000,
        extra_bits: 0,
    };

    /// The phases of such a sense. Precharge alone is shortened.
    pub const fn timing(self) -> SenseTiming {
        SenseTiming {
            pre_permille: self.pre_permille,
            ..SenseTiming::DEFAULT
        }
    }
}

/// Safe senses of a chip in one cell mode with one code, by temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SensingTable {
    /// Bits the code corrects in a codeword nearly always.
    pub capability_bits: u16,
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// By temperature, wear and age.
    pub safe: [[[SafeSense; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
}

impl SensingTable {
    /// A table that shortens nothing.
    pub const NOTHING: SensingTable = SensingTable {
        capability_bits: 0,
        codeword_bits: 0,
        safe: [[[SafeSense::DEFAULT; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
    };

    /// What is safe at `celsius` for data of `age` in a block of `pe_cycles`; beyond the table, the
    /// default.
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
