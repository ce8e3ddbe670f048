//! The order in which a fill takes superblocks.

use core::ops::Range;

/// The superblocks that a fill takes, by their numbers: all from zero on but those that it passes over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FillOrder {
    passed: Box<[Passed]>,
}

/// Superblocks with consecutive numbers that a fill passes over.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Passed {
    /// Place in the order of the superblock behind them.
    behind: u32,
    /// How many they are, those passed over before among them.
    until_here: u32,
    /// How many they are.
    len: u32,
}

impl FillOrder {
    /// A fill passes over the superblocks `retired`, in rising order, and over those at the places `free` among the rest.
    pub(crate) fn new(retired: &[u32], free: &Range<u32>) -> FillOrder {
        let order = FillOrder::without(retired);
        if free.is_empty() {
            return order;
        }
        let free = free.clone().map(|place| order.number(place));
        let mut passed: Vec<u32> = retired.iter().copied().chain(free).collect();
        passed.sort_unstable();
        FillOrder::without(&passed)
    }

    /// All superblocks but `passed`, which rise.
    fn without(passed: &[u32]) -> FillOrder {
        let mut list: Vec<Passed> = Vec::new();
        for (before, &number) in (0..).zip(passed) {
            let behind = number - before;
            match list.last_mut() {
                Some(last) if last.behind == behind => {
                    last.until_here += 1;
                    last.len += 1;
                }
                _ => list.push(Passed {
                    behind,
                    until_here: before + 1,
                    len: 1,
                }),
            }
        }
        FillOrder {
            passed: list.into(),
        }
    }

    /// Number of the superblock at `place`.
    #[inline(always)] // Once in each look-up of the map.
    pub(crate) fn number(&self, place: u32) -> u32 {
        let before = self.passed.iter().rev().find(|p| p.behind <= place);
        place + before.map_or(0, |p| p.until_here)
    }

    /// Place of superblock `number`; none where the fill passes over it.
    #[inline]
    pub(crate) fn place(&self, number: u32) -> Option<u32> {
        let before = |p: &&Passed| p.behind + p.until_here - p.len <= number;
        match self.passed.iter().rev().find(before) {
            None => Some(number),
            Some(p) => number
                .checked_sub(p.until_here)
                .filter(|&at| at >= p.behind),
        }
    }

    /// How many of the superblocks below `number` the fill takes.
    pub(crate) fn taken_below(&self, number: u32) -> u32 {
        let taken = |p: &Passed| {
            let first = p.behind + p.until_here - p.len;
            number.saturating_sub(first).min(p.len)
        };
        number - self.passed.iter().map(taken).sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list of numbers, for any that are passed over.
    #[test]
    fn formula_a_fill_takes_all_superblocks_but_those_it_passes_over() {
        let cases: [(&[u32], Range<u32>); 6] = [
            (&[], 0..0),
            (&[0], 0..0),
            (&[3, 4, 9], 0..0),
            (&[2, 5], 3..6),
            (&[0, 1, 19], 0..2),
            (&[18, 19], 10..12),
        ];
        for (retired, free) in cases {
            let mut numbers: Vec<u32> = (0..20).filter(|n| !retired.contains(n)).collect();
            numbers.drain(free.start as usize..free.end as usize);
            let order = FillOrder::new(retired, &free);
            for (place, &number) in (0..).zip(&numbers) {
                assert_eq!(order.number(place), number, "{retired:?} {free:?}");
            }
            for number in 0..20 {
                let place = numbers.iter().position(|n| *n == number);
                let place = place.map(|place| place as u32);
                assert_eq!(order.place(number), place, "{retired:?} {free:?} {number}");
                let below = numbers.iter().filter(|n| **n < number).count();
                assert_eq!(order.taken_below(number) as usize, below);
            }
        }
    }
}
