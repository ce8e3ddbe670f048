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
    /// The cell mode whose levels these are: each mode has tables of its own.
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
    /// Value at zero, in units of 2^-16.
    pub intercept: i32,
    /// Rise a unit, in units of 2^-16.
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
    /// Value at zero and linear coefficient.
    pub line: Line,
    /// Quadratic coefficient, in units of 2^-16.
    pub square: i32,
}

impl Parabola {
    /// The parabola that returns what it is given.
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
    /// Groups: P/E bins times retention bins.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of TLC with pages of valleys as in a 2-3-2 Gray code: valleys 1 and 5 are of page 0, 2, 4 and 6 of page 1,
    /// 3 and 7 of page 2.
    fn tables() -> VoltageTables {
        let mut page_of_valley = [0; MAX_VALLEYS];
        page_of_valley[..7].copy_from_slice(&[0, 1, 2, 1, 0, 1, 2]);
        VoltageTables {
            mode: CellMode::Tlc,
            page_of_valley,
            factory: [[0; MAX_VALLEYS]; MAX_FACTORY],
            factory_len: 1,
            sentinel: [5, 4, 3, 0],
            projection: [Line::IDENTITY; MAX_VALLEYS],
            curved: [Parabola::IDENTITY; MAX_VALLEYS],
            spare: [[0; SPARE_NODES]; MAX_PAGES],
            dac_mv: 5,
        }
    }

    /// A number in 16.16 fixed point.
    fn fixed(x: f64) -> i32 {
        (x * 65_536.0) as i32
    }

    /// Half up, and no further than eight bits: in floats, which hold these sums exactly.
    fn rounded(y: f64) -> i8 {
        (y + 0.5).floor().clamp(-128.0, 127.0) as i8
    }

    #[test]
    fn formula_lines_and_parabolas_are_rounded_to_the_nearest_unit() {
        for (a, b, c) in [
            (0.0, 1.0, 0.0),
            (1.5, -1.25, 0.125),
            (-0.75, 0.375, -0.03125),
            (100.0, 2.0, 0.5),
            (-30.0, 0.0, -1.0),
        ] {
            let line = Line {
                intercept: fixed(a),
                slope: fixed(b),
            };
            let parabola = Parabola {
                line,
                square: fixed(c),
            };
            for x in i8::MIN..=i8::MAX {
                let of = f64::from(x);
                assert_eq!(line.at(x), rounded(a + b * of), "{a} + {b} * {x}");
                let y = a + b * of + c * of * of;
                assert_eq!(parabola.at(x), rounded(y), "{a} + {b} * {x} + {c} * {x}^2");
            }
        }
        for x in i8::MIN..=i8::MAX {
            assert_eq!((Line::IDENTITY.at(x), Parabola::IDENTITY.at(x)), (x, x));
        }
        let steep = Parabola {
            line: Line {
                intercept: i32::MAX,
                slope: i32::MAX,
            },
            square: i32::MAX,
        };
        assert_eq!((steep.line.at(127), steep.line.at(-128)), (127, -128));
        assert_eq!(steep.at(-128), 127);
    }

    #[test]
    fn formula_the_levels_of_one_page_follow_its_sentinel() {
        let mut tables = tables();
        for k in 0..MAX_VALLEYS {
            // Valley k + 1 moves by k + 1 + x / 2, or, curved, by x^2 / 16 more.
            tables.projection[k] = Line {
                intercept: fixed(k as f64 + 1.0),
                slope: fixed(0.5),
            };
            tables.curved[k] = Parabola {
                line: tables.projection[k],
                square: fixed(0.0625),
            };
        }
        // Page 1: its sentinel, valley 4, takes the offset itself; valleys 2 and 6 are projected.
        for (page, offset, straight, curved) in [
            (
                0,
                -8,
                [(1, -3), (5, -8)].as_slice(),
                [(1, 1), (5, -8)].as_slice(),
            ),
            (
                1,
                8,
                &[(2, 6), (4, 8), (6, 10)],
                &[(2, 10), (4, 8), (6, 14)],
            ),
            (2, 4, &[(3, 4), (7, 9)], &[(3, 4), (7, 10)]),
        ] {
            let expected = |moved: &[(usize, i8)]| {
                let mut levels = [99; MAX_VALLEYS];
                moved
                    .iter()
                    .for_each(|(valley, to)| levels[valley - 1] = *to);
                levels
            };
            let mut levels = [99; MAX_VALLEYS];
            tables.project(page, offset, &mut levels);
            assert_eq!(levels, expected(straight), "page {page}");
            let mut levels = [99; MAX_VALLEYS];
            tables.project_curved(page, offset, &mut levels);
            assert_eq!(levels, expected(curved), "page {page}, curved");
        }
    }

    fn errors(above: u16, below: u16, cells: u16) -> SpareErrors {
        SpareErrors {
            above,
            below,
            cells,
        }
    }

    /// On a straight curve, interpolation gives the straight line, whatever the number of cells.
    #[test]
    fn formula_a_correction_lies_on_the_line_between_points() {
        let mut tables = tables();
        for node in 0..SPARE_NODES {
            let y = node as i8 - 16;
            tables.spare[1][node] = 2 * y;
            tables.spare[2][node] = -3 * y;
        }
        for cells in [1, 2, 16, 17, 32, 50, 64, 999] {
            for above in 0..=cells.min(120) {
                for below in [0, 1, cells / 3, cells] {
                    let share = (f64::from(above) - f64::from(below)) / f64::from(cells);
                    let of = errors(above, below, cells);
                    // Halves are rounded towards the next point of the curve.
                    let (rising, falling) = (
                        (32.0 * share + 0.5 + 1e-9).floor(),
                        -(48.0 * share + 0.5 + 1e-9).floor(),
                    );
                    assert_eq!(f64::from(tables.correction(1, of)), rising, "{of:?}");
                    assert_eq!(f64::from(tables.correction(2, of)), falling, "{of:?}");
                    assert_eq!(tables.correction(0, of), 0, "{of:?}");
                }
            }
        }
        assert_eq!(tables.correction(1, errors(0, 0, 0)), 0, "no cells");
        assert_eq!(tables.correction(1, errors(9, 0, 0)), 0, "no cells");
        let most = [errors(70, 0, 64), errors(0, 70, 64)].map(|e| tables.correction(1, e));
        assert_eq!(most, [32, -32], "no more than all cells are wrong");
    }

    /// At a point the curve is what its table says, on any curve.
    #[test]
    fn formula_a_correction_at_a_point_is_the_points() {
        let mut tables = tables();
        for node in 0..SPARE_NODES {
            tables.spare[0][node] = (node as i32 * 37 % 101 - 50) as i8;
        }
        for cells in [16, 160] {
            for node in 0..SPARE_NODES {
                let difference = (node as i32 - 16) * i32::from(cells) / 16;
                let most = difference.unsigned_abs() as u16;
                let of = match difference < 0 {
                    true => errors(0, most, cells),
                    false => errors(most, 0, cells),
                };
                assert_eq!(tables.correction(0, of), tables.spare[0][node], "{of:?}");
            }
        }
    }

    #[test]
    fn formula_the_nearest_factory_entry_has_the_least_sum_of_differences() {
        let mut tables = tables();
        tables.factory[1][..7].fill(10);
        tables.factory[2][..7].fill(-20);
        tables.factory[3][..7].fill(10);
        tables.factory[4][..7].fill(60);
        tables.factory_len = 4;
        for (i, nearest) in [(0, 0), (1, 1), (2, 2), (3, 1), (4, 1)] {
            let levels = tables.factory[i];
            assert_eq!(tables.nearest(&levels), nearest, "entry {i}, of 4 in use");
        }
        // 5 lies halfway between entries 0 and 1, which is the nearer one for each of the seven valleys.
        assert_eq!(tables.nearest(&[4; 15]), 0);
        assert_eq!(tables.nearest(&[6; 15]), 1);
        assert_eq!(tables.nearest(&[5; 15]), 0, "the first of equals");
        assert_eq!(tables.nearest(&[-11; 15]), 2);
        // One large difference against several small ones.
        let mut levels = [0; 15];
        levels[2] = 100;
        assert_eq!(
            tables.nearest(&levels),
            0,
            "100 from entry 0, 150 from entry 1"
        );
        // Valleys that the mode does not have do not count.
        levels = tables.factory[1];
        levels[7..].fill(-20);
        assert_eq!(tables.nearest(&levels), 1);
    }

    #[test]
    fn formula_sound_tables_have_every_index_in_range() {
        let good = tables();
        assert_eq!(good.sound(), good, "nothing to mend");
        for (given, mended) in [(0, 1), (1, 1), (64, 64), (65, 64), (255, 64)] {
            let mut tables = good.clone();
            tables.factory_len = given;
            assert_eq!(tables.sound().factory_len, mended);
        }
        // A sentinel of no valley, of another page's or of none that the mode has becomes the first of its own page.
        for (page, given, mended) in [
            (0, 0, 1),
            (0, 2, 1),
            (0, 1, 1),
            (0, 5, 5),
            (0, 8, 1),
            (0, 200, 1),
            (1, 6, 6),
            (1, 5, 2),
            (2, 7, 7),
            (2, 8, 3),
        ] {
            let mut tables = good.clone();
            tables.sentinel[page] = given;
            assert_eq!(
                tables.sound().sentinel[page],
                mended,
                "page {page}, {given}"
            );
        }
        // Page 3 is none of TLC: its valley goes to the last page that there is.
        let mut tables = good.clone();
        tables.page_of_valley[0] = 3;
        tables.page_of_valley[4] = 200;
        let sound = tables.sound();
        assert_eq!(sound.page_of_valley[..7], [2, 1, 2, 1, 2, 1, 2]);
        assert_eq!(sound.sentinel[0], 1, "a page without valleys");
    }

    /// Bins as of an hour, a day and a month.
    fn groups() -> BlockGroups {
        BlockGroups::from_hours(500, 4, &[0, 10, 240, 7440])
    }

    #[test]
    fn formula_a_bin_begins_at_its_lower_edge() {
        let groups = groups();
        let hours = [0, 1, 24, 744];
        assert_eq!(groups.edges[..4], hours.map(Ns::from_h));
        assert!(groups.edges[4..].iter().all(|&edge| edge == Ns::MAX));
        let tenth = BlockGroups::from_hours(1, 1, &[0, 1]);
        assert_eq!(tenth.edges[1], Ns::from_s(360), "a tenth of an hour");
        for (bin, hours) in (0..).zip(hours) {
            let edge = Ns::from_h(hours);
            assert_eq!(groups.retention_bin(edge), bin);
            assert_eq!(groups.retention_bin(edge + Ns(1)), bin);
            if bin > 0 {
                assert_eq!(groups.retention_bin(edge - Ns(1)), bin - 1);
            }
        }
        for (pe, bin) in [
            (0, 0),
            (499, 0),
            (500, 1),
            (999, 1),
            (1000, 2),
            (1500, 3),
            (1999, 3),
            (2000, 3),
            (u32::MAX, 3),
        ] {
            assert_eq!(groups.pe_bin(pe), bin, "{pe} cycles");
        }
    }

    /// Cycles and ages of each pair of bins have a group of their own, in order.
    #[test]
    fn formula_each_pair_of_bins_is_a_group() {
        let groups = groups();
        let mut next = 0;
        for pe in [1, 501, 1001, 1501] {
            for hours in [0, 1, 24, 744] {
                assert_eq!(groups.group(pe, Ns::from_h(hours)), next);
                next += 1;
            }
        }
        assert_eq!(
            (groups.len(), groups.is_empty()),
            (usize::from(next), false)
        );
        let none = BlockGroups {
            pe_bins: 0,
            ..groups
        };
        assert_eq!((none.len(), none.is_empty()), (0, true));
    }
}
