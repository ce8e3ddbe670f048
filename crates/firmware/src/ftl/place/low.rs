//! What placement knows of the low wearing area.

use alloc::boxed::Box;

use firstread_core::Buf;

use crate::observe::LowEntry;

/// What the low wearing area waits for, and what is known of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LowState {
    /// Whether each slot buffer of the write buffers, on a drive with areas, was last filled by the host for this area. A
    /// power cut forgets it.
    of_host: Box<[bool]>,
    /// The first slot buffer.
    first: u32,
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

impl LowState {
    /// Of a drive whose write buffers have `slots` slot buffers from `first` on; none are known of a drive without areas.
    pub(super) fn new(slots: u32, first: Buf) -> LowState {
        LowState {
            of_host: alloc::vec![false; slots as usize].into(),
            first: first.0,
            ..LowState::default()
        }
    }

    /// A page has entered by `entry`, and its slot is in buffer `buf`.
    pub(super) fn entered(&mut self, entry: LowEntry, buf: Buf) {
        self.of_host[(buf.0 - self.first) as usize] = entry.is_of_host();
    }

    /// Whether `buf`, which holds a page of this area, was filled by the host.
    pub(super) fn is_of_host(&self, buf: Buf) -> bool {
        self.of_host[(buf.0 - self.first) as usize]
    }
}
