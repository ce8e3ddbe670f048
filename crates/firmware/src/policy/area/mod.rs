//! Axis `area`: parts of a drive that wear apart, each leveled and cleaned by an instance of its own.
//!
//! The area of a superblock follows from its number. Writes go to the high wearing area; a scheme says which pages
//! enter the low wearing area, and how room is made there. An area is a preference: what finds no superblock in its
//! area goes elsewhere.
//!
//! `of_write`, `of_move`, `sees_read` and `after_read` are on the path of a request. Nothing here allocates after `new`, but what
//! an oracle foresees.

mod at_bound;
mod budget;
mod clairvoyant;
mod contract;
mod differential;
mod differential_fixed;
mod dwr;
mod last_reads;
mod locality;
mod low_wear;
mod one;
mod params;
mod second_chance;
mod stage;

use crate::observe::{Future, Owner, RegionId, RegionRow, StreamRow, SuperblockTable};
use crate::policy::axis::axis;
use crate::policy::hot_pages::PageRead;
pub use contract::{AfterOverwrites, Areas, Entry, MakeRoom, PageMove, PageWrite, RegionRoom};
pub use params::{AREAS, HIGH, LOW};

axis! {
    "area": "regions that wear apart";
    AnyArea: Areas {
        one::One,
        differential::Differential,
        differential_fixed::DifferentialFixed,
        clairvoyant::Clairvoyant,
    }
    fn region(&self) -> Option<RegionRow>;
    fn after_overwrites(&self, high_milli: u64) -> AfterOverwrites;
    fn streams(&self) -> &'static [StreamRow];
    fn foresee(&mut self, future: &Future);
    fn look(&mut self, blocks: &SuperblockTable);
    #[inline]
    fn refuses_writes(&self) -> bool;
    #[inline]
    fn tells_updates(&self) -> bool;
    #[inline]
    fn of_write(&self, page: &PageWrite) -> Option<Entry>;
    #[inline]
    fn has_written(&mut self);
    #[inline]
    fn of_move(&self, page: &PageMove) -> Option<Entry>;
    fn stays(&self, owner: Owner) -> bool;
    #[inline]
    fn sees_read(&self, area: RegionId, retries: u8) -> bool;
    #[inline]
    fn has_read(&mut self, pages: u32);
    #[inline]
    fn after_read(&mut self, area: RegionId, read: &PageRead) -> Option<bool>;
    #[inline]
    fn has_entered(&mut self, entry: Entry, owner: Option<Owner>);
    fn makes_room(&self, room: &RegionRoom) -> MakeRoom;
    fn oldest_leaves(&mut self);
}
