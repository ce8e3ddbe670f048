//! Integer voltage tables that characterization makes for the firmware, and the block groups that
//! share them.

use crate::{CellMode, LevelOffsets, Ns};

/// Most page types a wordline has.
pub const MAX_PAGES: usize = 4;
/// Most valleys a cell has.
pub const MAX_VALLEYS: usize = 15;
/// Most entries of a factory retry table.
pub const MAX_FACTORY: usize = 64;

/// What the firmware knows of a chip's voltages in one cell mode. All offsets are in DAC units from
/// the factory default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoltageTables {
    /// The mode they are for.
    pub mode: CellMode,
    /// `page_of_valley[k]` is the page type that valley `k + 1` belongs to.
    pub page_of_valley: [u8; MAX_VALLEYS],
    /// Retry table of the manufacturer, in its order. Entry 0 is the default.
    pub factory: [LevelOffsets; MAX_FACTORY],
    /// Entries of it in use.
    pub factory_len: u8,
    /// Sentinel valley (1-based) of each page type.
    pub sentinel: [u8; MAX_PAGES],
    /// `offset_k = intercept + slope * offset_sentinel`, per valley, in 1/65536 units.
    pub projection: [Line; MAX_VALLEYS],
    /// Millivolts of a DAC unit, for display.
    pub dac_mv: u8,
}

/// A line in 16.16 fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Line {
    /// At zero.
    pub intercept: i32,
    /// Per unit.
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
        let y = (self.intercept as i64 + self.slope as i64 * x as i64 + (1 << 15)) >> 16;
        if y > 127 {
            127
        } else if y < -128 {
            -128
        } else {
            y as i8
        }
    }
}

/// Most retention bins, most P/E bins.
pub const MAX_RETENTION_BINS: usize = 24;

/// Groups of superblocks by P/E cycles and retention time, which share read levels. Group index:
/// `pe_bin * retention_bins + retention_bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockGroups {
    /// Width of a P/E bin; the last bin is open.
    pub pe_width: u32,
    /// P/E bins.
    pub pe_bins: u8,
    /// Lower edges of the retention bins; the first is zero, the last bin is open.
    pub edges: [Ns; MAX_RETENTION_BINS],
    /// Retention bins in use.
    pub retention_bins: u8,
}

impl BlockGroups {
    /// Groups with retention bins whose lower edges are `edges_h` hours.
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
    /// Groups in all.
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
