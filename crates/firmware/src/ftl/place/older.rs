//! The older versions that writes of the host have replaced, on a drive whose write cache is volatile.
//!
//! A power cut loses data of the host that no program has finished. The page then has its older version again. So each
//! slot of the host in a buffer has a record of where the older version lies, until the slot is programmed. A
//! superblock with such an older version is not erased before. If nothing else holds up the erase, the host's wordline
//! is padded, as for a flush.
//!
//! Data whose program has failed may have to wait until a superblock is free. They do not keep the superblock of their
//! older version from being erased: from then on they are dumped, as moved data are. So are data whose older version
//! was in a program that failed.

use alloc::boxed::Box;

use firstread_core::{Buf, SuperblockId};

use crate::ftl::map;

/// The older version that the data of each slot buffer have replaced, if a power cut loses these data.
#[derive(Clone, Debug)]
pub(super) struct OlderVersions {
    /// No entry where the write cache is not volatile.
    replaced: Box<[Option<map::Mapping>]>,
    /// The first slot buffer.
    first: u32,
}

impl OlderVersions {
    /// Records for `slots` slot buffers from `first` on.
    pub(super) fn new(slots: u32, first: Buf) -> OlderVersions {
        OlderVersions {
            replaced: alloc::vec![None; slots as usize].into(),
            first: first.0,
        }
    }

    /// Whether the write cache is volatile.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// The version that the data in `buf` have replaced; none if a power cut does not lose these data.
    pub(super) fn of(&self, buf: Buf) -> Option<map::Mapping> {
        let entry = self.replaced.get((buf.0 - self.first) as usize);
        entry.copied().flatten()
    }

    /// The data in `buf` have replaced `older`; none if they are not lost at a power cut.
    pub(super) fn note(&mut self, buf: Buf, older: Option<map::Mapping>) {
        if let Some(entry) = self.replaced.get_mut((buf.0 - self.first) as usize) {
            *entry = older;
        }
    }

    /// The data in `from` are copied to `to`, for the same slot.
    pub(super) fn copy(&mut self, from: Buf, to: Buf) {
        self.note(to, self.of(from));
    }

    /// Whether the data in `buf` have replaced a version in `block`.
    pub(super) fn lies_in(&self, buf: Buf, block: SuperblockId) -> bool {
        matches!(self.of(buf), Some(map::Mapping::At(ppa)) if ppa.block() == block)
    }
}
