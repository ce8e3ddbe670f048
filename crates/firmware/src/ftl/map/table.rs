//! The table: the slot of each logical page, of the host or of the map itself.

use firstread_core::{Arena, Lpn, Ppa};

use super::directory::Directory;
use super::{Map, Mapping};

/// The map of host pages, and the directory of map pages.
#[derive(Clone, Debug)]
pub(crate) struct Table<M> {
    pub(crate) map: Map<M>,
    pub(crate) directory: Directory,
}

impl<M: Arena> Table<M> {
    /// The slot of `lpn`, if it holds data.
    pub(crate) fn at(&self, lpn: Lpn) -> Option<Ppa> {
        match self.directory.is_map(lpn) {
            true => self.directory.at(lpn),
            false => self.map.at(lpn),
        }
    }

    /// Whether the last version of `lpn` lies at `ppa`. The spare area of a failed program may name any page.
    pub(crate) fn lies_at(&self, lpn: Lpn, ppa: Ppa) -> bool {
        self.at(lpn) == Some(ppa)
    }

    /// `lpn` lies at `ppa` from now on. Returns its previous slot.
    pub(crate) fn set(&mut self, lpn: Lpn, ppa: Ppa) -> Option<Ppa> {
        match self.directory.is_map(lpn) {
            true => self.directory.set(lpn, Some(ppa)),
            false => self.map.set(lpn, Mapping::At(ppa)),
        }
    }

    /// After a power cut: whether data of `lpn` with this sequence number may be its last version, according
    /// to the journal. None if the recovery does not look for `lpn`: host pages if the map lies on flash, and
    /// map pages if there are none.
    pub(crate) fn recovers(&self, lpn: Lpn, sequence: u64) -> Option<bool> {
        match (self.directory.is_on(), self.directory.is_map(lpn)) {
            (true, true) => Some(self.directory.recovers(lpn)),
            (false, false) => Some(self.map.recovers(lpn, sequence)),
            _ => None,
        }
    }
}
