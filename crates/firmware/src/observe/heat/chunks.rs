//! Memory in chunks, each with the epoch in which it was last brought up to date.

use alloc::boxed::Box;
use alloc::vec;

/// Cells of a chunk. A chunk of bytes is four cache lines: what is halved at once takes tens of nanoseconds.
pub(super) const CHUNK: usize = 256;

/// Cells in chunks. All are zero at first, and zero stays zero when it is halved.
#[derive(Debug)]
pub(super) struct Chunks<T> {
    cells: Box<[T]>,
    /// The epoch of each chunk; zero for one that was never touched.
    stamps: Box<[u64]>,
}

impl<T: Copy + Default> Chunks<T> {
    /// Room for `cells`. The allocator gets zeros from the system, which gives memory when it is written to.
    pub(super) fn new(cells: usize) -> Chunks<T> {
        let chunks = cells.div_ceil(CHUNK);
        Chunks {
            cells: vec![T::default(); chunks * CHUNK].into_boxed_slice(),
            stamps: vec![0; chunks].into_boxed_slice(),
        }
    }

    /// Bytes of `chunks` chunks.
    pub(super) const fn bytes_of(chunks: u64) -> u64 {
        chunks * (CHUNK * size_of::<T>() + size_of::<u64>()) as u64
    }

    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> u64 {
        Self::bytes_of(self.stamps.len() as u64)
    }

    /// The cells from `at` on of its chunk, and how many epochs before `epoch` they were brought up to date.
    #[inline]
    pub(super) fn of(&self, at: usize, epoch: u64) -> (&[T], u64) {
        let chunk = at / CHUNK;
        let cells = &self.cells[at..(chunk + 1) * CHUNK];
        (cells, epoch - self.stamps[chunk])
    }

    /// The cells from `at` on of its chunk, brought up to date by `age`, which is given a cell and how many epochs it
    /// has missed.
    #[inline]
    pub(super) fn touch(&mut self, at: usize, epoch: u64, age: impl Fn(T, u64) -> T) -> &mut [T] {
        let chunk = at / CHUNK;
        let stamp = &mut self.stamps[chunk];
        let missed = epoch - *stamp;
        if missed > 0 {
            let all = &mut self.cells[chunk * CHUNK..][..CHUNK];
            if *stamp > 0 {
                all.iter_mut().for_each(|cell| *cell = age(*cell, missed));
            }
            *stamp = epoch;
        }
        &mut self.cells[at..(chunk + 1) * CHUNK]
    }
}

impl<T: Copy + Default> Clone for Chunks<T> {
    /// Copies the chunks that were touched: the rest of a large table takes no memory in a clone either.
    fn clone(&self) -> Chunks<T> {
        let mut clone = Chunks::new(self.cells.len());
        for (chunk, &stamp) in self.stamps.iter().enumerate().filter(|(_, s)| **s > 0) {
            let cells = chunk * CHUNK..(chunk + 1) * CHUNK;
            clone.cells[cells.clone()].copy_from_slice(&self.cells[cells]);
            clone.stamps[chunk] = stamp;
        }
        clone
    }
}
