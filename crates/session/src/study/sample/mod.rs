//! What a sample of a drive's cells comes to, without a run: its pages at default, best and shared levels, how its chip's
//! laws stand to published numbers, where its code fails, and the medium against cells drawn one by one.
//!
//! [`pages`]: the drive in one condition, and first reads of it. [`laws`]: retention, projection, read disturb and short
//! senses. `unaware`: reads at levels that are out of date. `codes`, `again`: codes, and senses that follow each other.

mod again;
mod codes;
pub mod laws;
pub mod pages;
mod unaware;

use std::cell::OnceCell;

use firstread_nand::SoftLevels;
use serde_json::{Map, Value};

use super::number::{Measure, Metric, metrics};
use crate::error::Error;
use again::{Of, SoftRead, failed_again, soft_failed};
use laws::*;
pub use pages::Sample;
use pages::{Curve, DEFAULT, first_time};
use unaware::{Since, share_failing};

/// Of a sample of cells.
pub type OfSample = fn(&Sample) -> Result<Option<f64>, Error>;

fn some(value: Result<f64, Error>) -> Result<Option<f64>, Error> {
    value.map(Some)
}

/// Share of first reads that fail, by the place of the code in [`firstread_ecc::Code::NAMES`].
fn first_reads(sample: &Sample, code: usize) -> Result<Option<f64>, Error> {
    Ok(sample.first_reads()?.get(code).copied())
}

/// Share of first reads that fail at each page's own best levels, of a code of 72 errors in 9,216 bits or in 8,192.
fn oracle_reads(sample: &Sample, of_user_bits: bool) -> Result<Option<f64>, Error> {
    let code = firstread_ecc::Code::named("threshold")?;
    let curve = Curve::new(&code);
    let curve = match of_user_bits {
        true => curve.of_user_bits(),
        false => curve,
    };
    let aged = sample.aged(sample.age)?;
    let levels = firstread_nand::ReadLevels::Ideal;
    let shares = aged.read_failure(sample.n, &levels, &[curve])?;
    Ok(shares.first().copied())
}

/// Pages of which a codeword has more than 72 errors of 9,216 bits at default levels, integrated (%).
fn by_codeword(sample: &Sample) -> Result<Option<f64>, Error> {
    let curve = Curve::new(&firstread_ecc::Code::named("threshold")?);
    let bytes = sample.profile.geometry.page_bytes;
    let rbers = sample.aged(sample.age)?.rbers(sample.n, &DEFAULT)?;
    let sum: f64 = rbers.iter().map(|&r| curve.page_failure(r, bytes)).sum();
    Ok(Some(100.0 * sum / f64::from(sample.n)))
}

/// Share of pages above the limit at the levels best for all of them.
fn group_failing(sample: &Sample) -> Result<Option<f64>, Error> {
    let aged = sample.aged(sample.age)?;
    let levels = firstread_nand::ReadLevels::Offsets(aged.group_levels()?);
    some(aged.failing(sample.n, &levels, sample.limit))
}

fn worst_at_best(sample: &Sample) -> Result<Option<f64>, Error> {
    let aged = sample.aged(sample.age)?;
    let rbers = aged.rbers(sample.n, &firstread_nand::ReadLevels::Ideal)?;
    Ok(rbers
        .into_iter()
        .reduce(f64::max)
        .map(|worst| worst / sample.limit))
}

/// Time until `share` of pages are above the limit at default levels (h).
fn fail_h(sample: &Sample, share: f64) -> Result<Option<f64>, Error> {
    let time = first_time(share, |age| sample.failing_at_default(age))?;
    Ok(Some(time).filter(|h| h.is_finite()))
}

fn steps_from(sample: &Sample, least: u32) -> Result<Option<f64>, Error> {
    let steps = sample.steps()?;
    let as_many = steps.iter().filter(|&&n| n >= least).count();
    Ok(Some(100.0 * as_many as f64 / steps.len() as f64))
}

fn soft(
    sample: &Sample,
    senses: SoftLevels,
    worn: bool,
    rber: u32,
    of: Of,
) -> Result<Option<f64>, Error> {
    let read = SoftRead { senses, worn, rber };
    soft_failed(sample, read, of)
}

use SoftLevels::{Five, Three};

metrics! {
    /// Metrics of a sample of cells: pages, reads, draws or wordlines of a drive in one condition. Pages are read at the
    /// factory's default levels, at their own best ones, or at the levels that are best for all pages together (group).
    SAMPLES of OfSample:
    "default_fail_percent", "Pages above the limit, default levels (%)", |s| Ok(Some(100.0 * s.failing_at_default(s.age)?));
    "default_codeword_fail_percent", "Pages with a codeword above 72 errors, default levels (%)", by_codeword;
    "default_rber", "Mean RBER at default levels", |s| {
        let rbers = s.aged(s.age)?.rbers(s.n, &DEFAULT)?;
        Ok(Some(rbers.iter().sum::<f64>() / f64::from(s.n)))
    };
    "half_fail_h", "Half of the pages above the limit, default levels, after (h)", |s| fail_h(s, 0.5);
    "first_fail_h", "One page in a hundred above the limit, default levels, after (h)", |s| fail_h(s, 0.01);
    "best_worst_over_limit", "Worst page at its best levels (of the limit)", worst_at_best;
    "group_fail_share", "Pages above the limit, group levels (share)", group_failing;
    "oracle_reads_fail", "First reads that fail at best levels, 72 errors in 9,216 bits (share)", |s| oracle_reads(s, false);
    "oracle_reads_fail_8192", "The same, 72 errors in 8,192 bits (share)", |s| oracle_reads(s, true);
    "reads_fail_threshold", "First reads that fail, group levels, threshold (share)", |s| first_reads(s, 0);
    "reads_fail_1k", "First reads that fail, group levels, ldpc-1k (share)", |s| first_reads(s, 1);
    "reads_fail_4k", "First reads that fail, group levels, ldpc-4k (share)", |s| first_reads(s, 2);
    "steps_mean", "Retry steps of a walk, 72 errors in 8,192 bits", |s| {
        let steps = s.steps()?;
        Ok(Some(steps.iter().map(|&n| f64::from(n)).sum::<f64>() / steps.len() as f64))
    };
    "steps_from_4_percent", "Walks of 4 steps or more (%)", |s| steps_from(s, 4);
    "steps_from_7_percent", "Walks of 7 steps or more (%)", |s| steps_from(s, 7);
    "top_shift_early_over_late", "Best top level: 7 min to 3 h over 3 h to 11 d", |s| some(early_over_late(s));
    "bake_years", "Years at 30 °C that 13 h at 85 °C are", |s| Ok(bake_years(s));
    "bake_deviation_percent", "Baking times for a year at 25 °C, largest deviation (%)", |s| Ok(bake_deviation(s));
    "projection_0mv", "Least R^{2} of a nominal page's pairs, no noise", |s| nominal_projection(s, 0.0);
    "projection_1mv", "The same, 1 mV of noise a point", |s| nominal_projection(s, 1.0);
    "projection_2mv", "The same, 2 mV of noise a point", |s| nominal_projection(s, 2.0);
    "projection_3mv", "The same, 3 mV of noise a point", |s| nominal_projection(s, 3.0);
    "projection_4mv", "The same, 4 mV of noise a point", |s| nominal_projection(s, 4.0);
    "projection_5mv", "The same, 5 mV of noise a point", |s| nominal_projection(s, 5.0);
    "projection_rising_2mv", "Least R^{2} where states below the seventh rise, 2 mV of noise", |s| rising_projection(s, 2.0);
    "projection_noise_mv", "Noise at which it is 0.8 (mV)", noise_at_limit;
    "projection_of_blocks", "Least R^{2} of the pairs of eight blocks", block_projection;
    "projection_spread_percent", "Spread of states at which it is 0.8 (%)", spread_at_limit;
    "even_reads_k", "Reads a block takes, spread evenly (thousands)", |s| Ok(Some(nominal_tolerance(s, false)? / 1e3));
    "neighbour_reads_k", "Reads of one neighbour that a wordline takes (thousands)", |s| Ok(Some(nominal_tolerance(s, true)? / 1e3));
    "even_over_neighbour", "Even reads over reads of one neighbour", |s| {
        Ok(Some(nominal_tolerance(s, false)? / nominal_tolerance(s, true)?))
    };
    "erased_errors_percent", "Errors of erased cells at 2 M reads (%)", |s| some(erased_share(s));
    "weakest_wordline", "Weakest wordline of a block over their mean (reads)", weakest_wordline;
    "read_us", "Mean tR over page types (us)", |s| Ok(Some(mean_read_ns(s)? / 1e3));
    "hidden_percent", "Of a retry step that pipelining can hide, 20 us a decode (%)", |s| some(hidden_percent(s));
    "precharge_saves_percent", "tR saved by 40 % less precharge (%)", |s| Ok(precharge_saves(s));
    "precharge_errors", "Errors added by 40 % less precharge, worst page (bits in 1 KiB)", |s| some(added_errors(s, PRECHARGE_40));
    "evaluation_errors", "Errors added by 20 % less evaluation, worst page (bits in 1 KiB)", |s| some(added_errors(s, EVALUATION_20));
    "spacing_mv", "Distance of the top states (mV)", |s| Ok(top_state(s).map(|of| of[0]));
    "width_mv", "Width of the top state (mV)", |s| Ok(top_state(s).map(|of| of[1]));
    "loss_mv_per_decade", "Loss of the top state (mV/decade)", |s| Ok(top_state(s).map(|of| of[2]));
    "rber_at_fer_0.5", "RBER at FER 0.5", |s| some(codes::hard_rber(s, 0.5));
    "rber_at_fer_1e-1", "RBER at FER 0.1", |s| some(codes::hard_rber(s, 1e-1));
    "rber_at_fer_1e-2", "RBER at FER 1e-2", |s| some(codes::hard_rber(s, 1e-2));
    "rber_at_fer_1e-4", "RBER at FER 1e-4", |s| some(codes::hard_rber(s, 1e-4));
    "rber_at_fer_1e-6", "RBER at FER 1e-6", |s| some(codes::hard_rber(s, 1e-6));
    "rber_at_fer_1e-8", "RBER at FER 1e-8", |s| some(codes::hard_rber(s, 1e-8));
    "soft_rber_at_fer_0.5", "RBER at FER 0.5, three senses", |s| codes::soft_rber(s, 0.5);
    "soft_rber_at_fer_1e-1", "RBER at FER 0.1, three senses", |s| codes::soft_rber(s, 1e-1);
    "soft_rber_at_fer_1e-2", "RBER at FER 1e-2, three senses", |s| codes::soft_rber(s, 1e-2);
    "decoder_fer_at_1e-1", "FER of the decoder where its table has 0.1, three senses", |s| codes::decoded_fer(s, 1e-1);
    "decoder_fer_at_1e-2", "FER of the decoder where its table has 1e-2, three senses", |s| codes::decoded_fer(s, 1e-2);
    "iterations_far", "Mean iterations at RBER 0.005", |s| codes::iterations(s, 0.005);
    "iterations_growth", "30 iterations over the mean at RBER 0.001", |s| Ok(codes::iterations(s, 0.001)?.map(|n| 30.0 / n));
    "unaware_nothing", "First reads that fail, levels just found (share)", |s| some(share_failing(s, Since::Nothing));
    "unaware_5h", "5 h later", |s| some(share_failing(s, Since::FiveHours));
    "unaware_month_just_filled", "30 d at 25 °C without power, just filled", |s| some(share_failing(s, Since::MonthJustFilled));
    "unaware_month", "30 d at 25 °C without power", |s| some(share_failing(s, Since::Month));
    "unaware_warmer", "Found at 25 °C, then 5 h warm", |s| some(share_failing(s, Since::Warmer));
    "unaware_cooler", "Read at 25 °C", |s| some(share_failing(s, Since::Cooler));
    "unaware_idle", "First reads after idling, 5 mV less", |s| some(share_failing(s, Since::Idle));
    "unaware_half_written", "Blocks half written", |s| some(share_failing(s, Since::HalfWritten));
    "unaware_reads", "100,000 reads of each block", |s| some(share_failing(s, Since::Reads));
    "again_same", "Fails again at the same levels, medium (share)", |s| failed_again(s, again::SAME, Of::Medium, 1, 2);
    "again_same_cells", "The same, cells", |s| failed_again(s, again::SAME, Of::Cells, 1, 2);
    "again_csb", "Fails again at the same levels, CSB, medium (share)", |s| failed_again(s, again::SAME_OF_CSB, Of::Medium, 1, 2);
    "again_csb_cells", "The same, cells", |s| failed_again(s, again::SAME_OF_CSB, Of::Cells, 1, 2);
    "again_sides", "Fails again on the other side, medium (share)", |s| failed_again(s, again::SIDES, Of::Medium, 1, 2);
    "again_sides_cells", "The same, cells", |s| failed_again(s, again::SIDES, Of::Cells, 1, 2);
    "thrice_same", "Fails thrice at the same levels, medium (share)", |s| failed_again(s, again::SAME, Of::Medium, 0, 7);
    "thrice_same_cells", "The same, cells", |s| failed_again(s, again::SAME, Of::Cells, 0, 7);
    "thrice_csb", "Fails thrice at the same levels, CSB, medium (share)", |s| failed_again(s, again::SAME_OF_CSB, Of::Medium, 0, 7);
    "thrice_csb_cells", "The same, cells", |s| failed_again(s, again::SAME_OF_CSB, Of::Cells, 0, 7);
    "thrice_sides", "Fails above, below and above, medium (share)", |s| failed_again(s, again::SIDES, Of::Medium, 0, 7);
    "thrice_sides_cells", "The same, cells", |s| failed_again(s, again::SIDES, Of::Cells, 0, 7);
    "thrice_worn", "Fails about the best levels of worn cells, medium (share)", |s| failed_again(s, again::WORN, Of::Medium, 0, 7);
    "thrice_worn_cells", "The same, cells", |s| failed_again(s, again::WORN, Of::Cells, 0, 7);
    "thrice_worn_csb", "The same of CSB, medium (share)", |s| failed_again(s, again::WORN_CSB, Of::Medium, 0, 7);
    "thrice_worn_csb_cells", "The same, cells", |s| failed_again(s, again::WORN_CSB, Of::Cells, 0, 7);
    "thrice_entries", "Fails at the levels of 28, 14 and 56 h, medium (share)", |s| failed_again(s, again::WORN_ENTRIES, Of::Medium, 0, 7);
    "thrice_entries_cells", "The same, cells", |s| failed_again(s, again::WORN_ENTRIES, Of::Cells, 0, 7);
    "soft_3_worn_120", "Soft read fails: 3 senses, worn, RBER 0.012, medium (share)", |s| soft(s, Three, true, 120, Of::Medium);
    "soft_3_worn_120_cells", "The same, cells", |s| soft(s, Three, true, 120, Of::Cells);
    "soft_3_worn_140", "3 senses, worn, RBER 0.014, medium (share)", |s| soft(s, Three, true, 140, Of::Medium);
    "soft_3_worn_140_cells", "The same, cells", |s| soft(s, Three, true, 140, Of::Cells);
    "soft_3_off_125", "3 senses, off the best levels, RBER 0.0125, medium (share)", |s| soft(s, Three, false, 125, Of::Medium);
    "soft_3_off_125_cells", "The same, cells", |s| soft(s, Three, false, 125, Of::Cells);
    "soft_3_off_155", "3 senses, off the best levels, RBER 0.0155, medium (share)", |s| soft(s, Three, false, 155, Of::Medium);
    "soft_3_off_155_cells", "The same, cells", |s| soft(s, Three, false, 155, Of::Cells);
    "soft_5_worn_155", "5 senses, worn, RBER 0.0155, medium (share)", |s| soft(s, Five, true, 155, Of::Medium);
    "soft_5_worn_155_cells", "The same, cells", |s| soft(s, Five, true, 155, Of::Cells);
    "soft_5_worn_175", "5 senses, worn, RBER 0.0175, medium (share)", |s| soft(s, Five, true, 175, Of::Medium);
    "soft_5_worn_175_cells", "The same, cells", |s| soft(s, Five, true, 175, Of::Cells);
    "soft_5_off_155", "5 senses, off the best levels, RBER 0.0155, medium (share)", |s| soft(s, Five, false, 155, Of::Medium);
    "soft_5_off_155_cells", "The same, cells", |s| soft(s, Five, false, 155, Of::Cells);
    "soft_5_off_175", "5 senses, off the best levels, RBER 0.0175, medium (share)", |s| soft(s, Five, false, 175, Of::Medium);
    "soft_5_off_175_cells", "The same, cells", |s| soft(s, Five, false, 175, Of::Cells);
}

impl Sample {
    /// A sample whose numbers have yet to be found.
    pub fn new(
        profile: firstread_drive::profile::DriveProfile,
        (pe, age, celsius): (u32, firstread_core::Ns, f64),
        seed: u64,
        n: u32,
        limit: f64,
    ) -> Sample {
        Sample {
            profile,
            pe,
            age,
            celsius,
            seed,
            n,
            limit,
            first_reads: OnceCell::new(),
            steps: OnceCell::new(),
        }
    }

    /// Those of the metrics called `wanted` that it has: each costs as much as all of another experiment may.
    pub fn metrics(&self, wanted: &[&str]) -> Result<Map<String, Value>, Error> {
        let mut all = Map::new();
        for measure in SAMPLES.iter().filter(|m| wanted.contains(&m.metric.name)) {
            if let Some(value) = (measure.of)(self)? {
                all.insert(measure.metric.name.to_owned(), value.into());
            }
        }
        Ok(all)
    }
}
