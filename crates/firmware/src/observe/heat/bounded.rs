//! Counters of the units that were accessed lately, in bounded memory: a set-associative table with tags. A unit that
//! is not in its set takes the place of the coldest one there.

use firstread_core::Divisor;
use firstread_core::cache_line::words_that_match;

use super::accesses::Access;
use super::counters::Counters;
use super::lines::{LINE, Line, Lines, WORDS};

/// Units of a set. A set is a line.
const WAYS: usize = WORDS;

/// Bits of a cell that tell units of a set apart. The other eight are the counters.
const TAG_BITS: u32 = 24;

/// Most sets, so that [`Divisor`] is exact for every unit.
const MOST_SETS: u64 = 1 << 26;

/// The table. A cell is a tag and, in its low byte, the counters; those of an empty cell are zero.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    cells: Lines,
    sets: Divisor,
    /// Half the bits of the scattered number of a unit.
    half_bits: u32,
    /// The word of a line that goes first of those that are equally cold. It is another one each time.
    next: usize,
}

impl Bounded {
    /// For `units` in at most `most_bytes`, or in as many bytes as their tags need at least ([`Bounded::bytes_of`]).
    pub(super) fn new(units: u64, most_bytes: u64) -> Bounded {
        let half_bits = half_bits(units);
        let sets = sets(units, most_bytes);
        Bounded {
            cells: Lines::new(sets as usize),
            sets: Divisor::new(sets),
            half_bits,
            next: 1,
        }
    }

    /// Bytes that it takes for `units` in at most `most_bytes`.
    pub(super) fn bytes_of(units: u64, most_bytes: u64) -> u64 {
        Lines::bytes_of(sets(units, most_bytes))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.cells.bytes()
    }

    /// How many units it holds at most.
    pub(super) fn units(&self) -> u64 {
        self.sets.get() * WAYS as u64
    }

    /// The set of `unit`, and its tag there. Units that follow each other lie in different sets.
    #[inline]
    fn place(&self, unit: u64) -> (usize, u32) {
        let mask = (1u64 << (2 * self.half_bits)) - 1;
        // Each step can be undone, so two units with one place have different tags.
        let mixed = (unit ^ unit >> self.half_bits).wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
        let (tag, set) = self.sets.div_rem(mixed ^ mixed >> self.half_bits);
        (set as usize, tag as u32)
    }

    /// The byte of `unit` in `epoch`; zero where it is not known.
    #[inline]
    pub(super) fn of(&self, unit: u64, epoch: u32, counters: &Counters) -> u8 {
        let (set, tag) = self.place(unit);
        let line = self.cells.of(set);
        let held = word_of(tag, line).map_or(0, |word| line[word] as u8);
        counters.halved(held, epoch - line[0])
    }

    /// Counts `accesses` in `epoch`.
    pub(super) fn count(&mut self, accesses: &[Access], epoch: u32, counters: &Counters) {
        // As in the flat form, all lines are looked at before any is changed.
        let ages = accesses
            .iter()
            .map(|access| epoch ^ self.cells.of(self.place(access.unit()).0)[0]);
        let are_old = ages.fold(0, |all, age| all | age) != 0;
        let age = |cell: u32, missed| aged(cell, missed, counters);
        for access in accesses {
            let (set, tag) = self.place(access.unit());
            if are_old {
                self.cells.touch(set, epoch, age);
            }
            let line = self.cells.of_mut(set);
            let held = word_of(tag, line);
            let before = held.map_or(0, |word| line[word] as u8);
            let word = held.unwrap_or_else(|| {
                let first = self.next;
                self.next = if first == WAYS { 1 } else { first + 1 };
                coldest(line, first, counters)
            });
            line[word] = tag << 8 | u32::from(counters.after(before, access.writes()));
        }
    }

    /// `epoch` is called epoch 1 from now on.
    pub(super) fn number_anew(&mut self, epoch: u32, counters: &Counters) {
        let age = |cell: u32, missed| aged(cell, missed, counters);
        self.cells.number_anew(epoch, age);
    }
}

/// A cell that has missed so many epochs.
#[inline]
fn aged(cell: u32, missed: u32, counters: &Counters) -> u32 {
    cell & !0xff | u32::from(counters.halved(cell as u8, missed))
}

/// The words of a line without its stamp, a bit each.
const CELLS: u32 = !1;

/// The word of `line` that holds the unit of `tag`.
#[inline]
fn word_of(tag: u32, line: &Line) -> Option<usize> {
    let held = words_that_match(line, !0xff, tag << 8) & CELLS;
    (held != 0).then(|| held.trailing_zeros() as usize)
}

/// The word of `line` that holds the coldest unit; of several the one that comes first from word `first` on.
#[inline]
fn coldest(line: &Line, first: usize, counters: &Counters) -> usize {
    // Most often a unit has cooled down to nothing, or there is an empty cell.
    let cold = words_that_match(line, 0xff, 0) & CELLS;
    let from_first = cold >> first << first;
    if cold != 0 {
        let cold = if from_first != 0 { from_first } else { cold };
        return cold.trailing_zeros() as usize;
    }
    let keys = (1..LINE).map(|word| {
        let heat = counters.heat(line[word] as u8);
        let heat = u32::from(heat.reads) + u32::from(heat.writes);
        let order = if word < first { word + WAYS } else { word } - first;
        heat << 8 | (order as u32) << 4 | word as u32
    });
    keys.min().unwrap_or(1) as usize % LINE
}

/// Half the bits of a scattered number: an even number of bits has two halves.
fn half_bits(units: u64) -> u32 {
    units.max(2).next_power_of_two().ilog2().div_ceil(2)
}

/// Sets for `units` in at most `most_bytes`.
fn sets(units: u64, most_bytes: u64) -> u64 {
    let least = (1u64 << (2 * half_bits(units))) >> TAG_BITS;
    (most_bytes / Lines::bytes_of(1)).clamp(least.max(1), MOST_SETS)
}
