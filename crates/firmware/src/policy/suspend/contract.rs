//! The contract of schemes of axis `suspend`.

/// The operation that a die runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Running {
    /// A program of a die's part of a wordline.
    Program,
    /// An erase of a die's part of a superblock.
    Erase,
}

/// The trait of the axis.
pub trait Suspend {
    /// Whether an operation of kind `running` is suspended for host reads. The schedule keeps to the number of times
    /// that the chip allows.
    fn suspends(&self, running: Running) -> bool;

    /// Whether an operation can be suspended any number of times and loses nothing by it. No chip can.
    fn is_free(&self) -> bool {
        false
    }
}
