//! A counter for every unit.

use super::accesses::Access;
use super::counters::Counters;
use super::lines::{Line, Lines, WORDS};

/// Units of a line: four in a word.
const UNITS: u64 = 4 * WORDS as u64;

/// The counters of all units.
#[derive(Clone, Debug)]
pub(super) struct Flat(Lines);

impl Flat {
    pub(super) fn new(units: u64) -> Flat {
        Flat(Lines::new(units.div_ceil(UNITS) as usize))
    }

    /// Bytes that `units` take.
    pub(super) fn bytes_of(units: u64) -> u64 {
        Lines::bytes_of(units.div_ceil(UNITS))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The line of `unit`, its word there, and the bits below its byte in the word.
    #[inline]
    fn place(unit: u64) -> (usize, usize, u32) {
        let (line, byte) = (unit / UNITS, unit % UNITS);
        (line as usize, 1 + byte as usize / 4, byte as u32 % 4 * 8)
    }

    /// The byte of `unit` in `epoch`.
    #[inline]
    pub(super) fn of(&self, unit: u64, epoch: u32, counters: &Counters) -> u8 {
        let (line, word, shift) = Flat::place(unit);
        let line: &Line = self.0.of(line);
        counters.halved((line[word] >> shift) as u8, epoch - line[0])
    }

    /// Counts `accesses` in `epoch`.
    pub(super) fn count(&mut self, accesses: &[Access], epoch: u32, counters: &Counters) {
        // All lines are looked at before any is changed, and nothing depends on one of them alone: they are fetched side
        // by side.
        let ages = accesses
            .iter()
            .map(|access| epoch ^ self.0.of(Flat::place(access.unit()).0)[0]);
        let are_old = ages.fold(0, |all, age| all | age) != 0;
        let age = |word, missed| counters.four_halved(word, missed);
        for access in accesses {
            let (line, word, shift) = Flat::place(access.unit());
            if are_old {
                self.0.touch(line, epoch, age);
            }
            let word = &mut self.0.of_mut(line)[word];
            let before = (*word >> shift) as u8;
            let after = counters.after(before, access.writes());
            *word ^= u32::from(before ^ after) << shift;
        }
    }

    /// `epoch` is called epoch 1 from now on.
    pub(super) fn number_anew(&mut self, epoch: u32, counters: &Counters) {
        let age = |word, missed| counters.four_halved(word, missed);
        self.0.number_anew(epoch, age);
    }
}
