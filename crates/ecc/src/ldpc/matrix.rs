//! The parity-check matrix.

use alloc::vec::Vec;

use firstread_core::Stream;

use super::bits::xor_rotated;

/// Block rows.
pub const ROWS: usize = 4;
/// Block columns.
pub const COLUMNS: usize = 36;
/// Block columns that carry data; the others carry parity.
pub const DATA_COLUMNS: usize = 32;
/// Number of bits in each check, by block row: one per column, except for zero circulants.
pub const CHECK_BITS: [u32; ROWS] = [36, 35, 35, 35];

/// A circulant of the matrix: check `r` of its block row holds bit `(r + shift) mod Z` of its block
/// column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Block column, below [`COLUMNS`].
    pub column: u8,
    /// Shift, below `Z`.
    pub shift: u16,
}

/// The code for one circulant size.
///
/// All circulants are cyclic permutations, except three that are zero: those at rows 1, 2, 3 of parity
/// columns 1, 2, 3. With these zeros the parity part is invertible for any shifts. The reason: the quotient of
/// `GF(2)[x]` by `x^Z + 1`, with `Z` a power of two, is a local ring. A matrix over a local ring is invertible
/// if its image at `x = 1` is. That image is all ones except for three zeros on the diagonal, and its
/// determinant is 1. Thirteen is the maximum number of ones in an invertible 4 × 4 matrix over GF(2), so no
/// column has a weight below 3 (two columns of a dual-diagonal part would).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ldpc {
    z: u32,
    rows: [Vec<Edge>; ROWS],
}

/// Seed of the search for shifts. It is arbitrary, and part of the code: another seed gives another code.
const SEED: u64 = 36;

impl Ldpc {
    /// The code of 1 KiB of data.
    pub fn new_1k() -> Ldpc {
        Ldpc::search(256)
    }

    /// The code of 4 KiB of data.
    pub fn new_4k() -> Ldpc {
        Ldpc::search(1024)
    }

    /// The code called `name` among [`crate::Code::NAMES`], if it is an LDPC code.
    pub fn named(name: &str) -> Option<Ldpc> {
        match name {
            "ldpc-1k" => Some(Ldpc::new_1k()),
            "ldpc-4k" => Some(Ldpc::new_4k()),
            _ => None,
        }
    }

    /// Draws the shifts of one block column after another. Draws again if they would close a 4-cycle: if the
    /// shifts of two rows differ by the same amount as in an earlier column.
    fn search(z: u32) -> Ldpc {
        let stream = Stream::new(SEED).named("ldpc shifts").at(u64::from(z));
        let mut rows: [Vec<Edge>; ROWS] = core::array::from_fn(|_| Vec::with_capacity(COLUMNS));
        let mut taken = alloc::vec![false; ROWS * ROWS * z as usize];
        for column in 0..COLUMNS {
            let draws = stream.at(column as u64);
            let mut attempt = 0;
            // At the end 36 of at least 256 differences are taken, so a few attempts find a free set.
            let shifts: [u32; ROWS] = loop {
                let draw = draws.at(attempt);
                let s = core::array::from_fn(|i| draw.at(i as u64).below(u64::from(z)) as u32);
                if pairs(column, &s, z).all(|d| !taken[d]) {
                    break s;
                }
                attempt += 1;
            };
            for d in pairs(column, &shifts, z) {
                taken[d] = true;
            }
            for (i, row) in rows.iter_mut().enumerate() {
                if !is_zero(i, column) {
                    row.push(Edge {
                        column: column as u8,
                        shift: shifts[i] as u16,
                    });
                }
            }
        }
        Ldpc { z, rows }
    }

    /// Circulant size, in bits.
    pub const fn z(&self) -> u32 {
        self.z
    }

    /// Words of a block.
    pub const fn block_words(&self) -> usize {
        self.z as usize / 64
    }

    /// Words of the data of a codeword.
    pub const fn data_words(&self) -> usize {
        DATA_COLUMNS * self.block_words()
    }

    /// Words of a codeword.
    pub const fn codeword_words(&self) -> usize {
        COLUMNS * self.block_words()
    }

    /// Bits of a codeword.
    pub const fn codeword_bits(&self) -> u32 {
        COLUMNS as u32 * self.z
    }

    /// The circulants of block row `i`, in ascending order of column.
    pub fn row(&self, i: usize) -> &[Edge] {
        &self.rows[i]
    }

    /// The shift at block row `i` and block column `column`; none if the circulant is zero.
    pub fn shift(&self, i: usize, column: usize) -> Option<u32> {
        let edge = self.rows[i].iter().find(|e| e.column as usize == column)?;
        Some(u32::from(edge.shift))
    }

    /// Whether `word` is a codeword.
    ///
    /// # Panics
    /// If `word` is not [`Ldpc::codeword_words`] long.
    pub fn is_codeword(&self, word: &[u64]) -> bool {
        self.unsatisfied_checks(word) == 0
    }

    /// Number of checks that `word` does not satisfy.
    ///
    /// # Panics
    /// If `word` is not [`Ldpc::codeword_words`] long.
    pub fn unsatisfied_checks(&self, word: &[u64]) -> u32 {
        assert_eq!(word.len(), self.codeword_words(), "words of a codeword");
        let n = self.block_words();
        let of_rows = self.rows.iter().map(|row| {
            let mut syndrome = [0u64; 16];
            for e in row {
                let block = &word[e.column as usize * n..][..n];
                xor_rotated(&mut syndrome[..n], block, u32::from(e.shift));
            }
            syndrome.iter().map(|w| w.count_ones()).sum::<u32>()
        });
        of_rows.sum()
    }

    /// A number that changes with any shift. Tables of outcomes record it to identify their code.
    pub fn fingerprint(&self) -> u32 {
        let mut h = Stream::new(u64::from(self.z));
        for (i, row) in self.rows.iter().enumerate() {
            for e in row {
                h = h.at((i as u64) << 32 | u64::from(e.column) << 16 | u64::from(e.shift));
            }
        }
        h.bits() as u32
    }
}

/// Whether the circulant is zero.
const fn is_zero(row: usize, column: usize) -> bool {
    row > 0 && column == DATA_COLUMNS + row
}

/// Differences between the shifts of each pair of rows that meet in `column`, each as an index.
fn pairs(column: usize, shifts: &[u32; ROWS], z: u32) -> impl Iterator<Item = usize> {
    let rows = (0..ROWS).filter(move |&i| !is_zero(i, column));
    rows.clone().flat_map(move |a| {
        rows.clone().filter(move |&b| b > a).map(move |b| {
            let difference = (shifts[a] + z - shifts[b]) % z;
            (a * ROWS + b) * z as usize + difference as usize
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_no_two_rows_share_two_columns_bits() {
        // A 4-cycle is two checks with two bits in common. Counted on the expanded matrix, unlike the search,
        // which compares shifts.
        for code in [Ldpc::new_1k(), Ldpc::new_4k()] {
            let z = code.z() as usize;
            for a in 0..ROWS {
                for b in a..ROWS {
                    // Rows are circulant, so check 0 of row a suffices.
                    let mut common = alloc::vec![0u8; z];
                    for ea in code.row(a) {
                        for eb in code.row(b) {
                            if ea.column == eb.column {
                                let bit = ea.shift as usize;
                                common[(bit + z - eb.shift as usize) % z] += 1;
                            }
                        }
                    }
                    let own = usize::from(a == b) * (z + 1);
                    for (check, &n) in common.iter().enumerate() {
                        assert!(
                            n <= 1 || check == 0 && own > 0,
                            "Z {z}: check 0 of row {a} and check {check} of row {b} share {n} bits"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn formula_rank_is_full() {
        // Gaussian elimination over all 4 Z expanded rows.
        for code in [Ldpc::new_1k(), Ldpc::new_4k()] {
            let z = code.z() as usize;
            let words = code.codeword_words();
            let mut rows: Vec<Vec<u64>> = Vec::new();
            for i in 0..ROWS {
                for r in 0..z {
                    let mut row = alloc::vec![0u64; words];
                    for e in code.row(i) {
                        let bit = e.column as usize * z + (r + e.shift as usize) % z;
                        row[bit / 64] ^= 1 << (bit % 64);
                    }
                    rows.push(row);
                }
            }
            let mut rank = 0;
            // Parity columns first: they alone span the space.
            for bit in (DATA_COLUMNS * z..COLUMNS * z).rev() {
                let (word, mask) = (bit / 64, 1u64 << (bit % 64));
                let Some(p) = (rank..rows.len()).find(|&r| rows[r][word] & mask != 0) else {
                    continue;
                };
                rows.swap(rank, p);
                let (done, rest) = rows.split_at_mut(rank + 1);
                let pivot = &done[rank];
                for row in rest.iter_mut().filter(|row| row[word] & mask != 0) {
                    // Lower bits no longer matter: only the parity part is eliminated.
                    for w in DATA_COLUMNS * z / 64..words {
                        row[w] ^= pivot[w];
                    }
                }
                rank += 1;
            }
            assert_eq!(rank, ROWS * z, "rank of the parity part, Z {z}");
        }
    }

    #[test]
    fn formula_a_code_has_the_sizes_of_36_circulants() {
        for (code, z) in [(Ldpc::new_1k(), 256), (Ldpc::new_4k(), 1024)] {
            assert_eq!((code.z(), code.codeword_bits()), (z, 36 * z));
            let words = (code.block_words(), code.data_words(), code.codeword_words());
            let n = z as usize / 64;
            assert_eq!(words, (n, 32 * n, 36 * n));
            for (i, bits) in CHECK_BITS.into_iter().enumerate() {
                assert_eq!(code.row(i).len(), bits as usize);
                // The circulant that is zero is on the diagonal of the parity part, but for the first.
                for column in 0..COLUMNS {
                    let edge = code.row(i).iter().find(|e| usize::from(e.column) == column);
                    let zero = i > 0 && column == 32 + i;
                    assert_eq!(edge.is_none(), zero, "{i} {column}");
                    assert_eq!(code.shift(i, column), edge.map(|e| u32::from(e.shift)));
                }
            }
        }
        for name in ["ldpc-1k", "ldpc-4k"] {
            let bytes = Ldpc::named(name).map(|code| code.data_words() * 8);
            assert_eq!(bytes, Some(if name == "ldpc-1k" { 1024 } else { 4096 }));
        }
        assert_eq!(Ldpc::named("threshold"), None);
    }

    /// One flipped bit of an all-zero word leaves those checks unsatisfied that it is in.
    #[test]
    fn formula_a_flipped_bit_leaves_its_checks_unsatisfied() {
        let code = Ldpc::new_1k();
        let mut word = alloc::vec![0; code.codeword_words()];
        assert_eq!(
            (code.unsatisfied_checks(&word), code.is_codeword(&word)),
            (0, true)
        );
        for (column, checks) in [(0, 4), (31, 4), (32, 4), (33, 3), (35, 3)] {
            let bit = column * 256 + 77;
            word[bit / 64] ^= 1 << (bit % 64);
            assert_eq!(code.unsatisfied_checks(&word), checks, "column {column}");
            assert!(!code.is_codeword(&word));
            word[bit / 64] ^= 1 << (bit % 64);
        }
    }
}
