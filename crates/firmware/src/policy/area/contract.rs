//! The contract of schemes of axis `area`.

use firstread_core::SuperblockId;

use super::params::LOW_SPARE;
use crate::observe::{
    ENTRY_WAYS, Future, Owner, PageFuture, PageHeat, RegionId, RegionRow, StreamRow,
};
use crate::observe::{SuperblockTable, SuperblockUse, SuperblockView};
use crate::policy::hot_pages::PageRead;

/// How a page enters the low wearing area, or stays in it. Placement counts pages by the way, and knows no more of it than
/// what the methods tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// It was read often and slowly: copied from the buffer of the read.
    Read,
    /// It is read often, and garbage collection of the high wearing area moved it anyway.
    Gc,
    /// It is read often, and wear leveling of the high wearing area moved it anyway.
    Wear,
    /// It is read often, and the host wrote it anew.
    Update,
    /// The host wrote it anew, and the high wearing area has reached its bound.
    Bound,
    /// It moved twice without a write of the host: it is cold, and the low wearing area has room.
    Spill,
    /// It lay in the area, and its superblock was emptied.
    Stay,
}

impl Entry {
    /// All ways, in the order of the counter.
    pub const ALL: [Entry; ENTRY_WAYS] = [
        Entry::Read,
        Entry::Gc,
        Entry::Wear,
        Entry::Update,
        Entry::Bound,
        Entry::Spill,
        Entry::Stay,
    ];

    /// The way of a page that is copied after a host read ([`Areas::after_read`]).
    pub(crate) const AFTER_READ: Entry = Entry::Read;

    /// Key of the way in results.
    pub const fn name(self) -> &'static str {
        match self {
            Entry::Read => "by_read",
            Entry::Gc => "by_gc",
            Entry::Wear => "by_wear_leveling",
            Entry::Update => "by_update",
            Entry::Bound => "at_bound",
            Entry::Spill => "spilled",
            Entry::Stay => "stayed",
        }
    }

    /// Index of its counter.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether the host wrote the page, and its write put the page there.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self, Entry::Update | Entry::Bound)
    }

    /// Whether the page leaves one free superblock of the area to pages of other ways.
    pub(crate) fn leaves_one_free(self) -> bool {
        self == Entry::Spill
    }

    /// Whether the page is wanted in the area because it is read often: room is made for it, whatever else has found none.
    pub(crate) fn goes_first(self) -> bool {
        !matches!(self, Entry::Spill | Entry::Stay)
    }
}

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct PageWrite {
    /// Heat of the page, without this write.
    pub heat: PageHeat,
    /// What is to come of the version that is written, if an oracle was told.
    pub future: PageFuture,
    /// The superblock that holds its data: the write is an update, and not the first one. Only known where the scheme
    /// [`Areas::tells_updates`].
    pub from: Option<SuperblockId>,
}

/// A page that moves inside the drive.
#[derive(Clone, Copy, Debug)]
pub struct PageMove {
    /// What it is moved for.
    pub owner: Owner,
    /// The superblock that it lies in.
    pub block: SuperblockId,
    /// The region of that.
    pub from: RegionId,
    /// Whether it has moved before, since the host wrote it.
    pub has_moved: bool,
    /// Heat of the page.
    pub heat: PageHeat,
    /// What is to come of it, if an oracle was told.
    pub future: PageFuture,
}

/// How a superblock of the declared region may be emptied to make room there.
#[derive(Clone, Copy, Debug)]
pub struct RegionRoom {
    /// Slots that the region's victim of garbage collection yields; zero if it has none.
    pub gain: u32,
    /// Slots that the victim of the drive's own region yields; zero if it has none.
    pub own_gain: u32,
    /// Slots of a superblock.
    pub slots: u32,
    /// Whether pages wait that may take the last free superblock: those that are read often, or that are to stay.
    pub is_urgent: bool,
}

/// What is done to make room in the declared region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MakeRoom {
    /// No superblock of the region is emptied now.
    Nothing,
    /// Its victim of garbage collection is emptied within the region.
    Compact,
    /// The superblock of it that was opened longest ago is emptied into the drive's own region.
    EmptyOldest,
}

/// What the low wearing area holds of a drive that is overwritten and never read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterOverwrites {
    /// Pages that moved twice without a write of the host, as long as a superblock of the area holds less, on average, than
    /// one of the high wearing area. `free` superblocks of the area are free, and `spare` hold no settled data.
    Spilled {
        /// Free superblocks.
        free: u32,
        /// Superblocks without settled data, the free ones among them.
        spare: u32,
    },
    /// Nothing: no page enters, and those that lay there are overwritten one after another. Where the high wearing area
    /// cannot hold all data, the areas are one drive to host and cleaning, and `free` superblocks of this one are free.
    Nothing {
        /// Free superblocks.
        free: u32,
    },
    /// The high wearing area has reached its bound, and the areas share the writes of the host.
    Shared,
}

/// The trait of the axis.
pub trait Areas {
    /// The low wearing area; none if the drive has no areas.
    fn region(&self) -> Option<RegionRow> {
        None
    }
    /// What the low wearing area holds after overwrites alone, where the high wearing area has had `high_milli` thousandths
    /// of a P/E cycle on average. Not on the path of a request.
    fn after_overwrites(&self, high_milli: u64) -> AfterOverwrites {
        let _ = high_milli;
        AfterOverwrites::Nothing { free: 0 }
    }
    /// The stream that the scheme declares for all data of the low wearing area.
    fn streams(&self) -> &'static [StreamRow] {
        &[]
    }
    /// A load begins of which `future` tells.
    fn foresee(&mut self, future: &Future) {
        let _ = future;
    }
    /// Superblocks have changed: their wear, or what they hold.
    fn look(&mut self, blocks: &SuperblockTable) {
        let _ = blocks;
    }
    /// Whether writes of the host are refused now.
    fn refuses_writes(&self) -> bool {
        false
    }
    /// Whether the scheme has to know now if a write is an update, and of which superblock's data.
    fn tells_updates(&self) -> bool {
        false
    }
    /// The host is to write a page. Returns how it enters the low wearing area, if it does. Asked again if the write has
    /// to wait.
    fn of_write(&self, page: &PageWrite) -> Option<Entry> {
        let _ = page;
        None
    }
    /// The host has written a page.
    fn has_written(&mut self) {}
    /// A page moves. Returns how it enters the low wearing area or stays there, if it does.
    fn of_move(&self, page: &PageMove) -> Option<Entry> {
        let _ = page;
        None
    }
    /// Whether what lies in the low wearing area and moves for `owner` stays there, as long as the area has room. A single page
    /// may go elsewhere.
    fn stays(&self, owner: Owner) -> bool {
        let _ = owner;
        false
    }
    /// Whether [`Areas::after_read`] has to see the pages of a host read from `area` that took `retries`. It is told those of
    /// others by [`Areas::has_read`].
    fn sees_read(&self, area: RegionId, retries: u8) -> bool {
        let _ = (area, retries);
        true
    }
    /// The host has read `pages` pages that need not be seen.
    fn has_read(&mut self, pages: u32) {
        let _ = pages;
    }
    /// A host read of a page from a full superblock of `area` has ended well. Returns whether the page is to be
    /// migrated, and if so, whether the budget allows it. [`Areas::has_entered`] follows if it was.
    fn after_read(&mut self, area: RegionId, read: &PageRead) -> Option<bool> {
        let _ = (area, read);
        None
    }
    /// A page has been given a slot by `entry`. `owner`: what it moved for; none if the host wrote or read it.
    fn has_entered(&mut self, entry: Entry, owner: Option<Owner>) {
        let _ = (entry, owner);
    }
    /// The low wearing area has no free superblock: what is to be done.
    fn makes_room(&self, room: &RegionRoom) -> MakeRoom {
        let _ = room;
        MakeRoom::Nothing
    }
    /// [`MakeRoom::EmptyOldest`] is asked for, and there is such a superblock. Its pages move for [`Owner::MakeRoom`], unless the
    /// superblock changes before its turn.
    fn oldest_leaves(&mut self) {}
}

/// The superblocks of an area that are not retired, together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InUse {
    superblocks: u64,
    pub(super) valid_slots: u64,
    pe_cycles: u64,
}

impl InUse {
    /// The sums over `blocks`, without retired superblocks.
    pub(super) fn of(blocks: SuperblockView<'_>) -> InUse {
        let infos = blocks.iter().map(|(_, info)| info);
        let in_use = infos.filter(|info| info.usage != SuperblockUse::Bad);
        in_use.fold(InUse::default(), |all, info| InUse {
            superblocks: all.superblocks + 1,
            valid_slots: all.valid_slots + u64::from(info.valid_slots),
            pe_cycles: all.pe_cycles + u64::from(info.pe_cycles),
        })
    }

    /// Mean wear of these superblocks, in thousandths of a cycle.
    pub(super) fn mean_wear_milli(&self) -> u64 {
        let mean = (1000 * self.pe_cycles).checked_div(self.superblocks);
        mean.unwrap_or(0)
    }

    /// Slots of settled data that they have room for as the low wearing area, where a superblock has `slots`.
    pub(super) fn most_settled(&self, slots: u64) -> u64 {
        self.superblocks.saturating_sub(u64::from(LOW_SPARE)) * slots
    }

    /// Whether a superblock of these holds less, on average, than one of `other`.
    pub(super) fn is_emptier_than(&self, other: &InUse) -> bool {
        self.valid_slots * other.superblocks < other.valid_slots * self.superblocks
    }
}
