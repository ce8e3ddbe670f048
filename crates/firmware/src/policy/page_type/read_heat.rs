//! `read-heat`: the hottest quarter of the placed pages on the fastest page type, and so on.
//!
//! Heat is that of the observer: reads of late, halved with each epoch. A page keeps its heat when it is written anew, so
//! that the new version is placed by the reads of the earlier ones. What a fast page saves are the reads of the version that lies
//! there. A page that is read often and written as often has few reads a version: `heat=per-version` takes reads ÷ (writes + 1).
//!
//! A page that is read and never written anew stays where it lies until cleaning moves it. `promote` moves such pages for the sake of
//! their page type.

use firstread_core::CellMode;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::by_heat::{ByHeat, PLACES, log_bin};
use super::contract::{BINS, PageOrder, PageTypes, PlacedPage, Scale, Wish};
use crate::observe::PageHeat;
use crate::policy::Setup;
use crate::policy::hot_pages::PageRead;

const HEAT: Param = Param::choice(
    "heat",
    "what makes a page hot: its reads, as in the deck, or its reads a version, reads / (writes + 1)",
    &["reads", "per-version"],
);
const PROMOTE: Param = Param::number(
    "promote",
    "pages moved because they are hot, not written of late and lie on a slow page type: at most so many for each 1,000 \
     pages that the host reads from flash; 0 for none, as in the deck",
    "pages",
    (0, 0, 1000),
);
const HOT: Param = Param::number(
    "hot",
    "read heat from which a page that lies in the slower half of the page types is promoted, where any is",
    "reads",
    (8, 1, 255),
);
/// Promotions that may be saved up (thousandths of a page).
const MOST_SAVED_MILLI: u64 = 64_000;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "read-heat",
    summary: "what is read most on the fastest page type, by quarters of the heat of what is written and moved",
    source: "Achieving Latency and Reliability Targets with QLC in Enterprise Controllers (IBM), Flash Memory Summit; \
             Improving NAND flash performance with read heat separation, MASCOTS 2020",
    role: Role::Scheme,
    needs: &[Need::Heat],
    ordered: &[],
    params: &[PLACES, HEAT, PROMOTE, HOT],
};

/// Heat, and what was placed.
#[derive(Clone, Debug)]
pub struct ReadHeat {
    by_heat: ByHeat,
    per_version: bool,
    promoted_per_thousand: u64,
    hot: u8,
    saved_milli: u64,
}

impl ReadHeat {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> ReadHeat {
        ReadHeat {
            by_heat: ByHeat::new(setup, values),
            per_version: values.get(HEAT.key) == 1,
            promoted_per_thousand: values.get(PROMOTE.key) as u64,
            hot: values.get(HOT.key) as u8,
            saved_milli: 0,
        }
    }

    #[inline]
    fn wish_of(&self, page: &PlacedPage) -> Wish {
        let PageHeat { reads, writes } = page.heat;
        let wish = |bin| Wish::new(bin, page.group);
        match self.per_version {
            // Sixteenths, so that a page read less often than it is written has a bin as well.
            true => wish(log_bin(16 * u32::from(reads) / (u32::from(writes) + 1))),
            // Counters of four bits have a bin for each number. Wider ones have a bin for as many as are halved into one bin.
            false if usize::from(page.most_reads) < BINS => wish(reads).in_epoch(page.epoch),
            false => wish(log_bin(u32::from(reads)))
                .on(Scale::HalfPowers)
                .in_epoch(page.epoch),
        }
    }
}

impl PageTypes for ReadHeat {
    #[inline]
    fn is_on(&self) -> bool {
        true
    }

    fn wish(&self, page: &PlacedPage) -> Option<Wish> {
        self.by_heat.places(page.moves).then(|| self.wish_of(page))
    }

    fn order(&self, stream: usize, wish: Wish, mode: CellMode) -> PageOrder {
        self.by_heat.order(stream, wish, mode)
    }

    fn has_placed(&mut self, stream: usize, wish: Wish) {
        self.by_heat.has_placed(stream, wish);
    }

    #[inline]
    fn sees_reads(&self) -> bool {
        self.promoted_per_thousand > 0
    }

    fn promotes(&mut self, read: &PageRead) -> bool {
        self.saved_milli = (self.saved_milli + self.promoted_per_thousand).min(MOST_SAVED_MILLI);
        read.heat.writes == 0
            && read.heat.reads >= self.hot
            && self.saved_milli >= 1000
            && self.by_heat.is_slow(read)
    }

    fn has_promoted(&mut self) {
        self.saved_milli = self.saved_milli.saturating_sub(1000);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::ftl::tests::{geometry, setup};
    use crate::observe::PageFuture;

    /// The scheme on a drive of QLC, with parameters of its own.
    fn scheme(own: &[(&str, i64)]) -> ReadHeat {
        let setup = setup(CellMode::Qlc, geometry(24), 512);
        let value = |param: &Param| {
            let named = own.iter().find(|(key, _)| *key == param.key);
            named.map_or(param.default(), |(_, value)| *value)
        };
        let values: Vec<i64> = SCHEME.params.iter().map(value).collect();
        ReadHeat::new(&setup, &Values::new(&SCHEME, &values))
    }

    fn page(reads: u8, writes: u8, moves: bool) -> PlacedPage {
        PlacedPage {
            group: 1,
            moves,
            heat: PageHeat { reads, writes },
            most_reads: 15,
            epoch: 1,
            reads_left: None,
        }
    }

    /// The page type of most reads that pages of each kind try first, where as many of each are placed.
    fn first_of(scheme: &mut ReadHeat, kinds: &[PlacedPage]) -> Vec<u8> {
        for i in 0..40_000u64 {
            let group = i / kinds.len() as u64;
            let kind = PlacedPage {
                group,
                ..kinds[i as usize % kinds.len()]
            };
            let wish = scheme.wish(&kind).expect("it is placed by heat");
            scheme.has_placed(0, wish);
        }
        let order = |kind: &PlacedPage| {
            let wish = scheme.wish(kind).expect("it is placed by heat");
            scheme.order(0, wish, CellMode::Qlc).0[0].0
        };
        kinds.iter().map(order).collect()
    }

    /// What is read 12 times and written 11 times has one read a version, and what is read twice and not written two.
    #[test]
    fn formula_reads_a_version_are_what_a_fast_page_saves() {
        let kinds = [(12, 11), (2, 0), (0, 5), (15, 1)].map(|(r, w)| page(r, w, false));
        let of = |heat| first_of(&mut scheme(&[("heat", heat)]), &kinds);
        assert_eq!(of(0), [1, 2, 3, 0], "by reads");
        assert_eq!(of(1), [2, 1, 3, 0], "by reads a version");
    }

    /// With `places=moved` the pages that the host writes have no wish, and those that move have.
    #[test]
    fn formula_only_pages_that_move_are_placed_by_heat_where_that_is_asked_for() {
        for (places, of_host) in [(0, true), (1, false)] {
            let scheme = scheme(&[("places", places)]);
            assert_eq!(scheme.wish(&page(9, 0, false)).is_some(), of_host);
            assert!(scheme.wish(&page(9, 0, true)).is_some());
        }
    }

    /// Wide counters have bins of half powers of two, so that those of many reads are still told apart.
    #[test]
    fn formula_wide_counters_have_bins_that_can_be_halved() {
        let scheme = scheme(&[]);
        let wish = |reads, most_reads| {
            let page = PlacedPage {
                most_reads,
                ..page(reads, 0, true)
            };
            scheme.wish(&page).expect("it is placed by heat")
        };
        for reads in 0..16 {
            assert_eq!(
                (wish(reads, 15).bin, wish(reads, 15).scale),
                (reads, Scale::Numbers)
            );
        }
        let wide = [3, 4, 16, 100, 200].map(|reads| wish(reads, 127));
        assert_eq!(wide.map(|wish| wish.bin), [3, 4, 8, 13, 15]);
        assert!(wide.iter().all(|wish| wish.scale == Scale::HalfPowers));
    }

    /// A promotion is spent when the page is moved, and not when it was wanted and refused.
    #[test]
    fn formula_a_promotion_that_is_refused_spends_nothing() {
        let mut scheme = scheme(&[("promote", 500)]);
        let read = PageRead {
            page: 3,
            mode: CellMode::Qlc,
            heat: PageHeat {
                reads: 9,
                writes: 0,
            },
            block: firstread_core::SuperblockId(0),
            pe_cycles: 0,
            block_reads: 0,
            retries: 0,
            age: firstread_core::Ns::ZERO,
            future: PageFuture::default(),
        };
        assert!(!scheme.promotes(&read), "half of one is saved");
        assert!((0..300).all(|_| scheme.promotes(&read)), "none is spent");
        // Each read that asks saves half of one, and a promotion spends one: of 64 that were saved 128 are made.
        let made = (0..1_000).position(|_| {
            let promotes = scheme.promotes(&read);
            scheme.has_promoted();
            !promotes
        });
        assert!(matches!(made, Some(125..=129)), "{made:?}");
    }
}
