//! A set of pages: one bit per page, and one bit per 64 pages, so that the next page is found at once.

use alloc::boxed::Box;

use crate::format::{Cursor, Record as _};

#[derive(Clone, Debug)]
pub(crate) struct PageSet {
    words: Box<[u64]>,
    /// One bit per word that is not empty.
    summary: Box<[u64]>,
    len: u32,
    /// Word of the summary to search next.
    cursor: usize,
}

impl PageSet {
    /// An empty set of pages below `pages`.
    pub(crate) fn new(pages: u32) -> PageSet {
        let words = pages.div_ceil(64) as usize;
        PageSet {
            words: alloc::vec![0; words].into_boxed_slice(),
            summary: alloc::vec![0; words.div_ceil(64)].into_boxed_slice(),
            len: 0,
            cursor: 0,
        }
    }

    /// Number of pages in the set.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn insert(&mut self, page: u32) {
        let (word, bit) = (page as usize / 64, 1 << (page % 64));
        self.len += (self.words[word] & bit == 0) as u32;
        self.words[word] |= bit;
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Removes `page`. Returns whether it was in the set.
    pub(crate) fn remove(&mut self, page: u32) -> bool {
        let (word, bit) = (page as usize / 64, 1 << (page % 64));
        let was = self.words[word] & bit != 0;
        self.len -= was as u32;
        self.words[word] &= !bit;
        if self.words[word] == 0 {
            self.summary[word / 64] &= !(1 << (word % 64));
        }
        was
    }

    /// Saves the set of pages below `pages`, a bit a page, or loads it.
    pub(crate) fn transfer(&mut self, pages: u32, cursor: &mut Cursor<'_>) {
        let PageSet {
            words,
            summary,
            len,
            cursor: next,
        } = self;
        next.transfer(cursor);
        words.transfer(cursor);
        let past_last = words
            .last()
            .is_some_and(|word| !pages.is_multiple_of(64) && word >> (pages % 64) != 0);
        if *next >= summary.len().max(1) || past_last {
            return cursor.fault();
        }
        if cursor.is_loading() {
            summary.fill(0);
            *len = 0;
            for (i, word) in words.iter().enumerate() {
                *len += word.count_ones();
                summary[i / 64] |= u64::from(*word != 0) << (i % 64);
            }
        }
    }

    /// A page of the set, which stays in the set. Successive calls go round the set in ascending order.
    pub(crate) fn next(&mut self) -> Option<u32> {
        for _ in 0..=self.summary.len() {
            let summary = self.summary.get(self.cursor)?;
            if *summary != 0 {
                let word = self.cursor * 64 + summary.trailing_zeros() as usize;
                return Some(word as u32 * 64 + self.words[word].trailing_zeros());
            }
            self.cursor = (self.cursor + 1) % self.summary.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn model_a_page_set_is_a_set() {
        let stream = Stream::new(1).named("pages");
        let mut set = PageSet::new(20_000);
        let mut model = BTreeSet::new();
        for i in 0..50_000u64 {
            let page = stream.at(i).at(0).below(20_000) as u32;
            match stream.at(i).at(1).below(5) {
                0 | 1 => {
                    set.insert(page);
                    model.insert(page);
                }
                2 | 3 => assert_eq!(set.remove(page), model.remove(&page)),
                _ => match set.next() {
                    None => assert!(model.is_empty()),
                    Some(page) => {
                        assert!(model.remove(&page), "page {page}");
                        assert!(set.remove(page));
                    }
                },
            }
            assert_eq!(set.len() as usize, model.len());
        }
    }
}
