//! Parameters of the schemes that keep levels by group, and the state built from them.
//! `docs/firmware/ct-qlc.md` gives the reasons for the defaults.

use alloc::boxed::Box;

use firstread_core::Ns;
use firstread_core::params::{Param, Values};

use crate::policy::Setup;
use crate::voltage::calibration::Refinement;
use crate::voltage::calibration_clock::{CalibrationClock, GroupClock};
use crate::voltage::group_levels::GroupLevels;
use crate::voltage::groups::{self, GROUPING_PARAM, RETENTION_BINS_PARAM};
use crate::voltage::pass_schedule::{PassInterval, PassSchedule};
use crate::voltage::sampling::{MAX_BLOCKS, Sampler};
use crate::voltage::selector::{Fallback, Selector};
use crate::voltage::tables::MAX_ZONES;
use crate::voltage::tables::{Form, TableManager};
use crate::voltage::valley::{Direction, Epsilon, Rules, WindowScale};

/// Nanoseconds of an hour.
const HOUR: i64 = 3_600_000_000_000;

/// Blocks in a sample.
const BLOCKS_PARAM: Param = Param::number(
    "blocks_per_group",
    "blocks sampled in a group, each of one plane of one die",
    "blocks",
    (2, 1, MAX_BLOCKS as i64),
);
/// Pages per sampled block.
const PAGES_PARAM: Param = Param::number(
    "pages_per_block",
    "pages sampled in a block",
    "pages",
    (64, 4, 4096),
);
/// Distance between sampled pages.
const STEP_PARAM: Param = Param::number(
    "page_step",
    "pages from one sampled page to the next",
    "pages",
    (63, 1, 65_535),
);
/// How the other valleys are projected from the sentinel.
const PROJECTION_PARAM: Param = Param::choice(
    "projection",
    "the other valleys from a sentinel by a line, as published, or by a parabola",
    &["linear", "quadratic"],
);
/// How entries are stored.
const SENTINEL_PARAM: Param = Param::flag(
    "sentinel",
    "keep and search one valley a page type and project the others; without it every valley",
    true,
);
/// Where the walk over the factory table starts.
const FALLBACK_PARAM: Param = Param::choice(
    "fallback",
    "walk over the factory table: from the entry nearest the group's outward, or onward and round; \
     or from the first",
    &["outward", "onward", "first"],
);

pub const FROZEN: &[Param] = &[
    BLOCKS_PARAM,
    PAGES_PARAM,
    STEP_PARAM,
    SENTINEL_PARAM,
    PROJECTION_PARAM,
    FALLBACK_PARAM,
    GROUPING_PARAM,
    RETENTION_BINS_PARAM,
];

pub const CT_QLC: &[Param] = &[
    Param::number(
        "interval",
        "time from one calibration of a group to the next",
        "ns",
        (5 * HOUR, HOUR / 60, 8760 * HOUR),
    ),
    Param::choice(
        "clock",
        "what the interval counts from: a group's own last calibration, or the last pass over all groups. \
         Paced passes (pacing=drift) are passes over all groups in either case",
        &["group", "global"],
    ),
    Param::choice(
        "pacing",
        "passes at every interval, as published, or sooner and later as levels move, as many in the \
         long run",
        &["fixed", "drift"],
    ),
    Param::flag(
        "verify_at_power_on",
        "verify every group at once when power is back; without it when the next pass is due",
        true,
    ),
    Param::choice(
        "verify",
        "what verification goes by: pages that fail, as published, or bits corrected by page type too",
        &["fail-ratio", "corrected-bits"],
    ),
    Param::number(
        "zones",
        "parts of a block, by layer, that may have levels of their own; with verify=corrected-bits",
        "zones",
        (1, 1, MAX_ZONES as i64),
    ),
    Param::number(
        "zone_bound",
        "zones share levels while their best differ by less",
        "dac",
        (1, 0, 100),
    ),
    BLOCKS_PARAM,
    PAGES_PARAM,
    STEP_PARAM,
    Param::choice(
        "page_start",
        "first sampled page: where the pass before stopped, or page 0",
        &["rotate", "zero"],
    ),
    Param::number(
        "fail_margin",
        "corrected bits, of those that the code corrects, above which a page fails verification; 1000 for \
         uncorrectable pages alone, as published. With verify=fail-ratio",
        "permille",
        (900, 100, 1000),
    ),
    Param::number(
        "threshold",
        "fail ratio above which an entry fails verification",
        "permille",
        (10, 0, 1000),
    ),
    Param::flag(
        "strict",
        "only the published outcomes: sort when all entries pass, track when all fail",
        false,
    ),
    Param::flag("reorder", "sort entries by fail ratio", true),
    Param::flag("track", "search valleys when entries fail", true),
    Param::flag(
        "validate",
        "try tracked entries on the sample before they replace the old ones",
        true,
    ),
    Param::choice(
        "direction",
        "way the search moves: toward fewer cells, or toward more as the listing has it",
        &["corrected", "as-printed"],
    ),
    Param::number(
        "window",
        "base value of half of the first window",
        "dac",
        (8, 1, 24),
    ),
    Param::choice(
        "window_scale",
        "half of the first window is the base value times one plus the fail ratio, or times the fail ratio \
         as published",
        &["one-plus-ratio", "as-printed"],
    ),
    Param::flag(
        "recount",
        "count all three levels of a window in each iteration, as listed; without it those not yet counted",
        false,
    ),
    Param::number(
        "max_iterations",
        "iterations after which the search of a valley stops",
        "iterations",
        (16, 1, 100),
    ),
    Param::choice(
        "epsilon",
        "asymmetry that counts as none: scaled to the cells in the window, or a fixed number",
        &["scaled", "fixed"],
    ),
    Param::number(
        "epsilon_permille",
        "scaled: share of the cells in the window",
        "permille",
        (50, 0, 1000),
    ),
    Param::number(
        "epsilon_sigma",
        "scaled: at least so many standard deviations of the counts",
        "sigma",
        (2, 0, 100),
    ),
    Param::number(
        "epsilon_cells",
        "fixed: cells, over all pooled pages",
        "cells",
        (150, 0, 1_000_000_000),
    ),
    Param::number(
        "backup_window",
        "distance of the two backups from the level found; 0 for the last window, as published",
        "dac",
        (3, 0, 24),
    ),
    SENTINEL_PARAM,
    PROJECTION_PARAM,
    FALLBACK_PARAM,
    GROUPING_PARAM,
    RETENTION_BINS_PARAM,
];

/// State that both schemes share, built from the parameters that both have. `rotate`: each pass samples other
/// pages. `zones`: number of parts of a block that may have levels of their own.
pub fn group_levels(setup: &Setup, values: &Values, rotate: bool, zones: u8) -> GroupLevels {
    let groups = groups::chosen(values);
    let form = match (
        values.flag(SENTINEL_PARAM.key),
        values.get(PROJECTION_PARAM.key),
    ) {
        (true, 0) => Form::Sentinel,
        (true, _) => Form::Curved,
        (false, _) => Form::Full,
    };
    let fallback = match values.get(FALLBACK_PARAM.key) {
        0 => Fallback::Outward,
        1 => Fallback::Onward,
        _ => Fallback::First,
    };
    let sampler = Sampler::new(
        &setup.geometry,
        setup.tables.mode,
        setup.seed,
        (
            values.get(BLOCKS_PARAM.key) as u8,
            values.get(PAGES_PARAM.key) as u32,
            values.get(STEP_PARAM.key) as u32,
        ),
        rotate,
    );
    let selector = Selector {
        groups,
        tables: TableManager::new(&setup.tables, form, groups.len()).with_zones(zones),
        fallback,
    };
    GroupLevels::new(selector, sampler, &setup.geometry, zones_of(setup, zones))
}

/// Zone of each wordline. All zones have the same number of layers. Empty for one zone.
fn zones_of(setup: &Setup, zones: u8) -> Box<[u8]> {
    if zones <= 1 {
        return Box::default();
    }
    let layers = 1 + setup.layer_of.iter().copied().max().unwrap_or(0) as u32;
    let zone = |&layer: &u16| (layer as u32 * zones as u32 / layers) as u8;
    setup.layer_of.iter().map(zone).collect()
}

/// When each of `groups` groups is calibrated.
pub fn calibration_clock(values: &Values, groups: usize) -> CalibrationClock {
    let interval = Ns(values.get("interval").max(1) as u64);
    match (values.get("pacing"), values.get("clock")) {
        (0, 0) => CalibrationClock::Group(GroupClock::new(interval, groups)),
        (0, _) => CalibrationClock::Global(PassSchedule::new(interval, PassInterval::Fixed)),
        _ => CalibrationClock::Global(PassSchedule::new(interval, PassInterval::Drift)),
    }
}

/// Corrected bits of a codeword above which a page fails verification; the code nearly always corrects
/// `correctable_bits`.
pub fn page_limit(correctable_bits: u16, values: &Values) -> u16 {
    let permille = values.get("fail_margin").clamp(0, 1000) as u32;
    match (values.get("verify"), permille) {
        (0, ..1000) => (correctable_bits as u32 * permille / 1000) as u16,
        _ => u16::MAX,
    }
}

/// How the first window of a search grows with the fail ratio.
pub fn window_scale(values: &Values) -> WindowScale {
    match values.get("window_scale") {
        0 => WindowScale::OnePlusRatio,
        _ => WindowScale::AsPrinted,
    }
}

/// Which actions verification may lead to.
pub fn refinement(values: &Values) -> Refinement {
    Refinement {
        threshold_permille: values.get("threshold") as u16,
        strict: values.flag("strict"),
        reorder: values.flag("reorder"),
        track: values.flag("track"),
    }
}

/// Rules of the valley search.
pub fn rules(values: &Values) -> Rules {
    let direction = match values.get("direction") {
        0 => Direction::Corrected,
        _ => Direction::AsPrinted,
    };
    let epsilon = match values.get("epsilon") {
        0 => Epsilon::Scaled {
            permille: values.get("epsilon_permille") as u32,
            sigma: values.get("epsilon_sigma") as u32,
        },
        _ => Epsilon::Cells(values.get("epsilon_cells") as u64),
    };
    Rules {
        direction,
        epsilon,
        limit: values.get("max_iterations") as u8,
        recount: values.flag("recount"),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::ct_qlc;
    use super::*;

    /// The limit is a share of what the code corrects; there is none at 1000, nor where corrected bits decide.
    #[test]
    fn formula_fail_margin_is_a_share_of_what_the_code_corrects() {
        let limit = |set: &[(&str, i64)]| {
            let value = |param: &Param| {
                let given = set.iter().find(|(key, _)| *key == param.key);
                given.map_or(param.default(), |&(_, value)| value)
            };
            let values: Vec<i64> = CT_QLC.iter().map(value).collect();
            page_limit(72, &Values::new(&ct_qlc::SCHEME, &values))
        };
        assert_eq!(limit(&[("fail_margin", 1000)]), u16::MAX);
        assert_eq!(limit(&[("fail_margin", 800)]), 57, "of 72");
        assert_eq!(limit(&[("fail_margin", 999)]), 71);
        assert_eq!(limit(&[("fail_margin", 800), ("verify", 1)]), u16::MAX);
    }
}
