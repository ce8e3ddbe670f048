//! Memory in cache lines, each with the epoch in which it was last brought up to date. A counter and the stamp that says
//! how old it is come to the processor together: on a full drive each access goes to another line.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::cache_line::LINE_WORDS;

/// A line: its stamp, then its words. The stamp is zero if the line was never touched.
pub(super) type Line = [u32; LINE];

/// Words of a line with its stamp: 64 bytes.
pub(super) const LINE: usize = LINE_WORDS;

/// Words of a line beside its stamp.
pub(super) const WORDS: usize = LINE - 1;

/// Lines, all zero at first. Zero stays zero when it is halved.
#[derive(Debug)]
pub(super) struct Lines {
    words: Box<[u32]>,
    /// Where the first line begins: at a cache line, wherever the allocator puts `words`.
    first: usize,
    lines: usize,
}

impl Lines {
    /// So many lines. The allocator gets zeros from the system, which gives memory when it is written to.
    pub(super) fn new(lines: usize) -> Lines {
        let words = vec![0; (lines + 1) * LINE].into_boxed_slice();
        let first = words.as_ptr().align_offset(size_of::<Line>()).min(LINE);
        Lines {
            words,
            first,
            lines,
        }
    }

    /// Bytes of `lines` lines.
    pub(super) const fn bytes_of(lines: u64) -> u64 {
        lines * size_of::<Line>() as u64
    }

    /// Bytes of all lines.
    pub(super) fn bytes(&self) -> u64 {
        Self::bytes_of(self.lines as u64)
    }

    /// Line `at`, as it was when it was last brought up to date.
    #[inline]
    pub(super) fn of(&self, at: usize) -> &Line {
        let line = &self.words[self.first + at * LINE..];
        line.first_chunk().expect("a line has all its words")
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn of_mut(&mut self, at: usize) -> &mut Line {
        let line = &mut self.words[self.first + at * LINE..];
        line.first_chunk_mut().expect("a line has all its words")
    }

    /// Line `at`, each of its words brought up to date by `age`, which is given a word and how many epochs it has missed.
    #[inline]
    pub(super) fn touch(
        &mut self,
        at: usize,
        epoch: u32,
        age: impl Fn(u32, u32) -> u32,
    ) -> &mut Line {
        let line = self.of_mut(at);
        let missed = epoch - line[0];
        if missed > 0 {
            if line[0] > 0 {
                line[1..]
                    .iter_mut()
                    .for_each(|word| *word = age(*word, missed));
            }
            line[0] = epoch;
        }
        line
    }

    /// Brings all lines up to date in `epoch`, which is called epoch 1 from now on.
    pub(super) fn number_anew(&mut self, epoch: u32, age: impl Fn(u32, u32) -> u32) {
        for at in 0..self.lines {
            if self.of(at)[0] > 0 {
                self.touch(at, epoch, &age)[0] = 1;
            }
        }
    }
}

impl Clone for Lines {
    /// Copies the lines that were touched: the rest of a large table takes no memory in a clone either.
    fn clone(&self) -> Lines {
        let mut clone = Lines::new(self.lines);
        for at in (0..self.lines).filter(|at| self.of(*at)[0] > 0) {
            *clone.of_mut(at) = *self.of(at);
        }
        clone
    }
}
