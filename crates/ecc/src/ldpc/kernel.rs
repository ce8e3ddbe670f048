//! One iteration of layered normalized min-sum on 8-bit messages.
//!
//! The code works on arrays of 64 lanes, so that a compiler that may use AVX2 keeps each array in two
//! registers. The results are bit-identical however it is compiled. Nothing overflows: wrapping arithmetic
//! only avoids the overflow checks of a test build.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::matrix::{COLUMNS, Ldpc, ROWS};

/// Cap on the magnitudes that enter a message. A message is then at most 23. Four messages plus a channel
/// value up to [`MAX_CHANNEL`] fit into 8 bits, so nothing saturates.
const CAP: i8 = 31;

/// Largest magnitude of a channel value.
pub(super) const MAX_CHANNEL: i8 = i8::MAX - 4 * normalize(CAP);

/// Number of checks handled at once.
pub(super) const LANES: usize = 64;

/// One value for each check of a group.
type Lanes = [i8; LANES];

/// A decoder's working memory for circulants of `Z` bits; `STRIDE` is `Z + LANES`.
#[derive(Clone, Debug)]
pub(super) struct State<const Z: usize, const STRIDE: usize> {
    rows: [Row; ROWS],
    /// Posterior of each bit, by block column. The beginning of each column is repeated after its end (its
    /// overhang), so that 64 values can be read from any position.
    pub(super) posterior: Box<[[i8; STRIDE]; COLUMNS]>,
    /// Messages from checks to bits, in the order of use: row, group of checks, edge.
    messages: Vec<[Lanes; COLUMNS]>,
}

/// A block row: its circulants.
#[derive(Clone, Copy, Debug)]
struct Row {
    len: usize,
    column: [u32; COLUMNS],
    shift: [u32; COLUMNS],
}

impl<const Z: usize, const STRIDE: usize> State<Z, STRIDE> {
    pub(super) fn new(code: &Ldpc) -> Self {
        let rows = core::array::from_fn(|i| {
            let edges = code.row(i);
            let mut row = Row {
                len: edges.len(),
                column: [0; COLUMNS],
                shift: [0; COLUMNS],
            };
            for (k, e) in edges.iter().enumerate() {
                row.column[k] = u32::from(e.column);
                row.shift[k] = u32::from(e.shift);
            }
            row
        });
        State {
            rows,
            posterior: Box::new([[0; STRIDE]; COLUMNS]),
            messages: alloc::vec![[[0; LANES]; COLUMNS]; ROWS * Z / LANES],
        }
    }

    /// Copies the beginning of every block to its overhang.
    pub(super) fn wrap(&mut self) {
        for block in self.posterior.iter_mut() {
            block.copy_within(..LANES, Z);
        }
    }

    /// Whether the signs of the posteriors form a codeword.
    #[inline(always)]
    pub(super) fn is_codeword(&self) -> bool {
        for row in &self.rows {
            for first in (0..Z).step_by(LANES) {
                let mut parity = [0; LANES];
                for k in 0..row.len.min(COLUMNS) {
                    let q = load(row.block(k, &self.posterior), row.at::<Z>(k, first));
                    for l in 0..LANES {
                        parity[l] ^= q[l];
                    }
                }
                if parity.iter().fold(0, |any, p| any | p) < 0 {
                    return false;
                }
            }
        }
        true
    }

    /// Updates every row once. The `FIRST` iteration ignores earlier messages.
    #[inline(always)]
    pub(super) fn iterate<const FIRST: bool>(&mut self) {
        let mut messages = self.messages.iter_mut();
        for row in &self.rows {
            for first in (0..Z).step_by(LANES) {
                if let Some(messages) = messages.next() {
                    update::<Z, STRIDE, FIRST>(row, first, &mut self.posterior, messages);
                }
            }
            // In each block, the one group that reached into the overhang has its result there.
            for k in 0..row.len.min(COLUMNS) {
                let block = &mut self.posterior[row.column[k] as usize];
                let moved = row.shift[k] as usize % LANES;
                block.copy_within(Z..Z + moved, 0);
                block.copy_within(..LANES, Z);
            }
        }
    }
}

/// Updates a group of checks, from check `first` of a row on. Meanwhile the memory of a message holds the
/// value of its bit without that message.
#[inline(always)]
fn update<const Z: usize, const STRIDE: usize, const FIRST: bool>(
    row: &Row,
    first: usize,
    posterior: &mut [[i8; STRIDE]; COLUMNS],
    messages: &mut [Lanes; COLUMNS],
) {
    let len = row.len.min(COLUMNS);
    // Smallest and second smallest magnitude; the sign bit holds the product of all signs.
    let mut least = [CAP; LANES];
    let mut second = [CAP; LANES];
    let mut sign = [0i8; LANES];
    for (k, message) in messages.iter_mut().enumerate().take(len) {
        let q = load(row.block(k, posterior), row.at::<Z>(k, first));
        let r = if FIRST { [0; LANES] } else { *message };
        let mut t = [0; LANES];
        for l in 0..LANES {
            t[l] = q[l].wrapping_sub(r[l]);
            let magnitude = t[l].wrapping_abs();
            sign[l] ^= t[l];
            second[l] = second[l].min(least[l].max(magnitude));
            least[l] = least[l].min(magnitude);
        }
        *message = t;
    }
    // Uses masks because compilers do not vectorize selections. Each bit gets the smallest magnitude of the
    // other bits, which differs from the overall smallest only for the smallest bit itself; and the product
    // of the other signs.
    let mut to_others = [0; LANES];
    let mut step = [0; LANES];
    for l in 0..LANES {
        let negative = sign[l] >> 7;
        to_others[l] = (normalize(least[l]) ^ negative).wrapping_sub(negative);
        step[l] = to_others[l] ^ (normalize(second[l]) ^ negative).wrapping_sub(negative);
    }
    for (k, message) in messages.iter_mut().enumerate().take(len) {
        let t = *message;
        let mut r = [0; LANES];
        let mut q = [0; LANES];
        for l in 0..LANES {
            // If two bits tie for the smallest, `second` equals `least`, so no index is needed.
            let own = i8::from(t[l].wrapping_abs() == least[l]).wrapping_neg();
            let value = to_others[l] ^ (step[l] & own);
            let negative = t[l] >> 7;
            r[l] = (value ^ negative).wrapping_sub(negative);
            q[l] = t[l].wrapping_add(r[l]);
        }
        *message = r;
        let at = row.at::<Z>(k, first);
        posterior[row.column[k] as usize][at..at + LANES].copy_from_slice(&q);
    }
}

impl Row {
    /// The posteriors of the column of circulant `k`.
    #[inline(always)]
    fn block<'a, const STRIDE: usize>(
        &self,
        k: usize,
        posterior: &'a [[i8; STRIDE]; COLUMNS],
    ) -> &'a [i8; STRIDE] {
        &posterior[self.column[k] as usize]
    }

    /// Positions in it of the bits of the checks from `first` on.
    #[inline(always)]
    fn at<const Z: usize>(&self, k: usize, first: usize) -> usize {
        (first + self.shift[k] as usize) % Z
    }
}

#[inline(always)]
fn load(from: &[i8], at: usize) -> Lanes {
    let mut v = [0; LANES];
    v.copy_from_slice(&from[at..at + LANES]);
    v
}

/// Three quarters of a magnitude, rounded to nearest; a half is rounded down.
#[inline(always)]
const fn normalize(magnitude: i8) -> i8 {
    magnitude.wrapping_sub(magnitude.wrapping_add(2) >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit is in four checks at most. Its posterior is then at most the largest of eight bits.
    #[test]
    fn formula_no_posterior_overflows() {
        let largest = (0..=CAP).map(normalize).max();
        assert_eq!(largest, Some(23));
        assert_eq!(i32::from(MAX_CHANNEL) + 4 * 23, 127);
        for magnitude in 0..=CAP {
            // Three quarters, a half rounded down: 2 is 1.5, so 1.
            let exact = (3 * i32::from(magnitude) + 1) / 4;
            assert_eq!(i32::from(normalize(magnitude)), exact);
        }
    }
}
