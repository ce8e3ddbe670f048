//! What placement knows of the region that a scheme declares.

use alloc::boxed::Box;

use firstread_core::Buf;

use crate::policy::area::Entry;

/// What the region that a scheme declares waits for, and what of it the host has filled.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionState {
    /// Whether each slot buffer of the write buffers was last filled by the host for this region. A power cut forgets it.
    of_host: Box<[bool]>,
    /// The first slot buffer.
    first: u32,
    /// The region has no free superblock, and pages have found none: the way of one that goes first, or else of the last one.
    pub(super) wants: Option<Entry>,
    /// Superblocks opened and erased when room was last looked for: for pages that leave one free superblock, and for others.
    pub(super) looked_at: [(u64, u64); 2],
}

impl RegionState {
    /// Of a drive whose write buffers have `slots` slot buffers from `first` on; none are known of a drive with one region.
    pub(super) fn new(slots: u32, first: Buf) -> RegionState {
        RegionState {
            of_host: alloc::vec![false; slots as usize].into(),
            first: first.0,
            ..RegionState::default()
        }
    }

    /// A page has entered by `entry`, and its slot is in buffer `buf`.
    pub(super) fn entered(&mut self, entry: Entry, buf: Buf) {
        self.of_host[(buf.0 - self.first) as usize] = entry.is_of_host();
    }

    /// Whether `buf`, which holds a page of this region, was filled by the host.
    pub(super) fn is_of_host(&self, buf: Buf) -> bool {
        self.of_host[(buf.0 - self.first) as usize]
    }
}
