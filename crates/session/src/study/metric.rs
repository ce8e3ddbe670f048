//! Metrics: the numbers that a point has, and what they are taken from.

use firstread_core::CellMode;
use firstread_core::sensing::SafeSense;
use firstread_drive::stats::{Report, Wear};
use firstread_drive::{Cause, Ended, Group};
use firstread_firmware::ftl::Owner;
use firstread_firmware::observe::{Counters, OpenedFor, RegionId};
use firstread_firmware::policy::area::{AREAS, HIGH, LOW};
use firstread_nand::characterize::Correlation;
use firstread_nand::sensing::LastStep;
use serde_json::{Map, Value};

use super::error::StudyError;
use super::number::metrics;
pub use super::number::{Measure, Metric};
use super::sample::SAMPLES;
use crate::finished::Finished;
use crate::life::{AreaWear, Life, LifeOutcome, Probe, STAGES, Stage};
use crate::outcome::Outcome;
use crate::results::areas::{InRun, areas, entered};
use crate::results::fdp::fdp;
use crate::results::host_log::host_log;
use crate::results::modes::{
    Damage, OfMode, capacity, damage, damage_of, has_several, lost_over_time, of_modes,
    program_ns_per_page,
};
use crate::results::page_types::{OfPageType, page_types_of};
use crate::results::streams::of_streams;
use crate::results::writes::written;
use crate::retries::Retries;
use crate::setup::Setup;

/// A population of chips in one condition.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    /// Errors that the code corrects (bits a codeword).
    pub capability_bits: u16,
    /// What the last step of a read meets with the best entry of the factory table for each page.
    pub best: LastStep,
    /// The same with the entry that a walk over the table ends with.
    pub walk: LastStep,
    /// The shortest sense that is safe with the best entry.
    pub safe: SafeSense,
    /// The reduction of `tR` by that sense (%).
    pub cut_percent: f64,
    /// The reduction by the shortest sense that is safe with the entry that a walk ends with (%).
    pub walk_cut_percent: f64,
    /// Retries of such a walk.
    pub walk_retries: f64,
    /// Share of the pages that such a walk no longer reads with its last step, sensed as `safe`.
    pub goes_on: f64,
}

/// Fewest requests beyond a percentile for it to be a metric of a point. Its interval over drives
/// says how far it can be trusted.
const FEWEST_BEYOND: u64 = 10;

/// What the numbers of a point are taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    Runs,
    Lives,
    /// The cells of a population of chips.
    Margins,
    /// A sample of the cells of a drive.
    Samples,
    /// The best levels of a drive's valleys.
    Pairs,
}

/// Of a run of a drive.
pub type OfRun = fn(&Setup, &Outcome) -> Option<f64>;
/// Of the life of a drive.
pub type OfLife = fn(&Life, &LifeOutcome) -> Option<f64>;
/// Of a population of chips.
pub type OfMargin = fn(&Margin) -> Option<f64>;
/// Of the best levels of a drive.
pub type OfPairs = fn(&[Correlation]) -> Option<f64>;

fn percentile(outcome: &Outcome, percent: f64) -> Option<f64> {
    let p = outcome.percentile(percent);
    (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64 / 1e3)
}

fn per_second(outcome: &Outcome, n: f64) -> f64 {
    n * 1e9 / outcome.stats.all.runtime_ns.max(1) as f64
}

metrics! {
    /// Metrics of runs. Latencies are those of reads where there are any.
    RUNS of OfRun:
    "mean_us", "Mean latency (us)", |_, o| Some(o.latencies().1.mean_ns() / 1e3);
    "p50_us", "P50 (us)", |_, o| percentile(o, 50.0);
    "p99_us", "P99 (us)", |_, o| percentile(o, 99.0);
    "p99.9_us", "P99.9 (us)", |_, o| percentile(o, 99.9);
    "p99.99_us", "P99.99 (us)", |_, o| percentile(o, 99.99);
    "p99.999_us", "P99.999 (us)", |_, o| percentile(o, 99.999);
    "p99.9999_us", "P99.9999 (us)", |_, o| percentile(o, 99.9999);
    "iops", "IOPS", |_, o| Some(per_second(o, o.stats.all.all_requests() as f64));
    "bandwidth_mib_s", "Bandwidth (MiB/s)", |_, o| {
        let all = &o.stats.all;
        Some(per_second(o, (all.read.bytes + all.write.bytes) as f64) / f64::from(1 << 20))
    };
    "response_us", "Mean response, all requests (us)", |_, o| {
        let all = &o.stats.all;
        let sum = all.read.mean_ns() * all.read.count() as f64 + all.write.mean_ns() * all.write.count() as f64;
        Some(sum / (all.read.count() + all.write.count()).max(1) as f64 / 1e3)
    };
    "write_mean_us", "Mean write latency (us)", |_, o| (o.stats.all.write.count() > 0).then(|| o.stats.all.write.mean_ns() / 1e3);
    "write_p99.9_us", "Write P99.9 (us)", |_, o| {
        let p = o.stats.all.write.percentile(99.9);
        (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64 / 1e3)
    };
    "write_bandwidth_mib_s", "Write bandwidth (MiB/s)", |_, o| {
        let bytes = o.stats.all.write.bytes as f64;
        (bytes > 0.0).then(|| per_second(o, bytes) / f64::from(1 << 20))
    };
    "last_mean_us", "Mean read latency, last job (us)", |_, o| last_job(o, |job| job.read.mean_ns() / 1e3);
    "last_iops", "Read IOPS, last job", |_, o| {
        last_job(o, |job| job.read.count() as f64 * 1e9 / job.runtime_ns.max(1) as f64)
    };
    "last_p99.9_us", "P99.9, last job (us)", |_, o| {
        let p = o.stats.reports.last()?.read.percentile(99.9);
        (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64 / 1e3)
    };
    "last_write_mean_us", "Last phase: mean write latency (us)", |_, o| last_writes(o).map(|all| all.write.mean_ns() / 1e3);
    "last_write_p99.9_us", "Last phase: write P99.9 (us)", |_, o| {
        let p = last_writes(o)?.write.percentile(99.9);
        (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64 / 1e3)
    };
    "last_write_bandwidth_mib_s", "Last phase: write bandwidth (MiB/s)", |_, o| {
        last_writes(o).map(|all| mib(all.write.bytes) * 1e9 / all.runtime_ns.max(1) as f64)
    };
    "last_programmed_per_written", "Last phase: programmed per unit written", |_, o| {
        let c = &o.stats.groups.last()?.counters;
        (c.host_slots_written > 0).then(|| c.slots_programmed as f64 / c.host_slots_written as f64)
    };
    "last_rated_writes_tb", "Last phase: written until the rated cycles are used (TB)", |s, o| rated_writes_tb(s, &o.stats.groups.last()?.counters, |d| d.as_set);
    "last_program_ms_per_page", "Last phase: program time for a page (ms)", |s, o| program_ms_per_page(s, &o.stats.groups.last()?.counters);
    "last_pool_written_percent", "Last phase: written to the pool (%)", |s, o| of_written(s, &o.stats.groups.last()?.counters, |c| c.slots_written_to_pool);
    "last_pool_bypassed_percent", "Last phase: refused by the pool (%)", |s, o| of_written(s, &o.stats.groups.last()?.counters, |c| c.pool_bypassed.iter().sum());
    "last_retries_mean", "Last phase: retries a page", |_, o| last_retries(o).map(|retries| retries.mean);
    "last_first_try_percent", "Last phase: read at the first try (%)", |_, o| {
        last_retries(o).map(|retries| 100.0 * retries.first_try)
    };
    "last_page_a_read_percent", "Last phase: fastest page type (%)", |s, o| last_page(s, o, 0, |p| Some(100.0 * p.read_share?));
    "last_page_b_read_percent", "Last phase: second page type (%)", |s, o| last_page(s, o, 1, |p| Some(100.0 * p.read_share?));
    "last_page_c_read_percent", "Last phase: third page type (%)", |s, o| last_page(s, o, 2, |p| Some(100.0 * p.read_share?));
    "last_page_d_read_percent", "Last phase: fourth page type (%)", |s, o| last_page(s, o, 3, |p| Some(100.0 * p.read_share?));
    "last_page_a_retries_mean", "Last phase: retries, fastest page type", |s, o| last_page(s, o, 0, |p| p.retries_mean);
    "last_page_b_retries_mean", "Last phase: retries, second page type", |s, o| last_page(s, o, 1, |p| p.retries_mean);
    "last_page_c_retries_mean", "Last phase: retries, third page type", |s, o| last_page(s, o, 2, |p| p.retries_mean);
    "last_page_d_retries_mean", "Last phase: retries, fourth page type", |s, o| last_page(s, o, 3, |p| p.retries_mean);
    "first_try_percent", "Pages read at the first try (%)", |_, o| Some(100.0 * o.retries().first_try);
    "retries_mean", "Retries a page", |_, o| Some(o.retries().mean);
    "senses_mean", "Senses a page", |_, o| Some(1.0 + o.retries().mean);
    "buffer_read_percent", "Read from the write buffer (% of its hits and page reads)", |_, o| {
        let hits = o.stats.counters.buffer_hits as f64;
        let all = hits + o.retries().pages as f64;
        (all > 0.0).then(|| 100.0 * hits / all)
    };
    "retries_min", "Fewest retries of a page", |_, o| fewest_retries(&o.stats.counters);
    "retries_max", "Most retries of a page", |_, o| retries_below(&o.stats.counters, 1.0);
    "retries_p10", "Retries, P10 of pages", |_, o| retries_below(&o.stats.counters, 0.1);
    "retries_p90", "Retries, P90 of pages", |_, o| retries_below(&o.stats.counters, 0.9);
    "retried_2_percent", "Pages retried twice or more (%)", |_, o| retried_percent(&o.stats.counters, 2);
    "retried_3_percent", "Pages retried 3 times or more (%)", |_, o| retried_percent(&o.stats.counters, 3);
    "retried_4_percent", "Pages retried 4 times or more (%)", |_, o| retried_percent(&o.stats.counters, 4);
    "retried_5_percent", "Pages retried 5 times or more (%)", |_, o| retried_percent(&o.stats.counters, 5);
    "retried_7_percent", "Pages retried 7 times or more (%)", |_, o| retried_percent(&o.stats.counters, 7);
    "retried_8_percent", "Pages retried 8 times or more (%)", |_, o| retried_percent(&o.stats.counters, 8);
    "retried_11_percent", "Pages retried 11 times or more (%)", |_, o| retried_percent(&o.stats.counters, 11);
    "retry_step_us", "Retry step (us)", |_, o| retry_step(o);
    "cancelled_senses", "Senses ahead that were not needed", |_, o| Some(o.stats.counters.cancelled_senses as f64);
    "lost_share", "Share of reads lost", |_, o| (o.stats.all.read.count() > 0).then(|| o.stats.all.read.lost_share());
    "background_reads", "Background reads in the run", |_, o| Some(o.stats.counters.background_reads as f64);
    "background_given_up_percent", "Background reads that a host read ended (%)", |_, o| {
        let c = &o.stats.counters;
        (c.background_reads > 0).then(|| 100.0 * c.background_reads_given_up as f64 / c.background_reads as f64)
    };
    "background_wait_us", "Longest wait of a read for a background read (us)", |_, o| Some(o.stats.all.read.behind_background.longest_ns as f64 / 1e3);
    "background_wait_mean_us", "Wait for background reads, mean of all reads (us)", |_, o| {
        let read = &o.stats.all.read;
        (read.count() > 0).then(|| read.behind_background.sum_ns as f64 / read.count() as f64 / 1e3)
    };
    "background_reads_before", "Background reads while ageing", |_, o| Some(o.background_reads_before as f64);
    "background_share_percent", "Background reads, of all page reads while ageing at full load (%)", |_, o| background_share(o);
    "write_amplification", "Write amplification", |_, o| o.stats.amplification.steady().map(|s| s.mean);
    "superblocks_erased", "Superblocks erased", |_, o| Some(o.stats.counters.erases as f64);
    "damage_cycles", "Damage by erases (cycles of the drive's mode)", |s, o| Some(damage(s, o).as_set);
    "damage_cycles_by_ratings", "Damage, by the ratio of the ratings (cycles)", |s, o| Some(damage(s, o).by_ratings);
    "damage_cycles_alike", "Damage, every cycle alike (cycles)", |s, o| Some(damage(s, o).alike);
    "rated_writes_tb", "Written until the rated cycles are used (TB)", |s, o| rated_writes_tb(s, &o.stats.counters, |d| d.as_set);
    "rated_writes_by_ratings_tb", "The same, damage by the ratio of the ratings (TB)", |s, o| rated_writes_tb(s, &o.stats.counters, |d| d.by_ratings);
    "rated_writes_alike_tb", "The same, every cycle damaging alike (TB)", |s, o| rated_writes_tb(s, &o.stats.counters, |d| d.alike);
    "program_ms_per_page", "Program time for a page that the host writes (ms)", |s, o| program_ms_per_page(s, &o.stats.counters);
    "programmed_slots", "Mapping units programmed", |_, o| Some(o.stats.counters.slots_programmed as f64);
    "programmed_per_written", "Programmed per unit written", |_, o| {
        let c = &o.stats.counters;
        (c.host_slots_written > 0).then(|| c.slots_programmed as f64 / c.host_slots_written as f64)
    };
    "programmed_host_slots", "Mapping units written by the host", |_, o| Some(o.stats.counters.host_slots_written as f64);
    "moved_gc_slots", "Moved by garbage collection", |_, o| moved(o, Owner::Gc);
    "moved_wear_slots", "Moved by wear leveling", |_, o| moved(o, Owner::Wear);
    "moved_conversion_slots", "Moved for a conversion", |_, o| moved(o, Owner::Convert);
    "moved_refresh_slots", "Moved by refresh", |_, o| moved(o, Owner::Refresh);
    "moved_destage_slots", "Destaged from the pool (mapping units)", |s, o| modes(s, moved(o, Owner::Destage)?);
    "moved_promotion_slots", "Promoted (mapping units)", |s, o| modes(s, moved(o, Owner::Promotion)?);
    "moved_migration_slots", "Migrated to the low wearing area", |_, o| low(o, |_| moved(o, Owner::Migration));
    "migrated_percent", "Migrated after reads (% of requests)", |_, o| {
        let all = &o.stats.all;
        let requests = (all.read.count() + all.write.count()).max(1) as f64;
        low(o, |_| Some(100.0 * moved(o, Owner::Migration)? / requests))
    };
    "moved_return_slots", "Returned from the low wearing area", |_, o| low(o, |_| moved(o, Owner::MakeRoom));
    "low_entered_slots", "Entered the low wearing area (mapping units)", |_, o| low(o, |_| Some(entered(o) as f64));
    "low_read_percent", "Page reads in the low wearing area (%)", |_, o| low(o, |[_, low]| Some(100.0 * low.reads.share?));
    "low_read_us", "Page read in the low wearing area, mean (us)", |_, o| low(o, |[_, low]| low.reads.mean_us);
    "high_read_us", "Page read in the high wearing area, mean (us)", |_, o| low(o, |[high, _]| high.reads.mean_us);
    "low_retries_mean", "Retries a page in the low wearing area", |_, o| low(o, |[_, low]| low.reads.retries_mean);
    "high_retries_mean", "Retries a page in the high wearing area", |_, o| low(o, |[high, _]| high.reads.retries_mean);
    "low_pe_mean", "P/E cycles of the low wearing area, mean", |_, o| low(o, |[_, low]| Some(low.end.wear?.mean));
    "high_pe_mean", "P/E cycles of the high wearing area, mean", |_, o| low(o, |[high, _]| Some(high.end.wear?.mean));
    "moved_scheme_slots", "Moved by a scheme", |_, o| moved(o, Owner::Scheme);
    "promotions_refused", "Promotions refused", |s, o| modes(s, o.stats.counters.promotions_refused.iter().sum::<u64>() as f64);
    "demoted_slots", "Demoted (mapping units)", |s, o| modes(s, o.stats.counters.slots_demoted as f64);
    "superblocks_given_back", "Superblocks given back", |s, o| modes(s, o.stats.counters.superblocks_given_back as f64);
    "conversions", "Superblocks converted", |s, o| modes(s, o.stats.counters.conversions as f64);
    "capacity_lost_mib", "Capacity lost (MiB)", |s, o| modes(s, mib(capacity(s, o).lost_bytes[1]));
    "capacity_lost_peak_mib", "Capacity lost at most (MiB)", |s, o| modes(s, mib(capacity(s, o).lost_bytes[2]));
    "capacity_lost_percent", "Capacity lost (% of flash)", |s, o| {
        let of = capacity(s, o);
        let whole = of.physical_bytes[1] + of.lost_bytes[1];
        modes(s, 100.0 * of.lost_bytes[1] as f64 / whole.max(1) as f64)
    };
    "over_provisioning_percent", "Over-provisioning (% of capacity)", |s, o| {
        modes(s, 100.0 * capacity(s, o).over_provisioning_bytes[1] as f64 / o.capacity_bytes.max(1) as f64)
    };
    "over_provisioning_least_percent", "Over-provisioning at least (% of capacity)", |s, o| {
        modes(s, 100.0 * capacity(s, o).over_provisioning_bytes[2] as f64 / o.capacity_bytes.max(1) as f64)
    };
    "slc_superblocks_percent", "Superblocks in SLC mode (% of all)", |s, o| superblocks_percent(s, o, CellMode::Slc);
    "slc_data_percent", "Data in SLC mode (% of all)", |s, o| data_percent(s, o, CellMode::Slc);
    "qlc_data_percent", "Data in QLC mode (% of all)", |s, o| data_percent(s, o, CellMode::Qlc);
    "pool_written_percent", "Written to the pool (% of what the host wrote)", |s, o| of_written(s, &o.stats.counters, |c| c.slots_written_to_pool);
    "pool_bypassed_percent", "Refused by the pool (% of what the host wrote)", |s, o| of_written(s, &o.stats.counters, |c| c.pool_bypassed.iter().sum());
    "slc_superblocks", "Superblocks in SLC mode", |s, o| of_mode(s, o, CellMode::Slc, |m| Some(m.superblocks[1].into()));
    "slc_valid_slots", "Valid mapping units in SLC mode", |s, o| of_mode(s, o, CellMode::Slc, |m| Some(m.valid_slots[1] as f64));
    "slc_erases", "Erases of superblocks in SLC mode", |s, o| of_mode(s, o, CellMode::Slc, |m| Some(m.erases as f64));
    "slc_read_percent", "Page reads in SLC mode (%)", |s, o| of_mode(s, o, CellMode::Slc, |m| Some(100.0 * m.read_share?));
    "slc_read_us", "Page read in SLC mode, mean (us)", |s, o| of_mode(s, o, CellMode::Slc, |m| m.read_mean_us);
    "slc_retries_mean", "Retries a page in SLC mode", |s, o| of_mode(s, o, CellMode::Slc, |m| m.retries_mean);
    "tlc_superblocks", "Superblocks in TLC mode", |s, o| of_mode(s, o, CellMode::Tlc, |m| Some(m.superblocks[1].into()));
    "tlc_valid_slots", "Valid mapping units in TLC mode", |s, o| of_mode(s, o, CellMode::Tlc, |m| Some(m.valid_slots[1] as f64));
    "tlc_erases", "Erases of superblocks in TLC mode", |s, o| of_mode(s, o, CellMode::Tlc, |m| Some(m.erases as f64));
    "tlc_read_percent", "Page reads in TLC mode (%)", |s, o| of_mode(s, o, CellMode::Tlc, |m| Some(100.0 * m.read_share?));
    "tlc_read_us", "Page read in TLC mode, mean (us)", |s, o| of_mode(s, o, CellMode::Tlc, |m| m.read_mean_us);
    "tlc_retries_mean", "Retries a page in TLC mode", |s, o| of_mode(s, o, CellMode::Tlc, |m| m.retries_mean);
    "qlc_superblocks", "Superblocks in QLC mode", |s, o| of_mode(s, o, CellMode::Qlc, |m| Some(m.superblocks[1].into()));
    "qlc_valid_slots", "Valid mapping units in QLC mode", |s, o| of_mode(s, o, CellMode::Qlc, |m| Some(m.valid_slots[1] as f64));
    "qlc_erases", "Erases of superblocks in QLC mode", |s, o| of_mode(s, o, CellMode::Qlc, |m| Some(m.erases as f64));
    "qlc_read_percent", "Page reads in QLC mode (%)", |s, o| of_mode(s, o, CellMode::Qlc, |m| Some(100.0 * m.read_share?));
    "qlc_read_us", "Page read in QLC mode, mean (us)", |s, o| of_mode(s, o, CellMode::Qlc, |m| m.read_mean_us);
    "qlc_retries_mean", "Retries a page in QLC mode", |s, o| of_mode(s, o, CellMode::Qlc, |m| m.retries_mean);
    "page_a_read_percent", "Page reads of the fastest page type (%)", |s, o| of_page(s, o, 0, |p| Some(100.0 * p.read_share?));
    "page_b_read_percent", "Page reads of the second page type (%)", |s, o| of_page(s, o, 1, |p| Some(100.0 * p.read_share?));
    "page_c_read_percent", "Page reads of the third page type (%)", |s, o| of_page(s, o, 2, |p| Some(100.0 * p.read_share?));
    "page_d_read_percent", "Page reads of the fourth page type (%)", |s, o| of_page(s, o, 3, |p| Some(100.0 * p.read_share?));
    "page_a_read_us", "Read of the fastest page type, mean (us)", |s, o| of_page(s, o, 0, |p| p.read_mean_us);
    "page_b_read_us", "Read of the second page type, mean (us)", |s, o| of_page(s, o, 1, |p| p.read_mean_us);
    "page_c_read_us", "Read of the third page type, mean (us)", |s, o| of_page(s, o, 2, |p| p.read_mean_us);
    "page_d_read_us", "Read of the fourth page type, mean (us)", |s, o| of_page(s, o, 3, |p| p.read_mean_us);
    "page_a_retries_mean", "Retries of the fastest page type", |s, o| of_page(s, o, 0, |p| p.retries_mean);
    "page_b_retries_mean", "Retries of the second page type", |s, o| of_page(s, o, 1, |p| p.retries_mean);
    "page_c_retries_mean", "Retries of the third page type", |s, o| of_page(s, o, 2, |p| p.retries_mean);
    "page_d_retries_mean", "Retries of the fourth page type", |s, o| of_page(s, o, 3, |p| p.retries_mean);
    "host_streams_moved_percent", "Moved out of streams of the host (% of what they were given)", |s, o| moved_of_host(s, o);
    "hbmw_mib", "Host bytes with metadata written (MiB)", |s, o| Some(mib(fdp(s, o)?.host_bytes));
    "mbmw_mib", "Media bytes with metadata written (MiB)", |s, o| Some(mib(fdp(s, o)?.media_bytes));
    "mbe_mib", "Media bytes erased (MiB)", |s, o| Some(mib(fdp(s, o)?.erased_bytes));
    "mbmw_per_hbmw", "Media bytes per host byte written", |s, o| fdp(s, o)?.amplification();
    "log_application_mib", "Written by applications above a log of the host (MiB)", |s, o| Some(mib(host_log(s, o)?.application_bytes));
    "log_moved_mib", "Written by cleaning of a log of the host (MiB)", |s, o| Some(mib(host_log(s, o)?.moved_bytes));
    "log_written_per_application", "Written by a log of the host per byte of an application", |s, o| host_log(s, o)?.of_log();
    "programmed_per_log", "Programmed per byte that a log of the host wrote", |s, o| host_log(s, o)?.of_drive();
    "programmed_per_application", "Programmed per byte of an application", |s, o| match host_log(s, o) {
        Some(log) => log.of_both(),
        None => written(s, o).ratio(),
    };
}

metrics! {
    /// Metrics of lives. Wear is that of superblocks in use at the end of the life; the low and the high area are those that
    /// wear apart; reads when new, half-way and at the end are probes of 4 KiB.
    LIVES of OfLife:
    "written_tb", "Written by the host (TB)", |_, o| Some(o.lived.written_bytes() / 1e12);
    "tbw_tb", "TBW (TB)", |l, o| o.tbw(l).map(|_| o.lived.written_bytes() / 1e12);
    "tbw_corrected_tb", "TBW, corrected (TB)", |l, o| Some(o.tbw(l)? / 1e12);
    "drive_writes", "TBW, corrected (capacities)", |l, o| Some(o.tbw(l)? / l.setup.profile.capacity_bytes as f64);
    "dwpd", "Drive writes a day (warranty)", |l, o| o.dwpd(l);
    "life_years", "Years until the end", |_, o| Some(o.lived.last().years);
    "life_write_amplification", "Write amplification (life)", |_, o| o.lived.write_amplification;
    "life_write_amplification_corrected", "Write amplification, corrected", |_, o| o.lived.corrected_amplification();
    "gc_moved_per_written", "Cleaned per unit written", |_, o| moved_in_life(o, Owner::Gc);
    "wear_moved_per_written", "Leveled per unit written", |_, o| moved_in_life(o, Owner::Wear);
    "conversion_moved_per_written", "Converted per unit written", |_, o| moved_in_life(o, Owner::Convert);
    "bad_block_moved_per_written", "Off bad blocks per unit written", |_, o| moved_in_life(o, Owner::Retire);
    "refresh_moved_per_written", "Refreshed per unit written", |_, o| moved_in_life(o, Owner::Refresh);
    "promotion_moved_per_written", "Promoted per unit written", |_, o| moved_in_life(o, Owner::Promotion);
    "scheme_moved_per_written", "Moved by a scheme per unit", |_, o| moved_in_life(o, Owner::Scheme);
    "rewrite_moved_per_written", "Written again per unit written", |_, o| moved_in_life(o, Owner::Rewrite);
    "migration_moved_per_written", "Migrated per unit written", |_, o| moved_in_life(o, Owner::Migration);
    "return_moved_per_written", "Returned per unit written", |_, o| moved_in_life(o, Owner::MakeRoom);
    "moved_per_written", "Moved per unit written", |_, o| Some(o.lived.moved.iter().sum());
    "end_pe_mean", "Mean P/E at the end", |_, o| end_wear(o, |wear| wear.mean);
    "end_pe_p99", "P99 of P/E at the end", |_, o| end_wear(o, |wear| wear.p99.into());
    "end_pe_max", "Highest P/E at the end", |_, o| end_wear(o, |wear| wear.max.into());
    "high_end_pe_mean", "High area: mean P/E at end", |_, o| end_of(o, HIGH, |area| area.mean);
    "high_end_pe_p99", "High area: P99 of P/E at end", |_, o| end_of(o, HIGH, |area| area.p99.into());
    "high_end_pe_max", "High area: highest P/E at end", |_, o| end_of(o, HIGH, |area| area.max.into());
    "low_end_pe_mean", "Low area: mean P/E at end", |_, o| end_of(o, LOW, |area| area.mean);
    "low_end_pe_p99", "Low area: P99 of P/E at end", |_, o| end_of(o, LOW, |area| area.p99.into());
    "low_end_pe_max", "Low area: highest P/E at end", |_, o| end_of(o, LOW, |area| area.max.into());
    "bad_percent", "Bad blocks at the end (%)", |_, o| Some(100.0 * o.lived.last().bad_share);
    "retired_superblocks", "Superblocks retired at the end", |_, o| Some(o.lived.last().retired.into());
    "life_low_read_percent", "Reads in the low area (%)", |_, o| Some(100.0 * o.lived.low_read_share.unwrap_or(0.0));
    "read_new_us", "Read when new, mean (us)", |_, o| probed(o.stages.first(), |probe| probe.mean_ns);
    "read_new_p99_us", "Read when new, P99 (us)", |_, o| probed(o.stages.first(), |probe| probe.p99_ns as f64);
    "read_middle_us", "Read half-way, mean (us)", |_, o| probed(o.stages.get(MIDDLE), |probe| probe.mean_ns);
    "read_middle_p99_us", "Read half-way, P99 (us)", |_, o| probed(o.stages.get(MIDDLE), |probe| probe.p99_ns as f64);
    "read_end_us", "Read at the end, mean (us)", |_, o| probed(o.stages.last(), |probe| probe.mean_ns);
    "read_end_p99_us", "Read at the end, P99 (us)", |_, o| probed(o.stages.last(), |probe| probe.p99_ns as f64);
}

metrics! {
    /// Metrics of a population of chips, as `firstread_nand::sensing` has them.
    MARGINS of OfMargin:
    "rare_codeword_bits", "Errors, worst page, 1 in 1,000 (bits)", |m| Some(m.best.worst_bits);
    "mean_codeword_bits", "Errors, mean codeword (bits)", |m| Some(m.best.mean_bits);
    "walk_rare_codeword_bits", "Errors, worst page, end of a walk (bits)", |m| Some(m.walk.worst_bits);
    "walk_mean_codeword_bits", "Errors, mean codeword, end of a walk (bits)", |m| Some(m.walk.mean_bits);
    "walk_retries", "Retries of a walk", |m| Some(m.walk_retries);
    "capability_bits", "Correctable (bits)", |m| Some(m.capability_bits.into());
    "safe_cut_percent", "Safe cut of tR (%)", |m| Some(m.cut_percent);
    "walk_safe_cut_percent", "Safe cut of tR, end of a walk (%)", |m| Some(m.walk_cut_percent);
    "goes_on_percent", "Walks that go on for the safe cut (%)", |m| Some(100.0 * m.goes_on);
    "safe_pre_permille", "Safe precharge (permille)", |m| Some(m.safe.pre_permille.into());
    "safe_extra_bits", "Errors added by it (bits)", |m| Some(m.safe.extra_bits.into());
}

metrics! {
    /// Metrics of the best levels of a drive.
    PAIRS of OfPairs:
    "least_r_squared", "Least R^{2} of all pairs", |pairs| {
        pairs.iter().map(|c| c.fit.r_squared).reduce(f64::min)
    };
}

/// Mean time of a retry: the time that host reads are charged for retries, divided by their number
/// of retries. Exact if each request reads one multi-plane page; a request of several pages is charged only for its
/// last one. None without retries.
fn retry_step(o: &Outcome) -> Option<f64> {
    let reads = &o.stats.all.read;
    let retries = o.stats.counters.retries.iter().zip(0u64..);
    let steps = retries.map(|(n, step)| n * step).sum::<u64>() + o.stats.counters.lost_retries;
    let share = reads.tail.slowest(1.0)?.share[Cause::Retry as usize];
    (steps > 0).then(|| share * reads.mean_ns() * reads.count() as f64 / steps as f64 / 1e3)
}

/// Share of the host's page reads that took `least` retries or more (%). A page that was not read is one of them:
/// all its steps failed. None without reads.
fn retried_percent(counters: &Counters, least: usize) -> Option<f64> {
    let pages = counters.retries.iter().sum::<u64>() + counters.uncorrectable;
    let fewer = counters.retries.iter().take(least).sum::<u64>();
    (pages > 0).then(|| 100.0 * (pages - fewer) as f64 / pages as f64)
}

/// The stage in the middle of a life.
const MIDDLE: usize = STAGES.len() / 2;

/// Mapping units moved for `owner`, for each that the host wrote in a life.
fn moved_in_life(o: &LifeOutcome, owner: Owner) -> Option<f64> {
    Some(o.lived.moved[owner as usize])
}

/// A number of the wear of all superblocks in use at the end of a life. None where all are retired.
fn end_wear(o: &LifeOutcome, of: fn(&Wear) -> f64) -> Option<f64> {
    let in_use = o.lived.last().blocks.in_use();
    Some(of(&Wear::of(in_use.map(|(_, pe)| pe).collect())?))
}

/// A number of the wear of an area at the end of a life. None of a drive without areas.
fn end_of(o: &LifeOutcome, area: RegionId, of: fn(&AreaWear) -> f64) -> Option<f64> {
    let wear = &o.lived.last().wear;
    let (_, name) = AREAS[area.index()];
    wear.iter().find(|w| w.name == name).map(of)
}

/// A time of the reads of a stage (us). None where there was no probe.
fn probed(stage: Option<&Stage>, ns: fn(&Probe) -> f64) -> Option<f64> {
    Some(ns(stage?.probe.as_ref()?) / 1e3)
}

/// Fewest retries that are enough for `share` of the host's page reads. None where no page was read.
fn retries_below(counters: &Counters, share: f64) -> Option<f64> {
    let pages = counters.retries.iter().sum::<u64>();
    let mut up_to = 0;
    let enough = |n: &u64| {
        up_to += n;
        up_to as f64 >= share * pages as f64
    };
    let retries = counters.retries.iter().position(enough)?;
    (pages > 0).then_some(retries as f64)
}

/// A number of the job that was reported last: of several phases, the last one. None where it read nothing.
fn last_job(o: &Outcome, of: impl Fn(&Report) -> f64) -> Option<f64> {
    let job = o.stats.reports.last()?;
    (job.read.count() > 0).then(|| of(job))
}

/// All requests of the phase that came last, of several phases. None where it wrote nothing.
fn last_writes(o: &Outcome) -> Option<&Report> {
    let all = &o.stats.groups.last()?.all;
    (all.write.count() > 0).then_some(all)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// `value`, where superblocks may have several cell modes.
fn modes(setup: &Setup, value: f64) -> Option<f64> {
    has_several(setup).then_some(value)
}

/// A number of `mode`, on a drive with several modes. None in a mode that did not occur.
fn of_mode(s: &Setup, o: &Outcome, mode: CellMode, of: fn(&OfMode) -> Option<f64>) -> Option<f64> {
    let all = if has_several(s) {
        of_modes(s, o)
    } else {
        Vec::new()
    };
    of(all.iter().find(|m| m.mode == mode)?)
}

/// Share of the superblocks that are in `mode` at the end (%), on a drive with several modes.
fn superblocks_percent(s: &Setup, o: &Outcome, mode: CellMode) -> Option<f64> {
    let in_mode = o.stats.modes.end.superblocks;
    let all: u32 = in_mode.iter().sum();
    modes(
        s,
        100.0 * f64::from(in_mode[mode.index()]) / f64::from(all.max(1)),
    )
}

/// Share of the valid mapping units that lie in `mode` at the end (%), on a drive with several modes.
fn data_percent(s: &Setup, o: &Outcome, mode: CellMode) -> Option<f64> {
    let valid = o.stats.modes.end.valid_slots;
    let all: u64 = valid.iter().sum();
    modes(s, 100.0 * valid[mode.index()] as f64 / all.max(1) as f64)
}

/// A number of mapping units, in percent of those that the host wrote, on a drive with several modes.
fn of_written(s: &Setup, c: &Counters, of: fn(&Counters) -> u64) -> Option<f64> {
    let written = (c.host_slots_written > 0).then_some(c.host_slots_written)?;
    modes(s, 100.0 * of(c) as f64 / written as f64)
}

/// What the host can write until all superblocks have the cycles that the drive's own mode is rated for (TB), if it goes on as
/// `counters` have counted. None where nothing was erased or written.
fn rated_writes_tb(s: &Setup, counters: &Counters, by: fn(Damage) -> f64) -> Option<f64> {
    let geometry = &s.profile.geometry;
    let damage = by(damage_of(s, counters));
    let bytes = counters.host_slots_written as f64 * f64::from(geometry.slot_bytes);
    let cycles = f64::from(s.profile.rated_pe_cycles()) * f64::from(geometry.blocks_per_plane);
    (damage > 0.0 && bytes > 0.0).then(|| bytes * cycles / damage / 1e12)
}

/// Time in which flash programs pages, for each page that the host writes (ms).
fn program_ms_per_page(s: &Setup, c: &Counters) -> Option<f64> {
    Some(program_ns_per_page(&s.profile, c)? / 1e6)
}

/// A number of the page type of the drive's own mode that is number `rank` by how fast it is read.
fn of_page(s: &Setup, o: &Outcome, rank: usize, of: fn(&OfPageType) -> Option<f64>) -> Option<f64> {
    page_in(s, &o.stats.measured, rank, of)
}

/// The same of the phase that came last, of several phases.
fn last_page(
    s: &Setup,
    o: &Outcome,
    rank: usize,
    of: fn(&OfPageType) -> Option<f64>,
) -> Option<f64> {
    page_in(s, &o.stats.groups.last()?.counters, rank, of)
}

/// The same of what `counters` have counted.
fn page_in(
    s: &Setup,
    counters: &Counters,
    rank: usize,
    of: fn(&OfPageType) -> Option<f64>,
) -> Option<f64> {
    let rows = page_types_of(s, counters);
    let mut own = rows.iter().filter(|row| row.mode == s.profile.mode);
    of(own.nth(rank)?)
}

/// Retries of the phase that came last, of several phases. None where no page was read.
fn last_retries(o: &Outcome) -> Option<Retries> {
    let retries = Retries::of(&o.stats.groups.last()?.counters);
    (retries.pages > 0).then_some(retries)
}

/// Mapping units moved out of streams of the host, of those that they were given (%). None where no scheme chooses among
/// streams.
fn moved_of_host(s: &Setup, o: &Outcome) -> Option<f64> {
    let all = of_streams(s, o);
    let of_host = all
        .iter()
        .filter(|of| matches!(of.opened_for, OpenedFor::Host(_)));
    let sums = of_host.map(|of| (of.moved_out_slots, of.slots));
    let (moved, given) = sums.fold((0, 0), |(a, b), (moved, given)| (a + moved, b + given));
    (given > 0).then(|| 100.0 * moved as f64 / given as f64)
}

/// A number of the areas, on a drive that has them.
fn low(o: &Outcome, of: impl Fn(&[InRun; AREAS.len()]) -> Option<f64>) -> Option<f64> {
    of(&areas(o)?)
}

/// Mapping units moved for `owner`.
fn moved(o: &Outcome, owner: Owner) -> Option<f64> {
    Some(o.stats.counters.slots_moved_by[owner as usize] as f64)
}

/// Retries of the page read of the host that took the fewest. None where no page was read.
fn fewest_retries(counters: &Counters) -> Option<f64> {
    let fewest = counters.retries.iter().position(|&pages| pages > 0)?;
    Some(fewest as f64)
}

/// Background reads of the time before the run, against the page reads that the run's load would
/// have made in that time: the share of reads that calibration takes in the long run.
fn background_share(o: &Outcome) -> Option<f64> {
    let pages = o.retries().pages as f64;
    let a_second = per_second(o, pages);
    let seconds = o.began.0 as f64 / 1e9;
    (seconds > 0.0 && a_second > 0.0)
        .then(|| 100.0 * o.background_reads_before as f64 / (a_second * seconds))
}

impl Metric {
    /// The metrics that `source` has.
    pub fn of(source: Source) -> Vec<&'static Metric> {
        match source {
            Source::Runs => RUNS.iter().map(|m| &m.metric).collect(),
            Source::Lives => LIVES.iter().map(|m| &m.metric).collect(),
            Source::Margins => MARGINS.iter().map(|m| &m.metric).collect(),
            Source::Samples => SAMPLES.iter().map(|m| &m.metric).collect(),
            Source::Pairs => PAIRS.iter().map(|m| &m.metric).collect(),
        }
    }

    /// The metric of `source` called `name`.
    ///
    /// # Errors
    /// [`StudyError::OtherSource`] where it is of another one, and [`StudyError::NoSuch`] where there is none.
    pub fn find(name: &str, source: Source) -> Result<&'static Metric, StudyError> {
        let all = Metric::of(source);
        all.iter()
            .find(|m| m.name == name)
            .copied()
            .ok_or_else(|| match Source::of_metric(name) {
                Some(other) => StudyError::OtherSource {
                    metric: name.to_owned(),
                    of: other.name(),
                    points: source.name(),
                    nearest: nearest(name, all.iter().map(|m| m.name)),
                },
                None => StudyError::no_such("metric", name, all.iter().map(|m| m.name)),
            })
    }
}

/// The three names of `known` that are most like `name`, the first the nearest.
fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut known: Vec<&str> = known.collect();
    let next = |_| {
        let found = firstread_workload::nearest(name, known.iter().copied())?;
        known.retain(|k| *k != found);
        Some(found)
    };
    (0..3).map_while(next).collect()
}

impl Source {
    pub const ALL: [Source; 5] = [
        Source::Runs,
        Source::Lives,
        Source::Margins,
        Source::Samples,
        Source::Pairs,
    ];

    /// As lists of metrics have it.
    pub fn name(self) -> &'static str {
        match self {
            Source::Runs => "runs",
            Source::Lives => "lives",
            Source::Margins => "cells",
            Source::Samples => "samples of cells",
            Source::Pairs => "correlations",
        }
    }

    /// Whose metric `name` is; none where it is no metric.
    fn of_metric(name: &str) -> Option<Source> {
        let has = |source: &Source| Metric::of(*source).iter().any(|m| m.name == name);
        Source::ALL.into_iter().find(has)
    }
}

/// All metrics of `table` for which `value` finds a number.
fn all<F>(table: &[Measure<F>], value: impl Fn(&F) -> Option<f64>) -> Map<String, Value> {
    let one = |m: &Measure<F>| Some((m.metric.name.to_owned(), value(&m.of)?.into()));
    table.iter().filter_map(one).collect()
}

/// All metrics of a population of chips.
pub fn of_margin(margin: &Margin) -> Map<String, Value> {
    all(MARGINS, |of| of(margin))
}

/// All metrics of the best levels of a drive.
pub fn of_pairs(pairs: &[Correlation]) -> Map<String, Value> {
    all(PAIRS, |of| of(pairs))
}

/// Key of the capacity lost over the time of a run, which stands beside the metrics: pairs of a time (s) and of what is
/// lost from then on (MiB), to the end of the run.
pub const OVER_TIME: &str = "capacity_lost_over_time";

fn over_time(setup: &Setup, outcome: &Outcome) -> Value {
    let mut points = lost_over_time(setup, outcome);
    let end = outcome.stats.simulated.0 as f64 * 1e-9;
    points.extend(points.last().map(|&(_, lost)| (end, lost)));
    let point = |&(s, lost): &(f64, u64)| Value::from(vec![s, mib(lost)]);
    points.iter().map(point).collect()
}

/// All metrics of what a point came to.
pub fn of_finished(setup: &Setup, finished: &Finished) -> Map<String, Value> {
    match finished {
        Finished::Run(outcome) => of_run(setup, outcome),
        Finished::Life(of) => of_life(&of.life, &of.outcome),
    }
}

/// All metrics of a life, however it ended.
pub fn of_life(life: &Life, outcome: &LifeOutcome) -> Map<String, Value> {
    all(LIVES, |of| of(life, outcome))
}

/// Key of the metrics of each group of jobs, which stands beside those of the run where several groups ran one after another.
pub const GROUPS: &str = "groups";
/// Key of the names of a group's jobs among its metrics.
pub const JOBS: &str = "jobs";

/// Metrics of latencies and rates: of requests that ran together, so a run of several groups has none.
const OF_REQUESTS: [&str; 14] = [
    "mean_us",
    "p50_us",
    "p99_us",
    "p99.9_us",
    "p99.99_us",
    "p99.999_us",
    "p99.9999_us",
    "iops",
    "bandwidth_mib_s",
    "response_us",
    "write_mean_us",
    "write_p99.9_us",
    "write_bandwidth_mib_s",
    "retry_step_us",
];

/// The other metrics that a group has of its own: they are counted. What a run is like at its end has no group.
const COUNTED: [&str; 17] = [
    "first_try_percent",
    "retries_mean",
    "retries_min",
    "retries_max",
    "retries_p10",
    "retries_p90",
    "retried_2_percent",
    "retried_3_percent",
    "retried_4_percent",
    "retried_5_percent",
    "retried_7_percent",
    "retried_8_percent",
    "retried_11_percent",
    "cancelled_senses",
    "lost_share",
    "background_reads",
    "superblocks_erased",
];

/// The metrics of each group of jobs of a run that had several.
fn of_groups(setup: &Setup, outcome: &Outcome) -> Vec<Value> {
    let of = |group: &Group| {
        let mut alone = outcome.clone();
        alone.stats.all = group.all.clone();
        alone.stats.counters = group.counters.clone();
        let mut values = all(RUNS, |of| of(setup, &alone));
        values.retain(|name, _| {
            OF_REQUESTS.contains(&name.as_str()) || COUNTED.contains(&name.as_str())
        });
        values.insert(JOBS.into(), group.jobs.join("+").into());
        Value::Object(values)
    };
    outcome.stats.groups.iter().map(of).collect()
}

/// All metrics of a run. A run in which the drive failed has no metrics, because it is not comparable with complete
/// runs.
pub fn of_run(setup: &Setup, outcome: &Outcome) -> Map<String, Value> {
    match outcome.stats.ended {
        Ended::Completed => {
            let mut values = all(RUNS, |of| of(setup, outcome));
            if !outcome.stats.groups.is_empty() {
                values.retain(|name, _| !OF_REQUESTS.contains(&name.as_str()));
                values.insert(GROUPS.into(), of_groups(setup, outcome).into());
            }
            if has_several(setup) {
                values.insert(OVER_TIME.into(), over_time(setup, outcome));
            }
            values
        }
        Ended::EndOfLife(_) | Ended::Interrupted => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::setup::Simulation;

    /// The metrics of 3,000 reads of `drive` with `set`, and the result of the same run.
    fn of_drive(drive: &str, set: &[&str], job: &str) -> (Map<String, Value>, Value) {
        let set = set
            .iter()
            .map(|text| firstread_drive::profile::Override::parse(text).unwrap());
        let setup = Simulation {
            drive: drive.into(),
            set: set.collect(),
            limit: Some(3_000),
            ..Simulation::of(Input::job_file("j", job.to_owned()).unwrap())
        };
        let setup = setup.setup().unwrap();
        let outcome = setup.simulate().unwrap();
        let result = crate::results::result(&setup, &outcome, false);
        (of_run(&setup, &outcome), result)
    }

    const HOT: &str = "[warm]\nrw=randread\nbs=16k\nsize=16m\nnorandommap\nnumber_ios=2000\n\
                       [then]\nstonewall\nrw=randread\nbs=64k\nsize=16m\nnorandommap\n";

    /// Metrics by cell mode are those of the result; a drive of one mode has none of them.
    #[test]
    fn formula_metrics_by_mode_are_those_of_the_result() {
        let set = [
            "cells=formula",
            "geometry.mapping_unit=16 KiB",
            "schemes.cell_mode=hotness",
            "chip.array.layers=2",
            "capacity=384 MiB",
        ];
        let (metrics, result) = of_drive("raro-femu", &set, HOT);
        let of = |name: &str| metrics[name].as_f64().unwrap();
        let modes = &result["firstread"]["cell_modes"];
        let promoted = modes["promoted_slots"].as_object().unwrap();
        let promoted: f64 = promoted.values().map(|n| n.as_f64().unwrap()).sum();
        assert!(promoted > 100.0, "{modes}");
        assert_eq!(of("moved_promotion_slots"), promoted);
        let lost = modes["lost_bytes"]["end"].as_f64().unwrap();
        assert!(lost > 0.0);
        assert_eq!(of("capacity_lost_mib"), lost / f64::from(1 << 20));
        let percent = 100.0 * lost / f64::from(1 << 20) / 512.0;
        assert!(
            (of("capacity_lost_percent") - percent).abs() < 0.05,
            "{percent}"
        );
        let spare = modes["over_provisioning_bytes"]["end"].as_f64().unwrap();
        let capacity = result["firstread"]["capacity_bytes"].as_f64().unwrap();
        assert_eq!(of("over_provisioning_percent"), 100.0 * spare / capacity);
        let mut shares = 0.0;
        for (mode, of_mode) in modes["by_mode"].as_object().unwrap() {
            let blocks = of_mode["superblocks"]["end"].as_f64().unwrap();
            assert_eq!(of(&format!("{mode}_superblocks")), blocks);
            shares += of(&format!("{mode}_read_percent"));
        }
        assert!((shares - 100.0).abs() < 1e-6, "{shares}");
        assert!(of("tlc_read_percent") > 1.0);

        let (metrics, _) = of_drive("bench-4g", &[], HOT);
        for name in ["capacity_lost_mib", "moved_promotion_slots", "qlc_read_us"] {
            assert!(!metrics.contains_key(name), "{name}");
        }
        assert!(metrics.contains_key("moved_gc_slots"));
    }

    /// Metrics of pools are those of the result: shares of what the host wrote and of the data, what the erases cost, and the time of
    /// programs.
    #[test]
    fn formula_metrics_of_pools_are_those_of_the_result() {
        let set = [
            "cells=ideal",
            "geometry.channels=2",
            "geometry.chips_per_channel=1",
            "geometry.dies_per_chip=1",
            "geometry.planes=1",
            "geometry.blocks_per_plane=64",
            "chip.array.layers=2",
            "chip.failures.factory_bad=0 %",
            "capacity=64 MiB",
            "firmware.cell_modes=all",
            "schemes.cell_mode=hybrid-pools",
            "cell_mode.share=60 permille",
            "schemes.read_recovery=none",
            "chip.modes.slc.cycle_damage=0.1 x",
        ];
        let job = "[first]\nrw=randwrite\nbs=64k\nnorandommap\nio_size=94m\n\
                   [then]\nstonewall\nrw=randwrite\nbs=64k\nsize=8m\nnorandommap\nio_size=93m\n";
        let (metrics, result) = of_drive("ibm-qlc", &set, job);
        let of = |name: &str| metrics[name].as_f64().unwrap();
        let near = |name: &str, expected: f64| {
            let found = of(name);
            assert!(
                expected > 0.0 && (found / expected - 1.0).abs() < 1e-9,
                "{name}: {found}, not {expected}"
            );
        };
        let firstread = &result["firstread"];
        let modes = &firstread["cell_modes"];
        let bytes = firstread["written"]["host_bytes"].as_f64().unwrap();
        let written = bytes / 4096.0;
        let pool = &modes["write_pool"];
        near(
            "pool_written_percent",
            100.0 * pool["written_slots"].as_f64().unwrap() / written,
        );
        let bypassed = pool["bypassed"].as_object().unwrap();
        let bypassed: f64 = bypassed.values().map(|n| n.as_f64().unwrap()).sum();
        near("pool_bypassed_percent", 100.0 * bypassed / written);
        let number = |mode: &str, path: &str| {
            modes["by_mode"][mode]
                .pointer(path)
                .unwrap()
                .as_f64()
                .unwrap()
        };
        let valid = |mode: &str| number(mode, "/valid_slots/end");
        let all = valid("slc") + valid("qlc");
        near("slc_data_percent", 100.0 * valid("slc") / all);
        near("qlc_data_percent", 100.0 * valid("qlc") / all);
        let slc = number("slc", "/superblocks/end");
        near("slc_superblocks_percent", 100.0 * slc / 64.0);
        // 1,500 cycles of each of 64 superblocks.
        let damage = &modes["damage_cycles"];
        for (metric, by) in [
            ("rated_writes_tb", "as_set"),
            ("rated_writes_by_ratings_tb", "by_ratings"),
            ("rated_writes_alike_tb", "alike"),
        ] {
            let cycles = damage[by].as_f64().unwrap();
            near(metric, bytes * 1_500.0 * 64.0 / cycles / 1e12);
        }
        assert!(of("rated_writes_tb") > of("rated_writes_alike_tb"));
        // Of the deck's device a page takes 2.5 ms in QLC mode and 75 us in SLC mode.
        let programmed = |mode: &str| number(mode, "/slots_programmed");
        let ms = programmed("qlc") * 2.5 + programmed("slc") * 0.075;
        near("program_ms_per_page", ms / written);
        let last = &result["jobs"][1]["write"];
        // The phase that came last wrote as much as its job, and the whole run more.
        let phase = of("last_pool_written_percent") - of("pool_written_percent");
        assert!(phase.abs() > 0.1, "{phase}");
        for name in [
            "rated_writes_tb",
            "program_ms_per_page",
            "pool_bypassed_percent",
        ] {
            let ratio = of(&format!("last_{name}")) / of(name);
            assert!(
                (0.2..5.0).contains(&ratio) && ratio != 1.0,
                "{name}: {ratio}"
            );
        }
        near(
            "last_write_mean_us",
            last["lat_ns"]["mean"].as_f64().unwrap() / 1e3,
        );
        let bandwidth = last["bw_bytes"].as_f64().unwrap() / f64::from(1 << 20);
        assert!((of("last_write_bandwidth_mib_s") / bandwidth - 1.0).abs() < 1e-6);

        let (metrics, _) = of_drive("bench-4g", &[], HOT);
        for name in [
            "slc_data_percent",
            "pool_written_percent",
            "rated_writes_tb",
        ] {
            assert!(!metrics.contains_key(name), "{name}");
        }
    }

    /// The last job is the phase that came last.
    #[test]
    fn formula_the_last_job_is_the_last_phase() {
        let (metrics, result) = of_drive("bench-4g", &[], HOT);
        let jobs = result["jobs"].as_array().unwrap();
        let mean = |job: &Value| job["read"]["lat_ns"]["mean"].as_f64().unwrap() / 1e3;
        assert_eq!(jobs.len(), 2);
        let last = metrics["last_mean_us"].as_f64().unwrap();
        assert!((last - mean(&jobs[1])).abs() < 1e-6, "{last}");
        assert_ne!(mean(&jobs[0]), mean(&jobs[1]));
    }

    /// Page types and retries of the last phase are those that its group counted; page types of a run leave its ramp out.
    #[test]
    fn formula_page_types_of_the_last_phase_and_after_a_ramp() {
        let two = "[first]\nrw=randread\nbs=4k\nsize=16k\nnumber_ios=500\nnorandommap\n\
                   [then]\nstonewall\nrw=randread\nbs=4k\noffset=64m\nsize=1g\nnumber_ios=900\nnorandommap\n";
        let (metrics, result) = of_drive("ibm-qlc", &[], two);
        let of = |name: &str| metrics[name].as_f64().unwrap();
        // One page of the chip has what the first job reads, and so a single page type of the four.
        let shares = ["a", "b", "c", "d"].map(|page| of(&format!("last_page_{page}_read_percent")));
        assert!(
            (shares.iter().sum::<f64>() - 100.0).abs() < 1e-9,
            "{shares:?}"
        );
        assert!(
            shares.iter().all(|share| (15.0..35.0).contains(share)),
            "{shares:?}"
        );
        assert_ne!(of("last_page_a_read_percent"), of("page_a_read_percent"));
        let last = &metrics[GROUPS].as_array().unwrap()[1];
        assert_eq!(metrics["last_retries_mean"], last["retries_mean"]);
        assert_eq!(metrics["last_first_try_percent"], last["first_try_percent"]);
        assert!(of("last_retries_mean") != of("retries_mean"), "{result}");

        let ramp = "[a]\nrw=randread\nbs=4k\nsize=1g\nnorandommap\nrate_iops=10000\niodepth=64\nramp_time=100ms\n\
                    time_based\nruntime=1h\n";
        let (metrics, result) = of_drive("ibm-qlc", &[], ramp);
        let rows = result["firstread"]["page_type_reads"].as_array().unwrap();
        let reads: u64 = rows
            .iter()
            .map(|row| row["page_reads"].as_u64().unwrap())
            .sum();
        // 3,000 are measured, 1,000 came before, and some of these were still in flight.
        assert!((3_000..3_100).contains(&reads), "{reads}");
        assert!(
            result["firstread"]["requests"].as_u64().unwrap() > 3_900,
            "{result}"
        );
        assert!(!metrics.contains_key("last_page_a_read_percent"));
    }

    /// Nothing of latencies is said of jobs that ran one after the other: each group has its own metrics.
    #[test]
    fn formula_groups_have_metrics_of_their_own() {
        let (metrics, result) = of_drive("bench-4g", &[], HOT);
        for name in OF_REQUESTS {
            assert!(!metrics.contains_key(name), "{name}");
        }
        let groups = metrics[GROUPS].as_array().unwrap();
        let jobs = result["jobs"].as_array().unwrap();
        assert_eq!((groups.len(), jobs.len()), (2, 2));
        for (group, job) in groups.iter().zip(jobs) {
            assert_eq!(group[JOBS], job["jobname"]);
            let (iops, mean) = (&job["read"]["iops"], &job["read"]["lat_ns"]["mean"]);
            assert_eq!(group["iops"], *iops);
            assert_eq!(group["mean_us"].as_f64(), mean.as_f64().map(|ns| ns / 1e3));
            assert!(
                !group
                    .as_object()
                    .unwrap()
                    .contains_key("write_amplification")
            );
        }
        for name in OF_REQUESTS.iter().chain(&COUNTED) {
            assert!(RUNS.iter().any(|m| m.metric.name == *name), "{name}");
        }
        let (metrics, _) = of_drive("bench-4g", &[], "[a]\nrw=randread\n[b]\nrw=randread\n");
        assert!(metrics.contains_key("iops") && !metrics.contains_key(GROUPS));
    }

    #[test]
    fn formula_percentiles_of_retries_are_those_of_pages() {
        let mut counters = Counters::default();
        assert_eq!(retries_below(&counters, 0.5), None);
        counters.retries[1] = 10;
        counters.retries[4] = 80;
        counters.retries[9] = 10;
        let of = |share| retries_below(&counters, share).unwrap();
        assert_eq!(
            [of(0.1), of(0.11), of(0.9), of(0.91), of(1.0)],
            [1.0, 4.0, 4.0, 9.0, 9.0]
        );
    }

    #[test]
    fn formula_the_distribution_of_retries_is_that_of_pages() {
        let mut counters = Counters::default();
        assert_eq!(retried_percent(&counters, 3), None);
        assert_eq!(fewest_retries(&counters), None);
        counters.retries[2] = 10;
        counters.retries[3] = 20;
        counters.retries[7] = 60;
        let share = |least| retried_percent(&counters, least).unwrap();
        assert!((share(2) - 100.0).abs() < 1e-9);
        assert!((share(3) - 100.0 * 80.0 / 90.0).abs() < 1e-9);
        assert!((share(4) - 100.0 * 60.0 / 90.0).abs() < 1e-9);
        assert_eq!(share(8), 0.0);
        assert_eq!(fewest_retries(&counters), Some(2.0));
        // Lost pages took all their steps.
        counters.uncorrectable = 10;
        assert!((retried_percent(&counters, 8).unwrap() - 10.0).abs() < 1e-9);
        assert!((retried_percent(&counters, 3).unwrap() - 90.0).abs() < 1e-9);
    }

    /// The mean time of a retry is the time that reads are charged for retries over their number.
    #[test]
    fn formula_the_mean_time_of_a_retry() {
        let set = ["capacity=64 MiB", "schemes.read_levels=factory"];
        let job = "[a]\nrw=randread\nbs=4k\nnorandommap\nsize=16m\n";
        let (metrics, _) = of_drive("ct-qlc", &set, job);
        let of = |name: &str| metrics[name].as_f64().unwrap();
        let retries = of("retries_mean");
        let us = of("retry_step_us");
        let share = us * retries / of("mean_us");
        assert!(
            retries > 0.2 && (0.05..1.0).contains(&share),
            "{retries} retries of {us} us: {share}"
        );
    }
}
