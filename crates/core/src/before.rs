//! What lay on a drive before its firmware wrote anything.

use crate::{BlockId, Lpn, Ppa};

/// What lay on a drive before the firmware's first write, told without a table. On a controller nothing did:
/// the methods are as they are here. A simulator fills a drive by arithmetic.
pub trait Before {
    /// Where `lpn` lay, and how many pages from it on lay in slots that follow each other, at most `max`. None
    /// where nothing was written, and how many pages hold nothing.
    #[inline]
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        let _ = lpn;
        (None, max)
    }
    /// Whether `block` held pages of the host, and has not been erased since.
    #[inline]
    fn holds(&self, block: BlockId) -> bool {
        let _ = block;
        false
    }
    /// The page whose last version lay at `ppa`, in a superblock that [`Before::holds`] any.
    #[inline]
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        let _ = ppa;
        None
    }
    /// `block` is to be erased.
    #[inline]
    fn erase(&mut self, block: BlockId) {
        let _ = block;
    }
}

impl Before for &mut [u8] {}
