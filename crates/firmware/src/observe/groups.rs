//! Places in a row and what each holds, with the least of each group of neighbours: what comes first is found without
//! looking at all of them. Eight neighbours are a group, eight groups are a group of the next level, and so on.

use alloc::boxed::Box;
use alloc::vec;
use core::ops::Range;

/// Places of a group, and groups of one of the next level.
const FANOUT: usize = 1 << FANOUT_BITS;
const FANOUT_BITS: usize = 3;

/// A value that a place can hold.
pub(super) trait Held: Ord + Copy {
    /// The value of an empty place, which comes after all others.
    const NONE: Self;
}

impl Held for u32 {
    const NONE: u32 = u32::MAX;
}

/// What each place holds, and the least of each group of places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Groups<T> {
    least: Box<[T]>,
    /// Where each level begins in `least`; the first one is that of places.
    levels: Box<[usize]>,
}

impl<T: Held> Groups<T> {
    /// So many `places` that hold nothing.
    pub(super) fn new(places: usize) -> Groups<T> {
        let (mut levels, mut end, mut of_level) = (vec![0], places, places);
        while of_level > 1 {
            levels.push(end);
            of_level = of_level.div_ceil(FANOUT);
            end += of_level;
        }
        Groups {
            least: vec![T::NONE; end].into(),
            levels: levels.into(),
        }
    }

    /// No place holds anything any more.
    pub(super) fn clear(&mut self) {
        self.least.fill(T::NONE);
    }

    /// `place` holds `held` from now on.
    pub(super) fn set(&mut self, place: usize, held: T) {
        if core::mem::replace(&mut self.least[place], held) == held {
            return;
        }
        let mut group = place;
        for level in 1..self.levels.len() {
            group >>= FANOUT_BITS;
            let mut least = T::NONE;
            for of in &self.least[self.members(level, group)] {
                least = least.min(*of);
            }
            let known = &mut self.least[self.levels[level] + group];
            // The group's least is as before, so nothing changes in the levels above.
            if *known == least {
                return;
            }
            *known = least;
        }
    }

    /// What each place holds, and then the least of each group.
    pub(super) fn least(&self) -> &[T] {
        &self.least
    }

    /// The key that comes first. `key` is that of what a place holds, and none if it is not to be found. `bound` is one
    /// that none of the keys of a group comes before, of the least that a place of the group holds and of its first
    /// place. It may be none where none of them is to be found.
    pub(super) fn first<K: Ord + Copy>(
        &self,
        bound: impl Fn(T, usize) -> Option<K>,
        key: impl Fn(T, usize) -> Option<K>,
    ) -> Option<K> {
        let mut search = Search {
            groups: self,
            bound,
            key,
            found: None,
        };
        if !self.least.is_empty() {
            search.enter(self.levels.len() - 1, 0);
        }
        search.found
    }

    /// The members of group `group` of `level`, in `least`.
    #[inline]
    fn members(&self, level: usize, group: usize) -> Range<usize> {
        let from = self.levels[level - 1] + (group << FANOUT_BITS);
        from..(from + FANOUT).min(self.levels[level])
    }
}

struct Search<'a, T, K, B, F> {
    groups: &'a Groups<T>,
    bound: B,
    key: F,
    found: Option<K>,
}

impl<T, K, B, F> Search<'_, T, K, B, F>
where
    T: Held,
    K: Ord + Copy,
    B: Fn(T, usize) -> Option<K>,
    F: Fn(T, usize) -> Option<K>,
{
    /// Looks for a key that comes before the one found, in group number `group` of `level`.
    fn enter(&mut self, level: usize, group: usize) {
        if level == 0 {
            let held = self.groups.least[group];
            if held != T::NONE
                && let Some(key) = (self.key)(held, group)
                && self.found.is_none_or(|found| key < found)
            {
                self.found = Some(key);
            }
            return;
        }
        let first = group << FANOUT_BITS;
        let of_place = (level - 1) * FANOUT_BITS;
        let mut bounds = [None; FANOUT];
        let members = &self.groups.least[self.groups.members(level, group)];
        for (i, (bound, least)) in bounds.iter_mut().zip(members).enumerate() {
            if *least != T::NONE {
                *bound = (self.bound)(*least, (first + i) << of_place);
            }
        }
        // The group whose bound comes first, until that comes after what was found.
        loop {
            let mut next: Option<(K, usize)> = None;
            for (i, bound) in bounds.iter().enumerate() {
                if let Some(bound) = *bound
                    && next.is_none_or(|(least, _)| bound < least)
                {
                    next = Some((bound, i));
                }
            }
            let Some((bound, i)) = next else { return };
            if self.found.is_some_and(|found| found <= bound) {
                return;
            }
            bounds[i] = None;
            self.enter(level - 1, first + i);
        }
    }
}
