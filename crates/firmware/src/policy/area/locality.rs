//! Locality of reads: which share of them is of pages that are read often.
//!
//! DWR finds little to gain where a load has little locality (`STG_0`), and places data by whether reads or writes
//! dominate there (section IV-B1). It does not say when locality is low. Here it is low while fewer than `locality` of
//! the last `WINDOW` page reads were of hot pages.

use firstread_core::params::{Param, Values};

use crate::observe::PageHeat;

/// What is done where locality is low.
pub(super) const LOW_LOCALITY: Param = Param::choice(
    "low_locality",
    "what decides where locality is low: the same rule, or whether a page is read more than written",
    &["same", "by-dominance"],
);

/// When locality is low. Of the reads of the paper's `STG_0`, 7 % would be of hot pages after one pass.
pub(super) const LOCALITY: Param = Param::number(
    "locality",
    "share of page reads of the host that are of pages read often, below which locality is low",
    "permille",
    (100, 0, 1000),
);

/// Page reads between two looks.
const WINDOW: u32 = 1 << 14;

/// The locality of the last window.
#[derive(Clone, Debug)]
pub(super) struct Locality {
    least_permille: u32,
    is_on: bool,
    reads: u32,
    hot: u32,
    is_low: bool,
}

impl Locality {
    pub(super) fn new(values: &Values) -> Locality {
        Locality {
            least_permille: values.get(LOCALITY.key) as u32,
            is_on: values.get(LOW_LOCALITY.key) == 1,
            reads: 0,
            hot: 0,
            is_low: false,
        }
    }

    /// Whether it is asked for.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The host has read a page, which is hot or not.
    #[inline]
    pub(super) fn read(&mut self, is_hot: bool) {
        self.reads += 1;
        self.hot += u32::from(is_hot);
        if self.reads == WINDOW {
            self.is_low =
                u64::from(self.hot) * 1000 < u64::from(WINDOW) * u64::from(self.least_permille);
            (self.reads, self.hot) = (0, 0);
        }
    }

    /// Whether a page of this heat belongs in LWA because reads dominate; none where that does not decide.
    #[inline]
    pub(super) fn by_dominance(&self, heat: PageHeat) -> Option<bool> {
        (self.is_on && self.is_low).then_some(heat.reads > heat.writes)
    }
}
