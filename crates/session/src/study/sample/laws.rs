//! Laws of the chip held against published numbers: temperature, projection from sentinels, read disturb, senses that
//! are made shorter.

use firstread_core::{DieId, Ns, PageAddr, PageType, SenseMode, SenseTiming, Stream, SuperblockId};
use firstread_nand::ageing::history::acceleration;
use firstread_nand::characterize::sentinel_correlations;
use firstread_nand::chip::LevelLaw;
use firstread_nand::gaussian::{Gaussian, tail_exact};
use firstread_nand::{BlockState, Medium, ReadLevels};

use super::pages::{Aged, DEFAULT, Sample};
use crate::error::Error;

/// Hours of a year.
const YEAR_H: f64 = 8766.0;

/// Years at 30 °C that 13 h at 85 °C are.
pub fn bake_years(sample: &Sample) -> Option<f64> {
    let ev = energy(sample)?;
    Some(13.0 * acceleration(ev, 85.0) / acceleration(ev, 30.0) / YEAR_H)
}

/// Largest relative deviation from the baking times that an industry table has for a year at 25 °C (%).
pub fn bake_deviation(sample: &Sample) -> Option<f64> {
    const INDUSTRY: [(f64, f64); 4] = [(60.0, 97.65), (80.0, 11.16), (100.0, 1.61), (120.0, 0.28)];
    let ev = energy(sample)?;
    let of = |(celsius, h): (f64, f64)| {
        let ours = YEAR_H * acceleration(ev, 25.0) / acceleration(ev, celsius);
        (ours / h - 1.0).abs()
    };
    Some(100.0 * INDUSTRY.map(of).into_iter().fold(0.0, f64::max))
}

/// Activation energy of the first component (eV).
fn energy(sample: &Sample) -> Option<f64> {
    let first = sample.profile.chip.laws.retention.components.first()?;
    Some(first.activation_energy_ev)
}

/// How far the nominal page's best top level moves from 7 minutes to 3 h, over how far it moves from there to 11 days.
pub fn early_over_late(sample: &Sample) -> Result<f64, Error> {
    let medium = sample.aged(Ns::ZERO)?.medium;
    let top = sample.mode().valleys() - 1;
    let of = |h: f64| {
        let exposure = [(h, sample.celsius)];
        Ok::<_, Error>(medium.nominal_offsets(sample.mode(), sample.pe, &exposure)?[top])
    };
    let (a, b, c) = (of(7.0 / 60.0)?, of(3.0)?, of(264.0)?);
    Ok((b - a) / (c - b))
}

/// Fifteen times over 48 h, denser early as the drift is logarithmic (h).
fn times() -> [f64; 15] {
    core::array::from_fn(|i| 48.0 * (i * i) as f64 / 196.0)
}

/// `R²` of a least-squares line through `(x, y)`.
fn r_squared(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mut x, mut y) = (0.0, 0.0);
    for p in points {
        x += p.0 / n;
        y += p.1 / n;
    }
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for p in points {
        xx += (p.0 - x) * (p.0 - x);
        xy += (p.0 - x) * (p.1 - y);
        yy += (p.1 - y) * (p.1 - y);
    }
    match xx > 0.0 && yy > 0.0 {
        true => xy * xy / (xx * yy),
        false => 1.0,
    }
}

/// The nominal page's best levels over 48 h, with `noise_mv` added to each point: mean of each pair of a valley and its
/// sentinel over the sample's draws, and the least of the pairs. None of a chip whose pages have no sentinels.
pub fn nominal_projection(sample: &Sample, noise_mv: f64) -> Result<Option<f64>, Error> {
    nominal_projection_of(sample, &sample.aged(Ns::ZERO)?.medium, noise_mv)
}

/// The same of a chip whose states below the seventh rise, as on planar TLC.
pub fn rising_projection(sample: &Sample, noise_mv: f64) -> Result<Option<f64>, Error> {
    let mut chip = sample.profile.chip.clone();
    // Modes of fewer states have no seventh.
    chip.modes.retain(|mode| mode.mode == sample.mode());
    chip.laws.retention.level_law = LevelLaw::AroundNeutral { neutral_state: 7.0 };
    let medium = Medium::new(chip, sample.profile.geometry, sample.seed)?;
    nominal_projection_of(sample, &medium, noise_mv)
}

fn nominal_projection_of(
    sample: &Sample,
    medium: &Medium,
    noise_mv: f64,
) -> Result<Option<f64>, Error> {
    let mode = sample.mode();
    let model = medium.model(mode)?;
    let valleys = 0..mode.valleys();
    let sentinel = |k: usize| usize::from(model.sentinel[usize::from(model.page_of_valley[k])]);
    let pairs = valleys.filter_map(|k| Some((sentinel(k).checked_sub(1)?, k)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(s, k)| s != k).collect();
    let gaussian = Gaussian::new();
    let step = sample.profile.chip.dac_step_mv;
    let exact = times().map(|h| medium.nominal_offsets(mode, sample.pe, &[(h, sample.celsius)]));
    let exact: Vec<[f64; 15]> = exact.into_iter().collect::<Result<_, _>>()?;
    let mut sums = vec![0.0; pairs.len()];
    let root = Stream::new(4 + sample.seed).named("noise of levels");
    for repeat in 0..u64::from(sample.n) {
        let noisy = (0..).zip(&exact).map(|(i, point)| {
            let draw = root.at(repeat).at(i);
            let noise = |k: usize| noise_mv * gaussian.of_bits(draw.draw(k as u64));
            core::array::from_fn::<f64, 15, _>(|k| point[k] * step + noise(k))
        });
        let noisy: Vec<[f64; 15]> = noisy.collect();
        for (sum, &(s, k)) in sums.iter_mut().zip(&pairs) {
            let points: Vec<_> = noisy.iter().map(|p| (p[s], p[k])).collect();
            *sum += r_squared(&points);
        }
    }
    let least = sums.into_iter().reduce(f64::min);
    Ok(least.map(|least| least / f64::from(sample.n)))
}

/// The noise of a point (mV) with which the least pair is at `R²` 0.8, by bisection up to 5 mV. None where it is beyond.
pub fn noise_at_limit(sample: &Sample) -> Result<Option<f64>, Error> {
    at_limit(5.0, |mv| nominal_projection(sample, mv))
}

/// The value up to `most` from which on the `R²` that `projection` has of it is below 0.8, by bisection. None where it is not below at `most`, or
/// is below at 0.
fn at_limit(
    most: f64,
    projection: impl Fn(f64) -> Result<Option<f64>, Error>,
) -> Result<Option<f64>, Error> {
    let holds = |value| Ok::<_, Error>(projection(value)?.map(|r| r >= 0.8));
    let (mut low, mut high) = (0.0, most);
    if holds(low)? != Some(true) || holds(high)? != Some(false) {
        return Ok(None);
    }
    for _ in 0..8 {
        let middle = 0.5 * (low + high);
        match holds(middle)? == Some(true) {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(Some(high))
}

/// The same of eight blocks pooled, each level the mean of the best levels of 32 wordlines of a block: mean over the
/// sample's choices of blocks, and the least of the pairs.
pub fn block_projection(sample: &Sample) -> Result<Option<f64>, Error> {
    projection_of(sample, &sample.aged(Ns::ZERO)?.medium)
}

fn projection_of(sample: &Sample, medium: &Medium) -> Result<Option<f64>, Error> {
    const BLOCKS: u32 = 8;
    const WORDLINES: u16 = 32;
    let geometry = medium.geometry();
    let (dies, blocks) = (u32::from(geometry.dies()), geometry.blocks_per_plane);
    let times = times().map(|h| Ns(libm::round(h * 3.6e12) as u64));
    let mut sums: Vec<f64> = Vec::new();
    for repeat in 0..sample.n {
        let block = |b| {
            let id = repeat * BLOCKS + b;
            (DieId((id % dies) as u16), SuperblockId(id % blocks))
        };
        let chosen: Vec<_> = (0..BLOCKS).map(block).collect();
        let (mode, pe) = (sample.mode(), sample.pe);
        let all = sentinel_correlations(medium, mode, pe, &times, &chosen, WORDLINES)?;
        sums.resize(all.len(), 0.0);
        for (sum, correlation) in sums.iter_mut().zip(&all) {
            *sum += correlation.fit.r_squared;
        }
    }
    let least = sums.into_iter().reduce(f64::min);
    Ok(least.map(|least| least / f64::from(sample.n)))
}

/// The spread of each state's rate (%) with which the least pair of blocks is at `R²` 0.8, by bisection up to 30 %. None
/// where it is beyond.
pub fn spread_at_limit(sample: &Sample) -> Result<Option<f64>, Error> {
    let of_rate = |rate: f64| {
        let mut chip = sample.profile.chip.clone();
        chip.variation.state_rate = rate;
        let mut medium = Medium::new(chip, sample.profile.geometry, sample.seed)?;
        medium.set_temperature(Ns::ZERO, sample.celsius)?;
        projection_of(sample, &medium)
    };
    Ok(at_limit(0.3, of_rate)?.map(|rate| 100.0 * rate))
}

/// Reads at which `rber(reads)` reaches `limit`, by bisection over their logarithm.
fn tolerance(limit: f64, rber: impl Fn(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    let (mut low, mut high) = (libm::log(1e3), libm::log(1e10));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        match rber(libm::exp(middle))? < limit {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(libm::exp(high))
}

fn read_state(aged: &Aged, even: f64, adjacent: f64) -> BlockState {
    BlockState {
        reads: even as f32,
        adjacent_reads: adjacent as f32,
        ..aged.block
    }
}

/// The nominal wordline's tolerance: reads spread evenly, or all of one neighbour, until its worst page type is at the
/// limit at default levels.
pub fn nominal_tolerance(sample: &Sample, of_neighbour: bool) -> Result<f64, Error> {
    let aged = sample.aged(sample.age)?;
    tolerance(sample.limit, |reads| {
        let block = match of_neighbour {
            true => read_state(&aged, 0.0, reads),
            false => read_state(&aged, reads, 0.0),
        };
        let of = |page| {
            let page = PageType(page);
            let rber = aged.medium.nominal_rber(page, &block, aged.now, &DEFAULT);
            Ok::<_, Error>(rber?)
        };
        (0..sample.mode().bits()).try_fold(0.0, |worst: f64, page| Ok(worst.max(of(page)?)))
    })
}

/// Share of the nominal wordline's bit errors that are those of its erased cells after 2 M even reads (%).
pub fn erased_share(sample: &Sample) -> Result<f64, Error> {
    let aged = sample.aged(sample.age)?;
    let mode = sample.mode();
    let block = read_state(&aged, 2e6, 0.0);
    let states = aged.medium.nominal_states(&block, aged.now)?;
    let model = aged.medium.model(mode)?;
    let mut all = 0.0;
    for page in 0..mode.bits() {
        all += aged
            .medium
            .nominal_rber(PageType(page), &block, aged.now, &DEFAULT)?;
    }
    let above = |level: &f64| tail_exact((level - states[0].mean_mv) / states[0].sigma_mv);
    let erased: f64 = model.default_mv[..mode.valleys()].iter().map(above).sum();
    Ok(100.0 * erased / mode.states() as f64 / all)
}

/// Least tolerance of even reads among every fourth wordline of one block over their mean, first page type.
pub fn weakest_wordline(sample: &Sample) -> Result<Option<f64>, Error> {
    let aged = sample.aged(sample.age)?;
    let Some((first, _)) = aged.pages(1).next() else {
        return Ok(None);
    };
    let mut all = Vec::new();
    for wordline in (0..aged.medium.geometry().wordlines_per_block).step_by(4) {
        let at = PageAddr {
            wordline,
            page: PageType(0),
            ..first
        };
        all.push(tolerance(sample.limit, |reads| {
            let block = read_state(&aged, reads, 0.0);
            let rber = aged.medium.page_rber(at, 0, &block, aged.now, &DEFAULT);
            Ok(rber?)
        })?);
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    Ok(all.into_iter().reduce(f64::min).map(|least| least / mean))
}

/// Mean `tR` over the page types (ns).
pub fn mean_read_ns(sample: &Sample) -> Result<f64, Error> {
    let medium = sample.aged(Ns::ZERO)?.medium;
    let (mode, timing) = (sample.mode(), SenseTiming::DEFAULT);
    let pages = 0..mode.bits();
    let of = |page| medium.read_ns(mode, PageType(page), SenseMode::Hard, timing);
    let sum = pages.map(of).sum::<Result<u64, _>>()?;
    Ok(sum as f64 / f64::from(mode.bits()))
}

/// What pipelining can hide of a retry step: `(tDMA + tECC) / (tR + tDMA + tECC)` of a page, `tECC` = 20 µs (%).
pub fn hidden_percent(sample: &Sample) -> Result<f64, Error> {
    const DECODE_NS: f64 = 20_000.0;
    let bytes = f64::from(sample.profile.geometry.page_bytes);
    let dma = bytes * 1e3 / f64::from(sample.profile.chip.timing.io_mt_per_s);
    let hidden = dma + DECODE_NS;
    Ok(100.0 * hidden / (mean_read_ns(sample)? + hidden))
}

/// `tR` saved by 40 % less precharge: `0.4 tPRE / (tPRE + tEVAL + tDISCH)` (%).
pub fn precharge_saves(sample: &Sample) -> Option<f64> {
    let sense = sample.profile.chip.mode(sample.mode())?.sense;
    let whole = (sense.pre_ns + sense.eval_ns + sense.disch_ns) as f64;
    Some(40.0 * sense.pre_ns as f64 / whole)
}

/// 40 % less precharge, and 20 % less evaluation.
pub const PRECHARGE_40: SenseTiming = SenseTiming {
    pre_permille: 600,
    ..SenseTiming::DEFAULT
};
pub const EVALUATION_20: SenseTiming = SenseTiming {
    eval_permille: 800,
    ..SenseTiming::DEFAULT
};

/// Largest increase of a page's expected errors in 1 KiB with senses of `timing`, each page at its best levels.
pub fn added_errors(sample: &Sample, timing: SenseTiming) -> Result<f64, Error> {
    let aged = sample.aged(sample.age)?;
    let condition = aged.medium.condition(&aged.block, aged.now);
    let mut worst = 0.0f64;
    for (at, plane) in aged.pages(sample.n) {
        let rber = |timing| {
            let levels = ReadLevels::Ideal;
            let sense = aged
                .medium
                .sense_under(at, plane, condition, &levels, timing, 0);
            Ok::<_, Error>(sense?.rber())
        };
        worst = worst.max(8192.0 * (rber(timing)? - rber(SenseTiming::DEFAULT)?));
    }
    Ok(worst)
}

/// Of the densest or another mode: distance of the two top states, width of the top state, and its loss a decade (mV).
pub fn top_state(sample: &Sample) -> Option<[f64; 3]> {
    let mode = sample.mode();
    let of = sample.profile.chip.mode(mode)?;
    let top = mode.states() - 1;
    let spacing = of.mean_mv[top] - of.mean_mv[top - 1];
    let loss = of.retention_mv_per_decade.first()?;
    Some([spacing, of.sigma_mv[top], *loss])
}
