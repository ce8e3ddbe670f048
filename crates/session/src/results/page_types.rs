//! Reads by page type: how many the host had of each, how long they took, and how often they were repeated. What the keys
//! mean: `docs/firmware/page-types.md`.

use firstread_core::CellMode;
use firstread_core::params::Role;
use firstread_firmware::observe::page_type_bin;
use serde_json::{Value, json};

use crate::setup::Setup;
use crate::simulate::Outcome;

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

/// The page types of `mode` of the chip, the fastest first, with `tR` of each (ns). Those that are as fast are in the order of
/// their bits.
fn by_speed(setup: &Setup, mode: CellMode) -> Vec<(u8, u64)> {
    let Some(profile) = setup.profile.chip.mode(mode) else {
        return Vec::new();
    };
    let pages = 0..profile.pages.len();
    let mut pages: Vec<(u8, u64)> = pages
        .map(|page| (page as u8, profile.read_ns(page)))
        .collect();
    pages.sort_by_key(|&(page, ns)| (ns, page));
    pages
}

/// The page types of the drive's own mode, the fastest first, and of every other mode that the host read pages of.
pub fn of_page_types(setup: &Setup, outcome: &Outcome) -> Vec<OfPageType> {
    let c = &outcome.stats.counters;
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
        let named = by_speed(setup, mode).into_iter().zip(NAMES);
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

/// Whether a scheme of the drive chooses page types.
pub fn are_chosen(setup: &Setup) -> bool {
    let choice = setup.profile.scheme("page_type");
    choice.is_some_and(|choice| choice.scheme.role != Role::Baseline)
}

/// What the drive's scheme of axis `page_type` cannot do: all page types of its chip take as long to read.
pub fn note(setup: &Setup) -> Option<String> {
    let choice = setup
        .profile
        .scheme("page_type")
        .filter(|_| are_chosen(setup))?;
    let pages = by_speed(setup, setup.profile.mode);
    let (fastest, slowest) = (pages.first()?.1, pages.last()?.1);
    (fastest == slowest).then(|| {
        format!(
            "page_type={}: every page type of chip `{}` takes {} us to read in {} mode, so which of them a page has saves nothing",
            choice.scheme.name,
            setup.profile.chip.name,
            fastest as f64 / 1e3,
            setup.profile.mode.name(),
        )
    })
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
