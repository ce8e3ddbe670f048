//! Integer voltage tables made by characterization, and the block groups that share them.

use crate::{CellMode, LevelOffsets, Ns, SpareErrors};

/// Maximum number of page types per wordline.
pub const MAX_PAGES: usize = 4;
/// Maximum number of valleys.
pub const MAX_VALLEYS: usize = 15;
/// Points of the curve that turns spare-cell errors into a correction.
pub const SPARE_NODES: usize = 33;
/// Maximum number of entries of a factory retry table.
pub const MAX_FACTORY: usize = 64;

/// What the firmware knows of a chip's read voltages in one cell mode. All offsets are in DAC units from the
/// factory default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoltageTables {
    /// The cell mode.
    pub mode: CellMode,
    /// `page_of_valley[k]` is the page type that valley `k + 1` belongs to.
    pub page_of_valley: [u8; MAX_VALLEYS],
    /// The manufacturer's retry table, in its order. Entry 0 is the factory default.
    pub factory: [LevelOffsets; MAX_FACTORY],
    /// Number of entries in use.
    pub factory_len: u8,
    /// Sentinel valley (1-based) of each page type.
    pub sentinel: [u8; MAX_PAGES],
    /// `offset_k = intercept + slope * offset_sentinel`, per valley, in 1/65536 units.
    pub projection: [Line; MAX_VALLEYS],
    /// The same projection, by a parabola.
    pub curved: [Parabola; MAX_VALLEYS],
    /// By page type: correction of the sentinel level in DAC units. Point `i` holds for a difference of `i /
    /// 16 - 1` between two shares of spare cells: lower-state cells read as upper, minus upper-state cells
    /// read as lower.
    pub spare: [[i8; SPARE_NODES]; MAX_PAGES],
    /// Millivolts per DAC unit, for display.
    pub dac_mv: u8,
}

impl VoltageTables {
    /// Sets the levels of `page` to the projection of its sentinel's `offset`.
    pub fn project(&self, page: u8, offset: i8, levels: &mut LevelOffsets) {
        self.project_by(page, offset, levels, |k| self.projection[k].at(offset));
    }
    /// The same, by the parabolas.
    pub fn project_curved(&self, page: u8, offset: i8, levels: &mut LevelOffsets) {
        self.project_by(page, offset, levels, |k| self.curved[k].at(offset));
    }
    fn project_by(
        &self,
        page: u8,
        offset: i8,
        levels: &mut LevelOffsets,
        other: impl Fn(usize) -> i8,
    ) {
        let sentinel = self.sentinel[page as usize] as usize;
        for (k, level) in levels.iter_mut().enumerate().take(self.mode.valleys()) {
            if self.page_of_valley[k] == page {
                *level = match sentinel == k + 1 {
                    true => offset,
                    false => other(k),
                };
            }
        }
    }
    /// Correction of the sentinel level of `page` in DAC units, from its spare cells. Zero if no spare cells
    /// were looked at. The curve is interpolated linearly.
    pub fn correction(&self, page: u8, errors: SpareErrors) -> i8 {
        let cells = errors.cells as i32;
        if cells == 0 {
            return 0;
        }
        let difference = (errors.above as i32 - errors.below as i32).clamp(-cells, cells);
        const STEPS: i32 = SPARE_NODES as i32 - 1;
        let at = (difference + cells) * STEPS;
        let (node, rest) = (at / (2 * cells), at % (2 * cells));
        let curve = &self.spare[page as usize];
        let low = curve[node as usize] as i32;
        let high = curve[(node + 1).min(STEPS) as usize] as i32;
        let between = (high - low) * rest;
        (low + (between + between.signum() * cells) / (2 * cells)) as i8
    }
    /// The factory entry with the smallest sum of absolute differences from `levels`; the first of equals.
    pub fn nearest(&self, levels: &LevelOffsets) -> u8 {
        let distance = |i: &u8| -> u32 {
            let entry = &self.factory[*i as usize];
            let pairs = entry.iter().zip(levels).take(self.mode.valleys());
            pairs.map(|(a, b)| a.abs_diff(*b) as u32).sum()
        };
        (0..self.factory_len).min_by_key(distance).unwrap_or(0)
    }
    /// These tables with every index in range, whatever file they were loaded from: at least one factory
    /// entry, only page types that the mode has, and each sentinel on its own page.
    pub fn sound(&self) -> VoltageTables {
        let mut t = self.clone();
        let (pages, valleys) = (t.mode.bits(), t.mode.valleys());
        t.factory_len = t.factory_len.clamp(1, MAX_FACTORY as u8);
        for page in &mut t.page_of_valley {
            *page = (*page).min(pages - 1);
        }
        for page in 0..pages {
            let on_page = |k: &u8| t.page_of_valley[*k as usize - 1] == page;
            let given = t.sentinel[page as usize];
            if !((1..=valleys as u8).contains(&given) && on_page(&given)) {
                t.sentinel[page as usize] = (1..=valleys as u8).find(on_page).unwrap_or(1);
            }
        }
        t
    }
}

/// A line in 16.16 fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Line {
    /// Value at zero.
    pub intercept: i32,
    /// Slope per unit.
    pub slope: i32,
}

impl Line {
    /// The line through the origin with slope one.
    pub const IDENTITY: Line = Line {
        intercept: 0,
        slope: 1 << 16,
    };

    /// Its value at `x`, rounded to the nearest unit.
    pub const fn at(self, x: i8) -> i8 {
        in_range((self.intercept as i64 + self.slope as i64 * x as i64 + (1 << 15)) >> 16)
    }
}

/// A parabola in 16.16 fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Parabola {
    /// Its linear part.
    pub line: Line,
    /// Quadratic coefficient.
    pub square: i32,
}

impl Parabola {
    /// The identity.
    pub const IDENTITY: Parabola = Parabola {
        line: Line::IDENTITY,
        square: 0,
    };

    /// Its value at `x`, rounded to the nearest unit.
    pub const fn at(self, x: i8) -> i8 {
        let (line, x) = (self.line, x as i64);
        let y = line.intercept as i64 + line.slope as i64 * x + self.square as i64 * x * x;
        in_range((y + (1 << 15)) >> 16)
    }
}

const fn in_range(y: i64) -> i8 {
    if y > 127 {
        127
    } else if y < -128 {
        -128
    } else {
        y as i8
    }
}

/// Maximum number of retention bins and of P/E bins.
pub const MAX_RETENTION_BINS: usize = 24;

/// Groups of superblocks by P/E cycles and retention time. A group shares read levels. The group index is
/// `pe_bin * retention_bins + retention_bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockGroups {
    /// Width of a P/E bin. The last bin is open-ended.
    pub pe_width: u32,
    /// Number of P/E bins.
    pub pe_bins: u8,
    /// Lower edges of the retention bins. The first is zero; the last bin is open-ended.
    pub edges: [Ns; MAX_RETENTION_BINS],
    /// Number of retention bins in use.
    pub retention_bins: u8,
}

impl BlockGroups {
    /// Groups whose retention bins have the lower edges `edges_tenth_h`, in tenths of an hour.
    pub const fn from_hours(pe_width: u32, pe_bins: u8, edges_tenth_h: &[u32]) -> BlockGroups {
        let mut edges = [Ns::MAX; MAX_RETENTION_BINS];
        let mut i = 0;
        while i < edges_tenth_h.len() {
            edges[i] = Ns::from_s(edges_tenth_h[i] as u64 * 360);
            i += 1;
        }
        BlockGroups {
            pe_width,
            pe_bins,
            edges,
            retention_bins: edges_tenth_h.len() as u8,
        }
    }
    /// Number of groups.
    pub const fn len(&self) -> usize {
        self.pe_bins as usize * self.retention_bins as usize
    }
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The retention bin of data `age` old.
    pub fn retention_bin(&self, age: Ns) -> u8 {
        let bins = &self.edges[..self.retention_bins as usize];
        (bins.partition_point(|&lower| lower <= age) - 1) as u8
    }
    /// The P/E bin of a block of `pe` cycles.
    pub fn pe_bin(&self, pe: u32) -> u8 {
        (pe / self.pe_width).min(self.pe_bins as u32 - 1) as u8
    }
    /// The group of a block of `pe` cycles with data `age` old.
    pub fn group(&self, pe: u32, age: Ns) -> u8 {
        self.pe_bin(pe) * self.retention_bins + self.retention_bin(age)
    }
}
