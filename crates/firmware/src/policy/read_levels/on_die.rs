//! `on-die`: when a read fails, the chip looks for the valleys itself, in one longer sense.
//!
//! Chips offer this under several names (auto read calibration, Swift-Read, on-chip valley search). The chip senses
//! around each level of the page, counts in its page buffers how many cells lie between neighbouring levels, and
//! senses the page where there are fewest. No data cross the channel before that, and the firmware is not told the
//! levels.
//!
//! ```text
//! a read      the default; with `first=on-die` the search at once
//! it fails    the search, `searches` times at most: only the noise of its counts differs
//! and again   the retry table from its first entry on
//! ```
//!
//! The scheme keeps nothing and does nothing in the background. `docs/firmware/comparators.md` says where the numbers come
//! from.

use alloc::boxed::Box;

use firstread_core::params::{Need, Param, Role, Scheme, Values};
use firstread_core::{Levels, ValleySearch};

use super::ReadLevels;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "on-die",
    summary: "a failed read is repeated in a longer sense, in which the chip finds its valleys",
    source: "auto read calibration of a Micron chip (feature address 96h); Swift-Read, SK hynix, ISSCC 2022 (second-hand)",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: &[
        Param::choice(
            "first",
            "first attempt of a read: at the default levels, or a search at once",
            &["default", "on-die"],
        ),
        Param::number(
            "on_die_sense",
            "time of a sense in which the chip searches, as a share of tR",
            "percent",
            (200, 120, 1_000),
        ),
        Param::number(
            "on_die_step",
            "distance of the levels at which the chip counts",
            "dac",
            (4, 1, 16),
        ),
        Param::number(
            "on_die_reach",
            "levels at which the chip counts, to either side of the centre",
            "levels",
            (6, 1, 15),
        ),
        Param::number(
            "on_die_center",
            "centre of the search below the default level",
            "dac",
            (12, 0, 60),
        ),
        Param::number(
            "searches",
            "searches before the retry table is walked",
            "attempts",
            (2, 1, 8),
        ),
    ],
};

#[derive(Clone, Debug)]
pub struct OnDie {
    /// Entries of the retry table in the form that reads use.
    entries: Box<[Levels]>,
    search: ValleySearch,
    /// The first attempt that is a search: 0 or 1.
    from: u8,
    searches: u8,
}

impl OnDie {
    /// The scheme with the chip's retry table and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> OnDie {
        let number = |key| values.get(key) as u8;
        OnDie {
            entries: setup.tables.factory[..setup.tables.factory_len as usize]
                .iter()
                .map(|&offsets| Levels::Offsets(offsets))
                .collect(),
            search: ValleySearch {
                sense_percent: values.get("on_die_sense") as u16,
                step: number("on_die_step"),
                reach: number("on_die_reach"),
                center: -(values.get("on_die_center") as i8),
            },
            from: u8::from(values.get("first") == 0),
            searches: number("searches"),
        }
    }
}

impl ReadLevels for OnDie {
    fn attempt(
        &mut self,
        _ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        let Some(search) = step.checked_sub(self.from) else {
            return Some(Levels::DEFAULT);
        };
        match search.checked_sub(self.searches) {
            None => Some(Levels::OnDie(self.search)),
            // The default was tried first, unless the read began with a search.
            Some(k) => self.entries.get(usize::from(k + self.from)).copied(),
        }
    }
}
