//! What a scheme of axis `recovery` is asked, and what it is told.

use firstread_core::SenseMode;

/// The axis.
pub trait Recovery {
    /// What is sensed after a step that sensed `failed` has failed.
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        let _ = failed;
        None
    }
    /// Hard steps in a row that came no nearer, after which soft senses come first; none: only when there
    /// are no hard steps left.
    fn hard_steps(&self) -> Option<u8> {
        None
    }
}
