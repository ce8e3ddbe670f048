//! The contents of a drive before the first write of its firmware.

use crate::{Lpn, Ppa, SuperblockId};

/// The contents of a drive before the first write of its firmware, without a table. On a controller the drive
/// was empty, and the default methods say so. A simulator computes the contents of a drive that it has
/// filled.
pub trait InitialContents {
    /// Where `lpn` lay, and how many pages from `lpn` on, at most `max`, lay in consecutive slots. If `lpn`
    /// was never written: none, and how many pages from `lpn` on were never written.
    #[inline]
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        let _ = lpn;
        (None, max)
    }
    /// Whether `block` held host pages and has not been erased since.
    #[inline]
    fn holds(&self, block: SuperblockId) -> bool {
        let _ = block;
        false
    }
    /// The page whose last version lay at `ppa`, in a superblock for which [`InitialContents::holds`] is true.
    #[inline]
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        let _ = ppa;
        None
    }
    /// `block` is about to be erased.
    #[inline]
    fn erase(&mut self, block: SuperblockId) {
        let _ = block;
    }
}

impl InitialContents for &mut [u8] {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_controllers_drive_was_empty() {
        let mut memory = [0; 4];
        let drive: &mut &mut [u8] = &mut memory.as_mut_slice();
        assert_eq!(
            drive.run(Lpn(3), 17),
            (None, 17),
            "never written, all of them"
        );
        assert!(!drive.holds(SuperblockId(0)));
        assert_eq!(drive.page_at(Ppa::new(SuperblockId(0), 0)), None);
    }
}
