//! Counters of the units that were accessed lately, in bounded memory: a set-associative table with tags. A unit that
//! is not in its set takes the place of the coldest one there.

use firstread_core::Divisor;

use super::chunks::{CHUNK, Chunks};
use super::counters::Counters;

/// Units of a set. A set is a cache line.
const WAYS: usize = 16;

/// Sets that are brought up to date together.
const SETS: u64 = (CHUNK / WAYS) as u64;

/// Bits of a cell that tell units of a set apart. The other eight are the counters.
const TAG_BITS: u32 = 24;

/// Most sets, so that [`Divisor`] is exact for every unit.
const MOST_SETS: u64 = 1 << 26;

/// The table. A cell is a tag and, in its low byte, the counters; those of an empty cell are zero.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    cells: Chunks<u32>,
    sets: Divisor,
    /// Half the bits of the scattered number of a unit.
    half_bits: u32,
    /// Units that took a place.
    taken: u64,
}

impl Bounded {
    /// For `units` in at most `most_bytes`. Below a mebibyte the tags of a full drive may need more.
    pub(super) fn new(units: u64, most_bytes: u64) -> Bounded {
        // An even number of bits, so that scattering has two halves.
        let half_bits = units.max(2).next_power_of_two().ilog2().div_ceil(2);
        let least = (1u64 << (2 * half_bits)) >> TAG_BITS;
        let chunks = most_bytes / Chunks::<u32>::bytes_of(1);
        let sets = (chunks * SETS).clamp(least.max(1), MOST_SETS);
        Bounded {
            cells: Chunks::new(sets as usize * WAYS),
            sets: Divisor::new(sets),
            half_bits,
            taken: 0,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.cells.bytes()
    }

    /// How many units it holds at most.
    pub(super) fn units(&self) -> u64 {
        self.sets.get() * WAYS as u64
    }

    /// First cell of the set of `unit`, and its tag there. Units that follow each other lie in different sets.
    #[inline]
    fn place(&self, unit: u64) -> (usize, u32) {
        let mask = (1u64 << (2 * self.half_bits)) - 1;
        // Each step can be undone, so two units with one place have different tags.
        let mixed = (unit ^ unit >> self.half_bits).wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
        let (tag, set) = self.sets.div_rem(mixed ^ mixed >> self.half_bits);
        (set as usize * WAYS, tag as u32)
    }

    /// The byte of `unit` in `epoch`; zero where it is not known.
    #[inline]
    pub(super) fn of(&self, unit: u64, epoch: u64, counters: &Counters) -> u8 {
        let (first, tag) = self.place(unit);
        let (cells, missed) = self.cells.of(first, epoch);
        let held = cells[..WAYS].iter().find(|cell| **cell >> 8 == tag);
        held.map_or(0, |cell| counters.halved(*cell as u8, missed))
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
        let (first, tag) = self.place(unit);
        let age = |cell: u32, missed| cell & !0xff | u32::from(counters.halved(cell as u8, missed));
        let set = &mut self.cells.touch(first, epoch, age)[..WAYS];
        let held = set.iter().position(|cell| *cell >> 8 == tag);
        let way = held.unwrap_or_else(|| {
            // Of several that are equally cold another one goes each time.
            let start = self.taken as usize;
            self.taken += 1;
            let ways = (0..WAYS).map(|way| (start + way) % WAYS);
            let coldest = ways.min_by_key(|&way| {
                let heat = counters.heat(set[way] as u8);
                heat.reads + heat.writes
            });
            coldest.unwrap_or_default()
        });
        let before = if held.is_some() { set[way] as u8 } else { 0 };
        set[way] = tag << 8 | u32::from(change(before));
    }
}
