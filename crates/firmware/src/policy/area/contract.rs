//! The contract of schemes of axis `area`.

use super::params::LOW_SPARE;
use crate::observe::{Area, Future, LowEntry, Owner, PageFuture, PageHeat, StreamRow};
use crate::observe::{SuperblockTable, SuperblockUse, SuperblockView};
use crate::policy::hot_pages::PageRead;

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct PageWrite {
    /// Heat of the page, without this write.
    pub heat: PageHeat,
    /// What is to come of the version that is written, if an oracle was told.
    pub future: PageFuture,
    /// Whether the page holds data already: an update, and not the first write. Only known where the scheme
    /// [`Areas::tells_updates`].
    pub is_update: bool,
}

/// A page that moves inside the drive.
#[derive(Clone, Copy, Debug)]
pub struct PageMove {
    /// What it is moved for.
    pub owner: Owner,
    /// The area that it lies in.
    pub from: Area,
    /// Whether it has moved before, since the host wrote it.
    pub has_moved: bool,
    /// Whether pages that are read often may stay in a superblock's area although it is returned: not where they are so
    /// many that this gains nothing.
    pub may_stay: bool,
    /// Heat of the page.
    pub heat: PageHeat,
    /// What is to come of it, if an oracle was told.
    pub future: PageFuture,
}

/// How a superblock of the low wearing area may be emptied to make room there.
#[derive(Clone, Copy, Debug)]
pub struct LowRoom {
    /// Slots that its victim of garbage collection yields; zero if it has none.
    pub low_gain: u32,
    /// Slots that the victim of the high wearing area yields; zero if it has none.
    pub high_gain: u32,
    /// Slots of a superblock.
    pub slots: u32,
    /// Whether pages wait that are read often.
    pub for_hot: bool,
}

/// What is done to make room in the low wearing area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MakeRoom {
    /// Nothing.
    Nothing,
    /// Its victim of garbage collection is emptied within the area.
    Compact,
    /// The superblock that was opened longest ago is emptied into the high wearing area.
    ReturnOldest,
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
    /// Number of the first superblock of the low wearing area; none if the drive has no areas.
    fn low_from(&self) -> Option<u32> {
        None
    }
    /// Superblocks of the low wearing area that a fill of the whole drive leaves free there; none if a fill goes by
    /// address alone.
    fn free_after_fill(&self) -> Option<u32> {
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
    /// Whether the scheme has to know now if a write is an update.
    fn tells_updates(&self) -> bool {
        false
    }
    /// The host is to write a page. Returns how it enters the low wearing area, if it does. Asked again if the write has
    /// to wait.
    fn of_write(&self, page: &PageWrite) -> Option<LowEntry> {
        let _ = page;
        None
    }
    /// The host has written a page.
    fn has_written(&mut self) {}
    /// A page moves. Returns how it enters the low wearing area or stays there, if it does.
    fn of_move(&self, page: &PageMove) -> Option<LowEntry> {
        let _ = page;
        None
    }
    /// Whether [`Areas::after_read`] has to see the pages of a host read from `area` that took `retries`. It is told those of
    /// others by [`Areas::has_read`].
    fn sees_read(&self, area: Area, retries: u8) -> bool {
        let _ = (area, retries);
        true
    }
    /// The host has read `pages` pages that need not be seen.
    fn has_read(&mut self, pages: u32) {
        let _ = pages;
    }
    /// A host read of a page from a full superblock of `area` has ended well. Returns whether the page is to be
    /// migrated, and if so, whether the budget allows it. [`Areas::has_migrated`] follows if it was.
    fn after_read(&mut self, area: Area, read: &PageRead) -> Option<bool> {
        let _ = (area, read);
        None
    }
    /// A page has been migrated after a read.
    fn has_migrated(&mut self) {}
    /// The low wearing area has no free superblock: what is to be done.
    fn makes_room(&self, room: &LowRoom) -> MakeRoom {
        let _ = room;
        MakeRoom::Nothing
    }
}

/// The superblocks of an area that are not retired, together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InUse {
    superblocks: u64,
    pub(super) valid_slots: u64,
    pe_cycles: u64,
}

impl InUse {
    /// Those of `blocks`.
    pub(super) fn of(blocks: SuperblockView<'_>) -> InUse {
        let rows = blocks.iter().map(|(_, row)| row);
        let in_use = rows.filter(|row| row.usage != SuperblockUse::Bad);
        in_use.fold(InUse::default(), |all, row| InUse {
            superblocks: all.superblocks + 1,
            valid_slots: all.valid_slots + u64::from(row.valid_slots),
            pe_cycles: all.pe_cycles + u64::from(row.pe_cycles),
        })
    }

    /// Their mean wear, in thousandths of a cycle.
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
