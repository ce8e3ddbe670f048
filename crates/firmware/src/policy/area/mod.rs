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
mod locality;
mod low_wear;
mod one;
mod params;
mod stage;

use crate::observe::{Area, Future, LowEntry, StreamRow, SuperblockTable};
use crate::policy::axis::axis;
use crate::policy::hot_pages::PageRead;
pub use contract::{AfterOverwrites, Areas, LowRoom, MakeRoom, PageMove, PageWrite};

axis! {
    "area": "regions that wear apart";
    AnyArea: Areas {
        one::One,
        differential::Differential,
        differential_fixed::DifferentialFixed,
        clairvoyant::Clairvoyant,
    }
    fn low_from(&self) -> Option<u32>;
    fn free_after_fill(&self) -> Option<u32>;
    fn after_overwrites(&self, high_milli: u64) -> AfterOverwrites;
    fn streams(&self) -> &'static [StreamRow];
    fn foresee(&mut self, future: &Future);
    fn look(&mut self, blocks: &SuperblockTable);
    fn refuses_writes(&self) -> bool;
    #[inline]
    fn tells_updates(&self) -> bool;
    #[inline]
    fn of_write(&self, page: &PageWrite) -> Option<LowEntry>;
    #[inline]
    fn has_written(&mut self);
    #[inline]
    fn of_move(&self, page: &PageMove) -> Option<LowEntry>;
    #[inline]
    fn sees_read(&self, area: Area, retries: u8) -> bool;
    #[inline]
    fn has_read(&mut self, pages: u32);
    #[inline]
    fn after_read(&mut self, area: Area, read: &PageRead) -> Option<bool>;
    fn has_migrated(&mut self);
    fn makes_room(&self, room: &LowRoom) -> MakeRoom;
}
