//! What placement knows of the region that a scheme declares.

use alloc::boxed::Box;

use firstread_core::Buf;

use crate::policy::area::Entry;

/// What the region that a scheme declares waits for, and what of it the host has filled.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionState {
    /// For each slot buffer, whether the host wrote the page of this region that it was last filled with. A power cut
    /// loses this.
    of_host: Box<[bool]>,
    /// The first slot buffer.
    first: u32,
    /// How the page enters for which room is wanted: a page that goes first, or else the latest page. None if no room
    /// is wanted.
    pub(super) wants: Option<Entry>,
    /// Superblocks opened and erased when room was last looked for: for pages that leave one free superblock, and for
    /// other pages.
    pub(super) looked_at: [(u64, u64); 2],
}

impl RegionState {
    /// For write buffers of `slots` slot buffers from `first` on; `slots` is zero on a drive with one region.
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
