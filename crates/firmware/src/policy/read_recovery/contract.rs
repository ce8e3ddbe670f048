//! The contract of schemes of axis `read_recovery`.

use firstread_core::SenseMode;

/// The trait of the axis.
pub trait ReadRecovery {
    /// The sense mode to try after a step in mode `failed` has failed; none for no soft sense.
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        let _ = failed;
        None
    }
    /// Number of consecutive hard steps without improvement after which soft senses come first. None if soft
    /// senses come only after all hard steps.
    fn hard_steps(&self) -> Option<u8> {
        None
    }
}
