//! What the schemes that place by heat share: where a page comes among those that were placed lately, and which page types
//! suit it.

use firstread_core::CellMode;
use firstread_core::params::{Param, Values};

use super::contract::{MOST_PLACED_STREAMS, PageOrder, Wish};
use super::page_orders::PageOrders;
use super::shares::Shares;
use crate::policy::Setup;
use crate::policy::hot_pages::PageRead;

/// Which pages are placed by heat.
pub(super) const PLACES: Param = Param::choice(
    "places",
    "which pages are placed by heat: all, as the deck has it, or those that the drive moves anyway",
    &["all", "moved"],
);

/// Placed pages of each stream, and the page types of the drive.
#[derive(Clone, Debug)]
pub(super) struct ByHeat {
    orders: PageOrders,
    /// A histogram for each stream: what garbage collection moves is read differently from what the host writes.
    streams: [Shares; MOST_PLACED_STREAMS],
    moved_alone: bool,
}

impl ByHeat {
    pub(super) fn new(setup: &Setup, values: &Values) -> ByHeat {
        let wordline = setup.geometry.slots_per_stripe() * u32::from(setup.tables.mode.bits());
        ByHeat {
            orders: PageOrders::new(setup),
            streams: [Shares::new(wordline); MOST_PLACED_STREAMS],
            moved_alone: values.get(PLACES.key) == 1,
        }
    }

    /// Whether a page that the drive `moves`, or that the host writes, is placed by heat.
    #[inline]
    pub(super) fn places(&self, moves: bool) -> bool {
        moves || !self.moved_alone
    }

    #[inline]
    pub(super) fn order(&self, stream: usize, wish: Wish, mode: CellMode) -> PageOrder {
        let shares = &self.streams[stream % MOST_PLACED_STREAMS];
        self.orders.order(mode, shares.hotter(wish))
    }

    #[inline]
    pub(super) fn has_placed(&mut self, stream: usize, wish: Wish) {
        self.streams[stream % MOST_PLACED_STREAMS].count(wish);
    }

    /// Whether the page of `read` lies in the slower half of the page types.
    pub(super) fn is_slow(&self, read: &PageRead) -> bool {
        let pages = usize::from(read.mode.bits());
        self.orders.rank(read.mode, read.page) >= pages.div_ceil(2)
    }
}

/// A bin for `number`: the numbers below four have one each, and from there on each half of a power of two.
#[inline]
pub(super) fn log_bin(number: u32) -> u8 {
    match number {
        0..4 => number as u8,
        _ => {
            let exponent = number.ilog2();
            (2 * exponent + (number >> (exponent - 1) & 1)).min(u32::from(u8::MAX)) as u8
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use std::println;

    use firstread_core::Stream;

    use super::*;
    use crate::policy::ReadTime;

    /// `tR` of the measured chip.
    const SENSE_NS: [u32; 4] = [47_900, 76_200, 134_600, 228_100];

    /// A page that is placed: its rank among those placed lately, and how often it is read.
    struct Page {
        hotter: u8,
        reads: f64,
    }

    /// Pages of which `hot` have a share of `reads` of the reads, with the heat that an epoch of four reads a page counts.
    fn pages(hot: f64, reads: f64) -> Vec<Page> {
        let mut shares = Shares::new(8_128);
        let stream = Stream::new(3).named("pages");
        let unit =
            |at: u64, of: u64| stream.at(at).at(of).below(1 << 32) as f64 / (1u64 << 32) as f64;
        let mut all = Vec::new();
        for i in 0..200_000u64 {
            let reads = match unit(i, 0) < hot {
                true => reads / hot,
                false => (1.0 - reads) / (1.0 - hot),
            };
            // Counted reads scatter as chance has it.
            let counted = (0..32)
                .filter(|n| unit(i, 1 + n) < 4.0 * reads / 32.0)
                .count();
            let wish = Wish::new(counted as u8, i);
            if i >= 40_000 {
                let hotter = shares.hotter(wish);
                all.push(Page { hotter, reads });
            }
            shares.count(wish);
        }
        all
    }

    /// Mean `tR` of the reads of the pages that were placed so.
    fn mean_ns(placed: &[(f64, u8)]) -> f64 {
        let reads: f64 = placed.iter().map(|(reads, _)| reads).sum();
        let ns = placed
            .iter()
            .map(|(reads, page)| reads * f64::from(SENSE_NS[usize::from(*page)]));
        ns.sum::<f64>() / reads
    }

    /// The deck pulls each page out of a buffer when its slot is filled; here a page is bound to its slot when it comes. A buffer of
    /// as many pages as a wordline over all dies saves less than two hundredths of what is gained, whatever size that is.
    #[test]
    fn model_a_page_that_is_bound_at_once_loses_little_against_a_pull_from_a_buffer() {
        let time = ReadTime {
            sense_ns: SENSE_NS,
            ..ReadTime::default()
        };
        let orders = PageOrders::of([(CellMode::Qlc, time)].into_iter());
        let order = |page: &Page| {
            orders
                .order(CellMode::Qlc, page.hotter)
                .0
                .map(|page| page.0)
        };
        let unsorted = SENSE_NS.iter().map(|ns| f64::from(*ns)).sum::<f64>() / 4.0;
        for (hot, reads) in [(0.2, 0.95), (0.2, 0.8), (0.3, 0.7)] {
            let pages = pages(hot, reads);
            for stripe in [16, 64, 2_032] {
                let mut filled = [0; 4];
                let bound: Vec<(f64, u8)> = pages
                    .iter()
                    .map(|page| {
                        if filled == [stripe; 4] {
                            filled = [0; 4];
                        }
                        let to = order(page)
                            .into_iter()
                            .find(|to| filled[usize::from(*to)] < stripe);
                        let to = to.expect("the wordline has room");
                        filled[usize::from(to)] += 1;
                        (page.reads, to)
                    })
                    .collect();
                // Slots are filled in turn, one of each page type. Each takes a page of its queue, or of the nearest one.
                let (mut queues, mut waiting) = ([const { VecDeque::new() }; 4], 0);
                let mut pulled = Vec::new();
                let mut slot = 0u8;
                for page in &pages {
                    queues[usize::from(order(page)[0])].push_back(page.reads);
                    waiting += 1;
                    if waiting > 4 * stripe {
                        let mut nearest: Vec<u8> = (0..4).collect();
                        nearest.sort_by_key(|queue| (queue.abs_diff(slot), *queue < slot));
                        let from = nearest
                            .into_iter()
                            .find(|queue| !queues[usize::from(*queue)].is_empty());
                        let reads = from.and_then(|from| queues[usize::from(from)].pop_front());
                        pulled.push((reads.expect("pages wait"), slot));
                        waiting -= 1;
                        slot = (slot + 1) % 4;
                    }
                }
                let (bound, pulled) = (mean_ns(&bound), mean_ns(&pulled));
                let (gain, more) = (unsorted - bound, bound - pulled);
                println!(
                    "{reads} of the reads to {hot} of the pages, {stripe} slots a page type: unsorted {:.1} us, bound {:.1} us, \
                     pulled from a buffer of {} pages {:.1} us",
                    unsorted / 1e3,
                    bound / 1e3,
                    4 * stripe,
                    pulled / 1e3,
                );
                assert!(gain > 0.2 * unsorted, "{gain}");
                // Of the smallest wordline a page type has four multi-plane pages.
                let most = if stripe < 2_032 { 0.15 } else { 0.02 };
                assert!(more < most * gain, "{more} ns of {gain}");
            }
        }
    }

    #[test]
    fn formula_a_bin_is_half_of_a_power_of_two() {
        let starts = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192];
        for (bin, &first) in (0..).zip(&starts) {
            assert_eq!(log_bin(first), bin, "{first}");
            if first > 0 {
                assert_eq!(log_bin(first - 1), bin - 1, "{first} - 1");
            }
        }
        assert!((0..100_000).all(|n| log_bin(n) <= log_bin(n + 1)));
    }
}
