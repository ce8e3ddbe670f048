//! Durations of a step of a read, by cell mode.

use alloc::boxed::Box;

use firstread_core::CellMode;

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
        Some(u64::from(self.of(mode)?.step_ns(page, 1000, false)))
    }

    /// The same of all page types, on average.
    pub(crate) fn mean_step_ns(&self, mode: CellMode) -> Option<u64> {
        let time = self.of(mode)?;
        let step = |page| u64::from(time.step_ns(page, 1000, false));
        Some((0..mode.bits()).map(step).sum::<u64>() / u64::from(mode.bits()))
    }
}
