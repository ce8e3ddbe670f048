//! Search for the offset with the fewest errors, by reading the same pages at three offsets, as a state
//! machine. [`OffsetSearch::next`] says what to read, [`OffsetSearch::record`] takes the result, and
//! [`OffsetSearch::found`] has the offset once it is known.
//!
//! The errors of a page are persistent, so reading the same page at two offsets shows which one is better
//! even from few errors. Results of offsets that stay in the window are kept when the window moves.

use crate::format::record;

/// Errors of reads at one offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Errors {
    /// Codewords that failed.
    pub failed: u32,
    /// Bits corrected in the other codewords.
    pub bits: u32,
}

/// A search in progress.
#[derive(Clone, Copy, Debug)]
pub struct OffsetSearch {
    center: i8,
    step: u8,
    pages: u8,
    moves_left: u8,
    /// Errors at the low, center and high offset of the window, if known.
    known: [Option<Errors>; 3],
    /// At the current offset: the next page, and the errors of the pages before it.
    page: u8,
    sum: Errors,
    found: Option<i8>,
}

/// Order of the offsets low, center, high. The center comes first, because it suffices if the others are out
/// of range.
const ORDER: [usize; 3] = [1, 0, 2];

impl OffsetSearch {
    /// Search from `center`. Offsets `step` apart are compared on `pages` pages each.
    pub fn new(center: i8, step: u8, pages: u8, max_moves: u8) -> OffsetSearch {
        OffsetSearch {
            center,
            step: step.clamp(1, 63),
            pages: pages.max(1),
            moves_left: max_moves,
            known: [None; 3],
            page: 0,
            sum: Errors::default(),
            found: None,
        }
        .within_range()
    }

    /// Shifts the window into the range of offsets.
    fn within_range(mut self) -> OffsetSearch {
        let step = self.step as i8;
        self.center = self.center.clamp(i8::MIN + step, i8::MAX - step);
        self
    }

    fn wanted(&self) -> Option<usize> {
        ORDER.into_iter().find(|&i| self.known[i].is_none())
    }

    /// Offset and page of the next read; none once the offset is found.
    pub fn next(&self) -> Option<(i8, u8)> {
        if self.found.is_some() {
            return None;
        }
        let i = self.wanted()? as i8 - 1;
        Some((self.center + i * self.step as i8, self.page))
    }

    /// Records the result of [`OffsetSearch::next`].
    pub fn record(&mut self, errors: Errors) {
        let Some(i) = self.wanted().filter(|_| self.found.is_none()) else {
            return;
        };
        self.sum.failed = self.sum.failed.saturating_add(errors.failed);
        self.sum.bits = self.sum.bits.saturating_add(errors.bits);
        self.page += 1;
        if self.page < self.pages {
            return;
        }
        self.known[i] = Some(self.sum);
        (self.page, self.sum) = (0, Errors::default());
        if let [Some(low), Some(center), Some(high)] = self.known {
            self.judge(low, center, high);
        }
    }

    fn judge(&mut self, low: Errors, center: Errors, high: Errors) {
        let step = self.step as i8;
        let toward = if center <= low && center <= high {
            0
        } else if low < high {
            -1
        } else {
            1
        };
        let moved = self.center.saturating_add(toward * step);
        let in_range = moved.checked_add(step).is_some() && moved.checked_sub(step).is_some();
        if toward == 0 || self.moves_left == 0 || !in_range {
            // No minimum inside: take the better end.
            self.found = Some(match toward {
                0 => self.vertex(low, center, high),
                _ => moved,
            });
            return;
        }
        self.moves_left -= 1;
        self.center = moved;
        self.known = match toward {
            -1 => [None, Some(low), Some(center)],
            _ => [Some(center), Some(high), None],
        };
    }

    /// Minimum of the parabola through three points whose middle one is lowest. The middle point itself if a
    /// failed codeword hides its number of errors.
    fn vertex(&self, low: Errors, center: Errors, high: Errors) -> i8 {
        if low.failed | center.failed | high.failed != 0 {
            return self.center;
        }
        let (left, right) = (
            (low.bits - center.bits) as i64,
            (high.bits - center.bits) as i64,
        );
        let curvature = left + right;
        if curvature == 0 {
            return self.center;
        }
        // Between minus and plus half a step.
        let twice = (left - right) * self.step as i64;
        let shift = (twice + twice.signum() * curvature) / (2 * curvature);
        self.center + shift as i8
    }

    /// Whether the window lies within the range of offsets, and the page is one of those that are compared.
    pub(crate) fn is_sound(&self) -> bool {
        let step = self.step as i8;
        let in_range =
            self.center.checked_add(step).is_some() && self.center.checked_sub(step).is_some();
        (1..=63).contains(&self.step) && in_range && self.page < self.pages
    }

    /// The offset, once it is known.
    pub fn found(&self) -> Option<i8> {
        self.found
    }
}

record! {
    of values Errors as "errors at an offset" {
        failed ["codewords"]: "codewords that failed",
        bits ["bits"]: "bits corrected in the other codewords",
    }
}

record! {
    of values OffsetSearch as "search of an offset" {
        center ["dac"]: "offset in the middle of the window",
        step ["dac"]: "distance of the offsets",
        pages ["pages"]: "pages read at each offset",
        moves_left ["moves"]: "moves that are left",
        known: "errors at the low, the middle and the high offset",
        page: "next page at the current offset",
        sum: "errors of the pages before it",
        found ["dac"]: "the offset, once it is known",
    }
}
