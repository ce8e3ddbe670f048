//! A die: what it does, and what it is set to.

use firstread_core::{Levels, Ns, SenseTiming};

use super::cache_register::{CachePhase, CacheRegisters};
use super::charge::DieLog;
use super::suspend::Work;

/// State of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DiePhase {
    Idle,
    /// The array is busy: sensing, programming or erasing. The data of a read then cross the channel, unless
    /// another read follows it as a cache read.
    Array(u32),
    /// The page registers are busy: data of a program, or of the last of a sequence of cache reads, wait for
    /// the channel or cross it.
    Registers(u32),
    /// The program or erase on the array is being suspended.
    Stopping(u32),
    /// A read is being ended before its data cross the channel.
    Aborting(u32),
    /// Cache reads are in progress.
    Cache(CachePhase),
}

/// A die. The fields that every read needs come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Die {
    pub(super) phase: DiePhase,
    pub(super) since: Ns,
    /// The sensing time set by SET FEATURE.
    pub(super) timing: SenseTiming,
    /// When its program or erase is told to suspend: now, or once it has come far enough.
    pub(super) suspending_since: Option<Ns>,
    pub(super) cache_read: CacheRegisters,
    pub(super) log: DieLog,
    /// The read levels set by SET FEATURE.
    pub(super) levels: Levels,
    /// The program or erase on the array.
    pub(super) work: Work,
    /// How far the program or erase gets before it is told to suspend.
    pub(super) progress: Ns,
    /// The suspended program or erase, and the time it still needs.
    pub(super) suspended: Option<(u32, Ns)>,
}
