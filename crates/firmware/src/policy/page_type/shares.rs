//! How hot a page is among those that were placed lately: the shares of a histogram of 16 bins.
//!
//! A quarter of the slots of a wordline have each page type, so what counts is which quarter of the placed pages are the
//! hottest. A bin may be wider than a quarter, as that of pages which nobody reads is. Its pages are spread evenly over the
//! share that the bin takes, each at a place of its own.
//!
//! Counters of heat are halved when an epoch begins, all at once. The histogram is halved with them: otherwise pages that are as hot as
//! before would seem colder than those that were placed before.

use super::contract::{BINS, Wish};

/// Placed pages after which the shares are computed anew.
const RENEWED_EVERY: u32 = 64;
/// Placed pages from which the counts are halved, at least: a quarter is then known to a hundredth.
const FEWEST: u32 = 1 << 11;

/// The pages that were placed in one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    counts: [u32; BINS],
    /// Pages of hotter bins, and pages of the bin itself, in 256ths of all.
    hotter: [u16; BINS],
    width: [u16; BINS],
    left: u32,
    /// Placed pages from which the counts are halved.
    most: u32,
    epoch: u8,
}

impl Shares {
    /// Nothing was placed: every bin is taken to be as large as any other. What counts from then on are the pages of the last one
    /// or two wordlines of `wordline` slots.
    pub(super) fn new(wordline: u32) -> Shares {
        const WIDTH: u16 = (256 / BINS) as u16;
        Shares {
            counts: [0; BINS],
            hotter: core::array::from_fn(|bin| WIDTH * (BINS - 1 - bin) as u16),
            width: [WIDTH; BINS],
            left: RENEWED_EVERY,
            most: FEWEST.max(2 * wordline),
            epoch: 0,
        }
    }

    /// A page with `wish` was placed.
    #[inline]
    pub(super) fn count(&mut self, wish: Wish) {
        let epochs = wish.epoch.wrapping_sub(self.epoch);
        if epochs != 0 {
            self.begin_epoch(wish.epoch, epochs);
        }
        self.counts[usize::from(wish.bin)] += 1;
        self.left -= 1;
        if self.left == 0 {
            self.renew();
        }
    }

    /// `epochs` later than the last page that was placed. One that was seen before an epoch began may be placed in it.
    #[cold]
    fn begin_epoch(&mut self, epoch: u8, epochs: u8) {
        if epochs < 128 {
            let before = core::mem::take(&mut self.counts);
            for (bin, pages) in before.into_iter().enumerate() {
                self.counts[bin >> epochs.min(7)] += pages;
            }
            self.epoch = epoch;
            self.renew();
        }
    }

    fn renew(&mut self) {
        self.left = RENEWED_EVERY;
        let mut all: u32 = self.counts.iter().sum();
        if all >= self.most {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            all = self.counts.iter().sum();
        }
        let share = |pages: u32| (u64::from(pages) * 256 / u64::from(all.max(1))) as u16;
        let mut above = 0;
        for bin in (0..BINS).rev() {
            let with = above + self.counts[bin];
            self.hotter[bin] = share(above);
            self.width[bin] = share(with) - share(above);
            above = with;
        }
    }

    /// Pages that are hotter than one with `wish`, in 256ths of all.
    #[inline]
    pub(super) fn hotter(&self, wish: Wish) -> u8 {
        let bin = usize::from(wish.bin);
        let place = (u32::from(self.width[bin]) * u32::from(wish.place)) >> 8;
        (u32::from(self.hotter[bin]) + place).min(255) as u8
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    /// Each quarter of the placed pages comes to a quarter of the scale, the hottest first, however the bins are filled.
    #[test]
    fn model_quarters_of_the_scale_are_quarters_of_the_pages() {
        for (name, weights) in [
            ("alike", [1; BINS]),
            (
                "nobody reads",
                [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ),
            (
                "a tenth is hot",
                [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            ),
            ("two bins", [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]),
        ] {
            let stream = Stream::new(7).named(name);
            let all: u64 = weights.iter().sum();
            let draw = |i: u64| {
                let mut at = stream.at(i).below(all);
                let bin = weights.iter().position(|&weight| {
                    let is_here = at < weight;
                    at = at.saturating_sub(weight);
                    is_here
                });
                Wish::new(bin.expect("a weight has it") as u8, i)
            };
            let mut shares = Shares::new(1_000);
            (0..100_000).for_each(|i| shares.count(draw(i)));
            let mut quarters = [0u32; 4];
            let mut by_bin = [[0u32; 4]; BINS];
            for i in 100_000..140_000 {
                let wish = draw(i);
                let quarter = usize::from(shares.hotter(wish)) / 64;
                quarters[quarter] += 1;
                by_bin[usize::from(wish.bin)][quarter] += 1;
            }
            for pages in quarters {
                let apart = (f64::from(pages) / 10_000.0 - 1.0).abs();
                assert!(apart < 0.12, "{name}: {quarters:?}");
            }
            if name == "a tenth is hot" {
                assert_eq!(by_bin[15][1..], [0, 0, 0], "{name}: {by_bin:?}");
            }
        }
    }

    /// When an epoch begins, the heat of every page is half of what it was. A page that is as hot as before has the same share.
    #[test]
    fn formula_an_epoch_changes_the_share_of_no_page() {
        let heat = |i: u64| {
            if i.is_multiple_of(5) {
                14
            } else {
                2 + 2 * (i % 2) as u8
            }
        };
        let mut shares = Shares::new(100);
        (0..2_000).for_each(|i| shares.count(Wish::new(heat(i), i).in_epoch(7)));
        let share = |shares: &Shares, i| shares.hotter(Wish::new(heat(i), i));
        let before: std::vec::Vec<u8> = (0..10).map(|i| share(&shares, i)).collect();
        let halved = |i: u64| Wish::new(heat(i) / 2, i).in_epoch(8);
        shares.count(halved(0));
        for i in 0..10 {
            let after = shares.hotter(halved(i));
            assert!(
                after.abs_diff(before[i as usize]) <= 1,
                "{after} after {before:?}"
            );
        }
        // A page of the epoch before changes nothing.
        shares.count(Wish::new(heat(1), 1).in_epoch(7));
        assert_eq!(shares.epoch, 8);
    }
}
