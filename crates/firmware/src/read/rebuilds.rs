//! Rebuilds of codewords from their stripe: the one in progress, and those that wait.

use crate::schedule::NO_JOB;

/// The rebuild in progress, and those that wait.
#[derive(Clone, Debug)]
pub(crate) struct Rebuilds {
    /// The read whose codewords are rebuilt.
    pub(super) job: u32,
    /// Pages of the stripe whose reads have not ended.
    pub(super) mp_pages_left: u16,
    /// Codewords that failed in another page of the stripe too.
    pub(super) lost: u64,
    /// Reads that wait, linked from the first to the last.
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Default for Rebuilds {
    fn default() -> Rebuilds {
        Rebuilds {
            job: NO_JOB,
            mp_pages_left: 0,
            lost: 0,
            first: NO_JOB,
            last: NO_JOB,
        }
    }
}
