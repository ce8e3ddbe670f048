//! The read levels of one sense.

/// Offset of each read level from the chip's factory default, in DAC units (5 mV on the shipped chips). Index
/// `k` is valley `k + 1`, between states `k` and `k + 1`. A mode with fewer valleys leaves the rest zero.
pub type LevelOffsets = [i8; 15];

/// Which levels a sense uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Levels {
    /// Offsets from the factory default.
    Offsets(LevelOffsets),
    /// The best levels there are, resolved by the medium. Only oracle schemes ask for them.
    Ideal(IdealScope),
}

impl Levels {
    /// The chip's factory default.
    pub const DEFAULT: Levels = Levels::Offsets([0; 15]);
}

/// The cells for which ideal levels are best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdealScope {
    /// The page that is read.
    Page,
    /// The page that is read, with the errors of the default sense time, however short the sense is.
    PageAtAnyTime,
    /// All pages of the block group with this index (see [`crate::voltage::BlockGroups`]).
    Group(u8),
}
