//! Durations of a step of a read by cell mode, and the expected time of a read by superblock.
//!
//! A read of a page takes `tR` of its mode and page type, and a step for each retry that reads of its superblock
//! have taken of late, on average. A read in another mode is taken to need no retry.

use alloc::boxed::Box;

use firstread_core::CellMode;

use super::page_read::PageRead;
use crate::policy::{ReadTime, Setup};

/// The durations in each mode of a drive.
#[derive(Clone, Debug)]
pub(crate) struct ReadTimes(Box<[(CellMode, ReadTime)]>);

impl ReadTimes {
    /// Of the drive of `setup`.
    pub(crate) fn new(setup: &Setup) -> ReadTimes {
        let own = (setup.tables.mode, setup.read_time);
        let others = setup.other_modes.iter();
        let others = others.map(|other| (other.tables.mode, other.read_time));
        ReadTimes(core::iter::once(own).chain(others).collect())
    }

    fn of(&self, mode: CellMode) -> Option<&ReadTime> {
        let time = self.0.iter().find(|(of, _)| *of == mode);
        time.map(|(_, time)| time)
    }

    /// Time of a step of a read of page type `page` in `mode` (ns); none for a mode that the drive does not have.
    pub(crate) fn step_ns(&self, mode: CellMode, page: u8) -> Option<u64> {
        Some(u64::from(self.of(mode)?.step_ns(page)))
    }

    /// The same of all page types, on average.
    pub(crate) fn mean_step_ns(&self, mode: CellMode) -> Option<u64> {
        let time = self.of(mode)?;
        let step = |page| u64::from(time.step_ns(page));
        Some((0..mode.bits()).map(step).sum::<u64>() / u64::from(mode.bits()))
    }
}

/// Retries are averaged in 256ths.
const ONE: u32 = 256;
/// A read counts for one part in so many of the average.
const WINDOW: u32 = 16;

/// The durations of a read in each mode, and the average retries of each superblock.
#[derive(Clone, Debug)]
pub(crate) struct ServiceTimes {
    times: ReadTimes,
    retries: Box<[u16]>,
    /// How many times as long a read has to take, in thousandths.
    slower_permille: u32,
}

impl ServiceTimes {
    /// For the drive of `setup`.
    pub(crate) fn new(setup: &Setup, slower_permille: u32) -> ServiceTimes {
        ServiceTimes {
            times: ReadTimes::new(setup),
            retries: alloc::vec![0; setup.geometry.blocks_per_plane as usize].into(),
            slower_permille,
        }
    }

    /// Counts the retries of a read for its superblock.
    #[inline]
    pub(crate) fn learn(&mut self, read: &PageRead) {
        let average = &mut self.retries[read.block.0 as usize];
        let (old, new) = (u32::from(*average), u32::from(read.retries) * ONE);
        *average = (old - old / WINDOW + new / WINDOW).min(u32::from(u16::MAX)) as u16;
    }

    /// Whether a read of the page is expected to take `slower_permille` thousandths of a read in mode `to`, or more.
    pub(crate) fn is_slow(&self, read: &PageRead, to: CellMode) -> bool {
        let here = self.times.step_ns(read.mode, read.page);
        let (Some(first), Some(target)) = (here, self.times.mean_step_ns(to)) else {
            return false;
        };
        let retries = u64::from(self.retries[read.block.0 as usize]);
        let expected = first + first * retries / u64::from(ONE);
        expected * 1000 >= target * u64::from(self.slower_permille)
    }
}
