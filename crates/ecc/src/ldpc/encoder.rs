//! Systematic encoder.
//!
//! The parity blocks `p` solve `M p = w`, where `w` is the syndrome of the data alone and `M` is the 4 × 4
//! parity part, over the ring `GF(2)[x]/(x^Z + 1)`. Cramer's rule gives `p = adj(M) det(M)^-1 w`. Adjugate
//! and determinant are sums of a few monomials, which are rotations. If `Z` is a power of two, the inverse is
//! a product of a few such sums: squaring is linear over GF(2), hence `det^Z(x) = det(x^Z) = det(1) = 1` and
//! `det^-1 = det^(Z-1) = det(x) det(x^2) det(x^4) ...`.

use alloc::vec::Vec;

use super::bits::xor_rotated;
use super::matrix::{DATA_COLUMNS, Ldpc, ROWS};

/// Encodes codewords of one code.
#[derive(Clone, Debug)]
pub struct Encoder {
    code: Ldpc,
    /// Factors of the inverse determinant, each a list of rotations.
    inverse: Vec<Vec<u32>>,
    /// `adjugate[c][i]`: rotations of syndrome block `i` that add up to parity block `c`.
    adjugate: [[Vec<u32>; ROWS]; ROWS],
}

/// Maximum number of words per block.
const MAX_WORDS: usize = 16;

impl Encoder {
    /// An encoder of `code`.
    pub fn new(code: &Ldpc) -> Encoder {
        let z = code.z();
        let all = [0, 1, 2, 3];
        let mut factor = determinant(code, &all, &all);
        let mut inverse = Vec::new();
        while factor != [0] {
            inverse.push(factor.clone());
            factor = sum_of(factor.iter().map(|s| 2 * s % z).collect());
        }
        let adjugate = core::array::from_fn(|c| {
            core::array::from_fn(|i| {
                let rows: Vec<usize> = all.into_iter().filter(|&r| r != i).collect();
                let columns: Vec<usize> = all.into_iter().filter(|&r| r != c).collect();
                determinant(code, &rows, &columns)
            })
        });
        Encoder {
            code: code.clone(),
            inverse,
            adjugate,
        }
    }

    /// The code whose codewords it makes.
    pub const fn code(&self) -> &Ldpc {
        &self.code
    }

    /// Computes the parity of `word`, whose data part is set.
    ///
    /// # Panics
    /// If `word` is not [`Ldpc::codeword_words`] long.
    pub fn encode(&self, word: &mut [u64]) {
        assert_eq!(
            word.len(),
            self.code.codeword_words(),
            "words of a codeword"
        );
        let n = self.code.block_words();
        let (data, parity) = word.split_at_mut(self.code.data_words());
        let mut syndrome = [[0u64; MAX_WORDS]; ROWS];
        for (i, syndrome) in syndrome.iter_mut().enumerate() {
            for e in &self.code.row(i)[..DATA_COLUMNS] {
                let block = &data[e.column as usize * n..][..n];
                xor_rotated(&mut syndrome[..n], block, u32::from(e.shift));
            }
            for factor in &self.inverse {
                let mut product = [0u64; MAX_WORDS];
                for &shift in factor {
                    xor_rotated(&mut product[..n], &syndrome[..n], shift);
                }
                *syndrome = product;
            }
        }
        for (c, parity) in parity.chunks_exact_mut(n).enumerate() {
            parity.fill(0);
            for (i, syndrome) in syndrome.iter().enumerate() {
                for &shift in &self.adjugate[c][i] {
                    xor_rotated(parity, &syndrome[..n], shift);
                }
            }
        }
    }
}

/// The determinant of a square part of the parity columns, as a list of distinct rotations. In characteristic
/// 2 there are no signs.
fn determinant(code: &Ldpc, rows: &[usize], columns: &[usize]) -> Vec<u32> {
    let Some((&row, rows)) = rows.split_first() else {
        return alloc::vec![0];
    };
    let mut terms = Vec::new();
    for &column in columns {
        if let Some(shift) = code.shift(row, DATA_COLUMNS + column) {
            let others: Vec<usize> = columns.iter().copied().filter(|&c| c != column).collect();
            let minor = determinant(code, rows, &others);
            terms.extend(minor.iter().map(|s| (s + shift) % code.z()));
        }
    }
    sum_of(terms)
}

/// Cancels equal terms in pairs.
fn sum_of(mut terms: Vec<u32>) -> Vec<u32> {
    terms.sort_unstable();
    let mut sum: Vec<u32> = Vec::new();
    for t in terms {
        if sum.last() == Some(&t) {
            sum.pop();
        } else {
            sum.push(t);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn formula_encoded_words_have_zero_syndrome() {
        for code in [Ldpc::new_1k(), Ldpc::new_4k()] {
            let encoder = Encoder::new(&code);
            for seed in 0..50 {
                let stream = Stream::new(seed).named("encoder test");
                let mut word: Vec<u64> = (0..code.codeword_words())
                    .map(|i| stream.at(i as u64).bits())
                    .collect();
                let data = word[..code.data_words()].to_vec();
                assert!(!code.is_codeword(&word), "seed {seed}: random parity");
                encoder.encode(&mut word);
                assert!(code.is_codeword(&word), "Z {}, seed {seed}", code.z());
                assert_eq!(data, word[..code.data_words()], "seed {seed}: systematic");
                // A single flipped bit is detected.
                word[7] ^= 1 << 9;
                assert!(!code.is_codeword(&word), "seed {seed}");
            }
        }
    }
}
