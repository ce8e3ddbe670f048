//! Cells of memory that survives by itself.
//!
//! The memory is a head and cells. A cell has a fixed place and two copies, each with a generation and a checksum, and so
//! has the head, the mark. A step writes each cell that it changes into the copy that the last step has left behind, and
//! then both copies of the mark. So whoever writes may be stopped at any instruction: what is read afterwards is the
//! state of the last step whose mark is whole in one copy. A changed byte is noticed, because the mark has the sum of
//! the checksums of all cells.

use core::fmt;
use core::sync::atomic::{Ordering, compiler_fence};

use super::crc32c::checksum;
use super::{Cursor, Record as _};

/// Bytes of a cell.
pub const CELL_BYTES: usize = 52;
/// Bytes of a copy: its generation, the cell, and a checksum of both and of the number of the cell.
const COPY_BYTES: usize = 64;
const SUM_AT: usize = 8 + CELL_BYTES;
const _: () = assert!(SUM_AT + 4 == COPY_BYTES);
/// What the mark begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"fr-kept\0");
/// Version of this format.
const VERSION: u32 = 1;
/// The mark has the place before cell 0, and this number in its checksum.
const MARK: u32 = u32::MAX;

/// Memory that survives the firmware. Writes reach it in the order in which they are made: the compiler may not move one
/// before another, so whoever writes with plain stores needs a compiler fence around them.
pub trait KeptMemory {
    /// All of it.
    fn bytes(&self) -> &[u8];
    /// Writes `bytes` from byte `at` on.
    fn write(&mut self, at: usize, bytes: &[u8]);
}

impl KeptMemory for &mut [u8] {
    fn bytes(&self) -> &[u8] {
        self
    }
    fn write(&mut self, at: usize, bytes: &[u8]) {
        compiler_fence(Ordering::SeqCst);
        self[at..][..bytes.len()].copy_from_slice(bytes);
        compiler_fence(Ordering::SeqCst);
    }
}

/// Why the cells of a memory cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeptError {
    /// No copy of the mark is whole.
    NoMark,
    /// It was written in another version of the format.
    Version(u32),
    /// The memory has another number of cells.
    Cells {
        /// Cells by its mark.
        found: u32,
        /// Cells of this drive.
        own: u32,
    },
    /// A cell is not what the last step has left.
    Damaged,
}

impl fmt::Display for KeptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptError::NoMark => f.write_str("no firmware has kept its state there"),
            KeptError::Version(found) => {
                write!(f, "it has version {found} of the format, not {VERSION}")
            }
            KeptError::Cells { found, own } => {
                write!(f, "it has {found} cells, and this drive needs {own}")
            }
            KeptError::Damaged => f.write_str("a cell has changed since it was written"),
        }
    }
}

/// What the mark of a step says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Mark {
    magic: u64,
    version: u32,
    cells: u32,
    /// The sum of the checksums of all cells that were ever written.
    sum: u64,
}

impl Mark {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let Mark {
            magic,
            version,
            cells,
            sum,
        } = self;
        magic.transfer(cursor);
        version.transfer(cursor);
        cells.transfer(cursor);
        sum.transfer(cursor);
    }
}

/// Bytes of a memory of `cells` cells.
pub(crate) const fn bytes_of(cells: u32) -> usize {
    (cells as usize + 1) * 2 * COPY_BYTES
}

/// The cells of a memory.
#[derive(Clone, Debug)]
pub(crate) struct Cells<K> {
    memory: K,
    cells: u32,
    /// Generation of the last step whose mark was written.
    generation: u64,
    sum: u64,
}

impl<K: KeptMemory> Cells<K> {
    /// The cells of `memory`, which is all zeros. All cells are zeros.
    pub(crate) fn new(memory: K, cells: u32) -> Cells<K> {
        assert!(
            memory.bytes().len() >= bytes_of(cells),
            "memory for {cells} cells"
        );
        Cells {
            memory,
            cells,
            generation: 0,
            sum: 0,
        }
    }

    /// The cells that the last step has left in `memory`.
    ///
    /// # Errors
    /// [`KeptError`]
    pub(crate) fn open(memory: K, cells: u32) -> Result<Cells<K>, KeptError> {
        let mut opened = Cells {
            memory,
            cells,
            generation: 0,
            sum: 0,
        };
        if opened.memory.bytes().len() < bytes_of(0) {
            return Err(KeptError::NoMark);
        }
        let newest = (0..2).filter(|copy| opened.is_whole(MARK, *copy));
        let newest = newest.max_by_key(|copy| opened.generation_of(MARK, *copy));
        let newest = newest.ok_or(KeptError::NoMark)?;
        opened.generation = opened.generation_of(MARK, newest);
        if opened.generation == 0 || opened.generation == u64::MAX {
            return Err(KeptError::NoMark);
        }
        let mut mark = Mark::default();
        mark.transfer(&mut Cursor::loading(opened.contents(MARK, newest)));
        if mark.magic != MAGIC {
            return Err(KeptError::NoMark);
        }
        if mark.version != VERSION {
            return Err(KeptError::Version(mark.version));
        }
        if mark.cells != cells || opened.memory.bytes().len() < bytes_of(cells) {
            let found = mark.cells;
            return Err(KeptError::Cells { found, own: cells });
        }
        let sums = (0..cells).map(|cell| opened.sum_of_last(cell));
        opened.sum = sums.fold(0, u64::wrapping_add);
        if opened.sum != mark.sum {
            return Err(KeptError::Damaged);
        }
        opened.clean(newest);
        Ok(opened)
    }

    /// The checksum of what the last step has left of `cell`; 0 if nothing.
    fn sum_of_last(&self, cell: u32) -> u64 {
        let is_last = |copy: &usize| {
            self.generation_of(cell, *copy) <= self.generation && self.is_whole(cell, *copy)
        };
        let newest = (0..2).filter(is_last);
        let newest = newest.max_by_key(|copy| self.generation_of(cell, *copy));
        newest.map_or(0, |copy| self.sum_of(cell, copy))
    }

    /// Clears every copy of a cell that is not whole or that the step after the last one has written, and writes the copy of
    /// the mark that is not `newest` again: the next step is to find all of them whole.
    fn clean(&mut self, newest: usize) {
        for cell in 0..self.cells {
            for copy in 0..2 {
                let is_empty = self.copy(cell, copy).iter().all(|byte| *byte == 0);
                let is_of_last = self.generation_of(cell, copy) <= self.generation;
                if !(is_empty || is_of_last && self.is_whole(cell, copy)) {
                    let at = copy_at(cell, copy);
                    self.memory.write(at, &[0; COPY_BYTES]);
                }
            }
        }
        let contents = *self.contents(MARK, newest);
        self.generation -= 1;
        self.write(MARK, 1 - newest, &contents);
        self.generation += 1;
    }

    /// The last contents of `cell`; zeros if it was never written.
    pub(crate) fn get(&self, cell: u32) -> &[u8; CELL_BYTES] {
        self.contents(cell, self.newest(cell))
    }

    /// `cell` has these contents from the next commit on.
    pub(crate) fn put(&mut self, cell: u32, contents: &[u8; CELL_BYTES]) {
        let newest = self.newest(cell);
        if self.contents(cell, newest) == contents {
            return;
        }
        self.sum = self.sum.wrapping_sub(self.sum_of(cell, newest));
        let is_of_this_step = self.generation_of(cell, newest) > self.generation;
        let to = if is_of_this_step { newest } else { 1 - newest };
        self.write(cell, to, contents);
        self.sum = self.sum.wrapping_add(self.sum_of(cell, to));
    }

    /// The step has ended.
    pub(crate) fn commit(&mut self) {
        let mut mark = Mark {
            magic: MAGIC,
            version: VERSION,
            cells: self.cells,
            sum: self.sum,
        };
        let mut contents = [0; CELL_BYTES];
        mark.transfer(&mut Cursor::saving(&mut contents));
        for copy in 0..2 {
            self.write(MARK, copy, &contents);
        }
        self.generation += 1;
    }

    /// The memory.
    pub(crate) fn memory_mut(&mut self) -> &mut K {
        &mut self.memory
    }

    /// The memory.
    pub(crate) fn into_memory(self) -> K {
        self.memory
    }

    fn write(&mut self, cell: u32, copy: usize, contents: &[u8; CELL_BYTES]) {
        let mut bytes = [0; COPY_BYTES];
        bytes[..8].copy_from_slice(&(self.generation + 1).to_le_bytes());
        bytes[8..SUM_AT].copy_from_slice(contents);
        let sum = seal(cell, &bytes);
        bytes[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        self.memory.write(copy_at(cell, copy), &bytes);
    }

    fn copy(&self, cell: u32, copy: usize) -> &[u8; COPY_BYTES] {
        let bytes = &self.memory.bytes()[copy_at(cell, copy)..][..COPY_BYTES];
        bytes.try_into().expect("as long as a copy")
    }

    fn contents(&self, cell: u32, copy: usize) -> &[u8; CELL_BYTES] {
        let contents = &self.copy(cell, copy)[8..SUM_AT];
        contents.try_into().expect("as long as a cell")
    }

    fn generation_of(&self, cell: u32, copy: usize) -> u64 {
        let bytes = self.copy(cell, copy);
        u64::from_le_bytes(core::array::from_fn(|i| bytes[i]))
    }

    fn sum_of(&self, cell: u32, copy: usize) -> u64 {
        let bytes = self.copy(cell, copy);
        u64::from(u32::from_le_bytes(core::array::from_fn(|i| {
            bytes[SUM_AT + i]
        })))
    }

    fn is_whole(&self, cell: u32, copy: usize) -> bool {
        self.sum_of(cell, copy) == u64::from(seal(cell, self.copy(cell, copy)))
    }

    /// The copy that was written last.
    fn newest(&self, cell: u32) -> usize {
        usize::from(self.generation_of(cell, 1) > self.generation_of(cell, 0))
    }
}

/// Where a copy of `cell` lies.
const fn copy_at(cell: u32, copy: usize) -> usize {
    (cell.wrapping_add(1) as usize * 2 + copy) * COPY_BYTES
}

/// The checksum of a copy of `cell`.
fn seal(cell: u32, copy: &[u8; COPY_BYTES]) -> u32 {
    checksum([&cell.to_le_bytes()[..], &copy[..SUM_AT]].into_iter())
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use firstread_core::Stream;

    use super::*;

    const CELLS: u32 = 9;

    /// Memory that takes no more bytes once a number of them was written.
    #[derive(Clone)]
    struct Fused {
        bytes: Vec<u8>,
        left: usize,
        written: usize,
    }

    impl KeptMemory for Fused {
        fn bytes(&self) -> &[u8] {
            &self.bytes
        }
        fn write(&mut self, at: usize, bytes: &[u8]) {
            self.written += bytes.len();
            let taken = bytes.len().min(self.left);
            self.bytes[at..][..taken].copy_from_slice(&bytes[..taken]);
            self.left -= taken;
        }
    }

    type State = [[u8; CELL_BYTES]; CELLS as usize];

    fn state(cells: &Cells<Fused>) -> State {
        core::array::from_fn(|cell| *cells.get(cell as u32))
    }

    /// Changes some cells, some of them twice, and commits.
    fn step(cells: &mut Cells<Fused>, s: Stream) {
        for i in 0..s.at(0).below(6) {
            let draw = s.at(1 + i);
            let cell = draw.at(0).below(u64::from(CELLS)) as u32;
            cells.put(cell, &[draw.at(1).below(3) as u8; CELL_BYTES]);
        }
        cells.commit();
    }

    fn fresh() -> Cells<Fused> {
        let bytes = std::vec![0; bytes_of(CELLS)];
        Cells::new(
            Fused {
                bytes,
                left: usize::MAX,
                written: 0,
            },
            CELLS,
        )
    }

    /// Whoever writes is stopped after each byte of a step. What is found is what the step before has left, or the step
    /// itself once a copy of its mark is whole; and from there it goes on.
    #[test]
    fn powerloss_a_step_is_kept_whole_or_not_at_all() {
        let (mut before, mut whole) = (0, 0);
        let open = |mut memory: Fused| {
            memory.left = usize::MAX;
            Cells::open(memory, CELLS)
        };
        for seed in 0..12 {
            let s = Stream::new(seed).named("cells");
            let mut cells = fresh();
            for i in 0..20 {
                step(&mut cells, s.at(i));
            }
            let old = state(&cells);
            let mut after = cells.clone();
            after.memory.written = 0;
            step(&mut after, s.at(20));
            let (new, bytes) = (state(&after), after.memory.written);
            for left in 0..=bytes {
                let mut stopped = cells.clone();
                stopped.memory.left = left;
                step(&mut stopped, s.at(20));
                let mut opened = open(stopped.into_memory()).expect("it opens");
                let mark_is_whole = left + COPY_BYTES >= bytes;
                let is = if mark_is_whole { new } else { old };
                assert_eq!(state(&opened), is, "seed {seed}: {left} of {bytes} bytes");
                *if mark_is_whole {
                    &mut whole
                } else {
                    &mut before
                } += 1;
                let mut again = opened.clone();
                again.memory.left = left % COPY_BYTES;
                step(&mut again, s.at(21));
                let again = open(again.into_memory()).expect("it opens after another stop");
                assert_eq!(state(&again), is, "seed {seed}: again after {left} bytes");
                step(&mut opened, s.at(21));
                let on = state(&opened);
                let later = open(opened.into_memory()).expect("it opens after another step");
                assert_eq!(state(&later), on, "seed {seed}: later, after {left} bytes");
            }
        }
        assert!(before > 1_000 && whole > 500, "{before} {whole}");
    }

    /// A byte that has changed is an error, or what is read is what was kept: never an older state.
    #[test]
    fn fuzz_a_changed_byte_is_noticed() {
        let mut cells = fresh();
        let s = Stream::new(1).named("cells");
        for i in 0..20 {
            step(&mut cells, s.at(i));
        }
        let kept = state(&cells);
        let memory = cells.into_memory();
        let (mut noticed, mut same) = (0, 0);
        for at in 0..memory.bytes.len() {
            let mut changed = memory.clone();
            changed.bytes[at] ^= 1 << (at % 8);
            match Cells::open(changed, CELLS) {
                Ok(opened) => {
                    assert_eq!(state(&opened), kept, "byte {at}");
                    same += 1;
                }
                Err(_) => noticed += 1,
            }
        }
        assert!(noticed > 300 && same > 300, "{noticed} {same}");
    }

    /// Memory without a mark, of another number of cells, or too short, is refused.
    #[test]
    fn formula_other_memory_is_refused() {
        let empty = fresh().into_memory();
        assert_eq!(
            Cells::open(empty.clone(), CELLS).err(),
            Some(KeptError::NoMark)
        );
        let mut cells = fresh();
        cells.commit();
        let memory = cells.into_memory();
        let found = Cells::open(memory.clone(), CELLS + 1).err();
        let (found_cells, own) = (CELLS, CELLS + 1);
        assert_eq!(
            found,
            Some(KeptError::Cells {
                found: found_cells,
                own
            })
        );
        let mut short = memory;
        short.bytes.truncate(100);
        assert_eq!(Cells::open(short, CELLS).err(), Some(KeptError::NoMark));
    }
}
