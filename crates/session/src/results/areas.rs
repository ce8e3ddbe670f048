//! Areas that wear apart: their wear, what was read from the low wearing one, and what it took to keep data there. What
//! the keys mean: `docs/firmware/areas.md`.

use firstread_drive::stats::OfRegion;
use firstread_firmware::observe::RegionId;
use firstread_firmware::policy::area::{AREAS, Entry};
use serde_json::{Map, Value, json};

use super::refused;
use crate::outcome::Outcome;

/// Reads of an area in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reads {
    /// Pages read for the host.
    pub pages: u64,
    /// Their share of all; none where there were none.
    pub share: Option<f64>,
    /// Mean time of a page read (µs).
    pub mean_us: Option<f64>,
    /// Mean number of retries of a page read.
    pub retries_mean: Option<f64>,
}

/// An area in the run of a drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InRun {
    /// Its key in results.
    pub name: &'static str,
    /// Its superblocks at the end.
    pub end: OfRegion,
    /// Superblocks of it that were erased.
    pub erases: u64,
    pub reads: Reads,
}

/// The areas in the run of `outcome`; none where the drive wears as a whole.
pub fn areas(outcome: &Outcome) -> Option<[InRun; AREAS.len()]> {
    let c = &outcome.stats.counters;
    let ends = &outcome.stats.regions;
    let all_pages: u64 = c.page_reads_by_region.iter().sum();
    let in_run = |(area, name): (RegionId, _)| {
        let of = area.index();
        let pages = c.page_reads_by_region[of];
        let a_page = |n: u64| (pages > 0).then(|| n as f64 / pages as f64);
        InRun {
            name,
            end: ends[of],
            erases: c.erases_by_region[of],
            reads: Reads {
                pages,
                share: (all_pages > 0).then(|| pages as f64 / all_pages as f64),
                mean_us: a_page(c.page_read_ns_by_region[of]).map(|ns| ns / 1e3),
                retries_mean: a_page(c.page_retries_by_region[of]),
            },
        }
    };
    (ends.len() == AREAS.len()).then(|| AREAS.map(in_run))
}

/// Pages that came into the low wearing area from elsewhere.
pub fn entered(outcome: &Outcome) -> u64 {
    let entries = Entry::ALL.into_iter();
    let entries = entries.zip(outcome.stats.counters.slots_entered);
    let from_elsewhere = entries.filter(|(entry, _)| *entry != Entry::Stay);
    from_elsewhere.map(|(_, slots)| slots).sum()
}

/// The keys of a result.
pub(super) fn json(outcome: &Outcome) -> Option<Value> {
    let areas = areas(outcome)?;
    let c = &outcome.stats.counters;
    let by_area: Map<String, Value> = areas
        .iter()
        .map(|of| (of.name.to_owned(), area_json(of)))
        .collect();
    let entries: Map<String, Value> = Entry::ALL
        .into_iter()
        .zip(c.slots_entered)
        .map(|(entry, slots)| (entry.name().to_owned(), slots.into()))
        .collect();
    Some(json!({
        "by_area": by_area,
        "entered_slots": entries,
        "refused": refused::json(&c.entries_refused),
        "over_budget": c.migrations_over_budget,
        "superblocks_returned": c.superblocks_emptied_for_room,
        "superblocks_compacted": c.superblocks_compacted,
        "opened_elsewhere": c.opened_elsewhere,
        "writes_refused": c.writes_refused,
    }))
}

fn area_json(of: &InRun) -> Value {
    let wear = of.end.wear.map(|wear| {
        json!({
            "min": wear.min,
            "mean": wear.mean,
            "p99": wear.p99,
            "max": wear.max,
        })
    });
    json!({
        "superblocks": of.end.superblocks,
        "valid_slots": of.end.valid_slots,
        "erases": of.erases,
        "pe_cycles": wear,
        "page_reads": of.reads.pages,
        "page_read_share": of.reads.share,
        "page_read_mean_us": of.reads.mean_us,
        "retries_mean": of.reads.retries_mean,
    })
}
