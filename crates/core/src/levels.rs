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
    /// Those that the chip finds itself by counting cells, on each plane its own.
    OnDie(ValleySearch),
}

impl Levels {
    /// The chip's factory default.
    pub const DEFAULT: Levels = Levels::Offsets([0; 15]);

    /// Time of a sense at these levels that takes `read_ns` at given ones.
    #[inline]
    pub const fn sense_ns(&self, read_ns: u64) -> u64 {
        match self {
            Levels::OnDie(search) => read_ns * search.sense_percent as u64 / 100,
            _ => read_ns,
        }
    }
}

/// A search of the chip for the valleys of a page: around each of its levels the chip counts how many cells lie between
/// neighbouring levels, and then senses the page where there are fewest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValleySearch {
    /// Time of the whole sense, in hundredths of `tR`.
    pub sense_percent: u16,
    /// Distance between neighbouring levels (DAC units).
    pub step: u8,
    /// Levels to either side of the centre.
    pub reach: u8,
    /// The centre, as an offset from the factory default (DAC units).
    pub center: i8,
}

impl ValleySearch {
    /// Offset of level `k`, counted from the centre (DAC units).
    pub const fn level(&self, k: i32) -> i8 {
        let units = self.center as i32 + k * self.step as i32;
        if units < i8::MIN as i32 {
            i8::MIN
        } else if units > i8::MAX as i32 {
            i8::MAX
        } else {
            units as i8
        }
    }
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
