//! The table: where every logical page lies, those of the host and those of the map itself.

use firstread_core::{Arena, Lpn, Ppa};

use super::directory::Directory;
use super::{Map, Place};

/// The map of the host's pages, and the directory of the map's own.
#[derive(Clone, Debug)]
pub(crate) struct Table<M> {
    pub(crate) map: Map<M>,
    pub(crate) directory: Directory,
}

impl<M: Arena> Table<M> {
    /// Where `lpn` lies, if it holds data.
    pub(crate) fn at(&self, lpn: Lpn) -> Option<Ppa> {
        match self.directory.is_map(lpn) {
            true => self.directory.at(lpn),
            false => self.map.at(lpn),
        }
    }

    /// Whether the last version of `lpn` lies at `ppa`. A spare area whose program failed may name
    /// any page.
    pub(crate) fn lies_at(&self, lpn: Lpn, ppa: Ppa) -> bool {
        self.at(lpn) == Some(ppa)
    }

    /// `lpn` lies at `ppa` from now on; returns where it lay.
    pub(crate) fn set(&mut self, lpn: Lpn, ppa: Ppa) -> Option<Ppa> {
        match self.directory.is_map(lpn) {
            true => self.directory.set(lpn, Some(ppa)),
            false => self.map.set(lpn, Place::At(ppa)),
        }
    }

    /// After a power cut: whether data of `lpn` with this sequence number may be its last version, as far as
    /// the journal tells. None where the table does not look for `lpn`: the host's pages are found in the map
    /// where that lies on flash, and else there are no pages of the map.
    pub(crate) fn recovers(&self, lpn: Lpn, sequence: u64) -> Option<bool> {
        match (self.directory.is_on(), self.directory.is_map(lpn)) {
            (true, true) => Some(self.directory.recovers(lpn)),
            (false, false) => Some(self.map.recovers(lpn, sequence)),
            _ => None,
        }
    }
}
