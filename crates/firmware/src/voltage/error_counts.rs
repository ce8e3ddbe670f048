//! Error counts of a group's entries by page type and by zone of layers, and where errors would be fewest.
//!
//! Verification reads the same pages at three levels. Their corrected bits tell, per page type, on which side
//! better levels lie. This takes the same reads as the share of failed pages, which stays zero or coarse long
//! after levels have begun to drift.

use firstread_core::PageType;
use firstread_core::voltage::MAX_PAGES;

use super::tables::{ENTRIES, MAX_ZONES, TableManager};
use crate::observe::ProbeResult;

/// Maximum shift of a zone (DAC units): assumed, because a zone beyond it is misread.
const FURTHEST: i16 = 24;

/// Errors of reads with one entry.
#[derive(Clone, Copy, Default, Debug)]
struct EntryErrors {
    failed: u32,
    bits: u32,
}

/// Counts of a verification.
#[derive(Clone, Copy, Default, Debug)]
pub struct ErrorCounts {
    seen: [[[EntryErrors; MAX_PAGES]; MAX_ZONES]; ENTRIES],
    /// Largest number of bits corrected in a codeword. A failed codeword has more.
    most: u16,
}

impl ErrorCounts {
    /// Adds the result of a read of a page of type `page` in `zone` with entry `entry`.
    pub fn add(&mut self, entry: u8, zone: u8, page: PageType, result: &ProbeResult) {
        let ProbeResult::Decoded(o) = result else {
            return;
        };
        let of_entry = self.seen.get_mut(entry as usize);
        let of_zone = of_entry.and_then(|e| e.get_mut(zone as usize));
        if let Some(seen) = of_zone.and_then(|z| z.get_mut(page.0 as usize)) {
            seen.failed += (o.failed & o.wanted).count_ones();
            seen.bits = seen.bits.saturating_add(o.sum_errors);
            self.most = self.most.max(o.max_errors);
        }
    }

    fn errors(&self, zones: core::ops::Range<usize>, page: u8) -> [u32; ENTRIES] {
        self.seen.map(|entry| {
            let of_page = entry[zones.clone()].iter().map(|z| z[page as usize]);
            of_page.fold(0, |sum: u32, seen| {
                let failed = seen.failed.saturating_mul(self.most as u32 + 1);
                sum.saturating_add(seen.bits).saturating_add(failed)
            })
        })
    }

    /// Offset with the fewest errors on page type `page`, for entries whose sentinel offsets are `at`.
    pub fn lowest(&self, page: u8, at: [i8; ENTRIES]) -> Lowest {
        lowest(at, self.errors(0..MAX_ZONES, page))
    }

    /// The same for one zone.
    pub fn lowest_in(&self, zone: u8, page: u8, at: [i8; ENTRIES]) -> Lowest {
        let zone = (zone as usize).min(MAX_ZONES - 1);
        lowest(at, self.errors(zone..zone + 1, page))
    }
}

/// Result of moving the entries of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Centered {
    /// Move by page type.
    pub by: [i8; MAX_PAGES],
    /// Largest of these moves.
    pub moved: u8,
    /// Whether better levels may lie further out.
    pub beyond: bool,
}

impl ErrorCounts {
    /// Moves the entries of `group` to where errors are fewest, page type by page type. Backup entries lie
    /// `apart` units below and above. Zones whose best offset differs from the group's by at least
    /// `zone_bound` are shifted.
    pub fn center(
        &self,
        tables: &mut TableManager,
        group: u8,
        apart: u8,
        zone_bound: u8,
    ) -> Centered {
        let (pages, zones) = (tables.mode().bits(), tables.zones());
        let mut by = [0; MAX_PAGES];
        let mut beyond = false;
        let mut shifts = [[0; MAX_ZONES]; MAX_PAGES];
        for page in 0..pages {
            let at = tables.sentinels(group, page);
            let common = self.lowest(page, at);
            by[page as usize] = common.at.saturating_sub(at[0]);
            beyond |= !common.inside;
            let of_page = &mut shifts[page as usize];
            let mut inside = true;
            for (zone, shift) in (0..zones).zip(&mut *of_page) {
                let own = self.lowest_in(zone, page, at);
                inside &= own.inside;
                let apart =
                    own.at as i16 - common.at as i16 + tables.shift(group, zone, page) as i16;
                *shift = apart.clamp(-FURTHEST, FURTHEST) as i8;
            }
            let used = &mut of_page[..zones as usize];
            let (low, high) = (used.iter().min(), used.iter().max());
            let spread = low.zip(high).map_or(0, |(low, high)| low.abs_diff(*high));
            if !inside {
                for (zone, shift) in (0..zones).zip(used) {
                    *shift = tables.shift(group, zone, page);
                }
            } else if spread < zone_bound {
                used.fill(0);
            }
        }
        tables.stage_around(group, by, apart);
        for page in 0..pages {
            for zone in (0..zones).filter(|_| zones > 1) {
                tables.stage_shift(group, zone, page, shifts[page as usize][zone as usize]);
            }
        }
        let moved = tables.synchronize(group);
        Centered { by, moved, beyond }
    }
}

/// An offset with few errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lowest {
    /// The offset, in DAC units from the factory default.
    pub at: i8,
    /// Whether offsets on both sides have more errors. Otherwise a better offset may lie further out.
    pub inside: bool,
}

/// Minimum of the parabola through three points. Returns the point with the fewest errors if that is not the
/// middle point, or if two points have the same offset.
pub fn lowest(at: [i8; ENTRIES], errors: [u32; ENTRIES]) -> Lowest {
    let mut order = [0, 1, 2];
    order.sort_unstable_by_key(|&i: &usize| at[i]);
    let x = order.map(|i| at[i] as i64);
    let y = order.map(|i| errors[i] as i64);
    let distinct = x[0] < x[1] && x[1] < x[2];
    if !distinct || y[1] > y[0] || y[1] > y[2] {
        let best = (0..ENTRIES).min_by_key(|&i| y[i]).unwrap_or(0);
        return Lowest {
            at: x[best] as i8,
            inside: false,
        };
    }
    let (left, right) = (x[1] - x[0], x[2] - x[1]);
    let (rise_left, rise_right) = (y[0] - y[1], y[2] - y[1]);
    let curvature = 2 * (right * rise_left + left * rise_right);
    // At most half-way to a neighbour, since the middle point is the lowest.
    let shift = match curvature {
        0 => 0,
        _ => {
            let slope = right * right * rise_left - left * left * rise_right;
            (2 * slope + slope.signum() * curvature) / (2 * curvature)
        }
    };
    Lowest {
        at: (x[1] + shift).clamp(x[0], x[2]) as i8,
        inside: true,
    }
}
