//! Areas that wear apart: their wear, what was read from the low wearing one, and what it took to keep data there. What
//! the keys mean: `docs/firmware/areas.md`.

use firstread_drive::stats::OfArea;
use firstread_firmware::observe::{Area, LowEntry};
use serde_json::{Map, Value, json};

use super::refused;
use crate::simulate::Outcome;

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
    pub area: Area,
    /// Its superblocks at the end.
    pub end: OfArea,
    /// Superblocks of it that were erased.
    pub erases: u64,
    pub reads: Reads,
}

/// The areas in the run of `outcome`; none where the drive wears as a whole.
pub fn areas(outcome: &Outcome) -> Option<[InRun; Area::COUNT]> {
    let c = &outcome.stats.counters;
    let of_all = |counts: &[u64]| counts.iter().sum::<u64>();
    let all = [
        of_all(&c.page_reads_by_mode),
        of_all(&c.page_retries_by_mode),
        of_all(&c.page_read_ns_by_mode),
    ];
    let low = [
        c.page_reads_in_low,
        c.page_retries_in_low,
        c.page_read_ns_in_low,
    ];
    let ends = outcome.stats.areas?;
    Some(Area::ALL.map(|area| {
        let [pages, retries, ns] = match area {
            Area::High => [0, 1, 2].map(|i| all[i] - low[i]),
            Area::Low => low,
        };
        let a_page = |n: u64| (pages > 0).then(|| n as f64 / pages as f64);
        InRun {
            area,
            end: ends[area as usize],
            erases: match area {
                Area::High => c.erases - c.erases_in_low,
                Area::Low => c.erases_in_low,
            },
            reads: Reads {
                pages,
                share: (all[0] > 0).then(|| pages as f64 / all[0] as f64),
                mean_us: a_page(ns).map(|ns| ns / 1e3),
                retries_mean: a_page(retries),
            },
        }
    }))
}

/// Pages that came into the low wearing area from elsewhere.
pub fn entered(outcome: &Outcome) -> u64 {
    let entries = LowEntry::ALL.into_iter();
    let entries = entries.zip(outcome.stats.counters.slots_into_low);
    let from_elsewhere = entries.filter(|(entry, _)| *entry != LowEntry::Stay);
    from_elsewhere.map(|(_, slots)| slots).sum()
}

/// The keys of a result.
pub(super) fn json(outcome: &Outcome) -> Option<Value> {
    let areas = areas(outcome)?;
    let c = &outcome.stats.counters;
    let by_area: Map<String, Value> = areas
        .iter()
        .map(|of| (of.area.name().to_owned(), area_json(of)))
        .collect();
    let entries: Map<String, Value> = LowEntry::ALL
        .into_iter()
        .zip(c.slots_into_low)
        .map(|(entry, slots)| (entry.name().to_owned(), slots.into()))
        .collect();
    Some(json!({
        "by_area": by_area,
        "entered_slots": entries,
        "refused": refused::json(&c.low_refused),
        "over_budget": c.low_over_budget,
        "superblocks_returned": c.superblocks_returned,
        "superblocks_compacted": c.superblocks_compacted,
        "opened_elsewhere": c.opened_elsewhere,
        "writes_refused": c.writes_refused_at_bound,
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
