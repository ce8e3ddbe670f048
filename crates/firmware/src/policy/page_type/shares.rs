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
/// Epochs by which the heat of a page may be older than that of the page before it: the heat of a part is read when its first
/// page comes, and the others may wait for slots. More than that and the stream has been idle for nearly 256 epochs instead.
const LATE: u8 = 8;

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
            self.begin_epoch(wish, epochs);
        }
        self.counts[usize::from(wish.bin)] += 1;
        self.left -= 1;
        if self.left == 0 {
            self.renew();
        }
    }

    /// `epochs` later than the last page that was placed. One whose heat was read before an epoch began may be placed in it.
    ///
    /// Numbers of epochs wrap. A stream that was idle for just under a multiple of 256 epochs looks like a page that is late: its
    /// histogram is halved up to [`LATE`] times too seldom, until it has been replaced by what is placed from then on.
    #[cold]
    fn begin_epoch(&mut self, wish: Wish, epochs: u8) {
        if epochs.wrapping_neg() <= LATE {
            return;
        }
        for _ in 0..epochs.min(BINS as u8) {
            let before = core::mem::take(&mut self.counts);
            for (bin, pages) in before.into_iter().enumerate() {
                self.counts[wish.scale.halved(bin)] += pages;
            }
        }
        self.epoch = wish.epoch;
        self.renew();
    }

    fn renew(&mut self) {
        self.left = RENEWED_EVERY;
        let mut all: u32 = self.counts.iter().sum();
        // The first page of a stream begins an epoch before anything was counted: every bin is still as large as any other.
        if all == 0 {
            return;
        }
        if all >= self.most {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            all = self.counts.iter().sum();
        }
        let share = |pages: u32| (u64::from(pages) * 256 / u64::from(all)) as u16;
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
    use crate::policy::page_type::by_heat::log_bin;
    use crate::policy::page_type::contract::Scale;

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

    /// When an epoch begins, the heat of every page is half of what it was. A page that is as hot as before has the same share,
    /// whether counters have four bits or more.
    #[test]
    fn formula_an_epoch_changes_the_share_of_no_page() {
        for (scale, heats) in [
            (Scale::Numbers, [14, 2, 4, 2, 4]),
            (Scale::HalfPowers, [240, 36, 130, 36, 130]),
        ] {
            let wish = |heat: u8, i: u64| match scale {
                Scale::Numbers => Wish::new(heat, i),
                Scale::HalfPowers => Wish::new(log_bin(u32::from(heat)), i).on(scale),
            };
            let heat = |i: u64| heats[(i % 5) as usize];
            let mut shares = Shares::new(100);
            (0..2_000).for_each(|i| shares.count(wish(heat(i), i).in_epoch(7)));
            let share = |shares: &Shares, i| shares.hotter(wish(heat(i), i));
            let before: std::vec::Vec<u8> = (0..10).map(|i| share(&shares, i)).collect();
            let halved = |i: u64| wish(heat(i) / 2, i).in_epoch(8);
            shares.count(halved(0));
            for i in 0..10 {
                let after = shares.hotter(halved(i));
                assert!(
                    after.abs_diff(before[i as usize]) <= 1,
                    "{scale:?}: {after} after {before:?}"
                );
            }
            // A page of the epoch before changes nothing.
            shares.count(wish(heat(1), 1).in_epoch(7));
            assert_eq!(shares.epoch, 8);
        }
    }

    /// The bin of half a number is that of half of the number's bin.
    #[test]
    fn formula_bins_are_halved_as_the_numbers_are() {
        for number in 0..=255u32 {
            let (bin, half) = (log_bin(number), log_bin(number / 2));
            let halved = Scale::HalfPowers.halved(usize::from(bin));
            assert_eq!(halved, usize::from(half), "{number}");
            if number < 16 {
                let halved = Scale::Numbers.halved(number as usize);
                assert_eq!(halved, number as usize / 2);
            }
        }
    }

    /// The first page of a stream says nothing of the others: each bin is still as large as any other, whatever the epoch.
    #[test]
    fn formula_the_first_page_of_a_stream_does_not_make_all_others_hot() {
        for epoch in [0, 1, 200] {
            let mut shares = Shares::new(1_000);
            let of = |shares: &Shares, bin| shares.hotter(Wish::new(bin, 5));
            let before: std::vec::Vec<u8> = (0..16).map(|bin| of(&shares, bin)).collect();
            shares.count(Wish::new(0, 0).in_epoch(epoch));
            let after: std::vec::Vec<u8> = (0..16).map(|bin| of(&shares, bin)).collect();
            assert_eq!(before, after, "epoch {epoch}");
        }
    }

    /// However long a stream was idle, it knows nothing of the time before once as many pages were placed as the histogram remembers
    /// four times over: its shares are those of a stream that begins.
    #[test]
    fn model_a_stream_that_was_idle_learns_anew() {
        let place = |shares: &mut Shares, bins: [u8; 4], epoch: u32, pages: u32| {
            (0..u64::from(pages)).for_each(|i| {
                let wish = Wish::new(bins[(i % 4) as usize], i);
                shares.count(wish.in_epoch(epoch));
            });
        };
        for idle in 0..600 {
            let (mut new, mut idled) = (Shares::new(64), Shares::new(64));
            place(&mut idled, [15; 4], 3, 10_000);
            for epoch in 0..16 {
                for shares in [&mut new, &mut idled] {
                    place(shares, [12, 6, 3, 1], 3 + idle + epoch, FEWEST / 2);
                }
            }
            let hotter =
                |shares: &Shares| [12, 6, 3, 1].map(|bin| shares.hotter(Wish::new(bin, 0)));
            let (new, idled) = (hotter(&new), hotter(&idled));
            let apart = new.iter().zip(&idled).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(apart <= Some(8), "{idle} epochs: {idled:?}, new {new:?}");
        }
    }
}
