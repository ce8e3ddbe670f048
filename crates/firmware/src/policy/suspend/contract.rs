//! What a scheme of axis `suspend` is asked, and what it is told.

/// What a die runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Running {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// The axis.
pub trait Suspend {
    /// Whether to suspend what runs; it has been suspended `times` before, and the chip allows
    /// `most`.
    fn suspends(&self, running: Running, times: u16, most: u16) -> bool;
}
