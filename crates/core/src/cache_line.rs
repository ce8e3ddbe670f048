//! Words of a cache line, compared at once. The firmware is compiled for size and compares one after another; this
//! crate is compiled for speed, with vector instructions.

/// Words of a line of 64 bytes.
pub const LINE_WORDS: usize = 16;

/// The words of `line` that are `value` in the bits of `mask`: bit `i` of the result is word `i`.
#[inline(never)] // In its caller it would be compiled for size.
pub fn words_that_match(line: &[u32; LINE_WORDS], mask: u32, value: u32) -> u32 {
    let mut words = 0;
    for (i, word) in line.iter().enumerate() {
        words |= if word & mask == value { 1 << i } else { 0 };
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_words_that_match_are_those_under_the_mask() {
        let line: [u32; LINE_WORDS] = core::array::from_fn(|i| (i as u32 % 5) << 8 | i as u32);
        assert_eq!(
            words_that_match(&line, !0xff, 3 << 8),
            1 << 3 | 1 << 8 | 1 << 13
        );
        assert_eq!(words_that_match(&line, 0xff, 15), 1 << 15);
        assert_eq!(words_that_match(&line, !0, 0), 1);
        assert_eq!(words_that_match(&line, 0, 0), 0xffff);
        assert_eq!(words_that_match(&line, 0xff, 0x100), 0);
    }
}
