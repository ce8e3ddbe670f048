//! A drive in the steady state of random overwrites, without a table of its pages.
//!
//! Every superblock has some valid and some stale slots. Their numbers are given, per superblock and per
//! *heat class* of pages. Which slots are valid is determined by a chain of keyed permutations, so that a
//! page's slot and a slot's page are computed, never stored:
//!
//! - page → rank: a permutation of all pages. Rank 0 is the page written most often.
//! - rank → class: half octaves of the rank, or one class if all pages are written equally often.
//! - rank within the class → superblock: a permutation of the class. Consecutive stretches of it belong to
//!   the superblocks in turn; each is as long as the superblock has valid pages of the class.
//! - place within the superblock → slot: a permutation per superblock. The first places are valid, class
//!   after class; the others are stale.
//!
//! A stale slot names a page in its spare area: a page whose last version lies in a superblock that was
//! opened later, chosen by a hash of the slot.
//!
//! Superblocks are counted in the order of opening. On a drive whose superblocks are alike this order is that of their
//! numbers. On others a table has their numbers.

use firstread_core::{Lpn, Permutation, Ppa, Stream, SuperblockId};

/// The places of the pages of a preconditioned drive.
#[derive(Clone, Debug)]
pub(crate) struct Preconditioned {
    pages: u64,
    /// The page of each rank.
    page_of_rank: Permutation,
    slot_of_place: Permutation,
    places: Stream,
    classes: Box<[Class]>,
    /// Places before those of a class, per superblock and class; the last entry counts all valid places.
    before: Box<[u32]>,
    /// Valid slots of all superblocks before a given one.
    valid_before: Box<[u64]>,
    numbers: Option<Numbers>,
}

/// Which superblock is the `i`-th in the order of opening.
#[derive(Clone, Debug)]
struct Numbers {
    of: Box<[u32]>,
    /// `i`, by number of the superblock.
    index: Box<[u32]>,
}

/// Pages with about the same write rate.
#[derive(Clone, Debug)]
struct Class {
    /// Lowest rank.
    first: u64,
    /// The order of pages within the class; none if there is a single class, whose ranks are already random,
    /// or if the class is empty.
    order: Option<Permutation>,
    starts: Starts,
}

/// The superblock of each page of a class.
#[derive(Clone, Debug)]
struct Starts {
    /// Pages of the class in all superblocks before a given one; the last entry counts all of them.
    starts: Box<[u64]>,
    /// The last superblock that starts at or below each multiple of `1 << shift`.
    hints: Box<[u32]>,
    shift: u32,
}

impl Starts {
    fn new(valid: impl Iterator<Item = u32>) -> Starts {
        let mut starts = vec![0u64];
        for n in valid {
            starts.push(starts.last().map_or(0, |s| s + n as u64));
        }
        let blocks = starts.len() as u64 - 1;
        let pages = starts[blocks as usize];
        let mut shift = 0;
        while pages >> shift > 2 * blocks {
            shift += 1;
        }
        let mut block = 0;
        let hint = |i: u64| {
            while block + 1 < blocks as usize && starts[block + 1] <= i << shift {
                block += 1;
            }
            block as u32
        };
        let hints = (0..(pages >> shift) + 2).map(hint).collect();
        Starts {
            starts: starts.into_boxed_slice(),
            hints,
            shift,
        }
    }

    /// The superblock of page `y` of the class, and the number of pages of the class before `y` in it.
    #[inline]
    fn find(&self, y: u64) -> (u32, u32) {
        let hint = (y >> self.shift) as usize;
        let (mut low, mut high) = (self.hints[hint], self.hints[hint + 1]);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.starts[middle as usize] <= y {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        (low, (y - self.starts[low as usize]) as u32)
    }
}

/// The heat class of `rank`: half octaves of `rank + 1`.
const fn class_of(rank: u64) -> usize {
    let x = rank + 1;
    let octave = x.ilog2();
    if octave == 0 {
        return 0;
    }
    2 * octave as usize + (x >> (octave - 1) & 1) as usize
}

/// Heat classes of `pages` pages: the lowest rank of each. The second class is empty.
pub(crate) fn heat_classes(pages: u64) -> Vec<u64> {
    let last = class_of(pages.max(1) - 1);
    let first = |class: usize| match class {
        0 => 0,
        1 => 1,
        _ => ((2 + (class as u64 & 1)) << (class / 2 - 1)) - 1,
    };
    (0..=last).map(first).collect()
}

/// Contents of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// The last version of a page.
    Valid(Lpn),
    /// An earlier version of a page.
    Stale(Lpn),
}

impl Preconditioned {
    /// Superblocks `0..valid.len() / classes` of `slots_per_block` slots, in the order of opening.
    /// `valid` has the number of valid slots of each superblock and class. `classes` is one, or the number of
    /// [`heat_classes`]. `page_of_rank` decides which pages are hot: rank `r` is page
    /// `Permutation::new(pages, page_of_rank).at(r)`, where `pages` is the sum of `valid`. None if `valid`
    /// does not fit the classes or the superblocks.
    pub(crate) fn new(
        slots_per_block: u32,
        classes: u32,
        valid: &[u32],
        page_of_rank: Stream,
        key: Stream,
    ) -> Option<Preconditioned> {
        let classes = classes as usize;
        let pages: u64 = valid.iter().map(|&n| n as u64).sum();
        if pages == 0 || slots_per_block == 0 || !valid.len().is_multiple_of(classes.max(1)) {
            return None;
        }
        let firsts = match classes {
            1 => vec![0],
            _ => heat_classes(pages),
        };
        if firsts.len() != classes {
            return None;
        }
        let mut before = Vec::with_capacity(valid.len() / classes * (classes + 1));
        let mut valid_before = vec![0];
        for block in valid.chunks_exact(classes) {
            let mut sum = 0u64;
            before.push(0);
            for &n in block {
                sum += n as u64;
                before.push(sum as u32);
            }
            if sum > slots_per_block as u64 {
                return None;
            }
            valid_before.push(valid_before.last().map_or(0, |v| v + sum));
        }
        let key = key.named("preconditioned");
        let mut made = Vec::with_capacity(classes);
        for (c, &first) in firsts.iter().enumerate() {
            let n = firsts.get(c + 1).copied().unwrap_or(pages) - first;
            let starts = Starts::new(valid.iter().skip(c).step_by(classes).copied());
            if starts.starts.last() != Some(&n) {
                return None;
            }
            let order = (classes > 1 && n > 0)
                .then(|| Permutation::new(n, key.named("class").at(c as u64)));
            made.push(Class {
                first,
                order,
                starts,
            });
        }
        Some(Preconditioned {
            pages,
            page_of_rank: Permutation::new(pages, page_of_rank),
            slot_of_place: Permutation::new(slots_per_block as u64, key.named("slot")),
            places: key.named("place"),
            classes: made.into_boxed_slice(),
            before: before.into_boxed_slice(),
            valid_before: valid_before.into_boxed_slice(),
            numbers: None,
        })
    }

    /// The same with superblock `numbers[i]` as the `i`-th in the order of opening.
    pub(crate) fn numbered(mut self, numbers: &[u32]) -> Preconditioned {
        debug_assert_eq!(numbers.len(), self.blocks() as usize);
        let most = numbers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut index = vec![0; most];
        for (i, &number) in (0..).zip(numbers) {
            index[number as usize] = i;
        }
        self.numbers = Some(Numbers {
            of: numbers.into(),
            index: index.into(),
        });
        self
    }

    /// Number of the `i`-th superblock in the order of opening.
    #[inline]
    pub(crate) fn number(&self, i: u32) -> SuperblockId {
        let number = self.numbers.as_ref().map_or(i, |n| n.of[i as usize]);
        SuperblockId(number)
    }

    /// The place of `block`, which holds data, in the order of opening.
    #[inline]
    fn index(&self, block: SuperblockId) -> u32 {
        let number = block.0;
        self.numbers
            .as_ref()
            .map_or(number, |n| n.index[number as usize])
    }

    /// Number of logical pages that hold data, from zero on.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }
    /// Number of superblocks that hold data.
    pub(crate) fn blocks(&self) -> u32 {
        self.valid_before.len() as u32 - 1
    }
    /// Valid slots of `block`.
    pub(crate) fn valid(&self, block: SuperblockId) -> u32 {
        let b = self.index(block) as usize;
        (self.valid_before[b + 1] - self.valid_before[b]) as u32
    }

    /// The slot of `lpn`, which is below [`Preconditioned::pages`].
    #[inline]
    pub(crate) fn locate(&self, lpn: Lpn) -> Ppa {
        let rank = self.page_of_rank.index_of(lpn.0);
        let c = if self.classes.len() == 1 {
            0
        } else {
            class_of(rank)
        };
        let class = &self.classes[c];
        let in_class = rank - class.first;
        let y = class.order.as_ref().map_or(in_class, |o| o.at(in_class));
        let (block, place) = class.starts.find(y);
        let place = place + self.before[block as usize * (self.classes.len() + 1) + c];
        let slot = self
            .slot_of_place
            .at_tweaked(place as u64, self.tweak(block));
        Ppa::new(self.number(block), slot as u32)
    }

    /// The page whose last version is in slot `ppa`, if the slot is valid. Its superblock holds data.
    #[inline]
    pub(crate) fn valid_at(&self, ppa: Ppa) -> Option<Lpn> {
        let place = self.place(ppa);
        (place < self.valid(ppa.block())).then(|| self.page_at(self.index(ppa.block()), place))
    }

    /// The contents of slot `ppa`, whose superblock holds data.
    pub(crate) fn slot(&self, ppa: Ppa) -> Slot {
        match self.valid_at(ppa) {
            Some(lpn) => Slot::Valid(lpn),
            None => Slot::Stale(self.overwritten(ppa)),
        }
    }

    #[inline]
    fn place(&self, ppa: Ppa) -> u32 {
        let tweak = self.tweak(self.index(ppa.block()));
        self.slot_of_place
            .index_of_tweaked(ppa.slot() as u64, tweak) as u32
    }

    /// Tweak of the `block`-th superblock.
    #[inline]
    fn tweak(&self, block: u32) -> u64 {
        self.places.draw(block as u64)
    }

    /// The page at a valid place of the `block`-th superblock.
    #[inline]
    fn page_at(&self, block: u32, place: u32) -> Lpn {
        let n = self.classes.len();
        let row = block as usize * (n + 1);
        let c = match n {
            1 => 0,
            _ => self.before[row + 1..=row + n].partition_point(|&end| end <= place),
        };
        let class = &self.classes[c];
        let y = class.starts.starts[block as usize] + (place - self.before[row + c]) as u64;
        let in_class = class.order.as_ref().map_or(y, |o| o.index_of(y));
        Lpn(self.page_of_rank.at(class.first + in_class))
    }

    /// The page that stale slot `ppa` held: it was written again into a later superblock, or into the same
    /// one if no later superblock has valid slots.
    fn overwritten(&self, ppa: Ppa) -> Lpn {
        let b = self.index(ppa.block()) as usize;
        let from = [b + 1, b, 0].map(|b| self.valid_before[b]);
        let from = from.into_iter().find(|&from| from < self.pages);
        let from = from.unwrap_or(0);
        let draw = Stream::at(self.places, ppa.0).below(self.pages - from) + from;
        let later = self.valid_before.partition_point(|&v| v <= draw) - 1;
        self.page_at(later as u32, (draw - self.valid_before[later]) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes_of(pages: u64) -> Vec<u64> {
        let firsts = heat_classes(pages);
        let ends = firsts[1..].iter().copied().chain([pages]);
        firsts
            .iter()
            .zip(ends)
            .map(|(from, to)| to - from)
            .collect()
    }

    #[test]
    fn formula_heat_classes_cover_every_rank() {
        for pages in [1, 2, 3, 4, 7, 1000, 1_000_003] {
            let firsts = heat_classes(pages);
            for rank in 0..pages {
                let c = class_of(rank);
                assert!(firsts[c] <= rank);
                assert!(firsts.get(c + 1).is_none_or(|&next| rank < next));
            }
        }
    }

    /// Valid slots of `blocks` superblocks: all pages of the classes, distributed unevenly.
    fn deal(blocks: usize, per_class: &[u64], key: Stream) -> Vec<u32> {
        let mut valid = vec![0u32; blocks * per_class.len()];
        for (c, &n) in per_class.iter().enumerate() {
            for i in 0..n {
                // Some superblocks have no pages of a class.
                let b = key.at(c as u64).at(i).below(blocks as u64) as usize;
                let b = if (b + c).is_multiple_of(3) {
                    (b + 1) % blocks
                } else {
                    b
                };
                valid[b * per_class.len() + c] += 1;
            }
        }
        valid
    }

    #[test]
    fn model_every_page_has_one_slot_and_every_slot_its_page() {
        for (seed, pages, blocks, first) in [
            (1, 5_000u64, 10, 0),
            (2, 777, 3, 0),
            (3, 1, 1, 0),
            (4, 12_345, 40, 0),
            (5, 5_000, 10, 7),
        ] {
            let key = Stream::new(seed);
            for per_class in [vec![pages], classes_of(pages)] {
                let valid = deal(blocks, &per_class, key);
                let of_block = |b: usize| &valid[b * per_class.len()..][..per_class.len()];
                let fullest = (0..blocks).map(|b| of_block(b).iter().sum::<u32>()).max();
                let slots = fullest.unwrap() + 37;
                let n = per_class.len() as u32;
                let p = Preconditioned::new(slots, n, &valid, key.at(1), key).unwrap();
                assert_eq!((p.pages(), p.blocks()), (pages, blocks as u32));
                // The first ones opened have the highest numbers.
                let last = first + blocks as u32 - 1;
                let numbers: Vec<u32> = (0..blocks as u32).map(|i| last - i).collect();
                let p = match first {
                    0 => p,
                    _ => p.numbered(&numbers),
                };
                let number = |b: u32| p.number(b);
                let mut owners = 0;
                for b in 0..blocks as u32 {
                    let mut held = 0;
                    for slot in 0..slots {
                        let ppa = Ppa::new(number(b), slot);
                        match p.slot(ppa) {
                            Slot::Valid(lpn) => {
                                assert_eq!(p.locate(lpn), ppa, "seed {seed}: {lpn:?}");
                                held += 1;
                            }
                            Slot::Stale(lpn) => {
                                let there = p.locate(lpn);
                                assert_ne!(there, ppa);
                                let later = (b + 1..blocks as u32).any(|b| p.valid(number(b)) > 0);
                                let is_later =
                                    (b + 1..blocks as u32).any(|b| number(b) == there.block());
                                assert!(!later || is_later, "seed {seed}: {lpn:?}");
                            }
                        }
                    }
                    assert_eq!(held, of_block(b as usize).iter().sum::<u32>());
                    owners += held as u64;
                }
                assert_eq!(owners, pages);
            }
        }
    }

    /// The gaps between valid slots are random: the number of neighbouring pairs that are both valid is as
    /// expected by chance, within five standard deviations.
    #[test]
    fn formula_valid_slots_are_scattered_at_random() {
        let slots = 65_536u32;
        let valid = [40_000u32, 20_000];
        let p = Preconditioned::new(slots, 1, &valid, Stream::new(1), Stream::new(2)).unwrap();
        for (b, &valid) in valid.iter().enumerate() {
            let holds = |s: u32| p.valid_at(Ppa::new(SuperblockId(b as u32), s)).is_some();
            for stride in [1, 2, 16, 256] {
                let pairs = (0..slots - stride)
                    .filter(|&s| holds(s) && holds(s + stride))
                    .count();
                let u = valid as f64 / slots as f64;
                let (mean, sd) = (
                    u * u * slots as f64,
                    libm::sqrt(slots as f64) * u * (1.0 - u),
                );
                let off = (pairs as f64 - mean) / sd;
                assert!(
                    off.abs() < 5.0,
                    "{pairs} pairs {stride} apart, {mean:.0} expected"
                );
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let new = |slots, classes, valid: &[u32]| {
            Preconditioned::new(slots, classes, valid, Stream::new(1), Stream::new(1)).is_some()
        };
        assert!(new(10, 1, &[3, 10]));
        assert!(!new(10, 1, &[3, 11]), "more than a superblock holds");
        assert!(!new(10, 1, &[0, 0]), "no page");
        assert!(!new(10, 2, &[3, 4, 5]), "no whole superblocks");
        assert!(
            !new(10, 4, &[1, 0, 2, 0]),
            "not as many as the classes have"
        );
    }
}
