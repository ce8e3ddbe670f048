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
