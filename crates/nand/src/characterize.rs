//! Measurements that a manufacturer would make and write into firmware: the factory retry table, and the
//! projection from sentinel valleys. Computed offline from the model's nominal page.

use alloc::vec::Vec;

use firstread_core::voltage::{
    Line, MAX_FACTORY, MAX_PAGES, MAX_VALLEYS, Parabola, SPARE_NODES, VoltageTables,
};
use firstread_core::{
    CellMode, DieId, Geometry, LevelOffsets, Ns, PageAddr, PageType, StripeOrder, SuperblockId,
};

use crate::cell::optimum;
use crate::chip::{ChipProfile, FactoryRule};
use crate::medium::Medium;
use crate::sense_error::SenseError;

/// Geometry of the characterized population: `chips` chips of one block each, with pages of 16 KiB in
/// codewords of 1 KiB.
pub fn geometry(chip: &ChipProfile, chips: u16) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: chips,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: 1,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16 << 10,
        slot_bytes: 4 << 10,
        codeword_bytes: 1 << 10,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    }
}

/// Fitted projection for one valley.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ValleyFit {
    /// Offset at sentinel offset zero, in DAC units.
    pub intercept: f64,
    /// DAC units per DAC unit of the sentinel.
    pub slope: f64,
    /// Share of the variance explained; one if there is no variance.
    pub r_squared: f64,
}

/// Conditions over which a sentinel fit averages.
#[derive(Clone, Debug, PartialEq)]
pub struct FitConditions {
    /// Times since programming (h).
    pub retention_h: Vec<f64>,
    /// Temperatures (°C).
    pub temperature_c: Vec<f64>,
    /// Program/erase cycles.
    pub pe_cycles: Vec<u32>,
}

impl Default for FitConditions {
    /// Fifteen times over 48 hours, denser at the beginning because drift is logarithmic; 25, 40 and 55 °C;
    /// fresh to 3,000 cycles.
    fn default() -> FitConditions {
        let retention_h = (0..15u32).map(|i| 48.0 * (i * i) as f64 / 196.0).collect();
        FitConditions {
            retention_h,
            temperature_c: Vec::from([25.0, 40.0, 55.0]),
            pe_cycles: Vec::from([0, 500, 1000, 2000, 3000]),
        }
    }
}

/// Least squares of `y` on `x`.
fn line(points: &[(f64, f64)]) -> ValleyFit {
    let n = points.len() as f64;
    let (mut mx, mut my) = (0.0, 0.0);
    for &(x, y) in points {
        mx += x / n;
        my += y / n;
    }
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for &(x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
        yy += (y - my) * (y - my);
    }
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    ValleyFit {
        intercept: my - slope * mx,
        slope,
        r_squared: if xx > 0.0 && yy > 0.0 {
            xy * xy / (xx * yy)
        } else {
            1.0
        },
    }
}

/// Least-squares parabola of `y` on `x`: intercept, slope, square. A line if the points determine no more.
fn parabola(points: &[(f64, f64)]) -> [f64; 3] {
    let straight = line(points);
    let fallback = [straight.intercept, straight.slope, 0.0];
    let n = points.len() as f64;
    // Relative to the mean, so that the sums stay small; then the normal equations by Cramer's rule.
    let mean = points.iter().map(|p| p.0).sum::<f64>() / n;
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - mean, p.1)).sum::<f64>();
    let (x2, x3) = (sum(&|x, _| x * x), sum(&|x, _| x * x * x));
    let x4 = sum(&|x, _| x * x * x * x);
    let (y, xy, xxy) = (sum(&|_, y| y), sum(&|x, y| x * y), sum(&|x, y| x * x * y));
    let determinant = n * (x2 * x4 - x3 * x3) - x2 * x2 * x2;
    if determinant <= 1e-9 * n * x2 * x4 {
        return fallback;
    }
    let a = (y * (x2 * x4 - x3 * x3) + xy * x3 * x2 - xxy * x2 * x2) / determinant;
    let b = (n * (xy * x4 - xxy * x3) + x2 * (y * x3 - x2 * xy)) / determinant;
    let c = (n * (x2 * xxy - x3 * xy) - x2 * x2 * y) / determinant;
    [a - b * mean + c * mean * mean, b - 2.0 * c * mean, c]
}

fn fixed_point(x: f64) -> i32 {
    libm::round(x * 65_536.0).clamp(i32::MIN as f64, i32::MAX as f64) as i32
}

/// Per valley: the nominal optimum of its page type's sentinel, and its own, under all combinations of
/// `conditions`, unrounded.
fn sentinel_points(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<Vec<Vec<(f64, f64)>>, SenseError> {
    let model = medium.model(mode)?;
    let mut points = Vec::new();
    for &pe in &conditions.pe_cycles {
        for &celsius in &conditions.temperature_c {
            for &hours in &conditions.retention_h {
                points.push(medium.nominal_offsets(mode, pe, &[(hours, celsius)])?);
            }
        }
    }
    let of_valley = |k: usize| {
        let sentinel = model.sentinel[model.page_of_valley[k] as usize] as usize - 1;
        points.iter().map(|p| (p[sentinel], p[k])).collect()
    };
    Ok((0..mode.valleys()).map(of_valley).collect())
}

/// Fits the nominal optimum of every valley to that of its page type's sentinel, unrounded, over all
/// combinations of `conditions`. Index `valley - 1`.
pub fn sentinel_fit(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<[ValleyFit; MAX_VALLEYS], SenseError> {
    let mut fits = [ValleyFit::default(); MAX_VALLEYS];
    for (fit, points) in fits
        .iter_mut()
        .zip(sentinel_points(medium, mode, conditions)?)
    {
        *fit = line(&points);
    }
    Ok(fits)
}

/// A valley against the sentinel of its page type, measured on blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// The valley (1-based).
    pub valley: u8,
    /// Page type.
    pub page: u8,
    /// The least-squares line.
    pub fit: ValleyFit,
    /// Best levels of the sentinel and of the valley, one point per block and time (DAC units).
    pub points: Vec<(f64, f64)>,
}

/// Correlation of the valleys of `blocks` with their sentinels over time, for every valley that is not a
/// sentinel. A level is the mean of the best levels of `wordlines` wordlines of a block. The blocks have
/// `pe_cycles` cycles and are programmed at time zero, at the temperature of `medium`.
pub fn sentinel_correlations(
    medium: &Medium,
    mode: CellMode,
    pe_cycles: u32,
    times: &[Ns],
    blocks: &[(DieId, SuperblockId)],
    wordlines: u16,
) -> Result<Vec<Correlation>, SenseError> {
    let model = medium.model(mode)?;
    let of_valley = |k: usize| {
        let page = model.page_of_valley[k];
        let sentinel = model.sentinel[page as usize] as usize - 1;
        (sentinel != k).then_some((sentinel, k, page))
    };
    let pairs: Vec<(usize, usize, u8)> = (0..mode.valleys()).filter_map(of_valley).collect();
    let mut points: Vec<Vec<(f64, f64)>> = pairs.iter().map(|_| Vec::new()).collect();
    let state = medium.programmed(mode, pe_cycles, 1, Ns::ZERO);
    let stride = (medium.geometry().wordlines_per_block / wordlines.max(1)).max(1);
    for &(die, block) in blocks {
        for &time in times {
            let mut level = [0.0; MAX_VALLEYS];
            for w in 0..wordlines {
                let at = PageAddr {
                    die,
                    block,
                    wordline: w * stride,
                    page: PageType(0),
                };
                let best = medium.ideal_offsets(at, 0, &state, time)?;
                for (sum, x) in level.iter_mut().zip(best) {
                    *sum += x / wordlines as f64;
                }
            }
            for (to, &(s, k, _)) in points.iter_mut().zip(&pairs) {
                to.push((level[s], level[k]));
            }
        }
    }
    let all = pairs.iter().zip(points);
    Ok(all
        .map(|(&(_, k, page), points)| Correlation {
            valley: k as u8 + 1,
            page,
            fit: line(&points),
            points,
        })
        .collect())
}

/// Distance of each page type's sentinel level from its best, as a function of the difference between the
/// spare-cell errors on its two sides: see [`VoltageTables::spare`]. Computed for the nominal page, as the
/// mean over all combinations of `conditions`, whose widths differ.
pub fn spare_curve(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<[[i8; SPARE_NODES]; MAX_PAGES], SenseError> {
    /// A difference of one is never reached, and a difference close to one says little.
    const MOST: f64 = 0.98;
    let sentinels = medium.model(mode)?.sentinel;
    let mut sum = [[0.0; SPARE_NODES]; MAX_PAGES];
    let mut n = 0.0;
    for &pe in &conditions.pe_cycles {
        for &celsius in &conditions.temperature_c {
            for &hours in &conditions.retention_h {
                let condition = medium.aged_condition(mode, pe, &[(hours, celsius)]);
                let w = medium.nominal(&condition)?;
                let best = optimum::levels_mv(&w);
                n += 1.0;
                for (row, &valley) in sum.iter_mut().zip(&sentinels[..mode.bits() as usize]) {
                    let around = w.neighbours(valley as usize);
                    let (lower, upper) = (around.lower(), around.upper());
                    let difference = |level: f64| {
                        let above = (level - lower.mean_mv) / lower.sigma_mv;
                        let below = (upper.mean_mv - level) / upper.sigma_mv;
                        medium.gaussian.tail(above) - medium.gaussian.tail(below)
                    };
                    for (i, corrections) in row.iter_mut().enumerate() {
                        let half = (SPARE_NODES / 2) as f64;
                        let wanted = (i as f64 / half - 1.0).clamp(-MOST, MOST);
                        // The difference decreases as the level rises.
                        let (mut lo, mut hi) = (lower.mean_mv - 1e3, upper.mean_mv + 1e3);
                        for _ in 0..50 {
                            let mid = 0.5 * (lo + hi);
                            if difference(mid) > wanted {
                                lo = mid;
                            } else {
                                hi = mid;
                            }
                        }
                        *corrections += best[valley as usize - 1] - lo;
                    }
                }
            }
        }
    }
    let units = 1.0 / (n * medium.chip().dac_step_mv);
    Ok(sum.map(|row| row.map(|mv| libm::round(mv * units).clamp(-128.0, 127.0) as i8)))
}

/// The nominal optimum whose top valley lies `target` units from the default. Found by bisection over
/// retention time at 25 °C, and by proportion beyond the end of the path. A negative `target` is down the
/// path. Up, the first step is mirrored, because no page is younger than a fresh one.
fn on_path(medium: &Medium, mode: CellMode, target: f64) -> Result<[f64; MAX_VALLEYS], SenseError> {
    let top = mode.valleys() - 1;
    let pe = medium.chip().factory_default.pe_cycles;
    let at = |log_h: f64| medium.nominal_offsets(mode, pe, &[(libm::exp(log_h), 25.0)]);
    // From one second to a hundred thousand years.
    let (mut lo, mut hi) = (-8.0, 20.5);
    let wanted = -target.abs();
    for _ in 0..50 {
        let mid = 0.5 * (lo + hi);
        if at(mid)?[top] > wanted {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    let mut v = at(hi)?;
    let reached = v[top];
    let scale = if reached < -0.01 {
        target / reached
    } else {
        0.0
    };
    v.iter_mut().for_each(|x| *x *= scale);
    Ok(v)
}

/// The factory retry table of `mode` by `rule`, and its length.
pub fn factory_table(
    medium: &Medium,
    mode: CellMode,
    rule: &FactoryRule,
) -> Result<([LevelOffsets; MAX_FACTORY], u8), SenseError> {
    let step = rule.step_mv / medium.chip().dac_step_mv;
    let mut table = [[0; MAX_VALLEYS]; MAX_FACTORY];
    let mut len = 1;
    let (mut down, mut up) = (0, 0);
    while len < MAX_FACTORY && (down < rule.down || up < rule.up) {
        let turn_up = up < rule.up
            && (down >= rule.down || down as u32 >= (up as u32 + 1) * rule.interleave as u32);
        let target = if turn_up {
            up += 1;
            up as f64 * step
        } else {
            down += 1;
            -(down as f64) * step
        };
        let units = on_path(medium, mode, target)?;
        for (o, u) in table[len].iter_mut().zip(units) {
            *o = libm::round(u).clamp(-128.0, 127.0) as i8;
        }
        len += 1;
    }
    Ok((table, len as u8))
}

/// All voltage tables of the firmware for the chip in `mode`.
pub fn voltage_tables(
    medium: &Medium,
    mode: CellMode,
    rule: &FactoryRule,
    conditions: &FitConditions,
) -> Result<VoltageTables, SenseError> {
    let model = medium.model(mode)?;
    let (factory, factory_len) = factory_table(medium, mode, rule)?;
    let mut projection = [Line::IDENTITY; MAX_VALLEYS];
    let mut curved = [Parabola::IDENTITY; MAX_VALLEYS];
    let in_fixed_point = |intercept, slope| Line {
        intercept: fixed_point(intercept),
        slope: fixed_point(slope),
    };
    for (k, points) in sentinel_points(medium, mode, conditions)?
        .iter()
        .enumerate()
    {
        let fit = line(points);
        projection[k] = in_fixed_point(fit.intercept, fit.slope);
        let [intercept, slope, square] = parabola(points);
        curved[k] = Parabola {
            line: in_fixed_point(intercept, slope),
            square: fixed_point(square),
        };
    }
    let mut sentinel = [0; MAX_PAGES];
    sentinel.copy_from_slice(&model.sentinel);
    Ok(VoltageTables {
        mode,
        page_of_valley: model.page_of_valley,
        factory,
        factory_len,
        sentinel,
        projection,
        curved,
        spare: spare_curve(medium, mode, conditions)?,
        dac_mv: libm::round(medium.chip().dac_step_mv).clamp(0.0, 255.0) as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_parabola_is_the_one_its_points_lie_on() {
        let of = |x: f64| 3.0 - 0.5 * x + 0.02 * x * x;
        let points: Vec<(f64, f64)> = (-60..20).map(|x| (x as f64, of(x as f64))).collect();
        let [intercept, slope, square] = parabola(&points);
        let off = (intercept - 3.0).abs() + (slope + 0.5).abs() + (square - 0.02).abs();
        assert!(off < 1e-9, "{intercept} {slope} {square}");
        // Two distinct points determine a line and no more.
        let two = [(1.0, 2.0), (1.0, 2.0), (3.0, 6.0)];
        let [intercept, slope, square] = parabola(&two);
        assert!(intercept.abs() < 1e-9 && (slope - 2.0).abs() < 1e-9 && square == 0.0);
    }
}
