//! The temperature of a page: cold, warm or hot by its read heat.

use firstread_core::params::{Param, Values};

use crate::observe::PageHeat;

/// How often a page is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Temperature {
    Cold,
    /// At least warm, but not hot.
    Warm,
    Hot,
}

/// Read heat from which a page is warm or hot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    warm: u8,
    hot: u8,
}

impl Thresholds {
    pub(crate) const WARM: Param = Param::number(
        "warm",
        "read heat from which a page is warm: its reads, halved with each epoch of the observer of heat",
        "reads",
        (3, 1, 255),
    );
    pub(crate) const HOT: Param = Param::number(
        "hot",
        "read heat from which a page is hot; 255: no page is, and warm pages alone are meant",
        "reads",
        (8, 1, 255),
    );

    /// [`Thresholds::HOT`] of a scheme that does nothing for warm pages.
    pub(crate) const HOT_ALONE: Param = Param::number(
        "hot",
        "read heat from which a page is hot",
        "reads",
        (8, 1, 255),
    );

    /// The thresholds of `values`.
    pub(crate) fn new(values: &Values) -> Thresholds {
        Thresholds {
            warm: values.get("warm") as u8,
            hot: values.get("hot") as u8,
        }
    }

    /// The temperature of a page of heat `heat`.
    #[inline]
    pub(crate) fn of(&self, heat: PageHeat) -> Temperature {
        if heat.reads >= self.hot {
            Temperature::Hot
        } else if heat.reads >= self.warm {
            Temperature::Warm
        } else {
            Temperature::Cold
        }
    }
}
