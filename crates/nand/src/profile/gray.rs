//! Gray codes: which valley separates the bits of which page type.

use alloc::vec::Vec;
use core::fmt;

use firstread_core::CellMode;

/// Why the pages of a mode are no Gray code. Page types count from 0, the LSB; valleys from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum GrayError {
    /// The mode has another number of page types.
    Pages { given: usize, mode: CellMode },
    /// The mode has no such valley.
    NoValley {
        valley: u8,
        /// Valleys of the mode.
        valleys: usize,
    },
    /// A valley is on two pages.
    Twice { valley: u8, pages: [usize; 2] },
    /// The valleys of a page are not in rising order.
    Order { page: usize },
    /// A valley is on no page.
    Missing { valley: usize },
    /// Two states have the same word.
    SameWord {
        states: [usize; 2],
        word: u8,
        /// Bits of a word.
        bits: usize,
    },
}

impl fmt::Display for GrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GrayError::Pages { given, mode } => {
                write!(f, "{given} page types, {} has {}", mode.name(), mode.bits())
            }
            GrayError::NoValley { valley, valleys } => {
                write!(f, "valley {valley} is outside 1..={valleys}")
            }
            GrayError::Twice {
                valley,
                pages: [a, b],
            } => write!(f, "valley {valley} is on page {a} and on page {b}"),
            GrayError::Order { page } => {
                write!(f, "valleys of page {page} are not in rising order")
            }
            GrayError::Missing { valley } => write!(f, "valley {valley} is on no page"),
            GrayError::SameWord {
                states: [a, b],
                word,
                bits,
            } => write!(f, "states {a} and {b} share the word {word:0bits$b}"),
        }
    }
}

impl core::error::Error for GrayError {}

/// Why `pages` (the valleys of each page type, 1-based) is not a Gray code of `mode`; `Ok` if it is one.
///
/// Neighbouring states differ in exactly one bit if every valley is on exactly one page. The code can be
/// decoded if, in addition, no two states have the same word.
pub fn check(mode: CellMode, pages: &[Vec<u8>]) -> Result<(), GrayError> {
    if pages.len() != mode.bits() as usize {
        let given = pages.len();
        return Err(GrayError::Pages { given, mode });
    }
    let mut owner = [None; 16];
    for (page, valleys) in pages.iter().enumerate() {
        for &valley in valleys {
            if valley == 0 || valley as usize > mode.valleys() {
                let valleys = mode.valleys();
                return Err(GrayError::NoValley { valley, valleys });
            }
            if let Some(other) = owner[valley as usize] {
                let pages = [other, page];
                return Err(GrayError::Twice { valley, pages });
            }
            owner[valley as usize] = Some(page);
        }
        if !valleys.is_sorted() {
            return Err(GrayError::Order { page });
        }
    }
    for (valley, page) in owner.iter().enumerate().take(mode.valleys() + 1).skip(1) {
        if page.is_none() {
            return Err(GrayError::Missing { valley });
        }
    }
    let words = words(mode, pages);
    for a in 0..mode.states() {
        for b in 0..a {
            if words[a] == words[b] {
                return Err(GrayError::SameWord {
                    states: [b, a],
                    word: words[a],
                    bits: mode.bits() as usize,
                });
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
    use alloc::string::ToString;
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
        assert_eq!(e.to_string(), "valley 2 is on page 0 and on page 1");
        let e = check(CellMode::Mlc, &[vec![2], vec![1]]).unwrap_err();
        assert_eq!(e.to_string(), "valley 3 is on no page");
        let e = check(CellMode::Mlc, &[vec![], vec![1, 2, 3]]).unwrap_err();
        assert_eq!(e.to_string(), "states 0 and 2 share the word 11");
    }

    #[test]
    fn golden_each_fault_of_a_code_has_its_text() {
        let text = |mode, pages: &[Vec<u8>]| check(mode, pages).map_err(|e| e.to_string());
        let bad = |pages: &[Vec<u8>], expected: &str| {
            assert_eq!(text(CellMode::Mlc, pages), Err(expected.to_string()));
        };
        bad(&[vec![1, 2, 3]], "1 page types, mlc has 2");
        bad(&[vec![2], vec![1, 4]], "valley 4 is outside 1..=3");
        bad(&[vec![2], vec![0, 1, 3]], "valley 0 is outside 1..=3");
        bad(
            &[vec![2], vec![3, 1]],
            "valleys of page 1 are not in rising order",
        );
        bad(
            &[vec![1, 3], vec![2, 2]],
            "valley 2 is on page 1 and on page 1",
        );
        bad(&[vec![1], vec![2]], "valley 3 is on no page");
        bad(&[vec![1, 2, 3], vec![]], "states 0 and 2 share the word 11");
        assert_eq!(text(CellMode::Mlc, &[vec![2], vec![1, 3]]), Ok(()));
        assert_eq!(text(CellMode::Mlc, &[vec![1, 3], vec![2]]), Ok(()));
        // Of SLC and MLC: the erased state is all ones, and each valley turns its page's bit over.
        assert_eq!(words(CellMode::Slc, &[vec![1]])[..2], [1, 0]);
        assert_eq!(
            words(CellMode::Mlc, &[vec![2], vec![1, 3]])[..4],
            [0b11, 0b01, 0b00, 0b10]
        );
        assert_eq!(words(CellMode::Mlc, &[vec![2], vec![1, 3]])[4..], [0; 12]);
    }
}
