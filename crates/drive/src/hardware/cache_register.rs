//! The registers of a die under cache reads.

use firstread_core::{Ns, OpClass};

/// No operation.
pub(super) const NONE: u32 = u32::MAX;

/// The registers of a die under cache reads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct CacheRegisters {
    /// The read to be sensed after the one that is on the array or in the page register.
    pub next: u32,
    /// The read whose data leave through the cache register, and the time at which they have left:
    /// [`Ns::MAX`] while other data cross the channel first.
    pub out: Option<(u32, Ns)>,
    /// When the current work of the array or the registers ends; [`Ns::MAX`] while they wait.
    pub due: Ns,
}

impl CacheRegisters {
    /// No cache read.
    pub(super) const NOTHING: CacheRegisters = CacheRegisters {
        next: NONE,
        out: None,
        due: Ns::MAX,
    };
}

/// State of the registers and of the array of a die under cache reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CachePhase {
    /// The page of this read moves from the page register to the cache register.
    Turning(u32),
    /// This read is being sensed.
    Sensing(u32),
    /// This read is in the page register.
    Sensed(u32),
    /// The sense under this tag, of this class, is not wanted and is being ended. The tag may already be in
    /// use again.
    Ending(u32, OpClass),
}
