//! The table: the slot of each logical page, of the host or of the map itself.

use firstread_core::{Arena, Lpn, Ppa};

use super::directory::Directory;
use super::{Map, Mapping, TrimScope};
use crate::format::Cursor;

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

    /// Saves the journal, or loads it. Where the map lies on flash, its map pages have the trims and losses of the host, and
    /// the journal says which map pages lie nowhere. A map image has its trims and losses itself.
    pub(crate) fn transfer(&mut self, has_image: bool, cursor: &mut Cursor<'_>) {
        match (self.directory.is_on(), has_image) {
            (true, _) => self.directory.transfer(cursor),
            (false, false) => self.map.transfer_journal(cursor),
            (false, true) => {}
        }
    }

    /// What is trimmed where a host trims from `first` to `end`, or to the end of the region, and the journal may have `most`
    /// pages that were trimmed alone.
    #[inline]
    pub(crate) fn scope_of_trim(&self, first: u64, end: u64, most: u64) -> TrimScope {
        let pages = self.map.journal_pages_of_trim(first, end);
        match self.map.journal_pages() + pages > most && pages > 0 && !self.directory.is_on() {
            true => self.map.scope_of_trim(first, first + pages, most),
            false => TrimScope::Asked,
        }
    }

    /// Regions whose journal is kept as it changes: none if the map lies on flash.
    pub(crate) fn regions(&self) -> u32 {
        match self.directory.is_on() {
            true => 0,
            false => self.map.regions(),
        }
    }

    /// From now on somebody keeps the journal of each region that changes.
    pub(crate) fn start_keeping(&mut self) {
        if !self.directory.is_on() {
            self.map.start_keeping();
        }
    }

    /// The next region from `region` on whose journal may have changed since it was last asked for.
    pub(crate) fn next_to_keep(&mut self, region: u32) -> Option<u32> {
        self.map.next_to_keep(region)
    }

    /// Saves the journal of `region`, or loads it.
    pub(crate) fn transfer_region(&mut self, region: u32, cursor: &mut Cursor<'_>) {
        self.map.transfer_region(region, cursor);
    }

    /// Where the map lies on flash, saves which map pages lie nowhere, or loads that.
    pub(crate) fn transfer_directory(&mut self, cursor: &mut Cursor<'_>) {
        if self.directory.is_on() {
            self.directory.transfer(cursor);
        }
    }

    /// Power was cut: forgets where pages lie, unless the map lies on flash.
    pub(crate) fn forget_places(&mut self) {
        match self.directory.is_on() {
            true => self.directory.forget_places(),
            false => self.map.forget_places(),
        }
    }

    /// The firmware ends.
    pub(crate) fn into_flash(self) -> OnFlash<M> {
        OnFlash(self.map)
    }

    /// An empty table lies over what is on `flash` from now on, a map image among it if it `has_image`.
    pub(crate) fn put_on(&mut self, flash: OnFlash<M>, has_image: bool) {
        match self.directory.is_on() || has_image {
            true => self.map = flash.0,
            false => self.map.put_into(flash.0.into_memory()),
        }
    }
}

/// What a simulated drive does not keep as bytes: its initial contents with the memory of the map's overlay; where the map
/// lies on flash, the contents of its pages; and the map image of a clean shutdown. On a controller it is a piece of memory.
#[derive(Debug)]
pub struct OnFlash<M>(Map<M>);
