//! How long versions of pages live, learned from a sample of pages: what tells a scheme how large a pool is worth its superblocks.
//!
//! A version lives from its write until the host overwrites it. Its *class* is the life of the version before it, as the drive knew
//! it when the page was written: that is what a scheme can go by when it places a page. For the sampled pages the exact life of the next
//! version is recorded beside the class. So it is known, and not assumed, how long pages live that would be let into a pool.
//!
//! Lives are counted in slots that the host writes, in half octaves. The sample is one page of each stretch of logical pages, as many as
//! there are entries, so it takes the same memory on any drive. Versions that have not been overwritten yet count as written and not as
//! ended.

use alloc::boxed::Box;

use firstread_core::{Lpn, Stream};

/// Half octaves of lives, the last one for longer lives and for pages of whose last version nothing is known.
pub(super) const CLASSES: usize = 40;

/// Sampled pages.
const PAGES: u64 = 8192;

/// Writes of sampled pages from which all counts are halved, so that old loads are forgotten.
const HALVED_AT: u32 = 4 * PAGES as u32;

/// A sampled page.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    /// Slots that the host had written when it wrote the last version; none if it has written none.
    written: Option<u64>,
    /// Class of the last version.
    class: u8,
}

/// The sample, and what was learned from it.
#[derive(Clone, Debug)]
pub(super) struct Lifetimes {
    pages: Box<[Sampled]>,
    /// Logical pages of a stretch.
    every: u64,
    stream: Stream,
    /// Lives below this are of the first class.
    unit: u64,
    /// Versions written, by class, and of these those that were overwritten, by class and life.
    written: [u32; CLASSES],
    ended: Box<[[u32; CLASSES]; CLASSES]>,
    all: u32,
}

impl Lifetimes {
    /// Of a drive of `capacity` logical pages, where lives below `unit` slots need not be told apart.
    pub(super) fn new(capacity: u64, unit: u64, seed: u64) -> Lifetimes {
        let every = capacity.div_ceil(PAGES).max(1);
        let none = Sampled {
            written: None,
            class: 0,
        };
        Lifetimes {
            pages: alloc::vec![none; capacity.div_ceil(every) as usize].into(),
            every,
            stream: Stream::new(seed).named("lifetimes"),
            unit: unit.max(1),
            written: [0; CLASSES],
            ended: Box::new([[0; CLASSES]; CLASSES]),
            all: 0,
        }
    }

    /// The class of a version whose predecessor lived for `life` slots; none if that is not known.
    #[inline]
    pub(super) fn class_of(&self, life: Option<u64>) -> usize {
        life.map_or(CLASSES - 1, |life| half_octave(life / self.unit))
    }

    /// The longest life of class `class`, in slots.
    pub(super) fn longest(&self, class: usize) -> u64 {
        self.unit * first_of(class + 1)
    }

    /// The host has written page `lpn`, of whose last version it was known that it lived for `life` slots, when it had written `now`
    /// slots.
    #[inline]
    pub(super) fn has_written(&mut self, lpn: Lpn, life: Option<u64>, now: u64) {
        let stretch = lpn.0 / self.every;
        if self.stream.at(stretch).below(self.every) == lpn.0 % self.every {
            self.note(stretch as usize, life, now);
        }
    }

    #[cold]
    fn note(&mut self, page: usize, life: Option<u64>, now: u64) {
        let class = self.class_of(life);
        let Some(sampled) = self.pages.get_mut(page) else {
            return;
        };
        if let Some(written) = sampled.written {
            let lived = half_octave(now.saturating_sub(written) / self.unit);
            self.ended[usize::from(sampled.class)][lived] += 1;
        }
        *sampled = Sampled {
            written: Some(now),
            class: class as u8,
        };
        self.written[class] += 1;
        self.all += 1;
        if self.all >= HALVED_AT {
            self.written.iter_mut().for_each(|n| *n /= 2);
            self.ended
                .as_flattened_mut()
                .iter_mut()
                .for_each(|n| *n /= 2);
            self.all = self.written.iter().sum();
        }
    }

    /// Writes of sampled pages that count.
    pub(super) fn seen(&self) -> u32 {
        self.all
    }

    /// Versions of class `class` that were written, and how many of them ended, by life.
    pub(super) fn of_class(&self, class: usize) -> (u32, &[u32; CLASSES]) {
        (self.written[class], &self.ended[class])
    }
}

/// The half octave of `n`: 0, 1, 2, 3, and then two for each power of two.
fn half_octave(n: u64) -> usize {
    if n < 2 {
        return n as usize;
    }
    let power = n.ilog2();
    let half = n >> (power - 1) & 1;
    (2 * power as usize + half as usize).min(CLASSES - 1)
}

/// The least number of half octave `class`.
fn first_of(class: usize) -> u64 {
    if class < 2 {
        return class as u64;
    }
    let (power, half) = (class as u32 / 2, class as u64 % 2);
    (1 << power) + half * (1 << (power - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half octaves follow one another without a gap.
    #[test]
    fn formula_each_life_is_of_the_class_that_holds_it() {
        for n in 0..5_000 {
            let class = half_octave(n);
            assert!(first_of(class) <= n, "{n}");
            assert!(n < first_of(class + 1), "{n}: {class}");
        }
        assert_eq!(half_octave(u64::MAX), CLASSES - 1);
    }

    /// Of pages that are rewritten at a steady pace, each page has the same life again and again, and the sample tells that.
    #[test]
    fn model_the_sample_knows_how_long_pages_of_each_class_live() {
        const PAGES: u64 = 100_000;
        let mut lives = Lifetimes::new(PAGES, 16, 7);
        let mut last = alloc::vec![None; PAGES as usize];
        let mut now = 0;
        // A tenth of the pages is written nine times as often as all others.
        for round in 0..40 {
            for i in 0..PAGES / 5 {
                let hot = i % 10 < 9;
                let at = round * (PAGES / 5) + i;
                let lpn = match hot {
                    true => at / 10 * 9 + at % 10,
                    false => at / 10,
                };
                let lpn = match hot {
                    true => lpn % (PAGES / 10),
                    false => PAGES / 10 + lpn % (9 * PAGES / 10),
                };
                let life = last[lpn as usize].map(|then| now - then);
                lives.has_written(Lpn(lpn), life, now);
                last[lpn as usize] = Some(now);
                now += 1;
            }
        }
        let hot = lives.class_of(Some(PAGES / 10 * 10 / 9));
        let (written, ended) = lives.of_class(hot);
        let same: u32 = ended[hot - 1..=hot + 1].iter().sum();
        assert!(
            written > 1_000 && same * 10 > written * 9,
            "{same} of {written}"
        );
        let (first, _) = lives.of_class(CLASSES - 1);
        assert!(first > 0 && first < written, "{first}");
    }
}
