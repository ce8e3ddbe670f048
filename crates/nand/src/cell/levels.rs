//! Read levels of a sense.

use firstread_core::LevelOffsets;

/// Read levels of a mode (mV), index `valley - 1`.
pub type LevelsMv = [f64; 15];

/// Levels of one sense.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ReadLevels {
    /// Offsets from the factory default (DAC units).
    Offsets(LevelOffsets),
    /// The best levels for the page that is sensed, unrounded.
    Ideal,
}

/// How many levels a soft sense places around each valley.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftLevels {
    /// Three levels: two reliability classes.
    Three,
    /// Five levels: three reliability classes.
    Five,
}

impl SoftLevels {
    /// Senses of each valley.
    pub const fn senses(self) -> u32 {
        match self {
            SoftLevels::Three => 3,
            SoftLevels::Five => 5,
        }
    }
}
