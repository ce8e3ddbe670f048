//! The directory: where each map page lies, on drives whose memory does not hold the whole map.
//!
//! The map is cut into pages of one slot each, with eight bytes per entry. All map pages lie on flash as
//! logical pages past those of the host, in superblocks of a stream of their own. The directory is in memory.

use alloc::boxed::Box;

use firstread_core::{Lpn, Ppa};

use crate::format::{Cursor, Record as _};

/// Bytes of an entry: a slot number of 52 bits, and room for other data that a drive may keep per page.
pub const ENTRY_BYTES: u32 = 8;

/// Directory entry of a map page that was never written, or that a recovery has not found yet. Other entries
/// are a slot number plus one.
const UNKNOWN: u64 = 0;
/// Directory entry of a map page that lies nowhere, because all its entries are empty.
const NOWHERE: u64 = u64::MAX;

/// The directory; empty if the whole map is in memory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Logical pages of the host, which is also the number of the first map page.
    capacity: u64,
    /// Entries per map page.
    entries: u64,
    /// The slot of each map page.
    places: Box<[u64]>,
}

impl Directory {
    /// The directory for a map of `capacity` logical pages of `slot_bytes`; empty unless the map is `paged`.
    pub(crate) fn new(paged: bool, capacity: u64, slot_bytes: u32) -> Directory {
        let entries = u64::from(slot_bytes / ENTRY_BYTES);
        let pages = if paged { capacity.div_ceil(entries) } else { 0 };
        Directory {
            capacity,
            entries,
            places: alloc::vec![UNKNOWN; pages as usize].into_boxed_slice(),
        }
    }

    /// Whether the map lies on flash with some pages in memory.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.places.is_empty()
    }
    /// Number of map pages on flash.
    pub(crate) fn len(&self) -> u32 {
        self.places.len() as u32
    }
    /// Whether logical page `lpn` is a map page.
    #[inline]
    pub(crate) fn is_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.capacity
    }
    /// The map page that has the entry of logical page `lpn`.
    pub(crate) fn page_of(&self, lpn: u64) -> u32 {
        (lpn / self.entries) as u32
    }
    /// The logical page number of map page `page`.
    pub(crate) fn lpn(&self, page: u32) -> Lpn {
        Lpn(self.capacity + u64::from(page))
    }
    /// The first logical page whose entry is in map page `lpn`.
    pub(crate) fn first_of(&self, lpn: Lpn) -> u64 {
        (lpn.0 - self.capacity) * self.entries
    }
    /// Entries per map page.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }
    /// Logical pages of the host.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }
    /// The first logical page after `lpn` whose entry is in another map page.
    #[inline]
    pub(crate) fn reach(&self, lpn: u64) -> u64 {
        if self.is_on() {
            (lpn / self.entries + 1) * self.entries
        } else {
            u64::MAX
        }
    }

    /// The slot of map page `page`.
    pub(crate) fn place_of(&self, page: u32) -> Option<Ppa> {
        match self.places[page as usize] {
            NOWHERE | UNKNOWN => None,
            place => Some(Ppa(place - 1)),
        }
    }
    /// The slot of logical page `lpn`, a map page.
    pub(crate) fn at(&self, lpn: Lpn) -> Option<Ppa> {
        let page = lpn.0 - self.capacity;
        (page < u64::from(self.len())).then(|| self.place_of(page as u32))?
    }
    /// Map page `lpn` lies at `ppa` from now on. Returns its previous slot.
    pub(crate) fn set(&mut self, lpn: Lpn, ppa: Option<Ppa>) -> Option<Ppa> {
        let old = self.at(lpn);
        let page = (lpn.0 - self.capacity) as usize;
        self.places[page] = ppa.map_or(NOWHERE, |ppa| ppa.0 + 1);
        old
    }

    /// Power was cut: forgets the slots. The journal knows which map pages lie nowhere.
    pub(crate) fn forget_places(&mut self) {
        for place in &mut self.places {
            if *place != NOWHERE {
                *place = UNKNOWN;
            }
        }
    }

    /// Saves which map pages lie nowhere, a bit each, or loads that.
    pub(super) fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        for places in self.places.chunks_mut(64) {
            let bit = |(i, place): (usize, &u64)| u64::from(*place == NOWHERE) << i;
            let mut nowhere: u64 = places.iter().enumerate().map(bit).sum();
            nowhere.transfer(cursor);
            if cursor.is_loading() {
                for (i, place) in places.iter_mut().enumerate() {
                    *place = match nowhere >> i & 1 {
                        0 => UNKNOWN,
                        _ => NOWHERE,
                    };
                }
            }
        }
    }

    /// Whether map page `lpn` may lie on flash according to the journal.
    pub(crate) fn recovers(&self, lpn: Lpn) -> bool {
        let page = (lpn.0 - self.capacity) as usize;
        self.places.get(page).is_some_and(|&place| place != NOWHERE)
    }
}
