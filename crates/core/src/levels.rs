//! The read levels of one sense.

/// Offset of each read level from the chip's factory default, in DAC units (5 mV on the shipped
/// chips). Index `k` is valley `k + 1`, between states `k` and `k + 1`; a mode with fewer valleys
/// leaves the rest zero.
pub type LevelOffsets = [i8; 15];

/// Which levels a sense uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Levels {
    /// Offsets from the factory default.
    Offsets(LevelOffsets),
    /// The best levels there are, resolved by the medium: the oracle's door.
    Ideal(IdealScope),
}

impl Levels {
    /// The chip's factory default.
    pub const DEFAULT: Levels = Levels::Offsets([0; 15]);
}

/// What an ideal vector is best for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdealScope {
    /// The very page that is read.
    Page,
    /// All pages of a block group (see [`crate::voltage::BlockGroups`]), by its index.
    Group(u8),
}
