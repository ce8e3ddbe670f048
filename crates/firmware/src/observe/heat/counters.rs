//! The two counters of a unit, in a byte: reads in the low bits, writes above them.

use super::config::HeatConfig;

/// After so many halvings nothing is left of any counter.
const BITS: u32 = 8;

/// How often the host has read and written a page lately.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PageHeat {
    /// Host reads, halved with time; stays at the counter's maximum.
    pub reads: u8,
    /// Host writes, halved with time; stays at the counter's maximum.
    pub writes: u8,
}

/// How a byte is split, and the operations on its counters.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    reads: u8,
    writes: u8,
    write_shift: u8,
    reset_on_update: bool,
    /// Bits of both counters that are left after so many halvings.
    kept: [u8; BITS as usize + 1],
}

impl Counters {
    pub(super) fn new(config: &HeatConfig) -> Counters {
        let (read_bits, write_bits) = (u32::from(config.read_bits), u32::from(config.write_bits));
        assert!(
            read_bits > 0 && write_bits > 0 && read_bits + write_bits <= BITS,
            "counters of {read_bits} and {write_bits} bits in a byte"
        );
        let most = |bits: u32| (1u16 << bits) - 1;
        let kept = core::array::from_fn(|halvings| {
            let left = |bits: u32| most(bits.saturating_sub(halvings as u32));
            (left(read_bits) | left(write_bits) << read_bits) as u8
        });
        Counters {
            reads: most(read_bits) as u8,
            writes: most(write_bits) as u8,
            write_shift: read_bits as u8,
            reset_on_update: config.reset_on_update,
            kept,
        }
    }

    /// The most reads that a counter holds.
    pub(super) fn most_reads(&self) -> u8 {
        self.reads
    }

    /// `byte` after its counters were halved so often, each time rounded down.
    #[inline(always)]
    pub(super) fn halved(&self, byte: u8, halvings: u32) -> u8 {
        let halvings = halvings.min(BITS);
        ((u16::from(byte) >> halvings) as u8) & self.kept[halvings as usize]
    }

    /// The four bytes of `word` after the counters of each were halved so often.
    #[inline(always)]
    pub(super) fn four_halved(&self, word: u32, halvings: u32) -> u32 {
        let halvings = halvings.min(BITS);
        word >> halvings & u32::from_ne_bytes([self.kept[halvings as usize]; 4])
    }

    /// `byte` after a write, if it `writes`, or a read.
    #[inline]
    pub(super) fn after(&self, byte: u8, writes: bool) -> u8 {
        match writes {
            true => self.written(byte),
            false => self.read(byte),
        }
    }

    /// `byte` after a read.
    #[inline]
    fn read(&self, byte: u8) -> u8 {
        byte + u8::from(byte & self.reads < self.reads)
    }

    /// `byte` after a write.
    #[inline]
    fn written(&self, byte: u8) -> u8 {
        let one = 1 << self.write_shift;
        let more = u8::from(byte >> self.write_shift < self.writes) * one;
        let kept = match self.reset_on_update {
            true => byte & !self.reads,
            false => byte,
        };
        kept + more
    }

    /// The two counters of a unit whose byte is `byte`.
    #[inline]
    pub(super) fn heat(&self, byte: u8) -> PageHeat {
        PageHeat {
            reads: byte & self.reads,
            writes: byte >> self.write_shift,
        }
    }
}
