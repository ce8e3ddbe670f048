//! Circulants on packed blocks.

/// `to[r] ^= from[(r + shift) mod Z]` for every bit `r` of a block; `shift` is below `Z`, and `Z` is
/// a power of two.
pub(super) fn xor_rotated(to: &mut [u64], from: &[u64], shift: u32) {
    let words = from.len();
    let first = (shift / 64) as usize;
    let bit = shift % 64;
    for (k, to) in to.iter_mut().enumerate() {
        let low = from[(k + first) & (words - 1)];
        let high = from[(k + first + 1) & (words - 1)];
        // A shift by 64 would not give zero, so it is done in two steps.
        *to ^= (low >> bit) | ((high << 1) << (63 - bit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use firstread_core::Stream;

    /// Bit by bit, with shifts within words, by whole words and by none.
    #[test]
    fn model_a_rotation_is_added_bit_by_bit() {
        for words in [1, 2, 4, 16] {
            let bits = words * 64;
            let fill = |seed| -> Vec<u64> {
                (0..words as u64)
                    .map(|i| Stream::new(seed).draw(i))
                    .collect()
            };
            let (before, from) = (fill(1), fill(2));
            for shift in [0, 1, 31, 63, 64, 65, 200, bits - 64, bits - 1] {
                let shift = shift % bits;
                let mut to = before.clone();
                xor_rotated(&mut to, &from, shift as u32);
                let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1;
                for r in 0..bits {
                    let expected = bit(&before, r) ^ bit(&from, (r + shift) % bits);
                    assert_eq!(
                        bit(&to, r),
                        expected,
                        "{words} words, shift {shift}, bit {r}"
                    );
                }
            }
        }
    }
}
