//! Page types by how fast they are read, and the order in which a page tries them.

use firstread_core::voltage::MAX_PAGES;
use firstread_core::{CellMode, PageType};

use super::contract::PageOrder;
use crate::policy::{ReadTime, Setup};

/// The page types of each cell mode.
#[derive(Clone, Debug)]
pub(super) struct PageOrders {
    /// For each mode and each rank that a page may want, the fastest first.
    orders: [[PageOrder; MAX_PAGES]; CellMode::ALL.len()],
    /// The rank of each page type in each mode.
    ranks: [[u8; MAX_PAGES]; CellMode::ALL.len()],
}

impl PageOrders {
    /// By the times of the drive of `setup`. Page types that take equally long are in the order of their bits.
    pub(super) fn new(setup: &Setup) -> PageOrders {
        let own = (setup.tables.mode, setup.read_time);
        let others = setup.other_modes.iter();
        let others = others.map(|other| (other.tables.mode, other.read_time));
        PageOrders::of([own].into_iter().chain(others))
    }

    /// By the times of these modes.
    pub(super) fn of(modes: impl Iterator<Item = (CellMode, ReadTime)>) -> PageOrders {
        let mut orders = PageOrders {
            orders: [[PageOrder::IN_ORDER; MAX_PAGES]; CellMode::ALL.len()],
            ranks: [[0, 1, 2, 3]; CellMode::ALL.len()],
        };
        for (mode, time) in modes {
            orders.add(mode, &time);
        }
        orders
    }

    fn add(&mut self, mode: CellMode, time: &ReadTime) {
        let pages = usize::from(mode.bits());
        let mut by_rank: [u8; MAX_PAGES] = [0, 1, 2, 3];
        by_rank[..pages].sort_by_key(|&page| (time.sense_ns[usize::from(page)], page));
        for (rank, &page) in (0..).zip(&by_rank[..pages]) {
            self.ranks[mode.index()][usize::from(page)] = rank;
        }
        for wanted in 0..pages {
            // Of two that are as near, the slower one goes first: a fast page is worth more to a page that is read.
            let mut tried: [usize; MAX_PAGES] = [0, 1, 2, 3];
            tried[..pages].sort_by_key(|&rank| (rank.abs_diff(wanted), rank < wanted));
            let order = tried.map(|rank| PageType(by_rank[rank]));
            self.orders[mode.index()][wanted] = PageOrder(order);
        }
    }

    /// The page types that a page tries in `mode` of which `hotter` 256ths of the others are hotter.
    #[inline]
    pub(super) fn order(&self, mode: CellMode, hotter: u8) -> PageOrder {
        let rank = usize::from(hotter) * usize::from(mode.bits()) / 256;
        self.orders[mode.index()][rank]
    }

    /// The rank of `page` in `mode`.
    #[inline]
    pub(super) fn rank(&self, mode: CellMode, page: u8) -> usize {
        usize::from(self.ranks[mode.index()][usize::from(page) % MAX_PAGES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mode: CellMode, sense_ns: [u32; MAX_PAGES]) -> PageOrders {
        let time = ReadTime {
            sense_ns,
            ..ReadTime::default()
        };
        PageOrders::of([(mode, time)].into_iter())
    }

    /// The page type that suits a page goes first, then the nearest by how fast they are, the slower of two. Page types that the mode
    /// lacks come last.
    #[test]
    fn formula_the_nearest_page_type_goes_first_and_the_slower_of_two() {
        let qlc = of(CellMode::Qlc, [48, 76, 135, 228]);
        for (hotter, order) in [
            (0, [0, 1, 2, 3]),
            (63, [0, 1, 2, 3]),
            (64, [1, 2, 0, 3]),
            (128, [2, 3, 1, 0]),
            (255, [3, 2, 1, 0]),
        ] {
            assert_eq!(
                qlc.order(CellMode::Qlc, hotter).0.map(|page| page.0),
                order,
                "{hotter}"
            );
        }
        // The second page of three is the slowest. A third of the pages suit each.
        let tlc = of(CellMode::Tlc, [78, 117, 78, 0]);
        for (hotter, order) in [
            (0, [0, 2, 1, 3]),
            (85, [0, 2, 1, 3]),
            (86, [2, 1, 0, 3]),
            (171, [1, 2, 0, 3]),
        ] {
            assert_eq!(
                tlc.order(CellMode::Tlc, hotter).0.map(|page| page.0),
                order,
                "{hotter}"
            );
        }
        assert_eq!(
            [0, 1, 2].map(|page| tlc.rank(CellMode::Tlc, page)),
            [0, 2, 1]
        );
        let slc = of(CellMode::Slc, [20, 0, 0, 0]);
        assert_eq!(slc.order(CellMode::Slc, 255).0[0], PageType(0));
    }
}
