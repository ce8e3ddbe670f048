//! The older versions that writes of the host have replaced, on a drive whose write cache is volatile.
//!
//! A power cut loses what the host has written and no program has finished, and the page is what it was before. So each
//! slot of the host in a buffer has a record of that, until the slot is programmed; and a superblock with such an older
//! version is not erased before. Where erasing waits for that alone, the host's wordline is padded, as for a flush.
//!
//! Data whose program has failed may have to wait until a superblock is free. They do not keep the superblock of their
//! older version from being erased: from then on they are dumped, as moved data are. So are data whose older version
//! was in a program that failed.

use alloc::boxed::Box;

use firstread_core::{Arena, Buf, Lpn, SuperblockId};

use super::{Place, Placed};
use crate::ftl::map::{self, Directory, Table};
use crate::observe::StreamId;
use crate::shared::Out;

/// What each slot buffer has replaced, if a power cut loses it.
#[derive(Clone, Debug)]
pub(super) struct OlderVersions {
    /// No entry where the write cache is not volatile.
    replaced: Box<[Option<map::Place>]>,
    /// The first slot buffer.
    first: u32,
}

impl OlderVersions {
    /// Of `slots` slot buffers from `first` on.
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

    fn of(&self, buf: Buf) -> Option<map::Place> {
        let entry = self.replaced.get((buf.0 - self.first) as usize);
        entry.copied().flatten()
    }

    /// The data in `buf` have replaced `older`; none if they are not lost at a power cut.
    pub(super) fn note(&mut self, buf: Buf, older: Option<map::Place>) {
        if let Some(entry) = self.replaced.get_mut((buf.0 - self.first) as usize) {
            *entry = older;
        }
    }

    /// The data in `from` are copied to `to`, for the same slot.
    pub(super) fn copy(&mut self, from: Buf, to: Buf) {
        self.note(to, self.of(from));
    }
}

impl Place {
    /// What `placed` replaces is noted, before the map changes.
    #[inline(never)] // On drives with a volatile cache alone.
    pub(super) fn note_older<M: Arena>(&mut self, placed: &Placed, table: &Table<M>) {
        let older = placed.of_host.then(|| table.map.place_of(placed.lpn));
        self.older.note(placed.slot.buf, older);
    }

    /// Whether a slot that the host has in a write buffer has replaced a version in `block`.
    pub(crate) fn keeps_older_in(&self, block: SuperblockId) -> bool {
        let slots = |stream| {
            let buffer = self.streams.of(stream);
            (0..buffer.len()).filter_map(|i| buffer.held_at(i))
        };
        // The host's own stream is the only one that it fills through a volatile cache.
        self.older.are_kept()
            && slots(StreamId::Host).any(|(_, buf)| lies_in(self.older.of(buf), block))
    }

    /// `block` is about to be erased: data that replaced a version in it and wait to be written again are safe from
    /// now on.
    pub(super) fn keep_rewrites_of(&mut self, block: SuperblockId) {
        for i in 0..self.rewrites.len() {
            let (_, buf) = self.rewrites.at(i);
            if lies_in(self.older.of(buf), block) {
                self.older.note(buf, None);
            }
        }
    }

    /// The slot that is rewritten next is done with. If it is not the last version, nothing keeps it any more: what the
    /// host has replaced it by is safe from now on.
    pub(super) fn keep_newer_of_rewrite(&mut self) {
        if !self.older.are_kept() {
            return;
        }
        let Some((ppa, _)) = self.rewrites.next() else {
            return;
        };
        let mut i = 0;
        while let Some(held) = self.dumped_at(i) {
            i += 1;
            if let Some((_, buf)) = held
                && self.older.of(buf) == Some(map::Place::At(ppa))
            {
                self.older.note(buf, None);
            }
        }
    }

    /// Power is cut: what the host has written and no program has finished is lost, and its pages are what they were
    /// before. Calls `changed` for each of them. Returns the number of slots.
    pub(crate) fn lose_unsafe<M: Arena>(
        &mut self,
        table: &mut Table<M>,
        ports: &mut impl Out,
        mut changed: impl FnMut(Lpn, &Directory),
    ) -> u32 {
        if !self.older.are_kept() {
            return 0;
        }
        // A page that was written several times goes back one version a turn.
        let mut goes_back = true;
        while core::mem::take(&mut goes_back) {
            for (ppa, buf) in (0..).map_while(|i| self.dumped_at(i)).flatten() {
                let lpn = ports.buffered(buf).map(|spare| spare.lpn);
                if let (Some(lpn), Some(older)) = (lpn, self.older.of(buf))
                    && table.lies_at(lpn, ppa)
                {
                    table.map.set(lpn, older);
                    changed(lpn, &table.directory);
                    ports.lost(lpn);
                    goes_back = true;
                }
            }
        }
        let (mut i, mut lost) = (0, 0);
        while let Some(held) = self.dumped_at(i) {
            i += 1;
            if let Some((_, buf)) = held
                && self.older.of(buf).is_some()
            {
                self.older.note(buf, None);
                ports.pad(buf);
                lost += 1;
            }
        }
        lost
    }
}

fn lies_in(older: Option<map::Place>, block: SuperblockId) -> bool {
    matches!(older, Some(map::Place::At(ppa)) if ppa.block() == block)
}
