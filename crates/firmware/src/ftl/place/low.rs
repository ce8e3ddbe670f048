//! What the low wearing area answers a page, and what placement knows of the area.

use super::buffer::Allocated;
use crate::observe::{LowEntry, Refused, StreamId};
use crate::shared::Shared;

/// A stream and a slot of it.
pub(super) type Taken = (StreamId, Allocated);

/// What the low wearing area has for a page of the host or one that moves.
#[derive(Debug)]
pub(super) enum Low {
    /// This slot.
    Taken(Taken),
    /// The page belongs there, and can have no slot now, for this reason: it goes where it would go on a drive without
    /// areas.
    Refused(Refused),
    /// The page does not belong there.
    Elsewhere,
}

impl Low {
    /// The page has a slot elsewhere. A refusal is counted now, and not before: a page that has to wait asks again.
    #[inline]
    pub(super) fn count_refused(self, shared: &mut Shared) {
        if let Low::Refused(reason) = self {
            shared.counters.low_refused[reason as usize] += 1;
        }
    }
}

/// What the low wearing area waits for, and what is known of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowState {
    /// Free superblocks of the area are kept from other data.
    pub(super) is_kept: bool,
    /// Writes of the host are refused.
    pub(super) refuses_writes: bool,
    /// The area has no free superblock, and pages have found none: those that are read often, or others.
    pub(super) wants: Option<LowEntry>,
    /// Superblocks opened and erased when room was last looked for: for others, and for pages that are read often.
    pub(super) looked_at: [(u64, u64); 2],
    /// Pages read often that stayed when data were last returned, and whether they may stay when the next are.
    pub(super) stayed: u32,
    pub(super) may_stay: bool,
}
