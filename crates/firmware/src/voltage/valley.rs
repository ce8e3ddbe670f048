//! Adaptive window search of one valley (CT-QLC Algorithm 1), as a state machine that is fed
//! counts: [`Search::level`] says where to sense, [`Search::count`] takes the cells that conduct.
//!
//! Two neighbouring states overlap in a valley; the level with the fewest errors lies where the
//! fewest cells do. A window of three levels splits the cells around its center into a left and a
//! right half; the half with *fewer* cells is the one the valley lies in. The paper's listing moves
//! toward the half with more, which climbs a state's peak; [`Direction::AsPrinted`] keeps that.
//!
//! A count that is still known is not taken again: after a move two of three levels are known,
//! after a shrink one is. The paper senses all three in each iteration.

/// Which half of the window the search moves toward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The one with fewer cells.
    Corrected,
    /// The one with more, as the listing says.
    AsPrinted,
}

/// When the halves count as equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Epsilon {
    /// A share of the cells in the window, but no less than so many standard deviations of their
    /// difference. Does not depend on how many pages were pooled.
    Scaled {
        /// The share, in thousandths.
        permille: u32,
        /// Standard deviations, of a Poisson count.
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

/// What a search goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Where it moves.
    pub direction: Direction,
    /// When it stops.
    pub epsilon: Epsilon,
    /// Iterations after which it stops anyway.
    pub limit: u8,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The halves are equal within ε.
    Symmetric,
    /// It reversed in a window of one unit, which cannot shrink.
    Narrow,
    /// It came to the end of the range of an offset.
    Edge,
    /// It used all its iterations.
    Limit,
}

/// Half of the first window: `base` units, and twice that for a base entry that fails on every page.
/// The paper scales "proportionally" to the fail ratio; taken literally that would be no window at
/// all for an entry that rarely fails, so the base value is the least.
pub fn window(base: u8, fail_permille: u16) -> u8 {
    let scaled = (base as u32 * (1000 + fail_permille.min(1000) as u32) + 500) / 1000;
    scaled.clamp(1, i8::MAX as u32) as u8
}

/// A search under way.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    rules: Rules,
    center: i16,
    delta: i16,
    /// Cells that conduct at the low, center and high level, as far as known.
    counts: [Option<u64>; 3],
    /// Last move: -1 left, 1 right, 0 none or a shrink since.
    last: i8,
    iterations: u8,
    end: Option<End>,
}

impl Search {
    /// A search around `base` with a window of `delta` units to each side.
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

    /// The level whose count is wanted next, or none when the search has ended.
    pub fn level(&self) -> Option<i8> {
        if self.end.is_some() {
            return None;
        }
        let unknown = self.counts.iter().position(Option::is_none)?;
        Some((self.center + (unknown as i16 - 1) * self.delta) as i8)
    }

    /// Takes the count at [`Search::level`].
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
        self.fit();
        if self.end.is_none() && self.iterations >= self.rules.limit {
            self.end = Some(End::Limit);
        }
    }

    /// Halves the window, or ends with `end` when it cannot be halved.
    fn shrink(&mut self, end: End) {
        if self.delta == 1 {
            self.end = Some(end);
        } else {
            self.delta /= 2;
            self.counts = [None, self.counts[1], None];
        }
    }

    /// Keeps the window within the range of an offset.
    fn fit(&mut self) {
        let range = i8::MIN as i16..=i8::MAX as i16;
        while self.end.is_none()
            && !(range.contains(&(self.center - self.delta))
                && range.contains(&(self.center + self.delta)))
        {
            self.shrink(End::Edge);
        }
    }

    /// Why it ended, if it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }
    /// The level found.
    pub fn center(&self) -> i8 {
        self.center as i8
    }
    /// Half of the last window.
    pub fn delta(&self) -> u8 {
        self.delta as u8
    }
    /// Iterations done.
    pub fn iterations(&self) -> u8 {
        self.iterations
    }
}
