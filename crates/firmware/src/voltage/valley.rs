//! Adaptive window search of one valley (CT-QLC Algorithm 1), as a state machine. [`Search::level`] says
//! where to sense, and [`Search::count`] takes the number of cells that conduct.
//!
//! Two neighbouring states overlap in a valley. The level with the fewest errors lies where the fewest cells
//! are. A window of three levels splits the cells around its center into a left and a right half. The valley
//! lies in the half with *fewer* cells. The paper's listing moves toward the half with more cells, which
//! climbs the peak of a state; [`Direction::AsPrinted`] keeps that.
//!
//! A known count is not taken again: after a move two of the three levels are known, after a shrink one. The
//! paper senses all three levels in each iteration; [`Rules::recount`] does.

/// Which half of the window the search moves toward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The half with fewer cells.
    Corrected,
    /// The half with more cells, as in the listing.
    AsPrinted,
}

/// When the halves count as equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Epsilon {
    /// A share of the cells in the window, but at least so many standard deviations of the difference of the
    /// halves. It does not depend on the number of pages pooled.
    Scaled {
        /// The share, in thousandths.
        permille: u32,
        /// Number of standard deviations of a Poisson count.
        sigma: u32,
    },
    /// A number of cells, as in the listing.
    Cells(u64),
}

impl Epsilon {
    /// ε for halves of `left` and `right` cells.
    pub fn cells(self, left: u64, right: u64) -> u64 {
        let both = left.saturating_add(right);
        match self {
            Epsilon::Cells(cells) => cells,
            Epsilon::Scaled { permille, sigma } => {
                let share = (both as u128 * permille as u128 / 1000) as u64;
                share.max(both.isqrt().saturating_mul(sigma as u64))
            }
        }
    }
}

/// Rules of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Direction of a move.
    pub direction: Direction,
    /// When the search stops.
    pub epsilon: Epsilon,
    /// Maximum number of iterations.
    pub limit: u8,
    /// Whether each iteration counts all three levels, as listed, or those alone whose count is not known.
    pub recount: bool,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The halves are equal within ε.
    Symmetric,
    /// The search reversed in a window of one unit, which cannot shrink.
    Narrow,
    /// The search reached the end of the offset range.
    Edge,
    /// The search used all its iterations.
    Limit,
}

/// How the first window grows with the fail ratio ρ of the entry that the search starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// With 1 + ρ: the base value is the least window.
    OnePlusRatio,
    /// With ρ, "proportionally", as published: an entry that rarely fails has a window of one unit.
    AsPrinted,
}

/// Half of the first window, in units, of an entry that fails on `fail_permille` of its pages.
pub fn window(base: u8, fail_permille: u16, scale: WindowScale) -> u8 {
    let ratio = fail_permille.min(1000) as u32;
    let factor = match scale {
        WindowScale::OnePlusRatio => 1000 + ratio,
        WindowScale::AsPrinted => ratio,
    };
    let scaled = (base as u32 * factor + 500) / 1000;
    scaled.clamp(1, i8::MAX as u32) as u8
}

/// A search in progress.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    rules: Rules,
    center: i16,
    delta: i16,
    /// Cells that conduct at the low, center and high level, if known.
    counts: [Option<u64>; 3],
    /// Last move: -1 left, 1 right; 0 if there was none, or if the window shrank since.
    last: i8,
    iterations: u8,
    end: Option<End>,
}

impl Search {
    /// A search around `base`, with a window of `delta` units to each side.
    pub fn new(rules: Rules, base: i8, delta: u8) -> Search {
        let mut search = Search {
            rules,
            center: base as i16,
            delta: (delta as i16).max(1),
            counts: [None; 3],
            last: 0,
            iterations: 0,
            end: (rules.limit == 0).then_some(End::Limit),
        };
        search.fit();
        search
    }

    /// The level to count next; none if the search has ended.
    pub fn level(&self) -> Option<i8> {
        if self.end.is_some() {
            return None;
        }
        let unknown = self.counts.iter().position(Option::is_none)?;
        Some((self.center + (unknown as i16 - 1) * self.delta) as i8)
    }

    /// Records the count at [`Search::level`].
    pub fn count(&mut self, conducting: u64) {
        if self.end.is_some() {
            return;
        }
        if let Some(unknown) = self.counts.iter_mut().find(|c| c.is_none()) {
            *unknown = Some(conducting);
        }
        if let [Some(low), Some(center), Some(high)] = self.counts {
            self.refine(center.abs_diff(low), high.abs_diff(center));
        }
    }

    /// One iteration, with `left` and `right` cells in the halves of the window.
    fn refine(&mut self, left: u64, right: u64) {
        self.iterations += 1;
        let epsilon = self.rules.epsilon.cells(left, right);
        let denser: i8 = if left > right.saturating_add(epsilon) {
            -1
        } else if right > left.saturating_add(epsilon) {
            1
        } else {
            self.end = Some(End::Symmetric);
            return;
        };
        let toward = match self.rules.direction {
            Direction::Corrected => -denser,
            Direction::AsPrinted => denser,
        };
        let [low, center, high] = self.counts;
        if self.last == -toward {
            self.last = 0;
            self.shrink(End::Narrow);
        } else {
            self.counts = match toward {
                1 => [center, high, None],
                _ => [None, low, center],
            };
            self.center += toward as i16 * self.delta;
            self.last = toward;
        }
        if self.rules.recount {
            self.counts = [None; 3];
        }
        self.fit();
        if self.end.is_none() && self.iterations >= self.rules.limit {
            self.end = Some(End::Limit);
        }
    }

    /// Halves the window, or ends the search with `end` if it cannot be halved.
    fn shrink(&mut self, end: End) {
        if self.delta == 1 {
            self.end = Some(end);
        } else {
            self.delta /= 2;
            self.counts = [None, self.counts[1], None];
        }
    }

    /// Keeps the window within the offset range.
    fn fit(&mut self) {
        let range = i8::MIN as i16..=i8::MAX as i16;
        while self.end.is_none()
            && !(range.contains(&(self.center - self.delta))
                && range.contains(&(self.center + self.delta)))
        {
            self.shrink(End::Edge);
        }
    }

    /// Why the search ended, if it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }
    /// Level in the middle of the last window (DAC units).
    pub fn center(&self) -> i8 {
        self.center as i8
    }
    /// Half of the last window.
    pub fn delta(&self) -> u8 {
        self.delta as u8
    }
    /// Moves and shrinks of the window until now.
    pub fn iterations(&self) -> u8 {
        self.iterations
    }
}
