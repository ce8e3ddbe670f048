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
        let promotes = read.heat.writes == 0
            && read.heat.reads >= self.hot
            && self.saved_milli >= 1000
            && self.by_heat.is_slow(read);
        self.saved_milli -= if promotes { 1000 } else { 0 };
        promotes
    }
}
