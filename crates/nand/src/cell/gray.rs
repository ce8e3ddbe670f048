//! Gray codes: which valley separates the bits of which page type.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use firstread_core::CellMode;

/// Why `pages` (the valleys of each page type, 1-based) is not a Gray code of `mode`; `Ok` if it is one.
///
/// Neighbouring states differ in exactly one bit if every valley is on exactly one page. The code can be
/// decoded if, in addition, no two states have the same word.
pub fn check(mode: CellMode, pages: &[Vec<u8>]) -> Result<(), String> {
    if pages.len() != mode.bits() as usize {
        return Err(format!(
            "{} page types, {} has {}",
            pages.len(),
            mode.name(),
            mode.bits()
        ));
    }
    let mut owner = [None; 16];
    for (page, valleys) in pages.iter().enumerate() {
        for &v in valleys {
            if v == 0 || v as usize > mode.valleys() {
                return Err(format!("valley {v} is outside 1..={}", mode.valleys()));
            }
            if let Some(other) = owner[v as usize] {
                return Err(format!("valley {v} is on page {other} and on page {page}"));
            }
            owner[v as usize] = Some(page);
        }
        if !valleys.is_sorted() {
            return Err(format!("valleys of page {page} are not in rising order"));
        }
    }
    for (v, page) in owner.iter().enumerate().take(mode.valleys() + 1).skip(1) {
        if page.is_none() {
            return Err(format!("valley {v} is on no page"));
        }
    }
    let words = words(mode, pages);
    for a in 0..mode.states() {
        for b in 0..a {
            if words[a] == words[b] {
                return Err(format!(
                    "states {b} and {a} share the word {:0width$b}",
                    words[a],
                    width = mode.bits() as usize
                ));
            }
        }
    }
    Ok(())
}

/// The word of each state: bit `p` is the bit of page type `p`. The erased state is all ones.
pub fn words(mode: CellMode, pages: &[Vec<u8>]) -> [u8; 16] {
    let mut words = [0; 16];
    let mut word = (1u8 << mode.bits()) - 1;
    words[0] = word;
    for (state, slot) in words.iter_mut().enumerate().take(mode.states()).skip(1) {
        for (page, valleys) in pages.iter().enumerate() {
            if valleys.contains(&(state as u8)) {
                word ^= 1 << page;
            }
        }
        *slot = word;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn formula_code_b_has_its_published_words() {
        let pages = vec![
            vec![5, 7, 10],
            vec![1, 6, 12, 15],
            vec![2, 4, 8, 14],
            vec![3, 9, 11, 13],
        ];
        check(CellMode::Qlc, &pages).unwrap();
        let expected = [
            0b1111, 0b1101, 0b1001, 0b0001, 0b0101, 0b0100, 0b0110, 0b0111, 0b0011, 0b1011, 0b1010,
            0b0010, 0b0000, 0b1000, 0b1100, 0b1110,
        ];
        assert_eq!(words(CellMode::Qlc, &pages), expected);
    }

    #[test]
    fn check_names_what_is_wrong() {
        let e = check(CellMode::Mlc, &[vec![2], vec![1, 2]]).unwrap_err();
        assert_eq!(e, "valley 2 is on page 0 and on page 1");
        let e = check(CellMode::Mlc, &[vec![2], vec![1]]).unwrap_err();
        assert_eq!(e, "valley 3 is on no page");
        let e = check(CellMode::Mlc, &[vec![], vec![1, 2, 3]]).unwrap_err();
        assert!(e.contains("share the word"), "{e}");
    }
}
