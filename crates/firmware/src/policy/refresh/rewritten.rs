//! What schemes that rewrite single pages share: their stream, and how old data have to be.

use firstread_core::Ns;
use firstread_core::params::{Param, Values};

use crate::observe::{StreamRow, StreamUse};
use crate::policy::hot_pages::PageRead;

/// A stream in the drive's own mode.
pub(super) const REFRESHED: &[StreamRow] = &[StreamRow {
    name: "refreshed",
    takes: StreamUse::Refreshed,
}];

/// The age of data from which they may be rewritten.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeastAge(Ns);

impl LeastAge {
    /// The parameter `age`. Without it, a page would be rewritten at every read wherever a fresh copy is as slow: cells
    /// by a formula without retention, a model of ageing that knows P/E cycles alone, a page that errs by itself.
    pub(super) const AGE: Param = Param::number(
        "age",
        "time since a superblock was first programmed below which its pages are not rewritten",
        "ns",
        (86_400_000_000_000, 0, 1 << 60),
    );

    /// The age of `values`.
    pub(super) fn new(values: &Values) -> LeastAge {
        LeastAge(Ns(values.get(LeastAge::AGE.key) as u64))
    }

    /// Whether the data of `read` are old enough.
    pub(super) fn is_reached(self, read: &PageRead) -> bool {
        read.age >= self.0
    }
}
