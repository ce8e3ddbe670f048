//! The budget of migrations: pages for each 1,000 pages that the host reads from flash or writes.

use firstread_core::params::{Param, Values};

pub(super) const BUDGET: Param = Param::number(
    "budget",
    "pages migrated after reads for each 1,000 pages that the host reads from flash or writes, at most",
    "pages",
    (1000, 0, 1000),
);

/// Pages that may be saved up.
const MOST_SAVED: u64 = 1000;

/// What is left of the budget.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    per_thousand: u64,
    /// In thousandths of a page.
    left_milli: u64,
}

impl Budget {
    pub(super) fn new(values: &Values) -> Budget {
        Budget {
            per_thousand: values.get(BUDGET.key) as u64,
            left_milli: 0,
        }
    }

    /// The host has read or written `pages`.
    #[inline]
    pub(super) fn earn(&mut self, pages: u32) {
        let earned = self.per_thousand * u64::from(pages);
        self.left_milli = (self.left_milli + earned).min(MOST_SAVED * 1000);
    }

    /// Whether a page is left.
    pub(super) fn has_page(&self) -> bool {
        self.left_milli >= 1000
    }

    /// A page has been migrated.
    pub(super) fn spend(&mut self) {
        self.left_milli = self.left_milli.saturating_sub(1000);
    }
}
