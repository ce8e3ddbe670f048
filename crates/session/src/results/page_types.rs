//! Reads by page type: how many the host had of each, how long they took, and how often they were repeated. What the keys
//! mean: `docs/firmware/page-types.md`.

use firstread_core::CellMode;
use firstread_firmware::observe::{Counters, page_type_bin};
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::page_speed::by_speed;
use crate::setup::Setup;

/// Names of page types by how fast they are read, the fastest first.
pub const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A page type of a cell mode in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OfPageType {
    pub mode: CellMode,
    /// Its name among the page types of the mode: `a` is the fastest.
    pub name: &'static str,
    /// Index of the page within its wordline, LSB 0.
    pub page: u8,
    /// Senses that a read of it takes.
    pub senses: usize,
    /// `tR` (ns).
    pub sense_ns: u64,
    /// Pages of it that were read for the host.
    pub page_reads: u64,
    /// Retries of these reads.
    pub retries: u64,
    /// Their time (ns), from the queue of the die to the verdict on the last step.
    pub read_ns: u64,
    /// Share of all pages read for the host; none where there were none.
    pub read_share: Option<f64>,
    /// Mean time of a page read (µs).
    pub read_mean_us: Option<f64>,
    /// Mean number of retries of a page read.
    pub retries_mean: Option<f64>,
}

/// What was read since the first measured request: a ramp does not count.
pub fn of_page_types(setup: &Setup, outcome: &Outcome) -> Vec<OfPageType> {
    page_types_of(setup, &outcome.stats.measured)
}

/// What `c` have counted: the page types of the drive's own mode, the fastest first, and of every other mode that the host read
/// pages of.
pub(crate) fn page_types_of(setup: &Setup, c: &Counters) -> Vec<OfPageType> {
    let all: u64 = c.page_reads_by_page_type.iter().sum();
    let row = |mode: CellMode, name: &'static str, page: u8, sense_ns: u64| {
        let at = page_type_bin(mode, page);
        let pages = c.page_reads_by_page_type[at];
        let a_page = |n: u64| (pages > 0).then(|| n as f64 / pages as f64);
        let profile = setup.profile.chip.mode(mode);
        OfPageType {
            mode,
            name,
            page,
            senses: profile.map_or(0, |m| m.pages[usize::from(page)].len()),
            sense_ns,
            page_reads: pages,
            retries: c.page_retries_by_page_type[at],
            read_ns: c.page_read_ns_by_page_type[at],
            read_share: (all > 0).then(|| pages as f64 / all as f64),
            read_mean_us: a_page(c.page_read_ns_by_page_type[at]).map(|ns| ns / 1e3),
            retries_mean: a_page(c.page_retries_by_page_type[at]),
        }
    };
    let of_mode = |mode: CellMode| {
        let named = by_speed(&setup.profile, mode).into_iter().zip(NAMES);
        let rows: Vec<OfPageType> = named
            .map(|((page, sense_ns), name)| row(mode, name, page, sense_ns))
            .collect();
        let are_read = rows.iter().any(|row| row.page_reads > 0);
        match are_read || mode == setup.profile.mode {
            true => rows,
            false => Vec::new(),
        }
    };
    let own = setup.profile.mode;
    let others = CellMode::ALL.into_iter().filter(|mode| *mode != own);
    [own].into_iter().chain(others).flat_map(of_mode).collect()
}

/// A row a page type.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Value {
    let row = |of: &OfPageType| {
        json!({
            "mode": of.mode.name(),
            "page_type": of.name,
            "page": of.page,
            "senses": of.senses,
            "sense_ns": of.sense_ns,
            "page_reads": of.page_reads,
            "retries": of.retries,
            "page_read_ns": of.read_ns,
            "page_read_share": of.read_share,
            "page_read_mean_us": of.read_mean_us,
            "retries_mean": of.retries_mean,
        })
    };
    of_page_types(setup, outcome).iter().map(row).collect()
}
