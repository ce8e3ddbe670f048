//! The contract of schemes of axis `suspend`.

/// The operation that a die runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Running {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// The trait of the axis.
pub trait Suspend {
    /// Whether to suspend the running operation. It has been suspended `times` before; the chip allows `most`
    /// times.
    fn suspends(&self, running: Running, times: u16, most: u16) -> bool;
}
