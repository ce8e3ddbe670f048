//! A counter for every unit.

use super::chunks::{CHUNK, Chunks};
use super::counters::Counters;

/// The counters of all units.
#[derive(Clone, Debug)]
pub(super) struct Flat(Chunks<u8>);

impl Flat {
    pub(super) fn new(units: u64) -> Flat {
        Flat(Chunks::new(units as usize))
    }

    /// Bytes that `units` take.
    pub(super) fn bytes_of(units: u64) -> u64 {
        Chunks::<u8>::bytes_of(units.div_ceil(CHUNK as u64))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The byte of `unit` in `epoch`.
    #[inline]
    pub(super) fn of(&self, unit: u64, epoch: u64, counters: &Counters) -> u8 {
        let (cells, missed) = self.0.of(unit as usize, epoch);
        counters.halved(cells[0], missed)
    }

    /// Sets the byte of `unit` in `epoch` to what `change` makes of it.
    #[inline]
    pub(super) fn change(
        &mut self,
        unit: u64,
        epoch: u64,
        counters: &Counters,
        change: impl Fn(u8) -> u8,
    ) {
        let age = |byte, missed| counters.halved(byte, missed);
        let cell = &mut self.0.touch(unit as usize, epoch, age)[0];
        *cell = change(*cell);
    }
}
