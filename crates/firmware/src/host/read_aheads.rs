//! The multi-plane pages that are being read ahead.

use alloc::boxed::Box;

use crate::policy::read_ahead::{AnyReadAhead, ReadAhead};
use crate::schedule::{Jobs, Purpose};

/// A multi-plane page that is being read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct MpPage {
    /// Logical page at index `mp_page_slot` of the multi-plane page. It and the next ones fill `slots` slots
    /// there.
    pub(super) first: u64,
    pub(super) mp_page_slot: u8,
    pub(super) slots: u8,
    /// Codewords that are read.
    pub(super) wanted: u64,
    /// Codewords of the slots that commands have joined for and received.
    pub(super) used: u64,
}

/// The read-ahead in flight.
#[derive(Clone, Debug)]
pub(crate) struct ReadAheads {
    pub(super) scheme: AnyReadAhead,
    /// Per job; empty if the drive does not read ahead.
    pub(super) mp_pages: Box<[MpPage]>,
    /// Multi-plane pages for which read-ahead may still be started.
    pub(super) left: u32,
}

impl ReadAheads {
    /// Read-ahead of a drive with `jobs`.
    pub(crate) fn new(scheme: AnyReadAhead, jobs: &Jobs) -> ReadAheads {
        let mp_page = MpPage {
            first: 0,
            mp_page_slot: 0,
            slots: 0,
            wanted: 0,
            used: 0,
        };
        let left = scheme.rows();
        let mp_pages = if left == 0 { 0 } else { jobs.len() as usize };
        ReadAheads {
            scheme,
            mp_pages: alloc::vec![mp_page; mp_pages].into_boxed_slice(),
            left,
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.mp_pages.is_empty()
    }

    /// Commands have received codewords `used` of what `job` reads.
    pub(crate) fn served(&mut self, job: u32, used: u64) {
        self.mp_pages[job as usize].used |= used;
    }

    /// Number of codewords being read ahead.
    pub(crate) fn under_way(&self, jobs: &Jobs) -> u32 {
        let mp_pages = self.mp_pages.iter().zip(jobs.iter());
        let under_way = mp_pages.filter(|(_, job)| job.purpose == Purpose::ReadAhead);
        under_way
            .map(|(mp_page, _)| mp_page.wanted.count_ones())
            .sum()
    }
}
