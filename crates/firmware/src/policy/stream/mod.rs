//! Axis `stream`: which data share a superblock.
//!
//! Data that die together leave a superblock that is all garbage, which cleaning erases without moving anything. So pages
//! of like life are written to a stream of their own, which fills a superblock of its own. The host's writes have one or
//! several streams, and so have the pages that the drive moves. A scheme says how many, and which of them a page goes to:
//! placement asks [`HostStreams::of_write`] and [`HostStreams::of_move`]. Streams are numbered from 0 on. The first one of
//! the host and the first one of moves are those of every drive. `docs/firmware/streams.md` has the life of a page.
//!
//! `of_write` and `of_move` are on the path of a request. Nothing here allocates after `new`.

mod clairvoyant;
mod contract;
mod fdp;
mod one;
mod rows;
mod sepbit;
mod write_heat;

use crate::observe::StreamRow;
use crate::policy::axis::axis;
pub use contract::{HostStreams, Lay, MovedPage, WrittenPage};

axis! {
    "stream": "which data share a superblock";
    AnyHostStreams: HostStreams {
        one::One,
        write_heat::WriteHeat,
        sepbit::SepBit,
        fdp::Fdp,
        clairvoyant::Clairvoyant,
    }
    fn of_host(&self) -> &'static [StreamRow];
    fn of_moves(&self) -> &'static [StreamRow];
    fn hottest(&self) -> u8;
    #[inline]
    fn is_on(&self) -> bool;
    fn handles(&self) -> u8;
    #[inline]
    fn sees_overwritten(&self) -> bool;
    #[inline]
    fn sees_ages(&self) -> bool;
    #[inline]
    fn goes_to_neighbour(&self) -> bool;
    fn of_write(&self, page: &WrittenPage) -> u8;
    fn of_move(&self, page: &MovedPage) -> u8;
    fn cleans(&mut self, lay: &Lay);
}

#[cfg(test)]
mod tests;
