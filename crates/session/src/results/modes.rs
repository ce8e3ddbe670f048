//! Cell modes: the capacity that superblocks in another mode than the drive's cost, what happened in each mode, and
//! what its cycles damage. What the keys mean: `docs/modes.md`.

use firstread_core::{CellMode, Ns};
use firstread_drive::profile::DriveProfile;
use firstread_drive::profile::drive::CellModes;
use firstread_drive::stats::ByMode;
use firstread_firmware::log::What;
use firstread_firmware::observe::Counters;
use serde_json::{Map, Value, json};

use super::refused;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// Capacity in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Bytes that all superblocks hold, each in its mode: at the start, at the end, and the least at any time.
    pub physical_bytes: [u64; 3],
    /// The same beyond the capacity of the drive: its over-provisioning.
    pub over_provisioning_bytes: [u64; 3],
    /// Bytes that superblocks hold less than in the mode that they started in: at the start, at the end, and the most
    /// at any time.
    pub lost_bytes: [u64; 3],
}

/// The capacity in the run of `outcome`.
pub fn capacity(setup: &Setup, outcome: &Outcome) -> Capacity {
    let modes = &outcome.stats.modes;
    let slot_bytes = u64::from(setup.profile.geometry.slot_bytes);
    let capacities = [modes.start.capacity, modes.end.capacity, modes.worst];
    let physical_bytes = capacities.map(|capacity| capacity.slots * slot_bytes);
    Capacity {
        physical_bytes,
        over_provisioning_bytes: physical_bytes.map(|b| b.saturating_sub(outcome.capacity_bytes)),
        lost_bytes: capacities.map(|capacity| capacity.lost_slots * slot_bytes),
    }
}

/// Whether superblocks of the drive may have another mode than its own.
pub fn has_several(setup: &Setup) -> bool {
    setup.profile.firmware.cell_modes == CellModes::All
}

/// Whether a superblock in another mode than the drive's exists, or existed in the run.
pub fn are_mixed(outcome: &Outcome) -> bool {
    let modes = &outcome.stats.modes;
    modes.start.capacity.lost_slots > 0
        || modes.worst.lost_slots > 0
        || outcome.stats.counters.conversions > 0
}

/// Time in which flash programs pages, for each page that the host wrote by `counters` (ns). A page of a mode takes its part of the
/// program of a wordline. None where the host wrote nothing.
pub fn program_ns_per_page(profile: &DriveProfile, counters: &Counters) -> Option<f64> {
    let times = profile.change_times().program;
    let of_mode = |mode: CellMode| {
        let programmed = counters.slots_programmed_by_mode[mode.index()] as f64;
        programmed * times[mode.index()].0 as f64 / f64::from(mode.bits())
    };
    let ns: f64 = CellMode::ALL.into_iter().map(of_mode).sum();
    let written = counters.host_slots_written;
    (written > 0).then(|| ns / written as f64)
}

/// What a mode came to in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OfMode {
    pub mode: CellMode,
    /// Superblocks in it, at the start and at the end.
    pub superblocks: [u32; 2],
    /// Their slots that hold the last version of a page, at the start and at the end.
    pub valid_slots: [u64; 2],
    /// Erases that ended a cycle in it.
    pub erases: u64,
    /// Slots programmed in it.
    pub slots_programmed: u64,
    /// Pages read in it for the host.
    pub page_reads: u64,
    /// Those at the first try.
    pub first_tries: u64,
    /// Retries of these reads.
    pub retries: u64,
    /// Their time (ns), from the queue of the die to the verdict on the last step.
    pub read_ns: u64,
    /// Share of all pages read for the host; none where there were none.
    pub read_share: Option<f64>,
    /// Mean time of a page read (µs).
    pub read_mean_us: Option<f64>,
    /// Share of its page reads that needed no retry.
    pub first_try_rate: Option<f64>,
    /// Mean number of retries of its page reads.
    pub retries_mean: Option<f64>,
}

/// Each mode that the drive may have superblocks in: its own, and every other one that occurred.
pub fn of_modes(setup: &Setup, outcome: &Outcome) -> Vec<OfMode> {
    let stats = &outcome.stats;
    let (c, [start, end]) = (&stats.counters, [&stats.modes.start, &stats.modes.end]);
    let all: u64 = c.page_reads_by_mode.iter().sum();
    let row = |mode: CellMode| {
        let i = mode.index();
        let pages = c.page_reads_by_mode[i];
        let a_page = |n: u64| (pages > 0).then(|| n as f64 / pages as f64);
        OfMode {
            mode,
            superblocks: [start, end].map(|of: &ByMode| of.superblocks[i]),
            valid_slots: [start, end].map(|of| of.valid_slots[i]),
            erases: c.erases_by_mode[i],
            slots_programmed: c.slots_programmed_by_mode[i],
            page_reads: pages,
            first_tries: c.first_tries_by_mode[i],
            retries: c.page_retries_by_mode[i],
            read_ns: c.page_read_ns_by_mode[i],
            read_share: (all > 0).then(|| pages as f64 / all as f64),
            read_mean_us: a_page(c.page_read_ns_by_mode[i]).map(|ns| ns / 1e3),
            first_try_rate: a_page(c.first_tries_by_mode[i]),
            retries_mean: a_page(c.page_retries_by_mode[i]),
        }
    };
    let occurred = |of: &OfMode| {
        of.mode == setup.profile.mode
            || of.superblocks != [0; 2]
            || of.erases + of.slots_programmed + of.page_reads > 0
    };
    CellMode::ALL
        .into_iter()
        .map(row)
        .filter(occurred)
        .collect()
}

/// Damage by the erases of a run, in cycles of the drive's own mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Damage {
    /// As the chip has it (`modes.NAME.cycle_damage`).
    pub as_set: f64,
    /// If a cycle in a mode damaged by the ratio of the ratings: the least that is plausible.
    pub by_ratings: f64,
    /// If every cycle damaged alike: the most that is plausible.
    pub alike: f64,
}

/// The damage by the erases of the run of `outcome`.
pub fn damage(setup: &Setup, outcome: &Outcome) -> Damage {
    damage_of(setup, &outcome.stats.counters)
}

/// The damage by the erases that `counters` have counted.
pub fn damage_of(setup: &Setup, counters: &Counters) -> Damage {
    let profile = &setup.profile;
    let rated = |mode| profile.chip.mode(mode).map(|m| m.endurance_pe_cycles);
    let own = rated(profile.mode);
    let by = profile.cycle_damage();
    let mut damage = Damage {
        as_set: 0.0,
        by_ratings: 0.0,
        alike: 0.0,
    };
    let erases = counters.erases_by_mode;
    for (mode, erases) in CellMode::ALL.into_iter().zip(erases) {
        let ratio = match (own, rated(mode)) {
            (Some(own), Some(other)) => f64::from(own) / f64::from(other),
            _ => 1.0,
        };
        damage.as_set += erases as f64 * f64::from(by.milli(mode)) / 1e3;
        damage.by_ratings += erases as f64 * ratio;
        damage.alike += erases as f64;
    }
    damage
}

/// Capacity lost to other modes over the run: seconds since its start, and bytes lost from then on. Where the log has
/// dropped records of the run, it begins with the first one that was kept.
pub fn lost_over_time(setup: &Setup, outcome: &Outcome) -> Vec<(f64, u64)> {
    let geometry = &setup.profile.geometry;
    let own = geometry.slots_per_superblock(setup.profile.mode);
    let lost = |mode| u64::from(own.saturating_sub(geometry.slots_per_superblock(mode)));
    let seconds = |at: Ns| at.since(outcome.began).0 as f64 * 1e-9;
    let changes: Vec<(f64, u64, u64)> = outcome
        .log
        .iter()
        .filter(|record| record.at >= outcome.began)
        .filter_map(|record| match record.what {
            What::Converted { from, to, .. } => Some((seconds(record.at), lost(from), lost(to))),
            _ => None,
        })
        .collect();
    // From the end backwards, since what the log lacks is at its beginning.
    let mut now = outcome.stats.modes.end.capacity.lost_slots;
    let mut points = Vec::with_capacity(changes.len() + 1);
    for &(at, from, to) in changes.iter().rev() {
        points.push((at, now));
        now = (now + from).saturating_sub(to);
    }
    points.push((0.0, now));
    points.reverse();
    let slot_bytes = u64::from(geometry.slot_bytes);
    points
        .into_iter()
        .map(|(at, slots)| (at, slots * slot_bytes))
        .collect()
}

/// [`lost_over_time`] as CSV lines, to the end of the run.
pub fn csv(setup: &Setup, outcome: &Outcome) -> String {
    let mut text = String::from("run_s,lost_bytes\n");
    let points = lost_over_time(setup, outcome);
    let end = outcome.stats.simulated.0 as f64 * 1e-9;
    let last = points.last().map(|&(_, lost)| (end, lost));
    for (at, lost) in points.into_iter().chain(last) {
        text += &format!("{at:.9},{lost}\n");
    }
    text
}

/// The keys of a result.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Value {
    let Capacity {
        physical_bytes,
        over_provisioning_bytes,
        lost_bytes,
    } = capacity(setup, outcome);
    let times = |[start, end, worst]: [u64; 3], name: &str| {
        let mut times = json!({ "start": start, "end": end });
        times[name] = worst.into();
        times
    };
    let Damage {
        as_set,
        by_ratings,
        alike,
    } = damage(setup, outcome);
    let own = setup.profile.mode;
    let counters = &outcome.stats.counters;
    let promoted = CellMode::ALL.into_iter().zip(counters.slots_promoted);
    let promoted: Map<String, Value> = promoted
        .map(|(mode, slots)| (mode.name().to_owned(), slots.into()))
        .collect();
    let by_mode = of_modes(setup, outcome)
        .iter()
        .map(|of| (of.mode.name().to_owned(), mode_json(of)))
        .collect::<Map<_, _>>();
    json!({
        "own": own.name(),
        "conversions": counters.conversions,
        "promoted_slots": promoted,
        "promotions_refused": refused::json(&counters.promotions_refused),
        "superblocks_given_back": counters.superblocks_given_back,
        "superblocks_given_back_for_room": counters.superblocks_given_back_for_room,
        "demoted_slots": counters.slots_demoted,
        "write_pool": {
            "written_slots": counters.slots_written_to_pool,
            "bypassed": refused::json(&counters.pool_bypassed),
            "superblocks_destaged": counters.superblocks_destaged,
        },
        "physical_bytes": times(physical_bytes, "least"),
        "over_provisioning_bytes": times(over_provisioning_bytes, "least"),
        "lost_bytes": times(lost_bytes, "most"),
        "by_mode": by_mode,
        "damage_cycles": {
            "as_set": as_set,
            "by_ratings": by_ratings,
            "alike": alike,
        },
    })
}

fn mode_json(of: &OfMode) -> Value {
    let ends = |[start, end]: [u64; 2]| json!({ "start": start, "end": end });
    json!({
        "superblocks": ends(of.superblocks.map(u64::from)),
        "valid_slots": ends(of.valid_slots),
        "erases": of.erases,
        "slots_programmed": of.slots_programmed,
        "page_reads": of.page_reads,
        "first_tries": of.first_tries,
        "retries": of.retries,
        "page_read_ns": of.read_ns,
        "page_read_share": of.read_share,
        "page_read_mean_us": of.read_mean_us,
        "first_try_rate": of.first_try_rate,
        "retries_mean": of.retries_mean,
    })
}
