//! The directory: where each page of the map lies, on drives whose memory does not hold the whole map.
//!
//! The map is cut into pages of a slot, eight bytes an entry. All lie on flash, as logical pages past the
//! host's, in superblocks of a stream of their own. The directory is in memory.

use alloc::boxed::Box;

use firstread_core::{Lpn, Ppa};

/// Bytes of an entry: a place of 52 bits, and room for what else a drive may keep of a page.
pub const ENTRY_BYTES: u32 = 8;

/// In the directory: it was never written, or lies where a recovery has yet to find it. Else a place plus one.
const UNKNOWN: u64 = 0;
/// It lies nowhere: every entry is empty.
const NOWHERE: u64 = u64::MAX;

/// The directory; empty where all of the map is in memory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Logical pages of the host, and the number of the first page of the map.
    capacity: u64,
    /// Entries of a page.
    entries: u64,
    /// Where each page lies.
    places: Box<[u64]>,
}

impl Directory {
    /// Of the map of `capacity` logical pages of `slot_bytes`; empty unless the map is `paged`.
    pub(crate) fn new(paged: bool, capacity: u64, slot_bytes: u32) -> Directory {
        let entries = u64::from(slot_bytes / ENTRY_BYTES);
        let pages = if paged { capacity.div_ceil(entries) } else { 0 };
        Directory {
            capacity,
            entries,
            places: alloc::vec![UNKNOWN; pages as usize].into_boxed_slice(),
        }
    }

    /// Whether the map lies on flash, and memory holds some of its pages.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.places.is_empty()
    }
    /// Pages of the map on flash.
    pub(crate) fn len(&self) -> u32 {
        self.places.len() as u32
    }
    /// Whether logical page `lpn` is one of the map's.
    #[inline]
    pub(crate) fn is_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.capacity
    }
    /// The page of the map that has the entry of logical page `lpn`.
    pub(crate) fn page_of(&self, lpn: u64) -> u32 {
        (lpn / self.entries) as u32
    }
    /// The logical page that page `page` of the map is.
    pub(crate) fn lpn(&self, page: u32) -> Lpn {
        Lpn(self.capacity + u64::from(page))
    }
    /// The first logical page whose entry page `lpn` of the map has.
    pub(crate) fn first_of(&self, lpn: Lpn) -> u64 {
        (lpn.0 - self.capacity) * self.entries
    }
    /// Entries of a page.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }
    /// Logical pages of the host.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }
    /// First logical page past those whose entries lie with that of `lpn`.
    #[inline]
    pub(crate) fn reach(&self, lpn: u64) -> u64 {
        if self.is_on() {
            (lpn / self.entries + 1) * self.entries
        } else {
            u64::MAX
        }
    }

    /// Where page `page` lies.
    pub(crate) fn place_of(&self, page: u32) -> Option<Ppa> {
        match self.places[page as usize] {
            NOWHERE | UNKNOWN => None,
            place => Some(Ppa(place - 1)),
        }
    }
    /// Where logical page `lpn`, one of the map's, lies.
    pub(crate) fn at(&self, lpn: Lpn) -> Option<Ppa> {
        let page = lpn.0 - self.capacity;
        (page < u64::from(self.len())).then(|| self.place_of(page as u32))?
    }
    /// Page `lpn` of the map lies at `ppa` now; returns where it lay.
    pub(crate) fn set(&mut self, lpn: Lpn, ppa: Option<Ppa>) -> Option<Ppa> {
        let old = self.at(lpn);
        let page = (lpn.0 - self.capacity) as usize;
        self.places[page] = ppa.map_or(NOWHERE, |ppa| ppa.0 + 1);
        old
    }

    /// Power was cut: what the journal says stays, the pages that lie nowhere.
    pub(crate) fn forget_places(&mut self) {
        for place in &mut self.places {
            if *place != NOWHERE {
                *place = UNKNOWN;
            }
        }
    }

    /// Whether page `lpn` of the map may lie on flash, as far as the journal tells.
    pub(crate) fn recovers(&self, lpn: Lpn) -> bool {
        let page = (lpn.0 - self.capacity) as usize;
        self.places.get(page).is_some_and(|&place| place != NOWHERE)
    }
}
