//! Reads whose codewords are made anew from their stripe: the one under way, and those that wait.

use crate::schedule::NO_JOB;

/// The rebuild under way, and what waits for its turn.
#[derive(Clone, Debug)]
pub(crate) struct Rebuilds {
    /// The read whose codewords are made anew.
    pub(super) job: u32,
    /// Rows whose reads have not ended.
    pub(super) rows_left: u16,
    /// Codewords that another row has failed too.
    pub(super) lost: u64,
    /// Reads that wait, linked from the first to the last.
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Default for Rebuilds {
    fn default() -> Rebuilds {
        Rebuilds {
            job: NO_JOB,
            rows_left: 0,
            lost: 0,
            first: NO_JOB,
            last: NO_JOB,
        }
    }
}
